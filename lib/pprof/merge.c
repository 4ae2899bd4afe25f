/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key of a mapping, function, location or sample is its fields as varints, in which
 * references are new ids.  Equal parts of two profiles have equal keys, so only the keys
 * are kept.  A key is about as long as its part in the profile.
 */
#include "pprof/merge.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte-ids.h"
#include "base/cursor.h"
#include "base/intern.h"
#include "base/saturate.h"
#include "pprof/figures.h"
#include "pprof/wire.h"
#include "profile.pb-c.h"

/* A mapping as it is written.  Its key has only the fields that identify it. */
struct merged_mapping {
	uint64_t start, limit, offset;
	int64_t file, build_id;
	bool functions, files, lines, inlines;
};

/* A label as it is written: strings and a number. */
struct merged_label {
	uint64_t key, text, number, unit;
};

struct merge {
	struct intern strings;
	uint32_t empty;				/* string of labels that are empty texts */
	struct byte_ids mappings, functions, locations, samples, comments, facts;
	struct figures_sides sides;		/* times of what was added and subtracted */
	bool has_base, is_cut;			/* IS_CUT: a sum does not fit into 64 bits */
	struct merged_mapping *mapping;		/* by id */
	int64_t *value;				/* TYPES values for each sample */
	uint32_t types;				/* sample types; 0: no profile was added */
	uint64_t *type;				/* strings: type, unit of each, then of period */
	int64_t time, duration, period, default_type, drop, keep, doc_url;
	struct buffer key;			/* the key that is being built */
	struct merged_label *label;		/* of one sample; room for PROFILE_LABELS_MAX + 1 */
};

/* One profile while it is added.  The arrays map its indices to new ids; TABLE_NONE: not yet. */
struct merge_input {
	struct merge *m;
	const struct decoded *d;
	enum merge_side side;
	uint32_t *string, *mapping, *function, *location;
	uint64_t *shift;	/* by index of a mapping: new minus old address */
};

struct merge *merge_new(void)
{
	struct merge *m = mem_zeroed(1, sizeof(*m));

	m->label = mem_zeroed(PROFILE_LABELS_MAX + 1, sizeof(*m->label));
	m->empty = intern_empty(&m->strings);
	return m;
}

static uint64_t string_of(struct merge_input *s, uint32_t index)
{
	if (s->string[index] == TABLE_NONE)
		s->string[index] = intern_text(&s->m->strings, decoded_string(s->d, index));
	return s->string[index];
}

static void begin_key(struct merge *m)
{
	m->key.size = 0;
}

static void add_number(struct merge *m, uint64_t number)
{
	uint8_t *end = buffer_end(&m->key, WIRE_VARINT_MAX);

	m->key.size = (size_t)(wire_varint(end, number) - m->key.at);
}

static uint32_t end_key(struct merge *m, struct byte_ids *in)
{
	return byte_ids_add(in, m->key.at, m->key.size);
}

/* Return a cursor at the first number of key ID. */
static struct cursor numbers_of(const struct byte_ids *in, uint32_t id)
{
	const uint8_t *bytes = in->item[id].bytes;

	return (struct cursor){ .at = bytes, .end = bytes + in->item[id].size };
}

/* Return 1 + the new id of the mapping with index AT; 0: none. */
static uint64_t map_mapping(struct merge_input *s, uint32_t at)
{
	const uint64_t page = 4096;
	struct merge *m = s->m;

	if (at == TABLE_NONE)
		return 0;
	if (s->mapping[at] != TABLE_NONE)
		return (uint64_t)s->mapping[at] + 1;
	struct decoded_mapping old = decoded_mapping(s->d, at);
	uint64_t build_id = string_of(s, old.build_id), file = string_of(s, old.file);
	begin_key(m);
	add_number(m, (old.limit - old.start + page - 1) / page);
	add_number(m, old.offset);
	add_number(m, build_id ? build_id : file);
	uint32_t count = m->mappings.count, new = end_key(m, &m->mappings);
	if (new == count) {
		m->mapping = array_grow(m->mapping, count, sizeof(*m->mapping));
		m->mapping[new] = (struct merged_mapping){
			old.start, old.limit, old.offset, (int64_t)file, (int64_t)build_id,
			old.has_functions, old.has_files, old.has_lines, old.has_inlines };
	}
	s->mapping[at] = new;
	s->shift[at] = m->mapping[new].start - old.start;
	return (uint64_t)new + 1;
}

static uint64_t map_function(struct merge_input *s, uint32_t at)
{
	struct merge *m = s->m;

	if (at == TABLE_NONE)
		return 0;
	if (s->function[at] == TABLE_NONE) {
		struct decoded_function f = decoded_function(s->d, at);
		uint64_t name = string_of(s, f.name), system = string_of(s, f.system_name);
		uint64_t file = string_of(s, f.file);
		begin_key(m);
		add_number(m, name);
		add_number(m, system);
		add_number(m, file);
		add_number(m, (uint64_t)f.line);
		s->function[at] = end_key(m, &m->functions);
	}
	return (uint64_t)s->function[at] + 1;
}

/* The key: address, mapping, is_folded, then function, line, column of each line. */
static uint64_t map_location(struct merge_input *s, uint32_t at)
{
	struct merge *m = s->m;
	struct decoded_line line;

	if (at == TABLE_NONE)
		return 0;
	if (s->location[at] != TABLE_NONE)
		return (uint64_t)s->location[at] + 1;
	struct decoded_location l = decoded_location(s->d, at);
	uint64_t mapping = map_mapping(s, l.mapping);
	/* the sum may have this mapping at another address */
	uint64_t address = l.address + (mapping ? s->shift[l.mapping] : 0);
	struct decoded_location lines = l;
	while (decoded_next_line(s->d, &l, &line))	/* map_function() overwrites m->key */
		map_function(s, line.function);
	begin_key(m);
	add_number(m, address);
	add_number(m, mapping);
	add_number(m, l.is_folded);
	while (decoded_next_line(s->d, &lines, &line)) {
		add_number(m, map_function(s, line.function));
		add_number(m, (uint64_t)line.line);
		add_number(m, (uint64_t)line.column);
	}
	s->location[at] = end_key(m, &m->locations);
	return (uint64_t)s->location[at] + 1;
}

static int compare_labels(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct merged_label));
}

/* Return the string of the value of L; 0: it is a number. */
static uint64_t text_of(struct merge_input *s, const struct decoded_label *l)
{
	return l->text && !*decoded_string(s->d, l->text) ? s->m->empty : string_of(s, l->text);
}

/* Add key, text, number, unit of each label.  They are sorted: their order does not matter. */
static void add_labels(struct merge_input *s, const struct decoded_sample *sample)
{
	struct merge *m = s->m;
	size_t count = 0;

	for (size_t i = 0; i < sample->labels; i++) {
		const struct decoded_label *l = &sample->label[i];
		if (s->side == MERGE_BASE && !strcmp(decoded_string(s->d, l->key), PROFILE_BASE))
			continue;
		m->label[count++] = (struct merged_label){
			string_of(s, l->key), text_of(s, l), (uint64_t)l->number,
			string_of(s, l->unit) };
	}
	if (s->side == MERGE_BASE)
		m->label[count++] = (struct merged_label){
			intern_text(&m->strings, PROFILE_BASE), intern_text(&m->strings, "true"),
			0, 0 };
	if (count > 1)
		qsort(m->label, count, sizeof(*m->label), compare_labels);
	for (size_t i = 0; i < count; i++) {
		add_number(m, m->label[i].key);
		add_number(m, m->label[i].text);
		add_number(m, m->label[i].number);
		add_number(m, m->label[i].unit);
	}
}

/*
 * The key: number of locations, the locations, then the labels.  Locations that the profile does
 * not define are left out, as pprof refuses a profile with such a sample.
 */
static void add_sample(struct merge_input *s, const struct decoded_sample *sample)
{
	struct merge *m = s->m;
	size_t known = 0;

	for (size_t i = 0; i < sample->locations; i++)	/* map_location() overwrites m->key */
		known += map_location(s, sample->location[i]) != 0;
	begin_key(m);
	add_number(m, known);
	for (size_t i = 0; i < sample->locations; i++)
		if (sample->location[i] != TABLE_NONE)
			add_number(m, map_location(s, sample->location[i]));
	add_labels(s, sample);
	uint32_t count = m->samples.count, id = end_key(m, &m->samples);
	if (id == count) {
		m->value = array_grow(m->value, count, m->types * sizeof(*m->value));
		memset(m->value + (size_t)id * m->types, 0, m->types * sizeof(*m->value));
	}
	int64_t *value = m->value + (size_t)id * m->types;
	for (uint32_t i = 0; i < m->types; i++)
		m->is_cut |= s->side == MERGE_BASE
			     ? !saturate_subtract(&value[i], sample->value[i])
			     : !saturate_add(&value[i], sample->value[i]);
}

/* Store the type and unit (strings) of each sample type, then those of the period, at TYPE. */
static void take_types(struct merge_input *s, uint64_t *type)
{
	const struct decoded *d = s->d;

	for (uint32_t i = 0; i < d->types; i++) {
		*type++ = string_of(s, d->type[i].type);
		*type++ = string_of(s, d->type[i].unit);
	}
	*type++ = string_of(s, d->period_type.type);
	*type++ = string_of(s, d->period_type.unit);
}

static bool agree_on_types(struct merge_input *s, const char *file, struct report *report)
{
	struct merge *m = s->m;
	size_t size = 2 * ((size_t)s->d->types + 1) * sizeof(uint64_t);
	uint64_t *type = mem_zeroed(1, size);

	take_types(s, type);
	if (m->types == 0) {
		m->types = s->d->types;
		m->type = type;
		m->drop = (int64_t)string_of(s, s->d->drop_frames);
		m->keep = (int64_t)string_of(s, s->d->keep_frames);
		return true;
	}
	bool same = m->types == s->d->types && !memcmp(type, m->type, size);
	if (!same)
		report_error(report, "'%s' has other sample types than the profile before: they "
			     "cannot be merged", file);
	free(type);
	return same;
}

/* Add TEXT to LINES, in which each key is a string. */
static void add_text(struct merge *m, struct byte_ids *lines, const char *text)
{
	begin_key(m);
	add_number(m, intern_text(&m->strings, text));
	end_key(m, lines);
}

/* Add the facts of a profile.  The facts of a base get a prefix that says so. */
static void add_facts(struct merge_input *s)
{
	bool is_base = s->side == MERGE_BASE;
	struct figures_side *side = is_base ? &s->m->sides.base : &s->m->sides.after;
	const struct decoded *d = s->d;
	char text[FIGURES_SIZE];

	s->m->has_base |= is_base;
	for (uint32_t i = 0; i < d->facts; i++) {
		snprintf(text, sizeof(text), "%s%s", is_base ? FIGURES_OF_BASE : "",
			 decoded_string(d, d->fact[i]));
		add_text(s->m, &s->m->facts, text);
	}
	if (d->time && (side->time == 0 || d->time < side->time))
		side->time = d->time;
	saturate_add(&side->duration, d->duration);
}

/*
 * Add time, duration, period, comments, for a base too, as pprof does, and facts.  The default type
 * and the URL of the documentation are those of the first profile that has one.
 */
static void add_header(struct merge_input *s)
{
	struct merge *m = s->m;
	const struct decoded *d = s->d;

	if (d->time && (m->time == 0 || d->time < m->time))
		m->time = d->time;
	m->is_cut |= !saturate_add(&m->duration, d->duration);
	m->period = d->period > m->period ? d->period : m->period;
	if (!m->default_type)
		m->default_type = (int64_t)string_of(s, d->default_type);
	if (!m->doc_url)
		m->doc_url = (int64_t)string_of(s, d->doc_url);
	for (uint32_t i = 0; i < d->comments; i++)
		add_text(m, &m->comments, decoded_string(d, d->comment[i]));
	add_facts(s);
}

static uint32_t *unknown_ids(uint32_t count)
{
	size_t size = ((size_t)count + 1) * sizeof(uint32_t);

	return memset(mem_resize(NULL, size), 0xff, size);
}

static void add_samples(struct merge_input *s)
{
	struct decoded_reader reader = { .d = s->d };

	while (decoded_next(&reader))
		add_sample(s, &reader.sample);
	decoded_reader_release(&reader);
}

void merge_comment(struct merge *m, const char *text)
{
	add_text(m, &m->comments, text);
}

bool merge_add(struct merge *m, const struct decoded *d, enum merge_side side, const char *file,
	       struct report *report)
{
	struct merge_input s = { .m = m, .d = d, .side = side };

	s.string = unknown_ids(d->strings);
	s.mapping = unknown_ids(d->mappings.count);
	s.shift = mem_zeroed(d->mappings.count, sizeof(*s.shift));
	s.function = unknown_ids(d->functions.count);
	s.location = unknown_ids(d->locations.count);
	bool good = agree_on_types(&s, file, report);
	if (good) {
		if (d->mappings.count > 0)
			map_mapping(&s, 0);	/* the main mapping stays first */
		add_samples(&s);
		add_header(&s);
	}
	free(s.string);
	free(s.mapping);
	free(s.shift);
	free(s.function);
	free(s.location);
	return good;
}

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
		struct cursor key = numbers_of(&m->functions, i);

		f.id = (uint64_t)i + 1;
		f.name = (int64_t)cursor_uleb(&key);
		f.system_name = (int64_t)cursor_uleb(&key);
		f.filename = (int64_t)cursor_uleb(&key);
		f.start_line = (int64_t)cursor_uleb(&key);
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
	struct cursor key = numbers_of(&m->locations, id);

	l.id = (uint64_t)id + 1;
	l.address = cursor_uleb(&key);
	l.mapping_id = cursor_uleb(&key);
	l.is_folded = cursor_uleb(&key) != 0;
	for (l.n_line = 0; cursor_left(&key) > 0; l.n_line++) {
		Perftools__Profiles__Line *next = list[l.n_line] = &line[l.n_line];
		perftools__profiles__line__init(next);
		next->function_id = cursor_uleb(&key);
		next->line = (int64_t)cursor_uleb(&key);
		next->column = (int64_t)cursor_uleb(&key);
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
	struct cursor key = numbers_of(&m->samples, id);
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
		struct cursor key = numbers_of(lines, i);
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

void merge_write(struct merge *m, enum pack_how how, struct output *out)
{
	struct pack *pack = pack_open();
	char text[FIGURES_SIZE];

	if (m->is_cut)
		report_error(out->report, "sums do not fit into 64 bits: they are cut");
	figures_write_sides(text, &m->sides);
	if (m->has_base)
		add_text(m, &m->facts, text);
	if (m->types > 0)
		write_types(m, pack);
	write_samples(m, pack);
	write_mappings(m, pack);
	for (uint32_t i = 0; i < m->locations.count; i++)
		write_location(m, i, pack);
	write_functions(m, pack);
	write_rest(m, pack);
	pack_close(pack, how, out);
	merge_free(m);
}

void merge_free(struct merge *m)
{
	if (!m)
		return;
	intern_release(&m->strings);
	byte_ids_release(&m->mappings);
	byte_ids_release(&m->functions);
	byte_ids_release(&m->locations);
	byte_ids_release(&m->samples);
	byte_ids_release(&m->comments);
	byte_ids_release(&m->facts);
	free(m->mapping);
	free(m->value);
	free(m->type);
	free(m->key.at);
	free(m->label);
	free(m);
}
