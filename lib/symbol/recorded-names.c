/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/recorded-names.h"
#include "base/bisect.h"

#include <stdlib.h>

uint32_t recorded_names_file(const struct recorded_names *names, const char *path)
{
	return TABLE_FIND(&names->table, hash_bytes(path, strlen(path)), i,
			  !strcmp(names->strings.text[names->file[i].path], path));
}

static struct recorded_names_file *add_file(struct recorded_names *names,
					    const struct recorded_file *f)
{
	uint32_t id = recorded_names_file(names, f->path);

	if (id != TABLE_NONE)
		return &names->file[id];
	id = names->files++;
	names->file = array_grow(names->file, id, sizeof(*names->file));
	names->file[id] = (struct recorded_names_file){
		.path = intern_text(&names->strings, f->path), .kind = f->kind,
		.least_address = f->least_address, .least_offset = f->least_offset };
	table_add(&names->table, hash_bytes(f->path, strlen(f->path)), id);
	return &names->file[id];
}

bool recorded_names_add(struct recorded_names *names, struct cursor feature)
{
	struct recorded_file f;
	struct recorded_symbol s;

	while (recorded_next(&feature, &f)) {
		struct recorded_names_file *file = add_file(names, &f);
		file->sorted = false;
		while (recorded_symbol(&f, &s)) {
			uint32_t name = intern_text(&names->strings, s.name);
			s.name = names->strings.text[name];
			file->symbol = array_grow(file->symbol, file->symbols, sizeof(s));
			file->symbol[file->symbols++] = s;
		}
	}
	return !feature.failed;
}

uint64_t recorded_names_address(const struct recorded_names *names, uint32_t file,
				uint64_t offset, uint64_t start)
{
	const struct recorded_names_file *f = &names->file[file];

	if (f->kind != RECORDED_ELF)
		return offset;
	return f->least_address + (f->least_offset == UINT64_MAX ? start
								 : offset - f->least_offset);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = ((const struct recorded_symbol *)a)->address;
	uint64_t y = ((const struct recorded_symbol *)b)->address;

	return (x > y) - (x < y);
}

const char *recorded_names_find(struct recorded_names *names, uint32_t file, uint64_t address)
{
	struct recorded_names_file *f = &names->file[file];

	if (!f->sorted && f->symbols)
		qsort(f->symbol, f->symbols, sizeof(*f->symbol), compare);
	f->sorted = true;
	size_t next = BISECT(0, f->symbols, i, f->symbol[i].address > address);
	if (next == 0)
		return NULL;
	const struct recorded_symbol *s = &f->symbol[next - 1];
	return (s->size == 0 || address - s->address < s->size) && *s->name ? s->name : NULL;
}

void recorded_names_release(struct recorded_names *names)
{
	for (uint32_t i = 0; i < names->files; i++)
		free(names->file[i].symbol);
	free(names->file);
	table_release(&names->table);
	intern_release(&names->strings);
}
