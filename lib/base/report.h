/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report - the one way out for everything a user should know.
 *
 * Code reports a problem where it finds it, once, then returns failure;
 * callers pass failure on without a second message.  The exit status is a
 * by-product of the reports, so no path can complain and exit 0, or fail in
 * silence.
 *
 * Messages from one call site are printed REPORT_SHOWN times and then only
 * counted; report_finish() prints the counts.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum {
	REPORT_SHOWN = 3,	/* messages printed per call site */
	REPORT_KINDS = 64,	/* call sites counted apart; further ones share one count */
};

struct report {
	const char *tool;	/* program name, starts every message */
	bool quiet;		/* -q: print nothing, still decide the exit status */
	int verbose;		/* 1, -v: report_summary() prints; 2, -vv: report_detail(), too */
	int status;		/* exit status so far: 0, or 1 after any report but notes */
	struct report_kind {
		const char *format;	/* identity of the call site: its literal */
		uint64_t count;
		char first[100];	/* the first message, cut to fit */
	} kind[REPORT_KINDS];
};

/* A file of ours: where a message points. */
struct report_place {
	const char *file;	/* name as the user gave it; "-" for stdin */
	uint64_t offset;	/* bytes from the start of the file */
};

/* The input is damaged at PLACE: FORMAT says how, and what was done about it. */
void report_damage(struct report *r, struct report_place place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The work itself failed: FORMAT says what could not be done, errno says why. */
void report_failure(struct report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The work failed for a reason that FORMAT tells itself, with what to do about it. */
void report_error(struct report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Something the user should know that is no failure: the exit status stays. */
void report_note(struct report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A line for -v. */
void report_summary(struct report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A line for -vv. */
void report_detail(struct report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Print what was counted but not shown.  Returns the exit status, 0 or 1. */
int report_finish(struct report *r);
