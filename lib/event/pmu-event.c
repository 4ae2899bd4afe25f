/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-event - events in the form PMU/term=value,.../, as the kernel's PMU drivers describe them.
 *
 * A term is looked up in this order: terms that any event accepts (term.c), a config word, on
 * a hybrid CPU a generic event, a name in events/, a name in format/, rHEX, a generic event, a
 * name in the maker's table of the CPU.
 */
#include "event/internal.h"
#include "event/makers.h"

#include <fnmatch.h>
#include <inttypes.h>

enum { LONGEST_TERM = 128, ALIAS_TEXT = 1024 };

/* A PMU's event, whose terms are being applied one by one. */
struct event_builder {
	struct event_parser *p;
	struct event_item *item;
	struct pmu *pmu;
	struct event event;
	struct event_rates rates;
	const char *at;		/* current term in the text, for errors */
	char base[1024];	/* name so far: PMU/terms/, without the terms of term.c */
};

static uint64_t *config_word(struct perf_event_attr *attr, unsigned int word)
{
	switch (word) {
	case 0: return (uint64_t *)&attr->config;
	case 1: return (uint64_t *)&attr->config1;
	case 2: return (uint64_t *)&attr->config2;
#ifdef PERF_ATTR_SIZE_VER8
	case 3: return (uint64_t *)&attr->config3;
#endif
	default: return NULL;
	}
}

/* Return whether NAME in events/ is not an event, but a detail of one, such as its unit. */
static bool is_detail(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".scale") || !strcmp(dot, ".unit") ||
		       !strcmp(dot, ".per-pkg") || !strcmp(dot, ".snapshot"));
}

/* Copy S to TEXT, NUL-terminated.  False: it is too long. */
static bool slice_text(struct slice s, char text[LONGEST_TERM])
{
	if (s.size >= LONGEST_TERM)
		return false;
	memcpy(text, s.at, s.size);
	text[s.size] = '\0';
	return true;
}

static bool set_word(struct event_builder *d, unsigned int word, uint64_t bits, uint64_t value)
{
	uint64_t *config = config_word(&d->event.attr, word);

	if (!config)
		return event_wrong(d->p, d->at, "config3 is newer than the kernel headers this "
				   "program was built with");
	*config = (*config & ~bits) | value;
	return true;
}

static bool apply_format(struct event_builder *d, const struct event_term *term,
			 const char *format_text)
{
	struct pmu_format format;
	uint64_t value = 1, spread;

	if (!pmu_format_parse(format_text, &format))
		return event_wrong(d->p, d->at, "%s describes '%.*s' as '%s', which is not a "
				   "format", d->pmu->name, (int)term->name.size, term->name.at,
				   format_text);
	if (term->has_value && slice_is(term->value, "?"))
		return event_wrong(d->p, d->at, "the event needs a value for '%.*s'",
				   (int)term->name.size, term->name.at);
	if (term->has_value && !slice_number(term->value, &value))
		return event_wrong(d->p, term->has_value && d->at == term->all.at ? term->value.at
				   : d->at, "'%.*s' is not a number", (int)term->value.size,
				   term->value.at);
	if (!pmu_format_spread(&format, value, &spread)) {
		unsigned int width = (unsigned int)__builtin_popcountll(format.bits);
		return event_wrong(d->p, d->at, "0x%" PRIx64 " is too large for '%.*s' (%s): at "
				   "most 0x%" PRIx64, value, (int)term->name.size, term->name.at,
				   format_text, UINT64_MAX >> (64 - width));
	}
	return set_word(d, format.word, format.bits, spread);
}

static bool apply_terms(struct event_builder *d, struct slice terms, bool within_alias);

/* Apply NAME, which is in events/: its TERMS, unit and scale. */
static bool apply_alias(struct event_builder *d, const char *name, const char *terms)
{
	struct pmus *pmus = &d->p->pmus;
	struct arena *arena = &d->p->list->arena;
	struct event_alias generic;
	char file[LONGEST_TERM + 8], text[64], *end;

	snprintf(file, sizeof(file), "%s.unit", name);
	if (pmus_text(pmus, d->pmu, "events", file, text, sizeof(text)) && *text)
		d->event.unit = arena_text(arena, text, sizeof(text));
	snprintf(file, sizeof(file), "%s.scale", name);
	if (pmus_text(pmus, d->pmu, "events", file, text, sizeof(text))) {
		double scale = strtod(text, &end);
		if (end != text && !*end && scale > 0)
			d->event.scale = scale;
	}
	if (alias_find((struct slice){ name, strlen(name) }, &generic) && d->pmu->core)
		d->rates = generic.rates;
	else if (d->pmu->core)
		d->rates = alias_rates(name);
	return apply_terms(d, (struct slice){ terms, strlen(terms) }, true);
}

static void apply_generic(struct event_builder *d, const struct event_alias *alias)
{
	d->event.attr.type = alias->type;
	d->event.attr.config = alias->config;
	if (d->p->pmus.cores > 1)	/* PERF_PMU_TYPE_SHIFT, linux/perf_event.h */
		d->event.attr.config |= (uint64_t)d->pmu->type << 32;
	d->rates = alias->rates;
}

static bool find_generic(const struct event_builder *d, const struct event_term *term,
			 struct event_alias *alias)
{
	return d->pmu->core && !term->has_value && alias_find(term->name, alias) &&
	       alias->type != PERF_TYPE_SOFTWARE;
}

static bool unknown_term(struct event_builder *d, const struct event_term *term)
{
	static const char *const directories[] = { "format", "events" };
	struct suggestion s;

	report_because(d->p->report, REPORT_NOT_FOUND);
	suggest_begin(&s, term->name);
	for (int i = 0; i < 2; i++) {
		size_t count;
		const char **names = pmus_names(&d->p->pmus, d->pmu, directories[i], &count);
		for (size_t j = 0; j < count; j++)
			if (!is_detail(names[j]))
				suggest_try(&s, names[j]);
		free(names);
	}
	if (*s.best)
		return event_wrong(d->p, d->at, "%s has no term or event '%.*s': did you mean "
				   "'%s'?", d->pmu->name, (int)term->name.size, term->name.at,
				   s.best);
	return event_wrong(d->p, d->at, "%s has no term or event '%.*s'; see pmu-events --list "
			   "--pmu %s", d->pmu->name, (int)term->name.size,
			   term->name.at, d->pmu->name);
}

/* Return whether TERM is config[1-3]=VALUE, or rHEX, which stands for config=0xHEX. */
static bool is_config(const struct event_term *term, unsigned int *word, uint64_t *value)
{
	static const char *const words[] = { "config", "config1", "config2", "config3" };

	*word = 0;
	if (!term->has_value)
		return event_is_raw(term->name, value);
	for (unsigned int i = 0; i < 4; i++)
		if (slice_is(term->name, words[i])) {
			*word = i;
			return slice_number(term->value, value);
		}
	return false;
}

static bool apply_term(struct event_builder *d, const struct event_term *term, bool within_alias)
{
	struct pmus *pmus = &d->p->pmus;
	char name[LONGEST_TERM], text[ALIAS_TEXT];
	struct event_alias generic;
	struct table_event maker;
	unsigned int word;
	uint64_t value;

	if (!slice_text(term->name, name))
		return unknown_term(d, term);
	if (term->has_value && is_config(term, &word, &value))
		return set_word(d, word, UINT64_MAX, value);
	if (pmus->cores > 1 && !within_alias && find_generic(d, term, &generic)) {
		apply_generic(d, &generic);
		return true;
	}
	if (!term->has_value && !within_alias && !is_detail(name) &&
	    pmus_text(pmus, d->pmu, "events", name, text, sizeof(text)))
		return apply_alias(d, name, text);
	if (pmus_text(pmus, d->pmu, "format", name, text, sizeof(text)))
		return apply_format(d, term, text);
	if (is_config(term, &word, &value))
		return set_word(d, word, UINT64_MAX, value);
	if (!within_alias && find_generic(d, term, &generic)) {
		apply_generic(d, &generic);
		return true;
	}
	if (!within_alias && d->pmu->core &&
	    makers_find_for_pmu(d->p, d->pmu, term->all, &maker)) {
		d->rates = alias_rates(maker.name);
		return set_word(d, 0, UINT64_MAX, maker.config) &&
		       set_word(d, 1, UINT64_MAX, maker.config1);
	}
	return unknown_term(d, term);
}

static bool apply_terms(struct event_builder *d, struct slice terms, bool within_alias)
{
	struct event_term term;

	while (term_next(&terms, &term)) {
		if (!within_alias) {
			d->at = term.all.at;
			switch (term_common(d->p, d->item, &term)) {
			case TERM_TAKEN: continue;
			case TERM_WRONG: return false;
			case TERM_OTHER: break;
			}
			size_t used = strlen(d->base);
			snprintf(d->base + used, sizeof(d->base) - used, "%s%.*s",
				 d->base[used - 1] == '/' ? "" : ",", (int)term.all.size,
				 term.all.at);
		}
		if (!apply_term(d, &term, within_alias))
			return false;
	}
	return true;
}

/* Set PMU and CPUs of EVENT to PMU's. */
static void bind_to_pmu(struct arena *arena, const struct pmu *pmu, struct event *event)
{
	event->pmu = arena_text(arena, pmu->name, LONGEST_TERM);
	event->per_cpu = pmu->per_cpu;
	event->cpus = pmu->cpus;
	event->cpu = pmu->cpus ? arena_copy(arena, pmu->cpu, pmu->cpus * sizeof(int)) : NULL;
}

/* Add an event of PMU, described by NAME in its events/ (or "") and then by TERMS. */
static bool add_pmu_event(struct event_parser *p, struct event_item *item, struct pmu *pmu,
			  struct slice name, struct slice terms)
{
	struct event_builder d = { .p = p, .item = item, .pmu = pmu, .rates = event_rates_unknown };
	struct arena *arena = &p->list->arena;

	if (!pmus_load(&p->pmus, pmu))
		return event_wrong(p, item->all.at, "the PMU '%s' has no type in sysfs",
				   pmu->name);
	if (!strncmp(pmu->name, "ibs_", 4))	/* AMD's periods are multiples of 16 */
		d.rates = (struct event_rates){ 16 * 62501, 0, 10000 };
	d.event.attr.type = pmu->type;
	bind_to_pmu(arena, pmu, &d.event);
	snprintf(d.base, sizeof(d.base), "%s/", pmu->name);
	if (!apply_terms(&d, name, false) || !apply_terms(&d, terms, false))
		return false;
	size_t used = strlen(d.base);
	if (used + 2 > sizeof(d.base))
		return event_wrong(p, item->all.at, "these terms are too long");
	snprintf(d.base + used, sizeof(d.base) - used, "/");
	d.event.base = arena_text(arena, d.base, sizeof(d.base));
	return event_parser_add(p, item, d.event, item->rest, &d.rates);
}

/* Return whether NAME matches PMU: itself, "imc" for uncore_imc_0, or a glob. */
static bool matches_pmu(const char *name, const char *pmu)
{
	size_t length = strlen(name);

	if (strpbrk(name, "*?["))
		return !fnmatch(name, pmu, 0);
	if (strncmp(name, "uncore_", 7) && !strncmp(pmu, "uncore_", 7))
		pmu += 7;
	if (strncmp(name, pmu, length))
		return false;
	pmu += length;
	return !*pmu || (*pmu == '_' && pmu[1] && strspn(pmu + 1, "0123456789") == strlen(pmu + 1));
}

static bool unknown_pmu(struct event_parser *p, const struct event_item *item)
{
	struct suggestion s;

	report_because(p->report, REPORT_NOT_FOUND);
	suggest_begin(&s, item->name);
	for (size_t i = 0; i < p->pmus.count; i++)
		suggest_try(&s, p->pmus.pmu[i].name);
	if (*s.best)
		return event_wrong(p, item->all.at, "there is no PMU '%.*s': did you mean '%s'?",
				   (int)item->name.size, item->name.at, s.best);
	return event_wrong(p, item->all.at, "there is no PMU '%.*s' in %s/bus/event_source/devices",
			   (int)item->name.size, item->name.at, p->pmus.root);
}

/*
 * Return whether NAME is a core PMU of the model that the user asks about, and this machine lacks
 * it.
 */
static bool is_absent_core(struct event_parser *p, const char *name)
{
	struct maker maker[MOST_MAKERS];
	struct slice any = { "", 0 };

	if (!p->options->model || (strcmp(name, "cpu") && strncmp(name, "cpu_", 4)))
		return false;
	return makers_select(p, any, maker) > 0;
}

/* Add an event of a core PMU that this machine lacks, by its type on most machines. */
static bool add_absent(struct event_parser *p, struct event_item *item)
{
	char name[LONGEST_TERM];
	struct pmu pmu = { .name = name, .core = true, .loaded = true, .type = PERF_TYPE_RAW };

	slice_text(item->name, name);
	return add_pmu_event(p, item, &pmu, (struct slice){ "", 0 }, item->terms);
}

bool pmu_event_parse(struct event_parser *p, struct event_item *item)
{
	char name[LONGEST_TERM];
	bool exact = false, found = false;

	pmus_read(&p->pmus, p->options->sysfs);
	if (!slice_text(item->name, name))
		return unknown_pmu(p, item);
	for (size_t i = 0; i < p->pmus.count; i++)
		exact |= !strcmp(p->pmus.pmu[i].name, name);
	for (size_t i = 0; i < p->pmus.count; i++) {
		struct pmu *pmu = &p->pmus.pmu[i];
		if (exact ? strcmp(pmu->name, name) : !matches_pmu(name, pmu->name))
			continue;
		found = true;
		if (!add_pmu_event(p, item, pmu, (struct slice){ "", 0 }, item->terms))
			return false;
	}
	if (found)
		return true;
	enum event_found bare = pmu_event_parse_bare(p, item);
	if (bare == EVENT_UNKNOWN)
		bare = makers_parse(p, item);
	if (bare == EVENT_UNKNOWN && is_absent_core(p, name))
		return add_absent(p, item);
	return bare == EVENT_UNKNOWN ? unknown_pmu(p, item) : bare == EVENT_ADDED;
}

enum event_found pmu_event_parse_bare(struct event_parser *p, struct event_item *item)
{
	char name[LONGEST_TERM], text[ALIAS_TEXT];
	enum event_found found = EVENT_UNKNOWN;

	pmus_read(&p->pmus, p->options->sysfs);
	if (!slice_text(item->name, name) || is_detail(name) || !*name)
		return EVENT_UNKNOWN;
	for (size_t i = 0; i < p->pmus.count; i++) {
		struct pmu *pmu = &p->pmus.pmu[i];
		if (!pmus_text(&p->pmus, pmu, "events", name, text, sizeof(text)))
			continue;
		found = EVENT_ADDED;
		if (!add_pmu_event(p, item, pmu, item->name, item->terms))
			return EVENT_WRONG;
	}
	return found;
}

bool pmu_event_add_generic(struct event_parser *p, struct event_item *item, struct slice name)
{
	for (size_t i = 0; i < p->pmus.count; i++)
		if (p->pmus.pmu[i].core &&
		    !add_pmu_event(p, item, &p->pmus.pmu[i], name, item->terms))
			return false;
	return true;
}

void pmu_event_bind(struct event_parser *p, struct event *event)
{
	struct arena *arena = &p->list->arena;

	pmus_read(&p->pmus, p->options->sysfs);
	if (event->attr.type == PERF_TYPE_RAW && p->pmus.cores < 2)
		return;
	for (size_t i = 0; i < p->pmus.count; i++) {
		struct pmu *pmu = &p->pmus.pmu[i];
		if (!pmus_load(&p->pmus, pmu) || pmu->type != event->attr.type)
			continue;
		bind_to_pmu(arena, pmu, event);
		return;
	}
}
