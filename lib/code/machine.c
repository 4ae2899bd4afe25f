/* SPDX-License-Identifier: Apache-2.0 */
#include "code/machine.h"
#include "dwarf/constants.h"

#include <elf.h>
#include <string.h>

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, RIP = 16 };	/* DWARF's numbers of x86-64 */
enum { X29 = 29, X30, SP };					/* of arm64 */

#define NONE NO_REGISTER

/* asm/perf_regs.h of x86: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8-r15 */
static const struct machine x86_64 = {
	.name = "x86_64", .elf = EM_X86_64, .pc = RIP, .sp = RSP, .fp = RBP, .lr = NONE,
	.kept = { RBX, RBP, 12, 13, 14, 15 },
	.number = {
		RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP, RIP, NONE, NONE, NONE, NONE, NONE, NONE,
		NONE, R8, 9, 10, 11, 12, 13, 14, 15, [24 ... MACHINE_BITS - 1] = NONE,
	},
};

/* of arm64: x0-x30 sp pc */
static const struct machine arm64 = {
	.name = "aarch64", .elf = EM_AARCH64, .pc = ARM64_PC, .sp = SP, .fp = X29, .lr = X30,
	.kept = { 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, X29 },
	.number = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
		23, 24, 25, 26, 27, 28, X29, X30, SP, ARM64_PC, [33 ... MACHINE_BITS - 1] = NONE,
	},
};

const struct machine *machine_find(const char *name)
{
	if (!strcmp(name, x86_64.name))
		return &x86_64;
	if (!strcmp(name, arm64.name) || !strcmp(name, "arm64"))
		return &arm64;
	return NULL;
}

uint64_t machine_strip(const struct machine *m, uint64_t address, bool is_52_bits)
{
	if (m != &arm64)
		return address;
	return address & ((1ULL << (is_52_bits ? 52 : 48)) - 1);
}

/* Return whether the SIZE bytes of TEXT are DISTANCE bytes after the code's address. */
static bool has(struct machine_code code, int distance, const char *text, size_t size)
{
	if (distance < 0 ? code.before < (uint64_t)-(int64_t)distance
			 : code.after < (uint64_t)distance)
		return false;
	return code.after + (uint64_t)-(int64_t)distance >= size &&
	       !memcmp(code.at + distance, text, size);
}

/* The bytes of the literal TEXT, without its NUL. */
#define HAS(code, distance, text) has(code, distance, text, sizeof(text) - 1)

/* A row with CFA = sp + SIZE, and all registers unchanged but those that are added. */
static struct cfi_row start_row(const struct machine *m, int32_t size)
{
	return (struct cfi_row){ .cfa_kind = CFI_OFFSET, .cfa_reg = m->sp, .cfa_value = size,
				 .ra_reg = m->lr == NONE ? m->pc : m->lr };
}

/* x86-64: the return address is the last word before the CFA. */
static struct cfi_row x86_row(int32_t size)
{
	struct cfi_row row = start_row(&x86_64, size);

	cfi_row_save(&row, RIP, CFI_OFFSET, -8);
	return row;
}

/* struct rt_sigframe without the handler's return address: the gregs of struct ucontext. */
static void x86_signal_row(struct cfi_row *row)
{
	enum { GREGS = 40 };	/* offset in struct ucontext */
	/* by register: its index in the gregs */
	static const uint8_t index[] = {
		[RAX] = 13, [RDX] = 12, [RCX] = 14, [RBX] = 11, [RSI] = 9, [RDI] = 8, [RBP] = 10,
		[RSP] = 15, [R8] = 0, 1, 2, 3, 4, 5, 6, 7, [RIP] = 16,
	};

	*row = start_row(&x86_64, 0);
	row->is_signal = true;
	for (unsigned reg = 0; reg <= RIP; reg++)
		cfi_row_save(row, reg, CFI_OFFSET, GREGS + 8 * index[reg]);
}

/* struct rt_sigframe: siginfo (128 bytes), struct ucontext with a struct sigcontext in it. */
static void arm64_signal_row(struct cfi_row *row)
{
	enum { REGS = 128 + 176 + 8 };

	*row = start_row(&arm64, 0);
	row->is_signal = true;
	row->ra_reg = ARM64_PC;
	for (unsigned reg = 0; reg <= ARM64_PC; reg++)
		cfi_row_save(row, reg, CFI_OFFSET, (int32_t)(REGS + 8 * reg));
}

/* A trampoline: the SIZE bytes of TEXT, whose last SYSCALL bytes are the system call. */
struct trampoline {
	const char *text;
	uint8_t size, syscall;
};

/* Return whether CODE is in T: at its start, at the system call, or after that. */
static bool is_in(struct machine_code code, struct trampoline t, bool is_exact)
{
	return has(code, 0, t.text, t.size) ||
	       (is_exact && (has(code, t.syscall - t.size, t.text, t.size) ||
			     has(code, -t.size, t.text, t.size)));
}

bool machine_signal_row(const struct machine *m, struct machine_code code, bool is_exact,
			struct cfi_row *row)
{
	/* mov $15, %rax or %eax; syscall */
	static const struct trampoline glibc = { "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9, 2 },
				       musl = { "\xb8\x0f\0\0\0\x0f\x05", 7, 2 };
	/* mov x8, #139; svc #0 */
	static const struct trampoline kernel = { "\x68\x11\x80\xd2\x01\0\0\xd4", 8, 4 };

	if (m == &arm64 ? !is_in(code, kernel, is_exact)
			: !is_in(code, glibc, is_exact) && !is_in(code, musl, is_exact))
		return false;
	if (m == &arm64)
		arm64_signal_row(row);
	else
		x86_signal_row(row);
	return true;
}

/*
 * asmcgocall, after the call: mov 48(%rsp), %rdi; mov 8(%rdi), %rsi; sub 40(%rsp), %rsi, or, if it
 * was on that stack before: mov 40(%rsp), %rsi; mov %rsi, %rsp; mov %eax, ret(%rsp).  Since Go 1.22
 * 8(%rsp) and (%rsp) take the places of 48(%rsp) and 40(%rsp).
 */
static bool x86_called_c(struct machine_code code)
{
	return HAS(code, 0, "\x48\x8b\x7c\x24\x30\x48\x8b\x77\x08\x48\x2b\x74\x24\x28") ||
	       HAS(code, 0, "\x48\x8b\x74\x24\x28\x48\x89\xf4\x89\x44\x24") ||
	       HAS(code, 0, "\x48\x8b\x7c\x24\x08\x48\x8b\x77\x08\x48\x2b\x34\x24") ||
	       HAS(code, 0, "\x48\x8b\x34\x24\x48\x89\xf4\x89\x44\x24");
}

/* musl's __clone, after the call of a new thread's function: mov %eax, %edi; exit */
static bool x86_started_thread(struct machine_code code)
{
	return HAS(code, 0, "\x89\xc7\x31\xc0\xb0\x3c\x0f\x05");
}

/*
 * systemstack: mov %rbx, %rsp or mov 56(%rdx), %rsp; mov %rdi, %rdx; mov (%rdi), %rdi; call *%rdi.
 * mcall: mov 56(%r14), %rsp; mov $0, %rbp; push %rax; mov (%rdx), %r12; call *%r12
 * morestack: mov 56(%rbx), %rsp; mov bp(%rbx), %rbp or mov $0, %rbp; call
 * Older versions of the last two do not change %rbp.
 */
static bool x86_changes_stack(struct machine_code code)
{
	return x86_called_c(code) || x86_started_thread(code) ||
	       HAS(code, -11, "\x48\x89\xdc\x48\x89\xfa\x48\x8b\x3f\xff\xd7") ||
	       HAS(code, -12, "\x48\x8b\x62\x38\x48\x89\xfa\x48\x8b\x3f\xff\xd7") ||
	       HAS(code, -11, "\x49\x8b\x66\x38\x50\x4c\x8b\x22\x41\xff\xd4") ||
	       HAS(code, -18, "\x49\x8b\x66\x38\x48\xc7\xc5\0\0\0\0\x50\x4c\x8b\x22\x41\xff\xd4") ||
	       HAS(code, -9, "\x48\x8b\x63\x38\xe8") ||
	       (HAS(code, -13, "\x48\x8b\x63\x38\x48\x8b\x6b") && HAS(code, -5, "\xe8")) ||
	       HAS(code, -16, "\x48\x8b\x63\x38\x48\xc7\xc5\0\0\0\0\xe8");
}

/*
 * asmcgocall, after the call: mov x9, x0; ldr x28, [sp]; bl; ldr x5, [x28, #8]; ldr x6, [sp, #8],
 * or, if it was on that stack before: ldr x2, [sp, #8]; mov sp, x2
 */
static bool arm64_called_c(struct machine_code code)
{
	return (HAS(code, 0, "\xe9\x03\0\xaa\xfc\x03\x40\xf9") &&
		HAS(code, 12, "\x85\x07\x40\xf9\xe6\x07\x40\xf9")) ||
	       HAS(code, 0, "\xe2\x07\x40\xf9\x5f\0\0\x91");
}

/*
 * systemstack: mov sp, x3; ldr x29, [x28, #bp], which newer versions do not have; ldr x3, [x26];
 * blr x3.  mcall: stur xzr, [sp, #-16]; sub sp, sp, #16; ldr x4, [x26]; blr x4.  morestack:
 * mov sp, x0; ldr x29, [x28, #bp] or mov x29, xzr; str xzr, [sp, #-16]!; bl
 */
static bool arm64_changes_stack(struct machine_code code)
{
	bool is_system = HAS(code, -8, "\x43\x03\x40\xf9\x60\x00\x3f\xd6");
	bool is_mcall = HAS(code, -8, "\x44\x03\x40\xf9\x80\x00\x3f\xd6");
	bool is_more = HAS(code, -8, "\xff\x0f\x1f\xf8");

	return arm64_called_c(code) ||
	       (is_system && (HAS(code, -12, "\x7f\0\0\x91") || HAS(code, -16, "\x7f\0\0\x91"))) ||
	       (is_mcall && HAS(code, -16, "\xff\x03\x1f\xf8\xff\x43\x00\xd1")) ||
	       (is_more && HAS(code, -16, "\x1f\0\0\x91"));
}

bool machine_changes_stack(const struct machine *m, struct machine_code code)
{
	return m == &arm64 ? arm64_changes_stack(code) : x86_changes_stack(code);
}

/*
 * mov $FUNCTION, %r11; mov $FRAME, %r10; jmp *%r11, where the first may be of 32 bits, and endbr64
 * may come before it.
 */
bool machine_is_trampoline(const struct machine *m, struct machine_code code)
{
	enum { LONG = 10, SHORT = 6, ENDBR = 4 };	/* bytes of instructions */

	for (int jump = 0; m == &x86_64 && jump <= ENDBR + 2 * LONG; jump++) {
		int first = jump - 2 * LONG, shorter = jump - LONG - SHORT;
		if (!HAS(code, jump, "\x49\xff\xe3") || !HAS(code, jump - LONG, "\x49\xba"))
			continue;
		if (!HAS(code, first, "\x49\xbb"))
			first = shorter;
		if (first == shorter && !HAS(code, first, "\x41\xbb"))
			continue;
		/* The thread is at the start of one of the instructions. */
		return jump == 0 || jump == LONG || first == 0 ||
		       (first == ENDBR && HAS(code, 0, "\xf3\x0f\x1e\xfa"));
	}
	return false;
}

bool machine_is_first(const struct machine *m, const struct cfi_row *row, uint64_t at)
{
	return m == &x86_64 && at == 0 && row->cfa_kind == CFI_OFFSET && row->cfa_reg == RSP &&
	       row->cfa_value == 8;
}

/* arm64: a function stores its return address last, at its stack pointer. */
void machine_go_row(const struct machine *m, uint32_t bytes, struct cfi_row *row)
{
	if (m == &x86_64) {
		*row = x86_row((int32_t)bytes + 8);
		return;
	}
	*row = start_row(m, (int32_t)bytes);
	if (bytes)
		cfi_row_save(row, m->lr, CFI_OFFSET, -(int32_t)bytes);
}

/*
 * x86-64: an entry jumps by its pointer, or pushes its number and jumps to the first entry, which
 * pushes a word and jumps.  arm64: only the first entry pushes, two words.
 */
void machine_plt_row(const struct machine *m, struct machine_code code, uint64_t at,
		     struct cfi_row *row)
{
	bool pushes = HAS(code, 0, "\xff\x35");		/* push GOT+8(%rip), of 6 bytes */
	bool jumps = HAS(code, 0, "\xe9") || HAS(code, 0, "\xf2\xe9");

	if (m == &arm64) {	/* stp x16, x30, [sp, #-16]! */
		bool pushed = at > 0 && at < 32 && HAS(code, -(int)at, "\xf0\x7b\xbf\xa9");
		*row = start_row(m, pushed ? 16 : 0);
		if (pushed)
			cfi_row_save(row, m->lr, CFI_OFFSET, -8);
	} else if (at < 16 && (pushes || HAS(code, -6, "\xff\x35"))) {
		*row = x86_row(pushes ? 16 : 24);
	} else {
		*row = x86_row(jumps ? 16 : 8);
	}
}

/*
 * Go's nanotime1, walltime and time.now, after the call of the vdso: mov (%rsp), %rax; mov 8(%rsp),
 * %rdx; mov %r12, %rsp.  time.now, after its second call: mov 16(%rsp), %rax; mov 24(%rsp), %rdi;
 * mov (%rsp), %rcx; and after its first one: mov $1, %edi; lea (%rsp), %rsi; mov vdso, %rax;
 * call *%rax; the same.
 */
static bool x86_has_saved_sp(struct machine_code code)
{
	const char *now = "\x48\x8b\x44\x24\x10\x48\x8b\x7c\x24\x18\x48\x8b\x0c\x24";

	return HAS(code, 0, "\x48\x8b\x04\x24\x48\x8b\x54\x24\x08\x4c\x89\xe4") ||
	       has(code, 0, now, 14) ||
	       (HAS(code, 0, "\xbf\x01\0\0\0\x48\x8d\x34\x24\x48\x8b\x05") &&
		HAS(code, 16, "\xff\xd0") && has(code, 18, now, 14));
}

/* The same on arm64: b; mov x8, #113; svc; ldr x3, [sp]; ldr x5, [sp, #8]; mov sp, x20 */
static bool arm64_has_saved_sp(struct machine_code code)
{
	return HAS(code, 0, "\x03\0\0\x14\x28\x0e\x80\xd2\x01\0\0\xd4"
			    "\xe3\x03\x40\xf9\xe5\x07\x40\xf9\x9f\x02\0\x91");
}

static bool has_saved_sp(const struct machine *m, struct machine_code code)
{
	return m == &arm64 ? arm64_has_saved_sp(code) : x86_has_saved_sp(code);
}

/* Return the code DISTANCE bytes after CODE, which has bytes so far before or after it. */
static struct machine_code moved(struct machine_code code, int distance)
{
	code.at += distance;
	code.before += (uint64_t)(int64_t)distance;
	code.after -= (uint64_t)(int64_t)distance;
	return code;
}

/*
 * Return whether CODE is between the instruction that saves the stack pointer, mov %rsp, %r12 or
 * mov x20, sp, and the next one that restores it, and there is a call of the vdso between these.
 */
static bool is_sp_saved(const struct machine *m, struct machine_code code)
{
	enum { MOST = MACHINE_BEFORE };	/* bytes, more than from one to the other */
	const char *save = m == &arm64 ? "\xf4\x03\0\x91" : "\x49\x89\xe4";
	const char *restore = m == &arm64 ? "\x9f\x02\0\x91" : "\x4c\x89\xe4";
	size_t size = m == &arm64 ? 4 : 3;
	size_t before = code.before < MOST ? code.before : MOST;
	const uint8_t *first = code.at - before, *last = code.at;
	int at;

	/*
	 * Both have the same last byte.  Search for that byte first, because every program pays for
	 * this search.
	 */
	do {
		last = last > first ? memrchr(first, save[size - 1], (size_t)(last - first)) : NULL;
		if (!last)
			return false;
		at = (int)(last - code.at) - (int)size + 1;
		if (has(code, at, restore, size))
			return false;
	} while (!has(code, at, save, size));
	for (; at < MOST && at < (int64_t)code.after; at++) {
		if (has_saved_sp(m, moved(code, at)))
			return true;
		if (at >= 0 && has(code, at, restore, size))
			return false;
	}
	return false;
}

uint8_t machine_saved_sp(const struct machine *m, struct machine_code code, bool is_exact)
{
	enum { R12 = 12, X20 = 20 };

	if (is_exact ? !is_sp_saved(m, code) : !has_saved_sp(m, code))
		return m->sp;
	return m == &arm64 ? X20 : R12;
}

/* syscall; test %rax, %rax; jl; je 1f; ret; 1: */
static bool is_cloning(struct machine_code code, int distance)
{
	return HAS(code, distance, "\x0f\x05\x48\x85\xc0\x7c") &&
	       HAS(code, distance + 7, "\x74\x01\xc3");
}

bool machine_clone_row(const struct machine *m, struct machine_code code, struct cfi *c,
		       struct cfi_row *row)
{
	/* the return address: the word at the stack pointer, or 0 if rax is 0 */
	static const uint8_t address[] = {
		DW_OP_breg0 + RAX, 0, DW_OP_bra, 4, 0,
		DW_OP_lit0, DW_OP_skip, 3, 0,
		DW_OP_breg0 + RSP, 0, DW_OP_deref,
	};

	if (m != &x86_64 || !(is_cloning(code, 0) || is_cloning(code, -2) ||
			      is_cloning(code, -5) || is_cloning(code, -7)))
		return false;
	int32_t id = cfi_add_expression(c, address, sizeof(address));
	*row = start_row(m, 8);
	cfi_row_save(row, RIP, CFI_VALUE_EXPRESSION, id);
	return id >= 0;
}

bool machine_ends_context(const struct machine *m, struct machine_code code)
{
	/* xor %rdi, %rdi, or %edi, %edi; call; hlt */
	return m == &x86_64 && ((HAS(code, 0, "\x48\x31\xff\xe8") && HAS(code, 8, "\xf4")) ||
				(HAS(code, 0, "\x31\xff\xe8") && HAS(code, 7, "\xf4")));
}

/* push %rbp; mov %rsp, %rbp, in both encodings */
static bool x86_sets_frame(struct machine_code code, int distance)
{
	return HAS(code, distance, "\x55\x48\x89\xe5") || HAS(code, distance, "\x55\x48\x8b\xec");
}

static bool x86_edge_row(struct machine_code code, struct cfi_row *row)
{
	bool at_start = x86_sets_frame(code, 0) ||
			(HAS(code, 0, "\xf3\x0f\x1e\xfa") && x86_sets_frame(code, 4));
	bool returns = HAS(code, 0, "\xc3") || HAS(code, 0, "\xf3\xc3") || HAS(code, 0, "\xc2");

	if (at_start || returns) {
		*row = x86_row(8);
		return true;
	}
	if (!x86_sets_frame(code, -1))
		return false;
	*row = start_row(&x86_64, 16);
	cfi_row_save(row, RBP, CFI_OFFSET, -16);
	cfi_row_save(row, RIP, CFI_OFFSET, -8);
	return true;
}

/* Return N if stp x29, x30, [sp, #-N]! is DISTANCE bytes after the code's address; else 0. */
static int32_t arm64_frame_size(struct machine_code code, int distance)
{
	uint32_t word;

	if (!has(code, distance, "\xfd", 1) || code.after + (uint64_t)-(int64_t)distance < 4)
		return 0;
	memcpy(&word, code.at + distance, sizeof(word));
	if ((word & 0xffc07fff) != 0xa9807bfd)
		return 0;
	return 8 * (int32_t)(0x80 - (word >> 15 & 0x7f));
}

static bool arm64_edge_row(struct machine_code code, struct cfi_row *row)
{
	int32_t size = arm64_frame_size(code, -4);
	bool signs = HAS(code, 0, "\x3f\x23\x03\xd5"), returns = HAS(code, 0, "\xc0\x03\x5f\xd6");

	if (signs || returns || arm64_frame_size(code, 0)) {
		*row = start_row(&arm64, 0);
		return true;
	}
	if (!size)
		return false;
	*row = start_row(&arm64, size);
	cfi_row_save(row, X29, CFI_OFFSET, -size);
	cfi_row_save(row, X30, CFI_OFFSET, 8 - size);
	return true;
}

bool machine_edge_row(const struct machine *m, struct machine_code code, struct cfi_row *row)
{
	return m == &arm64 ? arm64_edge_row(code, row) : x86_edge_row(code, row);
}
