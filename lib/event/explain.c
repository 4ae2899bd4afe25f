/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain - says why perf_event_open(2) failed, and what helps.
 *
 * One errno can have many causes.  This machine's paranoid level, its PMUs and the users of its
 * counters show which cause it is.
 */
#include "event/event.h"
#include "event/internal.h"
#include "linux/kernel-info.h"
#include "linux/proc.h"
#include "linux/rights.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <sys/resource.h>
#include <unistd.h>

bool event_machine_has_pmu(void)
{
	struct pmus pmus = { 0 };

	pmus_read(&pmus, NULL);
	bool some = pmus.cores > 0;
	pmus_release(&pmus);
	return some;
}

bool event_is_readable(const struct event *event, char *why, size_t size)
{
	static const char *const traces[] = { "intel_pt", "intel_bts", "cs_etm", "hisi_ptt" };
	const char *pmu = event->pmu ? event->pmu : "";

	if (!strncmp(pmu, "arm_spe", 7)) {
		snprintf(why, size, EVENT_NO_SPE, pmu, pmu);
		return false;
	}
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++)
		if (!strncmp(pmu, traces[i], strlen(traces[i]))) {
			snprintf(why, size, "%s writes a trace, not samples, and pmukit does not "
				 "read it: use perf record", pmu);
			return false;
		}
	return true;
}

static bool is_hardware(const struct event *event)
{
	uint32_t type = event->attr.type;

	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
}

static void explain_absent(const struct event *event, char *why, size_t size)
{
	if (is_hardware(event) && !event_machine_has_pmu())
		snprintf(why, size, "this machine shows no hardware PMU (a virtual machine?): "
			 "turn on the hypervisor's virtual PMU, or use %s",
			 event->attr.sample_period ? "cpu-clock" : "task-clock");
	else if (is_hardware(event))
		snprintf(why, size, "this CPU does not count it; "
			 "pmu-events --list shows what it counts");
	else if (event->attr.type == EVENT_TYPE_ABSENT)
		snprintf(why, size, "this machine has no PMU %s", event->pmu);
	else if (event->pmu)
		snprintf(why, size, "the PMU %s does not count it here", event->pmu);
	else
		snprintf(why, size, "the kernel does not know this event");
}

static void explain_denied(const struct event *event, int error, char *why, size_t size)
{
	long paranoid = kernel_sysctl("perf_event_paranoid");
	const struct perf_event_attr *attr = &event->attr;
	int wanted = !attr->exclude_kernel ? 1 : 2;

	if (event->per_cpu || attr->type == PERF_TYPE_TRACEPOINT)
		wanted = event->per_cpu ? 0 : -1;
	/* The kernel returns EACCES if the level forbids it; seccomp filters mostly EPERM. */
	bool filtered = error == EPERM && rights_is_filtered();
	if (paranoid > wanted && !filtered && !rights_is_privileged())
		snprintf(why, size, "kernel.perf_event_paranoid is %ld: as root, sysctl "
			 "kernel.perf_event_paranoid=%d, or give the program cap_perfmon%s",
			 paranoid, wanted, wanted == 1 ? "; or leave the kernel out with :u" : "");
	else if (filtered)
		snprintf(why, size, "a seccomp filter forbids perf_event_open (a container?): "
			 "allow it in the profile, or run outside the container");
	else
		snprintf(why, size, "not permitted: run as root, or with cap_perfmon "
			 "(the kernel's lockdown or a security module may still forbid it)");
}

/* Explain why the kernel rejected the breakpoint ATTR. */
static void explain_breakpoint(const struct perf_event_attr *attr, char *why, size_t size)
{
#if defined(__x86_64__) || defined(__i386__)
	if (attr->bp_type == HW_BREAKPOINT_R) {
		snprintf(why, size, "x86 CPUs cannot watch reads alone: use rw");
		return;
	}
#endif
	if (attr->bp_type & HW_BREAKPOINT_X && attr->bp_len != sizeof(long))
		snprintf(why, size, "an execution breakpoint has a length of %zu bytes",
			 sizeof(long));
	else
		snprintf(why, size, "a breakpoint watches 1, 2, 4 or 8 bytes, at an address that "
			 "is a multiple of its length");
}

static void explain_invalid(const struct event *event, char *why, size_t size)
{
	const struct perf_event_attr *attr = &event->attr;
	long rate = kernel_sysctl("perf_event_max_sample_rate");

	if (attr->type == PERF_TYPE_BREAKPOINT)
		explain_breakpoint(attr, why, size);
	else if (strstr(event->name, "/topdown-") && !event->after_leader)
		snprintf(why, size, "the kernel counts it only in a group after slots, and samples "
			 "neither: -e topdown does that");
	else if (attr->freq && (long)attr->sample_freq > rate)
		snprintf(why, size, "%llu samples per second are above the limit: sysctl "
			 "kernel.perf_event_max_sample_rate is %ld",
			 (unsigned long long)attr->sample_freq, rate);
	else if (event->per_cpu)
		snprintf(why, size, "its PMU has no interrupt to sample with, or rejects a term");
	else if (attr->precise_ip)
		snprintf(why, size, "precise level %u is too high for it: use :P, or fewer p",
			 attr->precise_ip);
	else
		snprintf(why, size, "the kernel's PMU driver rejects this combination of "
			 "event, modifiers and period");
}

static void explain_unsupported(const struct event *event, char *why, size_t size)
{
	if (event->attr.precise_ip)
		snprintf(why, size, "precise level %u is not supported by this CPU for it: use :P, "
			 "or fewer p", event->attr.precise_ip);
	else if (event->attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
		snprintf(why, size, "%s: leave out --record branches, --call-graph lbr and "
			 "branch_type=",
			 !event_machine_has_pmu() ? "branches are recorded by a hardware PMU, and "
			 "this machine shows none" : !is_hardware(event) ? "branches are recorded "
			 "with events of the CPU only, such as cycles" : "this CPU, or virtual "
			 "machine, records no branches");
	else
		snprintf(why, size, "its PMU has no interrupt to sample with, or does not support "
			 "one of the modifiers");
}

static void explain_busy(char *why, size_t size)
{
	if (kernel_sysctl("nmi_watchdog") > 0)
		snprintf(why, size, "its counter is in use, and the NMI watchdog uses one: "
			 "as root, sysctl kernel.nmi_watchdog=0");
	else
		snprintf(why, size, "its counter is in use by a pinned or exclusive event: "
			 "look for another profiler");
}

static void explain_files(int error, char *why, size_t size)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	if (error == ENFILE)
		snprintf(why, size, "the system is out of open files: sysctl fs.file-max");
	else
		snprintf(why, size, "all %llu file descriptors are in use: "
			 "ulimit -n %llu", (unsigned long long)limit.rlim_cur,
			 (unsigned long long)limit.rlim_max);
}

void event_explain(const struct event *event, int error, char *why, size_t size)
{
	bool is_denied = error == EACCES || error == EPERM;

	/* The kernel checks rights first; an event without a PMU would fail with all rights. */
	if (event->attr.type == EVENT_TYPE_ABSENT ||
	    (is_denied && is_hardware(event) && !rights_is_filtered() &&
	     !event_machine_has_pmu()))
		error = ENOENT;
	switch (error) {
	case ENOENT: case ENODEV: case ENXIO:
		explain_absent(event, why, size);
		break;
	case EACCES: case EPERM:
		explain_denied(event, error, why, size);
		break;
	case EINVAL:
		explain_invalid(event, why, size);
		break;
	case EOPNOTSUPP:
		explain_unsupported(event, why, size);
		break;
	case EBUSY:
		explain_busy(why, size);
		break;
	case EMFILE: case ENFILE:
		explain_files(error, why, size);
		break;
	case ENOSPC:
		snprintf(why, size, "all of the CPU's breakpoints are in use");
		break;
	case ENOSYS:
		snprintf(why, size, "this kernel has no perf_event_open, or something hides it");
		break;
	case ESRCH:
		snprintf(why, size, "the process has ended");
		break;
	case ENODATA:	/* intel_pmu_hw_config() in arch/x86/events/intel/core.c */
		snprintf(why, size, "this CPU samples loads only in a group that "
			 "mem-loads-aux leads: -e mem-loads, without its PMU, opens both");
		break;
	case EOVERFLOW:
		snprintf(why, size, "callchains have at most %ld frames here: sysctl "
			 "kernel.perf_event_max_stack", kernel_sysctl("perf_event_max_stack"));
		break;
	case E2BIG:
		snprintf(why, size, "this kernel is too old for the event's attributes");
		break;
	default:
		snprintf(why, size, "%s", strerror(error));
	}
}

void event_because(int error, struct report *report)
{
	if (error == EACCES || error == EPERM)
		report_because(report, REPORT_NO_RIGHTS);
	else if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP)
		report_because(report, REPORT_NOT_FOUND);
}

void event_explain_task(const struct event *event, pid_t tid, int error, char *why, size_t size)
{
	uid_t user;

	if (error == ESRCH && proc_is_zombie(tid))
		snprintf(why, size, "the process has exited, and is a zombie until its parent "
			 "waits for it");
	else if ((error == EACCES || error == EPERM) && tid > 0 && !rights_is_privileged() &&
		 proc_owner(tid, &user) && user != geteuid())
		snprintf(why, size, "the process belongs to another user, of uid %u: run as root, "
			 "or with cap_perfmon", (unsigned)user);
	else
		event_explain(event, error, why, size);
}
