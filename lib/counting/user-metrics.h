/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user-metrics - numbers that a user's file calculates from events:
 *
 *	# comment
 *	ipc = instructions / cycles
 *	L1 misses per 1000 = 1000 * L1-dcache-load-misses / instructions
 *
 * An expression has + - * / and parentheses, numbers, and names of events (pmu-event(7)).  Within a
 * name, - and / belong to it, so these operators have a space or a parenthesis before them.  A name
 * may be in single quotes.
 *
 * The file is not trusted: it is limited in size, and an expression in depth.
 */
#pragma once
#include "base/report.h"
#include "event/event.h"

/* How deep parentheses and signs may be nested. */
enum { METRIC_DEEPEST = 64 };

struct metric {
	const char *name;
	struct metric_step {	/* in reverse Polish notation */
		char kind;	/* 'n': NUMBER; 'e': EVENT; '~': a sign; or an operator */
		double number;
		size_t event;	/* index in struct user_metrics.event */
	} *step;
	size_t steps;
};

/* An event that metrics use, by the name in the file. */
struct metric_event {
	const char *name;
	size_t line, column;	/* in the file, from 1 on: where it is first used */
	size_t metric;		/* the first that uses it */
	size_t *counted;	/* indices in the event list: one, or one for each kind of core */
	size_t count;		/* of COUNTED; 0: not chosen yet */
};

struct user_metrics {
	const char *file;
	struct metric *metric;
	size_t count;
	struct metric_event *event;
	size_t events;
	struct arena arena;	/* strings */
};

/*
 * Read FILE into M, which is zero-initialised and refers to FILE.  False: reported, with the line
 * and the column.  The caller releases M in any case.
 */
bool metrics_read(struct user_metrics *m, const char *file, struct report *report);

/* The same for the SIZE bytes at TEXT. */
bool metrics_parse(struct user_metrics *m, const char *file, const char *text, size_t size,
		   struct report *report);

/*
 * Add the events of M that LIST lacks to LIST: those of a metric as a group, if the CPU has enough
 * counters.  False: reported.
 */
bool metrics_choose(struct user_metrics *m, struct event_list *list, struct report *report);

/*
 * Return the value of METRIC, where COUNT has the values of the events of the list.  NAN: a value
 * is missing, or a divisor is 0.
 */
double metric_value(const struct user_metrics *m, const struct metric *metric, const double *count);

void metrics_release(struct user_metrics *m);
