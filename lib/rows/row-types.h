/* SPDX-License-Identifier: Apache-2.0 */
/* row-types - which sample types of a profile have rows, and which are the `samples` of others. */
#pragma once
#include "pprof/decode.h"

/*
 * Return an array that the caller frees, by type of D: the type that counts its samples, so that
 * each of its rows has that value as `samples`; TABLE_NONE if there is none; its own index if it
 * has no rows, as it is the `samples` of another type.  IS_USED, by type: it has a value that is
 * not 0.
 *
 * A reader of rows makes the types of counts again, from the names of the types that have
 * `samples`: "samples" if it is one type, else "TYPE_samples".  Others have rows of their own.
 */
uint32_t *row_types_pair(const struct decoded *d, const bool *is_used);
