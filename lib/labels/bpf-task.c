/* SPDX-License-Identifier: Apache-2.0 */
#include "labels/bpf-task.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "event/event.h"
#include "labels/bpf.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Bytes of task_struct that are copied, in pieces, because the struct may be shorter. */
enum { TASK_BYTES = 16384, TASK_PIECE = 1024 };
enum { PERIOD_NS = 50000, TRY_NS = 1000000000 };	/* CPU time: to a sample; longest */

/* What the program fills: a copy, and whether it is done. */
struct task_copy {
	uint64_t word[TASK_BYTES / 8];
	uint64_t is_done;
};

struct copying {
	int map, program;
	struct task_copy copy;
	uint64_t thread_pointer;
	int error;		/* errno; 0: COPY is filled */
};

static uint64_t thread_pointer(void)
{
#ifdef __aarch64__
	uint64_t pointer;

	__asm__("mrs %0, tpidr_el0" : "=r" (pointer));
	return pointer;
#else
	return (uintptr_t)pthread_self();
#endif
}

/* Load a program that copies the task_struct of the interrupted thread to the map. */
static int load(int map, char *why, size_t size)
{
	struct bpf_code *c = mem_zeroed(1, sizeof(*c));

	bpf_store_value(c, BPF_W, BPF_REG_10, -4, 0);
	bpf_move(c, BPF_REG_2, BPF_REG_10);
	bpf_alu(c, BPF_ADD, BPF_REG_2, -4);
	bpf_load_map(c, BPF_REG_1, map);
	bpf_call(c, BPF_FUNC_map_lookup_elem);
	int absent = bpf_jump_if(c, BPF_JEQ, BPF_REG_0, 0);
	bpf_move(c, BPF_REG_6, BPF_REG_0);
	bpf_call(c, BPF_FUNC_get_current_task);
	bpf_move(c, BPF_REG_7, BPF_REG_0);
	for (int i = 0; i < TASK_BYTES; i += TASK_PIECE) {
		bpf_move(c, BPF_REG_1, BPF_REG_6);
		bpf_alu(c, BPF_ADD, BPF_REG_1, i);
		bpf_set(c, BPF_REG_2, TASK_PIECE);
		bpf_move(c, BPF_REG_3, BPF_REG_7);
		bpf_alu(c, BPF_ADD, BPF_REG_3, i);
		bpf_call(c, BPF_FUNC_probe_read_kernel);
	}
	bpf_store_value(c, BPF_DW, BPF_REG_6, offsetof(struct task_copy, is_done), 1);
	bpf_land(c, absent);
	bpf_set(c, BPF_REG_0, 0);	/* perf writes no sample: there is no ring */
	bpf_exit(c);
	int program = bpf_program_load(c, why, size);
	int error = errno;
	free(c);
	errno = error;
	return program;
}

static uint64_t cpu_time(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Run until the program has copied this thread's task_struct.  CONTEXT: struct copying. */
static void *copy_own(void *context)
{
	struct copying *c = context;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .disabled = 1,
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = PERIOD_NS,
	};
	uint32_t zero = 0;
	struct timespec nap = { .tv_nsec = 1 };
	int fd = event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	/* The kernel saves the register when it switches to another thread, and then keeps it. */
	nanosleep(&nap, NULL);
	c->thread_pointer = thread_pointer();
	memset(&c->copy, 0, sizeof(c->copy));
	bool good = fd >= 0 && bpf_map_set(c->map, &zero, &c->copy) &&
		    bpf_program_attach(c->program, fd) && ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
	uint64_t start = cpu_time();
	while (good && !c->copy.is_done && cpu_time() - start < TRY_NS) {
		for (uint64_t until = cpu_time() + PERIOD_NS; cpu_time() < until; )
			;
		good = bpf_map_get(c->map, &zero, &c->copy);
	}
	c->error = !good ? errno : c->copy.is_done ? 0 : ETIMEDOUT;
	descriptor_close(fd);
	return NULL;
}

/* Return the only byte offset at which both A and B have their thread pointers, or -1. */
static int common_place(const struct copying *a, const struct copying *b)
{
	int found = -1, places = 0;

	for (int i = 0; i < TASK_BYTES / 8; i++)
		if (a->copy.word[i] == a->thread_pointer && b->copy.word[i] == b->thread_pointer) {
			found = 8 * i;
			places++;
		}
	return places == 1 ? found : -1;
}

int bpf_task_pointer(char *why, size_t size, int *error)
{
	int map = bpf_map_new(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(struct task_copy), 1);
	int program = map >= 0 ? load(map, why, size) : -1;
	struct copying *a = mem_zeroed(2, sizeof(*a)), *b = a + 1;
	pthread_t other;
	int place = -1;

	*error = errno;
	if (map < 0)
		snprintf(why, size, "the kernel makes no map");
	if (program < 0)
		goto out;
	a->map = b->map = map;
	a->program = b->program = program;
	copy_own(a);
	if (!a->error && (a->error = pthread_create(&other, NULL, copy_own, b)) == 0)
		pthread_join(other, NULL);
	*error = a->error ? a->error : b->error;
	place = *error ? -1 : common_place(a, b);
	if (place < 0)
		snprintf(why, size, "the kernel's thread pointer was not found");
out:
	free(a);
	descriptor_close(program);
	descriptor_close(map);
	return place;
}
