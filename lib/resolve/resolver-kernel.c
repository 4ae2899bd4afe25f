/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's symbols, from the running kernel or from a file. */
#include "elf/build-id.h"
#include "linux/kernel-info.h"
#include "record/words.h"
#include "resolve/resolver-internal.h"

bool resolver_is_local(const struct stream_reader *in)
{
	return locate_is_local(stream_origin(in));
}

/* Return whether the recorded KERNEL is the kernel that runs here. */
static bool is_this_kernel(const struct stream_reader *in, const struct object *kernel)
{
	uint8_t id[BUILD_ID_MAX] = { 0 };

	if (!kernel->build_id_size)
		return resolver_is_local(in);
	return build_id_of_kernel(NULL, id) &&
	       !memcmp(id, kernel->build_id, BUILD_ID_MAX);
}

const struct mapping *resolver_kernel_image(const struct resolver *r)
{
	enum { MODULES_MAX = 1000 };	/* modules mapped over the image's start */
	const struct mappings *code = &r->spaces.kernel.code;
	const struct mapping *m = mappings_from(code, r->spaces.image);

	for (int i = 0; m && r->spaces.has_image && i < MODULES_MAX; i++) {
		if (r->spaces.objects.object[m->object].kind == OBJECT_KERNEL)
			return m;
		m = mappings_from(code, m->end);
	}
	return NULL;
}

/* Open the kernel's ELF file, which has inlined calls and lines, if it is found. */
static void open_vmlinux(struct resolver *r, const struct stream_reader *in,
			 const struct mapping *image)
{
	const struct object *kernel = &r->spaces.objects.object[image->object];
	uint8_t id[BUILD_ID_MAX];
	size_t size = kernel->build_id_size;
	uint64_t text;

	memcpy(id, kernel->build_id, BUILD_ID_MAX);
	if (!size && resolver_is_local(in))
		size = build_id_of_kernel(NULL, id);
	struct elf *elf = size && image->file_offset
		? locate_kernel(&r->sources.images.where, id, size, stream_origin(in)->kernel)
		: NULL;
	if (!elf)
		return;
	if (!elf_address_of(elf, "_text", &text)) {
		elf_close(elf);
		return;
	}
	image_set(&r->sources.images, image->object, kernel->path, elf);
	r->vmlinux = image->object;
	r->vmlinux_shift = text - image->file_offset;
}

/* A process that a later record names may have ended after we have read the kernel's symbols. */
static void follow_later(void *context, const struct record *rec)
{
	struct resolver *r = context;

	images_follow(&r->sources.images, rec);
}

static void look_ahead(void *context)
{
	struct resolver *r = context;

	if (r->sources.images.is_local)
		stream_look_ahead(r->in, follow_later, r);
}

void resolver_kernel_open(struct resolver *r, const struct stream_reader *in)
{
	static const struct object unknown_kernel;
	const struct mapping *image = resolver_kernel_image(r);
	const struct object *kernel = image ? &r->spaces.objects.object[image->object]
					    : &unknown_kernel;
	const char *file = r->options.kallsyms;
	bool is_other = !file && !is_this_kernel(in, kernel);
	char kept[PATH_MAX];

	r->kernel_tried = true;
	r->vmlinux = TABLE_NONE;
	if (image)
		open_vmlinux(r, in, image);
	if (is_other && locate_kept(&r->sources.images.where, kernel->build_id,
				    kernel->build_id_size, "kallsyms", kept))
		file = kept;
	if (is_other && !file) {
		if (r->vmlinux == TABLE_NONE &&
		    recorded_names_file(&r->recorded, WORD_KERNEL) == TABLE_NONE)
			report_note(r->report, "kernel addresses stay without names: another "
				    "kernel was recorded than the one here; give its symbols "
				    "with --kallsyms");
		return;
	}
	r->kallsyms = kallsyms_open_slowly(file ? file : KERNEL_KALLSYMS, look_ahead, r);
	if (kallsyms_trouble(r->kallsyms) && r->vmlinux == TABLE_NONE)
		report_note(r->report, "kernel addresses stay without names: %s",
			    kallsyms_trouble(r->kallsyms));
	/* perf's convention: a kernel mapping's offset is the address of _text (or _stext). */
	uint64_t text = kallsyms_address(r->kallsyms, "_text");
	if (image && text && image->file_offset)
		r->kernel_shift = text - image->file_offset;	/* it booted at another address */
	uint64_t init_end = kallsyms_address(r->kallsyms, "_einittext");
	if (init_end)
		r->init_end = init_end - r->kernel_shift;
}

/*
 * A module's symbol names only code of that module. It is used only if the kernel has not moved
 * since the recording, because modules do not move together with the kernel. The kernel's mapping
 * goes on after its last function. If the recording has no record of a module or a BPF program, its
 * code seems to be the kernel's. Parts beyond OBJECTS_MAX have no object: it is unknown whose code
 * they have.
 */
const char *resolver_kernel_symbol(const struct resolver *r, const struct place *place)
{
	uint32_t object = r->part[place->object].object;
	const char *module, *name;

	if (!r->kallsyms || kallsyms_trouble(r->kallsyms) || object >= PART_REMOVED)
		return NULL;
	const struct object *o = &r->spaces.objects.object[object];
	uint64_t address = place->address + r->kernel_shift;
	if (o->kind == OBJECT_KERNEL && kallsyms_is_beyond(r->kallsyms, address))
		return NULL;
	name = kallsyms_find(r->kallsyms, address, &module);
	if (!name || (!module && o->kind == OBJECT_KERNEL))
		return name;
	return module && r->kernel_shift == 0 &&
	       (o->kind == OBJECT_KERNEL || locate_is_module(o->path, module)) ? name : NULL;
}

/* Forget the names of generated code that is not mapped any more. */
static void forget_unmapped(struct resolver *r)
{
	enum { FEW = 4096 };
	const struct mappings *code = &r->spaces.kernel.code;
	struct jitmap *past = r->ksymbols;
	struct jit_place found;
	uint32_t visits = 0;

	r->ksymbols = jitmap_new(NULL);
	r->ksymbols_added = 0;
	for (const struct mapping *m = mappings_from(code, 0); m; m = mappings_from(code, m->end)) {
		visits++;
		if (past && m->generated && jitmap_find(past, m->start, JIT_LATEST, &found))
			jitmap_add_function(r->ksymbols, m->start, m->end - m->start, found.name);
	}
	jitmap_free(past);
	r->ksymbols_limit = visits + FEW;
}

void resolver_kernel_follow(struct resolver *r, const struct record *rec)
{
	struct ksymbol_record k;
	char name[512];		/* no name in the kernel is longer (KSYM_NAME_LEN) */

	if (!record_ksymbol(rec, &k) || k.unregister)
		return;
	if (r->spaces.generated_dropped)
		report_more(r->report, r->spaces.generated_dropped, "the kernel generated more "
			    "than %d pieces of code; further pieces have no names", GENERATED_MAX);
	if (r->ksymbols_added >= r->ksymbols_limit)
		forget_unmapped(r);
	snprintf(name, sizeof(name), "%s", k.name);
	jitmap_add_function(r->ksymbols, k.start, k.size, name);
	r->ksymbols_added++;
	recent_flush(&r->recent);
}
