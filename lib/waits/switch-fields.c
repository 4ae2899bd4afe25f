/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/switch-fields.h"

int64_t switch_field(const struct tracepoints *formats, uint64_t id, struct bytes raw,
		     enum switch_field field)
{
	static const struct tracepoint_field usual[SWITCH_FIELDS] = {
		[FIELD_PID] = { .name = "pid", .offset = 24, .size = 4, .is_signed = true },
		[FIELD_PREV_PID] = { .name = "prev_pid", .offset = 24, .size = 4,
				     .is_signed = true },
		[FIELD_PREV_STATE] = { .name = "prev_state", .offset = 32, .size = 8,
				       .is_signed = true },
		[FIELD_NEXT_PID] = { .name = "next_pid", .offset = 56, .size = 4,
				     .is_signed = true },
		[FIELD_BY] = { .name = "common_pid", .offset = 4, .size = 4, .is_signed = true },
		[FIELD_FLAGS] = { .name = "common_flags", .offset = 2, .size = 1 },
	};
	const struct tracepoint_field *f = tracepoints_find(formats, id, usual[field].name);
	int64_t value;

	return tracepoint_number(formats, f ? f : &usual[field], raw, &value) ? value : 0;
}
