/* SPDX-License-Identifier: Apache-2.0 */
#include "show/describe.h"
#include "base/json.h"
#include "labels/label-join.h"
#include "record/bit-fields.h"
#include "record/types.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>

static void key(bool json, const char *name)
{
	if (json)
		json_key(name, false);
	else
		printf(" %s=", name);
}

static void number(bool json, const char *name, uint64_t value)
{
	key(json, name);
	printf("%" PRIu64, value);
}

/* Print a pid, which may be -1 for none. */
static void id(bool json, const char *name, pid_t value)
{
	key(json, name);
	printf("%d", value);
}

/* Print an address; in JSON as a string, because many readers cannot take 64-bit numbers. */
static void address(bool json, const char *name, uint64_t value)
{
	key(json, name);
	printf(json ? "\"0x%" PRIx64 "\"" : "0x%" PRIx64, value);
}

static void text(bool json, const char *name, const char *value)
{
	key(json, name);
	json_string(value);
}

/* Print addresses or register values; nothing if W is empty. */
static void words(bool json, const char *name, struct words w)
{
	if (w.count == 0)
		return;
	key(json, name);
	putchar('[');
	for (uint64_t i = 0; i < w.count; i++)
		printf(json ? "%s\"0x%" PRIx64 "\"" : "%s0x%" PRIx64, i ? ", " : "", word_at(w, i));
	putchar(']');
}

/* Return the CPU mode: linux/perf_event.h, PERF_RECORD_MISC_CPUMODE_MASK */
static const char *mode_name(uint16_t misc)
{
	static const char *const names[] = {
		"unknown", "kernel", "user", "hypervisor", "guest-kernel", "guest-user", "6", "7",
	};

	return names[misc & PERF_RECORD_MISC_CPUMODE_MASK];
}

/* Print the SIZE bytes at FROM as a string, including NULs. */
static void label_text(const char *from, size_t size)
{
	char safe[256];

	for (size_t i = 0; i < size; i++)
		safe[i] = from[i] ? from[i] : '?';
	safe[size] = '\0';
	json_string(safe);
}

/* Print the raw data of a labels record. */
static void describe_labels(struct bytes raw, bool json)
{
	static const char *const status[] = {
		"labels", "outside", "no goroutine", "bad goroutine", "scheduler", "none",
		"unreadable",
	};
	struct label_record r;

	if (label_record_read(raw, &r))
		return;
	number(json, "of_event", r.event);
	address(json, "of_ip", r.ip);
	text(json, "status", status[r.labels.status]);
	number(json, "flags", r.labels.flags);
	number(json, "form", r.labels.form);
	key(json, "labels");
	putchar('{');
	const uint8_t *at = r.labels.text.at;
	for (unsigned i = 0; i < r.labels.pairs; i++) {
		struct label_text t = label_next(&at);
		fputs(i ? ", " : "", stdout);
		label_text(t.key, t.key_size);
		fputs(": ", stdout);
		label_text(t.value, t.value_size);
	}
	putchar('}');
}

/* LABELS: u32 id, u32 pairs; each: string key, string value */
static bool describe_label_set(const struct record *rec, bool json)
{
	struct cursor c = rec->body;

	number(json, "id", cursor_u32(&c));
	uint32_t pairs = cursor_u32(&c);
	key(json, "labels");
	putchar('{');
	for (uint32_t i = 0; i < pairs && !c.failed; i++) {
		fputs(i ? ", " : "", stdout);
		json_string(cursor_string(&c));
		fputs(": ", stdout);
		json_string(cursor_string(&c));
	}
	putchar('}');
	return !c.failed;
}

static void describe_sample(struct stream_reader *in, const struct record *rec, bool json)
{
	struct sample s;

	if (!stream_sample(in, rec, &s))
		return;
	const struct stream_event *event = &stream_events(in)->event[s.event];
	uint64_t type = event->attr.sample_type;
	text(json, "event", event->name);
	text(json, "mode", mode_name(s.misc));
	address(json, "ip", s.ip);
	if (type & PERF_SAMPLE_TID) {
		id(json, "pid", s.pid);
		id(json, "tid", s.tid);
	}
	if (type & PERF_SAMPLE_CPU)
		number(json, "cpu", s.cpu);
	if (type & PERF_SAMPLE_ADDR)
		address(json, "addr", s.addr);
	if (type & PERF_SAMPLE_DATA_SRC)
		address(json, "data_src", s.data_src);
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		number(json, "weight", s.weight);
	if (type & PERF_SAMPLE_CGROUP)
		number(json, "cgroup", s.cgroup);
	number(json, "period", s.period);
	if (s.branches.count)
		number(json, "branches", s.branches.count / 3);
	if (s.user_stack.size)
		number(json, "stack_bytes", s.user_stack.size);
	if (s.raw.size)
		number(json, "raw_bytes", s.raw.size);
	if (event->is_labels)
		describe_labels(s.raw, json);
	words(json, "user_regs", s.user_regs);
	words(json, "intr_regs", s.intr_regs);
	words(json, "callchain", s.callchain);
}

static void build_id(bool json, const uint8_t *bytes, unsigned size)
{
	char hex[BUILD_ID_HEX];

	record_build_id_hex(bytes, size, hex);
	if (size)
		text(json, "build_id", hex);
}

static bool describe_mmap(const struct record *rec, bool json)
{
	struct mmap_record m;

	if (!record_mmap(rec, &m))
		return false;
	id(json, "pid", m.pid);
	id(json, "tid", m.tid);
	address(json, "start", m.start);
	address(json, "bytes", m.size);
	address(json, "file_offset", m.file_offset);
	number(json, "executable", m.executable);
	build_id(json, m.build_id, m.build_id_size);
	if (m.go_build_id)
		text(json, "go_build_id", m.go_build_id);
	text(json, "path", m.path);
	return true;
}

static bool describe_comm(const struct record *rec, bool json)
{
	struct comm_record c;

	if (!record_comm(rec, &c))
		return false;
	id(json, "pid", c.pid);
	id(json, "tid", c.tid);
	number(json, "exec", c.exec);
	text(json, "comm", c.name);
	return true;
}

static bool describe_task(const struct record *rec, bool json)
{
	struct task_record t;

	if (!record_task(rec, &t))
		return false;
	id(json, "pid", t.pid);
	id(json, "tid", t.tid);
	id(json, "parent_pid", t.parent_pid);
	id(json, "parent_tid", t.parent_tid);
	return true;
}

static bool describe_lost(const struct record *rec, bool json)
{
	struct lost_record lost;

	if (!record_lost(rec, &lost))
		return false;
	number(json, "id", lost.id);
	number(json, "lost", lost.count);
	return true;
}

/* Print nothing for a READ record without times, which is not damaged. */
static bool describe_read(const struct stream_reader *in, const struct record *rec, bool json)
{
	const struct stream_events *events = stream_events(in);
	struct read_record read;

	if (events->count == 0 || !record_read(rec, events->event[0].attr.read_format, &read))
		return true;
	number(json, "id", read.id);
	number(json, "value", read.value);
	number(json, "enabled", read.enabled);
	number(json, "running", read.running);
	return true;
}

static bool describe_build_id(const struct record *rec, bool json)
{
	struct build_id_record b;

	if (!record_build_id(rec, &b))
		return false;
	id(json, "pid", b.pid);
	build_id(json, b.build_id, b.build_id_size);
	text(json, "path", b.path);
	return true;
}

static void describe_field(struct cursor *c, const char *name, char kind, bool hex, bool json)
{
	if (kind == 's') {
		text(json, name, cursor_string(c));
	} else if (kind == 'w') {
		words(json, name, (struct words){ .at = c->at, .count = cursor_left(c) / 8 });
	} else {
		uint64_t value = kind == '2' ? cursor_u16(c) : kind == '4' ? cursor_u32(c)
									   : cursor_u64(c);
		if (kind == 'f')
			value = bit_fields_number(ATTR_FIELDS, value);
		else if (kind == 'c')
			value = be64toh(value);
		if (hex)
			address(json, name, value);
		else if (kind == '4')
			id(json, name, (pid_t)value);
		else
			number(json, name, value);
	}
}

/* Print the named fields of LAYOUT (record/types.h), which ends before the sample_id of REC. */
static bool describe_layout(const struct stream_reader *in, const struct record *rec,
			    const char *layout, bool json)
{
	const struct stream_event *event = rec->type < RECORD_ATTR
		? events_trailer(stream_events(in), rec->body) : NULL;
	struct cursor c = rec->body;
	struct layout_field field;
	char name[32];

	if (event)
		c.end -= event->layout.trailer_size;
	while (types_next_field(&layout, &field) && field.name_size) {
		snprintf(name, sizeof(name), "%.*s", (int)field.name_size, field.name);
		describe_field(&c, name, field.kind, field.hex, json);
	}
	return !c.failed;
}

/* EVENT_UPDATE: u64 kind, u64 id, data; for kind 0 (unit) and 2 (name) the data are a string. */
static bool describe_update(const struct record *rec, bool json)
{
	struct cursor c = rec->body;
	uint64_t kind = cursor_u64(&c);

	number(json, "kind", kind);
	number(json, "id", cursor_u64(&c));
	if (kind == 0 || kind == 2)
		text(json, kind ? "name" : "unit", cursor_string(&c));
	return !c.failed;
}

/* Print a header feature: its number, its name, and its text if it is one. */
static bool describe_feature(const struct record *rec, bool json)
{
	struct cursor c = rec->body;
	uint64_t feature = cursor_u64(&c);

	number(json, "number", feature);
	const char *name = types_feature(feature).name;
	if (name)
		text(json, "feature", name);
	if ((feature >= FEATURE_HOSTNAME && feature <= FEATURE_ARCH) ||
	    feature == FEATURE_CPUDESC || feature == FEATURE_CPUDESC + 1) {
		cursor_u32(&c);
		text(json, "text", cursor_string(&c));
	}
	return !c.failed;
}

static bool describe_fields(struct stream_reader *in, const struct record *rec, bool json)
{
	switch (rec->type) {
	case PERF_RECORD_SAMPLE:
		describe_sample(in, rec, json);
		return true;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return describe_mmap(rec, json);
	case PERF_RECORD_COMM:
		return describe_comm(rec, json);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return describe_task(rec, json);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return describe_lost(rec, json);
	case PERF_RECORD_READ:
		return describe_read(in, rec, json);
	case RECORD_LABELS:
		return describe_label_set(rec, json);
	case RECORD_BUILD_ID:
		return describe_build_id(rec, json);
	case RECORD_EVENT_UPDATE:
		return describe_update(rec, json);
	case RECORD_FEATURE:
		return describe_feature(rec, json);
	default:
		break;
	}
	const char *layout = record_type_info(rec->type, rec->misc).layout;
	return !layout || describe_layout(in, rec, layout, json);
}

void describe_record(struct stream_reader *in, const struct record *rec, bool json)
{
	const char *name = record_type_name(rec->type);
	uint64_t time = stream_time(in, rec);
	char unknown[16];

	if (!name) {
		snprintf(unknown, sizeof(unknown), "%" PRIu32, rec->type);
		name = unknown;
	}
	if (json) {
		printf("{\"offset\": %" PRIu64, rec->offset);
		text(json, "type", name);
	} else {
		printf("0x%" PRIx64 " %s", rec->offset, name);
	}
	number(json, "size", record_size(rec));
	if (time)
		number(json, "time", time);
	if (!describe_fields(in, rec, json))
		stream_damaged(in, rec, "record with fields that do not fit into it");
	puts(json ? "}" : "");
}
