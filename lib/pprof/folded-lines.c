/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/folded-lines.h"
#include "base/saturate.h"
#include "base/text.h"
#include "record/words.h"

#include <inttypes.h>
#include <stdlib.h>

/* Replaces the separators of frames and lines in the name. */
uint32_t folded_name(struct folded *f, const char *name)
{
	size_t length = strlen(name);

	char *text = (char *)buffer_end(&f->text, length + 1);

	for (size_t i = 0; i <= length; i++)
		text[i] = name[i] == ';' ? ':' : name[i] == '\n' ? ' ' : name[i];
	text_make_safe(text);
	uint32_t id = intern_bytes(&f->names, text, length);
	for (; f->lengths < f->names.count; f->lengths++) {
		f->length = array_grow(f->length, f->lengths, sizeof(*f->length));
		f->length[f->lengths] = f->lengths ? (uint32_t)length : 0;	/* 0 is "" */
	}
	return id;
}

const char *folded_object_name(char name[FOLDED_OBJECT_SIZE], const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!*path || *path == '[')
		snprintf(name, FOLDED_OBJECT_SIZE, "%s", *path ? path : WORD_UNKNOWN);
	else
		snprintf(name, FOLDED_OBJECT_SIZE, "[%s]", slash ? slash + 1 : path);
	text_make_safe(name);	/* a cut may be inside a character */
	return name;
}

uint32_t folded_object(struct folded *f, const char *path)
{
	char name[FOLDED_OBJECT_SIZE];

	return folded_name(f, folded_object_name(name, path));
}

void folded_allow(struct folded *f, uint64_t frames)
{
	f->allowed += frames;
}

bool folded_frame(struct folded *f, uint32_t name)
{
	if (f->frames == 0 && name == 0)
		return true;	/* a line does not start with an empty name */
	f->line_text += f->length[name] + 1;
	f->is_too_long |= f->line_text > FOLDED_TEXT_MAX - f->all_text ||
			  f->frames >= FOLDED_FRAMES_LEAST + f->allowed - f->all_frames;
	if (f->is_too_long)
		return false;
	f->frame = array_grow(f->frame, f->frames, sizeof(*f->frame));
	f->frame[f->frames++] = name;
	return true;
}

static void add_line(struct folded *f, int64_t value)
{
	uint32_t count = f->lines.count;
	uint32_t id = byte_ids_add(&f->lines, f->frame, f->frames * sizeof(*f->frame));

	if (id == count) {
		f->sum = array_grow(f->sum, count, sizeof(*f->sum));
		f->sum[id] = 0;
		f->all_text += f->line_text;
		f->all_frames += f->frames;
	}
	f->is_cut |= !saturate_add(&f->sum[id], value);
}

void folded_end(struct folded *f, int64_t value)
{
	if (f->frames == 0 && !f->is_too_long)
		folded_frame(f, folded_name(f, WORD_UNKNOWN));
	if (f->is_too_long)
		f->left_out++;
	else
		add_line(f, value);
	f->frames = 0;
	f->line_text = 0;
	f->is_too_long = false;
}

static const uint32_t *frames_of_line(const struct folded *f, uint32_t line, size_t *count)
{
	*count = f->lines.item[line].size / sizeof(*f->frame);
	return f->lines.item[line].bytes;
}

/* A name ends a line or precedes a semicolon; the semicolon is part of the sorted text. */
static uint32_t text_index(uint32_t name, bool is_last)
{
	return 2 * name + is_last;
}

static int compare_texts_at(const void *a, const void *b, void *folded)
{
	const struct folded *f = folded;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const unsigned char *s = (const unsigned char *)f->names.text[x / 2];
	const unsigned char *t = (const unsigned char *)f->names.text[y / 2];

	for (; *s && *s == *t && s != t; s++)
		t++;
	int of_s = *s && s != t ? *s : x % 2 ? 0 : ';', of_t = *t && s != t ? *t : y % 2 ? 0 : ';';
	return of_s < of_t ? -1 : of_s > of_t;
}

/*
 * Return the rank of each text.  Lines are compared by these ranks, because names may be
 * very long.
 */
static uint32_t *ranks(struct folded *f)
{
	uint32_t texts = 2 * f->names.count;
	uint32_t *order = mem_zeroed(texts, sizeof(*order));
	uint32_t *rank = mem_zeroed(texts, sizeof(*rank));

	for (uint32_t i = 0; i < texts; i++)
		order[i] = i;
	qsort_r(order, texts, sizeof(*order), compare_texts_at, f);
	for (uint32_t i = 0; i < texts; i++)
		rank[order[i]] = i;
	free(order);
	return rank;
}

/* Compare two lines by their text. */
static int compare_lines(const void *a, const void *b, void *folded)
{
	const struct folded *f = folded;
	size_t m, n, i = 0;
	const uint32_t *x = frames_of_line(f, *(const uint32_t *)a, &m);
	const uint32_t *y = frames_of_line(f, *(const uint32_t *)b, &n);

	while (i < m && i < n && x[i] == y[i])
		i++;
	if (i == m || i == n)
		return m < n ? -1 : m > n;
	uint32_t of_x = f->rank[text_index(x[i], i + 1 == m)];
	uint32_t of_y = f->rank[text_index(y[i], i + 1 == n)];
	return of_x < of_y ? -1 : of_x > of_y;
}

static void write_line(const struct folded *f, uint32_t line, struct output *out)
{
	char number[32];
	size_t count;
	const uint32_t *frame = frames_of_line(f, line, &count);

	for (size_t i = 0; i < count; i++) {
		output_write(out, ";", i > 0);
		output_write(out, f->names.text[frame[i]], f->length[frame[i]]);
	}
	int length = snprintf(number, sizeof(number), " %" PRId64 "\n", f->sum[line]);
	output_write(out, number, (size_t)length);
}

/* Write the lines that have a value, in this ORDER. */
static void write_lines(const struct folded *f, const uint32_t *order, struct output *out)
{
	for (uint32_t i = 0; i < f->lines.count; i++)
		if (f->sum[order[i]] != 0)
			write_line(f, order[i], out);
	if (f->is_cut)
		report_error(out->report, "sums do not fit into 64 bits: they are cut");
	if (f->left_out > 0)
		report_error(out->report, "%" PRIu64 " stacks are left out: all make more than "
			     "%" PRIu64 " GiB of text, or they repeat inlined calls too often",
			     f->left_out, FOLDED_TEXT_MAX >> 30);
}

void folded_write(struct folded *f, struct output *out)
{
	uint32_t *order = mem_zeroed(f->lines.count, sizeof(*order));

	for (uint32_t i = 0; i < f->lines.count; i++)
		order[i] = i;
	f->rank = ranks(f);
	qsort_r(order, f->lines.count, sizeof(*order), compare_lines, f);
	free(f->rank);
	f->rank = NULL;
	write_lines(f, order, out);
	output_flush(out);
	free(order);
}

void folded_release(struct folded *f)
{
	intern_release(&f->names);
	byte_ids_release(&f->lines);
	free(f->sum);
	free(f->frame);
	free(f->text.at);
	free(f->length);
	*f = (struct folded){ 0 };
}
