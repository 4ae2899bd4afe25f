/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/internal.h"
#include "base/arena.h"

#include <stdlib.h>

#include <zlib.h>
#include <zstd.h>

enum { WINDOW_LOG_MAX = 26 };	/* at most 64 MiB of memory, even if a frame asks for more */

struct inflate {
	z_stream *gzip;		/* NULL: the data are zstd */
	ZSTD_DCtx *context;	/* for zstd */
	ZSTD_inBuffer in;
	size_t expected;	/* hint of the last call; 0: a frame has ended */
	uint64_t compressed, decompressed;	/* bytes so far */
	uint64_t records;	/* in the decompressed data */
};

struct inflate *inflate_open(void)
{
	struct inflate *z = mem_zeroed(1, sizeof(*z));

	z->context = ZSTD_createDCtx();
	if (z->context)
		ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	return z;
}

struct inflate *inflate_open_gzip(void)
{
	enum { ONLY_GZIP = 16 + MAX_WBITS };
	struct inflate *z = mem_zeroed(1, sizeof(*z));

	z->gzip = mem_zeroed(1, sizeof(*z->gzip));
	if (inflateInit2(z->gzip, ONLY_GZIP) != Z_OK) {
		free(z->gzip);
		z->gzip = NULL;
	}
	return z;
}

void inflate_feed(struct inflate *z, const void *bytes, size_t size)
{
	z->in = (ZSTD_inBuffer){ bytes, size, 0 };
	z->compressed += size;
}

/* inflate_read() for gzip, which may have several members, one after the other. */
static ptrdiff_t read_gzip(struct inflate *z, void *to, size_t room)
{
	z_stream *s = z->gzip;

	s->next_in = (Bytef *)(uintptr_t)z->in.src + z->in.pos;
	s->avail_in = (uInt)(z->in.size - z->in.pos);
	s->next_out = to;
	s->avail_out = room < UINT32_MAX ? (uInt)room : UINT32_MAX;
	const size_t whole = s->avail_out;
	bool more = true;
	while (more && s->avail_out == whole && (s->avail_in || z->expected)) {
		uInt before = s->avail_in;
		int status = inflate(s, Z_NO_FLUSH);
		if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
			return -1;
		z->expected = status != Z_STREAM_END;
		if (status == Z_STREAM_END && inflateReset(s) != Z_OK)
			return -1;
		more = status != Z_BUF_ERROR && (s->avail_in || s->avail_in != before);
	}
	z->in.pos = z->in.size - s->avail_in;
	return (ptrdiff_t)(whole - s->avail_out);
}

/* inflate_read() for zstd. */
static ptrdiff_t read_zstd(struct inflate *z, void *to, size_t room)
{
	ZSTD_outBuffer out = { to, room, 0 };

	if (!z->context)
		return -1;
	if (z->in.pos == z->in.size && z->expected == 0)
		return 0;	/* between frames: zstd would take a call as the start of a frame */
	/* Even without new input, zstd may return bytes that it has kept. */
	do {
		size_t left = ZSTD_decompressStream(z->context, &out, &z->in);
		if (ZSTD_isError(left))
			return -1;
		z->expected = left;
	} while (out.pos == 0 && z->in.pos < z->in.size);
	return (ptrdiff_t)out.pos;
}

ptrdiff_t inflate_read(struct inflate *z, void *to, size_t room)
{
	ptrdiff_t n = z->gzip ? read_gzip(z, to, room) : read_zstd(z, to, room);

	z->decompressed += n > 0 ? (uint64_t)n : 0;
	return n;
}

bool inflate_is_bomb(const struct inflate *z)
{
	enum { ANY = 64 << 20, TIMES = 200, RECORDS = 4000000 };

	return (z->decompressed > ANY && (z->decompressed - ANY) / TIMES > z->compressed) ||
	       (z->records > RECORDS && z->records - RECORDS > z->compressed);
}

void inflate_count(struct inflate *z, uint64_t bytes, uint64_t records)
{
	z->decompressed += bytes;
	z->records += records;
}

bool inflate_is_whole(const struct inflate *z)
{
	return z->expected == 0;
}

void inflate_close(struct inflate *z)
{
	if (!z)
		return;
	ZSTD_freeDCtx(z->context);
	if (z->gzip)
		inflateEnd(z->gzip);
	free(z->gzip);
	free(z);
}
