/* SPDX-License-Identifier: Apache-2.0 */
#include "host/agent.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/sibling.h"
#include "base/write.h"
#include "host/packets.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define S 1000000000ULL		/* ns */

/* What comes from the child, and how it is sent. */
enum { OUTPUT, MESSAGES, PROFILE, RESULTS, SOURCES };
static const enum packet_type type_of[SOURCES] = {
	[OUTPUT] = PACKET_OUTPUT, [MESSAGES] = PACKET_MESSAGES, [PROFILE] = PACKET_PROFILE,
	[RESULTS] = PACKET_RESULTS,
};

enum { WORDS_MAX = 8 << 20, COUNT_MAX = 1 << 20 };	/* bytes; words */

struct service {
	struct packets packets;
	struct buffer words;
	bool is_started;	/* all words have come */
	pid_t child;		/* also the number of its process group; 0: it has ended */
	int status;		/* of CHILD, as waitpid() returns it */
	int from[SOURCES];	/* pipes from it; -1: at their end */
	int input;		/* pipe to its stdin; -1: closed */
	struct buffer waiting;	/* input that the pipe has not taken yet */
	bool input_ends;	/* after what is waiting */
	int signals;		/* signalfd */
	uint64_t heard;		/* when the other side was heard last; times are monotonic, in ns */
	uint64_t lost;		/* when the connection was lost; 0: it is not */
	int ends;		/* signals that were sent since then */
	bool was_asked;		/* a signal was passed on */
};

static void say(struct service *s, enum packet_type type, const void *bytes, size_t size)
{
	if (!s->lost)
		packets_put(&s->packets, type, bytes, size);
}

/* Pass on the signal NUMBER, to the child's whole process group if it is FOR_ALL. */
static void pass_signal(struct service *s, int number, bool for_all)
{
	s->was_asked = true;
	if (s->child && (number == SIGINT || number == SIGTERM || number == SIGHUP))
		kill(for_all ? -s->child : s->child, number);
}

static void close_input(struct service *s)
{
	descriptor_close(s->input);
	s->input = -1;
	s->waiting.size = 0;
}

/* Do what PACKET asks for. */
static void obey(struct service *s, const struct packet *packet)
{
	switch ((int)packet->type) {
	case PACKET_WORDS:
		if (s->words.size + packet->size <= WORDS_MAX)
			buffer_add(&s->words, packet->bytes, packet->size);
		break;
	case PACKET_START:
		s->is_started = true;
		break;
	case PACKET_INPUT:
		s->input_ends |= packet->size == 0;
		if (s->input >= 0)
			buffer_add(&s->waiting, packet->bytes, packet->size);
		break;
	case PACKET_SIGNAL:
		if (packet->size == 2)
			pass_signal(s, packet->bytes[0], packet->bytes[1] != 0);
		say(s, PACKET_ANSWER, NULL, 0);
		break;
	case PACKET_CLOSED:
		descriptor_close(s->from[OUTPUT]);
		s->from[OUTPUT] = -1;
		break;
	default:	/* PACKET_ALIVE, or of a later version */
		break;
	}
}

/* Do what the packets ask for that have come, up to PACKET_START or, after that, all. */
static void obey_all(struct service *s)
{
	enum packets_found found = PACKETS_NONE;
	bool was_started = s->is_started;
	struct packet packet;

	while (was_started == s->is_started &&
	       (found = packets_next(&s->packets, &packet)) == PACKETS_ONE) {
		s->heard = monotonic_ns();
		obey(s, &packet);
	}
	s->packets.has_ended |= found == PACKETS_DAMAGED;
}

/* Pass on the input that waits. */
static void give_input(struct service *s)
{
	ssize_t n = write(s->input, s->waiting.at, s->waiting.size);

	if (n > 0) {
		const uint32_t taken = (uint32_t)n;
		const uint8_t bytes[] = { (uint8_t)taken, (uint8_t)(taken >> 8),
					  (uint8_t)(taken >> 16), (uint8_t)(taken >> 24) };
		say(s, PACKET_TAKEN, bytes, sizeof(bytes));
		s->waiting.size -= (size_t)n;
		memmove(s->waiting.at, s->waiting.at + n, s->waiting.size);
	} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
		close_input(s);
		say(s, PACKET_DEAF, NULL, 0);
	}
}

/* Send on what has come from SOURCE.  Return whether there may be more now. */
static bool take_from(struct service *s, int source)
{
	uint8_t bytes[PACKET_MAX];
	ssize_t n = read(s->from[source], bytes, sizeof(bytes));

	if (n > 0) {
		say(s, type_of[source], bytes, (size_t)n);
		return true;
	}
	if (n < 0 && errno == EINTR)
		return true;
	if (n == 0 || errno != EAGAIN) {
		close(s->from[source]);
		s->from[source] = -1;
	}
	return false;
}

static void handle_signals(struct service *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			pass_signal(s, (int)info.ssi_signo, false);
	if (s->child && waitpid(s->child, &s->status, WNOHANG) == s->child)
		s->child = 0;
}

/* If the connection is lost, end the child's process group. */
static void end_if_lost(struct service *s)
{
	static const uint64_t after[] = { 0, 7 * S, 12 * S };	/* pmu-sample sends SIGKILL after
								   5 s */
	enum { TIMES = sizeof(after) / sizeof(*after) };
	uint64_t now = monotonic_ns();

	if (!s->lost && (s->packets.has_ended || s->packets.is_deaf ||
			 now - s->heard > PACKET_SILENCE_S * S)) {
		s->lost = now;
		close_input(s);
	}
	if (!s->lost || s->ends == TIMES || now - s->lost < after[s->ends])
		return;
	if (s->child)
		kill(-s->child, s->ends + 1 < TIMES ? SIGTERM : SIGKILL);
	s->ends++;
}

/* Wait for what happens next, and handle it. */
static void serve_once(struct service *s)
{
	bool has_room = s->lost || packets_waiting(&s->packets) < PACKET_WINDOW;
	struct pollfd fds[SOURCES + 4] = {
		[SOURCES] = { .fd = s->signals, .events = POLLIN },
		{ .fd = s->lost ? -1 : s->packets.in, .events = POLLIN },
		{ .fd = s->lost || !packets_waiting(&s->packets) ? -1 : s->packets.out,
		  .events = POLLOUT },
		{ .fd = s->waiting.size ? s->input : -1, .events = POLLOUT },
	};

	for (int i = 0; i < SOURCES; i++)
		fds[i] = (struct pollfd){ .fd = has_room ? s->from[i] : -1, .events = POLLIN };
	if (poll(fds, sizeof(fds) / sizeof(*fds), s->lost ? 500 : PACKET_ALIVE_S * 1000) < 0)
		return;
	for (int i = 0; i < SOURCES; i++)
		if (fds[i].revents)
			take_from(s, i);
	if (fds[SOURCES + 1].revents)
		packets_read(&s->packets);
	obey_all(s);
	if (fds[SOURCES + 3].revents)
		give_input(s);
	if (s->input_ends && !s->waiting.size && s->input >= 0)
		close_input(s);
	if (!s->lost)
		packets_write(&s->packets);
	handle_signals(s);
	end_if_lost(s);
}

/* Take what the child has left in its pipes.  A process that it left may go on writing there. */
static void take_rest(struct service *s)
{
	enum { PIPE_MOST = (1 << 20) / PACKET_MAX + 1 };	/* reads of a full pipe */

	for (int i = 0; i < SOURCES; i++) {
		for (int n = 0; n < PIPE_MOST && s->from[i] >= 0 && take_from(s, i); n++)
			continue;
		descriptor_close(s->from[i]);
		s->from[i] = -1;
	}
}

/* End what is left of the process GROUP if it was to end: nothing is left running here. */
static void end_rest(const struct service *s, pid_t group)
{
	enum { WAITS_MOST = 100 };	/* of 20 ms */

	if (!s->lost && !s->was_asked)
		return;
	for (int i = 0; i < WAITS_MOST; i++) {
		if (kill(-group, i ? 0 : SIGTERM) < 0)
			return;
		usleep(20000);
	}
	kill(-group, SIGKILL);
}

/* Serve the connection until the child has ended.  Return its exit status. */
static int serve(struct service *s)
{
	pid_t group = s->child;

	signal(SIGPIPE, SIG_IGN);
	obey_all(s);	/* packets may have come together with the last word */
	while (s->child)
		serve_once(s);
	take_rest(s);
	end_rest(s, group);
	const uint8_t status = (uint8_t)(WIFSIGNALED(s->status) ? 128 + WTERMSIG(s->status)
								: WEXITSTATUS(s->status));
	say(s, PACKET_END, &status, 1);
	while (!s->lost && packets_waiting(&s->packets))
		serve_once(s);
	return status;
}

/* Make all pipes.  THEIRS are the child's ends; ours do not block.  False: reported. */
static bool make_pipes(struct service *s, int theirs[SOURCES + 1], struct report *report)
{
	for (int i = 0; i <= SOURCES; i++) {
		bool they_read = i == SOURCES;
		int ends[2], *ours = they_read ? &s->input : &s->from[i];
		if (pipe2(ends, O_CLOEXEC) < 0) {
			report_failure(report, "cannot make a pipe");
			return false;
		}
		*ours = ends[they_read];
		theirs[i] = ends[!they_read];
		fcntl(*ours, F_SETFL, O_NONBLOCK);
	}
	return true;
}

/* In the child of the process FIRST: use its ends of the pipes. */
static void be_child(const struct service *s, const int theirs[SOURCES + 1], struct agent *a,
		     pid_t first)
{
	setpgid(0, 0);
	setenv(AGENT_VARIABLE, "1", 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != first)		/* it has died before that */
		_exit(1);
	dup2(theirs[SOURCES], STDIN_FILENO);
	dup2(theirs[OUTPUT], STDOUT_FILENO);
	dup2(theirs[MESSAGES], STDERR_FILENO);
	*a = (struct agent){ .profile = theirs[PROFILE], .results = theirs[RESULTS] };
	close(theirs[SOURCES]);
	close(theirs[OUTPUT]);
	close(theirs[MESSAGES]);
	close(s->input);
	close(s->signals);
	for (int i = 0; i < SOURCES; i++)
		close(s->from[i]);
}

/* Start the child.  S->child is 0 in the child.  False: reported. */
static bool start_child(struct service *s, struct agent *a, struct report *report)
{
	int theirs[SOURCES + 1];
	pid_t first = getpid();
	sigset_t before;

	s->signals = sibling_signals(&before, report);
	if (s->signals < 0 || !make_pipes(s, theirs, report))
		return false;
	s->child = fork();
	if (s->child == 0) {
		be_child(s, theirs, a, first);
		sigprocmask(SIG_SETMASK, &before, NULL);
		return true;
	}
	s->heard = monotonic_ns();
	if (s->child < 0) {
		report_failure(report, "cannot fork");
		return false;
	}
	setpgid(s->child, s->child);	/* so it is, whoever comes first */
	for (int i = 0; i <= SOURCES; i++)
		close(theirs[i]);
	return true;
}

/* Say which protocol we speak, and wait for all words of the command line.  False: none come. */
static bool get_words(struct service *s)
{
	say(s, PACKET_VERSION, PACKET_PROTOCOL, strlen(PACKET_PROTOCOL));
	while (!s->is_started && !s->packets.has_ended) {
		struct pollfd fds[] = {
			{ .fd = s->packets.in, .events = POLLIN },
			{ .fd = packets_waiting(&s->packets) ? s->packets.out : -1,
			  .events = POLLOUT },
		};
		if (poll(fds, 2, PACKET_SILENCE_S * 1000) <= 0)
			return false;
		if (fds[1].revents)
			packets_write(&s->packets);
		if (fds[0].revents)
			packets_read(&s->packets);
		obey_all(s);
	}
	return s->is_started;
}

/* Return the words that came, as an argv, and set *ARGC. */
static char **split_words(const struct service *s, int *argc)
{
	char **argv = NULL;
	int count = 0;

	for (size_t at = 0; at < s->words.size && count < COUNT_MAX; count++) {
		const char *word = (const char *)s->words.at + at;
		size_t size = strnlen(word, s->words.size - at);
		argv = array_grow(argv, (size_t)count, sizeof(*argv));
		argv[count] = mem_resize(NULL, size + 1);
		memcpy(argv[count], word, size);
		argv[count][size] = '\0';
		at += size + 1;
	}
	argv = array_grow(argv, (size_t)count, sizeof(*argv));
	argv[count] = NULL;
	*argc = count;
	return argv;
}

static void release(struct service *s)
{
	free(s->words.at);
	free(s->waiting.at);
	free(s->packets.received.at);
	free(s->packets.queued.at);
}

char **agent_begin(struct agent *a, int *argc, char **argv, int *status)
{
	static const char option[] = "--host=" AGENT_CONNECTION;
	struct report report = { .tool = "pmu-prof" };
	struct service s = { .status = 0 };
	char **words = NULL;

	*a = (struct agent){ .profile = 0 };
	if (*argc != 2 || strncmp(argv[1], option, strlen(option)) || isatty(STDIN_FILENO))
		return argv;
	*status = 1;
	const char *directory = argv[1] + strlen(option);
	if (*directory && chdir(directory) < 0) {
		report_failure(&report, "cannot work in '%s'", directory);
		return NULL;
	}
	packets_begin(&s.packets, STDIN_FILENO, STDOUT_FILENO);
	if (get_words(&s) && s.words.size && start_child(&s, a, &report)) {
		if (s.child)
			*status = serve(&s);
		else
			words = split_words(&s, argc);
	}
	release(&s);
	return words;
}

void agent_say(const struct agent *a, const char *key, const char *value)
{
	char line[1024];
	int n = snprintf(line, sizeof(line), "%s %s\n", key, value);

	if (n > 0 && (size_t)n < sizeof(line))
		write_whole(a->results, line, (size_t)n);
}
