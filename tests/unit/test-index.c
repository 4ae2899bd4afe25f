/* SPDX-License-Identifier: Apache-2.0 */
/* index: what a builder was given is found again; damaged files are refused. */
#include "base/arena.h"
#include "resolve/index.h"
#include "tests/memory-file.h"
#include "tests/unit/tap.h"

#include <string.h>

enum { SEGMENTS = 1000, DEPTH = 5, KEY = 77 };

static const struct dwarf_function function[] = {
	{ .linkage_name = "_Z5outerv", .name = "outer", .file = "a.cc", .line = 3 },
	{ .name = "plain", .file = "b.c", .line = 4000000000 },
	{ .linkage_name = "_Z5innerv", .file = NULL, .line = 0 },
	{ .file = "nameless.S" },
};

/* The answer that the test has for the segment I: some chain of calls. */
static size_t make_frames(uint32_t i, struct dwarf_frame *frame)
{
	static const char *const files[] = { "a.cc", "b.c", NULL, "/usr/include/x.h" };
	size_t count = 1 + i / 7 % DEPTH;

	for (size_t k = 0; k < count; k++) {
		uint32_t v = k ? i / 50 : i;
		frame[k] = (struct dwarf_frame){
			.function = k + 1 < count ? &function[(i / 10 + k) % 3]
						  : &function[i / 40 % 4],
			.file = files[v % 4], .line = v * 2654435761u >> (v % 32),
			.column = v % 200,
		};
	}
	return count;
}

static uint64_t start_of(uint32_t i)
{
	return 0x1000 + 10 * (uint64_t)i + (i >= SEGMENTS / 2 ? 1ULL << 40 : 0);
}

static struct index *open_bytes(const void *bytes, size_t size)
{
	const char *why;

	return index_open(memory_file(bytes, size, NULL), KEY, &why);
}

/* The outermost frame of a third of them has another name by the symbol table. */
static bool is_renamed(uint32_t i)
{
	return i % 3 == 0 || i % 13 == 0;
}

/* Add all segments whose number leaves REST divided by BY. */
static uint8_t *make_index(const struct index *old, uint32_t by, uint32_t rest, size_t *size)
{
	struct index_builder *b = index_builder_new(old);
	struct dwarf_frame frame[DEPTH];

	for (uint32_t i = 0; i < SEGMENTS; i++) {
		struct extent same = { start_of(i), start_of(i) + 10 };
		struct source_answer answer = { .frame = frame,
						.frames = make_frames(i, frame) };
		if (i % by != rest)
			continue;
		if (i % 11 == 0 || i % 13 == 0)
			answer.frames = 0;
		if (i % 13 == 0 || (answer.frames && is_renamed(i)))
			answer.symbol = "by_symbol";
		index_builder_add(b, same, &answer);
	}
	uint8_t *bytes = index_builder_encode(b, KEY, size);
	index_builder_free(b);
	return bytes;
}

static bool same_text(const char *one, const char *two)
{
	return one && two ? !strcmp(one, two) : one == two;
}

static bool same_frame(const struct dwarf_frame *one, const struct dwarf_frame *want,
		       bool is_symbol)
{
	const struct dwarf_function *f = want->function;
	const char *name = is_symbol ? "by_symbol" : f->linkage_name ? f->linkage_name : f->name;

	return same_text(one->file, want->file) && one->line == want->line &&
	       one->column == want->column && same_text(one->function->linkage_name, name) &&
	       same_text(one->function->file, f->file) && one->function->line == f->line;
}

static bool is_right(struct index *x, uint32_t i, uint64_t address)
{
	struct dwarf_frame want[DEPTH];
	struct source_answer found;
	size_t frames = make_frames(i, want);

	if (!index_find(x, address, &found))
		return false;
	if (i % 13 == 0)
		return found.frames == 0 && same_text(found.symbol, "by_symbol");
	if (i % 11 == 0)
		return found.frames == 0 && !found.symbol;
	if (found.frames != frames || found.symbol)
		return false;
	for (size_t k = 0; k < frames; k++)
		if (!same_frame(&found.frame[k], &want[k], k + 1 == frames && is_renamed(i)))
			return false;
	return true;
}

/* All segments whose number leaves REST or less are there, and no others. */
static bool all_right(struct index *x, uint32_t by, uint32_t rest)
{
	struct source_answer found;

	for (uint32_t i = 0; i < SEGMENTS; i++)
		for (uint64_t at = start_of(i); at < start_of(i) + 10; at++)
			if (i % by <= rest ? !is_right(x, i, at) : index_find(x, at, &found))
				return false;
	return true;
}

static void test_found(void)
{
	size_t size, more;
	uint8_t *bytes = make_index(NULL, 3, 0, &size);
	struct index *x = open_bytes(bytes, size);
	struct source_answer found;

	tap(x && all_right(x, 3, 0), "what was added is found, and nothing else");
	uint8_t *both = make_index(x, 3, 1, &more);
	struct index *y = open_bytes(both, more);
	tap(y && all_right(y, 3, 1), "so is what was added to an older one");
	tap(more < 2 * size, "names are kept once");
	tap(!index_find(x, 0, &found) && !index_find(x, UINT64_MAX, &found) &&
	   !index_find(x, 0x0fff, &found), "nothing before the first and after the last");
	index_close(x);
	index_close(y);
	free(bytes);
	free(both);

	bytes = make_index(NULL, 1, 0, &size);
	x = open_bytes(bytes, size);
	tap(x && all_right(x, 1, 0), "segments that adjoin");
	index_close(x);
	free(bytes);
}

static void test_damaged(void)
{
	size_t size, accepted = 0;
	uint8_t *bytes = make_index(NULL, 40, 0, &size);
	const char *why;

	for (size_t cut = 0; cut < size; cut++) {
		struct index *x = open_bytes(bytes, cut);
		accepted += x != NULL;
		index_close(x);
	}
	tap(accepted == 0, "cut anywhere it is refused");
	for (size_t at = 0; at < size; at++) {
		bytes[at] ^= 0x10;
		struct index *x = open_bytes(bytes, size);
		accepted += x != NULL;
		index_close(x);
		bytes[at] ^= 0x10;
	}
	tap(accepted == 0, "with any byte changed it is refused");
	struct index *x = index_open(memory_file(bytes, size, NULL), KEY + 1, &why);
	tap(!x && strstr(why, "another program"), "the index of another program is refused");
	free(bytes);
}

int main(void)
{
	test_found();
	test_damaged();
	return tap_done();
}
