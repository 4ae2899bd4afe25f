/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a decoded profile as they were read.  Only the strings differ: each has moved over
 * the last byte of its length, to make room for a NUL.
 */
#include "pprof/decode-internal.h"
#include "pprof/pack.h"
#include "pprof/wire.h"

#include <stdlib.h>

/*
 * Put the string at OFFSET of BYTES back after its length.  Return false if the length was encoded
 * in more bytes than it needs: then the tag of the field is not where it would be.
 */
static bool put_back(uint8_t *bytes, size_t offset)
{
	uint8_t length[WIRE_VARINT_MAX];
	char *text = (char *)bytes + offset;
	size_t size = strlen(text);
	size_t bytes_of_size = (size_t)(wire_varint(length, size) - length);

	if (offset < bytes_of_size || bytes[offset - bytes_of_size] != FIELD(6, BYTES))
		return false;
	memmove(text + 1, text, size);
	memcpy(bytes + offset + 1 - bytes_of_size, length, bytes_of_size);
	return true;
}

struct pack *decoded_pack(const struct decoded *d)
{
	size_t unused;

	if (d->altered)
		return NULL;
	struct pack *p = pack_open();
	uint8_t *bytes = memcpy(pack_room(p, d->size), d->bytes, d->size);
	for (uint32_t i = 0; i < d->strings; i++)
		if (!put_back(bytes, d->string[i])) {
			free(pack_take(p, &unused));
			return NULL;
		}
	return p;
}
