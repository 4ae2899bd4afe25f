/* SPDX-License-Identifier: Apache-2.0 */
/* proc - processes and threads as /proc shows them (proc(5)). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The directory that lists the descriptors of the process that opens it. */
#define PROC_OWN_DESCRIPTORS "/proc/self/fd"

/* A path by value: proc_path(pid, "exe").text is valid up to the end of its expression. */
struct proc_path {
	char text[80];
};

/* Return the path of FILE ("exe", "root") of process PID. */
struct proc_path proc_path(pid_t pid, const char *file);

/* Return the path of the link to the file that process PID maps from START to END. */
struct proc_path proc_map_file(pid_t pid, uint64_t start, uint64_t end);

/* Return the path of the link to our descriptor FD. */
struct proc_path proc_descriptor(int fd);

/* Return a path by which this process can start its own program again; NULL: there is none. */
const char *proc_own_program(void);

/*
 * Open the root directory of process PID, to look up paths in it.  Return a descriptor (O_PATH), or
 * -1: there is no such process, or it may not be asked.
 */
int proc_open_root(pid_t pid);

/*
 * Open /tmp as process PID sees it (O_PATH).  The directory stays open when the process ends, and
 * its container with it.  Return a descriptor, or -1.
 */
int proc_open_tmp(pid_t pid);

/*
 * Return FILE ("cmdline", "environ") of process PID: words of SIZE bytes together, each with a NUL
 * at its end.  NULL: there is no such process, or it may not be asked.  The caller frees.
 */
char *proc_read_words(pid_t pid, const char *file, size_t *size);

/* What makes two processes see the same files. */
struct proc_root {
	uint64_t mounts;		/* inode of the mount namespace */
	uint64_t device, inode;		/* of the root directory */
};

/* Identify the root of process PID.  False: it has ended, or may not be asked. */
bool proc_identify_root(pid_t pid, struct proc_root *root);

bool proc_same_root(const struct proc_root *a, const struct proc_root *b);

/* Ids of processes or threads, when they were listed.  The caller frees ID. */
struct proc_ids {
	pid_t *id;
	size_t count;
};

/* List all processes.  False, with errno set: failure, and IDS is empty. */
bool proc_processes(struct proc_ids *ids);

/* List the threads of process PID.  False, with errno set: failure, and IDS is empty. */
bool proc_threads(pid_t pid, struct proc_ids *ids);

/*
 * Return how many bytes of memory this process has for itself: neither files nor shared memory.
 * 0: unknown.
 */
uint64_t proc_own_memory(void);

/* Return how many bytes the pipe that is stdin of process PID holds; 0 also if this is unknown. */
size_t proc_unread_input(pid_t pid);

/* List the processes that thread TID of process PID created.  False, with errno set: failure. */
bool proc_children(pid_t pid, pid_t tid, struct proc_ids *ids);

/* Parse TEXT, the id of a process or thread, into *ID.  False: TEXT is not an id. */
bool proc_parse_id(const char *text, pid_t *id);

/*
 * Store the value of FIELD ("Tgid") of /proc/PID/status, without spaces before it, in VALUE.  PID
 * 0 is this process; a thread's id is allowed, too.  False: there is no such process or field.
 */
bool proc_status(pid_t pid, const char *field, char *value, size_t size);

/*
 * Return whether the signal NUMBER is in the set FIELD of /proc/PID/status: "ShdPnd", signals that
 * are pending for the process, or "SigIgn", signals that it ignores.
 */
bool proc_has_signal(pid_t pid, const char *field, int number);

/* Return the process of thread TID, or 0. */
pid_t proc_of_thread(pid_t tid);

/* Return the id of process PID in its own pid namespace; PID if it is unknown. */
pid_t proc_own_id(pid_t pid);

/* Store the effective user of process PID in *USER.  False: there is no such process. */
bool proc_effective_user(pid_t pid, uid_t *user);

/* The same for its effective group. */
bool proc_effective_group(pid_t pid, gid_t *group);

/* Return whether PID, a child of this process, has ended.  It can still be waited for. */
bool proc_child_has_ended(pid_t pid);

/*
 * Store the owner of /proc/PID in *USER: root if the process may not be dumped, otherwise its
 * effective user.  False: there is no such process.
 */
bool proc_owner(pid_t pid, uid_t *user);

/*
 * Store when process PID started in *TIME, seconds since 1970, rounded down.  False: there is no
 * such process.
 */
bool proc_start_time(pid_t pid, int64_t *time);

/* Return whether process PID has exited, and waits for its parent. */
bool proc_is_zombie(pid_t pid);

/*
 * Return the id under which /proc has the memory and the files of process PID: PID, or if its
 * first thread has ended before the others, the id of another thread.
 */
pid_t proc_living_thread(pid_t pid);

/* Return whether all threads of process PID have ended. */
bool proc_has_ended(pid_t pid);

/* CPU time, in ns, of a process: its own, and of the children that it has waited for. */
struct proc_used {
	uint64_t own, by_children;
};

/* Store in USED what process PID has used so far.  False: there is no such process. */
bool proc_cpu_used(pid_t pid, struct proc_used *used);

/* Return whether process PID is a worker of the kernel, which has no program. */
bool proc_is_kernel(pid_t pid);

/* The kernel's workers have longer names than TASK_COMM_LEN. */
enum { PROC_NAME_SIZE = 64 };

/* Store the name of thread TID of process PID in NAME.  False: there is no such thread. */
bool proc_name(pid_t pid, pid_t tid, char name[PROC_NAME_SIZE]);

/* Return whether process PID is called COMM.  The kernel keeps 15 bytes of a name. */
bool proc_is_called(pid_t pid, const char *comm);

/* Read SIZE bytes of PID's memory from ADDRESS.  Return how many could be read, or -1. */
ssize_t proc_read_memory(pid_t pid, uint64_t address, void *bytes, size_t size);

/* Return whether one of the first arguments of process PID, which take 16 KiB, is TEXT. */
bool proc_has_argument(pid_t pid, const char *text);
