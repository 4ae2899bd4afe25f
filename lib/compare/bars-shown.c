/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/bars-shown.h"
#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const bars_how_name[BARS_HOWS + 1] = {
	[BARS_AUTO] = "auto", [BARS_PROGRAM] = "program", [BARS_RUN] = "run",
	[BARS_NONE] = "none", NULL
};

static bool is_run(const struct share_bar *bar, enum bars_how how)
{
	return how == BARS_RUN || (how == BARS_AUTO && bar->is_marked);
}

bool bars_marks(const struct share_bar *bar, enum bars_how how)
{
	return how == BARS_AUTO && bar->is_marked;
}

bool bars_may_be_zero(const struct bars *b, const struct share_bar *bar, enum bars_how how)
{
	struct share_bar run = *bar;

	if (b->keeps_few || b->whole.is_complete || bar->is_measured ||
	    bar->share >= bars_least(b))
		return false;	/* few long phases have few effective samples, but a wide bar */
	if (!is_run(bar, how))
		return share_may_be_zero(bar);
	run.is_exact = bar->floor <= 0;
	double scale = b->whole.total / (b->whole.total + b->whole.measured);
	run.effective = run.is_exact ? 0
			: scale * scale * bar->sampled * (1 - bar->sampled) / bar->floor;
	return share_may_be_zero(&run);
}

void bars_keep_most(struct bars *b, enum bars_how how)
{
	double few = 0, all = 0;

	b->keeps_few = false;
	for (uint32_t i = 1; i < b->sums[BARS_FLAT].rows; i++) {
		const struct share_bar *bar = b->row[i].bar;
		double share = bar[BARS_FLAT].share;
		all += share;
		few += bars_may_be_zero(b, &bar[BARS_CUMULATIVE], how) ? share : 0;
	}
	b->keeps_few = few > all / 4;
}

bool bars_show_worst(const struct bars *b)
{
	const double much = b->whole.is_complete ? 0 : 0.05;

	return bars_lost(b) > much;
}

double bars_round_up(double number, double step)
{
	return ceil(number / step - 1e-9) * step;
}

double bars_worst_low(const struct bars *b, double low)
{
	return low * (1 - bars_lost(b));
}

double bars_worst_high(const struct bars *b, double high)
{
	return high * (1 - bars_lost(b)) + bars_lost(b);
}

struct bars_bounds bars_bounds(const struct bars *b, const struct share_bar *bar,
			       enum bars_how how)
{
	bool run = is_run(bar, how), much = bars_show_worst(b);
	double low = run ? bar->low_run : bar->low, high = run ? bar->high_run : bar->high;

	if (bar->is_selected) {
		low = bar->low_selected;
		high = bar->high_selected;
	}

	if (much)
		return (struct bars_bounds){ bars_worst_low(b, low), bars_worst_high(b, high),
					     false };
	if (bar->is_exact)
		return (struct bars_bounds){ bar->share, bar->share, true };
	return (struct bars_bounds){ low, high, false };
}

bool bars_half(const struct bars *b, const struct share_bar *bar, enum bars_how how, double *half)
{
	struct bars_bounds it = bars_bounds(b, bar, how);

	*half = bars_round_up(50 * (it.high - it.low), 0.01);	/* as it is printed */
	return !it.is_exact;
}

bool bars_leave_out(const struct bars *b, const struct share_bar *flat,
		    const struct share_bar *cumulative, enum bars_how how, struct bars_left *left)
{
	if (!bars_may_be_zero(b, cumulative, how))
		return false;
	left->few++;
	left->share += flat->share;
	left->high = fmax(left->high, bars_bounds(b, cumulative, how).high);
	return true;
}

/* Widen the bars of ROW because it was chosen, unless it is surely larger than a share of CUT. */
static bool select_row(struct bars *b, uint32_t row, enum bars_of kind, enum bars_how how,
		       double level, double cut)
{
	struct share_bar bar[BARS_KINDS];

	for (int i = 0; i < BARS_KINDS; i++) {
		struct share_part part = bars_part(b, row, (enum bars_of)i);
		bar[i] = b->row[row].bar[i];
		share_select(&b->whole, &part, is_run(&bar[i], how), level, &bar[i]);
	}
	if (!bar[kind].is_selected || bar[kind].low_selected > cut)
		return false;
	memcpy(b->row[row].bar, bar, sizeof(bar));
	return true;
}

uint64_t bars_select(struct bars *b, const uint32_t *row, uint32_t count, uint64_t most,
		     enum bars_of kind, enum bars_how how)
{
	uint32_t *shown = mem_zeroed(count, sizeof(*shown)), n = 0;
	uint64_t unsure = 0;
	double cut = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct share_bar *bar = b->row[row[i]].bar;
		if (n < most && !bars_may_be_zero(b, &bar[BARS_CUMULATIVE], how))
			shown[n++] = row[i];
		else
			cut = fmax(cut, bar[kind].share);
	}
	for (uint32_t i = 0; i < n && n < count; i++)
		unsure = select_row(b, shown[i], kind, how, 0.05 * n / count, cut) ? unsure + 1 : 0;
	free(shown);
	return unsure;
}
