/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/pack.h"
#include "base/arena.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <zstd.h>

enum {
	GZIP_LEVEL = 3,		/* lower levels save no time that make bench can measure */
	ZSTD_LEVEL = 3,
};

struct pack {
	uint8_t *bytes;
	size_t size, capacity;
};

struct pack *pack_open(void)
{
	return mem_zeroed(1, sizeof(struct pack));
}

uint8_t *pack_room(struct pack *p, size_t size)
{
	if (size > p->capacity - p->size) {
		p->capacity = p->capacity + p->capacity / 4 + size + 65536;
		p->bytes = mem_resize(p->bytes, p->capacity);
	}
	p->size += size;
	return p->bytes + p->size - size;
}

static uint8_t *compress_gzip(const struct pack *p, size_t *size)
{
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(GZIP_LEVEL);
	size_t bound = libdeflate_gzip_compress_bound(c, p->size);
	uint8_t *to = mem_resize(NULL, bound);

	*size = c ? libdeflate_gzip_compress(c, p->bytes, p->size, to, bound) : 0;
	libdeflate_free_compressor(c);
	return to;
}

static uint8_t *compress_zstd(const struct pack *p, size_t *size)
{
	size_t bound = ZSTD_compressBound(p->size);
	uint8_t *to = mem_resize(NULL, bound);

	*size = ZSTD_compress(to, bound, p->bytes, p->size, ZSTD_LEVEL);
	if (ZSTD_isError(*size))
		*size = 0;
	return to;
}

void pack_close(struct pack *p, enum pack_how how, struct output *out)
{
	size_t size = p->size;

	p->bytes = mem_resize(p->bytes, size);
	uint8_t *packed = how == PACK_GZIP ? compress_gzip(p, &size)
			  : how == PACK_ZSTD ? compress_zstd(p, &size) : NULL;

	if (size == 0 && p->size > 0) {
		report_error(out->report, "cannot compress: out of memory");
		output_discard(out);
	}
	output_write(out, packed ? packed : p->bytes, size);
	output_flush(out);
	free(packed);
	free(p->bytes);
	free(p);
}

uint8_t *pack_take(struct pack *p, size_t *size)
{
	uint8_t *bytes = mem_resize(p->bytes, p->size);

	*size = p->size;
	free(p);
	return bytes;
}
