/* SPDX-License-Identifier: Apache-2.0 */
#include "record/data-source.h"

#include <linux/perf_event.h>
#include <stdio.h>

/* Return the name of the lowest bit of mem_lvl from PERF_MEM_LVL_L1 on, or "". */
static const char *level_name(uint64_t level)
{
	static const char *const names[] = {
		"L1", "LFB", "L2", "L3", "RAM", "Remote RAM (1 hop)", "Remote RAM (2 hops)",
		"Remote cache (1 hop)", "Remote cache (2 hops)", "I/O", "Uncached",
	};
	uint64_t bits = level / PERF_MEM_LVL_L1;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (bits >> i & 1)
			return names[i];
	return "";
}

/* Return the name of mem_lvl_num, which drivers of newer CPUs set instead of mem_lvl, or "". */
static const char *level_number_name(uint64_t number)
{
	static const char *const names[16] = {
		[PERF_MEM_LVLNUM_L1] = "L1", [PERF_MEM_LVLNUM_L2] = "L2",
		[PERF_MEM_LVLNUM_L3] = "L3", [PERF_MEM_LVLNUM_L4] = "L4",
		[0x08] = "Uncached", [0x09] = "CXL", [0x0a] = "I/O",	/* newer than our header */
		[PERF_MEM_LVLNUM_ANY_CACHE] = "Any cache", [PERF_MEM_LVLNUM_LFB] = "LFB",
		[PERF_MEM_LVLNUM_RAM] = "RAM", [PERF_MEM_LVLNUM_PMEM] = "PMEM",
	};

	return names[number & 15] ? names[number & 15] : "";
}

void data_source_level(uint64_t source, char *text, size_t size)
{
	const union perf_mem_data_src s = { .val = source };
	const char *name = level_name(s.mem_lvl);

	if (!*name)
		name = level_number_name(s.mem_lvl_num);
	snprintf(text, size, "%s%s%s", s.mem_remote && *name ? "Remote " : "", name,
		 !*name ? "" : s.mem_lvl & PERF_MEM_LVL_HIT ? " hit"
		 : s.mem_lvl & PERF_MEM_LVL_MISS ? " miss" : "");
}

void data_source_snoop(uint64_t source, char *text, size_t size)
{
	const union perf_mem_data_src s = { .val = source };

	snprintf(text, size, "%s", s.mem_snoop & PERF_MEM_SNOOP_HITM ? "hitm"
		 : s.mem_snoop & PERF_MEM_SNOOP_HIT ? "hit"
		 : s.mem_snoop & PERF_MEM_SNOOP_MISS ? "miss"
		 : s.mem_snoop & PERF_MEM_SNOOP_NONE ? "none" : "");
}
