/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whole - a fuzzer of whole tools: streams and profiles, mutated by their records, go
 * through a tool or a pipe of tools, and what comes out is judged.
 *
 *	model.c		a stream, taken apart into records, and put together again
 *	layout.c	where the fields of samples lie
 *	records.c	what can happen to the records of a stream
 *	edits.c		what can happen to the fields of one record
 *	messages.c	the same for profiles, and other protocol buffers
 *	judge.c		whether an output is what the tool promises
 *	run.c		a tool, run in a child with limits
 *	scenarios.c	which tools, with which options, and what must hold
 *	fuzz-tools.c	the loop
 */
#pragma once
#include "base/arena.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum { INPUT_MAX = 900 * 1024 };	/* bytes of an input; less than a pipe holds */

struct span {
	uint8_t *at;
	size_t size;
};

/* Random numbers, the same for the same seed. */
struct dice {
	uint64_t state;
};
uint64_t dice_next(struct dice *d);
uint64_t dice_below(struct dice *d, uint64_t limit);	/* 0 .. LIMIT - 1; LIMIT is not 0 */
bool dice_once_in(struct dice *d, uint64_t n);

/* One record: as the stream has it, but for its header. */
struct item {
	uint32_t type;
	uint16_t misc;
	int32_t claims;		/* the size that its header says; -1: its real one */
	struct span body;
	struct span behind;	/* of TRACING_DATA and AUXTRACE: what no size counts */
};

enum wrapping { WRAP_NOT, WRAP_ZSTD, WRAP_GZIP, WRAPPINGS };

struct model {
	struct arena *arena;	/* of all bytes that are changed */
	struct item *item;	/* ATTRs and FEATUREs of a perf.data file among them */
	size_t count, room;
	bool swap;		/* of the other byte order */
	bool is_file;		/* is written as a perf.data file with sections */
	bool compressed;	/* is written with COMPRESSED records */
	enum wrapping wrapping;
	int64_t header[13];	/* added to the words of a file's header */
	uint64_t sample_type, read_format, branch_type;	/* of the first event */
	uint64_t user_regs, intr_regs;
	bool has_trailers;	/* sample_id_all */
};

/* Take BYTES apart.  False: that is no stream, or none of which anything is left. */
bool model_parse(struct model *m, struct span bytes, struct arena *arena);
/* The first event again, after ATTRs were changed. */
void model_learn(struct model *m);
/* The stream of the records; at most INPUT_MAX bytes.  From the arena. */
struct span model_write(const struct model *m);
/* Room for COUNT items at index AT; they are to be filled. */
struct item *model_insert(struct model *m, size_t at, size_t count);
struct span span_copy(struct arena *arena, struct span from, size_t size);
struct span span_unpack(struct arena *arena, struct span packed, enum wrapping *wrapping);
struct span span_pack(struct arena *arena, struct span plain, enum wrapping wrapping);

/* Numbers in the stream's byte order; AT + the number's size is in BODY, else 0 or nothing. */
uint64_t get64(const struct model *m, struct span body, size_t at);
uint32_t get32(const struct model *m, struct span body, size_t at);
void put64(const struct model *m, struct span body, size_t at, uint64_t value);
void put32(const struct model *m, struct span body, size_t at, uint32_t value);

/* What a number means, so that it is changed to one that matters. */
enum meaning { ANY, ADDRESS, PID, TIME, COUNT, SIZE32, ID };
struct field {
	size_t at;		/* in the body */
	uint8_t size;		/* 4 or 8 bytes */
	enum meaning meaning;
};
enum { FIELDS_MAX = 64 };
/* The fields of a record, as far as they are known. */
size_t fields_of(const struct model *m, const struct item *item, struct field field[FIELDS_MAX]);

/* Change one thing about the records; OTHER is another stream, or NULL. */
void mutate_records(struct model *m, const struct model *other, struct dice *d);
/* Change one field, string or size of a record. */
void edit_item(struct model *m, struct item *item, struct dice *d);
/* Change what an ATTR says of its event. */
void edit_attr(struct model *m, struct item *item, struct dice *d);
/* A number that matters for such a field. */
uint64_t number_for(const struct model *m, enum meaning meaning, uint64_t old, struct dice *d);
/* Any bytes, changed without knowing what they are. */
struct span mutate_bytes(struct arena *arena, struct span from, struct dice *d);

/* Change a profile, or another message, at any depth. */
struct span mutate_message(struct arena *arena, struct span message, struct dice *d);

/* What is wrong with an output; NULL: nothing.  IS_WHOLE: its tool has exited with 0. */
const char *judge_profile(struct span bytes, bool is_whole);	/* gzip'd, zstd or plain */
const char *judge_folded(struct span text);
const char *judge_text(struct span text);	/* what a terminal shows */
const char *judge_json(struct span text);	/* a value each line */
const char *judge_page(struct span text, bool is_whole);	/* of pmu-flame */

struct outcome {
	int status;		/* of the exit; -1: by a signal */
	int signal;
	double cpu;		/* seconds */
	long peak;		/* KiB, beyond what this program had itself */
	struct span out, err;	/* from malloc, with a NUL after them */
};

/* Run a tool here: ARGV, stdin from INPUT as a file, or as a PIPE. */
void run_tool(char **argv, const char *input, bool pipe, struct outcome *o);
void outcome_release(struct outcome *o);
void remove_below(const char *directory);

/* Coverage: whether the last run came where none before did.  Always false without it. */
bool coverage_grew(void);
size_t coverage_seen(void);

enum input_kind { OF_STREAM, OF_PROFILE, KINDS };
struct scenario {
	const char *name;
	enum input_kind kind;
	const char *step[5];
};
extern const struct scenario scenarios[];
extern const size_t scenario_count;

/*
 * Run SCENARIO on the file "in", of SIZE bytes.  What is wrong, as a static or an
 * arena's text; NULL: nothing.  *RAN counts the tools.
 */
const char *run_scenario(const struct scenario *s, size_t size, struct arena *arena,
			 uint64_t *ran);
