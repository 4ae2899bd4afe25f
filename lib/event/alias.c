/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alias - the hardware, software and cache events of the kernel's interface, with their
 * synonyms, descriptions and preset periods.
 *
 * Canonical names come from event_generic_name(), which readers of streams use, too.  Preset
 * periods are primes away from round numbers, so that they rarely resonate with the length
 * of a loop; pmu-event(7) explains this.
 */
#include "event/internal.h"
#include "record/events.h"

#include <inttypes.h>
#include <strings.h>

const struct event_rates event_rates_unknown = { 98269, 0, 1000 };

struct generic_event {
	uint32_t type;
	uint64_t config;
	struct event_rates rates;
	const char *text;
};

/* linux/perf_event.h, enum perf_hw_id and perf_sw_ids, in the order of pmu-events --list. */
static const struct generic_event generics[] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, { 3931177, 0, 10000 },
	  "core cycles, at the frequency the core runs at" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, { 4913959, 0, 10000 },
	  "instructions retired" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, { 98269, 0, 10000 },
	  "accesses that reach the last level cache" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, { 9833, 0, 1000 },
	  "accesses that miss the last level cache" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, { 982789, 0, 1000 },
	  "branch instructions retired" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, { 9833, 0, 1000 },
	  "branches predicted wrongly" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, { 98269, 0, 10000 },
	  "cycles of the bus clock" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, { 982789, 0, 10000 },
	  "cycles without an instruction to start" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, { 982789, 0, 10000 },
	  "cycles waiting for data or execution units" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, { 2456879, 0, 10000 },
	  "cycles at a constant reference frequency" },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, { 0, 1000, 1 },
	  "time on a CPU, by a timer: works everywhere" },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, { 0, 1000, 1 },
	  "time the task runs, by a timer" },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, { 211, 0, 1 },
	  "page faults, minor and major" },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, { 101, 0, 1 },
	  "switches from one task to another" },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, { 11, 0, 1 },
	  "moves of a task to another CPU" },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, { 211, 0, 1 },
	  "page faults served from memory" },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, { 11, 0, 1 },
	  "page faults that wait for a disk" },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, { 101, 0, 1 },
	  "unaligned accesses the kernel has to complete" },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, { 101, 0, 1 },
	  "instructions the kernel has to emulate" },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, { 1, 0, 1 },
	  "nothing: carries records other than samples" },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT, { 1, 0, 1 },
	  "records that a BPF program writes" },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES, { 101, 0, 1 },
	  "switches to a task of another cgroup" },
};

enum { GENERICS = sizeof(generics) / sizeof(generics[0]) };

/* Synonyms: perf's, then Go's. */
static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} others[] = {
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "cacheReferences", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cacheMisses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branchInstructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branchMisses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "timer", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
};

enum { TIMER_HZ = 100 };	/* sampling rate of Go's own CPU profiles */

/*
 * PERF_TYPE_HW_CACHE: config is cache | op << 8 | result << 16.  The first name of each cache,
 * op and result is the canonical one; the others are perf's synonyms.
 */
static const struct cache_events {
	const char *name[5];
	uint8_t ops;		/* bit mask of ops that perf has names for: load, store, prefetch */
	const char *text;
	struct event_rates access, miss;
} caches[] = {
	{ { "L1-dcache", "l1-d", "l1d", "L1-data" }, 7, "level 1 data cache",
	  { 982789, 0, 10000 }, { 49157, 0, 1000 } },
	{ { "L1-icache", "l1-i", "l1i", "L1-instruction" }, 5, "level 1 instruction cache",
	  { 982789, 0, 10000 }, { 9833, 0, 1000 } },
	{ { "LLC", "L2" }, 7, "last level cache", { 49157, 0, 1000 }, { 9833, 0, 1000 } },
	{ { "dTLB", "d-tlb", "Data-TLB" }, 7, "data TLB",
	  { 982789, 0, 10000 }, { 9833, 0, 1000 } },
	{ { "iTLB", "i-tlb", "Instruction-TLB" }, 1, "instruction TLB",
	  { 49157, 0, 1000 }, { 9833, 0, 1000 } },
	{ { "branch", "branches", "bpu", "btb", "bpc" }, 1, "branch predictor",
	  { 982789, 0, 1000 }, { 9833, 0, 1000 } },
	{ { "node" }, 7, "memory of this NUMA node", { 9833, 0, 1000 }, { 9833, 0, 1000 } },
};

static const char *const cache_ops[3][4] = {
	{ "load", "loads", "read" },
	{ "store", "stores", "write" },
	{ "prefetch", "prefetches", "speculative-read", "speculative-load" },
};

static const char *const cache_results[2][4] = {
	{ "refs", "Reference", "ops", "access" },
	{ "misses", "miss" },
};

enum { CACHES = sizeof(caches) / sizeof(caches[0]), CACHE_OPS = 3, CACHE_RESULTS = 2 };

static void fill_generic(const struct generic_event *g, struct event_alias *alias)
{
	*alias = (struct event_alias){ .type = g->type, .config = g->config, .text = g->text,
				       .rates = g->rates };
	snprintf(alias->name, sizeof(alias->name), "%s", event_generic_name(g->type, g->config));
}

static void fill_cache(unsigned int cache, unsigned int op, unsigned int result,
		       struct event_alias *alias)
{
	const struct cache_events *c = &caches[cache];

	*alias = (struct event_alias){ .type = PERF_TYPE_HW_CACHE, .text = c->text,
				       .config = cache | op << 8 | result << 16,
				       .rates = result ? c->miss : c->access };
	snprintf(alias->name, sizeof(alias->name), result ? "%s-%s-misses" : "%s-%s",
		 c->name[0], cache_ops[op][result ? 0 : 1]);
}

/* Cut WORD, in any case, off the front of S, if a '-' or the end follows it. */
static bool take_word(struct slice *s, const char *word)
{
	size_t length = strlen(word);

	if (s->size < length || strncasecmp(s->at, word, length) ||
	    (s->size > length && s->at[length] != '-'))
		return false;
	s->at += length;
	s->size -= length;
	return true;
}

/* Cut "-" and a word of one of COUNT lists of 4 words off S.  Returns the list's index, or -1. */
static int take_part(struct slice *s, const char *const list[][4], int count)
{
	struct slice after = { s->at + 1, s->size - 1 };

	if (s->size == 0 || *s->at != '-')
		return -1;
	for (int i = 0; i < count; i++)
		for (int j = 0; j < 4 && list[i][j]; j++)
			if (take_word(&after, list[i][j])) {
				*s = after;
				return i;
			}
	return -1;
}

/* Find the event of CACHE with the suffix REST: "", -OP, -RESULT, -OP-RESULT, -RESULT-OP. */
static bool find_cache_event(struct slice rest, unsigned int cache, struct event_alias *alias)
{
	int op = -1, result = -1;

	for (int part = 0; part < 2; part++) {
		if (op < 0)
			op = take_part(&rest, cache_ops, CACHE_OPS);
		if (result < 0)
			result = take_part(&rest, cache_results, CACHE_RESULTS);
	}
	op = op < 0 ? 0 : op;
	if (rest.size > 0 || !(caches[cache].ops & 1 << op))
		return false;
	fill_cache(cache, (unsigned int)op, result > 0, alias);
	return true;
}

static bool find_cache(struct slice name, struct event_alias *alias)
{
	for (unsigned int cache = 0; cache < CACHES; cache++)
		for (int i = 0; i < 5 && caches[cache].name[i]; i++) {
			struct slice rest = name;
			if (take_word(&rest, caches[cache].name[i]) &&
			    find_cache_event(rest, cache, alias))
				return true;
		}
	return false;
}

bool alias_find(struct slice name, struct event_alias *alias)
{
	uint32_t type = UINT32_MAX;
	uint64_t config = 0;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (slice_is(name, others[i].name)) {
			type = others[i].type;
			config = others[i].config;
		}
	for (int i = 0; i < GENERICS; i++)
		if ((generics[i].type == type && generics[i].config == config) ||
		    slice_is(name, event_generic_name(generics[i].type, generics[i].config))) {
			fill_generic(&generics[i], alias);
			if (slice_is(name, "timer")) {
				alias->rates.frequency = TIMER_HZ;
				alias->is_timer = true;
			}
			return true;
		}
	return find_cache(name, alias);
}

bool alias_next(unsigned int index, struct event_alias *alias)
{
	if (index < GENERICS) {
		fill_generic(&generics[index], alias);
		return true;
	}
	index -= GENERICS;
	for (unsigned int cache = 0; cache < CACHES; cache++)
		for (unsigned int op = 0; op < CACHE_OPS; op++)
			for (unsigned int result = 0; result < CACHE_RESULTS; result++)
				if (caches[cache].ops & 1 << op && index-- == 0) {
					fill_cache(cache, op, result, alias);
					return true;
				}
	return false;
}

const char *alias_other_name(const struct event_alias *alias, unsigned int index)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].type == alias->type && others[i].config == alias->config &&
		    index-- == 0)
			return others[i].name;
	return NULL;
}

/*
 * Parts of makers' names, and periods that fit; the first match counts: "stalled cycles of a
 * cache miss" are cycles.  Frequent events come first, because a period that is too long only
 * makes samples rare.
 */
struct event_rates alias_rates(const char *name)
{
	static const struct {
		const char *part;
		uint32_t period;
	} guesses[] = {
		{ "stall", 982789 }, { "cycle", 3931177 }, { "unhalted", 3931177 },
		{ "clk", 3931177 }, { "misp", 9833 }, { "mis_pred", 9833 }, { "miss", 9833 },
		{ "refill", 9833 }, { "inst", 4913959 }, { "uops", 4913959 },
		{ "slots", 4913959 }, { "branch", 982789 }, { "br_", 982789 },
		{ "load", 982789 }, { "store", 982789 }, { "access", 982789 },
	};
	struct event_rates rates = event_rates_unknown;

	/* It counts only the loads whose latency the CPU measures: one at a time. */
	if (!strncmp(name, "mem-loads", 9))
		return (struct event_rates){ 0, 1000, 1000 };
	for (size_t i = 0; i < sizeof(guesses) / sizeof(guesses[0]); i++)
		if (strcasestr(name, guesses[i].part)) {
			rates.period = guesses[i].period;
			break;
		}
	return rates;
}
