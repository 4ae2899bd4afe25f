/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz-stream - any bytes as a file that can be sought in: every record is
 * read, described, counted and followed; counted once more, without order; and the stream joined
 * with itself.
 */
#include "process/space.h"
#include "show/describe.h"
#include "show/tally.h"
#include "stream/join.h"
#include "tests/memory-file.h"

#include <fcntl.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is described goes nowhere. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!freopen("/dev/null", "w", stdout))
		abort();
	return 0;
}

/* Counting alone must see the same records as reading them in order: RECORDS with BYTES. */
static void count_all(const char *file, uint64_t records, uint64_t bytes)
{
	struct report report = { .tool = "fuzz-stream", .quiet = true };
	struct tally tally = { 0 };
	struct record rec;

	struct stream_reader *in = stream_open(file, NULL, &report);
	stream_only_count(in);
	while (stream_next(in, &rec))
		tally_add(&tally, in, &rec);
	if (tally.records != records || tally.bytes != bytes)
		abort();
	stream_close(in);
	tally_release(&tally);
}

static void read_all(const char *file)
{
	struct report report = { .tool = "fuzz-stream", .quiet = true };
	struct spaces spaces = { 0 };
	struct tally tally = { 0 };
	struct record rec;
	bool json = false;

	struct stream_reader *in = stream_open(file, NULL, &report);
	while (stream_next(in, &rec)) {
		describe_record(in, &rec, json = !json);
		tally_add(&tally, in, &rec);
		spaces_follow(&spaces, &rec);
	}
	if (in)
		tally_print(&tally, in, true);
	if (in && !stream_is_whole(in) && report.status == 0)
		abort();	/* damage that was not reported */
	stream_close(in);
	count_all(file, tally.records, tally.bytes);
	tally_release(&tally);
	spaces_release(&spaces);
}

static void join_twice(const char *file)
{
	const char *const files[] = { file, file };
	static const volatile sig_atomic_t never;
	struct report report = { .tool = "fuzz-stream", .quiet = true };
	struct output out;

	output_open(&out, "/dev/null", &report);
	join_streams(files, 2, "pmukit fuzz", &out, &report, &never);
	output_close(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char file[MEMORY_FILE_PATH];

	int fd = memory_file(data, size, file);
	read_all(file);
	join_twice(file);
	close(fd);
	return 0;
}
