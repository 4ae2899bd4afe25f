/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the stacks of a profile. */
#include "library/pprof.h"
#include "record/words.h"

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

/* Return whether TEXT ends with END. */
static bool ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), length = strlen(end);

	return size >= length && !strcmp(text + size - length, end);
}

/* Return whether OBJECT is the kernel, a guest's kernel, or a module. */
static bool is_kernel(const char *object)
{
	return !strncmp(object, WORD_ANY_KERNEL, strlen(WORD_ANY_KERNEL)) ||
	       !strcmp(object, WORD_GUEST_KERNEL) || ends_with(object, ".ko") ||
	       strstr(object, ".ko.");
}

/* Return NUMBER, of a line, or 0 if it cannot be one. */
static uint32_t line_of(int64_t number)
{
	return number > 0 && number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* Set PLACE and LINE to what location INDEX of D has, and return the number of its lines. */
static uint32_t decode_place(const struct decoded *d, uint32_t index, struct part_place *place,
			     struct part_line *line)
{
	struct decoded_location l = decoded_location(d, index);
	struct decoded_line from;
	uint32_t count = 0;

	*place = (struct part_place){ l.address, "", "" };
	if (l.mapping != TABLE_NONE) {
		struct decoded_mapping mapping = decoded_mapping(d, l.mapping);
		place->object = decoded_string(d, mapping.file);
		place->build_id = decoded_string(d, mapping.build_id);
	}
	for (; decoded_next_line(d, &l, &from); count++) {
		line[count] = (struct part_line){ "", "", "", 0, line_of(from.line),
						 line_of(from.column) };
		if (from.function == TABLE_NONE)
			continue;
		struct decoded_function f = decoded_function(d, from.function);
		line[count].function = decoded_string(d, f.name);
		line[count].symbol = decoded_string(d, f.system_name);
		line[count].file = decoded_string(d, f.file);
		line[count].start_line = line_of(f.line);
	}
	return count;
}

/* Return the frames of location INDEX, which P has. */
static const struct pprof_place *place_of(struct pmukit_pprof *p, uint32_t index)
{
	struct pprof_frames *f = &p->frames;
	struct part_line line[PROFILE_LINES_MAX];
	struct part_place place;

	for (; f->places <= index; f->places++) {
		f->place = array_grow(f->place, f->places, sizeof(*f->place));
		f->place[f->places].frame = NULL;
	}
	if (f->place[index].frame)
		return &f->place[index];
	uint32_t lines = p->d ? decode_place(p->d, index, &place, line)
			      : part_read_location(p->sum, index, &place, line);
	uint32_t count = lines + (lines == 0);
	struct pmukit_frame *frame = arena_alloc(&f->arena, count * sizeof(*frame));
	for (uint32_t i = 0; i < count; i++) {
		frame[i] = (struct pmukit_frame){
			.is_inlined = i + 1 < count, .is_kernel = is_kernel(place.object),
			.address = place.address, .object_address = place.address,
			.object = or_null(place.object), .build_id = place.build_id,
		};
		if (lines == 0)
			break;
		frame[i].function = or_null(line[i].function);
		frame[i].symbol = or_null(line[i].symbol);
		frame[i].file = or_null(line[i].file);
		frame[i].line = line[i].line;
		frame[i].column = line[i].column;
		frame[i].start_line = line[i].start_line;
	}
	f->place[index] = (struct pprof_place){ frame, count };
	return &f->place[index];
}

/* Return P with room for COUNT items of SIZE bytes; *ROOM is the number that it has room for. */
static void *make_room(void *p, size_t *room, size_t count, size_t size)
{
	if (count <= *room)
		return p;
	*room = count + count / 4;
	return mem_resize(p, *room * size);
}

static void set_frames(struct pmukit_pprof *p, const uint32_t *location, size_t count)
{
	size_t frames = 0;

	for (size_t i = 0; i < count; i++) {
		if (location[i] == TABLE_NONE)
			continue;
		const struct pprof_place *place = place_of(p, location[i]);
		p->frame = make_room(p->frame, &p->frame_room, frames + place->count,
				     sizeof(*p->frame));
		memcpy(p->frame + frames, place->frame, place->count * sizeof(*p->frame));
		frames += place->count;
	}
	p->stack.frames = p->frame;
	p->stack.frames_size = frames;
}

/* Make room for COUNT labels. */
static struct pmukit_label *set_labels(struct pmukit_pprof *p, size_t count)
{
	p->label = make_room(p->label, &p->label_room, count, sizeof(*p->label));
	p->stack.labels = p->label;
	p->stack.labels_size = count;
	return p->label;
}

static void decode_stack(struct pmukit_pprof *p, uint32_t index)
{
	const struct decoded_sample *sample = &p->reader.sample;
	const struct decoded *d = p->d;

	p->reader.next = index;
	decoded_next(&p->reader);
	set_frames(p, sample->location, sample->locations);
	struct pmukit_label *label = set_labels(p, sample->labels);
	for (size_t i = 0; i < sample->labels; i++) {
		const struct decoded_label *from = &sample->label[i];
		label[i] = (struct pmukit_label){
			.key = decoded_string(d, from->key),
			.value = from->text ? decoded_string(d, from->text) : NULL,
			.number = from->number, .unit = decoded_string(d, from->unit) };
	}
	p->stack.values = sample->value;
}

static void read_stack(struct pmukit_pprof *p, uint32_t index)
{
	const struct part_reading *r = &p->reading;

	part_read_sample(p->sum, index, &p->reading);
	set_frames(p, r->location, r->locations);
	struct pmukit_label *label = set_labels(p, r->labels);
	for (size_t i = 0; i < r->labels; i++)
		label[i] = (struct pmukit_label){ r->label[i].key, r->label[i].text,
						  r->label[i].number, r->label[i].unit };
	p->stack.values = part_values(p->sum, index);
}

bool pprof_find_stack(struct pmukit_pprof *p, int64_t index)
{
	uint32_t count = p->sum ? part_samples(p->sum) : p->d->samples;

	if (index < 0 || index >= count)
		return false;
	if (p->d)
		decode_stack(p, (uint32_t)index);
	else
		read_stack(p, (uint32_t)index);
	return true;
}

void pprof_forget_frames(struct pmukit_pprof *p)
{
	free(p->frames.place);
	arena_release(&p->frames.arena);
	p->frames = (struct pprof_frames){ .place = NULL };
}
