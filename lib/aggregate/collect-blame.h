/* SPDX-License-Identifier: Apache-2.0 */
/* collect-blame - profiles of who waits, and who keeps whom waiting (waits/pairing.h). */
#pragma once
#include "aggregate/collect.h"

struct collect_ahead;

/* Ask for that profile.  Return false if some label has the name of another. */
bool collect_begin_blame(struct collect *c);

/*
 * Take S, whose labels are LABELS.  RAW is NULL if S is resolved.  A wait that is not SELECTED is
 * not shown.
 */
void collect_blame_sample(struct collect *c, struct collect_ahead *raw, struct resolved_sample *s,
			  uint32_t labels, bool selected);

/* REC, of a switch, says that thread TID was switched in or out at TIME. */
void collect_blame_switch(struct collect *c, const struct record *rec, pid_t tid, uint64_t time);

/* A thread starts, or EXITS, at TIME. */
void collect_blame_thread(struct collect *c, const struct task_record *task, bool exits,
			  uint64_t time);

/* TID runs another program: it was another thread of its process before. */
void collect_blame_exec(struct collect *c, pid_t tid);

/* TID has ended long ago. */
void collect_blame_forget(struct collect *c, pid_t tid);

/* Label set I is MOVED[I] now. */
void collect_relabel_blame(struct collect *c, const uint32_t *moved);

/* The stream ends at TIME: add all stacks to the profile. */
void collect_end_blame(struct collect *c, uint64_t time);

/* Report how much is explained, and what the stream lacks. */
void collect_report_blame(const struct collect *c, struct report *report);

void collect_release_blame(struct collect *c);
