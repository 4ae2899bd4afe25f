/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline - runs the tools of a plan.
 *
 * A SIGINT is for the command; two within two seconds, SIGTERM or SIGHUP end the command, and the
 * next such signal stops the filters, which write what they have.  Without a command, the first of
 * these signals stops the sampling, and the second also stops the filters.  A terminal sends SIGINT
 * to all tools at once; the filters ignore it.
 *
 * From the start of a command to its end nothing is written to stderr: what pmu-prof and the
 * filters say waits in a bystander (linux/bystander.h), and what pmu-sample says in another.
 */
#pragma once
#include "compose/plan.h"

struct pipeline;

/* Return a pipeline for PLAN, or NULL (reported).  It handles signals until it is freed. */
struct pipeline *pipeline_new(const struct plan *plan, struct report *report);

/*
 * Record the profile.  Return the exit status of pmu-sample: the status of the command, or 128 +
 * the number of the signal that ended it.  Failures are reported.
 */
int pipeline_record(struct pipeline *p);

/* Run the tool of WORDS with its output to stderr.  Return whether it succeeded. */
bool pipeline_show(struct pipeline *p, const struct word_list *words);

/* Return whether pmu-topprof has run, and succeeded. */
bool pipeline_has_profile(const struct pipeline *p);

/* Return whether a signal arrived. */
bool pipeline_was_stopped(const struct pipeline *p);

void pipeline_free(struct pipeline *p);
