/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/gzip.h"
#include "base/arena.h"

#include <stdlib.h>
#include <zlib.h>

enum {
	LEVEL = 4,		/* within 5 % of level 6's size, in half its time */
	GZIP_HEADER = 16,	/* added to zlib's windowBits: write gzip's header */
	ROOM = 64 * 1024,	/* bytes given to deflate at a time */
};

struct gzip {
	struct output *out;
	z_stream z;
};

struct gzip *gzip_open(struct output *out)
{
	struct gzip *gz = mem_zeroed(1, sizeof(*gz));

	gz->out = out;
	if (deflateInit2(&gz->z, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP_HEADER, MAX_MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		report_error(out->report, "cannot compress: out of memory");
	return gz;
}

static void deflate_all(struct gzip *gz, int flush)
{
	do {
		gz->z.next_out = output_room(gz->out, ROOM);
		gz->z.avail_out = ROOM;
		deflate(&gz->z, flush);
		output_commit(gz->out, ROOM - gz->z.avail_out);
	} while (gz->z.avail_out == 0);
}

void gzip_write(struct gzip *gz, const void *bytes, size_t size)
{
	gz->z.next_in = (void *)(uintptr_t)bytes;	/* zlib reads it only */
	gz->z.avail_in = (unsigned)size;
	deflate_all(gz, Z_NO_FLUSH);
}

void gzip_close(struct gzip *gz)
{
	gz->z.avail_in = 0;
	deflate_all(gz, Z_FINISH);
	deflateEnd(&gz->z);
	free(gz);
}
