/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sample types of a profile, their figures, and the values of a stack, which
 * have the order of the types.
 */
#include "aggregate/encode-internal.h"
#include "base/text.h"
#include "pprof/figures.h"
#include "pprof/wire.h"
#include "record/words.h"

#include <inttypes.h>

enum { LABEL_SIZE = 128 };	/* limit of a sample type's name, in bytes */

static bool has_types(const struct profile *p, const struct stream_event *event)
{
	return profile_shows(event) && (!p->only || !strcmp(event->name, p->only));
}

bool profile_has_types(const struct profile *p, const struct stream_events *events)
{
	for (uint32_t i = 0; i < events->count; i++)
		if (has_types(p, &events->event[i]))
			return true;
	return false;
}

static bool shows(const struct encoder *e, uint32_t event)
{
	return has_types(e->p, &e->events->event[event]);
}

static uint32_t counting_events(const struct encoder *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->events->count; i++)
		n += shows(e, i);
	return n;
}

static bool is_waiting(const struct encoder *e, uint32_t event)
{
	return event < e->p->events && e->p->event[event].is_waiting;
}

/* Return the event's own name, for NAMING_PERF. */
static const char *event_name(const struct encoder *e, uint32_t i)
{
	return e->events->event[i].name;
}

/* Return the name for values of event I.  The first clock, and clocks of its name, are "cpu". */
static const char *value_name(const struct encoder *e, uint32_t i)
{
	uint32_t first = e->first_clock < i ? e->first_clock : i;

	if (is_waiting(e, i))
		return e->p->delays ? TYPE_DELAY : TYPE_OFF_CPU;
	return event_is_clock(&e->events->event[i].attr) &&
	       !strcmp(event_name(e, first), event_name(e, i)) ? TYPE_CPU : event_name(e, i);
}

/* The names of the events so far, with counts. */
struct names {
	struct intern texts;
	uint32_t *count;	/* events with the name, by id */
	uint32_t counts;
};

/* Return OF, or if that name is taken, NAME, with OF and a number written to it: "cycles#2". */
static const char *unique_name(struct names *n, const char *of, char name[LABEL_SIZE])
{
	uint32_t id = intern_text(&n->texts, of);

	for (; n->counts < n->texts.count; n->counts++) {
		n->count = array_grow(n->count, n->counts, sizeof(*n->count));
		n->count[n->counts] = 0;
	}
	if (++n->count[id] == 1)
		return of;
	snprintf(name, LABEL_SIZE, "%.100s#%" PRIu32, of, n->count[id]);
	return name;
}

static void release_names(struct names *n)
{
	intern_release(&n->texts);
	free(n->count);
}

/* Return the value type of event I: "cpu" in "nanoseconds", "cycles" in "count". */
static Perftools__Profiles__ValueType value_type(struct encoder *e, uint32_t i,
						 const char *name)
{
	Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	const struct stream_event *event = &e->events->event[i];
	bool is_time = event_is_clock(&event->attr) || is_waiting(e, i);

	type.type = encode_text(e, name);
	type.unit = encode_text(e, is_time ? UNIT_TIME : UNIT_COUNT);
	return type;
}

/* Use the names of perf_to_profile: cycles_sample and cycles_event, both in "count". */
static void name_as_perf(struct encoder *e, const char *event,
			 Perftools__Profiles__ValueType *samples,
			 Perftools__Profiles__ValueType *value)
{
	char name[LABEL_SIZE];

	snprintf(name, sizeof(name), "%.100s" TYPE_END_SAMPLE, event);
	samples->type = encode_text(e, name);
	snprintf(name, sizeof(name), "%.100s" TYPE_END_EVENT, event);
	value->type = encode_text(e, name);
	value->unit = samples->unit;
}

static void add_fact(struct encoder *e, const struct figures *f)
{
	char text[FIGURES_SIZE];

	figures_write(text, f);
	e->fact = array_grow(e->fact, e->facts, sizeof(*e->fact));
	e->fact[e->facts++] = encode_text(e, text);
}

/* Add a fact with what statistics need to know about event I and its types COUNT, VALUE. */
static void add_figures(struct encoder *e, uint32_t i, int64_t count, int64_t value)
{
	const struct profile *p = e->p;
	const struct perf_event_attr *attr = &e->events->event[i].attr;
	const struct profile_event none = { 0 }, *of = i < p->events ? &p->event[i] : &none;
	double scale = profile_scale(p, i);

	add_fact(e, &(struct figures){
		.samples = of->samples, .squares = (double)of->squares * scale * scale,
		.lost = of->lost_samples, .enabled = of->enabled, .running = of->running,
		.is_complete = is_waiting(e, i) || (!attr->freq && attr->sample_period == 1),
		.is_group = attr->sample_type & PERF_SAMPLE_READ &&
			    attr->read_format & PERF_FORMAT_GROUP,
		.run = p->run, .count = e->strings.text[count],
		.value = e->strings.text[value] });
}

/*
 * The same for VALUE, the further type of event I.  Its samples are those of the event COUNTED:
 * I itself, or for time on CPUs and waiting time the clock.
 */
static void add_more_figures(struct encoder *e, uint32_t i, uint32_t counted, int64_t value)
{
	const struct profile_event none = { 0 };
	const struct profile_event *more = i < e->p->events ? &e->p->event[i] : &none;
	const struct profile_event *of = counted < e->p->events ? &e->p->event[counted] : &none;
	double scale = profile_scale(e->p, i);

	add_fact(e, &(struct figures){
		.samples = more->more_samples,
		.squares = (double)more->more_squares * scale * scale, .lost = of->lost_samples,
		.enabled = of->enabled, .running = of->running, .run = e->p->run,
		.count = e->strings.text[e->count_name[counted]],
		.value = e->strings.text[value] });
}

/* Return whether event I has a further type, which comes after the two types of all events. */
static bool has_more(const struct encoder *e, uint32_t i)
{
	return shows(e, i) && profile_has_more(e->p, e->events, i);
}

/* Write the further type of event I, and its figures.  Returns its name. */
static int64_t write_more(struct encoder *e, uint32_t i, struct names *values)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	bool is_wall = profile_has_wall(e->p, e->events, i);
	uint32_t counted = is_wall ? e->first_clock : i;	/* the event that is sampled */
	char own[LABEL_SIZE], name[LABEL_SIZE];

	if (is_wall)
		snprintf(own, sizeof(own), TYPE_WALL);
	else if (i == e->first_clock)
		snprintf(own, sizeof(own), TYPE_LATENCY);
	else
		snprintf(own, sizeof(own), TYPE_LATENCY "_%.100s", value_name(e, i));
	Perftools__Profiles__ValueType type = value_type(e, i, unique_name(values, own, name));
	piece.n_sample_type = 1;
	piece.sample_type = (Perftools__Profiles__ValueType *[]){ &type };
	pack_piece(e->pack, &piece);
	if (shows(e, counted))
		add_more_figures(e, i, counted, type.type);
	return type.type;
}

static double time_of(const struct encoder *e, uint64_t cycles)
{
	return (double)cycles * e->ns_per_cycle + 0.5;
}

/* Write the type of the estimated time, and its figures. */
static void write_time(struct encoder *e, struct names *values)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	const struct profile_event *of = &e->p->event[e->cycles];
	char name[LABEL_SIZE];

	type.type = encode_text(e, unique_name(values, TYPE_CPU, name));
	type.unit = encode_text(e, UNIT_TIME);
	piece.n_sample_type = 1;
	piece.sample_type = (Perftools__Profiles__ValueType *[]){ &type };
	pack_piece(e->pack, &piece);
	add_fact(e, &(struct figures){
		.samples = of->samples, .lost = of->lost_samples, .enabled = of->enabled,
		.running = of->running, .run = e->p->run,
		.squares = (double)of->squares * e->ns_per_cycle * e->ns_per_cycle,
		.count = e->strings.text[e->count_name[e->cycles]],
		.value = e->strings.text[type.type] });
}

/* Write which type is shown first. */
static void write_default(struct encoder *e, int64_t name)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;

	piece.default_sample_type = name;
	pack_piece(e->pack, &piece);
}

/*
 * Write the two types of event I, SEVERAL events being counted, and its figures.  Its value type is
 * named VALUE_IS, or EVENT_IS as perf_to_profile has it; the FIRST is the profile's period type.
 * Return the name of its value type.
 */
static int64_t write_event(struct encoder *e, uint32_t i, const char *value_is,
			   const char *event_is, bool several, bool first)
{
	Perftools__Profiles__Profile piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__ValueType samples = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	Perftools__Profiles__ValueType value = value_type(e, i, value_is);
	const struct perf_event_attr *attr = &e->events->event[i].attr;
	const char *of = several ? e->strings.text[value.type] : "";
	char name[LABEL_SIZE];

	snprintf(name, sizeof(name), "%.100s%s", of, e->p->delays ? TYPE_CONTENTIONS
		 : several ? TYPE_END_SAMPLES : TYPE_SAMPLES);
	samples.type = encode_text(e, name);
	samples.unit = encode_text(e, UNIT_COUNT);
	if (e->p->naming == NAMING_PERF)
		name_as_perf(e, event_is, &samples, &value);
	piece.n_sample_type = 2;
	piece.sample_type = (Perftools__Profiles__ValueType *[]){ &samples, &value };
	if (first) {
		piece.period_type = &value;
		if (i < e->p->events && !e->p->event[i].varies)
			piece.period = (int64_t)e->p->event[i].period;
		else if (!attr->freq)
			piece.period = (int64_t)attr->sample_period;
	}
	pack_piece(e->pack, &piece);
	add_figures(e, i, samples.type, value.type);
	e->count_name[i] = samples.type;
	return value.type;
}

void encode_types(struct encoder *e)
{
	bool several = counting_events(e) > 1;
	char of_value[LABEL_SIZE], of_event[LABEL_SIZE];
	struct names values = { 0 }, own = { 0 };
	int64_t shown = 0, waits = 0, more = 0;

	e->first_clock = events_first_clock(e->events);
	e->ns_per_cycle = as_time_factor(e->p, e->events, &e->cycles);
	if (e->ns_per_cycle > 0 && !shows(e, e->cycles))
		e->ns_per_cycle = 0;
	e->count_name = mem_zeroed(e->events->count, sizeof(*e->count_name));

	for (uint32_t i = 0; i < e->events->count; i++) {
		const char *value_is = unique_name(&values, value_name(e, i), of_value);
		const char *event_is = unique_name(&own, event_name(e, i), of_event);
		if (!shows(e, i))
			continue;
		int64_t type = write_event(e, i, value_is, event_is, several, !shown);
		shown = shown ? shown : type;
		if (!waits && is_waiting(e, i))
			waits = type;
	}
	for (uint32_t i = 0; i < e->events->count; i++)
		if (has_more(e, i)) {
			int64_t type = write_more(e, i, &values);
			more = more ? more : type;
		}
	if (e->ns_per_cycle > 0)
		write_time(e, &values);
	write_default(e, more ? more : waits ? waits : shown);
	free(e->count_name);
	release_names(&values);
	release_names(&own);
}

/* Return the value with index PLACE of V, the values of a stack. */
static struct stack_value value_at(const struct encoder *e, const struct stack_value *v,
				   uint32_t place)
{
	return place < e->p->stacks.events ? v[place] : (struct stack_value){ 0 };
}

static uint8_t *put_sum(struct encoder *e, uint32_t event, struct stack_value value, uint8_t *to)
{
	return wire_varint(to, (uint64_t)profile_scaled(e->p, event, value.sum));
}

uint8_t *encode_values(struct encoder *e, const struct stack_value *v, uint8_t *to)
{
	for (uint32_t i = 0; i < e->events->count; i++) {
		struct stack_value value = value_at(e, v, profile_place(e->p, i));
		if (!shows(e, i))
			continue;
		to = wire_varint(to, value.samples);
		to = put_sum(e, i, value, to);
	}
	for (uint32_t i = 0; i < e->events->count && (e->p->latency || e->p->wall); i++)
		if (has_more(e, i))
			to = put_sum(e, i, value_at(e, v, profile_place(e->p, i) + 1), to);
	if (e->ns_per_cycle > 0) {
		double ns = time_of(e, value_at(e, v, profile_place(e->p, e->cycles)).sum);
		to = wire_varint(to, ns < 0x1p63 ? (uint64_t)ns : INT64_MAX);
	}
	return to;
}
