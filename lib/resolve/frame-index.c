/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact cache: maps an address in an object to a frame.  It is used if the cache of
 * callchain.c misses; symbol tables are searched only if both miss.
 */
#include "resolve/frame-index.h"
#include "record/words.h"

#include <stdlib.h>

enum { EARLIER_BITS = 1 << 23 };

/* Return the name counts of OBJECT, or of addresses without a mapping for TABLE_NONE. */
static struct name_counts *find_counts(struct frame_index *f, uint32_t object)
{
	if (object >= OBJECT_REMOVED)
		return object == TABLE_NONE ? &f->unmapped : &f->removed;
	for (; f->counts_size <= object; f->counts_size++) {
		f->counts = array_grow(f->counts, f->counts_size, sizeof(*f->counts));
		f->counts[f->counts_size] = (struct name_counts){ 0 };
	}
	return &f->counts[object];
}

void frame_index_remove_counts(struct frame_index *f, uint32_t id)
{
	if (id >= f->counts_size)
		return;
	for (int by = 0; by < NAME_SOURCES; by++)
		f->removed.frames[by] += f->counts[id].frames[by];
	f->counts[id] = (struct name_counts){ 0 };
}

/* Return the bit that stands for ADDRESS in the object OBJECT of DEFINITIONS. */
static uint32_t earlier_bit(const struct resolved *definitions, uint32_t object, uint64_t address)
{
	const char *path = definitions->string[definitions->object[object].path];

	return (uint32_t)hash_more(hash_bytes(path, strlen(path)), address) % EARLIER_BITS;
}

/* Return whether PLACE was probably defined before the last restart. */
static bool was_defined(const struct frame_index *f, const struct place *place)
{
	if (!f->earlier)
		return false;
	uint32_t bit = earlier_bit(f->definitions, place->object, place->address);
	return f->earlier[bit / 64] >> bit % 64 & 1;
}

void frame_index_restart(struct frame_index *f, const struct resolved *past)
{
	table_release(&f->table);
	table_release(&f->merged);
	f->redefined = 0;
	if (!f->symbols)
		return;
	free(f->earlier);
	f->earlier = mem_zeroed(EARLIER_BITS / 64, sizeof(*f->earlier));
	for (uint32_t i = 0; i < past->frames; i++) {
		const struct resolved_frame *frame = &past->frame[i];
		uint32_t bit = earlier_bit(past, frame->object, frame->address);
		f->earlier[bit / 64] |= 1ULL << bit % 64;
	}
}

static uint32_t add_frame(struct frame_index *f, const struct place *place,
			  const struct named_lines *lines)
{
	struct resolved_frame frame = { .object = place->object, .address = place->address,
					.lines = lines->count, .line = lines->line };

	f->added++;
	f->redefined += was_defined(f, place);
	f->named += lines->count > 0;
	find_counts(f, f->ranges->range[place->object].object)->frames[lines->by]++;
	return resolved_add_frame(f->definitions, &frame);
}

void frame_set_lines(struct frame_index *f, uint32_t id, const struct named_lines *lines)
{
	const struct resolved_frame *frame = &f->definitions->frame[id];
	struct name_counts *counts = find_counts(f, f->ranges->range[frame->object].object);

	counts->frames[BY_NOTHING] -= counts->frames[BY_NOTHING] > 0;
	counts->frames[lines->by]++;
	f->named++;
	resolved_name_frame(f->definitions, id, lines->line, lines->count);
}

static bool has_lines(const struct resolved_frame *frame, const struct named_lines *lines)
{
	size_t size = lines->count * sizeof(*lines->line);

	return frame->lines == lines->count && (!size || !memcmp(frame->line, lines->line, size));
}

/*
 * Return the merged frame of OBJECT with LINES, or TABLE_NONE.  Set *HASH to the hash with which
 * such a frame is added.
 */
static uint32_t find_merged(const struct frame_index *f, uint32_t object,
			    const struct named_lines *lines, uint64_t *hash)
{
	const struct resolved_frame *frame = f->definitions->frame;

	*hash = hash_more(object, hash_bytes(lines->line, lines->count * sizeof(*lines->line)));
	return TABLE_FIND(&f->merged, *hash, i,
			  frame[i].object == object && has_lines(&frame[i], lines));
}

/* Return whether even the merged frames are too many, and all further places share one frame. */
static bool is_full(const struct frame_index *f)
{
	return f->symbols && f->definitions->frames >= 2 * FRAMES_MAX;
}

/*
 * Return the frame of PLACE beyond FRAMES_MAX frames.  Then addresses of one object with the same
 * LINES share a frame.
 */
static uint32_t merged_frame(struct frame_index *f, struct place place, struct named_lines lines)
{
	uint64_t hash;

	if (f->definitions->frames == FRAMES_MAX)
		report_note(f->report, "more than %d addresses were sampled: further addresses "
			    "of the same line are shown as one", FRAMES_MAX);
	if (is_full(f)) {
		place = place_unknown(f->ranges, 0);
		lines.count = 0;
	}
	if (lines.count == 0)
		lines = namer_fixed(f->namer, WORD_MORE_ADDRESSES);
	uint32_t id = find_merged(f, place.object, &lines, &hash);
	if (id != TABLE_NONE)
		return id;
	id = add_frame(f, &place, &lines);
	table_add(&f->merged, hash, id);
	return id;
}

uint32_t frame_left_out(struct frame_index *f)
{
	uint32_t object = object_range_unknown(f->ranges);
	struct named_lines lines = namer_fixed(f->namer, WORD_FRAMES_LEFT_OUT);
	uint64_t hash;
	uint32_t id = find_merged(f, object, &lines, &hash);

	if (id != TABLE_NONE)
		return id;
	id = resolved_add_frame(f->definitions, &(struct resolved_frame){
		.object = object, .lines = lines.count, .line = lines.line });
	table_add(&f->merged, hash, id);
	return id;
}

/* Return the frame of PLACE with LINES (NULL: with any lines), or TABLE_NONE. */
static uint32_t find_exact(const struct frame_index *f, const struct place *place, uint64_t hash,
			   const struct named_lines *lines)
{
	const struct resolved_frame *frame = f->definitions->frame;

	return TABLE_FIND(&f->table, hash, i, frame[i].address == place->address &&
			  frame[i].object == place->object &&
			  (!lines || has_lines(&frame[i], lines)));
}

uint32_t frame_at(struct frame_index *f, const struct place *place)
{
	uint64_t hash = hash_more(place->object, place->address);
	bool is_jit = place->kind == PLACE_JIT;
	struct named_lines lines = { 0 };
	uint32_t id = is_jit ? TABLE_NONE : find_exact(f, place, hash, NULL);

	if (id == TABLE_NONE && (is_jit || !is_full(f)))
		lines = namer_find(f->namer, place);
	if (is_jit)
		id = find_exact(f, place, hash, &lines);
	if (id != TABLE_NONE)
		return id;
	if (f->symbols && f->definitions->frames >= FRAMES_MAX)
		return merged_frame(f, *place, lines);
	id = add_frame(f, place, &lines);
	table_add(&f->table, hash, id);
	if (is_jit && !lines.count)
		jits_wait(f->jits, f->ranges->range[place->object].pid, id, place->jit.time);
	return id;
}

uint32_t frame_unknown(struct frame_index *f, uint64_t address)
{
	struct place place = place_unknown(f->ranges, address);

	return frame_at(f, &place);
}

void frame_index_release(struct frame_index *f)
{
	table_release(&f->table);
	table_release(&f->merged);
	free(f->counts);
	free(f->earlier);
}
