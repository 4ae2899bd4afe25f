/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-files - finds out from ELF files where the processes that map them have their labels.
 *
 * Users of the machine chose these files.  So a separate process without rights reads each file.
 * Its time is limited, and it writes a struct label_layout to shared memory.
 */
#pragma once
#include "base/table.h"
#include "elf/thread-local.h"
#include "sample/target.h"
#include "symbol/go-labels.h"

#include <sys/types.h>

struct label_layout {
	bool is_read;			/* the reader has read the whole file */
	uint64_t code_delta;		/* address of the code minus its file offset */
	bool is_musl;			/* the program uses musl's dynamic linker */
	struct thread_variable otel, custom;
	struct go_labels go;
};

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
	pid_t reader;			/* process that reads a file; 0: none */
	struct label_file reading;	/* the file that it reads */
	struct label_layout *result;	/* in memory shared with the reader; NULL: not mapped yet */
	uint64_t deadline;		/* for the reader, ns of CLOCK_MONOTONIC */
};

/* Answers. */
enum label_answer {
	LABEL_ANSWER_NONE,	/* the file cannot be read: its layout is unknown */
	LABEL_ANSWER_LATER,	/* the reader is busy: ask again */
	LABEL_ANSWER_LAYOUT,
};

/*
 * Set *LAYOUT to the layout of the file FD, which is mapped as code from FILE_OFFSET on, and close
 * FD.  If the file must be read, wait for the reader until UNTIL, ns of CLOCK_MONOTONIC.  The
 * layout is valid until the next call.
 */
enum label_answer label_files_find(struct label_files *f, int fd, uint64_t file_offset,
				   uint64_t until, const struct label_layout **layout);

void label_files_close(struct label_files *f);
