/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind - finds the callers of samples that have the registers and a copy of the stack.
 *
 * The kernel copies the user's registers and the top of the stack into a SAMPLE ("dump") if the
 * event's attr has REGS_USER and STACK_USER.  This module puts the callers into the sample's
 * callchain, and leaves the dump out.  The callers come from call frame information if the object
 * has it, otherwise from the code, or from frame pointers.
 *
 *	struct unwind *u = unwind_new(&options, origin, report);
 *
 *	ATTR:	  unwind_attr(u, attr, size);
 *	SAMPLE:	  size = unwind_sample(u, event, rec, &sample, out);
 *	others:	  unwind_follow(u, rec);
 *	at the end: unwind_report(u);
 *
 * The result is a perf.data stream that perf reads.  After a marker PERF_CONTEXT_USER, the first
 * address is exact: where the thread, or a signal handler's caller, was interrupted.  All other
 * addresses are return addresses.  Two markers and a word 0 stand for frames that are left out:
 * record/stack-end.h.
 */
#pragma once
#include "base/report.h"
#include "locate/locate.h"
#include "record/origin.h"
#include "record/sample.h"

enum {
	UNWIND_STACK_MAX = 1024,	/* user frames of a chain by default */
	UNWIND_STACK_MOST = 8000,	/* the most that the options may say: they fit a record */
	UNWIND_OUTERMOST = 64,		/* outermost frames that a longer stack keeps */
	/*
	 * Value of an unknown register in a dump, if /proc shows only two registers of a thread: of
	 * the frame pointer, and of arm64's LR.  No such register can really have this value.
	 */
	UNWIND_UNKNOWN = 1,
};

/* What unwinding may take, while it happens.  Zero-initialised: no limit. */
struct unwind_budget {
	bool is_set;
	double cpu;		/* share of the CPU time of all CPUs of this machine, from 0 to 1 */
	uint64_t memory;	/* bytes of memory of this process, mapped files not included */
};

/* Zero-initialised: the defaults. */
struct unwind_options {
	struct locate_options where;	/* where to look for files; POOL and FETCHER are not used */
	const char *arch;		/* machine, if the stream does not say; NULL: this one */
	uint32_t stack_max;		/* innermost frames of a chain; 0: UNWIND_STACK_MAX */
	bool no_join;			/* do not extend cut stacks by earlier ones */
	bool no_frame_pointers;		/* do not follow frame pointers where there is no CFI */
	/*
	 * The stream may still hold dumps: the attr keeps REGS_USER and STACK_USER.  An unwound
	 * sample then has register ABI 0 and stack size 0.  unwind_sample() takes such a sample
	 * as finished.
	 */
	bool keep_fields;
	uint64_t registers;		/* mask of registers to keep, without KEEP_FIELDS */
	bool keep_dumps;		/* keep the registers and stacks, too */
	bool is_swapped;		/* the stream has the other byte order: do not unwind */
	struct unwind_budget budget;	/* stacks beyond it stay as they are */
	bool judges;			/* compare stacks with the kernel's: unwind_is_spared() */
};

struct unwind;

/*
 * Return a new unwinder for the stream with ORIGIN, which may learn its origin later; NULL: this
 * machine records it now.  Problems are reported to REPORT.  Both must outlive the unwinder.
 */
struct unwind *unwind_new(const struct unwind_options *options,
			  const struct stream_origin *origin, struct report *report);

/*
 * Return whether unwind_sample() rewrites the samples of events with ATTR: they have dumps.  If
 * the fields of dumps are kept, only samples that have a callchain have room for it.
 */
bool unwind_takes(const struct unwind *u, const struct perf_event_attr *attr);

/*
 * Rewrite ATTR, SIZE bytes of any version of struct perf_event_attr, in place, for the samples
 * that unwind_sample() writes.  An attr of another event stays as it is.
 */
void unwind_attr(const struct unwind *u, uint8_t *attr, size_t size);

/*
 * Follow REC of any type except SAMPLE: it may say what is mapped where, or that a thread or a
 * round has ended.  Return false if REC is damaged.
 */
bool unwind_follow(struct unwind *u, const struct record *rec);

/*
 * Write to OUT the record that takes the place of REC, a SAMPLE of EVENT decoded as SAMPLE.
 * Return the size of the new record in bytes, at most RECORD_MAX_SIZE;
 * 0: REC stays as it is, because it has no dump, or the budget is used up.  OUT must not overlap
 * REC.
 */
size_t unwind_sample(struct unwind *u, const struct stream_event *event,
		     const struct record *rec, const struct sample *sample,
		     uint8_t out[RECORD_MAX_SIZE]);

/*
 * Return whether frame pointers have led the kernel to nearly all callers, so that stacks need not
 * be unwound.  False: they have not, or fewer stacks were unwound than those of a second.
 */
bool unwind_is_spared(const struct unwind *u);

/* Report the counts (-v), what is wrong with files, and whether the dumps are too short. */
void unwind_report(struct unwind *u);

void unwind_free(struct unwind *u);
