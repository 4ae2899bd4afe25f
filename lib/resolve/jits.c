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
#include "resolve/jits.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CREDIT_FIRST = 1 << 18,		/* initial credit, in visits to processes */
	CREDIT_SAMPLE = 8,		/* credit that a sample adds */
};

/* Return how many files this process may have open. */
static uint32_t files_limit(void)
{
	struct rlimit limit;
	bool is_known = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < UINT32_MAX;

	return is_known ? (uint32_t)limit.rlim_cur : UINT32_MAX;
}

void jits_begin(struct jits *j)
{
	j->credit = CREDIT_FIRST;
	j->budget.files_max = files_limit() / 2;
}

/*
 * Trust files of the process's effective user, because anyone may put a file for any process
 * into /tmp. After the process has ended, the user last seen counts. With a sysroot, any owner is
 * trusted: the user chose those files.
 */
static void trust_user(const struct jits *j, struct jit_process *p)
{
	if (!j->sysroot)
		proc_effective_user(p->pid, &p->user);
	jitmap_trust(p->map, j->sysroot ? JIT_ANYONE : p->user);
}

static void open_map(const struct jits *j, struct jit_process *p)
{
	const char *sysroot = j->sysroot;
	struct jitmap *map = p->map;
	pid_t pid = p->pid;
	char path[PATH_MAX];

	trust_user(j, p);
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

static void close_tmp(struct jits *j, struct jit_process *p)
{
	j->budget.files -= p->tmp >= 0;
	descriptor_close(p->tmp);
	p->tmp = -1;
}

/* Keep the /tmp of P open, unless it is ours. Half of the files are left for maps and dumps. */
static void keep_tmp(struct jits *j, struct jit_process *p)
{
	struct stat its, ours;

	if (p->tmp >= 0 || j->sysroot ||
	    j->budget.files >= j->budget.files_max / 2)
		return;
	p->own_id = proc_own_id(p->pid);
	p->tmp = proc_open_tmp(p->pid);
	j->budget.files += p->tmp >= 0;
	if (p->tmp < 0 || fstat(p->tmp, &its) < 0 || stat("/tmp", &ours) < 0 ||
	    (its.st_dev == ours.st_dev && its.st_ino == ours.st_ino))
		close_tmp(j, p);
}

static uint32_t find_process(const struct jits *j, pid_t pid)
{
	return TABLE_FIND(&j->table, hash_u64((uint32_t)pid), i, j->process[i].pid == pid);
}

struct jit_process *jits_process(const struct jits *j, pid_t pid)
{
	uint32_t id = find_process(j, pid);

	return id == TABLE_NONE ? NULL : &j->process[id];
}

void jits_wait(struct jits *j, pid_t pid, uint32_t frame, uint64_t time)
{
	struct jit_process *p = jits_process(j, pid);

	if (!p)
		return;
	if (j->waiting >= JITS_WAITING_MAX) {
		j->refused++;
		return;
	}
	j->waiting++;
	p->waiting = array_grow(p->waiting, p->waiting_count, sizeof(*p->waiting));
	p->waiting[p->waiting_count++] = (struct waiting_frame){ frame, time };
}

/* Forget the frames of P that wait for a name. */
static void stop_waiting(struct jits *j, struct jit_process *p)
{
	j->waiting -= p->waiting_count;
	free(p->waiting);
	p->waiting = NULL;
	p->waiting_count = 0;
}

uint32_t *jits_waiting(const struct jits *j)
{
	uint32_t *frame = mem_resize(NULL, (j->waiting + 1) * sizeof(*frame)), at = 0;

	for (uint32_t i = 0; i < j->count; i++)
		for (uint32_t k = 0; k < j->process[i].waiting_count; k++)
			frame[at++] = j->process[i].waiting[k].frame;
	return frame;
}

void jits_renumber(struct jits *j, const uint32_t *frame)
{
	for (uint32_t i = 0; i < j->count; i++)
		for (uint32_t k = 0; k < j->process[i].waiting_count; k++)
			j->process[i].waiting[k].frame = *frame++;
}

/* Give up all that P has. */
static void release_process(struct jits *j, struct jit_process *p)
{
	jitmap_free(p->map);
	close_tmp(j, p);
	free(p->dump);
	stop_waiting(j, p);
}

/* Give P a jitmap of its own, before it gets functions that other processes do not have. */
static void unshare_map(struct jits *j, struct jit_process *p)
{
	if (!jitmap_is_shared(p->map))
		return;
	jitmap_free(p->map);
	p->map = jitmap_new(&j->budget);
	open_map(j, p);
}

/* If most of the table of maps is out of date, because its processes have ended, rebuild it. */
static void renew_map_table(struct jits *j)
{
	enum { FEW = 1024 };
	uint64_t id[2];

	if (j->map_table.used < FEW || j->map_table.used / 2 < j->count)
		return;
	table_release(&j->map_table);
	for (uint32_t i = 0; i < j->count; i++) {
		const struct jit_process *p = &j->process[i];
		if (p->map && jitmap_only_map(p->map, id))
			table_add(&j->map_table, hash_more(id[0], id[1]), (uint32_t)p->pid);
	}
}

/*
 * If P has only a map, and another process has the same file under any name, let both share one
 * jitmap, so that the file is read once.
 */
static void share_map(struct jits *j, struct jit_process *p)
{
	uint64_t id[2], other[2];
	uint32_t pid, at;

	if (!jitmap_only_map(p->map, id))
		return;
	renew_map_table(j);
	uint64_t hash = hash_more(id[0], id[1]);
	struct table_probe probe = table_probe(&j->map_table, hash);
	while ((pid = table_next(&j->map_table, &probe)) != TABLE_NONE) {
		at = find_process(j, (pid_t)pid);
		struct jitmap *map = at == TABLE_NONE ? NULL : j->process[at].map;
		if (!map || map == p->map || !jitmap_only_map(map, other) ||
		    other[0] != id[0] || other[1] != id[1])
			continue;
		jitmap_free(p->map);
		p->map = jitmap_share(map);
		break;
	}
	table_add(&j->map_table, hash, (uint32_t)p->pid);
}

static struct jit_process *add_process(struct jits *j, pid_t pid)
{
	uint32_t id = find_process(j, pid);

	if (id == TABLE_NONE) {
		id = j->count++;
		j->process = array_grow(j->process, id, sizeof(*j->process));
		j->process[id] = (struct jit_process){ .pid = pid, .tmp = -1 };
		table_add(&j->table, hash_u64((uint32_t)pid), id);
	}
	return &j->process[id];
}

/* Read what was appended to the files of MAP. Returns whether there was anything. */
static bool refresh(struct jits *j, struct jitmap *map)
{
	bool any = jitmap_refresh(map);
	struct jit_trouble t;

	while (jitmap_trouble(map, &t)) {
		if (t.why)
			report_note(j->report, "'%s': offset 0x%" PRIx64 ": %s", t.file, t.offset,
				    t.why);
		else
			report_note(j->report, "'%s' is not read: it belongs to user %u, who is "
				    "not its process's, root or you", t.file, t.owner);
	}
	if (any)
		recent_flush(j->recent);
	return any;
}

static void open_dump(struct jits *j, struct jit_process *p)
{
	const char *sysroot = j->sysroot;
	char path[PATH_MAX];

	if (!p->dump)
		return;
	unshare_map(j, p);
	trust_user(j, p);
	int size = sysroot ? snprintf(path, sizeof(path), "%s%s", sysroot, p->dump)
			   : snprintf(path, sizeof(path), "%s%s",
				      proc_path(p->pid, "root").text, p->dump);
	if (size < (int)sizeof(path) && jitmap_open_dump(p->map, path))
		return;
	if (!sysroot)
		jitmap_open_dump(p->map, p->dump);
}

static bool may_know(const struct jits *j, const struct stream_reader *in, pid_t pid)
{
	return j->symbols && pid > 0 && (is_recorded_here(in) || j->sysroot);
}

bool jits_find(struct jits *j, struct jitmap *map, uint64_t address, uint64_t time,
	       struct jit_symbol *found)
{
	return jitmap_find(map, address, time, found) ||
	       (refresh(j, map) && jitmap_find(map, address, time, found));
}

static struct jitmap *own_map(struct jits *j, pid_t pid)
{
	struct jit_process *p = add_process(j, pid);

	if (p->ended)
		p->ended = 1;
	if (!p->map) {
		enum { SLACK = 2 };	/* seconds: times of files and processes are not exact */
		if (!p->started && !j->sysroot && proc_start_time(pid, &p->started))
			p->started -= SLACK;
		p->map = jitmap_new(&j->budget);
		open_map(j, p);
		open_dump(j, p);
		if (!jitmap_has_map(p->map))
			keep_tmp(j, p);
		share_map(j, p);
		refresh(j, p->map);
	}
	return p->map;
}

struct jitmap *jits_map(struct jits *j, const struct stream_reader *in, pid_t pid)
{
	enum { FORKS_MAX = 8 };		/* forks of a parent that have no files of their own */

	if (!may_know(j, in, pid))
		return NULL;
	struct jitmap *own = own_map(j, pid), *map = own;
	for (int i = 0; i < FORKS_MAX && jitmap_is_empty(map); i++) {
		pid = spaces_find(j->spaces, pid)->parent;
		if (pid <= 0)
			return own;
		map = own_map(j, pid);
	}
	return map;
}

enum jits_result jits_code(struct jits *j, const struct sampled *s, uint64_t address,
			   struct jit_answer *code)
{
	struct jitmap *map = jits_map(j, s->in, s->pid);

	*code = (struct jit_answer){ .time = s->jit_time };
	if (!map)
		return JITS_UNREADABLE;
	if (jits_find(j, map, address, s->jit_time, &code->function))
		return JITS_NAMED;
	return jitmap_is_empty(map) ? JITS_NAMELESS : JITS_UNNAMED;
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

void jits_open_dump(struct jits *j, const struct stream_reader *in, pid_t pid,
			    const char *file)
{
	if (!is_jitdump(file) || !may_know(j, in, pid))
		return;
	struct jit_process *p = add_process(j, pid);
	free(p->dump);
	p->dump = mem_text(file);
	if (p->map)
		open_dump(j, p);
	refresh(j, jits_map(j, in, pid));
}

/* Forget what is known of PID, because the process runs another program now. */
static void forget(struct jits *j, pid_t pid)
{
	struct jit_process *p = jits_process(j, pid);

	if (!p)
		return;
	release_process(j, p);
	*p = (struct jit_process){ .pid = pid, .tmp = -1 };
}

/* Return whether process PID no longer exists. Its threads may outlive its first thread. */
static bool has_exited(const struct stream_reader *in, pid_t pid)
{
	uid_t user;

	return !is_recorded_here(in) || !proc_owner(pid, &user);
}

/*
 * Called after a round. Discards P's jitmap a few rounds after P has ended. Returns whether P can
 * be removed: its jitmap is discarded, and the stream no longer knows the process.
 */
static bool is_over(const struct jits *j, const struct stream_reader *in,
		    struct jit_process *p)
{
	bool is_known = spaces_has(j->spaces, p->pid);

	if (p->ended == 0 && !is_known)
		p->ended = 1;
	if (p->ended == 0 || ++p->ended <= 3 || (is_known && !has_exited(in, p->pid)))
		return false;
	jitmap_free(p->map);
	p->map = NULL;
	return !is_known;
}

static void age(struct jits *j, const struct stream_reader *in)
{
	for (uint32_t i = 0; i < j->count; ) {
		struct jit_process *p = &j->process[i];
		if (!is_over(j, in, p)) {
			i++;
			continue;
		}
		release_process(j, p);
		table_remove(&j->table, hash_u64((uint32_t)p->pid), i);
		if (i == --j->count)
			break;
		*p = j->process[j->count];	/* the last element takes its place */
		table_remove(&j->table, hash_u64((uint32_t)p->pid), j->count);
		table_add(&j->table, hash_u64((uint32_t)p->pid), i);
	}
}

/*
 * Take the credit for a visit to every process. Returns false if there is too little. Records add
 * credit, so the work stays in proportion to the stream, even if it has many rounds without
 * samples and many processes.
 */
static bool pay(struct jits *j)
{
	if (j->credit < j->count)
		return false;
	j->credit -= j->count;
	return true;
}

void jits_read_again(struct jits *j, struct jit_process *p)
{
	if (!p->map)
		return;
	if (!jitmap_has_map(p->map)) {
		open_map(j, p);
		share_map(j, p);
	}
	if (jitmap_has_map(p->map))
		close_tmp(j, p);
	refresh(j, p->map);
}

static void read_again(struct jits *j)
{
	if (!pay(j))
		return;
	for (uint32_t i = 0; i < j->count; i++)
		jits_read_again(j, &j->process[i]);
}

void jits_refresh(struct jits *j)
{
	j->credit += CREDIT_SAMPLE;
	if (j->round_ended)
		read_again(j);
	j->round_ended = false;
}

/* A thread has ended. Return its process if it was the last thread; 0: it was not. */
static pid_t follow_end(struct jits *j, const struct stream_reader *in,
		       const struct task_record *task)
{
	struct jit_process *p = jits_process(j, task->pid);

	if (p && task->pid == task->tid)
		p->ended = 1;
	if (p && (task->pid == task->tid || has_exited(in, task->pid)))
		return task->pid;
	return 0;
}

pid_t jits_follow(struct jits *j, const struct stream_reader *in, const struct record *rec)
{
	struct comm_record comm;
	struct task_record task;

	j->credit++;
	if (rec->type == PERF_RECORD_COMM && record_comm(rec, &comm) && comm.exec)
		forget(j, comm.pid);
	if (rec->type == PERF_RECORD_FORK && record_task(rec, &task) &&
	    task.pid != task.parent_pid)
		forget(j, task.pid);
	if (rec->type == PERF_RECORD_EXIT && record_task(rec, &task))
		return follow_end(j, in, &task);
	if (rec->type != RECORD_FINISHED_ROUND)
		return 0;
	read_again(j);
	j->round_ended = true;
	if (pay(j))
		age(j, in);
	return 0;
}

void jits_release(struct jits *j)
{
	for (uint32_t i = 0; i < j->count; i++)
		release_process(j, &j->process[i]);
	table_release(&j->table);
	table_release(&j->map_table);
	free(j->process);
	j->process = NULL;
	j->count = 0;
	if (j->budget.files_refused)
		report_note(j->report, "%u files of JIT compilers are open, the most allowed: "
			    "code of further processes has no names", j->budget.files_max);
}
