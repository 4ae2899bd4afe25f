/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output: what was written comes out, through pipes that take little at a time,
 * by a thread and compressed; failures are reported once; readers that went away, never.
 */
#include "base/arena.h"
#include "base/json.h"
#include "base/output-queue.h"
#include "base/output-zstd.h"
#include "base/output.h"
#include "base/write.h"
#include "tests/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { MUCH = 3 * OUTPUT_BUFFER + 12345 };	/* bytes; more than a pipe and our buffer hold */

static uint8_t data[MUCH];

/* Numbers that compress a little: half of their bits are noise. */
static void make_data(void)
{
	uint32_t x = 1;

	for (size_t i = 0; i < MUCH; i++) {
		x = x * 1664525 + 1013904223;
		data[i] = (uint8_t)(x >> 28);
	}
}

/* The other end of a pipe: a thread that reads PIECE bytes at a time, up to LIMIT of them. */
struct reader {
	int fd[2];
	size_t piece, limit, size;
	uint8_t *bytes;
	pthread_t thread;
};

static void *read_all(void *argument)
{
	struct reader *r = argument;
	ssize_t n = 1;

	while (n > 0 && r->size < r->limit) {
		size_t left = r->limit - r->size;
		n = read(r->fd[0], r->bytes + r->size, left < r->piece ? left : r->piece);
		r->size += n > 0 ? (size_t)n : 0;
	}
	close(r->fd[0]);
	return NULL;
}

/* Make a pipe; its reader starts with start_reader(). */
static void open_pipe(struct reader *r, size_t piece, size_t limit)
{
	*r = (struct reader){ .piece = piece, .limit = limit, .bytes = mem_resize(NULL, limit) };
	if (pipe2(r->fd, O_CLOEXEC))
		abort();
	fcntl(r->fd[1], F_SETPIPE_SZ, 4096);
}

static void start_reader(struct reader *r)
{
	if (pthread_create(&r->thread, NULL, read_all, r))
		abort();
}

/* Return whether all that came is DATA's first SIZE bytes, no more and no less. */
static bool end_reader(struct reader *r, size_t size)
{
	pthread_join(r->thread, NULL);
	bool same = r->size == size && !memcmp(r->bytes, data, size);
	free(r->bytes);
	return same;
}

/* An output to FD by its name, which leaves the report's messages out. */
static void open_fd(struct output *out, int fd, struct report *report)
{
	char file[64];

	*report = (struct report){ .tool = "test-output", .quiet = true };
	snprintf(file, sizeof(file), "/proc/self/fd/%d", fd);
	output_open(out, file, report);
	out->file = "it";
}

/* How many messages came. */
static uint64_t messages(const struct report *r)
{
	uint64_t count = 0;

	for (size_t i = 0; i < REPORT_KINDS; i++)
		count += r->kind[i].count;
	return count;
}

/* Write DATA's first SIZE bytes in pieces of changing length, some by output_room(). */
static void write_pieces(struct output *out, size_t size)
{
	size_t piece = 1, done = 0;

	while (done < size) {
		size_t now = piece < size - done ? piece : size - done;
		if (now <= OUTPUT_BUFFER && piece % 2) {
			memcpy(output_room(out, now), data + done, now);
			output_commit(out, now);
		} else {
			output_write(out, data + done, now);
		}
		done += now;
		piece = piece * 3 % 500009 + 1;	/* up to twice the buffer */
	}
}

/* Through a pipe to a reader that takes PIECE bytes; ELASTIC, NONBLOCKING. */
static bool passes_pipe(size_t piece, bool elastic, bool nonblocking)
{
	struct report report;
	struct reader r;
	struct output out;

	open_pipe(&r, piece, MUCH + 1);
	start_reader(&r);
	open_fd(&out, r.fd[1], &report);
	close(r.fd[1]);
	if (nonblocking)
		fcntl(out.fd, F_SETFL, O_WRONLY | O_NONBLOCK);
	if (elastic)
		output_make_elastic(&out);
	write_pieces(&out, MUCH);
	output_flush(&out);
	bool good = out.written == MUCH && !output_ended(&out);
	output_close(&out);
	return end_reader(&r, MUCH) && good && report.status == 0 && messages(&report) == 0;
}

static void test_pipes(void)
{
	tap(passes_pipe(65536, false, false), "a pipe gets all, in order");
	tap(passes_pipe(777, false, false), "a reader that takes 777 bytes at a time, too");
	tap(passes_pipe(777, false, true), "a pipe that the other end made non-blocking, too");
	tap(passes_pipe(777, true, false), "by a thread, too");
	tap(passes_pipe(777, true, true), "by a thread to a non-blocking pipe, too");
}

/* The reader takes one byte and goes away. */
static bool ends_quietly(bool elastic, bool compressed)
{
	struct report report;
	struct reader r;
	struct output out;

	open_pipe(&r, 1, 1);
	open_fd(&out, r.fd[1], &report);
	close(r.fd[1]);
	if (compressed)
		output_compress(&out, 1);
	if (elastic)
		output_make_elastic(&out);
	start_reader(&r);
	output_write(&out, data, 1);
	output_flush(&out);
	pthread_join(r.thread, NULL);
	write_pieces(&out, MUCH);
	while (elastic && output_waiting(&out) > 0)
		usleep(1000);
	output_write(&out, data, 1);	/* the thread's failure is known at the next write */
	output_flush(&out);
	bool good = output_ended(&out);
	output_close(&out);
	free(r.bytes);
	return good && report_finish(&report) == 0 && messages(&report) == 0;
}

/* A device that is full: each write fails. */
static bool reports_once(bool elastic, bool compressed)
{
	struct report report = { .tool = "test-output", .quiet = true };
	struct output out;

	output_open(&out, "/dev/full", &report);
	if (compressed)
		output_compress(&out, 1);
	if (elastic)
		output_make_elastic(&out);
	for (int i = 0; i < 3; i++)
		write_pieces(&out, MUCH);
	output_close(&out);
	return output_ended(&out) && report_finish(&report) == 1 && messages(&report) == 1 &&
	       !strcmp(report.kind[0].first, "cannot write to /dev/full");
}

static void test_failures(void)
{
	struct report report = { .tool = "test-output", .quiet = true };
	struct output out;

	tap(ends_quietly(false, false), "a reader that goes away ends it without a word");
	tap(ends_quietly(true, false), "by a thread, too");
	tap(ends_quietly(false, true) && ends_quietly(true, true), "compressed, too");
	tap(reports_once(false, false), "a full device is reported once");
	tap(reports_once(true, false), "by a thread, too");
	tap(reports_once(false, true) && reports_once(true, true), "compressed, too");

	output_open(&out, "/dev/full", &report);
	output_write(&out, "x", 1);
	output_close(&out);
	tap(report.status == 1, "one byte that is written at the end fails, too");
	report = (struct report){ .tool = "test-output", .quiet = true };
	output_open(&out, "/nonexistent/file", &report);
	tap(output_ended(&out) && report.status == 1 && messages(&report) == 1,
	    "what cannot be opened is reported");
	output_make_elastic(&out);
	write_pieces(&out, MUCH);
	output_close(&out);
	tap(messages(&report) == 1 && out.written == 0, "and what is written there goes nowhere");
}

/* A full pipe: what a thread is to write waits, and nobody else does. */
static void test_waiting(void)
{
	struct report report;
	struct reader r;
	struct output out;

	open_pipe(&r, 4096, MUCH + 1);
	open_fd(&out, r.fd[1], &report);
	fcntl(r.fd[1], F_SETPIPE_SZ, 4096);	/* again: the output has made it larger */
	close(r.fd[1]);
	tap(output_waiting(&out) == 0, "nothing waits where it is written directly");
	output_make_elastic(&out);
	write_pieces(&out, MUCH);
	output_flush(&out);
	/* the chunk that is being written counts until it is out */
	tap(output_waiting(&out) > MUCH / 2 && output_waiting(&out) <= MUCH,
	    "nobody reads: it waits in memory");
	start_reader(&r);
	while (output_waiting(&out) > 0)
		usleep(1000);
	tap(true, "it is read: nothing waits in the end");
	output_close(&out);
	tap(end_reader(&r, MUCH) && report.status == 0, "and all of it came");
}

/*
 * Return whether the SIZE bytes decompress to DATA's first WANTED, by libzstd; several frames may
 * be.
 */
static bool decompresses(const void *bytes, size_t size, size_t wanted)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	uint8_t *plain = mem_resize(NULL, wanted + 1);
	ZSTD_inBuffer in = { bytes, size, 0 };
	ZSTD_outBuffer out = { plain, wanted + 1, 0 };
	size_t left = 0, before;

	do {
		before = in.pos + out.pos;
		left = ZSTD_decompressStream(context, &out, &in);
	} while (!ZSTD_isError(left) && in.pos + out.pos > before);
	bool same = !ZSTD_isError(left) && out.pos == wanted && !memcmp(plain, data, wanted);
	ZSTD_freeDCtx(context);
	free(plain);
	return same;
}

struct grown {
	uint8_t *bytes;
	size_t size;
};

static void append(void *context, const void *bytes, size_t size)
{
	struct grown *g = context;

	g->bytes = mem_resize(g->bytes, g->size + size);
	memcpy(g->bytes + g->size, bytes, size);
	g->size += size;
}

static void test_zstd(void)
{
	const size_t steps[] = { 0, 1, 1000, OUTPUT_BUFFER, MUCH };
	enum { STEPS = sizeof(steps) / sizeof(*steps) };
	struct output_zstd *z = output_zstd_open(3);
	struct grown g = { 0 };
	bool good = true;

	for (size_t i = 1; i < STEPS; i++) {
		good &= output_zstd_write(z, data + steps[i - 1], steps[i] - steps[i - 1], false,
					  append, &g);
		good &= decompresses(g.bytes, g.size, steps[i]);
	}
	tap(good, "each step of a compressed stream can be decompressed when it is there");
	good = output_zstd_write(z, data, 0, true, append, &g);
	tap(good && ZSTD_findFrameCompressedSize(g.bytes, g.size) == g.size &&
	    decompresses(g.bytes, g.size, MUCH), "its end makes it one whole frame");
	tap(g.size < MUCH * 2 / 3, "it is smaller");
	output_zstd_close(z);
	output_zstd_close(NULL);
	free(g.bytes);
}

static struct grown read_file(const char *path)
{
	struct grown g = { 0 };
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		abort();
	g.bytes = mem_resize(NULL, (size_t)st.st_size);
	g.size = (size_t)read(fd, g.bytes, (size_t)st.st_size);
	close(fd);
	return g;
}

/* As pmu-sample rotates its files: each is whole, and none has what another got. */
static void test_files(bool compressed, bool elastic, const char *name)
{
	const char *const old[] = { "out.1", "out.2" };
	struct report report = { .tool = "test-output" };
	struct output out;
	bool good = true;

	output_open(&out, "out", &report);
	if (compressed)
		output_compress(&out, 3);
	if (elastic)
		output_make_elastic(&out);
	for (int i = 0; i < 2; i++) {
		write_pieces(&out, MUCH / (1U + (unsigned)i));
		output_end_file(&out);
		good &= output_ended(&out) && !rename("out", old[i]);
		output_begin_file(&out);
		good &= !output_ended(&out) && out.written == 0;
	}
	output_close(&out);
	for (unsigned i = 0; i < 2; i++) {
		struct grown g = read_file(old[i]);
		size_t wanted = MUCH / (1 + i);
		good &= compressed ? g.size < wanted && decompresses(g.bytes, g.size, wanted)
				   : g.size == wanted && !memcmp(g.bytes, data, wanted);
		free(g.bytes);
	}
	tap(good && report.status == 0, name);
	unlink("out");
	unlink("out.1");
	unlink("out.2");
}

static void test_old_file(void)
{
	struct report report = { .tool = "test-output" };
	struct output out;

	for (size_t size = 5000; size > 0; size /= 10) {
		output_open(&out, "out", &report);
		output_write(&out, data, size);
		output_close(&out);
	}
	struct grown g = read_file("out");
	tap(g.size == 5 && !memcmp(g.bytes, data, 5), "an older, longer file is written anew");
	free(g.bytes);
	unlink("out");
}

/* Return whether the file "out" has TEXT; if TEXT is NULL, whether there is no such file. */
static bool has(const char *text)
{
	if (!text || access("out", F_OK) < 0)
		return !text && access("out", F_OK) < 0;
	struct grown g = read_file("out");
	bool same = g.size == strlen(text) && !memcmp(g.bytes, text, g.size);
	free(g.bytes);
	return same;
}

/*
 * Open "out" late, with BEFORE in it (NULL: there is none), and close it with NEW written (NULL:
 * discarded).  Return whether it has BEFORE until something is written, and WANTED at the end.
 */
static bool ends_with(const char *before, const char *new, const char *wanted, bool elastic)
{
	struct report report = { .tool = "test-output" };
	struct output out;

	unlink("out");
	if (before) {
		output_open(&out, "out", &report);
		output_write(&out, before, strlen(before));
		output_close(&out);
	}
	output_open_late(&out, "out", &report);
	if (elastic)
		output_make_elastic(&out);
	bool good = has(before ? before : "");
	if (new)
		output_write(&out, new, strlen(new));
	else
		output_discard(&out);
	good &= output_close(&out) == (new != NULL) && report.status == 0;
	return good && has(wanted);
}

/*
 * Hold what is written to "out", which was opened late and has "old" in it: more than the buffer
 * takes.  Return whether the file stays unchanged, and has all of it if the output GOES_ON.
 */
static bool holds(bool goes_on, bool elastic)
{
	static uint8_t back[3 * OUTPUT_BUFFER];
	struct report report = { .tool = "test-output" };
	struct output out;
	bool good = ends_with(NULL, "old", "old", false);

	output_open_late(&out, "out", &report);
	if (elastic)
		output_make_elastic(&out);
	output_hold(&out);
	write_pieces(&out, 2 * OUTPUT_BUFFER);
	output_flush(&out);
	good &= has("old") && output_waiting(&out) == 0;
	if (goes_on)
		output_go_on(&out);
	else
		output_discard(&out);
	output_write(&out, data, 100);
	good &= output_close(&out) == goes_on && report.status == 0;
	if (!goes_on)
		return good && has("old");
	int fd = open("out", O_RDONLY | O_CLOEXEC);
	good &= read(fd, back, sizeof(back)) == 2 * OUTPUT_BUFFER + 100 &&
		!memcmp(back, data, 2 * OUTPUT_BUFFER) &&
		!memcmp(back + 2 * OUTPUT_BUFFER, data, 100);
	close(fd);
	return good;
}

static void test_late(void)
{
	struct report report = { .tool = "test-output" };
	struct output out;

	tap(ends_with(NULL, NULL, NULL, false) && ends_with(NULL, NULL, NULL, true),
	    "a file that was opened late, and then discarded, is removed");
	tap(ends_with("old", NULL, "old", false) && ends_with("old", NULL, "old", true) &&
	    ends_with("", NULL, "", false), "unless it was there before: it stays as it was");
	tap(ends_with("older", "new", "new", false) && ends_with("older", "new", "new", true) &&
	    ends_with("old", "", "", false) && ends_with(NULL, "", "", false),
	    "if it is not discarded, it has what was written, and no more");
	tap(holds(true, false) && holds(true, true) && holds(false, false) && holds(false, true),
	    "what is held reaches the file when the output goes on, or never");
	unlink("out");
	output_open_late(&out, "out", &report);
	if (rename("out", "moved") || symlink("moved", "out"))
		abort();
	output_discard(&out);
	output_close(&out);
	tap(access("moved", F_OK) < 0, "a link that leads to a new file does not keep the file");
	unlink("out");
	output_open_late(&out, "out", &report);
	int other = open("out", O_WRONLY | O_APPEND | O_CLOEXEC);
	bool is_written = other >= 0 && write(other, "x", 1) == 1;
	close(other);
	output_discard(&out);
	output_close(&out);
	tap(is_written && has("x"), "a new file to which others have written stays");
	unlink("out");
}

/* The queue alone: an error stays, and what waits is dropped, not tried. */
static void test_queue(void)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct output_queue *q = output_queue_start(full);
	int error;

	tap(output_queue_waiting(q) == 0 && output_queue_add(q, data, 100) == 0,
	    "a queue takes what it cannot write");
	while (output_queue_waiting(q) > 0)
		usleep(1000);
	error = output_queue_add(q, data, 100);
	tap(error == ENOSPC && output_queue_stop(q) == ENOSPC, "and says why, then and at its end");
	close(full);
	int fd = memfd_create("queue", MFD_CLOEXEC);
	q = output_queue_start(fd);
	for (size_t i = 0; i < 1000; i++)
		output_queue_add(q, data + i * 100, 100);
	error = output_queue_stop(q);
	uint8_t *back = mem_resize(NULL, 100000);
	tap(error == 0 && pread(fd, back, 100000, 0) == 100000 && !memcmp(back, data, 100000) &&
	    pread(fd, back, 1, 100000) == 0, "its end waits until all is written, in order");
	free(back);
	close(fd);
}

/* Chunks of 5000 and 10000 bytes, to a pipe that holds 4096. */
static void test_queue_waiting(void)
{
	uint8_t bytes[5000];
	size_t before, after, size = 0;
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) || fcntl(fd[1], F_SETPIPE_SZ, 4096) < 0)
		abort();
	struct output_queue *q = output_queue_start(fd[1]);
	output_queue_add(q, data, 5000);
	output_queue_add(q, data, 10000);
	before = output_queue_waiting(q);
	while (size < sizeof(bytes))
		size += (size_t)read(fd[0], bytes, sizeof(bytes) - size);
	while ((after = output_queue_waiting(q)) == before)
		usleep(1000);
	tap(before == 15000 && after == 10000, "what a queue has written does not wait");
	close(fd[0]);
	tap(output_queue_stop(q) == EPIPE, "its end does not wait for a reader that went away");
	close(fd[1]);
}

static void test_write(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	tap(write_whole(fd, data, 0) == 0, "no bytes can be written anywhere");
	tap(write_whole(fd, data, 1) == EBADF, "a failure is its number");
	close(fd);
}

/* What PRINT leaves on stdout, meant for a file. */
static bool prints(const char *text, const char *wanted)
{
	char got[256] = "";
	int fd = memfd_create("json", MFD_CLOEXEC), kept;

	fflush(stdout);
	kept = dup(STDOUT_FILENO);
	dup2(fd, STDOUT_FILENO);
	json_string(text);
	fflush(stdout);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	bool same = pread(fd, got, sizeof(got) - 1, 0) >= 0 && !strcmp(got, wanted);
	close(fd);
	return same;
}

static void test_json(void)
{
	tap(prints("plain text /usr/lib", "\"plain text /usr/lib\"") && prints("", "\"\"") &&
	    prints(NULL, "null"), "texts in JSON");
	tap(prints("a\"b\\c", "\"a\\\"b\\\\c\""), "quotes and backslashes are escaped");
	tap(prints("\n\t\x01\x1f", "\"\\u000a\\u0009\\u0001\\u001f\""),
	    "so are control characters");
	tap(prints("\x7f\x80\xc3\xa4\xff~", "\"\\u007f\\ufffd\xc3\xa4\\ufffd~\""),
	    "UTF-8 stays, other bytes become U+FFFD");
}

/* Bytes that a function took; it takes LIMIT bytes at most. */
struct taken {
	uint8_t *bytes;
	size_t size, limit;
};

static bool take(void *context, const void *bytes, size_t size)
{
	struct taken *t = context;

	errno = ENOSPC;
	if (size > t->limit - t->size)
		return false;
	memcpy(t->bytes + t->size, bytes, size);
	t->size += size;
	return true;
}

static void test_sink(void)
{
	struct taken whole = { .bytes = mem_resize(NULL, MUCH), .limit = MUCH };
	struct taken part = { .bytes = mem_resize(NULL, MUCH), .limit = MUCH / 2 };
	struct report report = { .tool = "test-output", .quiet = true };
	struct output out;

	output_open_sink(&out, "it", take, &whole, &report);
	write_pieces(&out, MUCH);
	tap(output_close(&out) && whole.size == MUCH && !memcmp(whole.bytes, data, MUCH) &&
	    messages(&report) == 0, "a function gets all bytes in order");
	output_open_sink(&out, "it", take, &part, &report);
	write_pieces(&out, MUCH);
	tap(!output_close(&out) && messages(&report) == 1 && !memcmp(part.bytes, data, part.size),
	    "a function that fails is reported once");
	free(whole.bytes);
	free(part.bytes);
}

int main(void)
{
	const char *parent = getenv("TMPDIR");
	char folder[PATH_MAX];

	signal(SIGPIPE, SIG_IGN);	/* as in every tool */
	make_data();
	snprintf(folder, sizeof(folder), "%s/test-output.XXXXXX", parent ? parent : "/tmp");
	if (!mkdtemp(folder) || chdir(folder))
		abort();
	test_pipes();
	test_failures();
	test_waiting();
	test_zstd();
	test_files(false, false, "files that are ended and renamed are whole");
	test_files(false, true, "by a thread, too");
	test_files(true, false, "compressed, too");
	test_files(true, true, "compressed by a thread, too");
	test_old_file();
	test_late();
	test_queue();
	test_queue_waiting();
	test_write();
	test_sink();
	test_json();
	if (chdir("/") || rmdir(folder))
		abort();
	return tap_done();
}
