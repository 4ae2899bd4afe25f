/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/gates.h"
#include "base/arena.h"
#include "stats/discoveries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parse the gate at TEXT, to GATE.  Return what follows it, or NULL. */
static const char *parse_gate(const char *text, struct counting_gate *gate)
{
	const char *limit = strstr(text, ":+");
	char *end;

	if (!limit || limit == text)
		return NULL;
	gate->limit = strtod(limit + 2, &end) / 100;
	if (end == limit + 2 || *end != '%' || (end[1] && end[1] != ',') ||
	    !(gate->limit >= 0) || isinf(gate->limit))
		return NULL;
	gate->name = strndup(text, (size_t)(limit - text));
	return end + 1;
}

bool counting_gates_add(struct counting_gates *g, const char *text)
{
	struct counting_gate gate;

	do {
		text = parse_gate(text, &gate);
		if (!text)
			return false;
		g->gate = array_grow(g->gate, g->count, sizeof(*g->gate));
		g->gate[g->count++] = gate;
	} while (*text++ == ',');
	return true;
}

bool counting_gates_resolve(struct counting_gates *g, const struct counting_rows *rows,
			    struct report *report)
{
	for (size_t i = 0; i < g->count; i++) {
		const struct counting_row *row = counting_rows_similar(rows, g->gate[i].name);
		if (!row) {
			report_error(report, "--fail-if: '%s' is not counted here; to count it: "
				     "-e %s", g->gate[i].name, g->gate[i].name);
			return false;
		}
		free(g->gate[i].name);
		g->gate[i].name = mem_text(row->name);
	}
	return true;
}

/* Return the row of GATE in C, or NULL (reported) if it cannot be tested. */
static const struct comparison_row *find_row(const struct counting_gate *gate,
					     const struct comparison *c, struct report *report)
{
	const struct comparison_row *row = comparison_find(c, gate->name);

	if (row && row->is_tested)
		return row;
	report_error(report, "--fail-if cannot test '%s': %s", gate->name,
		     row ? "it takes two runs or more of each command"
			 : "the base does not have it");
	return NULL;
}

size_t counting_gates_exceeded(const struct counting_gates *g, const struct comparison *c,
			       size_t count, double fdr, struct report *report)
{
	const struct comparison_row **row = mem_zeroed(g->count * count, sizeof(*row));
	size_t tests = g->count * count, exceeded = 0;
	double *p = mem_zeroed(tests, sizeof(*p)), *q = mem_zeroed(tests, sizeof(*q));

	for (size_t i = 0; i < tests; i++) {
		const struct counting_gate *gate = &g->gate[i % g->count];
		row[i] = find_row(gate, &c[i / g->count], report);
		p[i] = row[i] ? comparison_above(row[i], gate->limit) : 1;
	}
	discoveries_find(p, tests, q);
	for (size_t i = 0; i < tests; i++) {
		double limit = g->gate[i % g->count].limit;
		if (!row[i] || row[i]->low <= limit || q[i] > fdr)
			continue;
		report_note(report, "'%s' grew by more than %g %%: %+.2f %% [%+.2f, %+.2f]",
			    row[i]->after->name, 100 * limit, 100 * row[i]->change,
			    100 * row[i]->low, 100 * row[i]->high);
		exceeded++;
	}
	free(row);
	free(p);
	free(q);
	return exceeded;
}

void counting_gates_release(struct counting_gates *g)
{
	for (size_t i = 0; i < g->count; i++)
		free(g->gate[i].name);
	free(g->gate);
	*g = (struct counting_gates){ .gate = NULL };
}
