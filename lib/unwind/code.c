/* SPDX-License-Identifier: Apache-2.0 */
/* The files of objects, opened when they are first needed, or when they are mapped. */
#include "unwind/internal.h"
#include "elf/section.h"

static struct code *code_at(struct unwind *u, uint32_t object)
{
	for (; u->codes <= object; u->codes++) {
		u->code = array_grow(u->code, u->codes, sizeof(*u->code));
		u->code[u->codes] = NULL;
	}
	if (!u->code[object])
		u->code[object] = mem_zeroed(1, sizeof(*u->code[object]));
	return u->code[object];
}

void code_release(struct code *code)
{
	starts_close(code->starts);
	gotable_close(code->go);
	cfi_close(code->cfi);
	elf_close(code->debug);
	elf_close(code->elf);
	free(code->root);
	*code = (struct code){ .ends = code->ends, .costs = code->costs,
			       .is_reported = code->is_reported,
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
	for (uint32_t id = 0; id < u->codes; id++) {
		if (!u->code[id] || live[id])
			continue;
		unwind_report_damage(u, id);
		code_release(u->code[id]);
		free(u->code[id]);
		u->code[id] = NULL;
	}
	objects_remove(objects, live);
	rules_forget(&u->rules);
	free(live);
}

void code_close_all(struct unwind *u)
{
	for (uint32_t i = 0; i < u->codes; i++)
		if (u->code[i])
			code_release(u->code[i]);
	rules_forget(&u->rules);
}

void code_make_room(struct unwind *u)
{
	enum { SPARE = 64 };	/* files */

	if (u->pool.open + SPARE >= ELF_POOL_MAX || u->pool.memory > ELF_POOL_MEMORY)
		code_close_all(u);
}

/* Open the file of OBJECT, which M maps in PID.  ANYWHERE: look also elsewhere than at its path. */
static void open_code(struct unwind *u, const struct object *object, const struct mapping *m,
		      pid_t pid, bool anywhere, struct code *code)
{
	const struct machine *machine = unwind_machine(u);
	struct located l = locate_mapped(&u->options.where, object, pid, m, unwind_is_local(u));

	if (anywhere && (object->kind == OBJECT_FILE || object->kind == OBJECT_VDSO ||
			 object_is_memfd(object)))
		locate_elsewhere(&u->options.where, object, &l);
	code->elf = l.elf;
	code->root = l.root;
	code->result = l.result;
	if (code->elf && machine && elf_machine(code->elf) == machine->elf)
		code->cfi = cfi_open(code->elf);
	cfi_use_budget(code->cfi, &u->budget);
}

/* Close the file of OBJECT if it was changed after the current sample: its tables may be others. */
static void close_changed(struct unwind *u, const struct object *object, struct code *code)
{
	int64_t taken = locate_taken_before(&u->options.where, u->origin, u->sample_time);

	if (!locate_is_changed(&u->options.where, object, code->elf, taken))
		return;
	code_release(code);
	code->result = LOCATE_CHANGED;
}

struct code *code_of(struct unwind *u, uint32_t object, const struct mapping *m, pid_t pid)
{
	const struct object *o = &u->spaces.objects.object[object];
	struct code *code = code_at(u, object);

	if (code->is_checked)
		return code;
	if (!code->tried)
		open_code(u, o, m, pid, true, code);
	close_changed(u, o, code);
	code->tried = code->is_checked = true;
	if (!code->elf && o->kind == OBJECT_FILE && !code->is_reported)
		report_note(u->report, "stacks may end in '%s': %s%s", o->path,
			    locate_reason(code->result), locate_advice(o, code->result));
	code->is_reported = true;
	return code;
}

void code_open_mapped(struct unwind *u, const struct record *rec)
{
	pid_t pid;
	const struct mapping *m = unwind_is_local(u)
		? spaces_file_mapped(&u->spaces, rec, &pid) : NULL;
	struct code *code = m ? code_at(u, m->object) : NULL;

	if (!code || code->tried)
		return;
	code_make_room(u);
	open_code(u, &u->spaces.objects.object[m->object], m, pid, false, code);
	code->tried = code->elf != NULL;	/* else the next process that maps it may succeed */
	if (code->tried)
		elf_rest(code->elf);
	else
		code_release(code);
}
