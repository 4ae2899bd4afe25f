/* SPDX-License-Identifier: Apache-2.0 */
/* The connection to a host while pmu-prof runs there, and its end. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/destination.h"
#include "base/replace.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "base/write.h"
#include "host/internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define S 1000000000ULL		/* ns */
#define PATIENCE (10 * S)	/* a signal must be answered in this time */
#define PROFILE_MOST ((size_t)1 << 30)	/* bytes */

enum {
	RESULTS_MOST = 16 << 10,	/* bytes */
	WRITE_MOST = 4096,	/* bytes: a pipe that can be written takes so many */
};

/* Return the value of the result KEY, a copy that is safe to print, or NULL. */
static char *find_result(const struct host *h, const char *key)
{
	const char *at = (const char *)h->results.at, *line_end;
	const char *end = h->results.size ? at + h->results.size : at;
	size_t length = strlen(key);

	for (; at < end && (line_end = memchr(at, '\n', (size_t)(end - at))); at = line_end + 1) {
		if ((size_t)(line_end - at) <= length || memcmp(at, key, length) ||
		    at[length] != ' ')
			continue;
		char *value = strndup(at + length + 1, (size_t)(line_end - at) - length - 1);
		if (value)
			text_make_safe(value);
		return value;
	}
	return NULL;
}

static bool has_result(const struct host *h, const char *key)
{
	char *value = find_result(h, key);
	bool has = value;

	free(value);
	return has;
}

/* What is wrong on the host's side: report it, and end. */
static void refuse(struct host *h, const char *what)
{
	if (h->is_broken)
		return;
	h->is_broken = true;
	report_error(h->report, "'%s' sent %s: the connection is closed", h->name, what);
}

/* Add SIZE bytes to the profile, whose file appears at the end. */
static void add_profile(struct host *h, const void *bytes, size_t size)
{
	h->profile_size += size;
	if (h->profile_size > PROFILE_MOST || !h->file) {
		refuse(h, h->file ? "a profile of more than 1 GiB" : "a profile before its name");
		return;
	}
	if (!h->profile && !h->profile_failed)
		h->profile = replace_open(h->file, false);
	int error = h->profile ? write_whole(replace_fd(h->profile), bytes, size) : errno;
	if (!error || h->profile_failed)
		return;
	h->profile_failed = true;
	report_error(h->report, "cannot write '%s': %s", h->file, destination_why(error));
}

/* Print what the tools and the command say; as it is, if a command's goes to no terminal. */
static void add_messages(struct host *h, const struct packet *packet)
{
	if (h->has_command && !isatty(STDERR_FILENO))
		write_whole(STDERR_FILENO, packet->bytes, packet->size);
	else
		foreign_print(&h->said, packet->bytes, packet->size);
}

/* Note that the command has taken so many bytes of its input as PACKET says. */
static void take_credit(struct host *h, const struct packet *packet)
{
	size_t size = 0;

	for (size_t i = 0; i < packet->size && i < 4; i++)
		size |= (size_t)packet->bytes[i] << 8 * i;
	h->underway -= size < h->underway ? size : h->underway;
}

/* Do what PACKET, which is not trusted, says. */
static void handle(struct host *h, const struct packet *packet)
{
	switch ((int)packet->type) {
	case PACKET_OUTPUT:
		if (!h->has_command)
			refuse(h, "output, but there is no command");
		else if (!h->output_ended)
			buffer_add(&h->output, packet->bytes, packet->size);
		break;
	case PACKET_MESSAGES:
		add_messages(h, packet);
		break;
	case PACKET_PROFILE:
		add_profile(h, packet->bytes, packet->size);
		break;
	case PACKET_RESULTS:
		if (h->results.size + packet->size <= RESULTS_MOST)
			buffer_add(&h->results, packet->bytes, packet->size);
		h->is_paused = !h->file;
		break;
	case PACKET_TAKEN:
		take_credit(h, packet);
		break;
	case PACKET_DEAF:
		h->reads_input = false;
		break;
	case PACKET_ANSWER:
		h->unanswered -= h->unanswered > 0;
		h->asked = h->unanswered ? h->asked : 0;
		break;
	case PACKET_END:
		h->has_ended = true;
		h->status = packet->size ? packet->bytes[0] : 1;
		break;
	default:	/* of a later version */
		break;
	}
}

/*
 * Handle the packets that have come.  While the command's output waits for its reader, the rest
 * waits, too; and after the first results it waits for the name of the file.
 */
static void handle_packets(struct host *h)
{
	enum packets_found found = PACKETS_NONE;
	struct packet packet;

	while (!h->has_ended && !h->is_broken && !h->is_paused && !h->output.size &&
	       (found = packets_next(&h->packets, &packet)) == PACKETS_ONE)
		handle(h, &packet);
	if (found == PACKETS_DAMAGED)
		refuse(h, "something that is not a packet");
	else if (h->packets.has_ended && !h->has_ended && !h->is_paused && !h->output.size)
		host_lost(h);
}

/* Pass on the signal of INFO.  If there was no answer to earlier ones, end the connection. */
static void pass_signal(struct host *h, const struct signalfd_siginfo *info)
{
	const uint8_t bytes[] = { (uint8_t)info->ssi_signo, info->ssi_code == SI_KERNEL };
	uint64_t now = monotonic_ns();

	if (h->asked && now - h->asked > PATIENCE) {
		h->is_broken = true;
		report_error(h->report, "'%s' does not answer: the connection is closed", h->name);
		kill(h->ssh, SIGTERM);
		return;
	}
	if (!h->asked)
		h->asked = now;
	h->unanswered++;
	packets_put(&h->packets, PACKET_SIGNAL, bytes, sizeof(bytes));
}

static void handle_signals(struct host *h)
{
	struct signalfd_siginfo info;

	while (read(h->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD && !h->is_broken)
			pass_signal(h, &info);
}

/* Write a part of the command's output to our standard output. */
static void give_output(struct host *h)
{
	size_t size = h->output.size < WRITE_MOST ? h->output.size : WRITE_MOST;
	ssize_t n = write(STDOUT_FILENO, h->output.at, size);

	if (n >= 0) {
		h->output.size -= (size_t)n;
		memmove(h->output.at, h->output.at + n, h->output.size);
	} else if (errno != EINTR && errno != EAGAIN) {
		const uint8_t end[] = { SIGTERM, false };
		int error = errno;
		h->output_ended = true;
		h->output.size = 0;
		packets_put(&h->packets, PACKET_CLOSED, NULL, 0);
		if (error == EPIPE)	/* the command gets SIGPIPE */
			return;
		errno = error;
		report_failure(h->report, "cannot write the command's output");
		packets_put(&h->packets, PACKET_SIGNAL, end, sizeof(end));
	}
}

/* Pass on a part of our stdin. */
static void take_input(struct host *h)
{
	uint8_t bytes[PACKET_MAX];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	packets_put(&h->packets, PACKET_INPUT, bytes, n > 0 ? (size_t)n : 0);
	if (n > 0)
		h->underway += (size_t)n;
	else
		h->reads_input = false;
}

/* Say that we are here, from time to time.  Return after how many ms to do so again. */
static int keep_alive(struct host *h)
{
	uint64_t now = monotonic_ns();

	if (now - h->alive >= PACKET_ALIVE_S * S) {
		h->alive = now;
		if (packets_waiting(&h->packets) < PACKET_WINDOW)
			packets_put(&h->packets, PACKET_ALIVE, NULL, 0);
	}
	return (int)((PACKET_ALIVE_S * S - (now - h->alive)) / 1000000) + 1;
}

/* Wait for what happens next, and handle it. */
static void work_once(struct host *h)
{
	enum { TAKEN_MS = 500 };	/* until we ask again whether the terminal is ours */
	int milliseconds = keep_alive(h);
	bool is_taken = h->reads_input && terminal_is_taken(STDIN_FILENO);
	bool reads = h->reads_input && !is_taken && h->underway < PACKET_WINDOW &&
		     packets_waiting(&h->packets) < PACKET_WINDOW;
	struct pollfd ours[] = {
		{ .fd = reads ? STDIN_FILENO : -1, .events = POLLIN },
		{ .fd = h->output.size ? STDOUT_FILENO : -1, .events = POLLOUT },
	};

	host_wait(h, ours, 2, is_taken ? TAKEN_MS : milliseconds);
	if (ours[0].revents)
		take_input(h);
	if (ours[1].revents)
		give_output(h);
	handle_signals(h);
	handle_packets(h);
}

const char *host_start(struct host *h, const struct word_list *words, bool command)
{
	h->has_command = h->reads_input = command;
	for (size_t i = 0; i < words->count; i++)
		packets_put(&h->packets, PACKET_WORDS, words->item[i], strlen(words->item[i]) + 1);
	packets_put(&h->packets, PACKET_START, NULL, 0);
	h->alive = monotonic_ns();
	while (!h->has_ended && !h->is_broken && !(h->target = find_result(h, "target"))) {
		h->is_paused = false;
		work_once(h);
	}
	foreign_end(&h->said);
	if (!h->target && h->has_ended && !h->status)
		report_error(h->report, "pmu-prof did nothing on '%s'", h->name);
	return h->target;
}

/* Close the file of the profile; KEEP: it is whole.  Return whether it was written. */
static bool end_profile(struct host *h, bool keep)
{
	bool good = h->profile && keep && !h->profile_failed;

	if (h->profile && !replace_close(h->profile, good) && good) {
		report_failure(h->report, "cannot write '%s'", h->file);
		good = false;
	}
	h->profile = NULL;
	return good;
}

struct host_ending host_record(struct host *h, const char *file)
{
	struct host_ending e = { .status = 1, .has_failed = true };
	uint64_t status;

	h->file = file;
	h->is_paused = false;
	if (!h->has_command && isatty(STDERR_FILENO))
		report_note(h->report, "sampling on '%s'; Ctrl-C ends it and shows the profile",
			    h->name);
	handle_packets(h);
	while ((!h->has_ended || h->output.size) && !h->is_broken)
		work_once(h);
	foreign_end(&h->said);
	char *text = h->is_broken ? NULL : find_result(h, "status");
	if (text && units_parse_count(text, &status)) {
		e.status = (int)(status & 0xff);
		e.has_failed = has_result(h, "failed");
	}
	free(text);
	e.was_stopped = has_result(h, "stopped");
	e.note = find_result(h, "note");
	e.has_profile = end_profile(h, !h->is_broken && has_result(h, "made"));
	return e;
}

void host_close(struct host *h)
{
	if (!h)
		return;
	end_profile(h, false);
	host_end_ssh(h);
	foreign_end(&h->said);
	descriptor_close(h->messages);
	packets_release(&h->packets);
	if (h->signals >= 0) {
		close(h->signals);
		sigprocmask(SIG_SETMASK, &h->before, NULL);
	}
	free(h->output.at);
	free(h->results.at);
	free(h->target);
	free(h);
}
