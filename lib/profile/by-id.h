/* SPDX-License-Identifier: Apache-2.0 */
/* by-id - profile.proto's mappings, functions and locations, found by their ids. */
#pragma once
#include "base/table.h"

/* TABLE, zero-initialised, finds the COUNT messages that ARRAY points to. */
#define BY_ID_INDEX(table, array, count)					\
	for (size_t i_ = 0; i_ < (count); i_++)					\
		table_add(&(table), hash_u64((array)[i_]->id), (uint32_t)i_)

/* INDEX is the place in ARRAY of the one with the id WANTED, or TABLE_NONE. */
#define BY_ID_FIND(index, table, array, wanted)					\
	do {									\
		struct table_probe probe_ = table_probe(&(table), hash_u64(wanted));	\
		while (((index) = table_next(&(table), &probe_)) != TABLE_NONE &&	\
		       (array)[index]->id != (wanted))				\
			;							\
	} while (0)
