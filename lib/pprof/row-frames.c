/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/row-frames.h"
#include "pprof/folded-lines.h"

#include <string.h>

void row_frames_init(struct row_frames *f, const struct decoded *d, struct row_texts *texts)
{
	size_t size = d->strings * sizeof(*f->name);

	*f = (struct row_frames){ .d = d, .texts = texts };
	f->name = mem_resize(NULL, size);
	memset(f->name, 0xff, size);
	f->location = mem_zeroed(d->locations.count, sizeof(*f->location));
}

uint32_t row_frames_string(struct row_frames *f, uint32_t string)
{
	if (f->name[string] == TABLE_NONE)
		f->name[string] = row_texts_name(f->texts, decoded_string(f->d, string));
	return f->name[string];
}

static uint32_t object_name(struct row_frames *f, const char *path)
{
	char name[FOLDED_OBJECT_SIZE];

	return row_texts_name(f->texts, folded_object_name(name, path));
}

static void add(struct row_frames *f, struct row_location *of, const struct row_frame *frame)
{
	f->frame = array_grow(f->frame, f->frames, sizeof(*f->frame));
	f->frame[f->frames++] = f->texts->has_details ? row_texts_frame(f->texts, frame)
						      : frame->name;
	of->count++;
}

static void add_line(struct row_frames *f, struct row_location *of, struct decoded_line line,
		     uint32_t build_id)
{
	struct row_frame frame = { .build_id = build_id, .line = line.line };

	if (line.function == TABLE_NONE) {
		frame.name = row_texts_name(f->texts, "?");
	} else {
		struct decoded_function function = decoded_function(f->d, line.function);
		frame.name = row_frames_string(f, function.name);
		if (f->texts->has_details)
			frame.file = row_frames_string(f, function.file);
	}
	add(f, of, &frame);
}

struct row_location row_frames_of(struct row_frames *f, uint32_t location)
{
	struct row_location *of = &f->location[location];
	struct decoded_mapping mapping = { 0 };
	struct decoded_line line;
	uint32_t build_id = 0;

	if (of->count > 0)
		return *of;
	of->first = f->frames;
	struct decoded_location l = decoded_location(f->d, location);
	if (l.mapping != TABLE_NONE)
		mapping = decoded_mapping(f->d, l.mapping);
	if (f->texts->has_details)
		build_id = row_frames_string(f, mapping.build_id);
	while (decoded_next_line(f->d, &l, &line))
		add_line(f, of, line, build_id);
	if (of->count == 0)
		add(f, of, &(struct row_frame){
			.name = object_name(f, decoded_string(f->d, mapping.file)),
			.build_id = build_id });
	return *of;
}

void row_frames_release(struct row_frames *f)
{
	free(f->name);
	free(f->location);
	free(f->frame);
}
