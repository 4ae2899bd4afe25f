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

/* perf record's spellings of these options. */
extern const struct command_spelling sample_spellings[];

/* The rows of a table of options (tool/command.h) that fill O, a struct sample_choices. */
#define SAMPLE_OPTIONS(o) \
	{ 'e', "event", "EVENT", "sample by EVENT (see pmu-event(7)); may be repeated", \
	  SETS_LIST((o).names) }, \
	{ 0, "filter", "FILTER", "only samples that match, for tracepoints in the last -e", \
	  SETS_LIST((o).filters) }, \
	{ 0, "fallback", "EVENT", "use EVENT if an -e cannot be sampled; may be repeated", \
	  SETS_LIST((o).fallbacks) }, \
	{ 'c', "period", "COUNT", "take a sample every COUNT events", \
	  SETS_COUNT((o).how.period), \
	  .excludes = "frequency", \
	  .least = 1 }, \
	{ 'F', "frequency", "HZ", "take HZ samples per second, or max", \
	  PARSED_BY(sample_parse_frequency, (o).how.frequency, SAMPLE_FREQUENCY_TAKES) }, \
	{ 0, "jitter", NULL, "vary periods randomly, so that no loop resonates with them", \
	  SETS_FLAG((o).jitter) }, \
	{ 0, "force", NULL, "allow very short periods, which disturb the program", \
	  SETS_FLAG((o).how.force) }, \
	{ 'p', "pid", "PID[,PID]", "attach to processes, with all their threads", \
	  PARSED_BY(target_parse_pids, (o).target, TARGET_PIDS_TAKES) }, \
	{ 't', "tid", "TID[,TID]", "attach to single threads", \
	  PARSED_BY(target_parse_tids, (o).target, TARGET_TIDS_TAKES) }, \
	{ 'u', "uid", "USER", "attach to all processes of a user", SETS_TEXT((o).user_name) }, \
	{ 0, "comm", "NAME", "attach to all processes with this name", SETS_TEXT((o).comm) }, \
	{ 0, "children", NULL, "also sample processes that the target creates", \
	  SETS_FLAG((o).target.children) }, \
	{ 'a', "all", NULL, "sample everything that runs", SETS_FLAG((o).target.system) }, \
	{ 'C', "cpu", "CPUS", "sample only on these CPUs, such as 0-3,8", \
	  PARSED_BY(target_parse_cpus, (o).target, TARGET_CPUS_TAKES) }, \
	{ 0, "cgroup", "PATH", "sample what runs in a cgroup", SETS_TEXT((o).cgroup_path) }, \
	{ 'd', "duration", "TIME", "stop after TIME (10, 1.5, 500ms, 2m), and end the command", \
	  SETS_TIME((o).run.duration), \
	  .least = 1 }, \
	{ 'D', "delay", "TIME", "start after TIME (100: ms; 2s); -1: when --control enables it", \
	  PARSED_BY(sample_parse_delay, (o).run.delay, SAMPLER_DELAY_TAKES) }, \
	{ 0, "control", "FD|FIFO", \
	  "read commands from FD|FIFO: enable, disable, snapshot, stop", \
	  SETS_TEXT((o).run.control) }, \
	{ 'g', "callchains", NULL, "record callchains, by frame pointers", \
	  SETS_FLAG((o).callchains) }, \
	{ 0, "call-graph", "HOW", "record callchains: fp, dwarf[,BYTES], lbr or none", \
	  PARSED_BY(settings_parse_callgraph, (o).run.settings, SETTINGS_CALLGRAPH_TAKES) }, \
	{ 0, "unwind", "[HOW]", \
	  "record whole callchains: unwind stacks, always, if needed, or up to 2%", \
	  PARSED_BY(sample_parse_unwind, (o).run, SAMPLE_UNWIND_TAKES) }, \
	{ 0, "max-stack", "COUNT", "record at most COUNT frames", SETS_COUNT((o).max_stack), \
	  .least = 1, \
	  .most = UINT16_MAX }, \
	{ 0, "kernel-stacks", NULL, "record only the kernel's part of callchains", \
	  SETS_FLAG((o).kernel_stacks) }, \
	{ 0, "user-stacks", NULL, "record only the program's part of callchains", \
	  SETS_FLAG((o).user_stacks) }, \
	{ 0, "user", NULL, "do not sample the kernel's own code", \
	  SETS_FLAG((o).run.settings.user) }, \
	{ 0, "kernel", NULL, "fail if the kernel may not be sampled", \
	  SETS_FLAG((o).run.settings.kernel), .excludes = "user" }, \
	{ 0, "data", NULL, "record data addresses, sources and weights", SETS_FLAG((o).data) }, \
	{ 0, "phys", NULL, "record physical data addresses", SETS_FLAG((o).phys) }, \
	{ 0, "sample-cpu", NULL, "record the CPU of each sample", SETS_FLAG((o).cpu) }, \
	{ 0, "cgroup-id", NULL, "record the cgroup of each sample", SETS_FLAG((o).cgroup_id) }, \
	{ 0, "page-size", NULL, "record sizes of code and data pages", \
	  SETS_FLAG((o).page_size) }, \
	{ 'b', "branches", NULL, "record the last branches taken", SETS_FLAG((o).branches) }, \
	{ 'j', "branch-filter", "KINDS", \
	  "record only these kinds of branches, such as any_call,u", \
	  \
	  PARSED_BY(settings_parse_branches, (o).run.settings.branch_type, \
		    settings_branches_takes) }, \
	{ 0, "user-regs", "REGS", \
	  "record the program's registers: all, or a list such as ip,sp", \
	  \
	  PARSED_BY(settings_parse_registers, (o).run.settings.user_regs, \
		    SETTINGS_REGISTERS_TAKES) }, \
	{ 0, "intr-regs", "REGS", \
	  "record the registers at the sample; they may be the kernel's", \
	  \
	  PARSED_BY(settings_parse_registers, (o).run.settings.intr_regs, \
		    SETTINGS_REGISTERS_TAKES) }, \
	{ 'R', "raw", NULL, "record the fields of tracepoints", SETS_FLAG((o).raw) }, \
	{ 0, "labels", "[KINDS]", "record labels of threads: go, otel, custom (all), and ids", \
	  PARSED_BY(label_options_parse_sources, (o).run.labels, LABEL_SOURCES_TAKES) }, \
	{ 0, "label-allow", "KEY[,KEY]", "record only labels with these keys", \
	  PARSED_BY(label_options_parse_keys, (o).run.labels, LABEL_KEYS_TAKES), \
	  .needs = "labels" }, \
	{ 0, "jit-map", NULL, "with -p, -u, --comm: ask Java for the names of its compiled code", \
	  SETS_FLAG((o).jit_map), .needs = "pid uid comm" }, \
	{ 0, "off-cpu", NULL, "record where threads wait: context switches, with stacks", \
	  SETS_FLAG((o).run.settings.waits) }, \
	{ 0, "switches", NULL, "record context switches, without stacks", \
	  SETS_FLAG((o).run.settings.switches) }, \
	{ 0, "clock", "CLOCK", "clock of the times", \
	  SETS_CHOICE((o).clock_choice, sample_clock_names) }, \
	{ 'm', "ring", "SIZE", "use rings of SIZE pages or bytes (512K, 4M), one per CPU", \
	  PARSED_BY(sample_parse_ring, (o).ring, SAMPLE_RING_TAKES) }, \
	{ 0, "buffer", "SIZE", "buffer up to SIZE bytes for a slow reader", \
	  SETS_SIZE((o).buffer), \
	  .least = 1 }, \
	{ 0, "flight-recorder", NULL, "write only the last samples: at SIGUSR1 and at the end", \
	  SETS_FLAG((o).run.flight_recorder), .excludes = "labels" }, \
	{ 0, "max-size", "SIZE", "stop after SIZE bytes of output", SETS_SIZE((o).run.max_size), \
	  .least = 1 }, \
	{ 0, "progress", "[YES|NO]", "on a terminal, show elapsed time, samples and losses", \
	  SETS_YES_NO((o).run.progress) }, \
	{ 'z', "zstd", "[LEVEL]", "compress the stream, at LEVEL 1 (default) to 19", \
	  SETS_INTEGER((o).level), .least = 1, .most = 19, .implied = 1 }
