/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the reader's events and origin up to date from the records. */
#include "base/clock.h"
#include "record/ibs.h"
#include "stream/internal.h"

#include <inttypes.h>
#include <stdio.h>

static const char too_many_names[] = "it has more names of events than any recording has";

/* HEADER_ATTR: the attr, of the size that it states; then u64 ids[]. */
static void follow_attr(struct stream_reader *in, const struct record *rec)
{
	struct cursor c = rec->body;
	size_t size = events_attr_size(c);
	const void *attr = size ? cursor_bytes(&c, size) : NULL;
	const char *error;

	if (!attr)
		stream_damaged(in, rec, "ATTR record is shorter than its attr");
	else if (!events_follow(&in->events, attr, size, c, &error))
		stream_damaged(in, rec, error);
}

/* EVENT_UPDATE: u64 kind (2: name), u64 id of the event, then the new value. */
static void follow_update(struct stream_reader *in, const struct record *rec)
{
	enum { KIND_NAME = 2 };
	struct cursor c = rec->body;
	uint64_t kind = cursor_u64(&c);

	cursor_u64(&c);
	if (c.failed) {
		stream_damaged(in, rec, "EVENT_UPDATE record of less than 16 bytes");
		return;
	}
	uint32_t event = events_of_update(&in->events, rec->body);
	if (kind == KIND_NAME &&
	    !events_name(&in->events, event, (const char *)c.at, cursor_left(&c)))
		stream_damaged(in, rec, too_many_names);
}

/* u32 events, u32 attr size; each: attr, u32 ids, string name, u64 id[ids] */
static bool follow_event_desc(struct stream_reader *in, struct cursor c, bool *kept)
{
	uint32_t count = cursor_u32(&c), attr_size = cursor_u32(&c);

	for (uint32_t i = 0; i < count && !c.failed; i++) {
		cursor_bytes(&c, attr_size);
		uint32_t ids = cursor_u32(&c), size = cursor_u32(&c);
		const char *name = cursor_bytes(&c, size);
		cursor_bytes(&c, 8 * (size_t)ids);
		if (!c.failed)
			*kept &= events_name(&in->events, i, name, size);
	}
	return !c.failed;
}

/*
 * "sched:sched_switch,2,47": name, type, config.  Name the events that have no generic name.
 * False: there are too many names.
 */
static bool follow_type_info(struct stream_reader *in, const char *line)
{
	const char *comma = strchr(line, ','), *name = NULL;
	unsigned type;
	uint64_t config;

	if (!comma || comma == line || sscanf(comma, ",%u,%" SCNu64, &type, &config) != 2 ||
	    event_generic_name(type, config))
		return true;
	if (!fuel_take(&in->naming, in->events.count))
		return false;
	for (uint32_t i = 0; i < in->events.count; i++) {
		const struct perf_event_attr *attr = &in->events.event[i].attr;
		if (attr->type != type || attr->config != config)
			continue;
		if (!name)
			name = events_keep_name(&in->events, line, (size_t)(comma - line));
		if (!name)
			return false;
		events_set_name(&in->events, i, name);
	}
	return true;
}

/* simpleperf's META_INFO: strings, a key and its value in turn; "event_type_info" has lines. */
static bool follow_meta_info(struct stream_reader *in, struct cursor c, bool *kept)
{
	while (cursor_left(&c) > 0 && *c.at) {	/* up to the record's padding */
		const char *key = cursor_string(&c), *line = cursor_string(&c);
		bool is_types = !c.failed && !strcmp(key, "event_type_info");
		while (is_types && *line) {
			*kept &= follow_type_info(in, line);
			line += strcspn(line, "\n");
			line += *line == '\n';
		}
	}
	return !c.failed;
}

/* Return the time in the clock of IN that no record can have reached yet; see reader.h. */
static uint64_t latest_time(const struct stream_reader *in)
{
	const uint64_t years = 10 * 365 * 86400ULL * 1000000000;	/* a clock may be wrong */
	uint64_t now = clock_ns(CLOCK_REALTIME);

	/* If the clock here shows an earlier time than the recorder's, it proves nothing. */
	if (!in->origin.has_clock || now < in->origin.wall_time)
		return UINT64_MAX;
	uint64_t since = now - in->origin.wall_time + years;
	return in->origin.clock_time < UINT64_MAX - since ? in->origin.clock_time + since
							  : UINT64_MAX;
}

uint64_t stream_possible_time(const struct stream_reader *in, uint64_t time)
{
	/* in->latest was computed when the stream started, which may have been years ago. */
	return time <= in->latest || time <= latest_time(in) ? time : 0;
}

/* HEADER_FEATURE: u64 number, then the feature's bytes. */
static void follow_feature(struct stream_reader *in, const struct record *rec)
{
	struct cursor c = rec->body;
	uint64_t feature = cursor_u64(&c);
	bool kept = true;	/* the names of events */

	bool good = !c.failed && origin_add(&in->origin, feature, c);
	ibs_follow_feature(&in->events, feature, c);
	if (feature == FEATURE_CLOCK_DATA)
		in->latest = latest_time(in);
	if (good && feature == FEATURE_EVENT_DESC)
		good = follow_event_desc(in, c, &kept);
	else if (good && feature == FEATURE_META_INFO)
		good = follow_meta_info(in, c, &kept);
	if (!good)
		stream_damaged(in, rec, "FEATURE record is shorter than its fields");
	else if (!kept)
		stream_damaged(in, rec, too_many_names);
}

/* EVENT_ID: u64 count; count times: u64 event (index in the order of the attrs), u64 id. */
static void follow_event_id(struct stream_reader *in, const struct record *rec)
{
	struct cursor c = rec->body;
	uint64_t count = cursor_u64(&c);

	for (; count > 0 && cursor_left(&c) >= 16; count--) {
		uint64_t event = cursor_u64(&c);
		events_set_id(&in->events, cursor_u64(&c), event < UINT32_MAX ? (uint32_t)event
									      : UINT32_MAX);
	}
	if (count > 0 || c.failed)
		stream_damaged(in, rec, "EVENT_ID record is shorter than its ids");
}

/*
 * Return whether the event of REC asks for build IDs or, if that event is unknown, whether any
 * does.
 */
static bool asks_build_id(const struct stream_events *events, const struct record *rec)
{
	uint32_t event = events->ask_build_ids ? events_of_trailer(events, rec->body) : TABLE_NONE;

	return event == TABLE_NONE ? events->ask_build_ids
				   : events->event[event].attr.build_id;
}

/*
 * Some records have a build ID although their event does not ask for it: perf inject writes
 * them, and pmu-sample does on kernels without build IDs.  Such build IDs have 8, 16 or 20
 * bytes.  If the record has a device instead, the size's byte is the major number: below 16 for
 * disks (8), loop devices (7) and file systems without a device (0), above 20 for newer kinds of
 * devices (254); a minor number of 20 bits follows.  perf 6.1 stops at such a record.
 */
void reader_check_mark(const struct stream_reader *in, struct record *rec)
{
	enum { AT = 32, SIZE = 24, LEAST = 16, MOST = 20, MINOR_BITS = 20 };
	const uint8_t *id = rec->body.at + AT;
	uint32_t minor;

	if (rec->type != PERF_RECORD_MMAP2 || !(rec->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) ||
	    in->swap || cursor_left(&rec->body) < AT + SIZE ||
	    (id[0] >= LEAST && id[0] <= MOST))
		return;
	memcpy(&minor, id + 4, sizeof(minor));
	if (minor >> MINOR_BITS || asks_build_id(&in->events, rec))
		return;
	rec->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
	/* also in the record's bytes, which are decoded or written later */
	memcpy((uint8_t *)rec->body.at - sizeof(uint32_t), &rec->misc, sizeof(rec->misc));
}

size_t reader_cut(const struct stream_reader *in, struct record *rec, uint8_t *at, size_t size)
{
	if (!record_has_stale_bytes(rec->type))
		return size;
	rec->body.swap = in->swap;
	size_t exact = events_record_size(&in->events, rec);
	uint16_t field = in->swap ? __builtin_bswap16((uint16_t)exact) : (uint16_t)exact;
	memcpy(at + RECORD_HEADER_SIZE - sizeof(field), &field, sizeof(field));
	rec->body.end = at + exact;
	rec->body.swap = false;
	return exact;
}

void reader_follow(struct stream_reader *in, const struct record *rec)
{
	switch (rec->type) {
	case RECORD_ATTR:
		if (!rec->made)		/* a made record: its event is known already */
			follow_attr(in, rec);
		break;
	case RECORD_EVENT_UPDATE:
		follow_update(in, rec);
		break;
	case RECORD_FEATURE:
		follow_feature(in, rec);
		break;
	case RECORD_EVENT_ID:
		follow_event_id(in, rec);
		break;
	}
}
