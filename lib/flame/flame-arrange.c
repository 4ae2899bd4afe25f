/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weight of a node is the sum of the shares that the rows at it and below it have of the total;
 * of a row with several types the largest share counts.  So a parent is never lighter than its
 * child, and what is heavy by any type is kept.
 */
#include "flame/flame-internal.h"
#include "names/object-name.h"
#include "record/words.h"

#include <inttypes.h>
#include <stdlib.h>

struct arranging {
	struct flame *f;
	double *weight;			/* by node */
	uint32_t *first, *child;	/* node n's: CHILD[FIRST[n]] .. CHILD[FIRST[n + 1] - 1] */
	/* By node, as it was added: */
	uint32_t *owner;		/* node whose rest it goes into; TABLE_NONE: it is kept */
	uint32_t *new;			/* new number, if it is kept */
	uint32_t *paths;		/* call paths in its rest; 0: it has no rest */
	uint32_t *rest;			/* new number of its rest */
	/* By new number: */
	struct flame_node *node;
	uint32_t nodes;
};

static uint64_t size_of(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* The largest share that a row has of the total of any type. */
static double share_of_row(const struct flame *f, const int64_t *value, const double *total)
{
	double share = 0;

	for (uint32_t i = 0; i < f->types; i++) {
		double part = total[i] > 0 ? (double)size_of(value[i]) / total[i] : 0;
		share = part > share ? part : share;
	}
	return share;
}

static bool is_kept(const struct arranging *a, uint32_t node)
{
	return a->owner[node] == TABLE_NONE;
}

static void weigh_rows(struct arranging *a, const struct flame_rows *rows)
{
	double total[FLAME_TYPES_MAX] = { 0 };

	for (size_t i = 0; i < (size_t)rows->samples * a->f->types; i++)
		total[i % a->f->types] += (double)size_of(rows->value[i]);
	for (uint32_t i = 0; i < rows->rows; i++)
		a->weight[rows->row[i].node] +=
			share_of_row(a->f, rows->value + rows->row[i].values, total);
}

static void weigh(struct arranging *a)
{
	a->weight = mem_zeroed(a->f->nodes, sizeof(*a->weight));
	for (int side = 0; side < FLAME_SIDES; side++)
		weigh_rows(a, &a->f->side[side]);
	for (uint32_t i = a->f->nodes - 1; i > 0; i--)
		a->weight[a->f->node[i].parent] += a->weight[i];
}

static uint64_t bits_of(double weight)
{
	uint64_t bits;

	memcpy(&bits, &weight, sizeof(bits));	/* in the order of the numbers: none is negative */
	return bits;
}

/* Return the weight of the COUNTth heaviest node, 16 bits of it at a time. */
static double heaviest(const struct arranging *a, uint32_t count)
{
	enum { PART = 16, PARTS = 1 << PART };
	uint32_t *with = mem_resize(NULL, PARTS * sizeof(*with));
	uint64_t found = 0;
	double weight;

	for (int shift = 64 - PART; shift >= 0; shift -= PART) {
		uint32_t part = PARTS - 1;
		memset(with, 0, PARTS * sizeof(*with));
		for (uint32_t i = 0; i < a->f->nodes; i++) {
			uint64_t bits = bits_of(a->weight[i]);
			if (shift == 64 - PART || bits >> (shift + PART) == found)
				with[bits >> shift & (PARTS - 1)]++;
		}
		for (; with[part] < count; part--)
			count -= with[part];
		found = found << PART | part;
	}
	free(with);
	memcpy(&weight, &found, sizeof(weight));
	return weight;
}

/*
 * Choose the nodes that go into a rest: those that are too light or too many, and all below
 * them.  If several nodes weigh as much as the lightest that is kept, the first are kept.
 */
static void choose_kept(struct arranging *a)
{
	struct flame *f = a->f;
	double least = f->options.least, last = -1;
	uint32_t heavier = 0, budget = UINT32_MAX;

	if (f->nodes > FLAME_NODES_KEPT) {
		last = heaviest(a, FLAME_NODES_KEPT);
		for (uint32_t i = 0; i < f->nodes; i++)
			heavier += a->weight[i] > last;
		budget = FLAME_NODES_KEPT - heavier;
	}
	for (uint32_t i = 1; i < f->nodes; i++) {
		uint32_t parent = f->node[i].parent;
		double weight = a->weight[i];
		bool kept = is_kept(a, parent) && weight >= least && weight >= last;
		if (kept && weight == last) {
			kept = budget > 0;
			budget -= kept;
		}
		if (kept)
			continue;
		a->owner[i] = is_kept(a, parent) ? parent : a->owner[parent];
		a->paths[a->owner[i]]++;
		f->cut.nodes++;
		if (weight > f->cut.share)
			f->cut.share = weight;
	}
}

struct heavy {
	double weight;
	uint32_t node;
};

static int compare_heavy(const void *a, const void *b)
{
	const struct heavy *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->node < y->node ? -1 : 1;
}

/* Sort the COUNT children from CHILD on, the heaviest first. */
static void sort_children(const struct arranging *a, uint32_t *child, uint32_t count,
			  struct heavy *room)
{
	if (count < 2)
		return;
	for (uint32_t i = 0; i < count; i++)
		room[i] = (struct heavy){ a->weight[child[i]], child[i] };
	qsort(room, count, sizeof(*room), compare_heavy);
	for (uint32_t i = 0; i < count; i++)
		child[i] = room[i].node;
}

/* List the children of each node: those that are kept, or ALL. */
static void list_children(struct arranging *a, bool all)
{
	const struct flame *f = a->f;
	uint32_t most = 0;

	a->first = mem_zeroed((size_t)f->nodes + 2, sizeof(*a->first));
	a->child = mem_resize(NULL, f->nodes * sizeof(*a->child));
	for (uint32_t i = 1; i < f->nodes; i++)		/* FIRST is shifted by one until the end */
		a->first[f->node[i].parent + 2] += all || is_kept(a, i);
	for (uint32_t i = 2; i < f->nodes + 2; i++) {
		most = a->first[i] > most ? a->first[i] : most;
		a->first[i] += a->first[i - 1];
	}
	for (uint32_t i = 1; i < f->nodes; i++)
		if (all || is_kept(a, i))
			a->child[a->first[f->node[i].parent + 1]++] = i;
	struct heavy *room = mem_resize(NULL, ((size_t)most + 1) * sizeof(*room));
	for (uint32_t i = 0; i < f->nodes; i++)
		sort_children(a, a->child + a->first[i], a->first[i + 1] - a->first[i], room);
	free(room);
}

static void free_children(struct arranging *a)
{
	free(a->first);
	free(a->child);
	a->first = a->child = NULL;
}

/* Add VALUE to SUM, which stops at the limits of its type. */
static void add(int64_t *sum, int64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = value < 0 ? INT64_MIN : INT64_MAX;
}

/* Return for each node its value of type TYPE and that of all nodes below it, summed up. */
static int64_t *totals_of(const struct flame *f, uint32_t type)
{
	const struct flame_rows *rows = &f->side[FLAME_PROFILE];
	int64_t *total = mem_zeroed(f->nodes, sizeof(*total));

	for (uint32_t i = 0; i < rows->rows; i++)
		add(&total[rows->row[i].node], rows->value[rows->row[i].values + type]);
	for (uint32_t i = f->nodes - 1; i > 0; i--)
		add(&total[f->node[i].parent], total[i]);
	return total;
}

/* Mark the nodes that have no caller of the same function: only these count for its sum. */
static bool *mark_outer(const struct arranging *a)
{
	const struct flame *f = a->f;
	uint32_t *calls = mem_zeroed(f->identities.count, sizeof(*calls));
	uint32_t *at = mem_zeroed(f->nodes, sizeof(*at));	/* children done, by node */
	bool *outer = mem_zeroed(f->nodes, sizeof(*outer));

	for (uint32_t i = 0;;) {
		uint32_t function = flame_frame(f, f->node[i].frame)->function;
		if (at[i] == 0)
			outer[i] = calls[function]++ == 0;
		if (a->first[i] + at[i] < a->first[i + 1]) {
			i = a->child[a->first[i] + at[i]++];
			continue;
		}
		calls[function]--;
		if (i == 0)
			break;
		i = f->node[i].parent;
	}
	free(calls);
	free(at);
	return outer;
}

/* Return the sum of type TYPE in SUMS of the function that NODE stands for. */
static int64_t *function_sum(const struct flame *f, int64_t *sums, uint32_t node, uint32_t type)
{
	size_t function = flame_frame(f, f->node[node].frame)->function;

	return &sums[function * f->types + type];
}

/* Sum up each function over all nodes, because soon they are no longer all there. */
static void sum_functions(struct arranging *a)
{
	struct flame *f = a->f;
	const struct flame_rows *rows = &f->side[FLAME_PROFILE];
	size_t values = (size_t)f->identities.count * f->types;

	list_children(a, true);
	bool *outer = mark_outer(a);
	f->cut.flat = mem_zeroed(values, sizeof(*f->cut.flat));
	f->cut.cumulative = mem_zeroed(values, sizeof(*f->cut.cumulative));
	for (uint32_t type = 0; type < f->types; type++) {
		int64_t *total = totals_of(f, type);
		for (uint32_t i = 1; i < f->nodes; i++)
			if (outer[i])
				add(function_sum(f, f->cut.cumulative, i, type), total[i]);
		for (uint32_t i = 0; i < rows->rows; i++)
			add(function_sum(f, f->cut.flat, rows->row[i].node, type),
			    rows->value[rows->row[i].values + type]);
		free(total);
	}
	free(outer);
	free_children(a);
}

static uint32_t add_node(struct arranging *a, uint32_t parent, uint32_t frame)
{
	a->node[a->nodes] = (struct flame_node){ parent, frame };
	return a->nodes++;
}

/* Number the kept nodes depth first, and a rest after the children of its parent. */
static void number_nodes(struct arranging *a)
{
	struct flame *f = a->f;
	uint32_t *at = mem_zeroed(f->nodes, sizeof(*at));	/* children done, by node */

	/* There is room for the rests: each stands for at least one node. */
	a->node = mem_resize(NULL, f->nodes * sizeof(*a->node));
	a->new[0] = add_node(a, 0, 0);
	for (uint32_t i = 0;;) {
		if (a->first[i] + at[i] < a->first[i + 1]) {
			uint32_t next = a->child[a->first[i] + at[i]++];
			a->new[next] = add_node(a, a->new[i], f->node[next].frame);
			i = next;
			continue;
		}
		if (a->paths[i])
			a->rest[i] = add_node(a, a->new[i],
					      flame_line(f, f->cut.function, a->paths[i], false));
		if (i == 0)
			break;
		i = f->node[i].parent;
	}
	free(at);
}

static int compare_rows(const void *a, const void *b)
{
	const struct flame_row *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->set != y->set)
		return x->set < y->set ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->values < y->values ? -1 : x->values > y->values;
}

/* Sort the rows, and add up those of one node, label set and time. */
static void merge_rows(const struct flame *f, struct flame_rows *rows)
{
	uint32_t kept = 0;

	if (rows->rows)
		qsort(rows->row, rows->rows, sizeof(*rows->row), compare_rows);
	for (uint32_t i = 0; i < rows->rows; i++) {
		struct flame_row *row = &rows->row[i], *last = &rows->row[kept - (kept > 0)];
		if (kept == 0 || row->node != last->node || row->set != last->set ||
		    row->time != last->time) {
			rows->row[kept++] = *row;
			continue;
		}
		for (uint32_t k = 0; k < f->types; k++) {
			int64_t *sum = &rows->value[last->values + k];
			*sum = (int64_t)((uint64_t)*sum +
					 (uint64_t)rows->value[row->values + k]);
		}
	}
	rows->rows = kept;
}

/* Set the origin and the tick of times: coarser where rows are many, which merges them. */
static void choose_tick(struct flame *f)
{
	const int64_t ms = 1000000;
	enum { MANY = 1000000 };
	int64_t first = INT64_MAX, last = INT64_MIN;
	uint64_t rows = 0;

	for (int side = 0; side < FLAME_SIDES; side++)
		for (uint32_t i = 0; i < f->side[side].rows; i++) {
			int64_t time = f->side[side].row[i].time;
			first = time != INT64_MIN && time < first ? time : first;
			last = time > last ? time : last;
			rows++;
		}
	f->first_time = first;
	uint64_t span = (uint64_t)last - (uint64_t)first;
	f->tick = span <= 10 * (uint64_t)ms ? 1 : rows <= MANY ? ms : 10 * ms;
}

/* Times become ticks.  Slices are ticks as they are, of the length that the profile says. */
static void count_ticks(struct flame *f)
{
	int64_t duration = f->when[FLAME_PROFILE].duration;
	bool slices = f->slices > 0;

	if (!f->has_times)
		return;
	if (slices)
		f->tick = f->slice > 0 ? f->slice : duration > f->slices
			? duration / f->slices : 1000000;
	else
		choose_tick(f);
	for (int side = 0; side < FLAME_SIDES; side++)
		for (uint32_t i = 0; i < f->side[side].rows; i++) {
			struct flame_row *row = &f->side[side].row[i];
			uint64_t since = (uint64_t)row->time - (uint64_t)f->first_time;
			if (row->time == INT64_MIN || (slices && (row->time < 1 ||
						       row->time > f->slices)))
				row->time = -1;
			else
				row->time = slices ? row->time - 1
					: (int64_t)(since / (uint64_t)f->tick);
		}
}

static void move_rows(const struct arranging *a, struct flame_rows *rows)
{
	for (uint32_t i = 0; i < rows->rows; i++) {
		uint32_t *node = &rows->row[i].node;
		*node = is_kept(a, *node) ? a->new[*node] : a->rest[a->owner[*node]];
	}
}

/* Say what is not shown one by one. */
static void report_cut(struct flame *f)
{
	const char *why = f->cut.share < f->options.least ? "are below --min"
							  : "are more than a page can hold";

	report_note(f->report, "%" PRIu32 " call paths %s: those of each caller are summed "
		    "up as " WORD_TOO_SMALL "; none has more than %.3g %% of all", f->cut.nodes,
		    why, 100 * f->cut.share);
}

static void init(struct arranging *a, struct flame *f)
{
	*a = (struct arranging){ .f = f };
	a->owner = mem_resize(NULL, f->nodes * sizeof(*a->owner));
	memset(a->owner, 0xff, f->nodes * sizeof(*a->owner));
	a->paths = mem_zeroed(f->nodes, sizeof(*a->paths));
	a->rest = mem_zeroed(f->nodes, sizeof(*a->rest));
	a->new = mem_zeroed(f->nodes, sizeof(*a->new));
}

/* The addresses of a base come again in the profile: this is how many there are at least. */
static void name_objects(struct flame *f)
{
	char object[512], name[600];

	for (uint32_t i = 0; i < f->identities.count; i++) {
		struct flame_function *of = &f->function[i];
		uint32_t count = of->addresses[FLAME_PROFILE];
		if (of->addresses[FLAME_BASE] > count)
			count = of->addresses[FLAME_BASE];
		if (count == 0)
			continue;
		object_name(f->strings.text[of->object], false, object, sizeof(object));
		object_name_addresses(object, count, name, sizeof(name));
		of->name = intern_text(&f->strings, name);
	}
}

void flame_arrange(struct flame *f)
{
	struct arranging a;

	table_release(&f->children);	/* it takes as much memory as all that follows */
	name_objects(f);
	init(&a, f);
	count_ticks(f);
	weigh(&a);
	choose_kept(&a);
	if (f->cut.nodes) {
		f->cut.function = flame_function(f, WORD_TOO_SMALL, "", "", 0, KIND_LOST);
		sum_functions(&a);
		report_cut(f);
	}
	list_children(&a, false);
	free(a.weight);
	number_nodes(&a);
	free_children(&a);
	for (int side = 0; side < FLAME_SIDES; side++) {
		move_rows(&a, &f->side[side]);
		merge_rows(f, &f->side[side]);
	}
	flame_move_verdicts(f, a.new, a.owner, a.nodes);
	free(f->node);
	f->node = a.node;
	f->nodes = a.nodes;
	free(a.owner);
	free(a.new);
	free(a.paths);
	free(a.rest);
}
