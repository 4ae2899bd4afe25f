/* SPDX-License-Identifier: Apache-2.0 */
/* internal - the sampler's state, and the functions that its files share. */
#pragma once
#include "base/terminal.h"
#include "record/events.h"
#include "sample/control.h"
#include "sample/ending.h"
#include "sample/exec-watch.h"
#include "sample/flow.h"
#include "sample/sampler.h"
#include "target/child.h"
#include "target/threads.h"

struct sampler {
	const struct sampler_options *options;
	struct output *out;
	struct report *report;
	struct counters counters;
	struct stream_events events;	/* layouts of the records, as readers compute them */
	struct threads threads;
	struct child child;
	struct ending ending;		/* of the command, if there is one */
	struct bystander bystander;
	struct terminal_modes modes;	/* when the command started */
	struct exec_watch execs;	/* if a reader may open files now, or for labels */
	bool reads_execs;		/* their rings are watched */
	uint64_t moved_at;		/* time of the last round, ns */
	struct flow flow;
	struct label_recorder labels;	/* if options ask for labels */
	pid_t *initial_pid;	/* processes of the target that existed at the start */
	size_t initial_pids;
	struct counters_total *total;	/* per event, since the start; see sampler_write_end() */
	struct counters_total *previous;	/* per event, the totals at the end of the previous
						   file */
	uint32_t sampled;	/* number of sampled events; the dummy event follows them */
	int poll;		/* epoll descriptor, or -1 */
	int *pidfd;		/* of the target's processes, then the command; -1: no pidfd */
	size_t pidfds;
	size_t alive;		/* processes of the target, with a pidfd, that have not ended */
	uint64_t start_time, end_time;	/* of sampling, in ns of the records' clock */
	uint64_t file_start;	/* start of the current file, ns of the same clock */
	uint64_t bytes;		/* written to all previous files */
	uint64_t jitter_seed;	/* state of the random generator for --jitter */
	uint64_t jittered_at;	/* number of samples when the periods were last changed */
	uint64_t progress_due;	/* when to print progress again; 0: never printed */
	unsigned files;		/* finished files */
	struct cpu_used {	/* ns of CPU time, by the target's processes */
		uint64_t own, by_children;
	} used_before, used;	/* at the start, now */
	uint64_t measure_due;	/* when to measure that again, in ns of the records' clock */
	uint64_t command_end;	/* when the command had ended, ns of the records' clock; 0: not */
	bool idle;		/* the last round found no records */
	bool delayed;		/* counting has not started */
	bool done;		/* leave the loop */
};

static inline const struct sample_layout *sampler_layout(const struct sampler *s)
{
	return &s->events.event[0].layout;
}

/* Return whether the recording ends: asked to, at its limits, or as nothing is left to sample. */
bool sampler_is_over(struct sampler *s, uint64_t time);

/* Return the time when counting starts; 0: it has started, or a command starts it. */
uint64_t sampler_start_due(const struct sampler *s);

/* Return the time, at TIME or later, of the next round, if nothing else happens. */
uint64_t sampler_round_due(const struct sampler *s, uint64_t time);

/* Return how many ms to wait for something else at TIME. */
int sampler_wait_ms(const struct sampler *s, uint64_t time);

/*
 * Write the start of the stream, before the kernel's records: the events, the machine, existing
 * processes.
 */
void sampler_write_start(struct sampler *s);

/* Write to OUT the processes that run now, for a helper that starts late. */
void sampler_write_processes(struct sampler *s, struct output *out);

/*
 * Write the end of the stream, after the kernel's records: the totals of each event, and the time
 * span.
 */
void sampler_write_end(struct sampler *s);

/* Report what was counted, sampled and lost, and what sampling cost. */
void sampler_summarize(struct sampler *s);

/* If the output is a file and stderr a terminal: report what is sampled; how much was written. */
void sampler_announce(const struct sampler *s);
void sampler_report_written(const struct sampler *s);

/* If progress is asked for and it is TIME (ns), print it; erase what was printed. */
void sampler_show_progress(struct sampler *s, uint64_t time);
void sampler_end_progress(struct sampler *s);

/* Report if the samples of event I stand for much more than was counted. */
void sampler_report_excess(const struct sampler *s, uint32_t i);

/* If there are no samples, report the likely reason. */
void sampler_report_no_samples(const struct sampler *s);

/* Measure the CPU time of the target's processes and their children, if that is due at TIME. */
void sampler_measure_children(struct sampler *s, uint64_t time);

/* Report if such children, which are not sampled, used more than the target.  True: reported. */
bool sampler_report_children(struct sampler *s);

/*
 * Report if the kernel stopped sampling the command when it started a program with other rights.
 * True: reported.
 */
bool sampler_report_unseen(struct sampler *s);

/*
 * The command has ended, TIME is now: return whether processes that it started go on, or may go on
 * without having been seen yet.
 */
bool sampler_family_lives(struct sampler *s, uint64_t time);

/* Report processes that go on after the command has ended, and are not sampled. */
void sampler_report_daemons(struct sampler *s);

/*
 * Look at the threads of the target that wait since TIME, the start of recording or of a file: the
 * next round writes their samples.
 */
void sampler_look_at_waits(struct sampler *s, uint64_t time);

/* Return whether to switch to the next file at NOW (ns).  ASKED: by a signal or a command. */
bool sampler_file_is_full(const struct sampler *s, uint64_t now, bool asked);

/* Finish the current file, append the time to its name, and start the next file. */
void sampler_start_next_file(struct sampler *s, uint64_t now);

/* Append the time to the name of the last file. */
void sampler_name_last_file(struct sampler *s);
