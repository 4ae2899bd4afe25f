/* SPDX-License-Identifier: Apache-2.0 */
/* data-source - where a load or store found its data: perf_mem_data_src, linux/perf_event.h. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* "L1 hit", "L3 miss", "RAM hit": into the SIZE bytes at TEXT; "" where it does not say. */
void data_source_level(uint64_t source, char *text, size_t size);

/* What another cache had of it: "none", "hit", "miss", "hitm" (modified), likewise. */
void data_source_snoop(uint64_t source, char *text, size_t size);
