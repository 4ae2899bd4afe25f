/* SPDX-License-Identifier: Apache-2.0 */
/*
 * language - the grammar of pmu-event(7):
 *
 *	list  = part { "," part }
 *	part  = item | "{" item { "," item } "}" [ ":" letters ]
 *	item  = name [ "/" terms "/" ] [ [ ":" ] letters ]
 *
 * An item ends at a ',' or '}' outside slashes.  The sources of names are asked in a fixed order:
 * the kernel's own names come first.
 */
#include "event/internal.h"
#include "base/hex.h"
#include "event/makers.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>

bool event_wrong(struct event_parser *p, const char *at, const char *format, ...)
{
	/* AT may point outside the text: models.c writes modifiers that libpfm4 parsed itself. */
	size_t column = (uintptr_t)at - (uintptr_t)p->text + 1;
	bool inside = column <= strlen(p->text) + 1;
	char why[400];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	if (p->failed)
		return false;
	p->failed = true;
	report_because(p->report, REPORT_WRONG_ARGUMENT);
	const char *more = strlen(p->text) > 100 ? "..." : "";
	if (column == 1)
		report_error(p->report, "%s", why);
	else if (inside)
		report_error(p->report, "'%.100s'%s, column %zu: %s", p->text, more, column, why);
	else
		report_error(p->report, "'%.100s'%s: %s", p->text, more, why);
	return false;
}

/* Return the end of the item that starts at AT: ',' or a brace outside slashes, or '\0'. */
static const char *end_of_item(const char *at)
{
	bool terms = false, quoted = false;
	bool slashes = strncmp(at, "mem:", 4) != 0;	/* in mem: a '/' precedes the length */

	for (; *at; at++) {
		if (quoted || *at == '\'')
			quoted ^= *at == '\'';
		else if (*at == '/' && slashes)
			terms = !terms;
		else if (!terms && strchr(",{}", *at))
			break;
	}
	return at;
}

/* Split an item's text into name, terms and rest. */
static bool cut_item(struct event_parser *p, struct event_item *item)
{
	struct slice left = item->all;

	if (slice_starts(left, "mem:")) {
		item->name = left;
		return true;
	}
	const char *slash = memchr(left.at, '/', left.size);
	if (!slash) {
		item->name = slice_cut(&left, ":");
		item->rest = left;
		return true;
	}
	item->name = slice_cut(&left, "/");
	const char *close = left.at;
	bool quoted = false;
	while (close < left.at + left.size && (quoted || *close != '/'))
		quoted ^= *close++ == '\'';
	if (close == left.at + left.size)
		return event_wrong(p, slash, quoted ? "a quote is not closed"
						    : "the terms after '/' lack a closing '/'");
	item->has_terms = true;
	item->terms = (struct slice){ left.at, (size_t)(close - left.at) };
	item->rest = (struct slice){ close + 1, left.size - item->terms.size - 1 };
	if (item->rest.size > 0 && *item->rest.at == ':') {
		item->rest.at++;
		item->rest.size--;
	}
	return true;
}

bool event_is_raw(struct slice name, uint64_t *config)
{
	if (name.size < 2 || name.size > 17 || *name.at != 'r')
		return false;
	const char *end = name.at + name.size;
	if (hex_number(name.at + 1, end, config) != end)
		return false;
	return true;
}

/* Add an event of a generic or raw type: on a hybrid CPU, one for each kind of core. */
static bool add_plain(struct event_parser *p, struct event_item *item, struct event event,
		      const char *name, const struct event_rates *rates)
{
	if (event.attr.type != PERF_TYPE_SOFTWARE) {
		pmus_read(&p->pmus, p->options->sysfs);
		if (p->pmus.cores > 1) {
			const char *copy = arena_text(&p->list->arena, name, strlen(name));
			return pmu_event_add_generic(p, item, (struct slice){ copy, strlen(copy) });
		}
	}
	if (!terms_common_only(p, item))
		return false;
	event.base = arena_text(&p->list->arena, name, strlen(name));
	return event_parser_add(p, item, event, item->rest, rates);
}

static bool add_alias(struct event_parser *p, struct event_item *item,
		      const struct event_alias *alias)
{
	struct event event = { .attr = { .type = alias->type, .config = alias->config } };

	item->is_timer = alias->is_timer;
	return add_plain(p, item, event, alias->name, &alias->rates);
}

static bool add_raw(struct event_parser *p, struct event_item *item, uint64_t config)
{
	struct event event = { .attr = { .type = PERF_TYPE_RAW, .config = config } };
	char name[32];

	snprintf(name, sizeof(name), "r%" PRIx64, config);
	return add_plain(p, item, event, name, &event_rates_unknown);
}

static void suggest_aliases(struct suggestion *s)
{
	struct event_alias alias;
	const char *name;

	for (unsigned int i = 0; alias_next(i, &alias); i++) {
		suggest_try(s, alias.name);
		for (unsigned int j = 0; (name = alias_other_name(&alias, j)) != NULL; j++)
			suggest_try(s, name);
	}
}

/* Report an unknown name, with the most similar known name. */
static bool report_unknown(struct event_parser *p, const struct event_item *item)
{
	static const char *const counted[] = { "duration_time", "user_time", "system_time" };
	bool two_parts = memchr(item->all.at, ':', item->all.size) != NULL;
	char root[PATH_MAX], models[128];
	struct suggestion s;

	report_because(p->report, REPORT_NOT_FOUND);
	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		if (slice_is(item->name, counted[i]))
			return event_wrong(p, item->all.at, "'%s' is a number of perf stat, and no "
					   "event: pmu-stat always prints it; cpu-clock samples "
					   "time", counted[i]);
	suggest_begin(&s, item->name);
	suggest_aliases(&s);
	if (!*s.best && models_having(p, item, models, sizeof(models)))
		return event_wrong(p, item->all.at, "unknown event '%.*s' on this machine; other "
				   "models have it: %s (pmu-events --pmu %.*s)",
				   (int)item->all.size, item->all.at, models,
				   (int)strcspn(models, ", "), models);
	if (!*s.best)
		models_suggest(p, item, &s);
	if (!*s.best)
		makers_suggest(p, item, &s);
	if (*s.best)
		return event_wrong(p, item->all.at, "unknown event '%.*s': did you mean '%s'?",
				   (int)s.wanted.size, s.wanted.at, s.best);
	if (two_parts && !tracepoint_root(p->options, root, sizeof(root)) && errno == EACCES)
		return event_wrong(p, item->all.at, "'%.*s' may be a tracepoint, but only root "
				   "can read %s", (int)item->all.size, item->all.at, root);
	return event_wrong(p, item->all.at, "unknown event '%.*s'; pmu-events --list shows "
			   "all known events", (int)item->all.size, item->all.at);
}

static bool parse_parts(struct event_parser *p, const char *at);

/* Ask the sources of names in turn, and add the item's events. */
static bool resolve(struct event_parser *p, struct event_item *item)
{
	struct event_alias alias;
	const char *expanded;
	uint64_t config;

	if (slice_starts(item->name, "mem:"))
		return breakpoint_parse(p, item);
	if (alias_find(item->name, &alias))
		return add_alias(p, item, &alias);
	if (event_is_raw(item->name, &config))
		return add_raw(p, item, config);
	enum event_found stands = memory_expand(p, item, &expanded);
	if (stands != EVENT_UNKNOWN)
		return stands == EVENT_ADDED && parse_parts(p, expanded);
	if (slice_is(item->name, "topdown"))
		return topdown_parse(p, item);
	if (item->has_terms && !memchr(item->name.at, ':', item->name.size))
		return pmu_event_parse(p, item);

	static enum event_found (*const sources[])(struct event_parser *, struct event_item *) = {
		tracepoint_parse, pmu_event_parse_bare, makers_parse, models_parse,
	};
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		enum event_found found = sources[i](p, item);
		if (found != EVENT_UNKNOWN)
			return found == EVENT_ADDED;
	}
	return report_unknown(p, item);
}

/* Parse the item at *AT, and advance *AT to its end. */
static bool parse_item(struct event_parser *p, const char **at)
{
	struct event_item item = { 0 };

	item.all = (struct slice){ *at, (size_t)(end_of_item(*at) - *at) };
	*at += item.all.size;
	if (item.all.size == 0)
		return event_wrong(p, item.all.at, "an event's name is missing here");
	return cut_item(p, &item) && resolve(p, &item);
}

/* Parse the group at *AT, a '{', and advance *AT past its end. */
static bool parse_group(struct event_parser *p, const char **at)
{
	const char *open = *at;
	size_t first = p->list->count;
	struct slice letters = { NULL, 0 };

	p->in_group = true;
	p->group_first = first;
	do {
		++*at;
		if (!parse_item(p, at))
			return false;
	} while (**at == ',');
	p->in_group = false;
	if (**at != '}')
		return event_wrong(p, **at ? *at : open, **at ? "a group within a group"
							     : "this '{' lacks its '}'");
	++*at;
	if (**at == ':') {
		letters.at = ++*at;
		while (letters.at[letters.size] && letters.at[letters.size] != ',')
			letters.size++;
		*at += letters.size;
	}
	return event_make_group(p, first, letters);
}

bool event_parse_group(struct event_parser *p, const char *text)
{
	return parse_group(p, &text);
}

/* Parse the parts from AT to the end of the text. */
static bool parse_parts(struct event_parser *p, const char *at)
{
	for (;; at++) {
		if (!(*at == '{' ? parse_group(p, &at) : parse_item(p, &at)))
			return false;
		if (!*at)
			return true;
		if (*at != ',')
			return event_wrong(p, at, "'%c' is not expected here", *at);
	}
}

bool event_parse(struct event_list *list, const struct event_options *options, const char *text,
		 struct report *report)
{
	struct event_parser p = { .list = list, .options = options, .report = report,
				  .text = text };
	size_t count = list->count;
	uint32_t groups = list->groups;

	bool good = parse_parts(&p, text);
	if (!good) {
		list->count = count;
		list->groups = groups;
	}
	makers_release(&p);
	return good;
}
