/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make-stream SAMPLES STACKS DEPTH [OBJECT...] - write a raw stream of SAMPLES samples to
 * stdout, as the input of make bench.  Their callchains have DEPTH frames, and STACKS
 * of the callchains are distinct.  Addresses are spread over the code of the OBJECTs, or
 * are in a program that does not exist.  The first STACKS samples have one stack each,
 * and up to ADDRESSES of these have a leaf address of their own.
 *
 * STACKS may be "tree": the callchains are like those of programs.  Between two samples some
 * functions return and others are called, so a callchain has most of the callers of the one
 * before.  They have about DEPTH frames, and nine of ten are distinct if DEPTH is large.
 */
#include "elf/elf.h"
#include "stream/writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	ADDRESSES = 20000,	/* distinct addresses */
	SPREAD = 7919,		/* shares no divisor with it */
	DEPTH_MAX = 1000,
};
#define START 0x400000ULL
#define ROOM 0x20000000ULL	/* bytes of address space for an object */

/* An object, and its segment with code; objects are mapped at multiples of ROOM. */
struct mapped_object {
	const char *path;
	struct elf_segment code;
	uint8_t build_id[24];	/* as in MMAP2: size, padding to 4, ID */
};

static const struct mapped_object program = { "/usr/bin/program", { .size = 0x10000000 }, { 0 } };
static const struct mapped_object *object = &program;
static uint64_t objects = 1;

/* Use the first segment of the file PATH with code.  False: there is none. */
static bool take_object(const char *path, struct mapped_object *o)
{
	const char *why;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf *elf = fd < 0 ? NULL : elf_open(fd, &why);

	o->path = path;
	for (uint64_t at = 0; elf && !o->code.size && at < elf_image(elf).size; at += 4096)
		elf_segment(elf, at, &o->code);
	const uint8_t *id;
	size_t size = elf ? elf_build_id(elf, &id) : 0;
	if (size && size <= 20) {
		o->build_id[0] = (uint8_t)size;
		memcpy(o->build_id + 4, id, size);
	}
	elf_close(elf);
	return o->code.size > 0 && o->code.size <= ROOM;
}

/* Leave out the files without code.  False: no file has any. */
static bool take_objects(char **path, size_t count)
{
	struct mapped_object *all = calloc(count, sizeof(*all));

	object = all;
	objects = 0;
	for (size_t i = 0; all && i < count; i++)
		objects += take_object(path[i], &all[objects]);
	return objects > 0;
}

static uint64_t random_next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static uint64_t start_of(uint64_t id)
{
	return START + id * ROOM;
}

static uint64_t address_at(uint64_t i)
{
	uint64_t id = i % objects, size = object[id].code.size;
	uint64_t step = object == &program ? 16 : size / ADDRESSES + 1;

	return start_of(id) + i / objects % ADDRESSES * step % size;
}

static void write_mapping(struct output *out, uint64_t id)
{
	const struct mapped_object *o = &object[id];
	struct writer w;

	if (o->build_id[0])
		writer_begin(&w, out, PERF_RECORD_MMAP2,
			     PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	else
		writer_begin(&w, out, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
	writer_u32(&w, 42);
	writer_u32(&w, 42);
	writer_u64(&w, start_of(id));
	writer_u64(&w, o->code.size);
	writer_u64(&w, o->code.file_offset);
	if (o->build_id[0]) {
		writer_bytes(&w, o->build_id, sizeof(o->build_id));
		writer_u32(&w, PROT_READ | PROT_EXEC);
		writer_u32(&w, MAP_PRIVATE);
	}
	writer_string(&w, o->path);
	writer_u64(&w, 42 | 42ULL << 32);	/* sample_id */
	writer_u64(&w, 1);
	writer_end(&w);
}

/* Write sample I: DEPTH addresses, the leaf first. */
static void write_sample(struct output *out, uint64_t i, const uint64_t *address, unsigned depth)
{
	struct writer w;

	writer_begin(&w, out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	writer_u64(&w, address[0]);
	writer_u64(&w, 42 | 42ULL << 32);
	writer_u64(&w, 1000 + i * 1000);
	writer_u64(&w, depth + 1);
	writer_u64(&w, (uint64_t)PERF_CONTEXT_USER);
	for (unsigned k = 0; k < depth; k++)
		writer_u64(&w, address[k]);
	writer_end(&w);
}

/* Write a sample of STACK, which shares no callers with others. */
static void write_random(struct output *out, uint64_t i, uint64_t stack, unsigned depth)
{
	uint64_t x = stack * 0x9e3779b97f4a7c15ULL + 1, address[DEPTH_MAX];

	address[0] = address_at(stack * SPREAD);
	for (unsigned k = 1; k < depth; k++)
		address[k] = address_at(random_next(&x));
	write_sample(out, i, address, depth);
}

/*
 * Change a stack to the next of a walk through a program.  Its leaf is at AT, and its root before
 * END.  Return its new leaf.  Usually a few functions return, sometimes many; and some functions
 * call others, of which each has up to 16, some of them more often.
 */
static uint64_t *walk(uint64_t *at, uint64_t *end, unsigned depth, uint64_t *x)
{
	unsigned kind = random_next(x) % 16, returns = 1;
	unsigned to = depth - depth / 8 + (unsigned)(random_next(x) % (depth / 4 + 1));

	if (kind == 0 && at < end)
		return at;
	if (kind == 1)
		returns += (unsigned)(random_next(x) % depth);
	while (random_next(x) % 4 && returns < depth)
		returns++;
	at += returns < end - at ? returns : end - at;
	do {
		uint64_t caller = at < end ? *at : 0;
		uint64_t callee = random_next(x) & random_next(x) & 15;
		uint64_t next = (caller + callee) * 0x9e3779b97f4a7c15ULL;
		*--at = address_at(1 + (next >> 32) % (ADDRESSES - 1));	/* 0 is no caller's */
	} while (end - at < to);
	return at;
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CALLCHAIN,
		.sample_period = 1000000, .sample_id_all = 1,
	};
	const uint64_t id = 7;
	struct report report = { .tool = "make-stream" };
	struct output out;
	uint64_t x = 88172645463325252ULL;

	if (argc < 4 || isatty(STDOUT_FILENO))
		return 2;
	uint64_t samples = strtoull(argv[1], NULL, 10), stacks = strtoull(argv[2], NULL, 10);
	unsigned depth = (unsigned)strtoul(argv[3], NULL, 10);
	bool tree = !strcmp(argv[2], "tree"), wrong = !(stacks || tree) || !depth;
	uint64_t stack[2 * DEPTH_MAX], *end = stack + 2 * DEPTH_MAX, *at = end;
	if (wrong || depth > DEPTH_MAX ||
	    (argc > 4 && !take_objects(argv + 4, (size_t)argc - 4)))
		return 2;
	output_open(&out, "-", &report);
	writer_header(&out);
	writer_attr(&out, &attr, &id, 1);
	for (uint64_t i = 0; i < objects; i++)
		write_mapping(&out, i);
	for (uint64_t i = 0; i < samples; i++) {
		if (tree)
			at = walk(at, end, depth, &x);
		if (tree)
			write_sample(&out, i, at, (unsigned)(end - at));
		else
			write_random(&out, i, i < stacks ? i : random_next(&x) % stacks, depth);
		if (i % 10000 == 9999)
			writer_empty(&out, RECORD_FINISHED_ROUND);
	}
	output_close(&out);
	return report_finish(&report);
}
