/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/transform.h"
#include "base/arena.h"

#include <stdlib.h>

struct transform {
	const struct stream_events *events;
	struct unwind *unwind;
};

struct transform *transform_new(const struct stream_events *events,
				const struct transform_options *options, struct report *report)
{
	const struct unwind_options how = { .keep_fields = !options->registers,
					    .registers = options->registers,
					    .judges = options->judges,
					    .budget = options->budget };
	struct transform *t = mem_zeroed(1, sizeof(*t));

	t->events = events;
	t->unwind = unwind_new(&how, NULL, report);
	return t;
}

void transform_follow(struct transform *t, const struct perf_event_header *record)
{
	struct record rec;

	record_frame(&rec, (const uint8_t *)record, false);
	unwind_follow(t->unwind, &rec);
}

size_t transform_sample(struct transform *t, const struct perf_event_header *record,
			uint32_t index, uint8_t *out)
{
	const struct stream_event *event = &t->events->event[index];
	struct sample sample;
	struct record rec;
	uint64_t needed;

	record_frame(&rec, (const uint8_t *)record, false);
	return sample_decode(event, index, &rec, &sample, &needed)
		? unwind_sample(t->unwind, event, &rec, &sample, out) : 0;
}

bool transform_is_spared(const struct transform *t)
{
	return unwind_is_spared(t->unwind);
}

void transform_end(struct transform *t)
{
	unwind_report(t->unwind);
	unwind_free(t->unwind);
	free(t);
}

void transform_attr(struct perf_event_attr *attr, uint64_t registers, struct report *report)
{
	const struct unwind_options how = { .keep_fields = !registers, .registers = registers };
	struct unwind *u = unwind_new(&how, NULL, report);

	unwind_attr(u, (uint8_t *)attr, sizeof(*attr));
	unwind_free(u);
}
