/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/request.h"
#include "record/events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Return whether all events of LIST can be sampled here.  If the kernel may not be sampled, changes
 * events without modifiers to sample only the program's own code.  False: WHY has the reason.
 */
static bool can_sample(struct event_list *list, char *why, size_t size)
{
	bool all = true;

	for (size_t i = 0; all && i < list->count; i++)
		all = event_check_relaxed(list, &list->event[i], why, size);
	return all;
}

/* Return whether NAME is known, and set *CAN to whether it can be sampled.  False: reported. */
static bool probe(const struct event_request *request, const char *name, bool *can, char *why,
		  size_t size, struct report *report)
{
	struct event_list one = { 0 };
	bool known = event_parse(&one, request->how, name, report);

	*can = known && can_sample(&one, why, size);
	event_list_release(&one);
	return known;
}

/* Add the default event: cycles, or cpu-clock if the hardware does not count cycles. */
static bool add_default(const struct event_request *request, struct event_list *list,
			struct event_reply *reply, struct report *report)
{
	char why[512];
	bool can;

	if (!probe(request, "cycles", &can, why, sizeof(why), report))
		return false;
	if (!can && !event_machine_has_pmu())
		snprintf(reply->note, sizeof(reply->note), EVENT_NO_PMU);
	else if (!can)
		snprintf(reply->note, sizeof(reply->note), "cannot sample cycles: sampling time "
			 "instead (cpu-clock): %s", why);
	return event_parse(list, request->how, can ? "cycles" : "cpu-clock", report);
}

/*
 * Return the first fallback that can be sampled in place of NAME, with a note; NAME if there is
 * none.
 */
static const char *fall_back(const struct event_request *request, const char *name,
			     struct event_reply *reply, struct report *report)
{
	size_t used = strlen(reply->remark);
	char why[512];
	bool can;

	for (size_t i = 0; i < request->fallbacks->count; i++) {
		const char *other = request->fallbacks->item[i];
		if (!probe(request, other, &can, why, sizeof(why), report) || !can)
			continue;
		snprintf(reply->remark + used, sizeof(reply->remark) - used,
			 "%sasked for %s, got %s", used ? ", " : "", name, other);
		report_note(report, "'%s' cannot be sampled: '%s' is sampled instead", name, other);
		return other;
	}
	return name;	/* the sampler will report why it fails */
}

/* Apply the filters of name I to its events, which are in LIST from index FIRST on. */
static void add_filters(const struct event_request *request, struct event_list *list, size_t first,
			size_t i, struct event_reply *reply)
{
	const struct word_list *filters = request->filters;

	for (size_t k = 0; k < filters->count && !reply->not_filtered; k++)
		if (filters->beside_count[k] == i + 1)
			reply->not_filtered = event_list_filter(list, first, filters->item[k]);
}

/*
 * Add the event that samples who wakes threads up.  Its samples have the tracepoint's fields: who
 * is woken.  False: reported.
 */
static bool add_wakes(const struct event_options *how, struct event_list *list,
		      struct report *report)
{
	if (!event_parse(list, how, EVENT_WAKING "/period=1/", report))
		return false;
	list->event[list->count - 1].attr.sample_type |= PERF_SAMPLE_RAW;
	return true;
}

/*
 * Report why the tracepoints in DIRECTORY cannot be read, and what to do.  Their files are for root
 * and the group of tracefs, whatever its mode.
 */
static void report_unreadable(const char *directory, int error, struct report *report)
{
	int size = (int)(strlen(directory) - strlen("/events"));

	if (error == ENOENT) {
		report_because(report, REPORT_NOT_FOUND);
		report_error(report, "--waits samples the tracepoint " EVENT_WAKING ", but there "
			     "are none in %.*s: as root, mount -t tracefs none %.*s", size,
			     directory, size, directory);
		return;
	}
	report_because(report, REPORT_NO_RIGHTS);
	report_error(report, "--waits samples the tracepoint " EVENT_WAKING ", but %.*s cannot "
		     "be read: run as root; or, as root, mount -o remount,mode=750,gid=%u %.*s",
		     size, directory, (unsigned)getegid(), size, directory);
}

bool request_can_wake(const struct event_options *how, struct report *report)
{
	struct event_list one = { 0 };
	char directory[256], id[512], why[512];

	bool is_readable = event_tracepoints_path(directory, sizeof(directory));
	snprintf(id, sizeof(id), "%s/sched/sched_waking/id", directory);
	if (!is_readable || (faccessat(AT_FDCWD, id, R_OK, AT_EACCESS) && errno == EACCES)) {
		report_unreadable(directory, errno, report);
		return false;
	}
	bool can = add_wakes(how, &one, report);
	if (can && !event_check(&one.event[0], why, sizeof(why))) {
		report_because(report, REPORT_NO_RIGHTS);
		report_error(report, "--waits cannot sample '" EVENT_WAKING "': %s", why);
		can = false;
	}
	event_list_release(&one);
	return can;
}

bool request_is_wakes(const struct event *event)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT && !strcmp(event->base, EVENT_WAKING);
}

/* Return whether LIST samples wakeups already: there would be two samples of each. */
static bool has_wakes(const struct event_list *list, struct report *report)
{
	for (size_t i = 0; i < list->count; i++)
		if (request_is_wakes(&list->event[i])) {
			report_error(report, "--waits samples '" EVENT_WAKING "' itself: leave it "
				     "out of -e");
			return true;
		}
	return false;
}

bool request_events(const struct event_request *request, struct event_list *list,
		    struct event_reply *reply, struct report *report)
{
	char why[512];

	*reply = (struct event_reply){ .remark = "" };
	if (request->names->count == 0 && !add_default(request, list, reply, report))
		return false;
	for (size_t i = 0; i < request->names->count; i++) {
		const char *name = request->names->item[i];
		size_t first = list->count;
		bool can = true;
		if (request->fallbacks->count &&
		    !probe(request, name, &can, why, sizeof(why), report))
			return false;
		if (!can)
			name = fall_back(request, name, reply, report);
		if (!event_parse(list, request->how, name, report))
			return false;
		add_filters(request, list, first, i, reply);
		if (reply->not_filtered)
			return false;
	}
	event_list_drop_equal(list, report);
	for (size_t i = 0; i < list->count; i++)
		if (list->event[i].foreign)
			report_note(report, "'%s' is an event of another CPU, %s: this CPU may "
				    "count something else by its code", list->event[i].name,
				    list->event[i].foreign);
	return (!request->wakes ||
		(!has_wakes(list, report) && add_wakes(request->how, list, report))) &&
	       (!request->switches ||
		event_parse(list, request->how, "context-switches/period=1/", report));
}
