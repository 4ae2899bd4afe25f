/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event "topdown": the group of all events of event/topdown.h, on each PMU that has them.
 *
 * Where metrics are counted, the kernel demands that slots leads the group, and that neither it
 * nor a metric is sampled (intel_pmu_hw_config() in arch/x86/events/intel/core.c).  So cycles is
 * sampled, and its samples have the counts of the whole group.
 */
#include "event/topdown.h"
#include "event/internal.h"

enum { GROUP_TEXT = 2048 };

/* Return whether PMU has all events of KIND, and if needed the slots of a cycle: *SLOTS. */
static bool offers(struct event_parser *p, const struct pmu *pmu, enum topdown_kind kind,
		   uint32_t *slots)
{
	char text[GROUP_TEXT];
	uint64_t number;

	for (int i = topdown_events[kind].first; i <= (int)topdown_events[kind].last; i++)
		if (!pmus_text(&p->pmus, pmu, "events", topdown_event_name[i], text, sizeof(text)))
			return false;
	if (kind == TOPDOWN_METRICS)
		return true;
	if (!pmus_text(&p->pmus, pmu, "caps", "slots", text, sizeof(text)) ||
	    !slice_number((struct slice){ text, strlen(text) }, &number) || number == 0 ||
	    number > 255)
		return false;
	*slots = (uint32_t)number;
	return true;
}

bool topdown_is_metric(struct event_parser *p, const struct event *event, bool *is_slots)
{
	char text[GROUP_TEXT];
	uint64_t config = event->attr.config;

	*is_slots = false;
	/* event 0: slots is umask 4, the metrics are umasks 0x80 to 0x87 */
	if (!event->pmu || event->attr.type == PERF_TYPE_HARDWARE ||
	    (config != 0x400 && (config & ~UINT64_C(0x700)) != 0x8000))
		return false;
	for (size_t i = 0; i < p->pmus.count; i++)
		if (p->pmus.pmu[i].core && !strcmp(p->pmus.pmu[i].name, event->pmu) &&
		    pmus_text(&p->pmus, &p->pmus.pmu[i], "events", "slots", text, sizeof(text)) &&
		    pmus_text(&p->pmus, &p->pmus.pmu[i], "events", "topdown-retiring", text,
			      sizeof(text))) {
			*is_slots = config == 0x400;
			return config != 0x400;
		}
	return false;
}

/* Append the event NAME of PMU to the group TEXT, with the terms of ITEM if it is SAMPLED. */
static void add_member(char text[GROUP_TEXT], const char *pmu, const char *name,
		       const struct event_item *item, bool sampled)
{
	size_t used = strlen(text);

	snprintf(text + used, GROUP_TEXT - used, "%c%s/%s%s%.*s/", used ? ',' : '{', pmu, name,
		 sampled && item->terms.size ? "," : "", sampled ? (int)item->terms.size : 0,
		 item->terms.size ? item->terms.at : "");
}

/* Add the group of PMU. */
static bool add_group(struct event_parser *p, const struct event_item *item,
		      const struct pmu *pmu, enum topdown_kind kind, uint32_t slots)
{
	size_t first = p->list->count, used;
	char text[GROUP_TEXT] = "";

	for (int i = topdown_events[kind].first; i <= (int)topdown_events[kind].last; i++) {
		add_member(text, pmu->name, topdown_event_name[i], item, i == TOPDOWN_CYCLES);
		if (i == TOPDOWN_SLOTS)
			add_member(text, pmu->name, "cycles", item, true);
	}
	used = strlen(text);
	snprintf(text + used, sizeof(text) - used, "}:S%.*s", (int)item->rest.size,
		 item->rest.size ? item->rest.at : "");
	if (strlen(text) + 1 == sizeof(text))
		return event_wrong(p, item->all.at, "these terms are too long");
	if (!event_parse_group(p, arena_text(&p->list->arena, text, sizeof(text))))
		return false;
	for (size_t i = first; i < p->list->count; i++)
		p->list->event[i].slots = slots;
	return true;
}

bool topdown_parse(struct event_parser *p, struct event_item *item)
{
	bool found = false;

	if (p->in_group)
		return event_wrong(p, item->all.at, "topdown is a group of its own");
	pmus_read(&p->pmus, p->options->sysfs);
	for (size_t i = 0; i < p->pmus.count; i++) {
		const struct pmu *pmu = &p->pmus.pmu[i];
		uint32_t slots = 0;
		int kind = 0;
		while (pmu->core && kind < TOPDOWN_KINDS &&
		       !offers(p, pmu, (enum topdown_kind)kind, &slots))
			kind++;
		if (!pmu->core || kind == TOPDOWN_KINDS)
			continue;
		found = true;
		if (!add_group(p, item, pmu, (enum topdown_kind)kind, slots))
			return false;
	}
	if (!found)
		report_because(p->report, REPORT_NOT_FOUND);
	return found || event_wrong(p, item->all.at, "no topdown: the kernel shows neither slots "
				    "and topdown-* nor stall_slot*, op_retired, op_spec and "
				    "caps/slots of this machine's CPUs");
}
