/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of 32-bit programs on x86-64, as the kernel follows them for -g: by frame pointers.  But
 * a caller counts only if there is a call before the return address, and if a direct call leads to
 * the function that returns.
 */
#include "elf/section.h"
#include "unwind/internal.h"

struct walk_32 {
	struct unwind *u;
	const struct walk_process *process;
	const struct dump *dump;
	uint64_t pc, sp, fp;
	bool is_exact;
};

static bool load(const struct dump *d, uint64_t address, uint64_t *value)
{
	uint64_t offset = address - d->base;
	uint32_t word;

	if (d->size < 4 || offset > d->size - 4)
		return false;
	memcpy(&word, d->at + offset, 4);
	*value = word;
	return true;
}

/* Copy SIZE bytes of code at ADDRESS.  Return false if they are unknown. */
static bool read_code(const struct walk_32 *w, uint64_t address, uint8_t *to, size_t size)
{
	bool is_live;

	return code_bytes_copy(w->u, w->process, address, to, size, &is_live);
}

/* Return the function with ADDRESS by the symbols of its file; an empty range: unknown. */
static struct extent function_at(const struct walk_32 *w, uint64_t address)
{
	const struct mapping *m = space_find(w->process->space, address);
	struct elf_symbol symbol;
	struct extent none = { 0, 0 };
	uint64_t own;

	if (!m)
		return none;
	struct code *code = code_of(w->u, m->object, m, w->process->pid);
	if (!locate_address(code->image.elf, m, address, NULL, &own) ||
	    !elf_symbol(code->image.elf, own, &symbol) || symbol.address > own)
		return none;
	return (struct extent){ symbol.address + address - own, symbol.same.end + address - own };
}

static bool is_in(const struct extent *e, uint64_t address)
{
	return address >= e->start && address < e->end;
}

/* Return the address that a call or jump with the displacement AT, which ends at END, names. */
static uint64_t target_of(const uint8_t *at, uint64_t end)
{
	int32_t displacement;

	memcpy(&displacement, at, 4);
	return (uint32_t)(end + (uint64_t)(int64_t)displacement);
}

/* Return whether some bytes of the function FROM are a direct jump to the function TO. */
static bool jumps_to(const struct walk_32 *w, const struct extent *from, const struct extent *to)
{
	enum { MOST = 4096 };
	uint64_t size = from->end - from->start;
	uint8_t code[MOST];

	if (size > MOST)
		size = MOST;
	if (size < 5 || !read_code(w, from->start, code, size))
		return false;
	for (uint64_t i = 0; i + 5 <= size; i++) {
		bool is_jump = code[i] == 0xe9 ||
			       (code[i] >> 4 == 8 && i > 0 && code[i - 1] == 0x0f);
		if (is_jump && is_in(to, target_of(code + i + 1, from->start + i + 5)))
			return true;
	}
	return false;
}

/* Return whether a call of TARGET may lead to the function of the current frame. */
static bool leads_here(const struct walk_32 *w, uint64_t target)
{
	uint64_t address = w->is_exact ? w->pc : w->pc - 1;
	const struct mapping *here = space_find(w->process->space, address);
	const struct mapping *there = space_find(w->process->space, target);
	struct extent from, to = function_at(w, address);

	if (!there)
		return false;
	/* A call of another object goes through a procedure linkage table. */
	if (!here || there->object != here->object || !to.end || is_in(&to, target))
		return true;
	from = function_at(w, target);
	return !from.end || jumps_to(w, &from, &to);
}

/* Return whether the bytes AT, with SIZE bytes before ADDRESS, are an indirect call. */
static bool is_indirect_call(const uint8_t *at, unsigned size)
{
	unsigned mod = at[1] >> 6, rm = at[1] & 7;
	unsigned needed = 2 + (mod != 3 && rm == 4);

	if (at[0] != 0xff || (at[1] >> 3 & 7) != 2)
		return false;
	if (mod == 0 && (rm == 5 || (rm == 4 && size > 2 && (at[2] & 7) == 5)))
		needed += 4;
	return size == needed + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* Return whether the function of the current frame may return to ADDRESS. */
static bool is_return_address(const struct walk_32 *w, uint64_t address)
{
	enum { MOST = 7 };
	uint8_t bytes[MOST];
	unsigned size = MOST;

	if (!address || !space_find(w->process->space, address - 1))
		return false;
	while (size && !read_code(w, address - size, bytes + MOST - size, size))
		size--;
	if (!size)		/* unknown: frame pointers alone must suffice */
		return true;
	const uint8_t *end = bytes + MOST;
	if (size >= 5 && end[-5] == 0xe8 && leads_here(w, target_of(end - 4, address)))
		return true;
	for (unsigned n = 2; n <= size; n++)
		if (is_indirect_call(end - n, n))
			return true;
	return false;
}

/*
 * Return how many bytes above the stack pointer the return address is, at an interrupted
 * instruction that is one of the first or the last of a function; -1: it is not such an
 * instruction.
 */
static int edge_depth(const struct walk_32 *w)
{
	static const uint8_t mark[] = { 0xf3, 0x0f, 0x1e, 0xfb };	/* endbr32 */
	struct extent function = function_at(w, w->pc);
	uint8_t at[4], before = 0;

	if (!read_code(w, w->pc, at, 1))
		return -1;
	if (at[0] == 0xc3 || at[0] == 0xc2 || function.start == w->pc)
		return 0;
	if (at[0] == 0x55 && function.start == w->pc - 4 &&
	    read_code(w, function.start, at, 4) && !memcmp(at, mark, 4))
		return 0;
	if (read_code(w, w->pc - 1, &before, 1) && before == 0x55 && read_code(w, w->pc, at, 2) &&
	    ((at[0] == 0x89 && at[1] == 0xe5) || (at[0] == 0x8b && at[1] == 0xec)))
		return 4;
	return -1;
}

/* Return whether the word at the stack pointer is the return address of a call of the function. */
static bool is_first_return(const struct walk_32 *w, uint64_t address)
{
	struct extent function = function_at(w, w->pc);
	uint8_t call[5];

	return function.end && space_find(w->process->space, address - 1) &&
	       read_code(w, address - 5, call, 5) && call[0] == 0xe8 &&
	       target_of(call + 1, address) == function.start;
}

/* Return whether the current frame is in the vdso, which pushes two words before its call. */
static bool is_vdso(const struct walk_32 *w)
{
	const struct mapping *m = space_find(w->process->space, w->pc);

	return m && w->u->spaces.objects.object[m->object].kind == OBJECT_VDSO;
}

enum { GO_ON = UNWIND_OUTCOMES };

static int enter(struct walk_32 *w, uint64_t address, uint64_t fp, uint64_t sp)
{
	w->pc = address;
	w->fp = fp;
	w->sp = sp;
	w->is_exact = false;
	return GO_ON;
}

static int step(struct walk_32 *w)
{
	const struct dump *d = w->dump;
	uint64_t address, caller;

	int depth = w->is_exact ? edge_depth(w) : -1;
	if (depth >= 0 && load(d, w->sp + (unsigned)depth, &address) &&
	    is_return_address(w, address)) {
		if (depth && !load(d, w->sp, &caller))
			return UNWIND_NO_CFI;
		return enter(w, address, depth ? caller : w->fp, w->sp + (unsigned)depth + 4);
	}
	if (w->is_exact && load(d, w->sp, &address) && is_first_return(w, address))
		return enter(w, address, w->fp, w->sp + 4);
	if (w->fp == 0 && !w->is_exact)
		return UNWIND_WHOLE;
	if (w->fp < w->sp || w->fp & 3)
		return UNWIND_NO_CFI;
	if (!load(d, w->fp, &caller) || !load(d, w->fp + 4, &address)) {
		uint64_t beyond = w->fp - d->base;
		return w->is_exact || beyond > d->size + (8 << 20) ? UNWIND_NO_CFI
		     : d->is_full ? UNWIND_CUT : UNWIND_HOLE;
	}
	if (address == 0)
		return UNWIND_WHOLE;
	if (is_return_address(w, address))
		return enter(w, address, caller, w->fp + 8);
	if (w->is_exact && is_vdso(w) && load(d, w->fp + 12, &address) &&
	    is_return_address(w, address))
		return enter(w, address, caller, w->fp + 16);
	return UNWIND_NO_CFI;
}

enum unwind_outcome unwind_walk_32(struct unwind *u, const struct walk_process *process,
				   const struct dump *dump)
{
	const struct machine *m = process->machine;
	struct walk_32 w = { .u = u, .process = process, .dump = dump, .is_exact = true,
			     .pc = dump->registers.value[m->pc], .sp = dump->registers.value[m->sp],
			     .fp = dump->registers.value[m->fp] };
	int how = GO_ON;

	u->frames = 0;
	u->caller.sp = 0;
	u->last_pointer = 0;
	while (how == GO_ON) {
		if (u->frames == u->frames_max)
			return UNWIND_LIMIT;
		u->frame[u->frames++] = (struct frame){ .pc = w.pc, .sp = w.sp,
							.is_exact = w.is_exact };
		how = dump->registers.known >> m->fp & 1 ? step(&w) : UNWIND_NO_CFI;
	}
	if (how == UNWIND_NO_CFI)
		unwind_note_end(u, process, w.is_exact ? w.pc : w.pc - 1, how);
	return (enum unwind_outcome)how;
}
