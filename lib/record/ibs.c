/* SPDX-License-Identifier: Apache-2.0 */
#include "record/ibs.h"
#include "record/origin.h"

#include <endian.h>
#include <stdio.h>

#define BIT(value, n) ((value) >> (n) & 1)

/* Registers of the raw record, in their order. */
enum { OP_CTL, RIP, OP_DATA, OP_DATA2, OP_DATA3, DATA_ADDRESS, PHYSICAL_ADDRESS, REGISTERS };

enum {
	CAPS_MORE_SOURCES = 11,	/* bit of caps, since Zen 4: data sources have five bits */
	OP_VALID = 18,		/* bit of OP_CTL */
};

/* Data sources in OP_DATA2: with three bits, and with five. */
enum {
	CACHE_HERE = 2, DRAM = 3, CACHE_REMOTE = 4, IO = 7,
	MORE_L3 = 1, MORE_CACHE_NEAR = 2, MORE_CACHE_FAR = 5, MORE_PMEM = 6, MORE_EXTENSION = 8,
};

/* The fields of OP_DATA2 and OP_DATA3 that are read here. */
struct ibs_access {
	bool is_load, is_store;
	bool l1_tlb_miss, l2_tlb_miss;
	bool l1_miss, l2_miss;
	bool uncacheable, locked;
	bool no_buffer;		/* the miss waits for an earlier one of the same line */
	bool has_address, has_physical;
	bool prefetch;
	uint64_t latency;	/* cycles from the miss in L1 until the data came */
	unsigned int source;	/* where the data came from; 0: unknown */
	bool more_sources;	/* SOURCE has five bits */
	bool remote;		/* of another node */
	bool owned;		/* the cache line was in the state owned, not modified */
};

static struct ibs_access decode(uint32_t caps, uint64_t data2, uint64_t data3)
{
	struct ibs_access a = {
		.is_load = BIT(data3, 0), .is_store = BIT(data3, 1),
		.l1_tlb_miss = BIT(data3, 2), .l2_tlb_miss = BIT(data3, 3),
		.l1_miss = BIT(data3, 7), .uncacheable = BIT(data3, 14), .locked = BIT(data3, 15),
		.no_buffer = BIT(data3, 16), .has_address = BIT(data3, 17),
		.has_physical = BIT(data3, 18), .l2_miss = BIT(data3, 20),
		.prefetch = BIT(data3, 21), .latency = data3 >> 32 & 0xffff,
		.source = data2 & 7, .more_sources = BIT(caps, CAPS_MORE_SOURCES),
		.remote = BIT(data2, 4), .owned = BIT(data2, 5),
	};

	if (a.more_sources)
		a.source |= (unsigned int)(data2 >> 6 & 3) << 3;
	return a;
}

/* Remove what OP_DATA2 said: it is not valid then. */
static void remove_source(struct ibs_access *a)
{
	a->source = 0;
	a->remote = a->owned = false;
}

/* A level of memory, as linux/perf_event.h encodes it: LVL with "hit", and LVLNUM. */
struct level {
	uint64_t level, number;		/* PERF_MEM_LVL_* without HIT; PERF_MEM_LVLNUM_* */
	bool remote;			/* outside this node, or this group of cores */
	uint64_t hops;			/* PERF_MEM_HOPS_* */
};

enum { NUMBER_UNCACHED = 0x8, NUMBER_CXL = 0x9, NUMBER_IO = 0xa };	/* newer than our header */
enum { NEAR = 1, FAR = 2 };	/* PERF_MEM_HOPS_0 and _1 */

static const struct level three_bits[8] = {
	[CACHE_HERE] = { PERF_MEM_LVL_L3 | PERF_MEM_LVL_REM_CCE1, PERF_MEM_LVLNUM_ANY_CACHE,
			 false, NEAR },
	[DRAM] = { PERF_MEM_LVL_LOC_RAM, PERF_MEM_LVLNUM_RAM, false, 0 },
	[CACHE_REMOTE] = { PERF_MEM_LVL_REM_CCE2, PERF_MEM_LVLNUM_ANY_CACHE, true, FAR },
	[IO] = { PERF_MEM_LVL_IO, NUMBER_IO, false, 0 },
};

static const struct level five_bits[32] = {
	[MORE_L3] = { PERF_MEM_LVL_L3, PERF_MEM_LVLNUM_L3, false, 0 },
	[MORE_CACHE_NEAR] = { PERF_MEM_LVL_REM_CCE1, PERF_MEM_LVLNUM_ANY_CACHE, true, NEAR },
	[DRAM] = { PERF_MEM_LVL_LOC_RAM, PERF_MEM_LVLNUM_RAM, false, 0 },
	[MORE_CACHE_FAR] = { PERF_MEM_LVL_REM_CCE2, PERF_MEM_LVLNUM_ANY_CACHE, true, FAR },
	[MORE_PMEM] = { 0, PERF_MEM_LVLNUM_PMEM, false, 0 },
	[IO] = { PERF_MEM_LVL_IO, NUMBER_IO, false, 0 },
	[MORE_EXTENSION] = { 0, NUMBER_CXL, false, 0 },
};

/* Return the level by the data source, which only loads have.  Its number is 0 if it is unknown. */
static struct level level_of_source(const struct ibs_access *a)
{
	struct level level = a->more_sources ? five_bits[a->source] : three_bits[a->source];
	bool more = a->source == MORE_PMEM || a->source == MORE_EXTENSION;
	bool has_node = a->source == DRAM || (a->more_sources && more);

	if (a->remote && has_node) {
		level.level = a->source == DRAM ? PERF_MEM_LVL_REM_RAM1 : level.level;
		level.remote = true;
		level.hops = FAR;
	}
	return level;
}

/* In the order in which the kernel's perf_ibs_get_mem_lvl() decides. */
static struct level level_of(const struct ibs_access *a, bool is_early_zen3)
{
	struct level level = { 0 };

	if (a->uncacheable && a->source != IO)
		return (struct level){ PERF_MEM_LVL_UNC, NUMBER_UNCACHED, false, 0 };
	if (!a->l1_miss)
		return (struct level){ PERF_MEM_LVL_L1, PERF_MEM_LVLNUM_L1, false, 0 };
	/* erratum 1293 of early Zen 3: L2 misses are unknown then */
	if (!a->l2_miss && !(is_early_zen3 && (a->prefetch || a->no_buffer)))
		return (struct level){ PERF_MEM_LVL_L2, PERF_MEM_LVLNUM_L2, false, 0 };
	if (a->is_load)
		level = level_of_source(a);
	if (!level.number && a->no_buffer)
		return (struct level){ PERF_MEM_LVL_LFB, PERF_MEM_LVLNUM_LFB, false, 0 };
	return level;
}

static uint64_t snoop_of(const struct ibs_access *a, const struct level *level, bool is_state_valid)
{
	const uint64_t inner = PERF_MEM_LVL_L1 | PERF_MEM_LVL_L2;
	bool cache = a->more_sources ? a->source == MORE_L3 || a->source == MORE_CACHE_NEAR ||
				       a->source == MORE_CACHE_FAR
				     : a->source == CACHE_HERE;

	return is_state_valid && a->is_load && !(level->level & inner) && !a->owned && cache
	       ? PERF_MEM_SNOOP_HITM : PERF_MEM_SNOOP_NA;
}

static uint64_t tlb_of(const struct ibs_access *a)
{
	if (!a->has_address)
		return PERF_MEM_TLB_NA;
	return !a->l1_tlb_miss ? PERF_MEM_TLB_L1 | PERF_MEM_TLB_HIT
	     : !a->l2_tlb_miss ? PERF_MEM_TLB_L2 | PERF_MEM_TLB_HIT
			       : PERF_MEM_TLB_L2 | PERF_MEM_TLB_MISS;
}

/* Return the data source of A, as union perf_mem_data_src of linux/perf_event.h. */
static uint64_t source_of(const struct ibs_access *a, const struct ibs_event *ibs)
{
	struct level level = level_of(a, ibs->is_early_zen3);
	bool known = level.number;
	union perf_mem_data_src source = {
		.mem_op = a->is_load ? PERF_MEM_OP_LOAD : PERF_MEM_OP_STORE,
		.mem_lvl = level.level ? level.level | PERF_MEM_LVL_HIT
			 : known ? 0 : PERF_MEM_LVL_NA,
		.mem_snoop = snoop_of(a, &level, !ibs->has_no_state),
		.mem_lock = a->locked ? PERF_MEM_LOCK_LOCKED : PERF_MEM_LOCK_NA,
		.mem_dtlb = tlb_of(a),
		.mem_lvl_num = known ? level.number : PERF_MEM_LVLNUM_NA,
		.mem_remote = level.remote,
	};

	/* mem_hops is newer than our header */
	return source.val | level.hops << 43;
}

void ibs_complete(const struct stream_event *event, struct sample *s)
{
	const union perf_mem_data_src given = { .val = s->data_src };
	uint64_t reg[REGISTERS];
	uint32_t caps;

	if (s->raw.size < sizeof(caps) + sizeof(reg) ||
	    given.mem_op & (PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE))
		return;
	memcpy(&caps, s->raw.at, sizeof(caps));
	memcpy(reg, s->raw.at + sizeof(caps), sizeof(reg));
	for (int i = 0; i < REGISTERS; i++)
		reg[i] = le64toh(reg[i]);
	struct ibs_access a = decode(le32toh(caps), reg[OP_DATA2], reg[OP_DATA3]);
	if (!BIT(reg[OP_CTL], OP_VALID) || (!a.is_load && !a.is_store))
		return;
	if (event->ibs.is_early_zen3 && (a.prefetch || a.no_buffer))
		remove_source(&a);	/* erratum 1293 */
	s->data_src = source_of(&a, &event->ibs);
	if (!s->addr && a.has_address)
		s->addr = reg[DATA_ADDRESS];
	if (!s->weight && a.is_load && a.l1_miss)
		s->weight = event->attr.sample_type & PERF_SAMPLE_WEIGHT_STRUCT
			  ? a.latency | (reg[OP_DATA] >> 16 & 0xffff) << 32 : a.latency;
	if (event->attr.sample_type & PERF_SAMPLE_PHYS_ADDR && !s->phys_addr && a.has_physical)
		s->phys_addr = reg[PHYSICAL_ADDRESS];
}

/* Set what EVENTS knows of the CPU by TEXT, "AuthenticAMD,25,1,1": vendor, family, model. */
static void follow_cpu(struct stream_events *events, const char *text)
{
	unsigned int family, model;
	enum { ZEN3 = 0x19 };

	if (sscanf(text, "AuthenticAMD,%3u,%3u", &family, &model) != 2 || family != ZEN3)
		return;
	events->ibs.is_early_zen3 = model <= 0xf;
	events->ibs.has_no_state = model <= 0xf || (model >= 0x20 && model <= 0x5f);
	for (uint32_t i = 0; i < events->count; i++) {
		events->event[i].ibs.is_early_zen3 = events->ibs.is_early_zen3;
		events->event[i].ibs.has_no_state = events->ibs.has_no_state;
	}
}

/* PMU_MAPPINGS: u32 count, then u32 type and the name of each PMU. */
static void follow_pmus(struct stream_events *events, struct cursor c)
{
	for (uint32_t left = cursor_u32(&c); left && !c.failed; left--) {
		uint32_t type = cursor_u32(&c), size = cursor_u32(&c);
		const char *name = cursor_bytes(&c, size);
		if (!name || size < sizeof("ibs_op") || memcmp(name, "ibs_op", sizeof("ibs_op")))
			continue;
		for (uint32_t i = 0; i < events->count; i++)
			events->event[i].ibs.is_op |= events->event[i].attr.type == type;
	}
}

void ibs_follow_feature(struct stream_events *events, uint64_t feature, struct cursor data)
{
	char text[64];

	if (feature == FEATURE_PMU_MAPPINGS) {
		follow_pmus(events, data);
	} else if (feature == FEATURE_CPUID) {
		uint32_t size = cursor_u32(&data);
		const char *at = cursor_bytes(&data, size);
		if (at) {
			snprintf(text, sizeof(text), "%.*s", (int)(size < 64 ? size : 63), at);
			follow_cpu(events, text);
		}
	}
}
