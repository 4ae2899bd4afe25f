/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second pass over a profile: checks that each message is whole, and that everything it refers
 * to exists.
 */
#include "pprof/decode-internal.h"

#include <stdlib.h>

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

static bool code_is_sound(const struct decoded *d)
{
	bool good = true;

	for (uint32_t i = 0; i < d->mappings.count; i++) {
		struct decoded_mapping m = decoded_mapping(d, i);
		good &= are_strings(d, m.file, m.build_id, 0);
	}
	for (uint32_t i = 0; i < d->functions.count; i++) {
		struct decoded_function f = decoded_function(d, i);
		good &= are_strings(d, f.name, f.system_name, f.file);
	}
	return good;
}

/* Return whether a location is whole.  Sets *LINES to its number of frames, at least 1. */
static bool location_is_sound(struct decoding *g, uint32_t index, uint16_t *lines)
{
	struct cursor c = cursor_of_item(g->d, g->d->locations.item[index]);
	uint64_t count = 0;
	struct wire_field f;

	while (decode_field(&c, &f)) {
		if (f.tag != FIELD(4, BYTES))
			continue;
		struct cursor of_line = cursor_of(f.at, f.size);
		decode_line(g->d, &of_line);
		c.failed |= of_line.failed;
		count++;
	}
	g->cut += count > PROFILE_LINES_MAX;
	*lines = count < PROFILE_LINES_MAX ? (uint16_t)count : PROFILE_LINES_MAX;
	*lines += *lines == 0;		/* a location without lines is one frame, too */
	return !c.failed;
}

static bool samples_are_sound(struct decoding *g, const uint16_t *lines)
{
	struct decoded_reader r = { .d = g->d };
	bool good = true;

	for (uint32_t i = 0; good && i < g->d->samples; i++) {
		good = decode_sample(&r, g->d->sample[i]);
		for (size_t k = 0; good && k < r.sample.labels; k++)
			good = are_strings(g->d, r.sample.label[k].key, r.sample.label[k].text,
					   r.sample.label[k].unit);
		for (size_t k = 0; good && k < r.sample.locations; k++)
			g->frames += r.sample.location[k] != TABLE_NONE
				? lines[r.sample.location[k]] : 1;
	}
	decoded_reader_release(&r);
	return good;
}

static bool stacks_are_sound(struct decoding *g)
{
	uint16_t *lines = mem_zeroed(g->d->locations.count, sizeof(*lines));
	bool good = true;

	for (uint32_t i = 0; good && i < g->d->locations.count; i++)
		good = location_is_sound(g, i, &lines[i]);
	good = good && samples_are_sound(g, lines);
	free(lines);
	return good;
}

bool decode_check(struct decoding *g)
{
	return about_is_sound(g->d) && code_is_sound(g->d) && stacks_are_sound(g);
}
