/* SPDX-License-Identifier: Apache-2.0 */
#include "listing/object-code.h"
#include "base/hex.h"
#include "base/text.h"
#include "elf/section.h"
#include "names/demangle.h"
#include "record/words.h"

#include <elf.h>
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Read ID, hexadecimal digits, to O.  Return false if it is not a GNU build ID. */
static bool read_build_id(const char *id, struct object *o)
{
	size_t length = strlen(id);

	if (length % 2 || length / 2 > sizeof(o->build_id))
		return false;
	for (size_t i = 0; i < length; i += 2) {
		int high = hex_digit(id[i]), low = hex_digit(id[i + 1]);
		if (high < 0 || low < 0)
			return false;
		o->build_id[i / 2] = (uint8_t)(high << 4 | low);
	}
	o->build_id_size = (uint8_t)(length / 2);
	return true;
}

/* Return what the profile says of where M is. */
static struct mapping place_of(const struct decoded_mapping *m)
{
	return (struct mapping){ .start = m->start, .end = m->limit, .file_offset = m->offset };
}

static void open_file(struct code_files *c, uint32_t id, const struct decoded_mapping *m)
{
	const char *path = decoded_string(c->d, m->file);
	const char *build_id = decoded_string(c->d, m->build_id);
	struct object object = { .path = path, .kind = OBJECT_FILE };
	const struct mapping at = place_of(m);
	struct images *images = &c->sources.images;

	if (*build_id && !read_build_id(build_id, &object)) {
		image_set(images, id, path, NULL)->result = LOCATE_OTHER_BUILD;
		return;
	}
	if (!*build_id && *path != '/')
		object.kind = OBJECT_UNKNOWN;
	struct image *image = image_use(images, id, &object, &at, 0, 0);
	if (image->elf && image->result == LOCATE_CHANGED)
		report_note(c->report, "'%s' was changed after the profile was made; its "
			    "instructions may be others", path);
}

/* Return the file of a mapping. */
static struct source *file_of(struct code_files *c, const struct decoded_mapping *m)
{
	const uint32_t key[2] = { m->file, m->build_id };
	uint32_t count = c->ids.count, id = byte_ids_add(&c->ids, key, sizeof(key));

	if (count == 0) {
		c->sources.images = (struct images){
			.where = c->where, .report = c->report, .size = sizeof(struct source),
			.is_local = true };
		c->sources.images.where.recorded_before = c->d->time;
		sources_begin(&c->sources);
	}
	if (id == count)
		open_file(c, id, m);
	return source_of(&c->sources, id);
}

/* Report once why F has no code for a location. */
static void report_why(struct code_files *c, struct source *f)
{
	const char *path = f->image.path;

	if (!report_first(&f->image.is_reported))
		return;
	if (f->image.elf)
		report_note(c->report, "'%s': some addresses of the profile are outside of its "
			    "code or have no symbol; they have no instructions here", path);
	else if (!strncmp(path, WORD_ANY_KERNEL, strlen(WORD_ANY_KERNEL)) ||
		 !strncmp(path, WORD_ANY_GUEST, strlen(WORD_ANY_GUEST)))
		report_note(c->report, "no instructions of the kernel: it changes its code when "
			    "it starts, so that no file has it; perf annotate reads its memory");
	else if (*path == '[' || !strncmp(path, "//", 2) || !*path)
		report_note(c->report, "no instructions in '%s': it is not a file; for code of a "
			    "JIT compiler, name its jitdump file by --jitdump", path);
	else
		report_note(c->report, "no instructions in '%s': %s", path,
			    locate_reason(f->image.result));
}

/* Return the file's address of ADDRESS, which is mapped at M. */
static bool own_address(const struct source *f, const struct decoded_mapping *m,
			uint64_t address, uint64_t *own)
{
	const struct mapping at = place_of(m);

	*own = address;
	if (m->limit == 0)	/* the profile has addresses of the file itself */
		return true;
	return address >= m->start && address < m->limit &&
	       locate_address(f->image.elf, &at, address, NULL, own);
}

/* Set START and END to those of the function that contains ADDRESS. */
static bool find_function(struct source *f, uint64_t address, uint64_t *start, uint64_t *end)
{
	struct source_answer unused;
	struct elf_symbol symbol, next;

	source_find(f, address, &unused);	/* finds the debug file */
	if (!source_symbol(f, address, &symbol)) {
		struct extent go = source_go_function(f, address);
		*start = go.start;
		*end = go.end;
		return go.end > go.start;
	}
	*start = symbol.address;
	*end = symbol.same.end;
	if (elf_at_address(f->image.elf, *start, 1).size == 0)
		return false;
	/* a symbol inside of another one splits its range */
	while (*end - *start < CODE_BLOCK_MAX && *end > address &&
	       source_symbol(f, *end, &next) && next.address == *start && next.same.end > *end)
		*end = next.same.end;
	return *end > *start;
}

/* Set the bytes of BLOCK, whose START and END are set. */
static bool set_bytes(struct source *f, struct code_block *block)
{
	uint64_t size = block->end - block->start;

	block->is_cut = size > CODE_BLOCK_MAX;
	size = block->is_cut ? CODE_BLOCK_MAX : size;
	struct elf_bytes bytes = elf_at_address(f->image.elf, block->start, size);
	block->whole_end = block->end;
	block->end = block->start + bytes.size;
	block->file = f;
	block->code = (struct raw_code){
		.bytes = bytes, .address = block->start,
		.machine = elf_machine(f->image.elf),
		.is_big_endian = (__BYTE_ORDER == __BIG_ENDIAN) != elf_is_swapped(f->image.elf),
	};
	return bytes.size > 0;
}

/* Set BLOCK to code of a jitdump file. */
static void set_jit(const struct code_files *c, const struct jit_piece *piece,
		    struct code_block *block)
{
	*block = (struct code_block){ .start = piece->start, .same = piece->same };
	block->code.bytes = piece->bytes;
	if (piece->bytes.size > CODE_BLOCK_MAX) {
		block->code.bytes.size = CODE_BLOCK_MAX;
		block->is_cut = true;
	}
	block->code.address = piece->start;
	block->whole_end = piece->start + piece->bytes.size;
	block->end = piece->start + block->code.bytes.size;
	block->code.machine = jit_code_machine(c->jit, &block->code.is_big_endian);
}

bool code_files_find(struct code_files *c, uint32_t index, const char *name,
		     struct code_address *at)
{
	struct decoded_location l = decoded_location(c->d, index);
	struct jit_piece piece;

	*at = (struct code_address){ .address = l.address };
	if (c->jit && l.address && jit_code_find(c->jit, l.address, name, &piece))
		return true;
	if (l.mapping == TABLE_NONE || !l.address) {
		report_once(c->report, "no instructions of '%.200s': the profile has no addresses "
			    "of its code, only its name", name);
		return false;
	}
	struct decoded_mapping m = decoded_mapping(c->d, l.mapping);
	at->file = file_of(c, &m);
	if (at->file->image.elf && own_address(at->file, &m, l.address, &at->address))
		return true;
	report_why(c, at->file);
	return false;
}

bool code_block_is_at(const struct code_block *block, const struct code_address *at)
{
	return block->file == at->file && at->address >= block->start &&
	       at->address < block->whole_end;
}

bool code_block_has(const struct code_block *block, const struct code_address *at)
{
	return code_block_is_at(block, at) && at->address < block->end;
}

bool code_files_block(struct code_files *c, const struct code_address *at, const char *name,
		      struct code_block *block)
{
	struct source *f = at->file;
	struct jit_piece piece;

	*block = (struct code_block){ .file = f };
	if (!f) {
		bool found = jit_code_find(c->jit, at->address, name, &piece);
		if (found)
			set_jit(c, &piece, block);
		return found;
	}
	if (find_function(f, at->address, &block->start, &block->end) && set_bytes(f, block) &&
	    !elf_is_cut(f->image.elf))
		return true;
	report_why(c, f);
	return false;
}

const char *code_block_path(const struct code_block *block)
{
	return block->file ? block->file->image.path : "JIT code";
}

int64_t code_files_modified(struct code_files *c, uint32_t index)
{
	struct decoded_location l = decoded_location(c->d, index);

	if (l.mapping == TABLE_NONE)
		return 0;
	struct decoded_mapping m = decoded_mapping(c->d, l.mapping);
	const struct source *f = file_of(c, &m);
	return f->image.elf ? elf_modified(f->image.elf) : 0;
}

bool code_block_line(const struct code_block *block, uint64_t address, const char **path,
		     uint32_t *line)
{
	struct source_answer found = { 0 };

	if (block->file)
		source_find(block->file, address, &found);
	if (found.frames == 0 || !found.frame[0].file || !found.frame[0].line)
		return false;
	*path = found.frame[0].file;
	*line = found.frame[0].line;
	return true;
}

bool code_block_symbol(const struct code_block *block, uint64_t address, char *name, size_t size)
{
	struct arena scratch = { 0 };
	struct elf_symbol symbol;

	if (!block->file || !source_symbol(block->file, address, &symbol))
		return false;
	uint64_t offset = address - symbol.address;
	const char *readable = demangle(&scratch, symbol.name, DEMANGLE_SIMPLE);
	if (offset)
		snprintf(name, size, "%.*s+0x%" PRIx64, (int)size - 24, readable, offset);
	else
		snprintf(name, size, "%s", readable);
	text_make_safe(name);
	arena_release(&scratch);
	return true;
}

void code_files_release(struct code_files *c)
{
	images_release(&c->sources.images);
	byte_ids_release(&c->ids);
	jit_code_close(c->jit);
}
