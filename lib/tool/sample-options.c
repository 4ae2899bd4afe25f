/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/sample-options.h"
#include "base/units.h"
#include "linux/kernel-info.h"

#include <time.h>
#include <unistd.h>

const char *sample_parse_delay(const char *text, void *delay)
{
	uint64_t *ns = delay;

	if (!strcmp(text, "-1"))
		*ns = SAMPLER_UNTIL_ENABLED;
	else if (units_parse_count(text, ns) && *ns < SAMPLER_UNTIL_ENABLED / 1000000)
		*ns *= 1000000;
	else if (!units_parse_duration(text, ns) || !*ns)
		return text;
	return NULL;
}

const char *sample_parse_least(const char *text, void *time)
{
	uint64_t *ns = time;

	return units_parse_duration(text, ns) && *ns ? NULL : text;
}

const char *sample_parse_ring(const char *text, void *size)
{
	size_t digits = strspn(text, "0123456789"), length = strlen(text);
	uint64_t bytes, *result = size;
	char binary[32];

	/* "4M" is "4Mi" */
	bool is_plain = digits > 0 && digits == length;
	bool is_short = digits > 0 && digits + 1 == length && strchr("kKMG", text[digits]);
	if (length + 2 > sizeof(binary))
		return text;
	snprintf(binary, sizeof(binary), "%.*s%s", (int)digits, text,
		 !is_short ? text + digits : text[digits] == 'M' ? "Mi" : text[digits] == 'G' ? "Gi"
		 : "Ki");
	if (!units_parse_count(binary, &bytes) ||
	    (is_plain && __builtin_mul_overflow(bytes, (uint64_t)sysconf(_SC_PAGESIZE), &bytes)) ||
	    bytes < 4096 || bytes > SAMPLE_RING_MAX)
		return text;
	*result = bytes;
	return NULL;
}

const char *sample_parse_frequency(const char *text, void *frequency)
{
	uint64_t hz, *result = frequency;

	if (!strcmp(text, "max")) {
		long most = kernel_sysctl("perf_event_max_sample_rate");
		hz = most > 0 ? (uint64_t)most : 0;
	} else if (!units_parse_count(text, &hz)) {
		return text;
	}
	*result = hz;
	return hz ? NULL : text;
}

/* Parse TEXT, "SHARE" or "SHARE,SIZE", into *B. */
static const char *parse_budget(const char *text, struct unwind_budget *b)
{
	const char *comma = strchr(text, ',');
	char share[32];

	*b = (struct unwind_budget){ .is_set = true, .memory = SAMPLE_BUDGET_MEMORY };
	snprintf(share, sizeof(share), "%.*s", comma ? (int)(comma - text) : 31, text);
	if (!units_parse_share(share, &b->cpu))
		return text;
	return comma && !units_parse_count(comma + 1, &b->memory) ? comma + 1 : NULL;
}

const char *sample_parse_unwind(const char *text, void *options)
{
	struct sampler_options *o = options;

	o->unwind = strcmp(text, "needed") ? UNWINDS_ALL : UNWINDS_IF_NEEDED;
	o->unwind_budget = (struct unwind_budget){ .is_set = false };
	if (!*text || !strcmp(text, "always") || o->unwind == UNWINDS_IF_NEEDED)
		return NULL;
	return parse_budget(text, &o->unwind_budget);
}

const char *sample_parse_duration(const char *text, void *options)
{
	static const char size[] = "size=";
	struct sampler_options *o = options;
	bool is_size = !strncmp(text, size, strlen(size));
	uint64_t value = 0;

	if (!is_size && units_parse_duration(text, &value) && value)
		o->duration = value;
	else if (units_parse_count(is_size ? text + strlen(size) : text, &value) && value)
		o->max_size = value;
	return value ? NULL : text;
}

/* Set *CLOCK to the CLOCK_* called NAME.  Return whether there is one. */
static bool find_clock(const char *name, int *clock)
{
	static const struct { const char *name; int clock; } clocks[] = {
		{ "monotonic", CLOCK_MONOTONIC }, { "raw", CLOCK_MONOTONIC_RAW },
		{ "boottime", CLOCK_BOOTTIME }, { "realtime", CLOCK_REALTIME },
		{ "tai", CLOCK_TAI },
	};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		if (!strcmp(name, clocks[i].name)) {
			*clock = clocks[i].clock;
			return true;
		}
	return false;
}

/* Record the field NAME, without values.  Return whether there is such a field. */
static bool record_field(struct sample_choices *c, const char *name)
{
	struct sample_settings *s = &c->run.settings;
	const struct { const char *name; bool *value; } fields[] = {
		{ "data", &c->data }, { "phys", &c->phys }, { "cpu", &c->cpu },
		{ "cgroup", &c->cgroup_id }, { "page-size", &c->page_size }, { "raw", &c->raw },
		{ "switches", &s->switches }, { "branches", &c->branches },
	};

	if (!strcmp(name, "user-regs"))
		return !settings_parse_registers("all", &s->user_regs);
	if (!strcmp(name, "intr-regs"))
		return !settings_parse_registers("all", &s->intr_regs);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (!strcmp(name, fields[i].name)) {
			*fields[i].value = true;
			return true;
		}
	return false;
}

/* Record VALUES, "A+B", of the field NAME.  Return NULL, or what is wrong with them. */
static const char *record_values(struct sample_choices *c, const char *name, char *values)
{
	struct sample_settings *s = &c->run.settings;

	for (char *at = values; *at; at++)
		if (*at == '+')
			*at = ',';
	if (!strcmp(name, "branches"))
		return settings_parse_branches(values, &s->branch_type);
	if (!strcmp(name, "user-regs"))
		return settings_parse_registers(values, &s->user_regs);
	if (!strcmp(name, "intr-regs"))
		return settings_parse_registers(values, &s->intr_regs);
	return !strcmp(name, "time") && find_clock(values, &s->clock) ? NULL : values;
}

const char *sample_parse_record(const char *text, void *choices)
{
	char field[400];

	for (const char *at = text; ; at++) {
		size_t size = strcspn(at, ",");
		if (size >= sizeof(field))
			return at;
		snprintf(field, sizeof(field), "%.*s", (int)size, at);
		char *values = strchr(field, '=');
		if (values)
			*values++ = '\0';
		const char *wrong = values ? record_values(choices, field, values)
				  : record_field(choices, field) ? NULL : field;
		if (wrong)
			return at + (wrong - field);
		at += size;
		if (!*at)
			return NULL;
	}
}

int sample_target_kinds(struct sample_choices *c)
{
	struct target *t = &c->target;
	bool by_process = t->pids || c->user_name || c->comm;

	t->wakers = c->run.settings.wakes && t->system && by_process && !t->tids &&
		    !t->cpus.count && !c->cgroup_path;
	t->system &= !t->wakers;
	/* perf needs -a for a cgroup: these are one kind */
	return (by_process || t->tids) + (t->system || c->cgroup_path);
}

const struct command_spelling sample_spellings[] = {
	{ .name = "count", .means = "period" },
	{ .name = "freq", .means = "frequency" },
	{ .name = "all-cpus", .means = "all" },
	{ .name = "mmap-pages", .means = "ring" },
	{ .letter = 'G', .means = "cgroup" },
	{ .name = "max-size", .argument = true, .means = "duration", .as = "size=" },
	{ .name = "overwrite", .means = "flight-recorder" },
	{ .name = "compression-level", .means = "zstd" },
	{ .letter = 'g', .means = "call-graph", .as = "auto" },
	{ .letter = 'U', .name = "user-callchains", .means = "call-graph", .as = "user" },
	{ .letter = 'K', .name = "kernel-callchains", .means = "call-graph", .as = "kernel" },
	{ .name = "data", .means = "record", .as = "data" },
	{ .letter = 'W', .name = "weight", .means = "record", .as = "data" },
	{ .name = "phys-data", .means = "record", .as = "phys" },
	{ .name = "sample-cpu", .means = "record", .as = "cpu" },
	{ .name = "all-cgroups", .means = "record", .as = "cgroup" },
	{ .name = "data-page-size", .means = "record", .as = "page-size" },
	{ .name = "code-page-size", .means = "record", .as = "page-size" },
	{ .letter = 'R', .name = "raw-samples", .means = "record", .as = "raw" },
	{ .name = "switch-events", .means = "record", .as = "switches" },
	{ .letter = 'b', .name = "branch-any", .means = "record", .as = "branches" },
	{ .letter = 'j', .name = "branch-filter", .argument = true, .means = "record",
	  .as = "branches=" },
	{ .name = "user-regs", .argument = true, .means = "record", .as = "user-regs=" },
	{ .letter = 'I', .means = "record", .as = "intr-regs" },
	{ .name = "intr-regs", .argument = true, .means = "record", .as = "intr-regs=" },
	{ .letter = 'k', .name = "clockid", .argument = true, .means = "record", .as = "time=" },
	/* earlier ones of ours */
	{ .name = "user", .instead = "add the modifier u to the events, as in -e cycles:u" },
	{ .name = "kernel", .instead = "add the modifiers uk to the events, as in -e cycles:uk" },
	{ .name = "callchains", .instead = "-g, or --call-graph auto" },
	{ .name = "max-stack", .argument = true, .instead = "use --call-graph max=COUNT" },
	{ .name = "user-stacks", .instead = "use --call-graph user" },
	{ .name = "kernel-stacks", .instead = "use --call-graph kernel" },
	{ .name = "phys", .instead = "use --record phys" },
	{ .name = "cgroup-id", .instead = "use --record cgroup" },
	{ .name = "page-size", .instead = "use --record page-size" },
	{ .name = "raw", .instead = "use --record raw" },
	{ .name = "branches", .instead = "use --record branches" },
	{ .name = "switches", .instead = "use --record switches" },
	{ .name = "clock", .argument = true, .instead = "use --record time=CLOCK" },
	{ .name = "label-allow", .argument = true, .instead = "use --labels=key:NAME" },
	/* no effect */
	{ .letter = 'B', .name = "no-buildid" },
	{ .letter = 'N', .name = "no-buildid-cache" },
	{ .letter = 'T', .name = "timestamp" },
	{ .letter = 'P' },
	{ .name = "buildid-mmap" }, { .name = "no-buffering" }, { .name = "tail-synthesize" },
	{ .name = "per-thread" }, { .name = "buildid-all" }, { .name = "bpf-event" },
	{ .name = "aio" }, { .name = "threads" }, { .name = "strict-freq" },
	{ .name = "sample-identifier" }, { .name = "synth", .argument = true },
	{ .name = "namespaces" }, { .name = "timestamp-boundary" }, { .name = "running-time" },
	{ .name = "no-bpf-event" }, { .name = "proc-map-timeout", .argument = true },
	{ .name = "num-thread-synthesize", .argument = true },
	{ .name = "mmap-flush", .argument = true }, { .name = "affinity", .argument = true },
	/* others */
	{ .name = "switch-max-files", .argument = true,
	  .instead = "--switch-output keeps all files: remove those that are too old" },
	{ .name = "switch-output-event", .argument = true,
	  .instead = "--switch-output takes a size, a time or a signal" },
	{ .name = "timestamp-filename",
	  .instead = "put the time into the name, as in -o $(date +%s).data" },
	{ .name = "vmlinux", .argument = true, .instead = "pmu-symbolize has --kallsyms" },
	{ .name = "kcore", .instead = "the kernel's code is not copied" },
	{ .name = "debuginfod", .argument = true, .instead = "pmu-symbolize has --debuginfod" },
	{ .name = "aux-sample", .instead = "hardware traces are not recorded" },
	{ .letter = 'd', .instead = "perf's -d is --record data" },
	{ .letter = 'i', .name = "no-inherit",
	  .instead = "add the term no-inherit to the events, as in "
	  "-e cycles/no-inherit/" },
	{ .name = "all-kernel",
	  .instead = "add the modifier k to the events, as in -e cycles:k" },
	{ .name = "group",
	  .instead = "write the group in braces, as in -e '{cycles,instructions}'" },
	{ .letter = 's', .name = "stat", .instead = "-v prints the totals of each event" },
	{ .letter = 'n', .name = "no-samples", .instead = "pmu-stat counts without samples" },
	{ .letter = 'A', .name = "append",
	  .instead = "write another file, and join them by pmu-stream --cat" },
	{ .letter = 'r', .name = "realtime", .argument = true,
	  .instead = "run it by chrt -f PRIORITY" },
	{ .name = "exclude-perf",
	  .instead = "select the samples that you want by --comm of pmu-topprof" },
	{ .name = "dry-run", .instead = "pmu-events --check tries the events" },
	{ .name = "transaction", .instead = "the events of transactions are in pmu-events --list "
	  "'*tx*'" },
	{ .letter = 'S', .name = "snapshot",
	  .instead = "hardware traces are not recorded; --flight-recorder keeps "
	  "the last samples" },
	{ .name = "buildid-dir", .argument = true, .instead = "pmu-symbolize has --buildid-dir" },
	{ 0 }
};
