/* SPDX-License-Identifier: Apache-2.0 */
/* stream-start - the start of each stream: the events, the machine, existing processes. */
#include "linux/proc.h"
#include "sample/features.h"
#include "sample/existing.h"
#include "sample/internal.h"
#include "sample/tracing.h"
#include "stream/writer.h"

static void write_process(struct sampler *s, pid_t pid)
{
	struct proc_ids tids;

	if (proc_threads(pid, &tids)) {
		for (size_t i = 0; i < tids.count; i++)
			existing_thread(s->out, sampler_layout(s), pid, tids.id[i]);
		existing_mappings(s->out, sampler_layout(s), pid,
				  s->options->settings.callchain == CHAIN_DWARF);
	}
	free(tids.id);
}

static void write_all_processes(struct sampler *s)
{
	struct proc_ids all;

	proc_processes(&all);
	for (size_t i = 0; i < all.count; i++)
		write_process(s, all.id[i]);
	free(all.id);
}

static void write_processes(struct sampler *s)
{
	const struct target *t = s->options->target;
	const struct filter *family = &s->flow.family;

	if (target_is_by_cpu(t))
		write_all_processes(s);
	else if (family->on)	/* the initial processes, and those that they have created */
		for (size_t i = 0; i < family->pids; i++)
			write_process(s, family->pid[i]);
	else
		for (size_t i = 0; i < s->initial_pids; i++)
			write_process(s, s->initial_pid[i]);
}

void sampler_write_start(struct sampler *s)
{
	const struct sampler_options *o = s->options;

	writer_header(s->out);
	features_write_recorder(s->out, o->remark);
	for (size_t i = 0; i < o->events->count; i++) {
		const struct ids *ids = &s->counters.ids[i];
		writer_attr(s->out, &o->events->event[i].attr, ids->id, ids->count);
		if (ids->count)
			writer_event_name(s->out, ids->id[0], o->events->event[i].name);
	}
	tracing_write(s->out, o->events);
	features_write(s->out, o->argc, o->argv, o->settings.clock);
	existing_kernel(s->out, sampler_layout(s));
	write_processes(s);
}
