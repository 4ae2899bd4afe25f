/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds the memory of a resolver by what is in use: forgets definitions that the caller drops,
 * and objects that are mapped nowhere any more.
 */
#include "resolve/resolver-internal.h"

#include <stdlib.h>

void resolver_release_ids(struct resolver *r)
{
	intern_release(&r->strings);
	pointers_release(&r->sources.strings);
	table_release(&r->frame_table);
	table_release(&r->merged_table);
	table_release(&r->part_table);
	table_release(&r->function_table);
	free(r->part);
	free(r->readable);
	free(r->comm);
	r->part = NULL;
	r->readable = r->comm = NULL;
	r->readables = r->comms = 0;
}

enum { BEFORE_BITS = 1 << 23 };

/* Return the bit that stands for ADDRESS in the object OBJECT of TABLES. */
static uint32_t before_bit(const struct resolved *tables, uint32_t object, uint64_t address)
{
	const char *path = tables->string[tables->object[object].path];

	return (uint32_t)hash_more(hash_bytes(path, strlen(path)), address) % BEFORE_BITS;
}

bool resolver_was_defined(const struct resolver *r, const struct place *place)
{
	if (!r->before)
		return false;
	uint32_t bit = before_bit(r->tables, place->object, place->address);
	return r->before[bit / 64] >> bit % 64 & 1;
}

/* Remember which places PAST defines. */
static void remember(struct resolver *r, const struct resolved *past)
{
	free(r->before);
	r->before = mem_zeroed(BEFORE_BITS / 64, sizeof(*r->before));
	for (uint32_t i = 0; i < past->frames; i++) {
		const struct resolved_frame *f = &past->frame[i];
		uint32_t bit = before_bit(past, f->object, f->address);
		r->before[bit / 64] |= 1ULL << bit % 64;
	}
	r->again = 0;
}

/*
 * If most definitions are in use again after each restart, forgetting them gains little memory
 * and costs many lookups: the limit doubles.  It halves when few are in use again.
 */
bool resolver_is_full(struct resolver *r, uint64_t bytes)
{
	if (bytes <= r->limit)
		return false;
	if (r->again > r->tables->frames / 2) {
		r->limit *= 2;
		return false;
	}
	if (r->again < r->tables->frames / 8 && r->limit / 2 >= r->options.definitions_max)
		r->limit /= 2;
	return true;
}

/*
 * Return the new id of object ID of PAST, which stood for the part P.  A part of a removed object
 * has an id of its own: no other address can be in it.
 */
static uint32_t define_again(struct resolver *r, const struct resolved *past, uint32_t id,
			     const struct part *p)
{
	struct resolved_object object = past->object[id];

	if (p->object != PART_REMOVED)
		return resolver_part_id(r, p->object, p->pid, object);
	object.path = resolver_string_id(r, past->string[object.path]);
	return resolver_add_part(r, &object, p);
}

/* Define the FRAMES frames whose ids in PAST are in FRAME again, and set FRAME to their new ids. */
static void define_frames(struct resolver *r, const struct resolved *past, const struct part *part,
			  uint32_t *frame, size_t frames)
{
	uint32_t *object = mem_resize(NULL, past->objects * sizeof(*object));
	memset(object, 0xff, past->objects * sizeof(*object));	/* TABLE_NONE */
	for (size_t i = 0; i < frames; i++) {
		const struct resolved_frame *f = &past->frame[frame[i]];
		if (object[f->object] == TABLE_NONE)
			object[f->object] = define_again(r, past, f->object, &part[f->object]);
		struct place place = { .object = object[f->object], .address = f->address,
				       .source = TABLE_NONE };
		frame[i] = resolver_frame_at(r, &place);
	}
	free(object);
}

void resolver_restart(struct resolver *r, struct resolved *past, uint32_t *frame,
		      size_t frames)
{
	struct part *part = r->part;
	uint32_t *late = resolver_late_list(r);

	resolved_restart(r->tables, past);
	r->part = NULL;
	resolver_release_ids(r);
	recent_reset(&r->recent, RECENT_FIRST);
	r->last.count = 0;
	define_frames(r, past, part, frame, frames);
	define_frames(r, past, part, late, r->late);
	resolver_late_renumber(r, late);
	if (r->options.symbols)
		remember(r, past);
	r->again = r->late;
	free(late);
	free(part);
}

/* Add the name counts of object ID, which is being removed, to those of removed objects. */
static void remove_counts(struct resolver *r, uint32_t id)
{
	if (id >= r->counts_size)
		return;
	for (int from = 0; from < FROMS; from++)
		r->removed_counts.frames[from] += r->name_counts[id].frames[from];
	r->name_counts[id] = (struct name_counts){ 0 };
}

/* Mark parts of objects that are not LIVE as removed, because the objects' ids are used again. */
static void detach_parts(struct resolver *r, const bool *live)
{
	for (uint32_t id = 0; id < r->tables->objects; id++) {
		struct part *p = &r->part[id];
		if (p->object >= PART_REMOVED || live[p->object])
			continue;
		table_remove(&r->part_table, part_hash(p), id);
		p->object = PART_REMOVED;
	}
}

void resolver_remove_objects(struct resolver *r)
{
	struct objects *objects = &r->spaces.objects;

	if (!objects_are_many(objects))
		return;
	bool *live = mem_zeroed(objects->count, sizeof(*live));
	spaces_mark_objects(&r->spaces, live);
	if (r->kernel_tried && r->vmlinux != TABLE_NONE)
		live[r->vmlinux] = true;
	detach_parts(r, live);
	for (uint32_t id = 0; id < objects->count; id++)
		if (!live[id])
			remove_counts(r, id);
	images_remove(&r->sources.images, objects, live);
	free(live);
}
