/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locate - find and open the file that a mapping refers to, and the files with its debug
 * information.
 *
 * Each file found is checked against what was recorded: the build ID, or else the inode. A debug
 * file must have the right build ID or the checksum of the link. A file that does not match is
 * never used.
 */
#pragma once
#include "base/word-list.h"
#include "elf/pool.h"
#include "process/space.h"
#include "record/origin.h"

#include <limits.h>
#include <sys/types.h>

/* Which files may be opened. */
enum locate_files {
	LOCATE_RECORDED,	/* by recorded paths, by build ID, and what the processes have */
	LOCATE_BY_ID,		/* only below debug_dirs, and those in `binaries`, by build ID */
	LOCATE_NOTHING,		/* none */
};

/* Where to look for files. Zero-initialised: only in the default places. */
struct locate_options {
	enum locate_files files;
	bool no_home;			/* nothing below $HOME, nor where the environment says */
	const struct word_list *binaries;	/* files that are found by build ID; or NULL */
	const char *sysroot;		/* directory with the recorded machine's files; or NULL */
	const char *build_id_map;	/* file with lines "BUILDID PATH"; or NULL */
	const struct word_list *debug_dirs;	/* searched before /usr/lib/debug; or NULL */
	const char *build_id_dir;	/* perf's cache of files; NULL: ~/.debug */
	const char *debuginfod;		/* URLs to fetch files from; NULL: nothing is fetched */
	uint64_t debuginfod_time;	/* limit of waiting for all fetches together, in ns */
	const volatile sig_atomic_t *stop;	/* set: wait for no fetch any longer; or NULL */
	struct fetcher *fetcher;	/* fetches missing files; NULL: nothing is fetched */
	struct elf_pool *pool;		/* shares files that are open; NULL: none are shared */
	struct locate_roots *roots;	/* of processes that have ended; NULL: unknown */
	/* when the stream was complete, in ns since 1970, if it has no clock; 0: unknown */
	int64_t recorded_before;
};

#define LOCATE_FETCH_TIME (300ULL * 1000 * 1000 * 1000)	/* default of DEBUGINFOD_TIME */

enum locate_result {
	LOCATED,
	LOCATE_ABSENT,		/* the file does not exist or cannot be read */
	LOCATE_TOO_MANY,	/* too many files are open to look for it */
	LOCATE_NO_ELF,		/* the file is not an ELF file */
	LOCATE_OTHER_BUILD,	/* the file's build ID is not the recorded one */
	LOCATE_OTHER_FILE,	/* the file's inode is not the recorded one */
	LOCATE_CHANGED,		/* written to since the recording, see image.h */
	/* no build ID to recognize the file by, and the stream may be from another machine */
	LOCATE_UNSURE,
};

/*
 * Set *OWN to the address that ADDRESS, which M maps, has in the file ELF (NULL: not found), and
 * *SEGMENT, unless NULL, to the segment there.  Return false if no executable segment has it.
 */
bool locate_address(const struct elf *elf, const struct mapping *m, uint64_t address,
		    struct elf_segment *segment, uint64_t *own);

/*
 * Return when INPUT, a file or (NULL, "-") stdin, was last written, in ns since 1970; 0: it is
 * not a regular file.
 */
int64_t locate_written_at(const char *input);

/*
 * Set PATH to the file NAME ("elf", "debug", "kallsyms") in perf's cache for the file or kernel
 * with this build ID, see perf-buildid-cache(1). Returns false if the cache does not have it.
 */
bool locate_kept(const struct locate_options *where, const uint8_t *id, size_t size,
		 const char *name, char path[PATH_MAX]);

/*
 * Open the separate file with ELF's debug information: by build ID, or by ELF's .gnu_debuglink.
 * PATH is ELF's own path below ROOT. Returns NULL if no such file is found.
 */
struct elf *locate_debug(const struct locate_options *where, struct elf *elf, const char *path,
			 const char *root);

/* Return whether ELF has debug information itself, or locate_debug() finds it without a fetch. */
bool locate_has_debug(const struct locate_options *where, struct elf *elf, const char *path,
		      const char *root);

/*
 * Open the file with debug information that DEBUG shares with other files (.gnu_debugaltlink, or
 * .debug_sup of DWARF 5, see dwz(1)). *NAME is set to its path as DEBUG has it, or to NULL if
 * DEBUG shares nothing. Returns NULL if the file is not here or DEBUG shares nothing.
 */
struct elf *locate_alternate(const struct locate_options *where, struct elf *debug,
			     const char *root, const char **name);

/*
 * Open the kernel file with debug information that has this build ID. Looks by build ID, and where
 * distributions put the kernel RELEASE (as in uname -r; or NULL). Returns NULL if not found.
 */
struct elf *locate_kernel(const struct locate_options *where, const uint8_t *id, size_t size,
			  const char *release);

/*
 * Open the file with debug information of the kernel module PATH ("[ext4]", or a file's path)
 * with this build ID, of the kernel RELEASE (or NULL). The file may be compressed. Returns NULL if
 * not found. A file that is there but cannot be read is reported.
 */
struct elf *locate_module(const struct locate_options *where, const char *path,
			  const uint8_t *id, size_t size, const char *release,
			  struct report *report);

/*
 * Return whether PATH (a file's path, or "[ext4]") is the module MODULE ("[ext4]"). A '-' in PATH
 * matches '_'.
 */
bool locate_is_module(const char *path, const char *module);

/* Open the package of split units next to PATH ("PATH.dwp"). Returns NULL if it is missing. */
struct elf *locate_package(const struct locate_options *where, const char *path,
			   const char *root);

/*
 * Open the regular ELF file PATH, read-only. Returns NULL on failure. ROOT is the root directory
 * that PATH is relative to; "" is ours.
 */
struct elf *locate_elf(const struct locate_options *where, const char *root, const char *path);

/* The same for the path that FORMAT makes.  NULL also if it is too long. */
struct elf *locate_printed(const struct locate_options *where, const char *root,
			   const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Return whether a stream was recorded on this machine with the kernel release that runs now. */
bool locate_is_local(const struct stream_origin *origin);

/* The same, but false if the files and processes of this machine may not be looked at. */
static inline bool locate_may_ask(const struct locate_options *where,
				  const struct stream_origin *origin)
{
	return where->files == LOCATE_RECORDED && locate_is_local(origin);
}

/* If the file *LIST, a build ID map, cannot be read, report it and set *LIST to NULL. */
void locate_check_list(const char **list, struct report *report);

/* Return the text of a message that says why the result is not LOCATED. */
const char *locate_reason(enum locate_result result);

/* Return advice on how OBJECT could have been located, as "; do this", or "". */
const char *locate_advice(const struct object *object, enum locate_result result);
