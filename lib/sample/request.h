/* SPDX-License-Identifier: Apache-2.0 */
/* request - finds the events to sample: those asked for, a fallback, or cycles or the CPU clock. */
#pragma once
#include "base/word-list.h"
#include "event/event.h"

/* What the user asks for.  Zero-initialised except for HOW and the lists: the default event. */
struct event_request {
	const struct event_options *how;
	const struct word_list *names;	/* events, each as event_parse() takes it */
	const struct word_list *filters;	/* for the tracepoints in the previous name; BESIDE
						   is NAMES */
	const struct word_list *fallbacks;	/* used if a name cannot be sampled */
	bool wakes;		/* also add the event that samples who wakes threads up, ... */
	bool switches;		/* ... and, after it, the event that samples context switches */
};

/* Further results of request_events(). */
struct event_reply {
	char note[600];		/* why the default event is not cycles, for the user; or "" */
	char remark[512];	/* which events a fallback replaced, for the stream; or "" */
	const char *not_filtered;	/* wrong request: an event that has a filter but is not a
					   tracepoint; or NULL */
};

/*
 * Return whether the event that samples who wakes threads up can be sampled.  False: reported, with
 * what to do.
 */
bool request_can_wake(const struct event_options *how, struct report *report);

/* Return whether EVENT samples who wakes threads up. */
bool request_is_wakes(const struct event *event);

/*
 * Add the events of REQUEST to LIST.  Returns false if no event can be sampled: reported, or
 * REPLY has the reason.
 */
bool request_events(const struct event_request *request, struct event_list *list,
		    struct event_reply *reply, struct report *report);
