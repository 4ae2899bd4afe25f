/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/pack.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "profile.pb-c.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <zstd.h>

enum {
	GZIP_LEVEL = 3,		/* lower levels save no time that make bench can measure */
	ZSTD_LEVEL = 3,
};

struct pack {
	struct buffer buffer;
};

struct pack *pack_open(void)
{
	return mem_zeroed(1, sizeof(struct pack));
}

uint8_t *pack_room(struct pack *p, size_t size)
{
	return buffer_extend(&p->buffer, size);
}

void pack_piece(struct pack *p, const struct Perftools__Profiles__Profile *piece)
{
	size_t size = perftools__profiles__profile__get_packed_size(piece);

	perftools__profiles__profile__pack(piece, pack_room(p, size));
}

static uint8_t *compress_gzip(const struct buffer *b, size_t *size)
{
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(GZIP_LEVEL);
	size_t bound = libdeflate_gzip_compress_bound(c, b->size);
	uint8_t *to = mem_resize(NULL, bound);

	*size = c ? libdeflate_gzip_compress(c, b->at, b->size, to, bound) : 0;
	libdeflate_free_compressor(c);
	return to;
}

static uint8_t *compress_zstd(const struct buffer *b, size_t *size)
{
	size_t bound = ZSTD_compressBound(b->size);
	uint8_t *to = mem_resize(NULL, bound);

	*size = ZSTD_compress(to, bound, b->at, b->size, ZSTD_LEVEL);
	if (ZSTD_isError(*size))
		*size = 0;
	return to;
}

void pack_close(struct pack *p, enum pack_how how, struct output *out)
{
	struct buffer *b = &p->buffer;
	size_t size = b->size;

	b->at = mem_resize(b->at, size);
	uint8_t *packed = how == PACK_GZIP ? compress_gzip(b, &size)
			  : how == PACK_ZSTD ? compress_zstd(b, &size) : NULL;

	if (size == 0 && b->size > 0) {
		report_error(out->report, "cannot compress: out of memory");
		output_discard(out);
	}
	output_write(out, packed ? packed : b->at, size);
	output_flush(out);
	free(packed);
	free(b->at);
	free(p);
}

uint8_t *pack_take_gzip(struct pack *p, size_t *size)
{
	uint8_t *packed = compress_gzip(&p->buffer, size);

	free(p->buffer.at);
	free(p);
	if (*size > 0)
		return packed;
	free(packed);
	return NULL;
}

uint8_t *pack_take(struct pack *p, size_t *size)
{
	uint8_t *bytes = mem_resize(p->buffer.at, p->buffer.size);

	*size = p->buffer.size;
	free(p);
	return bytes;
}
