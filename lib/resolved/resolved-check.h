/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolved-check - finds what is damaged in a resolved stream: ids that were never defined, or were
 * left out, counts that are wrong, records of a raw stream.
 */
#pragma once
#include "resolved/resolved.h"

/* Zero-initialised, then resolved_check_begin(). */
struct resolved_check {
	/* private: */
	struct resolved tables, past;
	struct resolved_reader reader;
	uint32_t *frame;		/* of a sample; room for RESOLVED_FRAMES_MAX */
	bool is_raw, is_resolved;	/* so far; false: its records do not show it yet */
	bool has_end;			/* an END record came, with right counts */
};

void resolved_check_begin(struct resolved_check *c);

/* Check REC, which was just read from IN, and report what is damaged. */
void resolved_check_record(struct resolved_check *c, struct stream_reader *in,
			   const struct record *rec);

/* The last record of IN was read. */
void resolved_check_end(const struct resolved_check *c, const struct stream_reader *in,
			struct report *report);

void resolved_check_release(struct resolved_check *c);
