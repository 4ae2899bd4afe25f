/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"
#include "flame/internal.h"
#include "pprof/wire.h"

#include <inttypes.h>
#include <libdeflate.h>
#include <stdarg.h>
#include <stdlib.h>

enum { LEVEL = 6 };		/* of deflate: 9 saves 2 % and takes three times as long */

void flame_column_add(struct flame_column *c, uint64_t number)
{
	uint8_t *end = wire_varint(buffer_end(&c->bytes, WIRE_VARINT_MAX), number);

	c->bytes.size = (size_t)(end - c->bytes.at);
	c->count++;
}

void flame_column_add_signed(struct flame_column *c, int64_t number)
{
	flame_column_add(c, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

/* Write SIZE bytes in base64 (RFC 4648). */
static void write_base64(struct output *out, const uint8_t *bytes, size_t size)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		uint8_t *to = output_room(out, 4);
		size_t left = size - i;
		uint32_t three = (uint32_t)bytes[i] << 16 |
				 (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				 (left > 2 ? bytes[i + 2] : 0);
		to[0] = (uint8_t)digit[three >> 18];
		to[1] = (uint8_t)digit[three >> 12 & 63];
		to[2] = left > 1 ? (uint8_t)digit[three >> 6 & 63] : '=';
		to[3] = left > 2 ? (uint8_t)digit[three & 63] : '=';
		output_commit(out, 4);
	}
}

void flame_column_write(struct flame_column *c, uint64_t mul, struct output *out)
{
	struct libdeflate_compressor *by = libdeflate_alloc_compressor(LEVEL);
	size_t bound = libdeflate_deflate_compress_bound(by, c->bytes.size);
	uint8_t *packed = mem_resize(NULL, bound);
	size_t size = by ? libdeflate_deflate_compress(by, c->bytes.at, c->bytes.size, packed,
						     bound) : 0;

	if (size == 0) {
		report_error(out->report, "cannot compress: out of memory");
		output_discard(out);
	}
	flame_print(out, "{\"n\":%" PRIu32 ",", c->count);
	if (mul)
		flame_print(out, "\"mul\":%" PRIu64 ",", mul);
	flame_print(out, "\"z\":\"");
	write_base64(out, packed, size);
	flame_print(out, "\"}");
	libdeflate_free_compressor(by);
	free(packed);
	free(c->bytes.at);
	*c = (struct flame_column){ 0 };
}

void flame_print(struct output *out, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	int size = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (size > 0)
		output_write(out, text, (size_t)size < sizeof(text) ? (size_t)size
								    : sizeof(text) - 1);
}

static void put(void *out, const char *bytes, size_t size)
{
	output_write(out, bytes, size);
}

void flame_json(struct output *out, const char *text)
{
	json_write(text, true, put, out);
}

/* Return what stands for CODE in HTML and XML, or NULL: the character itself. */
static const char *entity_of(uint32_t code)
{
	switch (code) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	}
	if (code == TEXT_INVALID || !text_is_safe(code) || (code & 0xfffe) == 0xfffe)
		return "\xef\xbf\xbd";
	return NULL;
}

void flame_markup(struct output *out, const char *text)
{
	uint32_t code;
	size_t size;

	for (; (size = text_character(text, &code)) > 0; text += size) {
		const char *entity = entity_of(code);
		output_write(out, entity ? entity : text, entity ? strlen(entity) : size);
	}
}
