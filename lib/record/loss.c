/* SPDX-License-Identifier: Apache-2.0 */
#include "record/loss.h"

#include <inttypes.h>

/* Return the index of the first event that takes samples; 0 if there is none. */
static uint32_t first_sampled(const struct stream_events *events)
{
	for (uint32_t i = 0; i < events->count; i++)
		if (!event_is_dummy(&events->event[i].attr))
			return i;
	return 0;
}

/*
 * A LOST record counts what all events of a ring lost, and names the event whose record came next.
 * If samples are counted on their own (PERF_FORMAT_LOST), LOST_SAMPLES records have these counts.
 * pmu-sample writes LOST records only for its dummy event then.
 */
static enum loss_kind kind_of_lost(const struct stream_events *events, bool is_dummy)
{
	if (!events->counts_lost)
		return events->tracks ? LOSS_MIXED : LOSS_SAMPLES;
	return is_dummy ? LOSS_OTHERS : LOSS_REPEATED;
}

/*
 * A LOST_SAMPLES record counts losses of one event: either what a recorder read from the event's
 * counter (PERF_FORMAT_LOST), or samples that the hardware lost.
 */
static enum loss_kind kind_of_lost_samples(const struct perf_event_attr *attr)
{
	if (event_is_dummy(attr))
		return LOSS_OTHERS;
	return event_tracks(attr) && attr->read_format & PERF_FORMAT_LOST ? LOSS_MIXED
									   : LOSS_SAMPLES;
}

bool loss_read(const struct stream_events *events, const struct record *rec, struct loss *out)
{
	const struct stream_event *named = events_trailer(events, rec->body);
	struct lost_record lost;

	if (!record_lost(rec, &lost))
		return false;
	uint32_t event = lost.id ? events_find_id(events, lost.id) : TABLE_NONE;
	if (event == TABLE_NONE && named)
		event = (uint32_t)(named - events->event);
	const struct perf_event_attr none = { 0 };
	const struct perf_event_attr *attr = event < events->count ? &events->event[event].attr
								   : &none;
	*out = (struct loss){ .count = lost.count };
	out->kind = rec->type == PERF_RECORD_LOST ? kind_of_lost(events, event_is_dummy(attr))
						  : kind_of_lost_samples(attr);
	if (event >= events->count || event_is_dummy(attr))
		event = first_sampled(events);
	out->event = event;
	return true;
}

uint64_t loss_mixed(const struct loss_counts *counts)
{
	if (counts->of[LOSS_MIXED] || counts->of[LOSS_SAMPLES])
		return counts->of[LOSS_MIXED];
	return counts->of[LOSS_REPEATED];
}

struct loss_counts loss_since(const struct loss_counts *now, const struct loss_counts *before)
{
	struct loss_counts since;

	for (size_t i = 0; i < LOSS_KINDS; i++)
		since.of[i] = now->of[i] - before->of[i];
	return since;
}

void loss_text(const struct loss_counts *counts, char text[LOSS_TEXT])
{
	uint64_t mixed = loss_mixed(counts), others = counts->of[LOSS_OTHERS];
	int length = snprintf(text, LOSS_TEXT, "%" PRIu64 " lost", counts->of[LOSS_SAMPLES]);

	if (mixed)
		length += snprintf(text + length, LOSS_TEXT - (size_t)length,
				   ", %" PRIu64 " records lost", mixed);
	if (others)
		snprintf(text + length, LOSS_TEXT - (size_t)length,
			 ", %" PRIu64 " other records lost", others);
}
