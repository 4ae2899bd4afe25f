/* SPDX-License-Identifier: Apache-2.0 */
#include "flame/flame-source.h"
#include "base/text.h"
#include "flame/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	HOT_MAX = 40,			/* functions with the largest flat values */
	CALLERS_MAX = 20,		/* more functions, with the largest cumulative values */
	CONTEXT = 3,			/* lines around each line of a frame */
	LINES_MAX = 600,		/* of a function */
	LINE_BYTES = 240,		/* of a line; the rest is cut */
	ALL_BYTES = 512 << 10,		/* of all lines */
};

struct ranked_function {
	uint32_t function;
	double value;
};

/* Own and total values of the type that is shown first, by node; of functions, flat and cum. */
struct values_of {
	double *own, *total, *flat, *cumulative;
};

static double size_of(int64_t value)
{
	return value < 0 ? -(double)value : (double)value;
}

/* Sum up the values of F's profile, without its base, by node. */
static void sum_nodes(const struct flame *f, struct values_of *v)
{
	const struct flame_rows *rows = &f->side[FLAME_PROFILE];

	v->own = mem_zeroed(f->nodes, sizeof(*v->own));
	v->total = mem_zeroed(f->nodes, sizeof(*v->total));
	for (uint32_t i = 0; i < rows->rows; i++)
		v->own[rows->row[i].node] += size_of(rows->value[rows->row[i].values + f->shown]);
	memcpy(v->total, v->own, f->nodes * sizeof(*v->total));
	for (uint32_t i = f->nodes; i-- > 1;)
		v->total[f->node[i].parent] += v->total[i];
}

/* Sum up by function.  A function that calls itself counts once: on the PATH to a node. */
static void sum_functions(const struct flame *f, struct values_of *v)
{
	uint32_t *open = mem_zeroed(f->identities.count, sizeof(*open)), *path = NULL;
	size_t depth = 0;

	v->flat = mem_zeroed(f->identities.count, sizeof(*v->flat));
	v->cumulative = mem_zeroed(f->identities.count, sizeof(*v->cumulative));
	for (uint32_t i = 1; i < f->nodes; i++) {
		uint32_t function = flame_frame(f, f->node[i].frame)->function;
		while (depth > 0 && path[depth - 1] != f->node[i].parent)
			open[flame_frame(f, f->node[path[--depth]].frame)->function]--;
		v->flat[function] += v->own[i];
		if (open[function]++ == 0)
			v->cumulative[function] += v->total[i];
		path = array_grow(path, depth, sizeof(*path));
		path[depth++] = i;
	}
	free(open);
	free(path);
}

static int by_value(const void *a, const void *b)
{
	const struct ranked_function *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

/* Choose the MOST functions with a source file and the largest VALUE that are not CHOSEN yet. */
static void choose(struct flame_source *s, const struct flame *f, const double *value,
		   uint32_t most, bool *chosen)
{
	struct ranked_function *ranked = mem_zeroed(f->identities.count, sizeof(*ranked));
	uint32_t count = 0;

	for (uint32_t i = 1; i < f->identities.count; i++)
		if (f->function[i].file && value[i] > 0 && !chosen[i])
			ranked[count++] = (struct ranked_function){ i, value[i] };
	qsort(ranked, count, sizeof(*ranked), by_value);
	for (uint32_t i = 0; i < count && i < most; i++) {
		chosen[ranked[i].function] = true;
		s->extract = array_grow(s->extract, s->extracts, sizeof(*s->extract));
		s->extract[s->extracts++] = (struct flame_extract){
			.function = ranked[i].function };
	}
	free(ranked);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Return the lines of FUNCTION's frames, ascending, and set *COUNT to how many these are. */
static uint32_t *lines_of(const struct flame *f, uint32_t function, uint32_t *count)
{
	uint32_t *line = NULL;

	*count = 0;
	for (uint32_t i = 1; i < f->frames.count; i++) {
		const struct flame_frame *frame = flame_frame(f, i);
		if (frame->function != function || frame->line <= 0 || frame->line > INT32_MAX)
			continue;
		line = array_grow(line, *count, sizeof(*line));
		line[(*count)++] = (uint32_t)frame->line;
	}
	if (line)
		qsort(line, *count, sizeof(*line), by_number);
	return line;
}

/* Add line NUMBER of TEXT to E.  Return false if there is no room for more. */
static bool add_line(struct flame_source *s, struct flame_extract *e,
		     const struct source_text *text, uint32_t number)
{
	char line[LINE_BYTES];

	if (!source_text_line(text, number, line, sizeof(line)))
		return true;
	if (e->lines >= LINES_MAX || s->bytes + strlen(line) > ALL_BYTES)
		return false;
	e->number = array_grow(e->number, e->lines, sizeof(*e->number));
	e->text = array_grow(e->text, e->lines, sizeof(*e->text));
	e->number[e->lines] = number;
	e->text[e->lines++] = mem_text(line);
	s->bytes += strlen(line);
	return true;
}

static void read_lines(struct flame_source *s, const struct flame *f, struct flame_extract *e,
		       const struct source_text *text)
{
	uint32_t count, next = 1;	/* NEXT: the first line that E does not have */
	uint32_t *line = lines_of(f, e->function, &count);
	bool room = true;

	for (uint32_t i = 0; i < count && room; i++) {
		uint32_t from = line[i] > CONTEXT ? line[i] - CONTEXT : 1;
		for (next = next > from ? next : from; next <= line[i] + CONTEXT && room; next++)
			room = add_line(s, e, text, next);
	}
	free(line);
}

/* The reason why FILE has no lines.  The caller frees it. */
static char *reason(const char *file, const char *why_not)
{
	char text[700];

	snprintf(text, sizeof(text), "no source text of '%.400s': %s", file, why_not);
	text_make_safe(text);
	return mem_text(text);
}

void flame_source_read(struct flame_source *s, const struct flame *f, struct source_texts *texts)
{
	bool *chosen = mem_zeroed(f->identities.count, sizeof(*chosen));
	int64_t time = f->when[FLAME_PROFILE].time;
	struct values_of v = { 0 };

	sum_nodes(f, &v);
	sum_functions(f, &v);
	choose(s, f, v.flat, HOT_MAX, chosen);
	choose(s, f, v.cumulative, CALLERS_MAX, chosen);
	for (uint32_t i = 0; i < s->extracts; i++) {
		struct flame_extract *e = &s->extract[i];
		const char *file = f->strings.text[f->function[e->function].file];
		const struct source_text *text = source_texts_find(texts, file);
		if (text->why_not) {
			e->why_not = reason(file, text->why_not);
			continue;
		}
		e->is_newer = time > 0 && text->modified > time;
		read_lines(s, f, e, text);
		if (e->lines == 0)
			e->why_not = reason(file, "the profile names no line that it has");
	}
	free(v.own);
	free(v.total);
	free(v.flat);
	free(v.cumulative);
	free(chosen);
}

void flame_source_write(const struct flame_source *s, struct output *out)
{
	flame_print(out, "[");
	for (uint32_t i = 0; i < s->extracts; i++) {
		const struct flame_extract *e = &s->extract[i];
		flame_print(out, "%s{\"f\":%" PRIu32, i ? "," : "", e->function);
		if (e->why_not) {
			flame_print(out, ",\"why\":");
			flame_json(out, e->why_not);
		}
		flame_print(out, "%s,\"n\":[", e->is_newer ? ",\"newer\":1" : "");
		for (uint32_t k = 0; k < e->lines; k++)
			flame_print(out, "%s%" PRIu32, k ? "," : "", e->number[k]);
		flame_print(out, "],\"t\":[");
		for (uint32_t k = 0; k < e->lines; k++) {
			flame_print(out, k ? "," : "");
			flame_json(out, e->text[k]);
		}
		flame_print(out, "]}");
	}
	flame_print(out, "]");
}

void flame_source_release(struct flame_source *s)
{
	for (uint32_t i = 0; i < s->extracts; i++) {
		struct flame_extract *e = &s->extract[i];
		for (uint32_t k = 0; k < e->lines; k++)
			free(e->text[k]);
		free(e->why_not);
		free(e->number);
		free(e->text);
	}
	free(s->extract);
	*s = (struct flame_source){ .extracts = 0 };
}
