/* SPDX-License-Identifier: Apache-2.0 */
/* thread - what /proc shows of one thread: whether it runs, and where it waits (proc(5)). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct thread_state {
	char state;		/* R: runs or is ready to; S, D: sleeps; T, t: stopped; ... */
	bool is_kernel;		/* a worker of the kernel, which has no program */
	uint32_t cpu;		/* on which it ran last */
	uint64_t ran;		/* ns on CPUs, at the last tick; 0: unknown */
	uint64_t turns;		/* how often it got a CPU; 0: unknown */
};

/* Read the state of thread TID of process PID.  False: there is no such thread. */
bool thread_read_state(pid_t pid, pid_t tid, struct thread_state *state);

enum { THREAD_ARGUMENTS = 6 };

/* The registers, in user mode, of a thread that waits in the kernel. */
struct thread_registers {
	bool is_known;		/* false: it runs, or may not be asked; all else is 0 then */
	bool is_call;		/* it waits in a system call, with these arguments */
	uint64_t argument[THREAD_ARGUMENTS];
	uint64_t sp, pc;
};

/* Read the registers of thread TID of process PID. */
void thread_read_registers(pid_t pid, pid_t tid, struct thread_registers *registers);

enum { THREAD_CHANNEL_SIZE = 64, THREAD_STACK_SIZE = 4096 };

/*
 * Store in CHANNEL the kernel's function in which thread TID of process PID waits; "": it runs, or
 * may not be asked.
 */
void thread_read_channel(pid_t pid, pid_t tid, char channel[THREAD_CHANNEL_SIZE]);

/*
 * Store in TEXT the thread's stack in the kernel: the leaf first, a frame a line, as in
 * "[<0>] futex_wait+0x67/0x120" or "[<0>] f+0x1/0x2 [module]".  "": it may not be asked.
 */
void thread_read_stack(pid_t pid, pid_t tid, char text[THREAD_STACK_SIZE]);

/* A frame of such a stack. */
struct thread_frame {
	char name[128];		/* of the function */
	uint64_t offset, size;	/* of the return address in it, and of the function, in bytes */
};

/* Parse the line at *AT and go to the next line.  False: there are no more. */
bool thread_next_frame(const char **at, struct thread_frame *frame);
