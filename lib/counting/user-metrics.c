/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/user-metrics.h"
#include "base/regular.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FILE_MAX = 1 << 20,	/* bytes of a file */
	LINE_LONGEST = 4096,	/* bytes */
	METRICS_MAX = 1000, EVENTS_MAX = 256,
	NAME_LONGEST = 100,
	STACK = 3 * METRIC_DEEPEST,	/* values: at most two wait at each depth */
};

/* A line that is being parsed. */
struct line {
	struct user_metrics *m;
	const char *start, *at, *end;
	size_t number;		/* from 1 on */
	int depth;
	struct report *report;
	bool failed;		/* an error has been reported */
};

/* Report the error WHY, the first of a line, at the byte AT.  Return false. */
static bool wrong(struct line *l, const char *at, const char *why)
{
	if (!l->failed)
		report_error(l->report, "%s:%zu:%zu: %s", l->m->file, l->number,
			     (size_t)(at - l->start) + 1, why);
	l->failed = true;
	return false;
}

static void skip_blanks(struct line *l)
{
	while (l->at < l->end && (*l->at == ' ' || *l->at == '\t'))
		l->at++;
}

/* Return the next byte that is not blank, without taking it; 0 at the end of the line. */
static char peek(struct line *l)
{
	skip_blanks(l);
	return l->at < l->end ? *l->at : '\0';
}

static bool add_step(struct line *l, struct metric_step step)
{
	struct metric *metric = &l->m->metric[l->m->count];

	metric->step = array_grow(metric->step, metric->steps, sizeof(step));
	metric->step[metric->steps++] = step;
	return true;
}

static bool is_in_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-.:/=,", c));
}

/* Return the end of the name that starts at L->at, without quotes. */
static const char *end_of_name(const struct line *l)
{
	const char *at = l->at;

	while (at < l->end && is_in_name(*at))
		at++;
	return at;
}

/* Add the event whose name is from AT to END. */
static bool add_event(struct line *l, const char *at, const char *end)
{
	struct user_metrics *m = l->m;
	size_t size = (size_t)(end - at), i = 0;

	while (i < m->events && (strlen(m->event[i].name) != size ||
				 memcmp(m->event[i].name, at, size)))
		i++;
	if (i == m->events) {
		if (i == EVENTS_MAX)
			return wrong(l, at, "a file may name 256 events");
		m->event = array_grow(m->event, m->events, sizeof(*m->event));
		m->event[m->events++] = (struct metric_event){
			.name = arena_text(&m->arena, at, size), .line = l->number,
			.column = (size_t)(at - l->start) + 1, .metric = m->count };
	}
	return add_step(l, (struct metric_step){ .kind = 'e', .event = i });
}

static bool parse_quoted(struct line *l)
{
	const char *start = ++l->at;

	while (l->at < l->end && *l->at != '\'')
		l->at++;
	if (l->at == l->end || l->at == start)
		return wrong(l, start - 1, l->at == l->end ? "this quote is not closed"
							   : "an event's name is missing here");
	return add_event(l, start, l->at++);
}

static bool parse_number(struct line *l)
{
	char text[64], *end;
	size_t size = strnlen(l->at, (size_t)(l->end - l->at));

	size = size < sizeof(text) ? size : sizeof(text) - 1;
	memcpy(text, l->at, size);
	text[size] = '\0';
	double number = strtod(text, &end);
	if (end == text || !isfinite(number) || (size_t)(end - text) == sizeof(text) - 1)
		return wrong(l, l->at, "this is not a number");
	l->at += end - text;
	if (l->at < l->end && (isalnum((unsigned char)*l->at) || *l->at == '_'))
		return wrong(l, l->at, "an operator is missing between the number and the name");
	return add_step(l, (struct metric_step){ .kind = 'n', .number = number });
}

static bool parse_sum(struct line *l);

static bool parse_nested(struct line *l)
{
	const char *open = l->at;

	if (++l->depth > METRIC_DEEPEST)
		return wrong(l, open, "nested too deeply: 64 levels are read");
	l->at++;
	if (!parse_sum(l))
		return false;
	if (peek(l) != ')')
		return wrong(l, l->at < l->end ? l->at : open,
			     l->at < l->end ? "an operator or ')' is expected here"
					    : "this '(' lacks its ')'");
	l->at++;
	l->depth--;
	return true;
}

static bool parse_factor(struct line *l)
{
	char c = peek(l);
	int signs = 0;
	bool good;

	while (c == '-' || c == '+') {
		signs += c == '-';
		l->at++;
		c = peek(l);
	}
	if (c == '(')
		good = parse_nested(l);
	else if (c == '\'')
		good = parse_quoted(l);
	else if (isdigit((unsigned char)c) || c == '.')
		good = parse_number(l);
	else if (isalpha((unsigned char)c) || c == '_') {
		const char *start = l->at;
		l->at = end_of_name(l);
		good = add_event(l, start, l->at);
	} else {
		good = wrong(l, l->at, c ? "a number, a name of an event or '(' is expected here"
					 : "the expression ends too soon");
	}
	return good && (signs % 2 == 0 || add_step(l, (struct metric_step){ .kind = '~' }));
}

static bool parse_product(struct line *l)
{
	bool good = parse_factor(l);

	while (good && (peek(l) == '*' || peek(l) == '/')) {
		char operator = *l->at++;
		good = parse_factor(l) && add_step(l, (struct metric_step){ .kind = operator });
	}
	return good;
}

static bool parse_sum(struct line *l)
{
	bool good = parse_product(l);

	while (good && (peek(l) == '+' || peek(l) == '-')) {
		char operator = *l->at++;
		good = parse_product(l) && add_step(l, (struct metric_step){ .kind = operator });
	}
	return good;
}

/* Take the name of a metric, up to its '='. */
static bool parse_name(struct line *l)
{
	struct user_metrics *m = l->m;
	const char *start = l->at, *equals = memchr(l->at, '=', (size_t)(l->end - l->at));
	const char *end = equals;

	if (!equals)
		return wrong(l, start, "NAME = EXPRESSION is expected here");
	while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	if (end == start || end - start > NAME_LONGEST)
		return wrong(l, start, end == start ? "the metric's name is missing here"
						    : "a name may have 100 bytes");
	for (const char *c = start; c < end; c++)
		if (!isprint((unsigned char)*c))
			return wrong(l, c, "a name has printable ASCII characters only");
	m->metric[m->count].name = arena_text(&m->arena, start, (size_t)(end - start));
	for (size_t i = 0; i < m->count; i++)
		if (!strcmp(m->metric[i].name, m->metric[m->count].name))
			return wrong(l, start, "a metric of this name comes earlier in the file");
	l->at = equals + 1;
	return true;
}

/* Parse the line from START to END. */
static bool parse_line(struct user_metrics *m, const char *start, const char *end, size_t number,
		       struct report *report)
{
	struct line l = { .m = m, .start = start, .at = start, .end = end, .number = number,
			  .report = report };
	const char *comment = memchr(start, '#', (size_t)(end - start));

	if (end - start > LINE_LONGEST)
		return wrong(&l, start + LINE_LONGEST, "a line may have 4096 bytes");
	l.end = comment ? comment : end;
	if (!peek(&l))
		return l.at == l.end || wrong(&l, l.at, "a NUL byte");
	if (m->count == METRICS_MAX)
		return wrong(&l, l.at, "a file may have 1000 metrics");
	m->metric = array_grow(m->metric, m->count, sizeof(*m->metric));
	m->metric[m->count] = (struct metric){ .steps = 0 };
	bool good = parse_name(&l) && parse_sum(&l);
	if (good && l.at < l.end)
		good = wrong(&l, l.at, *l.at == ')' ? "this ')' has no '('"
						    : "an operator is expected here");
	if (good)
		m->count++;
	else
		free(m->metric[m->count].step);
	return good;
}

bool metrics_parse(struct user_metrics *m, const char *file, const char *text, size_t size,
		   struct report *report)
{
	const char *at = text, *end = text + size;

	m->file = file;
	for (size_t number = 1; at < end; number++) {
		const char *line = at, *newline = memchr(at, '\n', (size_t)(end - at));
		const char *last = newline ? newline : end;
		at = newline ? newline + 1 : end;
		if (last > line && last[-1] == '\r')
			last--;
		if (!parse_line(m, line, last, number, report))
			return false;
	}
	if (m->count == 0)
		report_error(report, "'%s' has no metrics: NAME = EXPRESSION is expected", file);
	return m->count > 0;
}

/* Read the file of descriptor FD into TEXT.  Return its size, or -1 with errno set. */
static ssize_t read_all(int fd, char *text)
{
	size_t size = 0;
	ssize_t got;

	while (size <= FILE_MAX && (got = read(fd, text + size, FILE_MAX + 1 - size)) != 0) {
		if (got < 0 && errno != EINTR)
			return -1;
		size += got > 0 ? (size_t)got : 0;
	}
	return (ssize_t)size;
}

bool metrics_read(struct user_metrics *m, const char *file, struct report *report)
{
	int fd = regular_open(file, false);
	char *text = fd >= 0 ? mem_zeroed(FILE_MAX + 1, 1) : NULL;
	ssize_t size = fd >= 0 ? read_all(fd, text) : -1;
	bool good = false;

	if (size < 0)
		report_failure(report, "cannot read '%s'", file);
	else if (size > FILE_MAX)
		report_error(report, "'%s' is larger than 1 MiB: too large for metrics", file);
	else
		good = metrics_parse(m, file, text, (size_t)size, report);
	if (fd >= 0)
		close(fd);
	free(text);
	return good;
}

/* Calculate A OPERATOR B. */
static double calculate(char operator, double a, double b)
{
	switch (operator) {
	case '+': return a + b;
	case '-': return a - b;
	case '*': return a * b;
	default: return b != 0 ? a / b : NAN;
	}
}

/* Return what event E counted, on all kinds of cores. */
static double counted(const struct metric_event *e, const double *count)
{
	double sum = 0;

	for (size_t i = 0; i < e->count; i++)
		sum += count[e->counted[i]];
	return e->count ? sum : NAN;
}

double metric_value(const struct user_metrics *m, const struct metric *metric, const double *count)
{
	double stack[STACK];
	size_t used = 0;

	for (size_t i = 0; i < metric->steps && used < STACK; i++) {
		const struct metric_step *s = &metric->step[i];
		if (s->kind == 'n')
			stack[used++] = s->number;
		else if (s->kind == 'e')
			stack[used++] = counted(&m->event[s->event], count);
		else if (s->kind == '~')
			stack[used - 1] = -stack[used - 1];
		else if (used--, true)
			stack[used - 1] = calculate(s->kind, stack[used - 1], stack[used]);
	}
	return used == 1 && isfinite(stack[0]) ? stack[0] : NAN;
}

void metrics_release(struct user_metrics *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(m->metric[i].step);
	for (size_t i = 0; i < m->events; i++)
		free(m->event[i].counted);
	free(m->metric);
	free(m->event);
	arena_release(&m->arena);
	*m = (struct user_metrics){ .count = 0 };
}
