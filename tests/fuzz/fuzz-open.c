/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-open - any bytes as an input: what it is; as folded text, or a profile, summed up. */
#include "compare/top.h"
#include "pprof/folded-read.h"
#include "stream/look.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void sum_up(const struct decoded *d)
{
	static const struct top_how hows[] = {
		{ .by = FRAMES_BY_FUNCTION, .calls = true }, { .by = FRAMES_BY_FILE },
		{ .by = FRAMES_BY_LINE }, { .by = FRAMES_BY_OBJECT, .calls = true },
		{ .label = "pid" },
	};

	for (size_t i = 0; i < sizeof(hows) / sizeof(*hows); i++) {
		struct top top = { .how = hows[i] }, sum = { .how = hows[i] };
		top_add(&top, d, d->types - 1);
		top_merge(&sum, &top);
		top_merge(&sum, &top);
		top_limit(&sum, 4);
		top_sort(&sum, i % 2);
		if (sum.count > 4 || sum.total != (int64_t)(2 * (uint64_t)top.total))
			abort();
		top_release(&top);
		top_release(&sum);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report report = { .tool = "fuzz-open", .quiet = true };
	struct look look = look_at(data, size, true);
	size_t encoded = size;
	uint8_t *bytes;

	if (look.kind == LOOK_TOO_SHORT)
		abort();
	if (look.kind == LOOK_RAW || look.kind == LOOK_RESOLVED)
		return 0;
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\n';
	bytes = (uint8_t *)text;
	if (look.kind == LOOK_TEXT) {
		bytes = folded_read(text, size + 1, "text", &encoded, &report);
		free(text);
	}
	struct decoded *d = bytes ? decoded_take(bytes, encoded, "bytes", &report) : NULL;
	if (look.kind == LOOK_TEXT && bytes && !d)
		abort();	/* what we encode, we decode */
	if (d)
		sum_up(d);
	decoded_free(d);
	return 0;
}
