/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/maps.h"
#include "linux/proc.h"
#include "linux/read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct proc_maps proc_maps_open(pid_t pid)
{
	pid = proc_living_thread(pid);
	return (struct proc_maps){ .file = linux_open_stream("/proc/%d/maps", (int)pid) };
}

/* Parse "START-END PERMS OFFSET MAJOR:MINOR INODE   PATH" (proc(5)).  False: malformed. */
static bool parse(char *line, struct proc_mapping *m)
{
	char perms[5];
	int path;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &m->start, &m->end, perms, &m->file_offset, &m->major, &m->minor,
		   &m->inode, &path) != 7)
		return false;
	m->prot = (perms[0] == 'r' ? PROT_READ : 0) | (perms[1] == 'w' ? PROT_WRITE : 0) |
		  (perms[2] == 'x' ? PROT_EXEC : 0);
	m->flags = perms[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	line[strcspn(line, "\n")] = '\0';
	m->path = line + path;
	return true;
}

bool proc_maps_next(struct proc_maps *maps, struct proc_mapping *m)
{
	while (maps->file && getline(&maps->line, &maps->capacity, maps->file) > 0)
		if (parse(maps->line, m))
			return true;
	return false;
}

void proc_maps_close(struct proc_maps *maps)
{
	if (maps->file)
		fclose(maps->file);
	free(maps->line);
	*maps = (struct proc_maps){ 0 };
}
