/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile.h"

#include <stdarg.h>
#include <stdlib.h>

static void widen(struct profile *p, uint32_t events)
{
	p->event = mem_resize(p->event, events * sizeof(*p->event));
	memset(p->event + p->events, 0, (events - p->events) * sizeof(*p->event));
	p->events = events;
}

void profile_add(struct profile *p, const struct resolved_sample *s)
{
	if (s->event >= p->events)
		widen(p, s->event + 1);
	struct profile_event *event = &p->event[s->event];
	if (event->samples++ == 0)
		event->period = s->period;
	event->sum += s->period;
	event->varies |= event->period != s->period;
	profile_time(p, s->time);
	stacks_add(&p->stacks, s->frame, s->frames, s->event, s->period);
}

void profile_ran(struct profile *p, uint32_t event, uint64_t enabled, uint64_t running)
{
	if (event >= p->events)
		widen(p, event + 1);
	p->event[event].enabled += enabled;
	p->event[event].running += running;
}

double profile_scale(const struct profile *p, uint32_t event)
{
	if (p->no_scale || event >= p->events)
		return 1;
	const struct profile_event *e = &p->event[event];
	/* Times are taken one after the other, so small differences say nothing. */
	return e->running > 0 && (double)e->running < 0.999 * (double)e->enabled
		? (double)e->enabled / (double)e->running : 1;
}

void profile_time(struct profile *p, uint64_t time)
{
	if (time == 0)
		return;
	if (p->first_time == 0 || time < p->first_time)
		p->first_time = time;
	if (time > p->last_time)
		p->last_time = time;
}

void profile_comment(struct profile *p, const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	int length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0)
		return;
	p->comment = array_grow(p->comment, p->comments, sizeof(*p->comment));
	p->comment[p->comments++] = text;
}

void profile_release(struct profile *p)
{
	stacks_release(&p->stacks);
	for (size_t i = 0; i < p->comments; i++)
		free(p->comment[i]);
	free(p->comment);
	free(p->event);
	*p = (struct profile){ 0 };
}
