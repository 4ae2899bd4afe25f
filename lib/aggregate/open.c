/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An input that is not a regular file cannot be read twice.  The bytes that were read to look at
 * it go first to the reader, or to a process that feeds the filters.
 */
#include "aggregate/open.h"
#include "base/arena.h"
#include "base/descriptor.h"
#include "base/sibling.h"
#include "stream/look.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct opened {
	const char *file;
	struct report *report;
	struct look look;
	int fd;			/* the input; -1: its reader has it, or nobody needs it */
	int stream;		/* descriptor that the reader of a stream waits for; -1: none */
	bool is_regular;
	uint8_t *head;		/* STREAM_HEAD_MAX bytes of room */
	size_t size;		/* bytes in HEAD, read from FD unless IS_REGULAR */
	struct sibling feeder, unwinder, symbolizer;
	/* while a stream becomes a profile: */
	struct decoded *profile;
};

static bool is_stdin(const struct opened *o)
{
	return !strcmp(o->file, "-");
}

struct opened *opened_new(const char *file, struct report *report)
{
	struct opened *o = mem_zeroed(1, sizeof(*o));
	struct stat st;

	*o = (struct opened){ .file = file, .report = report, .stream = -1 };
	o->fd = is_stdin(o) ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	if (o->fd < 0 || fstat(o->fd, &st) < 0) {
		report_failure(report, "cannot open '%s'", file);
		free(o);
		return NULL;
	}
	o->is_regular = S_ISREG(st.st_mode);
	descriptor_enlarge_pipe(o->fd);
	o->head = mem_resize(NULL, STREAM_HEAD_MAX);
	o->look = look_into(o->fd, o->is_regular, o->head, &o->size);
	return o;
}

enum open_kind opened_kind(const struct opened *o)
{
	static const enum open_kind kinds[] = {
		[LOOK_RAW] = OPEN_RAW, [LOOK_RESOLVED] = OPEN_RESOLVED, [LOOK_TEXT] = OPEN_FOLDED,
		[LOOK_ROWS] = OPEN_PROFILE, [LOOK_PROFILE] = OPEN_PROFILE,
		[LOOK_OTHER] = OPEN_PROFILE,
	};

	return kinds[o->look.kind];
}

bool opened_is_live(const struct opened *o)
{
	return !o->is_regular;
}

int opened_fd(const struct opened *o)
{
	return o->stream;
}

/*
 * Start the tool NAME on IN, a pipe; or on the input itself if IN is -1.  Return the pipe that
 * it writes, or -1 (reported).
 */
static int start_filter(struct opened *o, struct sibling *s, const char *name, int in)
{
	char *argv[8];
	int n = 0;

	argv[n++] = (char *)(uintptr_t)name;
	if (o->report->quiet)
		argv[n++] = (char *)(uintptr_t)"-q";
	if (o->report->verbose)
		argv[n++] = (char *)(uintptr_t)"-v";
	if (in < 0 && !is_stdin(o)) {
		argv[n++] = (char *)(uintptr_t)"--";
		argv[n++] = (char *)(uintptr_t)o->file;
	}
	argv[n] = NULL;
	return sibling_start(s, argv, in, o->report);
}

/* Start the filters that make O, raw, a resolved stream.  Return its pipe, or -1 (reported). */
static int start_filters(struct opened *o)
{
	char path[PATH_MAX];
	int in = -1;

	if (!o->is_regular) {
		in = sibling_feed(&o->feeder, o->fd, o->head, o->size, o->report);
		if (in < 0)
			return -1;
	}
	if (o->look.has_dumps && sibling_find("pmu-unwind", path)) {
		in = start_filter(o, &o->unwinder, "pmu-unwind", in);
		if (in < 0)
			return -1;
	}
	return start_filter(o, &o->symbolizer, "pmu-symbolize", in);
}

struct stream_reader *opened_stream(struct opened *o)
{
	size_t size = o->is_regular ? 0 : o->size;

	if (o->look.kind == LOOK_RESOLVED) {
		o->stream = o->fd;
		o->fd = -1;
		return stream_open_rest(o->stream, o->file, o->head, size, o->report);
	}
	o->stream = start_filters(o);
	if (o->stream < 0)
		return NULL;
	struct stream_reader *in = stream_open_rest(o->stream, "(pmu-symbolize)", NULL, 0,
						    o->report);
	stream_leave_newer(in);
	return in;
}

struct decoded *opened_subject(struct opened *o, struct collect *c,
			       struct collect_subject *subject)
{
	if (!profile_has_types(&subject->profile, stream_events(c->in))) {
		if (o->report->status == 0)
			report_error(o->report, "'%s' has no event that was sampled", o->file);
		return NULL;
	}
	return profile_decoded(&subject->profile, stream_events(c->in), stream_origin(c->in),
			       o->file, o->report);
}

static void take_subject(struct collect *c, struct collect_subject *subject, void *opened)
{
	struct opened *o = opened;

	o->profile = opened_subject(o, c, subject);
}

/* Aggregate the stream. */
static struct decoded *aggregate(struct opened *o, const struct open_options *options)
{
	const struct collect_options how = { .selection = SELECTION_ALL, .labels = options->labels,
					    .slices = options->slices };
	const char *wrong;
	struct collect c;

	if (!collect_init(&c, &how, o->report, &wrong)) {
		report_error(o->report, "a stream has no label '%s'; it has %s", wrong,
			     label_names);
	} else {
		struct stream_reader *in = opened_stream(o);
		collect_begin(&c, in, take_subject, o);
		while (collect_next(&c))
			;
		if (options->when_read)
			options->when_read();
		collect_finish(&c);
		stream_close(in);
	}
	collect_release(&c);
	return o->profile;
}

struct decoded *opened_profile(struct opened *o, const struct open_options *options)
{
	bool is_stream = o->look.kind == LOOK_RAW || o->look.kind == LOOK_RESOLVED;
	const struct decoded_input in = { .file = o->file, .fd = o->fd, .head = o->head,
					  .size = o->is_regular ? 0 : o->size,
					  .kind = o->look.kind };

	return is_stream ? aggregate(o, options) : decoded_rest(&in, options->when_read, o->report);
}

void opened_free(struct opened *o, bool stopped)
{
	if (!o)
		return;
	/* end the last filter first: then it does not miss its input */
	sibling_end(&o->symbolizer, stopped, o->report);
	sibling_end(&o->unwinder, stopped, o->report);
	sibling_end(&o->feeder, stopped, o->report);
	if (o->fd > STDIN_FILENO)
		close(o->fd);
	free(o->head);
	free(o);
}

struct decoded *open_profile(const char *file, const struct open_options *options,
			     struct report *report)
{
	struct opened *o = opened_new(file, report);
	struct decoded *d = o ? opened_profile(o, options) : NULL;

	opened_free(o, false);
	return d;
}
