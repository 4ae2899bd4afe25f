/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads definitions.  Each distinct definition is in the tables once; a map for each kind
 * translates ids of the stream to ids in the tables.
 */
#include "resolved/resolved.h"
#include "base/digest.h"
#include "record/label-payload.h"
#include "resolved/internal.h"

#include <stdlib.h>

/* Return whether ID is COUNT: each definition must have the next id. */
static bool is_next(uint32_t id, uint32_t count, const char **why)
{
	return id == count || refuse(why, "definition whose id is not the next one");
}

/* Note that the definition with the next id in the stream, *COUNT, is ID in the tables. */
static uint32_t *map_id(uint32_t *map, uint32_t *count, uint32_t id)
{
	map = array_grow(map, *count, sizeof(*map));
	map[(*count)++] = id;
	return map;
}

/* Return the id of TEXT in the tables; add it if it is new. */
static uint32_t put_string(struct resolved_reader *r, const char *text)
{
	struct resolved *t = r->tables;
	size_t size = strlen(text);
	uint64_t hash = hash_bytes(text, size);

	if (size == 0)
		return resolved_add_string(t, text, 0);
	uint32_t id = TABLE_FIND(&r->string_table, hash, i, !strcmp(t->string[i], text));
	if (id != TABLE_NONE)
		return id;
	id = resolved_add_string(t, text, size);
	table_add(&r->string_table, hash, id);
	return id;
}

static bool is_same_object(const struct resolved_object *a, const struct resolved_object *b)
{
	return a->path == b->path && a->kind == b->kind && a->flags == b->flags &&
	       a->start == b->start && a->size == b->size && a->file_offset == b->file_offset &&
	       a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, BUILD_ID_MAX);
}

static uint32_t put_object(struct resolved_reader *r, const struct resolved_object *o)
{
	uint64_t hash = hash_more(hash_more(o->path, o->start), o->size);
	uint32_t id = TABLE_FIND(&r->object_table, hash, i,
				 is_same_object(&r->tables->object[i], o));

	if (id != TABLE_NONE)
		return id;
	id = resolved_add_object(r->tables, o);
	table_add(&r->object_table, hash, id);
	return id;
}

static uint64_t hash_of_frame(const struct resolved_frame *f)
{
	uint64_t lines = f->lines ? hash_bytes(f->line, f->lines * sizeof(*f->line)) : 0;

	return hash_more(hash_more(f->object, f->address), lines);
}

static uint32_t put_frame(struct resolved_reader *r, const struct resolved_frame *f)
{
	size_t size = f->lines * sizeof(*f->line);
	uint64_t hash = hash_of_frame(f);
	const struct resolved_frame *known = r->tables->frame;
	uint32_t id = TABLE_FIND(&r->frame_table, hash, i, known[i].object == f->object &&
				 known[i].address == f->address && known[i].lines == f->lines &&
				 (!size || !memcmp(known[i].line, f->line, size)));

	if (id != TABLE_NONE)
		return id;
	id = resolved_add_frame(r->tables, f);
	table_add(&r->frame_table, hash, id);
	return id;
}

static uint32_t put_datum(struct resolved_reader *r, const struct resolved_datum *d)
{
	uint64_t hash = hash_more(hash_more(hash_more(d->object, d->address),
					    (uint64_t)d->kind << 32 | d->function), d->thread);
	const struct resolved_datum *known = r->tables->datum;
	uint32_t id = TABLE_FIND(&r->datum_table, hash, i, known[i].object == d->object &&
				 known[i].address == d->address && known[i].kind == d->kind &&
				 known[i].function == d->function &&
				 known[i].thread == d->thread && known[i].size == d->size);

	if (id != TABLE_NONE)
		return id;
	id = resolved_add_datum(r->tables, d);
	table_add(&r->datum_table, hash, id);
	return id;
}

static bool read_string(struct resolved_reader *r, struct cursor c, const char **why)
{
	uint32_t id = cursor_u32(&c);
	const char *text = cursor_string(&c);

	if (c.failed || !*text)
		return refuse(why, "STRING record without a string");
	if (!is_next(id, r->strings, why))
		return false;
	r->string = map_id(r->string, &r->strings, put_string(r, text));
	return true;
}

static bool read_object(struct resolved_reader *r, struct cursor c, const char **why)
{
	uint32_t id = cursor_u32(&c), path = cursor_u32(&c);
	struct resolved_object o = { .kind = cursor_u16(&c) };

	o.flags = cursor_u16(&c);
	uint32_t build_id_size = cursor_u32(&c);
	o.start = cursor_u64(&c);
	o.size = cursor_u64(&c);
	o.file_offset = cursor_u64(&c);
	const void *build_id = cursor_bytes(&c, BUILD_ID_MAX);
	if (c.failed || path >= r->strings || build_id_size > BUILD_ID_MAX ||
	    o.size > UINT64_MAX - o.start)
		return refuse(why, "OBJECT record with impossible fields");
	if (!is_next(id, r->objects, why))
		return false;
	o.path = r->string[path];
	memcpy(o.build_id, build_id, BUILD_ID_MAX);
	o.build_id_size = (uint8_t)build_id_size;
	r->object = map_id(r->object, &r->objects, put_object(r, &o));
	return true;
}

static bool read_function(struct resolved_reader *r, struct cursor c, const char **why)
{
	uint32_t id = cursor_u32(&c), name = cursor_u32(&c);
	uint32_t system_name = cursor_u32(&c), file = cursor_u32(&c);
	uint32_t line = cursor_u32(&c);

	if (c.failed || name >= r->strings || system_name >= r->strings || file >= r->strings)
		return refuse(why, "FUNCTION record with impossible fields");
	if (!is_next(id, r->functions, why))
		return false;
	const struct resolved_function f = {
		.name = r->string[name], .system_name = r->string[system_name],
		.file = r->string[file], .line = line,
	};
	r->function = map_id(r->function, &r->functions,
			     resolved_function_id(r->tables, &r->function_table, &f));
	return true;
}

static bool read_line(const struct resolved_reader *r, struct cursor *c,
		      struct resolved_line *line)
{
	uint32_t function = cursor_u32(c), file = cursor_u32(c);

	line->line = cursor_u32(c);
	line->column = cursor_u32(c);
	if (function >= r->functions || file >= r->strings)
		return false;
	line->function = r->function[function];
	line->file = r->string[file];
	return true;
}

/*
 * The lines of a record, and the number of lines that it claims to have.  There is room for all
 * that fit into a record.
 */
struct lines_read {
	uint32_t count;
	struct resolved_line line[RECORD_MAX_SIZE / sizeof(struct resolved_line)];
};

/* u32 lines; each: u32 function, u32 file, u32 line, u32 column */
static bool read_lines(const struct resolved_reader *r, struct cursor *c, struct lines_read *l)
{
	l->count = cursor_u32(c);
	if (c->failed || l->count > cursor_left(c) / sizeof(*l->line))
		return false;
	for (uint32_t i = 0; i < l->count; i++)
		if (!read_line(r, c, &l->line[i]))
			return false;
	return true;
}

static bool read_frame(struct resolved_reader *r, struct cursor c, const char **why)
{
	uint32_t id = cursor_u32(&c), object = cursor_u32(&c);
	struct resolved_frame f = { .address = cursor_u64(&c) };
	struct lines_read lines;

	if (c.failed || object >= r->objects)
		return refuse(why, "FRAME record with impossible fields");
	if (!is_next(id, r->frames, why))
		return false;
	if (!read_lines(r, &c, &lines))
		return refuse(why, "FRAME record with an impossible line");
	f.object = r->object[object];
	f.lines = lines.count;
	f.line = lines.line;
	r->frame = map_id(r->frame, &r->frames, put_frame(r, &f));
	return true;
}

/*
 * Two frames of the stream may be one in the tables.  So if a frame gets a second name, that is not
 * damage: the first name stays.
 */
static bool read_name(struct resolved_reader *r, struct cursor c, const char **why)
{
	struct resolved *t = r->tables;
	uint32_t id = cursor_u32(&c);
	struct lines_read lines;

	if (c.failed || id >= r->frames)
		return refuse(why, "NAME record of an undefined frame");
	if (!read_lines(r, &c, &lines) || !lines.count)
		return refuse(why, "NAME record with an impossible line");
	id = r->frame[id];
	if (t->frame[id].lines)
		return true;
	table_remove(&r->frame_table, hash_of_frame(&t->frame[id]), id);
	resolved_name_frame(t, id, lines.line, lines.count);
	table_add(&r->frame_table, hash_of_frame(&t->frame[id]), id);
	return true;
}

/* u32 id, u32 pairs; each: string key, string value */
static bool read_labels(struct resolved_reader *r, struct cursor c, const char **why)
{
	uint32_t pair[LABEL_SET_PAIRS_MAX], id = cursor_u32(&c), pairs = cursor_u32(&c);
	struct label_sets *l = &r->tables->labels;

	if (c.failed || pairs > LABEL_SET_PAIRS_MAX)
		return refuse(why, "LABELS record with impossible fields");
	if (!is_next(id, r->label_sets, why))
		return false;
	for (uint32_t i = 0; i < pairs; i++) {
		const char *key = cursor_string(&c), *value = cursor_string(&c);
		if (c.failed)
			return refuse(why, "LABELS record is shorter than its fields");
		pair[i] = label_sets_pair(l, key, value);
	}
	r->label_set = map_id(r->label_set, &r->label_sets, label_sets_add(l, pair, pairs));
	return true;
}

static bool read_datum(struct resolved_reader *r, struct cursor c, const char **why)
{
	uint32_t id = cursor_u32(&c), object = cursor_u32(&c), function = cursor_u32(&c);
	struct resolved_datum d = { .kind = cursor_u16(&c) };

	cursor_u16(&c);
	d.thread = cursor_u32(&c);
	cursor_u32(&c);
	d.address = cursor_u64(&c);
	d.size = cursor_u64(&c);
	if (c.failed || object >= r->objects || function >= r->functions ||
	    d.size > UINT64_MAX - d.address)
		return refuse(why, "DATA record with impossible fields");
	if (!is_next(id, r->data, why))
		return false;
	d.kind = d.kind < DATA_KINDS ? d.kind : DATA_UNKNOWN;	/* a later version may have more */
	d.object = r->object[object];
	d.function = r->function[function];
	r->datum = map_id(r->datum, &r->data, put_datum(r, &d));
	return true;
}

/* u32 id, u16 frames, u16 end of the stack, then the ids of the frames */
static bool read_chain(struct resolved_reader *r, struct cursor c, const char **why)
{
	uint32_t id = cursor_u32(&c), frame[RESOLVED_FRAMES_MAX];
	uint16_t frames = cursor_u16(&c), end = cursor_u16(&c);
	const void *bytes = cursor_bytes(&c, frames * sizeof(*frame));

	if (!bytes || frames == 0 || frames > RESOLVED_FRAMES_MAX)
		return refuse(why, "CHAIN record with impossible fields");
	if (!is_next(id, r->chains.count, why))
		return false;
	memcpy(frame, bytes, frames * sizeof(*frame));
	for (uint32_t i = 0; i < frames; i++)
		if (frame[i] >= r->frames)
			return refuse(why, "CHAIN record with an undefined frame");
	resolved_add_chain(&r->chains, frame, frames,
			   end < STACK_ENDS ? (enum stack_end)end : STACK_NONE);
	return true;
}

static void restart_chains(struct resolved_reader *r)
{
	resolved_forget_chains(&r->chains);
	r->chain_restarts++;
}

/*
 * RESTART: its counts must equal the numbers of records read, like END's.  If they do not, the
 * samples are counted from its count on, so that the loss is reported once.
 */
static bool read_restart(struct resolved_reader *r, const struct record *rec, const char **why)
{
	bool good = resolved_read_end(r, rec, why);
	struct cursor c = rec->body;

	r->tables->samples = cursor_u64(&c);
	r->strings = r->objects = r->functions = r->frames = r->label_sets = r->data = 0;
	restart_chains(r);
	r->restarted = true;
	if (label_sets_is_full(&r->tables->labels))
		label_sets_forget(&r->tables->labels);
	return good || refuse(why, "RESTART record whose counts are not those of the records read: "
			      "some are missing");
}

bool resolved_read_definition(struct resolved_reader *r, const struct record *rec,
			      const char **why)
{
	if (r->strings == 0)
		r->string = map_id(r->string, &r->strings, put_string(r, ""));
	switch (rec->type) {
	case RECORD_STRING:
		return read_string(r, rec->body, why);
	case RECORD_OBJECT:
		return read_object(r, rec->body, why);
	case RECORD_FUNCTION:
		return read_function(r, rec->body, why);
	case RECORD_FRAME:
		return read_frame(r, rec->body, why);
	case RECORD_LABELS:
		return read_labels(r, rec->body, why);
	case RECORD_NAME:
		return read_name(r, rec->body, why);
	case RECORD_DATA:
		return read_datum(r, rec->body, why);
	case RECORD_CHAIN:
		return read_chain(r, rec->body, why);
	case RECORD_CHAINS_RESTART:
		restart_chains(r);
		return true;
	default:
		return read_restart(r, rec, why);
	}
}

/* Return how many bytes of a variable of SIZE bytes have one frame. */
static uint64_t part_size(uint64_t size)
{
	enum { SMALL = 1024, PARTS_MAX = 128 };
	uint64_t part = 1;

	while (size > SMALL && size / part >= PARTS_MAX)
		part *= 2;
	return part;
}

/*
 * What has no parts gets an address by its name, beyond those of programs, so that equal samples
 * give equal profiles.
 */
uint32_t resolved_datum_frame(struct resolved_reader *r, uint32_t datum, uint64_t offset,
			      bool named)
{
	const struct resolved *t = r->tables;
	const struct resolved_datum d = t->datum[datum];
	struct resolved_function f = t->function[d.function];
	const char *name = t->string[f.name];
	bool has_parts = resolved_has_offset(d.kind) && d.size;
	uint64_t part = has_parts ? offset / part_size(d.size) * part_size(d.size) : 0;
	struct resolved_line line = { .function = d.function };
	char text[1024];

	if (named && has_parts) {
		resolved_datum_text(t, datum, part, text, sizeof(text));
		f.name = f.system_name = put_string(r, text);
		line.function = resolved_function_id(r->tables, &r->function_table, &f);
	}
	return put_frame(r, &(struct resolved_frame){
		.object = d.object, .lines = 1, .line = &line,
		.address = has_parts ? d.address + part
				     : 1ULL << 63 | digest_bytes(name, strlen(name)) >> 1 });
}

bool resolved_read_tool(const struct record *rec, struct resolved_tool *tool, const char **why)
{
	struct cursor c = rec->body;

	tool->name = cursor_string(&c);
	tool->version = cursor_string(&c);
	tool->arguments = cursor_string(&c);
	return !c.failed || refuse(why, "TOOL record is shorter than its fields");
}

bool resolved_read_end(const struct resolved_reader *r, const struct record *rec, const char **why)
{
	struct cursor c = rec->body;

	bool equal = cursor_u64(&c) == r->tables->samples &&
		     cursor_u32(&c) == (r->strings ? r->strings - 1 : 0) &&
		     cursor_u32(&c) == r->objects && cursor_u32(&c) == r->functions &&
		     cursor_u32(&c) == r->frames && !c.failed &&
		     /* older streams have no labels, no data, or no chains */
		     (cursor_left(&c) ? cursor_u32(&c) : 0) == r->label_sets &&
		     (cursor_left(&c) ? cursor_u32(&c) : 0) == r->data &&
		     (cursor_left(&c) ? cursor_u32(&c) : 0) == r->chains.count;
	return equal || refuse(why, "END record has other counts than the stream: some records are "
		      "missing");
}

static uint32_t move_object(struct resolved_reader *r, const struct resolved *past, uint32_t id)
{
	struct resolved_object o = past->object[id];

	o.path = put_string(r, past->string[o.path]);
	return put_object(r, &o);
}

static uint32_t move_function(struct resolved_reader *r, const struct resolved *past, uint32_t id)
{
	struct resolved_function f = past->function[id];

	f.name = put_string(r, past->string[f.name]);
	f.system_name = put_string(r, past->string[f.system_name]);
	f.file = put_string(r, past->string[f.file]);
	return resolved_function_id(r->tables, &r->function_table, &f);
}

static uint32_t move_frame(struct resolved_reader *r, const struct resolved *past, uint32_t id)
{
	struct resolved_line line[RECORD_MAX_SIZE / sizeof(struct resolved_line)];
	struct resolved_frame f = past->frame[id];

	f.object = move_object(r, past, f.object);
	for (uint32_t i = 0; i < f.lines; i++) {
		line[i] = f.line[i];
		line[i].function = move_function(r, past, line[i].function);
		line[i].file = put_string(r, past->string[line[i].file]);
	}
	f.line = line;
	return put_frame(r, &f);
}

static uint32_t move_datum(struct resolved_reader *r, const struct resolved *past, uint32_t id)
{
	struct resolved_datum d = past->datum[id];

	d.object = move_object(r, past, d.object);
	d.function = move_function(r, past, d.function);
	return put_datum(r, &d);
}

static void release_tables(struct resolved_reader *r)
{
	table_release(&r->string_table);
	table_release(&r->object_table);
	table_release(&r->function_table);
	table_release(&r->frame_table);
	table_release(&r->datum_table);
}

void resolved_forget(struct resolved_reader *r, struct resolved *past, uint32_t *frame,
		     size_t frames)
{
	resolved_restart(r->tables, past);
	release_tables(r);
	for (uint32_t i = 0; i < r->strings; i++)
		r->string[i] = put_string(r, past->string[r->string[i]]);
	for (uint32_t i = 0; i < r->objects; i++)
		r->object[i] = move_object(r, past, r->object[i]);
	for (uint32_t i = 0; i < r->functions; i++)
		r->function[i] = move_function(r, past, r->function[i]);
	for (uint32_t i = 0; i < r->frames; i++)
		r->frame[i] = move_frame(r, past, r->frame[i]);
	for (uint32_t i = 0; i < r->data; i++)
		r->datum[i] = move_datum(r, past, r->datum[i]);
	for (size_t i = 0; i < frames; i++)
		frame[i] = move_frame(r, past, frame[i]);
	r->restarted = false;
}

void resolved_reader_release(struct resolved_reader *r)
{
	release_tables(r);
	free(r->string);
	free(r->object);
	free(r->function);
	free(r->frame);
	free(r->label_set);
	free(r->datum);
	free(r->chains.chain);
	free(r->chains.frame);
	*r = (struct resolved_reader){ .tables = r->tables };
}
