/* SPDX-License-Identifier: Apache-2.0 */
/* data-source - where a load or store found its data: perf_mem_data_src, linux/perf_event.h. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Write the memory level to TEXT, SIZE bytes: "L1 hit", "L3 miss", "RAM hit"; "" if unknown. */
void data_source_level(uint64_t source, char *text, size_t size);

/* Write the snoop result to TEXT, SIZE bytes: "none", "hit", "miss", "hitm"; "" if unknown. */
void data_source_snoop(uint64_t source, char *text, size_t size);
