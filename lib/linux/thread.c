/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/thread.h"
#include "linux/read.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Return field NUMBER of a stat file, from FIELDS, its third one; NULL: it ends before. */
static const char *stat_field(const char *fields, unsigned number)
{
	for (unsigned i = 3; fields && i < number; i++) {
		fields = strchr(fields, ' ');
		fields += fields != NULL;
	}
	return fields;
}

bool thread_read_state(pid_t pid, pid_t tid, struct thread_state *state)
{
	enum { STATE = 3, FLAGS = 9, CPU = 39 };	/* numbers of fields */
	enum { KERNEL = 0x200000 };			/* linux/sched.h, PF_KTHREAD */
	char text[1024];
	unsigned flags, cpu;

	*state = (struct thread_state){ .state = 0 };
	if (!linux_read_text(text, sizeof(text), "/proc/%d/task/%d/stat", (int)pid, (int)tid))
		return false;
	const char *name_end = strrchr(text, ')');
	const char *first = name_end && name_end[1] ? name_end + 2 : NULL;
	const char *flags_at = stat_field(first, FLAGS), *cpu_at = stat_field(first, CPU);
	if (!cpu_at || sscanf(flags_at, "%u", &flags) != 1 || sscanf(cpu_at, "%u", &cpu) != 1)
		return false;
	state->state = *first;
	state->is_kernel = flags & KERNEL;
	state->cpu = cpu;
	/* ns on CPUs, ns ready to run, turns; the kernel may be built without this file */
	if (linux_read_text(text, sizeof(text), "/proc/%d/task/%d/schedstat", (int)pid,
			    (int)tid) &&
	    sscanf(text, "%" SCNu64 " %*u %" SCNu64, &state->ran, &state->turns) != 2)
		state->ran = state->turns = 0;
	return true;
}

/* "running", or "CALL ARGUMENT... SP PC"; CALL -1 has no arguments (fs/proc/base.c). */
void thread_read_registers(pid_t pid, pid_t tid, struct thread_registers *r)
{
	char text[256];
	int64_t call;
	int end = 0;

	*r = (struct thread_registers){ .is_known = false };
	if (!linux_read_text(text, sizeof(text), "/proc/%d/task/%d/syscall", (int)pid, (int)tid) ||
	    sscanf(text, "%" SCNd64 "%n", &call, &end) != 1)
		return;
	r->is_call = call != -1;
	uint64_t *a = r->argument;
	r->is_known = r->is_call
		? sscanf(text + end, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
			 " %" SCNx64 " %" SCNx64 " %" SCNx64, a, a + 1, a + 2, a + 3, a + 4, a + 5,
			 &r->sp, &r->pc) == THREAD_ARGUMENTS + 2
		: sscanf(text + end, "%" SCNx64 " %" SCNx64, &r->sp, &r->pc) == 2;
	if (!r->is_known || !r->sp || !r->pc)	/* a worker of the kernel has zeros */
		*r = (struct thread_registers){ .is_known = false };
}

void thread_read_channel(pid_t pid, pid_t tid, char channel[THREAD_CHANNEL_SIZE])
{
	linux_read_text(channel, THREAD_CHANNEL_SIZE, "/proc/%d/task/%d/wchan", (int)pid,
			(int)tid);
	if (!strcmp(channel, "0"))
		*channel = '\0';
}

void thread_read_stack(pid_t pid, pid_t tid, char text[THREAD_STACK_SIZE])
{
	linux_read_text(text, THREAD_STACK_SIZE, "/proc/%d/task/%d/stack", (int)pid, (int)tid);
}

bool thread_next_frame(const char **at, struct thread_frame *frame)
{
	while (**at) {
		const char *line = *at, *end = strchrnul(line, '\n');
		bool good = sscanf(line, "[<%*x>] %127[^+ \n]+0x%" SCNx64 "/0x%" SCNx64,
				   frame->name, &frame->offset, &frame->size) == 3;
		*at = *end ? end + 1 : end;
		if (good)
			return true;
	}
	return false;
}
