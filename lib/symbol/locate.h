/* SPDX-License-Identifier: Apache-2.0 */
/* locate - find and open the file that a mapping means. */
#pragma once
#include "process/object.h"
#include "symbol/elf.h"

#include <sys/types.h>

enum locate_result {
	LOCATED,
	LOCATE_ABSENT,		/* no such file, or not to be read */
	LOCATE_NO_ELF,		/* it is no ELF file */
	LOCATE_OTHER_BUILD,	/* its build ID is not the one recorded */
	/* recorded elsewhere, and no build ID tells whether it is the one */
	LOCATE_UNSURE,
};

/*
 * Open OBJECT, mapped by process PID, into *ELF.  IS_LOCAL: it was recorded on
 * this machine, so that the path means the same file, in PID's own root
 * directory while it lives.
 */
enum locate_result locate_object(const struct object *object, pid_t pid, bool is_local,
				 struct elf **elf);

/*
 * Open the file with ELF's debug information, kept apart from it below
 * /usr/lib/debug by build ID; NULL: there is none.
 */
struct elf *locate_debug(const struct elf *elf);

/*
 * Open what DEBUG shares its debug information with (.gnu_debugaltlink, see
 * dwz(1)); NULL: nothing, or it is not here.
 */
struct elf *locate_alternate(struct elf *debug);

/* "no such file", ...: why it was not LOCATED. */
const char *locate_reason(enum locate_result result);
