/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/collect.h"

#include <inttypes.h>
#include <stdlib.h>

void collect_init(struct collect *c, struct report *report)
{
	static const struct resolver_options no_symbols;

	*c = (struct collect){ .report = report };
	c->profile.resolved = &c->tables;
	c->resolver = resolver_new(&no_symbols, &c->tables, report);
	c->frame = mem_zeroed(RESOLVED_FRAMES_MAX, sizeof(*c->frame));
}

static void take_sample(struct collect *c, struct stream_reader *in, const struct record *rec)
{
	struct resolved_sample resolved;
	struct sample sample;

	if (c->is_resolved) {
		stream_damaged(in, rec, "raw SAMPLE record in a resolved stream");
		return;
	}
	c->is_raw = true;
	if (!stream_sample(in, rec, &sample))
		return;
	resolver_sample(c->resolver, in, &sample, &resolved);
	profile_add(&c->profile, &resolved);
}

/* A record that a filter before us has added. */
static void take_resolved(struct collect *c, struct stream_reader *in, const struct record *rec)
{
	struct resolved_sample sample;
	struct resolved_tool tool;
	const char *why = "TOOL record is shorter than its fields";
	bool good;

	if (c->is_raw) {
		stream_damaged(in, rec, "record of a resolved stream in a raw one");
		return;
	}
	c->is_resolved = true;
	switch (rec->type) {
	case RECORD_RESOLVED_SAMPLE:
		good = resolved_read_sample(&c->tables, rec, stream_events(in)->count, c->frame,
					    &sample, &why);
		if (good)
			profile_add(&c->profile, &sample);
		break;
	case RECORD_TOOL:
		good = resolved_read_tool(rec, &tool);
		if (good)
			profile_comment(&c->profile, "filter: %s %s%s%s", tool.name, tool.version,
					*tool.arguments ? " " : "", tool.arguments);
		break;
	case RECORD_END:
		why = "END record tells of other counts than have come: some records are missing";
		good = c->has_end = resolved_read_end(&c->tables, rec);
		break;
	default:
		good = resolved_read_definition(&c->tables, rec, &why);
	}
	if (!good)
		stream_damaged(in, rec, why);
}

static void take_lost(struct collect *c, struct stream_reader *in, const struct record *rec)
{
	struct lost_record lost;

	if (record_lost(rec, &lost))
		c->lost += lost.count;
	else
		stream_damaged(in, rec, "record with fields that do not fit it");
}

/* How long an event has counted, as its recorder says at the end. */
static void take_read(struct collect *c, struct stream_reader *in, const struct record *rec)
{
	const struct stream_events *events = stream_events(in);
	struct read_record read;

	if (events->count == 0 ||
	    !record_read(rec, events->event[0].attr.read_format, &read))
		return;
	uint32_t event = events_find_id(events, read.id);
	/* What the kernel itself counts needs no counter. */
	if (event != TABLE_NONE && events->event[event].attr.type != PERF_TYPE_SOFTWARE)
		profile_ran(&c->profile, event, read.enabled, read.running);
}

void collect_stream(struct collect *c, struct stream_reader *in)
{
	struct record rec;

	while (stream_next(in, &rec)) {
		if (rec.type == PERF_RECORD_SAMPLE) {
			take_sample(c, in, &rec);
			continue;
		}
		if (rec.type >= RECORD_STRING && rec.type <= RECORD_END) {
			take_resolved(c, in, &rec);
			continue;
		}
		if (rec.type == PERF_RECORD_LOST || rec.type == PERF_RECORD_LOST_SAMPLES)
			take_lost(c, in, &rec);
		else if (rec.type == PERF_RECORD_THROTTLE)
			c->throttled++;
		else if (rec.type == PERF_RECORD_READ)
			take_read(c, in, &rec);
		if (!c->is_resolved)
			resolver_follow(c->resolver, in, &rec);
		profile_time(&c->profile, stream_time(in, &rec));
	}
	if (c->is_resolved && !c->has_end && stream_is_whole(in))
		report_error(c->report, "the resolved stream has no END record: it was cut short, "
			     "or the filter before found damage");
}

static void comment_scale(struct collect *c, const struct stream_reader *in, uint32_t event)
{
	double scale = profile_scale(&c->profile, event);

	if (scale > 1)
		profile_comment(&c->profile, "multiplexed: %s counted %.1f %% of the time; its "
				"values are scaled by %.3f", stream_events(in)->event[event].name,
				100 / scale, scale);
}

void collect_comment(struct collect *c, const struct stream_reader *in)
{
	const struct stream_origin *o = stream_origin(in);
	struct profile *p = &c->profile;

	if (o->command)
		profile_comment(p, "command: %s", o->command);
	if (o->host)
		profile_comment(p, "host: %s%s%s%s%s", o->host, o->arch ? " " : "",
				o->arch ? o->arch : "", o->kernel ? " Linux " : "",
				o->kernel ? o->kernel : "");
	if (o->cpu)
		profile_comment(p, "cpu: %s", o->cpu);
	if (o->version)
		profile_comment(p, "recorder: %s", o->version);
	if (c->lost)
		profile_comment(p, "lost: %" PRIu64 " records never reached the stream", c->lost);
	if (c->throttled)
		profile_comment(p, "throttled: %" PRIu64 " times an event was stopped for a "
				"moment, since it came too fast", c->throttled);
	for (uint32_t i = 0; i < stream_events(in)->count; i++)
		comment_scale(c, in, i);
	/* The recorder knows better than the first and last record when it began and ended. */
	profile_time(p, o->first_time);
	profile_time(p, o->last_time);
}

void collect_release(struct collect *c)
{
	profile_release(&c->profile);
	resolver_free(c->resolver);
	resolved_release(&c->tables);
	free(c->frame);
}
