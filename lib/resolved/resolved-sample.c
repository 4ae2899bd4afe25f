/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads samples: those that name a chain of frames, and those that have their frames. */
#include "resolved/resolved.h"
#include "record/label-payload.h"
#include "resolved/internal.h"
#include "stream/writer.h"

#include <stdlib.h>

const uint64_t resolved_value_bits[VALUES] = {
	[VALUE_ADDR] = PERF_SAMPLE_ADDR,
	[VALUE_WEIGHT] = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT,
	[VALUE_DATA_SRC] = PERF_SAMPLE_DATA_SRC,
	[VALUE_TRANSACTION] = PERF_SAMPLE_TRANSACTION,
	[VALUE_PHYS_ADDR] = PERF_SAMPLE_PHYS_ADDR,
	[VALUE_CGROUP] = PERF_SAMPLE_CGROUP,
	[VALUE_DATA_PAGE_SIZE] = PERF_SAMPLE_DATA_PAGE_SIZE,
	[VALUE_CODE_PAGE_SIZE] = PERF_SAMPLE_CODE_PAGE_SIZE,
};

/* The fields that every CHAIN_SAMPLE has. */
struct chain_sample {
	uint16_t event;
	uint16_t has;		/* bits by enum resolved_value, and those below */
	uint32_t chain, pid, tid, cpu, comm;
	uint64_t time, period;
};

enum {
	HAS_WEIGHT_STRUCT = 1 << 8,	/* the weight is a WEIGHT_STRUCT */
	HAS_RAW = 1 << 9,
	HAS_LABELS = 1 << 10,
	HAS_DATUM = 1 << 11,
};

_Static_assert(sizeof(struct chain_sample) == 40, "it has the layout of the record");
_Static_assert(EVENTS_MAX <= UINT16_MAX, "an event's number fits");

/* In RESOLVED_SAMPLE, the bits of the field HAS above those of sample_type. */
enum { OLD_END_SHIFT = 56, OLD_END_MASK = 15 };	/* how the program's stack ends */
#define OLD_HAS_DATUM (1ULL << 62)
#define OLD_HAS_LABELS (1ULL << 63)

static uint16_t parts_of(const struct resolved_sample *s, bool raw)
{
	unsigned has = (raw ? HAS_RAW : 0) | (s->labels ? HAS_LABELS : 0) |
		       (s->datum ? HAS_DATUM : 0);

	if (s->has & RESOLVED_VALUE_BITS)
		for (int i = 0; i < VALUES; i++)
			has |= s->has & resolved_value_bits[i] ? 1U << i : 0;
	if (s->has & PERF_SAMPLE_WEIGHT_STRUCT)
		has |= HAS_WEIGHT_STRUCT;
	return (uint16_t)has;
}

/* Write what most samples do not have. */
static void write_parts(struct writer *rec, const struct resolved_sample *s, unsigned has)
{
	for (int i = 0; i < VALUES; i++)
		if (has & 1U << i)
			writer_u64(rec, s->value[i]);
	if (has & HAS_LABELS) {
		writer_u32(rec, s->labels - 1);
		writer_u32(rec, s->label_status | (uint32_t)s->label_flags << 8);
	}
	if (has & HAS_DATUM) {
		writer_u32(rec, s->datum - 1);
		writer_u32(rec, s->member);
		writer_u64(rec, s->data_offset);
	}
	if (has & HAS_RAW) {
		writer_u32(rec, (uint32_t)s->raw.size);
		writer_bytes(rec, s->raw.at, s->raw.size);
	}
}

void resolved_write_sample(struct resolved_writer *w, struct resolved *r,
			   const struct resolved_sample *s)
{
	enum { OTHERS = 256 };	/* bytes for all but RAW */
	bool raw = s->has & PERF_SAMPLE_RAW && s->raw.size + OTHERS < RECORD_MAX_SIZE;
	const struct chain_sample fields = {
		.event = (uint16_t)s->event, .has = parts_of(s, raw), .chain = s->chain - 1,
		.pid = (uint32_t)s->pid, .tid = (uint32_t)s->tid, .cpu = s->cpu, .comm = s->comm,
		.time = s->time, .period = s->period,
	};
	struct writer rec;

	writer_begin(&rec, w->out, RECORD_CHAIN_SAMPLE, s->misc);
	writer_bytes(&rec, &fields, sizeof(fields));
	if (fields.has)
		write_parts(&rec, s, fields.has);
	writer_end(&rec);
	r->samples++;
}

static bool read_values(struct cursor *c, struct resolved_sample *s)
{
	for (int i = 0; i < VALUES; i++)
		if (s->has & resolved_value_bits[i])
			s->value[i] = cursor_u64(c);
	return !c->failed;
}

/* u32 size, that many bytes */
static bool read_raw(struct cursor *c, struct resolved_sample *s, const char **why)
{
	s->raw.size = cursor_u32(c);
	s->raw.at = cursor_bytes(c, s->raw.size);
	return s->raw.at || refuse(why, "sample is shorter than its raw fields");
}

/* u32 id of a set of labels, u8 status, u8 flags, u16 0 */
static bool read_labels(const struct resolved_reader *r, struct cursor *c,
			struct resolved_sample *s, const char **why)
{
	uint32_t id = cursor_u32(c);

	s->label_status = cursor_u8(c);
	s->label_flags = cursor_u8(c);
	cursor_u16(c);
	if (c->failed || s->label_status >= LABEL_STATUSES)
		return refuse(why, "sample is shorter than its labels");
	if (id >= r->label_sets)
		return refuse(why, "sample with undefined labels");
	s->labels = 1 + id;
	return true;
}

/* u32 id of a datum, u32 string of a member + 1, u64 offset in it */
static bool read_datum(const struct resolved_reader *r, struct cursor *c,
		       struct resolved_sample *s, const char **why)
{
	uint32_t id = cursor_u32(c);

	s->member = cursor_u32(c);
	s->data_offset = cursor_u64(c);
	if (c->failed || id >= r->data || s->member > r->strings)
		return refuse(why, "sample of undefined data");
	s->datum = 1 + id;
	return true;
}

static bool has_event_and_name(const struct resolved_reader *r, const struct resolved_sample *s,
			       uint32_t events, const char **why)
{
	return (s->event < events && (!s->comm || s->comm < r->strings)) ||
	       refuse(why, "sample of an undefined event or name");
}

/* Read what most samples do not have. */
static bool read_parts(const struct resolved_reader *r, struct cursor c, unsigned has,
		       struct resolved_sample *s, const char **why)
{
	for (int i = 0; i < VALUES; i++)
		s->has |= has & 1U << i ? resolved_value_bits[i] : 0;
	if (has & 1U << VALUE_WEIGHT)
		s->has &= ~(uint64_t)(has & HAS_WEIGHT_STRUCT ? PERF_SAMPLE_WEIGHT
							      : PERF_SAMPLE_WEIGHT_STRUCT);
	if (!read_values(&c, s))
		return refuse(why, "sample is shorter than its values");
	if ((has & HAS_LABELS && !read_labels(r, &c, s, why)) ||
	    (has & HAS_DATUM && !read_datum(r, &c, s, why)))
		return false;
	s->has |= has & HAS_RAW ? (uint64_t)PERF_SAMPLE_RAW : 0;
	return !(has & HAS_RAW) || read_raw(&c, s, why);
}

uint32_t resolved_prefetch(const struct resolved_reader *r, const struct record *rec)
{
	size_t at = offsetof(struct chain_sample, chain);
	uint32_t chain = UINT32_MAX;

	if (cursor_left(&rec->body) >= sizeof(struct chain_sample))
		chain = load_u32(rec->body.at + at);
	if (chain < r->chains.count)
		__builtin_prefetch(&r->chains.chain[chain]);
	return chain;
}

static bool read_chain_sample(const struct resolved_reader *r, const struct record *rec,
			      uint32_t events, struct resolved_sample *s, const char **why)
{
	struct cursor c = rec->body;
	struct chain_sample fields;
	const void *bytes = cursor_bytes(&c, sizeof(fields));

	if (!bytes)
		return refuse(why, "sample is shorter than its fields");
	memcpy(&fields, bytes, sizeof(fields));
	if (fields.chain >= r->chains.count)
		return refuse(why, "sample of an undefined chain");
	const struct resolved_chain *chain = &r->chains.chain[fields.chain];
	*s = (struct resolved_sample){
		.event = fields.event, .misc = rec->misc, .pid = (pid_t)fields.pid,
		.tid = (pid_t)fields.tid, .cpu = fields.cpu, .comm = fields.comm,
		.time = fields.time, .period = fields.period, .end = chain->end,
		.chain = 1 + fields.chain, .frames = chain->frames,
		.frame = r->chains.frame + chain->first };
	return has_event_and_name(r, s, events, why) &&
	       (!fields.has || read_parts(r, c, fields.has, s, why));
}

/* Read the frames, and what follows them, of a RESOLVED_SAMPLE.  HAS is its field. */
static bool read_old_rest(const struct resolved_reader *r, struct cursor *c, uint64_t has,
			  uint32_t *frame, struct resolved_sample *s, const char **why)
{
	for (uint32_t i = 0; i < s->frames; i++) {
		frame[i] = cursor_u32(c);
		if (frame[i] >= r->frames)
			return refuse(why, "sample with an undefined frame");
	}
	s->frame = frame;
	return (!(has & PERF_SAMPLE_RAW) || read_raw(c, s, why)) &&
	       (!(has & OLD_HAS_LABELS) || read_labels(r, c, s, why)) &&
	       (!(has & OLD_HAS_DATUM) || read_datum(r, c, s, why));
}

static bool read_old_sample(const struct resolved_reader *r, const struct record *rec,
			    uint32_t events, uint32_t *frame, struct resolved_sample *s,
			    const char **why)
{
	struct cursor c = rec->body;

	*s = (struct resolved_sample){ .event = cursor_u32(&c), .misc = rec->misc };
	s->pid = (pid_t)cursor_u32(&c);
	s->tid = (pid_t)cursor_u32(&c);
	s->cpu = cursor_u32(&c);
	s->time = cursor_u64(&c);
	s->period = cursor_u64(&c);
	uint64_t has = cursor_u64(&c), end = has >> OLD_END_SHIFT & OLD_END_MASK;
	s->has = has & ~((uint64_t)OLD_END_MASK << OLD_END_SHIFT | OLD_HAS_LABELS |
			 OLD_HAS_DATUM);
	s->end = end < STACK_ENDS ? (enum stack_end)end : STACK_NONE;
	s->comm = cursor_u32(&c);
	s->frames = cursor_u32(&c);
	if (!read_values(&c, s) || s->frames == 0 || s->frames > RESOLVED_FRAMES_MAX ||
	    s->frames > cursor_left(&c) / sizeof(*frame))
		return refuse(why, "sample is shorter than its fields");
	return has_event_and_name(r, s, events, why) &&
	       read_old_rest(r, &c, has, frame, s, why);
}

bool resolved_read_sample(const struct resolved_reader *r, const struct record *rec,
			  uint32_t events, uint32_t *frame, struct resolved_sample *s,
			  const char **why)
{
	bool good = rec->type == RECORD_CHAIN_SAMPLE
		? read_chain_sample(r, rec, events, s, why)
		: read_old_sample(r, rec, events, frame, s, why);

	r->tables->samples += good;
	return good;
}

const char *resolved_comm(const struct resolved_reader *r, const struct resolved_sample *s)
{
	return s->comm ? r->tables->string[r->string[s->comm]] : "";
}

void resolved_translate(const struct resolved_reader *r, struct resolved_sample *s)
{
	s->comm = s->comm ? r->string[s->comm] : 0;
	s->labels = s->labels ? 1 + r->label_set[s->labels - 1] : 0;
	s->datum = s->datum ? 1 + r->datum[s->datum - 1] : 0;
	s->member = s->member ? 1 + r->string[s->member - 1] : 0;
}

void resolved_translate_frames(const struct resolved_reader *r, struct resolved_sample *s,
			       uint32_t *frame)
{
	for (uint32_t i = 0; i < s->frames; i++)
		frame[i] = r->frame[s->frame[i]];
	s->frame = frame;
}
