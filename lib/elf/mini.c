/* SPDX-License-Identifier: Apache-2.0 */
/* MiniDebugInfo: .gnu_debugdata is an xz-compressed ELF file with symbols that were stripped. */
#include "base/arena.h"
#include "elf/internal.h"

#include <lzma.h>
#include <stdlib.h>

enum {
	WORK_MAX = 128 << 20,		/* bytes of memory for liblzma */
	MINI_MAX = 256 << 20,		/* bytes of the unpacked file; also limited to */
	MINI_LEAST = 16 << 20,		/* this many bytes (less in a small file), plus */
	RATIO_MAX = 32,			/* times the compressed size; in real files it is 4 to 16 */
};

/* Return up to MOST unpacked bytes for the caller to free; NULL: they are damaged, or more. */
static uint8_t *unpack(struct elf_bytes packed, size_t most, size_t *size)
{
	enum { FIRST = 65536 };
	lzma_stream s = LZMA_STREAM_INIT;
	uint8_t *to = NULL;
	lzma_ret result = lzma_stream_decoder(&s, WORK_MAX, 0);

	s.next_in = packed.at;
	s.avail_in = packed.size;
	for (size_t room = 0; result == LZMA_OK && room < most;) {
		room = room < FIRST ? FIRST : 2 * room;
		room = room < most ? room : most;
		to = mem_resize(to, room);
		s.next_out = to + s.total_out;
		s.avail_out = room - s.total_out;
		do
			result = lzma_code(&s, LZMA_FINISH);
		while (result == LZMA_OK && s.avail_out > 0);
	}
	*size = s.total_out;
	lzma_end(&s);
	if (result == LZMA_STREAM_END)
		return to;
	free(to);
	return NULL;
}

struct elf *elf_open_mini(struct elf *elf)
{
	struct elf_bytes packed;
	const char *why;
	size_t size;
	uint8_t *bytes;

	if (!elf_section(elf, ".gnu_debugdata", &packed))
		return NULL;
	uint64_t most = elf_allowance(elf, MINI_LEAST) + RATIO_MAX * packed.size;
	bytes = unpack(packed, most < MINI_MAX ? most : MINI_MAX, &size);
	if (!bytes)
		return NULL;
	struct elf *mini = elf_open_owned(bytes, size, &why);
	elf_charge(elf, mini ? size : 0);
	if (mini)
		mini->is_mini = true;
	return mini;
}
