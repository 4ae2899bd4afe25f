/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples of a profile.  They are many, so they are encoded here, several times as fast as by
 * the library.  Stacks come in order from the root, so most callers of a stack are those of the
 * previous stack: their bytes are there already.
 *
 * All samples together take more memory than the stacks that they are made from.  So there are two
 * passes: first each stack becomes a draft of its sample, without the callers of the previous one.
 * Then the stacks are freed, and the drafts become samples.
 */
#include "aggregate/encode-internal.h"
#include "base/drafts.h"
#include "pprof/wire.h"

struct sample_encoder {
	struct encoder *e;
	/* ranks of the frames of this stack and of the previous stack, the root first */
	uint32_t *call, *previous;
	uint32_t calls, previous_calls;
	/* the encoded frames of this stack, up to BYTES_END: a sample names the leaf first */
	uint8_t *bytes_end;
	uint32_t *size;			/* bytes of the frames up to this depth */
	uint32_t *main;			/* by rank of frame: rank of its main executable; 0: none */
	uint32_t *main_at;		/* the same by depth */
	bool weighs;			/* there are several main executables */
	size_t values_max;		/* bytes of the values and labels of a sample, at most */
	uint32_t previous_values;	/* bytes of these in the sample that was packed last */
	struct drafts drafts;
};

/* Find the main executables, and whether there are several. */
static void find_mains(struct sample_encoder *s)
{
	const struct ranking *r = &s->e->ranking;
	uint32_t id, first = 0;

	s->main = mem_zeroed(r->frames.used + 1, sizeof(*s->main));
	for (uint32_t i = 0; i < r->frames.used; i++) {
		const struct resolved *t = ranking_frame(r, r->frames.order[i], &id);
		uint32_t object = t->frame[id].object;
		if (!(t->object[object].flags & OBJECT_IS_MAIN))
			continue;
		s->main[i + 1] = ranking_object_rank(r, t, object);
		first = first ? first : s->main[i + 1];
		s->weighs |= s->main[i + 1] != first;
	}
}

/* Count samples per main executable: the profile is named after the one with the most. */
static void weigh_main(struct sample_encoder *s, const struct stack_value *value)
{
	uint64_t samples = 0;
	uint32_t last = 0;

	for (uint32_t i = 0; i < s->e->p->stacks.events; i++)
		samples += value[i].samples;
	for (uint32_t i = 0; i < s->calls; i++) {
		uint32_t main = s->main_at[i];
		if (main == last || main == 0)
			continue;
		last = main;
		s->e->has[main - 1].samples += samples;
	}
}

/* Return the length of V as a varint. */
static uint32_t varint_size(uint32_t v)
{
	return (38 - (uint32_t)__builtin_clz(v | 1)) / 7;
}

/*
 * Encode the frames of CHAIN before s->bytes_end.  Return the size in bytes.  *SHARED is how many
 * of these bytes, at the end, equal the previous stack's.
 */
static uint32_t put_frames(struct sample_encoder *s, uint32_t chain, uint32_t *shared)
{
	uint32_t *call = s->previous, depth = 0;

	s->previous = s->call;
	s->previous_calls = s->calls;
	s->call = call;
	s->calls = chains_calls(&s->e->p->chains, chain, 0, call, UINT32_MAX);
	while (depth < s->calls && depth < s->previous_calls && call[depth] == s->previous[depth])
		depth++;
	uint32_t size = *shared = depth ? s->size[depth - 1] : 0;
	for (; depth < s->calls; depth++) {
		size += varint_size(call[depth]);
		wire_varint(s->bytes_end - size, call[depth]);
		s->size[depth] = size;
		s->main_at[depth] = s->main[call[depth]];
	}
	return size;
}

/*
 * Make [FROM, END) a length-delimited field: shift it right, and write FIELD's tag and
 * length before it.  Returns the new end.
 */
static uint8_t *enclose(uint8_t *from, uint8_t *end, unsigned field)
{
	uint8_t head[1 + WIRE_VARINT_MAX];
	size_t size = (size_t)(wire_bytes(head, field, (uint64_t)(end - from)) - head);

	memmove(from + size, from, (size_t)(end - from));
	memcpy(from, head, size);
	return end + size;
}

/* Each label: message Label { key = 1; str = 2; num = 3; num_unit = 4; }, field 3 of Sample */
static uint8_t *put_labels(struct encoder *e, uint32_t set, uint8_t *to)
{
	const struct labels *l = e->p->labels;

	for (uint32_t k = 0; set != 0 && k < l->keys; k++) {
		uint32_t i = l->order[k];
		struct encoded_key *key = &e->id.keys[i];
		int64_t value = labels_values(l, set)[i];
		uint8_t *begin = to;
		if (value == LABEL_ABSENT)
			continue;
		to = wire_number(to, 1, (uint64_t)encode_known(e, &key->name, l->key[i].name));
		if (l->key[i].is_text) {
			to = wire_number(to, 2, (uint64_t)encode_known(e, &e->id.labels[value],
								     l->texts.text[value]));
		} else {
			to = wire_number(to, 3, (uint64_t)value);
			to = wire_number(to, 4, (uint64_t)encode_known(e, &key->unit,
								     l->key[i].unit));
		}
		to = enclose(begin, to, 3);
	}
	return to;
}

/*
 * Header of a draft: the bytes of the frames that it shares with the previous sample, of its own
 * frames, and of its values and labels.  The last two follow the header.
 */
struct draft_head {
	uint32_t shared, own, values;
};

static void put_draft(struct sample_encoder *s, uint32_t index)
{
	const struct profile *p = s->e->p;
	const struct stack *stack = &p->stacks.stack[index];
	const struct stack_value *v = stacks_values(&p->stacks, index);
	struct draft_head head = { 0 };
	uint32_t size = put_frames(s, stack->chain, &head.shared);

	head.own = size - head.shared;
	uint8_t *draft = drafts_room(&s->drafts, sizeof(head) + head.own + s->values_max);
	uint8_t *values = draft + sizeof(head) + head.own;
	uint8_t *end = enclose(values, encode_values(s->e, v, values), 2);
	end = put_labels(s->e, stack->labels, end);
	head.values = (uint32_t)(end - values);
	memcpy(draft, &head, sizeof(head));
	memcpy(draft + sizeof(head), s->bytes_end - size, head.own);
	drafts_add(&s->drafts, (size_t)(end - draft));
	if (s->weighs)
		weigh_main(s, v);
}

/*
 * message Sample { location_id = 1; value = 2; label = 3; }, field 2 of Profile, from DRAFT.
 * Shared frames are copied from the previous sample, which ends where this one begins.  Return the
 * size of the draft.
 */
static size_t put_sample(struct sample_encoder *s, const uint8_t *draft)
{
	struct draft_head head;

	memcpy(&head, draft, sizeof(head));
	draft += sizeof(head);
	uint32_t size = head.shared + head.own;
	uint32_t body = 1 + varint_size(size) + size + head.values;
	uint8_t *to = pack_room(s->e->pack, 1 + varint_size(body) + body);
	const uint8_t *frames_end = to - s->previous_values;
	to = wire_bytes(wire_bytes(to, 2, body), 1, size);
	memcpy(to, draft, head.own);
	memcpy(to + head.own, frames_end - head.shared, head.shared);
	memcpy(to + size, draft + head.own, head.values);
	s->previous_values = head.values;
	return sizeof(head) + head.own + head.values;
}

/* Write drafts of all samples, then free the stacks. */
static void put_drafts(struct sample_encoder *s)
{
	struct ranking *r = &s->e->ranking;
	struct profile *p = s->e->p;

	find_mains(s);
	for (uint32_t i = 0; i < p->stacks.count; i++)
		put_draft(s, r->stacks[i]);
	free(r->stacks);
	r->stacks = NULL;
	stacks_release(&p->stacks);
	chains_release(&p->chains);
}

void encode_samples(struct encoder *e)
{
	const size_t heads = 64, label = 4 * WIRE_VARINT_MAX + heads;
	size_t longest = chains_longest(&e->p->chains);
	size_t values = ENCODE_VALUES_MAX * (size_t)e->events->count + 1;
	uint8_t *bytes = mem_resize(NULL, WIRE_VARINT_MAX * longest);
	struct sample_encoder s = {
		.e = e, .bytes_end = bytes + WIRE_VARINT_MAX * longest,
		.call = mem_zeroed(longest, sizeof(uint32_t)),
		.previous = mem_zeroed(longest, sizeof(uint32_t)),
		.size = mem_zeroed(longest, sizeof(uint32_t)),
		.main_at = mem_zeroed(longest, sizeof(uint32_t)),
		.values_max = WIRE_VARINT_MAX * values + heads + LABEL_KEYS_MAX * label,
	};

	put_drafts(&s);
	for (const uint8_t *at = drafts_next(&s.drafts, 0); at;)
		at = drafts_next(&s.drafts, put_sample(&s, at));
	free(bytes);
	free(s.call);
	free(s.previous);
	free(s.size);
	free(s.main_at);
	free(s.main);
}
