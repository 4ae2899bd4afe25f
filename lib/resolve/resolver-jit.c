/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the files of JIT compilers, for each process with code outside of files.
 *
 * The files are read again after each round of the stream, and right before the next sample. By
 * then they have the code that was compiled before the sample was taken. When a process has
 * ended, its jitmap is discarded a few rounds later, after its last samples. If another sample
 * comes anyway, the files are read again.
 *
 * Many compilers write the last names when the process ends, long after the first samples of that
 * code. So frames without a name are kept for each process, and looked up again at its end.
 */
#include "linux/proc.h"
#include "resolve/resolver-internal.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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
	if (sysroot) {
		if (snprintf(path, sizeof(path), "%s/tmp/perf-%d.map", sysroot, pid) <
		    (int)sizeof(path))
			jitmap_open_map(map, path);
		return;
	}
	snprintf(path, sizeof(path), "%s/tmp/perf-%d.map", proc_path(pid, "root").text,
		 proc_own_id(pid));
	if (jitmap_open_map(map, path))
		return;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	jitmap_open_map(map, path);
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
		r->jit[id] = (struct jit_process){ .pid = pid };
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
		resolver_flush_recent(r);
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
		p->map = jitmap_new(&r->jit_budget);
		open_map(r, p);
		open_dump(r, p);
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

/* Compilers that write names of their code only on request. */
static const struct compiler {
	const char *file;	/* base name of the compiler's program or library */
	const char *program, *advice;
} compilers[] = {
	{ "libjvm.so", "Java", "Java writes it at 'jcmd PID Compiler.perfmap' (Java 17), or at its "
	  "end if it was started with -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit" },
	{ "node", "Node.js", "start it with --perf-basic-prof" },
	{ "libcoreclr.so", ".NET", "start it with DOTNET_PerfMapEnabled=1" },
};

/* Return the index of the compiler that process PID has mapped; COMPILERS: none is known. */
enum { COMPILERS = sizeof(compilers) / sizeof(*compilers) };
static size_t compiler_of(struct resolver *r, pid_t pid)
{
	const struct space *space = spaces_find(&r->spaces, pid);

	for (const struct mapping *m = mappings_from(&space->code, 0); m;
	     m = mappings_from(&space->code, m->end)) {
		const char *path = r->spaces.objects.object[m->object].path;
		const char *slash = strrchr(path, '/');
		for (size_t k = 0; slash && k < COMPILERS; k++)
			if (!strcmp(slash + 1, compilers[k].file))
				return k;
	}
	return COMPILERS;
}

void resolver_jit_is_nameless(struct resolver *r, pid_t pid)
{
	uint32_t id = find_jit(r, pid);

	if (id != TABLE_NONE)
		r->jit[id].is_nameless = true;
}

void resolver_jit_advise(struct resolver *r, pid_t pid)
{
	enum { MANY = 20 };	/* some code belongs to the compiler itself, and never has names */
	uint32_t id = find_jit(r, pid);

	if (id == TABLE_NONE || !r->jit[id].is_nameless || ++r->jit[id].unnamed != MANY)
		return;
	size_t compiler = compiler_of(r, pid);
	if (compiler == COMPILERS || r->advised >> compiler & 1)
		return;
	r->advised |= 1U << compiler;
	report_note(r->report, "no names of code that %s compiled in process %d: there is no "
		    "/tmp/perf-%d.map so far; %s", compilers[compiler].program, pid, pid,
		    compilers[compiler].advice);
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
	uint32_t id = find_jit(r, pid);

	if (id == TABLE_NONE)
		return;
	jitmap_free(r->jit[id].map);
	free(r->jit[id].dump);
	free(r->jit[id].unnamed_frame);
	r->jit[id] = (struct jit_process){ .pid = pid };
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
		free(p->dump);
		free(p->unnamed_frame);
		table_remove(&r->jit_table, hash_u64((uint32_t)p->pid), i);
		if (i == --r->jits)
			break;
		*p = r->jit[r->jits];	/* the last element takes its place */
		table_remove(&r->jit_table, hash_u64((uint32_t)p->pid), r->jits);
		table_add(&r->jit_table, hash_u64((uint32_t)p->pid), i);
	}
}

static void mark_ended(struct resolver *r, pid_t pid)
{
	uint32_t id = find_jit(r, pid);

	if (id != TABLE_NONE)
		r->jit[id].ended = 1;
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

static void read_one_again(struct resolver *r, struct jit_process *p)
{
	if (!jitmap_has_map(p->map)) {
		open_map(r, p);
		share_map(r, p);
	}
	resolver_jit_refresh(r, p->map);
}

static void read_again(struct resolver *r)
{
	if (!pay(r))
		return;
	for (uint32_t i = 0; i < r->jits; i++)
		if (r->jit[i].map)
			read_one_again(r, &r->jit[i]);
}

void resolver_jit_add_unnamed(struct resolver *r, pid_t pid, uint32_t frame)
{
	uint32_t id = find_jit(r, pid);

	if (id == TABLE_NONE)
		return;
	struct jit_process *p = &r->jit[id];
	p->unnamed_frame = array_grow(p->unnamed_frame, p->unnamed_frames,
				      sizeof(*p->unnamed_frame));
	p->unnamed_frame[p->unnamed_frames++] = (struct unnamed){ frame, r->time };
}

void resolver_jit_forget_unnamed(struct resolver *r)
{
	for (uint32_t i = 0; i < r->jits; i++) {
		free(r->jit[i].unnamed_frame);
		r->jit[i].unnamed_frame = NULL;
		r->jit[i].unnamed_frames = 0;
	}
}

/*
 * Return whether MAP has one function at ADDRESS since TIME.  If there was another one later, it is
 * unknown how many samples are of which.
 */
static bool has_one_name(struct jitmap *map, uint64_t address, uint64_t time)
{
	struct jit_place first, last;

	return jitmap_find(map, address, time, &first) &&
	       (!jitmap_find(map, address, JIT_LATEST, &last) || !strcmp(first.name, last.name));
}

/* Give names to those frames of process PID whose names have come, and keep the others. */
static void name_late(struct resolver *r, const struct stream_reader *in, pid_t pid)
{
	uint32_t id = find_jit(r, pid), kept = 0;

	if (id == TABLE_NONE || !r->jit[id].unnamed_frames ||
	    r->jit_credit < r->jit[id].unnamed_frames)
		return;
	r->jit_credit -= r->jit[id].unnamed_frames;
	if (r->jit[id].map)
		read_one_again(r, &r->jit[id]);
	struct jitmap *map = resolver_jit_find(r, in, pid);	/* this may move r->jit */
	struct jit_process *p = &r->jit[find_jit(r, pid)];
	for (uint32_t i = 0; map && i < p->unnamed_frames; i++) {
		const struct unnamed u = p->unnamed_frame[i];
		const struct resolved_frame *f = &r->tables->frame[u.frame];
		struct place place = { .object = f->object, .address = f->address,
				       .source = TABLE_NONE, .jit = map };
		r->time = u.time;
		uint32_t lines = has_one_name(map, f->address, u.time)
			? resolver_find_lines(r, &place) : 0;
		if (lines)
			resolver_name_frame(r, u.frame, lines);
		else
			p->unnamed_frame[kept++] = u;
	}
	if (map)
		p->unnamed_frames = kept;
}

void resolver_name_late(struct resolver *r, const struct stream_reader *in)
{
	for (uint32_t i = 0; i < r->jits; i++)
		name_late(r, in, r->jit[i].pid);
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
	uint32_t id = find_jit(r, task->pid);

	if (id != TABLE_NONE && r->jit[id].unnamed_frames &&
	    (task->pid == task->tid || has_exited(in, task->pid)))
		name_late(r, in, task->pid);
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
	if (rec->type == PERF_RECORD_EXIT && record_task(rec, &task)) {
		if (task.pid == task.tid)
			mark_ended(r, task.pid);
		follow_end(r, in, &task);
	}
	if (rec->type != RECORD_FINISHED_ROUND)
		return;
	read_again(r);
	r->round_ended = true;
	if (pay(r))
		age(r, in);
}

void resolver_jit_release(struct resolver *r)
{
	for (uint32_t i = 0; i < r->jits; i++) {
		jitmap_free(r->jit[i].map);
		free(r->jit[i].dump);
		free(r->jit[i].unnamed_frame);
	}
	table_release(&r->jit_table);
	table_release(&r->map_table);
	free(r->jit);
	r->jit = NULL;
	r->jits = 0;
	if (r->jit_budget.files_refused)
		report_note(r->report, "%u files of JIT compilers are open, the most allowed: "
			    "code of further processes has no names", r->jit_budget.files_max);
}
