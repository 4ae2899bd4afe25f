/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make-tree STACKS FUNCTIONS SHARED - write a profile, not compressed, of STACKS different
 * stacks of 60 frames to stdout.  Each begins as an earlier one does, with about SHARED
 * frames, and goes on by chance: 100000 8000 45 make a tree of 1.5 million nodes.
 */
#include "base/arena.h"
#include "base/output.h"
#include "pprof/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 60, ROOM = 4096, PERIOD = 1000000 };

static struct output out;
static uint64_t seed = 5;

static uint32_t chance(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 11) % below);
}

/* Field NUMBER of the profile, whose bytes are BODY to END. */
static void write_field(unsigned number, const uint8_t *body, const uint8_t *end)
{
	uint8_t head[1 + WIRE_VARINT_MAX];
	uint8_t *to = wire_bytes(head, number, (uint64_t)(end - body));

	output_write(&out, head, (size_t)(to - head));
	output_write(&out, body, (size_t)(end - body));
}

static void write_string(const char *text)
{
	write_field(6, (const uint8_t *)text, (const uint8_t *)text + strlen(text));
}

static void write_type(unsigned field, uint64_t type, uint64_t unit)
{
	uint8_t body[32];

	write_field(field, body, wire_number(wire_number(body, 1, type), 2, unit));
}

static uint8_t *put_packed(uint8_t *to, unsigned field, const uint64_t *value, size_t count)
{
	uint8_t body[ROOM], *end = body;

	for (size_t i = 0; i < count; i++)
		end = wire_varint(end, value[i]);
	to = wire_bytes(to, field, (uint64_t)(end - body));
	return (uint8_t *)mempcpy(to, body, (size_t)(end - body));
}

static void write_stack(const uint32_t *frame)
{
	uint64_t location[DEPTH], samples = 1 + chance(4) * chance(4);
	uint8_t body[ROOM], *end = body;

	for (int i = 0; i < DEPTH; i++)
		location[i] = frame[DEPTH - 1 - i];
	end = put_packed(end, 1, location, DEPTH);
	end = put_packed(end, 2, (uint64_t[]){ samples, PERIOD * samples }, 2);
	write_field(2, body, end);
}

static void write_stacks(uint32_t stacks, uint32_t functions, uint32_t shared)
{
	uint32_t *frame = mem_zeroed((size_t)stacks * DEPTH, sizeof(*frame));

	for (uint32_t i = 0; i < stacks; i++) {
		uint32_t *own = frame + (size_t)i * DEPTH;
		uint32_t same = i == 0 ? 0 : 1 + shared - 8 + chance(16);
		if (same > 0)
			memcpy(own, frame + (size_t)chance(i) * DEPTH,
			       (same < DEPTH ? same : DEPTH - 1) * sizeof(*own));
		for (uint32_t k = same < DEPTH ? same : DEPTH - 1; k < DEPTH; k++)
			own[k] = 1 + chance(functions);
		write_stack(own);
	}
	free(frame);
}

static void write_functions(uint32_t functions)
{
	enum { NAMES = 7 };		/* strings before the first name */

	for (uint32_t i = 1; i <= functions; i++) {
		uint8_t body[64], line[32], *end;
		write_field(5, body, wire_number(wire_number(body, 1, i), 2, NAMES - 1 + i));
		end = wire_number(wire_number(line, 1, i), 2, 10 + i % 900);
		size_t size = (size_t)(end - line);
		uint8_t *to = wire_number(wire_number(body, 1, i), 2, 1 + (i % 10 == 0));
		to = wire_bytes(wire_number(to, 3, 0x400000 + 64 * i), 4, size);
		write_field(4, body, mempcpy(to, line, size));
	}
}

static void write_strings(uint32_t functions)
{
	static const char *const first[] = { "", "cpu", "nanoseconds", "samples", "count",
					     "/usr/bin/server", "/usr/lib/libfoo.so" };
	char name[200];

	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
		write_string(first[i]);
	for (uint32_t i = 1; i <= functions; i++) {
		snprintf(name, sizeof(name), "ns%" PRIu32 "::Class%" PRIu32 "<std::vector<int, "
			 "std::allocator<int>>>::method_%" PRIu32 "(unsigned long, char const*)",
			 i % 37, i % 211, i);
		write_string(name);
	}
}

int main(int argc, char **argv)
{
	struct report report = { .tool = "make-tree" };
	uint8_t body[32];

	if (argc != 4)
		return 2;
	uint32_t stacks = (uint32_t)strtoul(argv[1], NULL, 10);
	uint32_t functions = (uint32_t)strtoul(argv[2], NULL, 10);
	output_open(&out, "-", &report);
	write_type(1, 3, 4);
	write_type(1, 1, 2);
	write_stacks(stacks, functions, (uint32_t)strtoul(argv[3], NULL, 10));
	for (uint64_t i = 1; i <= 2; i++)
		write_field(3, body, wire_number(wire_number(body, 1, i), 5, 4 + i));
	write_functions(functions);
	write_strings(functions);
	write_type(11, 1, 2);
	output_close(&out);
	return report_finish(&report);
}
