/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/merge-parts.h"
#include "base/saturate.h"
#include "base/text.h"
#include "pprof/merge-internal.h"

enum { MAPPINGS_TRIED = 16 };	/* of one object */

static uint64_t string_of(struct merge *m, const char *text)
{
	if (!text_needs_care(text))
		return intern_text(&m->strings, text);
	char *safe = mem_text(text);
	text_make_safe(safe);
	uint64_t string = intern_text(&m->strings, safe);
	free(safe);
	return string;
}

void part_types(struct merge *m, const char *const (*type_and_unit)[2], uint32_t count)
{
	m->types = count;
	m->any_period = true;
	m->type = mem_zeroed(2 * ((size_t)count + 1), sizeof(*m->type));
	for (uint32_t i = 0; i < count; i++) {
		m->type[2 * i] = string_of(m, type_and_unit[i][0]);
		m->type[2 * i + 1] = string_of(m, type_and_unit[i][1]);
	}
}

void part_default_type(struct merge *m, uint32_t type)
{
	m->default_type = (int64_t)m->type[2 * type];
}

/* Return the id of the object of PART: its file and build ID. */
static uint32_t object_of(struct merge *m, const struct merged_mapping *part)
{
	const int64_t key[2] = { part->file, part->build_id };

	return byte_ids_add(&m->objects, key, sizeof(key));
}

/* Put each new mapping into the list of its object. */
static void list_mappings(struct merge *m)
{
	for (uint32_t id = m->listed; id < m->mappings.count; id = ++m->listed) {
		uint32_t known = m->objects.count, object = object_of(m, &m->mapping[id]);

		if (object == known) {
			m->first = array_grow(m->first, object, sizeof(*m->first));
			m->first[object] = TABLE_NONE;
		}
		m->next = array_grow(m->next, id, sizeof(*m->next));
		m->next[id] = m->first[object];
		m->first[object] = id;
	}
}

/* Return 1 + the id of the mapping with ADDRESS of the object PART; it is added if it is new. */
static uint64_t mapping_at(struct merge *m, const struct merged_mapping *part, uint64_t address)
{
	const int64_t key[2] = { part->file, part->build_id };

	list_mappings(m);
	uint32_t object = byte_ids_find(&m->objects, key, sizeof(key));
	uint32_t id = object == TABLE_NONE ? TABLE_NONE : m->first[object];
	for (int i = 0; i < MAPPINGS_TRIED && id != TABLE_NONE; i++, id = m->next[id]) {
		const struct merged_mapping *it = &m->mapping[id];
		if (it->limit == 0 || (address >= it->start && address < it->limit))
			return (uint64_t)id + 1;
	}
	return (uint64_t)merge_mapping(m, part) + 1;
}

/* Note what is known of a location in a mapping that we have made: pprof looks up the rest. */
static void learn(struct merged_mapping *mapping, const struct part_line *line, uint32_t count)
{
	if (mapping->limit != 0)
		return;
	mapping->inlines |= count > 1;
	for (uint32_t i = 0; i < count; i++) {
		mapping->functions |= *line[i].function || *line[i].symbol;
		mapping->files |= *line[i].file != '\0';
		mapping->lines |= line[i].line != 0;
	}
}

uint32_t part_location(struct merge *m, const struct part_place *place,
		       const struct part_line *line, uint32_t count)
{
	const struct merged_mapping mapping = {
		.file = (int64_t)string_of(m, place->object),
		.build_id = (int64_t)string_of(m, place->build_id) };
	struct merged_location part = { .address = place->address, .lines = count };

	if (mapping.file || mapping.build_id) {
		part.mapping = mapping_at(m, &mapping, place->address);
		learn(&m->mapping[part.mapping - 1], line, count);
	}
	for (uint32_t i = 0; i < count; i++) {
		const char *name = *line[i].function ? line[i].function : line[i].symbol;
		const struct merged_function function = {
			string_of(m, name), string_of(m, line[i].symbol),
			string_of(m, line[i].file), line[i].start_line };
		m->line[i] = (struct merged_line){ (uint64_t)merge_function(m, &function) + 1,
						   line[i].line, line[i].column };
	}
	return merge_location(m, &part);
}

uint32_t part_sample(struct merge *m, const uint32_t *location, size_t count,
		     const struct part_label *label, size_t labels)
{
	merge_begin_key(m);
	merge_add_number(m, count);
	for (size_t i = 0; i < count; i++)
		merge_add_number(m, (uint64_t)location[i] + 1);
	for (size_t i = 0; i < labels; i++) {
		const struct part_label *from = &label[i];
		struct merged_label *to = &m->label[i];
		*to = (struct merged_label){ .key = string_of(m, from->key) };
		if (from->text) {
			to->text = *from->text ? string_of(m, from->text) : m->empty;
		} else {
			to->number = (uint64_t)from->number;
			to->unit = string_of(m, from->unit);
		}
	}
	return (uint32_t)((merge_sample(m, labels) - m->value) / m->types);
}

int64_t *part_values(struct merge *m, uint32_t sample)
{
	return m->value + (size_t)sample * m->types;
}

void part_origin(struct merge *m, const struct decoded *d)
{
	if (d->time && (m->time == 0 || d->time < m->time))
		m->time = d->time;
	m->is_cut |= !saturate_add(&m->duration, d->duration);
	for (uint32_t i = 0; i < d->comments; i++)
		merge_comment(m, decoded_string(d, d->comment[i]));
}

uint32_t part_samples(const struct merge *m)
{
	return m->samples.count;
}

/* Return P with room for COUNT items of SIZE bytes; *ROOM is the number that it has room for. */
static void *make_room(void *p, size_t *room, size_t count, size_t size)
{
	if (count <= *room && p)
		return p;
	*room = count + count / 4 + 1;
	return mem_resize(p, *room * size);
}

void part_read_sample(const struct merge *m, uint32_t sample, struct part_reading *r)
{
	struct cursor key = merge_numbers_of(&m->samples, sample);
	const char *const *text = m->strings.text;

	r->locations = cursor_uleb(&key);
	r->location = make_room(r->location, &r->location_room, r->locations,
				sizeof(*r->location));
	for (size_t i = 0; i < r->locations; i++)
		r->location[i] = (uint32_t)(cursor_uleb(&key) - 1);
	for (r->labels = 0; cursor_left(&key) > 0; r->labels++) {
		r->label = make_room(r->label, &r->label_room, r->labels + 1, sizeof(*r->label));
		struct part_label *label = &r->label[r->labels];
		label->key = text[cursor_uleb(&key)];
		uint64_t string = cursor_uleb(&key);
		label->text = string ? text[string] : NULL;
		label->number = (int64_t)cursor_uleb(&key);
		label->unit = text[cursor_uleb(&key)];
	}
}

/* Return NUMBER, of a line, or 0 if it cannot be one. */
static uint32_t line_of(uint64_t number)
{
	return number <= UINT32_MAX ? (uint32_t)number : 0;
}

uint32_t part_read_location(const struct merge *m, uint32_t location, struct part_place *place,
			    struct part_line *line)
{
	struct merged_line from[PROFILE_LINES_MAX];
	const struct merged_location l = merge_read_location(m, location, from);
	const struct merged_mapping none = { 0 };
	const struct merged_mapping *mapping = l.mapping ? &m->mapping[l.mapping - 1] : &none;
	const char *const *text = m->strings.text;

	*place = (struct part_place){ l.address, text[mapping->file], text[mapping->build_id] };
	for (uint32_t i = 0; i < l.lines; i++) {
		const struct merged_function f = from[i].function
			? merge_read_function(m, (uint32_t)(from[i].function - 1))
			: (struct merged_function){ 0 };
		line[i] = (struct part_line){ text[f.name], text[f.system_name], text[f.file],
					      line_of(f.line), line_of(from[i].line),
					      line_of(from[i].column) };
	}
	return l.lines;
}
