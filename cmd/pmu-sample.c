/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-sample - sample processes or a command by hardware events.
 *
 * Opens events on a target, and writes the kernel's records as a stream (pmu-stream(5)) that
 * pmu-symbolize, pmu-topprof and perf read.
 */
#include "base/command.h"
#include "base/units.h"
#include "sample/ring-size.h"
#include "sample/sampler.h"

#include <time.h>
#include <unistd.h>

enum {
	BUFFER_DEFAULT = 64 << 20,	/* bytes */
	JITTER_PERCENT = 5,
	RING_MAX = 1 << 30,
	STACK_DEFAULT = 8192,		/* bytes of user stack, as in perf */
	STACK_UNWOUND = 32768,		/* the same, if it is unwound at once */
};

static bool callchains, system_wide, children, user_only, with_kernel, kernel_stacks;
static bool jitter, flight_recorder, user_stacks, data, phys, cpu, cgroup_id, page_size, branches;
static bool raw, off_cpu, force, exit_status, unwind;
static const char *pid_text, *tid_text, *cpu_text, *cgroup_path, *user_name, *comm, *period_text;
static const char *frequency_text, *duration_text, *delay_text, *callgraph_text, *max_stack_text;
static const char *clock_name, *ring_text, *buffer_text, *level_text, *file, *branch_text;
static const char *user_regs_text, *intr_regs_text, *control, *max_size_text, *switch_text;
static struct command_list names, fallbacks, filters = { .beside = &names };

static const struct command_option options[] = {
	{ 'e', "event", "EVENT", "sample by EVENT (see pmu-event(7)); may be repeated",
	  NULL, &names },
	{ 0, "filter", "FILTER", "only samples that match, for the tracepoints in the last -e",
	  NULL, &filters },
	{ 0, "fallback", "EVENT", "use EVENT if another cannot be sampled; may be repeated",
	  NULL, &fallbacks },
	{ 'c', "period", "COUNT", "take a sample every COUNT events", &period_text, NULL },
	{ 'F', "frequency", "HZ", "take HZ samples per second", &frequency_text, NULL },
	{ 0, "jitter", NULL, "vary periods randomly: no lockstep with loops", &jitter, NULL },
	{ 0, "force", NULL, "allow very short periods, which disturb the program", &force, NULL },
	{ 'p', "pid", "PID[,PID]", "attach to processes, all their threads", &pid_text, NULL },
	{ 't', "tid", "TID[,TID]", "attach to single threads", &tid_text, NULL },
	{ 'u', "uid", "USER", "attach to all processes of a user", &user_name, NULL },
	{ 0, "comm", "NAME", "attach to all processes with this name", &comm, NULL },
	{ 0, "children", NULL, "also follow the processes that they create", &children, NULL },
	{ 'a', "all", NULL, "sample everything that runs", &system_wide, NULL },
	{ 'C', "cpus", "CPUS", "sample on these CPUs only: 0-3,8", &cpu_text, NULL },
	{ 0, "cgroup", "PATH", "sample what runs in a cgroup", &cgroup_path, NULL },
	{ 'd', "duration", "TIME", "stop after TIME: 10, 1.5, 500ms, 2m", &duration_text, NULL },
	{ 'D', "delay", "TIME", "start after TIME: 100 (ms), 2s; -1: when --control enables it",
	  &delay_text, NULL },
	{ 0, "control", "FD|FIFO", "read commands (enable, disable, snapshot, stop) from FD|FIFO",
	  &control, NULL },
	{ 'g', "callchains", NULL, "record callchains, by frame pointers", &callchains, NULL },
	{ 0, "call-graph", "HOW", "record callchains: fp, dwarf[,BYTES], lbr or none",
	  &callgraph_text, NULL },
	{ 0, "unwind", NULL, "record whole callchains: unwind copies of the stack", &unwind, NULL },
	{ 0, "max-stack", "COUNT", "record at most COUNT frames", &max_stack_text, NULL },
	{ 0, "kernel-stacks", NULL, "record the kernel's part of callchains only", &kernel_stacks,
	  NULL },
	{ 0, "user-stacks", NULL, "record the program's part of callchains only", &user_stacks,
	  NULL },
	{ 0, "user", NULL, "do not sample the kernel's own code", &user_only, NULL },
	{ 0, "kernel", NULL, "fail if the kernel may not be sampled", &with_kernel, NULL },
	{ 0, "data", NULL, "record data addresses, sources and weights", &data, NULL },
	{ 0, "phys", NULL, "record physical data addresses", &phys, NULL },
	{ 0, "cpu", NULL, "record CPUs", &cpu, NULL },
	{ 0, "cgroup-id", NULL, "record cgroups", &cgroup_id, NULL },
	{ 0, "page-size", NULL, "record sizes of code and data pages", &page_size, NULL },
	{ 'b', "branches", NULL, "record the last branches taken", &branches, NULL },
	{ 'j', "branch-filter", "KINDS", "record only these kinds of branches, such as any_call,u",
	  &branch_text, NULL },
	{ 0, "user-regs", "REGS", "record the program's registers: all, or a list", &user_regs_text,
	  NULL },
	{ 0, "intr-regs", "REGS", "record the registers at the sample, perhaps the kernel's",
	  &intr_regs_text, NULL },
	{ 'R', "raw", NULL, "record the fields of tracepoints", &raw, NULL },
	{ 0, "off-cpu", NULL, "record where threads wait: context switches, with stacks",
	  &off_cpu, NULL },
	{ 0, "clock", "CLOCK", "clock of the times: monotonic, raw, boottime, realtime, tai",
	  &clock_name, NULL },
	{ 'm', "ring", "SIZE", "use rings of SIZE bytes per CPU", &ring_text, NULL },
	{ 0, "buffer", "SIZE", "buffer up to SIZE bytes for a slow reader (64Mi)", &buffer_text,
	  NULL },
	{ 0, "flight-recorder", NULL, "write only the last samples, at SIGUSR1 and at the end",
	  &flight_recorder, NULL },
	{ 0, "max-size", "SIZE", "stop after SIZE bytes of output", &max_size_text, NULL },
	{ 0, "switch-output", "WHEN", "start a new FILE each SIZE (1Mi), TIME (10s), or signal",
	  &switch_text, NULL },
	{ 'z', "zstd", "[LEVEL]", "compress the stream, at LEVEL 1 (default) to 19", &level_text,
	  NULL },
	{ 0, "exit-status", NULL, "exit with the command's status", &exit_status, NULL },
	{ 'o', "output", "FILE", "write to FILE instead of stdout", &file, NULL },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-sample",
	.purpose = "sample processes or a command by hardware events",
	.operands = "{-p PID | -a | ... | [--] COMMAND [ARG]...}",
	.options = options,
	.runs_command = true,
};

/* Return the count TEXT, the argument of --NAME; OTHERWISE if TEXT is NULL. */
static uint64_t count_option(const char *name, const char *text, uint64_t otherwise)
{
	return text ? command_count(&command, name, text, 1, UINT64_MAX) : otherwise;
}

static uint64_t time_option(const char *name, const char *text)
{
	uint64_t ns = 0;

	if (text && (!units_parse_duration(text, &ns) || !ns))
		command_misused(&command, "--%s takes a time such as 10s, not '%s'", name, text);
	return ns;
}

/* Return the delay before counting in ns; a plain number is milliseconds, as in perf. */
static uint64_t delay_option(void)
{
	uint64_t ms;

	if (delay_text && !strcmp(delay_text, "-1")) {
		if (!control)
			command_misused(&command, "-D -1 waits for --control, which is not given");
		return SAMPLER_UNTIL_ENABLED;
	}
	if (delay_text && units_parse_count(delay_text, &ms) && ms < UINT64_MAX / 1000000)
		return ms * 1000000;
	return time_option("delay", delay_text);
}

static uint64_t registers_option(const char *name, const char *list)
{
	uint64_t mask = 0;
	const char *wrong = list ? settings_parse_registers(list, &mask) : NULL;

	if (wrong)
		command_misused(&command, "--%s takes all or registers of this machine, not '%s'",
				name, wrong);
	return mask;
}

static uint64_t branches_option(void)
{
	uint64_t type = 0;
	const char *wrong = branch_text || branches
		? settings_parse_branches(branch_text ? branch_text : "any,u", &type) : NULL;

	if (wrong)
		command_misused(&command, "-j takes kinds of branches such as any_call,u (see "
				"pmu-sample(1)), not '%s'", wrong);
	return type;
}

static int clock_option(void)
{
	static const struct {
		const char *name;
		int clock;
	} clocks[] = {
		{ "monotonic", CLOCK_MONOTONIC }, { "raw", CLOCK_MONOTONIC_RAW },
		{ "boottime", CLOCK_BOOTTIME }, { "realtime", CLOCK_REALTIME },
		{ "tai", CLOCK_TAI },
	};

	for (size_t i = 0; clock_name && i < sizeof(clocks) / sizeof(*clocks); i++)
		if (!strcmp(clocks[i].name, clock_name))
			return clocks[i].clock;
	if (clock_name)
		command_misused(&command, "--clock takes monotonic, raw, boottime, realtime or "
				"tai, not '%s'", clock_name);
	return CLOCK_MONOTONIC;
}

static void parse_callgraph(struct sample_settings *s)
{
	uint64_t bytes = unwind ? STACK_UNWOUND : STACK_DEFAULT;

	s->stack_bytes = (uint32_t)bytes;
	s->callchain = unwind ? CHAIN_DWARF : callchains ? CHAIN_FP : CHAIN_NONE;
	if (!callgraph_text)
		return;
	if (!strcmp(callgraph_text, "fp"))
		s->callchain = CHAIN_FP;
	else if (!strcmp(callgraph_text, "lbr"))
		s->callchain = CHAIN_LBR;
	else if (!strncmp(callgraph_text, "dwarf", 5) &&
		 (!callgraph_text[5] || (callgraph_text[5] == ',' &&
					 units_parse_count(callgraph_text + 6, &bytes))))
		s->callchain = CHAIN_DWARF;
	else if (!strcmp(callgraph_text, "none"))
		s->callchain = CHAIN_NONE;
	else
		command_misused(&command, "--call-graph takes fp, dwarf, dwarf,BYTES, lbr or none, "
				"not '%s'", callgraph_text);
	if (bytes < 8 || bytes > 65528 || bytes % 8)	/* the kernel's limit, linux/perf_event.h */
		command_misused(&command, "a stack dump has a multiple of 8 bytes, up to 65528");
	if (unwind && s->callchain != CHAIN_DWARF)
		command_misused(&command, "--unwind unwinds copies of the stack: --call-graph %s "
				"records none", callgraph_text);
	s->stack_bytes = (uint32_t)bytes;
}

static void parse_settings(struct sample_settings *s)
{
	parse_callgraph(s);
	if (s->callchain == CHAIN_NONE && (!off_cpu || callgraph_text) &&
	    (max_stack_text || user_stacks || kernel_stacks))
		command_misused(&command, "--max-stack, --user-stacks and --kernel-stacks need "
				"callchains: give -g, too");
	if (user_only && with_kernel)
		command_misused(&command, "--user and --kernel exclude each other");
	*s = (struct sample_settings){
		.callchain = off_cpu && !callgraph_text && !unwind ? CHAIN_FP : s->callchain,
		.stack_bytes = s->stack_bytes,
		.max_stack = max_stack_text ? (uint16_t)command_count(
			&command, "max-stack", max_stack_text, 1, UINT16_MAX) : 0,
		.no_kernel_stack = user_stacks && !kernel_stacks,
		.no_user_stack = kernel_stacks && !user_stacks,
		.user = user_only, .kernel = with_kernel, .switches = off_cpu, .periods = jitter,
		.clock = clock_option(),
		.sample_type =
			(data ? PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC : 0) |
			(phys ? PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR : 0) |
			(cpu || system_wide || cpu_text || cgroup_path ? PERF_SAMPLE_CPU : 0) |
			(cgroup_id ? PERF_SAMPLE_CGROUP : 0) |
			(page_size ? PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE |
				     PERF_SAMPLE_CODE_PAGE_SIZE : 0) |
			(branches || branch_text ? PERF_SAMPLE_BRANCH_STACK : 0) |
			(raw ? PERF_SAMPLE_RAW : 0),
		.branch_type = branches_option(),
		.user_regs = registers_option("user-regs", user_regs_text),
		.intr_regs = registers_option("intr-regs", intr_regs_text),
	};
}

static bool parse_target(struct target *t, int argc, char **argv, int first,
			 struct report *report)
{
	int kinds = (pid_text || tid_text || user_name || comm) + system_wide + !!cgroup_path;
	bool is_command = first < argc && !kinds && !cpu_text;

	if (!kinds && !cpu_text && !is_command)
		command_misused(&command, "nothing to sample: give -p PID or a command");
	if (kinds > 1)
		command_misused(&command, "more than one kind of target");
	if (pid_text && !target_add(t, pid_text, false))
		command_misused(&command, "'%s' is not a pid or a list of pids", pid_text);
	if (tid_text && !target_add(t, tid_text, true))
		command_misused(&command, "'%s' is not a thread id or a list of them", tid_text);
	if (cpu_text && !target_set_cpus(t, cpu_text))
		command_misused(&command, "'%s' is not a list of CPUs", cpu_text);
	t->system = system_wide || (cpu_text && !kinds);
	t->children = children;
	t->command = is_command ? argv + first : NULL;
	return (!user_name || target_add_user(t, user_name, report)) &&
	       (!comm || target_add_comm(t, comm, report)) &&
	       (!cgroup_path || target_set_cgroup(t, cgroup_path, report));
}

/*
 * Return whether all events of LIST can be sampled here.  Without --kernel, changes events to
 * sample only the program's own code if the kernel may not be sampled.  False: WHY has the
 * reason.
 */
static bool can_sample(struct event_list *list, char *why, size_t size)
{
	bool all = true;

	for (size_t i = 0; all && i < list->count; i++)
		all = with_kernel ? event_check(&list->event[i], why, size)
				  : event_check_relaxed(list, &list->event[i], why, size);
	return all;
}

/* Add the default event: cycles, or cpu-clock if the hardware does not count cycles. */
static bool choose_event(struct event_list *list, const struct event_options *how,
			 struct report *report)
{
	struct event_list probed = { 0 };
	char why[512];

	bool known = event_parse(&probed, how, "cycles", report);
	bool counted = known && can_sample(&probed, why, sizeof(why));
	event_list_release(&probed);
	if (known && !counted)
		report_note(report, "cannot sample cycles, so sampling cpu-clock: %s", why);
	return known && event_parse(list, how, counted ? "cycles" : "cpu-clock", report);
}

/* EVENT cannot be sampled: add the first fallback that can, and append that to REMARK. */
static bool fall_back(struct event_list *list, const struct event_options *how, const char *event,
		      char *remark, size_t size, struct report *report)
{
	char why[512];

	for (size_t i = 0; i < fallbacks.count; i++) {
		struct event_list one = { 0 };
		bool good = event_parse(&one, how, fallbacks.item[i], report) &&
			    can_sample(&one, why, sizeof(why));
		event_list_release(&one);
		if (!good)
			continue;
		size_t used = strlen(remark);
		snprintf(remark + used, size - used, "%sasked for %s, got %s", used ? ", " : "",
			 event, fallbacks.item[i]);
		report_note(report, "'%s' cannot be sampled: '%s' is sampled instead", event,
			    fallbacks.item[i]);
		return event_parse(list, how, fallbacks.item[i], report);
	}
	return event_parse(list, how, event, report);	/* the sampler will report why it fails */
}

/* Apply the filters after the I-th -e to its events, in LIST from index FIRST on. */
static void filter_events(struct event_list *list, size_t first, size_t i)
{
	for (size_t k = 0; k < filters.count; k++) {
		const char *wrong = filters.place[k] == i + 1
			? event_list_filter(list, first, filters.item[k]) : NULL;
		if (wrong)
			command_misused(&command, "--filter is for tracepoints: '%s' is not one",
					wrong);
	}
}

static bool parse_events(struct event_list *list, const struct event_options *how, char *remark,
			 size_t size, struct report *report)
{
	char why[512];

	if (filters.count && filters.place[0] == 0)
		command_misused(&command, "--filter needs an -e before it: it filters that event");
	if (names.count == 0 && !choose_event(list, how, report))
		return false;
	for (size_t i = 0; i < names.count; i++) {
		struct event_list one = { 0 };
		size_t first = list->count;
		bool good = event_parse(&one, how, names.item[i], report);
		bool opens = good && (!fallbacks.count || can_sample(&one, why, sizeof(why)));
		event_list_release(&one);
		if (!good || !(opens ? event_parse(list, how, names.item[i], report)
				     : fall_back(list, how, names.item[i], remark, size, report)))
			return false;
		filter_events(list, first, i);
	}
	event_list_drop_equal(list, report);
	return !off_cpu || event_parse(list, how, "context-switches/period=1/", report);
}

static void parse_rotation(struct rotation *rotation)
{
	if (!switch_text)
		return;
	if (!file || !strcmp(file, "-"))
		command_misused(&command, "--switch-output needs files: give -o FILE");
	rotation->by_signal = !strcmp(switch_text, "signal");
	bool is_number = switch_text[strspn(switch_text, "0123456789")] == '\0';
	if (!rotation->by_signal && !is_number &&
	    !(units_parse_count(switch_text, &rotation->bytes) && rotation->bytes) &&
	    !(units_parse_duration(switch_text, &rotation->time) && rotation->time))
		is_number = true;
	if (is_number)
		command_misused(&command, "--switch-output takes a size such as 100Mi, a time such "
				"as 10s, or signal, not '%s'", switch_text);
}

/* Parse the options of the run and its output. */
static void parse_run(struct sampler_options *o)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t ring = 0;

	o->duration = time_option("duration", duration_text);
	o->delay = delay_option();
	o->buffer_size = count_option("buffer", buffer_text, BUFFER_DEFAULT);
	if (ring_text && (!units_parse_count(ring_text, &ring) || ring < page || ring > RING_MAX ||
			  ring & (ring - 1)))
		command_misused(&command, "--ring takes a power of two from %zu bytes to 1Gi, not "
				"'%s'", page, ring_text);
	o->ring_size = (size_t)ring;
	o->max_size = count_option("max-size", max_size_text, 0);
	o->jitter = jitter ? JITTER_PERCENT : 0;
	o->flight_recorder = flight_recorder;
	o->unwind = unwind;
	o->control = control;
	o->shown_file = file && strcmp(file, "-") && isatty(STDERR_FILENO) ? file : NULL;
	parse_rotation(&o->rotation);
	if (period_text && frequency_text)
		command_misused(&command, "--period and --frequency exclude each other");
}

int main(int argc, char **argv)
{
	char remark[512] = "";
	struct report report;
	struct output out;
	struct target target = { 0 };
	struct event_list events = { 0 };
	struct event_options how = { 0 };
	struct sampler_options o = { .events = &events, .target = &target, .stop = &command_stop,
				     .argc = argc, .argv = argv };
	int status = 0;

	int first = command_begin(&command, &report, argc, argv);
	parse_run(&o);
	parse_settings(&o.settings);
	how.period = count_option("period", period_text, 0);
	how.frequency = count_option("frequency", frequency_text, 0);
	how.force = force;
	uint64_t level = level_text && *level_text
		? command_count(&command, "zstd", level_text, 1, 19) : 1;
	bool good = parse_target(&target, argc, argv, first, &report);
	command_output(&command, &out, file, &report);
	if (level_text)
		output_compress(&out, (int)level);
	o.quiet_status = exit_status;
	o.clock_command = first < argc && !target.command ? argv + first : NULL;
	if (good && parse_events(&events, &how, remark, sizeof(remark), &report)) {
		o.remark = *remark ? remark : NULL;
		if (!o.ring_size)
			o.ring_size = ring_size_default(&events, &o.settings);
		status = sampler_run(&o, &out, &report);
	}
	output_close(&out);
	event_list_release(&events);
	target_release(&target);
	int own = command_end(&report);
	return exit_status && !own ? status : own;
}
