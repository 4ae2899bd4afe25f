/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/control.h"
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Duplicate the inherited descriptor whose number is TEXT.  -1 with errno set: it is not open. */
static int take_descriptor(const char *text)
{
	char *end;
	long fd = strtol(text, &end, 10);

	if (end == text || *end) {
		errno = EINVAL;
		return -1;
	}
	/* The copy is ours to close, and is closed at exec. */
	return fcntl((int)fd, F_DUPFD_CLOEXEC, 3);
}

/* Open a FIFO for reading and writing, so that it has no end of file when a writer closes it. */
static int open_fifo(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))) {
		close(fd);
		errno = ENOTSUP;	/* not a FIFO: "Operation not supported" */
		return -1;
	}
	return fd;
}

bool control_open(struct control *control, const char *where, struct report *report)
{
	char text[4096];

	snprintf(text, sizeof(text), "%s", where);
	char *name = text, *comma = strchr(text, ','), *owner = NULL;
	if (comma)
		*comma++ = '\0';
	if (comma && (owner = strchr(comma, ',')))
		*owner++ = '\0';
	bool is_fd = !strncmp(text, "fd:", 3) || text[strspn(text, "0123456789")] == '\0';
	if (!strncmp(text, "fd:", 3) || !strncmp(text, "fifo:", 5))
		name = strchr(text, ':') + 1;
	control->fd = is_fd ? take_descriptor(name) : open_fifo(name);
	if (control->fd >= 0 && comma)
		control->ack = is_fd ? take_descriptor(comma) : open_fifo(comma);
	if (owner && !owner_parse(&control->owner, owner, report))
		return false;
	if (control->fd >= 0 && (!comma || control->ack >= 0))
		return true;
	report_failure(report, "cannot take commands from '%s' (must be a descriptor, or a FIFO "
		       "made by mkfifo)", where);
	return false;
}

static bool is_readable(int fd)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };

	return poll(&readable, 1, 0) > 0 && readable.revents & POLLIN;
}

/* Read up to the end of a line, without waiting.  False: it has not arrived yet. */
static bool read_line(struct control *control)
{
	char byte;

	while (is_readable(control->fd) && read(control->fd, &byte, 1) == 1) {
		if (byte == '\n') {
			control->line[control->used] = '\0';
			control->used = 0;
			return true;
		}
		if (control->used < sizeof(control->line) - 1)
			control->line[control->used++] = byte;
	}
	return false;
}

enum control_command control_next(struct control *control, struct report *report)
{
	static const char *const words[] = {
		[CONTROL_ENABLE] = "enable", [CONTROL_DISABLE] = "disable",
		[CONTROL_SNAPSHOT] = "snapshot", [CONTROL_PING] = "ping",
		[CONTROL_STOP] = "stop",
	};

	while (control->fd >= 0 && read_line(control)) {
		for (enum control_command i = CONTROL_ENABLE; i <= CONTROL_STOP; i++)
			if (!strcmp(control->line, words[i]))
				return i;
		report_note(report, "'%s' is not a command: send enable, disable, snapshot, ping "
			    "or stop", control->line);
	}
	return CONTROL_NONE;
}

void control_acknowledge(const struct control *control)
{
	static const char word[] = "ack\n";

	/* A failure is ignored: nobody reads the acknowledgements. */
	if (control->ack >= 0 && write(control->ack, word, sizeof(word) - 1) < 0)
		return;
}

void control_end(struct control *control, int status, const struct report *report)
{
	static const char *const words[] = {
		[REPORT_OTHER] = "", [REPORT_NOT_FOUND] = " not-found",
		[REPORT_NO_RIGHTS] = " no-rights", [REPORT_WRONG_ARGUMENT] = " wrong-argument",
	};

	/* A failure is reported nowhere: nobody reads the lines. */
	if (control->ack >= 0 && status && report->error[0])
		dprintf(control->ack, "error %s\n", report->error);
	if (control->ack >= 0)
		dprintf(control->ack, "exit %d%s\n", status,
			report->status ? words[report->cause] : "");
	descriptor_close(control->fd);
	descriptor_close(control->ack);
	owner_close(&control->owner);
	*control = (struct control)CONTROL_CLOSED;
}
