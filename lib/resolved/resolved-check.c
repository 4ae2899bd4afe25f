/* SPDX-License-Identifier: Apache-2.0 */
#include "resolved/resolved-check.h"
#include "base/arena.h"

#include <stdlib.h>

void resolved_check_begin(struct resolved_check *c)
{
	c->reader.tables = &c->tables;
	c->frame = mem_zeroed(RESOLVED_FRAMES_MAX, sizeof(*c->frame));
}

/* Read REC, a record of a resolved stream.  Return false, and set *WHY, if it is damaged. */
static bool read_resolved(struct resolved_check *c, const struct stream_reader *in,
			  const struct record *rec, const char **why)
{
	struct resolved_sample sample;
	struct resolved_tool tool;

	if (record_is_resolved_sample(rec->type))
		return resolved_read_sample(&c->reader, rec, stream_events(in)->count, c->frame,
					    &sample, why);
	if (rec->type == RECORD_TOOL)
		return resolved_read_tool(rec, &tool, why);
	if (rec->type != RECORD_END)
		return resolved_read_definition(&c->reader, rec, why);
	c->has_end = resolved_read_end(&c->reader, rec, why);
	return c->has_end;
}

void resolved_check_record(struct resolved_check *c, struct stream_reader *in,
			   const struct record *rec)
{
	bool is_resolved = record_is_resolved(rec->type);
	const char *why = NULL;

	if (!is_resolved && rec->type != PERF_RECORD_SAMPLE)
		return;
	c->is_raw |= !is_resolved && !c->is_resolved;
	c->is_resolved |= is_resolved && !c->is_raw;
	if (is_resolved && c->is_raw)
		why = RESOLVED_IN_RAW;
	else if (!is_resolved && c->is_resolved)
		why = RESOLVED_HAS_RAW;
	else if (is_resolved)
		read_resolved(c, in, rec, &why);
	if (why)
		stream_damaged(in, rec, why);
	if (c->reader.restarted) {	/* no definition outlives its sample here */
		resolved_forget(&c->reader, &c->past, NULL, 0);
		resolved_release(&c->past);
	}
}

void resolved_check_end(const struct resolved_check *c, const struct stream_reader *in,
			struct report *report)
{
	if (c->is_resolved && !c->has_end && stream_is_whole(in))
		report_error(report, "%s", RESOLVED_NO_END);
}

void resolved_check_release(struct resolved_check *c)
{
	resolved_reader_release(&c->reader);
	resolved_release(&c->tables);
	free(c->frame);
}
