/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second pass over a profile: checks that each sample is whole, and that everything that
 * messages refer to exists.
 */
#include "pprof/decode-internal.h"

static bool are_strings(const struct decoded *d, uint32_t a, uint32_t b, uint32_t c)
{
	return a < d->strings && b < d->strings && c < d->strings;
}

static bool about_is_sound(const struct decoded *d)
{
	bool good = d->types > 0 &&
		    are_strings(d, d->default_type, d->drop_frames, d->keep_frames) &&
		    are_strings(d, d->period_type.type, d->period_type.unit, d->doc_url);

	for (uint32_t i = 0; i < d->types; i++)
		good &= are_strings(d, d->type[i].type, d->type[i].unit, 0);
	for (uint32_t i = 0; i < d->comments; i++)
		good &= are_strings(d, d->comment[i], 0, 0);
	for (uint32_t i = 0; i < d->facts; i++)
		good &= are_strings(d, d->fact[i], 0, 0);
	return good;
}

/* Return the frames of a location: at least 1, also if it has no lines, or is not there. */
static uint32_t frames_of(const struct decoded *d, uint32_t location)
{
	uint32_t lines = location != TABLE_NONE ? d->locations.item[location].lines : 0;

	return lines + (lines == 0);
}

static bool samples_are_sound(struct decoding *g)
{
	struct decoded_reader r = { .d = g->d };
	bool good = true;

	for (uint32_t i = 0; good && i < g->d->samples; i++) {
		good = decode_sample(&r, g->d->sample[i]);
		for (size_t k = 0; good && k < r.sample.labels; k++)
			good = are_strings(g->d, r.sample.label[k].key, r.sample.label[k].text,
					   r.sample.label[k].unit);
		for (size_t k = 0; good && k < r.sample.locations; k++)
			g->frames += frames_of(g->d, r.sample.location[k]);
	}
	decoded_reader_release(&r);
	return good;
}

bool decode_check(struct decoding *g)
{
	return about_is_sound(g->d) && g->last_string < g->d->strings && samples_are_sound(g);
}
