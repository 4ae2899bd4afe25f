/* SPDX-License-Identifier: Apache-2.0 */
/* Adds and writes definitions; resolved-read.c reads them. */
#include "resolved/resolved.h"
#include "base/hash.h"
#include "base/table.h"
#include "stream/writer.h"

#include <inttypes.h>
#include <stdlib.h>

enum { TEXT_MAX = 65000 };	/* bytes of a string that fit into a record, with room to spare */

uint32_t resolved_add_string(struct resolved *r, const char *text, size_t size)
{
	if (r->strings == 0) {
		r->string = array_grow(r->string, 0, sizeof(*r->string));
		r->string[r->strings++] = "";
	}
	if (size == 0)
		return 0;
	r->string = array_grow(r->string, r->strings, sizeof(*r->string));
	r->string[r->strings] = arena_text(&r->arena, text, size < TEXT_MAX ? size : TEXT_MAX);
	return r->strings++;
}

uint32_t resolved_add_object(struct resolved *r, const struct resolved_object *object)
{
	r->object = array_grow(r->object, r->objects, sizeof(*object));
	r->object[r->objects] = *object;
	return r->objects++;
}

uint32_t resolved_add_function(struct resolved *r, const struct resolved_function *function)
{
	r->function = array_grow(r->function, r->functions, sizeof(*function));
	r->function[r->functions] = *function;
	return r->functions++;
}

uint32_t resolved_function_id(struct resolved *r, struct table *by_content,
			      const struct resolved_function *f)
{
	uint64_t hash = hash_bytes(f, sizeof(*f));
	uint32_t id = TABLE_FIND(by_content, hash, i, !memcmp(&r->function[i], f, sizeof(*f)));

	if (id != TABLE_NONE)
		return id;
	id = resolved_add_function(r, f);
	table_add(by_content, hash, id);
	return id;
}

uint32_t resolved_add_frame(struct resolved *r, const struct resolved_frame *frame)
{
	r->frame = array_grow(r->frame, r->frames, sizeof(*frame));
	struct resolved_frame *f = &r->frame[r->frames];
	*f = *frame;
	f->line = f->lines ? arena_copy(&r->arena, frame->line, f->lines * sizeof(*f->line)) : NULL;
	return r->frames++;
}

uint32_t resolved_add_datum(struct resolved *r, const struct resolved_datum *datum)
{
	r->datum = array_grow(r->datum, r->data, sizeof(*datum));
	r->datum[r->data] = *datum;
	return r->data++;
}

uint32_t resolved_add_chain(struct resolved_chains *c, const uint32_t *frame, uint32_t frames,
			    enum stack_end end)
{
	if (frames > c->room - c->frames) {
		c->room = 2 * c->room + frames;
		c->frame = mem_resize(c->frame, c->room * sizeof(*frame));
	}
	memcpy(c->frame + c->frames, frame, frames * sizeof(*frame));
	c->chain = array_grow(c->chain, c->count, sizeof(*c->chain));
	c->chain[c->count] = (struct resolved_chain){ c->frames, frames, end };
	c->frames += frames;
	return c->count++;
}

void resolved_forget_chains(struct resolved_chains *c)
{
	c->count = 0;
	c->frames = 0;
}

bool resolved_has_offset(enum data_kind kind)
{
	return kind == DATA_VARIABLE || kind == DATA_CODE || kind == DATA_FILE ||
	       kind == DATA_KERNEL_VARIABLE;
}

void resolved_datum_text(const struct resolved *r, uint32_t id, uint64_t offset, char *text,
			 size_t size)
{
	const struct resolved_datum *d = &r->datum[id];
	const char *name = r->string[r->function[d->function].name];

	if (resolved_has_offset(d->kind))
		snprintf(text, size, "%s+0x%" PRIx64, name, offset);
	else
		snprintf(text, size, "%s", name);
}

const char *resolved_kind_word(enum data_kind kind)
{
	static const char *const words[DATA_KINDS] = {
		[DATA_UNKNOWN] = "unknown", [DATA_VARIABLE] = "variable", [DATA_CODE] = "code",
		[DATA_FILE] = "file", [DATA_STACK] = "stack", [DATA_HEAP] = "heap",
		[DATA_ANONYMOUS] = "anonymous", [DATA_KERNEL_VARIABLE] = "kernel-variable",
		[DATA_KERNEL] = "kernel",
	};

	return kind < DATA_KINDS ? words[kind] : words[DATA_UNKNOWN];
}

void resolved_name_frame(struct resolved *r, uint32_t id, const struct resolved_line *line,
			 uint32_t lines)
{
	struct resolved_frame *f = &r->frame[id];

	f->line = arena_copy(&r->arena, line, lines * sizeof(*line));
	f->lines = lines;
	r->late = array_grow(r->late, r->lates, sizeof(*r->late));
	r->late[r->lates++] = id;
}

size_t resolved_memory(const struct resolved *r)
{
	return r->strings * sizeof(*r->string) + r->objects * sizeof(*r->object) +
	       r->functions * sizeof(*r->function) + r->frames * sizeof(*r->frame) +
	       r->lates * sizeof(*r->late) + r->data * sizeof(*r->datum) +
	       r->arena.size;
}

void resolved_restart(struct resolved *r, struct resolved *past)
{
	*past = *r;
	*r = (struct resolved){ .samples = past->samples, .labels = past->labels };
	past->labels = (struct label_sets){ .version = 0 };
}

void resolved_release(struct resolved *r)
{
	free(r->string);
	free(r->object);
	free(r->function);
	free(r->frame);
	free(r->late);
	free(r->datum);
	free(r->chains.chain);
	free(r->chains.frame);
	arena_release(&r->arena);
	label_sets_release(&r->labels);
	*r = (struct resolved){ 0 };
}

static void end_definition(struct resolved_writer *w, struct writer *rec)
{
	writer_end(rec);
	w->bytes += rec->size;
}

static void write_chain(struct resolved_writer *w, uint32_t id, const struct resolved_chains *c)
{
	const struct resolved_chain *chain = &c->chain[id];
	struct writer rec;

	writer_begin(&rec, w->out, RECORD_CHAIN, 0);
	writer_u32(&rec, id);
	writer_u16(&rec, (uint16_t)chain->frames);
	writer_u16(&rec, (uint16_t)chain->end);
	writer_bytes(&rec, c->frame + chain->first, chain->frames * sizeof(*c->frame));
	writer_end(&rec);
	w->chain_bytes += rec.size;
}

static void write_string(struct resolved_writer *w, uint32_t id, const char *text)
{
	struct writer rec;

	writer_begin(&rec, w->out, RECORD_STRING, 0);
	writer_u32(&rec, id);
	writer_string(&rec, text);
	end_definition(w, &rec);
}

static void write_object(struct resolved_writer *w, uint32_t id, const struct resolved_object *o)
{
	struct writer rec;

	writer_begin(&rec, w->out, RECORD_OBJECT, 0);
	writer_u32(&rec, id);
	writer_u32(&rec, o->path);
	writer_u16(&rec, o->kind);
	writer_u16(&rec, o->flags);
	writer_u32(&rec, o->build_id_size);
	writer_u64(&rec, o->start);
	writer_u64(&rec, o->size);
	writer_u64(&rec, o->file_offset);
	writer_bytes(&rec, o->build_id, BUILD_ID_MAX);
	end_definition(w, &rec);
}

static void write_function(struct resolved_writer *w, uint32_t id,
			   const struct resolved_function *f)
{
	struct writer rec;

	writer_begin(&rec, w->out, RECORD_FUNCTION, 0);
	writer_u32(&rec, id);
	writer_u32(&rec, f->name);
	writer_u32(&rec, f->system_name);
	writer_u32(&rec, f->file);
	writer_u32(&rec, f->line);
	end_definition(w, &rec);
}

static void write_lines(struct writer *rec, const struct resolved_frame *f)
{
	enum { LINES_MAX = 4000 };	/* lines that fit into a record; the resolver makes fewer */
	uint32_t lines = f->lines < LINES_MAX ? f->lines : LINES_MAX;

	writer_u32(rec, lines);
	for (uint32_t i = 0; i < lines; i++) {
		writer_u32(rec, f->line[i].function);
		writer_u32(rec, f->line[i].file);
		writer_u32(rec, f->line[i].line);
		writer_u32(rec, f->line[i].column);
	}
}

static void write_frame(struct resolved_writer *w, uint32_t id, const struct resolved_frame *f)
{
	struct writer rec;

	writer_begin(&rec, w->out, RECORD_FRAME, 0);
	writer_u32(&rec, id);
	writer_u32(&rec, f->object);
	writer_u64(&rec, f->address);
	write_lines(&rec, f);
	end_definition(w, &rec);
}

static void write_name(struct resolved_writer *w, uint32_t id, const struct resolved_frame *f)
{
	struct writer rec;

	writer_begin(&rec, w->out, RECORD_NAME, 0);
	writer_u32(&rec, id);
	write_lines(&rec, f);
	end_definition(w, &rec);
}

static void write_datum(struct resolved_writer *w, uint32_t id, const struct resolved_datum *d)
{
	struct writer rec;

	writer_begin(&rec, w->out, RECORD_DATA, 0);
	writer_u32(&rec, id);
	writer_u32(&rec, d->object);
	writer_u32(&rec, d->function);
	writer_u16(&rec, d->kind);
	writer_u16(&rec, 0);
	writer_u32(&rec, d->thread);
	writer_u32(&rec, 0);
	writer_u64(&rec, d->address);
	writer_u64(&rec, d->size);
	end_definition(w, &rec);
}

/* The texts are in the record and not in STRING records, because readers forget them sooner. */
static void write_labels(struct resolved_writer *w, uint32_t id, const struct label_sets *l)
{
	const struct label_set *set = &l->set[id];
	struct writer rec;

	writer_begin(&rec, w->out, RECORD_LABELS, 0);
	writer_u32(&rec, id);
	writer_u32(&rec, set->pairs);
	for (uint32_t i = 0; i < set->pairs; i++) {
		const struct label_pair *pair = &l->pair[set->pair[i]];
		const char *key = l->texts.text[pair->key], *value = l->texts.text[pair->value];
		writer_bytes(&rec, key, strlen(key) + 1);
		writer_bytes(&rec, value, strlen(value) + 1);
	}
	end_definition(w, &rec);
}

void resolved_write_new(struct resolved_writer *w, const struct resolved *r)
{
	uint32_t known = w->frames;

	if (w->strings == 0 && r->strings > 0)
		w->strings = 1;		/* the empty string needs no definition */
	for (; w->strings < r->strings; w->strings++)
		write_string(w, w->strings, r->string[w->strings]);
	for (; w->objects < r->objects; w->objects++)
		write_object(w, w->objects, &r->object[w->objects]);
	for (; w->functions < r->functions; w->functions++)
		write_function(w, w->functions, &r->function[w->functions]);
	for (; w->frames < r->frames; w->frames++)
		write_frame(w, w->frames, &r->frame[w->frames]);
	for (; w->data < r->data; w->data++)
		write_datum(w, w->data, &r->datum[w->data]);
	for (; w->lates < r->lates; w->lates++)
		if (r->late[w->lates] < known)	/* else its FRAME record has the lines */
			write_name(w, r->late[w->lates], &r->frame[r->late[w->lates]]);
	for (; w->labels < r->labels.sets; w->labels++)
		write_labels(w, w->labels, &r->labels);
	for (; w->chains < r->chains.count; w->chains++)
		write_chain(w, w->chains, &r->chains);
}

void resolved_write_tool(struct output *out, const char *name, const char *version,
			 const char *arguments)
{
	struct writer rec;

	writer_begin(&rec, out, RECORD_TOOL, 0);
	writer_bytes(&rec, name, strlen(name) + 1);
	writer_bytes(&rec, version, strlen(version) + 1);
	writer_bytes(&rec, arguments, strnlen(arguments, TEXT_MAX));
	writer_u8(&rec, 0);
	writer_end(&rec);
}

/* END or RESTART: what was sent. */
static void write_counts(struct output *out, uint32_t type, const struct resolved *r)
{
	struct writer rec;

	writer_begin(&rec, out, type, 0);
	writer_u64(&rec, r->samples);
	writer_u32(&rec, r->strings ? r->strings - 1 : 0);
	writer_u32(&rec, r->objects);
	writer_u32(&rec, r->functions);
	writer_u32(&rec, r->frames);
	writer_u32(&rec, r->labels.sets);
	writer_u32(&rec, r->data);
	writer_u32(&rec, r->chains.count);
	writer_end(&rec);
}

void resolved_write_restart(struct resolved_writer *w, const struct resolved *r)
{
	write_counts(w->out, RECORD_RESTART, r);
	*w = (struct resolved_writer){ .out = w->out };
}

void resolved_write_chains_restart(struct resolved_writer *w, struct resolved *r)
{
	writer_empty(w->out, RECORD_CHAINS_RESTART);
	resolved_forget_chains(&r->chains);
	w->chains = 0;
	w->chain_bytes = 0;
}

void resolved_write_end(struct output *out, const struct resolved *r)
{
	write_counts(out, RECORD_END, r);
}
