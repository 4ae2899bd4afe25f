/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the next record after damage.  Nothing marks where a record starts, but all sizes are
 * multiples of 8, and each record is followed by another.
 */
#include "stream/internal.h"

#include <inttypes.h>

enum {
	CHAIN = 4,			/* plausible records in a row that prove a start */
	WINDOW = 2 * CHAIN * 65536,	/* bytes; chains start in its first half */
	MODE_MAX = 5,			/* PERF_RECORD_MISC_GUEST_USER */
};

/* Return whether the header of REC, with SIZE, may be that of a record. */
static bool is_plausible(const struct record *rec, size_t size)
{
	uint16_t mode = rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	if (!record_type_name(rec->type) || size < RECORD_HEADER_SIZE || size % 8)
		return false;
	if (rec->type < RECORD_ATTR || record_is_resolved_sample(rec->type))
		return mode <= MODE_MAX;
	return rec->misc == 0 || rec->type == RECORD_BUILD_ID;
}

/* Return whether plausible records follow each other at AT, with LEFT bytes buffered. */
static bool is_chain(const struct stream_reader *in, const uint8_t *at, size_t left)
{
	struct record rec;
	int length;

	for (length = 0; length < CHAIN && left > 0; length++) {
		if (left < RECORD_HEADER_SIZE)
			return false;
		size_t size = record_frame(&rec, at, in->swap);
		if (size > left || !is_plausible(&rec, size))
			return false;
		at += size;
		left -= size;
	}
	return length > 0;
}

bool reader_resume(struct stream_reader *in)
{
	uint64_t from = in->offset;
	bool more = true;

	while (more && !reader_stopped(in)) {
		more = reader_fill(in, WINDOW);
		const uint8_t *begin = in->buffer + in->begin;
		size_t left = in->end - in->begin, end = more ? WINDOW / 2 : left & ~(size_t)7;
		size_t at = in->offset == from ? 8 : 0;
		while (at < end && !is_chain(in, begin + at, left - at))
			at += 8;
		reader_skip(in, at < left ? at : left);
		if (at < end) {
			report_note(in->report, "%s: resumed at 0x%" PRIx64 "; skipped %" PRIu64
				    " bytes", in->file, in->offset, in->offset - from);
			return true;
		}
	}
	return false;
}
