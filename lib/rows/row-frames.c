/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/row-frames.h"
#include "pprof/folded-lines.h"

#include <string.h>

void row_frames_init(struct row_frames *f, const struct decoded *d, struct row_texts *texts)
{
	size_t size = d->strings * sizeof(*f->string);

	*f = (struct row_frames){ .d = d, .texts = texts };
	f->string = mem_resize(NULL, size);
	memset(f->string, 0xff, size);
	f->function = mem_zeroed((size_t)d->functions.count + 1, sizeof(*f->function));
	f->object = mem_zeroed((size_t)d->mappings.count + 1, sizeof(*f->object));
	f->location = mem_zeroed(d->locations.count, sizeof(*f->location));
}

static const struct row_names *function_at(struct row_frames *f, uint32_t index)
{
	bool is_there = index != TABLE_NONE;
	struct row_names *of = &f->function[is_there ? index : f->d->functions.count];

	if (of->is_known)
		return of;
	of->is_known = true;
	if (!is_there) {
		of->name = row_texts_name(f->texts, "?");
		return of;
	}
	of->name = row_frames_string(f, f->d->functions.item[index].name);
	if (f->texts->has_details)
		of->more = row_frames_string(f, decoded_function(f->d, index).file);
	return of;
}

static const struct row_names *object_at(struct row_frames *f, uint32_t index)
{
	bool is_there = index != TABLE_NONE;
	struct row_names *of = &f->object[is_there ? index : f->d->mappings.count];
	struct decoded_mapping mapping = { 0 };
	char name[FOLDED_OBJECT_SIZE];

	if (of->is_known)
		return of;
	of->is_known = true;
	if (is_there)
		mapping = decoded_mapping(f->d, index);
	folded_object_name(name, decoded_string(f->d, mapping.file));
	of->name = row_texts_name(f->texts, name);
	of->more = row_frames_string(f, mapping.build_id);
	return of;
}

static void add(struct row_frames *f, struct row_location *of, const struct row_frame *frame)
{
	f->frame = array_grow(f->frame, f->frames, sizeof(*f->frame));
	f->frame[f->frames++] = f->texts->has_details ? row_texts_frame(f->texts, frame)
						      : frame->name;
	of->count++;
}

void row_frames_decode(struct row_frames *f, uint32_t location)
{
	struct row_location *of = &f->location[location];
	bool has_details = f->texts->has_details;
	struct decoded_location l = decoded_lines(f->d, location);
	uint32_t build_id = 0;
	struct decoded_line line;

	of->first = f->frames;
	if (!has_details && f->d->locations.item[location].lines == 1) {
		uint32_t function = decoded_first_function(f->d, location);
		add(f, of, &(struct row_frame){ .name = function_at(f, function)->name });
		return;
	}
	if (has_details)
		build_id = object_at(f, decoded_location(f->d, location).mapping)->more;
	while (decoded_next_line(f->d, &l, &line)) {
		const struct row_names *function = function_at(f, line.function);
		add(f, of, &(struct row_frame){ .name = function->name, .file = function->more,
						.line = line.line, .build_id = build_id });
	}
	if (of->count == 0)
		add(f, of, &(struct row_frame){
			.name = object_at(f, decoded_location(f->d, location).mapping)->name,
			.build_id = build_id });
}

void row_frames_release(struct row_frames *f)
{
	free(f->string);
	free(f->function);
	free(f->object);
	free(f->location);
	free(f->frame);
}
