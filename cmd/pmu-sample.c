/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-sample - sample processes or a command by hardware events.
 *
 * Opens events on a target, and writes the kernel's records as a stream (pmu-stream(5)) that
 * pmu-symbolize, pmu-topprof and perf read.
 */
#include "base/terminal.h"
#include "counters/ring-size.h"
#include "host/agent.h"
#include "sample/control.h"
#include "sample/go-target.h"
#include "sample/request.h"
#include "stream/perf-writer.h"
#include "target/jvm.h"
#include "tool/command.h"
#include "tool/sample-options.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	JITTER_PERCENT = 5,
	STACK_DEFAULT = 8192,		/* bytes of a stack dump, as in perf */
	STACK_UNWOUND = 32768,		/* the same, if pmu-unwind follows */
	RING_AMPLE = 4 << 20,		/* bytes */
	STACK_SCARCE = 8192,		/* the same, beside frame pointers, if rings are small */
};

enum { TO_STREAM, TO_PERF_DATA };
static const char *const formats[] = { [TO_STREAM] = "stream", [TO_PERF_DATA] = "perf.data", NULL };
static int format;
static bool exit_status;
static int command_fd = -1;
static const char *file;
static struct sample_choices chosen = {
	.buffer = SAMPLE_BUFFER_DEFAULT, .filters = { .beside = &chosen.names },
	.run = { .target = &chosen.target, .stop = &command_stop,
		 .settings.clock = CLOCK_MONOTONIC },
};

static const struct command_option options[] = {
	SAMPLE_OPTIONS(chosen),
	{ 0, "exit-status", NULL, "exit with the command's status", SETS_FLAG(exit_status),
	  .group = GROUP_FILES },
	{ 0, "command-output", "FD", "let the command write its stdout to this open descriptor",
	  SETS_INTEGER(command_fd), .least = 1, .most = 1 << 20, .group = GROUP_FILES },
	{ 0, "to", "FORMAT", "write a stream, or a file that programs for perf.data read",
	  SETS_CHOICE(format, formats), .group = GROUP_FILES },
	{ 0, "switch-output", "WHEN", "start a new FILE after SIZE (1Mi), TIME (10s) or a signal",
	  PARSED_BY(rotation_parse, chosen.run.rotation, ROTATION_TAKES), .needs = "output",
	  .group = GROUP_FILES },
	{ 'o', "output", "FILE", "write to FILE instead of stdout", SETS_TEXT(file) },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-sample",
	.purpose = "sample processes or a command by hardware events",
	.operands = "{-p PID | -a | ... | [--] COMMAND [ARG]...}",
	.options = options,
	.runs_command = true,
	.spellings = sample_spellings,
};

/* perf's -W: three numbers where the kernel has them (arch_evsel__set_sample_weight()). */
#ifdef __x86_64__
#define SAMPLE_WEIGHTS PERF_SAMPLE_WEIGHT_STRUCT
#else
#define SAMPLE_WEIGHTS PERF_SAMPLE_WEIGHT
#endif

/* Return the PERF_SAMPLE_* bits of the fields that options ask for. */
static uint64_t chosen_fields(void)
{
	const struct sample_choices *c = &chosen;
	bool is_by_cpu = c->target.system || c->target.cpus.count || c->cgroup_path;

	return (c->data ? PERF_SAMPLE_ADDR | SAMPLE_WEIGHTS | PERF_SAMPLE_DATA_SRC : 0) |
	       (c->phys ? PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR : 0) |
	       (c->cpu || is_by_cpu || c->run.settings.switches ? PERF_SAMPLE_CPU : 0) |
	       (c->cgroup_id ? PERF_SAMPLE_CGROUP : 0) |
	       (c->page_size ? PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE |
			       PERF_SAMPLE_CODE_PAGE_SIZE : 0) |
	       (c->branches || c->run.settings.branch_type ? PERF_SAMPLE_BRANCH_STACK : 0) |
	       (c->raw ? PERF_SAMPLE_RAW : 0);
}

/* Complete the settings of the run. */
static void complete_settings(void)
{
	struct sample_settings *s = &chosen.run.settings;

	if (s->wakes && chosen.run.labels.sources)
		command_misused(&command, "labels cannot be recorded with --waits: leave out "
				"--labels");
	if (s->wakes && s->user)
		command_misused(&command, "--waits samples the kernel, where threads are woken: "
				"leave out --all-user");
	s->waits |= s->wakes;
	s->switches |= s->waits;
	s->user_regs |= s->wakes ? settings_argument_regs() : 0;
	if (s->wakes && !s->callchain_given && !command_given("unwind"))
		chosen.run.unwind = UNWINDS_ALL;
	if ((command_given("call-graph") || s->waits || chosen.run.unwind) && !s->callchain_given)
		s->callchain = chosen.run.unwind ? CHAIN_DWARF : CHAIN_FP;
	if (chosen.run.unwind && s->callchain != CHAIN_DWARF)
		command_misused(&command, "--unwind unwinds copies of the stack: it needs "
				"--call-graph dwarf");
	if (s->callchain == CHAIN_LBR && (chosen.branches || s->branch_type))
		command_misused(&command, "--call-graph lbr has its own kind of branches: "
				"leave out --record branches, -b and -j");
	if (s->no_kernel_stack && s->no_user_stack)	/* both parts were named */
		s->no_kernel_stack = s->no_user_stack = false;
	if (s->wakes && (s->callchain == CHAIN_NONE || s->no_kernel_stack))
		command_misused(&command, "--waits needs the kernel's part of callchains, which "
				"says what a thread waits for: leave out --call-graph user");
	s->periods = chosen.jitter;
	s->sample_type = chosen_fields();
	if (chosen.branches && !s->branch_type)
		s->branch_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
}

/* Complete the target that options name.  OPERAND: a command, or NULL. */
static bool complete_target(char *const *operand, struct report *report)
{
	struct target *t = &chosen.target;
	int kinds = sample_target_kinds(&chosen);

	if (!kinds && !t->cpus.count && !operand)
		command_misused(&command, "nothing to sample: give -p PID or a command");
	if (kinds > 1)
		command_misused(&command, "more than one kind of target");
	if (kinds || t->cpus.count)
		chosen.run.clock_command = operand;
	else
		t->command = operand;
	t->system = (t->system && !chosen.cgroup_path) || (t->cpus.count && !kinds);
	return (!chosen.user_name || target_add_user(t, chosen.user_name, report)) &&
	       (!chosen.comm || target_add_comm(t, chosen.comm, report)) &&
	       (!chosen.cgroup_path || target_set_cgroup(t, chosen.cgroup_path, report));
}

/* Complete the settings of copies of stacks, which depend on the target. */
static void complete_copies(void)
{
	struct sample_settings *s = &chosen.run.settings;

	if (s->callchain != CHAIN_DWARF)
		return;
	if (chosen.run.unwind)
		go_target_complete(s, &chosen.target);
	/* Samples that keep registers keep no copies, not even where stacks are not unwound. */
	bool is_beside = chosen.run.unwind == UNWINDS_IF_NEEDED ||
			 chosen.run.unwind_budget.is_set || (chosen.run.unwind && s->user_regs);
	s->user_frames |= is_beside;
	if (!s->stack_bytes)
		s->stack_bytes = !chosen.run.unwind ? STACK_DEFAULT
			       : is_beside && ring_size_most() < RING_AMPLE ? STACK_SCARCE
			       : STACK_UNWOUND;
}

/* Add the events that options name to LIST.  False: none can be sampled (reported). */
static bool choose_events(struct event_list *list, struct event_reply *reply,
			  struct report *report)
{
	const struct event_request request = {
		.how = &chosen.how, .names = &chosen.names, .filters = &chosen.filters,
		.fallbacks = &chosen.fallbacks,
		.switches = chosen.run.settings.waits, .wakes = chosen.run.settings.wakes,
	};

	if (chosen.filters.count && chosen.filters.beside_count[0] == 0)
		command_misused(&command, "--filter needs an -e before it: it filters that event");
	bool good = request_events(&request, list, reply, report);
	if (reply->not_filtered)
		command_misused(&command, "--filter is for tracepoints: '%s' is not one",
				reply->not_filtered);
	chosen.run.events = list;
	chosen.run.note = *reply->note ? reply->note : NULL;
	chosen.run.remark = *reply->remark ? reply->remark : NULL;
	return good;
}

/* Take a descriptor for the command's stdout, so that no other program that is started gets it. */
static void take_command_output(void)
{
	chosen.run.command_fd = -1;
	if (command_fd < 0)
		return;
	chosen.run.command_fd = fcntl(command_fd, F_DUPFD_CLOEXEC, 3);
	if (chosen.run.command_fd < 0)
		command_misused(&command, "--command-output: there is no open descriptor %d",
				command_fd);
	if (command_fd > STDERR_FILENO)
		close(command_fd);
}

/* Complete the other options of the run, and check them. */
static void complete_run(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct sampler_options *run = &chosen.run;

	if (run->delay == SAMPLER_UNTIL_ENABLED && !chosen.control)
		command_misused(&command, "-D -1 waits for --control, which is not given");
	if (chosen.ring && (chosen.ring < page || chosen.ring & (chosen.ring - 1)))
		command_misused(&command, "--ring takes a power of two of at least %zu bytes, not "
				"%" PRIu64, page, chosen.ring);
	if (rotation_is_on(&run->rotation) && !strcmp(file, "-"))
		command_misused(&command, "--switch-output needs files: give -o FILE");
	if (format == TO_PERF_DATA && (chosen.level || run->flight_recorder))
		command_misused(&command, "--to perf.data writes a file, which is not compressed, "
				"from the start: leave out -z and --flight-recorder");
	run->ring_size = (size_t)chosen.ring;
	run->buffer_size = (size_t)chosen.buffer;
	run->jitter = chosen.jitter ? JITTER_PERCENT : 0;
	run->quiet_status = exit_status;
	run->is_remote = getenv(AGENT_VARIABLE);
	unsetenv(AGENT_VARIABLE);
	run->progress &= terminal_can_erase(STDERR_FILENO);
	run->shown_file = file && strcmp(file, "-") && isatty(STDERR_FILENO) ? file : NULL;
}

/* Sample EVENTS, and write the stream.  Return the status of the command. */
static int record(struct event_list *events, struct report *report)
{
	struct output out;
	int status = 0;

	command_output_late(&command, &out, file, report);
	if (format == TO_PERF_DATA && !output_can_seek(&out))
		command_misused(&command, "--to perf.data needs a file that can seek: give "
				"-o FILE");
	struct perf_writer *perf = format == TO_PERF_DATA ? perf_writer_new(&out) : NULL;
	if (chosen.level)
		output_compress(&out, chosen.level);
	if (!chosen.run.ring_size)
		chosen.run.ring_size = ring_size_default(events, &chosen.run.settings);
	if (!output_ended(&out))
		status = sampler_run(&chosen.run, &out, report);
	if (chosen.jit_map)	/* before the stream ends: then its readers read the map */
		jvm_ask_again(&chosen.target, report);
	output_close(&out);
	perf_writer_free(perf);
	return status;
}

int main(int argc, char **argv)
{
	struct event_reply reply;
	struct report report;
	struct event_list events = { 0 };
	struct control control = CONTROL_CLOSED;
	int status = 0;

	int first = command_begin(&command, &report, argc, argv);
	if (first == 1 && argc > 2 && !strcmp(argv[1], "record") && *argv[2] == '-')
		command_misused(&command, "leave out 'record': pmu-sample only records; -- before "
				"it runs a program of that name");
	chosen.run.argc = argc;
	chosen.run.argv = argv;
	take_command_output();
	complete_run();
	complete_settings();
	if (chosen.control)
		chosen.run.control = &control;
	bool good = (!chosen.control || control_open(&control, chosen.control, &report)) &&
		    complete_target(first < argc ? argv + first : NULL, &report);
	complete_copies();
	/* What cannot be recorded is refused before there is a file. */
	if (good && (!chosen.run.settings.wakes || request_can_wake(&chosen.how, &report)) &&
	    choose_events(&events, &reply, &report) &&
	    (!chosen.jit_map || jvm_ask(&chosen.target, &command_stop, &report)))
		status = record(&events, &report);
	event_list_release(&events);
	target_release(&chosen.target);
	label_options_release(&chosen.run.labels);
	int own = command_end(&report);
	if (own || !exit_status)
		status = own;
	control_end(&control, status, &report);
	return status;
}
