/* SPDX-License-Identifier: Apache-2.0 */
#include "aggregate/outputs.h"
#include "base/descriptor.h"
#include "base/destination.h"
#include "base/directory.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NS = 1000000000 };	/* in a second */

/*
 * Return the index of the event to fold: the one called NAME; if NAME is NULL, the first one that
 * has a further type in P, or else the first.
 */
static uint32_t folded_event(const struct profile *p, const struct stream_events *events,
			     const char *name)
{
	for (uint32_t i = 0; i < events->count && !name; i++)
		if (profile_has_more(p, events, i))
			return i;
	for (uint32_t i = 0; i < events->count; i++)
		if (profile_shows(&events->event[i]) &&
		    (!name || !strcmp(events->event[i].name, name)))
			return i;
	return 0;
}

/* Return what would be written as a profile; NULL: it has no types, or is too large (reported). */
static struct decoded *decode(const struct outputs *o, struct collect *c, struct profile *p)
{
	const struct stream_events *events = stream_events(c->in);

	if (!profile_has_types(p, events))
		return NULL;
	return profile_decoded(p, events, stream_origin(c->in), o->input, o->report);
}

/* Write the rows of what would be a profile: so both have the same names, types and labels. */
static void write_rows(const struct outputs *o, struct collect *c, struct profile *p,
		       struct output *out)
{
	struct decoded *d = decode(o, c, p);

	if (d)
		row_write(o->rows, d, out);
	decoded_free(d);
}

static void add_to_pgo(const struct outputs *o, struct collect *c, struct profile *p)
{
	struct decoded *d = decode(o, c, p);

	if (d)
		pgo_add(o->pgo, d, o->input, o->report);
	decoded_free(d);
}

static void write_profile(const struct outputs *o, struct collect *c, struct profile *p,
			  struct output *out)
{
	const struct stream_events *events = stream_events(c->in);

	if (o->folded)
		profile_write_folded(p, events, folded_event(p, events, p->only),
				     out);
	else if (o->rows)
		write_rows(o, c, p, out);
	else
		profile_write(p, events, stream_origin(c->in), out);
}

/* Write SUBJECT to the file NAME in DIRECTORY; it appears when it is complete.  False: reported. */
static bool write_file(struct outputs *o, struct collect *c, struct collect_subject *subject,
		       int directory, const char *name)
{
	struct output out;

	output_open_in(&out, directory, name, o->report);
	write_profile(o, c, &subject->profile, &out);
	output_flush(&out);
	if (o->template)
		fsync(out.fd);		/* continuous profiles must survive a crash */
	o->bytes += out.written;
	bool good = output_close(&out);
	o->files += good;
	return good;
}

/* List whether the file NAME in DIRECTORY (NULL: NAME is a path) was written. */
static void list_file(const struct outputs *o, bool is_written, const char *directory,
		      const char *name)
{
	char line[2 * PATH_MAX];

	if (!o->list)
		return;
	int size = snprintf(line, sizeof(line), "%s\t%s%s%s\n", is_written ? "written" : "failed",
			    directory ? directory : "", directory ? "/" : "", name);
	if (size < (int)sizeof(line))
		output_write(o->list, line, (size_t)size);
	output_flush(o->list);
}

/*
 * Make NAME, which a process chose, a name for a file that neither a shell nor an option parser
 * takes for anything else.
 */
static void make_file_name(char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789+,-.:=@_ ";

	text_make_safe(name);
	for (char *at = name; *at; at++)
		if ((unsigned char)*at < 0x80 && !strchr(plain, *at))
			*at = '_';
	if (*name == '.' || *name == '-' || *name == ' ')
		*name = '_';
}

/* Write the name of SUBJECT's file to PATH: "name-PID.pb.gz". */
static void name_subject(const struct outputs *o, const struct collect *c,
			 const struct collect_subject *subject, char path[PATH_MAX])
{
	static const char *const ends[] = {
		[PACK_GZIP] = "pb.gz", [PACK_NONE] = "pb", [PACK_ZSTD] = "pb.zst",
	};
	char name[64];

	snprintf(name, sizeof(name), "%s", *subject->name ? subject->name : "unnamed");
	make_file_name(name);
	snprintf(path, PATH_MAX, "%s-%d.%s", name, subject->id,
		 o->folded ? "folded" : o->rows ? "rows" : ends[c->how.pack]);
}

/* Call strftime(3) with the user's format: it writes no more than SIZE bytes. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static size_t format_time(char *text, size_t size, const char *format, const struct tm *time)
{
	return strftime(text, size, format, time);
}
#pragma GCC diagnostic pop

/*
 * Return when P starts, in seconds since 1970.  If the stream does not say how its clock relates to
 * the wall clock, its first interval starts now, and the other intervals follow at the same
 * distances as in the stream.
 */
static time_t start_of(struct outputs *o, const struct collect *c, const struct profile *p)
{
	const struct stream_origin *origin = stream_origin(c->in);
	uint64_t wall_time = origin->wall_time, clock_time = origin->clock_time;

	if (!origin->has_clock) {
		if (!o->first_wall) {
			o->first_wall = (uint64_t)time(NULL) * NS;
			o->first_time = p->first_time;
		}
		wall_time = o->first_wall;
		clock_time = o->first_time;
	}
	return (time_t)((wall_time + (p->first_time - clock_time)) / NS);
}

/* Write the template with P's start time to PATH.  False (reported): the name was used before. */
static bool name_interval(struct outputs *o, const struct collect *c, const struct profile *p,
			  char path[PATH_MAX])
{
	time_t start = start_of(o, c, p);
	struct tm local;

	*path = '\0';
	if (!localtime_r(&start, &local) || format_time(path, PATH_MAX, o->template, &local) == 0) {
		report_error(o->report, "-o '%s' gives an empty name", o->template);
		return false;
	}
	if (!strcmp(path, o->last)) {
		report_error(o->report, "two profiles would be called '%s': put more of the time "
			     "into the name of -o", path);
		return false;
	}
	snprintf(o->last, sizeof(o->last), "%s", path);
	return true;
}

/* Write SUBJECT to PATH, in a directory that nobody else can change.  False: reported. */
static bool write_interval(struct outputs *o, struct collect *c, struct collect_subject *subject,
			   const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX], why[DIRECTORY_WHY];

	if (destination_is_input(path, &o->input, 1)) {
		report_error(o->report, "'%s' is not written: it is the input", path);
		return false;
	}
	snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash + 1 - path) : 1,
		 slash ? path : ".");
	int directory = directory_open(parent, why);
	if (directory < 0) {
		report_error(o->report, "cannot write into '%s': %s", parent, why);
		return false;
	}
	bool good = write_file(o, c, subject, directory, slash ? slash + 1 : path);
	close(directory);
	return good;
}

bool outputs_open(struct outputs *o)
{
	char why[DIRECTORY_WHY];

	o->fd = -1;
	if (!o->directory)
		return true;
	if (mkdir(o->directory, 0755) < 0 && errno != EEXIST) {
		report_failure(o->report, "cannot make the directory '%s'", o->directory);
		return false;
	}
	o->fd = directory_open(o->directory, why);
	if (o->fd < 0)
		report_error(o->report, "cannot write into '%s': %s", o->directory, why);
	return o->fd >= 0;
}

void outputs_write(struct collect *c, struct collect_subject *subject, void *context)
{
	struct outputs *o = context;
	char path[PATH_MAX];

	subject->profile.packing = c->how.pack;
	if (!c->how.blame)
		subject->profile.only = c->how.selection.event;
	o->stacks += subject->profile.stacks.count;
	if (o->pgo) {
		add_to_pgo(o, c, &subject->profile);
	} else if (o->directory) {
		if (subject->id == 0 && subject->profile.stacks.count == 0)
			return;		/* there was no sample at all */
		name_subject(o, c, subject, path);
		bool good = write_file(o, c, subject, o->fd, path);
		list_file(o, good, o->directory, path);
	} else if (o->template) {
		bool good = name_interval(o, c, &subject->profile, path) &&
			    write_interval(o, c, subject, path);
		list_file(o, good, NULL, path);
	} else {
		write_profile(o, c, &subject->profile, o->single);
		o->bytes += o->single->written;
	}
}

void outputs_close(struct outputs *o)
{
	descriptor_close(o->fd);
}
