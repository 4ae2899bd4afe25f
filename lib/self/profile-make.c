/* SPDX-License-Identifier: Apache-2.0 */
/* The profile that is made of what was recorded, by the functions that a program would call. */
#include "self/running-profile.h"

#include <stdio.h>
#include <unistd.h>

/* What was wrong first. */
struct first_error {
	int status;
	int error;		/* errno */
	char sentence[1024];
};

/* Keep STATUS, and the error of this thread, if it is the first that is below 0. */
static void keep(struct first_error *first, int status)
{
	if (status >= 0 || first->status < 0)
		return;
	first->status = status;
	first->error = errno;
	snprintf(first->sentence, sizeof(first->sentence), "%s", pmukit_error());
}

/* Make the profile of what the file RECORDS has, and write it.  Keep what is wrong in FIRST. */
static void make(const struct pmukit_profile *p, int records, struct first_error *first)
{
	const struct pmukit_profile_config *c = &p->config;
	const struct pmukit_options options = {
		.size = sizeof(options), .message = c->message, .context = c->context,
	};
	struct pmukit_stream *s = pmukit_stream_open_fd(records, &options);
	struct pmukit_pprof *made = s ? pmukit_stream_profile(s, NULL) : NULL;
	int damage = pmukit_error_code();

	if (!made || damage == PMUKIT_DAMAGED)
		keep(first, damage);
	if (made && c->write)
		keep(first, pmukit_pprof_write_callback(made, c->write, c->context));
	else if (made)
		keep(first, pmukit_pprof_write_fd(made, c->fd));
	pmukit_pprof_close(made);
	pmukit_stream_close(s);
}

int profile_make(struct pmukit_profile *p, int status)
{
	struct first_error first = { 0 };
	int records = owned_fd(&p->records);

	keep(&first, status);
	if (records < 0)
		keep(&first, fail(PMUKIT_BROKEN, OWNED_LOST));
	else if (lseek(records, 0, SEEK_SET) < 0)
		keep(&first, fail(PMUKIT_SYSTEM, "cannot read what was recorded"));
	else
		make(p, records, &first);
	if (first.status < 0) {
		fail(first.status, "%s", first.sentence);
		errno = first.error;
	}
	return first.status;
}
