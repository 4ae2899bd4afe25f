/* SPDX-License-Identifier: Apache-2.0 */
/* unwind-write - writes samples: takes the dump out, and puts the callers in. */
#include "unwind/internal.h"

#include <string.h>

/* The words of a record, written one after another. */
struct words_out {
	uint8_t *at, *end;
	bool failed;		/* no room */
};

static void put(struct words_out *w, const void *bytes, size_t size)
{
	if (w->failed || (size_t)(w->end - w->at) < size) {
		w->failed = true;
		return;
	}
	memcpy(w->at, bytes, size);
	w->at += size;
}

static void put_u64(struct words_out *w, uint64_t v)
{
	put(w, &v, sizeof(v));
}

static bool is_user_marker(uint64_t word)
{
	return word == PERF_CONTEXT_USER || word == CONTEXT_USER_DEFERRED;
}

/* Write the words of the chain C that are not the user's. */
static void put_kernel_words(struct words_out *w, struct words c)
{
	bool is_user = false;

	for (uint64_t i = 0; i < c.count; i++) {
		uint64_t word = word_at(c, i);
		if (word >= PERF_CONTEXT_MAX)
			is_user = is_user_marker(word);
		if (!is_user)
			put_u64(w, word);
	}
}

/* Return how many words the frames from FIRST up to END take. */
static uint64_t words_of(const struct unwind *u, uint32_t first, uint32_t end)
{
	uint64_t words = end - first;

	for (uint32_t i = first; i < end; i++)
		words += u->frame[i].is_exact;
	return words;
}

/* How many frames of a stack are written: innermost ones, and, if some are left out, outermost. */
struct frames_kept {
	uint32_t inner, outer;
};

/* Return which frames are written if there is room for WORDS words. */
static struct frames_kept choose_frames(const struct unwind *u, uint64_t words)
{
	uint64_t most = u->options.stack_max, n = u->frames, used = 0;
	struct frames_kept kept = { u->frames, 0 };

	if (n <= most + UNWIND_OUTERMOST && words_of(u, 0, u->frames) <= words)
		return kept;
	kept = (struct frames_kept){ 0, n < UNWIND_OUTERMOST ? (uint32_t)n : UNWIND_OUTERMOST };
	used = stack_left_out_words() + words_of(u, u->frames - kept.outer, u->frames);
	if (used > words)	/* there is hardly any room */
		used = kept.outer = 0;
	while (kept.inner < most && kept.inner + kept.outer < n) {
		used += 1 + u->frame[kept.inner].is_exact;
		if (used > words)
			break;
		kept.inner++;
	}
	return kept;
}

static void put_range(struct words_out *w, const struct frame *f, const struct frame *end)
{
	for (; f < end; f++) {
		if (f->is_exact)
			put_u64(w, PERF_CONTEXT_USER);
		put_u64(w, f->pc);
	}
}

/*
 * Write the frames that were found, as many as the options allow and as leave REST bytes of room,
 * and how the stack ends.
 */
static void put_frames(struct unwind *u, struct words_out *w, size_t rest)
{
	size_t room = (size_t)(w->end - w->at), markers = stack_end_markers(u->end);
	size_t needed = rest + 8 * markers;
	struct frames_kept kept = choose_frames(u, room > needed ? (room - needed) / 8 : 0);

	put_range(w, u->frame, u->frame + kept.inner);
	u->counts.frames += kept.inner + kept.outer;
	u->too_long += kept.inner < u->frames && !kept.outer;
	u->left_out += kept.outer > 0;
	if (kept.inner < u->frames && !kept.outer)
		return;
	for (uint64_t i = 0; i < stack_left_out_words() && kept.outer; i++)
		put_u64(w, stack_left_out_word(i));
	put_range(w, u->frame + u->frames - kept.outer, u->frame + u->frames);
	for (size_t i = 0; i < markers && u->frames; i++)
		put_u64(w, PERF_CONTEXT_USER);
}

/* Where the parts of a SAMPLE are. */
struct parts {
	const uint8_t *chain;		/* first byte of the callchain, or of the next field */
	const uint8_t *after_chain;
	const uint8_t *dump;		/* the registers' ABI */
	const uint8_t *stack;		/* the stack's size */
	const uint8_t *tail;		/* the field after the dump */
	const uint8_t *end;
};

static struct parts parts_of(const struct stream_event *event, const struct record *rec,
			     const struct sample *s)
{
	const uint8_t *body = rec->body.at;
	struct parts p = { .dump = s->user_regs.at - 8, .stack = s->user_stack.at - 8,
			   .end = rec->body.end };
	uint64_t size;

	if (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN) {
		p.chain = s->callchain.at - 8;
		p.after_chain = s->callchain.at + 8 * s->callchain.count;
	} else {
		p.chain = event->attr.sample_type & PERF_SAMPLE_READ
			? s->read.at + 8 * s->read.count : body + event->layout.size;
		p.after_chain = p.chain;
	}
	memcpy(&size, p.stack, sizeof(size));
	p.tail = s->user_stack.at + size + (size ? 8 : 0);
	return p;
}

/* Write the registers and the valid bytes of the stack, as far as there is room before REST. */
static void put_dump(struct words_out *w, const struct sample *s, const struct parts *p,
		     size_t rest)
{
	static const uint8_t zeros[8];
	uint64_t used = s->user_stack.size;

	put(w, p->dump, (size_t)(p->stack - p->dump));
	size_t room = (size_t)(w->end - w->at);
	if (w->failed || room < rest + 24) {
		put_u64(w, 0);
		return;
	}
	if (used > room - rest - 24)
		used = room - rest - 24;
	uint64_t size = (used + 7) & ~7ULL;
	put_u64(w, size);
	put(w, s->user_stack.at, used);
	put(w, zeros, size - used);
	if (size)
		put_u64(w, used);
}

/* Return the mask of the registers that samples of events with ATTR keep, without their stacks. */
static uint64_t kept_registers(const struct unwind *u, const struct perf_event_attr *attr)
{
	return unwind_keeps_fields(u) ? 0 : u->options.registers & attr->sample_regs_user;
}

/* Return the size in bytes of what put_rest_of_dump() writes at most, or of empty fields. */
static size_t dump_size(const struct unwind *u, const struct perf_event_attr *attr,
			const struct parts *p)
{
	if (u->options.keep_dumps)
		return (size_t)(p->stack - p->dump) + 8;
	if (u->options.keep_fields)
		return 16;
	uint64_t kept = kept_registers(u, attr);
	return kept ? 8 + 8 * (size_t)__builtin_popcountll(kept) : 0;
}

/* Write what stays of the dump of S, an event with ATTR; REST as in put_dump(). */
static void put_rest_of_dump(struct unwind *u, struct words_out *w,
			     const struct perf_event_attr *attr, const struct sample *s,
			     const struct parts *p, size_t rest)
{
	uint8_t registers[8 * 64];
	uint64_t kept = kept_registers(u, attr);

	if (u->options.keep_dumps) {
		put_dump(w, s, p, rest);
	} else if (u->options.keep_fields) {
		put_u64(w, 0);
		put_u64(w, 0);		/* no stack */
	} else if (kept) {
		put_u64(w, s->user_regs_abi);
		put(w, registers, sample_choose_registers(registers, s->user_regs,
							  attr->sample_regs_user, kept));
	}
}

size_t unwind_write_sample(struct unwind *u, const struct stream_event *event,
			   const struct record *rec, const struct sample *s, bool is_unwound,
			   uint8_t *out)
{
	struct parts p = parts_of(event, rec, s);
	struct words_out w = { .at = out, .end = out + (RECORD_MAX_SIZE & ~7) };
	size_t after = (size_t)(p.dump - p.after_chain), tail = (size_t)(p.end - p.tail);
	size_t dump = dump_size(u, &event->attr, &p);

	put(&w, record_bytes(rec), (size_t)(p.chain - (rec->body.at - RECORD_HEADER_SIZE)));
	uint8_t *count = w.at;
	put_u64(&w, 0);
	if (is_unwound) {
		put_kernel_words(&w, s->callchain);
		put_frames(u, &w, after + dump + tail);
	} else if (s->callchain.count) {
		put(&w, s->callchain.at, 8 * s->callchain.count);
	}
	uint64_t words = w.failed ? 0 : (uint64_t)(w.at - count) / 8 - 1;
	put(&w, p.after_chain, after);
	put_rest_of_dump(u, &w, &event->attr, s, &p, tail);
	put(&w, p.tail, tail);
	if (w.failed)
		return 0;
	memcpy(count, &words, sizeof(words));
	uint16_t size = (uint16_t)(w.at - out);
	memcpy(out + 6, &size, sizeof(size));
	return size;
}
