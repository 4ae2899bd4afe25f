/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ibs - the raw record of AMD's Instruction-Based Sampling of micro-operations (the PMU ibs_op).
 *
 * Before Linux 6.2 the kernel gives samples of ibs_op no data address, source or latency, but the
 * values of the CPU's registers (arch/x86/include/asm/amd-ibs.h, arch/x86/events/amd/ibs.c):
 *
 *	u32 caps; u64 op_ctl, rip, op_data, op_data2, op_data3, data address, physical address; ...
 *
 * caps is EAX of CPUID function 0x8000001b.  The registers are those of AMD's Processor Programming
 * Reference (publication 55898), MSRC001_1033 to MSRC001_1039.
 */
#pragma once
#include "record/events.h"
#include "record/sample.h"

/*
 * Set the data address, source, weight and physical address of S, a sample of EVENT, by its raw
 * record; but none that the kernel has set.  A raw record that is damaged, or is not of a load or
 * store, changes nothing.
 */
void ibs_complete(const struct stream_event *event, struct sample *s);

/* Return the PERF_SAMPLE_* bits of the fields that samples of EVENT have. */
static inline uint64_t ibs_fields(const struct stream_event *event)
{
	uint64_t type = event->attr.sample_type;

	if (!event->ibs.is_op || !(type & PERF_SAMPLE_RAW))
		return type;
	return type | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC |
	       (type & PERF_SAMPLE_WEIGHT_STRUCT ? 0 : PERF_SAMPLE_WEIGHT);
}

/*
 * Follow the header feature FEATURE with DATA: which events of EVENTS are ibs_op's, and which CPU
 * it was.
 */
void ibs_follow_feature(struct stream_events *events, uint64_t feature, struct cursor data);
