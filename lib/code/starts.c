/* SPDX-License-Identifier: Apache-2.0 */
#include "code/starts.h"
#include "base/arena.h"
#include "code/instruction.h"
#include "elf/section.h"

#include <elf.h>
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
	bool is_x86;
	struct instruction_sizes sizes;		/* if IS_X86 */
	/* bit per byte of code: a function starts there, as a call or an address says */
	uint64_t *called, *named;
};

/* Return whether the bytes before AT end a function, or fill the space to AT. */
static bool is_after_end(const struct reader *r, uint64_t at)
{
	enum { RET = 0xc3, NOP = 0x90, INT3 = 0xcc, ALIGNMENT = 16, LONGEST = 10 };
	struct elf_bytes before = elf_constant_at(r->elf, at - LONGEST, LONGEST);

	if (at % ALIGNMENT || before.size < LONGEST)
		return false;
	uint8_t last = before.at[LONGEST - 1], first = before.at[LONGEST - 5];
	/* Long nops end with zeros; jmp has four bytes after its opcode. */
	return last == RET || last == NOP || last == INT3 || last == 0 || first == 0xe9;
}

static void add(struct reader *r, uint64_t target, bool is_call)
{
	uint64_t n = target - r->start;

	if (target < r->start || target >= r->end || n > UINT32_MAX / 2 ||
	    (!is_call && !is_after_end(r, target)))
		return;
	(is_call ? r->called : r->named)[n / 64] |= 1ULL << n % 64;
}

/* Read the instruction at AT: its size, and the same as instruction_skip_x86(). */
static inline bool read_one(const struct reader *r, const uint8_t *at, size_t size,
			    uint64_t address, unsigned *bytes, uint64_t *target, bool *is_call)
{
	struct opcode i;

	*bytes = r->is_x86 && size >= INSTRUCTION_ROOM
		 ? instruction_skip_x86(&r->sizes, at, address, target, is_call) : 0;
	if (*bytes)
		return true;
	if (!instruction_read(r->machine, at, size, address, &i))
		return false;
	*bytes = i.size;
	*is_call = i.kind == INSTRUCTION_CALL;
	*target = *is_call || i.kind == INSTRUCTION_OTHER ? i.target : 0;
	return true;
}

/* Read the code from AT on, to the end of its segment.  Return where that is. */
static uint64_t read_code(struct reader *r, uint64_t at)
{
	enum { ENTRY_BYTES = 64 };
	struct elf_bytes code = elf_constant_at(r->elf, at, r->end - at);
	uint64_t target;
	unsigned bytes;
	bool is_call;
	size_t n = 0;

	while (n < code.size) {
		if (!read_one(r, code.at + n, code.size - n, at + n, &bytes, &target, &is_call)) {
			n++;
			continue;
		}
		n += bytes;
		/* The code at the entry point takes the address of main(). */
		bool is_main = at + n - r->entry < ENTRY_BYTES;
		if (is_call ? target != at + n : target != 0)
			add(r, target, is_call || is_main);
	}
	return at + code.size;
}

/* Make the list of starts of the bits in R. */
static struct starts *list(const struct reader *r, size_t words)
{
	struct starts *s = mem_zeroed(1, sizeof(*s));
	uint32_t count = 0;

	for (size_t i = 0; i < words; i++)
		count += (uint32_t)__builtin_popcountll(r->called[i] | r->named[i]);
	s->base = r->start;
	s->at = mem_zeroed(count, sizeof(*s->at));
	for (size_t i = 0; i < words; i++) {
		for (uint64_t left = r->called[i] | r->named[i]; left; left &= left - 1) {
			unsigned bit = (unsigned)__builtin_ctzll(left);
			bool is_called = r->called[i] >> bit & 1;
			s->at[s->count++] = (uint32_t)(i * 64 + bit) * 2 + !is_called;
		}
	}
	return s;
}

struct starts *starts_open(const struct machine *m, struct elf *elf, uint64_t *fuel)
{
	enum { PAGE = 4096 };
	struct reader r = { .machine = m, .elf = elf, .entry = elf_entry(elf) };

	elf_text(elf, &r.start, &r.end);
	if (r.end - r.start > *fuel)
		return NULL;
	*fuel -= r.end - r.start;
	r.is_x86 = m->elf == EM_X86_64;
	instruction_sizes_init(&r.sizes);
	size_t words = (r.end - r.start) / 64 + 1;
	r.called = mem_zeroed(words, sizeof(*r.called));
	r.named = mem_zeroed(words, sizeof(*r.named));
	for (uint64_t at = r.start; at < r.end;) {
		uint64_t next = read_code(&r, at);
		at = next > at ? next : (at | (PAGE - 1)) + 1;
	}
	struct starts *s = list(&r, words);
	free(r.called);
	free(r.named);
	elf_charge(elf, s->count * sizeof(*s->at));
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
