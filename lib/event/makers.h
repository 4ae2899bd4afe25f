/* SPDX-License-Identifier: Apache-2.0 */
/*
 * makers - events by the names in the CPU makers' tables.
 *
 * MODEL::EVENT.UMASK and perf's spelling, event.umask, are the same name.  Attributes may follow
 * after colons: those of libpfm4 (e, i, t, c=N, ...) and perf's modifiers.
 */
#pragma once
#include "event/internal.h"
#include "event/tables.h"

enum { MOST_MAKERS = 8 };

/* A model, and the PMU that counts its events. */
struct maker {
	struct table_model model;
	struct pmu *pmu;	/* NULL: this machine's only core PMU, or a PMU that it lacks */
};

/*
 * Find the models called NAME, or if NAME is empty, this machine's: one for each kind of core.
 * Returns their number.
 */
size_t makers_select(struct event_parser *p, struct slice name, struct maker maker[MOST_MAKERS]);

/* Find the event called NAME, without attributes, for PMU.  False: no table for PMU has it. */
bool makers_find_for_pmu(struct event_parser *p, struct pmu *pmu, struct slice name,
			 struct table_event *event);

/* Release what makers_select() read for P. */
void makers_release(struct event_parser *p);

/* Return whether the model called NAME is in a table, and this machine's. */
bool makers_is_present(struct event_parser *p, struct slice name);

/* Like tables_event(), but MODEL may be the user's. */
bool makers_event(const struct table_model *model, size_t i, struct table_event *event);

/* Parse a name of the makers' tables. */
enum event_found makers_parse(struct event_parser *p, struct event_item *item);

/* An event of a model, with its attributes. */
struct maker_encoding {
	struct table_event event;
	char base[256];		/* canonical name: MODEL::EVENT:UMASK:c=1 */
	char letters[64];	/* perf's modifiers, and precise=N */
	uint64_t period, frequency;	/* period=N, freq=N; 0: not given */
};

/*
 * Encode TEXT, an event of MODEL with attributes.  EVENT_WRONG: MODEL has the event, but TEXT has
 * an attribute that is not known, or that the event does not allow.
 */
enum event_found makers_encode(const struct table_model *model, struct slice text,
			       struct maker_encoding *encoding);

/* Search the events of ITEM's model for the one nearest to ITEM's name. */
void makers_suggest(struct event_parser *p, const struct event_item *item, struct suggestion *s);
