/* SPDX-License-Identifier: Apache-2.0 */
/*
 * models - events by the CPU makers' names, from libpfm4.
 *
 * A model is one of libpfm4's PMUs.  MODEL::EVENT:UMASK can be encoded for any of them, not
 * just for this machine's.  libpfm4 has global state, which is set up on first use.
 */
#pragma once
#include "event/event.h"

/* A model that libpfm4 knows. */
struct model {
	const char *name;	/* "icx" */
	const char *text;	/* "Intel Icelake X" */
	bool present;		/* this machine has it */
	int events;		/* number of its events */
};

/* Get the next model and advance *AT, which starts at 0.  False: no more. */
bool models_next(int *at, struct model *model);

/* Return whether libpfm4 has the model NAME. */
bool models_is_known(const char *name);

/*
 * Read the FILES, JSON of a maker or of perf or directories of such files, and keep their events
 * in the user's configuration directory as a model: called NAME, or as the files if NAME is NULL.
 * A note says what was kept.  False: reported.
 */
bool models_add(char *const *file, size_t files, const char *name,
		const struct event_options *options, struct report *report);

/* Return the description of the model NAME, of libpfm4 or of a maker's table; "": unknown. */
const char *models_text(const char *name);

/* Return whether libpfm4 has NAME, "MODEL::EVENT.UMASK". */
bool models_has(const char *name);

/* A umask or modifier of an event. */
struct model_attribute {
	const char *name;	/* "ANY_P", "c" */
	const char *text;
	bool umask;		/* it is a umask; otherwise a modifier */
	bool is_default;	/* the umask that applies if none is given */
	bool number;		/* a modifier with a number as its value */
};

/* Get attribute number I of the event with libpfm4's INDEX.  False: no more. */
bool models_attribute(int index, int i, struct model_attribute *attribute);
