/* SPDX-License-Identifier: Apache-2.0 */
#include "library/file-names.h"
#include "base/arena.h"
#include "elf/pool.h"
#include "resolve/namer.h"
#include "resolve/place.h"

#include <stdlib.h>

struct file_names {
	struct sources sources;		/* with the file as its only object */
	struct source *source;
	char *path;
	struct namer namer;
};

struct file_names *file_names_open(const struct resolver_options *options, int fd,
				   const char *path, struct resolved *definitions,
				   struct report *report, const char **why)
{
	struct file_names *f = mem_zeroed(1, sizeof(*f));
	struct sources *s = &f->sources;

	*s = (struct sources){
		.images = { .where = options->where, .report = report,
			    .size = sizeof(struct source) },
		.cache = options->cache, .no_calls = options->no_inlines && options->no_lines,
		.no_lines = options->no_lines,
	};
	s->cache.report = report;
	cache_check(&s->cache);
	sources_begin(s);
	f->namer = (struct namer){
		.definitions = definitions, .source_strings = &s->strings, .report = report,
		.demangle = options->demangle, .no_inlines = options->no_inlines,
		.no_lines = options->no_lines,
	};
	struct elf *elf = elf_pool_open_packed(&s->images.pool, fd, why);
	if (!elf) {
		file_names_close(f);
		return NULL;
	}
	f->path = mem_text(path ? path : elf_path(elf));
	f->source = (struct source *)image_set(&s->images, 0, f->path, elf);
	return f;
}

uint32_t file_names_string(struct file_names *f, const char *text)
{
	return namer_string(&f->namer, text);
}

const struct elf *file_names_elf(const struct file_names *f)
{
	return f->source->image.elf;
}

const struct resolved_line *file_names_find(struct file_names *f, uint64_t address,
					    uint32_t *count)
{
	const struct place place = { .kind = PLACE_FILE, .address = address,
				     .file = { f->source, address } };
	struct named_lines found = namer_find(&f->namer, &place);

	*count = found.count;
	return found.line;
}

void file_names_close(struct file_names *f)
{
	images_release(&f->sources.images);
	namer_release(&f->namer);
	free(f->path);
	free(f);
}
