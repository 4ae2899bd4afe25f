/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/frames.h"
#include "base/arena.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *const frames_by_name[] = {
	[FRAMES_BY_FUNCTION] = "function", [FRAMES_BY_FILE] = "file",
	[FRAMES_BY_LINE] = "line", [FRAMES_BY_OBJECT] = "object",
};

static uint32_t *unknown_numbers(size_t count)
{
	uint32_t *number = mem_resize(NULL, count * sizeof(*number));

	memset(number, 0xff, count * sizeof(*number));
	return number;
}

void frames_init(struct frames *f, const struct decoded *d, frames_number *of_function,
		 frames_number *of_object, void *context)
{
	*f = (struct frames){ .d = d, .of_function = of_function, .of_object = of_object,
			      .context = context };
	f->function = unknown_numbers((size_t)d->functions.count + 1);
	f->mapping = unknown_numbers((size_t)d->mappings.count + 1);
	f->name_of = unknown_numbers(d->strings);
	f->path_of = unknown_numbers(d->strings);
	f->location = mem_zeroed(d->locations.count, sizeof(*f->location));
}

/* Return the number of a name, by string: many functions may share one long name. */
static uint32_t number_of(struct frames *f, uint32_t *numbers, uint32_t string, frames_number *of)
{
	if (numbers[string] == TABLE_NONE)
		numbers[string] = of(f->context, decoded_string(f->d, string));
	return numbers[string];
}

static uint32_t number_of_function(struct frames *f, uint32_t index)
{
	bool known = index != TABLE_NONE;
	uint32_t *number = &f->function[known ? index : f->d->functions.count];

	if (*number == TABLE_NONE) {
		struct decoded_function of = { 0 };
		if (known)
			of = decoded_function(f->d, index);
		uint32_t string = f->by == FRAMES_BY_FILE ? of.file : of.name;
		*number = known ? number_of(f, f->name_of, string, f->of_function)
				: f->of_function(f->context, "?");
	}
	return *number;
}

/*
 * Names are cut, because many lines may have the same long name, and each makes a text of its own.
 */
static uint32_t number_of_line(struct frames *f, struct decoded_line line)
{
	const struct {
		uint64_t function;
		int64_t line;
	} key = { line.function, line.line };
	uint32_t count = f->lines.count, id = byte_ids_add(&f->lines, &key, sizeof(key));
	char text[1200];

	if (id < count)
		return f->line[id];
	struct decoded_function of = { 0 };
	if (line.function != TABLE_NONE)
		of = decoded_function(f->d, line.function);
	const char *name = decoded_string(f->d, of.name), *file = decoded_string(f->d, of.file);
	snprintf(text, sizeof(text), "%.500s %.500s:%" PRId64, *name ? name : "?",
		 *file ? file : "?", line.line);
	text_make_safe(text);	/* a cut may be inside a character */
	f->line = array_grow(f->line, count, sizeof(*f->line));
	f->line[id] = f->of_function(f->context, text);
	return f->line[id];
}

static uint32_t number_of_object(struct frames *f, uint32_t index)
{
	bool known = index != TABLE_NONE;
	uint32_t *number = &f->mapping[known ? index : f->d->mappings.count];

	if (*number == TABLE_NONE)
		*number = known ? number_of(f, f->path_of, decoded_mapping(f->d, index).file,
					    f->of_object) : f->of_object(f->context, "");
	return *number;
}

static void add(struct frames *f, struct frames_of *of, uint32_t number)
{
	f->name = array_grow(f->name, f->names, sizeof(*f->name));
	f->name[f->names++] = number;
	of->count++;
}

const struct frames_of *frames_of(struct frames *f, uint32_t location)
{
	struct frames_of *of = &f->location[location];
	struct decoded_line line;

	if (of->count > 0)
		return of;
	of->first = f->names;
	struct decoded_location l = decoded_location(f->d, location);
	while (f->by != FRAMES_BY_OBJECT && decoded_next_line(f->d, &l, &line))
		add(f, of, f->by == FRAMES_BY_LINE ? number_of_line(f, line)
						   : number_of_function(f, line.function));
	of->is_address = of->count == 0;
	if (of->is_address)
		add(f, of, number_of_object(f, l.mapping));
	return of;
}

void frames_release(struct frames *f)
{
	byte_ids_release(&f->lines);
	free(f->line);
	free(f->function);
	free(f->mapping);
	free(f->name_of);
	free(f->path_of);
	free(f->location);
	free(f->name);
	*f = (struct frames){ 0 };
}
