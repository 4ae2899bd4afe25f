/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at records before it is their turn.  Records that stream_next() has returned are still in
 * use, so the bytes of the buffer must stay where they are.
 */
#include "stream/internal.h"

#include <poll.h>
#include <unistd.h>

/* Append what can be read without waiting, as far as there is room. */
static void read_available(struct stream_reader *in)
{
	struct pollfd input = { .fd = in->fd, .events = POLLIN };
	size_t room = in->capacity - in->end;

	if (room == 0 || poll(&input, 1, 0) <= 0 || !(input.revents & POLLIN))
		return;
	ssize_t n = read(in->fd, in->buffer + in->end, room);
	in->end += n > 0 ? (size_t)n : 0;	/* the end, or a failure, will be seen again */
}

void stream_look_ahead(struct stream_reader *in, stream_follower *follow, void *context)
{
	struct record rec;

	if (!in || in->is_file || in->swap || in->wrapping || in->drained)
		return;
	read_available(in);
	if (in->looked < in->offset)
		in->looked = in->offset;
	for (;;) {
		uint64_t ahead = in->looked - in->offset, left = in->end - in->begin;
		if (ahead > left || left - ahead < RECORD_HEADER_SIZE)
			return;
		size_t size = record_frame(&rec, in->buffer + in->begin + ahead, false);
		/* Other bytes may follow a record of these types. */
		if (rec.type == RECORD_TRACING_DATA || rec.type == RECORD_AUXTRACE ||
		    rec.type >= RECORD_SIMPLEPERF || size < RECORD_HEADER_SIZE ||
		    size > left - ahead)
			return;
		follow(context, &rec);
		in->looked += size;
	}
}
