/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the object that contains an address, and the place in the object. */
#include "record/words.h"
#include "resolve/resolver-internal.h"

/* Return the source of the object that M maps in PID. Opens its file on first use. */
static struct source *use_source(struct resolver *r, const struct mapping *m, pid_t pid)
{
	const struct object *object = &r->spaces.objects.object[m->object];
	struct images *images = &r->sources.images;
	struct image *image = image_at(images, m->object);

	if (!r->options.symbols)
		return (struct source *)image;
	if (!image->tried)
		images_sweep(images, &r->spaces);
	images_make_room(images);
	image_use(images, m->object, object, m, pid);
	if (!report_first(&image->is_reported))
		return (struct source *)image;
	if (image->elf && image->result == LOCATE_CHANGED)
		report_note(r->report, "'%s' was changed after the recording; its names may be "
			    "wrong", object->path);
	else if (!image->elf && object->kind == OBJECT_FILE &&
		 recorded_names_file(&r->recorded, object->path) == TABLE_NONE)
		report_note(r->report, "no names from '%s': %s%s", object->path,
			    locate_reason(image->result), locate_advice(object, image->result));
	return (struct source *)image;
}

void resolver_prefetch_files(struct resolver *r, const struct sample *s)
{
	const struct space *space = spaces_find(&r->spaces, s->pid);
	struct images *images = &r->sources.images;
	const struct fetcher *fetcher = &images->fetcher;

	for (int debug = 0; debug < 2; debug++)
		for (uint64_t i = 0; i <= s->callchain.count && fetch_is_on(fetcher); i++) {
			uint64_t address = i ? word_at(s->callchain, i - 1) : s->ip;
			const struct mapping *m = address < PERF_CONTEXT_MAX
				? space_find(space, address) : NULL;
			const struct object *o = m ? &r->spaces.objects.object[m->object] : NULL;
			if (!o || o->kind != OBJECT_FILE || !o->build_id_size)
				continue;
			if (debug)
				image_prefetch_debug(&use_source(r, m, s->pid)->image);
			else
				images_prefetch(images, m->object, o, m, s->pid);
		}
}

void resolver_open_mapped(struct resolver *r, const struct stream_reader *in,
			  const struct record *rec)
{
	struct mmap_record mmap;

	if (!record_mmap(rec, &mmap) || !mmap.executable || mmap.pid <= 0)
		return;
	resolver_jit_open_dump(r, in, mmap.pid, mmap.path);
	images_sweep(&r->sources.images, &r->spaces);
	images_make_room(&r->sources.images);
	images_open_mapped(&r->sources.images, &r->spaces, rec);
}

uint32_t resolver_add_part(struct resolver *r, const struct resolved_object *object,
			   const struct part *p)
{
	uint32_t id = resolved_add_object(r->tables, object);

	r->part = array_grow(r->part, id, sizeof(*r->part));
	r->part[id] = *p;
	r->part[id].is_python = resolver_is_python(r->tables->string[object->path]);
	return id;
}

uint32_t resolver_part_id(struct resolver *r, uint32_t object, pid_t pid,
			  struct resolved_object part)
{
	const struct part key = { .object = object, .start = part.start, .size = part.size,
				  .pid = pid, .flags = part.flags };
	uint64_t hash = part_hash(&key);
	const char *path = WORD_UNKNOWN;
	const struct part *p = r->part;
	uint32_t id = TABLE_FIND(&r->part_table, hash, i, p[i].object == object &&
				 p[i].start == part.start && p[i].size == part.size &&
				 p[i].pid == pid && p[i].flags == part.flags);

	if (id != TABLE_NONE)
		return id;
	if (r->tables->objects >= OBJECTS_MAX && object != TABLE_NONE) {
		report_rarely(r->report, "code is at more than %d places: further places are shown "
			      "as " WORD_UNKNOWN, OBJECTS_MAX);
		return resolver_place_unmapped(r, 0).object;
	}
	if (object != TABLE_NONE) {
		const struct object *o = &r->spaces.objects.object[object];
		path = o->path;
		if (!part.build_id_size) {	/* the file is not here */
			memcpy(part.build_id, o->build_id, BUILD_ID_MAX);
			part.build_id_size = o->build_id_size;
		}
	}
	part.path = resolver_string_id(r, path);
	id = resolver_add_part(r, &part, &key);
	table_add(&r->part_table, hash, id);
	return id;
}

struct place resolver_place_unmapped(struct resolver *r, uint64_t address)
{
	struct resolved_object part = { .kind = OBJECT_UNKNOWN };

	return (struct place){ .object = resolver_part_id(r, TABLE_NONE, 0, part),
			      .source = TABLE_NONE,
			       .address = address };
}

/* Set where in the stream's own symbols to look up ADDRESS, which M covers. */
static void set_recorded(const struct resolver *r, const struct mapping *m,
			 const struct object *object, uint64_t address, struct place *place)
{
	uint32_t file = r->recorded.files ? recorded_names_file(&r->recorded, object->path)
					  : TABLE_NONE;

	if (file == TABLE_NONE)
		return;
	place->recorded = file + 1;
	place->recorded_address = m->is_jit || object->kind == OBJECT_KERNEL ? address
		: recorded_names_address(&r->recorded, file, address - m->start + m->file_offset,
					 address - m->start);
}

/* Return the place of a kernel address. The kernel image is one part, even with modules in it. */
static struct place place_in_kernel(struct resolver *r, const struct stream_reader *in,
				    const struct mapping *m, uint64_t address)
{
	const struct object *object = &r->spaces.objects.object[m->object];
	struct resolved_object part = { .kind = (uint16_t)object->kind, .start = m->start,
					.size = m->end - m->start, .file_offset = m->file_offset };

	if (object->kind == OBJECT_KERNEL) {
		const struct mapping *image = resolver_kernel_image(r);
		part.start = image->start;
		part.file_offset = image->file_offset;
		part.size = UINT64_MAX - part.start;
	}
	struct place place = { .object = resolver_part_id(r, m->object, 0, part),
			      .source = TABLE_NONE,
			       .address = address, .in_kernel = true };
	set_recorded(r, m, object, address, &place);
	if (!strcmp(object->path, WORD_BPF)) {
		place.jit = r->ksymbols;
	} else if (object->kind == OBJECT_MODULE && r->kernel_tried) {
		resolver_place_in_module(r, in, m, address, &place);
	} else if (object->kind == OBJECT_KERNEL && r->kernel_tried && r->vmlinux != TABLE_NONE) {
		place.source = r->vmlinux;
		place.own_address = address + r->vmlinux_shift;
	}
	return place;
}

/* Return a place in a file: by the ELF's own addresses if it was read, else by file offset. */
static struct place place_in_file(struct resolver *r, const struct mapping *m,
				  const struct elf *elf, uint64_t address)
{
	const struct object *object = &r->spaces.objects.object[m->object];
	struct resolved_object part = { .kind = (uint16_t)object->kind,
					.flags = m->is_main ? OBJECT_IS_MAIN : 0 };
	struct elf_segment segment;
	uint64_t own;

	if (locate_address(elf, m, address, &segment, &own)) {
		const uint8_t *id;
		part.start = segment.address;
		part.size = segment.size;
		part.file_offset = segment.file_offset;
		part.build_id_size = (uint8_t)elf_build_id(elf, &id);
		if (part.build_id_size)
			memcpy(part.build_id, id, part.build_id_size);
		return (struct place){ .object = resolver_part_id(r, m->object, 0, part),
				       .source = m->object, .address = own, .own_address = own };
	}
	part.start = m->file_offset ? m->file_offset : RESOLVED_NOT_ZERO;
	part.file_offset = m->file_offset;
	part.size = m->end - m->start;
	struct place place = { .object = resolver_part_id(r, m->object, 0, part),
			      .source = TABLE_NONE,
			       .address = address - m->start + part.start };
	set_recorded(r, m, object, address, &place);
	return place;
}

/* Return a place in memory without a file. JIT is the jitmap that covers it, or NULL. */
static struct place place_in_memory(struct resolver *r, const struct mapping *m, uint32_t object,
				    pid_t pid, struct jitmap *jit, uint64_t address)
{
	struct resolved_object part = {
		.kind = OBJECT_ANONYMOUS, .start = m->start, .size = m->end - m->start,
		.file_offset = m->is_covered ? m->start : m->file_offset,
	};

	return (struct place){ .object = resolver_part_id(r, object, jit ? pid : 0, part),
			       .source = TABLE_NONE, .address = address, .jit = jit };
}

struct place resolver_place_in_process(struct resolver *r, const struct stream_reader *in,
				       pid_t pid,
				       const struct space *space, const struct mapping *m,
				       uint64_t address)
{
	const struct object *object = &r->spaces.objects.object[m->object];
	bool is_file = object->kind == OBJECT_FILE || object->kind == OBJECT_VDSO;
	bool is_guest = space == &r->spaces.guest;
	struct jit_place found;

	/* If a JIT compiler has code at ADDRESS, that code has replaced the file's mapping. */
	struct jitmap *jit = m->is_covered && !is_guest ? resolver_jit_find(r, in, pid) : NULL;
	if (jit && resolver_jit_knows(r, jit, address, &found))
		return place_in_memory(r, m, m->cover, pid, jit, address);
	const struct elf *elf = is_file || object_is_memfd(object)
		? use_source(r, m, pid)->image.elf : NULL;
	if (is_file || elf)
		return place_in_file(r, m, elf, address);
	return place_in_memory(r, m, m->object, pid,
			       is_guest ? NULL : resolver_jit_find(r, in, pid), address);
}

struct place resolver_place_find(struct resolver *r, const struct stream_reader *in, pid_t pid,
				 const struct space *space, uint64_t address)
{
	const struct mapping *m = space_find(space, address);
	bool in_kernel = space == &r->spaces.kernel;

	bool is_named = m && m->generated;	/* by its KSYMBOL record */
	if (in_kernel && !is_named && !r->kernel_tried && r->options.symbols)
		resolver_kernel_open(r, in);
	/* The mapping ends before the kernel's boot code, which calls the idle loop. */
	if (in_kernel && !m && address < r->init_end) {
		m = resolver_kernel_image(r);
		m = m && address >= m->start ? m : NULL;
	}
	if (!m)
		return resolver_place_unmapped(r, address);
	if (in_kernel)
		return place_in_kernel(r, in, m, address);
	return resolver_place_in_process(r, in, pid, space, m, address);
}
