/* SPDX-License-Identifier: Apache-2.0 */
/* fold - turns the stacks of a decoded profile into folded lines. */
#pragma once
#include "pprof/decode.h"
#include "pprof/folded-lines.h"

/* Add the samples of D to F, with values of the default sample type, or else of the last. */
void fold_profile(const struct decoded *d, struct folded *f);
