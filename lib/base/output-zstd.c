/* SPDX-License-Identifier: Apache-2.0 */
#include "base/output-zstd.h"
#include "base/arena.h"

#include <zstd.h>

struct output_zstd {
	ZSTD_CCtx *context;
	size_t capacity;
	void *buffer;
};

struct output_zstd *output_zstd_open(int level)
{
	struct output_zstd *z = mem_zeroed(1, sizeof(*z));

	z->context = ZSTD_createCCtx();
	if (!z->context ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(z->context, ZSTD_c_compressionLevel, level))) {
		output_zstd_close(z);
		return NULL;
	}
	z->capacity = ZSTD_CStreamOutSize();
	z->buffer = mem_resize(NULL, z->capacity);
	return z;
}

bool output_zstd_write(struct output_zstd *z, const void *bytes, size_t size, bool is_last,
		       void (*write)(void *context, const void *bytes, size_t size), void *context)
{
	ZSTD_inBuffer in = { bytes, size, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { z->buffer, z->capacity, 0 };
		left = ZSTD_compressStream2(z->context, &out, &in,
					    is_last ? ZSTD_e_end : ZSTD_e_flush);
		write(context, z->buffer, out.pos);
	} while (left > 0 && !ZSTD_isError(left));
	return !ZSTD_isError(left);
}

void output_zstd_close(struct output_zstd *z)
{
	if (!z)
		return;
	ZSTD_freeCCtx(z->context);
	free(z->buffer);
	free(z);
}
