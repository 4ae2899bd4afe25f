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

static bool is_named(struct jitmap *j, uint64_t address, char name)
{
	struct jit_place found;

	return jitmap_find(j, address, JITMAP_LATEST, &found) && found.name[0] == name && !found.name[1];
}

static void test_shared_index(void)
{
	uint8_t dump[HEADER + 3 * LOAD + MOVE];
	struct jitmap *j = jitmap_new();
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
	struct jitmap *j = jitmap_new();
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

int main(void)
{
	test_shared_index();
	test_written_anew();
	return tap_done();
}
