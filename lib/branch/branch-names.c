/* SPDX-License-Identifier: Apache-2.0 */
#include "branch/branch-names.h"

#include "branch/branch-functions.h"
#include "names/object-name.h"
#include "record/words.h"
#include "resolve/place.h"

#include <inttypes.h>

void branch_names_init(struct branch_names *n, struct branches *b, struct merge *profile,
		       enum demangle_style style)
{
	*n = (struct branch_names){ .b = b, .profile = profile };
	n->namer = (struct namer){ .definitions = &n->definitions,
				   .source_strings = &b->sources.strings, .report = b->report,
				   .demangle = style };
}

/* Return the address of PLACE in its file; its offset there, if the file is unknown. */
static uint64_t address_of(const struct branch_names *n, uint64_t place)
{
	const struct elf *elf = n->b->objects.object[place_object(place)].elf;

	return elf ? branch_address(elf, place_offset(place)) : place_offset(place);
}

struct named_lines branch_names_find(struct branch_names *n, uint64_t place)
{
	struct source *source = place == PLACE_OUTSIDE
		? NULL : branch_objects_source(&n->b->objects, place_object(place));

	if (!source)
		return (struct named_lines){ .by = BY_NOTHING };
	uint64_t address = address_of(n, place);
	const struct place at = { .kind = PLACE_FILE, .address = address,
				  .file = { source, address } };
	return namer_find(&n->namer, &at);
}

/* Return where PLACE is.  HEX is memory for its build ID. */
static struct part_place where(const struct branch_names *n, uint64_t place,
			       char hex[BUILD_ID_HEX])
{
	const struct object *o = &n->b->spaces.objects.object[place_object(place)];

	record_build_id_hex(o->build_id, o->build_id_size, hex);
	return (struct part_place){ address_of(n, place), o->path, hex };
}

static uint32_t add_location(struct branch_names *n, uint64_t place)
{
	const struct resolved *d = &n->definitions;
	struct named_lines found = branch_names_find(n, place);
	struct part_line line[PROFILE_LINES_MAX];
	char hex[BUILD_ID_HEX];
	uint32_t count = 0;

	for (; count < found.count && count < PROFILE_LINES_MAX; count++) {
		const struct resolved_line *l = &found.line[count];
		const struct resolved_function *f = &d->function[l->function];
		line[count] = (struct part_line){
			d->string[f->name], d->string[f->system_name],
			d->string[l->file ? l->file : f->file], f->line, l->line, l->column };
	}
	struct part_place at = where(n, place, hex);
	return part_location(n->profile, &at, line, count);
}

uint32_t branch_names_location(struct branch_names *n, uint64_t place)
{
	static const struct part_place nowhere = { 0, "", "" };
	static const struct part_line outside = { WORD_OUTSIDE, WORD_OUTSIDE, "", 0, 0, 0 };

	if (place == PLACE_OUTSIDE)
		return part_location(n->profile, &nowhere, &outside, 1);
	if (n->last != place) {
		n->last_location = add_location(n, place);
		n->last = place;
	}
	return n->last_location;
}

void branch_names_describe(struct branch_names *n, uint64_t place, char *text, size_t size)
{
	const struct resolved *d = &n->definitions;
	struct named_lines found = branch_names_find(n, place);
	char object[128];

	if (place == PLACE_OUTSIDE) {
		snprintf(text, size, WORD_OUTSIDE);
		return;
	}
	if (!found.count) {
		object_name(n->b->spaces.objects.object[place_object(place)].path, true, object,
			    sizeof(object));
		snprintf(text, size, "%s+0x%" PRIx64, object, address_of(n, place));
		return;
	}
	const char *name = d->string[d->function[found.line->function].name];
	const char *file = d->string[found.line->file], *slash = strrchr(file, '/');
	if (found.line->line)
		snprintf(text, size, "%s %s:%u", name, slash ? slash + 1 : file, found.line->line);
	else
		snprintf(text, size, "%s", name);
}

void branch_names_release(struct branch_names *n)
{
	namer_release(&n->namer);
	resolved_release(&n->definitions);
}
