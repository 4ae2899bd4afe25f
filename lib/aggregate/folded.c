/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the stacks of a profile that is being made as folded lines. */
#include "aggregate/profile.h"
#include "pprof/folded-lines.h"
#include "record/words.h"

/* 1 + id of a name in folding.lines; 0: not yet. */
struct numbers {
	const struct resolved *tables;
	uint32_t *function, *object;	/* by id of the text in TABLES */
};

struct folding {
	const struct profile *p;
	struct folded lines;
	struct numbers resolved, own;
	uint32_t *comm;			/* 1 + id of a name, by id of a label's text */
	uint32_t *call;			/* frames of the current stack, the root first */
};

static struct numbers numbers_of(const struct resolved *tables)
{
	return (struct numbers){ .tables = tables,
				 .function = mem_zeroed(tables->strings, sizeof(uint32_t)),
				 .object = mem_zeroed(tables->strings, sizeof(uint32_t)) };
}

static bool add_function(struct folded *f, const struct numbers *n, uint32_t id)
{
	uint32_t name = n->tables->function[id].name;

	if (n->function[name] == 0)
		n->function[name] = folded_name(f, n->tables->string[name]) + 1;
	return folded_frame(f, n->function[name] - 1);
}

static void add_object(struct folded *f, const struct numbers *n, uint32_t id)
{
	uint32_t path = n->tables->object[id].path;

	if (n->object[path] == 0)
		n->object[path] = folded_object(f, n->tables->string[path]) + 1;
	folded_frame(f, n->object[path] - 1);
}

/* Add the name of the thread, if it is a label of the stack. */
static void add_comm(struct folding *g, uint32_t set)
{
	const struct labels *labels = g->p->labels;

	for (uint32_t i = 0; set && i < labels->keys; i++) {
		int64_t text = labels_values(labels, set)[i];
		if (strcmp(labels->key[i].name, LABEL_THREAD_COMM) || text == LABEL_ABSENT)
			continue;
		if (g->comm[text] == 0)
			g->comm[text] = folded_name(&g->lines, labels->texts.text[text]) + 1;
		folded_frame(&g->lines, g->comm[text] - 1);
	}
}

static void add_stack(struct folding *g, const struct stack *stack)
{
	enum { FRAMES_PER_CALL = 16 };	/* inlined calls are frames, too */
	uint32_t calls = chains_calls(&g->p->chains, stack->chain, 0, g->call, UINT32_MAX);

	folded_allow(&g->lines, FRAMES_PER_CALL * (uint64_t)calls);
	add_comm(g, stack->labels);
	for (uint32_t i = 0; i < calls; i++) {
		uint32_t id = g->call[i] & ~FRAME_OWN;
		const struct numbers *n = g->call[i] & FRAME_OWN ? &g->own : &g->resolved;
		const struct resolved_frame *frame = &n->tables->frame[id];
		for (uint32_t k = frame->lines; k-- > 0;)
			if (!add_function(&g->lines, n, frame->line[k].function))
				return;
		if (frame->lines == 0)
			add_object(&g->lines, n, frame->object);
	}
}

void profile_write_folded(const struct profile *p, const struct stream_events *events,
			  uint32_t event, struct output *out)
{
	struct folding g = { .p = p, .resolved = numbers_of(p->resolved),
			     .own = numbers_of(&p->own),
			     .comm = mem_zeroed(p->labels->texts.count, sizeof(*g.comm)) };

	g.call = mem_zeroed(chains_longest(&p->chains), sizeof(*g.call));
	bool more = event < events->count && profile_has_more(p, events, event);
	uint32_t place = profile_place(p, event) + more;
	for (uint32_t i = 0; place < p->stacks.events && i < p->stacks.count; i++) {
		uint64_t sum = stacks_values(&p->stacks, i)[place].sum;
		if (sum == 0)
			continue;
		add_stack(&g, &p->stacks.stack[i]);
		folded_end(&g.lines, profile_scaled(p, event, sum));
	}
	folded_write(&g.lines, out);
	folded_release(&g.lines);
	free(g.resolved.function);
	free(g.resolved.object);
	free(g.own.function);
	free(g.own.object);
	free(g.comm);
	free(g.call);
}
