/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addresses - which events give samples the address of the data that was accessed, and where it
 * was found: an array is read and written, so a right address is in it.
 */
#include "survey/internal.h"
#include "counters/ring.h"
#include "record/ibs.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define ADDRESSES "data addresses"

enum {
	ARRAY = 16 << 20,	/* bytes: more than most caches of a core */
	PASSES = 24,
	MOST = 8,		/* events that one name stands for */
};

/* The events that a name stands for, and what their samples had. */
struct attempt {
	struct event_list list;
	int fd[MOST];			/* -1: not open */
	struct ring ring[MOST];		/* not mapped: of the leader of a group */
	uint8_t *array;
	uint64_t samples, inside, sources;
};

/* Count the samples in RING, of EVENT. */
static void drain(struct attempt *a, struct ring *ring, const struct stream_event *event)
{
	const struct perf_event_header *header;
	struct record rec;
	struct sample s;
	uint64_t needed;

	ring_refresh(ring);
	for (; (header = ring_peek(ring)); ring_take(ring)) {
		if (header->type != PERF_RECORD_SAMPLE)
			continue;
		record_frame(&rec, (const uint8_t *)header, false);
		if (!sample_decode(event, 0, &rec, &s, &needed))
			continue;
		union perf_mem_data_src source = { .val = s.data_src };
		a->samples++;
		a->inside += s.addr - (uintptr_t)a->array < ARRAY;
		a->sources += (source.mem_op & (PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE)) != 0;
	}
	ring_give_back(ring);
}

static void drain_all(struct attempt *a)
{
	for (size_t i = 0; i < a->list.count; i++) {
		struct stream_events events = { 0 };
		const struct event *event = &a->list.event[i];
		const char *error;
		if (a->ring[i].fd < 0 || !events_add(&events, &event->attr, sizeof(event->attr),
						     (struct cursor){ 0 }, &error))
			continue;
		events.event[0].ibs.is_op = event_is_ibs(event);
		drain(a, &a->ring[i], &events.event[0]);
		events_release(&events);
	}
}

/* Access each cache line of the array once, each far from the one before. */
static void work_through(uint8_t *array)
{
	enum { LINE = 64, LINES = ARRAY / LINE, STEP = 7919 };	/* a prime */

	for (uint32_t i = 0, at = 0; i < LINES; i++, at = (at + STEP) % LINES)
		((volatile uint8_t *)array)[(size_t)at * LINE]++;
}

/* Open the event I for samples with addresses, after its group's LEADER, or -1.  Returns errno. */
static int open_one(struct attempt *a, size_t i, int leader)
{
	struct event *event = &a->list.event[i];
	struct perf_event_attr *attr = &event->attr;
	unsigned int level = event->precise_max ? 3 : attr->precise_ip;

	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT |
			    PERF_SAMPLE_DATA_SRC | (event_is_ibs(event) ? PERF_SAMPLE_RAW : 0);
	attr->disabled = leader < 0;
	for (;;) {
		attr->precise_ip = level & 3;
		a->fd[i] = event_open(attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
		int error = a->fd[i] < 0 ? errno : 0;
		if (!error)
			return 0;
		if (event_relax(&a->list, event, error))
			continue;
		if (!event->precise_max || !level--)
			return error;
	}
}

/* Open all events, and map the ring of each that is not the leader of others.  Returns errno. */
static int open_all(struct attempt *a)
{
	int leader = -1, error = 0;

	for (size_t i = 0; !error && i < a->list.count; i++) {
		uint32_t group = a->list.event[i].group;
		bool follows = i > 0 && group && group == a->list.event[i - 1].group;
		bool leads = i + 1 < a->list.count && group &&
			     group == a->list.event[i + 1].group;
		error = open_one(a, i, follows ? leader : -1);
		leader = follows ? leader : a->fd[i];
		if (!error && !leads && !ring_map(&a->ring[i], a->fd[i], (size_t)128 << 10, false))
			error = errno;
	}
	return error;
}

static void add_name(struct facts *all, const char *name, uint8_t *array)
{
	struct event_options how = { .force = true };
	struct report silent = { .tool = "pmu-events", .quiet = true };
	struct attempt a = { .array = array };

	bool known = event_parse(&a.list, &how, name, &silent) && a.list.count <= MOST;
	for (size_t i = 0; i < MOST; i++) {
		a.fd[i] = -1;
		a.ring[i].fd = -1;
	}
	int error = known ? open_all(&a) : ENOENT;
	for (size_t i = 0; !error && i < a.list.count; i++)
		ioctl(a.fd[i], PERF_EVENT_IOC_ENABLE, 0);
	for (int pass = 0; !error && pass < PASSES && !survey_stopped(all); pass++) {
		work_through(array);
		drain_all(&a);
	}
	if (error)
		facts_add(all, ADDRESSES, name, "%s", survey_why(error));
	else
		facts_measure(all, ADDRESSES, name, (double)a.inside, "count", "opens: %llu "
			      "samples, %llu with an address of the data, %llu with its source",
			      (unsigned long long)a.samples, (unsigned long long)a.inside,
			      (unsigned long long)a.sources);
	for (size_t i = 0; i < MOST; i++) {
		if (a.ring[i].fd >= 0)
			ring_unmap(&a.ring[i]);
		if (a.fd[i] >= 0)
			close(a.fd[i]);
	}
	event_list_release(&a.list);
}

void survey_addresses(struct facts *all)
{
	static const char *const names[] = {
		"mem-loads:u", "mem-stores:u", "mem-ldst", "page-faults/period=16/u",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !survey_stopped(all); i++) {
		uint8_t *array = mmap(NULL, ARRAY, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (array == MAP_FAILED)
			return;
		madvise(array, ARRAY, MADV_NOHUGEPAGE);
		add_name(all, names[i], array);
		munmap(array, ARRAY);
	}
}
