/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/proc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/regular.h"
#include "linux/read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct proc_path proc_path(pid_t pid, const char *file)
{
	struct proc_path path;

	snprintf(path.text, sizeof(path.text), "/proc/%d/%s", (int)pid, file);
	return path;
}

struct proc_path proc_map_file(pid_t pid, uint64_t start, uint64_t end)
{
	struct proc_path path;

	snprintf(path.text, sizeof(path.text), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
		 start, end);
	return path;
}

struct proc_path proc_descriptor(int fd)
{
	struct proc_path path;

	snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
	return path;
}

/*
 * Without /proc, that is the path by which the kernel started this program.  Somebody may have put
 * another file there, so a process with more rights than its caller does not use it.
 */
const char *proc_own_program(void)
{
	static const char link[] = "/proc/self/exe";

	if (access(link, X_OK) == 0)
		return link;
	return getauxval(AT_SECURE) ? NULL : (const char *)(uintptr_t)getauxval(AT_EXECFN);
}

int proc_open_root(pid_t pid)
{
	return open(proc_path(pid, "root").text, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int proc_open_tmp(pid_t pid)
{
	return regular_directory_below(proc_path(pid, "root").text, "tmp");
}

char *proc_read_words(pid_t pid, const char *file, size_t *size)
{
	enum { PIECE = 1 << 16, MOST = 8 << 20 };	/* bytes; execve() takes 6 MiB at most */
	int fd = linux_open("/proc/%d/%s", (int)pid, file);
	char *words = NULL;
	ssize_t n = fd < 0 ? -1 : 1;

	*size = 0;
	for (; n > 0 && *size < MOST; *size += n > 0 ? (size_t)n : 0) {
		words = mem_resize(words, *size + PIECE + 1);
		n = read(fd, words + *size, PIECE);
	}
	descriptor_close(fd);
	if (n != 0) {
		free(words);
		return NULL;
	}
	words[*size] = '\0';
	return words;
}

bool proc_identify_root(pid_t pid, struct proc_root *root)
{
	struct stat directory, mounts;

	if (stat(proc_path(pid, "root").text, &directory) < 0 ||
	    stat(proc_path(pid, "ns/mnt").text, &mounts) < 0)
		return false;
	*root = (struct proc_root){ .mounts = mounts.st_ino, .device = directory.st_dev,
				    .inode = directory.st_ino };
	return true;
}

bool proc_same_root(const struct proc_root *a, const struct proc_root *b)
{
	return a->mounts == b->mounts && a->device == b->device && a->inode == b->inode;
}

bool proc_parse_id(const char *text, pid_t *id)
{
	char *end;

	errno = 0;
	long number = strtol(text, &end, 10);
	*id = (pid_t)number;
	return !errno && end != text && !*end && number > 0 && number <= INT_MAX;
}

static void add_id(struct proc_ids *ids, pid_t id)
{
	ids->id = array_grow(ids->id, ids->count, sizeof(*ids->id));
	ids->id[ids->count++] = id;
}

/* List the numeric names in the directory FD; close it. */
static bool list_directory(int fd, struct proc_ids *ids)
{
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	pid_t id;

	*ids = (struct proc_ids){ 0 };
	if (!directory)
		return false;
	while ((entry = readdir(directory)))
		if (proc_parse_id(entry->d_name, &id))
			add_id(ids, id);
	closedir(directory);
	return true;
}

bool proc_processes(struct proc_ids *ids)
{
	return list_directory(linux_open("/proc"), ids);
}

bool proc_threads(pid_t pid, struct proc_ids *ids)
{
	return list_directory(linux_open("/proc/%d/task", (int)pid), ids);
}

/* statm has numbers of pages: all, in memory, and those of the latter that belong to files. */
uint64_t proc_own_memory(void)
{
	unsigned long resident, shared;
	char text[128];

	if (!linux_read_text(text, sizeof(text), "/proc/self/statm") ||
	    sscanf(text, "%*u %lu %lu", &resident, &shared) != 2 || shared > resident)
		return 0;
	return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

size_t proc_unread_input(pid_t pid)
{
	int fd = linux_open("/proc/%d/fd/0", (int)pid), bytes = 0;
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode) ||
			ioctl(fd, FIONREAD, &bytes) < 0 || bytes < 0))
		bytes = 0;
	descriptor_close(fd);
	return (size_t)bytes;
}

bool proc_children(pid_t pid, pid_t tid, struct proc_ids *ids)
{
	FILE *f = linux_open_stream("/proc/%d/task/%d/children", (int)pid, (int)tid);
	int child;

	*ids = (struct proc_ids){ 0 };
	if (!f)
		return false;
	while (fscanf(f, "%d", &child) == 1)
		add_id(ids, child);
	fclose(f);
	return true;
}

bool proc_status(pid_t pid, const char *field, char *value, size_t size)
{
	size_t length = strlen(field);
	bool found = false;
	char line[256];

	FILE *f = pid ? linux_open_stream("/proc/%d/status", (int)pid)
		      : linux_open_stream("/proc/self/status");
	while (f && !found && fgets(line, sizeof(line), f)) {
		found = !strncmp(line, field, length) && line[length] == ':';
		if (found) {
			const char *start = line + length + 1;
			start += strspn(start, " \t");
			snprintf(value, size, "%.*s", (int)strcspn(start, "\n"), start);
		}
	}
	if (f)
		fclose(f);
	return found;
}

bool proc_has_signal(pid_t pid, const char *field, int number)
{
	char value[32];
	char *end;

	if (!proc_status(pid, field, value, sizeof(value)))
		return false;
	uint64_t set = strtoull(value, &end, 16);
	return end != value && *end == '\0' && set >> (number - 1) & 1;
}

pid_t proc_of_thread(pid_t tid)
{
	char value[32];
	pid_t pid;

	return proc_status(tid, "Tgid", value, sizeof(value)) && proc_parse_id(value, &pid)
		? pid : 0;
}

pid_t proc_own_id(pid_t pid)
{
	char ids[256];		/* in each pid namespace, the innermost last */
	pid_t own;

	if (!proc_status(pid, "NSpid", ids, sizeof(ids)))
		return pid;
	const char *last = strrchr(ids, '\t');
	return proc_parse_id(last ? last + 1 : ids, &own) ? own : pid;
}

/* Store the second number of FIELD of PID's status, "Uid" or "Gid", in *ID. */
static bool effective_id(pid_t pid, const char *field, unsigned int *id)
{
	char ids[64];		/* real, effective, saved, of file system */

	return proc_status(pid, field, ids, sizeof(ids)) && sscanf(ids, "%*u %u", id) == 1;
}

bool proc_effective_user(pid_t pid, uid_t *user)
{
	return effective_id(pid, "Uid", user);
}

bool proc_effective_group(pid_t pid, gid_t *group)
{
	return effective_id(pid, "Gid", group);
}

bool proc_child_has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	       info.si_pid != 0;
}

bool proc_owner(pid_t pid, uid_t *user)
{
	struct stat st;

	if (stat(proc_path(pid, "").text, &st) < 0)
		return false;
	*user = st.st_uid;
	return true;
}

/* Return what is after "PID (NAME)" in TEXT, a stat file, or NULL. */
static const char *after_name(const char *text)
{
	const char *name_end = strrchr(text, ')');

	return name_end ? name_end + 1 : NULL;
}

/*
 * Store COUNT numbers at NUMBER, from the field FIRST on, as proc(5) numbers the fields of a stat
 * file.  FIELDS is what is after the name, or NULL.  Return false if there are not so many.
 */
static bool stat_numbers(const char *fields, unsigned first, unsigned count, uint64_t *number)
{
	for (unsigned field = 3; fields && field < first; field++)
		fields = strchr(fields + 1, ' ');
	for (unsigned i = 0; i < count && fields; i++) {
		char *end;
		number[i] = strtoull(fields, &end, 10);
		fields = end > fields ? end : NULL;
	}
	return fields != NULL;
}

/*
 * Read the stat file of thread PID to TEXT.  Return what is after "PID (NAME)", or NULL: there is
 * no such thread.  It is not the file of the process, for which the kernel adds up all threads.
 */
static const char *read_stat(pid_t pid, char text[512])
{
	if (!linux_read_text(text, 512, "/proc/%d/task/%d/stat", (int)pid, (int)pid))
		return NULL;
	return after_name(text);
}

bool proc_is_zombie(pid_t pid)
{
	char text[512];
	const char *fields = read_stat(pid, text);

	return fields && !strncmp(fields, " Z", 2);
}

bool proc_start_time(pid_t pid, int64_t *time)
{
	char text[512];
	uint64_t ticks;		/* since the machine started */

	if (!stat_numbers(read_stat(pid, text), 22, 1, &ticks))
		return false;
	int64_t since = (int64_t)(ticks * 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
	*time = ((int64_t)clock_ns(CLOCK_REALTIME) - (int64_t)clock_ns(CLOCK_BOOTTIME) + since) /
		1000000000;
	return true;
}

pid_t proc_living_thread(pid_t pid)
{
	struct proc_ids threads;
	pid_t living = pid;

	if (!proc_is_zombie(pid) || !proc_threads(pid, &threads))
		return pid;
	for (size_t i = 0; i < threads.count && living == pid; i++)
		if (threads.id[i] != pid && !proc_is_zombie(threads.id[i]))
			living = threads.id[i];
	free(threads.id);
	return living;
}

bool proc_has_ended(pid_t pid)
{
	/* in this order: its parent may wait for it between the two */
	return proc_is_zombie(proc_living_thread(pid)) || (kill(pid, 0) < 0 && errno == ESRCH);
}

bool proc_cpu_used(pid_t pid, struct proc_used *used)
{
	const uint64_t tick = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t ticks[4];	/* user, kernel; the same of children that have ended */
	char text[1024];

	*used = (struct proc_used){ 0, 0 };
	if (!linux_read_text(text, sizeof(text), "/proc/%d/stat", (int)pid) ||
	    !stat_numbers(after_name(text), 14, 4, ticks))
		return false;
	*used = (struct proc_used){ tick * (ticks[0] + ticks[1]), tick * (ticks[2] + ticks[3]) };
	return true;
}

bool proc_is_kernel(pid_t pid)
{
	enum { KERNEL = 0x200000 };	/* linux/sched.h, PF_KTHREAD */
	char text[512];
	uint64_t flags;

	return stat_numbers(read_stat(pid, text), 9, 1, &flags) && flags & KERNEL;
}

bool proc_name(pid_t pid, pid_t tid, char name[PROC_NAME_SIZE])
{
	ssize_t n = linux_read(name, PROC_NAME_SIZE - 1, "/proc/%d/task/%d/comm", (int)pid,
			       (int)tid);

	name[n > 0 ? n : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
	return n > 0;
}

bool proc_is_called(pid_t pid, const char *comm)
{
	enum { COMPARED = 15 };		/* TASK_COMM_LEN, linux/sched.h, without the NUL */
	char name[PROC_NAME_SIZE];

	return proc_name(pid, pid, name) && !strncmp(name, comm, COMPARED);
}

static ssize_t read_memory(pid_t pid, uint64_t address, void *bytes, size_t size)
{
	int fd = linux_open("/proc/%d/mem", (int)pid);
	ssize_t n = fd < 0 ? -1 : pread(fd, bytes, size, (off_t)address);

	descriptor_close(fd);
	return n;
}

ssize_t proc_read_memory(pid_t pid, uint64_t address, void *bytes, size_t size)
{
	ssize_t n = read_memory(pid, address, bytes, size);
	/* Reading is faster than asking first whether PID's thread has ended. */
	pid_t living = n > 0 ? pid : proc_living_thread(pid);

	return living == pid ? n : read_memory(living, address, bytes, size);
}

bool proc_has_argument(pid_t pid, const char *text)
{
	char line[16385];
	ssize_t size = linux_read(line, sizeof(line) - 1, "/proc/%d/cmdline", (int)pid);

	if (size <= 0)
		return false;
	line[size] = '\0';
	for (const char *at = line; at < line + size; at += strlen(at) + 1)
		if (!strcmp(at, text))
			return true;
	return false;
}
