/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds the memory of a resolver by what is in use: forgets definitions that the caller drops,
 * and objects that are mapped nowhere any more.
 */
#include "resolve/internal.h"

#include <stdlib.h>

/*
 * The definitions exceed the limit.  Return whether to forget the DEFINED definitions of a type.
 * REDEFINED of them were in use before the last restart, too.  If these are most of them,
 * forgetting them gains little memory and costs many lookups: the limit doubles instead.  It halves
 * when few are in use again.
 */
static bool should_forget(struct resolver *r, uint32_t redefined, uint32_t defined)
{
	if (redefined > defined / 2) {
		r->limit *= 2;
		return false;
	}
	if (redefined < defined / 8 && r->limit / 2 >= r->limit_min)
		r->limit /= 2;
	return true;
}

/* Data count as not in use, because their lookups are cheap. */
bool resolver_is_full(struct resolver *r, uint64_t bytes)
{
	return bytes > r->limit && should_forget(r, r->frames.redefined,
						 r->definitions->frames + r->definitions->data);
}

/*
 * To define chains again costs no look-ups of names.  So if most definitions are chains, it is
 * enough to forget these.
 */
bool resolver_has_many_chains(struct resolver *r, uint64_t chains, uint64_t bytes)
{
	return chains >= bytes && chains + bytes > r->limit &&
	       should_forget(r, r->chains.redefined, r->definitions->chains.count);
}

/*
 * Define the FRAMES frames whose ids in PAST are in FRAME again, and set FRAME to their new ids.
 * RANGE: the ranges that the objects of PAST stood for.
 */
static void define_frames(struct resolver *r, const struct resolved *past,
			  const struct object_range *range, uint32_t *frame, size_t frames)
{
	uint32_t *object = mem_resize(NULL, past->objects * sizeof(*object));
	memset(object, 0xff, past->objects * sizeof(*object));	/* TABLE_NONE */
	for (size_t i = 0; i < frames; i++) {
		const struct resolved_frame *f = &past->frame[frame[i]];
		if (object[f->object] == TABLE_NONE)
			object[f->object] = object_range_again(&r->ranges, past,
							       past->object[f->object],
							       &range[f->object]);
		struct place place = { .kind = PLACE_UNKNOWN, .object = object[f->object],
				       .address = f->address };
		frame[i] = frame_at(&r->frames, &place);
	}
	free(object);
}

void resolver_restart(struct resolver *r, struct resolved *past, uint32_t *frame,
		      size_t frames)
{
	struct object_range *range = object_ranges_restart(&r->ranges);
	uint32_t *late = jits_waiting(&r->jits);

	resolved_restart(r->definitions, past);
	namer_restart(&r->namer);
	resolver_forget_thread_names(r);
	callchains_restart(&r->callchains);
	chain_index_restart(&r->chains);
	data_places_restart(&r->data);
	r->wait_names.count = 0;
	frame_index_restart(&r->frames, past);
	define_frames(r, past, range, frame, frames);
	define_frames(r, past, range, late, r->jits.waiting);
	jits_renumber(&r->jits, late);
	r->frames.redefined = r->jits.waiting;
	free(late);
	free(range);
}

void resolver_restart_chains(struct resolver *r)
{
	chain_index_forget(&r->chains);
}

void resolver_remove_objects(struct resolver *r)
{
	struct objects *objects = &r->spaces.objects;
	const struct kernel_code *kernel = &r->places.kernel;

	if (!objects_are_many(objects))
		return;
	bool *live = mem_zeroed(objects->count, sizeof(*live));
	spaces_mark_objects(&r->spaces, live);
	if (kernel->vmlinux)
		live[kernel->vmlinux_object] = true;
	object_ranges_detach(&r->ranges, live);
	for (uint32_t id = 0; id < objects->count; id++)
		if (!live[id])
			frame_index_remove_counts(&r->frames, id);
	images_remove(&r->sources.images, objects, live);
	free(live);
}
