/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make-churn PROCESSES [NAMES [unended]] - write a raw stream of PROCESSES processes in
 * turn to stdout.  Each is forked by a shell with 100 mappings, runs one of NAMES (20) programs
 * with 10 mappings of as many libraries, has two threads with a sample each, and ends.  Another
 * sample of it comes late, after its end.  A round ends every 200 processes.  A process
 * lasts 1 ms of the stream's clock, which begins with 2026.  PIDs are reused after 4 million.
 * "unended": no EXIT is recorded, and there is one mapping.
 */
#include "record/origin.h"
#include "stream/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SHELL = 5, PIDS = 4000000, ROUND = 200, STEP = 1000000 /* ns */ };

static struct output out;
static uint64_t now, names = 20;
static bool unended;

static void write_end(struct writer *w, uint32_t pid, uint32_t tid)
{
	writer_u32(w, pid);
	writer_u32(w, tid);
	writer_u64(w, now);
	writer_end(w);
}

static void write_mapping(uint32_t pid, uint64_t start, const char *path, uint64_t number)
{
	char name[100];
	struct writer w;

	snprintf(name, sizeof(name), "%s%" PRIu64, path, number);
	writer_begin(&w, &out, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
	writer_u32(&w, pid);
	writer_u32(&w, pid);
	writer_u64(&w, start);
	writer_u64(&w, 0x1000);
	writer_u64(&w, 0);
	writer_string(&w, name);
	write_end(&w, pid, pid);
}

static void write_task(uint32_t type, uint32_t pid, uint32_t parent, uint32_t tid)
{
	struct writer w;

	writer_begin(&w, &out, type, PERF_RECORD_MISC_USER);
	writer_u32(&w, pid);
	writer_u32(&w, parent);
	writer_u32(&w, tid);
	writer_u32(&w, parent);
	writer_u64(&w, now);
	write_end(&w, pid, tid);
}

static void write_comm(uint32_t pid, uint64_t number)
{
	char name[32];
	struct writer w;

	snprintf(name, sizeof(name), "program-%" PRIu64, number);
	writer_begin(&w, &out, PERF_RECORD_COMM,
		     PERF_RECORD_MISC_USER | PERF_RECORD_MISC_COMM_EXEC);
	writer_u32(&w, pid);
	writer_u32(&w, pid);
	writer_string(&w, name);
	write_end(&w, pid, pid);
}

static void write_sample(uint32_t pid, uint32_t tid, uint64_t address)
{
	struct writer w;

	writer_begin(&w, &out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	writer_u64(&w, address);
	write_end(&w, pid, tid);
}

static void write_process(uint64_t i)
{
	uint32_t pid = 1000 + 2 * (uint32_t)(i % PIDS), thread = pid + 1;

	now = (i + 1) * STEP;
	write_task(PERF_RECORD_FORK, pid, SHELL, pid);
	write_sample(pid, pid, 0x10000 + i % 100 * 0x2000);
	write_comm(pid, i % names);
	for (uint64_t k = 0; k < (unended ? 1 : 10); k++)
		write_mapping(pid, 0x10000 + k * 0x2000, "/usr/lib/lib", (i + k) % names);
	write_task(PERF_RECORD_FORK, pid, pid, thread);
	write_sample(pid, thread, 0x10000 + i % 10 * 0x2000);
	if (unended)
		return;
	write_task(PERF_RECORD_EXIT, pid, SHELL, pid);
	write_sample(pid, thread, 0x10008 + i % 10 * 0x2000);
	write_task(PERF_RECORD_EXIT, pid, pid, thread);
	write_sample(pid, thread, 0x10010 + i % 10 * 0x2000);
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_period = 1000000, .sample_id_all = 1,
	};
	const uint64_t id = 7, second = 1000000000;
	/* version 1, CLOCK_MONOTONIC; the stream's clock is 0 at this time of the wall clock */
	const uint64_t clock[] = { 1 | (uint64_t)CLOCK_MONOTONIC << 32, 1767225600 * second, 0 };
	struct report report = { .tool = "make-churn" };

	if (argc < 2 || argc > 4 || isatty(STDOUT_FILENO))
		return 2;
	uint64_t processes = strtoull(argv[1], NULL, 10);
	unended = argc == 4 && !strcmp(argv[3], "unended");
	if (argc >= 3)
		names = strtoull(argv[2], NULL, 10);
	if (names == 0)
		return 2;
	output_open(&out, "-", &report);
	writer_header(&out);
	writer_attr(&out, &attr, &id, 1);
	writer_feature(&out, FEATURE_CLOCK_DATA, clock, sizeof(clock));
	for (uint64_t i = 0; i < 100; i++)
		write_mapping(SHELL, 0x10000 + i * 0x2000, "/usr/lib/sh", i);
	for (uint64_t i = 0; i < processes; i++) {
		write_process(i);
		if (i % ROUND == ROUND - 1)
			writer_empty(&out, RECORD_FINISHED_ROUND);
	}
	output_close(&out);
	return report_finish(&report);
}
