/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps addresses in kernel modules to addresses in the modules' files.
 *
 * The file of a module determines the order of its sections and the gaps between them. But the
 * loader may add tables before or between them, such as arm64's linkage tables (PLT), which the
 * file does not show. So if kallsyms has a symbol of a section, that symbol gives the section's
 * address.
 */
#include "elf/build-id.h"
#include "resolve/place-internal.h"

#include <stdio.h>

enum { CODES_MAX = 64, TRIES_MAX = 64 };	/* sections per module, symbols per section */

/*
 * Set ID to the build ID of the module OBJECT, as recorded, or else as it runs here. Returns its
 * size in bytes; 0: unknown.
 */
static size_t build_id_of(const struct locate_options *where, const struct stream_reader *in,
			  const struct object *object, uint8_t id[BUILD_ID_MAX])
{
	char name[64];

	memcpy(id, object->build_id, BUILD_ID_MAX);
	if (object->build_id_size || *object->path != '[' || strchr(object->path, '/') ||
	    !may_ask_here(where, in))
		return object->build_id_size;
	int length = (int)strcspn(object->path + 1, "]");
	length = snprintf(name, sizeof(name), "%.*s", length, object->path + 1);
	return length < (int)sizeof(name) ? build_id_of_kernel(name, id) : 0;
}

/* Return the start address of CODE in the module that M maps, from kallsyms; 0: unknown. */
static uint64_t start_by_symbol(const struct places *p, const struct mapping *m,
				struct elf *elf, const struct elf_code *code)
{
	uint64_t at = code->address, end = code->address + code->size;
	struct kallsyms *kallsyms = p->kernel.kallsyms;
	struct elf_symbol symbol;

	if (!p->kernel.has_kallsyms || p->kernel.shift)
		return 0;
	for (int i = 0; i < TRIES_MAX && at < end; i++, at = symbol.same.end) {
		bool found = elf_symbol(elf, at, &symbol);
		uint64_t there = found && symbol.address >= code->address
			? kallsyms_address_in(kallsyms, m->start, m->end, symbol.name) : 0;
		if (there)
			return there - (symbol.address - code->address);
	}
	return 0;
}

/* Set source->code: the addresses of the code sections of the module that M maps. */
static void lay_out(const struct places *p, const struct mapping *m, struct source *source)
{
	bool is_known = true;		/* the sizes of all sections before this one are known */
	uint32_t index = 0;
	struct elf_code code;

	source->code = mem_zeroed(CODES_MAX, sizeof(*source->code));
	while (source->codes < CODES_MAX && elf_next_code(source->image.elf, &index, &code)) {
		uint64_t start = start_by_symbol(p, m, source->image.elf, &code);
		/* the file does not show what size the loader gives these tables */
		is_known &= strncmp(code.name, ".plt", 4) && strcmp(code.name,
								    ".text.ftrace_trampoline");
		if (!start && !is_known)
			continue;
		source->code[source->codes++] = (struct module_code){
			.start = start ? start : m->start + code.address, .size = code.size,
			.own = code.address,
		};
	}
}

/* Look for the file of the module that M maps.  Return it, without its layout. */
static struct source *open_module(struct places *p, const struct stream_reader *in,
				  const struct mapping *m)
{
	const struct object *object = &p->spaces->objects.object[m->object];
	const struct locate_options *where = &p->sources->images.where;
	uint8_t id[BUILD_ID_MAX];
	size_t size = build_id_of(where, in, object, id);
	struct elf *elf = size ? locate_module(where, object->path, id, size,
					       stream_origin(in)->kernel, p->report) : NULL;

	if (elf && !elf_is_relocatable(elf)) {
		elf_close(elf);
		elf = NULL;
	}
	return (struct source *)image_set(&p->sources->images, m->object, object->path, elf);
}

struct source_place place_in_module(struct places *p, const struct sampled *s,
				    const struct mapping *m, uint64_t address)
{
	struct source *source = source_at(p->sources, m->object);

	if (!source->image.tried && open_module(p, s->in, m)->image.elf)
		lay_out(p, m, source);
	for (uint32_t i = 0; i < source->codes; i++) {
		const struct module_code *code = &source->code[i];
		if (address - code->start < code->size)
			return (struct source_place){ source, address - code->start + code->own };
	}
	return (struct source_place){ 0 };
}
