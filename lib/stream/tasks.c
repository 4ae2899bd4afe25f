/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/tasks.h"
#include "base/oldest.h"

#include <stdlib.h>

enum {
	TICK_RECORDS = 1 << 14,	/* records per tick if the stream marks no rounds */
	LATE = 3,		/* ticks from a thread's EXIT until it is forgotten */
	SILENT = 600,		/* ticks from a guessed thread's last sample until it is dropped */
	GUESSES_MAX = 1 << 14,	/* guessed threads at a time */
	FEW_NAMES = 1 << 12,
};

static uint64_t hash_of(pid_t tid)
{
	return hash_u64((uint32_t)tid);
}

static struct task *find(const struct tasks *t, pid_t tid)
{
	uint32_t id = TABLE_FIND(&t->table, hash_of(tid), i, t->task[i].tid == tid);

	return id == TABLE_NONE ? NULL : &t->task[id];
}

static struct task *find_or_add(struct tasks *t, pid_t tid)
{
	struct task *known = find(t, tid);

	if (known) {
		known->seen = t->tick;
		return known;
	}
	t->task = array_grow(t->task, t->count, sizeof(*t->task));
	t->task[t->count] = (struct task){ .tid = tid, .pid = tid, .seen = t->tick };
	table_add(&t->table, hash_of(tid), t->count);
	return &t->task[t->count++];
}

static void mark_end(struct tasks *t, struct task *task)
{
	task->ended = true;
	task->end = t->tick;
	t->end = array_grow(t->end, t->ends, sizeof(*t->end));
	t->end[t->ends++] = (struct task_end){ task->tid, t->tick };
}

/* TASK leaves its process: count down the other threads of the process's first thread. */
static void leave_process(struct tasks *t, const struct task *task)
{
	struct task *first = task->tid == task->pid ? NULL : find(t, task->pid);

	if (first && first->others > 0 && --first->others == 0 && first->ended)
		mark_end(t, first);
}

/* Return thread TID, now of process PID; add it if new.  Valid until a thread is added. */
static struct task *task_of(struct tasks *t, pid_t tid, pid_t pid)
{
	struct task *task = find_or_add(t, tid);

	if (task->pid == pid)
		return task;
	leave_process(t, task);
	task->pid = pid;
	if (pid != tid)
		find_or_add(t, pid)->others++;
	return find(t, tid);
}

/* Move TASK to the list FORGOTTEN; the last task of the array takes its place. */
static void forget(struct tasks *t, struct task *task)
{
	uint32_t id = (uint32_t)(task - t->task), last = --t->count;

	t->guesses -= task->guessed;
	leave_process(t, task);
	t->forgotten = array_grow(t->forgotten, t->forgotten_count, sizeof(*t->forgotten));
	t->forgotten[t->forgotten_count++] = *task;
	table_remove(&t->table, hash_of(task->tid), id);
	if (id == last)
		return;
	table_remove(&t->table, hash_of(t->task[last].tid), last);
	*task = t->task[last];
	table_add(&t->table, hash_of(task->tid), id);
}

/*
 * There are too many threads: of those that may be forgotten, forget the quarter that has not been
 * seen for the longest time.  A first thread stays while its process has others.
 */
static void forget_silent(struct tasks *t)
{
	uint64_t *seen = mem_resize(NULL, t->count * sizeof(*seen));
	size_t count = 0;

	for (uint32_t i = 0; i < t->count; i++)
		if (t->task[i].others == 0)
			seen[count++] = t->task[i].seen;
	uint64_t last = oldest_quarter(seen, count);
	free(seen);
	for (uint32_t i = t->count; i-- > 0; )
		if (t->task[i].others == 0 && t->task[i].seen <= last) {
			forget(t, &t->task[i]);
			t->silenced++;
		}
}

/* If there are many names, keep only those of known threads. */
static void forget_names(struct tasks *t)
{
	struct intern past = t->names;

	if (past.count <= (t->names_limit ? t->names_limit : FEW_NAMES))
		return;
	t->names = (struct intern){ 0 };
	for (uint32_t i = 0; i < t->count; i++)
		if (t->task[i].name)
			t->task[i].name = intern_text(&t->names, past.text[t->task[i].name]);
	intern_release(&past);
	t->names_limit = t->names.count < FEW_NAMES / 2 ? FEW_NAMES
			 : t->names.count < NAMES_MAX / 4 ? 2 * t->names.count : NAMES_MAX / 2;
	t->renumbered++;
}

/* A tick ends: forget threads whose EXIT was LATE ticks ago. */
static void tick(struct tasks *t)
{
	t->tick++;
	t->records = 0;
	forget_names(t);
	while (t->first_end < t->ends && t->end[t->first_end].tick + LATE <= t->tick) {
		const struct task_end *end = &t->end[t->first_end++];
		struct task *task = find(t, end->tid);
		/* The tid may have been reused, and other threads of the process may be alive. */
		if (!task || !task->ended || task->end != end->tick || task->others > 0)
			continue;
		if (task->guessed && t->tick < task->seen + SILENT)
			mark_end(t, task);
		else
			forget(t, task);
	}
	if (t->first_end == 0 || t->first_end < t->ends - t->first_end)
		return;
	t->ends -= t->first_end;
	memmove(t->end, t->end + t->first_end, t->ends * sizeof(*t->end));
	t->first_end = 0;
}

static uint32_t name_id(struct tasks *t, const char *name)
{
	if (t->names.count < NAMES_MAX)
		return intern_text(&t->names, name);
	uint32_t id = intern_find(&t->names, name);
	t->nameless += id == TABLE_NONE;
	return id == TABLE_NONE ? 0 : id;
}

/* Return thread TID of process PID, which a record names. */
static struct task *recorded(struct tasks *t, pid_t tid, pid_t pid)
{
	struct task *task = task_of(t, tid, pid);

	if (task->guessed) {
		t->guesses--;
		task->guessed = task->ended = false;
	}
	return task;
}

static void follow_comm(struct tasks *t, const struct comm_record *c)
{
	struct task *task = recorded(t, c->tid, c->pid);

	task->name = name_id(t, c->name);
	task->ended &= !c->exec;	/* exec by another thread reuses this tid after an EXIT */
}

/* A new thread has the name of the thread that creates it. */
static void follow_fork(struct tasks *t, const struct task_record *r)
{
	uint32_t name = tasks_name(t, r->parent_tid);
	struct task *task = recorded(t, r->tid, r->pid);

	if (name || task->ended)
		task->name = name;
	task->ended = false;
}

bool tasks_follow(struct tasks *t, const struct record *rec)
{
	uint16_t mode = rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	bool is_guest = mode == PERF_RECORD_MISC_GUEST_KERNEL ||
			mode == PERF_RECORD_MISC_GUEST_USER;
	struct comm_record comm;
	struct task_record task;
	bool good = true;

	t->forgotten_count = 0;
	if (t->count >= TASKS_MAX)
		forget_silent(t);
	switch (rec->type) {
	case PERF_RECORD_COMM:
		good = record_comm(rec, &comm);
		if (good && !is_guest)
			follow_comm(t, &comm);
		break;
	case PERF_RECORD_FORK:
		good = record_task(rec, &task);
		if (good && !is_guest)
			follow_fork(t, &task);
		break;
	case PERF_RECORD_EXIT:
		good = record_task(rec, &task);
		if (good && !is_guest)
			mark_end(t, recorded(t, task.tid, task.pid));
		break;
	}
	if (rec->type == RECORD_FINISHED_ROUND || ++t->records == TICK_RECORDS)
		tick(t);
	return good;
}

/*
 * Add thread TID, whose FORK record was lost and which only samples show.  Its process must not be
 * forgotten when the first thread ends.
 */
static void guess(struct tasks *t, pid_t pid, pid_t tid)
{
	if (tid == pid || t->guesses == GUESSES_MAX || !find(t, pid))
		return;
	struct task *task = task_of(t, tid, pid);
	task->guessed = true;
	t->guesses++;
	mark_end(t, task);
}

void tasks_sampled(struct tasks *t, pid_t pid, pid_t tid)
{
	struct task *task = find(t, tid);

	if (!task)
		guess(t, pid, tid);
	else
		task->seen = t->tick;
}

bool tasks_has(const struct tasks *t, pid_t tid)
{
	return find(t, tid) != NULL;
}

void tasks_end(struct tasks *t, bool (*ended)(const void *context, pid_t pid),
	       const void *context)
{
	for (uint32_t i = 0; i < t->count; i++)
		if ((!t->task[i].ended || t->task[i].guessed) &&
		    ended(context, t->task[i].pid))
			mark_end(t, recorded(t, t->task[i].tid, t->task[i].pid));
}

uint32_t tasks_name(const struct tasks *t, pid_t tid)
{
	struct task *task = find(t, tid);

	if (task)
		task->seen = t->tick;
	return task ? task->name : 0;
}

const char *tasks_name_text(const struct tasks *t, pid_t tid)
{
	uint32_t name = tasks_name(t, tid);

	return name ? t->names.text[name] : "";
}

void tasks_release(struct tasks *t)
{
	free(t->task);
	free(t->forgotten);
	free(t->end);
	table_release(&t->table);
	intern_release(&t->names);
	*t = (struct tasks){ 0 };
}
