/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbol tables of random symbols: an address that is searched for in the table itself has the same
 * symbol as in the sorted index, and the one that the rules in lib/elf/symbols.c say.
 */
#include "base/arena.h"
#include "base/bisect.h"
#include "base/sort.h"
#include "elf/elf.h"
#include "tests/unit/host.h"
#include "tests/unit/tap.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { SYMBOLS = 24, START = 64, CODE = 128, ROUNDS = 40, MANY = 100 };

static const char strings[] = "\0f\0longer\0_under\0__two\0f@@V1\0$x\0a\0longest";
static const uint8_t starts[] = { 1, 3, 10, 17, 23, 29, 32, 34 };

struct image {
	Elf64_Ehdr header;
	Elf64_Shdr section[4];		/* none, code, symbols, strings */
	Elf64_Sym symbol[SYMBOLS];
	char strings[sizeof(strings)];
};

static uint64_t seed = 88172645463325252ULL;

static uint64_t below(uint64_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % limit;
}

/* Addresses are even, since bit 0 of ARM's is not one of theirs. */
static struct image make_image(uint16_t machine)
{
	static const uint8_t bindings[] = { STB_LOCAL, STB_GLOBAL, STB_WEAK };
	static const uint8_t types[] = { STT_FUNC, STT_FUNC, STT_NOTYPE, STT_OBJECT };
	struct image image = { .header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
			     HOST_ELFDATA, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = machine,
		.e_shoff = offsetof(struct image, section), .e_shnum = 4,
	} };

	image.section[1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_addr = START,
					 .sh_size = CODE, .sh_flags = SHF_ALLOC | SHF_EXECINSTR };
	image.section[2] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_link = 3,
					 .sh_offset = offsetof(struct image, symbol),
					 .sh_size = sizeof(image.symbol) };
	image.section[3] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
					 .sh_offset = offsetof(struct image, strings),
					 .sh_size = sizeof(strings) };
	memcpy(image.strings, strings, sizeof(strings));
	for (int i = 0; i < SYMBOLS; i++)
		image.symbol[i] = (Elf64_Sym){
			.st_name = starts[below(sizeof(starts))],
			.st_info = ELF64_ST_INFO(bindings[below(3)], types[below(4)]),
			.st_shndx = below(9) ? 1 : SHN_UNDEF,
			.st_value = START + 2 * below(CODE / 2),
			.st_size = below(3) ? 0 : 2 * below(16),
		};
	return image;
}

static bool is_code(const Elf64_Sym *s)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	return s->st_shndx == 1 && (type == STT_FUNC || (type == STT_NOTYPE &&
							 strings[s->st_name] != '$'));
}

static unsigned priority(const Elf64_Sym *s)
{
	unsigned binding = ELF64_ST_BIND(s->st_info);

	return (s->st_size ? 1000 : 0) +
	       (binding == STB_GLOBAL ? 200 : binding == STB_LOCAL ? 100 : 0) +
	       (unsigned)(9 - strspn(strings + s->st_name, "_"));
}

/* Return the symbol to show of those at ADDRESS, by the rules; -1: none is there. */
static int choose(const struct image *image, uint64_t address, uint64_t *size)
{
	int best = -1;

	*size = 0;
	for (int i = 0; i < SYMBOLS; i++) {
		const Elf64_Sym *s = &image->symbol[i];
		if (!is_code(s) || s->st_value != address)
			continue;
		*size = s->st_size > *size ? s->st_size : *size;
		const Elf64_Sym *b = &image->symbol[best < 0 ? i : best];
		if (best < 0 || priority(s) > priority(b) ||
		    (priority(s) == priority(b) &&
		     strlen(strings + s->st_name) > strlen(strings + b->st_name)))
			best = i;
	}
	return best;
}

/* Return the symbol that covers ADDRESS by the rules, or -1. */
static int truth(const struct image *image, uint64_t address)
{
	uint64_t next = START + CODE, size, other;

	for (uint64_t at = address; at < START + CODE && next == START + CODE; at++)
		if (at > address && choose(image, at, &size) >= 0)
			next = at;
	for (uint64_t at = address + 1; at-- > START; ) {
		int found = choose(image, at, &size);
		bool is_hidden = false;
		if (found < 0)
			continue;
		for (uint64_t from = START; from < at && size == 0; from++)
			is_hidden |= choose(image, from, &other) >= 0 && at - from < other;
		if (size ? address - at < size : !is_hidden && address < next)
			return found;
		next = at < next ? at : next;
	}
	return -1;
}

static bool is_shown(const struct image *image, int symbol, bool found, const struct elf_symbol *s)
{
	if (symbol < 0 || !found)
		return symbol < 0 && !found;
	const Elf64_Sym *want = &image->symbol[symbol];
	const char *name = strings + want->st_name;
	return s->address == want->st_value && strlen(s->name) == strcspn(name, "@") &&
	       !strncmp(s->name, name, strlen(s->name));
}

static bool is_within(struct extent inner, struct extent outer, uint64_t address)
{
	return inner.start <= address && address < inner.end && inner.start >= outer.start &&
	       inner.end <= outer.end;
}

/* Look up each address in a file of its own, and in one that has been asked for many. */
static bool compare(const struct image *image)
{
	struct elf_symbol one, many;
	const char *why;
	struct elf *sorted = elf_open_memory(image, sizeof(*image), &why);
	bool good = sorted;

	for (int i = 0; i < MANY; i++)
		elf_symbol(sorted, 0, &many);
	for (uint64_t at = START - 2; good && at < START + CODE + 40; at++) {
		struct elf *fresh = elf_open_memory(image, sizeof(*image), &why);
		bool in_one = elf_symbol(fresh, at, &one), in_many = elf_symbol(sorted, at, &many);
		int want = truth(image, at);
		good = is_shown(image, want, in_one, &one) &&
		       is_shown(image, want, in_many, &many) &&
		       is_within(one.same, many.same, at);
		if (!good)
			printf("# at %d: want %d, %d %s, %d %s\n", (int)at, want, in_one,
			       in_one ? one.name : "", in_many, in_many ? many.name : "");
		elf_close(fresh);
	}
	elf_close(sorted);
	return good;
}

static bool compare_all(uint16_t machine)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct image image = make_image(machine);
		if (!compare(&image))
			return false;
	}
	return true;
}

/* Sort COUNT keys of BITS bits. */
static bool sorts(size_t count, unsigned bits)
{
	struct sort_key *key = mem_zeroed(2 * count, sizeof(*key));
	bool good = true;

	for (size_t i = 0; i < count; i++)
		key[i] = (struct sort_key){ bits ? below(~0ULL) >> (64 - bits) << (i & 3) : 7, i };
	struct sort_key *sorted = sort_keys(key, key + count, count);
	for (size_t i = 1; i < count; i++)
		good &= sorted[i - 1].key < sorted[i].key ||
			(sorted[i - 1].key == sorted[i].key && sorted[i - 1].item < sorted[i].item);
	free(key);
	return good;
}

static bool sorts_all(void)
{
	static const size_t counts[] = { 0, 1, 2, 47, 48, 300, 2047, 2048, 5000 };
	static const unsigned bits[] = { 0, 1, 8, 22, 40, 61 };
	bool good = true;

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		for (size_t k = 0; k < sizeof(bits) / sizeof(*bits); k++)
			good &= sorts(counts[i], bits[k]);
	return good;
}

static bool bisects(void)
{
	bool good = BISECT((size_t)9, (size_t)3, i, i > 100) == 9;

	for (size_t low = 0; low < 3; low++)
		for (size_t end = low; end < 40; end++)
			for (size_t first = low; first <= end; first++)
				good &= BISECT(low, end, i, i >= first) == first;
	return good;
}

int main(void)
{
	tap(sorts_all(), "numbers are sorted, and equal ones keep their order");
	tap(bisects(), "the first of each part of an array is found");
	tap(compare_all(EM_X86_64), "a search in the table finds what the index has");
	tap(compare_all(EM_ARM), "a search in a table that is not this machine's, too");
	return tap_done();
}
