/* SPDX-License-Identifier: Apache-2.0 */
#include "aggregate/profile.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/sort.h"
#include "record/words.h"

#include <stdarg.h>
#include <stdlib.h>

/* Make room for EVENT. */
static void add_events(struct profile *p, uint32_t event)
{
	p->event = mem_resize(p->event, (event + 1) * sizeof(*p->event));
	memset(p->event + p->events, 0, (event + 1 - p->events) * sizeof(*p->event));
	p->events = event + 1;
}

static inline struct profile_event *event_at(struct profile *p, uint32_t event)
{
	if (event >= p->events)
		add_events(p, event);
	return &p->event[event];
}

struct profile_event *profile_event_at(struct profile *p, uint32_t event)
{
	return event_at(p, event);
}

void profile_add(struct profile *p, struct chain_entry *chain, uint32_t labels, uint32_t index,
		 uint64_t period, uint64_t time)
{
	struct profile_event *event = event_at(p, index);

	if (event->samples++ == 0)
		event->period = period;
	event->sum += period;
	event->squares += (unsigned __int128)period * period;
	event->varies |= event->period != period;
	clock_widen(&p->first_time, &p->last_time, time);
	stacks_add_sample(&p->stacks, (struct stack){ chain->chain, labels },
			  profile_place(p, index), period, &chain->hint);
}

void profile_add_waits(struct profile *p, struct chain_entry *chain, uint32_t labels,
		       uint32_t index, uint64_t count, uint64_t ns)
{
	struct profile_event *event = event_at(p, index);

	event->samples += count;
	event->sum += ns;
	event->varies = event->is_waiting = true;
	if (chain)
		stacks_add(&p->stacks, (struct stack){ chain->chain, labels },
			   profile_place(p, index), count, ns, &chain->hint);
}

void profile_add_more(struct profile *p, struct chain_entry *chain, uint32_t labels,
		      uint32_t event, uint64_t value, bool sampled)
{
	struct profile_event *e = event_at(p, event);

	if (sampled) {
		e->more_samples++;
		e->more_squares += (unsigned __int128)value * value;
	}
	stacks_add(&p->stacks, (struct stack){ chain->chain, labels },
		   profile_place(p, event) + 1, 0, value, &chain->hint);
}

bool profile_has_latency(const struct profile *p, const struct stream_events *events,
			 uint32_t event)
{
	const struct perf_event_attr *attr = &events->event[event].attr;

	return p->latency && events->switches && (event_is_clock(attr) || event_is_cycles(attr));
}

bool profile_has_wall(const struct profile *p, const struct stream_events *events,
		      uint32_t event)
{
	return p->wall && events_sample_waits(events, event) &&
	       events_first_clock(events) != TABLE_NONE;
}

bool profile_has_more(const struct profile *p, const struct stream_events *events,
		      uint32_t event)
{
	return profile_has_latency(p, events, event) || profile_has_wall(p, events, event);
}

/* Return the object NAME in OWN; add it with SIZE addresses from START if it is new. */
static uint32_t own_object(struct resolved *own, const char *name, uint64_t start, uint64_t size)
{
	struct resolved_object object = { .kind = OBJECT_ANONYMOUS, .start = start, .size = size };

	for (uint32_t i = 0; i < own->objects; i++)
		if (!strcmp(own->string[own->object[i].path], name))
			return i;
	object.path = resolved_add_string(own, name, strlen(name));
	return resolved_add_object(own, &object);
}

static uint32_t own_frame(struct profile *p, struct resolved_frame frame)
{
	uint64_t hash = hash_more(frame.object, frame.address);
	uint32_t id = TABLE_FIND(&p->own_table, hash, i,
				 p->own.frame[i].object == frame.object &&
				 p->own.frame[i].address == frame.address);

	if (id != TABLE_NONE)
		return id | FRAME_OWN;
	id = resolved_add_frame(&p->own, &frame);
	table_add(&p->own_table, hash, id);
	return id | FRAME_OWN;
}

uint32_t profile_named_frame(struct profile *p, const char *name)
{
	/* perf_to_profile puts [lost] in this range; each name gets a page of it. */
	uint64_t address = 0x9000000000000000ULL + digest_bytes(name, strlen(name)) % 4096 * 4096;
	uint32_t object = own_object(&p->own, name, address, 1);
	uint32_t path = p->own.object[object].path;
	struct resolved_function function = { .name = path, .system_name = path };
	struct resolved_line line = { .function = object };	/* equal ids: see the loop below */
	struct resolved_frame frame = { .object = object, .address = address, .lines = 1,
					.line = &line };

	while (p->own.functions <= object)
		resolved_add_function(&p->own, &function);
	return own_frame(p, frame);
}

uint32_t profile_data_frame(struct profile *p, uint64_t address)
{
	uint32_t object = own_object(&p->own, WORD_DATA, 0, UINT64_MAX);

	return own_frame(p, (struct resolved_frame){ .object = object, .address = address });
}

void profile_add_named(struct profile *p, const char *name, uint32_t labels, uint32_t event,
		       uint64_t samples, uint64_t sum)
{
	uint32_t frame = profile_named_frame(p, name);

	struct chain_entry *chain = chains_add(&p->chains, &frame, 1);

	stacks_add(&p->stacks, (struct stack){ chain->chain, labels }, profile_place(p, event),
		   samples, sum, &chain->hint);
}

void profile_ran(struct profile *p, uint32_t event, uint64_t enabled, uint64_t running)
{
	struct profile_event *e = event_at(p, event);

	e->enabled += enabled;
	e->running += running;
}

void profile_counted(struct profile *p, uint32_t event, uint64_t count)
{
	event_at(p, event)->counted += count;
}

uint64_t profile_not_sampled(const struct profile *p, const struct stream_events *events,
			     uint32_t event, uint64_t *period)
{
	const struct profile_event *e = &p->event[event];
	const struct perf_event_attr *attr = &events->event[event].attr;

	*period = event_mean_period(attr, e->samples, e->sum);
	uint64_t known = e->sum + e->lost_sum;
	if (!event_samples_all(attr) || e->is_waiting || *period == 0 ||
	    e->counted < known + *period)
		return 0;
	return e->counted - known;
}

void profile_add_not_sampled(struct profile *p, const struct stream_events *events)
{
	for (uint32_t i = 0; i < p->events && i < events->count; i++) {
		uint64_t period, missed = profile_not_sampled(p, events, i, &period);
		if (missed)
			profile_add_named(p, WORD_NOT_SAMPLED, 0, i, missed / period,
					  missed);
	}
}

double profile_multiplexed(const struct profile *p, uint32_t event)
{
	if (p->no_scale || event >= p->events)
		return 1;
	const struct profile_event *e = &p->event[event];
	/* The two times are not read at the same moment: ignore small differences. */
	return e->running > 0 && (double)e->running < 0.999 * (double)e->enabled
		? (double)e->enabled / (double)e->running : 1;
}

double profile_scale(const struct profile *p, uint32_t event)
{
	double scale = profile_multiplexed(p, event);

	if (!p->no_scale && event < p->events && p->event[event].excess > 0)
		scale /= p->event[event].excess;
	return scale;
}

int64_t profile_scaled(const struct profile *p, uint32_t event, uint64_t sum)
{
	double scale = profile_scale(p, event), scaled = (double)sum * scale + 0.5;

	if (!(scale > 1 || scale < 1))
		return sum < INT64_MAX ? (int64_t)sum : INT64_MAX;
	return scaled < 0x1p63 ? (int64_t)scaled : INT64_MAX;
}

__attribute__((format(printf, 2, 0)))
static void add_line(struct profile_lines *to, const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		return;
	to->line = array_grow(to->line, to->count, sizeof(*to->line));
	to->line[to->count++] = text;
}

void profile_comment(struct profile *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_line(&p->comments, format, args);
	va_end(args);
}

void profile_fact(struct profile *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_line(&p->facts, format, args);
	va_end(args);
}

static void clear_lines(struct profile_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->line[i]);
	lines->count = 0;
}

bool profile_shows(const struct stream_event *event)
{
	return !event->is_labels && !event_is_dummy(&event->attr);
}

/* Add all values of stack I of OLD to STACK in P. */
static void move_values(struct profile *p, const struct stacks *old, uint32_t i,
			struct stack stack)
{
	const struct stack_value *v = stacks_values(old, i);
	uint32_t hint = 0;

	for (uint32_t event = 0; event < old->events; event++)
		if (v[event].samples || v[event].sum)
			stacks_add(&p->stacks, stack, event, v[event].samples, v[event].sum,
				   &hint);
}

void profile_relabel(struct profile *p, const uint32_t *moved)
{
	stacks_relabel(&p->stacks, moved);
	for (size_t i = 0; i < p->losts; i++)
		p->lost[i].labels = moved ? moved[p->lost[i].labels] : 0;
}

void profile_drop_labels(struct profile *p)
{
	profile_relabel(p, NULL);
}

static uint64_t samples_of(const struct stacks *s, uint32_t stack)
{
	const struct stack_value *v = stacks_values(s, stack);
	uint64_t samples = 0;

	for (uint32_t event = 0; event < s->events; event++)
		samples += v[event].samples;
	return samples;
}

/* Return the median number of samples per stack. */
static uint64_t median_samples(const struct stacks *s)
{
	uint64_t *count = mem_resize(NULL, (size_t)s->count * sizeof(*count));

	for (uint32_t i = 0; i < s->count; i++)
		count[i] = samples_of(s, i);
	qsort(count, s->count, sizeof(*count), sort_compare_u64);
	uint64_t median = count[s->count / 2];
	free(count);
	return median;
}

void profile_truncate(struct profile *p)
{
	struct stacks old = p->stacks;
	struct chains chains = p->chains;
	uint64_t median = median_samples(&old);
	uint32_t kept = 0, frame = profile_named_frame(p, WORD_OTHER_STACKS);
	uint32_t *kept_frame = mem_zeroed(chains_longest(&chains), sizeof(*kept_frame));

	p->stacks = (struct stacks){ 0 };
	p->chains = (struct chains){ 0 };
	for (uint32_t i = 0; i < old.count; i++) {
		uint32_t frames = chains_frames(&chains, old.stack[i].chain, kept_frame);
		struct stack stack = { .labels = old.stack[i].labels };
		uint64_t samples = samples_of(&old, i);
		bool is_large = samples > median || (samples == median && kept < old.count / 2);
		if (frames == 1 && kept_frame[0] == frame)
			is_large = false;
		kept += is_large;
		stack.chain = is_large
			? chains_add(&p->chains, kept_frame, frames)->chain
			: chains_add(&p->chains, &frame, 1)->chain;
		if (!is_large)
			stack.labels = 0;
		move_values(p, &old, i, stack);
	}
	free(kept_frame);
	stacks_release(&old);
	chains_release(&chains);
}

void profile_clear(struct profile *p)
{
	stacks_release(&p->stacks);
	chains_release(&p->chains);
	resolved_release(&p->own);
	table_release(&p->own_table);
	for (uint32_t i = 0; i < p->events; i++)
		p->event[i] = (struct profile_event){ .is_waiting = p->event[i].is_waiting };
	clear_lines(&p->comments);
	clear_lines(&p->facts);
	p->losts = 0;
	p->run[0] = '\0';
	p->first_time = p->last_time = 0;
}

void profile_release(struct profile *p)
{
	profile_clear(p);
	free(p->comments.line);
	free(p->facts.line);
	free(p->event);
	free(p->lost);
	*p = (struct profile){ 0 };
}
