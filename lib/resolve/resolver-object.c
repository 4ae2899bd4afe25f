/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the object that contains an address, and the place in the object. */
#include "linux/proc.h"
#include "locate/locate.h"
#include "record/words.h"
#include "resolve/resolver-internal.h"

#include <malloc.h>
#include <unistd.h>

struct source *resolver_source_at(struct resolver *r, uint32_t object)
{
	for (; r->sources <= object; r->sources++) {
		r->source = array_grow(r->source, r->sources, sizeof(*r->source));
		r->source[r->sources] = NULL;
	}
	if (!r->source[object])
		r->source[object] = mem_zeroed(1, sizeof(*r->source[object]));
	return r->source[object];
}

struct source resolver_new_source(const struct resolver *r, const char *path)
{
	const struct resolver_options *o = &r->options;

	/* The line in a caller comes from its inlined calls: needed unless lines are off, too. */
	return (struct source){ .tried = true, .path = path, .where = &o->where,
				.cache = &o->cache, .report = r->report,
				.no_calls = o->no_inlines && o->no_lines,
				.no_lines = o->no_lines };
}

/* A source with a file, and the time of its last use. */
struct source_use {
	uint64_t used;
	uint32_t source;
};

static int by_use(const void *a, const void *b)
{
	const struct source_use *x = a, *y = b;

	return x->used < y->used ? -1 : x->used > y->used;
}

/* Return whether source ID has a file that may be closed. The kernel and its modules stay open. */
static bool may_close(const struct resolver *r, uint32_t id)
{
	enum object_kind kind = r->spaces.objects.object[id].kind;

	return r->source[id] && r->source[id]->elf && kind != OBJECT_KERNEL &&
	       kind != OBJECT_MODULE;
}

static struct source_use *list_uses(const struct resolver *r, uint32_t *count)
{
	struct source_use *use = mem_resize(NULL, (r->sources + 1) * sizeof(*use));

	*count = 0;
	for (uint32_t i = 0; i < r->sources; i++)
		if (may_close(r, i))
			use[(*count)++] = (struct source_use){ r->source[i]->used, i };
	qsort(use, *count, sizeof(*use), by_use);
	return use;
}

/* Close the file of SOURCE; it is opened again when it is needed. */
static void close_source(const struct resolver *r, struct source *source)
{
	uint32_t closed = source->closed + (source->tables != NULL);

	if (r->options.cache.directory)
		source_save(source);
	source_release(source);
	source->closed = closed;
}

/*
 * If the files take much memory, and more than when this was done last, close those that no process
 * maps and that nothing has used since then: on a busy machine, programs come and go for months.
 */
static void close_unmapped(struct resolver *r)
{
	enum { MUCH = 24 << 20, MORE = 8 << 20 };	/* bytes */
	uint64_t last = r->closed_at;

	if (r->pool.memory < MUCH || r->pool.memory < r->closed_memory + MORE)
		return;
	bool *live = mem_zeroed(r->spaces.objects.count, sizeof(*live));
	spaces_mark_objects(&r->spaces, live);
	for (uint32_t i = 0; i < r->sources; i++)
		if (may_close(r, i) && !live[i] && r->source[i]->used <= last)
			close_source(r, r->source[i]);
	free(live);
	pointers_release(&r->source_strings);	/* some of these strings were freed */
	malloc_trim(0);
	r->closed_at = r->uses;
	r->closed_memory = r->pool.memory;
}

/*
 * If nearly too many files are open, or they take too much memory, close the least recently used
 * ones until a quarter is free. A file that is needed again is opened again, if it still exists.
 */
static void make_room(struct resolver *r)
{
	enum { SPARE = 64 };	/* files that one source may open: debug and split files */
	uint32_t count;

	if (r->pool.open + SPARE < ELF_POOL_MAX && r->pool.memory <= ELF_POOL_MEMORY)
		return;
	report_rarely(r->report, "more than %d files are mapped, or they take more than %llu MiB: "
		      "the least recently used are closed, and opened again if they still exist",
		      ELF_POOL_MAX - SPARE, ELF_POOL_MEMORY >> 20);
	struct source_use *use = list_uses(r, &count);
	/* The most recently used source stays: it would be opened again at once. */
	for (uint32_t i = 0; i + 1 < count && (r->pool.open > ELF_POOL_MAX / 4 * 3 ||
					       r->pool.memory > ELF_POOL_MEMORY / 4 * 3); i++) {
		struct source *source = r->source[use[i].source];
		if (!source->tables && r->pool.open <= ELF_POOL_MAX / 4 * 3)
			continue;	/* closing it frees no memory */
		close_source(r, source);
	}
	free(use);
	pointers_release(&r->source_strings);	/* some of these strings were freed */
}

/* Open the object that M maps in PID. ANYWHERE: look also in other places than its path. */
static void open_source(struct resolver *r, const struct stream_reader *in,
			const struct mapping *m, pid_t pid, bool anywhere, struct source *source)
{
	const struct object *object = &r->spaces.objects.object[m->object];

	uint32_t closed = source->closed;

	close_unmapped(r);
	make_room(r);
	*source = resolver_new_source(r, object->path);
	source->closed = closed;
	source->used = ++r->uses;
	struct located l = locate_mapped(&r->options.where, object, pid, m, resolver_is_local(in));
	if (anywhere && (object->kind == OBJECT_FILE || object_is_memfd(object)))
		locate_elsewhere(&r->options.where, object, &l);
	source->elf = l.elf;
	source->root = l.root;
	source->result = l.result;
	r->opened += source->elf != NULL;
}

/*
 * Check whether the source's file was changed after the sample. If the file may be what was
 * mapped, a note warns; otherwise it is closed.
 */
static void check_unchanged(struct resolver *r, const struct stream_reader *in,
			    const struct mapping *m, struct source *source)
{
	const struct object *object = &r->spaces.objects.object[m->object];
	int64_t taken = locate_taken_before(&r->options.where, stream_origin(in), r->sample_time);

	if (!locate_is_changed(&r->options.where, object, source->elf, taken))
		return;
	if (elf_may_map(source->elf, m->file_offset, m->end - m->start,
			(uint64_t)sysconf(_SC_PAGESIZE))) {
		report_note(r->report, "'%s' was changed after the recording; its names may be "
			    "wrong", object->path);
		return;
	}
	elf_close(source->elf);
	source->elf = NULL;
	source->result = LOCATE_CHANGED;
	r->opened--;
}

/* Return the source of the object that M maps in PID. Opens its file on first use. */
static const struct source *source_of(struct resolver *r, const struct stream_reader *in,
				      const struct mapping *m, pid_t pid)
{
	const struct object *object = &r->spaces.objects.object[m->object];
	struct source *source = resolver_source_at(r, m->object);

	if (!r->options.symbols)
		return source;
	make_room(r);
	if (!source->tried)
		open_source(r, in, m, pid, true, source);
	source->used = ++r->uses;
	if (!source->reported)
		check_unchanged(r, in, m, source);
	if (!source->reported && source->result != LOCATED && object->kind == OBJECT_FILE &&
	    recorded_names_file(&r->recorded, object->path) == TABLE_NONE)
		report_note(r->report, "no names from '%s': %s%s", object->path,
			    locate_reason(source->result),
			    locate_advice(object, source->result));
	source->reported = true;
	return source;
}

/* Start to fetch the program that M maps in PID, if it is not here. */
static void prefetch_program(struct resolver *r, const struct stream_reader *in,
			     const struct mapping *m, pid_t pid)
{
	const struct object *object = &r->spaces.objects.object[m->object];
	const struct source *source = m->object < r->sources ? r->source[m->object] : NULL;
	struct locate_options here = r->options.where;
	char hex[BUILD_ID_HEX];

	if (object->kind != OBJECT_FILE || object->build_id_size < 2 || (source && source->tried))
		return;
	here.fetcher = NULL;
	struct located l = locate_object(&here, object, pid, m, resolver_is_local(in));
	locate_elsewhere(&here, object, &l);
	record_build_id_hex(object->build_id, object->build_id_size, hex);
	if (!l.elf)
		fetch_begin(&r->fetcher, hex, LOCATE_PROGRAM);
	elf_close(l.elf);
	free(l.root);
}

/* Start to fetch the debug information of the program that M maps in PID, if it is not here. */
static void prefetch_debug(struct resolver *r, const struct stream_reader *in,
			   const struct mapping *m, pid_t pid)
{
	const struct object *object = &r->spaces.objects.object[m->object];
	const uint8_t *id;
	char hex[BUILD_ID_HEX];

	if (object->kind != OBJECT_FILE || !object->build_id_size)
		return;
	const struct source *source = source_of(r, in, m, pid);
	size_t size = source->elf ? elf_build_id(source->elf, &id) : 0;
	if (size < 2 || size > BUILD_ID_MAX || source->tables ||
	    locate_has_debug(&r->options.where, source->elf, source->path, source->root))
		return;
	record_build_id_hex(id, size, hex);
	fetch_begin(&r->fetcher, hex, LOCATE_DEBUG);
}

void resolver_prefetch_files(struct resolver *r, const struct stream_reader *in,
			     const struct sample *s)
{
	const struct space *space = spaces_find(&r->spaces, s->pid);

	for (int debug = 0; debug < 2; debug++)
		for (uint64_t i = 0; i <= s->callchain.count && fetch_is_on(&r->fetcher); i++) {
			uint64_t address = i ? word_at(s->callchain, i - 1) : s->ip;
			const struct mapping *m = address < PERF_CONTEXT_MAX
				? space_find(space, address) : NULL;
			if (m && debug)
				prefetch_debug(r, in, m, s->pid);
			else if (m)
				prefetch_program(r, in, m, s->pid);
		}
}

void resolver_open_mapped(struct resolver *r, const struct stream_reader *in,
			  const struct record *rec)
{
	struct mmap_record mmap;
	pid_t pid;

	if (!record_mmap(rec, &mmap) || !mmap.executable || mmap.pid <= 0)
		return;
	resolver_jit_open_dump(r, in, mmap.pid, mmap.path);
	const struct mapping *m = resolver_is_local(in)
		? spaces_file_mapped(&r->spaces, rec, &pid) : NULL;
	struct source *source = m ? resolver_source_at(r, m->object) : NULL;
	if (!source || source->tried)
		return;
	open_source(r, in, m, pid, false, source);
	source->tried = source->elf != NULL;	/* else the next process that maps it may succeed */
	if (source->tried)
		elf_rest(source->elf);
	else
		source_release(source);
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
		? source_of(r, in, m, pid)->elf : NULL;
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
