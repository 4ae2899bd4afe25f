/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-sample - sample processes or a command by hardware events.
 *
 * Opens events on a target, and writes the kernel's records as a stream (pmu-stream(5)) that
 * pmu-symbolize, pmu-topprof and perf read.
 */
#include "base/command.h"
#include "sample/request.h"
#include "sample/ring-size.h"
#include "sample/sampler.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

enum {
	BUFFER_DEFAULT = 64 << 20,	/* bytes */
	JITTER_PERCENT = 5,
	RING_MAX = 1 << 30,
	STACK_DEFAULT = 8192,		/* bytes of a stack dump, as in perf */
	STACK_UNWOUND = 32768,		/* the same, if it is unwound at once */
};

static bool callchains, user_stacks, kernel_stacks, data, phys, cpu, cgroup_id, page_size;
static bool branches, raw, jitter, exit_status;
static uint64_t max_stack, ring, buffer = BUFFER_DEFAULT;
static int level, clock_choice;
static const char *user_name, *comm, *cgroup_path, *file;
static struct command_list names, fallbacks, filters = { .beside = &names };
static struct target target;
static struct event_options how;
static struct sampler_options run = { .target = &target, .stop = &command_stop };

static const char *const clock_names[] = {
	"monotonic", "raw", "boottime", "realtime", "tai", NULL
};
static const int clocks[] = {
	CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME, CLOCK_REALTIME, CLOCK_TAI,
};

static const struct command_option options[] = {
	{ 'e', "event", "EVENT", "sample by EVENT (see pmu-event(7)); may be repeated",
	  .list = &names },
	{ 0, "filter", "FILTER", "only samples that match, for tracepoints in the last -e",
	  .list = &filters },
	{ 0, "fallback", "EVENT", "use EVENT if another cannot be sampled; may be repeated",
	  .list = &fallbacks },
	{ 'c', "period", "COUNT", "take a sample every COUNT events", .count = &how.period,
	  .least = 1 },
	{ 'F', "frequency", "HZ", "take HZ samples per second", .count = &how.frequency,
	  .least = 1 },
	{ 0, "jitter", NULL, "vary periods randomly, so that no loop stays in step",
	  .flag = &jitter },
	{ 0, "force", NULL, "allow very short periods, which disturb the program",
	  .flag = &how.force },
	{ 'p', "pid", "PID[,PID]", "attach to processes, with all their threads",
	  .parse = target_parse_pids, .value = &target, .takes = TARGET_PIDS_TAKES },
	{ 't', "tid", "TID[,TID]", "attach to single threads",
	  .parse = target_parse_tids, .value = &target, .takes = TARGET_TIDS_TAKES },
	{ 'u', "uid", "USER", "attach to all processes of a user", .text = &user_name },
	{ 0, "comm", "NAME", "attach to all processes with this name", .text = &comm },
	{ 0, "children", NULL, "also follow processes that they create",
	  .flag = &target.children },
	{ 'a', "all", NULL, "sample everything that runs", .flag = &target.system },
	{ 'C', "cpu", "CPUS", "sample only on these CPUs, such as 0-3,8",
	  .parse = target_parse_cpus, .value = &target, .takes = TARGET_CPUS_TAKES },
	{ 0, "cgroup", "PATH", "sample what runs in a cgroup", .text = &cgroup_path },
	{ 'd', "duration", "TIME", "stop after TIME (10, 1.5, 500ms, 2m)", .time = &run.duration,
	  .least = 1 },
	{ 'D', "delay", "TIME", "start after TIME (100: ms; 2s); -1: when --control enables it",
	  .parse = sampler_parse_delay, .value = &run.delay, .takes = SAMPLER_DELAY_TAKES },
	{ 0, "control", "FD|FIFO", "read commands from FD|FIFO: enable, disable, snapshot, stop",
	  .text = &run.control },
	{ 'g', "callchains", NULL, "record callchains, by frame pointers", .flag = &callchains },
	{ 0, "call-graph", "HOW", "record callchains: fp, dwarf[,BYTES], lbr or none",
	  .parse = settings_parse_callgraph, .value = &run.settings,
	  .takes = SETTINGS_CALLGRAPH_TAKES },
	{ 0, "unwind", NULL, "record whole callchains: unwind copies of the stack",
	  .flag = &run.unwind },
	{ 0, "max-stack", "COUNT", "record at most COUNT frames", .count = &max_stack, .least = 1,
	  .most = UINT16_MAX },
	{ 0, "kernel-stacks", NULL, "record only the kernel's part of callchains",
	  .flag = &kernel_stacks },
	{ 0, "user-stacks", NULL, "record only the program's part of callchains",
	  .flag = &user_stacks },
	{ 0, "user", NULL, "do not sample the kernel's own code", .flag = &run.settings.user },
	{ 0, "kernel", NULL, "fail if the kernel may not be sampled",
	  .flag = &run.settings.kernel },
	{ 0, "data", NULL, "record data addresses, sources and weights", .flag = &data },
	{ 0, "phys", NULL, "record physical data addresses", .flag = &phys },
	{ 0, "sample-cpu", NULL, "record CPUs", .flag = &cpu },
	{ 0, "cgroup-id", NULL, "record cgroups", .flag = &cgroup_id },
	{ 0, "page-size", NULL, "record sizes of code and data pages", .flag = &page_size },
	{ 'b', "branches", NULL, "record the last branches taken", .flag = &branches },
	{ 'j', "branch-filter", "KINDS", "record only these kinds of branches, such as any_call,u",
	  .parse = settings_parse_branches, .value = &run.settings.branch_type,
	  .takes = settings_branches_takes },
	{ 0, "user-regs", "REGS", "record the program's registers: all, or a list such as ip,sp",
	  .parse = settings_parse_registers, .value = &run.settings.user_regs,
	  .takes = SETTINGS_REGISTERS_TAKES },
	{ 0, "intr-regs", "REGS", "record the registers at the sample; they may be the kernel's",
	  .parse = settings_parse_registers, .value = &run.settings.intr_regs,
	  .takes = SETTINGS_REGISTERS_TAKES },
	{ 'R', "raw", NULL, "record the fields of tracepoints", .flag = &raw },
	{ 0, "off-cpu", NULL, "record where threads wait: context switches, with stacks",
	  .flag = &run.settings.switches },
	{ 0, "clock", "CLOCK", "clock of the times", .choice = &clock_choice,
	  .choices = clock_names },
	{ 'm', "ring", "SIZE", "use rings of SIZE bytes, one per CPU", .size = &ring, .least = 4096,
	  .most = RING_MAX },
	{ 0, "buffer", "SIZE", "buffer up to SIZE bytes for a slow reader", .size = &buffer,
	  .least = 1 },
	{ 0, "flight-recorder", NULL, "write only the last samples: at SIGUSR1 and at the end",
	  .flag = &run.flight_recorder },
	{ 0, "max-size", "SIZE", "stop after SIZE bytes of output", .size = &run.max_size,
	  .least = 1 },
	{ 0, "switch-output", "WHEN", "start a new FILE by SIZE (1Mi), TIME (10s) or signal",
	  .parse = rotation_parse, .value = &run.rotation, .takes = ROTATION_TAKES },
	{ 'z', "zstd", "[LEVEL]", "compress the stream, at LEVEL 1 (default) to 19",
	  .integer = &level, .least = 1, .most = 19, .implied = 1 },
	{ 0, "exit-status", NULL, "exit with the command's status", .flag = &exit_status },
	{ 'o', "output", "FILE", "write to FILE instead of stdout", .text = &file },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-sample",
	.purpose = "sample processes or a command by hardware events",
	.operands = "{-p PID | -a | ... | [--] COMMAND [ARG]...}",
	.options = options,
	.runs_command = true,
};

/* Return the PERF_SAMPLE_* bits of the fields that options ask for. */
static uint64_t chosen_fields(void)
{
	return (data ? PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC : 0) |
	       (phys ? PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR : 0) |
	       (cpu || target.system || target.cpus.count || cgroup_path ? PERF_SAMPLE_CPU : 0) |
	       (cgroup_id ? PERF_SAMPLE_CGROUP : 0) |
	       (page_size ? PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE |
			    PERF_SAMPLE_CODE_PAGE_SIZE : 0) |
	       (branches || run.settings.branch_type ? PERF_SAMPLE_BRANCH_STACK : 0) |
	       (raw ? PERF_SAMPLE_RAW : 0);
}

/* Complete run.settings. */
static void complete_settings(void)
{
	struct sample_settings *s = &run.settings;

	if ((callchains || s->switches || run.unwind) && !command_given("call-graph"))
		s->callchain = run.unwind ? CHAIN_DWARF : CHAIN_FP;
	if (run.unwind && s->callchain != CHAIN_DWARF)
		command_misused(&command, "--unwind unwinds copies of the stack: it needs "
				"--call-graph dwarf");
	if (s->callchain == CHAIN_DWARF && !s->stack_bytes)
		s->stack_bytes = run.unwind ? STACK_UNWOUND : STACK_DEFAULT;
	if (s->callchain == CHAIN_NONE && (max_stack || user_stacks || kernel_stacks))
		command_misused(&command, "--max-stack, --user-stacks and --kernel-stacks need "
				"callchains: give -g, too");
	command_one_of(&command, "user", "kernel", NULL);
	s->max_stack = (uint16_t)max_stack;
	s->no_kernel_stack = user_stacks && !kernel_stacks;
	s->no_user_stack = kernel_stacks && !user_stacks;
	s->periods = jitter;
	s->clock = clocks[clock_choice];
	s->sample_type = chosen_fields();
	if (branches && !s->branch_type)
		s->branch_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
}

/* Complete TARGET, which has what options name.  OPERAND: a command, or NULL. */
static bool complete_target(char *const *operand, struct report *report)
{
	struct target *t = &target;
	int kinds = (t->pids || t->tids || user_name || comm) + t->system + !!cgroup_path;

	if (!kinds && !t->cpus.count && !operand)
		command_misused(&command, "nothing to sample: give -p PID or a command");
	if (kinds > 1)
		command_misused(&command, "more than one kind of target");
	if (kinds || t->cpus.count)
		run.clock_command = operand;
	else
		t->command = operand;
	t->system = t->system || (t->cpus.count && !kinds);
	return (!user_name || target_add_user(t, user_name, report)) &&
	       (!comm || target_add_comm(t, comm, report)) &&
	       (!cgroup_path || target_set_cgroup(t, cgroup_path, report));
}

/* Add the events that options name to LIST, and their remark to RUN. */
static bool choose_events(struct event_list *list, struct event_reply *reply,
			  struct report *report)
{
	const struct event_request request = {
		.how = &how, .names = &names, .filters = &filters, .fallbacks = &fallbacks,
		.kernel = run.settings.kernel, .switches = run.settings.switches,
	};

	if (filters.count && filters.place[0] == 0)
		command_misused(&command, "--filter needs an -e before it: it filters that event");
	bool good = request_events(&request, list, reply, report);
	if (reply->not_filtered)
		command_misused(&command, "--filter is for tracepoints: '%s' is not one",
				reply->not_filtered);
	run.events = list;
	run.remark = *reply->remark ? reply->remark : NULL;
	return good;
}

/* Complete RUN: what is left of the run and its output. */
static void complete_run(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (run.delay == SAMPLER_UNTIL_ENABLED && !run.control)
		command_misused(&command, "-D -1 waits for --control, which is not given");
	if (ring && (ring < page || ring & (ring - 1)))
		command_misused(&command, "--ring takes a power of two of at least %zu bytes, not "
				"%" PRIu64, page, ring);
	if (rotation_is_on(&run.rotation) && (!file || !strcmp(file, "-")))
		command_misused(&command, "--switch-output needs files: give -o FILE");
	command_one_of(&command, "period", "frequency", NULL);
	run.ring_size = (size_t)ring;
	run.buffer_size = (size_t)buffer;
	run.jitter = jitter ? JITTER_PERCENT : 0;
	run.quiet_status = exit_status;
	run.shown_file = file && strcmp(file, "-") && isatty(STDERR_FILENO) ? file : NULL;
}

int main(int argc, char **argv)
{
	struct event_reply reply;
	struct report report;
	struct output out;
	struct event_list events = { 0 };
	int status = 0;

	int first = command_begin(&command, &report, argc, argv);
	complete_run();
	complete_settings();
	bool good = complete_target(first < argc ? argv + first : NULL, &report);
	command_output(&command, &out, file, &report);
	if (level)
		output_compress(&out, level);
	if (good && choose_events(&events, &reply, &report)) {
		run.argc = argc;
		run.argv = argv;
		if (!run.ring_size)
			run.ring_size = ring_size_default(&events, &run.settings);
		status = sampler_run(&run, &out, &report);
	}
	output_close(&out);
	event_list_release(&events);
	target_release(&target);
	int own = command_end(&report);
	return exit_status && !own ? status : own;
}
