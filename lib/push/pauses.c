/* SPDX-License-Identifier: Apache-2.0 */
#include "push/pauses.h"
#include "base/random.h"

#include <string.h>

/* Return a random share from LEAST to 1. */
static double share(struct pauses *p, double least)
{
	return least + (1 - least) * (double)random_number(&p->seed) / (double)((uint64_t)1 << 31);
}

double pauses_next(struct pauses *p, double asked)
{
	p->next = p->next > 0 ? 2 * p->next : 1;
	if (p->next > PAUSE_MOST)
		p->next = PAUSE_MOST;
	double own = p->next * share(p, 0.5);
	if (asked <= 0)
		return own;
	/* not earlier than asked for, nor all at the same moment */
	asked = asked < PAUSE_ASKED_MOST ? asked : PAUSE_ASKED_MOST;
	return asked + own * share(p, 0);
}

void pauses_reset(struct pauses *p)
{
	p->next = 0;
}

bool pauses_parse(const char *text, time_t now, double *seconds)
{
	/* RFC 9110, section 5.6.7 */
	static const char *const formats[] = {
		"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y",
	};
	size_t digits = strspn(text, "0123456789");

	*seconds = 0;
	if (digits > 0 && !text[digits + strspn(text + digits, " \t")]) {
		for (size_t i = 0; i < digits && *seconds < PAUSE_ASKED_MOST; i++)
			*seconds = 10 * *seconds + (text[i] - '0');
		*seconds = *seconds < PAUSE_ASKED_MOST ? *seconds : PAUSE_ASKED_MOST;
		return true;
	}
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct tm date = { .tm_sec = 0 };
		const char *end = strptime(text, formats[i], &date);
		if (!end || end[strspn(end, " \t")])
			continue;
		double left = difftime(timegm(&date), now);
		*seconds = left < 0 ? 0 : left < PAUSE_ASKED_MOST ? left : PAUSE_ASKED_MOST;
		return true;
	}
	return false;
}
