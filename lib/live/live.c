/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/signals.h"
#include "live/live-internal.h"
#include "pprof/sample-type.h"
#include "show/screen.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SLICE_MS = 2000,	/* between two drawings, at most */
	RECORDS_AT_ONCE = 256,	/* between two looks at the clock */
	ROWS_MAX = 1 << 17,	/* since the start */
	TYPES_MAX = 64,		/* sample types that are summed up */
};

static volatile sig_atomic_t interrupts;

static void on_interrupt(int number)
{
	(void)number;
	interrupts++;
}

/* Return the type with this NAME and UNIT, or NULL if there are too many. */
static struct live_type *type_of(struct live *l, const char *name, const char *unit)
{
	for (uint32_t i = 0; i < l->types; i++)
		if (!strcmp(l->type[i].name, name) && !strcmp(l->type[i].unit, unit))
			return &l->type[i];
	if (l->types == TYPES_MAX)
		return NULL;
	l->type = array_grow(l->type, l->types, sizeof(*l->type));
	struct live_type *t = &l->type[l->types++];
	*t = (struct live_type){ .name = mem_text(name), .unit = mem_text(unit),
				 .all.how = l->options->how,
				 .slice = mem_zeroed(l->slices, sizeof(*t->slice)) };
	t->all.how.waits &= top_is_of_waits(name);
	for (uint32_t i = 0; i < l->slices; i++)
		t->slice[i].how = t->all.how;
	return t;
}

/* At the first profile: show the type that was asked for, or that the profile prefers. */
static void choose_type(struct live *l, const struct decoded *d)
{
	uint32_t i = 0;

	if (l->has_chosen)
		return;
	l->has_chosen = true;
	uint32_t type = sample_type_find(d, l->options->type, NULL, l->report);
	while (type != TABLE_NONE && i < l->types &&
	       strcmp(l->type[i].name, decoded_string(d, d->type[type].type)))
		i++;
	live_show_type(l, i < l->types ? i : 0);
}

/* Add a slice of the stream to the sums. */
static void take_slice(struct collect *c, struct collect_subject *subject, void *live)
{
	struct live *l = live;
	struct decoded *d = opened_subject(l->opened, c, subject);

	for (uint32_t i = 0; d && i < d->types; i++) {
		struct live_type *t = type_of(l, decoded_string(d, d->type[i].type),
					      decoded_string(d, d->type[i].unit));
		if (!t)
			continue;
		top_add(&t->slice[l->at], d, i);
		top_merge(&t->all, &t->slice[l->at]);
		top_limit(&t->all, ROWS_MAX);
	}
	if (d)
		choose_type(l, d);
	if (d)
		live_source_keep(&l->source, d, l->ended);
}

/* End the slice, and make room for the next one, where the oldest was. */
static void end_slice(struct live *l)
{
	collect_count_waits(&l->collect);
	collect_cut(&l->collect);
	l->at = (l->at + 1) % l->slices;
	l->ended++;
	live_source_drop(&l->source, l->ended < l->slices ? 0 : l->ended - l->slices + 1);
	for (uint32_t i = 0; i < l->types; i++)
		top_release(&l->type[i].slice[l->at]);
}

/* --- the loop --- */

/* An interrupt gives the terminal back.  All that the pipe still writes is read to its end. */
static void take_interrupts(struct live *l, bool is_pipe)
{
	if (interrupts == 0)
		return;
	if (l->drawing)
		screen_end();
	l->drawing = false;
	if (interrupts > 1 || !is_pipe)
		l->quit = true;
}

static void take_keys(struct live *l)
{
	bool pressed = false;

	size_t line = 0;

	for (int key; l->drawing && (key = screen_key(&line)) != 0; pressed = true)
		live_press(l, key, line);
	if (screen_changed() || pressed)
		live_draw(l);
}

/* Wait for a record, a key, or the end of the slice.  Return whether a record can be read. */
static bool wait_for_input(struct live *l)
{
	struct pollfd poll_on[] = {
		{ .fd = opened_fd(l->opened), .events = POLLIN },
		{ .fd = l->drawing ? screen_keys() : -1, .events = POLLIN },
		{ .fd = live_source_fd(&l->source), .events = POLLIN },
	};
	uint64_t time = monotonic_ns();
	int ms = time < l->next ? (int)((l->next - time) / 1000000) + 1 : 0;

	bool more = stream_has_more(l->in);
	if (poll(poll_on, 3, more ? 0 : ms) <= 0)
		return more;
	if (poll_on[2].revents && live_source_read(&l->source, l->report))
		live_draw(l);
	return more || poll_on[0].revents;
}

/* Read records for a while.  Return false at the end of the stream. */
static bool read_some(struct live *l)
{
	for (int i = 0; i < RECORDS_AT_ONCE; i++) {
		if (!collect_next(&l->collect))
			return false;
		if (!stream_has_more(l->in))
			return true;
	}
	return true;
}

static void loop(struct live *l, bool is_pipe)
{
	bool more = l->in != NULL;

	while (more && !l->quit && !is_stopped(l->options->stop)) {
		if (wait_for_input(l))
			more = read_some(l);
		take_interrupts(l, is_pipe);
		take_keys(l);
		if (monotonic_ns() < l->next)
			continue;
		end_slice(l);
		l->next = monotonic_ns() + l->slice;
		if (!l->paused)
			live_sum(l);
		if (!l->paused)
			live_draw(l);
	}
	l->quit |= more;
}

static void begin(struct live *l)
{
	struct sigaction interrupt = { .sa_handler = on_interrupt };
	uint64_t window = l->options->window, longest = SLICE_MS * 1000000ull;

	l->slice = window < longest ? window : longest;
	l->slices = (uint32_t)((window + l->slice - 1) / l->slice) + 1;	/* one is being filled */
	l->by_cumulative = l->options->by_cumulative;
	l->objects = l->options->how.objects;
	/* the first one is short: the user waits */
	l->next = monotonic_ns() + (l->slice < longest / 4 ? l->slice : longest / 4);
	if (!signals_ignored_interrupts())
		sigaction(SIGINT, &interrupt, NULL);
	screen_begin();
	l->drawing = true;
	live_draw(l);
}

/* Move what is left to the result, and free the rest. */
static struct live_result end(struct live *l)
{
	struct live_result result = { .samples = l->collect.samples, .stopped = l->quit,
				      .by_cumulative = l->by_cumulative, .objects = l->objects };

	screen_end();
	for (uint32_t i = 0; i < l->types; i++) {
		struct live_type *t = &l->type[i];
		for (uint32_t k = 0; k < l->slices; k++)
			top_release(&t->slice[k]);
		free(t->slice);
		if (i == l->shown) {
			result.top = t->all;
			result.type = t->name;
			result.unit = t->unit;
			continue;
		}
		top_release(&t->all);
		free(t->name);
		free(t->unit);
	}
	live_screen_release(l);
	free(l->type);
	return result;
}

struct live_result live_show(struct opened *o, const struct live_options *options,
			     struct report *report)
{
	const struct collect_options how = { .selection = SELECTION_ALL,
		.labels = options->labels };
	struct live l = { .opened = o, .options = options, .report = report };
	struct live_result result = { .type = NULL };
	const char *wrong;
	struct stat in;

	if (!collect_init(&l.collect, &how, report, &wrong)) {
		report_error(report, "a stream has no label '%s'; it has %s", wrong, label_names);
		collect_release(&l.collect);
		return result;
	}
	l.in = opened_stream(o);
	stream_stop_on(l.in, options->stop);
	collect_begin(&l.collect, l.in, take_slice, &l);
	begin(&l);
	loop(&l, fstat(STDIN_FILENO, &in) == 0 && S_ISFIFO(in.st_mode));
	screen_end();
	collect_finish(&l.collect);
	result = end(&l);
	stream_close(l.in);
	collect_release(&l.collect);
	return result;
}

void live_result_release(struct live_result *r)
{
	top_release(&r->top);
	free(r->type);
	free(r->unit);
	*r = (struct live_result){ .type = NULL };
}
