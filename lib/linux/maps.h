/* SPDX-License-Identifier: Apache-2.0 */
/* maps - the mappings of a living process, from /proc/PID/maps. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct proc_mapping {
	uint64_t start, end, file_offset;
	uint32_t major, minor;
	uint64_t inode;
	uint32_t prot;		/* PROT_* */
	uint32_t flags;		/* MAP_* */
	const char *path;	/* "" for anonymous memory; valid until the next call */
};

struct proc_maps {
	FILE *file;		/* NULL: the process has ended, or its mappings are hidden */
	char *line;
	size_t capacity;	/* bytes of LINE */
};

/* Start to read the mappings of PID. */
struct proc_maps proc_maps_open(pid_t pid);

/* Return the next mapping in *M.  False: there are no more. */
bool proc_maps_next(struct proc_maps *maps, struct proc_mapping *m);

void proc_maps_close(struct proc_maps *maps);
