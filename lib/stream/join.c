/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each source reads up to its next record that has a time; the source with the
 * earliest time is written first.  Records without a time (such as mappings from
 * before the recording) are written right before the next record with a time.  So
 * the mappings of a later recording come after the samples of an earlier one.
 */
#include "stream/join.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "stream/internal.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
	PENDING_MAX = 32 * 1024 * 1024,	/* bytes without a time that wait; then they are written */
	ROUND = 10000,			/* records between two FINISHED_ROUND */
	IDS_MAX = 8000,			/* ids per event that fit into an ATTR record */
	APART = 1000000000,		/* ns; clocks that differ by more are different clocks */
};

struct join_input {
	struct stream_reader *in;
	const char *file;
	struct relabel relabel;
	uint32_t events, ids;		/* events and ids of IN that are mapped so far */
	uint64_t *new_id;		/* new id, by index in stream_events(in)->id */
	uint64_t *event_id;		/* new id of samples without one, by index of IN's event */
	uint32_t *joint;		/* index of the joint event, by index of IN's event */
	struct buffer pending;		/* records without a time that come before HEAD */
	struct record head;		/* next record with a time; valid until the next read */
	bool has_head;
	bool resolved;			/* a resolved stream, which is refused */
	uint64_t time;			/* time of the last HEAD, in the joint clock */
};

/* An event of the joint stream. */
struct joint {
	struct perf_event_attr attr, key;	/* KEY: see key_of() */
	const char *name;	/* owned by the reader of SOURCE */
	const struct join_input *source;	/* first source with this event */
	uint32_t number;	/* index of the event in SOURCE */
	uint64_t *id;
	uint32_t ids;
	bool written;		/* its ATTR record is written */
};

struct join {
	struct join_input *source;
	size_t sources;
	struct joint *event;
	uint32_t events;
	uint64_t last_id;
	uint64_t features;	/* bit set of the features below 64 that were written */
	bool begun;		/* the first events are written */
	uint64_t first_time, last_time;
	struct join_counts counts;
	struct output *out;
	struct report *report;
};

/* Return the fields of the attr that must be equal in events that become one. */
static struct perf_event_attr key_of(const struct perf_event_attr *a)
{
	struct perf_event_attr key;

	memset(&key, 0, sizeof(key));
	key.type = a->type;
	key.config = a->config;
	key.config1 = a->config1;
	key.config2 = a->config2;
	key.sample_period = a->sample_period;
	key.freq = a->freq;
	key.sample_type = a->sample_type;
	key.read_format = a->read_format;
	key.exclude_user = a->exclude_user;
	key.exclude_kernel = a->exclude_kernel;
	key.exclude_hv = a->exclude_hv;
	key.precise_ip = a->precise_ip;
	key.use_clockid = a->use_clockid;
	key.clockid = a->clockid;
	key.branch_sample_type = a->branch_sample_type;
	key.sample_regs_user = a->sample_regs_user;
	key.sample_stack_user = a->sample_stack_user;
	key.sample_regs_intr = a->sample_regs_intr;
	return key;
}

/* Return the index of the joint event of event NUMBER of S. */
static uint32_t joint_event(struct join *j, const struct join_input *s, uint32_t number)
{
	const struct stream_event *event = &stream_events(s->in)->event[number];
	struct joint new = {
		.attr = relabel_attr(&event->attr), .name = event->name, .source = s,
		.number = number,
	};

	new.key = key_of(&new.attr);
	for (uint32_t i = 0; i < j->events; i++)
		if (!memcmp(&j->event[i].key, &new.key, sizeof(new.key)) &&
		    !strcmp(j->event[i].name, new.name) && !j->event[i].written)
			return i;
	j->event = array_grow(j->event, j->events, sizeof(new));
	j->event[j->events] = new;
	return j->events++;
}

static uint64_t add_id(struct join *j, uint32_t event)
{
	struct joint *e = &j->event[event];

	if (e->ids == IDS_MAX)
		return e->id[0];
	e->id = array_grow(e->id, e->ids, sizeof(*e->id));
	return e->id[e->ids++] = ++j->last_id;
}

static void write_events(struct join *j)
{
	for (uint32_t i = 0; i < j->events; i++) {
		struct joint *e = &j->event[i];
		if (e->written)
			continue;
		writer_attr(j->out, &e->attr, e->id, e->ids);
		writer_event_name(j->out, e->id[0], e->name);
		e->written = true;
	}
}

/* Map the events and ids that S has defined since the last call to the joint stream. */
static void learn_events(struct join *j, struct join_input *s)
{
	const struct stream_events *events = stream_events(s->in);

	for (; s->events < events->count; s->events++) {
		s->joint = array_grow(s->joint, s->events, sizeof(*s->joint));
		s->event_id = array_grow(s->event_id, s->events, sizeof(*s->event_id));
		s->joint[s->events] = joint_event(j, s, s->events);
		s->event_id[s->events] = add_id(j, s->joint[s->events]);
	}
	for (; s->ids < events->ids; s->ids++) {
		s->new_id = array_grow(s->new_id, s->ids, sizeof(*s->new_id));
		s->new_id[s->ids] = add_id(j, s->joint[events->event_of_id[s->ids]]);
	}
	s->relabel.new_id = s->new_id;
	s->relabel.event_id = s->event_id;
	s->relabel.event_index = s->joint;
	if (j->begun)
		write_events(j);
}

/* Write a header feature that holds for the joint stream, once. */
static void pass_feature(struct join *j, const struct record *rec)
{
	const uint64_t own = 1ULL << FEATURE_VERSION | 1ULL << FEATURE_EVENT_DESC |
			     1ULL << FEATURE_SAMPLE_TIME;
	struct cursor c = rec->body;
	uint64_t feature = cursor_u64(&c);

	if (!c.failed && (feature == FEATURE_FILE || feature == FEATURE_META_INFO))
		writer_record(j->out, rec);	/* these name files and events */
	if (c.failed || feature > FEATURE_CLOCK_DATA || own >> feature & 1 ||
	    j->features >> feature & 1)
		return;
	if (feature > FEATURE_CMDLINE && feature != FEATURE_CLOCK_DATA)
		return;		/* each describes one file or machine, not all */
	if (feature == FEATURE_CLOCK_DATA && !j->begun)
		return;		/* align_clocks() chooses one */
	j->features |= 1ULL << feature;
	writer_record(j->out, rec);
}

/*
 * REC, an EVENT_UPDATE, names an event that was defined before: write the name for the joint event.
 */
static void rename_event(struct join *j, const struct join_input *s, const struct record *rec)
{
	uint32_t number = events_of_update(stream_events(s->in), rec->body);

	if (number >= s->events)
		return;
	struct joint *e = &j->event[s->joint[number]];
	const char *name = stream_events(s->in)->event[number].name;
	if (e->source == s && e->number == number && strcmp(e->name, name)) {
		e->name = name;
		writer_event_name(j->out, e->id[0], name);
	}
}

/*
 * Handle a record of perf's user space.  begin() maps the events that come before the first time.
 */
static void take_user(struct join *j, struct join_input *s, const struct record *rec)
{
	if (j->begun)
		learn_events(j, s);
	if (j->begun && rec->type == RECORD_EVENT_UPDATE)
		rename_event(j, s, rec);
	if (rec->type == RECORD_FEATURE)
		pass_feature(j, rec);
	else if (rec->type == RECORD_BUILD_ID || rec->type == RECORD_TRACING_DATA)
		writer_record(j->out, rec);
}

static void write_one(struct join *j, struct join_input *s, const struct record *rec)
{
	relabel_write(&s->relabel, rec, j->out);
	j->counts.samples += rec->type == PERF_RECORD_SAMPLE;
	if (++j->counts.records % ROUND == 0)
		writer_empty(j->out, RECORD_FINISHED_ROUND);
}

static void write_pending(struct join *j, struct join_input *s)
{
	struct record rec = { 0 };

	for (size_t at = 0; at < s->pending.size; at += record_size(&rec)) {
		record_frame(&rec, s->pending.at + at, false);
		write_one(j, s, &rec);
	}
	s->pending.size = 0;
}

static void keep_pending(struct join *j, struct join_input *s, const struct record *rec)
{
	size_t size = record_size(rec);

	buffer_add(&s->pending, record_bytes(rec), size);
	if (j->begun && s->pending.size > PENDING_MAX)
		write_pending(j, s);
}

/* Read up to the next record that has a time, or until PENDING_MAX bytes without one wait. */
static void read_head(struct join *j, struct join_input *s)
{
	struct record rec;

	s->has_head = false;
	while (!s->resolved && stream_next(s->in, &rec)) {
		if (!stream_fits(s->in, &rec))
			continue;
		if (record_is_resolved(rec.type)) {
			report_error(j->report, "'%s' is resolved already: join streams before "
				     "pmu-symbolize", s->file);
			s->resolved = true;
			return;
		}
		if (rec.type >= RECORD_ATTR) {
			take_user(j, s, &rec);
			continue;
		}
		uint64_t time = stream_time(s->in, &rec);
		if (time == 0) {
			keep_pending(j, s, &rec);
			if (s->pending.size > PENDING_MAX)
				return;
			continue;
		}
		s->head = rec;
		s->has_head = true;
		s->time = time + (uint64_t)s->relabel.shift;
		return;
	}
}

static void write_head(struct join *j, struct join_input *s)
{
	write_pending(j, s);
	if (!s->has_head)
		return;
	if (j->first_time == 0)
		j->first_time = s->time;
	j->last_time = s->time;
	write_one(j, s, &s->head);
}

/* Return how many ns later the clock of O started than that of OTHER. */
static int64_t started_later(const struct stream_origin *o, const struct stream_origin *other)
{
	return (int64_t)(o->wall_time - o->clock_time - (other->wall_time - other->clock_time));
}

/*
 * Return the origin of the stream whose clock is the joint clock, or NULL if no stream records the
 * wall clock.  It is the first such stream, unless the clock of another started earlier: otherwise
 * that stream's first times would be below 0.
 */
static const struct stream_origin *joint_clock(const struct join *j)
{
	const struct stream_origin *joint = NULL;

	for (size_t i = 0; i < j->sources; i++) {
		const struct stream_origin *o = stream_origin(j->source[i].in);
		if (o->has_clock && (!joint || started_later(o, joint) < -APART))
			joint = o;
	}
	return joint;
}

static void note_host(struct join *j, const char *file, const char *host)
{
	const char *first = stream_origin(j->source[0].in)->host;

	if (host && first && strcmp(host, first))
		report_note(j->report, "'%s' is from host %s, '%s' from %s: processes "
			    "with the same pid become one", j->source[0].file, first, file, host);
}

static void align_clocks(struct join *j)
{
	const struct stream_origin *joint = joint_clock(j);

	if (joint) {
		writer_clock(j->out, joint->clock, joint->wall_time, joint->clock_time);
		j->features |= 1ULL << FEATURE_CLOCK_DATA;
	}
	for (size_t i = 0; i < j->sources; i++) {
		struct join_input *s = &j->source[i];
		const struct stream_origin *o = stream_origin(s->in);
		note_host(j, s->file, o->host);
		if (!o->has_clock)
			continue;
		int64_t shift = started_later(o, joint);
		if (shift < -APART || shift > APART) {
			s->relabel.shift = shift;
			s->time += s->has_head ? (uint64_t)shift : 0;
			report_note(j->report, "'%s' is put in order by the wall clock: its own "
				    "clock has another origin", s->file);
		}
	}
}

static void begin(struct join *j)
{
	for (size_t i = 0; i < j->sources; i++) {
		read_head(j, &j->source[i]);
		learn_events(j, &j->source[i]);
	}
	align_clocks(j);
	j->begun = true;
	write_events(j);
}

/*
 * Return the source with the earliest time, or NULL if all have ended.  Set *NEXT to the earliest
 * time of the other sources.
 */
static struct join_input *first_source(const struct join *j, uint64_t *next)
{
	struct join_input *first = NULL;

	*next = UINT64_MAX;
	for (size_t i = 0; i < j->sources; i++) {
		struct join_input *s = &j->source[i];
		if (!s->has_head && s->pending.size == 0)
			continue;
		if (!first || s->time < first->time) {
			if (first)
				*next = first->time;
			first = s;
		} else if (s->time < *next) {
			*next = s->time;
		}
	}
	return first;
}

static void run(struct join *j, const volatile sig_atomic_t *stop)
{
	struct join_input *s;
	uint64_t next;

	while (!*stop && !output_ended(j->out) && (s = first_source(j, &next)))
		do {
			write_head(j, s);
			read_head(j, s);
		} while (s->has_head && s->time <= next && !*stop);
}

/* If all sources were whole, write the record that tells readers that nothing is missing. */
static void end(struct join *j)
{
	uint64_t span[2] = { j->first_time, j->last_time };
	bool whole = j->sources > 0;

	for (size_t i = 0; i < j->sources; i++) {
		const struct stream_origin *o = stream_origin(j->source[i].in);
		uint64_t shift = (uint64_t)j->source[i].relabel.shift;
		whole &= stream_is_whole(j->source[i].in);
		j->counts.streams += !j->source[i].resolved;
		if (o->first_time && o->first_time + shift < span[0])
			span[0] = o->first_time + shift;
		if (o->last_time && o->last_time + shift > span[1])
			span[1] = o->last_time + shift;
	}
	if (whole)
		writer_feature(j->out, FEATURE_SAMPLE_TIME, span, sizeof(span));
}

static void release(struct join *j)
{
	for (size_t i = 0; i < j->sources; i++) {
		struct join_input *s = &j->source[i];
		stream_close(s->in);
		free(s->new_id);
		free(s->event_id);
		free(s->joint);
		free(s->pending.at);
	}
	for (uint32_t i = 0; i < j->events; i++)
		free(j->event[i].id);
	free(j->event);
	free(j->source);
}

struct join_counts join_streams(const char *const *files, size_t count, const char *version,
				struct output *out, struct report *report,
				const volatile sig_atomic_t *stop)
{
	struct join j = { .out = out, .report = report };

	j.source = mem_zeroed(count, sizeof(*j.source));
	for (size_t i = 0; i < count; i++) {
		struct join_input *s = &j.source[j.sources];
		s->file = files[i];
		s->in = s->relabel.in = stream_open(files[i], stop, report);
		j.sources += s->in != NULL;
	}
	writer_header(out);
	writer_feature_text(out, FEATURE_VERSION, version);
	begin(&j);
	run(&j, stop);
	end(&j);
	release(&j);
	return j.counts;
}
