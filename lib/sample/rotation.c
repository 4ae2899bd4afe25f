/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rotation - writes several files instead of one; each is a whole stream.  The current file has
 * the given name; the time of its end is appended when the file is finished, as in perf record.
 */
#include "base/clock.h"
#include "sample/internal.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#ifndef RENAME_NOREPLACE	/* musl before 1.2.6 has neither the flag nor the call */
#include <linux/fs.h>
#include <sys/syscall.h>

static int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned int flags)
{
	return (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
}
#endif

const char *rotation_parse(const char *when, void *rotation)
{
	struct rotation *r = rotation;

	*r = (struct rotation){ .by_signal = !strcmp(when, "signal") };
	if (when[strspn(when, "0123456789")] == '\0')
		return when;	/* bytes or seconds? */
	return r->by_signal || (units_parse_count(when, &r->bytes) && r->bytes) ||
	       (units_parse_duration(when, &r->time) && r->time) ? NULL : when;
}

/* Rename FROM to TO unless that exists (EEXIST). */
static bool rename_to_new(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return true;
	if (errno != EINVAL && errno != ENOSYS)
		return false;
	/* a file system without this flag */
	if (access(to, F_OK) == 0) {
		errno = EEXIST;
		return false;
	}
	return rename(from, to) == 0;
}

bool rotation_rename(const char *file, uint64_t ms, char *name, size_t size)
{
	char stamp[32];
	struct tm tm;
	bool renamed;

	do {
		time_t seconds = (time_t)(ms / 1000);
		localtime_r(&seconds, &tm);
		strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &tm);
		snprintf(name, size, "%s.%s%03" PRIu64, file, stamp, ms++ % 1000);
		renamed = rename_to_new(file, name);
	} while (!renamed && errno == EEXIST);
	return renamed;
}

static void name_file(struct sampler *s)
{
	char name[4096];
	uint64_t ms = clock_ns(CLOCK_REALTIME) / 1000000;

	if (!rotation_rename(s->out->file, ms, name, sizeof(name)))
		report_failure(s->report, "cannot rename '%s' to '%s'", s->out->file, name);
	else
		report_summary(s->report, "%s: %s", s->out->file, name);
	s->files++;
}

/* Close the file and rename it.  A file that we could not open is not renamed. */
static void end_file(struct sampler *s)
{
	bool opened = s->out->fd >= 0;

	output_end_file(s->out);
	if (opened)
		name_file(s);
}

bool sampler_file_is_full(const struct sampler *s, uint64_t now, bool asked)
{
	const struct sampler_options *o = s->options;

	return (o->rotation.bytes && s->out->written >= o->rotation.bytes) ||
	       (o->rotation.time && now - s->file_start >= o->rotation.time) ||
	       (o->rotation.by_signal && asked);
}

void sampler_start_next_file(struct sampler *s, uint64_t now)
{
	if (s->options->flight_recorder)
		flow_dump(&s->flow, UINT64_MAX);
	else
		flow_round(&s->flow, UINT64_MAX);
	s->end_time = now;
	sampler_write_end(s);
	end_file(s);
	s->bytes += s->out->written;
	output_begin_file(s->out);
	s->file_start = now;
	sampler_look_at_waits(s, now);
	sampler_write_start(s);
}

void sampler_name_last_file(struct sampler *s)
{
	end_file(s);
}
