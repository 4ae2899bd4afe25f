/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/sample-options.h"
#include "base/units.h"
#include "linux/kernel-info.h"

#include <time.h>
#include <unistd.h>

const char *const sample_clock_names[] = {
	"monotonic", "raw", "boottime", "realtime", "tai", NULL
};

int sample_clock(int index)
{
	static const int clocks[] = {
		CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME, CLOCK_REALTIME, CLOCK_TAI,
	};

	return clocks[index];
}

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

const struct command_spelling sample_spellings[] = {
	{ .name = "count", .means = "period" },
	{ .name = "freq", .means = "frequency" },
	{ .name = "all-cpus", .means = "all" },
	{ .name = "all-user", .means = "user" },
	{ .name = "mmap-pages", .means = "ring" },
	{ .letter = 'k', .name = "clockid", .means = "clock" },
	{ .letter = 'W', .name = "weight", .means = "data" },
	{ .letter = 'G', .means = "cgroup" },
	{ .name = "phys-data", .means = "phys" },
	{ .name = "data-page-size", .means = "page-size" },
	{ .name = "code-page-size", .means = "page-size" },
	{ .name = "all-cgroups", .means = "cgroup-id" },
	{ .name = "overwrite", .means = "flight-recorder" },
	{ .letter = 'U', .name = "user-callchains", .means = "user-stacks" },
	{ .letter = 'K', .name = "kernel-callchains", .means = "kernel-stacks" },
	{ .name = "raw-samples", .means = "raw" },
	{ .name = "branch-any", .means = "branches" },
	{ .name = "switch-events", .means = "switches" },
	{ .name = "compression-level", .means = "zstd" },
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
	{ .letter = 'I', .instead = "--intr-regs all records the registers" },
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
	{ .letter = 'd', .instead = "perf's -d is --data" },
	{ .letter = 'i', .name = "no-inherit",
	  .instead = "add the term no-inherit to the events, as in "
	  "-e cycles/no-inherit/" },
	{ .name = "all-kernel",
	  .instead = "add the modifier k to the events, as in -e cycles:k" },
	{ .name = "group",
	  .instead = "write the group in braces, as in -e '{cycles,instructions}'" },
	{ .letter = 's', .name = "stat", .instead = "-v prints the totals of each event" },
	{ .letter = 'n', .name = "no-samples", .instead = "perf stat counts without samples" },
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
