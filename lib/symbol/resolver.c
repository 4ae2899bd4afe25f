/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two caches make the common case cheap.  The first, direct-mapped, goes from
 * an address in a version of an address space straight to the frame; the
 * second, exact, from an address in an object.  Only what both miss is looked
 * up in symbol tables.
 */
#include "symbol/resolver.h"
#include "base/intern.h"
#include "sample/build-id.h"
#include "symbol/demangle.h"
#include "symbol/kallsyms.h"
#include "symbol/locate.h"
#include "symbol/source.h"

#include <sys/auxv.h>
#include <sys/utsname.h>

enum {
	QUICK_SLOTS = 16384,	/* a power of two */
	LINES_MAX = 512,	/* of one place: calls inlined into each other */
};

/* First cache: the frame at ADDRESS of the space of this GENERATION. */
struct quick {
	uint64_t generation, address;
	uint32_t frame;
};

/* An object of the resolved stream, and what it stands for. */
struct part {
	uint32_t object;	/* of lib/process; TABLE_NONE: what is mapped nowhere */
	uint64_t start, size;
};

struct resolver {
	struct resolver_options options;
	struct resolved *tables;
	struct report *report;
	struct spaces spaces;
	struct quick *quick;
	struct table frame_table;	/* over tables->frame, by (object, address) */
	struct source *source;		/* by object of lib/process */
	uint32_t sources;
	struct part *part;		/* by object of the tables */
	struct table part_table;
	struct intern strings;		/* the same ids as tables->string */
	struct table function_table;	/* over tables->function */
	uint32_t *comm;			/* string of each thread name in spaces.names */
	uint32_t comms;
	struct kallsyms *kallsyms;
	bool kernel_tried;
	uint64_t kernel_shift;		/* from the recorded kernel's addresses to kallsyms' */
	struct resolved_line line[LINES_MAX];	/* of the place in hand */
	uint32_t *frame;		/* of the sample in hand */
	size_t frame_capacity;
	uint64_t opened, named;
};

/* Where an address is: a part of an object, and the address in it. */
struct place {
	uint32_t object;		/* of the tables */
	uint64_t address;
	uint32_t source;		/* to look it up in; TABLE_NONE: none */
	bool in_kernel;			/* to look it up in kallsyms */
};

struct resolver *resolver_new(const struct resolver_options *options, struct resolved *tables,
			      struct report *report)
{
	struct resolver *r = mem_zeroed(1, sizeof(*r));

	r->options = *options;
	r->tables = tables;
	r->report = report;
	r->quick = mem_zeroed(QUICK_SLOTS, sizeof(*r->quick));
	return r;
}

void resolver_follow(struct resolver *r, struct stream_reader *in, const struct record *rec)
{
	if (!spaces_follow(&r->spaces, rec))
		stream_damaged(in, rec, "record with fields that do not fit it");
}

static uint32_t string_id(struct resolver *r, const char *text)
{
	uint32_t known = r->strings.count, id = intern_text(&r->strings, text);

	if (known == 0)		/* the intern has made "" as well */
		resolved_add_string(r->tables, "", 0);
	if (id && id >= known)
		resolved_add_string(r->tables, text, strlen(text));
	return id;
}

static uint32_t function_id(struct resolver *r, const struct resolved_function *f)
{
	uint64_t hash = hash_more(hash_more((uint64_t)f->name << 32 | f->system_name, f->file),
				  f->line);
	struct table_probe probe = table_probe(&r->function_table, hash);
	uint32_t id;

	while ((id = table_next(&r->function_table, &probe)) != TABLE_NONE)
		if (!memcmp(&r->tables->function[id], f, sizeof(*f)))
			return id;
	id = resolved_add_function(r->tables, f);
	table_add(&r->function_table, hash, id);
	return id;
}

/* Was it recorded on this machine, as it runs now? */
static bool is_local(const struct stream_reader *in)
{
	const struct stream_origin *origin = stream_origin(in);
	struct utsname here;

	return origin->host && origin->kernel && uname(&here) == 0 &&
	       !strcmp(origin->host, here.nodename) && !strcmp(origin->kernel, here.release);
}

/* Is KERNEL, as recorded, the one that runs here? */
static bool is_this_kernel(const struct stream_reader *in, const struct object *kernel)
{
	uint8_t id[BUILD_ID_MAX] = { 0 };

	if (!kernel->build_id_size)
		return is_local(in);
	return build_id_of_notes_file("/sys/kernel/notes", id) &&
	       !memcmp(id, kernel->build_id, BUILD_ID_MAX);
}

/* The mapping of the kernel image itself; NULL: the stream has none. */
static const struct mapping *kernel_image(const struct resolver *r)
{
	const struct space *kernel = &r->spaces.kernel;

	for (size_t i = 0; i < kernel->mappings; i++)
		if (r->spaces.objects.object[kernel->mapping[i].object].kind == OBJECT_KERNEL)
			return &kernel->mapping[i];
	return NULL;
}

static void open_kallsyms(struct resolver *r, const struct stream_reader *in)
{
	static const struct object unknown_kernel;
	const struct mapping *image = kernel_image(r);
	const char *file = r->options.kallsyms;

	r->kernel_tried = true;
	if (!file && !is_this_kernel(in, image ? &r->spaces.objects.object[image->object]
					       : &unknown_kernel)) {
		report_note(r->report, "kernel addresses stay without names: another kernel was "
			    "recorded than the one here; give its symbols with --kallsyms");
		return;
	}
	r->kallsyms = kallsyms_open(file ? file : "/proc/kallsyms");
	if (kallsyms_trouble(r->kallsyms))
		report_note(r->report, "kernel addresses stay without names: %s",
			    kallsyms_trouble(r->kallsyms));
	/* perf's convention: a kernel mapping's offset is the address of _text (or _stext). */
	uint64_t text = kallsyms_address(r->kallsyms, "_text");
	if (image && text && image->file_offset)
		r->kernel_shift = text - image->file_offset;	/* it booted elsewhere in memory */
}

/* This machine's vdso, which every process maps. */
static struct elf *open_vdso(void)
{
	enum { VDSO_MAX = 4 * 4096 };	/* bytes; of x86-64 and arm64 it is one or two pages */
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	const char *why;

	return vdso ? elf_open_memory(vdso, VDSO_MAX, &why) : NULL;
}

/* The ELF of the object that M maps in PID, opened at the first need. */
static const struct source *source_of(struct resolver *r, const struct stream_reader *in,
			      const struct mapping *m, pid_t pid)
{
	const struct object *object = &r->spaces.objects.object[m->object];

	for (; r->sources <= m->object; r->sources++) {
		r->source = array_grow(r->source, r->sources, sizeof(*r->source));
		r->source[r->sources] = (struct source){ 0 };
	}
	struct source *source = &r->source[m->object];
	if (source->tried || !r->options.symbols)
		return source;
	source->tried = true;
	if (object->kind == OBJECT_VDSO && is_local(in)) {
		source->elf = open_vdso();
	} else if (object->kind == OBJECT_FILE) {
		enum locate_result result = locate_object(object, pid, is_local(in), &source->elf);
		if (result != LOCATED)
			report_note(r->report, "no names from '%s': %s", object->path,
				    locate_reason(result));
	}
	r->opened += source->elf != NULL;
	return source;
}

/* The tables' object for a part of an object of lib/process. */
static uint32_t part_id(struct resolver *r, uint32_t object, struct resolved_object part)
{
	uint64_t hash = hash_more(hash_more(object, part.start), part.size);
	struct table_probe probe = table_probe(&r->part_table, hash);
	const char *path = "[unknown]";
	uint32_t id;

	while ((id = table_next(&r->part_table, &probe)) != TABLE_NONE)
		if (r->part[id].object == object && r->part[id].start == part.start &&
		    r->part[id].size == part.size)
			return id;
	if (object != TABLE_NONE) {
		const struct object *o = &r->spaces.objects.object[object];
		path = o->path;
		memcpy(part.build_id, o->build_id, BUILD_ID_MAX);
		if (!part.build_id_size)
			part.build_id_size = o->build_id_size;
	}
	part.path = string_id(r, path);
	id = resolved_add_object(r->tables, &part);
	r->part = array_grow(r->part, id, sizeof(*r->part));
	r->part[id] = (struct part){ object, part.start, part.size };
	table_add(&r->part_table, hash, id);
	return id;
}

static struct place nowhere(struct resolver *r, uint64_t address)
{
	struct resolved_object part = { .kind = OBJECT_UNKNOWN };

	return (struct place){ .object = part_id(r, TABLE_NONE, part), .source = TABLE_NONE,
			       .address = address };
}

/* The kernel image is one part, whatever modules cut out of its mapping. */
static struct place place_in_kernel(struct resolver *r, const struct mapping *m, uint64_t address)
{
	const struct object *object = &r->spaces.objects.object[m->object];
	struct resolved_object part = { .kind = (uint16_t)object->kind, .start = m->start,
					.size = m->end - m->start, .file_offset = m->file_offset };

	if (object->kind == OBJECT_KERNEL) {
		const struct mapping *image = kernel_image(r);
		part.start = image->start;
		part.file_offset = image->file_offset;
		part.size = UINT64_MAX - part.start;
	}
	return (struct place){ .object = part_id(r, m->object, part), .source = TABLE_NONE,
			       .address = address, .in_kernel = true };
}

/* In a file: by the ELF's own addresses where it was read, else by offset in the file. */
static struct place place_in_file(struct resolver *r, const struct mapping *m,
				  const struct elf *elf, uint64_t address)
{
	const struct object *object = &r->spaces.objects.object[m->object];
	uint64_t offset = address - m->start + m->file_offset;
	struct resolved_object part = { .kind = (uint16_t)object->kind,
					.flags = m->is_main ? OBJECT_IS_MAIN : 0 };
	struct elf_segment segment;

	if (elf && elf_segment(elf, offset, &segment)) {
		const uint8_t *id;
		part.start = segment.address;
		part.size = segment.size;
		part.file_offset = segment.file_offset;
		part.build_id_size = (uint8_t)elf_build_id(elf, &id);
		if (part.build_id_size)
			memcpy(part.build_id, id, part.build_id_size);
		return (struct place){ .object = part_id(r, m->object, part), .source = m->object,
				       .address = offset - segment.file_offset + segment.address };
	}
	part.start = part.file_offset = m->file_offset;
	part.size = m->end - m->start;
	return (struct place){ .object = part_id(r, m->object, part), .source = TABLE_NONE,
			       .address = offset };
}

static struct place place_of(struct resolver *r, const struct stream_reader *in, pid_t pid,
			     const struct space *space, uint64_t address)
{
	const struct mapping *m = space_find(space, address);

	if (!m)
		return nowhere(r, address);
	if (space == &r->spaces.kernel) {
		if (!r->kernel_tried && r->options.symbols)
			open_kallsyms(r, in);
		return place_in_kernel(r, m, address);
	}
	switch (r->spaces.objects.object[m->object].kind) {
	case OBJECT_FILE:
	case OBJECT_VDSO:
		return place_in_file(r, m, source_of(r, in, m, pid)->elf, address);
	default: {
		struct resolved_object part = {
			.kind = OBJECT_ANONYMOUS, .start = m->start, .size = m->end - m->start,
			.file_offset = m->file_offset,
		};
		return (struct place){ .object = part_id(r, m->object, part), .source = TABLE_NONE,
				       .address = address };
	}
	}
}

/* The name of a place by symbol tables; NULL: it has none. */
static const char *symbol_of(struct resolver *r, const struct place *place)
{
	struct elf_symbol symbol;

	if (place->in_kernel)
		return r->kallsyms ? kallsyms_find(r->kallsyms, place->address + r->kernel_shift)
				   : NULL;
	if (place->source == TABLE_NONE)
		return NULL;
	return elf_symbol(r->source[place->source].elf, place->address, &symbol) ? symbol.name
										 : NULL;
}

/* The line of a function called NAME, as linkers have it. */
static struct resolved_line named_line(struct resolver *r, const char *name, bool is_mangled,
				       const char *file, uint32_t line)
{
	struct resolved_function f = { .system_name = string_id(r, name), .line = line };
	struct arena scratch = { 0 };

	f.name = is_mangled ? string_id(r, demangle(&scratch, name, r->options.demangle))
			    : f.system_name;
	f.file = file ? string_id(r, file) : 0;
	arena_release(&scratch);
	return (struct resolved_line){ .function = function_id(r, &f) };
}

/*
 * One frame of debug information.  Without a linkage name the source's name
 * is the whole name (C), or the symbol's is better (SYMBOL, of the outermost
 * frame: scopes are not in the source's name).
 */
static struct resolved_line debug_line(struct resolver *r, const struct dwarf_frame *frame,
				       const char *symbol)
{
	const struct dwarf_function *f = frame->function;
	const char *name = f && f->linkage_name ? f->linkage_name : f && f->name ? f->name : symbol;
	const char *file = f && f->file ? f->file : frame->file;
	bool lines = !r->options.no_lines;
	struct resolved_line line = named_line(r, name ? name : "?", true, lines ? file : NULL,
					       f && lines ? f->line : 0);

	if (!lines)
		return line;
	line.file = frame->file ? string_id(r, frame->file) : 0;
	line.line = frame->line;
	line.column = frame->column;
	return line;
}

/* The lines of a place, innermost first, in r->line; returns how many. */
static uint32_t find_lines(struct resolver *r, const struct place *place)
{
	const char *symbol = symbol_of(r, place);
	const struct dwarf_frame *frame;
	size_t frames = place->source == TABLE_NONE
		? 0 : source_frames(&r->source[place->source], place->address, &frame);

	if (frames == 0) {
		if (symbol)
			r->line[0] = named_line(r, symbol, !place->in_kernel, NULL, 0);
		return symbol != NULL;
	}
	if (r->options.no_inlines) {
		frame += frames - 1;	/* the outermost */
		frames = 1;
	}
	if (frames > LINES_MAX)
		frames = LINES_MAX;
	for (size_t i = 0; i < frames; i++)
		r->line[i] = debug_line(r, &frame[i], i == frames - 1 ? symbol : NULL);
	return (uint32_t)frames;
}

static uint32_t add_frame(struct resolver *r, const struct place *place)
{
	struct resolved_frame frame = { .object = place->object, .address = place->address,
					.lines = find_lines(r, place), .line = r->line };

	r->named += frame.lines > 0;
	return resolved_add_frame(r->tables, &frame);
}

static uint32_t frame_at(struct resolver *r, const struct place *place)
{
	uint64_t hash = hash_more(place->object, place->address);
	struct table_probe probe = table_probe(&r->frame_table, hash);
	uint32_t id;

	while ((id = table_next(&r->frame_table, &probe)) != TABLE_NONE)
		if (r->tables->frame[id].address == place->address &&
		    r->tables->frame[id].object == place->object)
			return id;
	id = add_frame(r, place);
	table_add(&r->frame_table, hash, id);
	return id;
}

static uint32_t resolve(struct resolver *r, const struct stream_reader *in, pid_t pid,
			const struct space *space, uint64_t address)
{
	uint64_t hash = hash_u64(address + space->generation * 0x9e3779b97f4a7c15ULL);
	struct quick *q = &r->quick[hash & (QUICK_SLOTS - 1)];

	/* Generation 0, of spaces never heard of, would match empty slots. */
	if (q->address == address && q->generation == space->generation && q->generation)
		return q->frame;
	struct place place = place_of(r, in, pid, space, address);
	*q = (struct quick){ .generation = space->generation, .address = address,
			     .frame = frame_at(r, &place) };
	return q->frame;
}

static void push(struct resolver *r, uint32_t *count, uint32_t frame)
{
	if (*count == r->frame_capacity) {
		r->frame_capacity = r->frame_capacity ? 2 * r->frame_capacity : 256;
		r->frame = mem_resize(r->frame, r->frame_capacity * sizeof(*r->frame));
	}
	r->frame[(*count)++] = frame;
}

/* The space that a sample's mode, or a marker in a callchain, means; NULL: a guest's. */
static const struct space *space_of_mode(struct resolver *r, pid_t pid, uint16_t misc)
{
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return &r->spaces.kernel;
	case PERF_RECORD_MISC_USER:
	case PERF_RECORD_MISC_CPUMODE_UNKNOWN:
		return spaces_find(&r->spaces, pid);
	default:
		return NULL;
	}
}

static const struct space *space_of_marker(struct resolver *r, pid_t pid, uint64_t marker)
{
	enum { USER_DEFERRED = -640 };	/* PERF_CONTEXT_USER_DEFERRED, newer than our header */

	switch ((int64_t)marker) {
	case (int64_t)PERF_CONTEXT_KERNEL:
		return &r->spaces.kernel;
	case (int64_t)PERF_CONTEXT_USER:
	case USER_DEFERRED:
		return spaces_find(&r->spaces, pid);
	default:
		return NULL;
	}
}

/*
 * The leaf is the sampled IP.  In the callchain, each PERF_CONTEXT_* marker
 * says whose addresses follow; the first of them is where that code was
 * interrupted, or called the kernel; the others are return addresses, and the
 * call is the instruction before.  The chain begins by repeating the leaf.
 */
static uint32_t resolve_chain(struct resolver *r, const struct stream_reader *in,
			      const struct sample *s, bool has_ip)
{
	static const struct space nothing;
	const struct space *leaf = space_of_mode(r, s->pid, s->misc), *space = leaf;
	bool repeats = has_ip, exact = true;
	uint32_t count = 0;

	if (has_ip)
		push(r, &count, resolve(r, in, s->pid, leaf ? leaf : &nothing, s->ip));
	for (uint64_t i = 0; i < s->callchain.count; i++) {
		uint64_t address = word_at(s->callchain, i);
		if (address >= PERF_CONTEXT_MAX) {
			space = space_of_marker(r, s->pid, address);
			exact = true;
			continue;
		}
		if (!(repeats && space == leaf))
			push(r, &count, resolve(r, in, s->pid, space ? space : &nothing,
						exact ? address : address - 1));
		else
			repeats = false;
		exact = false;
	}
	if (count == 0) {
		struct place unknown = nowhere(r, 0);
		push(r, &count, frame_at(r, &unknown));
	}
	return count;
}

/* The string of the thread's name. */
static uint32_t comm_id(struct resolver *r, pid_t tid)
{
	uint32_t name = spaces_thread_name(&r->spaces, tid);

	for (; r->comms < r->spaces.names.count; r->comms++) {
		r->comm = array_grow(r->comm, r->comms, sizeof(*r->comm));
		r->comm[r->comms] = string_id(r, r->spaces.names.text[r->comms]);
	}
	return name < r->comms ? r->comm[name] : 0;
}

void resolver_sample(struct resolver *r, const struct stream_reader *in,
		     const struct sample *s, struct resolved_sample *out)
{
	const uint64_t value[VALUES] = {
		[VALUE_ADDR] = s->addr, [VALUE_WEIGHT] = s->weight,
		[VALUE_DATA_SRC] = s->data_src, [VALUE_TRANSACTION] = s->transaction,
		[VALUE_PHYS_ADDR] = s->phys_addr, [VALUE_CGROUP] = s->cgroup,
		[VALUE_DATA_PAGE_SIZE] = s->data_page_size,
		[VALUE_CODE_PAGE_SIZE] = s->code_page_size,
	};
	uint64_t has = stream_events(in)->event[s->event].attr.sample_type;

	*out = (struct resolved_sample){
		.event = s->event, .misc = s->misc, .pid = s->pid, .tid = s->tid, .cpu = s->cpu,
		.comm = comm_id(r, s->tid), .time = s->time, .period = s->period,
		.frames = resolve_chain(r, in, s, has & PERF_SAMPLE_IP), .frame = r->frame,
	};
	for (int i = 0; i < VALUES; i++) {
		out->value[i] = value[i];
		out->has |= has & resolved_value_bits[i];
	}
}

struct resolver_counts resolver_counts(const struct resolver *r)
{
	return (struct resolver_counts){ .frames = r->tables->frames, .named = r->named,
					 .objects = r->opened };
}

void resolver_free(struct resolver *r)
{
	for (uint32_t i = 0; i < r->sources; i++)
		source_release(&r->source[i]);
	kallsyms_close(r->kallsyms);
	spaces_release(&r->spaces);
	intern_release(&r->strings);
	table_release(&r->frame_table);
	table_release(&r->part_table);
	table_release(&r->function_table);
	free(r->quick);
	free(r->source);
	free(r->part);
	free(r->comm);
	free(r->frame);
	free(r);
}
