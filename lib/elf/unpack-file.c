/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpack whole ELF files: .gnu_debugdata, and the compressed files of kernel modules.  A small
 * file can unpack to any size, so the size is limited to RATIO_MAX times the compressed size,
 * plus LEAST (less in a small file).  Kernel modules compress to 1/3 to 1/8.
 */
#include "base/arena.h"
#include "elf/internal.h"

#include <limits.h>
#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

enum {
	WORK_MAX = 128 << 20,		/* bytes of memory for liblzma */
	WINDOW_LOG_MAX = 27,		/* the same for zstd, as a power of two */
	UNPACKED_MAX = 256 << 20,	/* bytes of an unpacked file; also limited to */
	LEAST = 16 << 20,		/* this many bytes, plus */
	RATIO_MAX = 32,			/* times the compressed size; in real files it is 3 to 16 */
};

static const char damaged[] = "its compressed contents are damaged or cut short";
static const char too_large[] = "it is compressed too well to be true";

/* What was unpacked so far: SIZE bytes, with room for ROOM, which may grow to MOST. */
struct elf_unpacked {
	uint8_t *bytes;		/* from malloc(), or NULL; with one more for the zero at the end */
	size_t size, room, most;
};

/* Make room for more bytes.  Return false if the output has the largest size already. */
static bool make_room(struct elf_unpacked *out)
{
	enum { FIRST = 65536 };

	if (out->size < out->room)
		return true;
	if (out->room >= out->most)
		return false;
	out->room = out->room < FIRST ? FIRST : 2 * out->room;
	out->room = out->room < out->most ? out->room : out->most;
	out->bytes = mem_resize(out->bytes, out->room + 1);
	return true;
}

static const char *unpack_xz(struct elf_bytes packed, struct elf_unpacked *out)
{
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret result = lzma_stream_decoder(&s, WORK_MAX, 0);

	s.next_in = packed.at;
	s.avail_in = packed.size;
	while (result == LZMA_OK && make_room(out)) {
		s.next_out = out->bytes + out->size;
		s.avail_out = out->room - out->size;
		result = lzma_code(&s, LZMA_FINISH);
		out->size = out->room - s.avail_out;
	}
	lzma_end(&s);
	return result == LZMA_STREAM_END ? NULL : result == LZMA_OK ? too_large : damaged;
}

static const char *unpack_zstd(struct elf_bytes packed, struct elf_unpacked *out)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	ZSTD_inBuffer in = { packed.at, packed.size, 0 };
	size_t left = context ? 1 : 0;		/* 0: the end of the frame */
	const char *why = context ? NULL : damaged;

	if (context)
		ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	while (left && !why) {
		if (!make_room(out)) {
			why = too_large;
			break;
		}
		ZSTD_outBuffer to = { out->bytes, out->room, out->size };
		size_t read = in.pos;
		left = ZSTD_decompressStream(context, &to, &in);
		if (ZSTD_isError(left) || (left && in.pos == read && to.pos == out->size))
			why = damaged;
		out->size = to.pos;
	}
	ZSTD_freeDCtx(context);
	return why;
}

static const char *unpack_gzip(struct elf_bytes packed, struct elf_unpacked *out)
{
	enum { WINDOW = 15, GZIP = 16 };	/* see inflateInit2() */
	z_stream s = { .next_in = (uint8_t *)(uintptr_t)packed.at };
	int result = packed.size > UINT_MAX ? Z_DATA_ERROR : inflateInit2(&s, GZIP + WINDOW);
	bool is_open = result == Z_OK;

	s.avail_in = (unsigned int)packed.size;
	while (result == Z_OK && make_room(out)) {
		s.next_out = out->bytes + out->size;
		s.avail_out = (unsigned int)(out->room - out->size);
		result = inflate(&s, Z_NO_FLUSH);
		out->size = out->room - s.avail_out;
	}
	if (is_open)
		inflateEnd(&s);
	return result == Z_STREAM_END ? NULL : result == Z_OK ? too_large : damaged;
}

static const struct method {
	const char *magic;	/* the first bytes of such a file */
	const char *(*unpack)(struct elf_bytes packed, struct elf_unpacked *out);
} methods[] = {
	{ "\x1f\x8b\x08", unpack_gzip },
	{ "\xfd" "7zXZ", unpack_xz },
	{ "\x28\xb5\x2f\xfd", unpack_zstd },
};

enum { HEADER_MIN = 8 };	/* bytes; no compressed file is shorter */

static const struct method *method_of(struct elf_bytes packed)
{
	for (size_t i = 0; packed.size >= HEADER_MIN && i < sizeof(methods) / sizeof(*methods); i++)
		if (!memcmp(packed.at, methods[i].magic, strlen(methods[i].magic)))
			return &methods[i];
	return NULL;
}

bool elf_is_packed(const struct elf *elf)
{
	return method_of(elf_part(elf, 0, HEADER_MIN));
}

const char *elf_unpack(const struct elf *elf, struct elf_bytes packed, uint8_t **bytes,
		       size_t *size)
{
	const struct method *method = method_of(packed);
	uint64_t stored = packed.size < elf->data ? packed.size : elf->data;
	uint64_t most = elf_allowance(elf, LEAST) + RATIO_MAX * stored;
	struct elf_unpacked out = { .most = most < UNPACKED_MAX ? (size_t)most : UNPACKED_MAX };
	const char *why = method ? method->unpack(packed, &out) : damaged;

	if (why || !out.bytes) {
		free(out.bytes);
		return why ?: damaged;
	}
	out.bytes[out.size] = 0;
	*bytes = out.bytes;
	*size = out.size;
	return NULL;
}
