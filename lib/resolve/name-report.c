/* SPDX-License-Identifier: Apache-2.0 */
/* The report of -v: the sources of names, for each object. */
#include "record/words.h"
#include "resolve/internal.h"

#include <inttypes.h>
#include <stdio.h>

/* Return why frames in an object have no name. */
static const char *reason(const struct resolver *r, uint32_t id)
{
	const struct source *source = source_of(&r->sources, id);
	struct elf *elf = source ? source->image.elf : NULL;
	struct elf_bytes symbols;

	switch (r->spaces.objects.object[id].kind) {
	case OBJECT_KERNEL:
	case OBJECT_MODULE:
		if (!r->places.kernel.kallsyms)
			return "no symbols of the recorded kernel";
		return kallsyms_trouble(r->places.kernel.kallsyms) ?: "no symbol covers them";
	case OBJECT_ANONYMOUS:
		return "no file, and no perf-PID.map or jitdump file covers them";
	default:
		if (object_is_vdso32(&r->spaces.objects.object[id]) && !elf)
			return "no 32-bit process was left to read it from";
		if (!elf)
			return source && source->image.result != LOCATED
				? locate_reason(source->image.result)
				: "its file was not looked for";
		if (elf_is_cut(elf))
			return "the file was cut while it was read";
		if (!(source->files && source->files->debug) &&
		    !elf_section(elf, ".symtab", &symbols))
			return "it is stripped, and no debug file was found";
		return "no symbol covers them";
	}
}

static void report_counts(const struct resolver *r, const char *path, const struct name_counts *t,
			  const char *why)
{
	static const char *const from[NAME_SOURCES] = {
		[BY_DEBUG] = "debug information", [BY_GO] = "Go's table",
		[BY_SYMBOLS] = "symbols", [BY_KERNEL] = "kallsyms", [BY_JIT] = "the JIT",
	};
	uint64_t total = 0, unnamed = t->frames[BY_NOTHING];
	char text[256] = "";
	size_t at = 0;

	for (int i = 0; i < NAME_SOURCES; i++)
		total += t->frames[i];
	for (int i = 0; i < BY_NOTHING; i++)
		if (t->frames[i])
			at += (size_t)snprintf(text + at, sizeof(text) - at,
					       ", %" PRIu64 " named by %s", t->frames[i], from[i]);
	if (unnamed)
		report_summary(r->report, "'%s': %" PRIu64 " frames%s, %" PRIu64 " unnamed: %s",
			       path, total, text, unnamed, why);
	else if (total)
		report_summary(r->report, "'%s': %" PRIu64 " frames%s", path, total, text);
}

static void report_cache(const struct resolver *r, uint32_t id)
{
	const struct source *source = source_of(&r->sources, id);
	const struct debug_files *f = source ? source->files : NULL;

	if (f && (f->hits || f->misses))
		report_summary(r->report, "'%s': %u of %u addresses were in the cache",
			       r->spaces.objects.object[id].path, f->hits, f->hits + f->misses);
}

void resolver_report(const struct resolver *r)
{
	for (uint32_t i = 0; i < r->frames.counts_size; i++) {
		report_counts(r, r->spaces.objects.object[i].path, &r->frames.counts[i],
			      reason(r, i));
		report_cache(r, i);
	}
	report_counts(r, WORD_REMOVED, &r->frames.removed, "they are mapped nowhere any more");
	report_counts(r, WORD_UNKNOWN, &r->frames.unmapped, "nothing is mapped there");
}
