/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf-task - where the kernel keeps the thread pointer of a thread.
 *
 * Thread-local variables of a program are at fixed offsets from the thread pointer (x86-64: the
 * base of FS; arm64: TPIDR_EL0).  The kernel keeps the thread pointer in its struct task_struct,
 * whose layout differs between kernels.
 */
#pragma once
#include <stddef.h>

/*
 * Return the byte offset of the thread pointer in struct task_struct: a BPF program copies the
 * structs of two of our own threads, whose thread pointers are known.  Returns -1, with the reason
 * in WHY (SIZE bytes), if the value is not found, or found at several offsets, or if the program
 * cannot be run.  *ERROR is then its errno, or 0.
 */
int bpf_task_pointer(char *why, size_t size, int *error);
