/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of resolver, shared by its files: frames (resolver.c), callchains (resolver-chain.c),
 * the kernel (resolver-kernel.c) and its modules (resolver-module.c), mapped objects
 * (resolver-object.c), code of JIT compilers (resolver-jit.c), whose names come late
 * (resolver-late.c) or never (resolver-advice.c), names (resolver-name.c), limits of
 * memory (resolver-memory.c), and the report at the end (resolver-report.c).
 */
#pragma once
#include "base/byte-ids.h"
#include "base/intern.h"
#include "base/pointers.h"
#include "base/recent.h"
#include "resolve/resolver.h"
#include "resolve/source-internal.h"
#include "resolve/stack-ends.h"
#include "symbol/jitmap.h"
#include "symbol/kallsyms.h"
#include "symbol/recorded-names.h"

enum {
	JIT_CREDIT_FIRST = 1 << 18,	/* initial credit, in visits to processes */
	JIT_CREDIT_SAMPLE = 8,		/* credit that a sample adds */
	JIT_LATE_MAX = 1 << 19,		/* frames that wait for a name at a time */
	LINES_MAX = 512,	/* lines of one frame: a function and its inlined calls */
	FRAMES_MAX = 1 << 20,	/* distinct addresses; further ones are merged by their lines */
	OBJECTS_MAX = 1 << 18,	/* parts of files and memory; further ones are [unknown] */
};

/* The source of a frame's name. */
enum from { FROM_DEBUG, FROM_GO, FROM_SYMBOLS, FROM_KERNEL, FROM_JIT, FROM_NOTHING, FROMS };

/* Count of distinct frames per source of their names, for one object. */
struct name_counts {
	uint64_t frames[FROMS];
};

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
	size_t compiler;	/* if these are many: what made the code (resolver-advice.c) */
	enum { JAVA_UNKNOWN, JAVA_NOT, JAVA_KEEPS, JAVA_LACKS } java;	/* frame pointers */
	bool was_asked;		/* the same: the process was started with an option for a map */
	uint32_t ended;		/* 1 + rounds since its end or a later use; 0: it lives */
	struct unnamed {
		uint32_t frame;		/* id in the tables */
		uint64_t time;		/* of its first sample, in jitdump's clock */
	} *unnamed_frame;	/* frames without a name, which may yet get one */
	uint32_t unnamed_frames;
};

/* What an object of the resolved stream stands for: a part of an object of lib/process. */
struct part {
	/* id in lib/process; TABLE_NONE: addresses without a mapping */
	uint32_t object;
	uint64_t start, size;	/* address range; SIZE in bytes */
	pid_t pid;		/* process that owns the memory; 0: the part is the same for all */
	uint32_t flags;		/* OBJECT_IS_MAIN: a program may also be mapped as a library */
	bool is_python;		/* Python's interpreter, which runs functions that have no code */
};

#define PART_REMOVED (TABLE_NONE - 1)	/* object of a part whose object was removed */

static inline uint64_t part_hash(const struct part *p)
{
	return hash_more(hash_more((uint64_t)p->pid << 32 | p->object, p->start),
			 p->size ^ (uint64_t)p->flags << 63);
}

struct resolver {
	struct resolver_options options;
	struct resolved *tables;
	struct report *report;
	struct spaces spaces;
	struct stream_reader *in;	/* that stream */
	struct recent recent;		/* the first cache: frames by generation and address */
	struct table frame_table;	/* over tables->frame, by (object, address) */
	struct table merged_table;	/* frames beyond FRAMES_MAX, by (object, lines) */
	struct sources sources;		/* by object of lib/process */
	struct name_counts *name_counts;	/* by object of lib/process */
	uint32_t counts_size;		/* elements of NAME_COUNTS */
	struct name_counts unmapped_counts;	/* addresses without a mapping */
	struct name_counts removed_counts;	/* objects that were removed */
	struct part *part;		/* by object of the tables */
	struct table part_table;	/* over PART */
	struct intern strings;		/* same ids as tables->string */
	struct table function_table;	/* over tables->function */
	size_t long_names;		/* bytes of long names from sources */
	struct byte_ids long_seen;	/* hashes of these names */
	uint32_t *readable;		/* string to its demangled string; 0: not demangled yet */
	uint32_t readables;		/* elements of READABLE */
	uint32_t *comm;			/* name in spaces.tasks to string; 0: not used yet */
	uint32_t comms;			/* elements of COMM */
	uint32_t comms_renumbered;	/* spaces.tasks.renumbered when COMM was empty */
	struct jit_process *jit;	/* processes with code outside of files */
	uint32_t jits;			/* elements of JIT */
	struct table jit_table;		/* over JIT, by pid */
	uint32_t advised;		/* bit mask of compilers for which advice was given */
	struct table map_table;		/* pids by the file of their map; may be out of date */
	struct jit_budget jit_budget;	/* what all jitmaps use together */
	uint64_t jit_credit;		/* visits to processes that may be made */
	uint64_t python_samples;	/* samples in Python's interpreter ... */
	pid_t python_pid;		/* ... and the process of the last one */
	uint32_t late;			/* frames of all JIT that wait for a name */
	uint64_t late_refused;		/* addresses that do not wait, because of JIT_LATE_MAX */
	bool round_ended;		/* a round ended, and no sample has come since */
	enum from from;			/* source of the names in LINE */
	bool by_time;			/* the name at this place depends on the time */
	uint64_t time;			/* time of the current sample, in jitdump's clock */
	struct kallsyms *kallsyms;
	bool kernel_tried;		/* resolver_kernel_open() was called */
	uint64_t kernel_shift;		/* added to recorded kernel addresses for kallsyms */
	uint64_t init_end;		/* recorded address where the kernel's boot code ends */
	uint32_t vmlinux;		/* the source of vmlinux; TABLE_NONE: none */
	uint64_t vmlinux_shift;		/* added to recorded kernel addresses for vmlinux */
	struct recorded_names recorded;	/* symbols that the stream itself carries */
	struct jitmap *ksymbols;	/* code that the kernel generated (KSYMBOL); NULL: none */
	uint32_t ksymbols_added;	/* since the names of unmapped code were forgotten */
	uint32_t ksymbols_limit;	/* KSYMBOLS_ADDED at which they are forgotten next */
	struct resolved_line line[LINES_MAX];	/* lines of the current place */
	uint32_t *frame;		/* frames of the current sample */
	size_t frame_capacity;		/* elements of FRAME */
	struct last_callers {		/* the last words of the last callchain, and their frames */
		uint64_t *word;
		uint32_t *frame;
		size_t count;		/* words, and frames */
		size_t room;		/* elements of both arrays */
		uint32_t key;		/* recent_key() of the space of all of them */
	} last;
	struct stack_ends ends;		/* counts of how stacks end */
	uint64_t added, named;		/* number of frames, and of frames with a name */
	uint64_t limit;			/* bytes of definitions until a restart */
	uint64_t *before;		/* bits by hash: places defined before the last restart */
	uint32_t again;			/* frames since then whose place is in BEFORE */
};

/* Where an address is: a part of an object, and the address in it. */
struct place {
	uint32_t object;		/* id in the tables */
	uint64_t address;		/* as shown in the output */
	uint32_t source;		/* source to look it up in; TABLE_NONE: none */
	uint64_t own_address;		/* its address in that source */
	bool in_kernel;			/* look it up in kallsyms */
	struct jitmap *jit;		/* jitmap to look it up in; NULL: none */
	uint32_t recorded;		/* 1 + file in r->recorded to look it up in; 0: none */
	uint64_t recorded_address;	/* its address in that file */
};

/*
 * Return the frame at PLACE, by the second cache. Each place is looked up once. A place in code
 * of a JIT compiler is looked up every time, and has one frame for each name it has had.
 */
uint32_t resolver_frame_at(struct resolver *r, const struct place *place);

/*
 * Fill r->frame with the frames of S, a sample of the event ATTR. Returns their number, at least 1.
 * Sets *END to how the program's stack ends.
 */
uint32_t resolver_chain(struct resolver *r, const struct stream_reader *in, const struct sample *s,
			const struct perf_event_attr *attr, enum stack_end *end);

/* Return whether PLACE was probably defined before the last restart. */
bool resolver_was_defined(const struct resolver *r, const struct place *place);

/* If there are many objects, remove those that are mapped nowhere any more. */
void resolver_remove_objects(struct resolver *r);

/* Release everything that refers to ids of the tables. */
void resolver_release_ids(struct resolver *r);

/* Return the place of ADDRESS in SPACE of process PID. */
struct place resolver_place_find(struct resolver *r, const struct stream_reader *in, pid_t pid,
				 const struct space *space, uint64_t address);

/* Return the place of ADDRESS, which mapping M of SPACE covers. SPACE is not the kernel's. */
struct place resolver_place_in_process(struct resolver *r, const struct stream_reader *in,
				       pid_t pid,
				       const struct space *space, const struct mapping *m,
				       uint64_t address);

/*
 * Return whether PLACE is right before the first byte of a function, and not in a call: the address
 * after it was not put on a stack by a call.
 */
bool resolver_is_before_function(struct resolver *r, const struct place *place);

/* Return the tables' id of a part of an object of lib/process. PID: the owner of memory, or 0. */
uint32_t resolver_part_id(struct resolver *r, uint32_t object, pid_t pid,
			  struct resolved_object part);

/* Add OBJECT to the tables, for P, and return its id. */
uint32_t resolver_add_part(struct resolver *r, const struct resolved_object *object,
			   const struct part *p);

/* Return the place of an address without a mapping. */
struct place resolver_place_unmapped(struct resolver *r, uint64_t address);

/* Start to fetch all files that the frames of S need. */
void resolver_prefetch_files(struct resolver *r, const struct sample *s);

/* Open the file that the MMAP record REC maps, while it still exists. */
void resolver_open_mapped(struct resolver *r, const struct stream_reader *in,
			  const struct record *rec);

/* Return the jitmap of process PID; NULL if its files cannot be read. */
struct jitmap *resolver_jit_find(struct resolver *r, const struct stream_reader *in, pid_t pid);

/*
 * Find the function of MAP at ADDRESS at the time of the current sample. Return false if MAP has no
 * function there.
 */
bool resolver_jit_knows(struct resolver *r, struct jitmap *map, uint64_t address,
			struct jit_place *found);

/* Note that no file names code of process PID. */
void resolver_jit_is_nameless(struct resolver *r, pid_t pid);

/*
 * Count a sample of code without a name that process PID made. After some of them, report what
 * would help, if no file names such code, and the process was there before the recording.
 */
void resolver_jit_advise(struct resolver *r, pid_t pid);

/*
 * Advise so at the end of process P or of the stream, if there are still no names. P may move.
 */
void resolver_jit_advise_at_end(struct resolver *r, const struct stream_reader *in,
				const struct jit_process *p);

/* Return whether PATH is Python's interpreter. */
bool resolver_is_python(const char *path);

/* At the end of the stream: if most samples are in Python, say what names its functions. */
void resolver_advise_python(struct resolver *r, const struct stream_reader *in);

/* Count the stack in OUT of SAMPLE, which is cut, if Java would have kept frame pointers for it. */
void resolver_count_java(struct resolver *r, const struct stream_reader *in,
			 const struct sample *sample, const struct resolved_sample *out);

/* Return what is known of the code of process PID; NULL: it has none. Valid until one is added. */
struct jit_process *resolver_jit_process(const struct resolver *r, pid_t pid);

/* Look for the files of P, if they were read before, and read what was appended to them. */
void resolver_jit_read_again(struct resolver *r, struct jit_process *p);

/* Let FRAME, which was just added, of code of process PID, wait for its name. */
void resolver_late_add(struct resolver *r, pid_t pid, uint32_t frame);

/* Forget the frames of P that wait. */
void resolver_late_forget(struct resolver *r, struct jit_process *p);

/* Return the ids of the r->late frames that wait, for the caller to free; and replace these ids. */
uint32_t *resolver_late_list(const struct resolver *r);
void resolver_late_renumber(struct resolver *r, const uint32_t *frame);

/* Look for the names of the frames of PID that wait: the process has ended. */
void resolver_late_name(struct resolver *r, const struct stream_reader *in, pid_t pid);

/* Give FRAME, which has no lines, the LINES lines in r->line. */
void resolver_name_frame(struct resolver *r, uint32_t frame, uint32_t lines);

/* Follow REC, which may end a program or a round. */
void resolver_jit_follow(struct resolver *r, const struct stream_reader *in,
			 const struct record *rec);

/* Read FILE, which process PID maps, if it is a jitdump file. */
void resolver_jit_open_dump(struct resolver *r, const struct stream_reader *in, pid_t pid,
			    const char *file);

/* Before a sample: at the first one after a round, read what was appended to all files. */
void resolver_jit_refresh_all(struct resolver *r);

/* Read what was appended to the files of MAP. Returns whether there was anything. */
bool resolver_jit_refresh(struct resolver *r, struct jitmap *map);

/* Return the time of a sample of event ATTR in jitdump's clock; JIT_LATEST: unknown. */
uint64_t resolver_jit_time(const struct perf_event_attr *attr, const struct sample *sample);

void resolver_jit_release(struct resolver *r);

/* Return the tables' id of string TEXT. */
uint32_t resolver_string_id(struct resolver *r, const char *text);

/* Look up PLACE. Returns the number of its lines, which are in r->line, innermost first. */
uint32_t resolver_find_lines(struct resolver *r, const struct place *place);

/*
 * Put a line named NAME in r->line, which stands for addresses that are not known one by one.
 * Returns 1.
 */
uint32_t resolver_find_named_line(struct resolver *r, const char *name);

/* Return the frame that stands for frames that an unwinder left out of a stack. */
uint32_t resolver_left_out_frame(struct resolver *r);

/* Return whether the stream was recorded on this machine with the kernel release that runs now. */
bool resolver_is_local(const struct stream_reader *in);

/* Return the mapping of the kernel image itself; NULL if the stream has none. */
const struct mapping *resolver_kernel_image(const struct resolver *r);

/* Set PLACE, which is in the module that M maps, to be looked up in the module's file, if found. */
void resolver_place_in_module(struct resolver *r, const struct stream_reader *in,
			      const struct mapping *m, uint64_t address, struct place *place);

/* Return the name in kallsyms of the code at PLACE in the kernel, or NULL. */
const char *resolver_kernel_symbol(const struct resolver *r, const struct place *place);

/* Follow a KSYMBOL record. */
void resolver_kernel_follow(struct resolver *r, const struct record *rec);

/* Read the kernel's symbols. Called at the first kernel address. */
void resolver_kernel_open(struct resolver *r, const struct stream_reader *in);
