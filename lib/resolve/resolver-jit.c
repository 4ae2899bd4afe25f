/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the files of JIT compilers, for each process with code outside of files.
 *
 * The files are read again after each round of the stream, and right before the next sample. By
 * then they have the code that was compiled before the sample was taken. When a process has
 * ended, its jitmap is discarded a few rounds later, after its last samples. If another sample
 * comes anyway, the files are read again.
 *
 * The map of a process in a container is gone when the process has ended, if its /tmp is a mount of
 * its own. So that directory is kept open, until there is a map in it.
 */
#include "base/descriptor.h"
#include "linux/proc.h"
#include "resolve/resolver-internal.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * Trust files of the process's effective user, because anyone may put a file for any process
 * into /tmp. After the process has ended, the user last seen counts. With a sysroot, any owner is
 * trusted: the user chose those files.
 */
static void trust_user(const struct resolver *r, struct jit_process *p)
{
	if (!r->options.where.sysroot)
		proc_effective_user(p->pid, &p->user);
	jitmap_trust(p->map, r->options.where.sysroot ? JIT_ANYONE : p->user);
}

static void open_map(const struct resolver *r, struct jit_process *p)
{
	const char *sysroot = r->options.where.sysroot;
	struct jitmap *map = p->map;
	pid_t pid = p->pid;
	char path[PATH_MAX];

	trust_user(r, p);
	jitmap_refuse_older(map, p->started);
	if (sysroot) {
		if (snprintf(path, sizeof(path), "%s/tmp/perf-%d.map", sysroot, pid) <
		    (int)sizeof(path))
			jitmap_open_map(map, path);
		return;
	}
	snprintf(path, sizeof(path), "%s/tmp/perf-%d.map", proc_path(pid, "root").text,
		 proc_own_id(pid));
	bool good = jitmap_open_map(map, path);
	if (!good && p->tmp >= 0) {
		snprintf(path, sizeof(path), "%s/perf-%d.map", proc_descriptor(p->tmp).text,
			 p->own_id);
		good = jitmap_open_map(map, path);
	}
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	if (!good)
		jitmap_open_map(map, path);
}

static void close_tmp(struct resolver *r, struct jit_process *p)
{
	r->jit_budget.files -= p->tmp >= 0;
	descriptor_close(p->tmp);
	p->tmp = -1;
}

/* Keep the /tmp of P open, unless it is ours. Half of the files are left for maps and dumps. */
static void keep_tmp(struct resolver *r, struct jit_process *p)
{
	struct stat its, ours;

	if (p->tmp >= 0 || r->options.where.sysroot ||
	    r->jit_budget.files >= r->jit_budget.files_max / 2)
		return;
	p->own_id = proc_own_id(p->pid);
	p->tmp = proc_open_tmp(p->pid);
	r->jit_budget.files += p->tmp >= 0;
	if (p->tmp < 0 || fstat(p->tmp, &its) < 0 || stat("/tmp", &ours) < 0 ||
	    (its.st_dev == ours.st_dev && its.st_ino == ours.st_ino))
		close_tmp(r, p);
}

/* Give up all that P has. */
static void release_process(struct resolver *r, struct jit_process *p)
{
	jitmap_free(p->map);
	close_tmp(r, p);
	free(p->dump);
	resolver_late_forget(r, p);
}

/* Give P a jitmap of its own, before it gets functions that other processes do not have. */
static void unshare_map(struct resolver *r, struct jit_process *p)
{
	if (!jitmap_is_shared(p->map))
		return;
	jitmap_free(p->map);
	p->map = jitmap_new(&r->jit_budget);
	open_map(r, p);
}

static uint32_t find_jit(const struct resolver *r, pid_t pid)
{
	return TABLE_FIND(&r->jit_table, hash_u64((uint32_t)pid), i, r->jit[i].pid == pid);
}

struct jit_process *resolver_jit_process(const struct resolver *r, pid_t pid)
{
	uint32_t id = find_jit(r, pid);

	return id == TABLE_NONE ? NULL : &r->jit[id];
}

/* If most of the table of maps is out of date, because its processes have ended, rebuild it. */
static void renew_map_table(struct resolver *r)
{
	enum { FEW = 1024 };
	uint64_t id[2];

	if (r->map_table.used < FEW || r->map_table.used / 2 < r->jits)
		return;
	table_release(&r->map_table);
	for (uint32_t i = 0; i < r->jits; i++)
		if (r->jit[i].map && jitmap_only_map(r->jit[i].map, id))
			table_add(&r->map_table, hash_more(id[0], id[1]), (uint32_t)r->jit[i].pid);
}

/*
 * If P has only a map, and another process has the same file under any name, let both share one
 * jitmap, so that the file is read once.
 */
static void share_map(struct resolver *r, struct jit_process *p)
{
	uint64_t id[2], other[2];
	uint32_t pid, at;

	if (!jitmap_only_map(p->map, id))
		return;
	renew_map_table(r);
	uint64_t hash = hash_more(id[0], id[1]);
	struct table_probe probe = table_probe(&r->map_table, hash);
	while ((pid = table_next(&r->map_table, &probe)) != TABLE_NONE) {
		at = find_jit(r, (pid_t)pid);
		struct jitmap *map = at == TABLE_NONE ? NULL : r->jit[at].map;
		if (!map || map == p->map || !jitmap_only_map(map, other) ||
		    other[0] != id[0] || other[1] != id[1])
			continue;
		jitmap_free(p->map);
		p->map = jitmap_share(map);
		break;
	}
	table_add(&r->map_table, hash, (uint32_t)p->pid);
}

static struct jit_process *add_jit(struct resolver *r, pid_t pid)
{
	uint32_t id = find_jit(r, pid);

	if (id == TABLE_NONE) {
		id = r->jits++;
		r->jit = array_grow(r->jit, id, sizeof(*r->jit));
		r->jit[id] = (struct jit_process){ .pid = pid, .tmp = -1 };
		table_add(&r->jit_table, hash_u64((uint32_t)pid), id);
	}
	return &r->jit[id];
}

bool resolver_jit_refresh(struct resolver *r, struct jitmap *map)
{
	bool any = jitmap_refresh(map);
	struct jit_trouble t;

	while (jitmap_trouble(map, &t)) {
		if (t.why)
			report_note(r->report, "'%s': offset 0x%" PRIx64 ": %s", t.file, t.offset,
				    t.why);
		else
			report_note(r->report, "'%s' is not read: it belongs to user %u, who is "
				    "not its process's, root or you", t.file, t.owner);
	}
	if (any)
		recent_flush(&r->recent);
	return any;
}

static void open_dump(struct resolver *r, struct jit_process *p)
{
	const char *sysroot = r->options.where.sysroot;
	char path[PATH_MAX];

	if (!p->dump)
		return;
	unshare_map(r, p);
	trust_user(r, p);
	int size = sysroot ? snprintf(path, sizeof(path), "%s%s", sysroot, p->dump)
			   : snprintf(path, sizeof(path), "%s%s",
				      proc_path(p->pid, "root").text, p->dump);
	if (size < (int)sizeof(path) && jitmap_open_dump(p->map, path))
		return;
	if (!sysroot)
		jitmap_open_dump(p->map, p->dump);
}

static bool may_know(const struct resolver *r, const struct stream_reader *in, pid_t pid)
{
	return r->options.symbols && pid > 0 && (resolver_is_local(in) || r->options.where.sysroot);
}

static struct jitmap *own_jit(struct resolver *r, pid_t pid)
{
	struct jit_process *p = add_jit(r, pid);

	if (p->ended)
		p->ended = 1;
	if (!p->map) {
		enum { SLACK = 2 };	/* seconds: times of files and processes are not exact */
		if (!p->started && !r->options.where.sysroot && proc_start_time(pid, &p->started))
			p->started -= SLACK;
		p->map = jitmap_new(&r->jit_budget);
		open_map(r, p);
		open_dump(r, p);
		if (!jitmap_has_map(p->map))
			keep_tmp(r, p);
		share_map(r, p);
		resolver_jit_refresh(r, p->map);
	}
	return p->map;
}

struct jitmap *resolver_jit_find(struct resolver *r, const struct stream_reader *in, pid_t pid)
{
	enum { FORKS_MAX = 8 };		/* forks of a parent that have no files of their own */

	if (!may_know(r, in, pid))
		return NULL;
	struct jitmap *own = own_jit(r, pid), *map = own;
	for (int i = 0; i < FORKS_MAX && jitmap_is_empty(map); i++) {
		pid = spaces_find(&r->spaces, pid)->parent;
		if (pid <= 0)
			return own;
		map = own_jit(r, pid);
	}
	return map;
}

/* Return whether the base name of FILE is jit-NUMBER.dump. */
static bool is_jitdump(const char *file)
{
	const char *name = strrchr(file, '/');

	if (!name || strncmp(name, "/jit-", 5))
		return false;
	name += 5;
	size_t digits = strspn(name, "0123456789");
	return digits && !strcmp(name + digits, ".dump");
}

void resolver_jit_open_dump(struct resolver *r, const struct stream_reader *in, pid_t pid,
			    const char *file)
{
	if (!is_jitdump(file) || !may_know(r, in, pid))
		return;
	struct jit_process *p = add_jit(r, pid);
	free(p->dump);
	p->dump = mem_text(file);
	if (p->map)
		open_dump(r, p);
	resolver_jit_refresh(r, resolver_jit_find(r, in, pid));
}

uint64_t resolver_jit_time(const struct perf_event_attr *attr, const struct sample *sample)
{
	bool is_common = attr->sample_type & PERF_SAMPLE_TIME && attr->use_clockid &&
			 attr->clockid == CLOCK_MONOTONIC;

	return is_common ? sample->time : JIT_LATEST;
}

/* Forget what is known of PID, because the process runs another program now. */
static void forget(struct resolver *r, pid_t pid)
{
	struct jit_process *p = resolver_jit_process(r, pid);

	if (!p)
		return;
	release_process(r, p);
	*p = (struct jit_process){ .pid = pid, .tmp = -1 };
}

/* Return whether process PID no longer exists. Its threads may outlive its first thread. */
static bool has_exited(const struct stream_reader *in, pid_t pid)
{
	uid_t user;

	return !resolver_is_local(in) || !proc_owner(pid, &user);
}

/*
 * Called after a round. Discards P's jitmap a few rounds after P has ended. Returns whether P can
 * be removed: its jitmap is discarded, and the stream no longer knows the process.
 */
static bool is_over(const struct resolver *r, const struct stream_reader *in,
		    struct jit_process *p)
{
	bool is_known = spaces_has(&r->spaces, p->pid);

	if (p->ended == 0 && !is_known)
		p->ended = 1;
	if (p->ended == 0 || ++p->ended <= 3 || (is_known && !has_exited(in, p->pid)))
		return false;
	jitmap_free(p->map);
	p->map = NULL;
	return !is_known;
}

static void age(struct resolver *r, const struct stream_reader *in)
{
	for (uint32_t i = 0; i < r->jits; ) {
		struct jit_process *p = &r->jit[i];
		if (!is_over(r, in, p)) {
			i++;
			continue;
		}
		release_process(r, p);
		table_remove(&r->jit_table, hash_u64((uint32_t)p->pid), i);
		if (i == --r->jits)
			break;
		*p = r->jit[r->jits];	/* the last element takes its place */
		table_remove(&r->jit_table, hash_u64((uint32_t)p->pid), r->jits);
		table_add(&r->jit_table, hash_u64((uint32_t)p->pid), i);
	}
}

/*
 * Take the credit for a visit to every process. Returns false if there is too little. Records add
 * credit, so the work stays in proportion to the stream, even if it has many rounds without
 * samples and many processes.
 */
static bool pay(struct resolver *r)
{
	if (r->jit_credit < r->jits)
		return false;
	r->jit_credit -= r->jits;
	return true;
}

void resolver_jit_read_again(struct resolver *r, struct jit_process *p)
{
	if (!p->map)
		return;
	if (!jitmap_has_map(p->map)) {
		open_map(r, p);
		share_map(r, p);
	}
	if (jitmap_has_map(p->map))
		close_tmp(r, p);
	resolver_jit_refresh(r, p->map);
}

static void read_again(struct resolver *r)
{
	if (!pay(r))
		return;
	for (uint32_t i = 0; i < r->jits; i++)
		resolver_jit_read_again(r, &r->jit[i]);
}

void resolver_jit_refresh_all(struct resolver *r)
{
	r->jit_credit += JIT_CREDIT_SAMPLE;
	if (r->round_ended)
		read_again(r);
	r->round_ended = false;
}

/* A thread has ended: if it was the last of its process, the files have all names. */
static void follow_end(struct resolver *r, const struct stream_reader *in,
		       const struct task_record *task)
{
	struct jit_process *p = resolver_jit_process(r, task->pid);

	if (p && task->pid == task->tid)
		p->ended = 1;
	if (p && (task->pid == task->tid || has_exited(in, task->pid)))
		resolver_late_name(r, in, task->pid);
}

void resolver_jit_follow(struct resolver *r, const struct stream_reader *in,
			 const struct record *rec)
{
	struct comm_record comm;
	struct task_record task;

	r->jit_credit++;
	if (rec->type == PERF_RECORD_COMM && record_comm(rec, &comm) && comm.exec)
		forget(r, comm.pid);
	if (rec->type == PERF_RECORD_FORK && record_task(rec, &task) &&
	    task.pid != task.parent_pid)
		forget(r, task.pid);
	if (rec->type == PERF_RECORD_EXIT && record_task(rec, &task))
		follow_end(r, in, &task);
	if (rec->type != RECORD_FINISHED_ROUND)
		return;
	read_again(r);
	r->round_ended = true;
	if (pay(r))
		age(r, in);
}

void resolver_jit_release(struct resolver *r)
{
	for (uint32_t i = 0; i < r->jits; i++)
		release_process(r, &r->jit[i]);
	table_release(&r->jit_table);
	table_release(&r->map_table);
	free(r->jit);
	r->jit = NULL;
	r->jits = 0;
	if (r->jit_budget.files_refused)
		report_note(r->report, "%u files of JIT compilers are open, the most allowed: "
			    "code of further processes has no names", r->jit_budget.files_max);
}
