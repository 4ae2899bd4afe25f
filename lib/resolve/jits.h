/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jits - code outside of files, for each process that has some: the functions in the files that
 * its JIT compiler writes (jits.c), and advice if these files are missing (jit-advice.c).
 *
 * The files only grow.  An address without a function is looked up again after the files were
 * read on, so an answer is as new as the files.  When the files have grown, the recent frames are
 * flushed, because their names may have changed.
 *
 * Some compilers write names long after the samples.  So a frame without a name may wait here for
 * its name, until its process ends or runs another program (late.c).
 */
#pragma once
#include "base/recent.h"
#include "base/report.h"
#include "base/table.h"
#include "process/space.h"
#include "resolve/sampled.h"
#include "symbol/jitmap.h"

enum { JITS_WAITING_MAX = 1 << 19 };	/* frames that wait for a name at a time */

/* The code that the JIT compilers of a process report. */
struct jit_process {
	pid_t pid;
	struct jitmap *map;	/* NULL: not read yet, or discarded */
	int64_t started;	/* seconds since 1970, or a little earlier; 0: unknown */
	int tmp;		/* its /tmp (O_PATH), if that is not ours; -1: not open */
	pid_t own_id;		/* if TMP is open: its id in its own PID namespace */
	char *dump;		/* path of the jitdump file that it mapped; NULL: none */
	uid_t user;		/* effective user, as last seen; 0: root, or unknown */
	bool is_nameless;	/* an address was looked up, and no file has names of its code */
	uint32_t unnamed;	/* samples of nameless addresses */
	size_t compiler;	/* if these are many: what made the code (jit-advice.c) */
	enum { JAVA_UNKNOWN, JAVA_NOT, JAVA_KEEPS, JAVA_LACKS } java;	/* frame pointers */
	bool was_asked;		/* the same: the process was started with an option for a map */
	uint32_t ended;		/* 1 + rounds since its end or a later use; 0: it lives */
	struct waiting_frame {
		uint32_t frame;		/* id in the definitions */
		uint64_t time;		/* of its first sample, in jitdump's clock */
	} *waiting;		/* frames without a name, which may yet get one */
	uint32_t waiting_count;
};

/* What a JIT compiler has at an address. */
struct jit_answer {
	struct jit_symbol function;	/* its NAME is NULL if no file has a function there */
	uint64_t time;			/* at which it was there, in jitdump's clock */
};

enum jits_result {
	JITS_UNREADABLE,	/* the files of the process cannot be read */
	JITS_NAMELESS,		/* no file has names of any code of the process */
	JITS_UNNAMED,		/* no file has a function at the address */
	JITS_NAMED,
};

struct jits {
	/* The owner sets these before jits_begin(); all others are zero then. */
	bool symbols;			/* look up names; false: no file is read */
	const char *sysroot;		/* folder with the files of processes; NULL: none */
	struct spaces *spaces;		/* of the stream */
	struct recent *recent;		/* flushed when names may have changed */
	struct report *report;
	/* The owner may read these. */
	struct jit_process *process;	/* processes with code outside of files */
	uint32_t count;			/* elements of PROCESS */
	uint32_t waiting;		/* frames that wait for a name, of all processes */
	uint64_t refused;		/* frames that do not wait, because too many others do */
	uint64_t credit;		/* visits to processes, or to frames, that may be made */
	/* private: */
	struct table table;		/* over PROCESS, by pid */
	struct table map_table;		/* pids by the file of their map; may be out of date */
	struct jit_budget budget;	/* what all jitmaps use together */
	uint32_t advised;		/* bit mask of compilers for which advice was given */
	bool round_ended;		/* a round ended, and no sample has come since */
};

void jits_begin(struct jits *j);

/* Report what was refused, and release all. */
void jits_release(struct jits *j);

/*
 * Follow REC, which may end a program or a round.  Return the process that ended, if its files
 * have all names now, or 0.
 */
pid_t jits_follow(struct jits *j, const struct stream_reader *in, const struct record *rec);

/* Read FILE, which process PID maps, if it is a jitdump file. */
void jits_open_dump(struct jits *j, const struct stream_reader *in, pid_t pid, const char *file);

/* Before a sample: at the first one after a round, read what was appended to all files. */
void jits_refresh(struct jits *j);

/* Return the jitmap of process PID; NULL if its files cannot be read. */
struct jitmap *jits_map(struct jits *j, const struct stream_reader *in, pid_t pid);

/* Set *CODE to what a JIT compiler has at ADDRESS of the process of S, at the time of S. */
enum jits_result jits_code(struct jits *j, const struct sampled *s, uint64_t address,
			   struct jit_answer *code);

/*
 * Find the function of MAP at ADDRESS at TIME, in jitdump's clock.  Return false if MAP has no
 * function there.  *FOUND is valid until files are read again.
 */
bool jits_find(struct jits *j, struct jitmap *map, uint64_t address, uint64_t time,
	       struct jit_symbol *found);

/* Return what is known of the code of process PID; NULL: it has none. Valid until one is added. */
struct jit_process *jits_process(const struct jits *j, pid_t pid);

/* Look for the files of P, if they were read before, and read what was appended to them. */
void jits_read_again(struct jits *j, struct jit_process *p);

/* Let FRAME, which was just added, of code of process PID at TIME, wait for its name. */
void jits_wait(struct jits *j, pid_t pid, uint32_t frame, uint64_t time);

/* Return the ids of the j->waiting frames that wait, for the caller to free; replace these ids. */
uint32_t *jits_waiting(const struct jits *j);
void jits_renumber(struct jits *j, const uint32_t *frame);

/* Note that no file names code of process PID. */
void jits_note_nameless(struct jits *j, pid_t pid);

/*
 * Count a sample of code without a name that process PID made.  After some of them, report what
 * would help, if no file names such code, and the process was there before the recording.
 */
void jits_advise(struct jits *j, const struct stream_reader *in, pid_t pid);

/*
 * Advise so at the end of process P or of the stream, if there are still no names.  P may move.
 */
void jits_advise_at_end(struct jits *j, const struct stream_reader *in,
			const struct jit_process *p);

/* Return whether process PID runs Java that does not keep frame pointers. */
bool jits_lack_pointers(struct jits *j, pid_t pid);

/* Report what names the functions of process PID, which runs Python, if they have no names. */
void jits_advise_python(struct jits *j, const struct stream_reader *in, pid_t pid);
