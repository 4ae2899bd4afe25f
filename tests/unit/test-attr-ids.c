/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event of many threads on many CPUs has more ids than a record has room for: all are known
 * after they were written and read, and two equal events stay two.
 */
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/host.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = (RECORD_MAX_SIZE - RECORD_HEADER_SIZE - sizeof(struct perf_event_attr)) / 8 };

static const struct perf_event_attr attr = {
	.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_PAGE_FAULTS,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID, .sample_period = 1,
};

/* Ids from FIRST on.  The caller frees. */
static uint64_t *make_ids(size_t count, uint64_t first)
{
	uint64_t *ids = mem_zeroed(count + 1, sizeof(*ids));

	for (size_t i = 0; i < count; i++)
		ids[i] = first + i;
	return ids;
}

/* Two equal events with COUNT ids each, as a stream. */
static void write_stream(struct output *out, size_t count)
{
	uint64_t *ids = make_ids(2 * count, 1);

	writer_header(out);
	writer_attr(out, &attr, ids, count);
	writer_attr(out, &attr, ids + count, count);
	writer_empty(out, RECORD_FINISHED_ROUND);
	free(ids);
}

/* The same as a file, with the ids in sections of their own. */
static void write_file(struct output *out, size_t count)
{
	const uint64_t entry = sizeof(attr) + 16, ids_size = 8 * count;
	const uint64_t head = 104, data = head + 2 * entry + 2 * ids_size;
	uint64_t header[13] = { 0, head, entry, head, 2 * entry, data, RECORD_HEADER_SIZE };
	uint64_t *ids = make_ids(2 * count, 1);

	memcpy(header, host_is_big ? "2ELIFREP" : "PERFILE2", 8);
	output_write(out, header, sizeof(header));
	for (uint64_t i = 0; i < 2; i++) {
		const uint64_t section[2] = { head + 2 * entry + i * ids_size, ids_size };
		output_write(out, &attr, sizeof(attr));
		output_write(out, section, sizeof(section));
	}
	output_write(out, ids, 2 * ids_size);
	writer_empty(out, RECORD_FINISHED_ROUND);
	free(ids);
}

/* Return whether two events are defined, and COUNT ids belong to each. */
static bool has_all(const struct stream_events *events, size_t count)
{
	if (events->count != 2 || events->ids != 2 * count)
		return false;
	for (uint32_t i = 0; i < events->ids; i++)
		if (events->id[i] != i + 1 || events->event_of_id[i] != (i >= count))
			return false;
	return true;
}

/* Read what is in OUT, and return whether all ids are known; COPY: write it as records. */
static bool is_right(struct output *out, size_t count, struct output *copy)
{
	struct report report = { .tool = "test-attr-ids" };
	char file[64];
	struct record rec;

	output_flush(out);
	snprintf(file, sizeof(file), "/proc/self/fd/%d", out->fd);
	struct stream_reader *in = stream_open(file, NULL, &report);
	if (copy)
		writer_header(copy);
	while (stream_next(in, &rec))
		if (copy)
			writer_record(copy, &rec);
	bool right = has_all(stream_events(in), count) && report.status == 0;
	stream_close(in);
	return right;
}

static void test(void (*write)(struct output *, size_t), size_t count, const char *name)
{
	struct report report = { .tool = "test-attr-ids" };
	struct output out, copy;

	output_open_memory(&out, &report);
	output_open_memory(&copy, &report);
	write(&out, count);
	bool right = is_right(&out, count, &copy);
	tap(right && is_right(&copy, count, NULL), name);
	output_close(&out);
	output_close(&copy);
}

int main(void)
{
	static const struct {
		size_t count;
		const char *stream, *file;
	} cases[] = {
		{ 1, "an id", "an id in a file" },
		{ ROOM - 1, "nearly as many as fit", "nearly as many as fit, in a file" },
		{ ROOM, "as many as fit", "as many as fit, in a file" },
		{ ROOM + 1, "one more", "one more, in a file" },
		{ 2 * ROOM - 1, "nearly as many as fit in two", "nearly as many in a file" },
		{ 2 * ROOM, "as many as fit in two", "as many as fit in two, in a file" },
		{ 19200, "300 threads on 64 CPUs", "300 threads on 64 CPUs in a file" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		test(write_stream, cases[i].count, cases[i].stream);
		test(write_file, cases[i].count, cases[i].file);
	}
	return tap_done();
}
