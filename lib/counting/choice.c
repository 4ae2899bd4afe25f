/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/choice.h"
#include "base/descriptor.h"
#include "linux/kernel-info.h"
#include "sample/request.h"

#include <errno.h>
#include <string.h>

/* The usual events, and those of --detail. */
static const struct usual {
	const char *name;
	bool detail;
} usual[] = {
	{ "task-clock", false }, { "context-switches", false }, { "cpu-migrations", false },
	{ "page-faults", false }, { "minor-faults", true }, { "major-faults", true },
	{ "cycles", false }, { "instructions", false }, { "branches", false },
	{ "branch-misses", false }, { "L1-dcache-loads", true },
	{ "L1-dcache-load-misses", true }, { "LLC-loads", true }, { "LLC-load-misses", true },
	{ "dTLB-load-misses", true }, { "iTLB-load-misses", true },
};

/* The usual events that this machine does not count, and the reason. */
struct missing {
	bool cycles;		/* and with it all events of hardware counters */
	char names[256];	/* of others: "LLC-loads, LLC-load-misses" */
	char why[512];		/* of the first */
};

/* Return 0 if this process may count EVENT as it is, or an errno. */
static int refused(const struct event *event)
{
	struct perf_event_attr attr = event->attr;

	attr.sample_period = attr.sample_type = attr.freq = attr.precise_ip = 0;
	attr.read_format = 0;
	attr.disabled = 1;
	int fd = event->cpus ? 0 : event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int error = fd < 0 ? errno : 0;

	if (fd > 0)
		descriptor_close(fd);
	return error;
}

/* Return whether EVENT counts something without the kernel. */
static bool counts_users(const struct event *event)
{
	return event->attr.type != PERF_TYPE_SOFTWARE ||
	       (event->attr.config != PERF_COUNT_SW_CONTEXT_SWITCHES &&
		event->attr.config != PERF_COUNT_SW_CPU_MIGRATIONS);
}

/* Return whether the events of ONE can be counted here; if not, add the reason to M. */
static bool can_count(struct event_list *one, struct missing *m, const char *name)
{
	size_t used = strlen(m->names);

	for (size_t i = 0; i < one->count; i++) {
		struct event *event = &one->event[i];
		int error;
		while ((error = refused(event)) && counts_users(event))
			if (!event_relax(one, event, error))
				break;
		if (!error)
			continue;
		if (counts_users(event) && !m->cycles)
			snprintf(m->names + used, sizeof(m->names) - used, "%s%s",
				 used ? ", " : "", name);
		if (!*m->why)
			event_explain(event, error, m->why, sizeof(m->why));
		m->cycles |= !strcmp(name, "cycles");
		return false;
	}
	return true;
}

static void note_missing(const struct missing *m, struct counting_notes *n)
{
	if (m->cycles && !event_machine_has_pmu())
		counting_note(n, "no hardware counters here (a virtual machine?): only software "
			      "events are counted");
	else if (*m->names)
		counting_note(n, "not counted here: %s: %s", m->names, m->why);
}

/* Add the events of top-down analysis to LIST, if this machine counts them. */
static void add_topdown(struct event_list *list, struct report *report)
{
	const struct event_options how = { .counts = true };
	struct report unheard = { .tool = report->tool, .quiet = true };
	struct event_list one = { 0 };

	if (event_parse(&one, &how, "topdown", &unheard) && !refused(&one.event[0]))
		event_parse(list, &how, "topdown", report);
	event_list_release(&one);
}

bool counting_choose(struct event_list *list, const struct word_list *names, bool detail,
		     struct counting_notes *notes, struct report *report)
{
	const struct event_options how = { .counts = true };
	const struct word_list none = { 0 };
	const struct event_request request = { .how = &how, .names = names, .filters = &none,
					       .fallbacks = &none };
	struct missing missing = { .cycles = false };
	struct event_reply reply;

	if (names->count)
		return request_events(&request, list, &reply, report);
	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
		struct event_list one = { 0 };
		bool good = !usual[i].detail || detail;
		good = good && event_parse(&one, &how, usual[i].name, report);
		good = good && can_count(&one, &missing, usual[i].name);
		event_list_release(&one);
		if (good && !event_parse(list, &how, usual[i].name, report))
			return false;
	}
	if (detail)
		add_topdown(list, report);
	if (list->count)
		note_missing(&missing, notes);
	else
		report_error(report, "nothing can be counted: %s", missing.why);
	return list->count;
}
