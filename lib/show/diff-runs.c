/* SPDX-License-Identifier: Apache-2.0 */
/* The runs that profiles hold: one each, or several in a profile that was merged. */
#include "show/diff.h"
#include "profile/figures.h"

#include <math.h>
#include <stdlib.h>

/* Return whether COMMENT shows that pmu-sample recorded a command from its start to its end. */
static bool is_whole_command(const char *comment)
{
	const char *command = strstr(comment, " -- ");

	if (strncmp(comment, "command: ", 9) || !command)
		return false;
	for (const char *at = comment; (at = strchr(at, ' ')) && at < command; at++)
		if (!strncmp(at, " -d", 3) || !strncmp(at, " --duration", 11) ||
		    !strncmp(at, " -p", 3) || !strncmp(at, " -a", 3))
			return false;
	return true;
}

/* Set R's time, duration and kind from P, its comments and facts. */
static void describe_run(struct diff_run *r, const struct decoded *p, const char *value)
{
	struct figures_text room;
	struct figures f;
	uint32_t figures = 0, commands = 0, whole = 0;
	const char *text;

	for (uint32_t i = 0; (text = decoded_fact(p, i)); i++) {
		bool is_command = !strncmp(text, "command: ", 9);
		figures += figures_read(text, &f, &room) && !strcmp(f.value, value) &&
			   (!*r->name || !strcmp(f.run, r->name));
		commands += is_command;
		whole += is_command && is_whole_command(text);
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
	const char *name = run ? run->name : "";

	s->run = mem_resize(s->run, (s->count + 1) * sizeof(*s->run));
	struct diff_run *r = &s->run[s->count++];
	*r = (struct diff_run){ .file = mem_text(file), .name = mem_text(name),
				.top.how = d->how.rows };
	r->top.how.leaves = !d->how.cumulative && !d->how.rows.stacks;
	describe_run(r, p, decoded_string(p, p->type[type].type));
	top_add_with_bars(&r->top, p, type, &r->bars, run);
	r->top.bars = NULL;
	bars_refuse_few(&r->bars);
	if (r->bars.why_not)
		report_error(report, "'%s'%s%s cannot be compared: %s", file,
			     *name ? ", run " : "", name, r->bars.why_not);
	else if (r->top.how.label && !r->top.has_label)
		report_error(report, "'%s' has no sample with the label '%s'", file,
			     r->top.how.label);
	return !r->bars.why_not && (!r->top.how.label || r->top.has_label);
}

/* The samples of a profile, by their run: the text of the label "run".  Run 0: no label. */
struct runs {
	struct intern names;
	uint32_t *number;	/* by sample: its run */
	uint32_t *first;	/* by run: index of its first sample in SAMPLE */
	uint32_t *sample;	/* indices of samples, by run */
};

static void number_runs(struct runs *r, const struct decoded *p)
{
	struct decoded_reader reader = { .d = p, .most = 1 };
	uint32_t last = 0;	/* string */

	r->number = mem_zeroed(p->samples, sizeof(*r->number));
	intern_text(&r->names, "");
	for (uint32_t i = 0, number = 0; decoded_next(&reader); i++)
		for (size_t k = 0; k < reader.sample.labels; k++) {
			const struct decoded_label *l = &reader.sample.label[k];
			if (!l->text || strcmp(decoded_string(p, l->key), "run"))
				continue;
			if (l->text != last)
				number = intern_text(&r->names, decoded_string(p, l->text));
			last = l->text;
			r->number[i] = number;
		}
	decoded_reader_release(&reader);
}

static void find_runs(struct runs *r, const struct decoded *p)
{
	*r = (struct runs){ .number = NULL };
	number_runs(r, p);
	r->first = mem_zeroed((size_t)r->names.count + 2, sizeof(*r->first));
	r->sample = mem_zeroed(p->samples, sizeof(*r->sample));
	for (uint32_t i = 0; i < p->samples; i++)
		r->first[r->number[i] + 2]++;
	for (uint32_t i = 0; i < r->names.count; i++)
		r->first[i + 2] += r->first[i + 1];
	for (uint32_t i = 0; i < p->samples; i++)
		r->sample[r->first[r->number[i] + 1]++] = i;
}

static void release_runs(struct runs *r)
{
	intern_release(&r->names);
	free(r->number);
	free(r->first);
	free(r->sample);
}

/* Add the runs of P, one by one.  Return false (reported) if one cannot be compared. */
static bool add_runs(struct diff *d, enum diff_side side, const struct decoded *p,
		     const char *file, size_t type, struct report *report)
{
	enum { RUNS_MAX = 1000 };
	struct runs runs;
	bool good;

	find_runs(&runs, p);
	good = runs.names.count <= 1 + RUNS_MAX;
	if (!good)
		report_error(report, "'%s' has more than 1,000 runs", file);
	for (uint32_t i = 1; good && i < runs.names.count && runs.names.count > 2; i++) {
		const struct bars_run run = { runs.names.text[i], runs.sample + runs.first[i],
					      runs.first[i + 1] - runs.first[i] };
		good = add_run(d, side, p, file, type, &run, report);
	}
	if (good && runs.names.count <= 2)
		good = add_run(d, side, p, file, type, NULL, report);
	release_runs(&runs);
	return good;
}

bool diff_add(struct diff *d, enum diff_side side, const struct decoded *p, const char *file,
	      size_t type, struct report *report)
{
	const char *name = decoded_string(p, p->type[type].type);
	const char *unit = decoded_string(p, p->type[type].unit);

	if (!d->type) {
		d->type = mem_text(name);
		d->unit_text = mem_text(unit);
		d->unit = d->unit_text;
	} else if (strcmp(d->type, name) || strcmp(d->unit, unit)) {
		report_error(report, "'%s' has values of %s in %s, but the profiles before it have "
			     "%s in %s", file, name, unit, d->type, d->unit);
		return false;
	}
	return add_runs(d, side, p, file, type, report);
}
