/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packets - what pmu-prof and its agent on a host say to each other over one connection.
 *
 * A packet is its type (1 byte), the size of the rest (4 bytes, little-endian), and the rest.  What
 * comes from the host is not trusted.
 *
 * pmu-prof sends PACKET_WORDS, PACKET_START, and then what happens here.  The agent sends
 * PACKET_VERSION at once, and as the last packet PACKET_END.  No queue grows without bound: input
 * is sent in a window of PACKET_WINDOW bytes, and each side stops reading what it would send while
 * PACKET_WINDOW bytes wait in its queue.
 */
#pragma once
#include "base/buffer.h"

#include <stdbool.h>

enum {
	PACKET_MAX = 32 << 10,		/* bytes after the size, at most */
	PACKET_WINDOW = 256 << 10,	/* bytes */
	PACKET_ALIVE_S = 10,		/* pmu-prof sends PACKET_ALIVE so often */
	PACKET_SILENCE_S = 60,		/* after so long, the agent ends what it has started */
};

enum packet_type {
	/* To the agent. */
	PACKET_WORDS = 'w',	/* words of a command line of pmu-prof; each ends with a NUL */
	PACKET_START = 'g',	/* these were all the words */
	PACKET_INPUT = 'i',	/* for the command's stdin; no bytes: the end */
	PACKET_SIGNAL = 's',	/* a byte, the number of a signal; another, 1 if it came from our
				   terminal and so is for the whole process group */
	PACKET_CLOSED = 'c',	/* nobody reads the command's stdout any more */
	PACKET_ALIVE = 'h',
	/* From the agent. */
	PACKET_VERSION = 'v',	/* PACKET_PROTOCOL, a space, the version of pmukit */
	PACKET_OUTPUT = 'o',	/* the command's stdout */
	PACKET_MESSAGES = 'e',	/* its stderr, and that of the tools */
	PACKET_PROFILE = 'p',	/* the file of the profile */
	PACKET_RESULTS = 'f',	/* lines, each a key, a space, a value: see agent_say() */
	PACKET_TAKEN = 'k',	/* 4 bytes, little-endian: so much input was passed on */
	PACKET_DEAF = 'd',	/* the command does not read its stdin any more */
	PACKET_ANSWER = 'a',	/* a PACKET_SIGNAL was passed on */
	PACKET_END = 'x',	/* a byte, the exit status of pmu-prof over there */
};

#define PACKET_PROTOCOL "1"

/* One end of the connection. */
struct packets {
	int in, out;		/* descriptors, which do not block; -1: closed */
	struct buffer received, queued;
	size_t taken;		/* bytes of RECEIVED that were returned */
	size_t sent;		/* bytes of QUEUED that were written */
	bool has_ended;		/* no more will come */
	bool is_deaf;		/* nobody reads what is sent: it is dropped */
};

struct packet {
	enum packet_type type;
	const uint8_t *bytes;	/* valid until the next packets_read() */
	size_t size;
};

/* What packets_next() found. */
enum packets_found { PACKETS_NONE, PACKETS_ONE, PACKETS_DAMAGED };

/* Begin with these two descriptors, which are set to not block. */
void packets_begin(struct packets *p, int in, int out);

/* Read what has come.  At its end, or if that fails, set HAS_ENDED. */
void packets_read(struct packets *p);

/*
 * Write as much of the queue as possible.  If nobody reads it, set IS_DEAF; what the other side had
 * sent before may still come.
 */
void packets_write(struct packets *p);

/* Return the number of bytes in the queue. */
size_t packets_waiting(const struct packets *p);

/* Find the next packet that has come completely. */
enum packets_found packets_next(struct packets *p, struct packet *packet);

/*
 * Before the first packet: write the next line that has come, without its end, to LINE; of a line
 * that does not fit, the first SIZE - 1 bytes.  Return false if no line has come completely.
 */
bool packets_line(struct packets *p, char *line, size_t size);

/* Queue SIZE bytes as they are; as packets of TYPE, or one packet if SIZE is 0. */
void packets_add(struct packets *p, const void *bytes, size_t size);
void packets_put(struct packets *p, enum packet_type type, const void *bytes, size_t size);

/* Close both descriptors, and free the queues. */
void packets_release(struct packets *p);
