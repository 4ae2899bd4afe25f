/* SPDX-License-Identifier: Apache-2.0 */
/* What is read from the files of objects. */
#include "elf/section.h"
#include "unwind/internal.h"

void code_forget(struct image *image)
{
	struct code *code = (struct code *)image;

	starts_close(code->starts);
	gotable_close(code->go);
	cfi_close(code->cfi);
	elf_close(code->debug);
	*code = (struct code){ .image = *image, .ends = code->ends, .costs = code->costs,
			       .costs_reported = code->costs_reported,
			       .damaged = code->damaged };
}

void code_remove_unmapped(struct unwind *u)
{
	struct objects *objects = &u->spaces.objects;

	if (!objects_are_many(objects))
		return;
	bool *live = mem_zeroed(objects->count + 1, sizeof(*live));
	spaces_mark_objects(&u->spaces, live);
	for (uint32_t id = 0; id < u->images.count; id++)
		if (!live[id])
			unwind_report_damage(u, id);
	images_remove(&u->images, objects, live);
	rules_forget(&u->rules);
	free(live);
}

void code_close_all(struct unwind *u)
{
	images_close_all(&u->images);
	rules_forget(&u->rules);
}

void code_make_room(struct unwind *u)
{
	if (images_make_room(&u->images))
		rules_forget(&u->rules);
}

struct code *code_of(struct unwind *u, uint32_t object, const struct mapping *m, pid_t pid)
{
	const struct object *o = &u->spaces.objects.object[object];
	const struct machine *machine;
	struct image *image = image_use(&u->images, object, o, m, pid, u->sample_time);
	struct code *code = (struct code *)image;

	if (code->is_opened)
		return code;
	code->is_opened = true;
	machine = unwind_machine(u);
	if (image->elf && machine && elf_machine(image->elf) == machine->elf)
		code->cfi = cfi_open(image->elf);
	cfi_use_budget(code->cfi, &u->budget);
	image->is_read = image->elf;	/* also of a 32-bit program: it has no CFI here */
	if (report_first(&image->is_reported) && !image->elf && o->kind == OBJECT_FILE)
		report_note(u->report, "stacks may end in '%s': %s%s", o->path,
			    locate_reason(image->result), locate_advice(o, image->result));
	return code;
}
