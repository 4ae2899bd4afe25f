/* SPDX-License-Identifier: Apache-2.0 */
#include "record/data-source.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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
	bool remote = s.mem_remote && *name && strncmp(name, "Remote", 6);
	snprintf(text, size, "%s%s%s", remote ? "Remote " : "", name,
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

enum data_source_op data_source_op(uint64_t source)
{
	const union perf_mem_data_src s = { .val = source };

	return s.mem_op & PERF_MEM_OP_STORE ? DATA_SOURCE_STORE
	       : s.mem_op & PERF_MEM_OP_LOAD ? DATA_SOURCE_LOAD : DATA_SOURCE_UNKNOWN;
}

bool data_source_is_modified(uint64_t source)
{
	const union perf_mem_data_src s = { .val = source };

	return s.mem_snoop & PERF_MEM_SNOOP_HITM || s.mem_snoopx & PERF_MEM_SNOOPX_PEER;
}

/* The numbers of places: a level, and what is known besides.  0: nothing is known. */
enum place_level {
	PLACE_NOTHING, PLACE_L1, PLACE_LFB, PLACE_L2, PLACE_L3, PLACE_L4, PLACE_ANY_CACHE,
	PLACE_CACHE, PLACE_MEMORY, PLACE_PMEM, PLACE_CXL, PLACE_IO, PLACE_UNCACHED, PLACE_LEVELS
};

enum {
	PLACE_REMOTE = 1 << 8,		/* of another node, or core */
	PLACE_FAR = 1 << 9,		/* two hops away */
	PLACE_IS_MODIFIED = 1 << 10,
	PLACE_MISS = 1 << 11,
	PLACE_BLOCKED_DATA = 1 << 12,	/* a store before could not forward the data */
	PLACE_BLOCKED_ADDRESS = 1 << 13,
	PLACE_HOPS_SHIFT = 16,
};

/* Return the place by the lowest bit of mem_lvl from PERF_MEM_LVL_L1 on, or 0. */
static unsigned place_of_bits(uint64_t level)
{
	static const unsigned places[] = {
		PLACE_L1, PLACE_LFB, PLACE_L2, PLACE_L3, PLACE_MEMORY,
		PLACE_MEMORY | PLACE_REMOTE, PLACE_MEMORY | PLACE_REMOTE | PLACE_FAR,
		PLACE_CACHE | PLACE_REMOTE, PLACE_CACHE | PLACE_REMOTE | PLACE_FAR,
		PLACE_IO, PLACE_UNCACHED,
	};
	uint64_t bits = level / PERF_MEM_LVL_L1;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (bits >> i & 1)
			return places[i];
	return PLACE_NOTHING;
}

/* Return the place by mem_lvl_num, which drivers of newer CPUs set instead of mem_lvl, or 0. */
static unsigned place_of_number(uint64_t number)
{
	static const unsigned places[16] = {
		[PERF_MEM_LVLNUM_L1] = PLACE_L1, [PERF_MEM_LVLNUM_L2] = PLACE_L2,
		[PERF_MEM_LVLNUM_L3] = PLACE_L3, [PERF_MEM_LVLNUM_L4] = PLACE_L4,
		[0x08] = PLACE_UNCACHED, [0x09] = PLACE_CXL, [0x0a] = PLACE_IO,
		[PERF_MEM_LVLNUM_ANY_CACHE] = PLACE_ANY_CACHE, [PERF_MEM_LVLNUM_LFB] = PLACE_LFB,
		[PERF_MEM_LVLNUM_RAM] = PLACE_MEMORY, [PERF_MEM_LVLNUM_PMEM] = PLACE_PMEM,
	};

	return places[number & 15];
}

uint64_t data_source_place(uint64_t source)
{
	const union perf_mem_data_src s = { .val = source };
	uint64_t place = place_of_bits(s.mem_lvl);

	if (place == PLACE_NOTHING)
		place = place_of_number(s.mem_lvl_num);
	if (place == PLACE_NOTHING && s.mem_remote)
		place = PLACE_ANY_CACHE;
	if (s.mem_remote)
		place |= PLACE_REMOTE;
	if (s.mem_lvl & PERF_MEM_LVL_MISS && !(s.mem_lvl & PERF_MEM_LVL_HIT))
		place |= PLACE_MISS;
	if (s.mem_snoop & PERF_MEM_SNOOP_HITM)
		place |= PLACE_IS_MODIFIED;
	if (s.mem_blk & PERF_MEM_BLK_DATA)
		place |= PLACE_BLOCKED_DATA;
	if (s.mem_blk & PERF_MEM_BLK_ADDR)
		place |= PLACE_BLOCKED_ADDRESS;
	return place | (uint64_t)s.mem_hops << PLACE_HOPS_SHIFT;
}

void data_source_place_name(uint64_t place, char *text, size_t size)
{
	static const char *const levels[PLACE_LEVELS] = {
		[PLACE_NOTHING] = "unknown", [PLACE_L1] = "L1", [PLACE_LFB] = "LFB",
		[PLACE_L2] = "L2", [PLACE_L3] = "L3", [PLACE_L4] = "L4",
		[PLACE_ANY_CACHE] = "a cache", [PLACE_CACHE] = "cache", [PLACE_MEMORY] = "memory",
		[PLACE_PMEM] = "persistent memory", [PLACE_CXL] = "CXL memory", [PLACE_IO] = "I/O",
		[PLACE_UNCACHED] = "uncached memory",
	};
	static const char *const hops[8] = {
		"", " of another core", " of another node", " of another socket",
		" of another board", " far away", " far away", " far away",
	};
	unsigned level = place & 0xff;

	snprintf(text, size, "%s%s%s%s%s%s%s%s", place & PLACE_REMOTE ? "remote " : "",
		 level < PLACE_LEVELS ? levels[level] : levels[PLACE_NOTHING],
		 hops[place >> PLACE_HOPS_SHIFT & 7], place & PLACE_FAR ? ", 2 hops" : "",
		 place & PLACE_MISS ? " miss" : "",
		 place & PLACE_IS_MODIFIED ? ", modified in another cache" : "",
		 place & PLACE_BLOCKED_DATA ? ", data blocked" : "",
		 place & PLACE_BLOCKED_ADDRESS ? ", address blocked" : "");
}

bool data_source_is_known(uint64_t source)
{
	return data_source_op(source) != DATA_SOURCE_UNKNOWN || data_source_place(source) != 0;
}

bool data_source_has_address(const struct perf_event_attr *attr, uint64_t address, uint64_t source)
{
	if (!(attr->sample_type & PERF_SAMPLE_ADDR) || !address)
		return false;
	switch (attr->type) {
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
		return true;
	case PERF_TYPE_BREAKPOINT:
		return attr->bp_type != HW_BREAKPOINT_X;
	case PERF_TYPE_HARDWARE:
		if (attr->config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS)
			return false;
	}
	return !(attr->sample_type & PERF_SAMPLE_DATA_SRC) || data_source_is_known(source);
}
