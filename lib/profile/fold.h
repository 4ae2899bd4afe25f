/* SPDX-License-Identifier: Apache-2.0 */
/* fold - the stacks of a profile that was read, as lines of text. */
#pragma once
#include "profile/decode.h"
#include "profile/folded-lines.h"

/* Add the values of P's default sample type (without one: of its last) to F. */
void fold_profile(const Perftools__Profiles__Profile *p, struct folded *f);
