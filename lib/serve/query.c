/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/query.h"
#include "aggregate/labeler.h"
#include "base/hex.h"
#include "base/text.h"
#include "base/units.h"
#include "linux/proc.h"
#include "serve/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

__attribute__((format(printf, 2, 3)))
static bool wrong(struct query *q, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(q->wrong, sizeof(q->wrong), format, args);
	va_end(args);
	text_make_safe(q->wrong);
	return false;
}

static bool parse_seconds(struct query *q, const char *value)
{
	if (units_parse_duration(value, &q->seconds) && q->seconds >= 1000000)
		return true;
	return wrong(q, "seconds takes a number such as 30 or 0.5, not '%s'", value);
}

static bool add_event(struct query *q, const char *value)
{
	if (q->events == QUERY_EVENTS)
		return wrong(q, "at most %d times event", QUERY_EVENTS);
	q->event[q->events++] = value;
	return true;
}

/* Parse the number of parameter NAME, from 1 to MOST. */
static bool parse_count(struct query *q, const char *name, const char *value, uint64_t most,
		       uint64_t *count)
{
	if (units_parse_count(value, count) && *count >= 1 && *count <= most)
		return true;
	return wrong(q, "%s takes a number from 1 to %" PRIu64 ", not '%s'", name, most, value);
}

static bool parse_period(struct query *q, const char *value)
{
	return parse_count(q, "period", value, INT64_MAX, &q->period);
}

static bool parse_rate(struct query *q, const char *value)
{
	return parse_count(q, "rate", value, INT64_MAX, &q->rate);
}

static bool parse_frequency(struct query *q, const char *value)
{
	return parse_count(q, "frequency", value, QUERY_FREQUENCY, &q->frequency);
}

bool query_set_callgraph(struct query *q, const char *value)
{
	uint64_t bytes;

	q->callgraph = value;
	if (!strcmp(value, "auto") || !strcmp(value, "fp") || !strcmp(value, "dwarf") ||
	    !strcmp(value, "lbr") || !strcmp(value, "none"))
		return true;
	if (!strncmp(value, "dwarf,", strlen("dwarf,")) &&
	    units_parse_count(value + strlen("dwarf,"), &bytes) && bytes >= 8 && bytes <= 65528 &&
	    bytes % 8 == 0)
		return true;
	return wrong(q, "callgraph takes one of auto, fp, dwarf, dwarf,BYTES, lbr, none, not '%s'",
		     value);
}

/* Return whether LABELER was asked for fields of tracepoints. */
static bool has_field(const struct labeler *labeler)
{
	for (uint32_t i = 0; i < labeler->labels.keys; i++)
		if (labeler->fact[i].field)
			return true;
	return false;
}

static bool parse_label(struct query *q, const char *value)
{
	struct labeler labeler = { .cgroups = 0 };
	const char *unknown;
	/* no fields of tracepoints: only pmu-topprof can check that they exist */
	bool good = !strcmp(value, "none") ||
		    (labeler_choose(&labeler, value, &unknown) && !has_field(&labeler));

	q->program_labels = labeler_wants_program(&labeler);
	labeler_release(&labeler);
	q->label = value;
	return good || wrong(q, "label takes a list such as pid,tid,cpu, not '%s'", value);
}

static bool parse_pid(struct query *q, const char *value)
{
	return proc_parse_id(value, &q->pid) ||
	       wrong(q, "pid takes the number of a process, not '%s'", value);
}

static bool parse_comm(struct query *q, const char *value)
{
	q->comm = value;
	return strlen(value) < PROC_NAME_SIZE ||
	       wrong(q, "comm takes a name of at most %d bytes", PROC_NAME_SIZE - 1);
}

/* Set *IS to whether VALUE is YES; else it must be NO. */
static bool parse_choice(struct query *q, const char *name, const char *value, const char *no,
			 const char *yes, bool *is)
{
	*is = !strcmp(value, yes);
	return *is || !strcmp(value, no) ||
	       wrong(q, "%s takes %s or %s, not '%s'", name, no, yes, value);
}

static bool parse_types(struct query *q, const char *value)
{
	return parse_choice(q, "types", value, "all", "one", &q->one_type);
}

static bool parse_fallback(struct query *q, const char *value)
{
	return parse_choice(q, "fallback", value, "0", "1", &q->fallback);
}

static bool parse_moment(struct query *q, const char *name, const char *value, uint64_t *moment)
{
	return moment_parse(value, (uint64_t)time(NULL), moment) ||
	       wrong(q, "%s takes a time such as 2026-11-22T03:12:00Z, seconds since 1970, or -1h, "
		     "not '%s'", name, value);
}

static bool parse_from(struct query *q, const char *value)
{
	return parse_moment(q, "from", value, &q->from);
}

static bool parse_to(struct query *q, const char *value)
{
	bool good = parse_moment(q, "to", value, &q->to);

	q->to += good && q->to == 0;	/* 0: not given; nothing was kept in 1970 */
	return good;
}

static bool ignore(struct query *q, const char *value)
{
	(void)q;
	(void)value;
	return true;
}

static const struct {
	const char *name;
	unsigned bit;
	bool (*parse)(struct query *q, const char *value);
} parameters[] = {
	{ "event", QUERY_EVENT, add_event },
	{ "period", QUERY_PERIOD, parse_period },
	{ "rate", QUERY_RATE, parse_rate },
	{ "frequency", QUERY_HZ, parse_frequency },
	{ "seconds", QUERY_SECONDS, parse_seconds },
	{ "callgraph", QUERY_CALLGRAPH, query_set_callgraph },
	{ "label", QUERY_LABEL, parse_label },
	{ "pid", QUERY_PID, parse_pid },
	{ "comm", QUERY_COMM, parse_comm },
	{ "types", QUERY_TYPES, parse_types },
	{ "fallback", QUERY_FALLBACK, parse_fallback },
	{ "from", QUERY_FROM, parse_from },
	{ "to", QUERY_TO, parse_to },
	{ "debug", QUERY_DEBUG, ignore },
};

enum { PARAMETERS = sizeof(parameters) / sizeof(*parameters) };

/*
 * Decode SIZE bytes of TEXT to *AT, add a NUL, and move *AT after it.  Return false if an escape
 * is malformed, or if the result contains a NUL or a control character.
 */
static bool decode(const char *text, size_t size, char **at)
{
	char *to = *at;

	for (size_t i = 0; i < size; i++) {
		if (text[i] != '%') {
			*to++ = text[i] == '+' ? ' ' : text[i];
			continue;
		}
		int high = size - i > 2 ? hex_digit(text[i + 1]) : -1;
		int low = high < 0 ? -1 : hex_digit(text[i + 2]);
		if (low < 0)
			return false;
		*to++ = (char)(high << 4 | low);
		i += 2;
	}
	*to++ = '\0';
	bool good = strlen(*at) == (size_t)(to - *at) - 1 && !text_needs_care(*at);
	*at = to;
	return good;
}

static bool unknown(struct query *q, const char *name, unsigned allowed)
{
	char known[160] = "";
	size_t used = 0;

	for (size_t i = 0; i < PARAMETERS; i++)
		if ((parameters[i].bit & allowed & ~(unsigned)QUERY_DEBUG) && used < sizeof(known))
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
						 used ? ", " : "", parameters[i].name);
	return wrong(q, "unknown parameter '%.40s'; there are: %s", name, used ? known : "none");
}

/*
 * GIVEN has the value of each parameter so far.  Some collectors add their own "seconds=30" to each
 * address, so a parameter may be given twice with the same value.
 */
static bool parse_parameter(struct query *q, const char *name, const char *value,
			    unsigned allowed, const char *given[PARAMETERS])
{
	for (size_t i = 0; i < PARAMETERS; i++) {
		if (strcmp(parameters[i].name, name) || !(parameters[i].bit & allowed))
			continue;
		if (!*value)
			return true;
		if (given[i] && parameters[i].bit != QUERY_EVENT)
			return !strcmp(given[i], value) ||
			       wrong(q, "%s is given twice, with different values", name);
		given[i] = value;
		return parameters[i].parse(q, value);
	}
	return unknown(q, name, allowed);
}

bool query_is_by_time(const struct query *q)
{
	for (size_t i = 0; i < q->events; i++)
		if (strcmp(q->event[i], "timer") && strcmp(q->event[i], "cpu-clock"))
			return false;
	return true;
}

bool query_ignores_period(const struct query *q, bool only)
{
	size_t timers = 0;

	for (size_t i = 0; i < q->events; i++)
		timers += !strcmp(q->event[i], "timer");
	return q->period && (only || !timers ? timers == q->events : timers > 0);
}

bool query_parse(struct query *q, const char *text, unsigned allowed)
{
	const char *given[PARAMETERS] = { NULL };
	char *at = q->text;
	size_t size;

	memset(q, 0, sizeof(*q));
	if (!text)
		return true;
	if (strlen(text) >= QUERY_SIZE / 2)	/* each part gets a NUL of its own */
		return wrong(q, "the parameters are longer than %d bytes", QUERY_SIZE / 2);
	for (; *text; text += size + (text[size] == '&')) {
		size = strcspn(text, "&");
		const char *equals = memchr(text, '=', size);
		size_t name_size = equals ? (size_t)(equals - text) : size;
		const char *name = at;
		if (size == 0)
			continue;
		if (!decode(text, name_size, &at))
			return wrong(q, "the name of a parameter is not text");
		const char *value = at;
		if (!decode(equals ? equals + 1 : "", equals ? size - name_size - 1 : 0, &at))
			return wrong(q, "the value of '%.40s' is not text", name);
		if (!parse_parameter(q, name, value, allowed, given))
			return false;
	}
	if (!!q->period + !!q->rate + !!q->frequency > 1)
		return wrong(q, "give one of period, rate, frequency");
	if (q->rate > QUERY_FREQUENCY && query_is_by_time(q))
		return wrong(q, "rate: at most %d samples per second by a timer", QUERY_FREQUENCY);
	if (q->pid && q->comm)
		return wrong(q, "give one of pid, comm");
	if (q->to && q->from > q->to)
		return wrong(q, "from is after to");
	return true;
}
