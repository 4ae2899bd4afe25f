/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-files - finds out from ELF files where the processes that map them have their labels.
 *
 * Users of the machine chose these files.  So a separate process without rights reads each file.
 * Its time is limited, and it writes a struct label_layout to shared memory.  Several files are
 * read at the same time: the labels of a new program are unknown until all its files are read.
 */
#pragma once
#include "base/table.h"
#include "elf/thread-local.h"
#include "labels/go-labels.h"
#include "target/target.h"

#include <sys/types.h>

struct label_layout {
	bool is_read;			/* the reader has read the whole file */
	uint64_t code_delta;		/* address of the code minus its file offset */
	bool is_musl;			/* the program uses musl's dynamic linker */
	struct thread_variable otel, custom;
	struct go_labels go;
};

enum { LABEL_READERS = 4 };	/* files that are read at the same time */

/* Zero-initialised except for TARGET: no file is known. */
struct label_files {
	const struct target *target;	/* determines the user as whom files are read */
	struct label_file {
		uint64_t device, inode;
		int64_t size, changed;	/* bytes; ns since 1970 */
		uint64_t file_offset;	/* of the mapped code: CODE_DELTA depends on it */
		struct label_layout layout;
	} *file;
	size_t files;
	struct table table;		/* index of FILE */
	struct label_reader {
		pid_t pid;			/* process that reads FILE; 0: idle */
		struct label_file file;
		struct label_layout *result;	/* shared with the process; NULL: not mapped yet */
		uint64_t deadline;		/* for the process, ns of CLOCK_MONOTONIC */
	} reader[LABEL_READERS];
};

/* Answers. */
enum label_answer {
	LABEL_ANSWER_NONE,	/* the file cannot be read: its layout is unknown */
	LABEL_ANSWER_LATER,	/* the file is not read yet: ask again after label_files_wait() */
	LABEL_ANSWER_LAYOUT,
};

/*
 * Set *LAYOUT to the layout of the file FD, which is mapped as code from FILE_OFFSET on, and close
 * FD.  If the file must be read, start a reader, but do not wait.  The layout is valid until the
 * next call.
 */
enum label_answer label_files_find(struct label_files *f, int fd, uint64_t file_offset,
				   const struct label_layout **layout);

/*
 * Take the results of readers that have ended.  If none has ended, wait until one ends, at most
 * until UNTIL, ns of CLOCK_MONOTONIC.  Return whether there are new results.
 */
bool label_files_wait(struct label_files *f, uint64_t until);

void label_files_close(struct label_files *f);
