/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolver - samples to frames: which object each address lies in, and what
 * it is called there.
 *
 * Each distinct address of an object is looked up once; after that a frame is
 * one probe of a cache.  What cannot be resolved stays an address in its
 * object, and is counted.
 */
#pragma once
#include "base/report.h"
#include "locate/locate.h"
#include "process/space.h"
#include "resolve/cache.h"
#include "stream/resolved.h"
#include "symbol/demangle.h"

struct resolver;

struct resolver_options {
	/* when the stream was complete, in ns since 1970, if it does not say; 0: not known */
	int64_t recorded_before;
	enum demangle_style demangle;
	bool no_inlines;	/* functions alone, without what was inlined into them */
	bool no_lines;		/* no files and lines */
	/* look up names; false: objects and addresses only, no file is read */
	bool symbols;
	/* the kernel's symbols; NULL: this kernel's, if it is the recorded one */
	const char *kallsyms;
	struct locate_options where;	/* to look for files */
	const char *debuginfod;		/* URLs to fetch files from; NULL: nothing is fetched */
	uint64_t debuginfod_time;	/* ns that may be waited for them, in all */
	struct cache cache;		/* its directory NULL: none */
};

/* What came of it, for the summary. */
struct resolver_counts {
	uint64_t frames;	/* distinct ones */
	uint64_t named;		/* of them, those with a name */
	uint64_t objects;	/* files opened */
};

/* TABLES get the definitions, REPORT the troubles; both must outlive the resolver. */
struct resolver *resolver_new(const struct resolver_options *options, struct resolved *tables,
			      struct report *report);

/*
 * Follow a record of any type but SAMPLE, from IN.  Damaged ones are reported.
 */
void resolver_follow(struct resolver *r, struct stream_reader *in, const struct record *rec);

/*
 * What SAMPLE says, but for its frames.  Views in *OUT are valid until the next call.
 */
void resolver_facts(struct resolver *r, const struct stream_reader *in,
		    const struct sample *sample, struct resolved_sample *out);

/* Its frames, into the facts in *OUT.  Views in it are valid until the next call. */
void resolver_frames(struct resolver *r, const struct stream_reader *in,
		     const struct sample *sample, struct resolved_sample *out);

/*
 * A number that is another one whenever the addresses in SAMPLE may mean other places
 * than before, or than the same of another process do.
 */
uint64_t resolver_version(struct resolver *r, const struct sample *sample);

/* resolver_facts() and resolver_frames(). */
void resolver_sample(struct resolver *r, const struct stream_reader *in,
		     const struct sample *sample, struct resolved_sample *out);

/*
 * Forget all definitions, for the tables to hold no more than what is in use.  They go
 * to *PAST, for the caller to release; those of the FRAMES ids in FRAME are defined again,
 * and FRAME gets their new ids.  Not where names are looked up.
 */
void resolver_begin_anew(struct resolver *r, struct resolved *past, uint32_t *frame,
			 size_t frames);

struct resolver_counts resolver_counts(const struct resolver *r);

/* For -v: a line for each object with frames, of what told their names, and why not. */
void resolver_report(const struct resolver *r);

/* Keep what was found in the cache, if there is one. */
void resolver_save(struct resolver *r);

void resolver_free(struct resolver *r);
