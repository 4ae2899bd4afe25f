/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of survey: its facts, the work that it measures, and the parts of the report. */
#pragma once
#include "survey/survey.h"
#include "base/output.h"
#include "base/signals.h"
#include "event/event.h"

#include <stddef.h>
#include <stdio.h>

/* A line of the report. */
struct survey_fact {
	const char *section;	/* "machine" */
	char name[56];		/* "kernel" */
	char text[160];
	double number;		/* the main number of TEXT, if UNIT is not NULL */
	const char *unit;	/* "nanoseconds", "count", "points"; NULL: there is no number */
};

/* Zero-initialised: none. */
struct facts {
	struct survey_fact *fact;	/* the user frees it */
	size_t count;
	const struct survey_options *options;
	struct output *copy;	/* the text goes there, too; or NULL */
};

/* Add a fact.  The text form shows it at once. */
void facts_add(struct facts *all, const char *section, const char *name, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The same, with its NUMBER for programs. */
void facts_measure(struct facts *all, const char *section, const char *name, double number,
		   const char *unit, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* Print all facts as JSON. */
void facts_print_json(const struct facts *all);

/* Return whether the user wants no more. */
static inline bool survey_stopped(const struct facts *all)
{
	return is_stopped(all->options->stop);
}

/* known-work.c: work whose profile and number of instructions are known. */
enum {
	WORK_FUNCTIONS = 10,	/* A to J, with 1/55 to 10/55 of the work */
	WORK_SHARES = 55,
	WORK_UNIT = 100003,	/* turns of A in a round; prime, so that no period divides it */
};

/* Work through all functions ROUNDS times. */
void work_rounds(uint64_t rounds);

/* Return the number of rounds that take NS of CPU time here. */
uint64_t work_rounds_of(uint64_t ns);

/* Return the function (0: A) that has the instruction at ADDRESS, or -1. */
int work_find(uint64_t address);

/* Run a loop of so many TURNS. */
void work_turn(uint64_t turns);

/* Instructions of a turn, and branches; 0: unknown for this architecture. */
extern const unsigned int work_instructions, work_branches;

/*
 * Work ROUNDS, while a timer signals this process HZ times per second of CPU time.  Count in HITS
 * in which function it was.
 */
void work_under_timer(uint64_t rounds, unsigned int hz, uint64_t hits[WORK_FUNCTIONS]);

/* The event that measurements use. */
struct chosen {
	const char *name;	/* "cycles:u", without counters "cpu-clock:u"; NULL: none */
	struct perf_event_attr attr;
	double per_second;	/* events in a second of CPU time of our work */
};

/* Each adds its part of the report. */
void survey_machine(struct facts *all);
void survey_events(struct facts *all);
void survey_branches(struct facts *all);
void survey_addresses(struct facts *all);
void survey_rates(struct facts *all, const struct chosen *chosen);
void survey_counts(struct facts *all);
void survey_accuracy(struct facts *all);

/* Choose an event for this machine. */
void survey_choose(struct chosen *chosen);

/* Return the events of ATTR in a second of CPU time of our work; 0: it cannot be counted. */
double survey_pace(const struct perf_event_attr *attr);

/* opens.c: set ATTR to that of the event NAME, for user code if only that may be measured. */
bool survey_attr(const char *name, struct perf_event_attr *attr);

/* Return why an event could not be opened, from an errno: a few words. */
const char *survey_why(int error);
