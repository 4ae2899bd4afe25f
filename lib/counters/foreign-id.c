/* SPDX-License-Identifier: Apache-2.0 */
#include "counters/foreign-id.h"
#include "base/arena.h"
#include "linux/kernel-info.h"
#include "symbol/kallsyms.h"

#include <stdlib.h>

static bool is_switch(const struct perf_event_attr *attr)
{
	return attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
	       attr->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
	       attr->config == PERF_COUNT_SW_CGROUP_SWITCHES;
}

/* Return whether do_perf_sw_event() makes samples of ATTR. */
static bool is_candidate(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && !event_is_clock(attr) &&
	       attr->config != PERF_COUNT_SW_DUMMY && attr->config != PERF_COUNT_SW_BPF_OUTPUT;
}

static const struct perf_event_attr *attr_of(const struct foreign_ids *f, uint32_t event)
{
	return &f->counters->events->event[event].attr;
}

void foreign_ids_init(struct foreign_ids *f, struct counters *counters,
		      const struct sample_layout *layout)
{
	*f = (struct foreign_ids){ .counters = counters, .layout = layout,
				   .first = TABLE_NONE, .first_fault = TABLE_NONE };
	for (uint32_t i = 0; i < counters->events->count; i++) {
		if (!is_candidate(attr_of(f, i)))
			continue;
		f->first = f->candidates++ ? f->first : i;
		if (is_switch(attr_of(f, i)))
			f->switches = true;
		else if (f->first_fault == TABLE_NONE)
			f->first_fault = i;
	}
}

static bool is_in_kernel(const struct perf_event_header *record)
{
	return (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

static const struct foreign_address *find_address(const struct foreign_ids *f, uint64_t ip)
{
	for (size_t i = 0; i < f->addresses; i++)
		if (f->address[i].ip == ip)
			return &f->address[i];
	return NULL;
}

static void add_address(struct foreign_ids *f, uint64_t ip, uint32_t event)
{
	if (f->addresses < FOREIGN_ADDRESSES && !find_address(f, ip))
		f->address[f->addresses++] = (struct foreign_address){ ip, event };
}

/* Return our first event with this CONFIG, or TABLE_NONE. */
static uint32_t event_with(const struct foreign_ids *f, uint64_t config)
{
	for (uint32_t i = f->first; i < f->counters->events->count; i++)
		if (is_candidate(attr_of(f, i)) && attr_of(f, i)->config == config)
			return i;
	return TABLE_NONE;
}

/*
 * Return the event that the kernel samples at IP, by the function there; TABLE_NONE: none of the
 * scheduler's, or the names are hidden.  A sample of a switch has the address to which the function
 * that switches returns: of a context switch in the callers of __schedule(), of a migration in
 * __schedule() and schedule_tail().
 */
static uint32_t event_at(struct foreign_ids *f, uint64_t ip)
{
	const char *module = NULL;

	if (!f->kallsyms) {
		f->kallsyms = kallsyms_open(KERNEL_KALLSYMS);
		f->scheduler = kallsyms_address(f->kallsyms, "__sched_text_start");
		f->scheduler_end = kallsyms_address(f->kallsyms, "__sched_text_end");
	}
	const char *name = kallsyms_find(f->kallsyms, ip, &module);
	if (!name || module)
		return TABLE_NONE;
	if (!strcmp(name, "__schedule") || !strcmp(name, "schedule_tail"))
		return event_with(f, PERF_COUNT_SW_CPU_MIGRATIONS);
	if (ip < f->scheduler || ip >= f->scheduler_end)
		return TABLE_NONE;
	uint32_t event = event_with(f, PERF_COUNT_SW_CONTEXT_SWITCHES);
	return event != TABLE_NONE ? event : event_with(f, PERF_COUNT_SW_CGROUP_SWITCHES);
}

/* Return our event of RECORD, a SAMPLE with a foreign ID. */
static uint32_t event_of(struct foreign_ids *f, const struct perf_event_header *record)
{
	uint32_t other = f->first_fault != TABLE_NONE ? f->first_fault : f->first;

	if (f->candidates == 1 || !f->switches || !is_in_kernel(record) ||
	    f->layout->ip == ABSENT)
		return other;
	uint64_t ip = record_u64(record, f->layout->ip);
	const struct foreign_address *address = find_address(f, ip);
	if (address)
		return address->event;
	uint32_t event = event_at(f, ip);
	if (event == TABLE_NONE)
		return other;
	add_address(f, ip, event);
	return event;
}

/* Return the ID of our counter of EVENT on CPU, or 0. */
static uint64_t own_id(struct foreign_ids *f, uint32_t event, size_t cpu)
{
	const struct counters *c = f->counters;

	if (cpu >= c->cpus)
		return 0;
	if (!f->own)
		f->own = mem_zeroed(c->events->count * c->cpus, sizeof(*f->own));
	uint64_t *own = &f->own[event * c->cpus + cpu];
	for (size_t i = 0; *own == 0 && i < c->count; i++)
		if (c->counter[i].event == event && c->counter[i].cpu == cpu)
			*own = c->counter[i].id;
	return *own;
}

/* Return how many of our events sample the same occurrences as EVENT. */
static uint32_t events_like(const struct foreign_ids *f, uint32_t event)
{
	uint32_t count = 0;

	for (uint32_t i = f->first; i < f->counters->events->count; i++)
		count += is_candidate(attr_of(f, i)) &&
			 attr_of(f, i)->config == attr_of(f, event)->config;
	return count;
}

/*
 * Return the rule for RECORD, the next SAMPLE of EVENT in the ring of CPU.  The kernel writes the
 * samples of one occurrence one after another, so a second one for the same event of ours is that
 * of an inherited copy.
 */
static enum owner_rule rule_of(struct foreign_ids *f, const struct perf_event_header *record,
			       uint32_t event, size_t cpu)
{
	const struct sample_layout *layout = f->layout;

	if (layout->time == ABSENT || cpu >= f->counters->cpus)
		return OWNER_BY_ID;
	if (!f->last)
		f->last = mem_zeroed(f->counters->cpus, sizeof(*f->last));
	struct foreign_last now = { .id = record_u64(record, layout->id),
				    .time = record_u64(record, layout->time),
				    .tid = (uint32_t)(record_u64(record, layout->tid) >> 32) };
	struct foreign_last *last = &f->last[cpu];
	if (last->id == now.id && last->time == now.time && last->tid == now.tid)
		now.alike = last->alike + 1;
	*last = now;
	bool is_repeated = now.alike >= events_like(f, event);
	f->shares |= now.alike > 0;
	return is_repeated ? OWNER_REPEATED : f->shares ? OWNER_FIRST : OWNER_BY_ID;
}

/* Return a copy of RECORD, the last one of RING, with ID and TIME. */
static const struct perf_event_header *replace(const struct foreign_ids *f, struct ring *ring,
					       const struct perf_event_header *record, uint64_t id,
					       uint64_t time)
{
	struct perf_event_header *copy = ring_copy(ring, record);
	uint8_t *body = (uint8_t *)(copy + 1);

	memcpy(body + f->layout->id, &id, sizeof(id));
	if (f->layout->time != ABSENT)
		memcpy(body + f->layout->time, &time, sizeof(time));
	return copy;
}

/* Return RECORD, a SAMPLE of KNOWN in RING, with TIME.  The times of an overdue ring are rough. */
static const struct perf_event_header *take_own(struct foreign_ids *f, struct ring *ring,
						const struct counter *known,
						size_t cpu, const struct perf_event_header *record,
						uint64_t time)
{
	const struct perf_event_attr *attr = attr_of(f, known->event);

	if (!is_candidate(attr))
		return record;
	f->rule = rule_of(f, record, known->event, cpu);
	if (f->switches && is_switch(attr) && is_in_kernel(record) && f->layout->ip != ABSENT)
		add_address(f, record_u64(record, f->layout->ip), known->event);
	if (f->layout->time == ABSENT || ring->overdue ||
	    record_u64(record, f->layout->time) == time)
		return record;
	return replace(f, ring, record, known->id, time);
}

/*
 * Return whether RECORD is an MMAP2 record that says it has a build ID, although no event asks for
 * build IDs: then it has a device and an inode there.
 */
static bool has_foreign_mark(const struct foreign_ids *f, const struct perf_event_header *record)
{
	if (record->type != PERF_RECORD_MMAP2 || !(record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID))
		return false;
	for (uint32_t i = 0; i < f->counters->events->count; i++)
		if (attr_of(f, i)->build_id)
			return false;
	return true;
}

static const struct perf_event_header *without_mark(struct ring *ring,
						    const struct perf_event_header *record)
{
	struct perf_event_header *copy = ring_copy(ring, record);

	copy->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
	return copy;
}

const struct perf_event_header *foreign_ids_replace(struct foreign_ids *f, struct ring *ring,
						    size_t cpu,
						    const struct perf_event_header *record,
						    uint64_t earliest, uint64_t latest,
						    uint64_t *time)
{
	f->rule = OWNER_BY_ID;
	if (has_foreign_mark(f, record))
		return without_mark(ring, record);
	if (record->type != PERF_RECORD_SAMPLE || f->candidates == 0 || f->layout->id == ABSENT)
		return record;
	const struct counter *known = counters_find(f->counters, record_u64(record, f->layout->id));
	if (known)
		return take_own(f, ring, known, cpu, record, *time);
	uint32_t event = event_of(f, record);
	uint64_t id = own_id(f, event, cpu);
	if (!id)
		return record;
	f->shares = true;
	f->rule = rule_of(f, record, event, cpu);
	if (*time < earliest || *time > latest)
		*time = earliest < latest ? earliest : latest;
	f->count++;
	return replace(f, ring, record, id, *time);
}

void foreign_ids_release(struct foreign_ids *f)
{
	kallsyms_close(f->kallsyms);
	free(f->own);
	free(f->last);
	*f = (struct foreign_ids){ 0 };
}
