/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/deferred.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/load.h"
#include "record/bit-fields.h"

#include <stddef.h>
#include <stdlib.h>

/* A sample that waits for its words, or has them and waits for the samples before it. */
struct waiting {
	size_t at;		/* of its record in HELD, in bytes */
	size_t chain;		/* of offset of its callchain's count, in the record */
	uint64_t cookie;
	pid_t tid;
	uint32_t rounds;	/* number of rounds that have ended since it came */
	bool is_done;		/* its words came */
	size_t word;		/* index of its first word in WORD */
	size_t words;
};

struct deferred {
	struct buffer held;	/* records, one after another */
	struct waiting *waiting;	/* in the order of their records */
	uint32_t count;
	uint64_t *word;		/* the words of all waiting samples */
	size_t words, word_capacity;
	uint64_t merged, without;	/* samples */
};

struct deferred *deferred_new(void)
{
	return mem_zeroed(1, sizeof(struct deferred));
}

void deferred_free(struct deferred *d)
{
	if (!d)
		return;
	free(d->held.at);
	free(d->waiting);
	free(d->word);
	free(d);
}

void deferred_clear_attr(struct perf_event_attr *attr)
{
	/* the flags are a word of bit fields, which follows read_format */
	const size_t at = offsetof(struct perf_event_attr, read_format) + sizeof(uint64_t);
	const uint64_t deferred = 3ULL << 38;	/* defer_callchain, defer_output */
	uint64_t flags;

	memcpy(&flags, (uint8_t *)attr + at, sizeof(flags));
	flags = bit_fields_number(ATTR_FIELDS, flags) & ~deferred;
	flags = bit_fields_native(ATTR_FIELDS, flags);
	memcpy((uint8_t *)attr + at, &flags, sizeof(flags));
}

/* Write RECORD, the sample W, with the words that came in place of its marker and cookie. */
static void write_merged(struct deferred *d, const struct waiting *w, const uint8_t *record,
			 struct output *out)
{
	uint16_t size;

	memcpy(&size, record + 6, sizeof(size));
	uint64_t count = load_u64(record + w->chain);
	size_t kept = 8 * (size_t)(count - 2), head = w->chain + 8;
	size_t tail_at = head + 8 * (size_t)count, tail = size - tail_at;
	size_t room = RECORD_MAX_SIZE / 8 * 8 - head - kept - tail;
	size_t words = w->words < room / 8 ? w->words : room / 8;
	uint8_t *at = output_room(out, RECORD_MAX_SIZE);
	uint16_t new_size = (uint16_t)(head + kept + 8 * words + tail);

	count = count - 2 + words;
	memcpy(at, record, head + kept);
	memcpy(at + 6, &new_size, sizeof(new_size));
	memcpy(at + w->chain, &count, sizeof(count));
	if (words)
		memcpy(at + head + kept, d->word + w->word, 8 * words);
	memcpy(at + head + kept + 8 * words, record + tail_at, tail);
	output_commit(out, new_size);
}

/* Drop the words before those that a waiting sample has. */
static void drop_words(struct deferred *d)
{
	size_t first = d->words;

	for (uint32_t i = 0; i < d->count; i++)
		if (d->waiting[i].words && d->waiting[i].word < first)
			first = d->waiting[i].word;
	if (d->words)
		memmove(d->word, d->word + first, 8 * (d->words - first));
	d->words -= first;
	for (uint32_t i = 0; i < d->count; i++)
		d->waiting[i].word -= d->waiting[i].words ? first : 0;
}

/* Write the records before the first sample that still waits. */
static void release(struct deferred *d, struct output *out)
{
	size_t at = 0;
	uint32_t i;

	for (i = 0; i < d->count && d->waiting[i].is_done; i++) {
		const struct waiting *w = &d->waiting[i];
		uint16_t size;
		memcpy(&size, d->held.at + w->at + 6, sizeof(size));
		output_write(out, d->held.at + at, w->at - at);
		write_merged(d, w, d->held.at + w->at, out);
		at = w->at + size;
	}
	size_t end = i < d->count ? d->waiting[i].at : d->held.size;
	if (end > at)
		output_write(out, d->held.at + at, end - at);
	if (end == 0)
		return;
	memmove(d->held.at, d->held.at + end, d->held.size - end);
	d->held.size -= end;
	d->count -= i;
	memmove(d->waiting, d->waiting + i, d->count * sizeof(*d->waiting));
	for (uint32_t k = 0; k < d->count; k++)
		d->waiting[k].at -= end;
	drop_words(d);
}

/* Stop waiting for the words of sample W. */
static void give_up(struct deferred *d, struct waiting *w)
{
	if (w->is_done)
		return;
	w->is_done = true;
	w->words = 0;
	d->without++;
}

/* While too many bytes or samples are held, stop waiting for the words of the oldest sample. */
static void bound(struct deferred *d, struct output *out)
{
	bool is_full = d->count > DEFERRED_SAMPLES || d->held.size > DEFERRED_BYTES ||
		       8 * d->words > DEFERRED_BYTES;

	if (!is_full)
		return;
	for (uint32_t i = 0; i < d->count / 2 + 1 && i < d->count; i++)
		give_up(d, &d->waiting[i]);
	release(d, out);
}

/* Return whether the callchain at CHAIN of the sample RECORD waits for words with *COOKIE. */
static bool is_deferred(const uint8_t *record, size_t chain, uint64_t *cookie)
{
	uint64_t count = chain ? load_u64(record + chain) : 0;

	if (count < 2 || load_u64(record + chain + 8 * (count - 1)) != CONTEXT_USER_DEFERRED)
		return false;
	*cookie = load_u64(record + chain + 8 * count);
	return true;
}

void deferred_write(struct deferred *d, const void *record, size_t size, size_t chain, pid_t tid,
		    struct output *out)
{
	uint64_t cookie;
	bool waits = is_deferred(record, chain, &cookie);

	if (!waits && d->count == 0) {
		output_write(out, record, size);
		return;
	}
	if (waits) {
		d->waiting = array_grow(d->waiting, d->count, sizeof(*d->waiting));
		d->waiting[d->count++] = (struct waiting){ .at = d->held.size, .chain = chain,
							   .cookie = cookie, .tid = tid };
	}
	buffer_add(&d->held, record, size);
	bound(d, out);
}

/* Keep the COUNT words at AT, after a marker. */
static void keep_words(struct deferred *d, const uint8_t *at, uint64_t count)
{
	const uint64_t marker = PERF_CONTEXT_USER;
	bool has_marker = count > 0 && load_u64(at) == marker;

	if (d->word_capacity - d->words < count + 1) {
		d->word_capacity = 2 * d->word_capacity + (size_t)count + 1;
		d->word = mem_resize(d->word, 8 * d->word_capacity);
	}
	if (!has_marker)
		d->word[d->words++] = marker;
	memcpy(d->word + d->words, at, 8 * (size_t)count);
	d->words += (size_t)count;
}

/* CALLCHAIN_DEFERRED: u64 cookie, u64 nr, u64 ips[nr], struct sample_id. */
bool deferred_take(struct deferred *d, const struct record *rec, pid_t tid, struct output *out)
{
	struct cursor c = rec->body;
	uint64_t cookie = cursor_u64(&c), count = cursor_u64(&c);
	size_t first = d->words;
	bool is_kept = false;

	if (c.failed || count > cursor_left(&c) / 8)
		return false;
	for (uint32_t i = 0; i < d->count; i++) {
		struct waiting *w = &d->waiting[i];
		if (w->is_done || w->tid != tid || w->cookie != cookie)
			continue;
		if (!is_kept)
			keep_words(d, c.at, count);
		is_kept = true;
		w->is_done = true;
		w->word = first;
		w->words = d->words - first;
		d->merged++;
	}
	release(d, out);
	bound(d, out);
	return true;
}

void deferred_round(struct deferred *d, struct output *out)
{
	for (uint32_t i = 0; i < d->count; i++)
		if (d->waiting[i].rounds++ > 0)
			give_up(d, &d->waiting[i]);
	release(d, out);
}

void deferred_end(struct deferred *d, struct output *out)
{
	for (uint32_t i = 0; i < d->count; i++)
		give_up(d, &d->waiting[i]);
	release(d, out);
}

void deferred_counts(const struct deferred *d, uint64_t *merged, uint64_t *without)
{
	*merged = d->merged;
	*without = d->without;
}
