/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/merge-internal.h"
#include "base/saturate.h"
#include "pprof/merge-parts.h"

/* One profile while it is added.  The arrays map its indices to new ids; TABLE_NONE: not yet. */
struct merge_input {
	struct merge *m;
	const struct decoded *d;
	enum merge_side side;
	const uint32_t *place;	/* type of the sum, by type of D; NULL: they have the same */
	uint32_t *string, *mapping, *function, *location;
	uint64_t *shift;	/* by index of a mapping: new minus old address */
};

struct merge *merge_new(void)
{
	struct merge *m = mem_zeroed(1, sizeof(*m));

	m->line = mem_zeroed(PROFILE_LINES_MAX, sizeof(*m->line));
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

uint32_t merge_mapping(struct merge *m, const struct merged_mapping *part)
{
	const uint64_t page = 4096;

	merge_begin_key(m);
	merge_add_number(m, (part->limit - part->start + page - 1) / page);
	merge_add_number(m, part->offset);
	merge_add_number(m, (uint64_t)(part->build_id ? part->build_id : part->file));
	uint32_t count = m->mappings.count, id = merge_end_key(m, &m->mappings);
	if (id == count) {
		m->mapping = array_grow(m->mapping, count, sizeof(*m->mapping));
		m->mapping[id] = *part;
	}
	return id;
}

uint32_t merge_function(struct merge *m, const struct merged_function *part)
{
	merge_begin_key(m);
	merge_add_number(m, part->name);
	merge_add_number(m, part->system_name);
	merge_add_number(m, part->file);
	merge_add_number(m, part->line);
	return merge_end_key(m, &m->functions);
}

/* The key: address, mapping, is_folded, then function, line, column of each line. */
uint32_t merge_location(struct merge *m, const struct merged_location *part)
{
	merge_begin_key(m);
	merge_add_number(m, part->address);
	merge_add_number(m, part->mapping);
	merge_add_number(m, part->is_folded);
	for (uint32_t i = 0; i < part->lines; i++) {
		merge_add_number(m, m->line[i].function);
		merge_add_number(m, m->line[i].line);
		merge_add_number(m, m->line[i].column);
	}
	return merge_end_key(m, &m->locations);
}

struct merged_function merge_read_function(const struct merge *m, uint32_t id)
{
	struct cursor key = merge_numbers_of(&m->functions, id);
	struct merged_function f = { .name = cursor_uleb(&key) };

	f.system_name = cursor_uleb(&key);
	f.file = cursor_uleb(&key);
	f.line = cursor_uleb(&key);
	return f;
}

struct merged_location merge_read_location(const struct merge *m, uint32_t id,
					   struct merged_line *line)
{
	struct cursor key = merge_numbers_of(&m->locations, id);
	struct merged_location l = { .address = cursor_uleb(&key) };

	l.mapping = cursor_uleb(&key);
	l.is_folded = cursor_uleb(&key);
	for (; cursor_left(&key) > 0; l.lines++) {
		line[l.lines].function = cursor_uleb(&key);
		line[l.lines].line = cursor_uleb(&key);
		line[l.lines].column = cursor_uleb(&key);
	}
	return l;
}

static int compare_labels(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct merged_label));
}

/* The labels in the key are sorted: their order does not matter. */
int64_t *merge_sample(struct merge *m, size_t labels)
{
	if (labels > 1)
		qsort(m->label, labels, sizeof(*m->label), compare_labels);
	for (size_t i = 0; i < labels; i++) {
		merge_add_number(m, m->label[i].key);
		merge_add_number(m, m->label[i].text);
		merge_add_number(m, m->label[i].number);
		merge_add_number(m, m->label[i].unit);
	}
	uint32_t count = m->samples.count, id = merge_end_key(m, &m->samples);
	size_t size = m->types * sizeof(*m->value);
	if (id == count) {
		m->value = array_grow(m->value, count, size);
		memset(m->value + (size_t)id * m->types, 0, size);
	}
	return m->value + (size_t)id * m->types;
}

/* Return 1 + the new id of the mapping with index AT; 0: none. */
static uint64_t map_mapping(struct merge_input *s, uint32_t at)
{
	if (at == TABLE_NONE)
		return 0;
	if (s->mapping[at] != TABLE_NONE)
		return (uint64_t)s->mapping[at] + 1;
	struct decoded_mapping old = decoded_mapping(s->d, at);
	const struct merged_mapping part = {
		old.start, old.limit, old.offset, (int64_t)string_of(s, old.file),
		(int64_t)string_of(s, old.build_id), old.has_functions, old.has_files,
		old.has_lines, old.has_inlines };
	uint32_t new = s->mapping[at] = merge_mapping(s->m, &part);
	s->shift[at] = s->m->mapping[new].start - old.start;
	return (uint64_t)new + 1;
}

static uint64_t map_function(struct merge_input *s, uint32_t at)
{
	if (at == TABLE_NONE)
		return 0;
	if (s->function[at] == TABLE_NONE) {
		struct decoded_function f = decoded_function(s->d, at);
		const struct merged_function part = {
			string_of(s, f.name), string_of(s, f.system_name), string_of(s, f.file),
			(uint64_t)f.line };
		s->function[at] = merge_function(s->m, &part);
	}
	return (uint64_t)s->function[at] + 1;
}

static uint64_t map_location(struct merge_input *s, uint32_t at)
{
	struct decoded_line line;

	if (at == TABLE_NONE)
		return 0;
	if (s->location[at] != TABLE_NONE)
		return (uint64_t)s->location[at] + 1;
	struct decoded_location l = decoded_location(s->d, at);
	struct merged_location part = { .mapping = map_mapping(s, l.mapping),
					.is_folded = l.is_folded };
	/* the sum may have this mapping at another address */
	part.address = l.address + (part.mapping ? s->shift[l.mapping] : 0);
	while (decoded_next_line(s->d, &l, &line))
		s->m->line[part.lines++] = (struct merged_line){
			map_function(s, line.function), (uint64_t)line.line,
			(uint64_t)line.column };
	s->location[at] = merge_location(s->m, &part);
	return (uint64_t)s->location[at] + 1;
}

/* Return the string of the value of L; 0: it is a number. */
static uint64_t text_of(struct merge_input *s, const struct decoded_label *l)
{
	return l->text && !*decoded_string(s->d, l->text) ? s->m->empty : string_of(s, l->text);
}

/* Store the labels at m->label, and return their number. */
static size_t take_labels(struct merge_input *s, const struct decoded_sample *sample)
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
	return count;
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
	merge_begin_key(m);
	merge_add_number(m, known);
	for (size_t i = 0; i < sample->locations; i++)
		if (sample->location[i] != TABLE_NONE)
			merge_add_number(m, map_location(s, sample->location[i]));
	int64_t *value = merge_sample(m, take_labels(s, sample));
	for (uint32_t i = 0; i < s->d->types; i++) {
		uint32_t to = s->place ? s->place[i] : i;
		if (to != TABLE_NONE)
			m->is_cut |= s->side == MERGE_BASE
				     ? !saturate_subtract(&value[to], sample->value[i])
				     : !saturate_add(&value[to], sample->value[i]);
	}
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
	if (m->any_period)
		memcpy(m->type + 2 * m->types, type + 2 * s->d->types, 2 * sizeof(*type));
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
	m->any_period &= !same;
	free(type);
	return same;
}

void merge_add_text(struct merge *m, struct byte_ids *lines, const char *text)
{
	merge_begin_key(m);
	merge_add_number(m, intern_text(&m->strings, text));
	merge_end_key(m, lines);
}

/* Return the type of the sum that the profile's type NAME is; TABLE_NONE: it is left out. */
static uint32_t place_of(const struct merge_input *s, const char *name)
{
	uint32_t type = 0;

	while (type < s->d->types && strcmp(decoded_string(s->d, s->d->type[type].type), name))
		type++;
	return type < s->d->types ? s->place[type] : TABLE_NONE;
}

/*
 * Write FACT of a profile to TEXT, with the names that its types have in the sum.  Return false if
 * it is about a type that is left out.
 */
static bool write_fact(const struct merge_input *s, const char *fact, char text[FIGURES_SIZE])
{
	struct figures_text room;
	struct figures f;

	snprintf(text, FIGURES_SIZE, "%s%s", s->side == MERGE_BASE ? FIGURES_OF_BASE : "", fact);
	if (!s->place || !figures_read(fact, &f, &room))
		return true;
	uint32_t count = place_of(s, f.count), value = place_of(s, f.value);
	if (count == TABLE_NONE || value == TABLE_NONE)
		return false;
	f.count = s->m->strings.text[s->m->type[2 * count]];
	f.value = s->m->strings.text[s->m->type[2 * value]];
	figures_write(text, &f);
	return true;
}

/* Add the facts of a profile.  The facts of a base get a prefix that says so. */
static void add_facts(struct merge_input *s)
{
	bool is_base = s->side == MERGE_BASE;
	struct figures_side *side = is_base ? &s->m->sides.base : &s->m->sides.after;
	const struct decoded *d = s->d;
	char text[FIGURES_SIZE];

	s->m->has_base |= is_base;
	for (uint32_t i = 0; i < d->facts; i++)
		if (write_fact(s, decoded_string(d, d->fact[i]), text))
			merge_add_text(s->m, &s->m->facts, text);
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

	part_origin(m, d);
	m->period = d->period > m->period ? d->period : m->period;
	if (!m->default_type)
		m->default_type = (int64_t)string_of(s, d->default_type);
	if (!m->doc_url)
		m->doc_url = (int64_t)string_of(s, d->doc_url);
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

bool merge_was_cut(struct merge *m)
{
	bool was_cut = m->is_cut;

	m->is_cut = false;
	return was_cut;
}

void merge_comment(struct merge *m, const char *text)
{
	merge_add_text(m, &m->comments, text);
}

/* Add the profile of S, whose types are those of the sum, or have a place there. */
static void add_profile(struct merge_input *s)
{
	if (s->d->mappings.count > 0)
		map_mapping(s, 0);	/* the main mapping stays first */
	add_samples(s);
	add_header(s);
}

static struct merge_input begin_input(struct merge *m, const struct decoded *d)
{
	return (struct merge_input){
		.m = m, .d = d, .string = unknown_ids(d->strings),
		.mapping = unknown_ids(d->mappings.count),
		.shift = mem_zeroed(d->mappings.count, sizeof(uint64_t)),
		.function = unknown_ids(d->functions.count),
		.location = unknown_ids(d->locations.count),
	};
}

static void end_input(struct merge_input *s)
{
	free(s->string);
	free(s->mapping);
	free(s->shift);
	free(s->function);
	free(s->location);
}

bool merge_add(struct merge *m, const struct decoded *d, enum merge_side side, const char *file,
	       struct report *report)
{
	struct merge_input s = begin_input(m, d);

	s.side = side;
	bool good = agree_on_types(&s, file, report);
	if (good)
		add_profile(&s);
	end_input(&s);
	return good;
}

/* The profiles are of one recording, so they have one time; the first one's period is the sum's. */
void merge_add_beside(struct merge *m, const struct decoded *d, const uint32_t *place)
{
	struct merge_input s = begin_input(m, d);
	int64_t duration = m->duration, period = m->period;
	bool is_first = m->any_period;

	s.side = MERGE_SUM;
	s.place = place;
	if (is_first) {
		m->type[2 * m->types] = string_of(&s, d->period_type.type);
		m->type[2 * m->types + 1] = string_of(&s, d->period_type.unit);
		m->any_period = false;
	}
	add_profile(&s);
	m->duration = duration > d->duration ? duration : d->duration;
	m->period = is_first ? m->period : period;
	end_input(&s);
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
	byte_ids_release(&m->objects);
	free(m->first);
	free(m->next);
	free(m->mapping);
	free(m->value);
	free(m->type);
	free(m->key.at);
	free(m->line);
	free(m->label);
	free(m);
}
