/* SPDX-License-Identifier: Apache-2.0 */
/* The sample types of a page: which are shown, and what their samples stand for. */
#include "flame/flame-internal.h"
#include "pprof/sample-type.h"
#include "record/words.h"

#include <inttypes.h>

static uint32_t find_type(const struct flame *f, const char *name, const char *unit)
{
	for (uint32_t i = 0; i < f->types; i++)
		if (!strcmp(f->type[i].name, name) && (!unit || !strcmp(f->type[i].unit, unit)))
			return i;
	return TABLE_NONE;
}

/* Choose the types that the options ask for.  Return false (reported) if D lacks one. */
static bool choose_types(struct flame *f, const struct decoded *d)
{
	const struct flame_options *o = &f->options;
	struct ratio_types of = { decoded_default_type(d), TABLE_NONE };

	if (o->ratio.text && !ratio_request_find(&o->ratio, d, &of, f->report))
		return false;
	if (!o->ratio.text && o->type)
		of.a = sample_type_find(d, o->type, NULL, f->report);
	if (of.a == TABLE_NONE)
		return false;
	uint32_t last = of.b != TABLE_NONE && of.b > of.a ? of.b : of.a;
	bool is_asked = o->type || o->ratio.text;
	if (last >= f->types && is_asked)
		report_error(f->report, "the sample type '%s' is not one of the first %" PRIu32,
			     decoded_string(d, d->type[last].type), f->types);
	f->shown = of.a < f->types ? of.a : f->types - 1;
	f->over = of.b;
	return last < f->types || !is_asked;
}

bool flame_take_types(struct flame *f, const struct decoded *d)
{
	f->types = d->types < FLAME_TYPES_MAX ? d->types : FLAME_TYPES_MAX;
	f->type = mem_zeroed(f->types, sizeof(*f->type));
	if (d->types > f->types)
		report_note(f->report, "of %" PRIu32 " sample types the first %d are shown",
			    d->types, FLAME_TYPES_MAX);
	for (uint32_t i = 0; i < f->types; i++) {
		const char *name = decoded_string(d, d->type[i].type);
		const char *unit = decoded_string(d, d->type[i].unit);
		f->type[i] = (struct flame_type){
			.name = arena_text(&f->arena, name, strlen(name)),
			.unit = arena_text(&f->arena, unit, strlen(unit)) };
	}
	return choose_types(f, d);
}

static bool has_suffix(const char *text, const char *suffix)
{
	size_t length = strlen(text), end = strlen(suffix);

	return length >= end && !strcmp(text + length - end, suffix);
}

/* Return the index of the type that counts the samples of type I, or TABLE_NONE. */
static uint32_t counting_type(const struct flame *f, uint32_t i)
{
	const struct flame_type *type = &f->type[i];
	char name[300];

	/* Never by the unit alone: cycles are a count, too. */
	if (!strcmp(type->unit, UNIT_COUNT) &&
	    (!strcmp(type->name, TYPE_SAMPLES) || has_suffix(type->name, TYPE_END_SAMPLES)))
		return i;
	if (!strcmp(type->name, TYPE_CONTENTIONS) || !strcmp(type->name, TYPE_DELAY))
		return find_type(f, TYPE_CONTENTIONS, UNIT_COUNT);
	snprintf(name, sizeof(name), "%.250s" TYPE_END_SAMPLES, type->name);
	uint32_t found = find_type(f, name, UNIT_COUNT);
	return found != TABLE_NONE ? found : find_type(f, TYPE_SAMPLES, UNIT_COUNT);
}

void flame_weigh_types(struct flame *f, const struct decoded *d)
{
	const char *period = decoded_string(d, d->period_type.type);

	for (uint32_t i = 0; i < f->types; i++) {
		struct flame_type *type = &f->type[i];
		uint32_t counting = counting_type(f, i);
		int64_t samples = counting == TABLE_NONE ? 0
			: f->type[counting].total[FLAME_PROFILE];
		type->count = samples > 0 ? counting : TABLE_NONE;
		if (samples > 0)
			type->per = (double)type->total[FLAME_PROFILE] / (double)samples;
		else if (!strcmp(period, type->name) && d->period > 0)
			type->per = (double)d->period;
	}
}
