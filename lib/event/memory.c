/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory - names of events that sample loads and stores with their data addresses.
 *
 * Each name stands for a text in the language of events, so that the user need not know what the
 * CPU demands.  On a Sapphire Rapids, mem-loads:u is
 *
 *	{cpu/mem-loads-aux/,cpu/mem-loads/}:uP
 *
 * as perf mem record opens it (tools/perf/arch/x86/util/mem-events.c of Linux 6.6): only precise
 * samples have data addresses, and since Alder Lake the event of loads needs mem-loads-aux as the
 * leader of its group (intel_pmu_hw_config() of arch/x86/events/intel/core.c).
 */
#include "event/internal.h"

enum { LONGEST = 2048 };	/* bytes of a text */

static const struct memory_name {
	const char *name;
	const char *event;	/* the PMU's event */
	const char *terms;	/* added to it */
} names[] = {
	{ "mem-loads", "mem-loads", "" },
	{ "mem-stores", "mem-stores", "" },
	/* those of perf mem record -e */
	{ "ldlat-loads", "mem-loads", ",ldlat=30" },
	{ "ldlat-stores", "mem-stores", "" },
};

static bool has_event(const struct pmus *pmus, const struct pmu *pmu, const char *event)
{
	char text[256];

	return pmus_text(pmus, pmu, "events", event, text, sizeof(text));
}

/* Return the PMU whose name starts with PREFIX, or NULL. */
static const struct pmu *find_pmu(const struct pmus *pmus, const char *prefix)
{
	for (size_t i = 0; i < pmus->count; i++)
		if (!strncmp(pmus->pmu[i].name, prefix, strlen(prefix)))
			return &pmus->pmu[i];
	return NULL;
}

/* Return whether the group that is being parsed has the event that mem-loads needs on PMU. */
static bool has_leader(const struct event_parser *p, const struct pmu *pmu)
{
	char base[160];

	snprintf(base, sizeof(base), "%s/mem-loads-aux/", pmu->name);
	for (size_t i = p->group_first; i < p->list->count; i++)
		if (!strcmp(p->list->event[i].base, base))
			return true;
	return false;
}

/* Append to TEXT what NAME stands for on PMU, with the terms and the modifiers LETTERS of ITEM. */
static void add_event(const struct event_parser *p, const struct event_item *item,
		      const struct memory_name *name, const struct pmu *pmu, const char *letters,
		      char text[LONGEST])
{
	bool is_load = !strcmp(name->event, "mem-loads");
	bool aux = is_load && has_event(&p->pmus, pmu, "mem-loads-aux") &&
		   !(p->in_group && has_leader(p, pmu));
	bool braces = aux && !p->in_group;
	size_t used = strlen(text);

	snprintf(text + used, LONGEST - used, "%s%s", used ? "," : "", braces ? "{" : "");
	used = strlen(text);
	if (aux)
		snprintf(text + used, LONGEST - used, "%s/mem-loads-aux/%s,", pmu->name,
			 braces ? "" : letters);
	used = strlen(text);
	snprintf(text + used, LONGEST - used, "%s/%s%s%s%.*s/%s%s", pmu->name, name->event,
		 name->terms, item->terms.size ? "," : "", (int)item->terms.size, item->terms.at,
		 braces ? "}:" : "", letters);
}

/* Report why this machine has no event called NAME.  Returns EVENT_WRONG. */
static enum event_found report_absent(struct event_parser *p, const struct event_item *item,
				      bool has_ibs)
{
	const struct pmu *spe = find_pmu(&p->pmus, "arm_spe");

	report_because(p->report, REPORT_NOT_FOUND);
	if (spe)
		event_wrong(p, item->all.at, EVENT_NO_SPE, spe->name, spe->name);
	else if (has_ibs)
		event_wrong(p, item->all.at, "this CPU has no '%.*s'; its loads and stores are "
			    "sampled together: use mem-ldst", (int)item->name.size, item->name.at);
	else if (p->options->counts)
		event_wrong(p, item->all.at, "this machine has no '%.*s': none of its PMUs counts "
			    "it", (int)item->name.size, item->name.at);
	else
		event_wrong(p, item->all.at, "this machine has no '%.*s': none of its PMUs samples "
			    "data addresses; page-faults and mem:ADDRESS have them",
			    (int)item->name.size, item->name.at);
	return EVENT_WRONG;
}

enum event_found memory_expand(struct event_parser *p, const struct event_item *item,
			       const char **expanded)
{
	const struct memory_name *name = NULL;
	bool both = slice_is(item->name, "mem-ldst") ||
		    (!item->has_terms && (slice_is(item->name, "ibs_op") ||
					  slice_is(item->name, "arm_spe")));
	char text[LONGEST] = "", letters[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (slice_is(item->name, names[i].name))
			name = &names[i];
	if (!name && !both)
		return EVENT_UNKNOWN;
	if (item->terms.size > LONGEST / 8 || item->rest.size > sizeof(letters) / 2) {
		event_wrong(p, item->all.at, "these terms are too long");
		return EVENT_WRONG;
	}
	pmus_read(&p->pmus, p->options->sysfs);
	const struct pmu *ibs = find_pmu(&p->pmus, "ibs_op");
	bool precise = memchr(item->rest.at, 'p', item->rest.size) ||
		       memchr(item->rest.at, 'P', item->rest.size);
	snprintf(letters, sizeof(letters), "%.*s%s", (int)item->rest.size, item->rest.at,
		 precise ? "" : "P");
	if (both && ibs)	/* IBS is always precise */
		snprintf(text, sizeof(text), "%s/%.*s/%.*s", ibs->name, (int)item->terms.size,
			 item->terms.at, (int)item->rest.size, item->rest.at);
	for (size_t i = 0; name && i < p->pmus.count; i++)
		if (has_event(&p->pmus, &p->pmus.pmu[i], name->event) &&
		    strlen(text) < LONGEST / 2)
			add_event(p, item, name, &p->pmus.pmu[i], letters, text);
	if (!*text)
		return report_absent(p, item, ibs != NULL);
	*expanded = arena_text(&p->list->arena, text, sizeof(text));
	return EVENT_ADDED;
}

bool event_is_ibs(const struct event *event)
{
	return event->pmu && !strcmp(event->pmu, "ibs_op");
}
