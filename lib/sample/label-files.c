/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/label-files.h"
#include "base/arena.h"
#include "base/clock.h"
#include "elf/section.h"
#include "sample/helper-rights.h"

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
	LOOK_NS = 500000,		/* between checks of a reader for which we wait */
	KILLED_NS = 2000000000,		/* for a killed reader to disappear */
};

/* The reader's main function: write the layout of the file FD to RESULT. */
__attribute__((noreturn))
static void be_reader(const struct target *target, int fd, uint64_t file_offset,
		      struct label_layout *result)
{
	struct report report = { .tool = "pmu-sample", .quiet = true };
	struct rlimit time = { READ_SECONDS, READ_SECONDS }, core = { 0, 0 };
	struct elf_segment segment;
	const char *why;

	setrlimit(RLIMIT_CPU, &time);
	setrlimit(RLIMIT_CORE, &core);
	if (!helper_drop_rights(target, fd, "pmu-labels", &report))
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

/* Start to read FILE, which is open as FD.  False: the reader cannot be started. */
static bool start(struct label_files *f, const struct label_file *file, int fd,
		  uint64_t file_offset)
{
	if (!f->result) {
		void *memory = mmap(NULL, sizeof(*f->result), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			return false;
		f->result = memory;
	}
	*f->result = (struct label_layout){ 0 };
	f->reading = *file;
	f->deadline = monotonic_ns() + READ_SECONDS_MAX * 1000000000ULL;
	f->reader = fork();
	if (f->reader == 0)
		be_reader(f->target, fd, file_offset, f->result);
	if (f->reader < 0)
		f->reader = 0;
	return f->reader > 0;
}

/* If the reader ends by UNTIL, take its result.  Returns whether no reader runs any more. */
static bool finish(struct label_files *f, uint64_t until)
{
	struct timespec pause = { .tv_nsec = LOOK_NS };
	pid_t ended;
	int status;

	if (!f->reader)
		return true;
	while ((ended = waitpid(f->reader, &status, WNOHANG)) == 0 ||
	       (ended < 0 && errno == EINTR)) {
		uint64_t now = monotonic_ns();
		if (now > f->deadline)
			kill(f->reader, SIGKILL);
		if (now >= until)
			return false;
		nanosleep(&pause, NULL);
	}
	f->reader = 0;
	/* The result is not trusted: make the version, which is printed, a printable string. */
	f->reading.layout = *f->result;
	if (ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
		f->reading.layout = (struct label_layout){ 0 };
	char *version = f->reading.layout.go.version;
	version[sizeof(f->reading.layout.go.version) - 1] = '\0';
	for (; *version; version++)
		if (*version < ' ' || *version > '~')
			*version = '?';
	remember(f, &f->reading);
	return true;
}

enum label_answer label_files_find(struct label_files *f, int fd, uint64_t file_offset,
				   uint64_t until, const struct label_layout **layout)
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
	if (!known && finish(f, until))
		known = find(f, &file);
	if (!known && !f->reader) {
		if (!start(f, &file, fd, file_offset))
			remember(f, &file);
		else
			finish(f, until);
		known = find(f, &file);
	}
	close(fd);
	*layout = known ? &known->layout : NULL;
	return known ? LABEL_ANSWER_LAYOUT : LABEL_ANSWER_LATER;
}

void label_files_close(struct label_files *f)
{
	if (f->reader) {
		struct timespec pause = { .tv_nsec = LOOK_NS };
		uint64_t until = monotonic_ns() + KILLED_NS;
		kill(f->reader, SIGKILL);
		/* A file system that does not answer keeps even a killed process. */
		while (waitpid(f->reader, NULL, WNOHANG) == 0 && monotonic_ns() < until)
			nanosleep(&pause, NULL);
	}
	if (f->result)
		munmap(f->result, sizeof(*f->result));
	free(f->file);
	table_release(&f->table);
	*f = (struct label_files){ 0 };
}
