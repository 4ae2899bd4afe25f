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
	  .list = &(o).names }, \
	{ 0, "filter", "FILTER", "only samples that match, for tracepoints in the last -e", \
	  .list = &(o).filters }, \
	{ 0, "fallback", "EVENT", "use EVENT if an -e cannot be sampled; may be repeated", \
	  .list = &(o).fallbacks }, \
	{ 'c', "period", "COUNT", "take a sample every COUNT events", .count = &(o).how.period, \
	  .least = 1 }, \
	{ 'F', "frequency", "HZ", "take HZ samples per second, or max", \
	  .parse = sample_parse_frequency, .value = &(o).how.frequency, \
	  .takes = SAMPLE_FREQUENCY_TAKES }, \
	{ 0, "jitter", NULL, "vary periods randomly, so that no loop resonates with them", \
	  .flag = &(o).jitter }, \
	{ 0, "force", NULL, "allow very short periods, which disturb the program", \
	  .flag = &(o).how.force }, \
	{ 'p', "pid", "PID[,PID]", "attach to processes, with all their threads", \
	  .parse = target_parse_pids, .value = &(o).target, .takes = TARGET_PIDS_TAKES }, \
	{ 't', "tid", "TID[,TID]", "attach to single threads", \
	  .parse = target_parse_tids, .value = &(o).target, .takes = TARGET_TIDS_TAKES }, \
	{ 'u', "uid", "USER", "attach to all processes of a user", .text = &(o).user_name }, \
	{ 0, "comm", "NAME", "attach to all processes with this name", .text = &(o).comm }, \
	{ 0, "children", NULL, "also sample processes that the target creates", \
	  .flag = &(o).target.children }, \
	{ 'a', "all", NULL, "sample everything that runs", .flag = &(o).target.system }, \
	{ 'C', "cpu", "CPUS", "sample only on these CPUs, such as 0-3,8", \
	  .parse = target_parse_cpus, .value = &(o).target, .takes = TARGET_CPUS_TAKES }, \
	{ 0, "cgroup", "PATH", "sample what runs in a cgroup", .text = &(o).cgroup_path }, \
	{ 'd', "duration", "TIME", "stop after TIME (10, 1.5, 500ms, 2m), and end the command", \
	  .time = &(o).run.duration, \
	  .least = 1 }, \
	{ 'D', "delay", "TIME", "start after TIME (100: ms; 2s); -1: when --control enables it", \
	  .parse = sample_parse_delay, .value = &(o).run.delay, .takes = SAMPLER_DELAY_TAKES }, \
	{ 0, "control", "FD|FIFO", \
	  "read commands from FD|FIFO: enable, disable, snapshot, stop", \
	  .text = &(o).run.control }, \
	{ 'g', "callchains", NULL, "record callchains, by frame pointers", \
	  .flag = &(o).callchains }, \
	{ 0, "call-graph", "HOW", "record callchains: fp, dwarf[,BYTES], lbr or none", \
	  .parse = settings_parse_callgraph, .value = &(o).run.settings, \
	  .takes = SETTINGS_CALLGRAPH_TAKES }, \
	{ 0, "unwind", "[HOW]", \
	  "record whole callchains: unwind stacks, always, if needed, or up to 2%", \
	  .parse = sample_parse_unwind, .value = &(o).run, .takes = SAMPLE_UNWIND_TAKES }, \
	{ 0, "max-stack", "COUNT", "record at most COUNT frames", .count = &(o).max_stack, \
	  .least = 1, \
	  .most = UINT16_MAX }, \
	{ 0, "kernel-stacks", NULL, "record only the kernel's part of callchains", \
	  .flag = &(o).kernel_stacks }, \
	{ 0, "user-stacks", NULL, "record only the program's part of callchains", \
	  .flag = &(o).user_stacks }, \
	{ 0, "user", NULL, "do not sample the kernel's own code", \
	  .flag = &(o).run.settings.user }, \
	{ 0, "kernel", NULL, "fail if the kernel may not be sampled", \
	  .flag = &(o).run.settings.kernel }, \
	{ 0, "data", NULL, "record data addresses, sources and weights", .flag = &(o).data }, \
	{ 0, "phys", NULL, "record physical data addresses", .flag = &(o).phys }, \
	{ 0, "sample-cpu", NULL, "record the CPU of each sample", .flag = &(o).cpu }, \
	{ 0, "cgroup-id", NULL, "record the cgroup of each sample", .flag = &(o).cgroup_id }, \
	{ 0, "page-size", NULL, "record sizes of code and data pages", .flag = &(o).page_size }, \
	{ 'b', "branches", NULL, "record the last branches taken", .flag = &(o).branches }, \
	{ 'j', "branch-filter", "KINDS", \
	  "record only these kinds of branches, such as any_call,u", \
	  .parse = settings_parse_branches, .value = &(o).run.settings.branch_type, \
	  .takes = settings_branches_takes }, \
	{ 0, "user-regs", "REGS", \
	  "record the program's registers: all, or a list such as ip,sp", \
	  .parse = settings_parse_registers, .value = &(o).run.settings.user_regs, \
	  .takes = SETTINGS_REGISTERS_TAKES }, \
	{ 0, "intr-regs", "REGS", \
	  "record the registers at the sample; they may be the kernel's", \
	  .parse = settings_parse_registers, .value = &(o).run.settings.intr_regs, \
	  .takes = SETTINGS_REGISTERS_TAKES }, \
	{ 'R', "raw", NULL, "record the fields of tracepoints", .flag = &(o).raw }, \
	{ 0, "labels", "[KINDS]", "record labels of threads: go, otel, custom (all), and ids", \
	  .parse = label_options_parse_sources, .value = &(o).run.labels, \
	  .takes = LABEL_SOURCES_TAKES }, \
	{ 0, "label-allow", "KEY[,KEY]", "record only labels with these keys", \
	  .parse = label_options_parse_keys, .value = &(o).run.labels, \
	  .takes = LABEL_KEYS_TAKES }, \
	{ 0, "jit-map", NULL, "with -p, -u, --comm: ask Java for the names of its compiled code", \
	  .flag = &(o).jit_map }, \
	{ 0, "off-cpu", NULL, "record where threads wait: context switches, with stacks", \
	  .flag = &(o).run.settings.waits }, \
	{ 0, "switches", NULL, "record context switches, without stacks", \
	  .flag = &(o).run.settings.switches }, \
	{ 0, "clock", "CLOCK", "clock of the times", .choice = &(o).clock_choice, \
	  .choices = sample_clock_names }, \
	{ 'm', "ring", "SIZE", "use rings of SIZE pages or bytes (512K, 4M), one per CPU", \
	  .parse = sample_parse_ring, .value = &(o).ring, .takes = SAMPLE_RING_TAKES }, \
	{ 0, "buffer", "SIZE", "buffer up to SIZE bytes for a slow reader", .size = &(o).buffer, \
	  .least = 1 }, \
	{ 0, "flight-recorder", NULL, "write only the last samples: at SIGUSR1 and at the end", \
	  .flag = &(o).run.flight_recorder }, \
	{ 0, "max-size", "SIZE", "stop after SIZE bytes of output", .size = &(o).run.max_size, \
	  .least = 1 }, \
	{ 0, "progress", "[YES|NO]", "on a terminal, show elapsed time, samples and losses", \
	  .yes_no = &(o).run.progress }, \
	{ 'z', "zstd", "[LEVEL]", "compress the stream, at LEVEL 1 (default) to 19", \
	  .integer = &(o).level, .least = 1, .most = 19, .implied = 1 }
