/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pointers - numbers by address: what is known already of a string, say, that
 * stays where it is.  Cheaper than to look at it again.
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

/* False: nothing is known of it. */
bool pointers_find(const struct pointers *p, const void *pointer, uint32_t *id);

/* Remember ID of POINTER, which is not there yet; returns it. */
uint32_t pointers_add(struct pointers *p, const void *pointer, uint32_t id);

void pointers_release(struct pointers *p);
