/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz-perf-data - any bytes as a stream or file, which is written as a perf.data file.  That file
 * must be whole, and have the same data; and no flush may change it.  What a killed writer leaves
 * has the data, too.
 */
#include "stream/perf-writer.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/memory-file.h"

#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The byte of an MMAP2 record with the mark of a build ID, which the reader may take away. */
enum { MARK_AT = 5 };

/* The records of data, in any order: the reader sorts them. */
struct contents {
	uint64_t records, bytes, sum;
};

/*
 * Return whether a record of TYPE stays a record.  Others go to the header or are dropped.  Readers
 * make some of the header, and the writer makes a FINISHED_ROUND if there are no data.
 */
static bool is_data(uint32_t type)
{
	switch (type) {
	case RECORD_ATTR:
	case RECORD_EVENT_TYPE:
	case RECORD_TRACING_DATA:
	case RECORD_BUILD_ID:
	case RECORD_FINISHED_ROUND:
	case RECORD_AUXTRACE:
	case RECORD_EVENT_UPDATE:
	case RECORD_FEATURE:
		return false;
	default:
		return !record_is_resolved(type);
	}
}

static void add_record(struct contents *c, const struct record *rec)
{
	const uint8_t *at = record_bytes(rec);
	uint64_t hash = 14695981039346656037ULL;	/* FNV-1a */

	if (!is_data(rec->type) || rec->foreign)
		return;
	for (size_t i = 0; i < record_size(rec); i++)
		if (i != MARK_AT || rec->type != PERF_RECORD_MMAP2)
			hash = (hash ^ at[i]) * 1099511628211ULL;
	c->records++;
	c->bytes += record_size(rec);
	c->sum += hash;
}

/* What became of a stream. */
struct written {
	int fd;			/* the file; -1: there is no stream */
	int killed;		/* what there was of the file before its end */
	struct contents want;	/* what the file must have */
	bool damaged;		/* the stream; so its events and features may be, too */
	struct perf_writer_drops drops;
};

static int copy(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		abort();
	size_t size = (size_t)st.st_size;
	uint8_t *bytes = malloc(size + 1);
	if (pread(fd, bytes, size, 0) != (ssize_t)size)
		abort();
	int copied = memory_file(bytes, size, NULL);
	free(bytes);
	return copied;
}

/* Write FILE as a perf.data file. */
static struct written convert(const char *file, bool flushes)
{
	struct written made = { .fd = -1 };
	struct report report = { .tool = "fuzz-perf-data", .quiet = true };
	struct record rec;
	struct output out;

	struct stream_reader *in = stream_open(file, NULL, &report);
	if (!in)
		return made;
	output_open_memory(&out, &report);
	struct perf_writer *w = perf_writer_new(&out);
	writer_header(&out);
	while (stream_next(in, &rec)) {
		if (!stream_fits(in, &rec))
			continue;
		add_record(&made.want, &rec);
		if (rec.type != RECORD_AUXTRACE)
			writer_record(&out, &rec);
		if (flushes)
			output_flush(&out);
	}
	made.damaged = report.status != 0 || !stream_is_whole(in);
	stream_close(in);
	output_flush(&out);
	made.killed = copy(out.fd);
	made.fd = output_take_memory(&out);
	made.drops = perf_writer_drops(w);
	perf_writer_free(w);
	if (made.fd < 0)
		abort();
	return made;
}

/* Return what the file in FD has; *DAMAGED: and not all of it was whole. */
static struct contents read_back(int fd, bool *damaged)
{
	struct report report = { .tool = "fuzz-perf-data", .quiet = true };
	struct contents c = { 0 };
	struct record rec;
	char file[MEMORY_FILE_PATH];

	snprintf(file, sizeof(file), "/proc/self/fd/%d", fd);
	struct stream_reader *in = stream_open(file, NULL, &report);
	while (stream_next(in, &rec))
		add_record(&c, &rec);
	*damaged = report.status != 0 || !stream_is_whole(in);
	stream_close(in);
	return c;
}

static void must_equal(const struct contents *a, const struct contents *b)
{
	if (a->records != b->records || a->bytes != b->bytes || a->sum != b->sum)
		abort();
}

/* Both files have the same bytes. */
static void must_be_same(int a, int b)
{
	struct stat of_a, of_b;

	if (fstat(a, &of_a) < 0 || fstat(b, &of_b) < 0 || of_a.st_size != of_b.st_size)
		abort();
	size_t size = (size_t)of_a.st_size;
	void *in_a = mmap(NULL, size, PROT_READ, MAP_PRIVATE, a, 0);
	void *in_b = mmap(NULL, size, PROT_READ, MAP_PRIVATE, b, 0);
	if (in_a == MAP_FAILED || in_b == MAP_FAILED || memcmp(in_a, in_b, size))
		abort();
	munmap(in_a, size);
	munmap(in_b, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char file[MEMORY_FILE_PATH];
	struct contents again;
	bool damaged;

	int fd = memory_file(data, size, file);
	struct written once = convert(file, false);
	if (once.fd >= 0) {
		struct written flushed = convert(file, true);
		must_equal(&once.want, &flushed.want);
		must_be_same(once.fd, flushed.fd);
		again = read_back(once.fd, &damaged);
		if (!once.drops.has_no_events)
			must_equal(&once.want, &again);
		if (damaged && !once.damaged && !once.drops.left_out &&
		    !once.drops.has_no_events)
			abort();
		again = read_back(flushed.killed, &damaged);
		if (again.records)
			must_equal(&once.want, &again);
		close(once.fd);
		close(once.killed);
		close(flushed.fd);
		close(flushed.killed);
	}
	close(fd);
	return 0;
}
