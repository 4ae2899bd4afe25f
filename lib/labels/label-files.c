/* SPDX-License-Identifier: Apache-2.0 */
#include "labels/label-files.h"
#include "base/arena.h"
#include "base/clock.h"
#include "elf/section.h"
#include "relay/helper-rights.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	FILES_MAX = 4096,		/* known files; beyond that, all are forgotten */
	READ_SECONDS = 2,		/* CPU time of a reader */
	READ_SECONDS_MAX = 20,		/* time of a reader: a file system may hang */
	LOOK_NS = 200000,		/* between checks of readers for which we wait */
	KILLED_NS = 2000000000,		/* for a killed reader to disappear */
};

/* The reader's main function: write the layout of the file FD to RESULT. */
__attribute__((noreturn))
static void be_reader(struct label_files *f, int fd, uint64_t file_offset,
		      struct label_layout *result)
{
	struct report report = { .tool = "pmu-sample", .quiet = true };
	struct rlimit time = { READ_SECONDS, READ_SECONDS }, core = { 0, 0 };
	struct elf_segment segment;
	const char *why;

	setrlimit(RLIMIT_CPU, &time);
	setrlimit(RLIMIT_CORE, &core);
	for (size_t i = 0; i < LABEL_READERS; i++)	/* unmap the results of other readers */
		if (f->reader[i].result && f->reader[i].result != result)
			munmap(f->reader[i].result, sizeof(*result));
	if (!helper_drop_rights(f->target, fd, "pmu-labels", &report))
		_exit(1);
	struct elf *elf = elf_open(fd, &why);
	if (!elf || elf_is_swapped(elf) || !elf_segment(elf, file_offset, &segment))
		_exit(1);
	result->code_delta = segment.address - segment.file_offset;
	result->is_musl = elf_links_by_musl(elf);
	result->otel = elf_thread_variable(elf, "otel_thread_ctx_v1");
	result->custom = elf_thread_variable(elf, "custom_labels_current_set");
	result->go = go_labels_find(elf);
	result->is_read = !elf_is_cut(elf);
	_exit(0);
}

static bool is_same(const struct label_file *a, const struct label_file *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed == b->changed && a->file_offset == b->file_offset;
}

static uint64_t hash_of(const struct label_file *file)
{
	return hash_more(hash_more(hash_u64(file->inode), file->device), file->file_offset);
}

static struct label_file *find(const struct label_files *f, const struct label_file *file)
{
	uint32_t id = TABLE_FIND(&f->table, hash_of(file), i, is_same(&f->file[i], file));

	return id == TABLE_NONE ? NULL : &f->file[id];
}

static void remember(struct label_files *f, const struct label_file *file)
{
	if (f->files == FILES_MAX) {
		table_release(&f->table);
		f->table = (struct table){ 0 };
		f->files = 0;
	}
	f->file = array_grow(f->file, f->files, sizeof(*file));
	f->file[f->files] = *file;
	table_add(&f->table, hash_of(file), (uint32_t)f->files++);
}

/* Map memory for the result of R, which it shares with its process. */
static bool map_result(struct label_reader *r)
{
	if (!r->result) {
		void *memory = mmap(NULL, sizeof(*r->result), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			return false;
		r->result = memory;
	}
	*r->result = (struct label_layout){ 0 };
	return true;
}

/* Let R, which is idle, read FILE, which is open as FD.  False: its process cannot be started. */
static bool start(struct label_files *f, struct label_reader *r, const struct label_file *file,
		  int fd)
{
	if (!map_result(r))
		return false;
	r->file = *file;
	r->deadline = monotonic_ns() + READ_SECONDS_MAX * 1000000000ULL;
	r->pid = fork();
	if (r->pid == 0)
		be_reader(f, fd, file->file_offset, r->result);
	if (r->pid < 0)
		r->pid = 0;
	return r->pid > 0;
}

/* If the process of R, which was busy, has ended, remember its result, and return true. */
static bool finish(struct label_files *f, struct label_reader *r)
{
	int status;

	pid_t ended = waitpid(r->pid, &status, WNOHANG);
	if (ended == 0 || (ended < 0 && errno == EINTR)) {
		if (monotonic_ns() > r->deadline)
			kill(r->pid, SIGKILL);
		return false;
	}
	r->pid = 0;
	/* The result is not trusted: make the version, which is printed, a printable string. */
	r->file.layout = *r->result;
	if (ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
		r->file.layout = (struct label_layout){ 0 };
	char *version = r->file.layout.go.version;
	version[sizeof(r->file.layout.go.version) - 1] = '\0';
	for (; *version; version++)
		if (*version < ' ' || *version > '~')
			*version = '?';
	remember(f, &r->file);
	return true;
}

/* Read FILE, which is open as FD, unless it is being read, or all readers are busy. */
static void read_file(struct label_files *f, const struct label_file *file, int fd)
{
	struct label_reader *idle = NULL;

	for (size_t i = 0; i < LABEL_READERS; i++) {
		struct label_reader *r = &f->reader[i];
		if (!r->pid)
			idle = r;
		else if (is_same(&r->file, file))
			return;
	}
	if (idle && !start(f, idle, file, fd))
		remember(f, file);
}

enum label_answer label_files_find(struct label_files *f, int fd, uint64_t file_offset,
				   const struct label_layout **layout)
{
	struct label_file file = { 0 }, *known;
	struct stat st;

	if (fd < 0)
		return LABEL_ANSWER_NONE;
	if (fstat(fd, &st) < 0) {
		close(fd);
		return LABEL_ANSWER_NONE;
	}
	file = (struct label_file){
		.device = st.st_dev, .inode = st.st_ino, .size = st.st_size,
		.changed = st.st_ctim.tv_sec * 1000000000LL + st.st_ctim.tv_nsec,
		.file_offset = file_offset,
	};
	known = find(f, &file);
	if (!known) {
		read_file(f, &file, fd);
		known = find(f, &file);
	}
	close(fd);
	*layout = known ? &known->layout : NULL;
	return known ? LABEL_ANSWER_LAYOUT : LABEL_ANSWER_LATER;
}

/*
 * Take the results of readers that have ended, and return their number.  Set *BUSY if others run.
 */
static size_t finish_all(struct label_files *f, bool *busy)
{
	size_t ended = 0;

	*busy = false;
	for (size_t i = 0; i < LABEL_READERS; i++)
		if (f->reader[i].pid) {
			bool has_ended = finish(f, &f->reader[i]);
			ended += has_ended;
			*busy |= !has_ended;
		}
	return ended;
}

bool label_files_wait(struct label_files *f, uint64_t until)
{
	struct timespec pause = { .tv_nsec = LOOK_NS };
	bool busy;

	for (;;) {
		if (finish_all(f, &busy))
			return true;
		if (!busy || monotonic_ns() >= until)
			return false;
		nanosleep(&pause, NULL);
	}
}

void label_files_close(struct label_files *f)
{
	uint64_t until = monotonic_ns() + KILLED_NS;

	for (size_t i = 0; i < LABEL_READERS; i++)
		if (f->reader[i].pid)
			kill(f->reader[i].pid, SIGKILL);
	while (label_files_wait(f, until))	/* a file system may keep even a killed process */
		;
	for (size_t i = 0; i < LABEL_READERS; i++)
		if (f->reader[i].result)
			munmap(f->reader[i].result, sizeof(*f->reader[i].result));
	free(f->file);
	table_release(&f->table);
	*f = (struct label_files){ 0 };
}
