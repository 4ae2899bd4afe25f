/* SPDX-License-Identifier: Apache-2.0 */
/* oldest - finds the quarter of the items that has been unused for the longest time. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/*
 * Sort USED, the COUNT times of last use, at least one.  Return the time up to which a quarter of
 * them lie, or more if times are equal.
 */
uint64_t oldest_quarter(uint64_t *used, size_t count);
