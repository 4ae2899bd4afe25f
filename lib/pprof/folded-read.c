/* SPDX-License-Identifier: Apache-2.0 */
/* Every name is a function, and a location of its own with the same id: that of its string. */
#include "pprof/folded-read.h"
#include "base/intern.h"
#include "pprof/pack.h"
#include "pprof/wire.h"
#include "record/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	struct intern strings;
	struct pack *pack;
	uint32_t *frame;	/* ids of the line's names, from the root */
	size_t frames;
	uint64_t stacks, wrong;	/* lines */
	uint64_t first_wrong;	/* number of the first wrong line */
};

/* Append to the profile FIELD with SIZE bytes at BYTES. */
static void put(struct reading *r, unsigned field, const void *bytes, size_t size)
{
	uint8_t head[1 + WIRE_VARINT_MAX];
	size_t n = (size_t)(wire_bytes(head, field, size) - head);
	uint8_t *to = pack_room(r->pack, n + size);

	memcpy(to, head, n);
	if (size > 0)
		memcpy(to + n, bytes, size);
}

/*
 * Cut the value from the end of LINE, " 42" or "\t42.5", which is rounded.  Return false if
 * LINE has none.
 */
static bool cut_value(char *line, int64_t *value)
{
	char *space = strrchr(line, ' '), *tab = strrchr(line, '\t'), *end;

	if (tab && (!space || tab > space))	/* as databases separate columns */
		space = tab;
	if (!space || space == line || space[1] < '0' || space[1] > '9' || strlen(space) > 19)
		return false;
	*value = strtoll(space + 1, &end, 10);
	if (*end == '.' && end[1 + strspn(end + 1, "0123456789")] == '\0') {
		*value += end[1] >= '5';
		*end = '\0';
	}
	*space = '\0';
	return *end == '\0';
}

static void split_frames(struct reading *r, char *line)
{
	r->frames = 0;
	for (char *name; (name = strsep(&line, ";")) != NULL;) {
		if (!*name)
			continue;
		r->frame = array_grow(r->frame, r->frames, sizeof(*r->frame));
		r->frame[r->frames++] = intern_text(&r->strings, name);
	}
}

/* message Sample { location_id = 1; value = 2; }, both packed; the leaf comes first */
static void put_sample(struct reading *r, int64_t value)
{
	uint8_t head[3 + 2 * WIRE_VARINT_MAX], tail[2 + WIRE_VARINT_MAX];
	size_t ids = 0;

	for (size_t i = 0; i < r->frames; i++)
		ids += wire_size(r->frame[i]);
	uint8_t *at = wire_bytes(tail, 2, wire_size((uint64_t)value));
	size_t of_tail = (size_t)(wire_varint(at, (uint64_t)value) - tail);
	size_t of_ids = (size_t)(wire_bytes(head, 1, ids) - head);
	at = wire_bytes(head, 2, of_ids + ids + of_tail);
	at = wire_bytes(at, 1, ids);
	size_t of_head = (size_t)(at - head);
	at = mempcpy(pack_room(r->pack, of_head + ids + of_tail), head, of_head);
	for (size_t i = r->frames; i-- > 0;)
		at = wire_varint(at, r->frame[i]);
	memcpy(at, tail, of_tail);
}

static void take_line(struct reading *r, char *line, uint64_t number)
{
	int64_t value;

	line[strcspn(line, "\r")] = '\0';
	if (!*line || *line == '#')
		return;
	if (!cut_value(line, &value)) {
		if (r->wrong++ == 0)
			r->first_wrong = number;
		return;
	}
	split_frames(r, line);
	put_sample(r, value);
	r->stacks++;
}

/* Locations and functions for all names so far; then all strings. */
static void put_names(struct reading *r)
{
	uint8_t line[2 + WIRE_VARINT_MAX], message[4 + 4 * WIRE_VARINT_MAX];
	uint32_t names = r->strings.count, type = intern_text(&r->strings, TYPE_SAMPLES);
	uint32_t unit = intern_text(&r->strings, UNIT_COUNT);

	for (uint32_t id = 1; id < names; id++) {
		size_t size = (size_t)(wire_number(line, 1, id) - line);
		uint8_t *at = wire_number(message, 1, id);
		at = mempcpy(wire_bytes(at, 4, size), line, size);
		put(r, 4, message, (size_t)(at - message));
		at = wire_number(wire_number(message, 1, id), 2, id);
		put(r, 5, message, (size_t)(at - message));
	}
	put(r, 1, message, (size_t)(wire_number(wire_number(message, 1, type), 2, unit) - message));
	for (uint32_t id = 0; id < r->strings.count; id++)
		put(r, 6, r->strings.text[id], strlen(r->strings.text[id]));
}

static void report_left_out(const struct reading *r, const char *file, struct report *report)
{
	char more[64] = " is";

	if (r->wrong > 1)
		snprintf(more, sizeof(more), " and %" PRIu64 " more are", r->wrong - 1);
	report_error(report, "'%s': line %" PRIu64 "%s left out: a line is a stack, a space and a "
		     "number from 0 on", file, r->first_wrong, more);
}

uint8_t *folded_read(char *text, size_t size, const char *file, size_t *encoded,
		     struct report *report)
{
	struct reading r = { .pack = pack_open() };
	uint64_t number = 0;

	intern_text(&r.strings, "");
	for (char *line = text, *end; line < text + size; line = end + 1) {
		end = memchr(line, '\n', (size_t)(text + size - line));
		*end = '\0';
		take_line(&r, line, ++number);
	}
	if (r.stacks == 0)
		report_error(report, "'%s' is not a pprof profile, stream or perf.data file, and "
			     "no folded text: no line is a stack, a space and a number", file);
	else if (r.wrong > 0)
		report_left_out(&r, file, report);
	put_names(&r);
	bool good = r.stacks > 0;
	uint8_t *bytes = pack_take(r.pack, encoded);
	intern_release(&r.strings);
	free(r.frame);
	if (good)
		return bytes;
	free(bytes);
	return NULL;
}
