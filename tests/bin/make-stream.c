/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make-stream SAMPLES STACKS DEPTH - write a raw stream of that many samples
 * with callchains of DEPTH frames, over STACKS distinct ones, to stdout: what
 * make bench measures with, on any machine.
 */
#include "stream/writer.h"

#include <unistd.h>

enum { ADDRESSES = 20000 };	/* distinct ones */

static uint64_t random_next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static void write_mapping(struct output *out)
{
	struct writer w;

	writer_begin(&w, out, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
	writer_u32(&w, 42);
	writer_u32(&w, 42);
	writer_u64(&w, 0x400000);
	writer_u64(&w, 0x10000000);
	writer_u64(&w, 0);
	writer_string(&w, "/usr/bin/program");
	writer_u64(&w, 42 | 42ULL << 32);	/* sample_id */
	writer_u64(&w, 1);
	writer_end(&w);
}

static void write_sample(struct output *out, uint64_t i, uint64_t stack, unsigned depth)
{
	uint64_t x = stack * 0x9e3779b97f4a7c15ULL + 1;
	struct writer w;

	writer_begin(&w, out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	uint64_t leaf = 0x400000 + random_next(&x) % ADDRESSES * 16;
	writer_u64(&w, leaf);
	writer_u64(&w, 42 | 42ULL << 32);
	writer_u64(&w, 1000 + i * 1000);
	writer_u64(&w, depth + 1);
	writer_u64(&w, (uint64_t)PERF_CONTEXT_USER);
	writer_u64(&w, leaf);
	for (unsigned k = 1; k < depth; k++)
		writer_u64(&w, 0x400000 + random_next(&x) % ADDRESSES * 16);
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

	if (argc != 4 || isatty(STDOUT_FILENO))
		return 2;
	uint64_t samples = strtoull(argv[1], NULL, 10), stacks = strtoull(argv[2], NULL, 10);
	unsigned depth = (unsigned)strtoul(argv[3], NULL, 10);
	if (!stacks || !depth || depth > 1000)
		return 2;
	output_open(&out, "-", &report);
	writer_header(&out);
	writer_attr(&out, &attr, &id, 1);
	write_mapping(&out);
	for (uint64_t i = 0; i < samples; i++) {
		write_sample(&out, i, random_next(&x) % stacks, depth);
		if (i % 10000 == 9999)
			writer_empty(&out, RECORD_FINISHED_ROUND);
	}
	output_close(&out);
	return report_finish(&report);
}
