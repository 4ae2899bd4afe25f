/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting-callers - the callers of a thread that waits, by frame pointers.
 *
 * /proc shows the stack pointer of a waiting thread, but not its frame pointer.  The innermost
 * frame is the first place above the stack pointer that looks like one: a word that leads further
 * up, and a return address, which follows a call.
 */
#include "base/arena.h"
#include "elf/call.h"
#include "linux/maps.h"
#include "linux/proc.h"
#include "sample/waiting.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CALLERS_MAX = 127 };	/* frames, as many as the kernel follows */

static void read_code(struct waiting_code *c, pid_t pid)
{
	struct proc_maps maps = proc_maps_open(pid);
	struct proc_mapping m;

	c->pid = pid;
	c->count = 0;
	while (proc_maps_next(&maps, &m)) {
		if (!(m.prot & PROT_EXEC))
			continue;
		c->range = array_grow(c->range, c->count, sizeof(*c->range));
		c->range[c->count++] = (struct waiting_range){ m.start, m.end };
	}
	proc_maps_close(&maps);
}

/* Return whether ADDRESS of C's process follows a call. */
static bool is_return_address(const struct waiting_code *c, uint64_t address)
{
	uint8_t before[CALL_BYTES];
	bool is_code = false;

	for (size_t i = 0; i < c->count && !is_code; i++)
		is_code = address >= c->range[i].start + CALL_BYTES && address <= c->range[i].end;
	return is_code && proc_read_memory(c->pid, address - CALL_BYTES, before, CALL_BYTES) ==
				  CALL_BYTES && call_ends(before + CALL_BYTES);
}

/* Return the word of STACK, which is at BASE, at ADDRESS; 0: it is not there. */
static uint64_t word_of(const struct buffer *stack, uint64_t base, uint64_t address)
{
	uint64_t word = 0;

	if (address >= base && address - base < stack->size &&
	    stack->size - (address - base) >= sizeof(word))
		memcpy(&word, stack->at + (address - base), sizeof(word));
	return word;
}

/* Return the address of the innermost frame on STACK, which is at BASE; 0: there is none. */
static uint64_t first_frame(const struct waiting_code *c, const struct buffer *stack, uint64_t base)
{
	const uint64_t near = 1 << 20;	/* bytes from a frame to its caller's */

	for (uint64_t at = base; at - base < stack->size; at += 8) {
		uint64_t next = word_of(stack, base, at);
		if (next > at && next - at < near && next % 8 == 0 &&
		    is_return_address(c, word_of(stack, base, at + 8)))
			return at;
	}
	return 0;
}

void waiting_find_callers(struct start_waits *w, struct waiting_thread *t,
			  const struct buffer *stack)
{
	uint64_t base = t->registers.sp;

	if (w->code.pid != t->pid)
		read_code(&w->code, t->pid);
	t->callers.size = 0;
	uint64_t frame = base % 8 ? 0 : first_frame(&w->code, stack, base);
	for (int i = 0; frame && i < CALLERS_MAX; i++) {
		uint64_t caller = word_of(stack, base, frame + 8);
		uint64_t next = word_of(stack, base, frame);
		if (!is_return_address(&w->code, caller))
			break;
		buffer_add(&t->callers, &caller, sizeof(caller));
		frame = next > frame && next % 8 == 0 ? next : 0;
	}
}
