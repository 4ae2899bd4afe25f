/* SPDX-License-Identifier: Apache-2.0 */
#include "record/sample.h"
#include "relay/internal.h"

/* Decode RECORD.  False: it is damaged. */
static bool decode(const struct perf_event_header *record, const struct stream_event *event,
		   struct sample *sample)
{
	struct record view;
	uint64_t needed;

	record_frame(&view, (const uint8_t *)record, false);
	return sample_decode(event, 0, &view, sample, &needed);
}

/*
 * linux/perf_event.h: u64 size; bytes[size]; and, unless size is 0, u64 dyn_size: how many of
 * the bytes are valid.
 */
size_t trim_copy(void *to, const struct perf_event_header *record,
		 const struct stream_event *event, bool without_stack)
{
	struct sample sample;
	const struct bytes stack = decode(record, event, &sample) ? sample.user_stack
								  : (struct bytes){ 0 };
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

size_t trim_to_registers(void *to, const struct perf_event_header *record,
			 const struct stream_event *event, uint64_t registers)
{
	const uint64_t have = event->attr.sample_regs_user;
	const uint8_t *from = (const uint8_t *)record;
	struct perf_event_header header = *record;
	uint8_t *copy = to;
	struct sample sample;
	uint64_t size;

	if (!decode(record, event, &sample)) {
		memcpy(copy, from, record->size);
		return record->size;
	}
	/* u64 abi, registers; u64 size, bytes[size], and, unless size is 0, u64 dyn_size */
	size_t before = (size_t)(sample.user_regs.at - from);
	memcpy(&size, sample.user_stack.at - sizeof(size), sizeof(size));
	size_t after = (size_t)(sample.user_stack.at - from) + size + (size ? sizeof(size) : 0);
	memcpy(copy, from, before);
	size_t used = before + sample_choose_registers(copy + before, sample.user_regs, have,
						       registers);
	memcpy(copy + used, from + after, record->size - after);
	header.size = (uint16_t)(used + record->size - after);
	memcpy(copy, &header, sizeof(header));
	return header.size;
}
