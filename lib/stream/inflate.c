/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/inflate.h"
#include "base/arena.h"

#include <zstd.h>

enum { WINDOW_LOG_MAX = 26 };	/* 64 MiB of memory at most, whatever a frame asks for */

struct inflate {
	ZSTD_DCtx *context;
	ZSTD_inBuffer in;
	size_t expected;	/* what the last call said it still wants; 0: a frame has ended */
};

struct inflate *inflate_open(void)
{
	struct inflate *z = mem_zeroed(1, sizeof(*z));

	z->context = ZSTD_createDCtx();
	if (z->context)
		ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	return z;
}

void inflate_feed(struct inflate *z, const void *bytes, size_t size)
{
	z->in = (ZSTD_inBuffer){ bytes, size, 0 };
}

ptrdiff_t inflate_read(struct inflate *z, void *to, size_t room)
{
	ZSTD_outBuffer out = { to, room, 0 };

	if (!z->context)
		return -1;
	if (z->in.pos == z->in.size && z->expected == 0)
		return 0;	/* between frames; zstd would take a call for the begin of one */
	/* What zstd holds back comes out without new input, too. */
	do {
		size_t left = ZSTD_decompressStream(z->context, &out, &z->in);
		if (ZSTD_isError(left))
			return -1;
		z->expected = left;
	} while (out.pos == 0 && z->in.pos < z->in.size);
	return (ptrdiff_t)out.pos;
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
	free(z);
}
