/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream that a callback gives is read like a file: in parts of any size, after interruptions,
 * compressed, and up to a failure.
 */
#include "stream/look.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/memory-file.h"
#include "tests/unit/tap.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

enum { RECORDS = 100, SIZE_MOST = 16384 };

/* Bytes that are given PART at a time, and what else happens. */
struct given {
	const uint8_t *bytes;
	size_t size, at, part;
	bool interrupted;	/* every second call fails with EINTR */
	int error;		/* errno after the last byte; 0: the stream ends there */
	volatile sig_atomic_t *stop;	/* set by the first call after the header; or NULL */
	size_t calls;
	int read_error;		/* stream_error() at the end */
};

static ssize_t give(void *context, void *to, size_t room)
{
	struct given *g = context;
	size_t now = g->size - g->at < g->part ? g->size - g->at : g->part;

	if (g->calls++ % 2 == 0 && g->interrupted) {
		errno = EINTR;
		return -1;
	}
	if (g->stop && g->at >= 16)
		*g->stop = 1;
	if (now == 0 && g->error) {
		errno = g->error;
		return -1;
	}
	now = now < room ? now : room;
	memcpy(to, g->bytes + g->at, now);
	g->at += now;
	return (ssize_t)now;
}

/* Write RECORDS records to BYTES, and return how many bytes they have. */
static size_t write_stream(uint8_t bytes[SIZE_MOST])
{
	struct report report = { .tool = "test-source" };
	char file[MEMORY_FILE_PATH];
	int fd = memory_file(NULL, 0, file);
	struct output out;
	struct writer w;

	output_open(&out, file, &report);
	writer_header(&out);
	for (uint32_t i = 0; i < RECORDS; i++) {
		writer_begin(&w, &out, PERF_RECORD_COMM, 0);
		writer_u64(&w, i | (uint64_t)i << 32);
		writer_string(&w, "name");
		writer_end(&w);
	}
	size_t size = out.used;
	memcpy(bytes, out.buffer, size);
	output_close(&out);
	close(fd);
	return size;
}

static size_t compress_gzip(const uint8_t *bytes, size_t size, uint8_t to[SIZE_MOST])
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size,
		       .next_out = to, .avail_out = SIZE_MOST };

	deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
	deflate(&z, Z_FINISH);
	deflateEnd(&z);
	return SIZE_MOST - z.avail_out;
}

/*
 * Look at the stream, and return how many records come then, in order; *STATUS: the exit status
 * that a tool would have.
 */
static uint32_t records(struct given *g, int *status)
{
	const struct stream_source source = { .file = "callback", .read = give, .context = g,
					      .fd = -1 };
	struct report report = { .tool = "test-source", .quiet = true };
	struct record rec;
	uint32_t n = 0;

	struct stream_reader *in = stream_open_source(&source, g->stop, &report);
	if (in && stream_look(in).kind != LOOK_RAW)
		n = RECORDS;
	while (stream_next(in, &rec)) {
		struct cursor c = rec.body;
		n += rec.type == PERF_RECORD_COMM && cursor_u32(&c) == n;
	}
	g->read_error = stream_error(in);
	stream_close(in);
	*status = report_finish(&report);
	return n;
}

int main(void)
{
	static uint8_t bytes[SIZE_MOST], packed[SIZE_MOST];
	const size_t size = write_stream(bytes), packed_size = compress_gzip(bytes, size, packed);
	volatile sig_atomic_t stop = 0;
	int status;

	struct given whole = { .bytes = bytes, .size = size, .part = SIZE_MOST };
	tap(records(&whole, &status) == RECORDS && status == 0, "a stream from a callback");
	struct given slow = { .bytes = bytes, .size = size, .part = 1, .interrupted = true };
	tap(records(&slow, &status) == RECORDS && status == 0,
	    "one byte at a time, with an interruption before each");
	struct given gzip = { .bytes = packed, .size = packed_size, .part = 1 };
	tap(records(&gzip, &status) == RECORDS && status == 0, "the same, compressed");
	struct given broken = { .bytes = bytes, .size = size, .part = 100, .error = EIO };
	tap(records(&broken, &status) == RECORDS && status == 1 && broken.read_error == EIO,
	    "what came before a failure is used, and the failure is reported");
	struct given stopped = { .bytes = bytes, .size = size, .part = 16, .stop = &stop };
	tap(records(&stopped, &status) < RECORDS && status == 0,
	    "a stream that is stopped ends without damage");

	char path[MEMORY_FILE_PATH];
	int fd = memory_file(bytes, size, path);
	const struct stream_source lent = { .file = "lent", .fd = fd, .is_lent = true };
	struct report report = { .tool = "test-source", .quiet = true };
	lseek(fd, 0, SEEK_SET);
	stream_close(stream_open_source(&lent, NULL, &report));
	tap(report.status == 0 && lseek(fd, 0, SEEK_CUR) == (off_t)size,
	    "a lent descriptor is read, and stays open");
	close(fd);
	return tap_done();
}
