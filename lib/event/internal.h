/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal - what the files of lib/event share.
 *
 * language.c cuts a text into items, each the name of one event with its
 * terms and modifiers.  The sources of names (alias.c, sysfs.c, ...) turn an
 * item into events: each fills type and config, and hands the event to
 * event_add(), which does what is the same for all.
 */
#pragma once
#include "base/slice.h"
#include "event/event.h"
#include "event/pmu.h"

#include <stdarg.h>

/* How often an event happens on a busy core, as a choice of periods. */
struct event_rates {
	uint32_t period;	/* preset: about 1,000 samples per second and busy core */
	uint32_t frequency;	/* preset samples per second, instead of a period; or 0 */
	uint32_t floor;		/* a shorter period would flood any machine */
};

/* What a text says of one event besides its name. */
struct event_item {
	struct slice all;	/* the item as typed */
	struct slice name;	/* up to '/' or the first ':' */
	struct slice rest;	/* after that ':', or after the terms */
	struct slice terms;	/* between slashes */
	bool has_terms;		/* there were slashes */
	/* from the terms that any event takes */
	const char *rename;	/* name=, or NULL */
	uint64_t period, frequency;	/* period=, freq=; 0: not given */
	uint16_t max_stack;	/* max-stack=; 0: not given */
	uint64_t branches;	/* branch_type=: PERF_SAMPLE_BRANCH_*; 0: not given */
	bool inherit, no_inherit;
};

struct event_parser {
	struct event_list *list;
	const struct event_options *options;
	struct report *report;
	const char *text;	/* the whole text, NUL-terminated */
	bool failed;		/* reported */
	struct pmus pmus;	/* read when first asked for */
};

/* The text is wrong AT (in it, or at its end): report FORMAT with the column.  Returns false. */
bool event_wrong(struct event_parser *p, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Add an event, of which TYPE, CONFIG* and what else is special have been
 * set, under its name BASE; terms and modifiers of ITEM, and a period (preset
 * by RATES), are applied to it.
 */
bool event_add(struct event_parser *p, const struct event_item *item, struct event event,
	       struct slice modifiers, const struct event_rates *rates);

/* rHEX: what the CPU's manual says, as it is. */
bool event_is_raw(struct slice name, uint64_t *config);

/* pmu.c: the names in the directory PATH, in order; *COUNT of them.  The caller frees. */
const char **event_read_names(struct arena *arena, size_t *count, const char *path);

/* term.c: one of the terms between slashes. */
struct event_term {
	struct slice all, name, value;
	bool has_value;		/* there was a '=' */
};
bool term_next(struct slice *left, struct event_term *term);

/* term.c: take a term that every event takes into ITEM. */
enum term_answer {
	TERM_TAKEN,
	TERM_OTHER,		/* it is none of those */
	TERM_WRONG,		/* reported */
};
enum term_answer term_common(struct event_parser *p, struct event_item *item,
			     const struct event_term *term);

/* term.c: take all of ITEM's terms, which must be such.  False: reported. */
bool terms_common_only(struct event_parser *p, struct event_item *item);

/* What a source of names says of an item. */
enum event_found {
	EVENT_ADDED,
	EVENT_UNKNOWN,		/* it does not know the name */
	EVENT_WRONG,		/* it does, but something else is wrong: reported */
};

/* sysfs.c: PMU/terms/; false: reported. */
bool sysfs_parse(struct event_parser *p, struct event_item *item);

/* sysfs.c: a name in some PMU's events/, alone. */
enum event_found sysfs_parse_bare(struct event_parser *p, struct event_item *item);

/* sysfs.c: the generic or raw event NAME on each core PMU, where there are several. */
bool sysfs_add_generic(struct event_parser *p, struct event_item *item, struct slice name);

/* sysfs.c: EVENT has a type: put it on that PMU's CPUs. */
void sysfs_bind(struct event_parser *p, struct event *event);

/* tracepoint.c: SYSTEM:NAME[:letters], both may be globs. */
enum event_found tracepoint_parse(struct event_parser *p, struct event_item *item);

/* tracepoint.c: the directory of tracepoints into PATH.  False: it cannot be read (errno). */
bool tracepoint_root(const struct event_options *options, char *path, size_t size);

/* breakpoint.c: mem:ADDRESS[/LENGTH][:rwx][:letters]; false: reported. */
bool breakpoint_parse(struct event_parser *p, struct event_item *item);

/* models.c: a name of libpfm4's. */
enum event_found models_parse(struct event_parser *p, struct event_item *item);

/* attr.c: apply the modifiers LETTERS, and name EVENT anew.  False: *WRONG says where and why. */
struct modifier_error {
	const char *at;
	const char *why;
};
bool event_modify(struct event_list *list, struct event *event, struct slice letters, bool group,
		  struct modifier_error *wrong);

/* attr.c: NAME and LETTERS of EVENT from its BASE and attr. */
void event_rename(struct event_list *list, struct event *event);

/* alias.c: an event of the kernel's own names.  False: NAME is none of them. */
struct event_alias {
	uint32_t type;
	uint64_t config;
	const char *text;	/* one line on what it counts */
	struct event_rates rates;
	char name[32];		/* canonical */
};
bool alias_find(struct slice name, struct event_alias *alias);

/* The alias of INDEX, counted from 0: generic, software, then cache events.  False: no more. */
bool alias_next(unsigned int index, struct event_alias *alias);

/* A further name of ALIAS's event ("cpu-cycles", "cacheMisses"), by INDEX; NULL: no more. */
const char *alias_other_name(const struct event_alias *alias, unsigned int index);

/* Periods for events of which only the PMU knows how often they happen. */
extern const struct event_rates event_rates_unknown;

/* alias.c: periods for an event of which only the maker's NAME is known. */
struct event_rates rates_guess(const char *name);

/* suggest.c: the nearest of many names. */
struct suggestion {
	struct slice wanted;
	unsigned int distance;	/* of the best so far */
	char best[96];		/* "": none is near */
};
void suggest_begin(struct suggestion *s, struct slice wanted);
void suggest_try(struct suggestion *s, const char *name);

/* models.c: try the events of the model that ITEM means, which becomes S's wanted name. */
void models_suggest(const struct event_parser *p, const struct event_item *item,
		    struct suggestion *s);
