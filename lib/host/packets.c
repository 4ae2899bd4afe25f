/* SPDX-License-Identifier: Apache-2.0 */
#include "host/packets.h"
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 5 };	/* bytes of the type and the size */

static void be_patient(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0)
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

void packets_begin(struct packets *p, int in, int out)
{
	*p = (struct packets){ .in = in, .out = out };
	be_patient(in);
	be_patient(out);
	buffer_grow(&p->received, 2 * PACKET_MAX);
}

/* Remove the first DONE bytes of B once they are many; set *DONE to what is still there. */
static void shift(struct buffer *b, size_t *done)
{
	if (*done < b->size && *done < PACKET_WINDOW)
		return;
	memmove(b->at, b->at + *done, b->size - *done);
	b->size -= *done;
	*done = 0;
}

void packets_read(struct packets *p)
{
	if (p->taken)
		shift(&p->received, &p->taken);
	ssize_t n = read(p->in, buffer_end(&p->received, 2 * PACKET_MAX), 2 * PACKET_MAX);

	if (n > 0)
		p->received.size += (size_t)n;
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		p->has_ended = true;
}

void packets_write(struct packets *p)
{
	while (p->sent < p->queued.size) {
		ssize_t n = write(p->out, p->queued.at + p->sent, p->queued.size - p->sent);
		if (n < 0) {
			p->is_deaf = errno != EAGAIN && errno != EINTR;
			break;
		}
		p->sent += (size_t)n;
	}
	if (p->is_deaf)
		p->sent = p->queued.size;
	if (p->sent)
		shift(&p->queued, &p->sent);
}

size_t packets_waiting(const struct packets *p)
{
	return p->queued.size - p->sent;
}

enum packets_found packets_next(struct packets *p, struct packet *packet)
{
	const uint8_t *at = p->received.at + p->taken;
	size_t left = p->received.size - p->taken;

	if (left < HEAD)
		return PACKETS_NONE;
	size_t size = at[1] | (size_t)at[2] << 8 | (size_t)at[3] << 16 | (size_t)at[4] << 24;
	if (size > PACKET_MAX)
		return PACKETS_DAMAGED;
	if (left - HEAD < size)
		return PACKETS_NONE;
	*packet = (struct packet){ .type = (enum packet_type)at[0], .bytes = at + HEAD,
				   .size = size };
	p->taken += HEAD + size;
	return PACKETS_ONE;
}

bool packets_line(struct packets *p, char *line, size_t size)
{
	const uint8_t *at = p->received.at + p->taken;
	size_t left = p->received.size - p->taken;
	const uint8_t *end = memchr(at, '\n', left);
	size_t length = end ? (size_t)(end - at) : left;

	if (!end && left < size)
		return false;
	if (length >= size)
		length = size - 1;
	memcpy(line, at, length);
	line[length] = '\0';
	p->taken += length + (at[length] == '\n');
	return true;
}

void packets_add(struct packets *p, const void *bytes, size_t size)
{
	if (!p->is_deaf)
		buffer_add(&p->queued, bytes, size);
}

void packets_put(struct packets *p, enum packet_type type, const void *bytes, size_t size)
{
	const uint8_t *all = bytes;
	size_t done = 0;

	do {
		size_t now = size - done < PACKET_MAX ? size - done : PACKET_MAX;
		const uint8_t head[HEAD] = { (uint8_t)type, (uint8_t)now, (uint8_t)(now >> 8),
					     (uint8_t)(now >> 16), (uint8_t)(now >> 24) };
		packets_add(p, head, HEAD);
		if (now)
			packets_add(p, all + done, now);
		done += now;
	} while (done < size);
}

void packets_release(struct packets *p)
{
	descriptor_close(p->in);
	descriptor_close(p->out);
	free(p->received.at);
	free(p->queued.at);
	*p = (struct packets){ .in = -1, .out = -1 };
}
