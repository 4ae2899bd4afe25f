/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/writer.h"
#include "record/events.h"
#include "record/origin.h"
#include "stream/internal.h"

static const uint8_t zeros[8];

void writer_header(struct output *out)
{
	const uint64_t header[2] = { STREAM_MAGIC, PIPE_HEADER_SIZE };

	output_write(out, header, sizeof(header));
}

void writer_begin(struct writer *w, struct output *out, uint32_t type, uint16_t misc)
{
	w->out = out;
	w->record = output_room(out, RECORD_MAX_SIZE);
	w->size = RECORD_HEADER_SIZE;
	memcpy(w->record, &type, 4);
	memcpy(w->record + 4, &misc, 2);
}

void writer_string(struct writer *w, const char *text)
{
	writer_bytes(w, text, strlen(text) + 1);
	writer_bytes(w, zeros, -w->size & 7);
}

bool writer_end(struct writer *w)
{
	writer_bytes(w, zeros, -w->size & 7);
	if (w->size > RECORD_MAX_SIZE)
		return false;
	uint16_t size = (uint16_t)w->size;
	memcpy(w->record + 6, &size, 2);
	output_commit(w->out, size);
	return true;
}

void writer_empty(struct output *out, uint32_t type)
{
	struct writer w;

	writer_begin(&w, out, type, 0);
	writer_end(&w);
}

void writer_attr(struct output *out, const struct perf_event_attr *attr, const uint64_t *ids,
		 size_t count)
{
	size_t size;
	struct writer w;

	do {
		size = events_ids_that_fit(sizeof(*attr), count);
		writer_begin(&w, out, RECORD_ATTR, 0);
		writer_bytes(&w, attr, sizeof(*attr));
		writer_bytes(&w, ids, 8 * size);
		writer_end(&w);
		ids += size;
		count -= size;
	} while (events_is_full(sizeof(*attr), size));
}

void writer_event_name(struct output *out, uint64_t id, const char *name)
{
	enum { KIND_NAME = 2 };
	struct writer w;

	writer_begin(&w, out, RECORD_EVENT_UPDATE, 0);
	writer_u64(&w, KIND_NAME);
	writer_u64(&w, id);
	writer_string(&w, name);
	writer_end(&w);
}

/* perf's string: u32 size with NUL and padding to 64, the bytes. */
static void feature_string(struct writer *w, const char *text)
{
	static const uint8_t padding[64];
	size_t length = strlen(text), size = (length + 1 + 63) & ~(size_t)63;

	writer_u32(w, (uint32_t)size);
	writer_bytes(w, text, length);
	writer_bytes(w, padding, size - length);
}

void writer_feature_text(struct output *out, uint64_t feature, const char *text)
{
	struct writer w;

	writer_begin(&w, out, RECORD_FEATURE, 0);
	writer_u64(&w, feature);
	feature_string(&w, text);
	writer_end(&w);
}

void writer_feature_list(struct output *out, uint64_t feature, char *const *text, size_t count)
{
	struct writer w;

	writer_begin(&w, out, RECORD_FEATURE, 0);
	writer_u64(&w, feature);
	writer_u32(&w, (uint32_t)count);
	for (size_t i = 0; i < count; i++)
		feature_string(&w, text[i]);
	writer_end(&w);
}

void writer_capability(struct output *out, const char *name, const char *value)
{
	struct writer w;

	writer_begin(&w, out, RECORD_FEATURE, 0);
	writer_u64(&w, FEATURE_CPU_PMU_CAPS);
	writer_u32(&w, 1);
	feature_string(&w, name);
	feature_string(&w, value);
	writer_end(&w);
}

void writer_feature(struct output *out, uint64_t feature, const void *bytes, size_t size)
{
	struct writer w;

	writer_begin(&w, out, RECORD_FEATURE, 0);
	writer_u64(&w, feature);
	writer_bytes(&w, bytes, size);
	writer_end(&w);
}

void writer_clock(struct output *out, uint32_t clock, uint64_t wall_time, uint64_t clock_time)
{
	const struct {
		uint32_t version, clock;
		uint64_t wall_time, clock_time;
	} data = { 1, clock, wall_time, clock_time };

	writer_feature(out, FEATURE_CLOCK_DATA, &data, sizeof(data));
}

bool writer_longer_command(struct output *out, struct cursor body, const char *const *text,
			   size_t count)
{
	uint64_t feature = cursor_u64(&body);
	uint32_t old = cursor_u32(&body);
	const uint8_t *first = body.at;
	struct writer w;

	for (uint32_t i = 0; i < old && !body.failed; i++)
		cursor_bytes(&body, cursor_u32(&body));
	if (body.failed)
		return false;
	writer_begin(&w, out, RECORD_FEATURE, 0);
	writer_u64(&w, feature);
	writer_u32(&w, old + (uint32_t)count);
	writer_bytes(&w, first, (size_t)(body.at - first));
	for (size_t i = 0; i < count; i++)
		feature_string(&w, text[i]);
	return writer_end(&w);
}
