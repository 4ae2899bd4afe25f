/* SPDX-License-Identifier: Apache-2.0 */
#include "record/events.h"
#include "base/text.h"
#include "record/label-payload.h"

#include <inttypes.h>

/* PERF_COUNT_HW_*, linux/perf_event.h, by perf's names */
static const char *const hardware_names[] = {
	"cycles", "instructions", "cache-references", "cache-misses", "branches",
	"branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend",
	"ref-cycles",
};

/* PERF_COUNT_SW_* */
static const char *const software_names[] = {
	"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations",
	"minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy",
	"bpf-output", "cgroup-switches",
};

const char *event_generic_name(uint32_t type, uint64_t config)
{
	if (type == PERF_TYPE_HARDWARE && config < sizeof(hardware_names) / sizeof(char *))
		return hardware_names[config];
	if (type == PERF_TYPE_SOFTWARE && config < sizeof(software_names) / sizeof(char *))
		return software_names[config];
	return NULL;
}

bool event_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

bool event_is_cycles(const struct perf_event_attr *attr)
{
	uint32_t config = (uint32_t)attr->config;	/* upper half: PMU of hybrid CPUs */

	return attr->type == PERF_TYPE_HARDWARE && (config == PERF_COUNT_HW_CPU_CYCLES ||
						    config == PERF_COUNT_HW_REF_CPU_CYCLES);
}

bool event_is_dummy(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

bool event_is_occurrence(const struct perf_event_attr *attr)
{
	return !event_needs_counter(attr) && !event_is_clock(attr) && !event_is_dummy(attr);
}

bool event_tracks(const struct perf_event_attr *attr)
{
	return attr->mmap || attr->mmap_data || attr->mmap2 || attr->comm || attr->task ||
	       attr->context_switch || attr->ksymbol || attr->bpf_event || attr->cgroup ||
	       attr->text_poke;
}

uint32_t events_first_clock(const struct stream_events *events)
{
	for (uint32_t i = 0; i < events->count; i++)
		if (event_is_clock(&events->event[i].attr))
			return i;
	return TABLE_NONE;
}

bool events_sample_waits(const struct stream_events *events, uint32_t event)
{
	const struct stream_event *e = &events->event[event];

	return events->switches && !e->attr.freq && e->attr.sample_period == 1 &&
	       ((e->attr.type == PERF_TYPE_SOFTWARE &&
		 e->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES) ||
		(e->attr.type == PERF_TYPE_TRACEPOINT && !strcmp(e->name, EVENT_SWITCH)));
}

bool event_needs_counter(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT &&
	       attr->type != PERF_TYPE_BREAKPOINT;
}

bool event_samples_all(const struct perf_event_attr *attr)
{
	bool in_part = attr->exclude_user || attr->exclude_kernel || attr->exclude_idle;

	return attr->sample_period && !(attr->sample_type & PERF_SAMPLE_READ) &&
	       !(event_is_clock(attr) && in_part);
}

uint64_t event_mean_period(const struct perf_event_attr *attr, uint64_t samples, uint64_t sum)
{
	if (samples)
		return sum / samples;
	if (!attr->freq)
		return attr->sample_period;
	return event_is_clock(attr) && attr->sample_freq ? 1000000000 / attr->sample_freq : 0;
}

/* Make a name from the attr alone: "cycles", "r1c0", "type-8-config-0x11". */
static const char *name_of(struct arena *arena, const struct perf_event_attr *attr)
{
	const char *generic = event_generic_name(attr->type, attr->config);
	char text[64];

	if (generic)
		return generic;
	if (attr->type == PERF_TYPE_RAW)
		snprintf(text, sizeof(text), "r%" PRIx64, (uint64_t)attr->config);
	else
		snprintf(text, sizeof(text), "type-%u-config-0x%" PRIx64, attr->type,
			 (uint64_t)attr->config);
	return arena_text(arena, text, sizeof(text));
}

/* Return the offset of the next field and add its 8 bytes to *SIZE, if FLAG is set; else ABSENT. */
static uint16_t field_offset(uint64_t sample_type, uint64_t flag, uint16_t *size)
{
	if (!(sample_type & flag))
		return ABSENT;
	*size += 8;
	return *size - 8;
}

/*
 * PERF_RECORD_SAMPLE, linux/perf_event.h: fields of 8 bytes in this order, each
 * only if its flag is set, then the fields of variable size.  If sample_id_all is
 * set, every other record ends with struct sample_id.
 */
static struct sample_layout layout_of(const struct perf_event_attr *attr)
{
	const uint64_t fixed = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	uint64_t type = attr->sample_type;
	struct sample_layout l = { 0 };

	uint16_t identifier = field_offset(type, PERF_SAMPLE_IDENTIFIER, &l.size);
	l.ip = field_offset(type, PERF_SAMPLE_IP, &l.size);
	l.tid = field_offset(type, PERF_SAMPLE_TID, &l.size);
	l.time = field_offset(type, PERF_SAMPLE_TIME, &l.size);
	l.addr = field_offset(type, PERF_SAMPLE_ADDR, &l.size);
	l.id = field_offset(type, PERF_SAMPLE_ID, &l.size);
	l.stream_id = field_offset(type, PERF_SAMPLE_STREAM_ID, &l.size);
	l.cpu = field_offset(type, PERF_SAMPLE_CPU, &l.size);
	l.period = field_offset(type, PERF_SAMPLE_PERIOD, &l.size);
	l.more = type & ~fixed;
	if (identifier != ABSENT)
		l.id = identifier;	/* the same id, always at offset 0 */

	l.trailer_time = l.trailer_cpu = ABSENT;
	if (attr->sample_id_all) {
		field_offset(type, PERF_SAMPLE_TID, &l.trailer_size);
		l.trailer_time = field_offset(type, PERF_SAMPLE_TIME, &l.trailer_size);
		uint16_t id = field_offset(type, PERF_SAMPLE_ID, &l.trailer_size);
		field_offset(type, PERF_SAMPLE_STREAM_ID, &l.trailer_size);
		l.trailer_cpu = field_offset(type, PERF_SAMPLE_CPU, &l.trailer_size);
		if (field_offset(type, PERF_SAMPLE_IDENTIFIER, &l.trailer_size) != ABSENT)
			l.trailer_id = 8;
		else if (id != ABSENT)
			l.trailer_id = l.trailer_size - id;
	}
	return l;
}

enum { TRAILER_FIELDS = 6 };	/* of sample_id, see above; 8 bytes each */

/* Add ID, an id of EVENT, unless it is known already. */
static void add_id(struct stream_events *events, uint64_t id, uint32_t event)
{
	if (events_find(events, id) != TABLE_NONE)
		return;
	events->id = array_grow(events->id, events->ids, sizeof(*events->id));
	events->event_of_id = array_grow(events->event_of_id, events->ids,
					 sizeof(*events->event_of_id));
	events->id[events->ids] = id;
	events->event_of_id[events->ids] = event;
	table_add(&events->table, hash_u64(id), events->ids++);
}

bool events_add(struct stream_events *events, const void *attr, size_t size, struct cursor ids,
		const char **error)
{
	struct stream_event event = { 0 };
	size_t known = size < sizeof(event.attr) ? size : sizeof(event.attr);

	if (size < PERF_ATTR_SIZE_VER0) {
		*error = "its attr is shorter than the first version of the struct";
		return false;
	}
	if (events->count == EVENTS_MAX) {
		*error = "it defines more than 4096 events";
		return false;
	}
	memcpy(&event.attr, attr, known);
	event.layout = layout_of(&event.attr);
	if (events->count > 0 && events->id_place != event.layout.id) {
		*error = "its samples have their id at another offset than those of earlier events";
		return false;
	}
	events->id_place = event.layout.id;
	events->switches |= event.attr.context_switch;
	events->ask_build_ids |= event.attr.build_id;
	events->reads_groups |= event.attr.sample_type & PERF_SAMPLE_READ &&
				event.attr.read_format & PERF_FORMAT_GROUP;
	events->tracks |= event_tracks(&event.attr);
	events->counts_lost |= event.attr.read_format & PERF_FORMAT_LOST &&
			       !event_is_dummy(&event.attr);
	event.name = name_of(&events->arena, &event.attr);
	event.ibs = events->ibs;
	events->event = array_grow(events->event, events->count, sizeof(event));
	events->event[events->count] = event;
	while (cursor_left(&ids) >= 8)
		add_id(events, cursor_u64(&ids), events->count);
	events->count++;
	return true;
}

bool events_follow(struct stream_events *events, const void *attr, size_t size, struct cursor ids,
		   const char **error)
{
	const struct stream_event *last = events->count ? &events->event[events->count - 1] : NULL;
	struct perf_event_attr same = { 0 };
	bool is_open = events->is_open;

	events->is_open = events_is_full(size, cursor_left(&ids) / 8);
	memcpy(&same, attr, size < sizeof(same) ? size : sizeof(same));
	if (!is_open || memcmp(&last->attr, &same, sizeof(same)))
		return events_add(events, attr, size, ids, error);
	while (cursor_left(&ids) >= 8)
		add_id(events, cursor_u64(&ids), events->count - 1);
	return true;
}

const char *events_keep_name(struct stream_events *events, const char *name, size_t size)
{
	enum { MEMORY_MAX = 16 << 20 };		/* bytes: 4096 events with 4 KiB each */
	struct arena scratch = { 0 };

	char *safe = arena_text(&scratch, name, size);
	text_make_safe(safe);
	uint32_t id = intern_find(&events->names, safe);
	if (id == TABLE_NONE && events->names.arena.size <= MEMORY_MAX)
		id = intern_text(&events->names, safe);
	arena_release(&scratch);
	return id == TABLE_NONE ? NULL : events->names.text[id];
}

void events_set_name(struct stream_events *events, uint32_t index, const char *kept)
{
	struct stream_event *event = &events->event[index];

	event->name = kept;
	event->ibs.is_op |= !strncmp(kept, "ibs_op/", 7);
	event->is_labels = event->attr.type == PERF_TYPE_SOFTWARE &&
			   event->attr.config == PERF_COUNT_SW_BPF_OUTPUT &&
			   event->attr.sample_type & PERF_SAMPLE_RAW && !strcmp(kept, LABEL_EVENT);
	events->has_labels |= event->is_labels;
}

bool events_name(struct stream_events *events, uint32_t index, const char *name, size_t size)
{
	if (index >= events->count || size == 0 || !*name)
		return true;
	const char *kept = events_keep_name(events, name, size);
	if (kept)
		events_set_name(events, index, kept);
	return kept;
}

uint32_t events_find(const struct stream_events *events, uint64_t id)
{
	return TABLE_FIND(&events->table, hash_u64(id), i, events->id[i] == id);
}

void events_set_id(struct stream_events *events, uint64_t id, uint32_t index)
{
	uint32_t at = events_find(events, id);

	if (index >= events->count)
		return;
	if (at == TABLE_NONE)
		add_id(events, id, index);
	else
		events->event_of_id[at] = index;
}

uint32_t events_find_id(const struct stream_events *events, uint64_t id)
{
	uint32_t at = events_find(events, id);

	return at == TABLE_NONE ? TABLE_NONE : events->event_of_id[at];
}

uint32_t events_of_sample(const struct stream_events *events, struct cursor body)
{
	if (events->count < 2)
		return events->count ? 0 : TABLE_NONE;
	if (events->id_place == ABSENT || cursor_left(&body) < events->id_place + sizeof(uint64_t))
		return 0;	/* events cannot be distinguished */
	cursor_bytes(&body, events->id_place);
	uint64_t id = cursor_u64(&body);
	return id ? events_find_id(events, id) : 0;
}

uint32_t events_of_update(const struct stream_events *events, struct cursor body)
{
	cursor_u64(&body);
	uint32_t event = events_find_id(events, cursor_u64(&body));

	return event == TABLE_NONE && events->count == 1 ? 0 : event;
}

uint32_t events_of_trailer(const struct stream_events *events, struct cursor body)
{
	size_t size = cursor_left(&body);
	/* An IDENTIFIER is always the last field of the record; an ID is not. */
	size_t from_end = events->count ? events->event[0].layout.trailer_id : 0;

	if (from_end == 0 || size < from_end)
		return TABLE_NONE;
	cursor_bytes(&body, size - from_end);
	return events_find_id(events, cursor_u64(&body));
}

const struct stream_event *events_trailer(const struct stream_events *events, struct cursor body)
{
	size_t size = cursor_left(&body);

	if (events->count == 0)
		return NULL;
	uint32_t event = events->count > 1 ? events_of_trailer(events, body) : 0;
	const struct stream_event *e = &events->event[event == TABLE_NONE ? 0 : event];
	return e->layout.trailer_size > 0 && e->layout.trailer_size <= size ? e : NULL;
}

/*
 * Return the size of the sample_id that follows the first FIELDS bytes of REC.  Its last field is
 * the id of its event.  If that is missing or 0, as in records that perf makes, the size is the
 * first event's.
 */
static size_t trailer_size_after(const struct stream_events *events, const struct record *rec,
				 size_t fields)
{
	const struct sample_layout *first = &events->event[0].layout;
	struct cursor c = rec->body;

	cursor_bytes(&c, fields - RECORD_HEADER_SIZE);
	for (uint16_t size = 8; events->count > 1 && cursor_left(&c) >= 8; size += 8) {
		uint32_t event = events_find_id(events, cursor_u64(&c));
		const struct sample_layout *l = event == TABLE_NONE ? first
						: &events->event[event].layout;
		if (event != TABLE_NONE && l->trailer_id == 8 && l->trailer_size == size)
			return size;
		if (size >= 8 * TRAILER_FIELDS)
			break;
	}
	return first->trailer_size;
}

size_t events_record_size(const struct stream_events *events, const struct record *rec)
{
	size_t size = record_size(rec), fields = record_size_of_fields(rec);

	if (fields == 0 || events->count == 0)
		return size;
	size_t whole = fields + trailer_size_after(events, rec, fields);
	return whole < size ? whole : size;
}

bool events_trailer_tid(const struct stream_events *events, struct cursor body, pid_t *tid)
{
	const struct stream_event *e = events_trailer(events, body);

	if (!e || !(e->attr.sample_type & PERF_SAMPLE_TID))
		return false;
	cursor_bytes(&body, cursor_left(&body) - e->layout.trailer_size);
	cursor_u32(&body);		/* pid */
	*tid = (pid_t)cursor_u32(&body);
	return true;
}

uint32_t events_trailer_cpu(const struct stream_events *events, struct cursor body)
{
	const struct stream_event *e = events_trailer(events, body);

	if (!e || e->layout.trailer_cpu == ABSENT)
		return UINT32_MAX;
	cursor_bytes(&body, cursor_left(&body) - e->layout.trailer_size + e->layout.trailer_cpu);
	return cursor_u32(&body);
}

size_t events_attr_size(struct cursor c)
{
	cursor_u32(&c);		/* type */
	size_t size = cursor_u32(&c);
	if (c.failed)
		return 0;
	return size ? size : PERF_ATTR_SIZE_VER0;	/* written before the field was used */
}

void events_release(struct stream_events *events)
{
	free(events->event);
	free(events->id);
	free(events->event_of_id);
	table_release(&events->table);
	intern_release(&events->names);
	arena_release(&events->arena);
	*events = (struct stream_events){ 0 };
}
