/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short ways through a stream, whose records are mostly samples: several samples are read at a
 * time, and samples that are only counted are not copied.
 */
#include "base/short-ways.h"
#include "stream/internal.h"

void stream_only_count(struct stream_reader *in)
{
	if (in)
		in->only_counts = true;
}

/* Return whether the next record is the next one in the buffer. */
static bool is_next_in_buffer(const struct stream_reader *in)
{
	return in->made_at == in->made.size && !in->drained && !in->has_held && !in->wrapping &&
	       !in->inflate && !in->swap && in->end - in->begin >= RECORD_HEADER_SIZE;
}

/* Step to the next record in the buffer, if it has TYPE and the buffer has all of it. */
static inline bool step(struct stream_reader *in, uint32_t type, struct record *rec)
{
	if (!is_next_in_buffer(in))
		return false;
	size_t size = record_frame(rec, in->buffer + in->begin, false);
	if (rec->type != type || size < RECORD_HEADER_SIZE || size > in->end - in->begin)
		return false;
	rec->offset = in->offset;
	rec->trailing = (struct cursor){ 0 };
	in->begin += size;
	in->offset += size;
	return true;
}

bool reader_step(struct stream_reader *in, struct record *rec)
{
	return step(in, PERF_RECORD_SAMPLE, rec);
}

/* Set *TIME to the time of REC.  Return false if REC has none, and so need not wait. */
static inline bool has_time(const struct stream_reader *in, const struct record *rec,
			    uint64_t *time)
{
	const struct stream_events *events = &in->events;
	const struct sample_layout *l = events->count == 1 ? &events->event[0].layout : NULL;

	if (l && l->time != ABSENT && cursor_left(&rec->body) >= l->size)
		memcpy(time, rec->body.at + l->time, sizeof(*time));
	else
		*time = stream_time(in, rec);
	return *time != 0 && *time <= in->latest && *time != UINT64_MAX;
}

/* Move the next samples from the buffer to ORDER.  Return false if no sample is next. */
static bool keep_some(struct stream_reader *in)
{
	struct order_item item[ORDER_ITEMS];
	const uint8_t *begin = in->buffer + in->begin;
	size_t left = in->end - in->begin, count = 0, at = 0;
	struct record rec;
	uint64_t time;

	left = left < ORDER_BYTES ? left : ORDER_BYTES;
	while (count < ORDER_ITEMS && left - at >= RECORD_HEADER_SIZE) {
		size_t size = record_frame(&rec, begin + at, false);
		if (rec.type != PERF_RECORD_SAMPLE || size < RECORD_HEADER_SIZE || size % 8 ||
		    size > left - at || !has_time(in, &rec, &time))
			break;
		item[count++] = (struct order_item){ time, (uint32_t)size };
		at += size;
	}
	if (count == 0)
		return false;
	order_add_all(in->order, begin, in->offset, item, count);
	in->begin += at;
	in->offset += at;
	return true;
}

void reader_keep_samples(struct stream_reader *in)
{
	if (!is_next_in_buffer(in) || reader_is_in_order(in) || reader_counts(in))
		return;
	while (!order_has_next(in->order) && keep_some(in))
		;
}

bool stream_next_sample(struct stream_reader *in, struct record *rec)
{
	if (!in || in->ended)
		return false;
	if (order_has_next(in->order))
		return order_next_of(in->order, PERF_RECORD_SAMPLE, rec);
	return reader_is_in_order(in) && reader_step(in, rec);
}

bool stream_next_chain_sample(struct stream_reader *in, struct record *rec)
{
	return in && !in->ended && reader_is_in_order(in) && !order_has_next(in->order) &&
	       step(in, RECORD_CHAIN_SAMPLE, rec);
}

bool stream_count_sample(struct stream_reader *in, const struct record *rec,
			 struct sample_brief *out)
{
	if (!SHORT_WAYS || !reader_counts(in))
		return false;
	uint32_t event = events_of_sample(&in->events, rec->body);
	bool good = event != TABLE_NONE &&
		    sample_decode_brief(&in->events.event[event], event, rec, out);
	if (good)
		out->time = stream_possible_time(in, out->time);
	reader_pass(in, good ? out->time : stream_time(in, rec));
	return good;
}
