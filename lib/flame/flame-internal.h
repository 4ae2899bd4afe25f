/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the model. */
#pragma once
#include "flame/flame.h"

/* Return the id of the function with these texts; add it with LINE and KIND if it is new. */
uint32_t flame_function(struct flame *f, const char *name, const char *file, const char *object,
			uint32_t line, enum flame_kind kind);

/* Return the id of this line of FUNCTION. */
uint32_t flame_line(struct flame *f, uint32_t function, int64_t line, bool inlined);

/*
 * Take the types of D, the first profile of F, and choose those that are shown.  Return false
 * (reported) if D lacks one that the options ask for.
 */
bool flame_take_types(struct flame *f, const struct decoded *d);

/* Learn what a sample of each type stands for.  After all samples of D were added. */
void flame_weigh_types(struct flame *f, const struct decoded *d);
