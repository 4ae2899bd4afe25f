/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/row-read.h"
#include "base/buffer.h"
#include "pprof/row-profile.h"
#include "pprof/unpack.h"

#include <inttypes.h>

enum { LINE_MAX_SIZE = 1 << 26 };	/* bytes of a row; the man pages state this */

struct row_reading {
	struct row_profile profile;
	struct buffer line;	/* the start of a line, whose end has not come yet */
	bool is_too_long;	/* the rest of this line is skipped */
	uint64_t number;	/* of the line */
	const char *file;
	struct report *report;
};

/* Some engines write rows as the items of an array: leave out its brackets and commas. */
static struct row_value trim(const char *at, const char *end)
{
	while (at < end && memchr(" \t\r[,", *at, 5))
		at++;
	while (at < end && memchr(" \t\r],", end[-1], 5))
		end--;
	return (struct row_value){ at, (size_t)(end - at) };
}

/* Take the line from AT up to END, without its newline. */
static void take_line(struct row_reading *r, const char *at, const char *end)
{
	static const char mark[] = "\xef\xbb\xbf";	/* U+FEFF as UTF-8 */
	const size_t size = sizeof(mark) - 1;
	const char *wrong = NULL;
	struct row_line row;

	if (r->number++ == 0 && (size_t)(end - at) >= size && !memcmp(at, mark, size))
		at += size;
	const struct row_value line = trim(at, end);
	if (line.size == 1 && *line.at == '{')
		wrong = "a row is one line, but this one goes on in the next (jq -c joins them)";
	else if (line.size > 0)
		wrong = row_split(&row, line.at, line.size, &r->profile.parts.stacks);
	if (line.size > 0 && !wrong)
		wrong = row_profile_add(&r->profile, &row);
	if (wrong)
		report_error(r->report, "'%s': line %" PRIu64 " is left out: %s", r->file,
			     r->number, wrong);
}

/* End a line that other pieces have begun, at END. */
static void end_line(struct row_reading *r, const char *at, const char *end)
{
	if (!r->is_too_long) {
		buffer_add(&r->line, at, (size_t)(end - at));
		take_line(r, (char *)r->line.at, (char *)r->line.at + r->line.size);
	} else {
		r->number++;
	}
	r->line.size = 0;
	r->is_too_long = false;
}

/* Keep the start of a line. */
static void keep(struct row_reading *r, const char *at, const char *end)
{
	if (r->is_too_long)
		return;
	buffer_add(&r->line, at, (size_t)(end - at));
	r->is_too_long = r->line.size > LINE_MAX_SIZE;
	if (r->is_too_long)
		report_error(r->report, "'%s': line %" PRIu64 " is left out: it has more than %d "
			     "MiB", r->file, r->number + 1, LINE_MAX_SIZE >> 20);
}

/* Take a piece of the input, of any size. */
static void take_piece(void *reading, const uint8_t *bytes, size_t size)
{
	struct row_reading *r = reading;
	const char *at = (const char *)bytes, *end = at + size, *newline;

	for (; at < end && (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1)
		if (r->line.size > 0 || r->is_too_long)
			end_line(r, at, newline);
		else
			take_line(r, at, newline);
	if (at < end)
		keep(r, at, end);
}

/* Return the profile's bytes, or NULL (reported). */
static uint8_t *encode(struct row_reading *r, size_t *size)
{
	if (r->profile.samples == 0) {
		report_error(r->report, "'%s' has no row: each row is one line, an object of JSON "
			     "with \"type\", \"value\" and \"stack\"", r->file);
		return NULL;
	}
	uint8_t *bytes = row_profile_encode(&r->profile, size);
	if (r->profile.cut > 0)
		report_error(r->report, "'%s': %" PRIu64 " sums do not fit into 64 bits: they are "
			     "cut to the largest number", r->file, r->profile.cut);
	if (*size < UINT32_MAX)
		return bytes;
	report_error(r->report, "'%s' is too large: its profile would have %zu MiB; ask for fewer "
		     "labels, or for a shorter time", r->file, *size >> 20);
	free(bytes);
	return NULL;
}

struct decoded *row_read(const struct decoded_input *in, void when_read(void),
			 struct report *report)
{
	struct row_reading r = { .file = in->file, .report = report };
	uint8_t *bytes = NULL;
	size_t size = 0;

	row_profile_init(&r.profile);
	bool good = unpack_pieces(in->fd, in->file, in->head, in->size, take_piece, &r, report);
	if (r.line.size > 0)
		end_line(&r, "", "");
	if (good && when_read)
		when_read();
	if (good)
		bytes = encode(&r, &size);
	row_profile_release(&r.profile);
	free(r.line.at);
	return bytes ? decoded_take(bytes, size, in->file, report) : NULL;
}
