/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes profile.proto in pieces.  Encoded messages that are concatenated mean the same
 * as one message with all their fields.  So every sample, mapping, location and function
 * is packed as a profile of its own, and the tree of the whole is never in memory.
 */
#include "aggregate/encode-internal.h"
#include "base/memory.h"
#include "base/text.h"

int64_t encode_text(struct encoder *e, const char *text)
{
	if (!text_needs_care(text))
		return intern_text(&e->strings, text);
	char *safe = mem_resize(NULL, strlen(text) + 1);
	memcpy(safe, text, strlen(text) + 1);
	text_make_safe(safe);
	int64_t id = intern_text(&e->strings, safe);
	e->p->unsafe++;
	free(safe);
	return id;
}

int64_t encode_known(struct encoder *e, uint32_t *id, const char *text)
{
	if (*id == 0)
		*id = (uint32_t)encode_text(e, text) + 1;
	return (int64_t)*id - 1;
}

static int64_t string_id(struct encoder *e, const struct resolved *t, uint32_t string)
{
	uint32_t *id = t == e->p->resolved ? e->id.resolved : e->id.own;

	return string ? encode_known(e, &id[string], t->string[string]) : 0;
}

/* Learn from the used frames what is known about their objects. */
static void learn_objects(struct encoder *e)
{
	uint32_t id;

	for (uint32_t i = 0; i < e->ranking.frames.used; i++) {
		const struct resolved *t = ranking_frame(&e->ranking,
							 e->ranking.frames.order[i], &id);
		const struct resolved_frame *f = &t->frame[id];
		struct object_has *has = &e->has[ranking_object_rank(&e->ranking, t,
								     f->object) - 1];
		has->functions |= f->lines > 0;
		has->inlines |= f->lines > 1;
		for (uint32_t k = 0; k < f->lines; k++) {
			has->files |= f->line[k].file != 0;
			has->lines |= f->line[k].line != 0;
		}
	}
}

static void write_mapping(struct encoder *e, uint32_t index)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Mapping m = PERFTOOLS__PROFILES__MAPPING__INIT;
	char build_id[BUILD_ID_HEX];
	uint32_t id;
	const struct resolved *t = ranking_object(&e->ranking,
						  e->ranking.objects.order[index], &id);
	const struct resolved_object *o = &t->object[id];

	if (o->kind == OBJECT_UNKNOWN)
		return;
	record_build_id_hex(o->build_id, o->build_id_size, build_id);
	m.id = (uint64_t)index + 1;
	m.memory_start = o->start;
	m.memory_limit = o->start + o->size;
	m.file_offset = o->file_offset;
	m.filename = string_id(e, t, o->path);
	m.build_id = encode_text(e, build_id);
	m.has_functions = e->has[index].functions;
	m.has_filenames = e->has[index].files;
	m.has_line_numbers = e->has[index].lines;
	m.has_inline_frames = e->has[index].inlines;
	piece.n_mapping = 1;
	piece.mapping = (Perftools__Profiles__Mapping *[]){ &m };
	pack_piece(e->pack, &piece);
}

static bool is_main(const struct encoder *e, uint32_t index)
{
	uint32_t id;
	const struct resolved *t = ranking_object(&e->ranking,
						  e->ranking.objects.order[index], &id);

	return t->object[id].flags & OBJECT_IS_MAIN;
}

/* The mapping of the main executable comes first: pprof names the profile after it. */
static void write_mappings(struct encoder *e)
{
	uint32_t main = TABLE_NONE, used = e->ranking.objects.used;

	for (uint32_t i = 0; i < used; i++)
		if (is_main(e, i) &&
		    (main == TABLE_NONE || e->has[i].samples > e->has[main].samples))
			main = i;
	if (main != TABLE_NONE)
		write_mapping(e, main);
	for (uint32_t i = 0; i < used; i++)
		if (i != main)
			write_mapping(e, i);
}

static void write_location(struct encoder *e, uint32_t index)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;
	uint32_t id;
	const struct resolved *t = ranking_frame(&e->ranking, e->ranking.frames.order[index],
						 &id);
	const struct resolved_frame *f = &t->frame[id];
	Perftools__Profiles__Line *line = mem_zeroed(f->lines, sizeof(*line));
	Perftools__Profiles__Line **lines = mem_zeroed(f->lines, sizeof(*lines));

	for (uint32_t i = 0; i < f->lines; i++) {
		perftools__profiles__line__init(&line[i]);
		line[i].function_id = ranking_function_rank(&e->ranking, t,
							    f->line[i].function);
		line[i].line = f->line[i].line;
		line[i].column = f->line[i].column;
		lines[i] = &line[i];
	}
	location.id = (uint64_t)index + 1;
	if (t->object[f->object].kind != OBJECT_UNKNOWN)
		location.mapping_id = ranking_object_rank(&e->ranking, t, f->object);
	location.address = f->address;
	location.n_line = f->lines;
	location.line = lines;
	piece.n_location = 1;
	piece.location = (Perftools__Profiles__Location *[]){ &location };
	pack_piece(e->pack, &piece);
	free(line);
	free(lines);
}

static void write_function(struct encoder *e, uint32_t index)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;
	uint32_t id;
	const struct resolved *t = ranking_function(&e->ranking,
						    e->ranking.functions.order[index], &id);
	const struct resolved_function *f = &t->function[id];

	function.id = (uint64_t)index + 1;
	function.name = string_id(e, t, f->name);
	function.system_name = string_id(e, t, f->system_name);
	function.filename = string_id(e, t, f->file);
	function.start_line = f->line;
	piece.n_function = 1;
	piece.function = (Perftools__Profiles__Function *[]){ &function };
	pack_piece(e->pack, &piece);
}

/* Return the strings of the COUNT texts at TEXT; the caller frees. */
static int64_t *texts(struct encoder *e, char *const *text, size_t count)
{
	int64_t *string = mem_zeroed(count, sizeof(*string));

	for (size_t i = 0; i < count; i++)
		string[i] = encode_text(e, text[i]);
	return string;
}

/* Write the profile's time, duration, comments and facts. */
static void write_origin(struct encoder *e, const struct stream_origin *origin)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	const struct profile_lines *comments = &e->p->comments, *facts = &e->p->facts;

	piece.n_comment = comments->count;
	piece.comment = texts(e, comments->line, comments->count);
	piece.n_fact = facts->count;
	piece.fact = texts(e, facts->line, facts->count);
	piece.duration_nanos = (int64_t)(e->p->last_time - e->p->first_time);
	if (origin->has_clock && e->p->first_time)
		piece.time_nanos = (int64_t)(origin->wall_time +
					     (e->p->first_time - origin->clock_time));
	pack_piece(e->pack, &piece);
	free(piece.comment);
	free(piece.fact);
}

/* Write the figures of all events, which are facts, too. */
static void write_figures(struct encoder *e)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;

	piece.n_fact = e->facts;
	piece.fact = e->fact;
	pack_piece(e->pack, &piece);
}

static void write_strings(struct encoder *e)
{
	for (uint32_t i = 0; i < e->strings.count; i++) {
		Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
		char *text = (char *)(uintptr_t)e->strings.text[i];	/* packing reads it only */

		piece.n_string_table = 1;
		piece.string_table = &text;
		pack_piece(e->pack, &piece);
	}
}

/* Encode all of P, and free its stacks. */
static struct pack *encode(struct profile *p, const struct stream_events *events,
			   const struct stream_origin *origin)
{
	struct encoder e = { .p = p, .events = events, .pack = pack_open() };

	p->unsafe = 0;
	chains_seal(&p->chains);
	stacks_seal(&p->stacks);
	memory_trim();		/* before more is needed */
	ranking_make(&e.ranking, p);
	e.has = mem_zeroed(e.ranking.objects.used, sizeof(*e.has));
	e.id.resolved = mem_zeroed(p->resolved->strings, sizeof(*e.id.resolved));
	e.id.own = mem_zeroed(p->own.strings, sizeof(*e.id.own));
	e.id.labels = mem_zeroed(p->labels->texts.count, sizeof(*e.id.labels));
	encode_text(&e, "");	/* entry 0 */
	encode_types(&e);
	learn_objects(&e);
	encode_samples(&e);
	write_mappings(&e);
	for (uint32_t i = 0; i < e.ranking.frames.used; i++)
		write_location(&e, i);
	for (uint32_t i = 0; i < e.ranking.functions.used; i++)
		write_function(&e, i);
	write_origin(&e, origin);
	write_figures(&e);
	write_strings(&e);
	free(e.id.resolved);
	free(e.id.own);
	free(e.id.labels);
	ranking_release(&e.ranking);
	intern_release(&e.strings);
	free(e.fact);
	free(e.has);
	memory_trim();
	return e.pack;
}

void profile_write(struct profile *p, const struct stream_events *events,
		   const struct stream_origin *origin, struct output *out)
{
	pack_close(encode(p, events, origin), p->packing, out);
}

uint8_t *profile_take(struct profile *p, const struct stream_events *events,
		      const struct stream_origin *origin, size_t *size)
{
	return pack_take(encode(p, events, origin), size);
}

struct decoded *profile_decoded(struct profile *p, const struct stream_events *events,
				const struct stream_origin *origin, const char *file,
				struct report *report)
{
	size_t size;
	uint8_t *bytes = profile_take(p, events, origin, &size);

	if (size < UINT32_MAX) {
		struct decoded *d = decoded_take(bytes, size, file, report);
		if (d)
			d->unsafe = p->unsafe;
		return d;
	}
	report_error(report, "'%s' is too large: its profile would have %zu MiB; use "
		     "pmu-topprof --max-stacks", file, size >> 20);
	free(bytes);
	return NULL;
}
