/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk of a sample's callchain, from addresses to frames.
 *
 * A cache (base/recent.h) maps an address in one generation of an address space straight to a
 * frame; code in files is the same for all address spaces that map the same files.
 *
 * If code of a JIT compiler was replaced, the name of an address depends on the time. Such
 * addresses are not put into this cache, and are looked up each time.
 */
#include "resolve/callchain.h"

#include <stdlib.h>

/*
 * A return address is looked up by its call, one byte before, and has a name of its own in the
 * cache: that byte may also have been executed.
 */
static uint64_t caller_key(uint64_t address)
{
	return (address - 1) ^ 1ULL << 63;
}

/* Return the generation under which addresses of SPACE in files are cached. */
static inline uint64_t shared_generation(const struct space *space)
{
	return space->shared ? space->shared : space->generation;
}

/* Return whether ADDRESS of SPACE is in a file that other spaces may map at the same address. */
static bool is_shared(const struct callchains *c, const struct space *space, uint64_t address)
{
	const struct mapping *m = space_find(space, address);

	return m && c->spaces->objects.object[m->object].kind == OBJECT_FILE;
}

/* Make the first cache larger if it is small for the number of frames. */
static void grow_recent(struct callchains *c)
{
	enum { SHARE = 2 };	/* minimum of slots per frame, up to RECENT_MAX */

	if (c->frames->definitions->frames > c->recent.slots / SHARE &&
	    c->recent.slots < RECENT_MAX)
		recent_reset(&c->recent, 2 * c->recent.slots);
}

/* A frame, or TABLE_NONE, and whether another time may have another frame at the same place. */
struct frame_answer {
	uint32_t frame;
	bool varies;
};

/*
 * Return the frame of ADDRESS, or TABLE_NONE: ADDRESS is not in code.  IS_RETURN: ADDRESS is a
 * return address, see place_find().
 */
static struct frame_answer resolve(struct callchains *c, const struct sampled *s,
				   const struct space *space, uint64_t address, bool is_return)
{
	uint64_t generation = shared_generation(space);
	uint64_t key = is_return ? caller_key(address) : address;
	struct frame_answer a = { 0 };
	bool is_known = recent_find(&c->recent, generation, key, &a.frame);

	if (!is_known && generation != space->generation &&
	    !is_shared(c, space, address - is_return)) {
		generation = space->generation;
		is_known = recent_find(&c->recent, generation, key, &a.frame);
	}
	if (is_known)
		return a;
	struct place place = place_find(c->places, s, space, address, is_return);
	a.frame = place.is_no_code ? TABLE_NONE : frame_at(c->frames, &place);
	a.varies = place.kind == PLACE_JIT && place.jit.function.varies;
	grow_recent(c);
	c->is_pure &= !a.varies && recent_key(&c->recent, generation);
	if (!a.varies)
		recent_add(&c->recent, generation, key, a.frame);
	return a;
}

/* Return the frame of ADDRESS, which the CPU has executed, even if no code is mapped there. */
static uint32_t resolve_executed(struct callchains *c, const struct sampled *s,
				 const struct space *space, uint64_t address)
{
	uint32_t frame = resolve(c, s, space, address, false).frame;

	return frame != TABLE_NONE ? frame : frame_unknown(c->frames, address);
}

/*
 * Return the frame of a sampled IP, which is code even if its mapping is data. The first cache is
 * not used for data, because new mappings of data do not change the generation. So where no code
 * is mapped, another sample may find data. The kernel's mappings are all code.
 */
static uint32_t resolve_leaf(struct callchains *c, const struct sampled *s,
			     const struct space *space, uint64_t address)
{
	const struct mapping *data = space_find_data(space, address);

	c->is_pure &= space == &c->spaces->kernel || space_find(space, address);
	if (!data)
		return resolve_executed(c, s, space, address);
	struct place place = place_in_process(c->places, s, space, data, address);
	return frame_at(c->frames, &place);
}

static void push(struct callchains *c, uint32_t *count, uint32_t frame, uint64_t address)
{
	if (*count == c->capacity) {
		c->capacity = c->capacity ? 2 * c->capacity : 256;
		c->frame = mem_resize(c->frame, c->capacity * sizeof(*c->frame));
		c->address = mem_resize(c->address, c->capacity * sizeof(*c->address));
	}
	c->address[*count] = address;
	c->frame[(*count)++] = frame;
}

/* Return the space for the CPU mode in MISC; NULL: a process of a guest. */
static const struct space *space_of_mode(struct callchains *c, pid_t pid, uint16_t misc)
{
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return &c->spaces->kernel;
	case PERF_RECORD_MISC_USER:
	case PERF_RECORD_MISC_CPUMODE_UNKNOWN:
		return spaces_find(c->spaces, pid);
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return &c->spaces->guest;
	default:
		return NULL;
	}
}

static const struct space *space_of_marker(struct callchains *c, pid_t pid, uint64_t marker)
{
	switch ((int64_t)marker) {
	case (int64_t)PERF_CONTEXT_KERNEL:
		return &c->spaces->kernel;
	case (int64_t)PERF_CONTEXT_USER:
		return spaces_find(c->spaces, pid);
	case (int64_t)PERF_CONTEXT_GUEST:
	case (int64_t)PERF_CONTEXT_GUEST_KERNEL:
		return &c->spaces->guest;
	default:
		return NULL;
	}
}

/*
 * Push the callers from the CPU's record of calls that have not returned (LBR call stack), the
 * last call first. Other recorded branches are not a stack.
 */
static void push_calls(struct callchains *c, const struct sampled *s, const struct words *branches,
		       uint32_t *count)
{
	c->is_pure = false;	/* the next sample may have other calls */
	for (uint64_t i = 0; i + 2 < branches->count; i += 3) {
		uint64_t address = word_at(*branches, i);
		push(c, count, resolve_executed(c, s, spaces_find(c->spaces, s->pid), address),
		     address);
	}
}

/* Prefetch the slots of the first COUNT addresses of CHAIN. Most of them are callers in SPACE. */
static void prefetch(const struct callchains *c, const struct space *space,
		     const struct words *chain, uint64_t count)
{
	uint64_t generation = shared_generation(space);

	for (uint64_t i = 0; i < count; i++)
		recent_prefetch(&c->recent, generation, i > 1 ? caller_key(word_at(*chain, i))
							      : word_at(*chain, i));
}

/*
 * Return how many words at the end of CHAIN are equal to those of the previous callchain.  They
 * have the same frames if they are also in the same address space.
 */
static size_t same_callers(const struct callchains *c, const struct words *chain)
{
	const struct last_callers *last = &c->last;
	size_t same = 0;

	while (same < last->count && same < chain->count &&
	       word_at(*chain, chain->count - 1 - same) == last->word[last->count - 1 - same])
		same++;
	return same;
}

/*
 * Keep the last CALLERS words of CHAIN and the last CALLERS of COUNT frames for the next
 * callchain.
 */
static void keep_callers(struct callchains *c, const struct words *chain, size_t callers,
			 uint32_t count, uint32_t key)
{
	struct last_callers *last = &c->last;

	last->count = callers;
	last->key = key;
	if (callers == 0)
		return;
	if (callers > last->room) {
		last->room = 2 * callers;
		last->word = mem_resize(last->word, last->room * sizeof(*last->word));
		last->frame = mem_resize(last->frame, last->room * sizeof(*last->frame));
	}
	memcpy(last->word, chain->at + 8 * (chain->count - callers), 8 * callers);
	memcpy(last->frame, c->frame + count - callers, callers * sizeof(*last->frame));
}

/* A callchain while its addresses are resolved. */
struct chain_walk {
	const struct space *leaf, *space;	/* of the sampled IP; of the current address */
	bool leaf_is_user;
	bool repeats;		/* the chain may still repeat the sampled IP */
	bool exact;		/* the current address was executed, not returned to */
	bool is_unwound;	/* an unwinder wrote the program's part: the kernel was not to */
	bool ended;		/* the rest of the program's stack is not code */
	uint32_t user;		/* addresses of the program so far */
	size_t callers;		/* number of last addresses that keep_callers() may keep */
};

/* Resolve ADDRESS, the next of a callchain, and push it unless it repeats the leaf. */
static void walk_address(struct callchains *c, const struct sampled *s, struct chain_walk *w,
			 uint64_t address, uint32_t *count)
{
	static const struct space nothing;
	const struct space *space = w->space ? w->space : &nothing;

	if (!(w->repeats && w->space == w->leaf)) {
		struct frame_answer a = { .varies = true };
		if (w->exact)
			a.frame = resolve_executed(c, s, space, address);
		else
			a = resolve(c, s, space, address, true);
		if (a.frame == TABLE_NONE && w->is_unwound) {
			a.frame = frame_unknown(c->frames, address);
			a.varies = true;	/* the kernel's next chain would end here */
		}
		w->ended = a.frame == TABLE_NONE;
		if (w->ended)
			return;
		push(c, count, a.frame, address);
		w->callers = a.varies ? 0 : w->callers + 1;
	} else {
		w->repeats = false;
		w->callers = 0;
	}
	w->user += space != &c->spaces->kernel && space != &c->spaces->guest;
	w->exact = false;
}

/* Push the frame that stands for frames that were left out of the program's stack. */
static void walk_left_out(struct callchains *c, pid_t pid, struct chain_walk *w, uint32_t *count)
{
	w->space = spaces_find(c->spaces, pid);
	w->exact = false;
	w->callers = 0;
	if (w->user && !w->ended)
		push(c, count, frame_left_out(c->frames), 0);
}

/* Return the key under which callers in the space of W are kept; 0: they are not kept. */
static uint32_t callers_key(const struct callchains *c, const struct chain_walk *w)
{
	return w->space && !w->ended ? recent_key(&c->recent, w->space->generation) : 0;
}

/* Return whether the frames of the last addresses are known from the previous callchain. */
static bool knows_callers(const struct callchains *c, const struct chain_walk *w)
{
	uint32_t key = callers_key(c, w);

	return SHORT_WAYS && key && key == c->last.key && !w->exact &&
	       !(w->repeats && w->space == w->leaf) &&
	       !(w->leaf_is_user && w->space == &c->spaces->kernel);
}

static void push_callers(struct callchains *c, struct chain_walk *w, size_t same, uint32_t *count)
{
	for (size_t i = 0; i < same; i++)
		push(c, count, c->last.frame[c->last.count - same + i],
		     c->last.word[c->last.count - same + i]);
	if (w->space != &c->spaces->kernel && w->space != &c->spaces->guest)
		w->user += (uint32_t)same;
	w->callers += same;
}

/* Return how the program's stack ends, according to its markers (SAID) and its walk. */
static enum stack_end end_of_walk(struct callchains *c, const struct stream_reader *in,
				  const struct perf_event_attr *attr, const struct chain_walk *w,
				  enum stack_end said)
{
	if (w->user == 0)
		return STACK_NONE;
	if (w->ended)
		return STACK_NO_CODE;
	return w->user == 1 && said == STACK_WHOLE &&
	       stack_ends_follows(c->ends, attr, stream_origin(in)) ? STACK_ONE_FRAME : said;
}

/*
 * The leaf is the sampled IP. In the callchain, each PERF_CONTEXT_* marker says which address
 * space the following addresses belong to. The first address after a marker is where the code was
 * interrupted or called the kernel. The others are return addresses: the call is the instruction
 * before. The callchain repeats the leaf at its start. A return address that is not in code ends
 * the program's part, because the kernel follows frame pointers whatever they are; but an unwinder
 * knew how to go on.
 *
 * The interrupt may come later than the instruction that a precise IP names. So the IP may be in
 * the program although the interrupt found the kernel running. Then the kernel's part of the
 * callchain did not call the leaf, and is left out. An entry 0 is not an address: the kernel's
 * unwinders write it where they give up. CONTEXT_USER_DEFERRED and its cookie stand for the user's
 * part of the callchain, which pmu-unwind would have put in their place.
 */
uint32_t callchain_resolve(struct callchains *c, const struct sampled *s,
			   const struct sample *sample, const struct perf_event_attr *attr,
			   enum stack_end *end)
{
	static const struct space nothing;
	bool has_ip = attr->sample_type & PERF_SAMPLE_IP;
	uint16_t mode = sample->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct chain_walk w = { .leaf = space_of_mode(c, s->pid, sample->misc), .repeats = has_ip,
			  .leaf_is_user = has_ip && mode == PERF_RECORD_MISC_USER,
			  .exact = true,
			  .is_unwound = attr->exclude_callchain_user };
	struct words chain = sample->callchain;
	enum stack_end said = stack_end_take(&chain);
	uint32_t count = 0;

	size_t same = same_callers(c, &chain);
	uint32_t salt = c->recent.salt;

	c->is_pure = true;
	w.space = w.leaf;
	if (w.leaf)
		prefetch(c, w.leaf, &chain, chain.count - same);
	if (has_ip)
		push(c, &count, resolve_leaf(c, s, w.leaf ? w.leaf : &nothing, sample->ip),
		     sample->ip);
	for (uint64_t i = 0; i < chain.count; i++) {
		uint64_t address = word_at(chain, i);
		if (stack_is_left_out(chain, i)) {
			i += stack_left_out_words() - 1;
			walk_left_out(c, s->pid, &w, &count);
		} else if (address >= PERF_CONTEXT_MAX) {
			i += address == CONTEXT_USER_DEFERRED;
			w.space = space_of_marker(c, s->pid, address);
			w.exact = true;
			w.callers = 0;
		} else if (i + same >= chain.count && knows_callers(c, &w)) {
			push_callers(c, &w, chain.count - i, &count);
			break;
		} else if (!w.ended && !(w.leaf_is_user && w.space == &c->spaces->kernel) &&
			   (address || (w.repeats && w.exact))) {
			walk_address(c, s, &w, address, &count);
		} else {
			w.callers = 0;
		}
	}
	uint32_t key = salt == c->recent.salt ? callers_key(c, &w) : 0;
	c->is_pure &= salt == c->recent.salt;
	keep_callers(c, &chain, key ? w.callers : 0, count, key);
	*end = end_of_walk(c, s->in, attr, &w, said);
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		push_calls(c, s, &sample->branches, &count);
	if (count == 0)
		push(c, &count, frame_unknown(c->frames, 0), 0);
	return count;
}

void callchains_begin(struct callchains *c)
{
	recent_reset(&c->recent, RECENT_FIRST);
}

void callchains_restart(struct callchains *c)
{
	recent_reset(&c->recent, RECENT_FIRST);
	c->last.count = 0;
}

void callchains_release(struct callchains *c)
{
	recent_release(&c->recent);
	free(c->frame);
	free(c->address);
	free(c->last.word);
	free(c->last.frame);
}
