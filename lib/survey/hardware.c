/* SPDX-License-Identifier: Apache-2.0 */
/* hardware - what the machine is: its CPUs, its kernel and its PMUs. */
#include "survey/internal.h"
#include "event/models.h"
#include "event/pmu.h"
#include "linux/cpus.h"
#include "linux/hypervisor.h"
#include "linux/kernel-info.h"
#include "linux/rights.h"

#include <ctype.h>
#include <string.h>
#include <sys/utsname.h>

#define MACHINE "machine"

static void add_cpu(struct facts *all)
{
	struct pmus pmus = { 0 };
	struct cpu_list online = cpus_online();
	char model[128], id[CPU_ID_SIZE], text[HYPERVISOR_SIZE];

	pmus_read(&pmus, NULL);
	cpu_identify(&pmus, NULL, id);
	bool named = cpus_model(model, sizeof(model));
	facts_add(all, MACHINE, "CPU", "%s%s%s%s", named ? model : id[0] ? id : "unknown",
		  named && id[0] ? " (" : "", named ? id : "", named && id[0] ? ")" : "");
	facts_measure(all, MACHINE, "CPUs online", (double)online.count, "count", "%zu",
		      online.count);
	facts_add(all, MACHINE, "kind", "%s", hypervisor_describe(text));
	cpus_release(&online);
	pmus_release(&pmus);
}

/* Cut RELEASE after its numbers: what follows may be words of whoever built the kernel. */
static void keep_numbers(char *release)
{
	release[strspn(release, "0123456789.-")] = '\0';
	for (char *end = release + strlen(release); end > release && strchr(".-", end[-1]); end--)
		end[-1] = '\0';
}

static void add_kernel(struct facts *all)
{
	struct utsname name = { 0 };
	char level[16] = "unknown", watchdog[24] = "unknown";
	long rate = kernel_sysctl("perf_event_max_sample_rate");

	uname(&name);
	if (kernel_has_sysctls()) {
		snprintf(level, sizeof(level), "%ld", kernel_sysctl("perf_event_paranoid"));
		snprintf(watchdog, sizeof(watchdog), "%s", kernel_sysctl("nmi_watchdog") > 0
			 ? "uses a counter" : "off, or not a counter's");
	}
	keep_numbers(name.release);
	facts_add(all, MACHINE, "kernel", "Linux %s, %s", name.release, name.machine);
	facts_add(all, MACHINE, "rights", "%s%s; kernel.perf_event_paranoid is %s",
		  rights_is_privileged() ? "may sample everything" : "an ordinary user: what is "
		  "hidden needs CAP_PERFMON, or kernel.perf_event_paranoid below 2",
		  rights_is_filtered() ? "; a seccomp filter is active" : "", level);
	if (kernel_has_sysctls())
		facts_measure(all, MACHINE, "highest sample rate", (double)rate, "hertz",
			      "kernel.perf_event_max_sample_rate is %ld", rate);
	else
		facts_add(all, MACHINE, "highest sample rate", "unknown: there is no /proc/sys");
	facts_add(all, MACHINE, "NMI watchdog", "%s", watchdog);
}

/*
 * Cut numbers and addresses of devices off the end of NAME, so that uncore_imc_0 and uncore_imc_1
 * are one: parts after '_' or '.' that start with a digit, or are long and hexadecimal.
 */
static void cut_device(char *name)
{
	for (char *part; (part = strrchr(name, '_')) && part > name; *part = '\0') {
		char *at = part + 1;
		size_t hex = strspn(at, "0123456789abcdef.:");
		if (!isdigit((unsigned char)*at) && (at[hex] || hex < 5))
			break;
	}
}

static void add_pmus(struct facts *all)
{
	struct pmus pmus = { 0 };
	char names[sizeof(((struct survey_fact *)0)->text)] = "", last[64] = "", name[64];
	size_t used = 0, equal = 0, left_out = 0;

	pmus_read(&pmus, NULL);
	for (size_t i = 0; i <= pmus.count; i++) {
		snprintf(name, sizeof(name), "%s", i < pmus.count ? pmus.pmu[i].name : "");
		cut_device(name);
		if (equal && !strcmp(name, last)) {
			equal++;
			continue;
		}
		char more[32] = "";
		if (equal > 1)
			snprintf(more, sizeof(more), " x %zu", equal);
		if (equal && used + strlen(last) + strlen(more) + 24 > sizeof(names))
			left_out++;
		else if (equal)
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s%s",
						 used ? ", " : "", last, more);
		memcpy(last, name, sizeof(last));
		equal = 1;
	}
	if (left_out)
		snprintf(names + used, sizeof(names) - used, ", %zu more", left_out);
	facts_add(all, MACHINE, "counters", event_machine_has_pmu() ? "a PMU in each core"
		  : "no hardware PMU");
	facts_add(all, MACHINE, "PMUs", "%s", pmus.count ? names : "none in /sys");
	pmus_release(&pmus);
}

static void add_models(struct facts *all)
{
	struct model model;
	char names[sizeof(((struct survey_fact *)0)->text)] = "";
	size_t used = 0;

	for (int at = 0; models_next(&at, &model);)
		if (model.present && used + strlen(model.name) + 3 < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? ", " : "", model.name);
	facts_add(all, MACHINE, "models of libpfm4", "%s", used ? names : "none");
}

void survey_machine(struct facts *all)
{
	add_cpu(all);
	add_kernel(all);
	add_pmus(all);
	add_models(all);
}
