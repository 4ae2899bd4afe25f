/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw-call - system calls that touch nothing but their arguments: no errno, no thread.
 *
 * A process that shares the memory of the program, but is none of its threads, can only make these.
 */
#pragma once
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Make the system call NUMBER.  Return its result, or -errno. */
static inline long raw_call(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__) && !defined(__ILP32__)
	register long fourth __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall" : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long which __asm__("x8") = number;
	register long result __asm__("x0") = a;
	register long second __asm__("x1") = b;
	register long third __asm__("x2") = c;
	register long fourth __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(result)
			 : "r"(which), "r"(second), "r"(third), "r"(fourth)
			 : "memory");
	return result;
#else
	long result = syscall(number, a, b, c, d);

	return result < 0 ? -errno : result;
#endif
}

/*
 * Start a process or thread by FLAGS of clone(2), which runs RUN(ARGUMENT) on the stack whose end
 * is END, a multiple of 16, and does not return.  Return its pid, or -errno.  The C library's
 * function is not used because the sanitizers take it for fork().
 */
static inline long raw_clone(unsigned long flags, void *end, int (*run)(void *argument),
			     void *argument)
{
#if defined(__x86_64__) && !defined(__ILP32__)
	void **top = (void **)end - 2;
	register long child_tid __asm__("r10") = 0;
	register long storage __asm__("r8") = 0;
	long result;

	top[0] = (void *)(uintptr_t)run;
	top[1] = argument;
	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "pop %%rax\n\t"
			 "pop %%rdi\n\t"
			 "call *%%rax\n\t"
			 "hlt\n"
			 "1:"
			 : "=a"(result)
			 : "a"(SYS_clone), "D"(flags), "S"(top), "d"(0L), "r"(child_tid),
			   "r"(storage)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	void **top = (void **)end - 2;
	register long which __asm__("x8") = SYS_clone;
	register long result __asm__("x0") = (long)flags;
	register void **stack __asm__("x1") = top;
	register long parent_tid __asm__("x2") = 0;
	register long storage __asm__("x3") = 0;
	register long child_tid __asm__("x4") = 0;

	top[0] = (void *)(uintptr_t)run;
	top[1] = argument;
	__asm__ volatile("svc 0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, #0\n\t"
			 "ldp x1, x0, [sp], #16\n\t"
			 "blr x1\n\t"
			 "brk #1\n"
			 "1:"
			 : "+r"(result)
			 : "r"(which), "r"(stack), "r"(parent_tid), "r"(storage), "r"(child_tid)
			 : "memory");
	return result;
#else
	int pid = clone(run, end, (int)flags, argument);

	return pid < 0 ? -errno : pid;
#endif
}
