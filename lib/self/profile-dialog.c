/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dialog with the sampler: commands, and the answers "ack", "error TEXT" and "exit STATUS
 * [CAUSE]".
 *
 * The sampler may hang, or may be another program.  So each wait has an end.
 */
#include "base/clock.h"
#include "base/text.h"
#include "self/running-profile.h"
#include "library/system.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long the sampler may be silent, in ns: without using CPU time, and in any case. */
#define IDLE_NS 10000000000ULL
#define ANSWER_NS 60000000000ULL
#define END_NS 600000000000ULL

/* How often to look for its end, in ms: with a descriptor that says so, and without. */
enum { LOOK_MS = 1000, BLIND_LOOK_MS = 10 };

int dialog_open(struct pmukit_profile *p)
{
	int ends[2];

	p->exit_status = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	int control = owned_take(&p->control, ends[0]), error = errno;
	int other = room_own(ends[1]);
	if (control < 0)
		errno = error;
	return control < 0 ? -1 : other;
}

/* The sampler's last words are STATUS [CAUSE]. */
static void take_exit(struct pmukit_profile *p, const char *words)
{
	static const struct { const char *word; int status; } causes[] = {
		{ " not-found", PMUKIT_NOT_FOUND }, { " no-rights", PMUKIT_NO_RIGHTS },
		{ " wrong-argument", PMUKIT_WRONG_ARGUMENT },
	};
	char *cause;

	p->exit_status = (int)strtol(words, &cause, 10);
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (!strcmp(cause, causes[i].word))
			p->cause = causes[i].status;
}

/* Take an answer, a whole line.  Return whether it acknowledges a command. */
static bool take_answer(struct pmukit_profile *p)
{
	static const char end[] = "exit ", error[] = "error ";

	if (!strncmp(p->answer, error, sizeof(error) - 1)) {
		snprintf(p->error, sizeof(p->error), "%.*s", (int)sizeof(p->error) - 1,
			 p->answer + sizeof(error) - 1);
		text_make_safe(p->error);
	}
	if (!strncmp(p->answer, end, sizeof(end) - 1))
		take_exit(p, p->answer + sizeof(end) - 1);
	return !strcmp(p->answer, "ack");
}

/* Take SIZE bytes of answers.  Return how many commands they acknowledge. */
static int take_answers(struct pmukit_profile *p, const char *bytes, ssize_t size)
{
	int acknowledged = 0;

	for (ssize_t i = 0; i < size; i++) {
		if (bytes[i] != '\n') {
			if (p->answered < sizeof(p->answer) - 1)
				p->answer[p->answered++] = bytes[i];
			continue;
		}
		p->answer[p->answered] = '\0';
		p->answered = 0;
		acknowledged += take_answer(p);
	}
	return acknowledged;
}

/* Read what has arrived.  Return how many commands it acknowledges. */
static int read_answers(struct pmukit_profile *p)
{
	int acknowledged = 0;
	char bytes[256];
	ssize_t n;

	while (!p->has_ended) {
		/* checked first: it may send its last words, and end, after the read */
		bool has_ended = spawned_has_ended(&p->sampler);
		int control = owned_fd(&p->control);

		if (control < 0) {
			p->has_ended = has_ended;
			break;
		}
		n = recv(control, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (n > 0)
			acknowledged += take_answers(p, bytes, n);
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && !has_ended)
			break;
		else
			p->has_ended = true;
	}
	return acknowledged;
}

/*
 * Wait until there may be an answer, or the sampler has ended, or for a second.  If it has then
 * been silent for IDLE_NS without using CPU time, or for MOST ns since SINCE, end it.
 */
static void wait_for_answer(struct pmukit_profile *p, uint64_t since, uint64_t most,
			    uint64_t *cpu, uint64_t *idle_since)
{
	struct pollfd fds[] = {
		{ .fd = owned_fd(&p->control), .events = POLLIN },
		{ .fd = owned_fd(&p->sampler.pidfd), .events = POLLIN },
	};
	uint64_t now, used;

	poll(fds, 2, fds[0].fd >= 0 || fds[1].fd >= 0 ? LOOK_MS : BLIND_LOOK_MS);
	if (fds[0].revents || fds[1].revents)
		return;
	now = monotonic_ns();
	used = spawned_cpu_ns(&p->sampler);
	if (used != *cpu) {
		*cpu = used;
		*idle_since = now;
	}
	if (now - *idle_since < IDLE_NS && now - since < most)
		return;
	p->is_silent = p->has_ended = true;
	spawned_kill(&p->sampler);
}

/* Wait for as long as allowed until a command is acknowledged, or until the sampler has ended. */
static bool await(struct pmukit_profile *p, bool until_end)
{
	uint64_t since = monotonic_ns(), idle_since = since;
	uint64_t most = profile_is_lost(p) ? IDLE_NS : until_end ? END_NS : ANSWER_NS;
	uint64_t cpu = spawned_cpu_ns(&p->sampler);

	while (!p->has_ended) {
		if (read_answers(p) > 0 && !until_end)
			return true;
		if (!p->has_ended)
			wait_for_answer(p, since, most, &cpu, &idle_since);
	}
	return false;
}

bool dialog_command(struct pmukit_profile *p, const char *command)
{
	const int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
	char line[32];
	int length = snprintf(line, sizeof(line), "%s\n", command);

	dialog_look(p);
	/* the socket has room for some hundred lines, and all were answered */
	if (!p->has_ended &&
	    send(owned_fd(&p->control), line, (size_t)length, flags) != length)
		dialog_look(p);
	return await(p, false);
}

void dialog_look(struct pmukit_profile *p)
{
	read_answers(p);
}

void dialog_end(struct pmukit_profile *p)
{
	if (dialog_command(p, "stop"))
		await(p, true);
}
