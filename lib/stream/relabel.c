/* SPDX-License-Identifier: Apache-2.0 */
#include "base/load.h"
#include "record/label-record.h"
#include "stream/internal.h"

struct perf_event_attr relabel_attr(const struct perf_event_attr *attr)
{
	struct perf_event_attr joint = *attr;

	joint.size = sizeof(joint);
	joint.sample_type |= PERF_SAMPLE_IDENTIFIER;
	joint.sample_id_all = 1;
	return joint;
}

static void patch_id(const struct relabel *r, uint8_t *at)
{
	uint32_t i = events_find(stream_events(r->in), load_u64(at));
	uint64_t id = i == TABLE_NONE ? 0 : r->new_id[i];	/* 0: a synthesized record */

	memcpy(at, &id, sizeof(id));
}

static void patch_time(const struct relabel *r, uint8_t *at)
{
	uint64_t time = load_u64(at);

	time += time ? (uint64_t)r->shift : 0;
	memcpy(at, &time, sizeof(time));
}

/* Return the bytes of the fields with FLAGS, 8 bytes each. */
static size_t fields(uint64_t sample_type, uint64_t flags)
{
	return 8 * (size_t)__builtin_popcountll(sample_type & flags);
}

/*
 * Replace the ids in the struct read_format (linux/perf_event.h) at AT, which is known
 * to fit.
 */
static void patch_read(const struct relabel *r, uint64_t format, uint8_t *at)
{
	size_t times = 8 * (!!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			    (size_t)!!(format & PERF_FORMAT_TOTAL_TIME_RUNNING));
	size_t each = 16 + 8 * (size_t)!!(format & PERF_FORMAT_LOST);

	if (!(format & PERF_FORMAT_ID))
		return;
	if (!(format & PERF_FORMAT_GROUP)) {
		patch_id(r, at + 8 + times);
		return;
	}
	uint64_t count = load_u64(at);
	at += 8 + times + 8;
	for (; count > 0; count--, at += each)
		patch_id(r, at);
}

/* How to shorten the largest part of a sample by 8 bytes. */
struct cut {
	const uint8_t *size;	/* the part's size or count, right before the part */
	const uint8_t *at;	/* the part's last 8 bytes */
	uint64_t left;		/* new value of SIZE */
	size_t size_bytes;	/* 4 or 8 */
	bool is_stack;		/* user stack: the number of valid bytes follows the part */
};

/*
 * Choose PART for the cut if it is the largest so far.  Its size, a number of SIZE_BYTES before it,
 * counts units of UNIT bytes.
 */
static void consider(struct cut *cut, size_t *most, const void *part, uint64_t bytes,
		     size_t size_bytes, unsigned unit)
{
	const uint8_t *at = part;

	if (bytes < 16 || bytes <= *most)
		return;
	*most = bytes;
	*cut = (struct cut){ .size = at - size_bytes, .at = at + bytes - 8,
			     .left = bytes / unit - 8 / unit, .size_bytes = size_bytes };
}

static bool choose_cut(const struct sample *s, struct cut *cut)
{
	const uint8_t *stack = s->user_stack.at;
	size_t most = 0;

	consider(cut, &most, s->callchain.at, 8 * s->callchain.count, 8, 8);
	consider(cut, &most, s->raw.at, s->raw.size, 4, 1);
	consider(cut, &most, s->aux.at, s->aux.size, 8, 1);
	if (stack)
		consider(cut, &most, stack, load_u64(stack - 8), 8, 1);
	cut->is_stack = most && stack && cut->size == stack - 8;
	return most > 0;
}

/* Write BODY without the 8 bytes that CUT removes. */
static void write_cut(const struct cut *cut, struct cursor body, struct writer *w)
{
	const uint8_t *rest = cut->at + 8;

	writer_bytes(w, body.at, (size_t)(cut->size - body.at));
	writer_bytes(w, &cut->left, cut->size_bytes);
	const uint8_t *part = cut->size + cut->size_bytes;
	writer_bytes(w, part, (size_t)(cut->at - part));
	if (cut->is_stack) {
		uint64_t used = load_u64(rest);
		writer_u64(w, used < cut->left ? used : cut->left);
		rest += 8;
	}
	writer_bytes(w, rest, (size_t)(body.end - rest));
}

/*
 * Write the rest of the sample S after its new id.  If the record becomes too large, cut the
 * end of its largest part, such as the stack.  Return false if nothing can be cut (reported).
 */
static bool write_rest(const struct relabel *r, const struct record *rec, const struct sample *s,
		       struct cursor body, struct writer *w)
{
	struct cut cut = { 0 };

	if (w->size + cursor_left(&body) <= RECORD_MAX_SIZE) {
		writer_bytes(w, body.at, cursor_left(&body));
		return true;
	}
	if (!choose_cut(s, &cut)) {
		stream_damaged(r->in, rec, "SAMPLE record with no room left for an id");
		return false;
	}
	write_cut(&cut, body, w);
	return true;
}

/* Replace the index of an event at AT, in a labels record. */
static void patch_event(const struct relabel *r, uint8_t *at)
{
	uint64_t event = load_u64(at);

	event = event < stream_events(r->in)->count ? r->event_index[event] : UINT64_MAX;
	memcpy(at, &event, sizeof(event));
}

/* Write the IDENTIFIER and the rest of the sample; then replace the ids and times in it. */
static void write_sample(const struct relabel *r, const struct record *rec, struct output *out)
{
	const uint64_t before_id = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				   PERF_SAMPLE_ADDR;
	struct cursor body = rec->body;
	struct sample s;
	struct writer w;

	if (!stream_sample(r->in, rec, &s))
		return;
	const struct stream_event *event = &stream_events(r->in)->event[s.event];
	uint64_t type = event->attr.sample_type, id = r->event_id[s.event];
	uint32_t known = events_find(stream_events(r->in), s.id);
	if (type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID) && known != TABLE_NONE)
		id = r->new_id[known];
	if (type & PERF_SAMPLE_IDENTIFIER)
		cursor_u64(&body);
	writer_begin(&w, out, rec->type, rec->misc);
	writer_u64(&w, id);
	if (!write_rest(r, rec, &s, body, &w))
		return;
	uint8_t *first = w.record + RECORD_HEADER_SIZE + 8;	/* after the IDENTIFIER */
	if (type & PERF_SAMPLE_TIME)
		patch_time(r, first + fields(type, PERF_SAMPLE_IP | PERF_SAMPLE_TID));
	if (type & PERF_SAMPLE_ID)
		memcpy(first + fields(type, before_id), &id, sizeof(id));
	uint8_t *body_at = first - (type & PERF_SAMPLE_IDENTIFIER ? 8 : 0);
	if (type & PERF_SAMPLE_READ)
		patch_read(r, event->attr.read_format, body_at + (s.read.at - rec->body.at));
	if (event->is_labels && s.raw.size >= LABEL_PAYLOAD_HEAD)
		patch_event(r, body_at + (s.raw.at - rec->body.at) + LABEL_RECORD_EVENT);
	writer_end(&w);
}

/* Replace the ids and times in the BODY of SIZE bytes of a record of EVENT. */
static void patch_body(const struct relabel *r, const struct record *rec,
		       const struct stream_event *event, uint8_t *body, size_t size)
{
	uint64_t format = event->attr.read_format;
	struct cursor c = { .at = body + 8, .end = body + size };
	struct read_record read;

	if (rec->type == PERF_RECORD_LOST && size >= 16) {
		patch_id(r, body);
	} else if ((rec->type == PERF_RECORD_THROTTLE || rec->type == PERF_RECORD_UNTHROTTLE) &&
		   size >= 24) {
		patch_time(r, body);
		patch_id(r, body + 8);
		patch_id(r, body + 16);
	} else if ((rec->type == PERF_RECORD_FORK || rec->type == PERF_RECORD_EXIT) && size >= 24) {
		patch_time(r, body + 16);
	} else if (rec->type == PERF_RECORD_READ && record_read(rec, format, &read)) {
		patch_read(r, format, (uint8_t *)c.at);
	}
}

/* Write a struct sample_id of EVENT: OLD with new ids and time, or an empty one if OLD is NULL. */
static void write_trailer(const struct relabel *r, const struct stream_event *event, uint64_t id,
			  const uint8_t *old, struct writer *w)
{
	uint64_t type = event->attr.sample_type;
	size_t size = fields(type, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			     PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU);
	uint8_t trailer[40] = { 0 };

	if (old)
		memcpy(trailer, old, size);
	if (old && type & PERF_SAMPLE_TIME)
		patch_time(r, trailer + fields(type, PERF_SAMPLE_TID));
	if (type & PERF_SAMPLE_ID)
		memcpy(trailer + fields(type, PERF_SAMPLE_TID | PERF_SAMPLE_TIME), &id, sizeof(id));
	writer_bytes(w, trailer, size);
	writer_u64(w, id);
}

/* Return the new id for the sample_id at OLD, of EVENT; IF_NONE if it has no id. */
static uint64_t trailer_id(const struct relabel *r, const struct stream_event *event,
			   const uint8_t *old, uint64_t if_none)
{
	uint64_t type = event->attr.sample_type;
	uint8_t id[8];

	if (!old || !(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)))
		return if_none;
	memcpy(id, type & PERF_SAMPLE_IDENTIFIER ? old + event->layout.trailer_size - 8
	       : old + fields(type, PERF_SAMPLE_TID | PERF_SAMPLE_TIME), sizeof(id));
	patch_id(r, id);
	return load_u64(id);
}

static void write_other(const struct relabel *r, const struct record *rec, struct output *out)
{
	const struct stream_events *events = stream_events(r->in);
	const struct stream_event *event = events_trailer(events, rec->body);
	size_t size = cursor_left(&rec->body);
	const uint8_t *old = NULL;
	struct writer w;

	if (events->count == 0)
		return;
	if (event) {
		size -= event->layout.trailer_size;
		old = rec->body.at + size;
	} else {
		event = &events->event[0];
	}
	writer_begin(&w, out, rec->type, rec->misc);
	writer_bytes(&w, rec->body.at, size);
	if (w.size > RECORD_MAX_SIZE - 64) {
		stream_damaged(r->in, rec, "record with no room left for an id");
		return;
	}
	writer_bytes(&w, (const uint8_t[8]){ 0 }, -w.size & 7);
	patch_body(r, rec, event, w.record + RECORD_HEADER_SIZE, size);
	write_trailer(r, event, trailer_id(r, event, old, r->event_id[event - events->event]), old,
		      &w);
	writer_end(&w);
}

void relabel_write(const struct relabel *r, const struct record *rec, struct output *out)
{
	if (rec->type == PERF_RECORD_SAMPLE)
		write_sample(r, rec, out);
	else
		write_other(r, rec, out);
}
