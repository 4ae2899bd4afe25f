/* SPDX-License-Identifier: Apache-2.0 */
#include "event/makers.h"
#include "event/internal.h"
#include "event/models.h"

#include <ctype.h>
#include <inttypes.h>

/* Bits of a config word of x86's PMUs, "format/" in sysfs. */
enum { EDGE = 1 << 18, ANY_THREAD = 1 << 21, INVERT = 1 << 23, COUNTER_MASK_SHIFT = 24 };
static const uint64_t counter_mask = 0xffULL << COUNTER_MASK_SHIFT;
static const uint64_t in_transaction = 1ULL << 32, in_checkpointed = 1ULL << 33;

static void add_maker(struct maker *maker, size_t *count, const struct table_model *model,
		      struct pmu *pmu)
{
	if (*count < MOST_MAKERS)
		maker[(*count)++] = (struct maker){ *model, pmu };
}

/* Like tables_find() and tables_is_for(), but MODEL may be the user's. */
static bool find_event(const struct table_model *model, struct slice name,
		       struct table_event *event)
{
	return model->own ? own_find(model->own, name, event)
			  : tables_find(model->number, name, event);
}

static bool is_for(const struct table_model *model, const char *id, const char *role)
{
	return model->own ? own_is_for(model->own, id, role)
			  : tables_is_for(model->number, id, role);
}

bool makers_event(const struct table_model *model, size_t i, struct table_event *event)
{
	if (!model->own)
		return tables_event(model->number, i, event);
	if (i < model->events)
		*event = model->own->event[i];
	return i < model->events;
}

void makers_release(struct event_parser *p)
{
	pmus_release(&p->pmus);
	own_release(&p->own);
}

/* Return the core PMU of this machine that counts MODEL's events, or NULL. */
static struct pmu *find_pmu(struct pmus *pmus, const struct table_model *model)
{
	for (size_t i = 0; i < pmus->count && pmus->cores > 1; i++) {
		struct pmu *pmu = &pmus->pmu[i];
		char id[CPU_ID_SIZE];
		if (!pmu->core)
			continue;
		cpu_identify(pmus, pmu, id);
		if (is_for(model, id, cpu_role(pmu)) ||
		    (*cpu_role(pmu) && is_for(model, NULL, cpu_role(pmu))))
			return pmu;
	}
	return NULL;
}

/*
 * Find the models of PMU (NULL: of a machine whose core PMU the kernel does not show).  The user's
 * models come last, because they add what is missing.
 */
static void add_present(struct event_parser *p, struct pmu *pmu, struct maker *maker,
			size_t *count)
{
	struct pmu *only = p->pmus.cores > 1 ? pmu : NULL;
	struct table_model model;
	char id[CPU_ID_SIZE];

	cpu_identify(&p->pmus, pmu, id);
	for (int at = 0; *id && tables_next(&at, &model);)
		if (is_for(&model, id, cpu_role(pmu)))
			add_maker(maker, count, &model, only);
	for (size_t i = 0; *id && i < p->own.count; i++)
		if (is_for(&p->own.model[i]->model, id, cpu_role(pmu)))
			add_maker(maker, count, &p->own.model[i]->model, only);
}

/* Return the name of the model that these options ask for; "": this machine's. */
static struct slice wanted_model(const struct event_parser *p)
{
	const char *forced = getenv("LIBPFM_FORCE_PMU");	/* libpfm4's variable */
	const char *name = p->options->model ? p->options->model : forced ? forced : "";

	return (struct slice){ name, strlen(name) };
}

size_t makers_select(struct event_parser *p, struct slice name, struct maker maker[MOST_MAKERS])
{
	struct table_model model;
	size_t count = 0;

	pmus_read(&p->pmus, p->options->sysfs);
	own_read(&p->own, p->report);
	if (name.size == 0)
		name = wanted_model(p);
	for (int at = 0; name.size > 0 && tables_next(&at, &model);)
		if (tables_is_called(model.number, name))
			add_maker(maker, &count, &model, find_pmu(&p->pmus, &model));
	for (size_t i = 0; name.size > 0 && i < p->own.count; i++)
		if (slice_is(name, p->own.model[i]->model.name))
			add_maker(maker, &count, &p->own.model[i]->model,
				  find_pmu(&p->pmus, &p->own.model[i]->model));
	if (name.size > 0)
		return count;
	if (p->pmus.cores == 0)
		add_present(p, NULL, maker, &count);
	for (size_t i = 0; i < p->pmus.count; i++)
		if (p->pmus.pmu[i].core)
			add_present(p, &p->pmus.pmu[i], maker, &count);
	return count;
}

/* Return whether MODEL is this machine's, or one that its user has not bound to a CPU. */
static bool is_present(struct event_parser *p, const struct table_model *model)
{
	char id[CPU_ID_SIZE];
	bool has_pmu = false;

	for (size_t i = 0; i < p->pmus.count; i++) {
		struct pmu *pmu = &p->pmus.pmu[i];
		if (!pmu->core)
			continue;
		has_pmu = true;
		cpu_identify(&p->pmus, pmu, id);
		if (is_for(model, id, cpu_role(pmu)))
			return true;
	}
	cpu_identify(&p->pmus, NULL, id);
	return (model->own && !strcmp(model->own->cpus, "-")) ||
	       (!has_pmu && is_for(model, id, ""));
}

bool makers_is_present(struct event_parser *p, struct slice name)
{
	struct maker maker[MOST_MAKERS];
	size_t count = makers_select(p, name, maker);

	for (size_t i = 0; i < count; i++)
		if (is_present(p, &maker[i].model))
			return true;
	return false;
}

bool makers_find_for_pmu(struct event_parser *p, struct pmu *pmu, struct slice name,
			 struct table_event *event)
{
	struct maker maker[MOST_MAKERS];
	struct slice any = { "", 0 };
	size_t count = makers_select(p, any, maker);

	for (size_t i = 0; i < count; i++)
		if ((count == 1 || maker[i].pmu == pmu ||
		     is_for(&maker[i].model, NULL, cpu_role(pmu))) &&
		    find_event(&maker[i].model, name, event))
			return true;
	return false;
}

/* Set the bits MASK of CONFIG to VALUE.  False: the event itself sets other bits of MASK. */
static bool set_bits(uint64_t *config, uint64_t mask, uint64_t value)
{
	if (value & ~mask || (*config & mask && (*config & mask) != value))
		return false;
	*config |= value;
	return true;
}

/* Append MORE to the LETTERS of E.  False: there is no room. */
static bool add_letters(struct maker_encoding *e, struct slice more)
{
	size_t used = strlen(e->letters);

	if (used + more.size >= sizeof(e->letters))
		return false;
	memcpy(e->letters + used, more.at, more.size);
	e->letters[used + more.size] = '\0';
	return true;
}

/* Apply the attribute NAME with VALUE that changes the config word.  False: it is not one. */
static bool apply_bits(struct slice name, uint64_t value, uint64_t *config)
{
	static const struct {
		const char *name;
		uint64_t bit;
	} flags[] = {
		{ "e", EDGE }, { "i", INVERT }, { "t", ANY_THREAD }, { "intx", in_transaction },
		{ "intxcp", in_checkpointed },
	};

	if (slice_is(name, "c"))
		return value <= 255 && set_bits(config, counter_mask, value << COUNTER_MASK_SHIFT);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (slice_is(name, flags[i].name))
			return value <= 1 && set_bits(config, flags[i].bit, value * flags[i].bit);
	return false;
}

/* Return whether all of S are letters of perf's modifiers. */
static bool is_modifiers(struct slice s)
{
	for (size_t i = 0; i < s.size; i++)
		if (!strchr("ukhGHIpPSDW", s.at[i]))
			return false;
	return s.size > 0;
}

/* Apply the attribute PART.  False: it is not known, or not allowed. */
static bool apply_part(const struct table_model *model, struct slice part,
		       struct maker_encoding *e)
{
	struct slice value = part, name = slice_cut(&value, "=");
	bool has_value = name.size < part.size;
	uint64_t number = 1;

	if (!has_value && is_modifiers(part))
		return add_letters(e, part);
	if (has_value && !slice_number(value, &number))
		return false;
	if (slice_is(name, "precise"))
		return number <= 3 && add_letters(e, (struct slice){ "ppp", number });
	if (slice_is(name, "period") || slice_is(name, "freq")) {
		*(*name.at == 'p' ? &e->period : &e->frequency) = number;
		return has_value && number > 0;
	}
	return !model->arm && apply_bits(name, number, &e->event.config);
}

/* Write the canonical name: as libpfm4 spells it, if it has two parts. */
static void name_encoding(const struct table_model *model, uint64_t plain,
			  struct maker_encoding *e)
{
	uint64_t changed = e->event.config ^ plain;
	size_t used = (size_t)snprintf(e->base, sizeof(e->base), "%s::%s", model->name,
				       e->event.name);
	char *dot = strchr(e->base, '.');

	if (used + 64 > sizeof(e->base))
		return;		/* no name in a table is so long */
	if (dot && !strchr(dot + 1, '.'))
		*dot = ':';
	if (changed & EDGE)
		used += (size_t)snprintf(e->base + used, sizeof(e->base) - used, ":e=1");
	if (changed & INVERT)
		used += (size_t)snprintf(e->base + used, sizeof(e->base) - used, ":i=1");
	if (changed & counter_mask)
		used += (size_t)snprintf(e->base + used, sizeof(e->base) - used, ":c=%u",
					 (unsigned int)(changed >> COUNTER_MASK_SHIFT & 0xff));
	if (changed & ANY_THREAD)
		used += (size_t)snprintf(e->base + used, sizeof(e->base) - used, ":t=1");
	if (changed & in_transaction)
		used += (size_t)snprintf(e->base + used, sizeof(e->base) - used, ":intx=1");
	if (changed & in_checkpointed)
		snprintf(e->base + used, sizeof(e->base) - used, ":intxcp=1");
}

enum event_found makers_encode(const struct table_model *model, struct slice text,
			       struct maker_encoding *e)
{
	struct slice name = text;

	/* The name is the longest one that a table has: some names have colons. */
	*e = (struct maker_encoding){ .period = 0 };
	while (!find_event(model, name, &e->event)) {
		const char *colon = memrchr(name.at, ':', name.size);
		if (!colon || colon == name.at)
			return EVENT_UNKNOWN;
		name.size = (size_t)(colon - name.at);
	}
	uint64_t plain = e->event.config;
	struct slice left = { name.at + name.size, text.size - name.size };
	while (left.size > 0) {
		left.at++;	/* the colon */
		left.size--;
		struct slice part = { left.at, left.size };
		const char *colon = memchr(left.at, ':', left.size);
		part.size = colon ? (size_t)(colon - left.at) : left.size;
		left.at += part.size;
		left.size -= part.size;
		if (!apply_part(model, part, e))
			return EVENT_WRONG;
	}
	name_encoding(model, plain, e);
	return EVENT_ADDED;
}

/* Add the event E of MAKER. */
static bool add(struct event_parser *p, const struct event_item *item, const struct maker *maker,
		const struct maker_encoding *e)
{
	struct arena *arena = &p->list->arena;
	struct event_item with = *item;
	struct event event = { .attr = { .type = PERF_TYPE_RAW, .config = e->event.config,
					 .config1 = e->event.config1 } };
	char letters[sizeof(e->letters) + 64];

	if (maker->pmu && !pmus_load(&p->pmus, maker->pmu))
		return event_wrong(p, item->all.at, "the PMU '%s' has no type in sysfs",
				   maker->pmu->name);
	if (maker->pmu)
		event.attr.type = maker->pmu->type;
	event.base = arena_text(arena, e->base, sizeof(e->base));
	if (!is_present(p, &maker->model))
		event.foreign = arena_text(arena, maker->model.text, strlen(maker->model.text));
	pmu_event_bind(p, &event);
	with.period = e->period ? e->period : item->period;
	with.frequency = e->frequency ? e->frequency : item->frequency;
	int rest = item->has_terms && item->rest.size < 64 ? (int)item->rest.size : 0;
	snprintf(letters, sizeof(letters), "%s%.*s", e->letters, rest, item->rest.at);
	const char *kept = arena_text(arena, letters, sizeof(letters));
	struct event_rates rates = alias_rates(e->base);
	return event_parser_add(p, &with, event, (struct slice){ kept, strlen(kept) }, &rates);
}

/* Split ITEM's text into the name of a MODEL, which may be empty, and the name of an event. */
static struct slice cut_model(const struct event_item *item, struct slice *model)
{
	struct slice text = item->has_terms ? item->name : item->all;
	const char *colons = memmem(text.at, text.size, "::", 2);

	*model = (struct slice){ "", 0 };
	if (!colons)
		return text;
	*model = (struct slice){ text.at, (size_t)(colons - text.at) };
	return (struct slice){ colons + 2, text.size - model->size - 2 };
}

/* Return whether MAKER[I] is the user's, and a table for the same PMU has the event TEXT. */
static bool is_covered(const struct maker *maker, size_t i, struct slice text)
{
	struct maker_encoding unused;

	for (size_t j = 0; maker[i].model.own && j < i; j++)
		if (maker[j].pmu == maker[i].pmu &&
		    makers_encode(&maker[j].model, text, &unused) != EVENT_UNKNOWN)
			return true;
	return false;
}

enum event_found makers_parse(struct event_parser *p, struct event_item *item)
{
	struct maker maker[MOST_MAKERS];
	struct maker_encoding encoding;
	struct slice model, name = cut_model(item, &model);
	enum event_found found = EVENT_UNKNOWN;
	size_t count = makers_select(p, model, maker);

	for (size_t i = 0; i < count; i++) {
		if (is_covered(maker, i, name))
			continue;
		enum event_found one = makers_encode(&maker[i].model, name, &encoding);
		if (one == EVENT_WRONG && models_is_known(maker[i].model.name))
			return EVENT_UNKNOWN;	/* libpfm4 may know the attribute */
		if (one == EVENT_WRONG)
			event_wrong(p, item->all.at, "'%s::%s' does not support all of '%.*s'",
				    maker[i].model.name, encoding.event.name, (int)name.size,
				    name.at);
		if (one == EVENT_ADDED && found == EVENT_UNKNOWN && item->has_terms &&
		    !terms_common_only(p, item))
			one = EVENT_WRONG;
		if (one == EVENT_ADDED && !add(p, item, &maker[i], &encoding))
			one = EVENT_WRONG;
		if (one == EVENT_WRONG)
			return EVENT_WRONG;
		found = one == EVENT_ADDED ? one : found;
	}
	return found;
}

void makers_suggest(struct event_parser *p, const struct event_item *item, struct suggestion *s)
{
	struct maker maker[MOST_MAKERS];
	struct slice model, name = cut_model(item, &model);
	size_t count = makers_select(p, model, maker);
	struct table_event event;

	suggest_begin(s, name);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; makers_event(&maker[i].model, j, &event); j++)
			suggest_try(s, event.name);
}
