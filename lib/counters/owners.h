/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owners - threads that may have each event twice.
 *
 * A thread that was created while its parent's events were being opened has inherited some of
 * them, all or none; no record says which.  So pmu-sample opens the thread's events as well.  For
 * the thread and its descendants, only samples of events that pmu-sample opened count.
 * Zero-initialised: no thread is in doubt.
 */
#pragma once
#include "base/table.h"
#include "counters/counters.h"
#include "record/events.h"

struct owners {
	struct owner {
		pid_t tid;
		uint32_t task;	/* as in struct counter: only its samples count; or OWNER_ANY */
		uint64_t since;	/* ns: a later FORK record means a new thread with the same id */
	} *owner;
	size_t count;
	struct table table;	/* index of OWNER */
	bool *twice;		/* by task and event: a sample showed that its threads have both */
	uint32_t tasks;		/* in TWICE */
	uint64_t *dropped;	/* by event: samples that did not count; NULL: none */
};

#define OWNER_ANY UINT32_MAX

/* How we know whether a sample is from an inherited event or from the thread's own event. */
enum owner_rule {
	OWNER_BY_ID,	/* the ID of the sample is that of its event */
	OWNER_FIRST,	/* it may be the other event's, and this is the first of a pair, or alone */
	OWNER_REPEATED,	/* this is the second of a pair: the same occurrence, sampled again */
};

/* From TIME (ns) on, only samples of the counters of TASK count for thread TID. */
void owners_set(struct owners *owners, pid_t tid, uint32_t task, uint64_t time);

/*
 * Return whether RECORD counts; RULE is for a SAMPLE.  Records must come in order of time: FORK
 * records say which thread inherited from which.
 */
bool owners_pass(struct owners *owners, const struct counters *counters,
		 const struct perf_event_header *record, const struct sample_layout *layout,
		 enum owner_rule rule);

void owners_release(struct owners *owners);
