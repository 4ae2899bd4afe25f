/* SPDX-License-Identifier: Apache-2.0 */
#include "labels/bpf.h"
#include "base/arena.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOG_SIZE = 1 << 20, RETRIES = 5 };

static int call(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

int bpf_map_new(int type, size_t key, size_t value, size_t entries)
{
	union bpf_attr attr = { .map_type = (uint32_t)type, .key_size = (uint32_t)key,
				.value_size = (uint32_t)value,
				.max_entries = (uint32_t)entries };

	return call(BPF_MAP_CREATE, &attr);	/* the descriptor is closed at exec */
}

bool bpf_map_set(int map, const void *key, const void *value)
{
	union bpf_attr attr = { .map_fd = (uint32_t)map, .key = (uintptr_t)key,
				.value = (uintptr_t)value };

	return call(BPF_MAP_UPDATE_ELEM, &attr) == 0;
}

bool bpf_map_get(int map, const void *key, void *value)
{
	union bpf_attr attr = { .map_fd = (uint32_t)map, .key = (uintptr_t)key,
				.value = (uintptr_t)value };

	return call(BPF_MAP_LOOKUP_ELEM, &attr) == 0;
}

bool bpf_map_remove(int map, const void *key)
{
	union bpf_attr attr = { .map_fd = (uint32_t)map, .key = (uintptr_t)key };

	return call(BPF_MAP_DELETE_ELEM, &attr) == 0;
}

/* Copy the last line of LOG, leaving out the verifier's statistics. */
static void last_line(char *log, char *why, size_t size)
{
	char *line = NULL;

	for (char *next = log; next; next = strchr(next, '\n')) {
		next += *next == '\n';
		if (*next && strncmp(next, "processed ", 10))
			line = next;
	}
	size_t length = line ? strcspn(line, "\n") : 0;
	if (length >= size)
		length = size - 1;
	memcpy(why, line ? line : "", length);
	why[length] = '\0';
}

int bpf_program_load(const struct bpf_code *code, char *why, size_t size)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT, .insn_cnt = (uint32_t)code->count,
		.insns = (uintptr_t)code->insn, .license = (uintptr_t)"Dual MIT/GPL",
	};
	int fd = -1, error = E2BIG;

	*why = '\0';
	for (int i = 0; code->count <= BPF_CODE_MAX && fd < 0 && i < RETRIES; i++) {
		fd = call(BPF_PROG_LOAD, &attr);
		error = errno;
		if (error != EAGAIN)	/* a signal came */
			break;
	}
	if (fd >= 0 || error == EPERM || error == E2BIG)
		goto out;
	char *log = mem_zeroed(1, LOG_SIZE);
	attr.log_buf = (uintptr_t)log;
	attr.log_size = LOG_SIZE;
	attr.log_level = 1;
	fd = call(BPF_PROG_LOAD, &attr);
	log[LOG_SIZE - 1] = '\0';
	last_line(log, why, size);
	free(log);
out:
	errno = error;
	return fd;
}

bool bpf_program_attach(int program, int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) == 0;
}
