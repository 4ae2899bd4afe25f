/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolved - the resolved stream's definitions and samples (pmu-stream(5)).
 *
 * Definitions (strings, objects, functions, frames, chains) are kept in arrays, indexed by
 * dense ids.  A resolver (lib/resolve) fills the arrays, or the functions here that
 * read a resolved stream; the users of the arrays need not know which.  To write a
 * stream, write the definitions added since the last write, then the sample.
 *
 * A stream restarts its definitions from time to time (RESTART): ids then start at 0 again, and
 * definitions that are still in use are written again.  So a writer can forget definitions.  A
 * reader gives equal definitions the same id in its arrays, whatever their ids in the stream: its
 * users do not notice a restart.  Chains are an exception: there may be millions, so a reader keeps
 * only those since the last restart, with their ids in the stream.
 */
#pragma once
#include "base/arena.h"
#include "base/output.h"
#include "base/table.h"
#include "record/stack-end.h"
#include "resolved/label-sets.h"
#include "stream/reader.h"

enum object_kind {
	OBJECT_FILE,		/* an executable or library */
	OBJECT_KERNEL,		/* the kernel image */
	OBJECT_MODULE,		/* a kernel module */
	OBJECT_VDSO,
	OBJECT_ANONYMOUS,	/* no file: JIT code, a stack */
	OBJECT_UNKNOWN,		/* nothing was mapped at the frame's address */
};

enum { OBJECT_IS_MAIN = 1 };	/* flag: the executable of the profiled process */

/*
 * A mapped part of a file or of memory that contains code.  Its addresses do not
 * depend on the process: ELF virtual addresses if the file was read, else file
 * offsets (plus 2^40 if the mapping starts at offset 0, so that no object starts at
 * address 0).  Objects that are not files have memory addresses.
 */
struct resolved_object {
	uint32_t path;		/* string */
	uint16_t kind;		/* enum object_kind */
	uint16_t flags;		/* OBJECT_IS_MAIN */
	uint64_t start, size;	/* range of the object's addresses that is mapped */
	uint64_t file_offset;	/* offset in the file of the byte at START */
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;	/* bytes; 0: unknown */
};

struct resolved_function {
	uint32_t name;		/* string: demangled name */
	uint32_t system_name;	/* string: name in the symbol table (mangled) */
	uint32_t file;		/* string: file of its declaration; 0: unknown */
	uint32_t line;		/* line where it starts; 0: unknown */
};

/* A function at an address, and the source line there. */
struct resolved_line {
	uint32_t function;	/* id */
	uint32_t file;		/* string; 0: unknown */
	uint32_t line;		/* 0: unknown */
	uint32_t column;	/* 0: unknown */
};

/*
 * Start of an object that lies at offset 0 of a file that was not read.  go tool pprof assumes
 * that a mapping that starts at 0 is not relocated, and then finds no symbols of a program linked
 * at another address.
 */
#define RESOLVED_NOT_ZERO (1ULL << 40)

/* An address of code.  It has several lines if functions are inlined there. */
struct resolved_frame {
	uint32_t object;	/* id */
	uint32_t lines;		/* number of LINE; 0: the function is unknown */
	uint64_t address;	/* in the object */
	const struct resolved_line *line;	/* innermost first */
};

/* What the data address of a sample is in.  The numbers are those of the stream. */
enum data_kind {
	DATA_UNKNOWN,		/* nothing is known of the memory */
	DATA_VARIABLE,		/* a variable of a symbol table */
	DATA_CODE,		/* a function: code was read, or a page of it was mapped */
	DATA_FILE,		/* a file, where no symbol is known */
	DATA_STACK,		/* the stack of a thread */
	DATA_HEAP,		/* the heap that brk() extends */
	DATA_ANONYMOUS,		/* other memory without a file */
	DATA_KERNEL_VARIABLE,	/* a variable of the kernel */
	DATA_KERNEL,		/* other memory of the kernel */
	DATA_KINDS
};

/*
 * A datum: a variable, or a piece of memory that has one name.  A sample refers to it, and has the
 * offset in it.  Of a datum without a place in an object (a stack, the heap, other memory), ADDRESS
 * and SIZE are 0, and the offset is the address in the process.
 */
struct resolved_datum {
	uint32_t object;	/* id */
	uint32_t function;	/* id: the name of the datum; file and line of its declaration */
	uint16_t kind;		/* enum data_kind */
	uint32_t thread;	/* whose stack it is; 0: it is not a stack */
	uint64_t address;	/* in the object, where the offset is 0 */
	uint64_t size;		/* bytes; 0: unknown */
};

/* The frames of samples, and how their program's stack ends.  Many samples have the same. */
struct resolved_chain {
	size_t first;		/* index of the first of its frames, the leaf */
	uint32_t frames;	/* how many; at least 1 */
	enum stack_end end;
};

/* Zero-initialised: empty. */
struct resolved_chains {
	struct resolved_chain *chain;	/* by id */
	uint32_t *frame;		/* ids of frames, chain after chain */
	uint32_t count;
	size_t frames, room;		/* elements of FRAME: used, allocated */
};

/* Zero-initialised: empty. */
struct resolved {
	const char **string;	/* [0] is "" */
	struct resolved_object *object;
	struct resolved_function *function;
	struct resolved_frame *frame;
	uint32_t strings, objects, functions, frames;
	struct resolved_datum *datum;
	uint32_t data;		/* elements of DATUM */
	uint32_t *late;		/* frames that got their lines later: resolved_name_frame() */
	uint32_t lates;		/* elements of LATE */
	struct resolved_chains chains;	/* of a stream that is written; a reader has its own */
	uint64_t samples;	/* samples read or written */
	struct arena arena;	/* memory of strings and lines */
	struct label_sets labels;	/* labels of samples */
};

/* Add a definition and return its id.  Text and lines are copied; ids in it must be defined. */
uint32_t resolved_add_string(struct resolved *r, const char *text, size_t size);
uint32_t resolved_add_object(struct resolved *r, const struct resolved_object *object);
uint32_t resolved_add_function(struct resolved *r, const struct resolved_function *function);
uint32_t resolved_add_frame(struct resolved *r, const struct resolved_frame *frame);
uint32_t resolved_add_datum(struct resolved *r, const struct resolved_datum *datum);
uint32_t resolved_add_chain(struct resolved_chains *c, const uint32_t *frame, uint32_t frames,
			    enum stack_end end);

/* Forget all chains, and keep the room for them. */
void resolved_forget_chains(struct resolved_chains *c);

/*
 * Return whether the offset in a datum of KIND says where in it an address is.  Otherwise the
 * offset is the address itself.
 */
bool resolved_has_offset(enum data_kind kind);

/* Write OFFSET of datum ID to TEXT, SIZE bytes: "counters+0x40", "libfoo.so+0x1234", "[heap]". */
void resolved_datum_text(const struct resolved *r, uint32_t id, uint64_t offset, char *text,
			 size_t size);

/* Return the word for KIND: "variable", "stack". */
const char *resolved_kind_word(enum data_kind kind);

/* Return the id of the function F, which is added if BY_CONTENT, the caller's table, lacks it. */
uint32_t resolved_function_id(struct resolved *r, struct table *by_content,
			      const struct resolved_function *f);

/*
 * Give frame ID, which has no lines yet, the LINES lines in LINE, which are copied.  This also
 * names the frame in earlier samples.
 */
void resolved_name_frame(struct resolved *r, uint32_t id, const struct resolved_line *line,
			 uint32_t lines);

/*
 * Move the definitions of R to *PAST, for the caller to release.  The number of samples stays, and
 * so do the sets of labels: a sample at hand may refer to one.
 */
void resolved_restart(struct resolved *r, struct resolved *past);

/* Return about how many bytes of memory R takes. */
size_t resolved_memory(const struct resolved *r);

void resolved_release(struct resolved *r);

/* The optional values of a sample, in the order of their bits in sample_type. */
enum resolved_value {
	VALUE_ADDR, VALUE_WEIGHT, VALUE_DATA_SRC, VALUE_TRANSACTION, VALUE_PHYS_ADDR,
	VALUE_CGROUP, VALUE_DATA_PAGE_SIZE, VALUE_CODE_PAGE_SIZE, VALUES
};

/* The PERF_SAMPLE_* bits of each optional value. */
extern const uint64_t resolved_value_bits[VALUES];
#define RESOLVED_VALUE_BITS	/* all of them */ \
	(PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC | \
	 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP | \
	 PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)

/* A sample.  The frames of one that was just read are ids of the stream. */
struct resolved_sample {
	uint32_t event;		/* index into the stream's events */
	uint16_t misc;		/* PERF_RECORD_MISC_* */
	pid_t pid, tid;
	uint32_t cpu;
	uint32_t comm;		/* string: the thread's name at that time */
	uint64_t time, period;
	uint64_t has;		/* PERF_SAMPLE_* bits of the values that are set, and of RAW */
	uint64_t value[VALUES];	/* by enum resolved_value; 0 if not set */
	enum stack_end end;	/* of the program's stack */
	struct bytes raw;	/* a tracepoint's fields, if HAS has PERF_SAMPLE_RAW */
	uint32_t chain;		/* 1 + id of the chain that has END and the frames; 0: none */
	uint32_t frames;	/* number of FRAME, at least 1 */
	const uint32_t *frame;	/* ids, leaf first; like RAW, valid until the next record */
	uint32_t labels;	/* 1 + id of the set of the labels; 0: unknown */
	uint8_t label_status;	/* enum label_status, if LABELS is not 0 */
	uint8_t label_flags;	/* LABEL_CUT, LABEL_FAULT, LABEL_LEFT_OUT */
	uint32_t datum;		/* 1 + id of what the data address is in; 0: not looked up */
	uint64_t data_offset;	/* bytes: of the data address in that datum */
	uint32_t member;	/* 1 + string: "[].lock", the member of that variable, "" if it has
				   none; 0: unknown */
};

/* Frames of a chain.  They fit into a record, and exceed what a SAMPLE record can hold. */
enum { RESOLVED_FRAMES_MAX = 16000 };

/* Where to write, and how many definitions have been written since the last restart. */
struct resolved_writer {
	struct output *out;
	uint32_t strings, objects, functions, frames, labels, data, chains;
	uint32_t lates;		/* elements of resolved.late that were written */
	uint64_t bytes;		/* size of these definitions' records, without chains */
	uint64_t chain_bytes;	/* size of the records of chains */
};

/* Write the definitions added, and the frames named, since the last call. */
void resolved_write_new(struct resolved_writer *w, const struct resolved *r);

/* Write SAMPLE, which has a chain, and count it in R; its definitions must have been written. */
void resolved_write_sample(struct resolved_writer *w, struct resolved *r,
			   const struct resolved_sample *sample);

/* Write a TOOL record, which describes one filter that made this stream. */
void resolved_write_tool(struct output *out, const char *name, const char *version,
			 const char *arguments);

/*
 * Write a RESTART record: the definitions in R are forgotten.  The caller then empties R, but
 * keeps R->samples.
 */
void resolved_write_restart(struct resolved_writer *w, const struct resolved *r);

/* Write a CHAINS_RESTART record, and forget the chains in R. */
void resolved_write_chains_restart(struct resolved_writer *w, struct resolved *r);

/*
 * Write the END record: the number of samples, and of definitions since the last restart.  A
 * truncated stream has no END.
 */
void resolved_write_end(struct output *out, const struct resolved *r);

/* A TOOL record's fields: views into the record. */
struct resolved_tool {
	const char *name, *version, *arguments;
};

/*
 * Where the definitions read are kept.  Zero-initialised except for TABLES: no definition was
 * read.
 */
struct resolved_reader {
	struct resolved *tables;	/* each definition once */
	uint32_t strings, objects, functions, frames;	/* defined since the last restart */
	/* ids in TABLES, by id in the stream: */
	uint32_t *string, *object, *function, *frame, *label_set, *datum;
	uint32_t label_sets, data;	/* defined since the last restart */
	struct resolved_chains chains;	/* the same; with ids of frames in the stream */
	uint64_t chain_restarts;	/* how often chains were forgotten: their ids are new */
	bool restarted;		/* TABLES may have definitions that the stream has forgotten */
	/* private: hash indexes over the definitions in TABLES, by their contents */
	struct table string_table, object_table, function_table, frame_table, datum_table;
};

/*
 * Read a record of a resolved stream: a definition, a NAME, a RESTART or a CHAINS_RESTART; a sample
 * into *SAMPLE, with ids of the stream; a TOOL record into *TOOL.  FRAME (room for
 * RESOLVED_FRAMES_MAX) gets the frames of a sample that has no chain.  EVENTS is the stream's
 * number of events.  Return false if the record is damaged, with the reason in *WHY.
 */
bool resolved_read_definition(struct resolved_reader *r, const struct record *rec,
			      const char **why);
bool resolved_read_sample(const struct resolved_reader *r, const struct record *rec,
			  uint32_t events, uint32_t *frame, struct resolved_sample *sample,
			  const char **why);
bool resolved_read_tool(const struct record *rec, struct resolved_tool *tool, const char **why);

/*
 * Load what resolved_read_sample() needs of REC, a CHAIN_SAMPLE, into the CPU's caches.  Return the
 * id of its chain, or UINT32_MAX if REC is too short.
 */
uint32_t resolved_prefetch(const struct resolved_reader *r, const struct record *rec);

/* Return the name of the thread of SAMPLE, which was just read; "": unknown. */
const char *resolved_comm(const struct resolved_reader *r, const struct resolved_sample *sample);

/*
 * Change the ids in SAMPLE, which was just read, to those of r->tables: all but the frames, which
 * are not needed if the sample has a known chain.  They are valid until the next resolved_forget(),
 * so call it after anything that may forget.
 */
void resolved_translate(const struct resolved_reader *r, struct resolved_sample *sample);

/* The same for its frames.  They are then in FRAME, which has room for RESOLVED_FRAMES_MAX. */
void resolved_translate_frames(const struct resolved_reader *r, struct resolved_sample *sample,
			       uint32_t *frame);

/*
 * Return the frame in r->tables that stands for the data at OFFSET of DATUM, an id of these tables.
 * Its function is the name of the datum, and if NAMED the offset, too.  A small variable has a
 * frame for each offset, a large one has at most 128 frames for its parts, and memory without a
 * size has one frame.
 */
uint32_t resolved_datum_frame(struct resolved_reader *r, uint32_t datum, uint64_t offset,
			      bool named);

/* Return whether the counts in REC, an END record, are equal to those of R; if not, set *WHY. */
bool resolved_read_end(const struct resolved_reader *r, const struct record *rec, const char **why);

/* What else may be wrong: with a record, or with a stream whose records are whole. */
#define RESOLVED_HAS_RAW "raw SAMPLE record in a resolved stream"
#define RESOLVED_IN_RAW "record of a resolved stream in a raw one"
#define RESOLVED_NO_END "the resolved stream has no END record: it was cut short, or the filter " \
	"before found damage"

/*
 * Remove from r->tables what the stream has forgotten.  The old tables move to *PAST, for the
 * caller to release.  The FRAMES frames whose ids are in FRAME stay; FRAME is set to their new
 * ids.
 */
void resolved_forget(struct resolved_reader *r, struct resolved *past, uint32_t *frame,
		     size_t frames);

/* Free all but r->tables. */
void resolved_reader_release(struct resolved_reader *r);
