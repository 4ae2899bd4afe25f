/* SPDX-License-Identifier: Apache-2.0 */
#include "event/topdown.h"

#include <math.h>

const char *const topdown_event_name[TOPDOWN_EVENTS] = {
	[TOPDOWN_SLOTS] = "slots", [TOPDOWN_RETIRING] = "topdown-retiring",
	[TOPDOWN_BAD_SPEC] = "topdown-bad-spec", [TOPDOWN_FE_BOUND] = "topdown-fe-bound",
	[TOPDOWN_BE_BOUND] = "topdown-be-bound",
	[TOPDOWN_CYCLES] = "cpu_cycles", [TOPDOWN_STALL_SLOT] = "stall_slot",
	[TOPDOWN_STALL_FRONTEND] = "stall_slot_frontend",
	[TOPDOWN_STALL_BACKEND] = "stall_slot_backend",
	[TOPDOWN_OP_RETIRED] = "op_retired", [TOPDOWN_OP_SPEC] = "op_spec",
};

const struct topdown_range topdown_events[TOPDOWN_KINDS] = {
	[TOPDOWN_METRICS] = { TOPDOWN_SLOTS, TOPDOWN_BE_BOUND },
	[TOPDOWN_STALLS] = { TOPDOWN_CYCLES, TOPDOWN_OP_SPEC },
};

const char *const topdown_share_name[TOPDOWN_SHARES] = {
	[TOPDOWN_IS_RETIRING] = "retiring", [TOPDOWN_IS_BAD_SPECULATION] = "bad speculation",
	[TOPDOWN_IS_FRONTEND] = "frontend bound", [TOPDOWN_IS_BACKEND] = "backend bound",
};

/* The counters are read one after the other, so a share may be a little outside of 0 to 1. */
static double limited(double share)
{
	return fmin(fmax(share, 0), 1);
}

bool topdown_shares(enum topdown_kind kind, const double count[TOPDOWN_EVENTS], double slots,
		    double share[TOPDOWN_SHARES])
{
	double all = kind == TOPDOWN_METRICS ? count[TOPDOWN_SLOTS] : slots * count[TOPDOWN_CYCLES];

	if (!(all > 0) || (kind == TOPDOWN_STALLS && !(count[TOPDOWN_OP_SPEC] > 0)))
		return false;
	if (kind == TOPDOWN_METRICS) {
		for (int i = 0; i < TOPDOWN_SHARES; i++)
			share[i] = limited(count[TOPDOWN_RETIRING + i] / all);
		return true;
	}
	double retired = count[TOPDOWN_OP_RETIRED] / count[TOPDOWN_OP_SPEC];
	double used = 1 - count[TOPDOWN_STALL_SLOT] / all;
	share[TOPDOWN_IS_RETIRING] = limited(retired * used);
	share[TOPDOWN_IS_BAD_SPECULATION] = limited((1 - retired) * used);
	share[TOPDOWN_IS_FRONTEND] = limited(count[TOPDOWN_STALL_FRONTEND] / all);
	share[TOPDOWN_IS_BACKEND] = limited(count[TOPDOWN_STALL_BACKEND] / all);
	return true;
}
