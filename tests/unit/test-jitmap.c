/* SPDX-License-Identifier: Apache-2.0 */
/* jitmap: functions by a map's lines and by a dump's records, which come in pieces. */
#include "symbol/jitmap.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_named(struct jitmap *j, uint64_t address, const char *name)
{
	struct jit_symbol found;
	bool any = jitmap_find(j, address, JIT_LATEST, &found);

	return name ? any && !strcmp(found.name, name) : !any;
}

static void test_map(void)
{
	static const char lines[] = "1000 20 one two\n0x1020 0x10 next\nnonsense\n1030 0 empty\n"
				    "ffffffffffffffff 10 wraps\n1008 8 newer\n2000 10 unfinis";
	struct jitmap *j = jitmap_new(NULL);

	tap(jitmap_add_map(j, lines, sizeof(lines) - 1) ==
	   (size_t)(strstr(lines, "2000") - lines), "an unfinished line is left for later");
	tap(is_named(j, 0x1000, "one two") && is_named(j, 0x101f, "one two"),
	   "a name is the line's rest");
	tap(is_named(j, 0x1020, "next") && is_named(j, 0x1030, NULL), "up to its end");
	tap(is_named(j, 0x1008, "newer") && is_named(j, 0x1010, "one two"), "the last one shows");
	tap(is_named(j, 0xfff, NULL) && is_named(j, UINT64_MAX, NULL), "nothing elsewhere");
	jitmap_free(j);
}

/* A dump: a header, the lines of a function, the function, its move. */
static size_t make_dump(uint8_t *at)
{
	uint8_t *start = at;
#define PUT32(v) (memcpy(at, &(uint32_t){ v }, 4), at += 4)
#define PUT64(v) (memcpy(at, &(uint64_t){ v }, 8), at += 8)
#define PUT(text) (memcpy(at, text, sizeof(text)), at += sizeof(text))
	PUT32(0x4A695444); PUT32(1); PUT32(40); PUT32(62); PUT32(0); PUT32(1); PUT64(0); PUT64(0);
	PUT32(2); PUT32(16 + 16 + 3 * 16 + 5 + 2 + 2); PUT64(0);
	PUT64(0x5000); PUT64(3);
	PUT64(0x5000); PUT32(10); PUT32(0); PUT("a.js");
	PUT64(0x5010); PUT32(11); PUT32(0); PUT("\xff");
	PUT64(0x5020); PUT32(12); PUT32(0); PUT("\xff");
	PUT32(0); PUT32(16 + 40 + 5 + 4); PUT64(0);
	PUT32(1); PUT32(1); PUT64(0); PUT64(0x5000); PUT64(0x30); PUT64(7); PUT("body"); PUT32(0);
	PUT32(1); PUT32(16 + 48); PUT64(0);
	PUT32(1); PUT32(1); PUT64(0); PUT64(0x5000); PUT64(0x9000); PUT64(0x30); PUT64(7);
	return (size_t)(at - start);
}

static bool has_line(struct jitmap *j, uint64_t address, uint32_t line)
{
	struct jit_symbol found;

	return jitmap_find(j, address, JIT_LATEST, &found) && found.file &&
	       !strcmp(found.file, "a.js") && found.line == line;
}

static void test_dump(void)
{
	uint8_t dump[512];
	size_t size = make_dump(dump);
	struct jitmap *j = jitmap_new(NULL);

	tap(jitmap_add_dump(j, dump, size) == size, "a whole dump");
	tap(is_named(j, 0x502f, "body") && is_named(j, 0x5030, NULL), "its function");
	tap(has_line(j, 0x5000, 10) && has_line(j, 0x501f, 11) && has_line(j, 0x5020, 12),
	   "its lines");
	tap(is_named(j, 0x9000, "body") && has_line(j, 0x9010, 11), "where it was moved to");
	jitmap_free(j);

	bool good = true;
	for (size_t cut = 0; cut <= size; cut++) {	/* in two pieces */
		uint8_t *piece = memcpy(malloc(cut + 1), dump, cut);
		j = jitmap_new(NULL);
		size_t used = jitmap_add_dump(j, piece, cut);
		good = good && used <= cut;
		used += jitmap_add_dump(j, dump + used, size - used);
		good = good && used == size && has_line(j, 0x9010, 11);
		jitmap_free(j);
		free(piece);
	}
	tap(good, "in two pieces, cut anywhere");
}

/* Write TEXT to the file FD in place of what it has, and read it.  Return whether that worked. */
static bool rewritten(struct jitmap *j, int fd, const char *text)
{
	size_t size = strlen(text);

	return ftruncate(fd, 0) == 0 && pwrite(fd, text, size, 0) == (ssize_t)size &&
	       jitmap_refresh(j);
}

/* Java writes its map anew, in order of addresses, each time it is asked for it. */
static void test_written_anew(void)
{
	char file[] = "/tmp/test-jitmap.XXXXXX";
	struct jitmap *j = jitmap_new(NULL);
	int fd = mkstemp(file);
	struct jit_trouble trouble;

	tap(rewritten(j, fd, "1000 20 old\n") == false && jitmap_open_map(j, file) &&
	    jitmap_refresh(j) && is_named(j, 0x1000, "old"), "a file");
	tap(pwrite(fd, "3000 20 next\n", 13, 12) == 13 && jitmap_refresh(j) &&
	    is_named(j, 0x1000, "old") && is_named(j, 0x3000, "next"), "it grows");
	tap(rewritten(j, fd, "2000 10 new\n1000 20 old\n3000 20 next\n") &&
	    is_named(j, 0x2000, "new") && is_named(j, 0x3000, "next"), "it is longer, and new");
	tap(!jitmap_trouble(j, &trouble), "no line is cut");
	jitmap_free(j);
	close(fd);
	unlink(file);
}

int main(void)
{
	test_map();
	test_written_anew();
	test_dump();
	return tap_done();
}
