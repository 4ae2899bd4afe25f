/* SPDX-License-Identifier: Apache-2.0 */
/* sort - sorts by a number, in linear time; and how qsort() compares numbers. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* A number, and the index of the item that it belongs to. */
struct sort_key {
	uint64_t key;
	size_t item;
};

/*
 * Sort the COUNT keys at KEY by their numbers; equal numbers keep their order.  SPARE has room for
 * as many.  Return where the sorted keys are: KEY or SPARE.
 */
struct sort_key *sort_keys(struct sort_key *key, struct sort_key *spare, size_t count);

/* For qsort(): compare two uint64_t. */
int sort_compare_u64(const void *a, const void *b);
