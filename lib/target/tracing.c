/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TRACING_DATA record holds the size (u32) of the data that follow it, padded to 8: a
 * trace-cmd file of version 0.6 (trace-cmd.dat(5)) with the kernel's descriptions of events.
 */
#include "target/tracing.h"
#include "base/arena.h"
#include "linux/read.h"
#include "record/record.h"

#include <endian.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DESCRIPTION_MAX = 1 << 20 };	/* bytes; usually about 1 KiB */

static void add_u32(struct buffer *t, uint32_t v) { buffer_add(t, &v, sizeof(v)); }
static void add_u64(struct buffer *t, uint64_t v) { buffer_add(t, &v, sizeof(v)); }
static void add_string(struct buffer *t, const char *s) { buffer_add(t, s, strlen(s) + 1); }

/* Add u64 size and the contents of the file NAME in DIR; if it cannot be read, 0 bytes. */
static void add_file(struct buffer *t, const char *dir, const char *name)
{
	uint8_t buffer[4096];
	size_t at = t->size, n;

	add_u64(t, 0);
	FILE *f = linux_open_stream("%s/%s", dir, name);
	while (f && (n = fread(buffer, 1, sizeof(buffer), f)) > 0 && t->size - at < DESCRIPTION_MAX)
		buffer_add(t, buffer, n);
	if (f)
		fclose(f);
	uint64_t size = t->size - at - sizeof(size);
	memcpy(t->at + at, &size, sizeof(size));
}

/* Return whether EVENT is a tracepoint that was given by name, not by number. */
static bool is_named(const struct event *event)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT && strchr(event->base, ':');
}

/* Return whether the I-th event is a tracepoint that does not occur earlier in the list. */
static bool is_first(const struct event_list *events, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_named(&events->event[k]) &&
		    events->event[k].attr.config == events->event[i].attr.config)
			return false;
	return is_named(&events->event[i]);
}

/* Add each system, the number of its events, and the events: here, a system per event. */
static void add_events(struct buffer *t, const struct event_list *events, const char *root)
{
	uint32_t count = 0;

	for (size_t i = 0; i < events->count; i++)
		count += is_first(events, i);
	add_u32(t, count);
	for (size_t i = 0; i < events->count; i++) {
		char system[256], name[PATH_MAX];
		if (!is_first(events, i))
			continue;
		snprintf(system, sizeof(system), "%s", events->event[i].base);
		char *colon = strchr(system, ':');
		*colon = '\0';
		snprintf(name, sizeof(name), "%s/%s/format", system, colon + 1);
		add_string(t, system);
		add_u32(t, 1);
		add_file(t, root, name);
	}
}

static void compose(struct buffer *t, const struct event_list *events, const char *root)
{
	static const uint8_t magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	const uint8_t word[2] = { __BYTE_ORDER == __BIG_ENDIAN, sizeof(long) };

	buffer_add(t, magic, sizeof(magic));
	add_string(t, "0.6");
	buffer_add(t, word, sizeof(word));
	add_u32(t, (uint32_t)sysconf(_SC_PAGESIZE));
	add_string(t, "header_page");
	add_file(t, root, "header_page");
	add_string(t, "header_event");
	add_file(t, root, "header_event");
	add_u32(t, 0);		/* no ftrace events */
	add_events(t, events, root);
	add_u32(t, 0);		/* no kallsyms: the stream has the kernel's mapping */
	add_u32(t, 0);		/* no printk formats */
	add_u64(t, 0);		/* no command names: the stream has COMM records */
}

bool tracing_data(struct buffer *data, const struct event_list *events)
{
	char root[PATH_MAX];
	bool any = false;

	for (size_t i = 0; i < events->count; i++)
		any |= is_first(events, i);
	if (!any || !event_tracepoints_path(root, sizeof(root)))
		return false;
	compose(data, events, root);
	return true;
}

void tracing_write(struct output *out, const struct event_list *events)
{
	static const uint8_t padding[8];
	struct { struct perf_event_header header; uint32_t size; } record = {
		.header = { .type = RECORD_TRACING_DATA, .size = sizeof(record) },
	};
	struct buffer t = { 0 };

	if (!tracing_data(&t, events))
		return;
	buffer_add(&t, padding, -t.size & 7);
	record.size = (uint32_t)t.size;
	output_write(out, &record, sizeof(record));
	output_write(out, t.at, t.size);
	free(t.at);
}
