/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle - how each handle of the interface begins, and how the interface's functions work.
 *
 *	struct pmukit_thing {
 *		struct handle handle;
 *		...
 *	};
 *
 *	struct pmukit_thing *pmukit_thing_open(...)
 *	{
 *		struct pmukit_thing *t = handle_new(HANDLE_THING, sizeof(*t), message, context);
 *
 *		if (t && guarded(&t->handle, HANDLE_THING, open_thing, &arguments) < 0)
 *			t = handle_free(&t->handle);	// keeps pmukit_error()
 *		return t;
 *	}
 *
 * A work function returns a value from 0 up, or an enum pmukit_status.  If memory runs out in it,
 * the call ends.  Messages go to &t->handle.report; the first that is not a note is the sentence of
 * pmukit_error().
 */
#pragma once
#include "base/report.h"
#include "library/owned.h"
#include "library/room.h"

#include <errno.h>
#include <locale.h>
#include <stdint.h>

/* What this header declares is all that the library shows. */
#pragma GCC visibility push(default)
#include "pmukit.h"
#pragma GCC visibility pop

enum handle_kind { HANDLE_STREAM = 1, HANDLE_BINARY, HANDLE_PPROF, HANDLE_PROFILE, HANDLE_EVENTS };

struct handle {
	enum handle_kind kind;
	bool is_broken;			/* memory ran out in a call: H can only be closed */
	bool is_busy;			/* a call works for it */
	bool has_lost;			/* the program has closed a descriptor that H keeps */
	const volatile uint8_t *mark;	/* 1 in this process; 0 after fork(), in the child */
	struct room room;		/* what was taken from the system */
	struct owned *input;		/* what H reads by read() in several calls, or NULL */
	struct report report;		/* where its code reports */
	pmukit_message *message;	/* takes messages, or NULL */
	void *context;			/* of MESSAGE */
	enum report_subject subject;	/* of this call's first message that is not a note */
	int error;			/* its errno, if it is a REPORT_FAILURE */
	char sentence[1024];		/* its text, or "" */
};

/*
 * Return a new handle of SIZE bytes, or NULL: then pmukit_error() says why.  What follows the
 * struct handle at its start is zero.
 */
void *handle_new(enum handle_kind kind, size_t size, pmukit_message *message, void *context);

/*
 * Free the handle H and all that is left in its room, without a call of anybody's release function
 * but those of other libraries.  pmukit_error() and errno stay.  Return NULL.
 */
void *handle_free(struct handle *h);

/*
 * Close H, which may be NULL.  First call RELEASE(ARGUMENTS), which releases as usual and leaves
 * the room empty; a build with sanitizers checks that.  If H is broken, or was made by the parent
 * before a fork, RELEASE is not called, and only the room is cleared.  pmukit_error() and errno
 * stay.
 */
void handle_close(struct handle *h, enum handle_kind kind, int (*release)(void *arguments),
		  void *arguments);

/*
 * Call WORK(ARGUMENTS) for H, and return what it returns: a value from 0 up, or a status below 0.
 * After a status below 0, pmukit_error() has the first error that WORK reported to H's report; if
 * WORK reported none, it says what the status usually means.  After report_failure(), errno is the
 * one that was reported.  If memory runs out, the rest of WORK does not run, and H is broken.  If H
 * is NULL or of another kind, that is the caller's mistake, and WORK does not run.
 */
int guarded(struct handle *h, enum handle_kind kind, int (*work)(void *arguments), void *arguments);

/* What of a call is set aside while a function of the program runs. */
struct aside {
	struct guard *guard;
	locale_t locale;
};

/*
 * In WORK, before and after a call of a function of the program: with the program's own locale, and
 * in no room.
 *
 *	struct aside aside = leave_guard();
 *	int result = write(context, bytes, size);
 *	return_to_guard(aside);
 */
struct aside leave_guard(void);
void return_to_guard(struct aside aside);

/*
 * In WORK, after a function that has reported failed: return the status of its first report, or
 * OTHERWISE if that was a report_error(), or if there was none.
 */
int handle_status(const struct handle *h, int otherwise);

/*
 * Outside of WORK: set what pmukit_error() and pmukit_error_code() return, and return STATUS.  In
 * WORK, report to H's report instead.  errno stays.
 */
int fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Do what must be done once in each process.  handle_new() does so. */
void prepare_once(void);

/* Set pmukit_error_code() to PMUKIT_OK, for a function that promises this. */
void succeed(void);
