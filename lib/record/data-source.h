/* SPDX-License-Identifier: Apache-2.0 */
/* data-source - where a load or store found its data: perf_mem_data_src, linux/perf_event.h. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Write the memory level to TEXT, SIZE bytes: "L1 hit", "L3 miss", "RAM hit"; "" if unknown. */
void data_source_level(uint64_t source, char *text, size_t size);

/* Write the snoop result to TEXT, SIZE bytes: "none", "hit", "miss", "hitm"; "" if unknown. */
void data_source_snoop(uint64_t source, char *text, size_t size);

enum data_source_op { DATA_SOURCE_UNKNOWN, DATA_SOURCE_LOAD, DATA_SOURCE_STORE };

/* Return whether SOURCE says anything: what the instruction did, or where it found its data. */
bool data_source_is_known(uint64_t source);

/* Return what the instruction did. */
enum data_source_op data_source_op(uint64_t source);

/* Return whether another cache had modified the data, or passed the data on. */
bool data_source_is_modified(uint64_t source);

/*
 * Return a number for the place where the data was found.  Two sources have the same number if
 * data_source_place_name() gives them the same name.
 */
uint64_t data_source_place(uint64_t source);

/*
 * Write the name of a PLACE to TEXT: "L1", "LFB", "L3, modified in another cache", "remote memory",
 * "memory miss", "unknown".
 */
void data_source_place_name(uint64_t place, char *text, size_t size);
