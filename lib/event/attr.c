/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attr - adds an event to the list, whatever source knew its name: applies its terms and
 * modifiers, chooses its period, and names it.
 */
#include "event/internal.h"
#include "linux/kernel-info.h"
#include "record/events.h"
#include "record/words.h"

#include <inttypes.h>

enum {
	MOST_EVENTS = 8192,	/* in one list: more than a kernel has tracepoints */
	TIMER_MIN = 10000,	/* ns: perf_swevent_hrtimer() in kernel/events/core.c rounds up */
	USUAL_MAX_RATE = 100000,	/* default of perf_event_max_sample_rate */
	CLOCK_HZ = 1000,	/* preset for a clock */
};

/* Return the highest sample rate that the kernel allows, in Hz. */
static uint32_t max_rate(const struct event_options *options)
{
	long rate;

	if (options->max_rate)
		return options->max_rate;
	rate = kernel_sysctl("perf_event_max_sample_rate");
	return rate > 0 && rate < UINT32_MAX ? (uint32_t)rate : USUAL_MAX_RATE;
}

static bool set_frequency(struct event_parser *p, const struct event_item *item,
			  struct event *event, uint64_t frequency, bool preset)
{
	uint32_t most = max_rate(p->options);

	if (frequency > most && !preset)
		return event_wrong(p, item->all.at, "%" PRIu64 " samples per second are above the "
				   "kernel's limit of %u: sysctl kernel.perf_event_max_sample_rate "
				   "raises it", frequency, most);
	if (event_is_clock(&event->attr) && frequency > 1000000000 / TIMER_MIN)
		return event_wrong(p, item->all.at, "%" PRIu64 " samples per second are more than "
				   "the kernel's timer can take: the most for '%s' is %d",
				   frequency, event->name, 1000000000 / TIMER_MIN);
	event->attr.freq = 1;
	event->attr.sample_freq = frequency < most ? frequency : most;
	return true;
}

static bool set_period(struct event_parser *p, const struct event_item *item,
		       struct event *event, uint64_t period)
{
	if (event_is_clock(&event->attr) && period < TIMER_MIN)
		return event_wrong(p, item->all.at, "a period of %" PRIu64 " ns is too short for "
				   "the kernel's timer: the least for '%s' is %d%s",
				   period, event->name, TIMER_MIN, item->period ? "" :
				   "; to give only another event a period: "
				   "-e page-faults/period=1/ -e timer");
	if (period < event->floor && !p->options->force)
		return event_wrong(p, item->all.at, "a period of %" PRIu64 " is below the floor "
				   "of %u for '%s'; --force allows it", period, event->floor,
				   event->name);
	if (period > INT64_MAX)
		return event_wrong(p, item->all.at, "a period of %" PRIu64 " does not fit into "
				   "63 bits", period);
	event->attr.sample_period = period;
	return true;
}

/* Terms override the command line, which overrides the preset. */
static bool choose_period(struct event_parser *p, const struct event_item *item,
			  struct event *event, const struct event_rates *rates)
{
	const struct event_options *options = p->options;

	event->floor = rates->floor;
	if (options->period && !item->period && !item->frequency && item->is_timer) {
		report_note(p->report, "'timer' has no period, so it takes %u samples per second",
			    rates->frequency);
		return set_frequency(p, item, event, rates->frequency, true);
	}
	if (item->period)
		return set_period(p, item, event, item->period);
	if (item->frequency)
		return set_frequency(p, item, event, item->frequency, false);
	if (options->period)
		return set_period(p, item, event, options->period);
	if (options->frequency)
		return set_frequency(p, item, event, options->frequency, false);
	if (rates->frequency)
		return set_frequency(p, item, event, rates->frequency, true);
	if (event_is_clock(&event->attr))	/* a clock with a name that is not in the tables */
		return set_frequency(p, item, event, CLOCK_HZ, true);
	event->attr.sample_period = rates->period;
	return true;
}

void event_set_branches(struct event *event, uint64_t kinds)
{
	event->attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	event->attr.branch_sample_type = kinds;
}

void event_exclude_kernel(struct event *event)
{
	event->attr.exclude_kernel = event->attr.exclude_hv = 1;
}

/* Return LETTERS without those of UNWANTED, in P's arena. */
static struct slice letters_without(struct event_parser *p, struct slice letters,
				    const char *unwanted)
{
	char *kept = arena_text(&p->list->arena, letters.at, letters.size);
	size_t size = 0;

	for (size_t i = 0; i < letters.size; i++)
		if (!strchr(unwanted, letters.at[i]))
			kept[size++] = letters.at[i];
	return (struct slice){ kept, size };
}

bool event_parser_modify(struct event_parser *p, struct event *event, struct slice letters,
			 bool group)
{
	const struct event before = *event;
	struct modifier_error wrong;

	if (!event_modify(p->list, event, letters, group, &wrong))
		return event_wrong(p, wrong.at, "'%c' %s", *wrong.at, wrong.why);
	if (!p->options->counts || letters.size == 0)
		return true;
	letters = letters_without(p, letters, group ? "pP" : "pPS");	/* S: read the group */
	*event = before;
	return event_modify(p->list, event, letters, group, &wrong);
}

bool event_parser_add(struct event_parser *p, const struct event_item *item, struct event event,
		      struct slice modifiers, const struct event_rates *rates)
{
	struct event_list *list = p->list;

	if (list->count >= MOST_EVENTS)
		return event_wrong(p, item->all.at, "more than %d events", MOST_EVENTS);
	event.attr.size = sizeof(event.attr);
	event.attr.exclude_guest = 1;
	event.max_stack = item->max_stack;
	event.inherit = item->inherit - item->no_inherit;
	if (item->branches)
		event_set_branches(&event, item->branches);
	if (!event.unit)
		event.unit = event_is_clock(&event.attr) ? UNIT_TIME : UNIT_COUNT;
	if (event.scale == 0)
		event.scale = 1;
	if (!event_parser_modify(p, &event, modifiers, false) ||
	    !choose_period(p, item, &event, rates))
		return false;
	if (item->rename) {
		event.name = item->rename;
		event.named = true;
	}
	list->event = array_grow(list->event, list->count, sizeof(event));
	list->event[list->count++] = event;
	return true;
}

const char *event_list_filter(struct event_list *list, size_t first, const char *filter)
{
	for (size_t i = first; i < list->count; i++) {
		struct event *event = &list->event[i];
		char *all;
		if (event->attr.type != PERF_TYPE_TRACEPOINT)
			return event->name;
		if (!event->filter) {
			event->filter = arena_text(&list->arena, filter, strlen(filter));
		} else if (asprintf(&all, "(%s) && (%s)", event->filter, filter) >= 0) {
			event->filter = arena_text(&list->arena, all, strlen(all));
			free(all);
		}
	}
	return NULL;
}

static bool are_equal(const struct event *a, const struct event *b)
{
	return !a->group && !b->group && !strcmp(a->name, b->name) &&
	       !memcmp(&a->attr, &b->attr, sizeof(a->attr)) && a->inherit == b->inherit &&
	       !strcmp(a->filter ? a->filter : "", b->filter ? b->filter : "");
}

void event_list_drop_equal(struct event_list *list, struct report *report)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		size_t same = 0;
		while (same < kept && !are_equal(&list->event[same], &list->event[i]))
			same++;
		if (same == kept)
			list->event[kept++] = list->event[i];
		else
			report_note(report, "'%s' is given twice, and used once",
				    list->event[i].name);
	}
	list->count = kept;
}

void event_list_release(struct event_list *list)
{
	free(list->event);
	arena_release(&list->arena);
	*list = (struct event_list){ 0 };
}
