/* SPDX-License-Identifier: Apache-2.0 */
#include "labels/label-targets.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/regular.h"
#include "labels/bpf.h"
#include "labels/label-options.h"
#include "linux/maps.h"
#include "linux/proc.h"
#include "record/label-payload.h"
#include "target/go-program.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
	TARGETS_MAX = 16384,		/* processes in the map */
	TRIES_MAX = 11,			/* until a program is linked: a second */
	TRY_NS = 1000000,		/* from the first try to the second; then twice as long */
	BUSY_NS = 1000000,		/* until a reader of files is asked again; then longer */
	BUSY_DOUBLED_MAX = 4,		/* how often that time is doubled */
	WAITING_MAX = 65536,
	OUTDATED = 1 << 16,		/* most machines have no higher process ids */
};

/* Longest time to look up one process of the target, in ns. */
#define START_NS 30000000000ULL

/* What is known about a process so far. */
struct label_process {
	struct label_target target;
	struct go_labels go;		/* of its program */
	bool is_known;			/* its program was read */
	bool is_musl;			/* its C library */
	/*
	 * It has just been started: its program is not mapped yet, or a word that locates a
	 * variable has no value yet.
	 */
	bool is_starting;
};

bool label_targets_make_map(struct label_targets *t)
{
	t->map = bpf_map_new(BPF_MAP_TYPE_HASH, sizeof(uint32_t), sizeof(struct label_target),
			     TARGETS_MAX);
	if (t->map >= 0)
		return true;
	t->map = 0;
	return false;
}

static void add_waiting(struct label_targets *t, struct label_waiting waiting)
{
	uint64_t hash = hash_u64((uint32_t)waiting.pid);
	uint32_t at = TABLE_FIND(&t->wait_of, hash, i, t->waiting[i].pid == waiting.pid);

	if (at != TABLE_NONE)
		t->waiting[at] = waiting;	/* the process is looked up earlier */
	if (at != TABLE_NONE || t->waiting_count == WAITING_MAX)
		return;
	t->waiting = array_grow(t->waiting, t->waiting_count, sizeof(waiting));
	t->waiting[t->waiting_count] = waiting;
	table_add(&t->wait_of, hash, t->waiting_count++);
}

void label_targets_add(struct label_targets *t, pid_t pid)
{
	add_waiting(t, (struct label_waiting){ .pid = pid });
}

static uint32_t *outdated_of(struct label_targets *t, pid_t pid)
{
	if (!t->outdated)
		t->outdated = mem_zeroed(OUTDATED, sizeof(*t->outdated));
	return &t->outdated[(uint32_t)pid % OUTDATED];
}

/* Remove PID from the map: its labels are unknown from now on. */
static void forget(struct label_targets *t, pid_t pid)
{
	uint32_t key = (uint32_t)pid;

	bpf_map_remove(t->map, &key);
}

/*
 * A record says that the entry of process PID is outdated.  The program in the kernel did not know
 * that yet, so the labels that it wrote after this record are wrong.
 */
static void end_edition(struct label_targets *t, pid_t pid)
{
	*outdated_of(t, pid) = t->edition;
	forget(t, pid);
}

/* Put TARGET, the entry of process PID, into the map. */
static void add_edition(struct label_targets *t, pid_t pid, struct label_target *target)
{
	uint32_t key = (uint32_t)pid, *outdated = outdated_of(t, pid);

	target->edition = ++t->edition;
	if ((int32_t)(t->edition - *outdated) <= 0)	/* the numbers have wrapped around */
		*outdated = t->edition - 1;
	bpf_map_set(t->map, &key, target);
}

bool label_targets_knew(struct label_targets *t, pid_t pid, uint32_t edition)
{
	if ((int32_t)(edition - *outdated_of(t, pid)) > 0)
		return true;
	/*
	 * Perhaps only another process with these bits has changed: the next edition is valid
	 * again.
	 */
	label_targets_add(t, pid);
	return false;
}

/* Return whether the map says that process PID has nothing that can be read. */
static bool is_outside(const struct label_targets *t, pid_t pid)
{
	uint32_t key = (uint32_t)pid;
	struct label_target known;

	return bpf_map_get(t->map, &key, &known) && known.otherwise == LABEL_STATUS_OUTSIDE;
}

/* COMM, FORK, EXIT, MMAP2, linux/perf_event.h: u32 pid, and tid or the parent; FORK, EXIT: u32
   tid, parent's tid. */
void label_targets_follow(struct label_targets *t, const struct perf_event_header *record)
{
	struct mmap_record m;
	struct record rec;
	uint32_t word[4] = { 0 };

	size_t body = record->size - sizeof(*record);
	memcpy(word, record + 1, body < sizeof(word) ? body : sizeof(word));
	switch (record->type) {
	case PERF_RECORD_COMM:
		if (!(record->misc & PERF_RECORD_MISC_COMM_EXEC))
			return;
		end_edition(t, (pid_t)word[0]);
		break;
	case PERF_RECORD_FORK:
		if (word[0] == word[1])		/* a thread */
			return;
		end_edition(t, (pid_t)word[0]);	/* the EXIT of a process with this id may be lost */
		break;
	case PERF_RECORD_EXIT:
		if (word[0] == word[2])		/* other threads may still end */
			forget(t, (pid_t)word[0]);
		return;
	case PERF_RECORD_MMAP2:
		record_frame(&rec, (const uint8_t *)record, false);
		if (!record_mmap(&rec, &m) || !m.executable || m.path[0] != '/')
			return;
		if (is_outside(t, (pid_t)word[0]))	/* a new library may have labels */
			end_edition(t, (pid_t)word[0]);
		break;
	default:
		return;
	}
	label_targets_add(t, (pid_t)word[0]);
}

/* Return whether VALUE can be an offset from the thread pointer set by a dynamic linker. */
static bool is_static_offset(uint64_t value)
{
	enum { MOST = 1 << 24 };	/* bytes */
#ifdef __aarch64__
	return value > 0 && value < MOST;
#else
	return -value > 0 && -value < MOST;
#endif
}

static struct label_variable at_offset(uint64_t offset)
{
	return (struct label_variable){ .place = LABEL_PLACE_STATIC, .offset = offset };
}

static struct label_variable in_module(uint64_t module, uint64_t offset)
{
	return (struct label_variable){ .place = LABEL_PLACE_MODULE, .module = module,
					.offset = offset };
}

/* Return the place of V in process PID; V's word is at BIAS plus its value. */
static struct label_variable resolve(struct label_process *p, pid_t pid,
				     const struct thread_variable *v, uint64_t bias)
{
	struct label_variable nowhere = { .place = LABEL_PLACE_NONE };
	uint64_t word[2] = { 0 }, module[2];
	ssize_t size = v->place == THREAD_OFFSET_WORD ? sizeof(*word) : sizeof(word);

	if (proc_read_memory(pid, bias + v->value, word, (size_t)size) < size)
		return nowhere;
	switch (v->place) {
	case THREAD_OFFSET_WORD:
		p->is_starting |= !word[0];
		return is_static_offset(word[0]) ? at_offset(word[0]) : nowhere;
	case THREAD_MODULE_WORDS:
		p->is_starting |= !word[0];
		return word[0] && word[0] < UINT32_MAX ? in_module(word[0], word[1]) : nowhere;
	case THREAD_DESCRIPTOR:
		p->is_starting |= !word[1];
		if (is_static_offset(word[1]))
			return at_offset(word[1]);
		/*
		 * glibc, struct tlsdesc_dynamic_arg, and musl: the argument starts with module and
		 * offset.
		 */
		if (!word[1] || proc_read_memory(pid, word[1], module, sizeof(module)) <
				(ssize_t)sizeof(module) || !module[0] || module[0] >= UINT32_MAX)
			return nowhere;
		return in_module(module[0], module[1]);
	default:
		return nowhere;
	}
}

/* If V locates a variable, store the place in *OUT.  IS_PROGRAM: the file is not a library. */
static void use_variable(struct label_process *p, pid_t pid, const struct thread_variable *v,
			 uint64_t bias, bool is_program, struct label_variable *out)
{
	if (v->place == THREAD_NOWHERE || out->place != LABEL_PLACE_NONE)
		return;
	if (v->place != THREAD_OFFSET)
		*out = resolve(p, pid, v, bias);
	else if (is_program)
		*out = at_offset(v->value);
}

/*
 * Set where V's block is found.  glibc (sysdeps/generic/dl-dtv.h): the vector has entries of two
 * words, and the one before entry 0 starts with the number of entries.  musl (ldso/dynlink.c): it
 * has entries of one word, and entry 0 is the number of entries.
 */
static void place_block(struct label_variable *v, bool is_musl)
{
#ifdef __aarch64__
	const int64_t glibc = 0, musl = -8;
#else
	const int64_t glibc = 8, musl = 8;
#endif
	v->vector = (uint64_t)(is_musl ? musl : glibc);
	v->modules = (uint64_t)(is_musl ? 0 : -16LL);
	v->block = v->module * (is_musl ? 8 : 16);
}

/* Store the offset from the thread pointer to the goroutine of process PID.  False: unknown. */
static bool find_g(struct label_process *p, pid_t pid, const struct go_labels *go, uint64_t bias)
{
	const struct thread_variable word = { THREAD_OFFSET_WORD, go->g_word };

	p->target.g = go->g_word ? resolve(p, pid, &word, bias) : at_offset((uint64_t)go->g);
	return p->target.g.place != LABEL_PLACE_NONE;
}

/*
 * Use GO, found in a file that is mapped BIAS above its own addresses.  IS_PROGRAM: the file is
 * not a library.  A library counts only if it sets labels and the program is not a Go program.
 * Other code calls the library, so no register has the goroutine.
 */
static void use_go(struct label_process *p, pid_t pid, const struct go_labels *go, uint64_t bias,
		   bool is_program)
{
	struct label_target *t = &p->target;

	if (!is_program && (p->go.state != GO_LABELS_ABSENT || go->state == GO_LABELS_NEVER ||
			    go->in_register))
		return;
	p->go = *go;
	if (go->state == GO_LABELS_FOUND && !find_g(p, pid, go, bias))
		p->go.state = GO_LABELS_UNKNOWN;
	if (p->go.state != GO_LABELS_FOUND)
		return;
	t->form = go->is_map ? LABEL_FORM_MAP : LABEL_FORM_SLICE;
	t->in_register = go->in_register;
	t->m = go->m;
	t->curg = go->curg;
	t->gsignal = go->gsignal;
	t->labels = go->labels;
}

/* Use LAYOUT of the file of mapping M. */
static void use_layout(const struct label_targets *t, struct label_process *p, pid_t pid,
		       const struct label_layout *layout, const struct proc_mapping *m,
		       bool is_program)
{
	uint64_t bias = m->start - (m->file_offset + layout->code_delta);
	unsigned sources = t->options->sources;

	if (is_program) {
		p->is_known = layout->is_read;
		p->is_musl = layout->is_musl;
	}
	if (sources & LABEL_GO)
		use_go(p, pid, &layout->go, bias, is_program);
	if (sources & LABEL_OTEL)
		use_variable(p, pid, &layout->otel, bias, is_program, &p->target.otel);
	if (sources & LABEL_CUSTOM)
		use_variable(p, pid, &layout->custom, bias, is_program, &p->target.custom);
}

/*
 * Return whether M maps the file PROGRAM, whose path is LINK.  Devices use the same inode numbers.
 * But for some file systems, such as overlayfs and btrfs, /proc/PID/maps has another device than
 * stat().  Then the path must be the same.
 */
static bool maps_program(const struct proc_mapping *m, const struct stat *program, const char *link)
{
	return m->inode && m->inode == program->st_ino &&
	       (makedev(m->major, m->minor) == program->st_dev || !strcmp(m->path, link));
}

static bool is_same_file(const struct proc_mapping *m, const struct proc_mapping *other)
{
	return m->inode == other->inode && m->major == other->major && m->minor == other->minor;
}

/* Get the layouts of the files that PID maps.  False: files are still to be read. */
static bool look_at_files(struct label_targets *t, struct label_process *p, pid_t pid)
{
	const struct label_layout *layout;
	struct proc_maps maps = proc_maps_open(pid);
	struct proc_mapping m, last = { 0 };
	struct stat program = { 0 };
	struct proc_path path = proc_path(proc_living_thread(pid), "exe");
	char link[PATH_MAX];
	bool done = true, is_mapped = false;

	ssize_t length = readlink(path.text, link, sizeof(link) - 1);
	link[length > 0 ? length : 0] = '\0';
	if (stat(path.text, &program) < 0) {
		program.st_ino = 0;
		/*
		 * Only the kernel has no program; otherwise we may not look at the process, or it
		 * has ended.  A process that has ended must not stay in the map: its EXIT record
		 * may have been read before.
		 */
		p->is_known = pid == 0 || proc_is_kernel(pid);
	}
	while (proc_maps_next(&maps, &m)) {
		bool is_program = maps_program(&m, &program, link);
		if (!(m.prot & PROT_EXEC) || !m.inode || is_same_file(&m, &last))
			continue;
		last = m;
		is_mapped |= is_program;
		int fd = is_program ? regular_open(path.text, false)
				    : go_program_open(pid, m.path, m.inode);
		switch (label_files_find(&t->files, fd, m.file_offset, &layout)) {
		case LABEL_ANSWER_LAYOUT:
			if (done)	/* the first file counts */
				use_layout(t, p, pid, layout, &m, is_program);
			break;
		case LABEL_ANSWER_LATER:
			done = false;
			break;
		case LABEL_ANSWER_NONE:
			break;
		}
	}
	proc_maps_close(&maps);
	p->is_starting |= program.st_ino && !is_mapped;
	return done;
}

/* Report why labels of process PID are not read, if the reason is in its program. */
static void report_process(struct label_targets *t, const struct label_process *p, pid_t pid)
{
	if (p->go.state == GO_LABELS_NEVER)
		report_detail(t->report, "process %d is a Go program that never sets labels", pid);
	else if (p->go.state == GO_LABELS_UNKNOWN)
		report_note(t->report, "process %d: labels of %s are not known to this program, so "
			    "they are not recorded", pid,
			    *p->go.version ? p->go.version : "its version of Go");
}

/* Put P, what is known about process PID, into the map, or remove PID from the map. */
static void publish(struct label_targets *t, struct label_process *p, pid_t pid)
{
	bool has_variable = p->target.otel.place || p->target.custom.place;
	place_block(&p->target.otel, p->is_musl);
	place_block(&p->target.custom, p->is_musl);
	if (p->target.otel.place)
		label_names_read(&t->names, pid);
	bool can_be_read = p->target.form || has_variable;
	p->target.otherwise = can_be_read ? LABEL_STATUS_NONE : LABEL_STATUS_OUTSIDE;
	/*
	 * A program whose labels we cannot read must not be recorded as a program without labels.
	 */
	if (p->is_known && (can_be_read || p->go.state != GO_LABELS_UNKNOWN))
		add_edition(t, pid, &p->target);
	else
		forget(t, pid);
}

/*
 * Look up process PID; wait until UNTIL for its files.  False: they are still to be read; try again
 * later.
 */
static bool look_up(struct label_targets *t, pid_t pid, uint64_t until, struct label_process *p)
{
	bool done;

	label_files_wait(&t->files, 0);
	do {
		*p = (struct label_process){ 0 };
		done = look_at_files(t, p, pid);
		/* Go's labels need only one file, not the libraries that come after it. */
		if (done || p->target.form)
			publish(t, p, pid);
	} while (!done && monotonic_ns() < until && label_files_wait(&t->files, until));
	return done;
}

/* Process I need not wait any longer: P was found. */
static void finish(struct label_targets *t, uint32_t i, const struct label_process *p)
{
	struct label_waiting w = t->waiting[i];

	table_remove(&t->wait_of, hash_u64((uint32_t)w.pid), i);
	t->waiting[i].pid = -1;
	t->looked_up++;
	if (p->is_starting && w.tries + 1 < TRIES_MAX)
		add_waiting(t, (struct label_waiting){ w.pid, w.tries + 1,
						       monotonic_ns() + (TRY_NS << w.tries) });
	else if (!p->is_starting)
		report_process(t, p, w.pid);
}

/* Remove from WAITING the processes that were looked up. */
static void drop_looked_up(struct label_targets *t)
{
	uint32_t kept = 0;

	table_release(&t->wait_of);
	for (uint32_t i = 0; i < t->waiting_count; i++)
		if (t->waiting[i].pid >= 0) {
			t->waiting[kept] = t->waiting[i];
			table_add(&t->wait_of, hash_u64((uint32_t)t->waiting[kept].pid), kept);
			kept++;
		}
	t->waiting_count = kept;
	t->looked_up = t->next = 0;
}

/*
 * Look up the processes that wait, from *FIRST on, until UNTIL; wait for readers of files until
 * WAIT.  Sets *FIRST to the process to continue with; 0: all were tried.
 */
static void look_up_waiting(struct label_targets *t, uint32_t *first, uint64_t until, uint64_t wait)
{
	struct label_process p;
	uint64_t now = 0;
	uint32_t i;

	for (i = *first; i < t->waiting_count && (now = monotonic_ns()) < until; i++)
		if (t->waiting[i].pid >= 0 && t->waiting[i].due <= now &&
		    look_up(t, t->waiting[i].pid, wait, &p))
			finish(t, i, &p);
	*first = i < t->waiting_count ? i : 0;
}

/*
 * Return when to work again, ns of CLOCK_MONOTONIC, or 0: no process waits.  A process whose time
 * has come and that still waits needs a file that is being read.
 */
static uint64_t next_work(struct label_targets *t)
{
	uint64_t now = monotonic_ns(), next = UINT64_MAX;

	for (uint32_t i = 0; i < t->waiting_count && next > now; i++)
		if (t->waiting[i].pid >= 0 && t->waiting[i].due < next)
			next = t->waiting[i].due;
	if (next <= now) {
		next = now + ((uint64_t)BUSY_NS << t->doubled);
		t->doubled += t->doubled < BUSY_DOUBLED_MAX;
		return next;
	}
	t->doubled = 0;
	return next == UINT64_MAX ? 0 : next;
}

void label_targets_work(struct label_targets *t, uint64_t until)
{
	uint64_t now = monotonic_ns();
	uint32_t begin = 0;

	/*
	 * Start with processes whose files are known: these must not wait for a file that takes
	 * long to read.
	 */
	if (t->waiting_count && now < until)
		look_up_waiting(t, &t->next, now + (until - now) / 2, 0);
	if (t->waiting_count > t->looked_up)
		look_up_waiting(t, &begin, until, until);
	if (t->looked_up > t->waiting_count / 2)
		drop_looked_up(t);
	t->due = next_work(t);
}

bool label_targets_start(struct label_targets *t, const pid_t *pid, size_t pids)
{
	struct label_process p;
	bool good = true;

	for (size_t i = 0; i < pids && good; i++) {
		if (!proc_owner(pid[i], &(uid_t){ 0 }))
			continue;	/* an error when its events are opened */
		look_up(t, pid[i], monotonic_ns() + START_NS, &p);
		good = p.go.state != GO_LABELS_UNKNOWN || p.is_starting ||
		       p.target.otherwise == LABEL_STATUS_NONE;
		if (!good)
			report_error(t->report, "cannot record labels: labels of %s (process %d) "
				     "are not known to this pmu-sample",
				     *p.go.version ? p.go.version : "its version of Go", pid[i]);
		else if (!p.is_known)
			report_note(t->report, "process %d: its program cannot be read, so its "
				    "labels are not known", pid[i]);
		else if (p.go.state == GO_LABELS_NEVER)
			report_note(t->report, "process %d is a Go program that never sets labels",
				    pid[i]);
		else if (p.target.otherwise == LABEL_STATUS_OUTSIDE)
			report_note(t->report, "process %d: no Go labels, no thread context",
				    pid[i]);
		if (p.is_starting)
			label_targets_add(t, pid[i]);
	}
	return good;
}

void label_targets_close(struct label_targets *t)
{
	label_files_close(&t->files);
	label_names_release(&t->names);
	if (t->map > 0)
		close(t->map);
	free(t->waiting);
	table_release(&t->wait_of);
	free(t->outdated);
	*t = (struct label_targets){ 0 };
}
