/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"
#include "serve/internal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/*
 * Parse a number of exactly DIGITS digits at *AT, from LEAST to MOST, and one character of FOLLOWS
 * unless that is empty.  Move *AT after them.
 */
static bool parse_number(const char **at, int digits, int least, int most, const char *follows,
			 int *number)
{
	*number = 0;
	for (int i = 0; i < digits; i++, (*at)++) {
		if (**at < '0' || **at > '9')
			return false;
		*number = *number * 10 + (**at - '0');
	}
	if (*number < least || *number > most)
		return false;
	if (*follows && (!**at || !strchr(follows, *(*at)++)))
		return false;
	return true;
}

/* Parse the seconds at *AT, if there are any, and skip their fraction. */
static bool parse_seconds(const char **at, int *seconds)
{
	*seconds = 0;
	if (**at != ':')
		return true;
	++*at;
	if (!parse_number(at, 2, 0, 60, "", seconds))
		return false;
	if (**at != '.')
		return true;
	size_t digits = strspn(*at + 1, "0123456789");
	*at += 1 + digits;
	return digits > 0;
}

/* Parse the distance from UTC, in s: "Z", "+01:00".  In a query a '+' is a space. */
static bool parse_zone(const char *at, int *distance)
{
	int hours, minutes;

	*distance = 0;
	if (!strcmp(at, "Z") || !strcmp(at, "z"))
		return true;
	if (!*at || !strchr("+- ", *at))
		return false;
	int sign = *at++ == '-' ? -1 : 1;
	if (!parse_number(&at, 2, 0, 23, ":", &hours) ||
	    !parse_number(&at, 2, 0, 59, "", &minutes) || *at)
		return false;
	*distance = sign * 60 * (60 * hours + minutes);
	return true;
}

static bool parse_rfc_3339(const char *at, uint64_t *moment)
{
	int year, month, day, hour, minute, second, distance;

	if (!parse_number(&at, 4, 1970, 9999, "-", &year) ||
	    !parse_number(&at, 2, 1, 12, "-", &month) ||
	    !parse_number(&at, 2, 1, 31, "Tt ", &day) || !parse_number(&at, 2, 0, 23, ":", &hour) ||
	    !parse_number(&at, 2, 0, 59, "", &minute) || !parse_seconds(&at, &second) ||
	    !parse_zone(at, &distance))
		return false;
	struct tm tm = {
		.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day,
		.tm_hour = hour, .tm_min = minute,
	};
	time_t time = timegm(&tm) + second;
	if (tm.tm_mon != month - 1)
		return false;		/* February 30 */
	if (time < distance)
		return false;
	*moment = (uint64_t)(time - distance);
	return true;
}

bool moment_parse(const char *text, uint64_t now, uint64_t *moment)
{
	uint64_t ns;

	if (*text == '-') {
		if (!units_parse_duration(text + 1, &ns))
			return false;
		*moment = ns / 1000000000 < now ? now - ns / 1000000000 : 0;
		return true;
	}
	if (text[strspn(text, "0123456789.")] == '\0' && units_parse_duration(text, &ns)) {
		*moment = ns / 1000000000;
		return true;
	}
	return parse_rfc_3339(text, moment);
}

void moment_format(char text[MOMENT_SIZE], uint64_t moment)
{
	time_t time = (time_t)moment;
	struct tm tm;

	if (!gmtime_r(&time, &tm) || strftime(text, MOMENT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		snprintf(text, MOMENT_SIZE, "%llu", (unsigned long long)moment);
}
