/* SPDX-License-Identifier: Apache-2.0 */
#include "library/frame-list.h"
#include "base/arena.h"

#include <stdlib.h>

void frame_list_begin(struct frame_list *l, const struct resolved *t)
{
	l->count = 0;
	for (; l->objects < t->objects; l->objects++) {
		const struct resolved_object *o = &t->object[l->objects];

		l->build_id = array_grow(l->build_id, l->objects, sizeof(*l->build_id));
		record_build_id_hex(o->build_id, o->build_id_size, l->build_id[l->objects]);
	}
}

/* Return string ID of T, or NULL if it is "". */
static const char *text_of(const struct resolved *t, uint32_t id)
{
	return t->string[id][0] ? t->string[id] : NULL;
}

static struct pmukit_frame *add(struct frame_list *l)
{
	if (l->count == l->room) {
		l->room = l->room ? 2 * l->room : 64;
		l->frame = mem_resize(l->frame, l->room * sizeof(*l->frame));
	}
	return &l->frame[l->count++];
}

void frame_list_add(struct frame_list *l, const struct resolved *t, uint32_t id, uint64_t address)
{
	const struct resolved_frame *f = &t->frame[id];
	const struct resolved_object *o = &t->object[f->object];
	const struct pmukit_frame place = {
		.is_kernel = o->kind == OBJECT_KERNEL || o->kind == OBJECT_MODULE,
		.address = address ? address : f->address, .object_address = f->address,
		.object = o->kind == OBJECT_UNKNOWN ? NULL : text_of(t, o->path),
		.build_id = l->build_id[f->object],
	};

	if (f->lines == 0)
		*add(l) = place;
	for (uint32_t i = 0; i < f->lines; i++) {
		const struct resolved_line *line = &f->line[i];
		const struct resolved_function *function = &t->function[line->function];
		struct pmukit_frame *out = add(l);

		*out = place;
		out->function = text_of(t, function->name);
		out->symbol = text_of(t, function->system_name);
		out->file = text_of(t, line->file);
		out->line = line->line;
		out->column = line->column;
		out->start_line = function->line;
		out->is_inlined = i + 1 < f->lines;
	}
}

void frame_list_forget(struct frame_list *l)
{
	l->count = 0;
	l->objects = 0;
}

void frame_list_release(struct frame_list *l)
{
	free(l->frame);
	free(l->build_id);
	*l = (struct frame_list){ 0 };
}
