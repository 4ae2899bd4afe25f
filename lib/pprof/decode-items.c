/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings, functions and locations: each is checked as it is found, and decoded when asked for. */
#include "base/text.h"
#include "pprof/decode-internal.h"

#include <inttypes.h>

uint32_t decoded_find_scattered(const struct decoded_items *items, uint64_t id)
{
	if (id - 1 < items->count && items->item[id - 1].id == id)
		return (uint32_t)(id - 1);
	return TABLE_FIND(&items->table, hash_u64(id), i, items->item[i].id == id);
}

static void scatter(struct decoded_items *items)
{
	items->scattered = true;
	for (uint32_t i = 0; i < items->count; i++)
		table_add(&items->table, hash_u64(items->item[i].id), i);
}

/*
 * Add the item of a message.  Return false (reported) if its id is taken or 0.  Ids usually count
 * up from 1, and then need no table.
 */
static bool add_item(struct decoding *g, struct decoded_items *items, const char *what,
		     const struct decoded_item *item)
{
	if (item->id == 0 || decoded_find_item(items, item->id) != TABLE_NONE) {
		report_error(g->report, "'%s' is damaged: byte %" PRIu32 " of it, uncompressed: a "
			     "%s has %s %" PRIu64, g->file, item->message.offset, what, item->id
			     ? "the same id as another," : "the reserved id", item->id);
		g->reported = true;
		return false;
	}
	if (!items->scattered && item->id != (uint64_t)items->count + 1)
		scatter(items);
	if (items->scattered)
		table_add(&items->table, hash_u64(item->id), items->count);
	items->item = array_grow(items->item, items->count, sizeof(*item));
	items->item[items->count++] = *item;
	return true;
}

static struct decoded_item item_of(const struct decoding *g, const struct wire_field *f)
{
	return (struct decoded_item){ .message = { (uint32_t)(f->at - g->d->bytes),
						   (uint32_t)f->size } };
}

/* Note that the profile must have this string. */
static inline void needs(struct decoding *g, uint32_t string)
{
	if (string > g->last_string)
		g->last_string = string;
}

/* message Mapping: returns its id, or 0 */
static uint64_t read_mapping(struct cursor *c, struct decoded_mapping *m)
{
	struct wire_field f;
	uint64_t id = 0;

	*m = (struct decoded_mapping){ 0 };
	while (decode_field(c, &f))
		switch (f.tag) {
		case FIELD(1, VARINT): id = f.value; break;
		case FIELD(2, VARINT): m->start = f.value; break;
		case FIELD(3, VARINT): m->limit = f.value; break;
		case FIELD(4, VARINT): m->offset = f.value; break;
		case FIELD(5, VARINT): m->file = decode_index(f.value); break;
		case FIELD(6, VARINT): m->build_id = decode_index(f.value); break;
		case FIELD(7, VARINT): m->has_functions = f.value; break;
		case FIELD(8, VARINT): m->has_files = f.value; break;
		case FIELD(9, VARINT): m->has_lines = f.value; break;
		case FIELD(10, VARINT): m->has_inlines = f.value; break;
		}
	return id;
}

bool decode_mapping(struct decoding *g, const struct wire_field *f)
{
	struct cursor c = cursor_of(f->at, f->size);
	struct decoded_item item = item_of(g, f);
	struct decoded_mapping m;

	item.id = read_mapping(&c, &m);
	needs(g, m.file);
	needs(g, m.build_id);
	return !c.failed && add_item(g, &g->d->mappings, "mapping", &item);
}

struct decoded_mapping decoded_mapping(const struct decoded *d, uint32_t index)
{
	struct cursor c = cursor_of_message(d, d->mappings.item[index].message);
	struct decoded_mapping m;

	read_mapping(&c, &m);
	return m;
}

/* message Function: returns its id, or 0 */
static inline uint64_t read_function(struct cursor *c, struct decoded_function *function)
{
	struct wire_field f;
	uint64_t id = 0;

	*function = (struct decoded_function){ 0 };
	while (decode_field(c, &f))
		switch (f.tag) {
		case FIELD(1, VARINT): id = f.value; break;
		case FIELD(2, VARINT): function->name = decode_index(f.value); break;
		case FIELD(3, VARINT): function->system_name = decode_index(f.value); break;
		case FIELD(4, VARINT): function->file = decode_index(f.value); break;
		case FIELD(5, VARINT): function->line = (int64_t)f.value; break;
		}
	return id;
}

bool decode_function(struct decoding *g, const struct wire_field *f)
{
	struct cursor c = cursor_of(f->at, f->size);
	struct decoded_item item = item_of(g, f);
	struct decoded_function function;

	item.id = read_function(&c, &function);
	item.name = function.name;
	needs(g, function.name);
	needs(g, function.system_name);
	needs(g, function.file);
	return !c.failed && add_item(g, &g->d->functions, "function", &item);
}

struct decoded_function decoded_function(const struct decoded *d, uint32_t index)
{
	struct cursor c = cursor_of_message(d, d->functions.item[index].message);
	struct decoded_function function;

	read_function(&c, &function);
	return function;
}

/* message Line { function_id = 1; line = 2; column = 3; }, field 4 of Location */
static inline uint64_t read_line(struct cursor *c, struct decoded_line *line)
{
	uint64_t function = 0;
	struct wire_field f;

	while (decode_field(c, &f))
		switch (f.tag) {
		case FIELD(1, VARINT): function = f.value; break;
		case FIELD(2, VARINT): line->line = (int64_t)f.value; break;
		case FIELD(3, VARINT): line->column = (int64_t)f.value; break;
		}
	return function;
}

/* message Location; a location without lines is one frame, too */
bool decode_location(struct decoding *g, const struct wire_field *f)
{
	struct cursor c = cursor_of(f->at, f->size);
	struct decoded_item item = item_of(g, f);
	struct decoded_line line;
	uint64_t lines = 0;
	struct wire_field x;

	while (decode_field(&c, &x)) {
		if (x.tag == FIELD(1, VARINT))
			item.id = x.value;
		if (x.tag != FIELD(4, BYTES))
			continue;
		struct cursor of_line = cursor_of(x.at, x.size);
		uint64_t function = read_line(&of_line, &line);
		if (of_line.failed)
			return false;
		if (lines++ == 0)
			item.name = decode_index(function);
	}
	g->cut += lines > PROFILE_LINES_MAX;
	item.lines = lines < PROFILE_LINES_MAX ? (uint32_t)lines : PROFILE_LINES_MAX;
	return !c.failed && add_item(g, &g->d->locations, "location", &item);
}

struct decoded_location decoded_lines(const struct decoded *d, uint32_t index)
{
	struct cursor c = cursor_of_message(d, d->locations.item[index].message);

	return (struct decoded_location){ .mapping = TABLE_NONE, .at = c.at, .end = c.end };
}

struct decoded_location decoded_location(const struct decoded *d, uint32_t index)
{
	struct decoded_location l = decoded_lines(d, index);
	struct cursor c = { .at = l.at, .end = l.end };
	struct wire_field f;

	while (decode_field(&c, &f))
		switch (f.tag) {
		case FIELD(2, VARINT): l.mapping = decoded_find_item(&d->mappings, f.value); break;
		case FIELD(3, VARINT): l.address = f.value; break;
		case FIELD(5, VARINT): l.is_folded = f.value; break;
		}
	return l;
}

bool decoded_next_line(const struct decoded *d, struct decoded_location *l,
		       struct decoded_line *line)
{
	struct cursor c = { .at = l->at, .end = l->end };
	struct wire_field f;

	while (l->lines < PROFILE_LINES_MAX && decode_field(&c, &f)) {
		l->at = c.at;
		if (f.tag != FIELD(4, BYTES))
			continue;
		struct cursor of_line = cursor_of(f.at, f.size);
		*line = (struct decoded_line){ 0 };
		line->function = decoded_find_item(&d->functions, read_line(&of_line, line));
		l->lines++;
		return true;
	}
	return false;
}

uint32_t decoded_first_function(const struct decoded *d, uint32_t index)
{
	struct decoded_location l = decoded_lines(d, index);
	const struct decoded_item *item = &d->locations.item[index];
	struct decoded_line line;

	if (item->name != TABLE_NONE)
		return decoded_find_item(&d->functions, item->name);
	return decoded_next_line(d, &l, &line) ? line.function : TABLE_NONE;
}
