/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/starts.h"
#include "base/arena.h"
#include "elf/section.h"
#include "unwind/instruction.h"

#include <stdlib.h>

struct starts {
	uint64_t base;
	/* 2 * (start - BASE), ascending; plus 1 if no call names the start */
	uint32_t *at;
	uint32_t count;
};

struct reader {
	const struct machine *machine;
	const struct elf *elf;
	uint64_t start, end;	/* addresses of all code */
	uint64_t entry;		/* address where a program starts */
	struct starts *out;
};

/* Return whether the bytes before AT end a function, or fill the space to AT. */
static bool is_after_end(const struct reader *r, uint64_t at)
{
	enum { RET = 0xc3, NOP = 0x90, INT3 = 0xcc, ALIGNMENT = 16, LONGEST = 10 };
	struct elf_bytes before = elf_constant_at(r->elf, at - LONGEST);

	if (at % ALIGNMENT || before.size < LONGEST)
		return false;
	uint8_t last = before.at[LONGEST - 1], first = before.at[LONGEST - 5];
	/* Long nops end with zeros; jmp has four bytes after its opcode. */
	return last == RET || last == NOP || last == INT3 || last == 0 || first == 0xe9;
}

static void add(struct reader *r, uint64_t target, bool is_call)
{
	struct starts *s = r->out;

	if (target < r->start || target >= r->end || target - r->start > UINT32_MAX / 2 ||
	    (!is_call && !is_after_end(r, target)))
		return;
	s->at = array_grow(s->at, s->count, sizeof(*s->at));
	s->at[s->count++] = (uint32_t)(target - r->start) * 2 + !is_call;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Read the code from AT on, to the end of its segment.  Return where that is. */
static uint64_t read_code(struct reader *r, uint64_t at)
{
	enum { ENTRY_BYTES = 64 };
	struct elf_bytes code = elf_constant_at(r->elf, at);
	struct opcode i;
	size_t n = 0;

	if (code.size > r->end - at)
		code.size = r->end - at;
	while (n < code.size) {
		if (!instruction_read(r->machine, code.at + n, code.size - n, at + n, &i)) {
			n++;
			continue;
		}
		n += i.size;
		bool is_call = i.kind == INSTRUCTION_CALL;
		/* The code at the entry point takes the address of main(). */
		bool is_main = at + n - r->entry < ENTRY_BYTES;
		if ((is_call && i.target != at + n) || (i.kind == INSTRUCTION_OTHER && i.target))
			add(r, i.target, is_call || is_main);
	}
	return at + code.size;
}

struct starts *starts_open(const struct machine *m, struct elf *elf, uint64_t *fuel)
{
	enum { PAGE = 4096 };
	struct reader r = { .machine = m, .elf = elf, .entry = elf_entry(elf) };

	elf_text(elf, &r.start, &r.end);
	if (r.end - r.start > *fuel)
		return NULL;
	*fuel -= r.end - r.start;
	r.out = mem_zeroed(1, sizeof(*r.out));
	r.out->base = r.start;
	for (uint64_t at = r.start; at < r.end;) {
		uint64_t next = read_code(&r, at);
		at = next > at ? next : (at | (PAGE - 1)) + 1;
	}
	struct starts *s = r.out;
	qsort(s->at, s->count, sizeof(*s->at), compare);
	uint32_t count = 0;
	for (uint32_t i = 0; i < s->count; i++)
		if (count == 0 || s->at[i] / 2 != s->at[count - 1] / 2)
			s->at[count++] = s->at[i];
	s->count = count;
	elf_charge(elf, count * sizeof(*s->at));
	return s;
}

void starts_close(struct starts *s)
{
	if (!s)
		return;
	free(s->at);
	free(s);
}

/* Return the number of starts that are not after ADDRESS. */
static uint32_t count_before(const struct starts *s, uint64_t address)
{
	uint32_t low = 0, high = s ? s->count : 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (s->base + s->at[middle] / 2 <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t starts_before(const struct starts *s, uint64_t address, bool *is_called)
{
	uint32_t count = count_before(s, address);

	*is_called = count && s->at[count - 1] % 2 == 0;
	return count ? s->base + s->at[count - 1] / 2 : 0;
}

uint64_t starts_called_before(const struct starts *s, uint64_t address)
{
	uint32_t count = count_before(s, address);

	while (count && s->at[count - 1] % 2)
		count--;
	return count ? s->base + s->at[count - 1] / 2 : 0;
}
