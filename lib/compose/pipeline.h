/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline - runs the tools of a plan.
 *
 * The first SIGINT, SIGTERM or SIGHUP stops the sampling, and the samples so far become a profile.
 * The second signal also stops the filters, which write what they have.  A terminal sends SIGINT
 * to all tools at once; the filters ignore it.
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
bool pipeline_show(struct pipeline *p, const struct command_list *words);

/* Return whether pmu-topprof has run, and succeeded. */
bool pipeline_has_profile(const struct pipeline *p);

/* Return whether a signal arrived. */
bool pipeline_was_stopped(const struct pipeline *p);

void pipeline_free(struct pipeline *p);
