/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as lines of text, as flame-graph tools take them. */
#include "base/intern.h"
#include "profile/profile.h"

#include <inttypes.h>
#include <stdlib.h>

struct line {
	char *text;
	size_t size, capacity;
};

struct sums {
	struct intern lines;
	int64_t *sum;		/* by id of the line */
	uint32_t count;
};

/* A frame's NAME: what separates frames and lines cannot be in it. */
static void add_frame(struct line *l, const char *name)
{
	size_t length = strlen(name);

	if (l->size + length + 2 > l->capacity) {
		l->capacity = 2 * (l->size + length + 2);
		l->text = mem_resize(l->text, l->capacity);
	}
	if (l->size)
		l->text[l->size++] = ';';
	for (size_t i = 0; i < length; i++)
		l->text[l->size++] = name[i] == ';' ? ':' : name[i] == '\n' ? ' ' : name[i];
	l->text[l->size] = '\0';
}

/* A frame without a function: the object it is in. */
static void add_object(struct line *l, const struct resolved *t, uint32_t object)
{
	const char *path = t->string[t->object[object].path], *slash = strrchr(path, '/');
	char name[256];

	if (*path == '[')
		snprintf(name, sizeof(name), "%s", path);
	else
		snprintf(name, sizeof(name), "[%s]", !*path ? "unknown" : slash ? slash + 1 : path);
	add_frame(l, name);
}

/* The name of the thread, where the stack's labels have it. */
static void add_comm(struct line *l, const struct labels *labels, uint32_t set)
{
	for (uint32_t i = 0; set && i < labels->keys; i++)
		if (!strcmp(labels->key[i].name, "thread_comm") &&
		    labels_values(labels, set)[i] != LABEL_ABSENT)
			add_frame(l, labels->texts.text[labels_values(labels, set)[i]]);
}

static void make_line(const struct profile *p, const struct stack *stack, struct line *l)
{
	const struct chain *chain = &p->chains.chain[stack->chain];

	l->size = 0;
	add_comm(l, p->labels, stack->labels);
	for (uint32_t i = chain->frames; i-- > 0;) {
		uint32_t id = chain->frame[i] & ~FRAME_OWN;
		const struct resolved *t = chain->frame[i] & FRAME_OWN ? &p->own : p->resolved;
		const struct resolved_frame *f = &t->frame[id];
		for (uint32_t k = f->lines; k-- > 0;)
			add_frame(l, t->string[t->function[f->line[k].function].name]);
		if (f->lines == 0)
			add_object(l, t, f->object);
	}
}

static void add_sum(struct sums *s, const char *text, int64_t value)
{
	uint32_t id = intern_text(&s->lines, text);

	for (; s->count <= id; s->count++) {
		s->sum = array_grow(s->sum, s->count, sizeof(*s->sum));
		s->sum[s->count] = 0;
	}
	s->sum[id] += value;
}

static int compare_lines(const void *a, const void *b, void *sums)
{
	const struct sums *s = sums;

	return strcmp(s->lines.text[*(const uint32_t *)a], s->lines.text[*(const uint32_t *)b]);
}

static void write_lines(struct sums *s, struct output *out)
{
	uint32_t *order = mem_zeroed(s->count, sizeof(*order));
	char number[32];

	for (uint32_t i = 0; i < s->count; i++)
		order[i] = i;
	qsort_r(order, s->count, sizeof(*order), compare_lines, s);
	for (uint32_t i = 0; i < s->count; i++) {
		const char *text = s->lines.text[order[i]];
		if (s->sum[order[i]] == 0)
			continue;
		int length = snprintf(number, sizeof(number), " %" PRId64 "\n", s->sum[order[i]]);
		output_write(out, text, strlen(text));
		output_write(out, number, (size_t)length);
	}
	output_flush(out);
	free(order);
}

void profile_write_folded(const struct profile *p, uint32_t event, struct output *out)
{
	double scale = profile_scale(p, event);
	struct sums sums = { .count = 0 };
	struct line line = { .size = 0 };

	for (uint32_t i = 0; event < p->stacks.events && i < p->stacks.count; i++) {
		uint64_t sum = stacks_values(&p->stacks, i)[event].sum;
		if (sum == 0)
			continue;
		make_line(p, &p->stacks.stack[i], &line);
		add_sum(&sums, line.text, (int64_t)((double)sum * scale + 0.5));
	}
	write_lines(&sums, out);
	intern_release(&sums.lines);
	free(sums.sum);
	free(line.text);
}
