/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaves - functions of arm64 whose callers are known: each of them runs for about the same time.
 *
 *	cc -O2 -fno-omit-frame-pointer -momit-leaf-frame-pointer leaves.c
 *	leaves ROUNDS
 *
 * often() calls each leaf three times, rarely() once.  The names of functions say what callers the
 * samples in them have:
 *
 *	leaf_...	often() or rarely(), which only the register of the return address (LR) says
 *	own_...		often() or rarely(), which frame pointers say
 *	saved_...	main(), which frame pointers say: the function has not set its own.  LR has
 *			another value, so nothing says that often() or rarely() is between them
 *
 * Nothing calls decoy(), but LR has return addresses in it.
 */
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>

#define LOOP "	mov x1, #20000\n" "1:	subs x1, x1, #1\n" "	b.ne 1b\n"

#define FUNCTION(name, body) \
	void name(void); \
	__asm__(".text\n.type " #name ", %function\n.globl " #name "\n" #name ":\n" body \
		".size " #name ", . - " #name "\n")

#define WITH_CFI(name, body) FUNCTION(name, ".cfi_startproc\n" body ".cfi_endproc\n")

/* Without call frame information: LR is unchanged. */
FUNCTION(leaf_bare, LOOP "	ret\n");

/* The same, but LR is in another register. */
FUNCTION(saved_bare,
	 "	mov x9, x30\n"
	 "	adr x30, after_bare\n" LOOP
	 "	ret x9\n");

/* LR is on the stack, as the information says, and the frame pointer is the caller's. */
WITH_CFI(saved_stack,
	 "	str x30, [sp, #-16]!\n"
	 "	.cfi_def_cfa_offset 16\n"
	 "	.cfi_offset 30, -16\n"
	 "	adr x30, after_stack\n" LOOP
	 "	ldr x30, [sp], #16\n"
	 "	.cfi_restore 30\n"
	 "	.cfi_def_cfa_offset 0\n"
	 "	ret\n");

/* LR is in another register, and the information does not say so. */
WITH_CFI(saved_liar,
	 "	mov x9, x30\n"
	 "	adr x30, after_liar\n" LOOP
	 "	ret x9\n");

/* LR is no return address at all, and the information does not say so. */
WITH_CFI(saved_number,
	 "	mov x9, x30\n"
	 "	adr x30, after_liar + 4\n" LOOP
	 "	ret x9\n");

/* LR is restored, but the frame pointer is still the function's own. */
WITH_CFI(own_frame,
	 "	stp x29, x30, [sp, #-16]!\n"
	 "	.cfi_def_cfa_offset 16\n"
	 "	.cfi_offset 29, -16\n"
	 "	.cfi_offset 30, -8\n"
	 "	mov x29, sp\n"
	 "	ldr x30, [sp, #8]\n"
	 "	.cfi_restore 30\n" LOOP
	 "	ldp x29, x30, [sp], #16\n"
	 "	.cfi_restore 29\n"
	 "	.cfi_def_cfa_offset 0\n"
	 "	ret\n");

/* The frame pointer is saved, and has a number. */
WITH_CFI(leaf_pointer,
	 "	str x29, [sp, #-16]!\n"
	 "	.cfi_def_cfa_offset 16\n"
	 "	.cfi_offset 29, -16\n"
	 "	mov x29, #1\n" LOOP
	 "	ldr x29, [sp], #16\n"
	 "	.cfi_restore 29\n"
	 "	.cfi_def_cfa_offset 0\n"
	 "	ret\n");

/* All is restored. */
WITH_CFI(leaf_restored,
	 "	stp x29, x30, [sp, #-16]!\n"
	 "	.cfi_def_cfa_offset 16\n"
	 "	.cfi_offset 29, -16\n"
	 "	.cfi_offset 30, -8\n"
	 "	mov x29, sp\n"
	 "	ldp x29, x30, [sp], #16\n"
	 "	.cfi_restore 29\n"
	 "	.cfi_restore 30\n"
	 "	.cfi_def_cfa_offset 0\n" LOOP
	 "	ret\n");

/* The first instructions and the last ones take nearly all time. */
WITH_CFI(leaf_short,
	 "	nop\n	nop\n"
	 "	stp x29, x30, [sp, #-16]!\n"
	 "	.cfi_def_cfa_offset 16\n"
	 "	.cfi_offset 29, -16\n"
	 "	.cfi_offset 30, -8\n"
	 "	mov x1, #1\n	nop\n	nop\n	nop\n	nop\n"
	 "	mov x29, sp\n"
	 "	nop\n	nop\n"
	 "	ldp x29, x30, [sp], #16\n"
	 "	.cfi_restore 29\n"
	 "	.cfi_restore 30\n"
	 "	.cfi_def_cfa_offset 0\n"
	 "	nop\n	nop\n"
	 "	ret\n");

/*
 * A function that calls itself without a frame of its own: after the inner call, LR is as if the
 * outer call had come from that place.
 */
WITH_CFI(saved_calls,
	 "	stp x29, x30, [sp, #-16]!\n"
	 "	.cfi_def_cfa_offset 16\n"
	 "	.cfi_offset 29, -16\n"
	 "	.cfi_offset 30, -8\n"
	 "3:\n" LOOP
	 "	cbz x0, 2f\n"
	 "	mov x0, #0\n"
	 "	bl saved_calls\n"
	 "	b 3b\n"
	 "2:	ldp x29, x30, [sp], #16\n"
	 "	.cfi_restore 29\n"
	 "	.cfi_restore 30\n"
	 "	.cfi_def_cfa_offset 0\n"
	 "	ret\n");

WITH_CFI(decoy,
	 "	stp x29, x30, [sp, #-16]!\n"
	 "	.cfi_def_cfa_offset 16\n"
	 "	.cfi_offset 29, -16\n"
	 "	.cfi_offset 30, -8\n"
	 "	mov x29, sp\n"
	 "	bl saved_bare\n"
	 "after_bare:\n"
	 "	blr x1\n"
	 "after_stack:\n"
	 "	bl saved_liar\n"
	 "after_liar:\n"
	 "	nop\n"
	 "	nop\n"
	 "	ldp x29, x30, [sp], #16\n"
	 "	ret\n");

__attribute__((noinline)) static void leaf_plain(void)
{
	for (int i = 0; i < 20000; i++)
		__asm__ volatile("");
}

/* It moves the stack pointer. */
__attribute__((noinline)) static void leaf_array(void)
{
	volatile char array[256];

	for (int i = 0; i < 5000; i++)
		array[i % 256] = 1;
}

/* Samples are in the kernel, or after the call. */
__attribute__((noinline)) static void leaf_syscall(void)
{
	register long number __asm__("x8") = SYS_getppid, result __asm__("x0");

	for (int i = 0; i < 50; i++)
		__asm__ volatile("svc #0" : "=r"(result) : "r"(number) : "memory");
}

/* A tail call: the caller of jumps() is the caller of leaf_jumped(). */
__attribute__((noinline)) static void leaf_jumped(void)
{
	for (int i = 0; i < 20000; i++)
		__asm__ volatile("" : : : "x2");
}

__attribute__((noinline)) static void jumps(void)
{
	leaf_jumped();
}

__attribute__((noinline)) static void leaf_indirect(void)
{
	for (int i = 0; i < 20000; i++)
		__asm__ volatile("" : : : "x3");
}

static void (*volatile indirect)(void) = leaf_indirect;
static void (*volatile own_indirect)(void) = own_frame;
static void (*volatile saved_indirect)(void) = saved_stack;
static void (*volatile saved_again)(int) = (void (*)(int))saved_calls;

#define CALL_ALL() do { \
	leaf_plain(); leaf_array(); leaf_syscall(); jumps(); indirect(); leaf_bare(); \
	leaf_pointer(); leaf_restored(); own_frame(); own_indirect(); saved_bare(); \
	saved_stack(); saved_indirect(); saved_liar(); saved_number(); saved_again(1); \
	for (int i = 0; i < 2000; i++) \
		leaf_short(); \
	__asm__ volatile("" ::: "memory"); \
} while (0)

__attribute__((noinline)) static void often(void)
{
	CALL_ALL();
	CALL_ALL();
	CALL_ALL();
}

__attribute__((noinline)) static void rarely(void)
{
	CALL_ALL();
}

/* Five calls of recurse(), and then leaf_deep(). */
__attribute__((noinline)) static void leaf_deep(void)
{
	for (int i = 0; i < 20000; i++)
		__asm__ volatile("" : : : "x4");
}

__attribute__((noipa)) static int recurse(int n)
{
	if (n == 1) {
		leaf_deep();
		return 1;
	}
	return recurse(n - 1) ^ n;
}

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--) {
		often();
		rarely();
		sum += recurse(5);
	}
	return sum == 1;
}
