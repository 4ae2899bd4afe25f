/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that JIT compilers write, of each process with code of no file.
 * They are read again after each round of the stream.
 */
#include "symbol/resolver-internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* The process's own number of itself, in its pid namespace. */
static pid_t own_pid(pid_t pid)
{
	char path[64], line[256];
	pid_t own = pid;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	FILE *in = fopen(path, "re");
	while (in && fgets(line, sizeof(line), in)) {
		const char *last = strrchr(line, '\t');
		if (!strncmp(line, "NSpid:", 6) && last) {
			long number = strtol(last, NULL, 10);
			own = number > 0 && number <= INT_MAX ? (pid_t)number : pid;
			break;
		}
	}
	if (in)
		fclose(in);
	return own;
}

static void open_map(const struct resolver *r, struct jitmap *map, pid_t pid)
{
	const char *sysroot = r->options.where.sysroot;
	char path[PATH_MAX];

	if (sysroot) {
		if (snprintf(path, sizeof(path), "%s/tmp/perf-%d.map", sysroot, pid) <
		    (int)sizeof(path))
			jitmap_open_map(map, path);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", pid, own_pid(pid));
	if (jitmap_open_map(map, path))
		return;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	jitmap_open_map(map, path);
}

static uint32_t find_jit(const struct resolver *r, pid_t pid)
{
	struct table_probe probe = table_probe(&r->jit_table, hash_u64((uint32_t)pid));
	uint32_t id;

	while ((id = table_next(&r->jit_table, &probe)) != TABLE_NONE)
		if (r->jit[id].pid == pid)
			break;
	return id;
}

struct jitmap *jit_of(struct resolver *r, const struct stream_reader *in, pid_t pid)
{
	if (!r->options.symbols || pid <= 0 || (!is_local(in) && !r->options.where.sysroot))
		return NULL;
	uint32_t id = find_jit(r, pid);
	if (id == TABLE_NONE) {
		id = r->jits++;
		r->jit = array_grow(r->jit, id, sizeof(*r->jit));
		r->jit[id] = (struct jit_process){ .pid = pid };
		table_add(&r->jit_table, hash_u64((uint32_t)pid), id);
	}
	if (!r->jit[id].map) {
		r->jit[id].map = jitmap_new();
		open_map(r, r->jit[id].map, pid);
		jitmap_refresh(r->jit[id].map);
	}
	return r->jit[id].map;
}

/* Is it called jit-NUMBER.dump? */
static bool is_jitdump(const char *file)
{
	const char *name = strrchr(file, '/');

	if (!name || strncmp(name, "/jit-", 5))
		return false;
	name += 5;
	size_t digits = strspn(name, "0123456789");
	return digits && !strcmp(name + digits, ".dump");
}

void open_jitdump(struct resolver *r, const struct stream_reader *in, pid_t pid, const char *file)
{
	struct jitmap *map = is_jitdump(file) ? jit_of(r, in, pid) : NULL;
	char path[PATH_MAX];

	if (!map)
		return;
	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, file);
	if (!jitmap_open_dump(map, path))
		jitmap_open_dump(map, file);
	jitmap_refresh(map);
}

/* Another program's code is there now: what was told of PID is of no more use. */
static void forget(struct resolver *r, pid_t pid)
{
	uint32_t id = find_jit(r, pid);

	if (id != TABLE_NONE) {
		jitmap_free(r->jit[id].map);
		r->jit[id].map = NULL;
	}
}

void follow_jit(struct resolver *r, const struct record *rec)
{
	struct comm_record comm;
	struct task_record task;
	bool changed = false;

	if (rec->type == PERF_RECORD_COMM && record_comm(rec, &comm) && comm.exec)
		forget(r, comm.pid);
	if (rec->type == PERF_RECORD_FORK && record_task(rec, &task) &&
	    task.pid != task.parent_pid)
		forget(r, task.pid);
	if (rec->type != RECORD_FINISHED_ROUND)
		return;
	for (uint32_t i = 0; i < r->jits; i++) {
		struct jitmap *map = r->jit[i].map;
		if (map && !jitmap_has_map(map))
			open_map(r, map, r->jit[i].pid);
		changed |= map && jitmap_refresh(map);
	}
	if (changed)	/* what was found before may have another name now */
		memset(r->quick, 0, r->quick_slots * sizeof(*r->quick));
}
