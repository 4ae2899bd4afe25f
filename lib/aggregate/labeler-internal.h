/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of labeler, for collect: more labels to ask for, and the labels of each sample. */
#pragma once
#include "aggregate/labeler.h"

/*
 * Ask for the labels "slice", with COUNT to 2 * COUNT slices, and "run".  Return false if another
 * label has one of these names, or there are too many labels.
 */
bool labeler_slice(struct labeler *f, uint64_t count);

/* Ask for the label "parallelism".  Return false as above. */
bool labeler_parallelism(struct labeler *f);

/*
 * Ask for the labels "lock", "waker", "ended" and "rule", which labeler_labels() leaves empty.  Set
 * *FIRST to the label key of "lock"; the others follow.  Return false as above.
 */
bool labeler_waits(struct labeler *f, uint32_t *first);

/* Learn names, control groups and fields of tracepoints from REC, a record of any type. */
void labeler_follow(struct labeler *f, const struct record *rec);

/* Return the label set of SAMPLE of an event with ATTR; COMM is the name of its thread. */
uint32_t labeler_labels(struct labeler *f, const struct resolved_sample *sample, const char *comm,
			const struct perf_event_attr *attr);

/*
 * Set in VALUE that the labels of the program are not known.  Return false if nobody asked for
 * them, or the stream has none.
 */
bool labeler_add_unknown(struct labeler *f, int64_t *value);
