/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress SECONDS [LEVEL] - a real workload for the demo: compress generated text with zlib,
 * at LEVEL (6), and zstd, again and again.  Both libraries are linked in statically, with their
 * symbols.
 */
#include <stdint.h>
#include <time.h>
#include <zlib.h>
#include <zstd.h>

enum { SIZE = 4 << 20 };	/* bytes of text */

/* Write words of varied length and frequency, like those of real text. */
static void write_text(char *text)
{
	static const char *const words[] = {
		"sample", "period", "cycles", "the", "of", "a", "branch", "cache", "miss",
		"callchain", "and", "ring", "in", "stack", "event", "counter",
	};
	uint64_t x = 42;
	size_t at = 0;

	while (at < SIZE) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		const char *word = words[(x >> 60) & (x >> 56) & 15];
		unsigned number = x >> 40 & 255;
		at += (size_t)snprintf(text + at, SIZE - at, "%s %u ", word, number);
	}
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 2;
	int level = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 6;
	size_t room = ZSTD_compressBound(SIZE) + compressBound(SIZE);
	char *text = malloc(SIZE + 1), *packed = malloc(room);
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
	int status = 0;

	if (!text || !packed)
		return 1;
	write_text(text);
	while (clock() < end) {
		uLongf size = room;
		status |= compress2((Bytef *)packed, &size, (const Bytef *)text, SIZE, level) !=
			  Z_OK;
		status |= ZSTD_isError(ZSTD_compress(packed, room, text, SIZE, 9)) != 0;
	}
	free(text);
	free(packed);
	return status;
}
