/* SPDX-License-Identifier: Apache-2.0 */
#include "record/swap.h"
#include "record/bit-fields.h"
#include "record/origin.h"
#include "record/sample.h"
#include "record/types.h"

struct swapper {
	uint8_t *at, *end;
};

/* Convert the next number and return it; if it does not fit, return 0 and end the conversion. */
static uint64_t swap_number(struct swapper *s, size_t size)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v = 0;

	if ((size_t)(s->end - s->at) < size) {
		s->at = s->end;
		return 0;
	}
	for (size_t i = 0; i < size / 2; i++) {
		uint8_t byte = s->at[i];
		s->at[i] = s->at[size - 1 - i];
		s->at[size - 1 - i] = byte;
	}
	if (size == 2)
		v = (memcpy(&v16, s->at, 2), v16);
	else if (size == 4)
		v = (memcpy(&v32, s->at, 4), v32);
	else
		memcpy(&v, s->at, 8);
	s->at += size;
	return v;
}

static void pass(struct swapper *s, uint64_t size)
{
	uint64_t left = (uint64_t)(s->end - s->at);

	s->at += size < left ? size : left;
}

/* Pass a string and its NUL; if it has none, end the conversion. */
static void pass_string(struct swapper *s)
{
	const uint8_t *nul = memchr(s->at, 0, (size_t)(s->end - s->at));

	s->at += nul ? nul + 1 - s->at : s->end - s->at;
}

/* Convert an attr's flags. */
static void swap_bits(struct swapper *s)
{
	uint8_t *at = s->at;
	uint64_t flags = swap_number(s, 8);

	if (s->at > at + 7) {
		flags = bit_fields_swap(ATTR_FIELDS, flags);
		memcpy(at, &flags, sizeof(flags));
	}
}

/* Convert COUNT words of 64 bits, or as many as there are. */
static void swap_u64s(struct swapper *s, uint64_t count)
{
	for (; count > 0 && s->at < s->end; count--)
		swap_number(s, 8);
}

/* Convert the fields of LAYOUT (record/types.h), or as many as there are. */
static void swap_fields(struct swapper *s, const char *layout)
{
	struct layout_field field;

	while (types_next_field(&layout, &field)) {
		switch (field.kind) {
		case '#':
		case '*': {
			uint64_t count = field.kind == '#' ? swap_number(s, 4) : UINT64_MAX;
			for (; count > 0 && s->at < s->end; count--)
				swap_fields(s, field.group);
			break;
		}
		case 'S':
			pass(s, swap_number(s, 4));
			break;
		case 'C':
		case 'c':
			pass(s, field.kind == 'C' ? 16 : 8);
			break;
		case 's':
			return;
		case 'z':
			pass_string(s);
			break;
		case 'f':
			swap_bits(s);
			break;
		case 'w':
			swap_u64s(s, UINT64_MAX);
			break;
		default:
			swap_number(s, (size_t)(field.kind - '0'));
		}
	}
}

void swap_words(uint8_t *bytes, size_t size)
{
	struct swapper s = { bytes, bytes + (size & ~(size_t)7) };

	swap_u64s(&s, size / 8);
}

/* struct perf_event_attr, linux/perf_event.h, up to config3 */
void swap_attr(uint8_t *attr, size_t size)
{
	struct swapper s = { attr, attr + size };

	swap_fields(&s, ":4 :4 :8 :8 :8 :8 :f");
	swap_fields(&s, ":4 :4 :8 :8 :8 :8 :4 :4 :8 :4 :2 :2 :4 :4 :8 :8 :8");
}

/* u32 events, u32 attr size; each: attr, u32 ids, string name, u64 id[ids] */
static void swap_event_desc(struct swapper *s)
{
	uint64_t count = swap_number(s, 4), attr_size = swap_number(s, 4);

	for (; count > 0 && s->at < s->end; count--) {
		uint8_t *attr = s->at;
		pass(s, attr_size);
		swap_attr(attr, (size_t)(s->at - attr));
		uint64_t ids = swap_number(s, 4);
		swap_fields(s, ":S");
		swap_u64s(s, ids);
	}
}

bool swap_knows_feature(uint64_t feature)
{
	return types_feature(feature).layout || feature == FEATURE_EVENT_DESC;
}

bool swap_feature(uint64_t feature, uint8_t *bytes, size_t size)
{
	struct swapper s = { bytes, bytes + size };
	const char *layout = types_feature(feature).layout;

	if (feature == FEATURE_EVENT_DESC)
		swap_event_desc(&s);
	else if (layout)
		swap_fields(&s, layout);
	return swap_knows_feature(feature);
}

/* struct sample_id, at the end of all kernel records except SAMPLE */
static void swap_trailer(struct swapper *s, uint64_t sample_type)
{
	if (sample_type & PERF_SAMPLE_TID)
		swap_fields(s, ":4 :4");
	swap_u64s(s, (uint64_t)__builtin_popcountll(sample_type & (PERF_SAMPLE_TIME |
				PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID)));
	if (sample_type & PERF_SAMPLE_CPU)
		swap_fields(s, ":4 :4");
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		swap_number(s, 8);
}

static void swap_kernel(const struct stream_events *events, struct swapper *s, const char *layout)
{
	struct cursor body = { .at = s->at, .end = s->end, .swap = true };
	const struct stream_event *event = events_trailer(events, body);
	struct swapper trailer = { s->end, s->end };

	if (event)
		trailer.at = s->end -= event->layout.trailer_size;
	swap_fields(s, layout);
	if (event)
		swap_trailer(&trailer, event->attr.sample_type);
}

/* HEADER_ATTR: an attr of the size that it states, then ids. */
static void swap_attr_record(struct swapper *s)
{
	struct cursor c = { .at = s->at, .end = s->end, .swap = true };
	size_t size = events_attr_size(c), left = (size_t)(s->end - s->at);

	swap_attr(s->at, size < left ? size : left);
	pass(s, size);
	swap_u64s(s, UINT64_MAX);
}

bool swap_record(const struct stream_events *events, uint8_t *record, size_t size)
{
	struct swapper s = { record, record + size };
	uint32_t type = (uint32_t)swap_number(&s, 4);
	uint16_t misc = (uint16_t)swap_number(&s, 2);
	struct cursor body = { .at = record + RECORD_HEADER_SIZE, .end = s.end, .swap = true };

	swap_number(&s, 2);
	const char *layout = record_type_info(type, misc).layout;
	if (type == PERF_RECORD_SAMPLE) {
		uint32_t event = events_of_sample(events, body);
		if (event != TABLE_NONE)
			sample_swap(&events->event[event], s.at, (size_t)(s.end - s.at));
	} else if (type == RECORD_ATTR) {
		swap_attr_record(&s);
	} else if (type == RECORD_FEATURE) {
		uint64_t feature = swap_number(&s, 8);
		return swap_feature(feature, s.at, (size_t)(s.end - s.at));
	} else if (layout && type < RECORD_ATTR) {
		swap_kernel(events, &s, layout);
	} else if (layout) {
		swap_fields(&s, layout);
	}
	return !record_is_resolved(type);	/* resolved on that machine */
}
