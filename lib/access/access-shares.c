/* SPDX-License-Identifier: Apache-2.0 */
#include "access/access-shares.h"
#include "base/arena.h"
#include "stats/distribution.h"

#include <math.h>
#include <stdlib.h>

/* --- shares --- */

/* Set WEIGHT, BLOCKS elements, to the periods of T by slice from FIRST on. */
static void spread(const struct access_times *t, uint64_t first, double *weight, uint32_t blocks,
		   enum access_whole of)
{
	memset(weight, 0, blocks * sizeof(*weight));
	for (uint32_t i = 0; i < t->count; i++) {
		uint64_t at = t->slice[i].number - first;
		if (at < blocks)
			weight[at] += of == ACCESS_OF_ALL ? t->slice[i].total
							  : t->slice[i].elsewhere;
	}
}

void access_shares(struct bars *b, const struct accesses *a, const struct access_facts *facts,
		   enum access_whole of)
{
	const struct access_sums *all = &a->all;
	bool is_all = of == ACCESS_OF_ALL;
	uint64_t first = a->times.count ? a->times.slice[0].number : 0;
	uint32_t blocks = a->times.count
		? (uint32_t)(a->times.slice[a->times.count - 1].number - first) + 1 : 0;
	double *weight = mem_zeroed((size_t)blocks + 1, sizeof(*weight));

	spread(&a->times, first, weight, blocks, of);
	bars_begin(b, &(struct bars_given){
		.weight = weight, .blocks = blocks,
		.total = is_all ? all->total : all->total_elsewhere,
		.squares = is_all ? all->squares : all->squares_elsewhere,
		.samples = (double)(is_all ? all->samples : all->elsewhere),
		.lost = (double)facts->lost, .is_complete = facts->is_complete });
	for (uint32_t i = 0; i < a->rows; i++) {
		const struct access_sums *sums = &a->row[i].sums;
		spread(&a->row[i].times, first, weight, blocks, of);
		bars_put(b, i + 1, &(struct share_part){
			.weight = weight, .total = is_all ? sums->total : sums->total_elsewhere,
			.squares = is_all ? sums->squares : sums->squares_elsewhere,
			.samples = (double)(is_all ? sums->samples : sums->elsewhere) });
	}
	free(weight);
	bars_finish(b, a->rows + 1);
	bars_make(b);
}

/* --- percentiles --- */

static int compare_weights(const void *a, const void *b)
{
	const struct access_weight *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->bin < y->bin ? -1 : x->bin > y->bin;
}

void access_sort_weights(struct accesses *a)
{
	if (a->weights)
		qsort(a->weight, a->weights, sizeof(*a->weight), compare_weights);
	table_release(&a->weight_table);
}

/* Return the index of the first weight of ROW. */
static uint32_t first_weight(const struct accesses *a, uint32_t row)
{
	uint32_t low = 0, high = a->weights;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (a->weight[middle].row < row)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Return the least weight of ROW that the share P of its TOTAL does not exceed. */
static uint64_t weight_at(const struct accesses *a, uint32_t row, double p, double total)
{
	uint32_t at = first_weight(a, row);
	double sum = a->weight[at].total;

	while (sum < p * total * (1 - 1e-12) && at + 1 < a->weights && a->weight[at + 1].row == row)
		sum += a->weight[++at].total;
	return access_weight_least(a->weight[at].bin);
}

/*
 * Set *LOW and *HIGH to shares of N samples: the percentile Q of the program is between the samples
 * at these ranks in 95 of 100 cases.  The ranks are quantiles of the number of samples below the
 * percentile, which is binomial, by the expansion of Cornish and Fisher.
 */
static void rank_interval(double q, double n, double *low, double *high)
{
	const double z = STATS_Z;
	double centre = n * q + (1 - 2 * q) * (z * z - 1) / 6, half = z * sqrt(n * q * (1 - q));

	*low = fmax(0, (centre - half) / n);
	*high = fmin(1, (centre + half + 1) / n);
}

bool access_percentile(const struct accesses *a, uint32_t row, double q,
		       struct access_percentile *out)
{
	const struct access_sums *sums = &a->row[row].sums;
	uint32_t at = first_weight(a, row);
	const double tail = 0.025;
	double low, high;

	*out = (struct access_percentile){ .value = 0 };
	if (at == a->weights || a->weight[at].row != row || sums->squares_weighed <= 0)
		return false;
	double total = sums->total_weighed, n = total * total / sums->squares_weighed;
	rank_interval(q, n, &low, &high);
	/* the least of N samples is below the percentile, unless all N are above it */
	out->has_low = pow(1 - q, n) <= tail;
	out->has_high = pow(q, n) <= tail;
	out->value = weight_at(a, row, q, total);
	out->low = weight_at(a, row, low, total);
	out->high = weight_at(a, row, high, total);
	return true;
}

double access_mean_weight(const struct access_sums *sums)
{
	return sums->total_weighed > 0 ? sums->cost / sums->total_weighed : 0;
}

/* --- order --- */

/*
 * Order two sums, the larger first.  BY_COST: by the latency of accesses that found the line
 * modified elsewhere, or their number; then by all.
 */
static int compare_sums(const struct access_sums *x, const struct access_sums *y, bool by_cost)
{
	const double keys[][2] = {
		{ x->cost_elsewhere, y->cost_elsewhere },
		{ x->total_elsewhere, y->total_elsewhere },
		{ x->total, y->total },
		{ (double)x->samples, (double)y->samples },
	};

	for (int i = by_cost ? 0 : 2; i < 4; i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] > keys[i][1] ? -1 : 1;
	return 0;
}

static int compare_rows(const void *a, const void *b, void *accesses)
{
	const struct accesses *of = accesses;
	const struct access_row *x = &of->row[*(const uint32_t *)a];
	const struct access_row *y = &of->row[*(const uint32_t *)b];
	int order = compare_sums(&x->sums, &y->sums, of->how.by == ACCESS_BY_LINE);

	if (order)
		return order;
	if (x->name != y->name)
		return strcmp(of->names.text[x->name], of->names.text[y->name]);
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

uint32_t *access_order_rows(const struct accesses *a, uint32_t *count)
{
	uint32_t *order = mem_zeroed((size_t)a->rows + 1, sizeof(*order));

	*count = 0;
	for (uint32_t i = 0; i < a->rows; i++)
		if (a->how.by != ACCESS_BY_LINE || access_is_contended(&a->row[i]))
			order[(*count)++] = i;
	qsort_r(order, *count, sizeof(*order), compare_rows, (void *)(uintptr_t)a);
	return order;
}

static int compare_parts(const void *a, const void *b, void *accesses)
{
	const struct accesses *of = accesses;
	const struct access_part *x = &of->part[*(const uint32_t *)a];
	const struct access_part *y = &of->part[*(const uint32_t *)b];

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	int order = compare_sums(&x->sums, &y->sums, of->how.by == ACCESS_BY_LINE);
	if (order)
		return order;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	order = strcmp(of->names.text[x->function], of->names.text[y->function]);
	return order ? order : strcmp(of->names.text[x->object], of->names.text[y->object]);
}

struct access_parts access_parts_sorted(const struct accesses *a)
{
	struct access_parts p = {
		.order = mem_zeroed((size_t)a->parts + 1, sizeof(*p.order)),
		.first = mem_zeroed((size_t)a->rows + 2, sizeof(*p.first)),
	};

	for (uint32_t i = 0; i < a->parts; i++) {
		p.order[i] = i;
		p.first[a->part[i].row + 1]++;
	}
	for (uint32_t i = 0; i < a->rows; i++)
		p.first[i + 1] += p.first[i];
	qsort_r(p.order, a->parts, sizeof(*p.order), compare_parts, (void *)(uintptr_t)a);
	return p;
}

void access_parts_release(struct access_parts *p)
{
	free(p->order);
	free(p->first);
	*p = (struct access_parts){ .order = NULL };
}

/* --- threads of a line --- */

/* A thread at an offset. */
struct user {
	uint64_t offset;
	uint64_t thread;	/* pid and tid */
};

static int compare_users(const void *a, const void *b)
{
	const struct user *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* Return the threads of ROW, sorted: by offset, or with offsets 0 unless BY_OFFSET. */
static struct user *users_of(const struct accesses *a, const struct access_parts *p, uint32_t row,
			     bool by_offset)
{
	uint32_t count = p->first[row + 1] - p->first[row];
	struct user *user = mem_zeroed((size_t)count + 1, sizeof(*user));

	for (uint32_t i = 0; i < count; i++) {
		const struct access_part *part = &a->part[p->order[p->first[row] + i]];
		user[i].offset = by_offset ? part->offset : 0;
		user[i].thread = (uint64_t)(uint32_t)part->pid << 32 | (uint32_t)part->tid;
	}
	qsort(user, count, sizeof(*user), compare_users);
	return user;
}

uint32_t access_shared_offsets(const struct accesses *a, const struct access_parts *p, uint32_t row)
{
	uint32_t count = p->first[row + 1] - p->first[row], shared = 0;
	struct user *user = users_of(a, p, row, true);

	for (uint32_t i = 0, end; i < count; i = end) {
		bool several = false;
		for (end = i + 1; end < count && user[end].offset == user[i].offset; end++)
			several |= user[end].thread != user[i].thread;
		shared += several;
	}
	free(user);
	return shared;
}

uint32_t access_threads(const struct accesses *a, const struct access_parts *p, uint32_t row)
{
	uint32_t count = p->first[row + 1] - p->first[row], threads = 0;
	struct user *user = users_of(a, p, row, false);

	for (uint32_t i = 0; i < count; i++)
		threads += i == 0 || user[i].thread != user[i - 1].thread;
	free(user);
	return threads;
}
