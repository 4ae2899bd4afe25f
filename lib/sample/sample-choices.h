/* SPDX-License-Identifier: Apache-2.0 */
/* sample-choices - what the user of pmu-sample, or of pmu-prof, has chosen to sample, and how. */
#pragma once
#include "base/word-list.h"
#include "counters/settings.h"
#include "event/event.h"
#include "sample/sampler.h"
#include "target/target.h"

enum {
	SAMPLE_BUFFER_DEFAULT = 64 << 20,	/* bytes */
	SAMPLE_RING_MAX = 1 << 30,		/* bytes */
	SAMPLE_BUDGET_MEMORY = 64 << 20,	/* bytes, if the budget names none */
};

/* The arguments of the options, as given. */
struct sample_choices {
	bool data, phys, cpu, cgroup_id, page_size, branches, raw;	/* fields to record */
	bool jitter, jit_map;
	uint64_t ring, buffer;		/* bytes */
	int level;			/* of compression; 0: none */
	const char *user_name, *comm, *cgroup_path;
	const char *control;		/* source of commands (sample/control.h), or NULL */
	struct word_list names, fallbacks;	/* events */
	struct word_list filters;	/* BESIDE must be NAMES */
	struct target target;
	struct event_options how;
	struct sampler_options run;
};
