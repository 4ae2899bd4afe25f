/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make-stream SAMPLES STACKS DEPTH [OBJECT] - write a raw stream of SAMPLES samples to
 * stdout, as the input of make bench.  Their callchains have DEPTH frames, and STACKS
 * of the callchains are distinct.  Addresses are spread over the code of OBJECT, or
 * are in a program that does not exist.  The first STACKS samples have one stack each,
 * and up to ADDRESSES of these have a leaf address of their own.
 */
#include "elf/elf.h"
#include "stream/writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ADDRESSES = 20000, SPREAD = 7919 };	/* distinct leaves; shares no divisor with it */

static const char *object = "/usr/bin/program";
static struct elf_segment code = { .size = 0x10000000 };
static uint64_t step = 16;	/* bytes between addresses */
static uint8_t build_id[24];	/* as in MMAP2: size, padding to 4, ID */

/* Use the first segment of OBJECT with code.  False: there is none of sufficient size. */
static bool take_object(const char *path)
{
	const char *why;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf *elf = fd < 0 ? NULL : elf_open(fd, &why);

	object = path;
	code.size = 0;
	for (uint64_t at = 0; elf && !code.size && at < elf_image(elf).size; at += 4096)
		elf_segment(elf, at, &code);
	const uint8_t *id;
	size_t size = elf ? elf_build_id(elf, &id) : 0;
	build_id[0] = size <= 20 ? (uint8_t)size : 0;
	if (build_id[0])
		memcpy(build_id + 4, id, size);
	elf_close(elf);
	step = code.size / ADDRESSES + 1;
	return code.size > 0;
}

static uint64_t random_next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static uint64_t address_at(uint64_t i)
{
	return 0x400000 + i % ADDRESSES * step % code.size;
}

static void write_mapping(struct output *out)
{
	struct writer w;

	if (build_id[0])
		writer_begin(&w, out, PERF_RECORD_MMAP2,
			     PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	else
		writer_begin(&w, out, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
	writer_u32(&w, 42);
	writer_u32(&w, 42);
	writer_u64(&w, 0x400000);
	writer_u64(&w, code.size);
	writer_u64(&w, code.file_offset);
	if (build_id[0]) {
		writer_bytes(&w, build_id, sizeof(build_id));
		writer_u32(&w, PROT_READ | PROT_EXEC);
		writer_u32(&w, MAP_PRIVATE);
	}
	writer_string(&w, object);
	writer_u64(&w, 42 | 42ULL << 32);	/* sample_id */
	writer_u64(&w, 1);
	writer_end(&w);
}

static void write_sample(struct output *out, uint64_t i, uint64_t stack, unsigned depth)
{
	uint64_t x = stack * 0x9e3779b97f4a7c15ULL + 1;
	struct writer w;

	writer_begin(&w, out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	uint64_t leaf = address_at(stack * SPREAD);
	writer_u64(&w, leaf);
	writer_u64(&w, 42 | 42ULL << 32);
	writer_u64(&w, 1000 + i * 1000);
	writer_u64(&w, depth + 1);
	writer_u64(&w, (uint64_t)PERF_CONTEXT_USER);
	writer_u64(&w, leaf);
	for (unsigned k = 1; k < depth; k++)
		writer_u64(&w, address_at(random_next(&x)));
	writer_end(&w);
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

	if (argc < 4 || argc > 5 || isatty(STDOUT_FILENO))
		return 2;
	uint64_t samples = strtoull(argv[1], NULL, 10), stacks = strtoull(argv[2], NULL, 10);
	unsigned depth = (unsigned)strtoul(argv[3], NULL, 10);
	if (!stacks || !depth || depth > 1000 || (argc > 4 && !take_object(argv[4])))
		return 2;
	output_open(&out, "-", &report);
	writer_header(&out);
	writer_attr(&out, &attr, &id, 1);
	write_mapping(&out);
	for (uint64_t i = 0; i < samples; i++) {
		write_sample(&out, i, i < stacks ? i : random_next(&x) % stacks, depth);
		if (i % 10000 == 9999)
			writer_empty(&out, RECORD_FINISHED_ROUND);
	}
	output_close(&out);
	return report_finish(&report);
}
