/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-rows - any bytes as rows: what they are as a profile is a whole one. */
#include "pprof/row-profile.h"
#include "pprof/decode.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Split and add each line, from a copy of its exact size. */
static void add_lines(struct row_profile *p, const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;

	for (const uint8_t *line = data, *next; line < end; line = next + 1) {
		const uint8_t *newline = memchr(line, '\n', (size_t)(end - line));
		next = newline ? newline : end;
		size_t length = (size_t)(next - line);
		char *copy = malloc(length + (length == 0));
		struct row_line row;
		memcpy(copy, line, length);
		if (!row_split(&row, copy, length, &p->parts.stacks))
			row_profile_add(p, &row);
		free(copy);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report report = { .tool = "fuzz-rows", .quiet = true };
	struct row_profile p;
	size_t encoded;

	row_profile_init(&p);
	add_lines(&p, data, size);
	if (p.samples > 0) {
		uint8_t *bytes = row_profile_encode(&p, &encoded);
		struct decoded *d = decoded_take(bytes, encoded, "rows", &report);
		if (!d || d->samples != p.samples)
			abort();	/* what we encode, we decode */
		decoded_free(d);
	}
	row_profile_release(&p);
	return 0;
}
