/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/folded-lines.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>

/* What separates frames and lines cannot be in a name. */
void folded_frame(struct folded *f, const char *name)
{
	size_t length = strlen(name);

	if (f->size + length + 2 > f->capacity) {
		f->capacity = 2 * (f->size + length + 2);
		f->text = mem_resize(f->text, f->capacity);
	}
	if (f->size)
		f->text[f->size++] = ';';
	for (size_t i = 0; i < length; i++)
		f->text[f->size++] = name[i] == ';' ? ':' : name[i] == '\n' ? ' ' : name[i];
	f->text[f->size] = '\0';
	text_make_safe(f->text + f->size - length);
}

void folded_object(struct folded *f, const char *path)
{
	const char *slash = strrchr(path, '/');
	char name[256];

	if (*path == '[')
		snprintf(name, sizeof(name), "%s", path);
	else
		snprintf(name, sizeof(name), "[%s]", !*path ? "unknown" : slash ? slash + 1 : path);
	folded_frame(f, name);
}

void folded_end(struct folded *f, int64_t value)
{
	uint32_t id = intern_text(&f->lines, f->size ? f->text : "");

	for (; f->count <= id; f->count++) {
		f->sum = array_grow(f->sum, f->count, sizeof(*f->sum));
		f->sum[f->count] = 0;
	}
	/* what does not fit wraps, as in pprof */
	f->sum[id] = (int64_t)((uint64_t)f->sum[id] + (uint64_t)value);
	f->size = 0;
}

static int compare_lines(const void *a, const void *b, void *folded)
{
	const struct folded *f = folded;

	return strcmp(f->lines.text[*(const uint32_t *)a], f->lines.text[*(const uint32_t *)b]);
}

void folded_write(struct folded *f, struct output *out)
{
	uint32_t *order = mem_zeroed(f->count, sizeof(*order));
	char number[32];

	for (uint32_t i = 0; i < f->count; i++)
		order[i] = i;
	qsort_r(order, f->count, sizeof(*order), compare_lines, f);
	for (uint32_t i = 0; i < f->count; i++) {
		const char *text = f->lines.text[order[i]];
		if (f->sum[order[i]] == 0)
			continue;
		int length = snprintf(number, sizeof(number), " %" PRId64 "\n", f->sum[order[i]]);
		output_write(out, text, strlen(text));
		output_write(out, number, (size_t)length);
	}
	output_flush(out);
	free(order);
}

void folded_release(struct folded *f)
{
	intern_release(&f->lines);
	free(f->sum);
	free(f->text);
	*f = (struct folded){ 0 };
}
