/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of rows: each frame is a location of its own, with one line. */
#include "base/saturate.h"
#include "pprof/comments.h"
#include "pprof/decode.h"
#include "pprof/figures.h"
#include "pprof/pack.h"
#include "pprof/row-profile.h"
#include "profile.pb-c.h"
#include "record/words.h"

struct encoding {
	struct row_profile *p;
	struct pack *pack;
	uint32_t column[ROW_TYPES_MAX], count[ROW_TYPES_MAX];	/* by type: where its values are;
						   where its samples are, or TABLE_NONE */
	uint32_t columns;
	uint32_t host_key, service_key;	/* strings: of the labels with hosts and services */
	int64_t *fact;			/* strings */
	uint32_t facts;
};

static const void *item(const struct byte_ids *ids, uint32_t id)
{
	return ids->item[id].bytes;
}

/* Append the type to the profile.  Return the index of its values. */
static uint32_t put_type(struct encoding *e, uint32_t type, uint32_t unit)
{
	Perftools__Profiles__ValueType it = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;

	it.type = type;
	it.unit = unit;
	piece.n_sample_type = 1;
	piece.sample_type = (Perftools__Profiles__ValueType *[]){ &it };
	pack_piece(e->pack, &piece);
	return e->columns++;
}

/* Return the index of the type in the rows, or TABLE_NONE. */
static uint32_t find_type(const struct row_profile *p, uint32_t type, uint32_t unit)
{
	for (uint32_t i = 0; i < p->types; i++)
		if (p->type[i].type == type && p->type[i].unit == unit)
			return i;
	return TABLE_NONE;
}

/* Return the name, a string, of the type that counts the samples of TYPE. */
static uint32_t name_of_count(struct row_profile *p, uint32_t type, bool is_only)
{
	struct intern *strings = &p->parts.strings;
	const char *name = strings->text[p->type[type].type];
	size_t size = strlen(name);

	if (is_only)
		return intern_text(strings, TYPE_SAMPLES);
	char *text = mem_resize(NULL, size + sizeof(TYPE_END_SAMPLES));
	memcpy(mempcpy(text, name, size), TYPE_END_SAMPLES, sizeof(TYPE_END_SAMPLES));
	uint32_t id = intern_text(strings, text);
	free(text);
	return id;
}

/*
 * Return the default type, a string: as for a stream, the waits of threads or the time that has
 * passed, if there are any; else what the first type of counts counts.
 */
static uint32_t default_type(const struct row_profile *p)
{
	static const char *const names[] = { TYPE_LATENCY, TYPE_WALL, TYPE_OFF_CPU };
	uint32_t unit = intern_find(&p->parts.strings, UNIT_TIME);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint32_t name = intern_find(&p->parts.strings, names[i]);
		if (find_type(p, name, unit) != TABLE_NONE)
			return name;
	}
	for (uint32_t i = 0; i < p->types; i++)
		if (p->type[i].is_counted)
			return p->type[i].type;
	return p->type[p->types - 1].type;
}

/* Append all types, each after the type of its count. */
static void put_types(struct encoding *e)
{
	struct row_profile *p = e->p;
	uint32_t unit = intern_text(&p->parts.strings, UNIT_COUNT), counted = 0;
	uint32_t count[ROW_TYPES_MAX];	/* by type: the type of its count, if that has rows, too */

	for (uint32_t i = 0; i < p->types; i++)
		counted += p->type[i].is_counted;
	for (uint32_t i = 0; i < p->types; i++) {
		const struct row_type type = p->type[i];
		e->count[i] = count[i] = TABLE_NONE;
		if (type.is_counted) {
			uint32_t name = name_of_count(p, i, counted == 1);
			count[i] = find_type(p, name, unit);
			if (count[i] == TABLE_NONE)
				e->count[i] = put_type(e, name, unit);
		}
		e->column[i] = put_type(e, type.type, type.unit);
	}
	for (uint32_t i = 0; i < p->types; i++)
		if (count[i] != TABLE_NONE)
			e->count[i] = e->column[count[i]];
}

static void set_label(Perftools__Profiles__Label *to, const struct parsed_label *from)
{
	perftools__profiles__label__init(to);
	to->key = from->key;
	to->str = from->text;
	to->num = from->number;
	to->num_unit = from->unit;
}

/* Return whether a set of labels has this KEY. */
static bool is_label(const struct byte_ids *sets, uint32_t key)
{
	for (uint32_t i = 0; i < sets->count; i++) {
		const struct parsed_label *label = item(sets, i);
		for (size_t k = 0; k < sets->item[i].size / sizeof(*label); k++)
			if (label[k].key == key)
				return true;
	}
	return false;
}

/* Return NAME, a string; or if rows have a label of that name, one that no label has. */
static uint32_t key_of_member(struct row_profile *p, const char *name)
{
	struct intern *strings = &p->parts.strings;
	uint32_t key = intern_text(strings, name);
	char other[32];

	for (unsigned i = 1; is_label(&p->parts.sets, key); i++) {
		snprintf(other, sizeof(other), "row_%s%.0u", name, i - 1);
		key = intern_text(strings, other);
	}
	return key;
}

/* Set LABEL, the labels of SAMPLE, and return their number. */
static size_t set_labels(const struct encoding *e, const struct row_sample *sample,
			 Perftools__Profiles__Label *label)
{
	const struct byte_ids *sets = &e->p->parts.sets;
	const struct parsed_label *from = item(sets, sample->set);
	size_t count = sets->item[sample->set].size / sizeof(*from);
	const struct parsed_label host = { .key = e->host_key, .text = sample->host };
	const struct parsed_label service = { .key = e->service_key, .text = sample->service };

	for (size_t i = 0; i < count; i++)
		set_label(&label[i], &from[i]);
	if (e->p->host.differs && sample->host)
		set_label(&label[count++], &host);
	if (e->p->service.differs && sample->service)
		set_label(&label[count++], &service);
	return count;
}

/* Return the locations of the stack ID, and set *COUNT; the caller frees. */
static uint64_t *locations_of(const struct encoding *e, uint32_t id, size_t *count)
{
	const struct byte_ids *chains = &e->p->parts.chains;
	const uint32_t *location = item(chains, id);

	*count = chains->item[id].size / sizeof(*location);
	uint64_t *ids = mem_resize(NULL, (*count + 1) * sizeof(*ids));
	for (size_t i = 0; i < *count; i++)
		ids[i] = (uint64_t)location[i] + 1;
	return ids;
}

static void put_sample(struct encoding *e, const struct row_sample *sample, int64_t *value,
		       Perftools__Profiles__Label *label, Perftools__Profiles__Label **labels)
{
	Perftools__Profiles__Sample s = PERFTOOLS__PROFILES__SAMPLE__INIT;
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;

	memset(value, 0, e->columns * sizeof(*value));
	for (uint32_t i = sample->cell; i != TABLE_NONE; i = e->p->cell[i].next) {
		const struct row_cell *cell = &e->p->cell[i];
		uint32_t count = e->count[cell->type];
		e->p->cut += !saturate_add(&value[e->column[cell->type]], cell->value);
		if (count != TABLE_NONE)
			e->p->cut += !saturate_add(&value[count], cell->samples);
	}
	s.n_value = e->columns;
	s.value = value;
	s.location_id = locations_of(e, sample->stack, &s.n_location_id);
	s.n_label = set_labels(e, sample, label);
	s.label = labels;
	piece.n_sample = 1;
	piece.sample = (Perftools__Profiles__Sample *[]){ &s };
	pack_piece(e->pack, &piece);
	free(s.location_id);
}

static void put_samples(struct encoding *e)
{
	enum { LABELS = PROFILE_LABELS_MAX + 2 };	/* also of the host and the service */
	int64_t *value = mem_zeroed(e->columns, sizeof(*value));
	Perftools__Profiles__Label *label = mem_zeroed(LABELS, sizeof(*label));
	Perftools__Profiles__Label **labels = mem_zeroed(LABELS, sizeof(*labels));

	for (int i = 0; i < LABELS; i++)
		labels[i] = &label[i];
	for (uint32_t i = 0; i < e->p->samples; i++)
		put_sample(e, &e->p->sample[i], value, label, labels);
	free(value);
	free(label);
	free(labels);
}

static void put_mapping(struct encoding *e, uint32_t id)
{
	Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT;
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	const uint32_t *build_id = item(&e->p->parts.mappings, id);

	mapping.id = (uint64_t)id + 1;
	mapping.build_id = *build_id;
	mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = true;
	piece.n_mapping = 1;
	piece.mapping = (Perftools__Profiles__Mapping *[]){ &mapping };
	pack_piece(e->pack, &piece);
}

static void put_location(struct encoding *e, uint32_t id)
{
	Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;
	Perftools__Profiles__Line line = PERFTOOLS__PROFILES__LINE__INIT;
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	const struct parsed_location *from = item(&e->p->parts.locations, id);

	location.id = (uint64_t)id + 1;
	location.mapping_id = from->mapping == TABLE_NONE ? 0 : (uint64_t)from->mapping + 1;
	line.function_id = (uint64_t)from->function + 1;
	line.line = from->line;
	location.n_line = 1;
	location.line = (Perftools__Profiles__Line *[]){ &line };
	piece.n_location = 1;
	piece.location = (Perftools__Profiles__Location *[]){ &location };
	pack_piece(e->pack, &piece);
}

static void put_function(struct encoding *e, uint32_t id)
{
	Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	const struct parsed_function *from = item(&e->p->parts.functions, id);

	function.id = (uint64_t)id + 1;
	function.name = function.system_name = from->name;
	function.filename = from->file;
	piece.n_function = 1;
	piece.function = (Perftools__Profiles__Function *[]){ &function };
	pack_piece(e->pack, &piece);
}

/* Return the string KEY TEXT, a comment. */
static int64_t comment(struct encoding *e, const char *key, uint32_t text)
{
	struct intern *strings = &e->p->parts.strings;
	size_t of_key = strlen(key), size = strlen(strings->text[text]);
	char *line = mem_resize(NULL, of_key + size + 1);

	memcpy(mempcpy(line, key, of_key), strings->text[text], size + 1);
	uint32_t id = intern_text(strings, line);
	free(line);
	return id;
}

/* Add another recording to a time and length. */
static void add_time(struct row_profile *p, const struct row_recording *r, int64_t *time,
		     int64_t *duration)
{
	if (r->time && (*time == 0 || r->time < *time))
		*time = r->time;
	p->cut += !saturate_add(duration, r->duration);
}

/* Add the fact PREFIX TEXT, which may be one of the BASE of a difference. */
static void add_fact(struct encoding *e, bool is_base, const char *prefix, const char *text)
{
	const char *base = is_base ? FIGURES_OF_BASE : "";
	size_t size = strlen(base) + strlen(prefix) + strlen(text) + 1;
	char *fact = mem_resize(NULL, size);

	snprintf(fact, size, "%s%s%s", base, prefix, text);
	e->fact = array_grow(e->fact, e->facts, sizeof(*e->fact));
	e->fact[e->facts++] = intern_text(&e->p->parts.strings, fact);
	free(fact);
}

/* Add when the rows of R's host and service were recorded, all together. */
static void add_time_fact(struct encoding *e, const struct row_recording *r)
{
	const char **text = e->p->parts.strings.text;
	const char *host = text[r->host], *service = text[r->service];
	char *fact = figures_write_rows(&(struct figures_rows){
		.time = r->time, .duration = r->duration, .host = host, .service = service,
		.host_size = strlen(host), .service_size = strlen(service) });

	add_fact(e, r->is_base, "", fact);
	free(fact);
}

/* Add the times of the sides of a difference. */
static void add_sides(struct encoding *e)
{
	struct figures_sides sides = { { 0 }, { 0 } };
	char text[FIGURES_SIZE];
	bool has_base = false;

	for (uint32_t i = 0; i < e->p->recordings.count; i++) {
		const struct row_recording *r = &e->p->recording[i];
		struct figures_side *side = r->is_base ? &sides.base : &sides.after;
		add_time(e->p, r, &side->time, &side->duration);
		has_base |= r->is_base;
	}
	figures_write_sides(text, &sides);
	if (has_base)
		add_fact(e, false, "", text);
}

/* Add the times of each host and service, as far as samples have labels for them. */
static void add_times(struct encoding *e)
{
	struct row_profile *p = e->p;
	struct row_recording *sum = NULL;
	struct byte_ids ids = { 0 };

	for (uint32_t i = 0; i < p->recordings.count; i++) {
		struct row_recording r = p->recording[i];
		uint32_t count = ids.count;
		r.host = p->host.differs ? r.host : ROW_NO_TEXT;
		r.service = p->service.differs ? r.service : ROW_NO_TEXT;
		uint32_t id = byte_ids_add(&ids, &r, offsetof(struct row_recording, time));
		if (id == count) {
			sum = array_grow(sum, id, sizeof(*sum));
			sum[id] = r;
		} else {
			add_time(p, &r, &sum[id].time, &sum[id].duration);
		}
	}
	for (uint32_t i = 0; i < ids.count; i++)
		add_time_fact(e, &sum[i]);
	free(sum);
	byte_ids_release(&ids);
}

/* Add what a profile cannot say of some of its samples. */
static void add_facts(struct encoding *e)
{
	struct row_profile *p = e->p;
	const struct intern *strings = &p->parts.strings;
	bool is_uncounted = false;

	if (p->host.differs)
		add_fact(e, false, FIGURES_ROW_HOST_KEY, strings->text[e->host_key]);
	if (p->service.differs)
		add_fact(e, false, FIGURES_ROW_SERVICE_KEY, strings->text[e->service_key]);
	if (p->host.differs || p->service.differs)
		add_times(e);
	add_sides(e);
	for (uint32_t i = 0; i < p->types; i++)
		is_uncounted |= p->type[i].is_counted && p->type[i].is_uncounted;
	if (is_uncounted)
		add_fact(e, false, "", FIGURES_ROWS_UNCOUNTED);
}

/* Append the strings, and what is known of the whole profile. */
static void put_rest(struct encoding *e)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	struct row_profile *p = e->p;
	struct intern *strings = &p->parts.strings;
	int64_t comments[2];

	add_facts(e);
	piece.n_fact = e->facts;
	piece.fact = e->fact;
	piece.comment = comments;
	if (!p->host.differs && p->host.text)
		comments[piece.n_comment++] = comment(e, COMMENT_HOST, p->host.text);
	if (!p->service.differs && p->service.text)
		comments[piece.n_comment++] = comment(e, COMMENT_SERVICE, p->service.text);
	piece.default_sample_type = default_type(p);
	for (uint32_t i = 0; i < p->recordings.count; i++)
		add_time(p, &p->recording[i], &piece.time_nanos, &piece.duration_nanos);
	piece.n_string_table = strings->count;
	piece.string_table = (char **)(uintptr_t)strings->text;	/* packing reads it only */
	pack_piece(e->pack, &piece);
}

uint8_t *row_profile_encode(struct row_profile *p, size_t *size)
{
	const struct row_parts *parts = &p->parts;
	struct encoding e = { .p = p, .pack = pack_open() };

	e.host_key = key_of_member(p, "host");
	e.service_key = key_of_member(p, "service");
	put_types(&e);
	put_samples(&e);
	for (uint32_t i = 0; i < parts->mappings.count; i++)
		put_mapping(&e, i);
	for (uint32_t i = 0; i < parts->locations.count; i++)
		put_location(&e, i);
	for (uint32_t i = 0; i < parts->functions.count; i++)
		put_function(&e, i);
	put_rest(&e);
	free(e.fact);
	return pack_take(e.pack, size);
}
