/* SPDX-License-Identifier: Apache-2.0 */
#include "labels/slices.h"

#define SHORTEST 10000000	/* ns */

unsigned slices_reach(struct slices *s, uint64_t time, pid_t pid)
{
	unsigned doubled = 0;

	if (s->span == 0) {
		s->span = SHORTEST;
		s->first = s->last = time / s->span;
		s->start = time;
		s->pid = pid;
	}
	if (time < s->start || (time == s->start && pid < s->pid)) {
		s->start = time;
		s->pid = pid;
	}
	uint64_t at = time / s->span;
	s->first = at < s->first ? at : s->first;
	s->last = at > s->last ? at : s->last;
	for (; s->last - s->first >= s->most; doubled++) {
		s->first /= 2;
		s->last /= 2;
		s->span *= 2;
	}
	return doubled;
}
