/* SPDX-License-Identifier: Apache-2.0 */
/*
 * running-profile - a profile that runs: the sampler's process, and what connects it with this
 * program.
 *
 * The sampler has /dev/null as stdin, the result as stdout, a file of its messages as stderr, and a
 * socket for commands and their acknowledgements (--control).
 */
#pragma once
#include "library/handle.h"
#include "library/owned.h"
#include "self/spawn.h"

struct pmukit_profile {
	struct handle handle;
	struct pmukit_profile_config config;	/* without texts, which only the start needs */
	struct spawned sampler;
	char *program;		/* path of the sampler */
	struct owned control;	/* our end of the socket */
	struct owned messages;	/* the file of the sampler's messages */
	struct owned records;	/* our file for the result; none: the caller's descriptor has it */
	off_t messages_read;	/* bytes of MESSAGES */
	char answer[1100];	/* the start of the sampler's next answer */
	size_t answered;	/* bytes in it */
	bool has_started;	/* everything was sampled once */
	bool has_ended;		/* the sampler gives no more answers */
	bool is_silent;		/* because it did not answer in time */
	bool is_stopped;	/* the result can be written */
	int exit_status;	/* that the sampler has sent; -1: none */
	int cause;		/* a status: why the sampler failed */
	char error[1024];	/* its first error, as it has sent it, or "" */
	char *directory;	/* of RECORDS, or NULL */
};

/*
 * Return whether the program has closed one of P's descriptors.  The sampler ends when nobody has
 * the other end of its socket.
 */
bool profile_is_lost(struct pmukit_profile *p);

/* The configuration, checked: profile-config.c */

/*
 * Outside of a work function: set *OWN to GIVEN, with zeroes in members that the caller does not
 * know; GIVEN may be NULL.  Return 0, or a status (pmukit_error() is set).
 */
int profile_given(struct pmukit_profile_config *own, const struct pmukit_profile_config *given);

/* The arguments of the sampler, in a work function. */
struct profile_arguments {
	char **item;		/* NULL after the last */
	size_t count;
};
void profile_arguments_make(struct profile_arguments *a, const struct pmukit_profile_config *given,
			    int control);
void profile_arguments_release(struct profile_arguments *a);

/*
 * In a work function: return the path of the sampler, GIVEN if it is not NULL, or NULL (reported).
 * The caller frees.
 */
char *profile_find_sampler(const char *given, struct report *report);

/* The dialog with the sampler, in work functions: profile-dialog.c */

/* Open the socket.  Return the sampler's end, or -1 (errno is set). */
int dialog_open(struct pmukit_profile *p);

/*
 * Send COMMAND, and wait until the sampler has acknowledged it.  Return whether it has; if not, it
 * has ended.
 */
bool dialog_command(struct pmukit_profile *p, const char *command);

/* Take what the sampler has sent since, without waiting. */
void dialog_look(struct pmukit_profile *p);

/* Wait until the sampler has ended, or end it. */
void dialog_end(struct pmukit_profile *p);

/* The sampler's messages, in work functions: profile-messages.c */

/* Give the caller what the sampler has written to stderr since. */
void messages_pass(struct pmukit_profile *p);

/*
 * The same after the sampler has failed, or P is lost: report why as the error.  That is the error
 * which the sampler has named, or else its last message.  Return the status that says why.
 */
int messages_fail(struct pmukit_profile *p);

/* The result: profile-result.c */

/* In a work function: return the descriptor for the sampler's stdout, or -1 (errno is set). */
int result_open(struct pmukit_profile *p);

/* Return SAID, an error of the sampler, as the program knows the result.  The caller frees. */
char *result_sentence(const struct pmukit_profile *p, const char *said);

/*
 * In a work function, when the sampler has ended: return 0, or a status (reported) if nobody reads
 * the records any more.  The sampler itself ends then without a word.
 */
int result_check(const struct pmukit_profile *p, struct report *report);

/*
 * In a work function, when the sampler has ended: give the caller records that are in our file.
 * STATUS is what is wrong so far.  Return it, or what is wrong with the result.
 */
int result_finish(struct pmukit_profile *p, int status);

/*
 * Outside of a work function, when the sampler has ended: make the profile of the records in our
 * file, and write it.  STATUS is what is wrong so far, with its error in this thread.  Return it,
 * or what is wrong with the result, and set the error of this thread to that.
 */
int profile_make(struct pmukit_profile *p, int status);
