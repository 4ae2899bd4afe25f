/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample-options - the options of pmu-sample that say what to sample, and how.
 *
 * pmu-prof has the same rows, and passes what was given to pmu-sample.
 */
#pragma once
#include "sample/sample-choices.h"
#include "tool/command.h"

/*
 * Parse a delay into a uint64_t, sampler_options.delay; for command_option.parse.  A plain number
 * is milliseconds, as in perf.
 */
const char *sample_parse_delay(const char *text, void *delay);

/* Parse the least time of waits into a uint64_t, in ns; for command_option.parse. */
const char *sample_parse_least(const char *text, void *time);
#define SAMPLE_LEAST_TAKES "a time such as 50us"

/*
 * Parse the size of rings into a uint64_t, in bytes; for command_option.parse.  As in perf, a plain
 * number is pages, and K, M and G are binary.
 */
const char *sample_parse_ring(const char *text, void *size);
#define SAMPLE_RING_TAKES "a number of pages, or a number of bytes from 4Ki to 1Gi, such as 64Mi"

/* Parse a frequency into a uint64_t: in Hz, or "max", the highest that the kernel allows. */
const char *sample_parse_frequency(const char *text, void *frequency);
#define SAMPLE_FREQUENCY_TAKES "a number from 1 on, or max"

/*
 * Parse which stacks to unwind into the fields UNWIND and UNWIND_BUDGET of a struct
 * sampler_options: "always" or "", "needed", or a budget, "SHARE" or "SHARE,SIZE".
 */
const char *sample_parse_unwind(const char *text, void *options);
#define SAMPLE_UNWIND_TAKES "always, needed, or a share of the CPU time and a size (2%,64Mi)"

/*
 * Parse when to stop into the fields DURATION and MAX_SIZE of a struct sampler_options: a time; or
 * a size with a unit, such as 64Mi, or with "size=" before it.
 */
const char *sample_parse_duration(const char *text, void *options);
#define SAMPLE_DURATION_TAKES "a time such as 10s, or a size such as 64Mi"

/*
 * Parse a list of fields to record into a struct sample_choices.  A field may have values:
 * "branches=any_call+u".
 */
const char *sample_parse_record(const char *text, void *choices);
#define SAMPLE_RECORD_TAKES \
	"some of data, phys, cpu, cgroup, page-size, raw, switches, branches, user-regs, " \
	"intr-regs, time, or one with values, as in branches=any_call+u or time=boottime"

/*
 * Return how many kinds of target C names.  With --waits, -a beside processes only adds to these:
 * it sets C->target.wakers, not C->target.system.
 */
int sample_target_kinds(struct sample_choices *c);

/* perf record's spellings of these options, and earlier ones of ours. */
extern const struct command_spelling sample_spellings[];

/* Headings in --help. */
#define SAMPLE_EVENTS "Which events, and how often"
#define SAMPLE_TARGET "What to sample, and when"
#define SAMPLE_FIELDS "What to record"

/* The rows of a table of options (tool/command.h) that fill O, a struct sample_choices. */
#define SAMPLE_OPTIONS(o) \
	{ 'e', "event", "EVENT", "sample by EVENT (see pmu-event(7)); may be repeated", \
	  SETS_LIST((o).names) }, \
	{ 'F', "frequency", "HZ", "take HZ samples per second, or max", \
	  PARSED_BY(sample_parse_frequency, (o).how.frequency, SAMPLE_FREQUENCY_TAKES) }, \
	{ 'c', "period", "COUNT", "take a sample every COUNT events", \
	  SETS_COUNT((o).how.period), .least = 1, .excludes = "frequency" }, \
	{ 'p', "pid", "PID[,PID]", "attach to processes, with all their threads", \
	  PARSED_BY(target_parse_pids, (o).target, TARGET_PIDS_TAKES) }, \
	{ 'a', "all", NULL, "sample everything that runs", SETS_FLAG((o).target.system) }, \
	{ 'd', "duration", "TIME|SIZE", \
	  "stop after TIME (10, 500ms, 2m) or SIZE of output (64Mi)", \
	  PARSED_BY(sample_parse_duration, (o).run, SAMPLE_DURATION_TAKES) }, \
	{ 0, "unwind", "[HOW]", \
	  "record whole callchains: unwind stacks, always, if needed, or up to 2%", \
	  PARSED_BY(sample_parse_unwind, (o).run, SAMPLE_UNWIND_TAKES) }, \
	{ 0, "call-graph", "LIST", \
	  "record callchains: fp, dwarf[,BYTES], lbr; user, max=COUNT, ...", \
	  PARSED_BY(settings_parse_callgraph, (o).run.settings, SETTINGS_CALLGRAPH_TAKES) }, \
	{ 0, "off-cpu", NULL, "record where threads wait: context switches, with stacks", \
	  SETS_FLAG((o).run.settings.waits) }, \
	{ 0, "filter", "FILTER", "only samples that match, for tracepoints in the last -e", \
	  SETS_LIST((o).filters), .group = SAMPLE_EVENTS }, \
	{ 0, "fallback", "EVENT", "use EVENT if an -e cannot be sampled; may be repeated", \
	  SETS_LIST((o).fallbacks), .group = SAMPLE_EVENTS }, \
	{ 0, "jitter", NULL, "vary periods randomly, so that no loop resonates with them", \
	  SETS_FLAG((o).jitter), .group = SAMPLE_EVENTS }, \
	{ 0, "force", NULL, "allow very short periods, which disturb the program", \
	  SETS_FLAG((o).how.force), .group = SAMPLE_EVENTS }, \
	{ 0, "all-user", NULL, NULL, SETS_FLAG((o).run.settings.user) }, \
	{ 't', "tid", "TID[,TID]", "attach to single threads", \
	  PARSED_BY(target_parse_tids, (o).target, TARGET_TIDS_TAKES), .group = SAMPLE_TARGET }, \
	{ 'u', "uid", "USER", "attach to all processes of a user", SETS_TEXT((o).user_name), \
	  .group = SAMPLE_TARGET }, \
	{ 0, "comm", "NAME", "attach to all processes with this name", SETS_TEXT((o).comm), \
	  .group = SAMPLE_TARGET }, \
	{ 0, "children", NULL, "also sample processes that the target creates", \
	  SETS_FLAG((o).target.children), .group = SAMPLE_TARGET }, \
	{ 0, "cgroup", "PATH", "sample what runs in a cgroup", SETS_TEXT((o).cgroup_path), \
	  .group = SAMPLE_TARGET }, \
	{ 'C', "cpu", "CPUS", "sample only on these CPUs, such as 0-3,8", \
	  PARSED_BY(target_parse_cpus, (o).target, TARGET_CPUS_TAKES), .group = SAMPLE_TARGET }, \
	{ 'D', "delay", "TIME", "start after TIME (100: ms; 2s); -1: when --control enables it", \
	  PARSED_BY(sample_parse_delay, (o).run.delay, SAMPLER_DELAY_TAKES), \
	  .group = SAMPLE_TARGET }, \
	{ 0, "control", "FD|FIFO", \
	  "read commands from FD|FIFO: enable, disable, snapshot, stop", \
	  SETS_TEXT((o).control), .group = SAMPLE_TARGET }, \
	{ 0, "record", "FIELD,...", "also record data, phys, cpu, raw, branches, switches, ...", \
	  PARSED_BY(sample_parse_record, (o), SAMPLE_RECORD_TAKES), .group = SAMPLE_FIELDS }, \
	{ 0, "waits", NULL, "record who keeps whom waiting: --off-cpu, wakeups and locks", \
	  SETS_FLAG((o).run.settings.wakes), .group = SAMPLE_FIELDS }, \
	{ 0, "waits-min", "TIME", "with --waits: no stacks of waits shorter than TIME (50us)", \
	  PARSED_BY(sample_parse_least, (o).run.waits_min, SAMPLE_LEAST_TAKES), \
	  .needs = "waits", .excludes = "flight-recorder", .group = SAMPLE_FIELDS }, \
	{ 0, "labels", "[LIST]", \
	  "record labels of threads: go, otel, custom (all), ids, key:NAME", \
	  PARSED_BY(label_options_parse, (o).run.labels, LABEL_OPTIONS_TAKES), \
	  .group = SAMPLE_FIELDS }, \
	{ 0, "jit-map", NULL, "with -p, -u, --comm: ask Java for the names of its compiled code", \
	  SETS_FLAG((o).jit_map), .needs = "pid uid comm", .group = SAMPLE_FIELDS }, \
	{ 'm', "ring", "SIZE", "use rings of SIZE pages or bytes (512K, 4M), one per CPU", \
	  PARSED_BY(sample_parse_ring, (o).ring, SAMPLE_RING_TAKES), .group = GROUP_FILES }, \
	{ 0, "buffer", "SIZE", "buffer up to SIZE bytes for a slow reader", \
	  SETS_SIZE((o).buffer), .least = 1, .group = GROUP_FILES }, \
	{ 0, "flight-recorder", NULL, "write only the last samples: at SIGUSR1 and at the end", \
	  SETS_FLAG((o).run.flight_recorder), .excludes = "labels", .group = GROUP_FILES }, \
	{ 0, "progress", "[YES|NO]", "on a terminal, show elapsed time, samples and losses", \
	  SETS_YES_NO((o).run.progress), .group = GROUP_FILES }, \
	{ 'z', "zstd", "[LEVEL]", "compress the stream, at LEVEL 1 (default) to 19", \
	  SETS_INTEGER((o).level), .least = 1, .most = 19, .implied = 1, .group = GROUP_FILES }
