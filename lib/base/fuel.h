/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuel - bounds the work that one object may cause.
 *
 * An object gets fuel for the bytes that its file really stores.  Reading and remembering parts
 * of the object takes fuel, in bytes, too.  So a file that refers to the same bytes again and
 * again, or claims to have more than it stores, costs no more than an honest file of its size.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct fuel {
	uint64_t left;		/* bytes */
};

/* Take BYTES.  False: fewer are left, and nothing is taken. */
static inline bool fuel_take(struct fuel *f, uint64_t bytes)
{
	if (bytes > f->left)
		return false;
	f->left -= bytes;
	return true;
}

/* Take BYTES, or all that are left if they are fewer.  Return how many were taken. */
static inline uint64_t fuel_take_some(struct fuel *f, uint64_t bytes)
{
	if (bytes > f->left)
		bytes = f->left;
	f->left -= bytes;
	return bytes;
}
