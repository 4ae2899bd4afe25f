/* SPDX-License-Identifier: Apache-2.0 */
/* Joining stacks: what shows that a frame is an earlier call, and what shows that it is not. */
#include "tests/unit/tap.h"
#include "unwind/internal.h"

#include <malloc.h>
#include <string.h>

/* A frame with a register that may tell calls apart if it is even; 0: it is not known. */
#define FRAME(pc, sp, is_exact, reg) { pc, sp, 0, { reg }, is_exact }

/* Extend the first N frames of CUT; nothing is known of their caller but what CALLER says. */
static uint32_t extend_by(struct joiner *j, struct frame *cut, uint32_t n,
			  const struct frame *caller, bool *whole)
{
	return joiner_extend(j, 7, cut, n, caller, 8, whole);
}

static uint32_t extend(struct joiner *j, pid_t tid, struct frame *cut, uint32_t n, bool *whole)
{
	const struct frame unknown = { 0 };

	return joiner_extend(j, tid, cut, n, &unknown, 8, whole);
}

/* A stack of thread 7. */
static const struct frame earlier[6] = {
	FRAME(1, 10, true, 0), FRAME(2, 20, false, 2), FRAME(3, 30, false, 4),
	FRAME(4, 40, false, 6), FRAME(5, 50, true, 8), FRAME(6, 60, false, 10),
};

/* The same stack, to be changed; and a later copy that has its first frames. */
struct scene {
	struct joiner *j;
	struct frame stack[6], cut[8];
	bool whole;
};

static struct scene new_scene(void)
{
	struct scene s = { .j = joiner_new(),
			   .cut = { FRAME(9, 10, true, 0), FRAME(2, 20, false, 2),
				    FRAME(3, 30, false, 4), FRAME(4, 40, false, 6) } };

	memcpy(s.stack, earlier, sizeof(s.stack));
	return s;
}

/* Remember a stack of thread 7 in two copies: then it counts. */
static void add_twice(struct joiner *j, const struct frame *stack)
{
	joiner_add(j, 7, stack, 6, 6, true);
	joiner_add(j, 7, stack, 6, 6, true);
}

/* Remember N stacks of TID, each of another frame. */
static void add_others(struct joiner *j, pid_t tid, uint64_t n, uint64_t first_pc)
{
	for (uint64_t i = 0; i < n; i++) {
		struct frame two[2] = { FRAME(1, 10, true, 0), FRAME(first_pc + i, 20, false, 0) };
		joiner_add(j, tid, two, 2, 2, true);
	}
}

static void test_joiner(void)
{
	const struct frame unknown = { 0 };
	struct frame cut[8] = { FRAME(9, 10, true, 0), FRAME(2, 20, false, 2),
				FRAME(3, 30, false, 4), FRAME(4, 40, false, 6) };
	struct joiner *j = joiner_new();
	bool whole;

	tap(extend(j, 7, cut, 4, &whole) == 4, "nothing was seen before");
	joiner_add(j, 7, earlier, 6, 6, true);
	tap(extend(j, 7, cut, 4, &whole) == 4, "one copy may be of another call");
	joiner_add(j, 7, earlier, 6, 6, true);
	tap(extend(j, 7, cut, 4, &whole) == 6 && whole && cut[5].pc == 6 && cut[5].sp == 60 &&
	    cut[4].is_exact && !cut[5].is_exact, "the rest of an earlier stack is taken");
	tap(extend(j, 8, cut, 4, &whole) == 4, "but not another thread's");
	cut[3].sp = 41;
	tap(extend(j, 7, cut, 4, &whole) == 4, "nor if the last frame is elsewhere");
	cut[3].sp = 40;
	cut[2].sp = 31;
	tap(extend(j, 7, cut, 4, &whole) == 4, "the last frame alone is not enough");
	for (int i = 0; i < 3; i++)
		add_twice(j, earlier);
	tap(extend(j, 7, cut, 4, &whole) == 6, "but in eight copies it is, with its register");
	cut[3].kept[0] = 16;
	tap(extend(j, 7, cut, 4, &whole) == 4, "but not without it");
	cut[3].kept[0] = 6;
	cut[2].sp = 30;
	tap(joiner_extend(j, 7, cut, 4, &unknown, 5, &whole) == 5 && !whole,
	    "up to the limit of frames");
	joiner_add(j, 7, earlier, 4, 4, false);
	tap(extend(j, 7, cut, 4, &whole) == 6 && whole, "a cut stack changes nothing");
	add_others(j, 8, 40000, 100);
	tap(extend(j, 7, cut, 4, &whole) == 6, "an old generation is looked at, too");
	add_others(j, 8, 40000, 100000);
	tap(extend(j, 7, cut, 4, &whole) == 4, "the one before it is forgotten");
	add_twice(j, earlier);
	joiner_end(j, 7);
	tap(extend(j, 7, cut, 4, &whole) == 4, "a thread that ends leaves nothing");
	add_twice(j, earlier);
	joiner_forget(j, 7);
	joiner_forget(j, 7);
	tap(extend(j, 7, cut, 4, &whole) == 4, "nor one that is forgotten");
	joiner_free(j);
}

/* Return how many bytes are allocated; sanitizers do not say. */
static size_t allocated(void)
{
#ifdef __GLIBC__
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
#else
	return 0;	/* no other C library says it */
#endif
}

/* Threads that nothing is known of but samples. */
static void test_joiner_threads(void)
{
	struct frame cut[8] = { FRAME(9, 10, true, 0), FRAME(2, 20, false, 2),
				FRAME(3, 30, false, 4), FRAME(4, 40, false, 6) };
	struct joiner *j = joiner_new();
	size_t before = 0;
	bool whole;

	for (pid_t tid = 1; tid < 1 << 19; tid++) {
		joiner_add(j, tid, earlier, 2, 2, true);
		before = tid == 1 << 17 ? allocated() : before;
	}
	tap(allocated() <= before + (1 << 20), "four times the threads take no more memory");
	add_twice(j, earlier);
	tap(extend(j, 7, cut, 4, &whole) == 6, "and stacks are still joined");
	joiner_free(j);
}

/* What says that the frames are those of the same calls. */
static void test_joiner_evidence(void)
{
	const struct frame unknown = { 0 };
	struct frame stack[6], cut[8] = { FRAME(9, 10, true, 0), FRAME(2, 20, false, 94),
					  FRAME(3, 30, false, 96), FRAME(4, 40, false, 98) };
	struct frame caller = FRAME(0, 50, false, 8);
	struct joiner *j = joiner_new();
	bool whole;

	memcpy(stack, earlier, sizeof(stack));
	add_twice(j, stack);
	tap(extend(j, 7, cut, 4, &whole) == 4, "other registers and no words: another call");
	tap(extend_by(j, cut, 4, &caller, &whole) == 4,
	    "the caller's own register does not show where it called");
	caller.sp = 58;
	tap(extend_by(j, cut, 4, &caller, &whole) == 4, "but the caller is elsewhere");
	caller.sp = 50;
	caller.kept[0] = 18;
	cut[3].kept[0] = 6;
	tap(extend_by(j, cut, 4, &unknown, &whole) == 6, "the last frame's register is the same");
	tap(extend_by(j, cut, 4, &caller, &whole) == 4, "but the caller's is another one");
	cut[2].kept[0] = 6;
	tap(extend(j, 7, cut, 4, &whole) == 4, "a register that the callee has, too, says nothing");
	cut[2].kept[0] = 4;
	tap(extend(j, 7, cut, 4, &whole) == 6, "a frame below has the same register");
	cut[1].kept[0] = 4;
	tap(extend(j, 7, cut, 4, &whole) == 6, "the last frame's own, too");
	cut[3].kept[0] = 98;
	tap(extend(j, 7, cut, 4, &whole) == 4, "but not if that is its callee's");
	cut[1].kept[0] = 94;
	cut[2].kept[0] = 96;
	stack[3].kept[0] = cut[3].kept[0] = 5;
	add_twice(j, stack);
	tap(extend(j, 7, cut, 4, &whole) == 4, "nor does a small number");
	joiner_end(j, 7);
	stack[3].words = cut[3].words = 77;
	add_twice(j, stack);
	tap(extend(j, 7, cut, 4, &whole) == 4, "two copies with the same words are too few");
	add_twice(j, stack);
	tap(extend(j, 7, cut, 4, &whole) == 6, "the words of the stack are the same");
	add_others(j, 7, 32, 100);
	tap(extend(j, 7, cut, 4, &whole) == 6, "32 stacks later, too");
	add_others(j, 7, 1, 200);
	tap(extend(j, 7, cut, 4, &whole) == 4, "but then it is too old");
	joiner_free(j);
}

/* The same frames with other callers. */
static void test_joiner_callers(void)
{
	struct scene s = new_scene();

	add_twice(s.j, s.stack);
	s.stack[5].pc = 16;
	for (int i = 1; i < 4; i++)
		s.stack[i].kept[0] += 100;
	add_twice(s.j, s.stack);
	tap(extend(s.j, 7, s.cut, 4, &s.whole) == 4,
	    "what has evidence has returned: a later stack has another caller there");
	for (int i = 1; i < 4; i++)
		s.cut[i].kept[0] += 100;
	tap(extend(s.j, 7, s.cut, 4, &s.whole) == 5 && !s.whole && s.cut[4].pc == 5,
	    "of several stacks, what they have in common is taken");
	for (int i = 1; i < 4; i++)
		s.stack[i].kept[0] = s.cut[i].kept[0] -= 100;
	add_twice(s.j, s.stack);
	tap(extend(s.j, 7, s.cut, 4, &s.whole) == 5 && !s.whole && s.cut[4].pc == 5,
	    "also if they have the same evidence");
	for (uint64_t i = 0; i < 20; i++) {
		s.stack[5].pc = 100 + i;
		add_twice(s.j, s.stack);
	}
	tap(extend(s.j, 7, s.cut, 4, &s.whole) == 4 && !s.whole,
	    "with too many callers it stays as it is");
	joiner_free(s.j);
}

/* Callers that could be in the place of another one. */
static void test_joiner_rivals(void)
{
	struct frame deeper[6];

	/* PC, SIZE: of the frame that calls frame 4; ABOVE: pc of its own caller */
	static const struct { uint64_t pc, size, above; uint32_t frames; const char *what; } c[] = {
		{ 15, 10, 6, 4, "another call in the same place, at other addresses" },
		{ 15, 18, 6, 6, "but not one with a larger frame" },
		{ 15, 10, 7, 6, "nor one with another caller" },
		{ 5, 10, 6, 6, "nor the same one" },
	};
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct scene s = new_scene();
		add_twice(s.j, s.stack);
		memcpy(deeper, s.stack, sizeof(deeper));
		for (int k = 1; k < 6; k++)
			deeper[k].sp -= 5;
		deeper[4].pc = c[i].pc;
		deeper[5].pc = c[i].above;
		deeper[5].sp = deeper[4].sp + c[i].size;
		joiner_add(s.j, 8, deeper, 6, 6, true);
		tap(extend(s.j, 7, s.cut, 4, &s.whole) == c[i].frames, c[i].what);
		joiner_free(s.j);
	}
	struct scene s = new_scene();
	add_twice(s.j, s.stack);
	s.stack[4].pc = 15;
	s.stack[5].sp = 68;
	joiner_add(s.j, 7, s.stack, 6, 6, true);
	add_twice(s.j, earlier);
	tap(extend(s.j, 7, s.cut, 4, &s.whole) == 4, "the same frame with another caller");
	joiner_free(s.j);
}

/* Remember N stacks of thread 7 whose copies reach up to the stack pointer SP. */
static void add_copies(struct joiner *j, int n, uint64_t sp)
{
	const struct frame two[2] = { FRAME(1, 10, true, 0), FRAME(77, sp, false, 0) };

	for (int i = 0; i < n; i++)
		joiner_add(j, 7, two, 2, 2, false);
}

/* Frames that are not in later copies any more. */
static void test_joiner_returns(void)
{
	struct frame cut[8] = { FRAME(9, 10, true, 0), FRAME(2, 20, false, 2),
				FRAME(3, 30, false, 4), FRAME(4, 40, false, 6) };
	struct joiner *j = joiner_new();
	struct frame other[6];
	bool whole;

	add_twice(j, earlier);
	add_copies(j, 32, 49);
	tap(extend(j, 7, cut, 4, &whole) == 6, "copies without the caller's place do not matter");
	add_copies(j, 1, 49);
	tap(extend(j, 7, cut, 4, &whole) == 4, "but two copies are too old after 32 stacks");
	add_twice(j, earlier);
	add_copies(j, 1, 50);
	tap(extend(j, 7, cut, 4, &whole) == 4, "a copy without it does: the call has ended");
	for (int i = 0; i < 2; i++) {	/* eight copies, with the first four */
		tap(extend(j, 7, cut, 4, &whole) == 4, "the callers are not usual");
		add_twice(j, earlier);
		add_copies(j, 1, 60);
	}
	tap(extend(j, 7, cut, 4, &whole) == 6, "then they are");
	cut[2].sp = 31;
	tap(extend(j, 7, cut, 4, &whole) == 4, "unless only the last frame is the same");
	cut[2].sp = 30;
	add_copies(j, 31, 20);
	tap(extend(j, 7, cut, 4, &whole) == 6, "32 stacks later, too");
	add_copies(j, 1, 20);
	tap(extend(j, 7, cut, 4, &whole) == 4, "but then they are too old");
	add_twice(j, earlier);
	add_copies(j, 1, 60);
	tap(extend(j, 7, cut, 4, &whole) == 6, "and when they are seen again, they count again");
	memcpy(other, earlier, sizeof(other));
	other[5].pc = 16;
	joiner_add(j, 7, other, 6, 6, true);
	add_copies(j, 1, 60);
	tap(extend(j, 7, cut, 4, &whole) == 5 && !whole,
	    "the frame had other callers, once: only what they have in common is usual");
	joiner_free(j);
	j = joiner_new();
	for (int i = 0; i < 4; i++)
		add_twice(j, earlier);
	add_copies(j, 100, 49);
	tap(extend(j, 7, cut, 4, &whole) == 6, "eight copies are never too old");
	for (uint64_t sp = 49; sp > 20; sp--)
		add_copies(j, 2, sp);
	tap(extend(j, 7, cut, 4, &whole) == 6, "nor if they reach less and less far");
	joiner_free(j);
}

/* A caller that has returned although the frames below it look the same. */
static void test_joiner_returns_above(void)
{
	struct scene s = new_scene();

	add_twice(s.j, s.stack);
	add_copies(s.j, 1, 60);
	joiner_add(s.j, 7, s.stack, 5, 5, false);
	tap(extend(s.j, 7, s.cut, 4, &s.whole) == 5 && !s.whole,
	    "a copy has the caller again, but not the caller's caller");
	for (int i = 0; i < 8; i++)
		joiner_add(s.j, 7, s.stack, 5, 5, false);
	tap(extend(s.j, 7, s.cut, 4, &s.whole) == 5 && !s.whole, "not even in many copies");
	for (int i = 0; i < 3; i++)
		add_twice(s.j, s.stack);
	add_copies(s.j, 1, 60);
	joiner_add(s.j, 7, s.stack, 5, 5, false);
	tap(extend(s.j, 7, s.cut, 4, &s.whole) == 6 && s.whole, "but it is taken if it is usual");
	joiner_free(s.j);

	s = new_scene();
	add_twice(s.j, s.stack);
	for (int i = 0; i < 6; i++)
		joiner_add(s.j, 7, s.stack, 6, 4, true);
	add_copies(s.j, 1, 55);
	tap(extend(s.j, 7, s.cut, 4, &s.whole) == 5 && !s.whole,
	    "the registers of a caller that is only usual do not prove the next one");
	joiner_free(s.j);
}

/* A register that the last frame's caller has, too: that caller may have called from elsewhere. */
static void test_joiner_inherits(void)
{
	struct scene s = new_scene();

	s.stack[4].kept[0] = 6;
	add_twice(s.j, s.stack);
	s.cut[2].kept[0] = 94;
	tap(extend(s.j, 7, s.cut, 4, &s.whole) == 4, "a register of the caller says nothing");
	s.stack[4].kept[0] = 8;
	add_twice(s.j, s.stack);
	tap(extend(s.j, 7, s.cut, 4, &s.whole) == 6, "one that the last frame has set does");
	joiner_free(s.j);
}

/* A function that waits for another has the same registers as long as it does. */
static void test_joiner_waits(void)
{
	struct frame cut[8] = { FRAME(9, 10, true, 0), FRAME(2, 20, false, 2),
				FRAME(3, 30, false, 4), FRAME(4, 40, false, 0) };
	struct joiner *j = joiner_new();
	bool whole;

	add_twice(j, earlier);
	tap(extend(j, 7, cut, 4, &whole) == 6, "a frame that the last one called is the same");
	cut[3].kept[0] = 16;
	tap(extend(j, 7, cut, 4, &whole) == 4, "but not while the last one has another register");
	for (int i = 0; i < 3; i++)
		add_twice(j, earlier);
	tap(extend(j, 7, cut, 4, &whole) == 6, "unless the callers are the usual ones");
	joiner_free(j);
}

/* An earlier stack that was cut, and a later one that goes on there. */
static void test_joiner_twice(void)
{
	struct frame cut[8] = { FRAME(9, 10, true, 0), FRAME(2, 20, false, 2),
				FRAME(3, 30, false, 4) };
	struct joiner *j = joiner_new();
	bool whole;

	for (int i = 0; i < 8; i++) {
		joiner_add(j, 7, earlier, 4, 4, false);
		joiner_add(j, 7, earlier + 2, 4, 4, true);
	}
	tap(extend(j, 7, cut, 3, &whole) == 6 && whole && cut[5].pc == 6,
	    "a stack is joined to one that was cut, and further to another one");
	add_copies(j, 1, 60);
	tap(extend(j, 7, cut, 3, &whole) == 3,
	    "but not by a caller that is only usual, and whose own caller was cut off");
	joiner_free(j);
}

int main(void)
{
	test_joiner();
	test_joiner_threads();
	test_joiner_evidence();
	test_joiner_callers();
	test_joiner_rivals();
	test_joiner_returns();
	test_joiner_returns_above();
	test_joiner_inherits();
	test_joiner_waits();
	test_joiner_twice();
	return tap_done();
}
