/* SPDX-License-Identifier: Apache-2.0 */
#include "access/access-stream.h"
#include "linux/read.h"
#include "linux/sysfs.h"
#include "locate/locate.h"
#include "names/object-name.h"
#include "record/data-source.h"
#include "record/loss.h"
#include "record/words.h"

#include <linux/hw_breakpoint.h>
#include <stdlib.h>

struct access_stream {
	struct report *report;
	const struct selection *selection;
	struct stream_reader *in;
	struct resolved tables, past;
	struct resolved_reader reader;
	struct loss_counts lost;
	struct access_facts facts;
	bool *is_used;		/* by event: it has samples with a data address */
	uint32_t used;		/* elements of IS_USED */
	uint32_t *frame;	/* room for the frames of a sample */
	bool has_end;		/* the END record came, with the right counts */
	char file[128];		/* the file of the variable that was accessed */
	char nameless[128];	/* what the code is called that accessed the data, without a name */
};

struct access_stream *access_stream_new(struct opened *o, const struct selection *selection,
					struct report *report)
{
	struct stream_reader *in = opened_stream(o);

	if (!in)
		return NULL;
	struct access_stream *s = mem_zeroed(1, sizeof(*s));
	*s = (struct access_stream){ .report = report, .selection = selection, .in = in,
				     .facts.is_complete = true };
	s->reader.tables = &s->tables;
	s->frame = mem_zeroed(RESOLVED_FRAMES_MAX, sizeof(*s->frame));
	return s;
}

static enum access_kind kind_of(const struct perf_event_attr *attr,
				const struct access_sample *access)
{
	enum data_source_op op = access->has_source ? data_source_op(access->source)
						    : DATA_SOURCE_UNKNOWN;

	if (attr->type == PERF_TYPE_BREAKPOINT)
		return attr->bp_type == HW_BREAKPOINT_W ? ACCESS_STORE
		       : attr->bp_type == HW_BREAKPOINT_R ? ACCESS_LOAD : ACCESS_UNKNOWN;
	return op == DATA_SOURCE_LOAD ? ACCESS_LOAD
	       : op == DATA_SOURCE_STORE ? ACCESS_STORE : ACCESS_UNKNOWN;
}

/* Return the function in which SAMPLE was taken; the name of the object, if it has no name. */
static const char *function_of(struct access_stream *s, const struct resolved_sample *sample)
{
	const struct resolved *r = &s->tables;
	const struct resolved_frame *leaf = &r->frame[sample->frame[0]];
	char object[sizeof(s->nameless) - 2];

	if (leaf->lines) {
		const char *name = r->string[r->function[leaf->line[0].function].name];
		if (*name)
			return name;
	}
	object_name(r->string[r->object[leaf->object].path], false, object, sizeof(object));
	snprintf(s->nameless, sizeof(s->nameless), "[%s]", object);
	return s->nameless;
}

/* Set what is at the data address of SAMPLE. */
static void name_data(struct access_stream *s, const struct resolved_sample *sample,
		      struct access_sample *out)
{
	const struct resolved *r = &s->tables;

	out->object = WORD_UNKNOWN;
	out->file = "";
	if (!sample->datum)
		return;
	const struct resolved_datum *d = &r->datum[sample->datum - 1];
	const char *name = r->string[r->function[d->function].name];
	out->object = *name ? name : WORD_UNKNOWN;
	out->is_variable = d->kind == DATA_VARIABLE || d->kind == DATA_KERNEL_VARIABLE;
	out->member = sample->member ? r->string[sample->member - 1] : NULL;
	out->has_offset = resolved_has_offset(d->kind);
	out->offset = out->has_offset ? sample->data_offset : 0;
	out->in_kernel |= d->kind == DATA_KERNEL || d->kind == DATA_KERNEL_VARIABLE;
	if (!out->has_offset || d->kind == DATA_FILE)
		return;
	object_name(r->string[r->object[d->object].path], false, s->file, sizeof(s->file));
	out->file = s->file;
}

/* A sample of EVENT is used. */
static void note_event(struct access_stream *s, uint32_t event)
{
	const struct stream_event *e = &stream_events(s->in)->event[event];

	for (; s->used <= event; s->used++) {
		s->is_used = array_grow(s->is_used, s->used, sizeof(*s->is_used));
		s->is_used[s->used] = false;
	}
	if (s->is_used[event])
		return;
	s->is_used[event] = true;
	if (s->facts.events++ == 0)
		s->facts.event = e->name;
	s->facts.is_complete &= !e->attr.freq && e->attr.sample_period == 1;
}

static void note(struct access_stream *s, const struct resolved_sample *sample,
		 const struct access_sample *access)
{
	s->facts.samples++;
	s->facts.has_sources |= access->has_source;
	s->facts.has_weights |= access->has_weight;
	s->facts.has_physical |= access->physical != 0;
	note_event(s, sample->event);
}

/* Set *OUT to SAMPLE.  Return false if it has no data address. */
static bool make_access(struct access_stream *s, const struct resolved_sample *sample,
			struct access_sample *out)
{
	const struct perf_event_attr *attr = &stream_events(s->in)->event[sample->event].attr;
	uint64_t weight = sample->value[VALUE_WEIGHT];
	bool is_struct = sample->has & PERF_SAMPLE_WEIGHT_STRUCT;

	*out = (struct access_sample){
		.time = sample->time, .period = sample->period, .pid = sample->pid,
		.tid = sample->tid, .address = sample->value[VALUE_ADDR],
		.physical = sample->value[VALUE_PHYS_ADDR],
		.has_source = data_source_is_known(sample->value[VALUE_DATA_SRC]),
		.source = sample->value[VALUE_DATA_SRC],
		.weight = is_struct ? (uint32_t)weight : weight,
		.thread = sample->comm ? s->tables.string[sample->comm] : "",
	};
	out->in_kernel = out->address >> 63;
	out->has_weight = sample->has & PERF_SAMPLE_WEIGHT_TYPE && out->weight;
	out->kind = kind_of(attr, out);
	if (!data_source_has_address(attr, out->address, sample->value[VALUE_DATA_SRC]))
		return false;
	out->function = function_of(s, sample);
	name_data(s, sample, out);
	return true;
}

/* Read REC, a sample.  Return whether *OUT is a selected sample with a data address. */
static bool take_sample(struct access_stream *s, const struct record *rec,
			struct access_sample *out)
{
	const struct stream_events *events = stream_events(s->in);
	struct resolved_sample sample;
	const char *why;

	if (!resolved_read_sample(&s->reader, rec, events->count, s->frame, &sample, &why)) {
		stream_damaged(s->in, rec, why);
		return false;
	}
	sample.time = stream_possible_time(s->in, sample.time);
	const struct selection_values values = {
		sample.pid, sample.tid, sample.cpu, sample.time,
		events->event[sample.event].name, resolved_comm(&s->reader, &sample) };
	if (!selection_contains(s->selection, &values))
		return false;
	resolved_translate(&s->reader, &sample);
	sample.frames = 1;	/* only the leaf is needed */
	resolved_translate_frames(&s->reader, &sample, s->frame);
	if (!make_access(s, &sample, out)) {
		s->facts.without++;
		return false;
	}
	note(s, &sample, out);
	return true;
}

static void take_lost(struct access_stream *s, const struct record *rec)
{
	struct loss loss;

	if (loss_read(stream_events(s->in), rec, &loss))
		s->lost.of[loss.kind] += loss.count;
	else
		stream_damaged(s->in, rec, "record with fields that do not fit into it");
	s->facts.lost = s->lost.of[LOSS_SAMPLES] + loss_mixed(&s->lost);
}

static void take_other(struct access_stream *s, const struct record *rec)
{
	const char *why;
	bool good = true;

	if (rec->type == PERF_RECORD_LOST || rec->type == PERF_RECORD_LOST_SAMPLES)
		take_lost(s, rec);
	else if (rec->type == RECORD_END)
		good = s->has_end = resolved_read_end(&s->reader, rec, &why);
	else if (rec->type == PERF_RECORD_SAMPLE)
		stream_damaged(s->in, rec, RESOLVED_HAS_RAW);
	else if (record_is_resolved(rec->type) && rec->type != RECORD_TOOL)
		good = resolved_read_definition(&s->reader, rec, &why);
	if (!good)
		stream_damaged(s->in, rec, why);
	/* no id outlives its sample, so what the stream forgets can be forgotten at once */
	if (s->reader.restarted) {
		resolved_forget(&s->reader, &s->past, NULL, 0);
		resolved_release(&s->past);
	}
}

bool access_stream_next(struct access_stream *s, struct access_sample *out)
{
	struct record rec;

	while (stream_next(s->in, &rec))
		if (!record_is_resolved_sample(rec.type))
			take_other(s, &rec);
		else if (take_sample(s, &rec, out))
			return true;
	if (!s->has_end && stream_is_whole(s->in))
		report_error(s->report, "%s", RESOLVED_NO_END);
	return false;
}

const struct access_facts *access_stream_facts(const struct access_stream *s)
{
	return &s->facts;
}

const struct stream_events *access_stream_events(const struct access_stream *s)
{
	return stream_events(s->in);
}

/* Return the size of a cache line of this machine; 0: unknown. */
static uint64_t line_here(void)
{
	char text[32];

	if (!linux_read_text(text, sizeof(text), SYSFS_ROOT "/devices/system/cpu/cpu0/cache/"
			     "index0/coherency_line_size"))
		return 0;
	return strtoul(text, NULL, 10);
}

uint64_t access_stream_line(const struct access_stream *s)
{
	enum { USUAL = 64, LEAST = 16, MOST = 4096 };
	const struct stream_origin *o = stream_origin(s->in);
	uint64_t line = o->cache_line ? o->cache_line : locate_is_local(o) ? line_here() : 0;

	return line >= LEAST && line <= MOST && !(line & (line - 1)) ? line : USUAL;
}

void access_stream_free(struct access_stream *s)
{
	if (!s)
		return;
	stream_close(s->in);
	resolved_reader_release(&s->reader);
	resolved_release(&s->tables);
	free(s->is_used);
	free(s->frame);
	free(s);
}
