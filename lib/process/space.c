/* SPDX-License-Identifier: Apache-2.0 */
#include "process/space.h"

#include <stdlib.h>

static const struct space empty_space;

/* Index of the first mapping that ends after ADDRESS: there it is, or there it would go. */
static size_t place_of(const struct mappings *in, uint64_t address)
{
	size_t low = 0, high = in->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (in->mapping[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static const struct mapping *find_mapping(const struct mappings *in, uint64_t address)
{
	size_t at = place_of(in, address);

	if (at < in->count && in->mapping[at].start <= address)
		return &in->mapping[at];
	return NULL;
}

const struct mapping *space_find(const struct space *space, uint64_t address)
{
	return find_mapping(&space->code, address);
}

const struct mapping *space_find_data(const struct space *space, uint64_t address)
{
	if (space->data.count == 0 || find_mapping(&space->code, address))
		return NULL;
	return find_mapping(&space->data, address);
}

/* Room for ADD more mappings at index AT, after REMOVE are gone from there. */
static struct mapping *splice(struct mappings *in, size_t at, size_t remove, size_t add)
{
	size_t tail = in->count - at - remove;

	for (size_t i = 0; i < add; i++)	/* array_grow() grows by one */
		in->mapping = array_grow(in->mapping, in->count + i, sizeof(*in->mapping));
	struct mapping *m = in->mapping + at;
	memmove(m + add, m + remove, tail * sizeof(*m));
	in->count = at + add + tail;
	return m;
}

/* Take [start, end) away from whatever is mapped there. */
static void unmap(struct mappings *in, uint64_t start, uint64_t end)
{
	size_t first = place_of(in, start), last = first;

	while (last < in->count && in->mapping[last].start < end)
		last++;
	if (first == last)
		return;
	struct mapping left = in->mapping[first], right = in->mapping[last - 1];
	bool keep_left = left.start < start, keep_right = right.end > end;
	struct mapping *m = splice(in, first, last - first, (size_t)keep_left + keep_right);
	if (keep_left) {
		left.end = start;
		*m++ = left;
	}
	if (keep_right) {
		right.file_offset += end - right.start;
		right.start = end;
		*m = right;
	}
}

static void replace(struct mappings *in, struct mapping new)
{
	unmap(in, new.start, new.end);
	*splice(in, place_of(in, new.start), 0, 1) = new;
}

static void map(struct spaces *s, struct space *space, struct mapping new)
{
	replace(&space->code, new);
	space->generation = ++s->generation;
}

/*
 * Data.  Code of another object is gone from there; of the same one it is protected for
 * a while only, as compilers do, and its callers are still about to return to it.
 */
static void map_data(struct spaces *s, struct space *space, struct mapping new)
{
	struct mappings *code = &space->code;
	size_t at = place_of(code, new.start);

	replace(&space->data, new);
	while (at < code->count && code->mapping[at].start < new.end) {
		struct mapping m = code->mapping[at++];
		if (m.object == new.object || (m.is_covered && m.cover == new.object))
			continue;
		uint64_t end = m.end < new.end ? m.end : new.end;
		unmap(code, m.start > new.start ? m.start : new.start, end);
		at = place_of(code, end);
		space->generation = ++s->generation;
	}
}

static uint32_t find_process(const struct spaces *s, pid_t pid)
{
	if (s->last < s->processes && s->process[s->last].pid == pid)
		return s->last;
	struct table_probe probe = table_probe(&s->process_table, hash_u64((uint32_t)pid));
	uint32_t id;
	while ((id = table_next(&s->process_table, &probe)) != TABLE_NONE)
		if (s->process[id].pid == pid)
			break;
	return id;
}

static struct process *add_process(struct spaces *s, pid_t pid)
{
	uint32_t id = find_process(s, pid);

	if (id == TABLE_NONE) {
		id = s->processes++;
		s->process = array_grow(s->process, id, sizeof(*s->process));
		s->process[id] = (struct process){ .pid = pid };
		table_add(&s->process_table, hash_u64((uint32_t)pid), id);
	}
	return &s->process[id];
}

static void clear_space(struct spaces *s, struct space *space)
{
	free(space->code.mapping);
	free(space->data.mapping);
	*space = (struct space){ .generation = ++s->generation };
}

static struct mappings copy_mappings(const struct mappings *from)
{
	struct mappings to = { 0 };

	for (; to.count < from->count; to.count++) {
		to.mapping = array_grow(to.mapping, to.count, sizeof(*to.mapping));
		to.mapping[to.count] = from->mapping[to.count];
	}
	return to;
}

static void copy_space(struct spaces *s, struct space *to, const struct space *from)
{
	clear_space(s, to);
	to->code = copy_mappings(&from->code);
	to->data = copy_mappings(&from->data);
	to->has_main = from->has_main;
}

static bool is_guest(const struct record *rec)
{
	uint16_t mode = rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

enum { HUGE_PAGE = 2 * 1024 * 1024 };	/* bytes, the least that are called huge */

/* Whether M is of huge pages, and may be text moved there. */
static bool is_huge(const struct spaces *s, const struct mapping *m)
{
	return m->start % HUGE_PAGE == 0 && m->end % HUGE_PAGE == 0 &&
	       object_may_be_hugepages(&s->objects.object[m->object]);
}

/* Whether NEW is all huge pages that lie in OLD. */
static bool is_whole_inside(const struct mapping *old, const struct mapping *new)
{
	return new->start - old->start < HUGE_PAGE && old->end - new->end < HUGE_PAGE;
}

/*
 * A program that moves its text to huge pages maps anonymous memory into the
 * middle of its file's mapping.  The code there is still the file's.  Moving the
 * text of a library covers all of that text.  A mapping that covers only a part of it
 * came after the library was unmapped, which no record reports.
 */
static bool is_moved_text(const struct spaces *s, const struct mapping *old,
			  const struct mapping *new)
{
	return old && is_huge(s, new) && new->end <= old->end &&
	       s->objects.object[old->object].kind == OBJECT_FILE &&
	       (old->is_main || is_whole_inside(old, new));
}

/* M is of anonymous memory, which probably has the text of the file OBJECT. */
static void cover(struct mapping *m, uint32_t object)
{
	m->is_covered = true;
	m->cover = m->object;
	m->object = object;
}

/* Whether mapping AT, of memory, lies between two parts of one file, where NEW is the second. */
static bool is_between(const struct spaces *s, const struct mappings *code, size_t at,
		       const struct mapping *new)
{
	const struct mapping *memory = &code->mapping[at], *before = memory - 1;

	return at > 0 && object_may_be_hugepages(&s->objects.object[memory->object]) &&
	       before->object == new->object && before->end == memory->start &&
	       before->file_offset + (new->start - before->start) == new->file_offset;
}

/*
 * The same, found when it was done already, as /proc lists it: huge pages
 * right before the file mapping NEW, which begins where the file would go on; or pages
 * of any size where the file also goes on from before them.
 */
static void adopt_moved_text(const struct spaces *s, struct space *space,
			     const struct mapping *new)
{
	size_t at = place_of(&space->code, new->start - 1);

	if (s->objects.object[new->object].kind != OBJECT_FILE || at == space->code.count)
		return;
	struct mapping *memory = &space->code.mapping[at];
	if (memory->end != new->start || new->file_offset < memory->end - memory->start ||
	    !(is_huge(s, memory) || is_between(s, &space->code, at, new)))
		return;
	cover(memory, new->object);
	memory->file_offset = new->file_offset - (memory->end - memory->start);
	memory->is_main = new->is_main;
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
	/* exec maps the executable before its interpreter, and /proc lists it first. */
	if (m->executable && !in_kernel && !space->has_main &&
	    s->objects.object[new.object].kind == OBJECT_FILE)
		new.is_main = space->has_main = true;
	const struct mapping *old = space_find(space, new.start);
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
	map(s, space, new);
}

/*
 * Code that the kernel made is mapped as "[bpf]", in the kernel's space.  What
 * it took away stays, until other code comes there: samples may be late.
 */
static void follow_ksymbol(struct spaces *s, const struct ksymbol_record *k)
{
	const struct mmap_record m = { .start = k->start, .size = k->size, .path = "[bpf]" };

	if (k->unregister || k->size == 0)
		return;
	map(s, &s->kernel, (struct mapping){
		.start = k->start, .end = k->start + k->size, .file_offset = k->start,
		.object = objects_add(&s->objects, &m, true) });
}

static uint32_t find_thread(const struct spaces *s, pid_t tid)
{
	struct table_probe probe = table_probe(&s->thread_table, hash_u64((uint32_t)tid));
	uint32_t id;

	while ((id = table_next(&s->thread_table, &probe)) != TABLE_NONE)
		if (s->thread[id].tid == tid)
			break;
	return id;
}

static void name_thread(struct spaces *s, pid_t tid, uint32_t name)
{
	uint32_t id = find_thread(s, tid);

	if (id == TABLE_NONE) {
		id = s->threads++;
		s->thread = array_grow(s->thread, id, sizeof(*s->thread));
		table_add(&s->thread_table, hash_u64((uint32_t)tid), id);
	}
	s->thread[id] = (struct thread){ .tid = tid, .name = name };
}

uint32_t spaces_thread_name(const struct spaces *s, pid_t tid)
{
	uint32_t id = find_thread(s, tid);

	return id == TABLE_NONE ? 0 : s->thread[id].name;
}

static void follow_comm(struct spaces *s, const struct comm_record *c)
{
	if (c->exec)
		clear_space(s, &add_process(s, c->pid)->space);
	name_thread(s, c->tid, intern_text(&s->names, c->name));
}

/* A thread has its parent's name; a process its parent's mappings as well. */
static void follow_fork(struct spaces *s, const struct task_record *t)
{
	if (t->pid != t->parent_pid) {
		add_process(s, t->pid);		/* may move the array: parents are found after it */
		uint32_t parent = find_process(s, t->parent_pid);
		struct process *child = add_process(s, t->pid);
		/*
		 * A child that was listed from /proc before its parent's mappings
		 * came has its own already.
		 */
		if (parent != TABLE_NONE && (child->ended || child->space.code.count == 0))
			copy_space(s, &child->space, &s->process[parent].space);
		child->space.parent = t->parent_pid;
		child->ended = false;
	}
	uint32_t name = spaces_thread_name(s, t->parent_tid);
	if (name)
		name_thread(s, t->tid, name);
}

/* Samples that were on their way may still come: what it mapped stays until its pid is reused. */
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
	bool good = true;

	switch (rec->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		good = record_mmap(rec, &mmap);
		if (good)
			follow_mmap(s, rec, &mmap);
		break;
	case PERF_RECORD_COMM:
		good = record_comm(rec, &comm);
		if (good && !is_guest(rec))
			follow_comm(s, &comm);
		break;
	case PERF_RECORD_FORK:
		good = record_task(rec, &task);
		if (good && !is_guest(rec))
			follow_fork(s, &task);
		break;
	case PERF_RECORD_EXIT:
		good = record_task(rec, &task);
		if (good && !is_guest(rec))
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
			objects_tell(&s->objects, &build_id);
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
	return &s->process[id].space;
}

void spaces_release(struct spaces *s)
{
	for (uint32_t i = 0; i < s->processes; i++)
		clear_space(s, &s->process[i].space);
	clear_space(s, &s->kernel);
	clear_space(s, &s->guest);
	free(s->process);
	free(s->thread);
	objects_release(&s->objects);
	table_release(&s->process_table);
	table_release(&s->thread_table);
	intern_release(&s->names);
	*s = (struct spaces){ 0 };
}
