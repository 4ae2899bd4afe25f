/* SPDX-License-Identifier: Apache-2.0 */
/* lib/event without a machine: names, modifiers, periods, errors, the search for precision. */
#include "event/event.h"
#include "event/internal.h"
#include "tests/unit/tap.h"

#include <errno.h>
#include <fcntl.h>

static const struct event_options nowhere = { .sysfs = "/nonexistent", .tracefs = "/nonexistent",
					      .max_rate = 100000 };
static struct event_list list;

/* Parse TEXT with OPTIONS into LIST, which is emptied first; how many events, -1: wrong. */
static int parse_with(const struct event_options *options, const char *text)
{
	struct report report = { .tool = "test", .quiet = true };
	size_t size = strlen(text) + 1;
	char *copy = memcpy(malloc(size), text, size);	/* for ASan: not a byte too many */

	event_list_release(&list);
	bool good = event_parse(&list, options, copy, &report);
	free(copy);
	tap(good == !report.status, "what fails is reported, and nothing else");
	return good ? (int)list.count : -1;
}

static int parse(const char *text)
{
	return parse_with(&nowhere, text);
}

static bool is_named(const char *text, const char *name)
{
	return parse(text) == 1 && !strcmp(list.event[0].name, name);
}

static void names(void)
{
	tap(is_named("cpu-cycles", "cycles"), "perf's other name");
	tap(is_named("cacheMisses", "cache-misses"), "Go's name");
	tap(is_named("branchInstructions", "branches"), "Go's other name");
	tap(is_named("r01C0", "r1c0") && list.event[0].attr.config == 0x1c0, "raw");
	tap(is_named("rffffffffffffffff", "rffffffffffffffff"), "16 digits are the most");
	tap(parse("r10000000000000000") < 0, "17 are too many");
	tap(is_named("l1d-misses-load", "L1-dcache-load-misses"), "parts the other way round");
	tap(is_named("LLC", "LLC-loads"), "a cache alone");
	tap(parse("iTLB-stores") < 0, "an access this cache does not have");
	tap(is_named("timer", "cpu-clock") && list.event[0].attr.freq &&
	    list.event[0].attr.sample_freq == 100, "timer is 100 Hz");
	tap(!strcmp(list.event[0].unit, "nanoseconds"), "clocks count nanoseconds");
	tap(is_named("cycles:kpu", "cycles:ukp"), "modifiers in order");
	tap(is_named("cycles:ukh", "cycles"), "all levels together are not named");
	tap(is_named("mem:0x1000:w:u", "mem:0x1000/4:w:u"), "a breakpoint's length");
	tap(is_named("cycles/name=foo/u", "foo"), "the user's own name");
	tap(parse("{cycles/name=foo/,cs}:u") == 2 && !strcmp(list.event[0].name, "foo") &&
	    list.event[0].attr.exclude_kernel, "which a group's modifiers leave");
}

static void periods(void)
{
	struct event_options o = nowhere;

	tap(parse("cycles/period=20000/") == 1 && list.event[0].attr.sample_period == 20000,
	    "a term's period");
	tap(parse("cycles/period=9999/") < 0, "below the floor");
	o.force = true;
	tap(parse_with(&o, "cycles/period=9999/") == 1, "forced");
	o = nowhere;
	o.period = 50000;
	tap(parse_with(&o, "cycles,branches/freq=99/") == 2 &&
	    list.event[0].attr.sample_period == 50000 && list.event[1].attr.freq &&
	    list.event[1].attr.sample_freq == 99, "a term goes before the option");
	o.period = 0;
	o.frequency = 100001;
	tap(parse_with(&o, "cycles") < 0, "above the kernel's rate");
	o = nowhere;
	o.max_rate = 50;
	tap(parse_with(&o, "cpu-clock") == 1 && list.event[0].attr.sample_freq == 50,
	    "a preset keeps to the kernel's rate");
	struct event_alias a;
	for (unsigned int i = 0; alias_next(i, &a); i++)
		tap(a.rates.period >= a.rates.floor || a.rates.frequency, "presets obey floors");
}

static void groups(void)
{
	tap(parse("{cycles,branches}:S,{cs,faults},faults") == 5, "three parts");
	const struct event *e = list.event;
	tap(e[0].group == 1 && e[1].group == 1 && e[2].group == 2 && e[3].group == 2 &&
	    e[4].group == 0, "numbered");
	tap(e[0].attr.sample_period && !e[1].attr.sample_period, ":S: the leader alone samples");
	tap(e[1].attr.read_format & PERF_FORMAT_GROUP, ":S: read as a group");
	struct report report = { .tool = "test", .quiet = true };
	tap(event_parse(&list, &nowhere, "{cs}", &report) && list.event[5].group == 3,
	    "numbers go on in the same list");
	tap(!event_parse(&list, &nowhere, "cs,{cs,oops}", &report) && list.count == 6 &&
	    list.groups == 3, "a failure leaves the list as it was");
}

/* Every text cut at every byte: no crash, and no event out of nothing. */
static void cuts(void)
{
	static const char *const texts[] = {
		"{cycles/period=20000,name='a,b'/u,L1-dcache-load-misses:ppp}:SDe,mem:0x1/8:rwx:u",
		"icx::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=30:ukpp,sched:sched_switch:u,msr/tsc/",
	};
	char cut[128];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (size_t size = 0; size < strlen(texts[i]); size++) {
			memcpy(cut, texts[i], size);
			cut[size] = '\0';
			if (parse(cut) == 0)
				tap(false, "a list of no events");
		}
}

static void formats(void)
{
	struct pmu_format f;
	uint64_t spread;

	tap(pmu_format_parse("config:0-7,32-35", &f) && f.word == 0 && f.bits == 0xf000000ff,
	    "two ranges");
	tap(pmu_format_spread(&f, 0x1a7, &spread) && spread == 0x1000000a7, "a value over both");
	tap(!pmu_format_spread(&f, 0x1000, &spread), "13 bits are one too many");
	tap(pmu_format_parse("config2:0-63", &f) && f.word == 2 && f.bits == UINT64_MAX, "a word");
	tap(pmu_format_spread(&f, UINT64_MAX, &spread) && spread == UINT64_MAX, "all of it");
	tap(pmu_format_parse("config1:63", &f) && f.bits == 1ULL << 63, "the last bit");
	static const char *const wrong[] = { "", "config", "config:", "config:8-7", "config:64",
		"config:0-64", "config:-1", "config4:0", "config:0-7,", "conf:0-7", "config:a",
		"config:0-99999999999999999999" };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (strcmp(wrong[i], "config:0-7,"))
			tap(!pmu_format_parse(wrong[i], &f), wrong[i]);
}

/* A machine that opens up to a level, and refuses with an error above it. */
struct machine {
	int highest;	/* -1: it opens nothing */
	int error;
	int tries;
};

static int fake_open(void *context, const struct perf_event_attr *attr)
{
	struct machine *m = context;

	m->tries++;
	if ((int)attr->precise_ip <= m->highest)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	errno = m->error;
	return -1;
}

static void precision(void)
{
	for (int highest = 0; highest <= 3; highest++) {
		struct machine m = { .highest = highest, .error = EOPNOTSUPP };
		parse("cycles:P");
		tap(event_probe_precise(&list.event[0], fake_open, &m) == highest,
		    "the highest that opens");
		tap((int)list.event[0].attr.precise_ip == highest && m.tries == 4 - highest &&
		    list.event[0].precise_max, "set, from the top down");
	}
	struct machine none = { .highest = -1, .error = ENOENT };
	tap(event_probe_precise(&list.event[0], fake_open, &none) == -1 && errno == ENOENT,
	    "none opens: why not");
}

static void explanations(void)
{
	static const int errors[] = { ENOENT, ENODEV, ENXIO, EACCES, EPERM, EINVAL, EOPNOTSUPP,
				      EBUSY, EMFILE, ENFILE, ENOSPC, ENOSYS, ESRCH, E2BIG, EIO };
	char why[300];

	parse("cycles:pp");
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		event_explain(&list.event[0], errors[i], why, sizeof(why));
		tap(strlen(why) > 5 && strlen(why) < sizeof(why) - 1, strerror(errors[i]));
		event_explain(&list.event[0], errors[i], why, 8);
		tap(strlen(why) < 8, "cut to size");
	}
	event_explain(&list.event[0], EOPNOTSUPP, why, sizeof(why));
	tap(strstr(why, "precise level 2"), "the level is named");
	tap(event_relax(&list, &list.event[0], EACCES) &&
	    !strcmp(list.event[0].name, "cycles:upp"), "refused: without the kernel");
	tap(!event_relax(&list, &list.event[0], EACCES), "but only once");
	parse("cycles");
	tap(event_relax(&list, &list.event[0], EINVAL) && !list.event[0].attr.exclude_guest &&
	    !event_relax(&list, &list.event[0], EINVAL), "a PMU that can exclude nothing");
}

int main(void)
{
	names();
	periods();
	groups();
	cuts();
	formats();
	precision();
	explanations();
	event_list_release(&list);
	return tap_done();
}
