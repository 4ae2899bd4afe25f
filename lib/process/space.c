/* SPDX-License-Identifier: Apache-2.0 */
#include "process/space.h"
#include "base/arena.h"
#include "base/oldest.h"
#include "record/words.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const struct space empty_space;

const struct mapping *space_find(const struct space *space, uint64_t address)
{
	return mappings_find(&space->code, address);
}

const struct mapping *space_find_data(const struct space *space, uint64_t address)
{
	if (mappings_are_none(&space->data) || mappings_find(&space->code, address))
		return NULL;
	return mappings_find(&space->data, address);
}

/* The code of SPACE has changed. */
static void renew(struct spaces *s, struct space *space)
{
	space->generation = ++s->generation;
	space->shared = 0;
}

static void map(struct spaces *s, struct space *space, struct mapping new)
{
	mappings_set(&space->code, new);
	renew(s, space);
}

/*
 * Return a hash of the files that SPACE maps as code, and of their addresses; 0 if it has other
 * code, which may be the process's own, or too many mappings.  The vdso is left out, because its
 * address differs between processes.
 */
static uint64_t hash_files(const struct spaces *s, const struct space *space)
{
	enum { LOOK_MAX = 64 };
	const struct mapping *m = mappings_from(&space->code, 0);
	uint64_t hash = hash_u64(s->objects.removals);	/* each gives ids new meanings */

	for (int looks = 0; m; looks++) {
		enum object_kind kind = s->objects.object[m->object].kind;
		if (looks == LOOK_MAX || m->is_covered || m->is_jit ||
		    (kind != OBJECT_FILE && kind != OBJECT_VDSO))
			return 0;
		if (kind == OBJECT_FILE) {
			hash = hash_more(hash_more(hash, m->start), m->end);
			hash = hash_more(hash, m->file_offset);
			hash = hash_more(hash, (uint64_t)m->is_main << 32 | m->object);
		}
		m = mappings_from(&space->code, m->end);
	}
	return hash;
}

/* Set SPACE's SHARED to the number of all spaces with the same files, or to its GENERATION. */
static void share(struct spaces *s, struct space *space)
{
	uint64_t hash = hash_files(s, space);

	space->shared = space->generation;
	if (!hash)
		return;
	if (!s->alike)
		s->alike = mem_zeroed(ALIKE_MAX, sizeof(*s->alike));
	struct alike_spaces *alike = &s->alike[hash % ALIKE_MAX];
	if (alike->hash != hash)
		*alike = (struct alike_spaces){ hash, ++s->generation };
	space->shared = alike->shared;
}

/*
 * Map data.  This removes code of other objects at these addresses.  Code of the same object
 * stays: a compiler (JIT) makes code non-executable for a while, and callers still return to it.
 * Only LOOK_MAX mappings are compared, more than a compiler protects at once; the rest is removed.
 */
static void map_data(struct spaces *s, struct space *space, struct mapping new)
{
	enum { LOOK_MAX = 100 };
	struct mappings *code = &space->code;
	const struct mapping *m = mappings_from(code, new.start);

	mappings_set(&space->data, new);
	for (int looks = 0; m && m->start < new.end; looks++) {
		uint64_t start = m->start > new.start ? m->start : new.start;
		uint64_t end = m->end < new.end && looks < LOOK_MAX ? m->end : new.end;
		if (looks == LOOK_MAX || !(m->object == new.object ||
					   (m->is_covered && m->cover == new.object))) {
			mappings_remove(code, start, end);
			renew(s, space);
		}
		m = end < new.end ? mappings_from(code, end) : NULL;
	}
}

static uint32_t find_process(const struct spaces *s, pid_t pid)
{
	if (s->last < s->processes && s->process[s->last].pid == pid)
		return s->last;
	return TABLE_FIND(&s->process_table, hash_u64((uint32_t)pid), i,
			  s->process[i].pid == pid);
}

static struct process *add_process(struct spaces *s, pid_t pid)
{
	uint32_t id = find_process(s, pid);

	if (id == TABLE_NONE) {
		id = s->processes++;
		s->process = array_grow(s->process, id, sizeof(*s->process));
		s->process[id] = (struct process){ .pid = pid, .space.birth = ++s->generation };
		table_add(&s->process_table, hash_u64((uint32_t)pid), id);
	}
	s->process[id].used = ++s->uses;
	return &s->process[id];
}

/* Forget process PID.  The last process of the array takes its place. */
static void forget_process(struct spaces *s, pid_t pid)
{
	uint32_t id = find_process(s, pid), last = s->processes - 1;

	if (id == TABLE_NONE)
		return;
	mappings_release(&s->process[id].space.code);
	mappings_release(&s->process[id].space.data);
	table_remove(&s->process_table, hash_u64((uint32_t)pid), id);
	s->last = s->processes = last;
	if (id == last)
		return;
	table_remove(&s->process_table, hash_u64((uint32_t)s->process[last].pid), last);
	s->process[id] = s->process[last];
	table_add(&s->process_table, hash_u64((uint32_t)s->process[id].pid), id);
}

/* There are too many processes: forget the quarter that has been unused for the longest time. */
static void forget_silent(struct spaces *s)
{
	uint64_t *used = mem_resize(NULL, s->processes * sizeof(*used));

	for (uint32_t i = 0; i < s->processes; i++)
		used[i] = s->process[i].used;
	uint64_t last = oldest_quarter(used, s->processes);
	free(used);
	for (uint32_t i = s->processes; i-- > 0; )
		if (s->process[i].used <= last) {
			forget_process(s, s->process[i].pid);
			s->silenced++;
		}
}

static void clear_space(struct spaces *s, struct space *space)
{
	mappings_release(&space->code);
	mappings_release(&space->data);
	*space = (struct space){ .generation = ++s->generation, .birth = s->generation };
}

static void copy_space(struct spaces *s, struct space *to, const struct space *from)
{
	clear_space(s, to);
	to->code = mappings_copy(&from->code);
	to->data = mappings_copy(&from->data);
	to->has_main = from->has_main;
	if (from->shared != from->generation)
		to->shared = from->shared;
}

static bool is_guest(const struct record *rec)
{
	uint16_t mode = rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

enum { HUGE_PAGE = 2 * 1024 * 1024 };	/* bytes: the smallest huge page */

/* Return whether M consists of whole huge pages that may hold moved text. */
static bool is_huge(const struct spaces *s, const struct mapping *m)
{
	return m->start % HUGE_PAGE == 0 && m->end % HUGE_PAGE == 0 &&
	       object_may_be_hugepages(&s->objects.object[m->object]);
}

/* Return whether NEW has all huge pages that fit into OLD. */
static bool is_whole_inside(const struct mapping *old, const struct mapping *new)
{
	return new->start - old->start < HUGE_PAGE && old->end - new->end < HUGE_PAGE;
}

/*
 * Return whether NEW is text moved from OLD.  A program that moves its text to huge pages maps
 * anonymous memory into the middle of its file's mapping; the code is still the file's.  Moving
 * the text of a library covers all of that text.  If only a part is covered, the library was
 * unmapped before, which no record reports.
 */
static bool is_moved_text(const struct spaces *s, const struct mapping *old,
			  const struct mapping *new)
{
	return old && is_huge(s, new) && new->end <= old->end &&
	       s->objects.object[old->object].kind == OBJECT_FILE &&
	       (old->is_main || is_whole_inside(old, new));
}

/* M is anonymous memory that probably holds text of the file OBJECT: attribute it to OBJECT. */
static void cover(struct mapping *m, uint32_t object)
{
	m->is_covered = true;
	m->cover = m->object;
	m->object = object;
}

/* Return whether MEMORY lies between two mappings of one file, the second of which is NEW. */
static bool is_between(const struct spaces *s, const struct mappings *code,
		       const struct mapping *memory, const struct mapping *new)
{
	const struct mapping *before = memory->start ? mappings_find(code, memory->start - 1)
						     : NULL;

	return before && object_may_be_hugepages(&s->objects.object[memory->object]) &&
	       before->object == new->object &&
	       before->file_offset + (new->start - before->start) == new->file_offset;
}

/*
 * Find text that was moved before recording started, in mappings listed from /proc.  The
 * memory ends where the file mapping NEW starts, and NEW's file offset leaves room for the
 * moved text.  The memory consists of huge pages; or it has any size, and the file is also
 * mapped right before it, with offsets that continue in NEW.
 */
static void adopt_moved_text(const struct spaces *s, struct space *space,
			     const struct mapping *new)
{
	const struct mapping *before = new->start ? mappings_find(&space->code, new->start - 1)
						  : NULL;

	if (s->objects.object[new->object].kind != OBJECT_FILE || !before ||
	    before->end != new->start || new->file_offset < before->end - before->start ||
	    !(is_huge(s, before) || is_between(s, &space->code, before, new)))
		return;
	struct mapping memory = *before;
	cover(&memory, new->object);
	memory.file_offset = new->file_offset - (memory.end - memory.start);
	memory.is_main = new->is_main;
	mappings_set(&space->code, memory);
}

/* Unmap all pieces of generated code that have a part in [START, END). */
static void unmap_generated(struct spaces *s, uint64_t start, uint64_t end)
{
	struct mappings *code = &s->kernel.code;
	const struct mapping *m = s->generated ? mappings_from(code, start) : NULL;

	while (m && m->start < end) {
		const struct mapping piece = *m;
		if (piece.generated) {
			mappings_remove(code, piece.start, piece.end);
			renew(s, &s->kernel);
			s->generated--;
		}
		m = mappings_from(code, piece.end);
	}
}

static void follow_mmap(struct spaces *s, const struct record *rec, const struct mmap_record *m)
{
	uint16_t mode = rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	bool in_kernel = mode == PERF_RECORD_MISC_KERNEL || (m->pid == -1 && !is_guest(rec));
	bool is_code = m->executable || in_kernel || s->all_is_code;

	if (m->size == 0 || mode == PERF_RECORD_MISC_GUEST_USER)
		return;
	struct space *space = mode == PERF_RECORD_MISC_GUEST_KERNEL ? &s->guest
			      : in_kernel ? &s->kernel : &add_process(s, m->pid)->space;
	struct mapping new = {
		.start = m->start, .end = m->start + m->size, .file_offset = m->file_offset,
		.object = objects_add(&s->objects, m, in_kernel), .is_jit = m->is_jit,
	};
	const struct mapping *old = space_find(space, new.start);
	/*
	 * exec maps the executable before its interpreter, and /proc lists it first.  A joined
	 * stream lists it again, and mprotect() maps a part of it again.
	 */
	if (old && old->is_main && old->object == new.object)
		new.is_main = true;
	else if (m->executable && !in_kernel && !space->has_main &&
		 s->objects.object[new.object].kind == OBJECT_FILE)
		new.is_main = space->has_main = true;
	if (in_kernel && s->objects.object[new.object].kind == OBJECT_KERNEL &&
	    (!s->has_image || new.start < s->image)) {
		s->has_image = true;
		s->image = new.start;
	}
	bool is_moved = is_moved_text(s, old, &new);
	if (!is_code) {
		if (!is_moved)
			map_data(s, space, new);
		return;
	}
	if (is_moved) {
		cover(&new, old->object);
		new.file_offset = old->file_offset + (new.start - old->start);
		new.is_main = old->is_main;
	}
	adopt_moved_text(s, space, &new);
	if (space == &s->kernel)
		unmap_generated(s, new.start, new.end);
	map(s, space, new);
}

/* The kernel removed the generated code at START.  Unmap code that it removed long ago. */
static void remove_generated(struct spaces *s, uint64_t start)
{
	struct mappings *code = &s->kernel.code;
	const struct mapping *m = mappings_find(code, start);

	if (!m || !m->generated)
		return;
	if (!s->removed)
		s->removed = mem_zeroed(REMOVED_MAX, sizeof(*s->removed));
	struct removed_code *r = &s->removed[s->removals++ % REMOVED_MAX], past = *r;
	*r = (struct removed_code){ .start = start, .number = m->generated };
	m = past.number ? mappings_find(code, past.start) : NULL;
	if (m && m->generated == past.number)
		unmap_generated(s, past.start, past.start + 1);
}

/*
 * Map code that the kernel generated as "[bpf]", in the kernel's space.  Removed code stays for a
 * while, or until other code replaces it: samples may arrive late.
 */
static void follow_ksymbol(struct spaces *s, const struct ksymbol_record *k)
{
	const struct mmap_record m = { .start = k->start, .size = k->size, .path = WORD_BPF };

	if (k->unregister) {
		remove_generated(s, k->start);
		return;
	}
	if (k->size == 0)
		return;
	unmap_generated(s, k->start, k->start + k->size);
	if (s->generated == GENERATED_MAX) {
		s->generated_dropped++;
		return;
	}
	s->generated++;
	if (++s->generations == 0)
		s->generations = 1;
	map(s, &s->kernel, (struct mapping){
		.start = k->start, .end = k->start + k->size, .file_offset = k->start,
		.generated = s->generations, .object = objects_add(&s->objects, &m, true) });
}

static void follow_comm(struct spaces *s, const struct comm_record *c)
{
	if (!c->exec)
		return;
	struct space *space = &add_process(s, c->pid)->space;
	clear_space(s, space);
	space->is_new = true;
}

/* A new process gets a copy of its parent's mappings. */
static void follow_fork(struct spaces *s, const struct task_record *t)
{
	if (t->pid == t->parent_pid)
		return;
	add_process(s, t->pid);		/* may move the array, so find the parent afterwards */
	uint32_t parent = find_process(s, t->parent_pid);
	struct process *child = add_process(s, t->pid);
	/* Keep a child's own mappings, if /proc listed them before those of its parent. */
	if (parent != TABLE_NONE && (child->ended || mappings_are_none(&child->space.code)))
		copy_space(s, &child->space, &s->process[parent].space);
	child->space.parent = t->parent_pid;
	child->space.is_new = true;
	child->ended = false;
}

/* Samples may arrive late, so the mappings stay until the process is forgotten. */
static void follow_exit(struct spaces *s, const struct task_record *t)
{
	uint32_t id = t->pid == t->tid ? find_process(s, t->pid) : TABLE_NONE;

	if (id != TABLE_NONE)
		s->process[id].ended = true;
}

bool spaces_follow(struct spaces *s, const struct record *rec)
{
	struct build_id_record build_id;
	struct ksymbol_record ksymbol;
	struct mmap_record mmap;
	struct comm_record comm;
	struct task_record task;
	bool good = tasks_follow(&s->tasks, rec);

	for (uint32_t i = 0; i < s->tasks.forgotten_count; i++)
		if (s->tasks.forgotten[i].tid == s->tasks.forgotten[i].pid)
			forget_process(s, s->tasks.forgotten[i].pid);
	if (s->processes >= PROCESSES_MAX)
		forget_silent(s);
	switch (rec->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		good = record_mmap(rec, &mmap);
		if (good && s->rename && (mmap.executable || s->all_is_code) && mmap.pid >= 0)
			s->rename(s->rename_context, &mmap);
		if (good)
			follow_mmap(s, rec, &mmap);
		break;
	case PERF_RECORD_COMM:
		if (record_comm(rec, &comm) && !is_guest(rec))
			follow_comm(s, &comm);
		break;
	case PERF_RECORD_FORK:
		if (record_task(rec, &task) && !is_guest(rec))
			follow_fork(s, &task);
		break;
	case PERF_RECORD_EXIT:
		if (record_task(rec, &task) && !is_guest(rec))
			follow_exit(s, &task);
		break;
	case PERF_RECORD_KSYMBOL:
		good = record_ksymbol(rec, &ksymbol);
		if (good)
			follow_ksymbol(s, &ksymbol);
		break;
	case RECORD_BUILD_ID:
		good = record_build_id(rec, &build_id);
		if (good)
			objects_set_build_id(&s->objects, &build_id);
		break;
	}
	return good;
}

const struct space *spaces_find(struct spaces *s, pid_t pid)
{
	uint32_t id = find_process(s, pid);

	if (id == TABLE_NONE)
		return &empty_space;
	s->last = id;
	s->process[id].used = ++s->uses;
	struct space *space = &s->process[id].space;
	if (!space->shared)
		share(s, space);
	return space;
}

const struct mapping *spaces_file_mapped(struct spaces *s, const struct record *rec, pid_t *pid)
{
	struct mmap_record mmap;

	if (!record_mmap(rec, &mmap) || !mmap.executable || mmap.pid <= 0)
		return NULL;
	const struct mapping *m = space_find(spaces_find(s, mmap.pid), mmap.start);
	const struct object *object = m ? &s->objects.object[m->object] : NULL;
	if (!object || (object->kind != OBJECT_FILE && !object_is_memfd(object) &&
			!object_is_vdso32(object)))
		return NULL;
	*pid = mmap.pid;
	return m;
}

bool spaces_has(const struct spaces *s, pid_t pid)
{
	return find_process(s, pid) != TABLE_NONE;
}

static void mark_space(const struct spaces *s, const struct space *space, bool *live)
{
	mappings_mark(&space->code, s->rounds, live);
	mappings_mark(&space->data, s->rounds, live);
}

/* Return whether this process is in the stream: then the stream's PIDs are of our namespace. */
static bool are_our_pids(const struct spaces *s)
{
	char name[16 + 1] = "";

	return prctl(PR_GET_NAME, name) == 0 && *name &&
	       !strcmp(tasks_name_text(&s->tasks, getpid()), name);
}

/* For the callback of tasks_end(): processes that were found to have ended before TIME. */
struct ended_before {
	const struct spaces *spaces;
	uint64_t time;
};

static bool has_ended_before(const void *context, pid_t pid)
{
	const struct ended_before *e = context;
	uint32_t id = find_process(e->spaces, pid);

	return id != TABLE_NONE && e->spaces->process[id].missed &&
	       e->spaces->process[id].missed < e->time;
}

void spaces_forget_ended(struct spaces *s, uint64_t now, uint64_t followed)
{
	const uint64_t often = 10000000000;	/* ns */
	struct ended_before ended = { s, followed };
	bool any = false;

	if (now < s->looked + often || !are_our_pids(s))
		return;
	s->looked = now;
	for (uint32_t i = 0; i < s->processes; i++) {
		struct process *p = &s->process[i];
		bool exists = p->pid <= 0 || kill(p->pid, 0) == 0 || errno != ESRCH;
		p->missed = exists ? 0 : p->missed ? p->missed : now;
		any = any || (p->missed && p->missed < followed);
	}
	if (!any)
		return;
	tasks_end(&s->tasks, has_ended_before, &ended);
	for (uint32_t i = s->processes; i-- > 0; )
		if (has_ended_before(&ended, s->process[i].pid) &&
		    !tasks_has(&s->tasks, s->process[i].pid))
			forget_process(s, s->process[i].pid);
}

void spaces_mark_objects(struct spaces *s, bool *live)
{
	s->rounds++;
	mark_space(s, &s->kernel, live);
	mark_space(s, &s->guest, live);
	for (uint32_t i = 0; i < s->processes; i++)
		mark_space(s, &s->process[i].space, live);
}

void spaces_release(struct spaces *s)
{
	for (uint32_t i = 0; i < s->processes; i++)
		clear_space(s, &s->process[i].space);
	clear_space(s, &s->kernel);
	clear_space(s, &s->guest);
	free(s->process);
	free(s->removed);
	free(s->alike);
	objects_release(&s->objects);
	table_release(&s->process_table);
	tasks_release(&s->tasks);
	*s = (struct spaces){ 0 };
}
