/* SPDX-License-Identifier: Apache-2.0 */
#include "base/report.h"
#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Print how many messages of each kind were not printed; SPAN says since when. */
static void print_counts(const struct report *r, const char *span)
{
	for (int i = 0; i < REPORT_KINDS && r->kind[i].format; i++) {
		char text[sizeof(r->kind[i].first) + 64];

		if (r->kind[i].count <= REPORT_SHOWN)
			continue;
		snprintf(text, sizeof(text), "%" PRIu64 " more%s like this: %s",
			 r->kind[i].count - REPORT_SHOWN, span, r->kind[i].first);
		report_take(r, REPORT_NOTE, r->quiet, text);
	}
}

void report_check_hour(struct report *r)
{
	if (!r->hour_end || monotonic_ns() < r->hour_end)
		return;
	print_counts(r, " within an hour");
	for (int i = 0; i < REPORT_KINDS; i++)
		r->kind[i].count = 0;
	r->hour_end = 0;
}

static void start_hour(struct report *r)
{
	const uint64_t hour = (uint64_t)3600 * 1000000000;

	report_check_hour(r);
	if (!r->hour_end)
		r->hour_end = monotonic_ns() + hour;
}

static struct report_kind *kind_of(struct report *r, const char *format)
{
	struct report_kind *kind = r->kind;

	while (kind->format && kind->format != format && kind < &r->kind[REPORT_KINDS - 1])
		kind++;
	kind->format = format;
	return kind;
}

/* Keep TEXT as the first message of KIND: whole, or whole characters and "...". */
static void keep_first(struct report_kind *kind, const char *text)
{
	const size_t most = sizeof(kind->first) - sizeof("...");
	size_t used = 0, next;
	uint32_t code;

	while ((next = text_character(text + used, &code)) > 0 && used + next <= most)
		used += next;
	snprintf(kind->first, sizeof(kind->first), "%.*s%s", (int)used, text, next ? "..." : "");
}

/*
 * Count a message, and print it unless its kind was printed often enough this hour: after the PLACE
 * of damage, and before WHY of a failure.
 */
__attribute__((format(printf, 5, 0)))
static void add(struct report *r, enum report_subject subject, const char *place, const char *why,
		const char *format, va_list args)
{
	struct report_kind *kind = kind_of(r, format);
	char text[512], whole[PATH_MAX + sizeof(text) + 160];

	start_hour(r);
	vsnprintf(text, sizeof(text), format, args);
	text_make_safe(text);
	if (kind->count++ == 0)
		keep_first(kind, text);
	snprintf(whole, sizeof(whole), "%s%s%s", place, text, why);
	report_take(r, subject, kind->count > REPORT_SHOWN || r->quiet, whole);
	if (subject == REPORT_NOTE)
		return;
	r->status = 1;
	if (!r->error[0])
		snprintf(r->error, sizeof(r->error), "%.*s", (int)sizeof(r->error) - 1, whole);
}

void report_damage(struct report *r, struct report_place place, const char *format, ...)
{
	char prefix[PATH_MAX + 32];
	va_list args;

	snprintf(prefix, sizeof(prefix), "%s: offset 0x%" PRIx64 ": ",
		 strcmp(place.file, "-") ? place.file : "stdin", place.offset);
	text_make_safe(prefix);
	va_start(args, format);
	add(r, REPORT_DAMAGE, prefix, "", format, args);
	va_end(args);
}

void report_failure(struct report *r, const char *format, ...)
{
	char suffix[128];
	va_list args;

	snprintf(suffix, sizeof(suffix), ": %s", strerror(errno));
	va_start(args, format);
	add(r, REPORT_FAILURE, "", suffix, format, args);
	va_end(args);
}

void report_error(struct report *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(r, REPORT_ERROR, "", "", format, args);
	va_end(args);
}

void report_note(struct report *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(r, REPORT_NOTE, "", "", format, args);
	va_end(args);
}

void report_rarely(struct report *r, const char *format, ...)
{
	va_list args;

	report_check_hour(r);
	if (kind_of(r, format)->count > 0)
		return;
	va_start(args, format);
	add(r, REPORT_NOTE, "", "", format, args);
	va_end(args);
}

/* Return whether NUMBER is larger than in all calls with this FORMAT before. */
static bool has_grown(struct report *r, const char *format, uint64_t number)
{
	struct report_kind *kind = kind_of(r, format);

	if (number <= kind->most)
		return false;
	kind->most = number;
	return true;
}

void report_once(struct report *r, const char *format, ...)
{
	va_list args;

	if (!has_grown(r, format, 1))
		return;
	va_start(args, format);
	add(r, REPORT_NOTE, "", "", format, args);
	va_end(args);
}

void report_more(struct report *r, uint64_t number, const char *format, ...)
{
	va_list args;

	report_check_hour(r);
	if (!has_grown(r, format, number) || kind_of(r, format)->count > 0)
		return;
	va_start(args, format);
	add(r, REPORT_NOTE, "", "", format, args);
	va_end(args);
}

/* Print a line at once if the verbosity is at least LEVEL. */
__attribute__((format(printf, 3, 0)))
static void print_from(const struct report *r, int level, const char *format, va_list args)
{
	char text[PATH_MAX + 512];

	if (r->verbose < level || r->quiet)
		return;
	vsnprintf(text, sizeof(text), format, args);
	text_make_safe(text);
	report_take(r, REPORT_NOTE, false, text);
}

void report_event(struct report *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_from(r, 0, format, args);
	va_end(args);
}

void report_summary(struct report *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_from(r, 1, format, args);
	va_end(args);
}

void report_detail(struct report *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_from(r, 2, format, args);
	va_end(args);
}

int report_finish(struct report *r)
{
	report_check_hour(r);
	print_counts(r, "");
	return r->status;
}
