/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/code-bytes.h"
#include "elf/section.h"
#include "linux/proc.h"
#include "unwind/internal.h"

void code_blocks_forget(struct code_blocks *b)
{
	for (uint32_t i = 0; i < CODE_BLOCKS; i++)
		b->block[i].pid = 0;
}

/* Return the block of PID's memory with ADDRESS, which is read at the first call. */
static const struct read_block *find_block(struct code_blocks *b, pid_t pid, uint64_t address)
{
	uint64_t start = address & ~(CODE_BLOCK_SIZE - 1ULL);

	for (uint32_t i = 0; i < CODE_BLOCKS; i++)
		if (b->block[i].pid == pid && b->block[i].address == start)
			return &b->block[i];
	struct read_block *new = &b->block[b->next++ % CODE_BLOCKS];
	ssize_t n = proc_read_memory(pid, start, new->at, CODE_BLOCK_SIZE);
	new->pid = pid;
	new->address = start;
	new->size = n > 0 ? (uint32_t)n : 0;
	return new;
}

static struct elf_bytes read_live(struct unwind *u, pid_t pid, const struct mapping *m,
				  uint64_t address)
{
	struct elf_bytes bytes = { 0 };

	if (pid <= 0 || !u->images.is_local)
		return bytes;
	const struct read_block *b = find_block(&u->blocks, pid, address);
	uint64_t at = address - b->address;
	if (at < b->size)
		bytes = (struct elf_bytes){ b->at + at, b->size - at };
	if (bytes.size > m->end - address)
		bytes.size = m->end - address;
	return bytes;
}

struct elf_bytes code_bytes_at(struct unwind *u, const struct walk_process *process,
			       uint64_t address, bool *is_live)
{
	const struct mapping *m = space_find(process->space, address);
	struct elf_bytes bytes = { 0 };
	uint64_t own;

	if (!m)
		return bytes;
	struct code *code = code_of(u, m->object, m, process->pid);
	const struct elf *elf = code->image.elf;
	if (elf && !m->is_covered && locate_address(elf, m, address, NULL, &own))
		bytes = elf_constant_at(elf, own, CODE_BLOCK_SIZE);
	if (!bytes.size) {
		bytes = read_live(u, process->pid, m, address);
		*is_live = true;
	}
	if (bytes.size > m->end - address)
		bytes.size = m->end - address;
	return bytes;
}

bool code_bytes_copy(struct unwind *u, const struct walk_process *process, uint64_t address,
		     uint8_t *to, size_t size, bool *is_live)
{
	while (size) {
		struct elf_bytes bytes = code_bytes_at(u, process, address, is_live);
		size_t n = bytes.size < size ? bytes.size : size;
		if (!n)
			return false;
		memcpy(to, bytes.at, n);
		to += n;
		address += n;
		size -= n;
	}
	return true;
}

/* Return whether the word at OWN is in a global offset table: only the loader changes it. */
static bool is_in_table(const struct elf *elf, uint64_t own)
{
	static const char *const name[] = { ".got", ".got.plt" };
	struct elf_section s;

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (elf_find_section(elf, name[i], &s) && own >= s.address &&
		    own - s.address < s.size)
			return true;
	return false;
}

bool code_bytes_slot(struct unwind *u, const struct walk_process *process, uint64_t address,
		     uint64_t slot, uint64_t *value)
{
	const struct mapping *m = space_find(process->space, address);
	uint64_t own;

	if (!m || process->pid <= 0 || !u->images.is_local)
		return false;
	struct code *code = code_of(u, m->object, m, process->pid);
	if (!code->image.elf || !locate_address(code->image.elf, m, address, NULL, &own) ||
	    !is_in_table(code->image.elf, slot - (address - own)))
		return false;
	return proc_read_memory(process->pid, slot, value, sizeof(*value)) == sizeof(*value);
}
