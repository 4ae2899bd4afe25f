/* SPDX-License-Identifier: Apache-2.0 */
/* term - the terms "name=value" that any event accepts. */
#include "event/internal.h"

#include <inttypes.h>

bool term_next(struct slice *left, struct event_term *term)
{
	bool quoted = false;
	size_t size = 0;

	if (left->size == 0)
		return false;
	while (size < left->size && (quoted || left->at[size] != ','))
		quoted ^= left->at[size++] == '\'';
	term->all = (struct slice){ left->at, size };
	size_t cut = size < left->size ? size + 1 : size;
	left->at += cut;
	left->size -= cut;

	term->value = term->all;
	term->name = slice_cut(&term->value, "=");
	term->has_value = term->name.size < term->all.size;
	return true;
}

/* Set *NUMBER to the value of TERM, which must be from 1 to MOST.  False: reported. */
static bool get_number(struct event_parser *p, const struct event_term *term, uint64_t most,
		       uint64_t *number)
{
	if (!slice_number(term->value, number) || *number == 0 || *number > most)
		return event_wrong(p, term->all.at, "'%.*s' needs a number from 1 to %" PRIu64,
				   (int)term->name.size, term->name.at, most);
	return true;
}

static bool take_name(struct event_parser *p, struct event_item *item,
		      const struct event_term *term)
{
	struct slice name = term->value;

	if (name.size >= 2 && name.at[0] == '\'' && name.at[name.size - 1] == '\'') {
		name.at++;
		name.size -= 2;
	}
	if (name.size == 0 || name.size > 255)
		return event_wrong(p, term->all.at, "'name' needs a name of 1 to 255 bytes");
	item->rename = arena_text(&p->list->arena, name.at, name.size);
	return true;
}

/* perf's names for PERF_SAMPLE_BRANCH_*, linux/perf_event.h. */
static const struct {
	const char *name;
	uint64_t flag;
} branch_types[] = {
	{ "any", PERF_SAMPLE_BRANCH_ANY }, { "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
	{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN }, { "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
	{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP }, { "cond", PERF_SAMPLE_BRANCH_COND },
	{ "call", PERF_SAMPLE_BRANCH_CALL }, { "stack", PERF_SAMPLE_BRANCH_CALL_STACK },
	{ "u", PERF_SAMPLE_BRANCH_USER }, { "k", PERF_SAMPLE_BRANCH_KERNEL },
	{ "hv", PERF_SAMPLE_BRANCH_HV }, { "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE },
};

/* branch_type=any_call|u: words are joined by '|', because ',' ends the term. */
static bool take_branches(struct event_parser *p, struct event_item *item,
			  const struct event_term *term)
{
	struct slice left = term->value;

	while (left.size > 0) {
		struct slice word = slice_cut(&left, "|");
		uint64_t flag = 0;
		for (size_t i = 0; i < sizeof(branch_types) / sizeof(branch_types[0]); i++)
			if (slice_is(word, branch_types[i].name))
				flag = branch_types[i].flag;
		if (!flag)
			return event_wrong(p, word.at, "unknown branch type '%.*s'",
					   (int)word.size, word.at);
		item->branches |= flag;
	}
	if (!item->branches)
		return event_wrong(p, term->all.at, "'branch_type' needs a type, such as any");
	return true;
}

/* perf's terms for settings that pmukit does not have per event. */
static const char *const unsupported[] = {
	"call-graph", "stack-size", "time", "overwrite", "no-overwrite", "percore", "nr",
	"aux-output", "aux-sample-size", "metric-id", "driver-config",
};

enum term_answer term_common(struct event_parser *p, struct event_item *item,
			     const struct event_term *term)
{
	uint64_t number = 0;
	bool good;

	if (slice_is(term->name, "period")) {
		good = get_number(p, term, INT64_MAX, &item->period);
	} else if (slice_is(term->name, "freq")) {
		good = get_number(p, term, UINT32_MAX, &item->frequency);
	} else if (slice_is(term->name, "name")) {
		good = take_name(p, item, term);
	} else if (slice_is(term->name, "max-stack")) {
		good = get_number(p, term, UINT16_MAX, &number);
		item->max_stack = (uint16_t)number;
	} else if (slice_is(term->name, "branch_type")) {
		good = take_branches(p, item, term);
	} else if (slice_is(term->name, "inherit") || slice_is(term->name, "no-inherit")) {
		item->inherit = *term->name.at == 'i';
		item->no_inherit = !item->inherit;
		good = true;
	} else {
		for (size_t i = 0; i < sizeof(unsupported) / sizeof(unsupported[0]); i++)
			if (slice_is(term->name, unsupported[i])) {
				event_wrong(p, term->all.at, "perf's term '%s' is not supported",
					    unsupported[i]);
				return TERM_WRONG;
			}
		return TERM_OTHER;
	}
	if (good && item->period && item->frequency)
		good = event_wrong(p, term->all.at, "period and freq exclude each other");
	return good ? TERM_TAKEN : TERM_WRONG;
}

bool terms_common_only(struct event_parser *p, struct event_item *item)
{
	struct slice left = item->terms;
	struct event_term term;

	while (term_next(&left, &term)) {
		enum term_answer answer = term_common(p, item, &term);
		if (answer == TERM_OTHER)
			event_wrong(p, term.all.at, "'%.*s' is not a term of this event; its "
				    "terms are period, freq, name, max-stack, branch_type, "
				    "inherit, no-inherit", (int)term.name.size, term.name.at);
		if (answer != TERM_TAKEN)
			return false;
	}
	return true;
}
