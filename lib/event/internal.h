/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal - declarations that the files of lib/event share.
 *
 * language.c splits a text into items: the name of an event with its terms and modifiers.
 * The sources of names (alias.c, pmu-event.c, ...) turn an item into events: they set type and
 * config, and pass each event to event_parser_add() for the common part.
 */
#pragma once
#include "base/slice.h"
#include "base/suggest.h"
#include "event/event.h"
#include "event/own.h"
#include "event/pmu.h"

#include <stdarg.h>

/* Preset and shortest sampling periods of an event. */
struct event_rates {
	uint32_t period;	/* preset, for about 1,000 samples per second on a busy core */
	uint32_t frequency;	/* preset samples per second instead of a period; or 0 */
	uint32_t floor;		/* shortest period; a shorter one would overload any machine */
};

/* One item of the text: the name of an event with its terms and modifiers. */
struct event_item {
	/* set by language.c */
	struct slice all;	/* the item as typed */
	struct slice name;	/* text up to '/' or the first ':' */
	struct slice rest;	/* text after that ':', or after the terms */
	struct slice terms;	/* text between the slashes */
	bool has_terms;		/* the item has slashes */
	/* set by term_common(), from the terms that any event accepts */
	const char *rename;	/* name=, or NULL */
	uint64_t period, frequency;	/* period=, freq=; 0: not given */
	uint16_t max_stack;	/* max-stack=; 0: not given */
	uint64_t branches;	/* branch_type= as PERF_SAMPLE_BRANCH_*; 0: not given */
	bool inherit, no_inherit;
	/* set by alias.c's caller */
	bool is_timer;		/* Go's timer: a period for all events does not apply to it */
};

struct event_parser {
	struct event_list *list;
	const struct event_options *options;
	struct report *report;
	const char *text;	/* the whole text, NUL-terminated */
	bool failed;		/* an error has been reported */
	struct pmus pmus;	/* read on first use */
	struct own_models own;	/* read on first use */
	bool in_group;		/* a group is being parsed */
	size_t group_first;	/* the index in LIST of its first event */
};

/*
 * Report the error FORMAT with its column: AT points into the text or to its end.  Only the
 * first error is reported.  Returns false.
 */
bool event_wrong(struct event_parser *p, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Apply the modifiers LETTERS to EVENT, as event_modify() does, but leave out those that say how to
 * sample if the events of P count.  False: reported.
 */
bool event_parser_modify(struct event_parser *p, struct event *event, struct slice letters,
			 bool group);

/*
 * Add EVENT, with base, attr.type and attr.config* set, to the list.  Applies the terms of
 * ITEM, MODIFIERS, and a period (RATES has the preset).  False: reported.
 */
bool event_parser_add(struct event_parser *p, const struct event_item *item, struct event event,
		      struct slice modifiers, const struct event_rates *rates);

/* language.c: parse TEXT, "{EVENT,...}:LETTERS".  False: reported. */
bool event_parse_group(struct event_parser *p, const char *text);

/*
 * event-group.c: make the events from index FIRST on a group, and apply its modifiers LETTERS.
 * With :S one of them is sampled.  False: reported.
 */
bool event_make_group(struct event_parser *p, size_t first, struct slice letters);

/* Return whether NAME is rHEX, a raw code from the CPU's manual, and set *CONFIG to it. */
bool event_is_raw(struct slice name, uint64_t *config);

/* pmu.c: read type and CPUs of PMU, once.  False: it has no type. */
bool pmus_load(struct pmus *pmus, struct pmu *pmu);

/*
 * Return the names in DIRECTORY ("events", "format") of PMU, sorted, with their number in
 * *COUNT.  The caller frees the array.
 */
const char **pmus_names(struct pmus *pmus, const struct pmu *pmu, const char *directory,
			size_t *count);

/* Read the file NAME in DIRECTORY ("": its own) of PMU into TEXT.  False: it cannot be read. */
bool pmus_text(const struct pmus *pmus, const struct pmu *pmu, const char *directory,
	       const char *name, char *text, size_t size);

/* The bits of a config word that hold a term's value. */
struct pmu_format {
	unsigned int word;	/* 0..3: config, config1, config2, config3 */
	uint64_t bits;		/* mask; the value fills it from its lowest bit up */
};

/* Parse "config1:0-7,32".  False: TEXT is malformed. */
bool pmu_format_parse(const char *text, struct pmu_format *format);

/* Distribute VALUE over the bits of FORMAT into *SPREAD.  False: VALUE does not fit. */
bool pmu_format_spread(const struct pmu_format *format, uint64_t value, uint64_t *spread);

/*
 * Return the names in the directory PATH, sorted, with their number in *COUNT.  The
 * caller frees the array; the strings are in ARENA.
 */
const char **event_read_names(struct arena *arena, size_t *count, const char *path);

/* term.c: one of the terms between slashes. */
struct event_term {
	struct slice all, name, value;
	bool has_value;		/* the term has a '=' */
};

/* Cut the next term off LEFT.  False: LEFT is empty. */
bool term_next(struct slice *left, struct event_term *term);

/* term.c: store TERM in ITEM if it is a term that any event accepts. */
enum term_answer {
	TERM_TAKEN,
	TERM_OTHER,		/* it is not such a term */
	TERM_WRONG,		/* its value is wrong: reported */
};
enum term_answer term_common(struct event_parser *p, struct event_item *item,
			     const struct event_term *term);

/* term.c: store all terms of ITEM, which must be terms that any event accepts.  False: reported. */
bool terms_common_only(struct event_parser *p, struct event_item *item);

/* What a source of names returns for an item. */
enum event_found {
	EVENT_ADDED,
	EVENT_UNKNOWN,		/* the source does not know the name */
	EVENT_WRONG,		/* it knows the name, but the item has an error: reported */
};

/* pmu-event.c: parse PMU/terms/ and add its events.  False: reported. */
bool pmu_event_parse(struct event_parser *p, struct event_item *item);

/* pmu-event.c: parse a name in a PMU's events/ that is given without the PMU. */
enum event_found pmu_event_parse_bare(struct event_parser *p, struct event_item *item);

/* pmu-event.c: add the generic or raw event NAME once for each core PMU of a hybrid CPU. */
bool pmu_event_add_generic(struct event_parser *p, struct event_item *item, struct slice name);

/* pmu-event.c: set PMU and CPUs of EVENT by its attr.type. */
void pmu_event_bind(struct event_parser *p, struct event *event);

/* tracepoint.c: parse SYSTEM:NAME[:modifiers]; SYSTEM and NAME may be globs. */
enum event_found tracepoint_parse(struct event_parser *p, struct event_item *item);

/*
 * tracepoint.c: write the directory of tracepoints to PATH.  False with errno set: it cannot
 * be read.
 */
bool tracepoint_root(const struct event_options *options, char *path, size_t size);

/*
 * memory.c: if ITEM's name stands for the CPU's samples of loads or stores, set *EXPANDED to the
 * events that it stands for, a text that lives as long as the list.
 */
enum event_found memory_expand(struct event_parser *p, const struct event_item *item,
			       const char **expanded);

/* Why a PMU of Arm's Statistical Profiling Extension is refused; %s: its name. */
#define EVENT_NO_SPE \
	"%s writes packets into a buffer of its own, which pmukit does not read; perf makes " \
	"samples of them: perf record -e %s//, then perf inject --itrace=M -o FILE"

/* topdown.c: parse "topdown", a group of events.  False: reported. */
bool topdown_parse(struct event_parser *p, struct event_item *item);

/*
 * topdown.c: return whether EVENT counts slots of a kind, such as topdown-retiring, or all slots:
 * then *IS_SLOTS is set.
 */
bool topdown_is_metric(struct event_parser *p, const struct event *event, bool *is_slots);

/* breakpoint.c: parse mem:ADDRESS[/LENGTH][:rwx][:modifiers].  False: reported. */
bool breakpoint_parse(struct event_parser *p, struct event_item *item);

/* models.c: one event of a model. */
struct model_event {
	const char *name;	/* "INST_RETIRED" */
	const char *text;	/* the maker's description, one line */
	int index;		/* libpfm4's index */
};

/*
 * Get the next event of the model NAME and advance *AT, which starts at -1.  False: no more,
 * or an unknown model.
 */
bool models_event_next(const char *name, int *at, struct model_event *event);

/* models.c: parse a name of a libpfm4 event. */
enum event_found models_parse(struct event_parser *p, struct event_item *item);

/* Where a modifier is wrong, and why. */
struct modifier_error {
	const char *at;
	const char *why;
};

/*
 * modifier.c: apply the modifiers LETTERS to EVENT, and rename it.  GROUP: they are the
 * modifiers of its group, in addition to its own.  False: *WRONG is set.
 */
bool event_modify(struct event_list *list, struct event *event, struct slice letters, bool group,
		  struct modifier_error *wrong);

/* modifier.c: set name and letters of EVENT from its base and attr. */
void event_rename(struct event_list *list, struct event *event);

/* alias.c: a hardware, software or cache event of the kernel's interface. */
struct event_alias {
	uint32_t type;
	uint64_t config;
	const char *text;	/* description, one line */
	struct event_rates rates;
	bool is_timer;		/* it was found as Go's timer */
	char name[32];		/* canonical name */
};

/* Find the event called NAME.  Return false if no event is called so. */
bool alias_find(struct slice name, struct event_alias *alias);

/* Get event number INDEX, from 0: hardware, software, then cache events.  False: no more. */
bool alias_next(unsigned int index, struct event_alias *alias);

/* Return synonym number INDEX of ALIAS ("cpu-cycles", "cacheMisses"), or NULL: no more. */
const char *alias_other_name(const struct event_alias *alias, unsigned int index);

/* Periods for events whose rate is unknown. */
extern const struct event_rates event_rates_unknown;

/* alias.c: guess periods from NAME, the CPU maker's name of an event. */
struct event_rates alias_rates(const char *name);

/*
 * models.c: write the models that have ITEM's event, a few of them separated by commas, to LIST.
 * Return false if no model has it.
 */
bool models_having(const struct event_parser *p, const struct event_item *item, char *list,
		   size_t size);

/* models.c: try all events of ITEM's model.  Sets S's wanted name to ITEM's event name. */
void models_suggest(const struct event_parser *p, const struct event_item *item,
		    struct suggestion *s);

/* cpu - which CPU a PMU belongs to, as the makers' tables name CPUs. */

/* Return the kind of core that PMU counts on ("core" for cpu_core); "": all are of one kind. */
const char *cpu_role(const struct pmu *pmu);
