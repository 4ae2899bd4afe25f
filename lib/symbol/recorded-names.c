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

/* Names are equal if their addresses are: each is in STRINGS once. */
static int compare(const void *a, const void *b)
{
	const struct recorded_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->name != y->name)
		return strcmp(x->name, y->name);
	return (x->size > y->size) - (x->size < y->size);
}

/*
 * Sort the new symbols into a run of their own, or together with runs that are not more than twice
 * as long. So symbols that come one by one between lookups cost O(n log n) comparisons or so.
 */
static void sort(struct recorded_names_file *file, bool all)
{
	size_t first = file->runs ? file->run_end[file->runs - 1] : 0;

	if (first == file->symbols && !(all && file->runs > 1))
		return;
	while (file->runs) {
		size_t start = file->runs > 1 ? file->run_end[file->runs - 2] : 0;
		if (!all && file->runs < RECORDED_RUNS &&
		    (first - start) / 2 > file->symbols - first)
			break;
		first = start;
		file->runs--;
	}
	qsort(file->symbol + first, file->symbols - first, sizeof(*file->symbol), compare);
	file->run_end[file->runs++] = file->symbols;
}

/* Keep one of equal symbols: a stream of several parts repeats its features. */
static void drop_equal(struct recorded_names *names, struct recorded_names_file *file)
{
	enum { FEW = 1000 };
	size_t left = 0;

	sort(file, true);
	for (size_t i = 0; i < file->symbols; i++)
		if (left == 0 || compare(&file->symbol[left - 1], &file->symbol[i]))
			file->symbol[left++] = file->symbol[i];
	names->symbols -= file->symbols - left;
	file->symbols = left;
	file->run_end[0] = left;
	file->limit = 2 * left + FEW;
}

static bool is_full(const struct recorded_names *names)
{
	enum { FILES_MAX = 1 << 16, SYMBOLS_MAX = 1 << 21, STRINGS_MAX = 64 << 20 };

	return names->files >= FILES_MAX || names->symbols >= SYMBOLS_MAX ||
	       names->strings.arena.size > STRINGS_MAX;
}

static void add_symbol(struct recorded_names *names, struct recorded_names_file *file,
		       struct recorded_symbol s)
{
	if (file->symbols > file->limit)
		drop_equal(names, file);
	if (is_full(names)) {
		names->is_full = true;
		return;
	}
	s.name = intern_copy(&names->strings, s.name);
	file->symbol = array_grow(file->symbol, file->symbols, sizeof(s));
	file->symbol[file->symbols++] = s;
	names->symbols++;
}

bool recorded_names_add(struct recorded_names *names, struct cursor feature)
{
	struct recorded_file f;
	struct recorded_symbol s;

	while (recorded_next(&feature, &f)) {
		if (is_full(names) && recorded_names_file(names, f.path) == TABLE_NONE) {
			names->is_full = true;
			continue;
		}
		struct recorded_names_file *file = add_file(names, &f);
		while (recorded_symbol(&f, &s))
			add_symbol(names, file, s);
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

const char *recorded_names_find(struct recorded_names *names, uint32_t file, uint64_t address)
{
	struct recorded_names_file *f = &names->file[file];
	const struct recorded_symbol *s = NULL;

	sort(f, false);
	for (uint32_t run = 0; run < f->runs; run++) {
		size_t first = run ? f->run_end[run - 1] : 0;
		size_t next = BISECT(first, f->run_end[run], i, f->symbol[i].address > address);
		if (next > first && (!s || compare(s, &f->symbol[next - 1]) < 0))
			s = &f->symbol[next - 1];
	}
	if (!s)
		return NULL;
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
