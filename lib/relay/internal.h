/* SPDX-License-Identifier: Apache-2.0 */
/* internal - what only this module uses; the files are named. */
#pragma once
#include "record/events.h"

/*
 * trim - leaves out the unused end of a sample's copy of the user stack.
 *
 * The kernel reserves attr.sample_stack_user bytes in every SAMPLE record, but fills only as many
 * as the thread's stack has.  The rest of the reserved bytes are from older records.
 */

/*
 * Copy RECORD, a SAMPLE of EVENT, to TO (room for RECORD->size bytes), and leave out the unused
 * end of its stack, or (WITHOUT_STACK) all of it.  The copy is a valid record: its size and the
 * stack's size, rounded up to 8 bytes, are smaller.  Returns the size of the copy in bytes.
 */
size_t trim_copy(void *to, const struct perf_event_header *record,
		 const struct stream_event *event, bool without_stack);

/*
 * The same, without the field of the stack, and with only the user registers of the mask REGISTERS:
 * as an event has them whose stacks are unwound, if the user has asked for registers.
 */
size_t trim_to_registers(void *to, const struct perf_event_header *record,
			 const struct stream_event *event, uint64_t registers);
