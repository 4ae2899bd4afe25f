/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolved - the resolved stream's definitions and samples (pmu-stream(5)).
 *
 * Definitions live in arrays by dense ids: strings, objects, functions,
 * frames.  They are filled by a resolver (lib/resolve), or by reading a
 * resolved stream; a consumer cannot tell which, and writing a stream is
 * writing what has been added since the last write.
 */
#pragma once
#include "base/arena.h"
#include "base/output.h"
#include "record/events.h"
#include "stream/reader.h"

enum object_kind {
	OBJECT_FILE,		/* an executable or library */
	OBJECT_KERNEL,		/* the kernel image */
	OBJECT_MODULE,		/* a kernel module */
	OBJECT_VDSO,
	OBJECT_ANONYMOUS,	/* no file: JIT code, a stack */
	OBJECT_UNKNOWN,		/* nothing was mapped where the frame is */
};

enum { OBJECT_IS_MAIN = 1 };	/* flag: the executable of the profiled process */

/*
 * A part of a file or of memory that holds code.  Addresses in it are those of
 * the object, not of one process: an ELF's own virtual addresses where the
 * file was read, offsets in the file where not (from 2^40 on where the mapping
 * begins at offset 0, so that none starts at 0), and addresses in memory for
 * all that is no file.
 */
struct resolved_object {
	uint32_t path;		/* string */
	uint16_t kind;		/* enum object_kind */
	uint16_t flags;		/* OBJECT_IS_MAIN */
	uint64_t start, size;	/* the addresses in the object that are mapped */
	uint64_t file_offset;	/* bytes from the file's start to START's byte */
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;	/* bytes; 0: unknown */
};

struct resolved_function {
	uint32_t name;		/* string: as a person reads it */
	uint32_t system_name;	/* string: as the linker has it (mangled) */
	uint32_t file;		/* string: where it is declared; 0: unknown */
	uint32_t line;		/* where it begins; 0: unknown */
};

struct resolved_line {
	uint32_t function;
	uint32_t file;		/* string; 0: unknown */
	uint32_t line;		/* 0: unknown */
	uint32_t column;	/* 0: unknown */
};

/* A place in the code, which inlining may make several calls deep. */
struct resolved_frame {
	uint32_t object;
	uint32_t lines;		/* how many; 0: no name is known */
	uint64_t address;	/* in the object */
	const struct resolved_line *line;	/* innermost first */
};

/* Zero-initialised: empty. */
struct resolved {
	const char **string;	/* [0] is "" */
	struct resolved_object *object;
	struct resolved_function *function;
	struct resolved_frame *frame;
	uint32_t strings, objects, functions, frames;
	uint64_t samples;	/* RESOLVED_SAMPLEs read or written */
	struct arena arena;	/* what the above point to */
};

/* Add a definition; its id is returned.  Text and lines are copied; ids in it must be defined. */
uint32_t resolved_add_string(struct resolved *r, const char *text, size_t size);
uint32_t resolved_add_object(struct resolved *r, const struct resolved_object *object);
uint32_t resolved_add_function(struct resolved *r, const struct resolved_function *function);
uint32_t resolved_add_frame(struct resolved *r, const struct resolved_frame *frame);

void resolved_release(struct resolved *r);

/* The optional values of a sample, in the order of their bits in sample_type. */
enum resolved_value {
	VALUE_ADDR, VALUE_WEIGHT, VALUE_DATA_SRC, VALUE_TRANSACTION, VALUE_PHYS_ADDR,
	VALUE_CGROUP, VALUE_DATA_PAGE_SIZE, VALUE_CODE_PAGE_SIZE, VALUES
};

/* Their PERF_SAMPLE_* bits. */
extern const uint64_t resolved_value_bits[VALUES];
#define RESOLVED_VALUE_BITS	/* all of them */ \
	(PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC | \
	 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP | \
	 PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)

/* What a RESOLVED_SAMPLE says. */
struct resolved_sample {
	uint32_t event;		/* index into the stream's events */
	uint16_t misc;		/* PERF_RECORD_MISC_* */
	pid_t pid, tid;
	uint32_t cpu;
	uint32_t comm;		/* string: the thread's name at that time */
	uint64_t time, period;
	uint64_t has;		/* PERF_SAMPLE_* bits of the values it has, and of RAW */
	uint64_t value[VALUES];	/* by enum resolved_value; 0 where it has none */
	struct bytes raw;	/* a tracepoint's fields, if HAS says PERF_SAMPLE_RAW */
	uint32_t frames;	/* at least 1, the leaf first */
	const uint32_t *frame;	/* valid until the next record, as RAW is */
};

/* As fit into a record, and more than samples have, whose records are no longer. */
enum { RESOLVED_FRAMES_MAX = 16000 };

/* How far definitions have been written.  Zero-initialised: not at all. */
struct resolved_writer {
	struct output *out;
	uint32_t strings, objects, functions, frames;
};

/* Write the definitions added since the last call. */
void resolved_write_new(struct resolved_writer *w, const struct resolved *r);

/* Write the sample; its definitions must have been written. */
void resolved_write_sample(struct resolved_writer *w, struct resolved *r,
			   const struct resolved_sample *sample);

/* TOOL: one filter that made this stream. */
void resolved_write_tool(struct output *out, const char *name, const char *version,
			 const char *arguments);

/* END: how much was sent; without it a stream was cut short. */
void resolved_write_end(struct output *out, const struct resolved *r);

/* A TOOL record's fields: views into the record. */
struct resolved_tool {
	const char *name, *version, *arguments;
};

/*
 * Read a record of a resolved stream into R.  False when it is damaged: WHY
 * says how.  For those that are no definitions: *SAMPLE has what a
 * RESOLVED_SAMPLE says, with frames in FRAME (room for RESOLVED_FRAMES_MAX).
 */
bool resolved_read_definition(struct resolved *r, const struct record *rec, const char **why);
bool resolved_read_sample(struct resolved *r, const struct record *rec, uint32_t events,
			  uint32_t *frame, struct resolved_sample *sample, const char **why);
bool resolved_read_tool(const struct record *rec, struct resolved_tool *tool);

/* Whether the END record's counts are what R has. */
bool resolved_read_end(const struct resolved *r, const struct record *rec);
