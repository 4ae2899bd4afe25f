/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmukit - profile this program, and read what profilers wrote.
 *
 *	#include <pmukit.h>
 *
 *	struct pmukit_profile_config config = { .size = sizeof(config), .fd = fd };
 *	struct pmukit_profile *p = pmukit_profile_start(&config);
 *	if (!p)
 *		fprintf(stderr, "%s\n", pmukit_error());
 *	...
 *	if (p && pmukit_profile_stop(p) < 0)
 *		fprintf(stderr, "%s\n", pmukit_error());
 *
 * Link with -lpmukit; the flags are in pmukit.pc.  pmukit(3) explains each function.
 *
 * Errors.  A function that returns int returns a value from 0 up, or an error, which is below 0
 * (enum pmukit_status).  A function that returns a pointer returns NULL instead.  pmukit_error()
 * has the sentence.  No function ends the program, prints, or changes the action of a signal.
 *
 * Handles.  All structures below without members are handles.  A handle may be used by any thread,
 * but by one at a time; different handles may be used at the same time.  After PMUKIT_NO_MEMORY
 * and PMUKIT_BROKEN, a handle can only be closed.
 *
 * Memory.  What a function returns by a pointer belongs to its handle, and is valid until the next
 * call with that handle, unless it says otherwise.  Texts are NUL-terminated; they come from the
 * input and may have any other bytes.  What the caller gives is copied.
 *
 * Structures.  A structure that starts with its size is made by the caller, who sets that member to
 * sizeof(the structure).  Zeroes mean the usual choice.  A later version may add members at the end
 * of each structure but four, so a program must not copy what the library returns by sizeof().
 * The four come in arrays, or from the caller, and never grow: struct pmukit_value_type,
 * pmukit_label, pmukit_frame and pmukit_stack.
 *
 * Stack.  Each call needs at most 1 MiB of the caller's stack, which very long names of C++ take.
 */
#ifndef PMUKIT_H
#define PMUKIT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header; pmukit_version() returns the version of the library. */
#define PMUKIT_VERSION "0.1"

enum pmukit_status {
	PMUKIT_OK = 0,
	PMUKIT_NO_MEMORY = -1,		/* out of memory, or of descriptors to own */
	PMUKIT_WRONG_ARGUMENT = -2,	/* the caller's mistake */
	PMUKIT_SYSTEM = -3,		/* the system refused something; errno says why */
	PMUKIT_DAMAGED = -4,		/* the input is damaged; what was whole has been returned */
	PMUKIT_NOT_FOUND = -5,		/* no such event, function or file */
	PMUKIT_NO_RIGHTS = -6,		/* may not sample or read; the sentence has the cure */
	PMUKIT_NO_SAMPLER = -7,		/* no program pmu-sample was found */
	PMUKIT_SAMPLER_FAILED = -8,	/* pmu-sample could not do it, or ended on its own */
	PMUKIT_BROKEN = -9,		/* the handle failed before, or the program has closed
					   descriptors of the library: close it */
	PMUKIT_OTHER_PROCESS = -10,	/* the handle was made before a fork, by the parent */
	PMUKIT_STOPPED = -11,		/* a callback, or pmukit_stream_stop(), asked to end */
};

/* Return the version of the library, such as "0.1". */
const char *pmukit_version(void);

/*
 * Return what was wrong with the last call of this thread that failed, as a sentence without a
 * line end; "" if none has failed.  It is valid until this thread's next call that fails.
 * pmukit_error_code() returns its enum pmukit_status.
 */
const char *pmukit_error(void);
int pmukit_error_code(void);

/* Whether a message is about damage or failure, or only a note. */
enum pmukit_severity { PMUKIT_NOTE, PMUKIT_PROBLEM };

/*
 * Callback: a message about the work of a handle, such as losses or a file without names.  TEXT
 * has no line end.  It is called by the thread that uses the handle.  It must not call the library
 * with that handle.
 */
typedef void pmukit_message(void *context, enum pmukit_severity severity, const char *text);

/* Callback: take SIZE bytes of a result.  Return 0, or another value to end with PMUKIT_STOPPED. */
typedef int pmukit_write(void *context, const void *bytes, size_t size);

/* Callback: read up to SIZE bytes.  Return their number, 0 at the end, -1 (errno is set). */
typedef ssize_t pmukit_read(void *context, void *bytes, size_t size);

/*
 * Profile this program.  A process of its own samples: pmu-sample(1), which must be installed.  It
 * is not a child of this program that wait() finds, and sends it no SIGCHLD.  It ends when this
 * program ends or execs.  Needs the rights that pmu-sample needs.
 */
struct pmukit_profile;

enum pmukit_profile_flags {
	PMUKIT_NO_KERNEL = 1,		/* only what runs in user mode */
	PMUKIT_CHILDREN = 2,		/* also processes that this one starts from now on */
	PMUKIT_LABELS = 4,		/* labels of threads: pmukit_label_set(); needs BPF */
	PMUKIT_START_PAUSED = 8,	/* count nothing until pmukit_profile_resume() */
	PMUKIT_NO_CALLCHAINS = 16,	/* only where each sample was, not who called it */
	PMUKIT_UNWIND = 32,		/* whole stacks, without frame pointers (--unwind) */
};

enum pmukit_result {
	PMUKIT_PPROF,			/* profile.proto, compressed by gzip, as for pprof */
	PMUKIT_RECORDS,			/* a stream of records, for pmukit's tools or perf */
};

struct pmukit_profile_config {
	size_t size;			/* sizeof(struct pmukit_profile_config) */
	const char *const *events;	/* names as in pmu-event(7), then NULL; NULL: cycles, or the
					   CPU's clock where cycles cannot be sampled */
	uint64_t period;		/* events between samples; 0: by frequency */
	uint64_t frequency;		/* samples per second and thread; 0: as pmu-sample */
	unsigned int flags;		/* enum pmukit_profile_flags, added up */
	enum pmukit_result result;
	int fd;				/* where the result is written by pmukit_profile_stop(), if
					   WRITE is NULL; from 1 on; it stays the caller's */
	pid_t pid;			/* sample this process instead; 0: this one */
	pmukit_write *write;		/* takes the result, called by pmukit_profile_stop() */
	pmukit_message *message;	/* takes messages; NULL: nobody reads them */
	void *context;			/* of both callbacks */
	const char *sampler;		/* path of pmu-sample, or of pmukit; NULL: $PMUKIT_SAMPLER,
					   then $PATH, then where it was installed */
	const char *const *options;	/* further options of pmu-sample, then NULL */
};

/*
 * Start to sample this process: all threads that exist, and all that come.  It returns when
 * everything that happens is sampled, usually within 5 ms.  With PMUKIT_RECORDS and without WRITE,
 * records are written to the descriptor while the profile runs; otherwise they wait in a file
 * without a name in $TMPDIR, or /tmp.  CONFIG may be NULL only if nobody wants the result.
 */
struct pmukit_profile *pmukit_profile_start(const struct pmukit_profile_config *config);

/* Count nothing from now on, or count again.  Other threads may pause other profiles. */
int pmukit_profile_pause(struct pmukit_profile *p);
int pmukit_profile_resume(struct pmukit_profile *p);

/*
 * Return 1 while pmu-sample runs, 0 if it has ended on its own: pmukit_profile_stop() then says
 * why, and still gives what it wrote.
 */
int pmukit_profile_is_running(struct pmukit_profile *p);

/*
 * Stop, write the result, and close P in any case.  If part of the result is missing, the rest is
 * written, and an error says what is missing.
 */
int pmukit_profile_stop(struct pmukit_profile *p);

/* Stop, write nothing, and close P.  After fork(), a child may close its copy so. */
void pmukit_profile_cancel(struct pmukit_profile *p);

/*
 * Set the label KEY of this thread to VALUE, from now on; NULL removes it.  A profile with
 * PMUKIT_LABELS, or pmu-sample --labels in any process, finds it with each sample of the thread.
 * At most 10 labels, keys of at most 63 bytes and values of at most 255 reach a profile
 * (pmu-sample(1)), the first that were set.  Labels are not inherited by new threads.  It costs
 * about 100 ns.
 */
int pmukit_label_set(const char *key, const char *value);

/* Remove all labels of this thread.  A thread that ends does so by itself. */
void pmukit_label_clear(void);

/*
 * Events.  Fill *ATTR, a struct perf_event_attr (linux/perf_event.h) of SIZE bytes, for the event
 * NAME, as in pmu-event(7), such as "branch-misses:u".  Its sampling fields stay 0.  If this
 * machine has no such event, that is PMUKIT_NOT_FOUND.  A name that stands for several events here,
 * as on CPUs with two kinds of cores, is PMUKIT_WRONG_ARGUMENT.  No event is opened, so the
 * modifier P leaves precise_ip 0.
 */
int pmukit_event_encode(const char *name, void *attr, size_t size);

/* An event that this machine can count. */
struct pmukit_event_name {
	const char *name;		/* for -e and pmukit_event_encode() */
	const char *description;	/* one sentence, or "" */
	const char *pmu;		/* the unit that counts it, such as "cpu", or "software" */
};

/* List the events of this machine whose name or description has the text MATCH (NULL: all). */
struct pmukit_event_list;
struct pmukit_event_list *pmukit_event_list_open(const char *match);
/* Return 1 and set *EVENT to the next event, or 0 after the last. */
int pmukit_event_list_next(struct pmukit_event_list *list, const struct pmukit_event_name **event);
void pmukit_event_list_close(struct pmukit_event_list *list);

/*
 * Streams: what pmu-sample, pmu-symbolize and `perf record -o -` write, and perf.data files;
 * plain, or compressed by gzip or zstd.  Records come in order of time.
 */
struct pmukit_stream;

enum pmukit_files {
	PMUKIT_RECORDED_PATHS,	/* files are opened by the paths in the stream */
	PMUKIT_DEBUG_FILES,	/* only below debug_dirs, and the files named by `binaries` */
	PMUKIT_NO_FILES,	/* no file is opened: names come from the stream alone */
};

/* How streams and binaries find names.  NULL: all zero. */
struct pmukit_options {
	size_t size;			/* sizeof(struct pmukit_options) */
	enum pmukit_files files;	/* which files may be opened */
	unsigned int flags;		/* enum pmukit_option_flags, added up */
	const char *root;		/* recorded paths are below this directory; NULL: "/" */
	const char *const *debug_dirs;	/* directories of debug files, then NULL; NULL: the usual */
	const char *const *binaries;	/* files with symbols, found by build ID, then NULL */
	const char *kallsyms;		/* symbols of the kernel that was recorded */
	const char *cache;		/* directory that keeps names between runs; NULL: none */
	const char *select;		/* only these samples: conditions on pid, tid, cpu, comm,
					   event, from and to, such as "pid=42,event=cycles"; NULL:
					   all */
	pmukit_message *message;	/* takes messages; NULL: nobody reads them */
	void *context;			/* of the callbacks */
};

enum pmukit_option_flags {
	PMUKIT_NO_INLINES = 1,		/* frames without the calls inlined into them */
	PMUKIT_NO_LINES = 2,		/* frames without files and lines */
	PMUKIT_MANGLED = 4,		/* names as in the symbol table */
	PMUKIT_KEEP_DUMPS = 8,		/* do not unwind copies of stacks */
};

/*
 * Open FILE ("-": stdin), the descriptor FD, which stays the caller's, or what READ returns.
 * These read the header.
 */
struct pmukit_stream *pmukit_stream_open(const char *file, const struct pmukit_options *options);
struct pmukit_stream *pmukit_stream_open_fd(int fd, const struct pmukit_options *options);
struct pmukit_stream *pmukit_stream_open_callback(pmukit_read *read, void *context,
						  const struct pmukit_options *options);

/* What the stream says about an event. */
struct pmukit_stream_event {
	const char *name;
	uint64_t period;		/* the fixed period, or 0 */
	uint64_t frequency;		/* samples per second, or 0 */
	const void *attr;		/* its struct perf_event_attr, in this machine's byte order */
	size_t attr_size;		/* bytes of it that the stream has */
};

/* Return the number of events so far; pipes may name more later. */
int pmukit_stream_events(struct pmukit_stream *s);
/* Return event INDEX, valid until S is closed, or NULL. */
const struct pmukit_stream_event *pmukit_stream_event(struct pmukit_stream *s, int index);

/* Where a stream was recorded; "" and 0: it does not say. */
struct pmukit_origin {
	const char *host, *kernel, *machine;	/* as uname -n, -r, -m */
	const char *command;			/* the recorder's command line */
	uint64_t cpus;
};
const struct pmukit_origin *pmukit_stream_origin(struct pmukit_stream *s);

/* A record as in the stream (perf_event_open(2)), in this machine's byte order. */
struct pmukit_record {
	uint32_t type;			/* PERF_RECORD_... */
	uint16_t misc;
	uint64_t time;			/* ns in the stream's clock; 0: unknown */
	uint64_t offset;		/* bytes from the start of the stream; 0: made from the
					   header of a perf.data file */
	const void *bytes;		/* the record, with its struct perf_event_header */
	size_t size;
};

/* The kind of a value that may be missing. */
enum pmukit_sample_fields {
	PMUKIT_HAS_TIME = 1, PMUKIT_HAS_TASK = 2, PMUKIT_HAS_CPU = 4, PMUKIT_HAS_ADDRESS = 8,
	PMUKIT_HAS_CALLCHAIN = 16, PMUKIT_HAS_LABELS = 32,
};

struct pmukit_label {
	const char *key;
	const char *value;		/* the text; NULL: the label is the number */
	int64_t number;
	const char *unit;		/* of the number, or "" */
};

struct pmukit_sample {
	unsigned int has;		/* enum pmukit_sample_fields, added up */
	int event;			/* index for pmukit_stream_event() */
	uint64_t period;		/* how many events it stands for */
	uint64_t time;			/* ns in the stream's clock */
	pid_t pid, tid;
	uint32_t cpu;
	uint64_t ip;
	uint64_t address;		/* of data */
	const uint64_t *callchain;	/* addresses from the leaf to the root, as in the kernel's
					   record: with PERF_CONTEXT_... marks; of a stream after
					   pmu-symbolize: the addresses in the objects */
	size_t callchain_size;		/* their number */
	const char *comm;		/* name of the thread, or "" */
	const struct pmukit_label *labels;
	size_t labels_size;
};

/*
 * Return 1 and set *RECORD or *SAMPLE to the next one, or 0 at the end.  The second skips what is
 * no sample, and returns a sample of a whole group of events once for each event.  Damage is
 * PMUKIT_DAMAGED, once, when everything whole has been returned.
 */
int pmukit_stream_next(struct pmukit_stream *s, const struct pmukit_record **record);
int pmukit_stream_next_sample(struct pmukit_stream *s, const struct pmukit_sample **sample);

/* Callback: a sample.  Return 0, or another value to end with PMUKIT_STOPPED. */
typedef int pmukit_on_sample(void *context, const struct pmukit_sample *sample);
/* Call ON_SAMPLE for each sample that follows.  It may call pmukit_stream_frames(). */
int pmukit_stream_each_sample(struct pmukit_stream *s, pmukit_on_sample *on_sample, void *context);

/* A place in a program: a function, or an address without a name. */
struct pmukit_frame {
	const char *function;		/* demangled; NULL: unknown */
	const char *symbol;		/* as in the symbol table; NULL: unknown */
	const char *file;		/* source file; NULL: unknown */
	uint32_t line;			/* 0: unknown */
	uint32_t column;		/* in this line, from 1; 0: unknown */
	uint32_t start_line;		/* of the function; 0: unknown */
	int is_inlined;			/* 1: the next frame is the function that it is part of */
	int is_kernel;
	uint64_t address;		/* as sampled */
	uint64_t object_address;	/* in the object, as its symbol table has it */
	const char *object;		/* path of the file; "[kernel.kallsyms]", ...; NULL:
					   unknown */
	const char *build_id;		/* in hexadecimal digits, or "" */
	uint64_t reserved[2];		/* 0 */
};

/*
 * Set *FRAMES to the frames of the last record or sample, from the leaf to the root, and return
 * their number: of its callchain, or if it has none, of its address.  Names are looked up now.
 * After a record that is no sample it returns 0.
 */
int pmukit_stream_frames(struct pmukit_stream *s, const struct pmukit_frame **frames);

/* End S as if its input ended: safe in other threads and in signal handlers. */
void pmukit_stream_stop(struct pmukit_stream *s);

struct pmukit_pprof;
/*
 * Read all of S, of which no record was read before, and return it as a profile, as pmu-topprof
 * makes it: a stack for each distinct callchain and set of labels.  LABELS: as for pmu-topprof
 * --label; NULL: the usual ones.  If S is damaged, the profile has what was whole.  Then
 * pmukit_error_code() returns PMUKIT_DAMAGED; after a whole stream it returns PMUKIT_OK.
 */
struct pmukit_pprof *pmukit_stream_profile(struct pmukit_stream *s, const char *labels);

void pmukit_stream_close(struct pmukit_stream *s);

/* Binaries: functions and lines at addresses of an ELF file. */
struct pmukit_binary;
struct pmukit_binary *pmukit_binary_open(const char *file, const struct pmukit_options *options);
/* The same for the file FD, which stays the caller's.  FILE is its name in messages and frames. */
struct pmukit_binary *pmukit_binary_open_fd(int fd, const char *file,
					    const struct pmukit_options *options);
/* Return the build ID in hexadecimal digits, or "". */
const char *pmukit_binary_build_id(struct pmukit_binary *b);
/*
 * As pmukit_stream_frames(), for ADDRESS as in the symbol table: one function, and the calls that
 * were inlined into it.
 */
int pmukit_binary_frames(struct pmukit_binary *b, uint64_t address,
			 const struct pmukit_frame **frames);
void pmukit_binary_close(struct pmukit_binary *b);

/* Profiles, in pprof's format profile.proto: read, made, added up, written. */

/* A sample type. */
struct pmukit_value_type {
	const char *type, *unit;	/* such as "cycles" and "count" */
};

/*
 * Open a profile: profile.proto, rows or folded stacks; plain or compressed by gzip or zstd.  FILE
 * may be "-": stdin.  If lines of text are damaged, the profile has the others, and
 * pmukit_error_code() is PMUKIT_DAMAGED instead of PMUKIT_OK.
 */
struct pmukit_pprof *pmukit_pprof_open(const char *file, const struct pmukit_options *options);
struct pmukit_pprof *pmukit_pprof_open_memory(const void *bytes, size_t size,
					      const struct pmukit_options *options);
/* Return a profile without samples that has COUNT sample types. */
struct pmukit_pprof *pmukit_pprof_new(const struct pmukit_value_type *types, size_t count);

struct pmukit_stack {
	const struct pmukit_frame *frames;	/* from the leaf to the root */
	size_t frames_size;
	const int64_t *values;			/* one for each sample type */
	const struct pmukit_label *labels;
	size_t labels_size;
};

/* Return the number of sample types, and set *TYPES to them. */
int pmukit_pprof_types(struct pmukit_pprof *p, const struct pmukit_value_type **types);
/* Return the number of stacks. */
int64_t pmukit_pprof_stacks(struct pmukit_pprof *p);
/*
 * Set *STACK to stack INDEX, from 0.  Return 1, or 0 if there are not so many.  Both addresses of a
 * frame are the one in the profile.
 */
int pmukit_pprof_stack(struct pmukit_pprof *p, int64_t index, const struct pmukit_stack **stack);

/*
 * Add a stack.  Of its frames, `function`, `symbol`, `file`, `line`, `column`, `start_line`,
 * `is_inlined`, `object_address`, `object` and `build_id` are used.  Its values are added to those
 * of an equal stack.  After the first stack that is added, stacks may have other indices.  Stacks
 * whose values are all 0 are not written.
 */
int pmukit_pprof_add(struct pmukit_pprof *p, const struct pmukit_stack *stack);
/* Add all of FROM to P.  They must have the same sample types. */
int pmukit_pprof_merge(struct pmukit_pprof *p, struct pmukit_pprof *from);

/*
 * Write P compressed by gzip: to FILE, which appears whole or not at all, to FD, or to WRITE.
 */
int pmukit_pprof_write(struct pmukit_pprof *p, const char *file);
int pmukit_pprof_write_fd(struct pmukit_pprof *p, int fd);
int pmukit_pprof_write_callback(struct pmukit_pprof *p, pmukit_write *write, void *context);
void pmukit_pprof_close(struct pmukit_pprof *p);

#ifdef __cplusplus
}
#endif

#endif
