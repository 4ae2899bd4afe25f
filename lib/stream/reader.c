/* SPDX-License-Identifier: Apache-2.0 */
#include "base/descriptor.h"
#include "stream/internal.h"
#include "stream/look.h"
#include "record/group.h"
#include "record/swap.h"
#include "stream/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct stream_events no_events;
static const struct stream_origin no_origin;

struct report_place reader_place(const struct stream_reader *in)
{
	return (struct report_place){ in->file, in->offset };
}

static struct cursor unread(const struct stream_reader *in, size_t size)
{
	const uint8_t *at = in->buffer + in->begin;

	return (struct cursor){ .at = at, .end = at + size };
}

/* Report that the input is of another kind: show its first bytes, as text if they are text. */
static void report_foreign(struct stream_reader *in)
{
	const uint8_t *at = in->buffer + in->begin;
	char start[2 + 2 * sizeof(uint64_t) + 1] = "0x";
	bool is_text = true;

	for (size_t i = 0; i < sizeof(uint64_t); i++) {
		snprintf(start + 2 + 2 * i, 3, "%02x", at[i]);
		is_text &= at[i] >= ' ' && at[i] <= '~';
	}
	if (is_text)
		snprintf(start, sizeof(start), "'%.8s'", (const char *)at);
	reader_damage(in, "not a stream or perf.data file: it starts with %s, not 'PERFILE2'",
		      start);
}

static bool read_header(struct stream_reader *in)
{
	reader_unwrap(in);
	if (!reader_fill(in, PIPE_HEADER_SIZE)) {
		if (reader_stopped(in))
			return false;
		if (in->end == in->begin && !in->damaged && in->seekable)
			reader_damage(in, "empty: the file has no bytes");
		else if (in->end == in->begin && !in->damaged)
			reader_damage(in, "empty: no stream came, and no rows; did the command "
				      "before this one fail, or find nothing?");
		else if (!in->damaged)
			reader_damage(in, "not a stream: only %zu bytes", in->end - in->begin);
		return false;
	}
	struct cursor c = unread(in, PIPE_HEADER_SIZE);
	uint64_t magic = cursor_u64(&c);
	in->swap = c.swap = magic == __builtin_bswap64(STREAM_MAGIC);
	uint64_t size = cursor_u64(&c);
	if (magic == STREAM_MAGIC_1) {	/* text, the same in both byte orders */
		in->swap = size > UINT32_MAX;
		size = in->swap ? __builtin_bswap64(size) : size;
		magic = STREAM_MAGIC;
	}
	if (magic != STREAM_MAGIC && !in->swap &&
	    look_is_old_profile(in->buffer + in->begin, in->end - in->begin)) {
		reader_damage(in, "%s", LOOK_OLD_PROFILE);
		return false;
	}
	if (magic != STREAM_MAGIC && !in->swap) {
		report_foreign(in);
		return false;
	}
	if (size != PIPE_HEADER_SIZE)
		return reader_open_file(in, size);
	return reader_skip(in, PIPE_HEADER_SIZE);
}

/* As stream_open_source(), if the SIZE bytes at HEAD have been read from SOURCE already. */
static struct stream_reader *open_at(const struct stream_source *source, const void *head,
				     size_t size, const volatile sig_atomic_t *stop,
				     struct report *report)
{
	struct stat st = { 0 };

	if (!source->read && (source->fd < 0 || fstat(source->fd, &st) < 0)) {
		report_failure(report, "cannot open '%s'", source->file);
		return NULL;
	}
	if (!source->read)
		descriptor_enlarge_pipe(source->fd);
	struct stream_reader *in = mem_zeroed(1, sizeof(*in));
	in->report = report;
	in->stop = stop;
	in->file = source->file;
	in->order = order_new();
	in->read = source->read;
	in->context = source->context;
	in->fd = source->fd;
	in->is_lent = source->is_lent;
	in->seekable = S_ISREG(st.st_mode);
	in->limit = in->latest = UINT64_MAX;
	in->naming.left = (uint64_t)EVENTS_MAX << 14;
	in->capacity = READER_BUFFER;
	in->buffer = mem_resize(NULL, READER_BUFFER);
	if (size > 0)
		memcpy(in->buffer, head, size);
	in->end = size;
	if (!read_header(in)) {
		stream_close(in);
		return NULL;
	}
	return in;
}

struct stream_reader *stream_open(const char *file, const volatile sig_atomic_t *stop,
				  struct report *report)
{
	bool is_stdin = !strcmp(file, "-");
	int fd = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);

	return open_at(&(struct stream_source){ file, NULL, NULL, fd, is_stdin }, NULL, 0, stop,
		       report);
}

struct stream_reader *stream_open_source(const struct stream_source *source,
					 const volatile sig_atomic_t *stop,
					 struct report *report)
{
	return open_at(source, NULL, 0, stop, report);
}

struct stream_reader *stream_open_rest(int fd, const char *file, const void *head, size_t size,
				       struct report *report)
{
	return open_at(&(struct stream_source){ file, NULL, NULL, fd, fd == STDIN_FILENO }, head,
		       size, NULL, report);
}

void stream_limit_waiting(struct stream_reader *in, size_t bytes)
{
	if (in)
		order_limit(in->order, bytes);
}

void stream_stop_on(struct stream_reader *in, const volatile sig_atomic_t *stop)
{
	if (in)
		in->stop = stop;
}

/* At the end of the records, report if something is missing. */
static void check_end(struct stream_reader *in)
{
	bool is_whole = !origin_is_ours(&in->origin) || in->origin.has_ended;
	size_t left = in->end - in->begin;

	if (in->damaged || reader_stopped(in))
		return;
	if (left > 0)
		reader_damage(in, "stream ends inside a record header");
	else if (in->limit != UINT64_MAX && in->offset < in->limit)
		reader_damage(in, "file ends here, but its header claims data up to 0x%" PRIx64,
		       in->limit);
	else if (!in->is_file && in->offset == PIPE_HEADER_SIZE)
		reader_damage(in, "stream ends after its header: no record came");
	else if (!is_whole && !in->newer.is_left)
		reader_damage(in, "stream ends before its recorder's last record: it was cut "
			      "short");
	else if (!is_whole) {		/* the filter reports it */
		in->damaged = true;
		in->report->status = 1;
	}
}

void reader_swap(struct stream_reader *in, struct record *rec, uint8_t *at, size_t size)
{
	rec->foreign = !swap_record(&in->events, at, size);
	if (record_is_resolved(rec->type)) {
		stream_damaged(in, rec, "record resolved on a machine of the other byte order: "
			       "run pmu-symbolize on this one instead");
		rec->body.end = rec->body.at;
		rec->type = RECORD_DROPPED;
	}
}

/*
 * Return whether another stream begins here, which is reported.  It defines ids of its own, so it
 * cannot be read as a part of this one.
 */
static bool another_begins(struct stream_reader *in)
{
	uint64_t magic = load_u64(in->buffer + in->begin);

	if (magic != STREAM_MAGIC && magic != __builtin_bswap64(STREAM_MAGIC))
		return false;
	reader_damage(in, "another stream begins here, which is not read: streams are joined by "
		      "pmu-stream --cat, before pmu-symbolize, not by cat(1)");
	return true;
}

/* Report why there is no valid record here. */
static void report_bad_record(struct stream_reader *in, const struct record *rec, size_t size)
{
	const char *name = record_type_name(rec->type);

	if (in->damaged && in->end == in->begin)
		return;		/* a failure of the input, reported already */
	if (size < RECORD_HEADER_SIZE)
		reader_damage(in, "record of type %u claims %zu bytes, less than its header",
			      rec->type, size);
	else
		reader_damage(in, "stream ends inside a record of type %u (%s), which has %zu "
			      "bytes", rec->type, name ? name : "unknown", size);
}

static bool read_record(struct stream_reader *in, struct record *rec)
{
	while (reader_fill(in, RECORD_HEADER_SIZE)) {
		if (another_begins(in))
			return false;
		size_t size = record_frame(rec, in->buffer + in->begin, in->swap);
		if (reader_is_large(rec) && (rec->misc || size >= RECORD_HEADER_SIZE))
			return reader_take_large(in, rec, size);
		if (size >= RECORD_HEADER_SIZE && reader_fill(in, size)) {
			uint8_t *at = in->buffer + in->begin;
			record_frame(rec, at, in->swap);	/* the buffer may have moved */
			rec->offset = in->offset;
			size_t exact = reader_cut(in, rec, at, size);
			if (in->swap)
				reader_swap(in, rec, at, exact);
			in->begin += size;
			in->offset += size;
			return true;
		}
		if (reader_stopped(in))
			return false;
		report_bad_record(in, rec, size);
		if (!reader_resume(in))
			return false;
	}
	check_end(in);
	return false;
}

/* Return the next record made from a file's header in *REC; these records are well formed. */
static void next_made(struct stream_reader *in, struct record *rec)
{
	size_t size = record_frame(rec, in->made.at + in->made_at, false);
	uint64_t trailing = reader_trailing_size(rec);

	rec->made = true;
	rec->foreign = in->swap && rec->type == RECORD_FEATURE &&
		       !swap_knows_feature(load_u64(rec->body.at));
	rec->offset = 0;
	in->made_at += size;
	rec->trailing = (struct cursor){ .at = in->made.at + in->made_at,
				       .end = in->made.at + in->made_at + trailing };
	in->made_at += trailing;
}

/*
 * Return the next record from inside COMPRESSED records in *REC.  There, TRACING_DATA must
 * have its data inside: other records follow it.  Without data it is dropped, and so are large
 * records of simpleperf, because a reader of our output would take the next records for its data.
 * A COMPRESSED record is dropped, too: nobody compresses twice.
 */
static bool next_inner(struct stream_reader *in, struct record *rec)
{
	if (!reader_next_inner(in, rec))
		return false;
	if (rec->type == RECORD_TRACING_DATA && !reader_move_out_trailing(rec) &&
	    reader_trailing_size(rec) > 0) {
		stream_damaged(in, rec, "TRACING_DATA record without its data, in a COMPRESSED "
			       "one");
		rec->type = RECORD_DROPPED;
	} else if (reader_is_large(rec)) {
		stream_damaged(in, rec, "record of simpleperf in a COMPRESSED record");
		rec->type = RECORD_DROPPED;
	} else if (rec->type == RECORD_COMPRESSED || rec->type == RECORD_COMPRESSED2) {
		stream_damaged(in, rec, "COMPRESSED record in a COMPRESSED one");
		rec->type = RECORD_DROPPED;
	}
	return true;
}

/* Return the next record in input order in *REC, or false at the end. */
static bool next_read(struct stream_reader *in, struct record *rec)
{
	if (in->made_at < in->made.size) {
		next_made(in, rec);
		return true;
	}
	rec->trailing = (struct cursor){ 0 };
	struct inflate *z = in->wrapping ? in->wrapping : in->inflate;
	if (z)
		inflate_count(z, 0, 1);
	if (z && reader_stops_at_bomb(in, z))
		return false;
	while (!next_inner(in, rec)) {
		if (in->is_bomb || reader_stopped(in) || !read_record(in, rec)) {
			reader_check_inner_end(in);
			return false;
		}
		if (cursor_left(&rec->trailing) ||
		    (rec->type == RECORD_TRACING_DATA && reader_move_out_trailing(rec)))
			break;
		uint64_t trailing = reader_trailing_size(rec);
		if (trailing)
			return reader_take_trailing(in, rec, trailing);
		if (rec->type != RECORD_COMPRESSED && rec->type != RECORD_COMPRESSED2)
			break;
		reader_take_compressed(in, rec);
	}
	return true;
}

/* Return whether REC, with its *TIME, must wait for older records of other CPUs. */
static bool must_wait(const struct stream_reader *in, const struct record *rec, uint64_t *time)
{
	if (rec->type >= RECORD_ATTR || reader_is_in_order(in))
		return false;
	*time = stream_time(in, rec);
	if (*time == 0 || *time == UINT64_MAX)
		return false;
	if (!reader_counts(in))
		return true;
	if (rec->type != PERF_RECORD_SAMPLE)	/* stream_count_sample() does this for samples */
		order_pass(in->order, *time);
	return false;
}

static void end_input(struct stream_reader *in)
{
	in->drained = true;
	order_end(in->order);
	if (order_late(in->order))
		report_note(in->report, "%" PRIu64 " records came later than their round allows; "
			    "some addresses may be resolved wrongly",
			    order_late(in->order));
	reader_note_newer(in);
}

bool stream_next(struct stream_reader *in, struct record *rec)
{
	uint64_t time;

	if (!in || in->ended)
		return false;
	if (reader_counts(in) && reader_step(in, rec))	/* nothing waits in ORDER */
		return true;
	for (;;) {
		if (order_next(in->order, rec))
			return true;
		if (in->has_held) {
			*rec = in->held;
			in->has_held = false;
			reader_follow(in, rec);
			return true;
		}
		if (in->drained) {
			in->ended = true;
			order_free(in->order);	/* the caller may need the memory now */
			in->order = NULL;
			return false;
		}
		reader_keep_samples(in);
		if (order_has_next(in->order))
			continue;
		if (!reader_step(in, rec) && !next_read(in, rec)) {
			end_input(in);
			continue;
		}
		if (rec->type == RECORD_DROPPED)
			continue;
		reader_check_mark(in, rec);
		if (rec->type != PERF_RECORD_SAMPLE)
			reader_count_newer(in, rec);
		if (rec->type == RECORD_EVENT_ID) {	/* it applies only to later records */
			in->held = *rec;
			in->has_held = true;
			order_end(in->order);
			continue;
		}
		if (rec->type >= RECORD_ATTR && rec->type <= RECORD_FEATURE)
			reader_follow(in, rec);
		in->filtered |= rec->type == RECORD_TOOL;
		if (must_wait(in, rec, &time))
			order_add(in->order, rec, time);
		else if (rec->type == RECORD_FINISHED_ROUND && !reader_is_in_order(in))
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

bool stream_fits(struct stream_reader *in, const struct record *rec)
{
	if (record_fits(rec))
		return true;
	stream_damaged(in, rec, "record with fields that do not fit into it");
	return false;
}

void stream_note_tasks(struct stream_reader *in, const struct tasks *t)
{
	if (t->silenced)
		report_more(in->report, t->silenced, "more than %d threads have no recorded end; "
			    "those silent for longest are forgotten", TASKS_MAX);
	if (t->nameless)
		report_more(in->report, t->nameless, "threads have more than %d names; further "
			    "threads have none", NAMES_MAX);
}

void stream_note_groups(struct stream_reader *in, const struct groups *g)
{
	if (g->refused)
		report_more(in->report, g->refused, "groups of events have more than %d counters "
			    "in all threads; samples of further threads count for their own event "
			    "only", GROUP_COUNTERS_MAX);
}

bool stream_sample(struct stream_reader *in, const struct record *rec, struct sample *out)
{
	struct report_place where = { in->file, rec->offset };
	uint32_t event = events_of_sample(&in->events, rec->body);
	uint64_t needed;

	if (event == TABLE_NONE) {
		in->damaged = true;
		report_damage(in->report, where, in->events.count
			      ? "SAMPLE record of an event that the stream does not define; skipped"
			      : "SAMPLE record before any event is defined; skipped");
		return false;
	}
	if (!sample_decode(&in->events.event[event], event, rec, out, &needed)) {
		in->damaged = true;
		size_t size = record_size(rec);
		needed += RECORD_HEADER_SIZE;
		if (needed > size)
			report_damage(in->report, where, "SAMPLE record of %zu bytes is shorter "
				      "than its fields, which take %" PRIu64 "; skipped", size,
				      needed);
		else
			report_damage(in->report, where, "SAMPLE record of %zu bytes is shorter "
				      "than its fields: a count in it is too large; skipped", size);
		return false;
	}
	out->time = stream_possible_time(in, out->time);
	return true;
}

uint64_t stream_time(const struct stream_reader *in, const struct record *rec)
{
	uint64_t time = 0;

	if (!in->events.count || rec->type >= RECORD_ATTR)
		return 0;	/* only kernel records have a time */
	size_t size = cursor_left(&rec->body);
	if (rec->type == PERF_RECORD_SAMPLE) {
		uint32_t event = events_of_sample(&in->events, rec->body);
		if (event == TABLE_NONE)
			return 0;
		const struct sample_layout *l = &in->events.event[event].layout;
		if (l->time != ABSENT && size >= l->size)
			memcpy(&time, rec->body.at + l->time, sizeof(time));
		return stream_possible_time(in, time);
	}
	const struct stream_event *e = events_trailer(&in->events, rec->body);
	if (e && e->layout.trailer_time != ABSENT)
		memcpy(&time, rec->body.end - e->layout.trailer_size + e->layout.trailer_time,
		       sizeof(time));
	return stream_possible_time(in, time);
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

int stream_error(const struct stream_reader *in)
{
	return in ? in->error : 0;
}

bool stream_is_swapped(const struct stream_reader *in)
{
	return in && in->swap;
}

bool stream_has_more(const struct stream_reader *in)
{
	return in && (in->made_at < in->made.size || in->begin < in->end ||
		      in->inner_at < in->inner.size);
}

bool stream_wait(const struct stream_reader *in, int ms)
{
	struct pollfd input = { .fd = in ? in->fd : -1, .events = POLLIN };

	return !in || in->read || stream_has_more(in) || poll(&input, 1, ms) != 0;
}

void stream_close(struct stream_reader *in)
{
	if (!in)
		return;
	reader_close_source(in);
	events_release(&in->events);
	origin_release(&in->origin);
	order_free(in->order);
	inflate_close(in->wrapping);
	inflate_close(in->inflate);
	free(in->wrapped);
	free(in->inner.at);
	free(in->made.at);
	free(in->buffer);
	free(in);
}
