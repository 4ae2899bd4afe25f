/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolver's inside: shared by its caches (resolver.c), the kernel
 * (resolver-kernel.c) and its modules (resolver-module.c), what is mapped where
 * (resolver-object.c), what JIT compilers tell (resolver-jit.c), what it all is
 * called (resolver-name.c), and what came of it (resolver-report.c).
 */
#pragma once
#include "base/intern.h"
#include "base/pointers.h"
#include "resolve/resolver.h"
#include "resolve/source.h"
#include "symbol/jitmap.h"
#include "symbol/kallsyms.h"
#include "symbol/recorded-names.h"

enum {
	QUICK_FIRST = 1 << 14,	/* slots of the first cache, which grows */
	QUICK_MAX = 1 << 20,	/* up to this; both a power of two */
	QUICK_WAYS = 4,		/* slots where an address may be */
	QUICK_SHARE = 2,	/* slots for a frame, at least */
	JIT_CREDIT_FIRST = 1 << 18,	/* visits to processes, before any record */
	JIT_CREDIT_SAMPLE = 8,		/* a sample pays for */
	LINES_MAX = 512,	/* of one place: calls inlined into each other */
	FRAMES_MAX = 1 << 20,	/* distinct addresses; others are merged by their lines */
	OBJECTS_MAX = 1 << 18,	/* parts of files and memory; others are [unknown] */
};

/* What told the name of a frame. */
enum from { FROM_DEBUG, FROM_GO, FROM_SYMBOLS, FROM_KERNEL, FROM_JIT, FROM_NOTHING, FROMS };

/* Distinct frames in an object, by what told their names. */
struct tally {
	uint64_t frames[FROMS];
};

/* What the JIT compilers of a process tell. */
struct jit_process {
	pid_t pid;
	struct jitmap *map;	/* NULL: not read, or not kept */
	char *dump;		/* the jitdump file it mapped; NULL: none */
	uid_t user;		/* the effective one, as last seen; 0: root, or not known */
	uint32_t unnamed;	/* lookups that found nothing, until advice was given */
	uint32_t ended;		/* rounds since it was heard of, its end being told; 0: it lives */
};

/*
 * First cache: the frame at ADDRESS of the space of this GENERATION.  It is in
 * one of QUICK_WAYS slots next to each other; the first is the one added last.
 */
struct quick {
	uint64_t address;
	uint32_t key;		/* of the generation, see quick_key(); 0: the slot is empty */
	uint32_t frame;
};

/* An object of the resolved stream, and what it stands for. */
struct part {
	uint32_t object;	/* of lib/process; TABLE_NONE: what is mapped nowhere */
	uint64_t start, size;
	pid_t pid;		/* whose memory it is; 0: the same for all */
};

struct resolver {
	struct resolver_options options;
	struct resolved *tables;
	struct report *report;
	struct spaces spaces;
	struct quick *quick;
	size_t quick_slots;
	uint32_t quick_salt;		/* another one after each flush */
	uint64_t flushes;
	struct table frame_table;	/* over tables->frame, by (object, address) */
	struct table merged_table;	/* the same, by (object, lines), of those over FRAMES_MAX */
	struct source **source;		/* by object of lib/process */
	struct tally *tally;		/* the same */
	uint32_t tallies;
	struct tally nowhere_tally;
	uint32_t sources;
	struct elf_pool pool;		/* their files */
	struct fetcher fetcher;
	bool pool_told;			/* that it is nearly full */
	uint64_t uses;			/* of sources, counted: the time of struct source */
	struct part *part;		/* by object of the tables */
	struct table part_table;
	struct intern strings;		/* the same ids as tables->string */
	struct pointers source_strings;	/* those that sources gave, which stay where they are */
	struct table function_table;	/* over tables->function */
	size_t long_names;		/* bytes of long names of sources */
	bool names_told;		/* that further ones are cut */
	uint32_t *readable;		/* by string, if it was asked for: it demangled; or 0 */
	uint32_t readables;
	uint32_t *comm;			/* string of each name in spaces.tasks; 0: not used */
	uint32_t comms;
	struct jit_process *jit;
	uint32_t jits;
	struct table jit_table;		/* over JIT, by pid */
	uint32_t advised;		/* bit by compiler: how it writes its names was said */
	struct table map_table;		/* pids, by the file of their map; some are old */
	struct jit_budget jit_budget;
	uint64_t jit_credit;		/* visits to processes that records have paid for */
	bool round_ended;		/* and no sample has come since */
	enum from from;			/* of the place in hand */
	bool by_time;			/* another sample there may have another name */
	uint64_t time;			/* of the sample in hand, in jitdump's clock */
	uint64_t sample_time;		/* the same, in the stream's; 0: not recorded */
	struct kallsyms *kallsyms;
	bool kernel_tried;
	bool many_objects;		/* more than OBJECTS_MAX, which was reported */
	uint64_t kernel_shift;		/* from the recorded kernel's addresses to kallsyms' */
	uint64_t init_end;		/* as recorded: where the kernel's code for booting ends */
	uint32_t vmlinux;		/* its source; TABLE_NONE: none */
	uint64_t vmlinux_shift;		/* the same, to vmlinux's */
	struct recorded_names recorded;	/* symbols that the stream has itself */
	struct jitmap *ksymbols;	/* what the kernel itself made; NULL: nothing */
	struct resolved_line line[LINES_MAX];	/* of the place in hand */
	uint32_t *frame;		/* of the sample in hand */
	size_t frame_capacity;
	uint64_t opened, named;
};

/* Where an address is: a part of an object, and the address in it. */
struct place {
	uint32_t object;		/* of the tables */
	uint64_t address;
	uint32_t source;		/* to look it up in; TABLE_NONE: none */
	uint64_t own_address;		/* in that source */
	bool in_kernel;			/* to look it up in kallsyms */
	struct jitmap *jit;		/* to look it up in; NULL: none */
	uint32_t recorded;		/* 1 + the file in r->recorded to look it up in; 0: none */
	uint64_t recorded_address;	/* in that file */
};

/* What was found before may have another name now: the first cache is empty, at no cost. */
static inline void flush_quick(struct resolver *r)
{
	r->quick_salt = (uint32_t)hash_u64(++r->flushes);
}

/* Where ADDRESS is, which is mapped in SPACE of process PID. */
struct place place_of(struct resolver *r, const struct stream_reader *in, pid_t pid,
		      const struct space *space, uint64_t address);

/* The same, where M of that space, of no kernel, covers ADDRESS. */
struct place place_in_process(struct resolver *r, const struct stream_reader *in, pid_t pid,
			      const struct space *space, const struct mapping *m,
			      uint64_t address);

/* The tables' object for a part of an object of lib/process; PID: whose memory it is, or 0. */
uint32_t part_id(struct resolver *r, uint32_t object, pid_t pid, struct resolved_object part);

/* The place of an address where nothing is mapped. */
struct place nowhere(struct resolver *r, uint64_t address);

/* The source of this object of lib/process, which may not have been looked for. */
struct source *source_at(struct resolver *r, uint32_t object);

/* A source of PATH, which will be looked for right now. */
struct source new_source(const struct resolver *r, const char *path);

/* Begin to fetch what the frames of S need, all at once. */
void foresee_files(struct resolver *r, const struct stream_reader *in, const struct sample *s);

/* Open what the MMAP record REC maps, while it is there. */
void open_mapped(struct resolver *r, const struct stream_reader *in, const struct record *rec);

/* What the JIT compilers of process PID tell; NULL: nothing can be known. */
struct jitmap *jit_of(struct resolver *r, const struct stream_reader *in, pid_t pid);

/* The function of MAP at ADDRESS when the sample in hand was taken; false: it has none. */
bool jit_knows(struct resolver *r, struct jitmap *map, uint64_t address, struct jit_place *found);

/* No file has a name for code that process PID made: if that is often so, say what would help. */
void advise_jit(struct resolver *r, pid_t pid);

/* Take in REC, which may end a program, or a round. */
void follow_jit(struct resolver *r, const struct stream_reader *in, const struct record *rec);

/* FILE is mapped by process PID: if it is a jitdump file, read it. */
void open_jitdump(struct resolver *r, const struct stream_reader *in, pid_t pid,
		  const char *file);

/* Samples come next, up to the stream's present: read what has been added to all files. */
void refresh_jits(struct resolver *r);

/* The same, of one map.  Returns whether there was anything. */
bool refresh_jit(struct resolver *r, struct jitmap *map);

/* The time of a sample of an event of ATTR, in jitdump's clock; JIT_LATEST: not known. */
uint64_t jit_time(const struct perf_event_attr *attr, const struct sample *sample);

void release_jits(struct resolver *r);

/* The tables' string for TEXT. */
uint32_t string_id(struct resolver *r, const char *text);

/* Look PLACE up; its lines, innermost first, are in r->line.  Returns how many. */
uint32_t find_lines(struct resolver *r, const struct place *place);

/* The line, in r->line, of addresses without a name that are too many.  Returns 1. */
uint32_t find_nameless_line(struct resolver *r);

/* Was it recorded on this machine, as it runs now? */
bool is_local(const struct stream_reader *in);

/* The mapping of the kernel image itself; NULL: the stream has none. */
const struct mapping *kernel_image(const struct resolver *r);

/* Set where PLACE, in the module that M maps, is looked up: in the module's file, if it is here. */
void place_in_module(struct resolver *r, const struct stream_reader *in,
		     const struct mapping *m, uint64_t address, struct place *place);

/* What kallsyms calls the code at PLACE in the kernel; NULL: it does not know. */
const char *kernel_symbol(const struct resolver *r, const struct place *place);

/* Take in a KSYMBOL record. */
void follow_ksymbol(struct resolver *r, const struct record *rec);

/* Read the kernel's symbols, at the first of its addresses. */
void open_kernel(struct resolver *r, const struct stream_reader *in);
