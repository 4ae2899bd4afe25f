/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop over frames: from the registers of a frame to those of its caller.
 *
 * A register may be unknown, which ends the loop only if its value is needed.  Addresses that are
 * not in code are never written.
 */
#include "unwind/internal.h"
#include "elf/section.h"

struct walk {
	struct unwind *u;
	const struct space *space;
	pid_t pid;
	const struct dump *dump;
	const struct machine *machine;
	struct cfi_registers now;
	uint64_t beyond;	/* bit per register: unknown because the dump is too short */
	bool is_exact, is_first;
	bool is_pushed;		/* the callee's return address was put on the stack by hand */
	unsigned searched;	/* words in which find_frame_pointer() has looked */
	bool by_frame_pointer;	/* the frame was found by its callee's frame pointer */
};

/* Return whether to go on, or how the loop ended. */
enum { GO_ON = UNWIND_OUTCOMES };

/*
 * Return whether a longer dump would have had ADDRESS.  A dump that is not full ended at a page
 * that was not in memory, or at the end of the stack.
 */
static bool is_beyond(const struct dump *d, uint64_t address)
{
	/* bytes; deeper stacks, and larger holes in them, are rarer than wrong addresses */
	const uint64_t deep = d->is_full ? 64 << 20 : 8 << 20;

	return d->size && address - d->base >= (d->size & ~7ULL) &&
	       address - d->base < d->size + deep;
}

static bool is_known(const struct walk *w, unsigned reg)
{
	return reg < CFI_REGISTERS && w->now.known >> reg & 1;
}

static void set(struct walk *w, unsigned reg, uint64_t value)
{
	w->now.value[reg] = value;
	w->now.known |= 1ULL << reg;
	w->beyond &= ~(1ULL << reg);
}

static void set_unknown(struct walk *w, unsigned reg, bool beyond)
{
	w->now.value[reg] = 0;
	w->now.known &= ~(1ULL << reg);
	w->beyond = (w->beyond & ~(1ULL << reg)) | (uint64_t)beyond << reg;
}

/* Return the outcome of a walk that needs the unknown register REG. */
static int without(const struct walk *w, unsigned reg)
{
	return reg < CFI_REGISTERS && w->beyond >> reg & 1 ? UNWIND_CUT : UNWIND_LOST;
}

/* Copy bytes of the stack, or of a file's segments that nobody can write to. */
static bool read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
	struct walk *w = context;
	const struct dump *d = w->dump;
	uint64_t offset = address - d->base, own;

	if (offset < d->size && d->size - offset >= size) {
		memcpy(bytes, d->at + offset, size);
		return true;
	}
	const struct mapping *m = space_find(w->space, address);
	if (!m)
		return false;
	struct code *code = code_of(w->u, m->object, m, w->pid);
	if (!locate_address(code->image.elf, m, address, NULL, &own))
		return false;
	struct elf_bytes constant = elf_constant_at(code->image.elf, own, size);
	if (constant.size < size)
		return false;
	memcpy(bytes, constant.at, size);
	return true;
}

/* Evaluate EXPRESSION of RULE with the registers FROM; see cfi_evaluate(). */
static bool evaluate(struct walk *w, const struct rule *rule, int32_t expression,
		     const struct cfi_registers *from, const uint64_t *cfa, uint64_t *value)
{
	uint64_t pc = w->now.value[w->machine->pc], own;
	const struct mapping *m = space_find(w->space, w->is_exact ? pc : pc - 1);

	if (!m || rule->object == TABLE_NONE)
		return false;
	struct code *code = code_of(w->u, rule->object, m, w->pid);
	if (!code->cfi ||
	    !locate_address(code->image.elf, m, w->is_exact ? pc : pc - 1, NULL, &own))
		return false;
	struct cfi_memory memory = { .read = read_memory, .context = w,
				     .bias = (w->is_exact ? pc : pc - 1) - own };
	return cfi_evaluate(code->cfi, expression, from, &memory, cfa, value);
}

/* Find the value of a register in the caller.  Return false if it is unknown; see *BEYOND. */
static bool restore(struct walk *w, const struct rule *rule, unsigned kind, int32_t value,
		    const struct cfi_registers *old, uint64_t cfa, uint64_t *out, bool *beyond)
{
	uint64_t address = cfa + (uint64_t)(int64_t)value;

	*beyond = false;
	switch (kind) {
	case CFI_EXPRESSION:
		if (!evaluate(w, rule, value, old, &cfa, &address))
			return false;
		/* fallthrough */
	case CFI_OFFSET:
		*beyond = is_beyond(w->dump, address);
		return dump_load(w->dump, address, out);
	case CFI_VALUE_OFFSET:
		*out = address;
		return true;
	case CFI_REGISTER:
		*out = (uint32_t)value < CFI_REGISTERS ? old->value[value] : 0;
		*beyond = (uint32_t)value < CFI_REGISTERS && w->beyond >> value & 1;
		return (uint32_t)value < CFI_REGISTERS && old->known >> value & 1;
	case CFI_VALUE_EXPRESSION:
		return evaluate(w, rule, value, old, &cfa, out);
	default:
		return false;
	}
}

/* Find the CFA of the frame. */
static inline int find_cfa(struct walk *w, const struct rule *rule, uint64_t *cfa)
{
	uint64_t sp = w->now.value[w->machine->sp];

	if (rule->cfa_kind == CFI_VALUE_EXPRESSION) {
		if (!evaluate(w, rule, rule->cfa_value, &w->now, NULL, cfa))
			return UNWIND_LOST;
	} else if (rule->cfa_kind != CFI_OFFSET) {
		return UNWIND_LOST;
	} else if (!is_known(w, rule->cfa_reg)) {
		return without(w, rule->cfa_reg);
	} else {
		*cfa = w->now.value[rule->cfa_reg] + (uint64_t)(int64_t)rule->cfa_value;
	}
	/* Stacks grow down.  If a register has the return address, the frame of a leaf may have no
	   bytes: on arm64, and in vfork(). */
	bool may_equal = w->is_exact && (w->machine->lr != NO_REGISTER ||
					 rule->ra_kind == CFI_REGISTER);
	if (rule->is_signal || *cfa > sp || (may_equal && *cfa == sp))
		return GO_ON;
	return UNWIND_LOST;
}

/* Find the return address, by RULE and the CFA. */
static inline int find_return(struct walk *w, const struct rule *rule, uint64_t cfa,
			      uint64_t *address)
{
	bool beyond;

	if (rule->ra_kind == CFI_OFFSET &&	/* nearly all rules */
	    dump_load(w->dump, cfa + (uint64_t)(int64_t)rule->ra_value, address))
		return GO_ON;
	if (rule->ra_kind == CFI_SAME) {	/* a call has changed the register since */
		*address = w->now.value[rule->ra_reg];
		return w->is_exact && is_known(w, rule->ra_reg) ? GO_ON : UNWIND_LOST;
	}
	if (restore(w, rule, rule->ra_kind, rule->ra_value, &w->now, cfa, address, &beyond))
		return GO_ON;
	return beyond ? UNWIND_CUT : UNWIND_LOST;
}

/*
 * Restore the registers of a plain rule.  A slot below the sampled stack pointer was popped
 * already: the register has its old value again.
 */
static inline void restore_plain(struct walk *w, const struct rule *rule, uint64_t cfa)
{
	const struct dump *d = w->dump;
	uint64_t known = w->now.known, beyond = w->beyond;

	for (unsigned i = 0; i < rule->saves; i++) {
		const struct cfi_save *save = &rule->save[i];
		uint64_t address = cfa + (uint64_t)(int64_t)save->value, bit = 1ULL << save->reg;
		if (dump_load(d, address, &w->now.value[save->reg])) {
			known |= bit;
			beyond &= ~bit;
		} else if (address >= d->base) {
			w->now.value[save->reg] = 0;
			known &= ~bit;
			beyond = is_beyond(d, address) ? beyond | bit : beyond & ~bit;
		}
	}
	w->now.known = known;
	w->beyond = beyond;
}

static __attribute__((noinline)) void restore_any(struct walk *w, const struct rule *rule,
						  uint64_t cfa)
{
	struct cfi_registers old = w->now;
	unsigned sp = w->machine->sp;
	uint64_t value;
	bool beyond;

	set(w, sp, cfa);	/* unless the rule says otherwise */
	for (unsigned i = 0; i < rule->saves; i++) {
		const struct cfi_save *save = &rule->save[i];
		bool is_popped = save->kind == CFI_OFFSET && !rule->is_signal &&
				 cfa + (uint64_t)(int64_t)save->value < w->dump->base;
		if (restore(w, rule, save->kind, save->value, &old, cfa, &value, &beyond))
			set(w, save->reg, value);
		else if (!is_popped || save->reg == sp)
			set_unknown(w, save->reg, beyond);
	}
}

/* Set the registers to those of the caller, by RULE and the CFA. */
static inline void restore_registers(struct walk *w, const struct rule *rule, uint64_t cfa)
{
	if (rule->is_plain) {
		restore_plain(w, rule, cfa);
		set(w, w->machine->sp, cfa);
	} else {
		restore_any(w, rule, cfa);
	}
}

/* Go to the caller, at the return address ADDRESS. */
static inline int enter(struct walk *w, uint64_t address, bool is_exact)
{
	const uint64_t most = 1ULL << 48;

	if (address >= most)
		address = machine_strip(w->machine, address,
					mappings_from(&w->space->code, most));
	if (address == 0)
		return UNWIND_WHOLE;
	set(w, w->machine->pc, address);
	w->is_exact = is_exact;
	w->is_first = false;
	return GO_ON;
}

/* Return the address in the function of the current frame: its pc, or in the call before that. */
static uint64_t own_address(const struct walk *w)
{
	uint64_t pc = w->now.value[w->machine->pc];

	return w->is_exact ? pc : pc - 1;
}

/* Return whether ADDRESS is the trampoline to which a handler of signals returns. */
static bool is_signal_return(const struct walk *w, uint64_t address)
{
	uint32_t id = rule_find(w->u, w->space, w->pid, address - 1, false);

	return w->u->rules.rule[id]->is_signal;
}

/* Return whether START is the last function that starts before the current address. */
static bool is_nearest_start(const struct walk *w, uint64_t start)
{
	uint64_t address = own_address(w), own;
	const struct mapping *m = space_find(w->space, address);
	struct code *code = m ? code_of(w->u, m->object, m, w->pid) : NULL;

	return code && code->image.elf && start <= address &&
	       locate_address(code->image.elf, m, address, NULL, &own) &&
	       starts_called_before(code->starts, own) == start - (address - own);
}

/*
 * Return whether the current function may return to ADDRESS, which is BYTES - 8 above the stack
 * pointer: as the code before that address says.  IS_WEAK: the place of ADDRESS is a guess, so it
 * must follow a direct call of this function.
 */
static bool is_return_address(const struct walk *w, uint64_t address, uint64_t bytes, bool is_weak)
{
	struct walk_process process = { w->space, w->pid, w->machine };

	if (!address || !space_find(w->space, address - 1))
		return false;
	struct caller c = caller_check(w->u, &process, own_address(w), address);
	/* The kernel calls handlers of signals. */
	if (c.kind == CALLER_NO_CALL)
		return is_signal_return(w, address);
	if (c.kind == CALLER_POSSIBLE)
		return !is_weak || (c.start && is_nearest_start(w, c.start));
	return c.kind == CALLER_CERTAIN && (!c.has_depth || (uint64_t)c.depth + 8 == bytes);
}

/*
 * The frame pointer is unknown.  If the frame depends on it, search for the return address instead:
 * the first word above the stack pointer to which the function may return.
 */
static void find_frame_pointer(struct walk *w, const struct rule *rule)
{
	enum { WORDS = 4096 };	/* of the variables of all such functions of a stack */
	unsigned fp = w->machine->fp;
	uint64_t sp = w->now.value[w->machine->sp], address;

	if (rule->cfa_reg != fp)
		return;
	for (uint64_t bytes = 16; w->searched < WORDS; bytes += 8, w->searched++) {
		if (!dump_load(w->dump, sp + bytes - 8, &address))
			break;
		if (is_return_address(w, address, bytes, false)) {
			set(w, fp, sp + bytes - 16);
			break;
		}
	}
}

static int step_by_row(struct walk *w, const struct rule *rule)
{
	uint64_t cfa, address;

	if (rule->ra_kind == CFI_UNDEFINED)
		return UNWIND_WHOLE;
	if (w->now.value[w->machine->fp] == UNWIND_UNKNOWN)
		find_frame_pointer(w, rule);
	int how = find_cfa(w, rule, &cfa);
	if (how == GO_ON)
		how = find_return(w, rule, cfa, &address);
	if (how != GO_ON)
		return how;
	if (rule->scan && !is_return_address(w, address, cfa - w->now.value[w->machine->sp],
					     rule->scan == SCAN_WEAK))
		return UNWIND_NO_CFI;
	restore_registers(w, rule, cfa);
	if (!is_known(w, w->machine->sp))
		return without(w, w->machine->sp);
	w->by_frame_pointer = false;
	return enter(w, address, rule->is_signal);
}

/*
 * In code without CFI: if the function has not moved the stack pointer yet, the word there is the
 * return address.  That is so if the word follows a direct call of this function.
 */
static bool find_first_return(const struct walk *w, uint64_t *address)
{
	const struct machine *m = w->machine;
	uint64_t sp = w->now.value[m->sp];

	if (!w->is_exact)
		return false;
	if (m->lr == NO_REGISTER ? !dump_load(w->dump, sp, address) : !is_known(w, m->lr))
		return false;
	if (m->lr != NO_REGISTER)
		*address = machine_strip(m, w->now.value[m->lr],
					 mappings_from(&w->space->code, 1ULL << 48));
	if (!*address || !space_find(w->space, *address - 1))
		return false;
	struct walk_process process = { w->space, w->pid, w->machine };
	struct caller c = caller_check(w->u, &process, own_address(w), *address);
	return c.kind == CALLER_CERTAIN && c.has_depth && c.depth == 0 &&
	       (m->lr == NO_REGISTER || c.is_in_register);
}

/* Go to the caller of a function that has not moved the stack pointer. */
static int step_first(struct walk *w, uint64_t address)
{
	const struct machine *m = w->machine;

	if (m->lr == NO_REGISTER)
		set(w, m->sp, w->now.value[m->sp] + 8);
	w->by_frame_pointer = false;
	return enter(w, address, false);
}

/* Return whether the thread is in a trampoline on the stack, and set *ADDRESS to its caller. */
static bool find_trampoline_return(const struct walk *w, uint64_t *address)
{
	const struct dump *d = w->dump;
	struct walk_process process = { w->space, w->pid, w->machine };
	uint64_t pc = w->now.value[w->machine->pc], at = pc - d->base;

	if (!w->is_exact || at >= d->size)
		return false;
	struct machine_code code = { .at = d->at + at, .before = at, .after = d->size - at };
	if (!machine_is_trampoline(w->machine, code) ||
	    !dump_load(d, w->now.value[w->machine->sp], address) || !*address ||
	    !space_find(w->space, *address - 1))
		return false;
	struct caller c = caller_check(w->u, &process, pc, *address);
	return c.kind >= CALLER_POSSIBLE;
}

/*
 * Return the caller's stack pointer, for the frame pointer FP of a function, which the caller's
 * frame pointer CALLER and the return ADDRESS follow.  On x86-64, a function of GCC that aligns its
 * stack pointer may have a copy of its return address there, and among the registers below, the
 * address after the return address itself.  A frame of the caller that starts lower than that is
 * one of the same function, called again: of Java's compilers, for example.
 */
static uint64_t find_caller_sp(const struct walk *w, uint64_t fp, uint64_t caller, uint64_t address)
{
	const uint64_t near = 1 << 16, saved = 6;	/* bytes; registers */
	uint64_t sp, word;

	for (uint64_t i = 1; i <= saved && w->machine->lr == NO_REGISTER; i++)
		if (dump_load(w->dump, fp - 8 * i, &sp) && sp - fp > 16 && sp - fp < near &&
		    !(caller > fp && caller < sp) &&
		    dump_load(w->dump, sp - 8, &word) && word == address)
			return sp;
	return fp + 16;
}

/*
 * In code without CFI: the frame pointer points to the caller's, and the return address follows
 * it.  Nothing is known about the other registers then.
 */
static int step_by_frame_pointer(struct walk *w)
{
	const struct machine *m = w->machine;
	uint64_t fp = w->now.value[m->fp], caller, address;

	if (find_first_return(w, &address) || find_trampoline_return(w, &address))
		return step_first(w, address);
	if (w->u->options.no_frame_pointers || !is_known(w, m->fp))
		return w->beyond >> m->fp & 1 ? UNWIND_CUT : UNWIND_NO_CFI;
	if (fp == 0 && !w->is_first)
		return UNWIND_WHOLE;
	if (fp & 7 || fp < w->now.value[m->sp])
		return UNWIND_NO_CFI;
	if (!dump_load(w->dump, fp, &caller) || !dump_load(w->dump, fp + 8, &address))
		return w->by_frame_pointer && is_beyond(w->dump, fp + 8) ? UNWIND_CUT
									 : UNWIND_NO_CFI;
	address = machine_strip(m, address, mappings_from(&w->space->code, 1ULL << 48));
	if (address == 0)
		return UNWIND_WHOLE;
	struct walk_process process = { w->space, w->pid, m };
	if (!space_find(w->space, address - 1) ||
	    !frame_pointer_is_own(w->u, &process, w->dump, own_address(w), w->now.value[m->sp], fp))
		return UNWIND_NO_CFI;
	w->now.known = 0;
	w->beyond = 0;
	set(w, m->fp, caller);
	set(w, m->sp, find_caller_sp(w, fp, caller, address));
	w->by_frame_pointer = true;
	return enter(w, address, false);
}

static int step(struct walk *w, const struct rule *rule)
{
	int how;

	switch (rule->kind) {
	case RULE_ROW:
		how = step_by_row(w, rule);
		return how == UNWIND_NO_CFI ? step_by_frame_pointer(w) : how;
	case RULE_END:
		return UNWIND_WHOLE;
	case RULE_COSTLY:
		return UNWIND_COSTLY;
	default:
		return step_by_frame_pointer(w);
	}
}

void unwind_note_end(struct unwind *u, const struct walk_process *process, uint64_t address,
		     int how)
{
	const struct mapping *m = space_find(process->space, address);

	struct code *code = m ? code_of(u, m->object, m, process->pid) : NULL;
	if (code && how == UNWIND_NO_CFI)
		code->ends++;
	else if (code)
		code->costs++;
}

/* Return a hash of the words at SP; 0: they are not in the dump. */
static uint32_t hash_words(const struct dump *d, uint64_t sp)
{
	static const uint64_t factor[6] = {
		0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb,
		0xd6e8feb86659fd93, 0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53,
	};
	uint64_t offset = sp - d->base, word[6], sum = 0;

	if (d->size < sizeof(word) || offset > d->size - sizeof(word))
		return 0;
	memcpy(word, d->at + offset, sizeof(word));
	for (unsigned i = 0; i < 6; i++)
		sum += word[i] * factor[i];
	return (uint32_t)(sum >> 32) | 1;
}

/* Return a hash of a register's value, as struct frame has it. */
static uint16_t hash_register(const struct dump *d, uint64_t value)
{
	const uint64_t small = 4096, stack = 64 << 20;
	bool says_little = value < small || value - d->base < stack;

	return (uint16_t)((value * 0x9e3779b97f4a7c15ULL >> 48 & 0xfffe) | 0x8000 | says_little);
}

/* Fill F with the place of the current frame. */
static inline void set_place(const struct walk *w, struct frame *f)
{
	f->pc = w->now.value[w->machine->pc];
	f->sp = w->now.value[w->machine->sp];
	f->is_exact = w->is_exact;
}

/* Fill the rest of F, which only stacks that are remembered have. */
static void describe(const struct walk *w, struct frame *f)
{
	const uint8_t *reg = w->machine->kept;

	f->words = hash_words(w->dump, f->sp);
	for (unsigned i = 0; reg[i]; i++)
		f->kept[i] = w->now.known >> reg[i] & 1
				     ? hash_register(w->dump, w->now.value[reg[i]]) : 0;
}

/* Describe the caller of the current frame, where the dump ends before its return address. */
static void describe_caller(struct walk *w, const struct rule *rule)
{
	uint64_t cfa;

	if (rule->kind == RULE_ROW && find_cfa(w, rule, &cfa) == GO_ON) {
		restore_registers(w, rule, cfa);
		if (is_known(w, w->machine->sp)) {
			set_place(w, &w->u->caller);
			describe(w, &w->u->caller);
		}
	}
}

/*
 * Return the address before the current frame's return address, where a frame pointer points if the
 * function keeps one; 0: unknown.
 */
static uint64_t find_pointer(const struct walk *w, const struct rule *rule)
{
	const struct machine *m = w->machine;

	if (!is_known(w, m->sp))
		return 0;
	if (rule->kind == RULE_NO_CFI)
		return w->by_frame_pointer && is_known(w, m->fp) ? w->now.value[m->fp] : 0;
	if (rule->kind != RULE_ROW || rule->cfa_kind != CFI_OFFSET ||
	    rule->ra_kind != CFI_OFFSET || !is_known(w, rule->cfa_reg))
		return 0;
	return w->now.value[rule->cfa_reg] + (uint64_t)(int64_t)rule->cfa_value +
	       (uint64_t)(int64_t)rule->ra_value - 8;
}

enum unwind_outcome unwind_walk(struct unwind *u, const struct space *space, pid_t pid,
				const struct dump *dump)
{
	struct walk w = {
		.u = u, .space = space, .pid = pid, .dump = dump, .machine = dump->machine,
		.now = dump->registers, .is_exact = true, .is_first = true,
	};
	const struct walk_process process = { space, pid, w.machine };
	const struct rule *rule = NULL;
	int how = GO_ON;

	u->frames = 0;
	u->caller.sp = 0;
	u->java_steps = false;
	while (how == GO_ON) {
		uint64_t pc = w.now.value[w.machine->pc];
		uint32_t id = rule_find(u, space, pid, w.is_exact ? pc : pc - 1, w.is_exact);
		rule = u->rules.rule[id];
		if (rule->kind == RULE_NO_CODE && !w.is_first)	/* or a context's first words */
			return w.is_pushed ? UNWIND_WHOLE : UNWIND_NO_CODE;
		w.is_pushed = rule->is_pushed;
		w.is_exact |= rule->is_pushed;
		if (u->frames == u->frames_max)
			return UNWIND_LIMIT;
		struct frame *f = &u->frame[u->frames++];
		set_place(&w, f);
		if (u->joins_left)
			describe(&w, f);
		how = step(&w, rule);
	}
	u->last_pointer = how == UNWIND_CUT || how == UNWIND_LOST ? find_pointer(&w, rule) : 0;
	if (how == UNWIND_CUT && u->joins_left)
		describe_caller(&w, rule);
	if (how == UNWIND_CUT && !dump->is_full)
		how = UNWIND_HOLE;
	if (how == UNWIND_LOST && u->budget.left == 0)
		how = UNWIND_COSTLY;	/* an expression could not be evaluated */
	if (how == UNWIND_NO_CFI && u->flow_left < FLOW_LEAST)
		how = UNWIND_COSTLY;	/* no code could be followed */
	if (how == UNWIND_NO_CFI || how == UNWIND_COSTLY)
		unwind_note_end(u, &process, own_address(&w), how);
	unwind_note_java(u, &process, own_address(&w), how == UNWIND_NO_CFI);
	return (enum unwind_outcome)how;
}
