/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/bench-line.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char PREFIX[] = "Benchmark";

/* Return whether TEXT is "VALUE UNIT", repeated, with tabs between and spaces before values. */
static bool are_metrics(const char *text)
{
	for (;;) {
		char *end;
		strtod(text, &end);
		if (end == text || *end != ' ')
			return false;
		text = end + 1;
		size_t unit = strcspn(text, " \t");
		if (unit == 0 || text[unit] == ' ')
			return false;
		if (text[unit] == '\0')
			return true;
		text += unit + 1;
	}
}

/*
 * If TEXT ends in a number of iterations and metrics, set both in L, and return where the number
 * starts.  Otherwise return NULL.  IS_ALONE: nothing but the number may be there, too.
 */
static char *find_result(struct bench_line *l, char *text, bool is_alone)
{
	for (char *tab = strchr(text, '\t'); tab; tab = strchr(tab + 1, '\t')) {
		char *start = tab;
		while (start > text && isdigit((unsigned char)start[-1]))
			start--;
		if (start == tab || !are_metrics(tab + 1))
			continue;
		l->iterations = strtoull(start, NULL, 10);
		l->metrics = tab + 1 + strspn(tab + 1, " ");
		return start;
	}
	size_t spaces = strspn(text, " ");
	size_t digits = strspn(text + spaces, "0123456789");
	if (!is_alone || digits == 0 || text[spaces + digits])
		return NULL;
	l->iterations = strtoull(text + spaces, NULL, 10);
	l->metrics = text + spaces + digits;
	return text + spaces;
}

/*
 * Return where in TEXT a benchmark is named, or NULL.  Set the LENGTH of its name, and the SIZE of
 * its name and the tab after it.  What was printed before it may not have ended its line.
 */
static char *find_name(char *text, size_t *length, size_t *size)
{
	for (char *at = text; (at = strstr(at, PREFIX)); at++) {
		*length = strcspn(at, " \t");
		*size = *length + strspn(at + *length, " ") + 1;
		if (at[*size - 1] == '\t')
			return at;
	}
	return NULL;
}

void bench_line_read(struct bench_line *l, char *text)
{
	size_t length, size, before = 0;
	char *name = find_name(text, &length, &size);

	if (name) {
		free(l->name);
		l->name = strndup(name, length);
		if (!l->name)
			abort();
		before = (size_t)(name - text);
		memmove(name, name + size, strlen(name + size) + 1);
	}
	l->is_open |= name != NULL;
	char *result = l->is_open ? find_result(l, text + before, name) : NULL;
	l->has_result = result;
	l->is_open &= !result;
	l->other = text;
	if (result) {
		while (result > text + before && result[-1] == ' ')
			result--;
		*result = '\0';
	}
	if ((name || result) && !*text)
		l->other = NULL;
}

void bench_line_release(struct bench_line *l)
{
	free(l->name);
	*l = (struct bench_line){ .name = NULL };
}

/* Set *VALUE to the value of UNIT in METRICS.  False: it is not there. */
static bool find_metric(const char *metrics, const char *unit, double *value)
{
	size_t length = strlen(unit);

	for (const char *at = metrics; at; at = strchr(at, '\t')) {
		char *end;
		at += *at == '\t';
		*value = strtod(at, &end);
		if (end != at && *end == ' ' && !strncmp(end + 1, unit, length) &&
		    (end[1 + length] == '\0' || end[1 + length] == '\t'))
			return true;
	}
	return false;
}

double bench_line_metric(const char *metrics, const char *unit)
{
	double value;

	return find_metric(metrics, unit, &value) ? value : NAN;
}

bool bench_line_has(const char *metrics, const char *unit)
{
	double value;

	return find_metric(metrics, unit, &value);
}

/* Return N of "NAME-N", or 1. */
static unsigned suffix_of(const char *name)
{
	const char *dash = strrchr(name, '-');

	if (!dash || dash[1] < '1' || dash[1] > '9' ||
	    dash[1 + strspn(dash + 1, "0123456789")])
		return 1;
	errno = 0;
	unsigned long n = strtoul(dash + 1, NULL, 10);
	return errno || n > INT32_MAX ? 1 : (unsigned)n;
}

/*
 * The name of a function has no dash, so a name without '/' shows the number.  A sub-benchmark may
 * be called "size-8" by the program.
 */
unsigned bench_line_threads(char *const *names, size_t count, unsigned cpus)
{
	for (size_t i = 0; i < count; i++)
		if (!strchr(names[i], '/'))
			return suffix_of(names[i]);
	for (size_t i = 1; i < count; i++)
		if (suffix_of(names[i]) != suffix_of(names[0]))
			return 1;
	return count && suffix_of(names[0]) <= cpus ? suffix_of(names[0]) : 1;
}
