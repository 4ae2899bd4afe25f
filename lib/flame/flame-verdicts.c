/* SPDX-License-Identifier: Apache-2.0 */
#include "flame/flame-verdicts.h"
#include "compare/diff.h"
#include "flame/flame.h"

#include <stdlib.h>

/* Functions of the page, call paths and samples of one comparison. */
struct judging {
	struct flame *f;
	const struct decoded *d[FLAME_SIDES];	/* the profile of each side */
	struct bars_run run[FLAME_SIDES];	/* its samples */
	bool is_difference;			/* both sides are one profile */
	uint32_t *path;				/* by node: number of its call path, from 1 on */
	uint32_t *above;			/* by path: that of its caller; 0: none */
	uint32_t paths;				/* 1 + their number */
};

static uint8_t code_of(enum verdict verdict, double base, double after)
{
	return (uint8_t)(2 * (1 + (int)verdict) + (after > base));
}

/* --- functions --- */

static const struct diff_row *row_of(const struct flame *f, const struct diff *d, uint32_t function)
{
	const struct flame_function *of = &f->function[function];

	if (of->addresses[FLAME_PROFILE] || of->addresses[FLAME_BASE])
		return diff_find_object(d, f->strings.text[of->object]);
	return diff_find(d, f->strings.text[of->name]);
}

static uint8_t *judge_functions(const struct flame *f, const struct diff *d)
{
	uint8_t *code = mem_zeroed(f->identities.count, sizeof(*code));

	for (uint32_t i = 1; i < f->identities.count; i++) {
		const struct diff_row *row = row_of(f, d, i);
		if (row)
			code[i] = code_of(row->verdict, row->base, row->after);
	}
	return code;
}

/* --- call paths --- */

/* Number the call paths: nodes of several lines of the same functions are on one path. */
static void number_paths(struct judging *j)
{
	const struct flame *f = j->f;
	struct byte_ids ids = { 0 };

	j->path = mem_zeroed(f->nodes, sizeof(*j->path));
	j->above = mem_zeroed((size_t)f->nodes + 1, sizeof(*j->above));
	j->paths = 1;
	for (uint32_t i = 1; i < f->nodes; i++) {
		const uint32_t key[] = { j->path[f->node[i].parent],
					 flame_frame(f, f->node[i].frame)->function };
		uint32_t id = 1 + byte_ids_add(&ids, key, sizeof(key));
		j->path[i] = id;
		j->above[id] = key[0];
		j->paths = id == j->paths ? id + 1 : j->paths;
	}
	byte_ids_release(&ids);
}

static void count_paths(const struct judging *j, enum flame_side side, uint32_t type,
			struct bars *b)
{
	const struct decoded *d = j->d[side];
	const uint32_t *node = j->f->sample[j->is_difference ? FLAME_PROFILE : side].node;
	struct decoded_reader r = { .d = d, .most = 2 };

	bars_init(b, d, type, j->is_difference ? &j->run[side] : NULL);
	for (uint32_t i = 0; i < b->samples; i++) {
		r.next = b->order[i];
		decoded_next(&r);
		if (!bars_next_sample(b, &r.sample, i))
			continue;
		for (uint32_t path = j->path[node[b->order[i]]]; path; path = j->above[path])
			bars_count(b, path, BARS_CUMULATIVE);
	}
	decoded_reader_release(&r);
	bars_finish(b, j->paths);
}

/* Compare PATH in the BARS of both sides. */
static uint8_t judge_path(struct bars bars[FLAME_SIDES], uint32_t path,
			  const struct verdict_limits *limits)
{
	struct bars *a = &bars[FLAME_BASE], *b = &bars[FLAME_PROFILE];
	struct share_part pa = bars_part(a, path, BARS_CUMULATIVE);
	struct share_part pb = bars_part(b, path, BARS_CUMULATIVE);
	double base = pa.total / a->whole.total, after = pb.total / b->whole.total;

	if (pa.samples < DIFF_FEWEST && pb.samples < DIFF_FEWEST)
		return code_of(VERDICT_FEW, base, after);
	struct change c = compare_shares(&a->whole, &pa, &b->whole, &pb, NULL);
	return code_of(compare_verdict(limits, &c, base, after), base, after);
}

/* Return the codes of all nodes.  TYPE: index of the sample type in the profile of each side. */
static uint8_t *judge_paths(const struct judging *j, const uint32_t type[FLAME_SIDES],
			    const struct verdict_limits *limits)
{
	struct bars bars[FLAME_SIDES];
	uint8_t *of_path = mem_zeroed(j->paths, sizeof(*of_path));
	uint8_t *code = mem_zeroed(j->f->nodes, sizeof(*code));

	for (int side = 0; side < FLAME_SIDES; side++)
		count_paths(j, (enum flame_side)side, type[side], &bars[side]);
	for (uint32_t i = 1; i < j->paths; i++)
		of_path[i] = judge_path(bars, i, limits);
	for (uint32_t i = 1; i < j->f->nodes; i++)
		code[i] = of_path[j->path[i]];
	for (int side = 0; side < FLAME_SIDES; side++)
		bars_release(&bars[side]);
	free(of_path);
	return code;
}

/* --- both --- */

/* List the samples of the sides of a difference. */
static void list_samples(struct judging *j)
{
	const struct flame_samples *all = &j->f->sample[FLAME_PROFILE];
	uint32_t count = j->d[FLAME_PROFILE]->samples;

	for (int side = 0; side < FLAME_SIDES; side++) {
		uint32_t *list = mem_zeroed(count, sizeof(*list)), used = 0;
		for (uint32_t i = 0; i < count; i++)
			if (all->of_base[i] == (side == FLAME_BASE))
				list[used++] = i;
		j->run[side] = (struct bars_run){ .is_base = side == FLAME_BASE, .sample = list,
						  .samples = used };
	}
}

static void judge_type(const struct judging *j, uint32_t number, struct flame_verdicts *to)
{
	const struct decoded *base = j->is_difference ? NULL : j->d[FLAME_BASE];
	const uint32_t type[] = {
		[FLAME_PROFILE] = number,
		[FLAME_BASE] = base ? flame_type_in(base, j->f, number) : number };
	const struct diff_how how = { .fdr = DIFF_USUAL_FDR };
	struct diff flat = { .how = how }, all = { .how = how };

	all.how.cumulative = true;
	if (type[FLAME_BASE] == TABLE_NONE) {
		to->why_not = "the base has no such type";
		return;
	}
	if (diff_judge(&flat, base, type[FLAME_BASE], j->d[FLAME_PROFILE], number) &&
	    diff_judge(&all, base, type[FLAME_BASE], j->d[FLAME_PROFILE], number)) {
		to->functions = j->f->identities.count;
		to->flat = judge_functions(j->f, &flat);
		to->cumulative = judge_functions(j->f, &all);
		if (diff_is_single(&all))
			to->path = judge_paths(j, type, &all.limits);
	} else {
		to->why_not = flat.why_not;
	}
	diff_release(&flat);
	diff_release(&all);
}

void flame_judge(struct flame *f, const struct decoded *base, const struct decoded *after)
{
	struct judging j = { .f = f, .is_difference = !base,
			     .d = { [FLAME_PROFILE] = after, [FLAME_BASE] = base ? base : after } };

	f->verdicts = mem_zeroed(f->types, sizeof(*f->verdicts));
	number_paths(&j);
	if (j.is_difference)
		list_samples(&j);
	for (uint32_t i = 0; i < f->types; i++)
		judge_type(&j, i, &f->verdicts[i]);
	free(j.path);
	free(j.above);
	free((uint32_t *)(uintptr_t)j.run[FLAME_PROFILE].sample);
	free((uint32_t *)(uintptr_t)j.run[FLAME_BASE].sample);
}

void flame_move_verdicts(struct flame *f, const uint32_t *new, const uint32_t *owner,
			 uint32_t nodes)
{
	for (uint32_t type = 0; f->verdicts && type < f->types; type++) {
		uint8_t *old = f->verdicts[type].path;
		if (!old)
			continue;
		uint8_t *moved = f->verdicts[type].path = mem_zeroed(nodes, sizeof(*moved));
		for (uint32_t i = 0; i < f->nodes; i++)
			if (owner[i] == TABLE_NONE)
				moved[new[i]] = old[i];
		free(old);
	}
}

uint8_t flame_verdict(const struct flame *f, uint32_t node)
{
	const struct flame_verdicts *v = f->verdicts ? &f->verdicts[f->shown] : NULL;
	uint32_t function = flame_frame(f, f->node[node].frame)->function;

	if (!v || v->why_not)
		return 0;
	return v->path ? v->path[node] : function < v->functions ? v->cumulative[function] : 0;
}

void flame_free_verdicts(struct flame *f)
{
	for (uint32_t i = 0; f->verdicts && i < f->types; i++) {
		free(f->verdicts[i].flat);
		free(f->verdicts[i].cumulative);
		free(f->verdicts[i].path);
	}
	free(f->verdicts);
}
