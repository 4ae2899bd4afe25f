/* SPDX-License-Identifier: Apache-2.0 */
#include "labels/label-recorder.h"
#include "base/arena.h"
#include "base/descriptor.h"
#include "labels/bpf-task.h"
#include "labels/bpf.h"
#include "labels/label-program.h"
#include "stream/writer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fields of the first event that labels records also have. */
#define LABEL_FIELDS (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | \
		      PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | \
		      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

/*
 * Labels records go into the same ring as those of EVENT: the clock and the id's offset must be
 * equal.
 */
static void set_attr(struct label_recorder *l, const struct perf_event_attr *event)
{
	struct stream_events events = { 0 };
	const char *error;

	l->attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(l->attr),
		.config = PERF_COUNT_SW_BPF_OUTPUT, .sample_period = 1,
		.sample_type = (event->sample_type & LABEL_FIELDS) | PERF_SAMPLE_RAW,
		.sample_id_all = 1, .use_clockid = event->use_clockid, .clockid = event->clockid,
		.watermark = event->watermark, .wakeup_watermark = event->wakeup_watermark,
	};
	events_add(&events, &l->attr, sizeof(l->attr), (struct cursor){ 0 }, &error);
	const struct sample_layout *layout = &events.event[0].layout;
	l->ip = layout->ip;
	l->tid = layout->tid;
	l->time = layout->time;
	l->raw = layout->size;
	events_release(&events);
}

/* Before Linux 5.11 maps and programs count as locked memory.  Returns the limit to restore. */
static struct rlimit raise_limit(void)
{
	struct rlimit before, all = { RLIM_INFINITY, RLIM_INFINITY };

	getrlimit(RLIMIT_MEMLOCK, &before);
	setrlimit(RLIMIT_MEMLOCK, &all);
	return before;
}

static bool make_maps(struct label_recorder *l, size_t cpus)
{
	l->scratch = bpf_map_new(BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(uint32_t), LABEL_SCRATCH, 1);
	l->output = bpf_map_new(BPF_MAP_TYPE_PERF_EVENT_ARRAY, sizeof(uint32_t), sizeof(int),
				cpus);
	return l->scratch >= 0 && l->output >= 0 && label_targets_make_map(&l->targets);
}

/* Load the program of event INDEX.  False: WHY (SIZE bytes) and errno have the reason. */
static bool load_program(struct label_recorder *l, struct label_program *p, uint32_t index,
			 char *why, size_t size)
{
	struct bpf_code *code = mem_zeroed(1, sizeof(*code));

	label_program_write(p, index, code);
	l->program[index] = bpf_program_load(code, why, size);
	int error = errno;
	free(code);
	errno = error;
	return l->program[index] >= 0;
}

/* Return whether the event of ATTR takes samples. */
static bool takes_samples(const struct perf_event_attr *attr)
{
	return attr->sample_period && !event_is_dummy(attr);
}

/* Load the programs and their maps.  False: WHY and *ERROR have the reason. */
static bool load(struct label_recorder *l, const struct event_list *events, size_t cpus, char *why,
		 size_t size, int *error)
{
	struct label_program p = { 0 };

	label_rights_namespace(&p.device, &p.inode);
	p.thread_pointer = bpf_task_pointer(why, size, error);
	if (p.thread_pointer < 0)
		return false;
	if (!make_maps(l, cpus)) {
		*error = errno;
		snprintf(why, size, "the kernel makes no map");
		return false;
	}
	p.targets = l->targets.map;
	p.scratch = l->scratch;
	p.output = l->output;
	for (uint32_t i = 0; i < l->programs; i++)
		if (takes_samples(&events->event[i].attr) &&
		    !load_program(l, &p, i, why, size)) {
			*error = errno;
			return false;
		}
	return true;
}

bool label_recorder_start(struct label_recorder *l, const struct label_options *options,
			  const struct event_list *events, size_t sampled, size_t cpus,
			  const struct target *target, struct report *report)
{
	char why[256] = "", reason[512];
	int error, possible = (int)sysconf(_SC_NPROCESSORS_CONF);

	signal(SIGCHLD, SIG_DFL);	/* if it is ignored, waitpid() returns no status */
	l->options = options;
	l->report = report;
	l->targets.report = report;
	l->targets.options = options;
	l->targets.files.target = target;
	l->scratch = l->output = -1;
	l->rings = cpus;
	l->ring = mem_zeroed(cpus, sizeof(*l->ring));
	for (size_t i = 0; i < cpus; i++)
		l->ring[i].fd = -1;
	l->programs = sampled;
	l->program = mem_zeroed(sampled, sizeof(*l->program));
	for (size_t i = 0; i < sampled; i++)
		l->program[i] = -1;
	set_attr(l, &events->event[0].attr);
	if (!label_rights_events(events, sampled, report))
		return false;
	struct rlimit before = raise_limit();
	bool good = load(l, events, possible > 0 ? (size_t)possible : cpus, why, sizeof(why),
			 &error);
	setrlimit(RLIMIT_MEMLOCK, &before);
	if (good)
		return true;
	label_rights_explain(error, why, reason, sizeof(reason));
	report_because(report, REPORT_NO_RIGHTS);
	report_error(report, "cannot record labels: %s", reason);
	return false;
}

/* Open the event that the program writes to on CPU, and direct its output to the ring RING_FD. */
static bool open_ring(struct label_recorder *l, struct label_ring *ring, int cpu, int ring_fd)
{
	uint32_t key = (uint32_t)cpu;

	ring->fd = event_open(&l->attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->fd >= 0 && ioctl(ring->fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd) == 0 &&
	    ioctl(ring->fd, PERF_EVENT_IOC_ID, &ring->id) == 0 &&
	    bpf_map_set(l->output, &key, &ring->fd))
		return true;
	report_failure(l->report, "cannot record labels on CPU %d", cpu);
	return false;
}

bool label_recorder_attach(struct label_recorder *l, uint32_t index, int fd, size_t i, int cpu,
			   int ring_fd)
{
	char reason[512];

	if (index >= l->programs || l->program[index] < 0)
		return true;
	if (l->ring[i].fd < 0 && !open_ring(l, &l->ring[i], cpu, ring_fd))
		return false;
	if (bpf_program_attach(l->program[index], fd))
		return true;
	report_because(l->report, REPORT_NO_RIGHTS);
	label_rights_explain(errno, "the kernel lets no program run at this event", reason,
			     sizeof(reason));
	report_error(l->report, "cannot record labels: %s", reason);
	return false;
}

static void forget(struct label_ring *ring, uint32_t index)
{
	ring->kept--;
	memmove(&ring->keep[index], &ring->keep[index + 1],
		(ring->kept - index) * sizeof(*ring->keep));
}

/* Return the index of what RING keeps for EVENT, or LABELS_KEPT. */
static uint32_t find_kept(const struct label_ring *ring, uint32_t event)
{
	for (uint32_t i = 0; i < ring->kept; i++)
		if (ring->keep[i].event == event)
			return i;
	return LABELS_KEPT;
}

bool label_recorder_keep(struct label_recorder *l, size_t i,
			 const struct perf_event_header *record)
{
	enum { EVENT = sizeof(uint32_t) + 8 };	/* offset, from the size before the raw data */
	struct label_ring *ring = &l->ring[i];

	if (record->type != PERF_RECORD_SAMPLE || ring->fd < 0 || record_u64(record, 0) != ring->id)
		return false;
	if (record->size > LABEL_RECORD_MAX ||
	    record->size < sizeof(*record) + l->raw + sizeof(uint32_t) + LABEL_PAYLOAD_HEAD)
		return true;
	uint64_t word = record_u64(record, l->raw + EVENT);
	uint32_t event = (uint32_t)word;
	uint32_t known = find_kept(ring, event);
	if (known < LABELS_KEPT || ring->kept == LABELS_KEPT) {
		forget(ring, known < LABELS_KEPT ? known : 0);
		l->counts.alone++;
	}
	struct kept_labels *kept = &ring->keep[ring->kept++];
	kept->event = event;
	kept->edition = (uint32_t)(word >> 32);
	kept->pid = (pid_t)record_u64(record, l->tid);
	kept->tid = (uint32_t)(record_u64(record, l->tid) >> 32);
	kept->ip = record_u64(record, l->ip);
	kept->size = record->size;
	memcpy(kept->record, record, record->size);
	return true;
}

/* Learn from RECORD of ring I, which is not a SAMPLE. */
static void follow(struct label_recorder *l, size_t i, const struct perf_event_header *record)
{
	if (record->type != PERF_RECORD_LOST) {
		label_targets_follow(&l->targets, record);
		return;
	}
	l->counts.alone += l->ring[i].kept;	/* their samples may be lost */
	l->ring[i].kept = 0;
}

const struct kept_labels *label_recorder_take(struct label_recorder *l, size_t i, uint32_t event,
					      const struct perf_event_header *record,
					      const struct sample_layout *layout)
{
	struct label_ring *ring = &l->ring[i];

	if (record->type != PERF_RECORD_SAMPLE) {
		follow(l, i, record);
		return NULL;
	}
	uint32_t at = find_kept(ring, event);
	if (at == LABELS_KEPT)
		return NULL;
	l->taken = ring->keep[at];
	forget(ring, at);
	if (l->taken.tid != (uint32_t)(record_u64(record, layout->tid) >> 32) ||
	    l->taken.ip != record_u64(record, layout->ip)) {
		l->counts.alone++;
		return NULL;
	}
	return label_targets_knew(&l->targets, l->taken.pid, l->taken.edition) ? &l->taken : NULL;
}

void label_recorder_write_attr(const struct label_recorder *l, struct output *out)
{
	uint64_t *id = mem_zeroed(l->rings, sizeof(*id));
	size_t ids = 0;

	for (size_t i = 0; i < l->rings; i++)
		if (l->ring[i].fd >= 0)
			id[ids++] = l->ring[i].id;
	writer_attr(out, &l->attr, id, ids);
	if (ids)
		writer_event_name(out, id[0], LABEL_EVENT);
	free(id);
}

void label_recorder_close(struct label_recorder *l)
{
	for (size_t i = 0; i < l->rings; i++)
		descriptor_close(l->ring[i].fd);
	for (size_t i = 0; i < l->programs; i++)
		descriptor_close(l->program[i]);
	if (l->ring && l->scratch >= 0)
		close(l->scratch);
	if (l->ring && l->output >= 0)
		close(l->output);
	label_targets_close(&l->targets);
	free(l->ring);
	free(l->program);
	*l = (struct label_recorder){ 0 };
}
