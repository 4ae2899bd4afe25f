/* SPDX-License-Identifier: Apache-2.0 */
/* metrics - counts a server's requests, samples and costs. */
#pragma once
#include <event2/buffer.h>
#include <stdint.h>

enum { METRICS_STATUSES = 16 };

/* Zero-initialised: nothing yet. */
struct metrics {
	struct {
		int status;		/* of HTTP; 0: not used */
		uint64_t requests;
	} by_status[METRICS_STATUSES];
	uint64_t samples, lost;
	double cpu;			/* seconds that tools used */
	double recent, recent_at;	/* decaying sum of CPU time, in s, and its last update */
};

/* Count a request that was answered by STATUS. */
void metrics_count(struct metrics *m, int status);

/* Add CPU seconds that tools used, at NOW, in seconds of the monotonic clock. */
void metrics_add_cost(struct metrics *m, double cpu, double now);

/* Return the share of one CPU that tools used, averaged over about five minutes. */
double metrics_share(const struct metrics *m, double now);

/* Return the seconds until metrics_share() falls to MOST if no tool runs. */
unsigned metrics_wait(const struct metrics *m, double most, double now);

/* Add the counts of samples and losses in MESSAGES, which pmu-sample -v wrote. */
void metrics_add_samples(struct metrics *m, const char *messages);

/* Write one metric in the text format of Prometheus. */
void metrics_print_one(struct evbuffer *out, const char *name, const char *type, const char *help,
		       double value);

/* Write all metrics of M in the same format. */
void metrics_print(const struct metrics *m, unsigned running, double now, struct evbuffer *out);
