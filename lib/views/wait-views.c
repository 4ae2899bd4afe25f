/* SPDX-License-Identifier: Apache-2.0 */
#include "views/wait-views.h"
#include "base/arena.h"
#include "base/descriptor.h"
#include "base/spool.h"
#include "base/write.h"
#include "pprof/comments.h"
#include "pprof/merge-parts.h"
#include "record/words.h"
#include "waits/pairing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A side of the recording: what collects it, and what its sample types are called. */
static const struct side {
	enum pairing_mode blame;
	const char *samples, *value;	/* NULL: as the profile says */
} sides[] = {
	{ PAIRING_NONE, NULL, NULL },
	{ PAIRING_BLOCK, TYPE_BLOCK TYPE_END_SAMPLES, TYPE_BLOCK },
	{ PAIRING_MUTEX, TYPE_MUTEX TYPE_END_SAMPLES, TYPE_MUTEX },
	{ PAIRING_CAUSES, TYPE_CAUSES TYPE_END_SAMPLES, TYPE_CAUSES },
};

enum { SIDES = sizeof(sides) / sizeof(*sides), FIRST_OF_WAITS = 1, SHOWN_FIRST = 2 };

/* The profiles of all sides, and the types of their sum. */
struct views {
	const struct collect_options *how;
	struct report *report;
	const char *input;
	int fd;				/* the stream, which can be read again */
	const volatile sig_atomic_t *stop;	/* NULL: all of FD is wanted */
	struct decoded *of[SIDES];
	uint32_t *place[SIDES];		/* by type of a profile: its type in the sum, or none */
	const char *(*type)[2];		/* of the sum: names and units */
	uint32_t types, shown;		/* SHOWN: the type that is shown first */
};

/*
 * Copy the rest of FROM to TO, until *STOP is set.  Return false, with errno, on failure.  If there
 * is no room left, read on: a recorder that cannot write would end, and its command with it.
 */
static bool copy(int from, int to, const volatile sig_atomic_t *stop)
{
	char bytes[1 << 16];
	ssize_t n = 1;
	int failed = 0;

	while (n > 0 && !*stop) {
		do
			n = read(from, bytes, sizeof(bytes));
		while (n < 0 && errno == EINTR && !*stop);
		if (n > 0 && !failed)
			failed = write_whole(to, bytes, (size_t)n);
	}
	if (n < 0 && errno != EINTR)
		return false;
	errno = failed;
	return !failed;
}

/* Open the input of V, so that it can be read again.  Return false (reported) on failure. */
static bool open_input(struct views *v)
{
	bool is_stdin = !strcmp(v->input, "-");
	int from = is_stdin ? STDIN_FILENO : open(v->input, O_RDONLY | O_CLOEXEC);
	const char *directory;
	struct stat st;

	if (from < 0 || fstat(from, &st) < 0) {
		report_failure(v->report, "cannot open '%s'", v->input);
		descriptor_close(from);
		return false;
	}
	if (S_ISREG(st.st_mode)) {
		v->fd = from;
		return true;
	}
	descriptor_enlarge_pipe(from);
	v->fd = spool_open(&directory);
	if (v->fd < 0 || !copy(from, v->fd, v->stop))	/* what was copied is shown */
		report_failure(v->report, "cannot copy all of '%s' to '%s' (set TMPDIR, or name a "
			       "file)", is_stdin ? "stdin" : v->input, directory);
	v->stop = NULL;
	if (!is_stdin)
		close(from);
	return v->fd >= 0;
}

static void take_profile(struct collect *c, struct collect_subject *subject, void *decoded)
{
	struct decoded **d = decoded;

	if (profile_has_types(&subject->profile, stream_events(c->in)))
		*d = profile_decoded(&subject->profile, stream_events(c->in),
				     stream_origin(c->in), "-", c->report);
}

/* Make the profile of side I of V.  Return false (reported) if the stream does not have it. */
static bool collect_side(struct views *v, size_t i, struct report *report)
{
	const struct stream_source source = { .file = v->input, .fd = v->fd, .is_lent = true };
	struct collect_options how = *v->how;
	const char *wrong;
	struct collect c;
	bool good = false;

	how.blame = sides[i].blame;
	if (lseek(v->fd, 0, SEEK_SET) < 0) {
		report_failure(report, "cannot read '%s' again", v->input);
		return false;
	}
	if (collect_init(&c, &how, report, &wrong)) {
		struct stream_reader *in = stream_open_source(&source, v->stop, report);
		collect_stream(&c, in, take_profile, &v->of[i]);
		collect_report(&c, report);
		good = v->of[i] && !collect_lacks_waits(&c) &&
		       (c.samples > 0 || !report->status);
		stream_close(in);
	} else {
		report_error(report, "a stream has no label '%s'; it has %s", wrong, label_names);
	}
	collect_release(&c);
	return good;
}

/*
 * Make the profiles of all sides.  What is wrong with the stream, or noteworthy, is reported for
 * the first side of waits.
 */
static bool collect_sides(struct views *v)
{
	bool good = collect_side(v, FIRST_OF_WAITS, v->report);
	struct report quiet = *v->report;

	quiet.quiet = true;
	for (size_t i = 0; i < SIDES && good; i++)
		if (i != FIRST_OF_WAITS)
			collect_side(v, i, &quiet);
	v->report->status |= quiet.status;
	return good;
}

/* Return whether a type of the side of what ran is about waits, which have sides of their own. */
static bool is_of_waits(const char *name)
{
	static const char *const left_out[] = { TYPE_OFF_CPU, TYPE_WALL, EVENT_WAKING };

	for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
		if (!strncmp(name, left_out[i], strlen(left_out[i])))
			return true;
	return false;
}

/* Return what type NAME of side I is called in the sum; NULL: it is left out. */
static const char *name_in_sum(size_t i, const char *name)
{
	if (!sides[i].value)
		return is_of_waits(name) ? NULL : name;
	if (!strcmp(name, TYPE_CONTENTIONS))
		return sides[i].samples;
	return !strcmp(name, TYPE_DELAY) ? sides[i].value : NULL;
}

/* Give the types of side I a place in the sum. */
static void place_types(struct views *v, size_t i)
{
	const struct decoded *d = v->of[i];

	v->place[i] = mem_zeroed(d->types + 1, sizeof(*v->place[i]));
	for (uint32_t t = 0; t < d->types; t++) {
		const char *name = name_in_sum(i, decoded_string(d, d->type[t].type));
		v->place[i][t] = name ? v->types : TABLE_NONE;
		if (!name)
			continue;
		if (i == 0 || (i == SHOWN_FIRST && d->samples > 0))
			v->shown = v->types;
		v->type = array_grow(v->type, v->types, sizeof(*v->type));
		v->type[v->types][0] = name;
		v->type[v->types++][1] = decoded_string(d, d->type[t].unit);
	}
}

/* Forget what D says of losses: the first side says it, and that [lost] stands for some. */
static void forget_losses(struct decoded *d)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < d->comments; i++)
		if (!comment_after(decoded_string(d, d->comment[i]), COMMENT_LOST))
			d->comment[kept++] = d->comment[i];
	d->comments = kept;
}

/* Add the profiles up.  Their comments are those of one recording. */
static struct merge *join(struct views *v)
{
	struct merge *m = merge_new();

	for (size_t i = 0; i < SIDES; i++)
		if (v->of[i])
			place_types(v, i);
	part_types(m, (const char *const (*)[2])v->type, v->types);
	part_default_type(m, v->shown);
	for (size_t i = 0; i < SIDES; i++) {
		if (i > 0 && v->of[0] && v->of[i])
			forget_losses(v->of[i]);
		if (v->of[i])
			merge_add_beside(m, v->of[i], v->place[i]);
	}
	return m;
}

struct merge *wait_views_make(const char *input, const struct collect_options *how,
			      const volatile sig_atomic_t *stop, struct report *report)
{
	struct views v = { .how = how, .report = report, .input = input, .fd = -1, .stop = stop };
	struct merge *m = NULL;

	if (open_input(&v) && collect_sides(&v))
		m = join(&v);
	for (size_t i = 0; i < SIDES; i++) {
		decoded_free(v.of[i]);
		free(v.place[i]);
	}
	free(v.type);
	if (v.fd > STDIN_FILENO)
		close(v.fd);
	return m;
}
