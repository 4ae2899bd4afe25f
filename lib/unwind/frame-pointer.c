/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frame pointers in code without call frame information.  A function that keeps no frame pointer
 * leaves a caller's in the register, and its own return address lies below that frame.  So a frame
 * pointer is trusted if the function's code sets it, or if no word below can be the return address.
 */
#include "linux/proc.h"
#include "unwind/internal.h"

/* Return whether the process with SPACE runs Java. */
static bool is_java(struct unwind *u, const struct space *space)
{
	static const char name[] = "/libjvm.so";

	if (u->java_generation == space->generation && space->generation)
		return u->is_java;
	u->java_generation = space->generation;
	u->is_java = false;
	for (const struct mapping *m = mappings_from(&space->code, 0); m && !u->is_java;
	     m = mappings_from(&space->code, m->end)) {
		const char *slash = strrchr(u->spaces.objects.object[m->object].path, '/');
		u->is_java = slash && !strcmp(slash, name);
	}
	return u->is_java;
}

/*
 * Return whether Java's frame pointer FP is that of a frame which a compiled function leaves in the
 * register: of its interpreter, or of the entry from C++.  The word below the frame pointer of both
 * is an address further up on the stack: of the caller's stack pointer, and of the arguments.
 */
static bool is_java_entry(const struct dump *d, uint64_t fp)
{
	const uint64_t near = 1 << 20;	/* bytes */
	uint64_t word;

	return dump_load(d, fp - 8, &word) && word >= fp + 16 && word - fp < near;
}

/* What is asked about the frame pointer of a function. */
struct frame_question {
	struct unwind *u;
	const struct walk_process *process;
	const struct dump *dump;
	uint64_t address;	/* in the function */
	uint32_t object;	/* object of the function; memory without files is one object */
	bool is_java;		/* it is code that Java made */
};

/*
 * Ask caller_check() about the return address WORD.  Java's interpreter puts its return addresses
 * on the stack without a call.
 */
static struct caller check(const struct frame_question *q, uint64_t word)
{
	struct caller c = caller_check(q->u, q->process, q->address, word);
	const struct mapping *m = space_find(q->process->space, word - 1);

	if (c.kind == CALLER_NO_CALL && q->is_java && m && m->object == q->object)
		c.kind = CALLER_UNREADABLE;
	return c;
}

/*
 * Return whether a word from SP to FP may be the return address of the function.  In code that
 * cannot be read, each address of the function's mapping may be one.  But its own address is not:
 * where Java's interpreter calls compiled code, it leaves copies of that on the stack.
 */
static bool has_return_below(const struct frame_question *q, uint64_t sp, uint64_t fp)
{
	const struct dump *d = q->dump;
	uint64_t word;

	for (uint64_t at = (sp + 7) & ~7ULL; at < fp && dump_load(d, at, &word); at += 8) {
		if (word - d->base < d->size || word == q->address + 1)
			continue;
		const struct mapping *m = space_find(q->process->space, word - 1);
		if (!m)
			continue;
		struct caller c = check(q, word);
		if (c.kind >= CALLER_POSSIBLE || (caller_is_possible(&c) && m->object == q->object))
			return true;
	}
	return false;
}

/*
 * Return whether Java's function has its return address below FP: right after the frame pointer
 * that it saves, also if it does not keep one, or at the stack pointer.  Other words there may be
 * old.
 */
static bool has_java_return_below(const struct frame_question *q, uint64_t sp, uint64_t fp)
{
	enum { FIXED = 72 };	/* bytes below FP without return addresses of others */
	const struct dump *d = q->dump;
	uint64_t word = 0, before;

	for (uint64_t at = (sp + 7) & ~7ULL; at < fp - FIXED; at += 8) {
		before = word;
		if (!dump_load(d, at, &word))
			break;
		bool is_first = at == d->base;
		const struct mapping *m = before == fp || is_first
			? space_find(q->process->space, word - 1) : NULL;
		if (!m || (is_first && m->object != q->object))
			continue;
		struct caller c = check(q, word);
		if (caller_is_possible(&c))
			return true;
	}
	return false;
}

bool frame_pointer_is_own(struct unwind *u, const struct walk_process *process,
			  const struct dump *dump, uint64_t address, uint64_t sp, uint64_t fp)
{
	const struct mapping *m = space_find(process->space, address);
	uint64_t word;

	if (!m || !dump_load(dump, fp + 8, &word))
		return false;
	word = machine_strip(process->machine, word,
			     mappings_from(&process->space->code, 1ULL << 48));
	struct frame_question q = {
		.u = u, .process = process, .dump = dump, .address = address, .object = m->object,
		.is_java = u->spaces.objects.object[m->object].kind == OBJECT_ANONYMOUS &&
			   is_java(u, process->space),
	};
	struct caller c = check(&q, word);
	if (!caller_is_possible(&c) || c.frame == CALLER_FRAME_OTHER)
		return false;
	bool is_own = c.frame == CALLER_FRAME_OWN;
	if (!is_own) {
		is_own = (q.is_java && !is_java_entry(dump, fp)) ||
			 !(q.is_java ? has_java_return_below(&q, sp, fp)
				     : has_return_below(&q, sp, fp));
		is_own = is_own && u->flow_left >= FLOW_LEAST;	/* otherwise not all words were
								   judged */
	}
	u->java_steps |= is_own && q.is_java;
	return is_own;
}

void unwind_note_java(struct unwind *u, const struct walk_process *process, uint64_t address,
		      bool is_end)
{
	const struct mapping *m = is_end ? space_find(process->space, address) : NULL;

	if (m && u->spaces.objects.object[m->object].kind == OBJECT_ANONYMOUS &&
	    is_java(u, process->space)) {
		if (u->images.is_local && u->java_pid != process->pid) {
			u->java_pid = process->pid;
			u->java_keeps = proc_has_argument(process->pid,
							 "-XX:+PreserveFramePointer");
		}
		u->java_ends += !u->java_keeps;
	} else {
		u->java_others += u->java_steps;
	}
	u->java_steps = false;
}
