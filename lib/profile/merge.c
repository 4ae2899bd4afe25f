/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each thing's key is its fields as 64-bit words, with the new ids of what it
 * refers to: so equal things of two profiles have equal keys, and the keys are
 * all that has to be kept of them.
 */
#include "profile/merge.h"
#include "base/arena.h"
#include "base/intern.h"
#include "profile/by-id.h"
#include "profile/keyed.h"

/* Words being put together. */
struct words_buffer {
	uint64_t *word;
	size_t count, capacity;
};

/* A mapping as it is written; its key is only what makes it the same. */
struct merged_mapping {
	uint64_t start, limit, offset;
	int64_t file, build_id;
	bool functions, files, lines, inlines;
};

struct merge {
	struct report *report;
	struct intern strings;
	struct keyed mappings, functions, locations, samples, comments;
	struct merged_mapping *mapping;		/* by id */
	int64_t *value;				/* TYPES of each sample */
	uint32_t types;				/* sample types; 0: no profile has come */
	uint64_t *type;				/* type, unit of each, then the period's: strings */
	int64_t default_type;
	int64_t time, duration, period;
	int64_t drop, keep;
	struct words_buffer key;
};

/* One profile, while it is added. */
struct source {
	struct merge *m;
	const Perftools__Profiles__Profile *p;
	enum merge_side side;
	struct table mappings, functions, locations;	/* by id: indices in P's arrays */
	uint32_t *mapping, *function, *location;	/* by index: new ids; TABLE_NONE: not yet */
};

struct merge *merge_new(struct report *report)
{
	struct merge *m = mem_zeroed(1, sizeof(*m));

	m->report = report;
	intern_text(&m->strings, "");
	return m;
}

static uint64_t string_of(struct source *s, int64_t index)
{
	return intern_text(&s->m->strings, profile_string(s->p, index));
}

static void begin_key(struct merge *m)
{
	m->key.count = 0;
}

static void add_word(struct merge *m, uint64_t word)
{
	if (m->key.count == m->key.capacity) {
		m->key.capacity = 2 * m->key.capacity + 64;
		m->key.word = mem_resize(m->key.word, m->key.capacity * sizeof(word));
	}
	m->key.word[m->key.count++] = word;
}

static uint32_t end_key(struct merge *m, struct keyed *in)
{
	return keyed_id(in, m->key.word, m->key.count * sizeof(*m->key.word));
}

/* The new id of a mapping by its old one, plus 1; 0: none. */
static uint64_t map_mapping(struct source *s, uint64_t id)
{
	const uint64_t page = 4096;
	struct merge *m = s->m;
	uint32_t at;

	BY_ID_FIND(at, s->mappings, s->p->mapping, id);
	if (id == 0 || at == TABLE_NONE)
		return 0;
	if (s->mapping[at] != TABLE_NONE)
		return (uint64_t)s->mapping[at] + 1;
	const Perftools__Profiles__Mapping *old = s->p->mapping[at];
	uint64_t build_id = string_of(s, old->build_id), file = string_of(s, old->filename);
	uint64_t size = old->memory_limit - old->memory_start;
	begin_key(m);
	add_word(m, (size + page - 1) / page);
	add_word(m, old->file_offset);
	add_word(m, build_id ? build_id : file);
	uint32_t count = m->mappings.count, new = end_key(m, &m->mappings);
	if (new == count) {
		m->mapping = array_grow(m->mapping, count, sizeof(*m->mapping));
		m->mapping[new] = (struct merged_mapping){
			old->memory_start, old->memory_limit, old->file_offset, (int64_t)file,
			(int64_t)build_id, old->has_functions, old->has_filenames,
			old->has_line_numbers, old->has_inline_frames };
	}
	s->mapping[at] = new;
	return (uint64_t)new + 1;
}

static uint64_t map_function(struct source *s, uint64_t id)
{
	struct merge *m = s->m;
	uint32_t at;

	BY_ID_FIND(at, s->functions, s->p->function, id);
	if (id == 0 || at == TABLE_NONE)
		return 0;
	if (s->function[at] == TABLE_NONE) {
		const Perftools__Profiles__Function *f = s->p->function[at];
		uint64_t name = string_of(s, f->name), system = string_of(s, f->system_name);
		uint64_t file = string_of(s, f->filename);
		begin_key(m);
		add_word(m, name);
		add_word(m, system);
		add_word(m, file);
		add_word(m, (uint64_t)f->start_line);
		s->function[at] = end_key(m, &m->functions);
	}
	return (uint64_t)s->function[at] + 1;
}

/* address, mapping, is_folded, then function, line, column of each line */
static uint64_t map_location(struct source *s, uint64_t id)
{
	struct merge *m = s->m;
	uint32_t at;

	BY_ID_FIND(at, s->locations, s->p->location, id);
	if (id == 0 || at == TABLE_NONE)
		return 0;
	if (s->location[at] != TABLE_NONE)
		return (uint64_t)s->location[at] + 1;
	const Perftools__Profiles__Location *l = s->p->location[at];
	uint64_t mapping = map_mapping(s, l->mapping_id), address = l->address;
	if (mapping) {		/* it may be mapped elsewhere in the joint profile */
		uint32_t old;
		BY_ID_FIND(old, s->mappings, s->p->mapping, l->mapping_id);
		address += m->mapping[mapping - 1].start - s->p->mapping[old]->memory_start;
	}
	for (size_t i = 0; i < l->n_line; i++)	/* these use the key's room, too */
		map_function(s, l->line[i]->function_id);
	begin_key(m);
	add_word(m, address);
	add_word(m, mapping);
	add_word(m, l->is_folded);
	for (size_t i = 0; i < l->n_line; i++) {
		uint32_t f;
		BY_ID_FIND(f, s->functions, s->p->function, l->line[i]->function_id);
		add_word(m, f == TABLE_NONE ? 0 : (uint64_t)s->function[f] + 1);
		add_word(m, (uint64_t)l->line[i]->line);
		add_word(m, (uint64_t)l->line[i]->column);
	}
	s->location[at] = end_key(m, &m->locations);
	return (uint64_t)s->location[at] + 1;
}

static int compare_labels(const void *a, const void *b)
{
	return memcmp(a, b, 4 * sizeof(uint64_t));
}

/* Key, text, number, unit of each label, in the order of these words. */
static void add_labels(struct source *s, const Perftools__Profiles__Sample *sample)
{
	struct merge *m = s->m;
	size_t first = m->key.count;

	for (size_t i = 0; i < sample->n_label; i++) {
		const Perftools__Profiles__Label *l = sample->label[i];
		if (s->side == MERGE_BASE && !strcmp(profile_string(s->p, l->key), PROFILE_BASE))
			continue;
		add_word(m, string_of(s, l->key));
		add_word(m, string_of(s, l->str));
		add_word(m, (uint64_t)l->num);
		add_word(m, string_of(s, l->num_unit));
	}
	if (s->side == MERGE_BASE) {
		add_word(m, intern_text(&m->strings, PROFILE_BASE));
		add_word(m, intern_text(&m->strings, "true"));
		add_word(m, 0);
		add_word(m, 0);
	}
	if (m->key.count > first)
		qsort(m->key.word + first, (m->key.count - first) / 4, 4 * sizeof(uint64_t),
		      compare_labels);
}

/* The key: locations, their count first, then labels. */
static void add_sample(struct source *s, const Perftools__Profiles__Sample *sample)
{
	const int64_t factor = s->side == MERGE_BASE ? -1 : 1;
	struct merge *m = s->m;

	for (size_t i = 0; i < sample->n_location_id; i++)
		map_location(s, sample->location_id[i]);
	begin_key(m);
	add_word(m, sample->n_location_id);
	for (size_t i = 0; i < sample->n_location_id; i++) {
		uint32_t at;
		BY_ID_FIND(at, s->locations, s->p->location, sample->location_id[i]);
		add_word(m, at == TABLE_NONE ? 0 : (uint64_t)s->location[at] + 1);
	}
	add_labels(s, sample);
	uint32_t count = m->samples.count, id = end_key(m, &m->samples);
	if (id == count) {
		m->value = array_grow(m->value, count, m->types * sizeof(*m->value));
		memset(m->value + (size_t)id * m->types, 0, m->types * sizeof(*m->value));
	}
	int64_t *value = m->value + (size_t)id * m->types;
	for (uint32_t i = 0; i < m->types; i++)		/* what does not fit wraps, as in pprof */
		value[i] = (int64_t)((uint64_t)value[i] +
				     (uint64_t)factor * (uint64_t)sample->value[i]);
}

/* Strings of type and unit of each sample type, and of the period. */
static void take_types(struct source *s, uint64_t *type)
{
	const Perftools__Profiles__Profile *p = s->p;

	for (size_t i = 0; i < p->n_sample_type; i++) {
		type[2 * i] = string_of(s, p->sample_type[i]->type);
		type[2 * i + 1] = string_of(s, p->sample_type[i]->unit);
	}
	type[2 * p->n_sample_type] = p->period_type ? string_of(s, p->period_type->type) : 0;
	type[2 * p->n_sample_type + 1] = p->period_type ? string_of(s, p->period_type->unit) : 0;
}

static bool agree_on_types(struct source *s, const char *file)
{
	struct merge *m = s->m;
	size_t size = 2 * (s->p->n_sample_type + 1) * sizeof(uint64_t);
	uint64_t *type = mem_zeroed(1, size);

	take_types(s, type);
	if (m->types == 0) {
		m->types = (uint32_t)s->p->n_sample_type;
		m->type = type;
		m->default_type = (int64_t)string_of(s, s->p->default_sample_type);
		m->drop = (int64_t)string_of(s, s->p->drop_frames);
		m->keep = (int64_t)string_of(s, s->p->keep_frames);
		return true;
	}
	bool same = m->types == s->p->n_sample_type && !memcmp(type, m->type, size);
	if (!same)
		report_error(m->report, "'%s' has other sample types than the profile before: they "
			     "cannot be merged", file);
	free(type);
	return same;
}

/* When, how long and the comments; also of what is taken away, as pprof does. */
static void add_about(struct source *s)
{
	struct merge *m = s->m;
	const Perftools__Profiles__Profile *p = s->p;

	if (p->time_nanos && (m->time == 0 || p->time_nanos < m->time))
		m->time = p->time_nanos;
	m->duration = (int64_t)((uint64_t)m->duration + (uint64_t)p->duration_nanos);
	m->period = p->period > m->period ? p->period : m->period;
	for (size_t i = 0; i < p->n_comment; i++) {
		uint64_t text = string_of(s, p->comment[i]);
		keyed_id(&m->comments, &text, sizeof(text));
	}
}

static uint32_t *unknown_ids(size_t count)
{
	uint32_t *id = mem_resize(NULL, (count + 1) * sizeof(*id));

	memset(id, 0xff, (count + 1) * sizeof(*id));
	return id;
}

bool merge_add(struct merge *m, const Perftools__Profiles__Profile *p, enum merge_side side,
	       const char *file)
{
	struct source s = { .m = m, .p = p, .side = side };
	bool good = agree_on_types(&s, file);

	BY_ID_INDEX(s.mappings, p->mapping, p->n_mapping);
	BY_ID_INDEX(s.functions, p->function, p->n_function);
	BY_ID_INDEX(s.locations, p->location, p->n_location);
	s.mapping = unknown_ids(p->n_mapping);
	s.function = unknown_ids(p->n_function);
	s.location = unknown_ids(p->n_location);
	if (good && p->n_mapping > 0)
		map_mapping(&s, p->mapping[0]->id);	/* the main one stays the first */
	for (size_t i = 0; good && i < p->n_sample; i++)
		add_sample(&s, p->sample[i]);
	if (good)
		add_about(&s);
	table_release(&s.mappings);
	table_release(&s.functions);
	table_release(&s.locations);
	free(s.mapping);
	free(s.function);
	free(s.location);
	return good;
}

static void write_piece(struct pack *pack, const Perftools__Profiles__Profile *piece)
{
	size_t size = perftools__profiles__profile__get_packed_size(piece);

	perftools__profiles__profile__pack(piece, pack_room(pack, size));
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
		write_piece(pack, &piece);
	}
}

static void write_functions(const struct merge *m, struct pack *pack)
{
	for (uint32_t i = 0; i < m->functions.count; i++) {
		Perftools__Profiles__Function f = PERFTOOLS__PROFILES__FUNCTION__INIT;
		Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
		const uint64_t *key = m->functions.item[i].bytes;

		f.id = (uint64_t)i + 1;
		f.name = (int64_t)key[0];
		f.system_name = (int64_t)key[1];
		f.filename = (int64_t)key[2];
		f.start_line = (int64_t)key[3];
		piece.n_function = 1;
		piece.function = (Perftools__Profiles__Function *[]){ &f };
		write_piece(pack, &piece);
	}
}

static void write_location(const struct merge *m, uint32_t id, struct pack *pack)
{
	Perftools__Profiles__Location l = PERFTOOLS__PROFILES__LOCATION__INIT;
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	const uint64_t *key = m->locations.item[id].bytes;
	size_t lines = (m->locations.item[id].size / sizeof(*key) - 3) / 3;
	Perftools__Profiles__Line *line = mem_zeroed(lines, sizeof(*line));
	Perftools__Profiles__Line **list = mem_zeroed(lines, sizeof(*list));

	for (size_t i = 0; i < lines; i++) {
		perftools__profiles__line__init(&line[i]);
		line[i].function_id = key[3 + 3 * i];
		line[i].line = (int64_t)key[4 + 3 * i];
		line[i].column = (int64_t)key[5 + 3 * i];
		list[i] = &line[i];
	}
	l.id = (uint64_t)id + 1;
	l.address = key[0];
	l.mapping_id = key[1];
	l.is_folded = key[2] != 0;
	l.n_line = lines;
	l.line = list;
	piece.n_location = 1;
	piece.location = (Perftools__Profiles__Location *[]){ &l };
	write_piece(pack, &piece);
	free(line);
	free(list);
}

static void write_sample(const struct merge *m, uint32_t id, struct pack *pack)
{
	Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT;
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	const uint64_t *key = m->samples.item[id].bytes;
	int64_t *value = m->value + (size_t)id * m->types;
	size_t labels = (m->samples.item[id].size / sizeof(*key) - 1 - key[0]) / 4;
	Perftools__Profiles__Label *label = mem_zeroed(labels, sizeof(*label));
	Perftools__Profiles__Label **list = mem_zeroed(labels, sizeof(*list));
	bool any = false;

	for (uint32_t i = 0; i < m->types; i++)
		any |= value[i] != 0;
	for (size_t i = 0; i < labels; i++) {
		const uint64_t *from = key + 1 + key[0] + 4 * i;
		perftools__profiles__label__init(&label[i]);
		label[i].key = (int64_t)from[0];
		label[i].str = (int64_t)from[1];
		label[i].num = (int64_t)from[2];
		label[i].num_unit = (int64_t)from[3];
		list[i] = &label[i];
	}
	sample.n_location_id = key[0];
	sample.location_id = (uint64_t *)(uintptr_t)(key + 1);	/* packing reads it only */
	sample.n_value = m->types;
	sample.value = value;
	sample.n_label = labels;
	sample.label = list;
	piece.n_sample = 1;
	piece.sample = (Perftools__Profiles__Sample *[]){ &sample };
	if (any)
		write_piece(pack, &piece);
	free(label);
	free(list);
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
		write_piece(pack, &piece);
	}
}

static void write_rest(const struct merge *m, struct pack *pack)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	int64_t *comment = mem_zeroed(m->comments.count, sizeof(*comment));

	for (uint32_t i = 0; i < m->comments.count; i++)
		memcpy(&comment[i], m->comments.item[i].bytes, sizeof(*comment));
	piece.n_comment = m->comments.count;
	piece.comment = comment;
	piece.n_string_table = m->strings.count;
	piece.string_table = (char **)(uintptr_t)m->strings.text;	/* packing reads it only */
	piece.default_sample_type = m->default_type;
	piece.drop_frames = m->drop;
	piece.keep_frames = m->keep;
	piece.time_nanos = m->time;
	piece.duration_nanos = m->duration;
	piece.period = m->period;
	write_piece(pack, &piece);
	free(comment);
}

void merge_write(struct merge *m, enum pack_how how, struct output *out)
{
	struct pack *pack = pack_open();

	if (m->types > 0)
		write_types(m, pack);
	for (uint32_t i = 0; i < m->samples.count; i++)
		write_sample(m, i, pack);
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
	keyed_release(&m->mappings);
	keyed_release(&m->functions);
	keyed_release(&m->locations);
	keyed_release(&m->samples);
	keyed_release(&m->comments);
	free(m->mapping);
	free(m->value);
	free(m->type);
	free(m->key.word);
	free(m);
}
