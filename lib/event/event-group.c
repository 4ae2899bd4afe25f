/* SPDX-License-Identifier: Apache-2.0 */
/* event-group - events that are counted together, and which of them is sampled. */
#include "event/internal.h"

/*
 * Number the group of the events from index FIRST on.  On a hybrid CPU a name stands for one
 * event per kind of core, and a group cannot mix kinds: make a group for each kind.  Other
 * events stay with the first kind.
 */
static void number_group(struct event_list *list, size_t first)
{
	uint32_t number = list->groups;

	for (size_t i = first; i < list->count; i++)
		list->event[i].group = 0;
	for (size_t i = first; i < list->count; i++) {
		const struct event *leader = &list->event[i];
		if (leader->group)
			continue;
		number++;
		for (size_t j = i; j < list->count; j++) {
			struct event *e = &list->event[j];
			bool same = !e->pmu || !e->cpus || !leader->pmu || !leader->cpus ||
				    !strcmp(e->pmu, leader->pmu);
			if (!e->group && same)
				e->group = number;
		}
	}
	list->groups = number;
}

/* Return the index of the leader of the group of event I: its first event. */
static size_t leader_of(const struct event_list *list, size_t first, size_t i)
{
	size_t leader = first;

	while (list->event[leader].group != list->event[i].group)
		leader++;
	return leader;
}

/*
 * Return the index of the event that is sampled in the group of LEADER: the leader, or the first
 * event after it that the kernel samples (topdown.c).  Return the number of events if there is
 * none.
 */
static size_t sampled_in(struct event_parser *p, size_t leader)
{
	const struct event_list *list = p->list;
	size_t sampled = list->count;
	bool leads = false, any = false, is_slots;

	for (size_t i = leader; i < list->count; i++) {
		if (list->event[i].group != list->event[leader].group)
			continue;
		bool is_metric = topdown_is_metric(p, &list->event[i], &is_slots);
		leads |= is_slots && i == leader;
		any |= is_metric;
		if (!is_metric && !is_slots && sampled == list->count)
			sampled = i;
	}
	return leads && any ? sampled : leader;
}

/*
 * Let one event of each group be sampled, from index FIRST on: its samples have the counts of the
 * others.
 */
static bool sample_one(struct event_parser *p, size_t first)
{
	struct event_list *list = p->list;

	for (size_t i = first; i < list->count; i++) {
		struct event *event = &list->event[i];
		if (!(event->attr.sample_type & PERF_SAMPLE_READ))
			continue;
		size_t leader = leader_of(list, first, i), sampled = sampled_in(p, leader);
		if (sampled == list->count)
			return event_wrong(p, p->text, "slots and topdown-* cannot be sampled: the "
					   "group needs another event, such as cycles");
		if (i == sampled)
			continue;
		event->attr.freq = 0;
		event->attr.sample_period = 0;
		event->after_leader = i != leader && leader != sampled;
	}
	return true;
}

bool event_make_group(struct event_parser *p, size_t first, struct slice letters)
{
	struct event_list *list = p->list;

	number_group(list, first);
	for (size_t i = first; i < list->count && letters.size > 0; i++)
		if (!event_parser_modify(p, &list->event[i], letters, true))
			return false;
	return sample_one(p, first);
}
