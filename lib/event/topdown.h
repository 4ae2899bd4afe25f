/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topdown - what the slots of a core's pipeline were used for, at the first level: how many of
 * the operations that it could start were retired, were discarded after a wrong speculation, or
 * did not start because of the frontend or of the backend.
 *
 * The kernel offers one of two sets of events:
 *
 * Metrics, of Intel's cores since Ice Lake: the events count slots themselves
 * (arch/x86/events/intel/core.c).
 *
 * Stalls, of Arm's cores since PMUv3.4: the shares follow from slots without an operation, and
 * from the operations.  The kernel shows the number of slots in a cycle as caps/slots
 * (drivers/perf/arm_pmuv3.c).  The formulas are those of the Server Base System Architecture, as
 * the kernel has them (tools/perf/pmu-events/arch/arm64/sbsa.json).
 */
#pragma once
#include <stdbool.h>

enum topdown_kind { TOPDOWN_METRICS, TOPDOWN_STALLS, TOPDOWN_KINDS };

/* The events of both kinds. */
enum topdown_event {
	TOPDOWN_SLOTS, TOPDOWN_RETIRING, TOPDOWN_BAD_SPEC, TOPDOWN_FE_BOUND, TOPDOWN_BE_BOUND,
	TOPDOWN_CYCLES, TOPDOWN_STALL_SLOT, TOPDOWN_STALL_FRONTEND, TOPDOWN_STALL_BACKEND,
	TOPDOWN_OP_RETIRED, TOPDOWN_OP_SPEC,
	TOPDOWN_EVENTS
};

/* Their names in sysfs. */
extern const char *const topdown_event_name[TOPDOWN_EVENTS];

/* By kind: its events are those from FIRST to LAST. */
extern const struct topdown_range {
	enum topdown_event first, last;
} topdown_events[TOPDOWN_KINDS];

enum topdown_share {
	TOPDOWN_IS_RETIRING, TOPDOWN_IS_BAD_SPECULATION, TOPDOWN_IS_FRONTEND, TOPDOWN_IS_BACKEND,
	TOPDOWN_SHARES
};

extern const char *const topdown_share_name[TOPDOWN_SHARES];

/*
 * Compute the shares of all slots, 0 to 1, from the COUNT of each event of KIND.  SLOTS: in a
 * cycle, for TOPDOWN_STALLS.  Return false if these counts have no shares: a divisor is 0.
 */
bool topdown_shares(enum topdown_kind kind, const double count[TOPDOWN_EVENTS], double slots,
		    double share[TOPDOWN_SHARES]);
