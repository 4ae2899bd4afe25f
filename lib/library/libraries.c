/* SPDX-License-Identifier: Apache-2.0 */
#include "library/libraries.h"
#include "base/arena.h"
#include "library/room.h"

#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <zstd_errors.h>

/* Without this memory, what follows would look like damaged input. */
static void *needed(void *memory)
{
	if (!memory)
		out_of_memory();
	return memory;
}

static void free_zstd_compressor(void *context)
{
	ZSTD_freeCCtx(context);
}

ZSTD_CCtx *room_ZSTD_createCCtx(void)
{
	return room_note(needed(ZSTD_createCCtx()), free_zstd_compressor);
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
	return room_note(needed(ZSTD_createDCtx()), free_zstd_decompressor);
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
	return room_note(needed(libdeflate_alloc_compressor(level)), free_compressor);
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
	return room_note(needed(libdeflate_alloc_decompressor()), free_decompressor);
}

void room_libdeflate_free_decompressor(struct libdeflate_decompressor *decompressor)
{
	room_forget(decompressor);
	libdeflate_free_decompressor(decompressor);
}

static void *zlib_alloc(void *unused, unsigned int count, unsigned int size)
{
	(void)unused;
	return needed(room_calloc(count, size));
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
	return needed(room_calloc(count, size));
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
	return needed(room_malloc(size));
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

/* Return RESULT of zstd, unless it lacked memory. */
static size_t without_lack(size_t result)
{
	if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
		out_of_memory();
	return result;
}

size_t room_ZSTD_decompress(void *to, size_t room, const void *from, size_t size)
{
	return without_lack(ZSTD_decompress(to, room, from, size));
}

size_t room_ZSTD_decompressStream(ZSTD_DCtx *context, ZSTD_outBuffer *out, ZSTD_inBuffer *in)
{
	return without_lack(ZSTD_decompressStream(context, out, in));
}

/* Return STATUS of libpfm4, unless it lacked memory. */
static pfm_err_t pfm_without_lack(pfm_err_t status)
{
	if (status == PFM_ERR_NOMEM)
		out_of_memory();
	return status;
}

pfm_err_t room_pfm_get_event_info(int event, pfm_os_t os, pfm_event_info_t *info)
{
	return pfm_without_lack(pfm_get_event_info(event, os, info));
}

pfm_err_t room_pfm_get_event_attr_info(int event, int attribute, pfm_os_t os,
				       pfm_event_attr_info_t *info)
{
	return pfm_without_lack(pfm_get_event_attr_info(event, attribute, os, info));
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

	if (pfm_without_lack(status) != PFM_SUCCESS)
		return status;
	if (os != PFM_OS_NONE) {
		pfm_perf_encode_arg_t *perf = out;

		if (perf->fstr && !move(perf->fstr, strlen(*perf->fstr) + 1))
			out_of_memory();
		return status;
	}
	pfm_pmu_encode_arg_t *pmu = out;
	bool has_codes = move(&pmu->codes, (size_t)pmu->count * sizeof(*pmu->codes));
	bool has_name = !pmu->fstr || move(pmu->fstr, strlen(*pmu->fstr) + 1);
	if (!has_codes || !has_name)
		out_of_memory();
	return status;
}
