/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/perf-writer-internal.h"

#include "base/arena.h"
#include "record/origin.h"

#include <stdlib.h>

enum {
	MEMORY_MAX = 64 << 20,	/* bytes of all ids and features: as much as a reader takes */
	ATTR_MAX = 4096,	/* bytes; the kernel's own limit is a page */
	BRANCH_STACK = 15, AUXTRACE = 18, STAT = 19, DIR_FORMAT = 24, COMPRESSED = 27,
};

bool perf_header_has_room(const struct perf_header *h, size_t size)
{
	return size <= MEMORY_MAX && h->memory <= MEMORY_MAX - size;
}

bool perf_header_attr(struct perf_header *h, struct cursor body)
{
	size_t size = events_attr_size(body), all = cursor_left(&body);
	const uint8_t *attr = cursor_bytes(&body, size);
	const char *error;

	if (!attr || size > ATTR_MAX || !perf_header_has_room(h, all))
		return false;
	if (!events_follow(&h->known, attr, size, body, &error))
		return true;	/* reported by the reader, which accepts none in a file either */
	if (h->events < h->known.count) {
		h->event = array_grow(h->event, h->events, sizeof(*h->event));
		h->event[h->events++] = (struct perf_written_event){
			.attr = memcpy(mem_resize(NULL, size), attr, size), .size = size };
	}
	struct perf_written_event *e = &h->event[h->events - 1];
	size_t ids = cursor_left(&body) / 8;
	e->id = ids ? mem_resize(e->id, 8 * (e->ids + ids)) : e->id;
	for (size_t i = 0; i < ids; i++)
		e->id[e->ids++] = cursor_u64(&body);
	h->memory += all;
	h->has_changed |= h->is_written;
	return true;
}

bool perf_header_feature(struct perf_header *h, struct cursor body)
{
	uint64_t number = cursor_u64(&body);
	size_t size = cursor_left(&body);

	if (body.failed || number >= PERF_FEATURES || !perf_header_has_room(h, size))
		return false;
	/* A number without data ends perf's list.  Others speak of the file that was read. */
	if ((size == 0 && number != STAT) || number == BRANCH_STACK || number == AUXTRACE ||
	    number == DIR_FORMAT || number == COMPRESSED)
		return true;
	h->feature[number].size = 0;
	buffer_add(&h->feature[number], body.at, size);
	h->has_feature[number] = true;
	h->memory += size;
	return true;
}

bool perf_header_build_id(struct perf_header *h, const struct record *rec)
{
	struct buffer *ids = &h->feature[FEATURE_BUILD_ID];
	size_t size = record_size(rec);
	static const uint32_t no_type;

	if (!perf_header_has_room(h, size))
		return false;
	buffer_add(ids, record_bytes(rec), size);
	memcpy(ids->at + ids->size - size, &no_type, sizeof(no_type));
	h->has_feature[FEATURE_BUILD_ID] = true;
	h->memory += size;
	return true;
}

bool perf_header_tracing(struct perf_header *h, const uint8_t *bytes, uint64_t size)
{
	if (size > MEMORY_MAX || !perf_header_has_room(h, (size_t)size))
		return false;
	h->feature[FEATURE_TRACING_DATA].size = 0;
	buffer_add(&h->feature[FEATURE_TRACING_DATA], bytes, (size_t)size);
	h->has_feature[FEATURE_TRACING_DATA] = true;
	h->memory += (size_t)size;
	return true;
}

void perf_header_name(struct perf_header *h, struct cursor body)
{
	enum { KIND_NAME = 2 };		/* PERF_EVENT_UPDATE__NAME */
	uint32_t index = events_of_update(&h->known, body);
	uint64_t kind = cursor_u64(&body);

	cursor_u64(&body);
	if (!body.failed && kind == KIND_NAME && index < h->events)
		h->event[index].is_named |= events_name(&h->known, index, (const char *)body.at,
							cursor_left(&body));
}

void perf_header_sample(struct perf_header *h, struct cursor body)
{
	uint32_t index = events_of_sample(&h->known, body);
	uint16_t at = index == TABLE_NONE ? ABSENT : h->known.event[index].layout.time;

	if (at == ABSENT || !cursor_bytes(&body, at))
		return;
	uint64_t time = cursor_u64(&body);
	if (body.failed || time == 0)
		return;
	if (h->first_time == 0 || time < h->first_time)
		h->first_time = time;
	if (time > h->last_time)
		h->last_time = time;
}

size_t perf_header_attr_size(const struct perf_header *h)
{
	/* PERF_ATTR_SIZE_VER0 and on (linux/perf_event.h) */
	static const size_t version[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136 };
	size_t used = 0;

	for (uint32_t i = 0; i < h->events; i++)
		for (size_t k = used; k < h->event[i].size; k++)
			if (h->event[i].attr[k])
				used = k + 1;
	for (size_t i = 0; i < sizeof(version) / sizeof(version[0]); i++)
		if (used <= version[i])
			return version[i];
	return (used + 7) & ~(size_t)7;
}

/* Add the attr of E as SIZE bytes. */
static void add_attr(struct buffer *out, const struct perf_written_event *e, size_t size)
{
	const uint32_t size32 = (uint32_t)size;
	uint8_t *to = buffer_extend(out, size);

	memset(to, 0, size);
	memcpy(to, e->attr, size < e->size ? size : e->size);
	memcpy(to + 4, &size32, sizeof(size32));
}

void perf_header_events(const struct perf_header *h, uint64_t at, struct buffer *out,
			struct perf_place *attrs)
{
	size_t size = perf_header_attr_size(h);
	uint64_t ids_at = at;

	for (uint32_t i = 0; i < h->events; i++)
		buffer_add(out, h->event[i].id, 8 * h->event[i].ids);
	attrs->offset = at + out->size;
	attrs->size = h->events * (size + 16);
	for (uint32_t i = 0; i < h->events; i++) {
		const struct perf_written_event *e = &h->event[i];
		const uint64_t ids[2] = { ids_at, 8 * e->ids };
		add_attr(out, e, size);
		buffer_add(out, ids, sizeof(ids));
		ids_at += ids[1];
	}
}

/* Add a text as perf does: u32 size, with its NUL and padding to 64 bytes, then the bytes. */
static void add_text(struct buffer *out, const char *text)
{
	uint32_t size = (uint32_t)(strlen(text) + 64) & ~63U;

	buffer_add(out, &size, sizeof(size));
	uint8_t *to = buffer_extend(out, size);
	memset(to, 0, size);
	memcpy(to, text, strlen(text));
}

/*
 * Describe the events, for programs that know their names by this feature alone: u32 number, u32
 * size of an attr; of each event its attr, u32 number of ids, its name, its ids.
 */
static void describe_events(struct perf_header *h)
{
	const uint32_t head[2] = { h->events, (uint32_t)perf_header_attr_size(h) };
	struct buffer *out = &h->feature[FEATURE_EVENT_DESC];

	buffer_add(out, head, sizeof(head));
	for (uint32_t i = 0; i < h->events; i++) {
		const struct perf_written_event *e = &h->event[i];
		const uint32_t ids = (uint32_t)e->ids;
		add_attr(out, e, head[1]);
		buffer_add(out, &ids, sizeof(ids));
		add_text(out, h->known.event[i].name);
		buffer_add(out, e->id, 8 * e->ids);
	}
	h->has_feature[FEATURE_EVENT_DESC] = true;
}

static bool are_named(const struct perf_header *h)
{
	uint32_t named = 0;

	for (uint32_t i = 0; i < h->events; i++)
		named += h->event[i].is_named;
	return named == h->events && h->known.count == h->events;
}

/* Set what follows from the events and the samples. */
static void set_computed(struct perf_header *h)
{
	const uint64_t span[2] = { h->first_time, h->last_time };
	struct buffer *time = &h->feature[FEATURE_SAMPLE_TIME];

	for (uint32_t i = 0; i < h->known.count; i++)
		h->has_feature[BRANCH_STACK] |= h->known.event[i].attr.sample_type >> 11 & 1;
	if (!h->has_feature[FEATURE_EVENT_DESC] && are_named(h) &&
	    perf_header_has_room(h, h->memory))
		describe_events(h);
	if (h->last_time == 0)
		return;
	time->size = 0;
	buffer_add(time, span, sizeof(span));
	h->has_feature[FEATURE_SAMPLE_TIME] = true;
}

void perf_header_features(struct perf_header *h, uint64_t at, struct buffer *out,
			  uint64_t bits[PERF_FEATURES / 64])
{
	uint64_t count = 0;

	memset(bits, 0, PERF_FEATURES / 8);
	set_computed(h);
	for (unsigned i = 0; i < PERF_FEATURES; i++)
		count += h->has_feature[i];
	at += 16 * count;
	for (unsigned i = 0; i < PERF_FEATURES; i++) {
		const uint64_t place[2] = { at, h->feature[i].size };
		if (!h->has_feature[i])
			continue;
		bits[i / 64] |= 1ULL << i % 64;
		buffer_add(out, place, sizeof(place));
		at += place[1];
	}
	for (unsigned i = 0; i < PERF_FEATURES; i++)
		if (h->has_feature[i])
			buffer_add(out, h->feature[i].at, h->feature[i].size);
}

void perf_header_release(struct perf_header *h)
{
	for (uint32_t i = 0; i < h->events; i++) {
		free(h->event[i].attr);
		free(h->event[i].id);
	}
	free(h->event);
	for (unsigned i = 0; i < PERF_FEATURES; i++)
		free(h->feature[i].at);
	events_release(&h->known);
	*h = (struct perf_header){ 0 };
}
