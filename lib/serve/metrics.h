/* SPDX-License-Identifier: Apache-2.0 */
/* metrics - what a server has done, and what that cost. */
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
	double recent, recent_at;	/* CPU time that decays, in s, and when it was added to */
};

/* Count a request that was answered by STATUS. */
void metrics_count(struct metrics *m, int status);

/* Add CPU seconds that tools used, at NOW, in seconds of the monotonic clock. */
void metrics_add_cost(struct metrics *m, double cpu, double now);

/* Return the share of one CPU that tools used, averaged over some five minutes. */
double metrics_share(const struct metrics *m, double now);

/* Return the seconds until metrics_share() will be MOST, if no tool runs. */
unsigned metrics_wait(const struct metrics *m, double most, double now);

/* Take the counts of samples and losses from MESSAGES of pmu-sample -v. */
void metrics_add_samples(struct metrics *m, const char *messages);

/* Write a metric as Prometheus reads it. */
void metrics_print_one(struct evbuffer *out, const char *name, const char *type, const char *help,
		       double value);

/* Write all of M so. */
void metrics_print(const struct metrics *m, unsigned running, double now, struct evbuffer *out);
