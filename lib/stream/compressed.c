/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the records inside COMPRESSED records. */
#include "stream/internal.h"

bool reader_take_compressed(struct stream_reader *in, const struct record *rec)
{
	struct cursor c = rec->body;
	uint64_t size = rec->type == RECORD_COMPRESSED2 ? cursor_u64(&c) : cursor_left(&c);
	const void *data = size <= cursor_left(&c) ? cursor_bytes(&c, size) : NULL;
	ptrdiff_t n;

	if (!data || c.failed) {
		stream_damaged(in, rec, "COMPRESSED record is shorter than its data");
		return false;
	}
	if (!in->inflate)
		in->inflate = inflate_open();
	inflate_feed(in->inflate, data, size);
	if (in->inner_at > 0)
		memmove(in->inner.at, in->inner.at + in->inner_at, in->inner.size - in->inner_at);
	in->inner.size -= in->inner_at;
	in->inner_at = 0;
	in->inner_offset = rec->offset;
	do {
		n = inflate_read(in->inflate, buffer_end(&in->inner, RECORD_MAX_SIZE),
				 RECORD_MAX_SIZE);
		in->inner.size += n > 0 ? (size_t)n : 0;
	} while (n > 0 && in->inner.size < INNER_MAX);
	if (in->wrapping)
		inflate_count(in->wrapping, in->inner.size, 0);
	if (reader_stops_at_bomb(in, in->inflate) ||
	    (in->wrapping && reader_stops_at_bomb(in, in->wrapping)))
		in->inner.size = 0;
	else if (n != 0)
		stream_damaged(in, rec, n < 0 ? "COMPRESSED record with damaged data"
			       : "COMPRESSED record that expands to too many bytes");
	return n == 0;
}

bool reader_next_inner(struct stream_reader *in, struct record *rec)
{
	size_t left = in->inner.size - in->inner_at;

	if (left < RECORD_HEADER_SIZE)
		return false;
	uint8_t *at = in->inner.at + in->inner_at;
	rec->offset = in->inner_offset;
	size_t size = record_frame(rec, at, in->swap);
	if (size < RECORD_HEADER_SIZE) {
		stream_damaged(in, rec, "COMPRESSED record with a record shorter than its header");
		in->inner_at = in->inner.size;
		return false;
	}
	if (left < size)
		return false;
	size_t exact = reader_cut(in, rec, at, size);
	if (in->swap)
		reader_swap(in, rec, at, exact);
	in->inner_at += size;
	return true;
}

void reader_check_inner_end(struct stream_reader *in)
{
	if (in->inner_at < in->inner.size && !in->damaged && !reader_stopped(in))
		reader_damage(in, "stream ends inside a record that is compressed");
}
