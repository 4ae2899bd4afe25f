/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locate - find and open the file that a mapping means, and those with its
 * debug information.
 *
 * Whatever is found is held against what is known of it: the build ID, or
 * else the inode; for a debug file the build ID or the link's checksum.  A
 * file that disagrees is never used.
 */
#pragma once
#include "base/command.h"
#include "elf/pool.h"
#include "locate/fetch.h"
#include "process/space.h"

#include <limits.h>
#include <sys/types.h>

/* Where else to look.  Zero-initialised: only where files are by default. */
struct locate_options {
	const char *sysroot;		/* of the recorded machine's files, in front of each path */
	const char *build_id_map;	/* a file of lines "BUILDID PATH" */
	const struct command_list *debug_dirs;	/* besides /usr/lib/debug, before it */
	const char *build_id_dir;	/* perf's cache of files; NULL: ~/.debug */
	struct fetcher *fetcher;	/* of what is not here; NULL: nothing is fetched */
	struct elf_pool *pool;		/* to open files in; NULL: each by itself */
};

enum locate_result {
	LOCATED,
	LOCATE_ABSENT,		/* no such file, or not to be read */
	LOCATE_NO_ELF,		/* it is no ELF file */
	LOCATE_OTHER_BUILD,	/* its build ID is not the one recorded */
	LOCATE_OTHER_FILE,	/* its inode is not the one recorded */
	LOCATE_CHANGED,		/* changed since, and what was mapped is no longer in it */
	/* recorded elsewhere, and no build ID tells whether it is the one */
	LOCATE_UNSURE,
};

/* A file found, or why not. */
struct located {
	enum locate_result result;
	struct elf *elf;	/* NULL: not found */
	char *root;		/* the directory its path is below, for the caller to free */
};

/*
 * Open OBJECT, which process PID maps at M.  IS_LOCAL: it was recorded on this
 * machine.  While the process lives its own mapping is opened, whatever has
 * become of the path.
 */
struct located locate_object(const struct locate_options *where, const struct object *object,
			     pid_t pid, const struct mapping *m, bool is_local);

/* Where *L was not located: look for OBJECT by its build ID alone, which may take long. */
void locate_elsewhere(const struct locate_options *where, const struct object *object,
		      struct located *l);

/*
 * The path of what perf keeps as NAME ("elf", "debug", "kallsyms") of the file or
 * kernel with this build ID (see perf-buildid-cache(1)); false: it keeps none.
 */
bool locate_kept(const struct locate_options *where, const uint8_t *id, size_t size,
		 const char *name, char path[PATH_MAX]);

/*
 * Open the file with ELF's debug information, kept apart from it: by build ID,
 * or by its .gnu_debuglink.  PATH: ELF's own, below ROOT.  NULL: there is none.
 */
struct elf *locate_debug(const struct locate_options *where, struct elf *elf, const char *path,
			 const char *root);

/* Whether ELF has debug information, or locate_debug() finds it without fetching it. */
bool locate_has_debug(const struct locate_options *where, struct elf *elf, const char *path,
		      const char *root);

/*
 * Open what DEBUG shares its debug information with (.gnu_debugaltlink, or
 * .debug_sup of DWARF 5, see dwz(1)); NULL: it is not here, and *NAME is its path
 * as DEBUG has it, or *NAME is NULL, for there is nothing to share.
 */
struct elf *locate_alternate(const struct locate_options *where, struct elf *debug,
			     const char *root, const char **name);

/*
 * Open the kernel with its debug information, of this build ID and RELEASE (as
 * of uname -r), where distributions put it; NULL: it is not here.
 */
struct elf *locate_kernel(const struct locate_options *where, const uint8_t *id, size_t size,
			  const char *release);

/*
 * Open the file with the debug information of the kernel module that PATH ("[ext4]", or a
 * file's path) means, of this build ID, in a kernel RELEASE; NULL: it is not here.
 */
struct elf *locate_module(const struct locate_options *where, const char *path,
			  const uint8_t *id, size_t size, const char *release);

/* Is the file at PATH, or "[ext4]", this MODULE, "[ext4]"?  In names of files '-' is '_'. */
bool locate_is_module(const char *path, const char *module);

/* The package of split units beside PATH ("PATH.dwp"), or NULL. */
struct elf *locate_package(const struct locate_options *where, const char *path,
			   const char *root);

/*
 * A regular ELF file, read-only; NULL: there is none.  ROOT: the root directory
 * of who knows it by PATH; "": ours.
 */
struct elf *locate_elf(const struct locate_options *where, const char *root, const char *path);

/* "no such file", ...: why it was not LOCATED. */
const char *locate_reason(enum locate_result result);

/* "; do this": what would have kept OBJECT where it can be located; "": no idea. */
const char *locate_advice(const struct object *object, enum locate_result result);
