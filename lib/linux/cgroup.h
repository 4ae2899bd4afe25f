/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup - the processes of a cgroup (cgroups(7)). */
#pragma once
#include "linux/proc.h"

/*
 * List the processes in the cgroup whose directory has the descriptor FD, and in the cgroups below
 * it.  The caller frees IDS->id.  What cannot be read is left out.
 */
void cgroup_processes(int fd, struct proc_ids *ids);
