/* SPDX-License-Identifier: Apache-2.0 */
#include "labels/label-join.h"
#include "base/arena.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bool label_record_is(const struct stream_reader *in, const struct record *rec)
{
	const struct stream_events *events = stream_events(in);
	uint32_t event = events->has_labels ? events_of_sample(events, rec->body) : TABLE_NONE;

	return event != TABLE_NONE && events->event[event].is_labels;
}

/* Remove the entries from FROM to before TO; their parts of BYTES become free. */
static void remove_entries(struct label_join *j, uint32_t from, uint32_t to)
{
	for (; to > from; to--) {
		uint8_t free_part = j->order[from];
		for (uint32_t i = from; i + 1 < LABEL_JOIN_MAX; i++) {
			j->waiting[i] = j->waiting[i + 1];
			j->order[i] = j->order[i + 1];
		}
		j->order[LABEL_JOIN_MAX - 1] = free_part;
		j->count--;
	}
}

static void drop(struct label_join *j, uint32_t from, uint32_t to)
{
	j->dropped += to - from;
	remove_entries(j, from, to);
}

/* Keep W, whose text is in a record, for its sample. */
static void keep(struct label_join *j, struct label_record w)
{
	if (!j->bytes) {
		j->bytes = mem_resize(NULL, (size_t)LABEL_JOIN_MAX * RECORD_MAX_SIZE);
		for (uint8_t i = 0; i < LABEL_JOIN_MAX; i++)
			j->order[i] = i;
	}
	if (j->count == LABEL_JOIN_MAX)
		drop(j, 0, 1);
	uint8_t *text = j->bytes + (size_t)j->order[j->count] * RECORD_MAX_SIZE;
	memcpy(text, w.labels.text.at, w.labels.text.size);	/* it is smaller than its record */
	w.labels.text.at = text;
	j->waiting[j->count++] = w;
}

/* Return whether both records can come from one interrupt. */
static bool is_same_interrupt(const struct label_record *w, const struct sample *s)
{
	return w->event == s->event && w->tid == s->tid && w->ip == s->ip && w->cpu == s->cpu &&
	       w->time == s->time;
}

/*
 * Find the labels of S.  The samples of the labels records after the one of S were lost.  If S has
 * no labels record, the samples of all labels records of its event and CPU were lost.
 */
static void join(struct label_join *j, struct sample *s)
{
	uint32_t i = j->count;

	while (i > 0 && !is_same_interrupt(&j->waiting[i - 1], s))
		i--;
	if (i > 0) {
		drop(j, i, j->count);
		s->labels = j->waiting[i - 1].labels;
		remove_entries(j, i - 1, i);	/* its part of BYTES is free, but not used yet */
		return;
	}
	for (i = j->count; i > 0; i--)
		if (j->waiting[i - 1].event == s->event && j->waiting[i - 1].cpu == s->cpu)
			drop(j, i - 1, i);
}

bool label_join_take(struct label_join *j, struct stream_reader *in, const struct record *rec,
		     struct sample *sample)
{
	if (!stream_events(in)->has_labels)
		return false;
	if (!stream_events(in)->event[sample->event].is_labels) {
		join(j, sample);
		return false;
	}
	struct label_record w = { .tid = sample->tid, .cpu = sample->cpu, .time = sample->time };
	const char *wrong = label_record_read(sample->raw, &w);
	j->records++;
	if (wrong)
		stream_damaged(in, rec, wrong);
	else
		keep(j, w);
	return true;
}

void label_join_follow(struct label_join *j, const struct record *rec)
{
	if (rec->type == PERF_RECORD_LOST)
		drop(j, 0, j->count);
}

void label_join_release(struct label_join *j)
{
	free(j->bytes);
	*j = (struct label_join){ 0 };
}

enum label_state label_state(bool is_known, uint8_t status)
{
	if (!is_known)
		return LABELS_UNKNOWN;
	switch (status) {
	case LABEL_STATUS_LABELS:
		return LABELS_SOME;
	case LABEL_STATUS_BAD_G:
	case LABEL_STATUS_FAULT:
		return LABELS_UNREADABLE;
	default:
		return LABELS_NONE;
	}
}

void label_counts_add(struct label_counts *counts, enum label_state state, uint8_t flags)
{
	counts->samples[state]++;
	counts->cut += flags != 0;
}

void label_counts_text(const struct label_counts *counts, char *text, size_t size)
{
	const uint64_t *n = counts->samples;
	uint64_t unknown = n[LABELS_UNKNOWN] + n[LABELS_UNREADABLE];
	uint64_t all = n[LABELS_SOME] + n[LABELS_NONE] + unknown;
	double percent = all ? 100 / (double)all : 0;

	snprintf(text, size, "%" PRIu64 " samples with (%.2f %%), %" PRIu64 " without (%.2f %%), %"
		 PRIu64 " not known (%.2f %%), %" PRIu64 " of them unreadable; %" PRIu64 " cut",
		 n[LABELS_SOME], percent * (double)n[LABELS_SOME], n[LABELS_NONE],
		 percent * (double)n[LABELS_NONE], unknown, percent * (double)unknown,
		 n[LABELS_UNREADABLE], counts->cut);
}
