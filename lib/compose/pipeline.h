/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline - run the tools of a plan.
 *
 * The first SIGINT, SIGTERM or SIGHUP ends the sampling, and what was sampled becomes a profile;
 * the second one also ends the tools that make it, which write what they have.  A terminal sends
 * SIGINT to all tools at once: the filters do not get it.
 */
#pragma once
#include "compose/plan.h"

struct pipeline;

/* Return a pipeline for PLAN, or NULL (reported).  From here on it handles signals. */
struct pipeline *pipeline_new(const struct plan *plan, struct report *report);

/*
 * Make the profile.  Return the status that pmu-sample ended with, which is the command's:
 * 128 + signal if a signal ended it.  Failures are reported.
 */
int pipeline_record(struct pipeline *p);

/* Run the tool in WORDS with its output to stderr.  Return whether it succeeded. */
bool pipeline_show(struct pipeline *p, const struct command_list *words);

/* Return whether pmu-topprof has run, and succeeded. */
bool pipeline_has_profile(const struct pipeline *p);

/* Return whether a signal arrived. */
bool pipeline_was_stopped(const struct pipeline *p);

void pipeline_free(struct pipeline *p);
