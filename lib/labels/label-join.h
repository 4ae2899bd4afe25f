/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-join - gives each sample the labels of its labels record (record/label-payload.h).
 *
 *	struct label_join join = { 0 };
 *
 *	if (!stream_sample(in, &rec, &sample) || label_join_take(&join, in, &rec, &sample))
 *		continue;		damaged, or a labels record
 *	use sample.labels
 *
 * A labels record comes before its sample.  Other records may come between them, even a whole
 * pair, if the interrupt of one event came during the interrupt of another.  So up to
 * LABEL_JOIN_MAX labels records wait.  A labels record and its sample have the same event, thread,
 * CPU, time and address.  A labels record without such a sample is dropped and counted: a wrong
 * label is worse than none.
 */
#pragma once
#include "record/label-record.h"
#include "stream/reader.h"

enum { LABEL_JOIN_MAX = 4 };

/* Zero-initialised: nothing waits.  Nothing is allocated before the first labels record. */
struct label_join {
	struct label_record waiting[LABEL_JOIN_MAX];	/* the oldest first; TEXT is in BYTES */
	uint8_t order[LABEL_JOIN_MAX];	/* the part of BYTES that each entry uses */
	uint32_t count;
	uint8_t *bytes;			/* RECORD_MAX_SIZE bytes for each entry */
	uint64_t records;		/* labels records that were read */
	uint64_t dropped;		/* labels records whose sample did not come */
};

/* How a sample got its labels, or why it has none. */
enum label_state {
	LABELS_UNKNOWN,		/* no labels record: it was lost, or nobody asked for labels */
	LABELS_UNREADABLE,	/* the recorder could not read them */
	LABELS_NONE,		/* the thread had no labels */
	LABELS_SOME,
	LABEL_STATES
};

/* Return the state of a sample by the status of its labels record, if IS_KNOWN. */
enum label_state label_state(bool is_known, uint8_t status);

/* Number of samples by state, and number of samples with labels cut or partly left out. */
struct label_counts {
	uint64_t samples[LABEL_STATES];
	uint64_t cut;
};

/* Count a sample with FLAGS (struct sample_labels). */
void label_counts_add(struct label_counts *counts, enum label_state state, uint8_t flags);

/*
 * Write the counts to TEXT, SIZE bytes, in the grammar that pmu-topprof(1) documents:
 * "7859 samples with (97.50 %), 186 without (2.31 %), 15 not known (0.19 %), 12 of them
 * unreadable; 1 cut".
 */
enum { LABEL_COUNTS_TEXT = 256 };
void label_counts_text(const struct label_counts *counts, char *text, size_t size);

/*
 * Take SAMPLE, which stream_sample() decoded from REC.  If it is a labels record, keep it and
 * return true: it is not a sample of the profiled program.  Otherwise set sample->labels, which
 * are valid until the next call, and return false.  A damaged labels record is reported.
 */
bool label_join_take(struct label_join *j, struct stream_reader *in, const struct record *rec,
		     struct sample *sample);

/*
 * Follow REC, a record of another type.  If records were lost, drop the labels records that wait.
 */
void label_join_follow(struct label_join *j, const struct record *rec);

void label_join_release(struct label_join *j);

/* Return whether REC, a SAMPLE just read from IN, is a labels record. */
bool label_record_is(const struct stream_reader *in, const struct record *rec);
