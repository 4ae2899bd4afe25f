/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a profile: where the sampler writes to, and what the caller gets. */
#include "base/arena.h"
#include "base/spool.h"
#include "self/running-profile.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PART = 1 << 16 };	/* bytes of a result that the callback gets at once */

/* Return whether the caller's descriptor takes the records. */
static bool is_direct(const struct pmukit_profile_config *c)
{
	return c->result == PMUKIT_RECORDS && !c->write && c->fd > 0;
}

int result_open(struct pmukit_profile *p)
{
	const struct pmukit_profile_config *c = &p->config;
	const char *directory;

	if (is_direct(c))
		return c->fd;
	if (!c->write && c->fd <= 0)
		return open("/dev/null", O_WRONLY | O_CLOEXEC);
	int fd = owned_take(&p->records, spool_open(&directory));
	p->directory = mem_text(directory);
	return fd;
}

char *result_sentence(const struct pmukit_profile *p, const char *said)
{
	static const char cannot[] = "cannot write to ";
	const size_t size = strlen(said) + PATH_MAX;
	const char *rest = said + strcspn(said, ":");

	if (strncmp(said, cannot, sizeof(cannot) - 1))
		return mem_text(said);
	char *sentence = mem_resize(NULL, size);
	if (p->directory)
		snprintf(sentence, size, "%sthe file in TMPDIR (%s)%s", cannot, p->directory, rest);
	else
		snprintf(sentence, size, "cannot write records to the descriptor %d%s",
			 p->config.fd, rest);
	return sentence;
}

/* Return whether FD is a pipe or a socket that nobody reads. */
static bool has_lost_its_reader(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) > 0 && p.revents & POLLERR;
}

/* Give the callback what is in our file.  Return 0 or a status. */
static int pass_records(struct pmukit_profile *p)
{
	uint8_t *bytes = mem_resize(NULL, PART);
	int answer = 0;
	off_t at = 0;
	ssize_t n;

	while (answer == 0 && (n = pread(owned_fd(&p->records), bytes, PART, at)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			report_failure(&p->handle.report, "cannot read what was recorded");
			break;
		}
		at += n;
		struct aside aside = leave_guard();
		answer = p->config.write(p->config.context, bytes, (size_t)n);
		return_to_guard(aside);
	}
	free(bytes);
	return answer ? PMUKIT_STOPPED : n < 0 ? PMUKIT_SYSTEM : 0;
}

int result_check(const struct pmukit_profile *p, struct report *report)
{
	const struct pmukit_profile_config *c = &p->config;

	if (!is_direct(c) || !has_lost_its_reader(c->fd))
		return 0;
	errno = EPIPE;
	report_failure(report, "cannot write records to the descriptor %d", c->fd);
	return PMUKIT_SYSTEM;
}

int result_finish(struct pmukit_profile *p, int status)
{
	int passed = 0;

	if (status == 0)
		status = result_check(p, &p->handle.report);
	if (p->config.result == PMUKIT_RECORDS && owned_fd(&p->records) >= 0)
		passed = pass_records(p);
	return status < 0 ? status : passed;
}
