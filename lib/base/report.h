/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report - messages to the user, and the exit status that follows from them.
 *
 * Code reports a problem where it finds it, once, then returns failure;
 * callers pass the failure on without a second message.  The exit status follows
 * from the reports, so a tool cannot report an error and exit 0, or fail without a
 * message.
 *
 * The first REPORT_SHOWN messages of each call site are printed in each hour, the others only
 * counted.  The counts are printed when the hour is over, or at the end.  An hour starts with its
 * first message.  So a tool that runs for months still says what goes wrong, but not too often.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	REPORT_SHOWN = 3,	/* messages printed per call site and hour */
	REPORT_KINDS = 64,	/* call sites with a count of their own; the others share one */
};

/* Why an error happened, if a program that reads it may want to know. */
enum report_cause {
	REPORT_OTHER, REPORT_NOT_FOUND, REPORT_NO_RIGHTS, REPORT_WRONG_ARGUMENT,
};

struct report {
	const char *tool;	/* program name, at the start of every message */
	void *owner;		/* in the library, the struct handle that takes the messages */
	bool quiet;		/* -q: print nothing; the exit status is the same */
	int verbose;		/* 1 (-v): report_summary() prints; 2 (-vv): report_detail(), too */
	int status;		/* exit status so far: 0, or 1 after damage, failure or error */
	enum report_cause cause;	/* of the first error */
	char error[1024];	/* the first error: the start of its text, or "" */
	uint64_t hour_end;	/* monotonic, in ns; 0: the next message starts an hour */
	struct report_kind {
		const char *format;	/* the literal of the call site, compared by address */
		uint64_t count;		/* in this hour */
		uint64_t most;		/* of report_more(): the largest number so far */
		char first[160];	/* its first message of this hour; ends with "..." if cut */
	} kind[REPORT_KINDS];
};

/* What a message is about.  All but notes make the exit status 1. */
enum report_subject { REPORT_NOTE, REPORT_DAMAGE, REPORT_FAILURE, REPORT_ERROR };

/*
 * A message TEXT, without a line end, for R.  If it IS_HIDDEN, its kind was shown often enough, or
 * nobody wants messages.  The tools print it to stderr (base/report-print.c).  The library gives it
 * to the handle (library/messages.c).
 */
void report_take(const struct report *r, enum report_subject subject, bool is_hidden,
		 const char *text);

/* The place in an input that a message is about. */
struct report_place {
	const char *file;	/* name as the user gave it; "-" for stdin */
	uint64_t offset;	/* bytes from the start of the file */
};

/* The input is damaged at PLACE: FORMAT says how, and what the tool does about it. */
void report_damage(struct report *r, struct report_place place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The work itself failed: FORMAT says what could not be done, errno says why. */
void report_failure(struct report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The work itself failed: FORMAT says why and what to do; errno is not used. */
void report_error(struct report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Note CAUSE for the error that is reported next.  The cause of the first error is kept. */
static inline void report_because(struct report *r, enum report_cause cause)
{
	if (!r->status && !r->cause)
		r->cause = cause;
}

/* Print a note.  A note is not a failure: the exit status does not change. */
void report_note(struct report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Print a note unless its call site printed it in this hour.  The others are not counted: for a
 * limit that stays exceeded, or is exceeded again and again.
 */
void report_rarely(struct report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Print a note the first time that its call site calls this; later calls do nothing. */
void report_once(struct report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Like report_rarely(), but only if NUMBER has grown since the last call of this call site: for a
 * limit that leaves out NUMBER things so far.
 */
void report_more(struct report *r, uint64_t number, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Return true the first time for *REPORTED, which starts as false: for a message that is printed
 * once for each object of some kind.  The object has the flag.
 */
static inline bool report_first(bool *reported)
{
	bool first = !*reported;

	*reported = true;
	return first;
}

/*
 * Print a note, however many were printed before: for a tool that runs without end and itself
 * limits the number of notes.
 */
void report_event(struct report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Print a line with -v. */
void report_summary(struct report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Print a line with -vv. */
void report_detail(struct report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * If the hour is over, print the counts of its messages that were not printed.  Each message does
 * so, too: a tool that runs for long calls this while all is well.
 */
void report_check_hour(struct report *r);

/* Print the counts of messages that were not printed.  Return the exit status, 0 or 1. */
int report_finish(struct report *r);
