/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolver - turns the addresses of samples into frames: the object that contains each address,
 * and the functions, files and lines there.
 *
 * Each distinct address of an object is looked up once. After that, a frame costs one probe of a
 * cache. An address that cannot be resolved stays an address in its object, and is counted.
 */
#pragma once
#include "base/report.h"
#include "locate/locate.h"
#include "names/demangle.h"
#include "process/space.h"
#include "resolve/cache.h"
#include "resolve/stack-ends.h"
#include "resolved/resolved.h"

struct resolver;

struct resolver_options {
	enum demangle_style demangle;
	bool no_inlines;	/* only functions, without the calls inlined into them */
	bool no_lines;		/* no files and lines */
	/* look up names; false: only objects and addresses, and no file is read */
	bool symbols;
	/* file of the kernel's symbols; NULL: this kernel's, if it is the recorded one */
	const char *kallsyms;
	struct locate_options where;	/* where to look for files */
	struct cache cache;		/* with a NULL directory: no cache */
	uint64_t definitions_max;	/* for resolver_is_full(), in bytes of records */
};

/* Initialisers of the sizes in a struct resolver_options, where the user says nothing. */
#define RESOLVER_USUAL_SIZES .cache.size_max = 1 << 30, .definitions_max = 16 << 20

/* Totals for the summary. */
struct resolver_counts {
	uint64_t frames;	/* distinct frames defined since the tables were new */
	uint64_t named;		/* of these, frames with a name */
	uint64_t objects;	/* files opened */
};

/*
 * Return a new resolver. It adds DEFINITIONS and reports problems to REPORT. Both must
 * outlive the resolver.
 */
struct resolver *resolver_new(const struct resolver_options *options, struct resolved *definitions,
			      struct report *report);

/* Follow a record from IN of any type except SAMPLE. A damaged record is reported. */
void resolver_follow(struct resolver *r, struct stream_reader *in, const struct record *rec);

/*
 * Set *OUT to all fields of SAMPLE except its frames. Pointers in *OUT are valid until the
 * next call.
 */
void resolver_fields(struct resolver *r, const struct stream_reader *in,
		     const struct sample *sample, struct resolved_sample *out);

/*
 * Set the frames of *OUT, and how the stack of the program ends. resolver_fields() has set all
 * other fields. The frames are valid until the next call.
 */
void resolver_frames(struct resolver *r, const struct stream_reader *in,
		     const struct sample *sample, struct resolved_sample *out);

/*
 * Return the address in the process that each frame of the last resolver_frames() stands for, 0 if
 * it stands for none.
 */
const uint64_t *resolver_addresses(const struct resolver *r);

/*
 * Return the version of the address spaces that SAMPLE uses (user, kernel, guest). If the versions
 * of two samples are equal, equal addresses in them mean the same code. The version changes
 * whenever an address may mean something else, and differs between processes.
 */
uint64_t resolver_version(struct resolver *r, const struct sample *sample);

/*
 * Set *VERSION to the version that all samples of process PID have until a record of another type
 * comes.  Return false if it depends on the sample: mappings of data of the process may be code.
 */
bool resolver_process_version(struct resolver *r, pid_t pid, uint64_t *version);

/* Count SAMPLE, whose stack ends in END, for the advice of stack_ends_report(). */
void resolver_count(struct resolver *r, const struct stream_reader *in,
		    const struct sample *sample, enum stack_end end);

/*
 * The same for a sample without a stack dump.  FOLLOWS: resolver_follows() of its event, which is
 * the same for all its samples until the next record of another type.
 */
void resolver_count_end(struct resolver *r, enum stack_end end, bool follows);
bool resolver_follows(struct resolver *r, const struct stream_reader *in, uint32_t event);

/* Return how the stacks of all counted samples ended. */
const struct stack_ends *resolver_stack_ends(const struct resolver *r);

/*
 * Set what the data address of SAMPLE is in, if it has one, or, if it is of a thread in a futex()
 * call, what the word of that call is in.  The frames of *OUT are set.
 */
void resolver_data(struct resolver *r, const struct stream_reader *in,
		   const struct sample *sample, struct resolved_sample *out);

/*
 * What the callchain of a sample is known by: samples with equal keys have the same frames, and
 * their stacks end in the same way, if no name in them depends on the time.
 */
struct resolver_key {
	struct hash_wide hash;
	uint64_t flushes;	/* how often names had changed by then */
};

/*
 * Return the key of SAMPLE, and load what is known by it into the CPU's caches.  It holds until a
 * record of another type comes.
 */
struct resolver_key resolver_key(struct resolver *r, const struct stream_reader *in,
				 const struct sample *sample);

/*
 * Set *OUT to all of SAMPLE, which has KEY, but its frames: its chain has them.  The chain is added
 * to the definitions if it is new.  Counts the sample.
 */
void resolver_sample(struct resolver *r, const struct stream_reader *in,
		     const struct sample *sample, const struct resolver_key *key,
		     struct resolved_sample *out);

/*
 * For callers that keep chains themselves.  Before resolver_frames(): return the hash of KEY, of
 * SAMPLE, made anew if names of JIT compilers have come since.
 */
struct hash_wide resolver_reach(struct resolver *r, const struct stream_reader *in,
				const struct sample *sample, const struct resolver_key *key);

/*
 * After resolver_frames(): return whether all samples with the hash of this one have the frames of
 * OUT, and whether resolver_frames() has nothing to note of them.
 */
bool resolver_frames_stay(const struct resolver *r, const struct resolved_sample *out);

/*
 * At the end of the stream: look again for names of code that JIT compilers made, and give them to
 * frames without a name.  If a process still has no names, report what would help.
 * resolver_follow() does the same for a process that ends.
 */
void resolver_name_late(struct resolver *r, const struct stream_reader *in);

/*
 * Start with new tables, to drop definitions that are no longer in use. The old definitions move
 * to *PAST, for the caller to release. The FRAMES frames whose ids are in FRAME are defined again,
 * and FRAME is set to their new ids. If names are looked up, FRAMES must be 0; then frames that
 * wait for a name (late.c) are defined again.
 */
void resolver_restart(struct resolver *r, struct resolved *past, uint32_t *frame,
		      size_t frames);

/* Return the threads of the stream, including those that have ended. */
const struct tasks *resolver_tasks(const struct resolver *r);

/*
 * Return whether to call resolver_restart(): whether BYTES, the size of the records of all
 * definitions since the tables were new, exceeds definitions_max, and also about twice the size of
 * the definitions in use.
 */
bool resolver_is_full(struct resolver *r, uint64_t bytes);

/*
 * Return whether to forget the chains: whether most definitions are chains, and all of them exceed
 * these limits.  The records of chains have CHAINS bytes, those of all other definitions BYTES.
 * The caller removes them from the definitions, and calls the second function.
 */
bool resolver_has_many_chains(struct resolver *r, uint64_t chains, uint64_t bytes);
void resolver_restart_chains(struct resolver *r);

struct resolver_counts resolver_counts(const struct resolver *r);

/* For -v: report for each object with frames where their names came from, or why they have none. */
void resolver_report(const struct resolver *r);

/* Write everything found in this run to the cache, if a cache is in use. */
void resolver_save(struct resolver *r);

void resolver_free(struct resolver *r);
