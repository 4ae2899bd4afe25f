/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/data-place.h"
#include "base/units.h"
#include "code/machine.h"
#include "record/words.h"
#include "resolve/place-internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* What is looked up, and what is known of it so far. */
struct sought {
	struct data_places *d;
	const struct sampled *s;
	const struct sample *sample;
	const struct perf_event_attr *attr;
	const struct space *space;
	uint64_t address;
	const struct mapping *m;	/* of data or code at ADDRESS; NULL: none is known */
	const struct object *object;	/* of M; NULL: none */
};

static const struct object *object_of(const struct sought *q, const struct mapping *m)
{
	return &q->d->spaces->objects.object[m->object];
}

/* Set the mapping at the address of Q, and its object. */
static void find_mapping(struct sought *q)
{
	q->m = space_find(q->space, q->address);
	if (!q->m)
		q->m = space_find_data(q->space, q->address);
	q->object = q->m ? object_of(q, q->m) : NULL;
}

static uint64_t hash_of(const struct datum_key *k)
{
	return hash_more(hash_more(k->address, (uint64_t)k->object << 32 | k->name),
			 k->thread << 8 | k->kind);
}

/* Return the id of the datum that was defined for KEY, or TABLE_NONE. */
static uint32_t find_known(const struct data_places *d, const struct datum_key *key)
{
	const struct datum_key *k = d->key;

	return TABLE_FIND(&d->table, hash_of(key), i, k[i].address == key->address &&
			  k[i].object == key->object && k[i].name == key->name &&
			  k[i].thread == key->thread && k[i].kind == key->kind);
}

/* Define the datum for KEY, of SIZE bytes, called FUNCTION. */
static uint32_t define(struct data_places *d, const struct datum_key *key, uint64_t size,
		       uint32_t function)
{
	bool is_stack = key->kind == DATA_STACK;
	const struct resolved_datum datum = {
		.object = key->object, .function = function, .kind = key->kind,
		.thread = is_stack ? (uint32_t)key->thread : 0,
		.address = is_stack ? 0 : key->address,
		.size = size < UINT64_MAX - key->address ? size : UINT64_MAX - key->address };
	uint32_t id = resolved_add_datum(d->definitions, &datum);

	d->key = array_grow(d->key, id, sizeof(*d->key));
	d->key[id] = *key;
	table_add(&d->table, hash_of(key), id);
	return id;
}

/* Return the datum for KEY.  It is called NAME, and has no size. */
static uint32_t named_datum(struct data_places *d, const struct datum_key *key, const char *name)
{
	uint32_t id = find_known(d, key);

	return id != TABLE_NONE ? id
		: define(d, key, 0, namer_fixed(d->namer, name).line[0].function);
}

/* Return the place at OFFSET of the only datum of KIND in OBJECT.  It is called NAME. */
static struct data_place place_named(const struct sought *q, enum data_kind kind, uint32_t object,
				     uint64_t offset, const char *name)
{
	const struct datum_key key = { .object = object, .kind = (uint16_t)kind };

	return (struct data_place){ .datum = named_datum(q->d, &key, name), .offset = offset };
}

/* Return the range that stands for all memory of object ID of lib/process. */
static uint32_t whole_object(const struct sought *q, uint32_t id)
{
	const struct object *o = &q->d->spaces->objects.object[id];
	struct resolved_object range = { .kind = (uint16_t)o->kind };

	return object_range_id(q->d->ranges, id, 0, range);
}

/* Return the part of PATH after its last slash. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/*
 * A program or library that may cover the address: it maps the code C.  OWN is the address as the
 * file counts.
 */
struct image_place {
	const struct mapping *c;
	struct source *source;
	uint64_t own;
	struct elf_memory memory;	/* the segment with OWN */
};

/* Return whether the file of the code C covers the address of Q; then set *OUT. */
static bool is_in_image(const struct sought *q, const struct mapping *c, struct image_place *out)
{
	uint64_t start;

	struct source *source = places_use_source(q->d->places, q->s, c);
	struct elf *elf = source->image.elf;
	if (!locate_address(elf, c, c->start, NULL, &start))
		return false;
	*out = (struct image_place){ .c = c, .source = source,
				     .own = q->address - c->start + start };
	return elf_memory(elf, out->own, &out->memory);
}

/*
 * Return whether C maps code of the file of Q, or, if Q is in other memory, of any file.  The
 * mappings of one file may be of several objects: only code has Go's build ID.
 */
static bool may_be_of(const struct sought *q, const struct mapping *c)
{
	bool is_file = q->object && q->object->kind == OBJECT_FILE;

	if (is_file)
		return c->object == q->m->object ||
		       !strcmp(object_of(q, c)->path, q->object->path);
	return object_of(q, c)->kind == OBJECT_FILE;
}

/*
 * Return whether the file of C covers the address of Q; then set *OUT.  Else C is passed over:
 * return false.  *FILE is the first object that was tried: no other is, as files do not interleave.
 */
static bool try_image(const struct sought *q, const struct mapping *c, uint32_t *file,
		      struct image_place *out)
{
	if (!may_be_of(q, c) || (*file != TABLE_NONE && *file != c->object))
		return false;
	*file = c->object;
	return is_in_image(q, c, out);
}

/*
 * Return whether a program or library covers the address of Q; then set *OUT.  Its code is the
 * nearest below, or above if the file starts with data.  But a recorded mapping may be
 * longer than its segment: what was mapped over its end later, such as the vdso, is then inside it.
 */
static bool find_image(const struct sought *q, struct image_place *out)
{
	enum { LOOK_MAX = 5 };		/* pieces of code, such as a JIT compiler's, in between */
	const struct mappings *code = &q->space->code;
	const struct mapping *c = mappings_before(code, q->address + 1);
	uint32_t below = TABLE_NONE, above = TABLE_NONE;

	for (int i = 0; i < LOOK_MAX && c; i++, c = mappings_before(code, c->start))
		if (try_image(q, c, &below, out))
			return true;
	c = mappings_from(code, q->address);
	for (int i = 0; i < LOOK_MAX && c; i++, c = mappings_from(code, c->end))
		if (try_image(q, c, &above, out))
			return true;
	return false;
}

/* Return the range of the segment of IN. */
static uint32_t segment_range(const struct sought *q, const struct image_place *in)
{
	const uint8_t *id;
	struct resolved_object range = {
		.kind = OBJECT_FILE, .flags = in->c->is_main ? OBJECT_IS_MAIN : 0,
		.start = in->memory.address, .size = in->memory.size,
		.file_offset = in->memory.file_offset };

	range.build_id_size = (uint8_t)elf_build_id(in->source->image.elf, &id);
	if (range.build_id_size)
		memcpy(range.build_id, id, range.build_id_size);
	return object_range_id(q->d->ranges, in->c->object, 0, range);
}

/* Return the place of Q in the symbol NAME of IN, which starts at ADDRESS. */
static struct data_place place_symbol(const struct sought *q, const struct image_place *in,
				      enum data_kind kind, const char *name, uint64_t address,
				      uint64_t size)
{
	const struct datum_key key = { .object = segment_range(q, in), .kind = (uint16_t)kind,
				       .address = address };
	uint32_t id = find_known(q->d, &key);

	if (id == TABLE_NONE)
		id = define(q->d, &key, size, namer_variable(q->d->namer, name));
	return (struct data_place){ .datum = id, .offset = in->own - address,
				    .in = { in->source, in->own } };
}

/* Return the place of Q in the program or library IN. */
static struct data_place place_in_image(const struct sought *q, const struct image_place *in)
{
	const struct object *object = object_of(q, in->c);
	struct elf_variable variable;
	struct source_answer unused;
	struct elf_symbol function;

	if (source_variable(in->source, in->own, &variable))
		return place_symbol(q, in, DATA_VARIABLE, variable.name, variable.address,
				    variable.size);
	if (in->memory.is_code) {
		source_find(in->source, in->own, &unused);	/* finds the debug file */
		if (source_symbol(in->source, in->own, &function))
			return place_symbol(q, in, DATA_CODE, function.name, function.address, 0);
	}
	return place_named(q, DATA_FILE, segment_range(q, in), in->own, base_name(object->path));
}

/* Return the place of Q in the stack of thread TID, which M maps (NULL: unknown). */
static struct data_place place_stack(const struct sought *q, const struct mapping *m, pid_t tid)
{
	const struct tasks *tasks = &q->d->spaces->tasks;
	uint32_t object = m ? whole_object(q, m->object) : object_range_unknown(q->d->ranges);
	const struct datum_key key = { .kind = DATA_STACK, .thread = (uint32_t)tid,
				       .address = tasks_name(tasks, tid), .object = object };
	uint32_t id = find_known(q->d, &key);
	char name[128];

	if (id == TABLE_NONE) {
		const char *thread = tasks_name_text(tasks, tid);
		snprintf(name, sizeof(name), WORD_STACK_OF, thread, *thread ? "/" : "", tid);
		id = named_datum(q->d, &key, name);
	}
	return (struct data_place){ .datum = id, .offset = q->address };
}

/* Return the stack pointer of the program at the sample of Q; 0: it was not recorded. */
static uint64_t stack_pointer(const struct sought *q)
{
	const char *arch = stream_origin(q->s->in)->arch;
	const struct machine *machine = q->sample->user_regs.count && arch ? machine_find(arch)
									   : NULL;
	uint64_t mask = q->attr->sample_regs_user, at = 0;

	for (int bit = 0; machine && bit < MACHINE_BITS; bit++) {
		if (!(mask >> bit & 1))
			continue;
		if (machine->number[bit] == machine->sp)
			return at < q->sample->user_regs.count ? word_at(q->sample->user_regs, at)
							       : 0;
		at++;
	}
	return 0;
}

/*
 * Return whether M was mapped as the stack of a thread: a C library maps it with its guard, and
 * then allows access to all but the guard, which stays below it.
 */
static bool has_guard(const struct sought *q, const struct mapping *m)
{
	enum { GUARD_MAX = 64 << 10 };	/* bytes; mostly a page */
	const struct mapping *guard = mappings_before(&q->space->data, m->start);

	return guard && guard->end == m->start && guard->object == m->object &&
	       guard->end - guard->start <= GUARD_MAX;
}

/*
 * Return whether the address of Q is in the stack of its thread, by the stack pointer: near it, or,
 * if the mapping is known to be a stack, anywhere above it.
 */
static bool is_on_own_stack(const struct sought *q)
{
	enum { BELOW = 256, ABOVE = 64 << 10 };	/* bytes; functions may use some below it */
	uint64_t sp = stack_pointer(q);

	if (!sp || q->address + BELOW < sp)
		return false;
	if (!q->m)
		return q->address < sp + ABOVE;
	return sp >= q->m->start && sp < q->m->end &&
	       (q->address < sp + ABOVE || has_guard(q, q->m));
}

/*
 * Return the mapping of the main thread's stack, if the address of Q is in it, or below it where it
 * has grown.  Otherwise return NULL.
 */
static const struct mapping *main_stack(const struct sought *q)
{
	enum { GAP = 128 << 20 };	/* bytes below it where the kernel maps nothing else */
	const struct mapping *m = q->m ? q->m : mappings_from(&q->space->data, q->address);

	return m && (q->m || m->end - q->address <= GAP) &&
	       !strcmp(object_of(q, m)->path, WORD_STACK) ? m : NULL;
}

/*
 * Return whether the memory of Q is the heap.  The kernel calls the first part that brk() maps
 * "//anon", not "[heap]".  That part starts at most 1 GiB after the program, as far as the kernel
 * puts it at random, and no other file is in between.
 */
static bool is_heap_memory(const struct sought *q)
{
	const uint64_t random = 1 << 30;	/* arm64's; others have less */
	const struct mapping *before = q->m;

	if (!strcmp(q->object->path, WORD_HEAP))
		return true;
	if (!object_may_be_hugepages(q->object))
		return false;
	const struct mapping *code = mappings_before(&q->space->code, q->m->start);
	for (int i = 0; i < 2; i++) {	/* the program's .bss, then its file */
		before = mappings_before(&q->space->data, before->start);
		if (before && code && before->object == code->object)
			return code->is_main && q->m->start - before->end <= random;
		if (!before || !object_may_be_hugepages(object_of(q, before)))
			return false;
	}
	return false;
}

/*
 * Return who touched the page of Q first, as an id in the names of first touches; 0: unknown.  A
 * child has the pages of its parent until it has page faults of its own.
 */
static uint32_t toucher_of(const struct sought *q)
{
	enum { ANCESTORS_MAX = 8 };
	const struct space *space = q->space;
	uint32_t name = first_touch_find(&q->d->touches, space->birth, q->address);

	for (int i = 0; !name && space->parent && i < ANCESTORS_MAX; i++) {
		space = spaces_find(q->d->spaces, space->parent);
		name = first_touch_find(&q->d->touches, space->birth, q->address);
	}
	return name;
}

/* Return whether O is memory without any name. */
static bool is_nameless(const struct object *o)
{
	return !*o->path || !strcmp(o->path, WORD_ANON_FILE);
}

/* Return the place of Q in memory without a file. */
static struct data_place place_in_memory(const struct sought *q)
{
	bool is_heap = is_heap_memory(q);
	bool is_plain = is_nameless(q->object);
	struct data_places *d = q->d;
	const struct datum_key key = {
		.kind = is_heap ? DATA_HEAP : DATA_ANONYMOUS,
		.object = whole_object(q, q->m->object),
		.name = toucher_of(q) };
	uint32_t id = find_known(d, &key);
	char name[512];

	if (id == TABLE_NONE) {
		const char *what = is_heap ? WORD_HEAP : is_plain ? WORD_ANON : q->object->path;
		snprintf(name, sizeof(name), "%.*s%s]", (int)strcspn(what, "]"), what,
			 key.name ? d->touches.names.text[key.name] : "");
		id = named_datum(d, &key, name);
	}
	return (struct data_place){ .datum = id, .offset = q->address };
}

/* Return the place of Q in the mapping of a file, or of memory that has a name as a file has. */
static struct data_place place_in_file(const struct sought *q)
{
	const char *path = q->object->path;

	return place_named(q, DATA_FILE, whole_object(q, q->m->object),
			   q->address - q->m->start + q->m->file_offset, path);
}

/* Return whether the memory of O is a process's own: nobody else can name it. */
static bool is_own_memory(const struct object *o)
{
	return o->kind == OBJECT_ANONYMOUS &&
	       (object_may_be_hugepages(o) || !strcmp(o->path, WORD_HEAP) ||
		!strcmp(o->path, WORD_STACK) || word_starts(o->path, WORD_ANON));
}

static struct data_place place_in_process_data(const struct sought *q)
{
	bool is_own = !q->object || is_own_memory(q->object);
	const struct mapping *stack = is_own ? main_stack(q) : NULL;
	struct image_place in;

	if (stack)
		return place_stack(q, stack, q->sample->pid);
	if (is_own && is_on_own_stack(q))
		return place_stack(q, q->m, q->sample->tid);
	if ((is_own || q->object->kind == OBJECT_FILE) && find_image(q, &in))
		return place_in_image(q, &in);
	if (!q->object)
		return place_named(q, DATA_UNKNOWN, object_range_unknown(q->d->ranges), q->address,
				   WORD_UNKNOWN);
	return is_own ? place_in_memory(q) : place_in_file(q);
}

static struct data_place place_in_kernel_data(const struct sought *q)
{
	struct data_places *d = q->d;
	uint32_t object = places_kernel_range(d->places);
	struct extent own;
	const char *name = places_kernel_variable(d->places, q->s, q->address, &own);

	if (!name)
		return place_named(q, DATA_KERNEL, object, q->address, WORD_KERNEL_MEMORY);
	const struct datum_key key = { .object = object, .kind = DATA_KERNEL_VARIABLE,
				       .address = own.start };
	uint32_t id = find_known(d, &key);
	if (id == TABLE_NONE)
		id = define(d, &key, own.end - own.start,
			    namer_fixed(d->namer, name).line[0].function);
	return (struct data_place){ .datum = id, .offset = q->address - own.start };
}

struct data_place data_place_find(struct data_places *d, const struct sampled *s,
				  const struct sample *sample, const struct perf_event_attr *attr)
{
	struct sought q = { .d = d, .s = s, .sample = sample, .attr = attr,
			   .address = sample->addr, .space = spaces_find(d->spaces, s->pid) };

	if (q.address >> 63)
		return place_in_kernel_data(&q);
	find_mapping(&q);
	return place_in_process_data(&q);
}

static bool is_page_fault(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_PAGE_FAULTS ||
		attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
		attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

/* Return whether the functions of an object at PATH touch memory for their callers. */
static bool is_c_library(const char *path)
{
	const char *name = base_name(path);

	return !strncmp(name, "libc.", 5) || !strncmp(name, "libc-", 5) ||
	       !strncmp(name, "ld-", 3) || !strncmp(name, "libstdc++", 9);
}

/* Return the innermost function outside of the kernel and the C library, else any; or NULL. */
static const char *who_touched(const struct resolved *r, const uint32_t *frame, uint32_t frames)
{
	const char *any = NULL;

	for (uint32_t i = 0; i < frames; i++) {
		const struct resolved_frame *f = &r->frame[frame[i]];
		const struct resolved_object *o = &r->object[f->object];
		if (!f->lines || o->kind == OBJECT_KERNEL || o->kind == OBJECT_MODULE)
			continue;
		const char *name = r->string[r->function[f->line[f->lines - 1].function].name];
		if (!is_c_library(r->string[o->path]))
			return name;
		any = any ? any : name;
	}
	return any;
}

/*
 * Set TEXT to what is known of the memory of Q when FUNCTION touches it first.  Blocks of very
 * different sizes are told apart, because all may be touched in one function, such as memset().
 * The kernel joins neighbouring mappings, so sizes are rough, and an address keeps its first one.
 */
static void describe_touch(const struct sought *q, const char *function, char *text, size_t size)
{
	char least[UNITS_SIZE], most[UNITS_SIZE];
	uint64_t bytes = q->m ? q->m->end - q->m->start : 0;

	if (!bytes || bytes >> 62 || !is_nameless(q->object) || is_heap_memory(q)) {
		snprintf(text, size, ": first touched in %s", function);
		return;
	}
	uint64_t power = 1ULL << (63 - __builtin_clzll(bytes));
	units_format_size(least, power);
	units_format_size(most, 2 * power);
	snprintf(text, size, " of %s to %s: first touched in %s", least, most, function);
}

void data_place_note(struct data_places *d, const struct sample *sample,
		     const struct perf_event_attr *attr, const uint32_t *frame, uint32_t frames)
{
	const char *function = is_page_fault(attr)
		? who_touched(d->definitions, frame, frames) : NULL;
	struct sought q = { .d = d, .address = sample->addr };
	char text[480];

	if (!function)
		return;
	q.space = spaces_find(d->spaces, sample->pid);
	if (!q.space->birth)
		return;		/* there are no records of the process */
	find_mapping(&q);
	describe_touch(&q, function, text, sizeof(text));
	first_touch_add(&d->touches, q.space->birth, sample->addr, text);
}

void data_places_restart(struct data_places *d)
{
	table_release(&d->table);
	free(d->key);
	d->key = NULL;
}

void data_places_release(struct data_places *d)
{
	data_places_restart(d);
	first_touches_release(&d->touches);
}
