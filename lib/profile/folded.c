/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of a profile that is being made, as lines of text. */
#include "profile/folded-lines.h"
#include "profile/profile.h"

/* The name of the thread, where the stack's labels have it. */
static void add_comm(struct folded *f, const struct labels *labels, uint32_t set)
{
	for (uint32_t i = 0; set && i < labels->keys; i++)
		if (!strcmp(labels->key[i].name, "thread_comm") &&
		    labels_values(labels, set)[i] != LABEL_ABSENT)
			folded_frame(f, labels->texts.text[labels_values(labels, set)[i]]);
}

static void add_stack(struct folded *f, const struct profile *p, const struct stack *stack)
{
	const struct chain *chain = &p->chains.chain[stack->chain];

	add_comm(f, p->labels, stack->labels);
	for (uint32_t i = chain->frames; i-- > 0;) {
		uint32_t id = chain->frame[i] & ~FRAME_OWN;
		const struct resolved *t = chain->frame[i] & FRAME_OWN ? &p->own : p->resolved;
		const struct resolved_frame *frame = &t->frame[id];
		for (uint32_t k = frame->lines; k-- > 0;)
			folded_frame(f, t->string[t->function[frame->line[k].function].name]);
		if (frame->lines == 0)
			folded_object(f, t->string[t->object[frame->object].path]);
	}
}

void profile_write_folded(const struct profile *p, uint32_t event, struct output *out)
{
	double scale = profile_scale(p, event);
	struct folded folded = { .count = 0 };

	for (uint32_t i = 0; event < p->stacks.events && i < p->stacks.count; i++) {
		uint64_t sum = stacks_values(&p->stacks, i)[event].sum;
		if (sum == 0)
			continue;
		add_stack(&folded, p, &p->stacks.stack[i]);
		folded_end(&folded, (int64_t)((double)sum * scale + 0.5));
	}
	folded_write(&folded, out);
	folded_release(&folded);
}
