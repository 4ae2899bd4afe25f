/* SPDX-License-Identifier: Apache-2.0 */
#include "library/given.h"
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

int structure_given(void *own, size_t known, size_t least, const void *given, const char *name)
{
	enum { MOST = 1 << 16 };	/* bytes; no structure of any version is so large */
	const uint8_t *bytes = given;
	size_t size;

	memcpy(&size, given, sizeof(size));
	if (size < least || size > MOST)
		return fail(PMUKIT_WRONG_ARGUMENT, "%s.size is %zu: set it to sizeof(struct %s)",
			    name, size, name);
	for (size_t i = known; i < size; i++)
		if (bytes[i])
			return fail(PMUKIT_WRONG_ARGUMENT, "%s has a member that version %s of the "
				    "library does not know", name, pmukit_version());
	memcpy(own, given, size < known ? size : known);
	memcpy(own, &known, sizeof(known));
	return 0;
}

int options_given(struct pmukit_options *own, const struct pmukit_options *given)
{
	const size_t least = offsetof(struct pmukit_options, context) + sizeof(void *);
	const unsigned int flags = PMUKIT_NO_INLINES | PMUKIT_NO_LINES | PMUKIT_MANGLED |
				   PMUKIT_KEEP_DUMPS;

	*own = (struct pmukit_options){ .size = sizeof(*own) };
	if (!given)
		return 0;
	int status = structure_given(own, sizeof(*own), least, given, "pmukit_options");
	if (status < 0)
		return status;
	if ((unsigned int)own->files > PMUKIT_NO_FILES)
		return fail(PMUKIT_WRONG_ARGUMENT, "pmukit_options.files is %d: it is not in enum "
			    "pmukit_files", (int)own->files);
	if (own->flags & ~flags)
		return fail(PMUKIT_WRONG_ARGUMENT, "pmukit_options.flags has unknown bits: 0x%x",
			    own->flags & ~flags);
	return 0;
}

static char *copy(const char *text)
{
	return text ? mem_text(text) : NULL;
}

/* Add copies of the texts of LIST, which ends with NULL or is NULL. */
static void copy_list(struct word_list *words, const char *const *list)
{
	for (; list && *list; list++) {
		words->item = array_grow(words->item, words->count, sizeof(*words->item));
		words->item[words->count++] = mem_text(*list);
	}
}

_Static_assert((int)PMUKIT_DEBUG_FILES == LOCATE_BY_ID && (int)PMUKIT_NO_FILES == LOCATE_NOTHING,
	       "a name is copied");

void options_copy(struct options *o, const struct pmukit_options *given)
{
	*o = (struct options){ .files = given->files, .flags = given->flags };
	o->select = copy(given->select);
	o->root = copy(given->root);
	o->kallsyms = copy(given->kallsyms);
	o->cache = copy(given->cache);
	copy_list(&o->debug_dirs, given->debug_dirs);
	copy_list(&o->binaries, given->binaries);
	o->resolve = (struct resolver_options){
		RESOLVER_USUAL_SIZES, .symbols = true, .kallsyms = o->kallsyms,
		.demangle = o->flags & PMUKIT_MANGLED ? DEMANGLE_NONE : DEMANGLE_TEMPLATES,
		.no_inlines = o->flags & PMUKIT_NO_INLINES,
		.no_lines = o->flags & PMUKIT_NO_LINES,
		.cache.directory = o->cache,
		.where = { .files = (enum locate_files)o->files, .no_home = true,
			   .sysroot = o->root, .debug_dirs = &o->debug_dirs,
			   .binaries = &o->binaries },
	};
}

static void release_list(struct word_list *words)
{
	for (size_t i = 0; i < words->count; i++)
		free((void *)(uintptr_t)words->item[i]);
	free(words->item);
}

void options_release(struct options *o)
{
	release_list(&o->debug_dirs);
	release_list(&o->binaries);
	free(o->select);
	free(o->root);
	free(o->kallsyms);
	free(o->cache);
}
