/* SPDX-License-Identifier: Apache-2.0 */
/* opens - which events can be opened, at which precise level, and branch records. */
#include "survey/internal.h"
#include "base/clock.h"
#include "counters/ring.h"
#include "event/catalog.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Drivers of other architectures accept any precise level, and have none. */
#if defined(__x86_64__)
static const bool has_precise = true;
#else
static const bool has_precise = false;
#endif

enum how { REFUSED, COUNTS, SAMPLES };

struct opening {
	enum how how;
	int error;		/* errno, if REFUSED */
	bool user_only;		/* the kernel's part is not for this user */
	int precise;		/* highest precise level; -1: it cannot be sampled */
};

const char *survey_why(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "hidden: this user may not open it";
	case ENOSYS:
		return "hidden: there is no perf_event_open here";
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
	case ENXIO:
	case EINVAL:
		return event_machine_has_pmu() ? "no: this machine does not have it"
					       : "no: no hardware PMU";
	default:
		return "no: it could not be opened";
	}
}

static bool is_refused_right(int error)
{
	return error == EACCES || error == EPERM;
}

/* Try EVENT as it is, then with what a weaker user or another PMU needs, as pmu-sample does. */
static struct opening try_event(struct event_list *list, struct event *event)
{
	struct opening o = { .precise = -1 };
	int last;
	bool had_kernel = !event->attr.exclude_kernel;
	int cpu = event->per_cpu ? event->cpus ? event->cpu[0] : 0 : -1;

	for (;;) {
		struct perf_event_attr attr = event->attr;
		attr.disabled = 1;
		attr.sample_period = 0;
		attr.freq = 0;
		attr.precise_ip = 0;
		int fd = event_open(&attr, event->per_cpu ? -1 : 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		/* a refused right stays the reason if a weaker try fails for another */
		if (fd >= 0 || !is_refused_right(o.error))
			o.error = fd < 0 ? errno : 0;
		last = fd < 0 ? errno : 0;
		if (fd >= 0)
			close(fd);
		if (!last || !event_relax(list, event, last))
			break;
	}
	if (o.error)
		return o;
	o.user_only = had_kernel && event->attr.exclude_kernel;
	o.precise = event->per_cpu ? -1 : event_probe_precise(event, NULL, NULL);
	o.how = o.precise >= 0 ? SAMPLES : COUNTS;
	return o;
}

bool survey_attr(const char *name, struct perf_event_attr *attr)
{
	struct event_list list = { 0 };
	struct event_options how = { .force = true };
	struct report silent = { .tool = "pmu-events", .quiet = true };
	bool good = false;

	if (event_parse(&list, &how, name, &silent)) {
		struct opening o = try_event(&list, &list.event[0]);
		good = o.how == SAMPLES;
		*attr = list.event[0].attr;
		attr->precise_ip = 0;
	}
	event_list_release(&list);
	return good;
}

static const char *hidden_part(const struct opening *o)
{
	return o->user_only ? "; the kernel's part is hidden from this user" : "";
}

static void add_event(struct facts *all, const char *name)
{
	struct event_list list = { 0 };
	struct event_options how = { 0 };
	struct report silent = { .tool = "pmu-events", .quiet = true };

	if (!event_parse(&list, &how, name, &silent)) {
		facts_add(all, "events", name, "%s", survey_why(ENOENT));
	} else {
		struct opening o = try_event(&list, &list.event[0]);
		if (o.how == REFUSED)
			facts_add(all, "events", name, "%s", survey_why(o.error));
		else if (o.how == COUNTS)
			facts_add(all, "events", name, "counts only%s", hidden_part(&o));
		else if (!has_precise || list.event[0].attr.type == PERF_TYPE_SOFTWARE)
			facts_add(all, "events", name, "samples%s", hidden_part(&o));
		else
			facts_measure(all, "events", name, o.precise, "precise level",
				      "samples, at precise levels up to %d%s", o.precise,
				      hidden_part(&o));
	}
	event_list_release(&list);
}

/* The model's own events, or those of a PMU. */
struct event_tally {
	const char *group;	/* "icx" */
	size_t all, open, precise, hidden;
	char refused[64];	/* the first event that does not open; or "" */
};

static void count_entry(struct event_tally *t, const struct catalog_entry *entry)
{
	struct event_list list = { 0 };
	struct event_options how = { .force = true };
	struct report silent = { .tool = "pmu-events", .quiet = true };

	t->all++;
	if (!event_parse(&list, &how, entry->name, &silent)) {
		event_list_release(&list);
		return;
	}
	struct opening o = try_event(&list, &list.event[0]);
	t->open += o.how != REFUSED;
	t->precise += o.precise > 0;
	t->hidden += o.how == REFUSED && is_refused_right(o.error);
	if (o.how == REFUSED && !*t->refused)
		snprintf(t->refused, sizeof(t->refused), "%s", entry->name);
	event_list_release(&list);
}

static void add_tally(struct facts *all, const struct event_tally *t)
{
	if (t->hidden) {
		facts_add(all, "events of this CPU", t->group,
			  "%zu of %zu open; hidden: %zu, which this user may not open", t->open,
			  t->all, t->hidden);
	} else if (!t->open) {
		facts_add(all, "events of this CPU", t->group, "none of %zu opens", t->all);
	} else {
		char precise[48] = "";
		if (has_precise)
			snprintf(precise, sizeof(precise), ", %zu of them at precise levels",
				 t->precise);
		facts_measure(all, "events of this CPU", t->group, (double)t->open, "count",
			      "%zu of %zu open%s%s%s", t->open, t->all, precise,
			      *t->refused ? "; not " : "", t->refused);
	}
}

/* Count the events of each group of the catalog, for at most 10 s. */
static void add_own_events(struct facts *all)
{
	enum { MOST_GROUPS = 40 };
	struct catalog catalog = { 0 };
	struct event_options how = { 0 };
	struct catalog_options wanted = { .event = &how };
	struct event_tally tally = { 0 };
	size_t groups = 0;
	uint64_t end = monotonic_ns() + 10000000000U;

	catalog_read(&catalog, &wanted);
	for (size_t i = 0; i < catalog.count && !survey_stopped(all); i++) {
		const struct catalog_entry *e = &catalog.entry[i];
		if (strcmp(e->kind, "pmu") != 0 && strcmp(e->kind, "model") != 0)
			continue;
		if (tally.group && strcmp(tally.group, e->group) != 0) {
			add_tally(all, &tally);
			tally = (struct event_tally){ 0 };
			if (++groups == MOST_GROUPS)
				break;
		}
		if (monotonic_ns() > end)
			break;
		tally.group = e->group;
		count_entry(&tally, e);
	}
	if (tally.group)
		add_tally(all, &tally);
	else if (!groups)
		facts_add(all, "events of this CPU", "all",
			  "none: no PMU here has events of its own");
	catalog_release(&catalog);
}

void survey_events(struct facts *all)
{
	static const char *const names[] = {
		"cycles", "instructions", "ref-cycles", "bus-cycles", "branches", "branch-misses",
		"cache-references", "cache-misses", "stalled-cycles-frontend",
		"stalled-cycles-backend", "L1-dcache-loads", "L1-dcache-load-misses",
		"L1-icache-load-misses", "LLC-loads", "LLC-load-misses", "dTLB-load-misses",
		"iTLB-load-misses", "cpu-clock", "task-clock", "page-faults", "context-switches",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !survey_stopped(all); i++)
		add_event(all, names[i]);
	if (!survey_stopped(all))
		add_own_events(all);
}

/* Return the largest number of branches in the samples of RING. */
static uint64_t deepest(struct ring *ring)
{
	const struct perf_event_header *record;
	uint64_t most = 0;

	ring_refresh(ring);
	while ((record = ring_peek(ring))) {
		uint64_t count;
		if (record->type == PERF_RECORD_SAMPLE && record->size >= sizeof(*record) + 8) {
			memcpy(&count, record + 1, sizeof(count));
			most = count > most ? count : most;
		}
		ring_take(ring);
	}
	ring_give_back(ring);
	return most;
}

void survey_branches(struct facts *all)
{
	struct perf_event_attr attr;
	struct ring ring = { .fd = -1 };

	if (!survey_attr("cycles:u", &attr)) {
		facts_add(all, "branch records", "depth", "none: cycles cannot be sampled");
		return;
	}
	attr.freq = 0;
	attr.sample_period = 100003;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	attr.exclude_kernel = 1;
	attr.disabled = 0;
	int fd = event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		facts_add(all, "branch records", "depth", is_refused_right(errno)
			  ? "hidden: this user may not record branches"
			  : "none: this machine has none");
		return;
	}
	if (ring_map(&ring, fd, (size_t)128 * 1024, false)) {
		work_rounds(work_rounds_of(50000000));
		uint64_t most = deepest(&ring);
		facts_measure(all, "branch records", "depth", (double)most, "branches",
			      "up to %llu branches in a sample", (unsigned long long)most);
		ring_unmap(&ring);
	} else {
		facts_add(all, "branch records", "depth", "no memory for a ring");
	}
	close(fd);
}
