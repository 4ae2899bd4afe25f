/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a sum as profile.proto: its keys have most fields as they are encoded there. */
#include "pprof/merge-internal.h"
#include "pprof/wire.h"
#include "profile.pb-c.h"

static void write_mappings(const struct merge *m, struct pack *pack)
{
	for (uint32_t i = 0; i < m->mappings.count; i++) {
		Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT;
		Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
		const struct merged_mapping *from = &m->mapping[i];

		mapping.id = (uint64_t)i + 1;
		mapping.memory_start = from->start;
		mapping.memory_limit = from->limit;
		mapping.file_offset = from->offset;
		mapping.filename = from->file;
		mapping.build_id = from->build_id;
		mapping.has_functions = from->functions;
		mapping.has_filenames = from->files;
		mapping.has_line_numbers = from->lines;
		mapping.has_inline_frames = from->inlines;
		piece.n_mapping = 1;
		piece.mapping = (Perftools__Profiles__Mapping *[]){ &mapping };
		pack_piece(pack, &piece);
	}
}

static void write_functions(const struct merge *m, struct pack *pack)
{
	for (uint32_t i = 0; i < m->functions.count; i++) {
		Perftools__Profiles__Function f = PERFTOOLS__PROFILES__FUNCTION__INIT;
		Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
		const struct merged_function from = merge_read_function(m, i);

		f.id = (uint64_t)i + 1;
		f.name = (int64_t)from.name;
		f.system_name = (int64_t)from.system_name;
		f.filename = (int64_t)from.file;
		f.start_line = (int64_t)from.line;
		piece.n_function = 1;
		piece.function = (Perftools__Profiles__Function *[]){ &f };
		pack_piece(pack, &piece);
	}
}

static void write_location(const struct merge *m, uint32_t id, struct pack *pack)
{
	Perftools__Profiles__Location l = PERFTOOLS__PROFILES__LOCATION__INIT;
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Line line[PROFILE_LINES_MAX], *list[PROFILE_LINES_MAX];
	struct merged_line from[PROFILE_LINES_MAX];
	struct merged_location part = merge_read_location(m, id, from);

	l.id = (uint64_t)id + 1;
	l.address = part.address;
	l.mapping_id = part.mapping;
	l.is_folded = part.is_folded != 0;
	for (l.n_line = 0; l.n_line < part.lines; l.n_line++) {
		Perftools__Profiles__Line *next = list[l.n_line] = &line[l.n_line];
		perftools__profiles__line__init(next);
		next->function_id = from[l.n_line].function;
		next->line = (int64_t)from[l.n_line].line;
		next->column = (int64_t)from[l.n_line].column;
	}
	l.line = list;
	piece.n_location = 1;
	piece.location = (Perftools__Profiles__Location *[]){ &l };
	pack_piece(pack, &piece);
}

/* message Label { key = 1; str = 2; num = 3; num_unit = 4; }, field 3 of Sample */
static uint8_t *put_label(struct cursor *key, uint8_t *to)
{
	uint8_t fields[4 * (1 + WIRE_VARINT_MAX)], *end = fields;

	for (unsigned i = 1; i <= 4; i++)
		end = wire_number(end, i, cursor_uleb(key));
	to = wire_bytes(to, 3, (uint64_t)(end - fields));
	return mempcpy(to, fields, (size_t)(end - fields));
}

/* Copy the locations: the key has them in the encoding of a sample. */
static uint8_t *put_locations(struct cursor *key, uint8_t *to)
{
	uint64_t count = cursor_uleb(key);
	const uint8_t *first = key->at;

	for (uint64_t i = 0; i < count; i++)
		cursor_uleb(key);
	if (count == 0)
		return to;
	to = wire_bytes(to, 1, (uint64_t)(key->at - first));
	return mempcpy(to, first, (size_t)(key->at - first));
}

/* message Sample { location_id = 1; value = 2; label = 3; }, field 2 of Profile */
static void write_sample(const struct merge *m, uint32_t id, struct pack *pack, uint8_t *room)
{
	const int64_t *value = m->value + (size_t)id * m->types;
	struct cursor key = merge_numbers_of(&m->samples, id);
	uint64_t size = 0;

	for (uint32_t i = 0; i < m->types; i++)
		size += wire_size((uint64_t)value[i]);
	uint8_t *to = wire_bytes(put_locations(&key, room), 2, size);
	for (uint32_t i = 0; i < m->types; i++)
		to = wire_varint(to, (uint64_t)value[i]);
	while (cursor_left(&key) > 0)
		to = put_label(&key, to);
	size = (uint64_t)(to - room);
	uint8_t head[1 + WIRE_VARINT_MAX];
	size_t head_size = (size_t)(wire_bytes(head, 2, size) - head);
	to = mempcpy(pack_room(pack, head_size + size), head, head_size);
	memcpy(to, room, size);
}

static bool has_value(const struct merge *m, uint32_t id)
{
	for (uint32_t i = 0; i < m->types; i++)
		if (m->value[(size_t)id * m->types + i] != 0)
			return true;
	return false;
}

/* Write the samples that have a value other than 0. */
static void write_samples(const struct merge *m, struct pack *pack)
{
	const size_t heads = 3 * (1 + WIRE_VARINT_MAX), in_label = 4 + 2;
	size_t longest = 0;

	for (uint32_t i = 0; i < m->samples.count; i++)
		if (m->samples.item[i].size > longest)
			longest = m->samples.item[i].size;
	/* a label has at least four bytes in its key; encoded, it also has tags and lengths */
	uint8_t *room = mem_resize(NULL, heads + (size_t)m->types * WIRE_VARINT_MAX +
				   longest * (4 + in_label) / 4);
	for (uint32_t i = 0; i < m->samples.count; i++)
		if (has_value(m, i))
			write_sample(m, i, pack, room);
	free(room);
}

static void write_types(const struct merge *m, struct pack *pack)
{
	for (uint32_t i = 0; i <= m->types; i++) {
		Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
		Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
		Perftools__Profiles__ValueType *types[] = { &type };

		type.type = (int64_t)m->type[2 * i];
		type.unit = (int64_t)m->type[2 * i + 1];
		if (i < m->types) {
			piece.n_sample_type = 1;
			piece.sample_type = types;
		} else if (type.type) {
			piece.period_type = &type;
		}
		pack_piece(pack, &piece);
	}
}

/* Return the strings of LINES; the caller frees. */
static int64_t *strings_of(const struct byte_ids *lines)
{
	int64_t *string = mem_zeroed(lines->count, sizeof(*string));

	for (uint32_t i = 0; i < lines->count; i++) {
		struct cursor key = merge_numbers_of(lines, i);
		string[i] = (int64_t)cursor_uleb(&key);
	}
	return string;
}

static void write_rest(const struct merge *m, struct pack *pack)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;

	piece.n_comment = m->comments.count;
	piece.comment = strings_of(&m->comments);
	piece.n_fact = m->facts.count;
	piece.fact = strings_of(&m->facts);
	piece.n_string_table = m->strings.count;
	piece.string_table = (char **)(uintptr_t)m->strings.text;	/* packing reads it only */
	piece.default_sample_type = m->default_type;
	piece.drop_frames = m->drop;
	piece.keep_frames = m->keep;
	piece.doc_url = m->doc_url;
	piece.time_nanos = m->time;
	piece.duration_nanos = m->duration;
	piece.period = m->period;
	pack_piece(pack, &piece);
	free(piece.comment);
	free(piece.fact);
}

struct pack *merge_pack(struct merge *m)
{
	struct pack *pack = pack_open();
	char text[FIGURES_SIZE];

	figures_write_sides(text, &m->sides);
	if (m->has_base)
		merge_add_text(m, &m->facts, text);
	if (m->types > 0)
		write_types(m, pack);
	write_samples(m, pack);
	write_mappings(m, pack);
	for (uint32_t i = 0; i < m->locations.count; i++)
		write_location(m, i, pack);
	write_functions(m, pack);
	write_rest(m, pack);
	return pack;
}

void merge_write(struct merge *m, enum pack_how how, struct output *out)
{
	if (merge_was_cut(m))
		report_error(out->report, "sums do not fit into 64 bits: they are cut");
	pack_close(merge_pack(m), how, out);
	merge_free(m);
}
