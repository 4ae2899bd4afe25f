/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs that profiles hold: one each, or several in a profile that was merged; in a difference,
 * those of each side.
 */
#include "compare/diff.h"
#include "pprof/comments.h"
#include "pprof/figures.h"
#include "record/words.h"

#include <math.h>
#include <stdlib.h>

/* Set R's time, duration and kind from P, its comments and facts. */
static void describe_run(struct diff_run *r, const struct decoded *p, const char *value)
{
	struct figures_text room;
	struct figures f;
	uint32_t figures = 0, commands = 0, whole = 0;
	const char *text;

	for (uint32_t i = 0; (text = decoded_fact(p, i)); i++) {
		figures += figures_read(text, &f, &room) && !strcmp(f.value, value) &&
			   (!*r->name || !strcmp(f.run, r->name));
		commands += comment_after(text, COMMENT_COMMAND) != NULL;
		whole += comment_is_whole_command(text);
	}
	r->is_whole = whole > 0 && whole == commands;
	r->is_merged = figures > 1 || (commands > 1 && !*r->name);
	r->time = p->time;
	r->duration = p->duration;
}

/* Add RUN of P, or all of P.  Return false (reported) if it cannot be compared. */
static bool add_run(struct diff *d, enum diff_side side, const struct decoded *p,
		    const char *file, size_t type, const struct bars_run *run,
		    struct report *report)
{
	struct diff_runs *s = &d->side[side];
	const char *name = run && run->name ? run->name : "";

	s->run = mem_resize(s->run, (s->count + 1) * sizeof(*s->run));
	struct diff_run *r = &s->run[s->count++];
	*r = (struct diff_run){ .file = mem_text(file), .name = mem_text(name),
				.top.how = d->how.rows };
	r->top.how.leaves = !d->how.cumulative && !d->how.rows.stacks;
	describe_run(r, p, decoded_string(p, p->type[type].type));
	top_add_with_bars(&r->top, p, type, &r->bars, run);
	r->top.bars = NULL;
	bars_refuse_few(&r->bars);
	d->why_not = r->bars.why_not ? r->bars.why_not : "no sample has the label";
	if (r->bars.why_not)
		report_error(report, "'%s'%s%s cannot be compared: %s", file,
			     *name ? ", run " : "", name, r->bars.why_not);
	else if (r->top.how.label && !r->top.has_label)
		report_error(report, "'%s' has no sample with the label '%s'", file,
			     r->top.how.label);
	return !r->bars.why_not && (!r->top.how.label || r->top.has_label);
}

/* Whose samples count: of a profile all, of a difference those of a side. */
enum whose { OF_ALL, OF_BASE, OF_AFTER };

/*
 * Samples of a profile, by their run: the text of the label "run".  Run 0: no label.  If all of
 * them are of one run, or have no label, they are all of run 0.
 */
struct runs {
	struct intern names;
	uint32_t *number;	/* by sample: its run; TABLE_NONE: the sample does not count */
	uint32_t *first;	/* by run: index of its first sample in SAMPLE */
	uint32_t *sample;	/* indices of samples, by run */
};

static bool has_key(const struct decoded *p, const struct decoded_sample *s, const char *key)
{
	for (size_t i = 0; i < s->labels; i++)
		if (!strcmp(decoded_string(p, s->label[i].key), key))
			return true;
	return false;
}

static void number_runs(struct runs *r, const struct decoded *p, enum whose whose)
{
	struct decoded_reader reader = { .d = p, .most = 1 };

	r->number = mem_zeroed(p->samples, sizeof(*r->number));
	intern_text(&r->names, "");
	for (uint32_t i = 0; decoded_next(&reader); i++) {
		if (whose != OF_ALL &&
		    has_key(p, &reader.sample, PROFILE_BASE) != (whose == OF_BASE)) {
			r->number[i] = TABLE_NONE;
			continue;
		}
		for (size_t k = 0; k < reader.sample.labels; k++) {
			const struct decoded_label *l = &reader.sample.label[k];
			if (l->text && !strcmp(decoded_string(p, l->key), LABEL_RUN))
				r->number[i] = intern_text(&r->names, decoded_string(p, l->text));
		}
	}
	for (uint32_t i = 0; r->names.count <= 2 && i < p->samples; i++)
		r->number[i] = r->number[i] == 1 ? 0 : r->number[i];
	decoded_reader_release(&reader);
}

static void find_runs(struct runs *r, const struct decoded *p, enum whose whose)
{
	*r = (struct runs){ .number = NULL };
	number_runs(r, p, whose);
	r->first = mem_zeroed((size_t)r->names.count + 2, sizeof(*r->first));
	r->sample = mem_zeroed(p->samples, sizeof(*r->sample));
	for (uint32_t i = 0; i < p->samples; i++)
		if (r->number[i] != TABLE_NONE)
			r->first[r->number[i] + 2]++;
	for (uint32_t i = 0; i < r->names.count; i++)
		r->first[i + 2] += r->first[i + 1];
	for (uint32_t i = 0; i < p->samples; i++)
		if (r->number[i] != TABLE_NONE)
			r->sample[r->first[r->number[i] + 1]++] = i;
}

static void release_runs(struct runs *r)
{
	intern_release(&r->names);
	free(r->number);
	free(r->first);
	free(r->sample);
}

/*
 * Add the runs of P's samples that are WHOSE, one by one.  Return false (reported) if one cannot be
 * compared.
 */
static bool add_runs(struct diff *d, enum whose whose, enum diff_side side,
		     const struct decoded *p, const char *file, size_t type,
		     struct report *report)
{
	enum { RUNS_MAX = 1000 };
	struct runs runs;
	bool good;

	find_runs(&runs, p, whose);
	bool several = runs.names.count > 2;
	good = runs.names.count <= 1 + RUNS_MAX;
	if (!good)
		report_error(report, "'%s' has more than 1,000 runs", file);
	for (uint32_t i = several; good && i < (several ? runs.names.count : 1); i++) {
		const struct bars_run run = { .name = several ? runs.names.text[i] : NULL,
					      .is_base = whose == OF_BASE,
					      .sample = runs.sample + runs.first[i],
					      .samples = runs.first[i + 1] - runs.first[i] };
		good = add_run(d, side, p, file, type,
			       several || whose != OF_ALL ? &run : NULL, report);
	}
	release_runs(&runs);
	return good;
}

bool diff_has_sides(const struct decoded *p)
{
	struct decoded_reader reader = { .d = p, .most = 1 };
	bool found = false;

	while (!found && decoded_next(&reader))
		found = has_key(p, &reader.sample, PROFILE_BASE);
	decoded_reader_release(&reader);
	return found;
}

/* Set the times of the runs of a difference, of which each side has one. */
static void set_times(struct diff *d, const struct decoded *p)
{
	struct figures_sides sides;
	const char *fact;

	for (uint32_t i = 0; diff_is_single(d) && (fact = decoded_fact(p, i)); i++) {
		if (!figures_read_sides(fact, &sides))
			continue;
		d->side[DIFF_BASE].run->time = sides.base.time;
		d->side[DIFF_BASE].run->duration = sides.base.duration;
		d->side[DIFF_AFTER].run->time = sides.after.time;
		d->side[DIFF_AFTER].run->duration = sides.after.duration;
		return;
	}
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < d->side[side].count; i++)
			d->side[side].run[i].time = d->side[side].run[i].duration = 0;
}

static void set_type(struct diff *d, const struct decoded *p, size_t type)
{
	d->type = mem_text(decoded_string(p, p->type[type].type));
	d->unit_text = mem_text(decoded_string(p, p->type[type].unit));
	d->unit = d->unit_text;
}

bool diff_judge(struct diff *d, const struct decoded *base, size_t base_type,
		const struct decoded *after, size_t type)
{
	struct report silent = { .quiet = true };

	d->how.per = DIFF_PER_SHARE;
	set_type(d, after, type);
	bool good = add_runs(d, base ? OF_ALL : OF_BASE, DIFF_BASE, base ? base : after, "base",
			     base ? base_type : type, &silent) &&
		    add_runs(d, base ? OF_ALL : OF_AFTER, DIFF_AFTER, after, "after", type,
			     &silent);
	if (good && !base)
		set_times(d, after);
	return good && diff_make(d, &silent);
}

bool diff_add(struct diff *d, enum diff_side side, const struct decoded *p, const char *file,
	      size_t type, struct report *report)
{
	const char *name = decoded_string(p, p->type[type].type);
	const char *unit = decoded_string(p, p->type[type].unit);

	if (!d->type) {
		set_type(d, p, type);
	} else if (strcmp(d->type, name) || strcmp(d->unit, unit)) {
		report_error(report, "'%s' has values of %s in %s, but the profiles before it have "
			     "%s in %s", file, name, unit, d->type, d->unit);
		return false;
	}
	return add_runs(d, OF_ALL, side, p, file, type, report);
}
