/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breakpoint - mem:ADDRESS[/LENGTH][:rwx][:modifiers]: accesses to an address.
 *
 * The defaults are perf's: reads and writes; 4 bytes, or a machine word for execution.
 */
#include "event/internal.h"

#include <inttypes.h>
#include <linux/hw_breakpoint.h>

/* Return the access S as HW_BREAKPOINT_*: letters r, w, x, each at most once.  0: malformed. */
static uint32_t parse_access(struct slice s)
{
	uint32_t type = 0;

	for (size_t i = 0; i < s.size; i++) {
		uint32_t flag = s.at[i] == 'r' ? HW_BREAKPOINT_R : s.at[i] == 'w' ? HW_BREAKPOINT_W
			      : s.at[i] == 'x' ? HW_BREAKPOINT_X : 0;
		if (!flag || type & flag)
			return 0;
		type |= flag;
	}
	return type;
}

bool breakpoint_parse(struct event_parser *p, struct event_item *item)
{
	static const struct event_rates every = { 1, 0, 1 };
	struct event event = { .attr.type = PERF_TYPE_BREAKPOINT };
	uint64_t address, length = 0;
	struct slice letters = item->name;
	char base[64];

	slice_cut(&letters, ":");
	struct slice size = slice_cut(&letters, ":");
	struct slice where = slice_cut(&size, "/");
	if (!slice_number(where, &address))
		return event_wrong(p, where.at, "'%.*s' is not an address; example: "
				   "mem:0x4010f0/8:rw", (int)where.size, where.at);
	if (where.at + where.size < size.at &&
	    (!slice_number(size, &length) || length < 1 || length > 8))
		return event_wrong(p, size.at, "'%.*s' is not a length: 1 to 8 bytes",
				   (int)size.size, size.at);
	struct slice rest = letters, access = slice_cut(&rest, ":");
	uint32_t type = parse_access(access);
	if (type)
		letters = rest;
	else
		type = HW_BREAKPOINT_RW;
	if (length == 0)
		length = type == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
	event.attr.bp_type = type;
	event.attr.bp_addr = address;
	event.attr.bp_len = length;
	snprintf(base, sizeof(base), "mem:0x%" PRIx64 "/%" PRIu64 ":%s%s%s", address, length,
		 type & HW_BREAKPOINT_R ? "r" : "", type & HW_BREAKPOINT_W ? "w" : "",
		 type & HW_BREAKPOINT_X ? "x" : "");
	event.base = arena_text(&p->list->arena, base, sizeof(base));
	return event_parser_add(p, item, event, letters, &every);
}
