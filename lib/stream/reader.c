/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct stream_events no_events;
static const struct stream_origin no_origin;

struct report_place reader_place(const struct stream_reader *in)
{
	return (struct report_place){ in->file, in->offset };
}

#define damage(in, ...) \
	((in)->damaged = true, report_damage((in)->report, reader_place(in), __VA_ARGS__))

static bool is_stopped(const struct stream_reader *in)
{
	return in->stop && *in->stop;
}

/* Move the unread bytes to the buffer's start; make it hold SIZE. */
static void make_room(struct stream_reader *in, size_t size)
{
	if (size > in->capacity) {
		in->capacity = size;
		in->buffer = mem_resize(in->buffer, size);
	}
	memmove(in->buffer, in->buffer + in->begin, in->end - in->begin);
	in->end -= in->begin;
	in->begin = 0;
}

/*
 * read(), decompressed where the whole stream is.  0 at the end, -1 on a
 * failure (reported).
 */
static ssize_t read_bytes(struct stream_reader *in, uint8_t *to, size_t room)
{
	ssize_t n = 0;

	while (in->wrapping) {
		n = inflate_read(in->wrapping, to, room);
		if (n > 0)
			return n;
		if (n < 0) {
			damage(in, "the zstd compression around the stream is damaged");
			return -1;
		}
		n = read(in->fd, in->wrapped, READER_BUFFER);
		if (n <= 0)
			break;
		inflate_feed(in->wrapping, in->wrapped, (size_t)n);
	}
	if (!in->wrapping)
		n = read(in->fd, to, room);
	if (n == 0 && in->wrapping && !inflate_is_whole(in->wrapping))
		damage(in, "stream ends inside its zstd compression");
	if (n < 0 && errno != EINTR) {
		in->damaged = true;
		report_failure(in->report, "cannot read '%s'", in->file);
	}
	return n;
}

bool reader_fill(struct stream_reader *in, size_t size)
{
	if (in->end - in->begin >= size)
		return true;
	make_room(in, size);
	while (in->end < size && !is_stopped(in)) {
		uint64_t left = in->limit - in->offset - in->end;
		size_t room = in->capacity - in->end;
		errno = 0;
		ssize_t n = read_bytes(in, in->buffer + in->end, left < room ? left : room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		in->end += (size_t)n;
	}
	return in->end >= size;
}

bool reader_skip(struct stream_reader *in, uint64_t size)
{
	while (size > 0) {
		if (in->end == in->begin && !reader_fill(in, 1))
			return false;
		uint64_t buffered = in->end - in->begin;
		uint64_t now = size < buffered ? size : buffered;
		in->begin += now;
		in->offset += now;
		size -= now;
	}
	return true;
}

static struct cursor unread(const struct stream_reader *in, size_t size)
{
	const uint8_t *at = in->buffer + in->begin;

	return (struct cursor){ .at = at, .end = at + size };
}

/* A stream that zstd has wrapped: from now on read what is in it. */
static void unwrap(struct stream_reader *in)
{
	static const uint8_t magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };	/* RFC 8878, 3.1.1 */

	if (!reader_fill(in, sizeof(magic)) || memcmp(in->buffer, magic, sizeof(magic)))
		return;
	in->wrapping = inflate_open();
	in->wrapped = mem_resize(NULL, in->capacity);
	memcpy(in->wrapped, in->buffer, in->end);
	inflate_feed(in->wrapping, in->wrapped, in->end);
	in->end = 0;
	in->seekable = false;
}

static bool read_header(struct stream_reader *in)
{
	unwrap(in);
	if (!reader_fill(in, PIPE_HEADER_SIZE)) {
		if (in->end == in->begin && !in->damaged)
			damage(in, "empty: no stream came; did the command before this one fail?");
		else if (!in->damaged)
			damage(in, "not a stream: only %zu bytes", in->end - in->begin);
		return false;
	}
	struct cursor c = unread(in, PIPE_HEADER_SIZE);
	uint64_t magic = cursor_u64(&c), size = cursor_u64(&c);
	if (magic == __builtin_bswap64(STREAM_MAGIC)) {
		damage(in, "recorded on a machine of the other byte order, which is not read yet");
		return false;
	}
	if (magic != STREAM_MAGIC) {
		damage(in, "not a stream or perf.data file: it begins with 0x%016" PRIx64
		       ", not 'PERFILE2'", magic);
		return false;
	}
	if (size != PIPE_HEADER_SIZE)
		return reader_open_file(in, size);
	return reader_skip(in, PIPE_HEADER_SIZE);
}

struct stream_reader *stream_open(const char *file, struct report *report)
{
	bool is_stdin = !strcmp(file, "-");
	int fd = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		report_failure(report, "cannot open '%s'", file);
		return NULL;
	}
	struct stream_reader *in = mem_zeroed(1, sizeof(*in));
	in->report = report;
	in->file = file;
	in->order = order_new();
	in->fd = fd;
	in->seekable = S_ISREG(st.st_mode);
	in->limit = UINT64_MAX;
	in->capacity = READER_BUFFER;
	in->buffer = mem_resize(NULL, READER_BUFFER);
	if (!read_header(in)) {
		stream_close(in);
		return NULL;
	}
	return in;
}

void stream_stop_on(struct stream_reader *in, const volatile sig_atomic_t *stop)
{
	if (in)
		in->stop = stop;
}

/* At the end of the records: is anything missing? */
static void check_end(struct stream_reader *in)
{
	size_t left = in->end - in->begin;

	if (in->damaged || is_stopped(in))
		return;
	if (left > 0)
		damage(in, "stream ends inside a record header");
	else if (in->limit != UINT64_MAX && in->offset < in->limit)
		damage(in, "file ends here, but its header claims data up to 0x%" PRIx64,
		       in->limit);
	else if (!in->is_file && in->offset == PIPE_HEADER_SIZE)
		damage(in, "stream ends behind its header: no record came");
	else if (origin_is_ours(&in->origin) && !in->origin.last_time)
		damage(in, "stream ends before its recorder said so: it was cut short");
}

/*
 * COMPRESSED: zstd data to the record's end; COMPRESSED2: u64 size of them
 * first, since the record is padded.  All records of a stream are one zstd
 * stream, and the records inside span them.
 */
static bool take_compressed(struct stream_reader *in, const struct record *rec)
{
	struct cursor c = rec->body;
	uint64_t size = rec->type == RECORD_COMPRESSED2 ? cursor_u64(&c) : cursor_left(&c);
	const void *data = size <= cursor_left(&c) ? cursor_bytes(&c, size) : NULL;
	ptrdiff_t n;

	if (!data || c.failed) {
		stream_damaged(in, rec, "COMPRESSED record is shorter than its data");
		return false;
	}
	if (!in->inflate)
		in->inflate = inflate_open();
	inflate_feed(in->inflate, data, size);
	if (in->inner_at > 0)
		memmove(in->inner, in->inner + in->inner_at, in->inner_size - in->inner_at);
	in->inner_size -= in->inner_at;
	in->inner_at = 0;
	in->inner_offset = rec->offset;
	do {
		if (in->inner_size + RECORD_MAX_SIZE > in->inner_capacity) {
			in->inner_capacity = 2 * in->inner_capacity + 4 * RECORD_MAX_SIZE;
			in->inner = mem_resize(in->inner, in->inner_capacity);
		}
		n = inflate_read(in->inflate, in->inner + in->inner_size, RECORD_MAX_SIZE);
		in->inner_size += n > 0 ? (size_t)n : 0;
	} while (n > 0 && in->inner_size < INNER_MAX);
	if (n != 0)
		stream_damaged(in, rec, n < 0 ? "COMPRESSED record with damaged data"
			       : "COMPRESSED record that grows beyond all measure");
	return n == 0;
}

/* The next whole record that came out of COMPRESSED ones; false: there is none yet. */
static bool next_inner(struct stream_reader *in, struct record *rec)
{
	size_t left = in->inner_size - in->inner_at;
	const uint8_t *at = in->inner + in->inner_at;
	struct cursor c = { .at = at, .end = at + RECORD_HEADER_SIZE };

	if (left < RECORD_HEADER_SIZE)
		return false;
	rec->type = cursor_u32(&c);
	rec->misc = cursor_u16(&c);
	rec->made = false;
	rec->offset = in->inner_offset;
	size_t size = cursor_u16(&c);
	if (size < RECORD_HEADER_SIZE) {
		stream_damaged(in, rec, "COMPRESSED record with a record shorter than its header");
		in->inner_at = in->inner_size;
		return false;
	}
	if (left < size)
		return false;
	rec->body = (struct cursor){ .at = c.at, .end = at + size };
	in->inner_at += size;
	return true;
}

/* The end of the stream, or of its use: is a record begun in COMPRESSED ones? */
static void check_inner_end(struct stream_reader *in)
{
	if (in->inner_at < in->inner_size && !in->damaged && !is_stopped(in))
		damage(in, "stream ends inside a record that is compressed");
}

static bool read_record(struct stream_reader *in, struct record *rec)
{
	if (!reader_fill(in, RECORD_HEADER_SIZE)) {
		check_end(in);
		return false;
	}
	struct cursor c = unread(in, RECORD_HEADER_SIZE);
	rec->type = cursor_u32(&c);
	rec->misc = cursor_u16(&c);
	rec->made = false;
	rec->offset = in->offset;
	size_t size = cursor_u16(&c);

	if (size < RECORD_HEADER_SIZE) {
		damage(in, "record of type %u claims %zu bytes, less than its header",
		       rec->type, size);
		return false;
	}
	if (!reader_fill(in, size)) {
		if (!in->damaged && !is_stopped(in))
			damage(in, "stream ends inside a record of type %u and %zu bytes",
			       rec->type, size);
		return false;
	}
	rec->body = unread(in, size);
	cursor_bytes(&rec->body, RECORD_HEADER_SIZE);
	in->begin += size;
	in->offset += size;
	return true;
}

/* The next of the records made from a file's header; they are well formed. */
static void next_made(struct stream_reader *in, struct record *rec)
{
	const uint8_t *at = in->made + in->made_at;
	struct cursor c = { .at = at, .end = at + RECORD_HEADER_SIZE };

	rec->type = cursor_u32(&c);
	rec->misc = cursor_u16(&c);
	rec->made = true;
	rec->offset = 0;
	size_t size = cursor_u16(&c);
	rec->body = (struct cursor){ .at = c.at, .end = at + size };
	in->made_at += size;
}

size_t reader_attr_size(struct cursor c)
{
	cursor_u32(&c);		/* type */
	size_t size = cursor_u32(&c);
	if (c.failed)
		return 0;
	return size ? size : PERF_ATTR_SIZE_VER0;	/* before it was filled in */
}

/* HEADER_ATTR: the attr, of the size it says itself; then u64 ids[]. */
static void follow_attr(struct stream_reader *in, const struct record *rec)
{
	struct cursor c = rec->body;
	size_t size = reader_attr_size(c);
	const void *attr = size ? cursor_bytes(&c, size) : NULL;
	const char *error;

	if (!attr)
		stream_damaged(in, rec, "ATTR record is shorter than its attr");
	else if (!events_add(&in->events, attr, size, c, &error))
		stream_damaged(in, rec, error);
}

/* EVENT_UPDATE: u64 kind (2: name), u64 id of the event, then what it is. */
static void follow_update(struct stream_reader *in, const struct record *rec)
{
	enum { KIND_NAME = 2 };
	struct cursor c = rec->body;
	uint64_t kind = cursor_u64(&c), id = cursor_u64(&c);

	if (c.failed) {
		stream_damaged(in, rec, "EVENT_UPDATE record of less than 16 bytes");
		return;
	}
	uint32_t event = events_find_id(&in->events, id);
	if (event == TABLE_NONE && in->events.count == 1)
		event = 0;
	if (kind == KIND_NAME)
		events_name(&in->events, event, (const char *)c.at, cursor_left(&c));
}

/* u32 events, u32 attr size; each: attr, u32 ids, string name, u64 id[ids] */
static bool follow_event_desc(struct stream_reader *in, struct cursor c)
{
	uint32_t count = cursor_u32(&c), attr_size = cursor_u32(&c);

	for (uint32_t i = 0; i < count && !c.failed; i++) {
		cursor_bytes(&c, attr_size);
		uint32_t ids = cursor_u32(&c), size = cursor_u32(&c);
		const char *name = cursor_bytes(&c, size);
		cursor_bytes(&c, 8 * (size_t)ids);
		if (!c.failed)
			events_name(&in->events, i, name, size);
	}
	return !c.failed;
}

/* HEADER_FEATURE: u64 number, then the feature's bytes. */
static void follow_feature(struct stream_reader *in, const struct record *rec)
{
	struct cursor c = rec->body;
	uint64_t feature = cursor_u64(&c);

	if (c.failed ||
	    !(feature == FEATURE_EVENT_DESC ? follow_event_desc(in, c)
					    : origin_add(&in->origin, feature, c)))
		stream_damaged(in, rec, "FEATURE record is shorter than its fields");
}

/* Bytes that follow a record without being counted in its size. */
static uint64_t trailing_bytes(const struct record *rec)
{
	struct cursor c = rec->body;

	if (rec->type == RECORD_AUXTRACE)
		return cursor_u64(&c);
	if (rec->type == RECORD_TRACING_DATA)
		return ((uint64_t)cursor_u32(&c) + 7) & ~7ULL;
	return 0;
}

/* Learn what the reader itself needs from a record. */
static void follow(struct stream_reader *in, const struct record *rec)
{
	switch (rec->type) {
	case RECORD_ATTR:
		if (!rec->made)		/* else known already, with all its ids */
			follow_attr(in, rec);
		break;
	case RECORD_EVENT_UPDATE:
		follow_update(in, rec);
		break;
	case RECORD_FEATURE:
		follow_feature(in, rec);
		break;
	}
}

/* The next record in order of the input; false at its end. */
static bool next_read(struct stream_reader *in, struct record *rec)
{
	if (in->made_at < in->made_size) {
		next_made(in, rec);
	} else {
		while (!next_inner(in, rec)) {
			if (is_stopped(in) || !read_record(in, rec)) {
				check_inner_end(in);
				return false;
			}
			if (rec->type != RECORD_COMPRESSED && rec->type != RECORD_COMPRESSED2)
				break;
			take_compressed(in, rec);
		}
	}
	if (rec->type >= RECORD_ATTR && rec->type <= RECORD_FEATURE) {
		follow(in, rec);
		uint64_t trailing = trailing_bytes(rec);
		if (trailing && !reader_skip(in, trailing)) {	/* the view dies, unneeded */
			damage(in, "stream ends inside the %" PRIu64 " bytes behind a record of "
			       "type %u", trailing, rec->type);
			return false;
		}
	}
	return true;
}

/*
 * Whether REC has to wait for older ones of other CPUs.  Not in our own
 * recordings, which are in order, nor if it has no time.
 */
static bool must_wait(const struct stream_reader *in, const struct record *rec, uint64_t *time)
{
	if (rec->type >= RECORD_ATTR || origin_is_ours(&in->origin))
		return false;
	*time = stream_time(in, rec);
	return *time != 0 && *time != UINT64_MAX;
}

static void end_input(struct stream_reader *in)
{
	in->drained = true;
	order_end(in->order);
	if (order_late(in->order))
		report_note(in->report, "%" PRIu64 " records came later than their round allows; "
			    "some addresses may be taken for others",
			    order_late(in->order));
}

bool stream_next(struct stream_reader *in, struct record *rec)
{
	uint64_t time;

	if (!in || in->ended)
		return false;
	for (;;) {
		if (order_next(in->order, rec))
			return true;
		if (in->drained) {
			in->ended = true;
			return false;
		}
		if (!next_read(in, rec))
			end_input(in);
		else if (must_wait(in, rec, &time))
			order_add(in->order, rec, time);
		else if (rec->type == RECORD_FINISHED_ROUND && !origin_is_ours(&in->origin))
			order_round(in->order, rec);
		else
			return true;
	}
}

void stream_damaged(struct stream_reader *in, const struct record *rec, const char *why)
{
	in->damaged = true;
	report_damage(in->report, (struct report_place){ in->file, rec->offset },
		      "%s; skipped", why);
}

/* The event of a SAMPLE, or TABLE_NONE. */
static uint32_t event_of_sample(const struct stream_reader *in, const struct record *rec)
{
	uint16_t place = in->events.id_place;
	uint64_t id;

	if (in->events.count == 1)
		return 0;
	if (in->events.count == 0)
		return TABLE_NONE;
	if (place == ABSENT || cursor_left(&rec->body) < place + sizeof(id))
		return 0;	/* nothing tells them apart */
	memcpy(&id, rec->body.at + place, sizeof(id));
	return id ? events_find_id(&in->events, id) : 0;
}

bool stream_sample(struct stream_reader *in, const struct record *rec, struct sample *out)
{
	struct report_place where = { in->file, rec->offset };
	uint32_t event = event_of_sample(in, rec);
	uint64_t needed;

	if (event == TABLE_NONE) {
		in->damaged = true;
		report_damage(in->report, where, in->events.count
			      ? "SAMPLE record of an event the stream does not define; skipped"
			      : "SAMPLE record before any event is defined; skipped");
		return false;
	}
	if (!sample_decode(&in->events.event[event], event, rec, out, &needed)) {
		in->damaged = true;
		report_damage(in->report, where, "SAMPLE record of %zu bytes is shorter than its "
			      "fields, which take %" PRIu64 "; skipped", record_size(rec),
			      needed + RECORD_HEADER_SIZE);
		return false;
	}
	return true;
}

uint64_t stream_time(const struct stream_reader *in, const struct record *rec)
{
	uint64_t time = 0;

	if (!in->events.count || rec->type >= RECORD_ATTR)
		return 0;	/* only the kernel's records have one */
	const struct sample_layout *l = &in->events.event[0].layout;
	size_t size = cursor_left(&rec->body);
	if (rec->type == PERF_RECORD_SAMPLE) {
		uint32_t event = event_of_sample(in, rec);
		if (event == TABLE_NONE)
			return 0;
		l = &in->events.event[event].layout;
		if (l->time != ABSENT && size >= l->size)
			memcpy(&time, rec->body.at + l->time, sizeof(time));
	} else if (l->trailer_time != ABSENT && size >= l->trailer_size) {
		memcpy(&time, rec->body.end - l->trailer_size + l->trailer_time, sizeof(time));
	}
	return time;
}

const struct stream_events *stream_events(const struct stream_reader *in)
{
	return in ? &in->events : &no_events;
}

const struct stream_origin *stream_origin(const struct stream_reader *in)
{
	return in ? &in->origin : &no_origin;
}

bool stream_is_whole(const struct stream_reader *in)
{
	return in && in->ended && !in->damaged;
}

bool stream_has_more(const struct stream_reader *in)
{
	return in && (in->made_at < in->made_size || in->begin < in->end ||
		      in->inner_at < in->inner_size);
}

void stream_close(struct stream_reader *in)
{
	if (!in)
		return;
	if (in->fd != STDIN_FILENO)
		close(in->fd);
	events_release(&in->events);
	origin_release(&in->origin);
	order_free(in->order);
	inflate_close(in->wrapping);
	inflate_close(in->inflate);
	free(in->wrapped);
	free(in->inner);
	free(in->made);
	free(in->buffer);
	free(in);
}
