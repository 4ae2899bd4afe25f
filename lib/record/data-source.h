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

struct perf_event_attr;

enum data_source_op { DATA_SOURCE_UNKNOWN, DATA_SOURCE_LOAD, DATA_SOURCE_STORE };

/* Return whether SOURCE says anything: what the instruction did, or where it found its data. */
bool data_source_is_known(uint64_t source);

/*
 * Return whether ADDRESS, of a sample of an event with ATTR, is one of data.  SOURCE: its source,
 * or 0.  A breakpoint for execution has the address of code, and so has an event for which the CPU
 * records each branch.  If the CPU says what instructions do, an address without a load or store
 * is left from an earlier instruction.
 */
bool data_source_has_address(const struct perf_event_attr *attr, uint64_t address,
			     uint64_t source);

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
