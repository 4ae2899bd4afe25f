/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double span = 300;		/* seconds in which the recent cost falls to 1/e */

void metrics_count(struct metrics *m, int status)
{
	int i = 0;

	while (i < METRICS_STATUSES - 1 && m->by_status[i].status &&
	       m->by_status[i].status != status)
		i++;
	m->by_status[i].status = status;
	m->by_status[i].requests++;
}

static double recent(const struct metrics *m, double now)
{
	return m->recent * exp((m->recent_at - now) / span);
}

void metrics_add_cost(struct metrics *m, double cpu, double now)
{
	m->recent = recent(m, now) + cpu;
	m->recent_at = now;
	m->cpu += cpu;
}

double metrics_share(const struct metrics *m, double now)
{
	return recent(m, now) / span;
}

unsigned metrics_wait(const struct metrics *m, double most, double now)
{
	double share = metrics_share(m, now);

	if (share <= most)
		return 1;
	double wait = most > 0 ? span * log(share / most) : 3600;
	return wait < 3600 ? (unsigned)wait + 1 : 3600;
}

void metrics_add_samples(struct metrics *m, const char *messages)
{
	const char *name = "pmu-sample: ";
	char *end;

	for (const char *at = messages; (at = strstr(at, name)); ) {
		at += strlen(name);
		unsigned long long samples = strtoull(at, &end, 10);
		if (end == at || strncmp(end, " samples in ", strlen(" samples in ")))
			continue;
		const char *lost = strstr(end, "/s), ");
		m->samples += samples;
		if (lost)
			m->lost += strtoull(lost + strlen("/s), "), NULL, 10);
		return;
	}
}

void metrics_print_one(struct evbuffer *out, const char *name, const char *type, const char *help,
		       double value)
{
	evbuffer_add_printf(out, "# HELP pmu_serve_%s %s\n# TYPE pmu_serve_%s %s\n"
			    "pmu_serve_%s %.15g\n", name, help, name, type, name, value);
}

void metrics_print(const struct metrics *m, unsigned running, double now, struct evbuffer *out)
{
	evbuffer_add_printf(out, "# HELP pmu_serve_requests_total Requests, by status.\n"
			    "# TYPE pmu_serve_requests_total counter\n");
	for (int i = 0; i < METRICS_STATUSES && m->by_status[i].status; i++)
		evbuffer_add_printf(out, "pmu_serve_requests_total{code=\"%d\"} %" PRIu64 "\n",
				    m->by_status[i].status, m->by_status[i].requests);
	metrics_print_one(out, "running", "gauge", "Requests that run tools now.", running);
	metrics_print_one(out, "samples_total", "counter", "Samples taken.", (double)m->samples);
	metrics_print_one(out, "lost_total", "counter", "Samples lost.", (double)m->lost);
	metrics_print_one(out, "cpu_seconds_total", "counter", "CPU time of the tools.", m->cpu);
	metrics_print_one(out, "cost_share", "gauge",
			  "Share of one CPU that the tools used recently.", metrics_share(m, now));
}
