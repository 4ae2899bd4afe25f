/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw-call - system calls that touch nothing but their arguments: no errno, no thread.
 *
 * A process that shares the memory of the program, but is none of its threads, can only make these.
 */
#pragma once
#include <errno.h>
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
