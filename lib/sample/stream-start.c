/* SPDX-License-Identifier: Apache-2.0 */
/* stream-start - writes the start of each stream: the events, the machine, existing processes. */
#include "linux/proc.h"
#include "record/words.h"
#include "relay/transform.h"
#include "sample/internal.h"
#include "stream/writer.h"
#include "target/existing.h"
#include "target/features.h"
#include "target/tracing.h"

#include <inttypes.h>
#include <sys/mman.h>

/* Return which mappings of data the samples need. */
static enum existing_data data_needed(const struct sampler *s)
{
	if (s->events.event[0].attr.sample_type & PERF_SAMPLE_ADDR ||
	    s->options->settings.wakes)
		return EXISTING_MEMORY;
	return s->options->settings.callchain == CHAIN_DWARF ? EXISTING_FILES : EXISTING_CODE;
}

static void write_process(struct sampler *s, pid_t pid, struct output *out)
{
	struct proc_ids tids;

	if (proc_threads(pid, &tids)) {
		for (size_t i = 0; i < tids.count; i++)
			existing_thread(out, sampler_layout(s), pid, tids.id[i]);
		existing_mappings(out, sampler_layout(s), pid, data_needed(s));
	}
	free(tids.id);
}

static void write_all_processes(struct sampler *s, struct output *out)
{
	struct proc_ids all;

	proc_processes(&all);
	for (size_t i = 0; i < all.count; i++)
		write_process(s, all.id[i], out);
	free(all.id);
}

static void write_processes(struct sampler *s, struct output *out)
{
	const struct target *t = s->options->target;
	const struct process_set *family = &s->flow.family;

	if (target_needs_others(t))
		write_all_processes(s, out);
	else if (family->on)	/* the initial processes, and those that they have created */
		for (size_t i = 0; i < family->pids; i++)
			write_process(s, family->pid[i], out);
	else
		for (size_t i = 0; i < s->initial_pids; i++)
			write_process(s, s->initial_pid[i], out);
}

/* Write existing processes, and show them to the helper that unwinds. */
static void write_shown_processes(struct sampler *s)
{
	struct output copy;

	output_open_memory(&copy, s->report);
	write_processes(s, &copy);
	output_flush(&copy);
	size_t size = copy.written;
	uint8_t *bytes = size ? mmap(NULL, size, PROT_READ, MAP_SHARED, copy.fd, 0) : MAP_FAILED;
	if (bytes != MAP_FAILED) {
		output_write(s->out, bytes, size);
		relay_show(&s->flow.relay, bytes, size);
		munmap(bytes, size);
	}
	output_close(&copy);
}

void sampler_write_processes(struct sampler *s, struct output *out)
{
	const struct target *t = s->options->target;

	if (t->command || t->children)	/* the descendants of a process are not known */
		write_all_processes(s, out);
	else
		write_processes(s, out);
}

static bool has_ibs(const struct event_list *events)
{
	for (size_t i = 0; i < events->count; i++)
		if (event_is_ibs(&events->event[i]))
			return true;
	return false;
}

/* Write the slots of a cycle, which the shares of "topdown" need on some machines. */
static void write_slots(struct sampler *s)
{
	const struct event_list *events = s->options->events;
	char text[16];
	uint32_t slots = 0;

	for (size_t i = 0; i < events->count && !slots; i++)
		slots = events->event[i].slots;
	snprintf(text, sizeof(text), "0x%08" PRIx32, slots);
	if (slots)
		writer_capability(s->out, "slots", text);
}

void sampler_write_start(struct sampler *s)
{
	const struct sampler_options *o = s->options;

	writer_header(s->out);
	features_write_recorder(s->out, o->remark);
	for (size_t i = 0; i < o->events->count; i++) {
		const struct ids *ids = &s->counters.ids[i];
		struct perf_event_attr attr = o->events->event[i].attr;
		if (o->unwind)
			transform_attr(&attr, o->settings.user_regs, s->report);
		writer_attr(s->out, &attr, ids->id, ids->count);
		if (ids->count)
			writer_event_name(s->out, ids->id[0], o->events->event[i].name);
	}
	if (s->flow.labels)
		label_recorder_write_attr(s->flow.labels, s->out);
	tracing_write(s->out, o->events);
	features_write(s->out, o->argc, o->argv, o->settings.clock);
	if (has_ibs(o->events))
		features_write_cpu(s->out);
	write_slots(s);
	existing_kernel(s->out, sampler_layout(s));
	if (o->waits_min)
		existing_kernel_name(s->out, sampler_layout(s), SHORT_WAITS_ADDRESS,
				     SHORT_WAITS_BYTES, WORD_SHORT_WAITS);
	if (o->unwind)
		write_shown_processes(s);
	else
		write_processes(s, s->out);
}
