/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-files - what ELF files say about labels in the processes that map them.
 *
 * Users of the machine chose these files.  Each is read by a process of its own without rights,
 * which has a limit of time, and writes a struct label_facts to shared memory.
 */
#pragma once
#include "base/table.h"
#include "elf/thread-local.h"
#include "sample/target.h"
#include "symbol/go-labels.h"

#include <sys/types.h>

struct label_facts {
	bool is_read;			/* the reader came to its end */
	uint64_t code_delta;		/* address less file offset, of the code */
	bool is_musl;			/* the program asks for musl's dynamic linker */
	struct thread_variable otel, custom;
	struct go_labels go;
};

/* Zero-initialised, but for TARGET: no file is known. */
struct label_files {
	const struct target *target;	/* decides as which user the files are read */
	struct label_file {
		uint64_t device, inode;
		int64_t size, changed;	/* bytes; ns since 1970 */
		uint64_t file_offset;	/* of the code that was mapped: CODE_DELTA depends on it */
		struct label_facts facts;
	} *file;
	size_t files;
	struct table table;		/* index of FILE */
	pid_t reader;			/* process that reads; 0: none */
	struct label_file reading;	/* what it reads */
	struct label_facts *result;	/* shared with the reader; NULL: not mapped yet */
	uint64_t deadline;		/* for the reader, ns of CLOCK_MONOTONIC */
};

/* Answers. */
enum label_answer {
	LABEL_ANSWER_NONE,	/* the file cannot be read: nothing is known */
	LABEL_ANSWER_LATER,	/* a process reads a file: ask again */
	LABEL_ANSWER_FACTS,
};

/*
 * Set *FACTS to what the file FD says, which is mapped as code from FILE_OFFSET on.  Close FD.
 * If a process reads it, wait for that until UNTIL, ns of CLOCK_MONOTONIC.  The facts are valid
 * until the next call.
 */
enum label_answer label_files_find(struct label_files *f, int fd, uint64_t file_offset,
				   uint64_t until, const struct label_facts **facts);

void label_files_close(struct label_files *f);
