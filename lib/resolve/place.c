/* SPDX-License-Identifier: Apache-2.0 */
/* Where an address of a process lies: in a file, in memory, or nowhere. */
#include "elf/call.h"
#include "resolve/place-internal.h"

#include <stdlib.h>

/* Report, at the first use of OBJECT, if its IMAGE cannot be trusted or was not found. */
static void report_image(struct places *p, const struct object *object, struct image *image)
{
	if (!report_first(&image->is_reported))
		return;
	if (image->elf && image->result == LOCATE_CHANGED)
		report_note(p->report, "'%s' was changed after the recording; its names may be "
			    "wrong", object->path);
	else if (!image->elf && object->kind == OBJECT_FILE &&
		 recorded_names_file(&p->recorded, object->path) == TABLE_NONE)
		report_note(p->report, "no names from '%s': %s%s", object->path,
			    locate_reason(image->result), locate_advice(object, image->result));
}

struct source *places_use_source(struct places *p, const struct sampled *s,
				 const struct mapping *m)
{
	const struct object *object = &p->spaces->objects.object[m->object];
	struct images *images = &p->sources->images;
	struct image *image = image_at(images, m->object);

	if (!p->symbols)
		return (struct source *)image;
	if (!image->tried)
		images_sweep(images, p->spaces);
	images_make_room(images);
	image_use(images, m->object, object, m, s->pid, s->time);
	report_image(p, object, image);
	return (struct source *)image;
}

void places_prefetch(struct places *p, const struct sampled *s, const struct sample *sample)
{
	const struct space *space = spaces_find(p->spaces, s->pid);
	struct images *images = &p->sources->images;
	const struct fetcher *fetcher = &images->fetcher;

	for (int debug = 0; debug < 2; debug++)
		for (uint64_t i = 0; i <= sample->callchain.count && fetch_is_on(fetcher); i++) {
			uint64_t address = i ? word_at(sample->callchain, i - 1) : sample->ip;
			const struct mapping *m = address < PERF_CONTEXT_MAX
				? space_find(space, address) : NULL;
			const struct object *o = m ? &p->spaces->objects.object[m->object] : NULL;
			if (!o || o->kind != OBJECT_FILE || !o->build_id_size)
				continue;
			if (debug)
				image_prefetch_debug(&places_use_source(p, s, m)->image);
			else
				images_prefetch(images, m->object, o, m, s->pid);
		}
}

void places_open_mapped(struct places *p, const struct record *rec)
{
	images_sweep(&p->sources->images, p->spaces);
	images_make_room(&p->sources->images);
	images_open_mapped(&p->sources->images, p->spaces, rec);
}

struct place place_unknown(struct object_ranges *ranges, uint64_t address)
{
	return (struct place){ .kind = PLACE_UNKNOWN, .object = object_range_unknown(ranges),
			       .address = address };
}

/* Return a place in a file: by the ELF's own addresses if it was read, else by file offset. */
static struct place place_in_file(struct places *p, const struct mapping *m,
				  struct source *source, uint64_t address)
{
	const struct object *object = &p->spaces->objects.object[m->object];
	struct resolved_object range = { .kind = (uint16_t)object->kind,
					 .flags = m->is_main ? OBJECT_IS_MAIN : 0 };
	struct elf *elf = source->image.elf;
	struct elf_segment segment;
	uint64_t own;

	if (locate_address(elf, m, address, &segment, &own)) {
		const uint8_t *id;
		range.start = segment.address;
		range.size = segment.size;
		range.file_offset = segment.file_offset;
		range.build_id_size = (uint8_t)elf_build_id(elf, &id);
		if (range.build_id_size)
			memcpy(range.build_id, id, range.build_id_size);
		return (struct place){ .kind = PLACE_FILE, .address = own,
				       .object = object_range_id(p->ranges, m->object, 0, range),
				       .file = { source, own } };
	}
	range.start = m->file_offset ? m->file_offset : RESOLVED_NOT_ZERO;
	range.file_offset = m->file_offset;
	range.size = m->end - m->start;
	struct place place = { .kind = PLACE_RECORDED, .recorded = place_recorded(p, m, address),
			       .object = object_range_id(p->ranges, m->object, 0, range),
			       .address = address - m->start + range.start };
	if (place.recorded.file == TABLE_NONE)
		place.kind = PLACE_UNKNOWN;
	return place;
}

/*
 * Return the place of ADDRESS in memory of process PID without a file, which M maps for OBJECT.
 * CODE: what a JIT compiler has there; NULL: it is unknown what is there.
 */
static struct place place_in_memory(struct places *p, const struct mapping *m, uint32_t object,
				    uint64_t address, pid_t pid, const struct jit_answer *code)
{
	struct resolved_object range = {
		.kind = OBJECT_ANONYMOUS, .start = m->start, .size = m->end - m->start,
		.file_offset = m->is_covered ? m->start : m->file_offset,
	};
	uint32_t id = object_range_id(p->ranges, object, code ? pid : 0, range);

	return code ? (struct place){ .kind = PLACE_JIT, .object = id, .address = address,
				      .jit = *code }
		    : (struct place){ .kind = PLACE_UNKNOWN, .object = id, .address = address };
}

struct place place_in_process(struct places *p, const struct sampled *s,
			      const struct space *space, const struct mapping *m,
			      uint64_t address)
{
	const struct object *object = &p->spaces->objects.object[m->object];
	bool is_file = object->kind == OBJECT_FILE || object->kind == OBJECT_VDSO;
	bool is_guest = space == &p->spaces->guest;
	struct jit_answer code;

	/* If a JIT compiler has code at ADDRESS, that code has replaced the file's mapping. */
	if (m->is_covered && !is_guest && jits_code(p->jits, s, address, &code) == JITS_NAMED)
		return place_in_memory(p, m, m->cover, address, s->pid, &code);
	if (is_file || object_is_memfd(object)) {
		struct source *source = places_use_source(p, s, m);
		if (is_file || source->image.elf)
			return place_in_file(p, m, source, address);
	}
	enum jits_result result = is_guest ? JITS_UNREADABLE
					   : jits_code(p->jits, s, address, &code);
	if (result == JITS_NAMELESS)
		jits_note_nameless(p->jits, s->pid);
	return place_in_memory(p, m, m->object, address, s->pid,
			       result == JITS_UNREADABLE ? NULL : &code);
}

/* Return the place of ADDRESS itself. */
static struct place place_of(struct places *p, const struct sampled *s, const struct space *space,
			     uint64_t address)
{
	bool in_kernel = space == &p->spaces->kernel;
	const struct mapping *m = in_kernel ? places_kernel_mapping(p, s, address)
					    : space_find(space, address);

	if (m)
		return in_kernel ? place_in_kernel(p, s, m, address)
				 : place_in_process(p, s, space, m, address);
	struct place place = place_unknown(p->ranges, address);
	place.is_no_code = !in_kernel && space != &p->spaces->guest &&
			   !mappings_are_none(&space->code);
	return place;
}

/*
 * Return whether PLACE is right before the first byte of a function, and not in a call: the address
 * after it was not put on a stack by a call.
 */
static bool is_before_function(const struct place *place)
{
	const struct source_place *file = &place->file;

	return place->kind == PLACE_FILE &&
	       !elf_follows_call(file->source->image.elf, file->address + 1) &&
	       source_starts_function(file->source, file->address + 1);
}

struct place place_find(struct places *p, const struct sampled *s, const struct space *space,
			uint64_t address, bool is_return)
{
	struct place place = place_of(p, s, space, address - is_return);

	return is_return && is_before_function(&place) ? place_of(p, s, space, address) : place;
}

void places_release(struct places *p)
{
	jitmap_free(p->kernel.generated);
	kallsyms_close(p->kernel.kallsyms);
	kallsyms_close(p->kernel.variables);
	free(p->kernel.file);
	recorded_names_release(&p->recorded);
}
