/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at records before stream_next() returns them.  The caller still uses the records that were
 * returned, so the bytes of the buffer must not move.
 */
#include "stream/internal.h"

#include <poll.h>
#include <unistd.h>

/* Append what can be read without waiting, as far as there is room. */
static void read_available(struct stream_reader *in)
{
	struct pollfd input = { .fd = in->fd, .events = POLLIN };
	size_t room = in->capacity - in->end;

	if (in->read || room == 0 || poll(&input, 1, 0) <= 0 || !(input.revents & POLLIN))
		return;
	ssize_t n = read(in->fd, in->buffer + in->end, room);
	in->end += n > 0 ? (size_t)n : 0;	/* the next read meets an end or failure again */
}

/* Return whether REC can be stepped over, because no other bytes follow it. */
static bool is_plain(const struct record *rec, size_t size)
{
	return rec->type != RECORD_TRACING_DATA && rec->type != RECORD_AUXTRACE &&
	       (rec->type < RECORD_SIMPLEPERF || record_is_resolved(rec->type)) &&
	       size >= RECORD_HEADER_SIZE;
}

/* Return the time of REC, also of a sample that is resolved; 0: it has none. */
static uint64_t time_of(const struct stream_reader *in, const struct record *rec)
{
	enum {
		CHAIN_TIME = 24,	/* after u16 event, has, u32 chain, pid, tid, CPU, comm */
		RESOLVED_TIME = 16,	/* after u32 event, pid, tid, CPU */
	};
	struct cursor c = rec->body;

	if (!record_is_resolved_sample(rec->type))
		return stream_time(in, rec);
	cursor_bytes(&c, rec->type == RECORD_CHAIN_SAMPLE ? CHAIN_TIME : RESOLVED_TIME);
	uint64_t time = cursor_u64(&c);
	return c.failed ? 0 : stream_possible_time(in, time);
}

bool stream_goes_back(struct stream_reader *in, uint64_t time)
{
	enum { TIMES = 64, RECORDS = 512, WRONG_MOST = 1000 };
	bool is_inner = in->inner_at < in->inner.size;
	const uint8_t *at = is_inner ? in->inner.at + in->inner_at : in->buffer + in->begin;
	size_t left = is_inner ? in->inner.size - in->inner_at : in->end - in->begin;
	uint32_t times = 0;
	struct record rec;

	if (in->swap || in->wrong_times > WRONG_MOST)
		return false;
	for (uint32_t i = 0; i < RECORDS && times < TIMES && left >= RECORD_HEADER_SIZE; i++) {
		size_t size = record_frame(&rec, at, false);
		if (!is_plain(&rec, size) || size > left)
			break;
		uint64_t next = time_of(in, &rec);
		if (next >= time)
			return false;
		times += next != 0;
		at += size;
		left -= size;
	}
	in->wrong_times += times > 0;
	return times > 0;
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
		if (!is_plain(&rec, size) || size > left - ahead)
			return;
		follow(context, &rec);
		in->looked += size;
	}
}
