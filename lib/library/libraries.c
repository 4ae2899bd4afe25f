/* SPDX-License-Identifier: Apache-2.0 */
#include "library/libraries.h"
#include "library/room.h"

#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>
#include <string.h>

static void free_zstd_compressor(void *context)
{
	ZSTD_freeCCtx(context);
}

ZSTD_CCtx *room_ZSTD_createCCtx(void)
{
	return room_note(ZSTD_createCCtx(), free_zstd_compressor);
}

size_t room_ZSTD_freeCCtx(ZSTD_CCtx *context)
{
	room_forget(context);
	return ZSTD_freeCCtx(context);
}

static void free_zstd_decompressor(void *context)
{
	ZSTD_freeDCtx(context);
}

ZSTD_DCtx *room_ZSTD_createDCtx(void)
{
	return room_note(ZSTD_createDCtx(), free_zstd_decompressor);
}

size_t room_ZSTD_freeDCtx(ZSTD_DCtx *context)
{
	room_forget(context);
	return ZSTD_freeDCtx(context);
}

static void free_compressor(void *compressor)
{
	libdeflate_free_compressor(compressor);
}

struct libdeflate_compressor *room_libdeflate_alloc_compressor(int level)
{
	return room_note(libdeflate_alloc_compressor(level), free_compressor);
}

void room_libdeflate_free_compressor(struct libdeflate_compressor *compressor)
{
	room_forget(compressor);
	libdeflate_free_compressor(compressor);
}

static void free_decompressor(void *decompressor)
{
	libdeflate_free_decompressor(decompressor);
}

struct libdeflate_decompressor *room_libdeflate_alloc_decompressor(void)
{
	return room_note(libdeflate_alloc_decompressor(), free_decompressor);
}

void room_libdeflate_free_decompressor(struct libdeflate_decompressor *decompressor)
{
	room_forget(decompressor);
	libdeflate_free_decompressor(decompressor);
}

static void *zlib_alloc(void *unused, unsigned int count, unsigned int size)
{
	(void)unused;
	return room_calloc(count, size);
}

static void zlib_free(void *unused, void *p)
{
	(void)unused;
	room_free(p);
}

int room_inflateInit2(z_streamp stream, int bits, const char *version, int size)
{
	stream->zalloc = zlib_alloc;
	stream->zfree = zlib_free;
	return inflateInit2_(stream, bits, version, size);
}

static void *lzma_alloc_room(void *unused, size_t count, size_t size)
{
	(void)unused;
	return room_calloc(count, size);
}

static void lzma_free_room(void *unused, void *p)
{
	(void)unused;
	room_free(p);
}

lzma_ret room_lzma_stream_decoder(lzma_stream *stream, uint64_t memory, uint32_t flags)
{
	static const lzma_allocator room = { .alloc = lzma_alloc_room, .free = lzma_free_room };

	stream->allocator = &room;
	return lzma_stream_decoder(stream, memory, flags);
}

static void *protobuf_alloc(void *unused, size_t size)
{
	(void)unused;
	return room_malloc(size);
}

static void protobuf_free(void *unused, void *p)
{
	(void)unused;
	room_free(p);
}

ProtobufCMessage *room_protobuf_c_message_unpack(const ProtobufCMessageDescriptor *descriptor,
						 ProtobufCAllocator *allocator, size_t size,
						 const uint8_t *bytes)
{
	ProtobufCAllocator room = { .alloc = protobuf_alloc, .free = protobuf_free };

	(void)allocator;
	return protobuf_c_message_unpack(descriptor, &room, size, bytes);
}

void room_protobuf_c_message_free_unpacked(ProtobufCMessage *message,
					   ProtobufCAllocator *allocator)
{
	ProtobufCAllocator room = { .alloc = protobuf_alloc, .free = protobuf_free };

	(void)allocator;
	protobuf_c_message_free_unpacked(message, &room);
}

/* Let *BYTES be a copy in the room, and free the original.  Return whether there is memory. */
static bool move(void *pointer, size_t size)
{
	void **bytes = pointer, *copy = *bytes ? room_malloc(size) : NULL;
	bool is_moved = copy || !*bytes;

	if (copy)
		memcpy(copy, *bytes, size);
	free(*bytes);
	*bytes = copy;
	return is_moved;
}

/* libpfm4 gives out the name, and the codes unless they are for perf. */
pfm_err_t room_pfm_get_os_event_encoding(const char *name, int levels, pfm_os_t os, void *out)
{
	pfm_err_t status = pfm_get_os_event_encoding(name, levels, os, out);

	if (status != PFM_SUCCESS)
		return status;
	if (os != PFM_OS_NONE) {
		pfm_perf_encode_arg_t *perf = out;

		return !perf->fstr || move(perf->fstr, strlen(*perf->fstr) + 1) ? status :
		       PFM_ERR_NOMEM;
	}
	pfm_pmu_encode_arg_t *pmu = out;
	bool has_codes = move(&pmu->codes, (size_t)pmu->count * sizeof(*pmu->codes));
	bool has_name = !pmu->fstr || move(pmu->fstr, strlen(*pmu->fstr) + 1);
	return has_codes && has_name ? status : PFM_ERR_NOMEM;
}
