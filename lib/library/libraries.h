/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libraries - functions of other libraries that make or free objects, as the library's own code
 * calls them (renamed.txt).  Objects take their memory from the room of the current call where they
 * can be given functions for it, and are noted in it otherwise.  If such a function has no memory,
 * the call ends: out_of_memory().
 */
#pragma once
#include <libdeflate.h>
#include <lzma.h>
#include <perfmon/pfmlib.h>
#include <protobuf-c/protobuf-c.h>
#include <zlib.h>
#include <zstd.h>

ZSTD_CCtx *room_ZSTD_createCCtx(void);
size_t room_ZSTD_freeCCtx(ZSTD_CCtx *context);
ZSTD_DCtx *room_ZSTD_createDCtx(void);
size_t room_ZSTD_freeDCtx(ZSTD_DCtx *context);
size_t room_ZSTD_decompress(void *to, size_t room, const void *from, size_t size);
size_t room_ZSTD_decompressStream(ZSTD_DCtx *context, ZSTD_outBuffer *out, ZSTD_inBuffer *in);
struct libdeflate_compressor *room_libdeflate_alloc_compressor(int level);
void room_libdeflate_free_compressor(struct libdeflate_compressor *compressor);
struct libdeflate_decompressor *room_libdeflate_alloc_decompressor(void);
void room_libdeflate_free_decompressor(struct libdeflate_decompressor *decompressor);
int room_inflateInit2(z_streamp stream, int bits, const char *version, int size);
lzma_ret room_lzma_stream_decoder(lzma_stream *stream, uint64_t memory, uint32_t flags);
ProtobufCMessage *room_protobuf_c_message_unpack(const ProtobufCMessageDescriptor *descriptor,
						 ProtobufCAllocator *allocator, size_t size,
						 const uint8_t *bytes);
pfm_err_t room_pfm_get_event_info(int event, pfm_os_t os, pfm_event_info_t *info);
pfm_err_t room_pfm_get_event_attr_info(int event, int attribute, pfm_os_t os,
				       pfm_event_attr_info_t *info);
pfm_err_t room_pfm_get_os_event_encoding(const char *name, int levels, pfm_os_t os, void *out);
void room_protobuf_c_message_free_unpacked(ProtobufCMessage *message,
					   ProtobufCAllocator *allocator);
