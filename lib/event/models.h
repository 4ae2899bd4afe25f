/* SPDX-License-Identifier: Apache-2.0 */
/*
 * models - the events of CPU models by their makers' names, from libpfm4.
 *
 * libpfm4 knows models that this machine is not: MODEL::EVENT:UMASK encodes
 * for any of them.  It keeps its own state; it is set up at the first use.
 */
#pragma once
#include "event/event.h"

/* A model that libpfm4 knows. */
struct model {
	const char *name;	/* "icx" */
	const char *text;	/* "Intel Icelake X" */
	bool present;		/* this machine has it */
	int events;		/* how many it has */
};

/* The model at *AT, which moves on; start from 0.  False: no more. */
bool models_next(int *at, struct model *model);

/* One event of a model. */
struct model_event {
	const char *name;	/* "INST_RETIRED" */
	const char *text;	/* one line, as the maker describes it */
	int index;		/* libpfm4's */
};

/* The event at *AT of the model NAME; start from -1.  False: no more, or no such model. */
bool models_event_next(const char *name, int *at, struct model_event *event);

/* A umask or modifier of an event. */
struct model_attribute {
	const char *name;	/* "ANY_P", "c" */
	const char *text;
	bool umask;		/* else a modifier */
	bool is_default;	/* the umask taken where none is given */
	bool number;		/* a modifier that takes a number */
};

/* Attribute number I of the event INDEX.  False: no more. */
bool models_attribute(int index, int i, struct model_attribute *attribute);
