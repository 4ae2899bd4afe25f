/* SPDX-License-Identifier: Apache-2.0 */
/* jitdump: functions that share an index, and a file that is written anew. */
#include "symbol/jitmap.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER = 40, LOAD = 16 + 40 + 2, MOVE = 16 + 48 };	/* bytes */

static size_t put_header(uint8_t *at)
{
	uint32_t header[HEADER / 4] = { 0x4A695444, 1, HEADER };

	memcpy(at, header, HEADER);
	return HEADER;
}

/* A function of 16 bytes, all of them of index 5. */
static size_t put_load(uint8_t *at, uint64_t start, char name)
{
	uint32_t head[6] = { 0, LOAD, 0, 0, 1, 1 };
	uint64_t body[4] = { 0, start, 16, 5 };

	memcpy(at, head, 24);
	memcpy(at + 24, body, 32);
	at[56] = (uint8_t)name;
	at[57] = 0;
	return LOAD;
}

static size_t put_move(uint8_t *at, uint64_t from, uint64_t to)
{
	uint32_t head[6] = { 1, MOVE, 0, 0, 1, 1 };
	uint64_t body[5] = { 0, from, to, 16, 5 };

	memcpy(at, head, 24);
	memcpy(at + 24, body, 40);
	return MOVE;
}

/* The lines of the function at START: 10, and from its byte 8 on 11. */
static size_t put_lines(uint8_t *at, uint64_t start)
{
	enum { ENTRY = 8 + 4 + 4 + 2, SIZE = 16 + 8 + 8 + 2 * ENTRY };
	uint32_t head[4] = { 2, SIZE, 0, 0 };
	uint64_t body[2] = { start, 2 };

	memcpy(at, head, 16);
	memcpy(at + 16, body, 16);
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t address = start + 8 * i;
		uint32_t line[2] = { 10 + i, 0 };
		memcpy(at + 32 + i * ENTRY, &address, 8);
		memcpy(at + 32 + i * ENTRY + 8, line, 8);
		memcpy(at + 32 + i * ENTRY + 16, "f", 2);
	}
	return SIZE;
}

static uint32_t line_at(struct jitmap *j, uint64_t address)
{
	struct jit_symbol found;

	return jitmap_find(j, address, JIT_LATEST, &found) ? found.line : 0;
}

static void test_moved_lines(void)
{
	uint8_t dump[HEADER + 100 + LOAD + 2 * MOVE];
	struct jitmap *j = jitmap_new(NULL);
	size_t size = put_header(dump);

	size += put_lines(dump + size, 0x3000);
	size += put_load(dump + size, 0x3000, 'c');
	size += put_move(dump + size, 0x3000, 0x9000);
	size += put_move(dump + size, 0x9000, 0x1000);
	tap(jitmap_add_dump(j, dump, size) == size && line_at(j, 0x3007) == 10 &&
	    line_at(j, 0x3008) == 11, "lines of a function");
	tap(line_at(j, 0x9007) == 10 && line_at(j, 0x9008) == 11 && line_at(j, 0x1007) == 10 &&
	    line_at(j, 0x1008) == 11, "it has the same lines where it is moved to, and from there");
	jitmap_free(j);
}

static bool is_named(struct jitmap *j, uint64_t address, char name)
{
	struct jit_symbol found;

	return jitmap_find(j, address, JIT_LATEST, &found) && found.name[0] == name &&
	       !found.name[1];
}

static void test_shared_index(void)
{
	uint8_t dump[HEADER + 3 * LOAD + MOVE];
	struct jitmap *j = jitmap_new(NULL);
	size_t size = put_header(dump);

	size += put_load(dump + size, 0x1000, 'a');
	size += put_load(dump + size, 0x2000, 'b');
	size += put_load(dump + size, 0x3000, 'c');
	size += put_move(dump + size, 0x3000, 0x9000);
	tap(jitmap_add_dump(j, dump, size) == size, "a whole dump");
	tap(is_named(j, 0x1000, 'a') && is_named(j, 0x2000, 'b') && is_named(j, 0x3000, 'c'),
	    "functions of one index are all there");
	tap(is_named(j, 0x9000, 'c'), "the last one of an index is moved");
	jitmap_free(j);
}

static void test_written_anew(void)
{
	char file[] = "/tmp/test-jitdump.XXXXXX";
	uint8_t dump[HEADER + 2 * LOAD];
	struct jitmap *j = jitmap_new(NULL);
	int fd = mkstemp(file);
	size_t size = put_header(dump);

	size += put_load(dump + size, 0x1000, 'a');
	size += put_load(dump + size, 0x2000, 'b');
	tap(write(fd, dump, size) == (ssize_t)size && jitmap_open_dump(j, file) &&
	    jitmap_refresh(j) && is_named(j, 0x2000, 'b'), "a file");
	size = put_header(dump);
	size += put_load(dump + size, 0x5000, 'n');
	tap(ftruncate(fd, 0) == 0 && pwrite(fd, dump, size, 0) == (ssize_t)size &&
	    jitmap_refresh(j) && is_named(j, 0x5000, 'n'), "written anew, shorter");
	jitmap_free(j);
	close(fd);
	unlink(file);
}

/* Lines in no order, two of them at one address: the last one counts there. */
static void test_lines(void)
{
	static const struct {
		uint64_t address;
		uint32_t line;
	} lines[] = { { 0x1008, 3 }, { 0x1004, 2 }, { 0x100c, 4 }, { 0x1004, 9 }, { 0x1002, 1 } };
	enum { LINES = 5, SIZE = 32 + LINES * 18 };
	uint32_t head[4] = { 2, SIZE };
	uint64_t body[2] = { 0x1000, LINES };
	uint8_t dump[HEADER + SIZE + LOAD];
	struct jitmap *j = jitmap_new(NULL);
	size_t size = put_header(dump);

	memcpy(dump + size, head, 16);
	memcpy(dump + size + 16, body, 16);
	size += 32;
	for (int i = 0; i < LINES; i++, size += 18) {
		memcpy(dump + size, &lines[i].address, 8);
		memcpy(dump + size + 8, &lines[i].line, 4);
		memcpy(dump + size + 12, "\0\0\0\0f", 6);
	}
	size += put_load(dump + size, 0x1000, 'a');
	tap(jitmap_add_dump(j, dump, size) == size, "a function whose lines are not sorted");

	static const uint32_t want[16] = { 0, 0, 1, 1, 9, 9, 9, 9, 3, 3, 3, 3, 4, 4, 4, 4 };
	bool good = true;
	for (uint64_t i = 0; i < 16; i++) {
		struct jit_symbol found;
		good = good && jitmap_find(j, 0x1000 + i, JIT_LATEST, &found) &&
		       found.line == want[i];
	}
	tap(good, "each address has the line at or before it, of one place the last");
	jitmap_free(j);
}

static void put_time(uint8_t *record, uint64_t time)
{
	memcpy(record + 8, &time, 8);
}

/* Each piece a byte longer than the last: what has been returned is never returned again. */
static void test_byte_by_byte(void)
{
	uint8_t dump[HEADER + 2 * LOAD + MOVE];
	struct jitmap *j = jitmap_new(NULL);
	struct jit_symbol found;
	size_t size = put_header(dump), used = 0;

	put_load(dump + size, 0x1000, 'a');
	put_time(dump + size, 100);
	size += LOAD;
	put_move(dump + size, 0x1000, 0x2000);
	put_time(dump + size, 200);
	size += MOVE;
	put_load(dump + size, 0x1008, 'b');
	put_time(dump + size, 300);
	size += LOAD;
	for (size_t end = 0; end <= size; end++) {
		uint8_t *piece = memcpy(malloc(end - used + 1), dump + used, end - used);
		used += jitmap_add_dump(j, piece, end - used);
		free(piece);
	}
	tap(used == size && jitmap_find(j, 0x1008, 250, &found) && *found.name == 'a' &&
	    found.varies, "read byte by byte: replaced later");
	tap(jitmap_find(j, 0x1008, 300, &found) && *found.name == 'b', "and at its time");
	tap(jitmap_find(j, 0x1000, 300, &found) && *found.name == 'a' && !found.varies,
	    "what only one function had needs no time");
	tap(jitmap_find(j, 0x1008, 99, &found) && *found.name == 'b',
	    "before all times: the latest");
	jitmap_free(j);
}

int main(void)
{
	test_shared_index();
	test_moved_lines();
	test_written_anew();
	test_lines();
	test_byte_by_byte();
	return tap_done();
}
