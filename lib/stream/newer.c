/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a newer recorder or filter wrote, and this version does not know: types of records, header
 * features, and fields of attrs.  It is counted, and reported once at the end of the stream.
 */
#include "record/types.h"
#include "stream/internal.h"

#include <inttypes.h>

enum { SAMPLE_FLAGS = 25 };	/* PERF_SAMPLE_*, linux/perf_event.h, that sample_decode() knows */

/*
 * simpleperf has features from FEATURE_FILE to 134, INIT_MAP (record_file_format.h).  perf ends the
 * features of a pipe with one more number and no data.
 */
static bool is_new_feature(struct cursor c)
{
	uint64_t feature = cursor_u64(&c);

	return cursor_left(&c) > 0 && !types_feature(feature).name &&
	       (feature < FEATURE_FILE || feature > 134);
}

/* Return whether an attr, at the start of C, has values where our version of the struct ends. */
static bool has_new_fields(struct cursor c)
{
	struct perf_event_attr known = { 0 };
	size_t size = events_attr_size(c), own = sizeof(known);
	const uint8_t *attr = size ? cursor_bytes(&c, size) : NULL;

	if (!attr)
		return false;
	memcpy(&known, attr, size < own ? size : own);
	for (size_t i = own; i < size; i++)
		if (attr[i])
			return true;
	return known.sample_type >> SAMPLE_FLAGS;
}

void reader_count_newer(struct stream_reader *in, const struct record *rec)
{
	if (rec->type == RECORD_ATTR)
		in->newer.attrs += has_new_fields(rec->body);
	else if (rec->type == RECORD_FEATURE)
		in->newer.features += is_new_feature(rec->body);
	else
		in->newer.records += !record_type_name(rec->type);
}

void stream_leave_newer(struct stream_reader *in)
{
	if (in)
		in->newer.is_left = true;
}

void reader_note_newer(struct stream_reader *in)
{
	const struct stream_newer *n = &in->newer;

	if (!n->is_left && (n->records || n->features || n->attrs))
		report_note(in->report, "%s: this version does not know all that a newer one "
			    "wrote, and reads the rest; unknown: records %" PRIu64 ", features %"
			    PRIu64 ", events with new fields %" PRIu64, in->file, n->records,
			    n->features, n->attrs);
}
