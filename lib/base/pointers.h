/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pointers - maps pointers to ids: for example, to look up the id of a string that
 * never moves without hashing its bytes again.
 */
#pragma once
#include "base/table.h"

#include <stdbool.h>

/* Zero-initialised: empty. */
struct pointers {
	struct {
		const void *pointer;
		uint32_t id;
	} *item;
	uint32_t count;
	struct table table;
};

/* Set *ID to the id of POINTER.  Return false if it has none. */
bool pointers_find(const struct pointers *p, const void *pointer, uint32_t *id);

/* Add POINTER, which is not in P yet, with ID.  Return ID. */
uint32_t pointers_add(struct pointers *p, const void *pointer, uint32_t id);

void pointers_release(struct pointers *p);
