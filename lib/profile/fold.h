/* SPDX-License-Identifier: Apache-2.0 */
/* fold - the stacks of a profile that was read, as lines of text. */
#pragma once
#include "profile/decode.h"
#include "profile/folded-lines.h"

/* Add the values of D's default sample type (without one: of its last) to F. */
void fold_profile(const struct decoded *d, struct folded *f);
