/* SPDX-License-Identifier: Apache-2.0 */
#include "record/sample.h"
#include "relay/internal.h"

/* Return the copy of the user stack in RECORD, as sample_decode() finds it. */
static struct bytes stack_of(const struct perf_event_header *record,
			     const struct stream_event *event)
{
	struct sample sample;
	struct record view;
	uint64_t needed;

	record_frame(&view, (const uint8_t *)record, false);
	return sample_decode(event, 0, &view, &sample, &needed) ? sample.user_stack
								: (struct bytes){ 0 };
}

/*
 * linux/perf_event.h: u64 size; bytes[size]; and, unless size is 0, u64 dyn_size: how many of
 * the bytes are valid.
 */
size_t trim_copy(void *to, const struct perf_event_header *record,
		 const struct stream_event *event, bool without_stack)
{
	const struct bytes stack = stack_of(record, event);
	const uint8_t *from = (const uint8_t *)record;
	uint8_t *copy = to;
	uint64_t size = 0;

	if (stack.at)
		memcpy(&size, stack.at - sizeof(size), sizeof(size));
	uint64_t used = without_stack ? 0 : (stack.size + 7) & ~7ULL;
	if (used >= size) {
		memcpy(copy, from, record->size);
		return record->size;
	}
	size_t first = (size_t)(stack.at + used - from);
	size_t skipped = (size_t)(size - used) + (used ? 0 : sizeof(uint64_t));
	struct perf_event_header header = *record;
	header.size = (uint16_t)(record->size - skipped);
	memcpy(copy, from, first);
	memcpy(copy, &header, sizeof(header));
	memcpy(copy + first - used - sizeof(used), &used, sizeof(used));
	memcpy(copy + first, from + first + skipped, header.size - first);
	return header.size;
}
