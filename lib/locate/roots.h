/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roots - the root directories of processes in mount namespaces or root directories of their own.
 *
 * A process in a container may have ended when its records are read, and /proc/PID/root with it.
 * So the root directory of each process that can be asked is noted when its first record is read:
 * the directory is opened once for all processes that share it, and a child has its parent's until
 * it says otherwise.  So a process that lived for a moment has the root of its parent, or one that
 * any process of the same namespace showed before.
 *
 * These are guesses.  A file from such a root must have the recorded build ID, or else the recorded
 * device and inode.
 */
#pragma once
#include "linux/proc.h"
#include "record/record.h"

struct locate_roots;

struct locate_roots *locate_roots_new(void);

/* Follow REC, of a stream that was recorded on this machine: FORK, COMM and MMAP name processes. */
void locate_roots_follow(struct locate_roots *r, const struct record *rec);

/*
 * Set *ROOT to a path of the root directory that process PID had.  Return false if it is unknown or
 * ours.  The path is valid for a minute after the last call that returned it, unless very many
 * other roots come.  R may be NULL.
 */
bool locate_roots_find(struct locate_roots *r, pid_t pid, struct proc_path *root);

void locate_roots_free(struct locate_roots *r);
