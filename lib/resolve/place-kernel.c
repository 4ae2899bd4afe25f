/* SPDX-License-Identifier: Apache-2.0 */
/* Where an address of the kernel lies, and its symbols, from the running kernel or from a file. */
#include "elf/build-id.h"
#include "linux/kernel-info.h"
#include "record/words.h"
#include "resolve/place-internal.h"

/* Return whether the recorded KERNEL is the kernel that runs here. */
static bool is_this_kernel(const struct stream_reader *in, const struct object *kernel)
{
	uint8_t id[BUILD_ID_MAX] = { 0 };

	if (!kernel->build_id_size)
		return is_recorded_here(in);
	return build_id_of_kernel(NULL, id) &&
	       !memcmp(id, kernel->build_id, BUILD_ID_MAX);
}

/* Return the mapping of the kernel image itself; NULL if the stream has none. */
static const struct mapping *kernel_image(const struct places *p)
{
	enum { MODULES_MAX = 1000 };	/* modules mapped over the image's start */
	const struct mappings *code = &p->spaces->kernel.code;
	const struct mapping *m = mappings_from(code, p->spaces->image);

	for (int i = 0; m && p->spaces->has_image && i < MODULES_MAX; i++) {
		if (p->spaces->objects.object[m->object].kind == OBJECT_KERNEL)
			return m;
		m = mappings_from(code, m->end);
	}
	return NULL;
}

/* Open the kernel's ELF file, which has inlined calls and lines, if it is found. */
static void open_vmlinux(struct places *p, const struct stream_reader *in,
			 const struct mapping *image)
{
	const struct object *kernel = &p->spaces->objects.object[image->object];
	uint8_t id[BUILD_ID_MAX];
	size_t size = kernel->build_id_size;
	uint64_t text;

	memcpy(id, kernel->build_id, BUILD_ID_MAX);
	if (!size && may_ask_here(&p->sources->images.where, in))
		size = build_id_of_kernel(NULL, id);
	struct elf *elf = size && image->file_offset
		? locate_kernel(&p->sources->images.where, id, size, stream_origin(in)->kernel)
		: NULL;
	if (!elf)
		return;
	if (!elf_address_of(elf, "_text", &text)) {
		elf_close(elf);
		return;
	}
	p->kernel.vmlinux = (struct source *)image_set(&p->sources->images, image->object,
						       kernel->path, elf);
	p->kernel.vmlinux_object = image->object;
	p->kernel.vmlinux_shift = text - image->file_offset;
}

/* A process that a later record names may have ended after we have read the kernel's symbols. */
static void follow_later(void *context, const struct record *rec)
{
	struct places *p = context;

	images_follow(&p->sources->images, rec);
}

static void look_ahead(void *context)
{
	struct places *p = context;

	if (p->sources->images.is_local)
		stream_look_ahead(p->in, follow_later, p);
}

/* Return the symbols of the kernel's code, or of its VARIABLES: a copy of them, or all of them. */
static struct kallsyms *open_list(struct places *p, bool variables)
{
	struct kernel_code *k = &p->kernel;
	struct kallsyms *copy = k->is_kept
		? cache_open_kernel(&p->sources->cache, &k->state, variables) : NULL;

	k->has_copy[variables] = copy;
	return copy ? copy : variables ? kallsyms_open_variables(k->file)
				       : kallsyms_open_slowly(k->file, look_ahead, p);
}

/* Replace a copy of the kernel's symbols by all of them: ADDRESS may be in generated code. */
static void read_generated(struct places *p, uint64_t address)
{
	struct kernel_code *k = &p->kernel;

	if (!k->kallsyms || kallsyms_is_certain(k->kallsyms, address + k->shift))
		return;
	struct kallsyms *all = kallsyms_open_slowly(k->file, look_ahead, p);
	if (kallsyms_trouble(all)) {
		kallsyms_close(all);
		return;
	}
	kallsyms_close(k->kallsyms);
	k->kallsyms = all;
}

void places_save_kernel(const struct places *p)
{
	const struct kernel_code *k = &p->kernel;
	const struct cache *cache = &p->sources->cache;

	if (!k->is_kept || !k->has_kallsyms)
		return;
	if (!k->has_copy[false])
		cache_save_kernel(cache, &k->state, k->kallsyms, false);
	if (!k->has_copy[true] && k->variables && !kallsyms_trouble(k->variables))
		cache_save_kernel(cache, &k->state, k->variables, true);
}

/* Look for the kernel's symbols, at the first kernel address. */
static void open_symbols(struct places *p, const struct stream_reader *in)
{
	static const struct object unknown_kernel;
	const struct mapping *image = kernel_image(p);
	const struct object *kernel = image ? &p->spaces->objects.object[image->object]
					    : &unknown_kernel;
	const struct locate_options *where = &p->sources->images.where;
	const char *file = p->kallsyms;
	bool is_forbidden = !file && where->files != LOCATE_RECORDED;
	bool is_other = !file && !is_forbidden && !is_this_kernel(in, kernel);
	char kept[PATH_MAX];

	p->kernel.is_open = true;
	if (image)
		open_vmlinux(p, in, image);
	if (is_forbidden)
		return;
	if (is_other && locate_kept(where, kernel->build_id, kernel->build_id_size, "kallsyms",
				    kept))
		file = kept;
	if (is_other && !file) {
		if (!p->kernel.vmlinux &&
		    recorded_names_file(&p->recorded, WORD_KERNEL) == TABLE_NONE)
			report_note(p->report, "kernel addresses stay without names: another "
				    "kernel was recorded than the one here; give its symbols "
				    "with --kallsyms");
		return;
	}
	p->kernel.file = mem_text(file ? file : KERNEL_KALLSYMS);
	p->kernel.is_kept = !file && p->sources->cache.directory && kernel_state(&p->kernel.state);
	p->kernel.kallsyms = open_list(p, false);
	p->kernel.has_kallsyms = !kallsyms_trouble(p->kernel.kallsyms);
	if (!p->kernel.has_kallsyms && !p->kernel.vmlinux)
		report_note(p->report, "kernel addresses stay without names: %s",
			    kallsyms_trouble(p->kernel.kallsyms));
	/* perf's convention: a kernel mapping's offset is the address of _text (or _stext). */
	uint64_t text = kallsyms_address(p->kernel.kallsyms, "_text");
	if (image && text && image->file_offset)
		p->kernel.shift = text - image->file_offset;	/* it booted at another address */
	uint64_t init_end = kallsyms_address(p->kernel.kallsyms, "_einittext");
	if (init_end)
		p->kernel.init_end = init_end - p->kernel.shift;
}

/*
 * Return the range that the addresses of M, in the kernel, are in.  The kernel image is one range,
 * even with modules in it.
 */
static uint32_t range_of(struct places *p, const struct mapping *m)
{
	enum object_kind kind = p->spaces->objects.object[m->object].kind;
	struct resolved_object range = { .kind = (uint16_t)kind, .start = m->start,
					 .size = m->end - m->start,
					 .file_offset = m->file_offset };

	if (kind == OBJECT_KERNEL) {
		const struct mapping *image = kernel_image(p);
		range.start = image->start;
		range.file_offset = image->file_offset;
		range.size = UINT64_MAX - range.start;
	}
	return object_range_id(p->ranges, m->object, 0, range);
}

struct place place_in_kernel(struct places *p, const struct sampled *s, const struct mapping *m,
			     uint64_t address)
{
	const struct object *object = &p->spaces->objects.object[m->object];
	struct place place = { .address = address, .object = range_of(p, m) };
	const struct kernel_code *k = &p->kernel;

	if (k->generated && !strcmp(object->path, WORD_BPF)) {
		place.kind = PLACE_JIT;
		place.jit.time = s->jit_time;
		jits_find(p->jits, k->generated, address, s->jit_time, &place.jit.function);
		return place;
	}
	/* Ranges beyond OBJECT_RANGES_MAX have no object: it is unknown whose code they have. */
	bool is_known = p->ranges->range[place.object].object == m->object;
	read_generated(p, address);
	place.kind = PLACE_KERNEL;
	place.kernel.object = is_known ? object : NULL;
	place.kernel.recorded = place_recorded(p, m, address);
	if (object->kind == OBJECT_KERNEL && k->vmlinux) {
		place.kernel.in.source = k->vmlinux;
		place.kernel.in.address = address + k->vmlinux_shift;
	} else if (object->kind == OBJECT_MODULE && k->is_open) {
		place.kernel.in = place_in_module(p, s, m, address);
	}
	return place;
}

const struct mapping *places_kernel_mapping(struct places *p, const struct sampled *s,
					    uint64_t address)
{
	const struct mapping *m = space_find(&p->spaces->kernel, address);
	bool is_named = m && m->generated;	/* by its KSYMBOL record */

	if (!is_named && !p->kernel.is_open && p->symbols)
		open_symbols(p, s->in);
	/* The mapping ends before the kernel's boot code, which calls the idle loop. */
	if (!m && address < p->kernel.init_end) {
		m = kernel_image(p);
		m = m && address >= m->start ? m : NULL;
	}
	return m;
}

const char *places_kernel_variable(struct places *p, const struct sampled *s, uint64_t address,
				   struct extent *own)
{
	struct kernel_code *k = &p->kernel;
	uint64_t start, size;

	if (!k->is_open && p->symbols)
		open_symbols(p, s->in);
	if (!k->has_kallsyms)
		return NULL;
	if (!k->variables)
		k->variables = open_list(p, true);
	const char *name = kallsyms_variable(k->variables, address + k->shift, &start, &size);
	*own = (struct extent){ start - k->shift, start - k->shift + size };
	return name;
}

uint32_t places_kernel_range(struct places *p)
{
	const struct mapping *image = kernel_image(p);

	return image ? range_of(p, image) : object_range_unknown(p->ranges);
}

/* Forget the names of generated code that is not mapped any more. */
static void forget_unmapped(struct places *p)
{
	enum { FEW = 4096 };
	const struct mappings *code = &p->spaces->kernel.code;
	struct kernel_code *k = &p->kernel;
	struct jitmap *past = k->generated;
	struct jit_symbol found;
	uint32_t visits = 0;

	k->generated = jitmap_new(NULL);
	k->added = 0;
	for (const struct mapping *m = mappings_from(code, 0); m; m = mappings_from(code, m->end)) {
		visits++;
		if (past && m->generated && jitmap_find(past, m->start, JIT_LATEST, &found))
			jitmap_add_function(k->generated, m->start, m->end - m->start, found.name);
	}
	jitmap_free(past);
	k->limit = visits + FEW;
}

void places_follow_kernel(struct places *p, const struct record *rec)
{
	struct ksymbol_record k;
	char name[512];		/* no name in the kernel is longer (KSYM_NAME_LEN) */

	if (!record_ksymbol(rec, &k) || k.unregister)
		return;
	if (p->spaces->generated_dropped)
		report_more(p->report, p->spaces->generated_dropped, "the kernel generated more "
			    "than %d pieces of code; further pieces have no names", GENERATED_MAX);
	if (p->kernel.added >= p->kernel.limit)
		forget_unmapped(p);
	snprintf(name, sizeof(name), "%s", k.name);
	jitmap_add_function(p->kernel.generated, k.start, k.size, name);
	p->kernel.added++;
	recent_flush(p->jits->recent);
}
