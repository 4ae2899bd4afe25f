/* SPDX-License-Identifier: Apache-2.0 */
#include "show/doctor-internal.h"
#include "base/json.h"
#include "event/event.h"
#include "event/pmu.h"
#include "labels/label-rights.h"
#include "linux/kernel-info.h"
#include "linux/read.h"
#include "linux/rights.h"
#include "linux/sysfs.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

struct finding *doctor_add_finding(struct findings *all, enum finding_state state,
				   const char *topic)
{
	all->finding = array_grow(all->finding, all->count, sizeof(*all->finding));
	struct finding *f = &all->finding[all->count++];
	*f = (struct finding){ .state = state, .topic = topic };
	return f;
}

__attribute__((format(printf, 2, 3)))
static void say(struct finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->text, sizeof(f->text), format, args);
	va_end(args);
}

__attribute__((format(printf, 2, 3)))
static void mend(struct finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->mend, sizeof(f->mend), format, args);
	va_end(args);
}

/* Return an event that every kernel can count, to test our rights. */
static struct event clock_event(void)
{
	return (struct event){ .name = "cpu-clock", .attr = {
		.size = sizeof(struct perf_event_attr), .type = PERF_TYPE_SOFTWARE, .freq = 1,
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_freq = 100, .exclude_guest = 1 } };
}

/*
 * Return how many events such as ATTR fit the PMU's counters at once: the kernel refuses a
 * group that does not fit.
 */
static int count_counters(struct perf_event_attr attr)
{
	enum { MOST = 64 };
	int fd[MOST], n = 0;

	/* Enabled, because the kernel ignores disabled events when it checks a group. */
	while (n < MOST && (fd[n] = event_open(&attr, 0, -1, n ? fd[0] : -1, 0)) >= 0)
		n++;
	for (int i = 0; i < n; i++)
		close(fd[i]);
	return n;
}

static void examine_proc(struct findings *all)
{
	if (kernel_has_sysctls())
		return;
	struct finding *f = doctor_add_finding(all, FINDING_NOTE, "settings");
	say(f, "there is no /proc/sys: limits and levels below are only the usual ones");
	mend(f, "mount -t proc proc /proc");
}

static void examine_pmus(struct findings *all)
{
	struct pmus pmus = { 0 };
	char names[160] = "";

	pmus_read(&pmus, NULL);
	for (size_t i = 0; i < pmus.count; i++) {
		size_t used = strlen(names);
		snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
			 pmus.pmu[i].name);
	}
	struct finding *f = doctor_add_finding(all, FINDING_OK, "PMUs");
	if (pmus.count == 0) {
		f->state = FINDING_BAD;
		say(f, "none in /sys/bus/event_source/devices");
		mend(f, "mount -t sysfs sysfs /sys, or a kernel with CONFIG_PERF_EVENTS");
	} else {
		say(f, "%s", names);
	}
	f = doctor_add_finding(all, FINDING_OK, "hardware counters");
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
					.config = PERF_COUNT_HW_CPU_CYCLES, .exclude_kernel = 1 };
	int most = count_counters(attr);
	attr.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	int branches = count_counters(attr);
	most = branches > most ? branches : most;
	if (most > 0) {
		say(f, "%d events fit at once", most);
	} else {
		f->state = FINDING_BAD;
		say(f, "none: %s", pmus.cores ? "the PMU refuses cycles"
		    : "no core's PMU in sysfs (a virtual machine without one?)");
		mend(f, "give the virtual machine a PMU (-cpu host,pmu=on; vpmu on), "
			"or sample cpu-clock");
	}
	pmus_release(&pmus);
}

static void examine_watchdog(struct findings *all)
{
	struct finding *f = doctor_add_finding(all, FINDING_OK, "NMI watchdog");

	if (kernel_sysctl("nmi_watchdog") <= 0) {
		say(f, "off: uses no counter");
		return;
	}
	f->state = FINDING_NOTE;
	say(f, "uses one counter for cycles");
	mend(f, "sysctl kernel.nmi_watchdog=0");
}

static void examine_rights(struct findings *all)
{
	long level = kernel_sysctl("perf_event_paranoid");
	bool capable = rights_is_privileged();
	struct finding *f = doctor_add_finding(all, FINDING_OK, "paranoid level");
	struct event event = clock_event();
	char why[300];

	say(f, "%ld%s", level, capable ? ", which does not limit this user"
	    : level <= -1 ? ": everything is allowed" : level == 0 ? ": no tracepoints"
	    : level == 1 ? ": no whole CPUs" : level == 2 ? ": no kernel, no whole CPUs"
	    : ": nothing is allowed");
	if (!capable && level > 1) {
		f->state = level > 2 ? FINDING_BAD : FINDING_NOTE;
		mend(f, "sysctl kernel.perf_event_paranoid=1, or setcap cap_perfmon=ep $(command "
			"-v pmu-sample)");
	}
	f = doctor_add_finding(all, FINDING_OK, "capabilities");
	say(f, "%s", rights_has_capability(CAP_PERFMON) ? "cap_perfmon"
	    : capable ? "cap_sys_admin" : "neither cap_perfmon nor cap_sys_admin");

	f = doctor_add_finding(all, FINDING_OK, "system call");
	if (!capable && level > 1)
		event_exclude_kernel(&event);
	if (event_check(&event, why, sizeof(why))) {
		say(f, "perf_event_open samples cpu-clock%s",
		    event.attr.exclude_kernel ? ":u" : "");
	} else {
		f->state = FINDING_BAD;
		say(f, "perf_event_open refuses cpu-clock: %.200s", why);
	}
}

static void examine_confinement(struct findings *all)
{
	struct finding *f = doctor_add_finding(all, FINDING_OK, "seccomp");
	char text[128];

	if (rights_is_filtered()) {
		f->state = FINDING_NOTE;
		say(f, "a filter is active (a container?); 'system call' shows whether it allows "
		    "perf_event_open");
		mend(f, "docker run --cap-add PERFMON --security-opt seccomp=profile.json");
	} else {
		say(f, "no filter");
	}
	f = doctor_add_finding(all, FINDING_OK, "lockdown");
	if (!linux_read_text(text, sizeof(text), SYSFS_LOCKDOWN))
		say(f, "unknown");
	else if (strstr(text, "[confidentiality]")) {
		f->state = FINDING_NOTE;
		say(f, "confidentiality: no kernel memory, no kprobes");
		mend(f, "boot with lockdown=integrity, or none");
	} else {
		say(f, "%s", text);
	}
}

static void examine_limits(struct findings *all)
{
	struct rlimit files = { 0 };
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	unsigned long long wanted = 64 + 8ULL * (unsigned long long)(cpus > 0 ? cpus : 1);
	struct finding *f = doctor_add_finding(all, FINDING_OK, "ring memory");

	long kb = kernel_sysctl("perf_event_mlock_kb");
	say(f, "kernel.perf_event_mlock_kb is %ld per CPU", kb);
	if (kb < 516 && geteuid() != 0) {
		f->state = FINDING_NOTE;
		mend(f, "sysctl kernel.perf_event_mlock_kb=516");
	}
	f = doctor_add_finding(all, FINDING_OK, "sample rate");
	long rate = kernel_sysctl("perf_event_max_sample_rate");
	say(f, "at most %ld samples per second and CPU", rate);
	if (rate < 10000) {	/* the kernel lowers it for good when interrupts take long */
		f->state = FINDING_NOTE;
		mend(f, "sysctl kernel.perf_event_max_sample_rate=100000");
	}
	f = doctor_add_finding(all, FINDING_OK, "open files");
	getrlimit(RLIMIT_NOFILE, &files);
	say(f, "at most %llu; 8 events on %ld CPUs take %llu per thread",
	    (unsigned long long)files.rlim_cur, cpus, 8ULL * (unsigned long long)cpus);
	if (files.rlim_cur < wanted) {
		f->state = FINDING_NOTE;
		mend(f, "ulimit -n %llu", wanted);
	}
}

static void examine_symbols(struct findings *all)
{
	struct finding *f = doctor_add_finding(all, FINDING_OK, "kernel symbols");
	char root[4096], tracepoint[256];
	struct utsname name = { 0 };

	/* 0: all users see addresses; 1: users with cap_syslog; 2: nobody */
	long restrict_level = kernel_sysctl("kptr_restrict");
	bool hidden = restrict_level >= 2 ||
		      (restrict_level == 1 && !rights_has_capability(CAP_SYSLOG));
	say(f, "kernel.kptr_restrict is %ld: addresses are %s", restrict_level,
	    hidden ? "hidden" : "shown");
	if (hidden) {
		f->state = FINDING_NOTE;
		mend(f, "sysctl kernel.kptr_restrict=%d", restrict_level >= 2 &&
		     rights_has_capability(CAP_SYSLOG) ? 1 : 0);
	}
	f = doctor_add_finding(all, FINDING_OK, "tracepoints");
	bool is_readable = event_tracepoints_path(root, sizeof(root));
	snprintf(tracepoint, sizeof(tracepoint), "%.200s/sched/sched_switch/id", root);
	if (is_readable && (!access(tracepoint, R_OK) || errno == ENOENT)) {
		say(f, "readable in %.200s", root);
	} else {
		f->state = FINDING_NOTE;
		say(f, "cannot read %.150s: %s", root, strerror(errno));
		/* the files of tracepoints are for root and the group, whatever the mode */
		if (errno == EACCES)
			mend(f, "mount -o remount,mode=750,gid=%u /sys/kernel/tracing",
			     (unsigned)getegid());
		else
			mend(f, "mount -t tracefs nodev /sys/kernel/tracing");
	}
	f = doctor_add_finding(all, FINDING_OK, "kernel types");
	say(f, access(SYSFS_BTF, R_OK) ? "no BTF" : "BTF in /sys/kernel/btf");

	f = doctor_add_finding(all, FINDING_OK, "debug files");
	uname(&name);
	char path[200];
	snprintf(path, sizeof(path), "/usr/lib/debug/boot/vmlinux-%s", name.release);
	say(f, "%s; the kernel's: %s", access("/usr/lib/debug/.build-id", R_OK)
	    ? "none in /usr/lib/debug/.build-id" : "in /usr/lib/debug/.build-id",
	    access(path, R_OK) ? "none" : path);
}

static void examine_labels(struct findings *all)
{
	struct finding *f = doctor_add_finding(all, FINDING_OK, "labels");
	char why[sizeof(f->text)];

	if (label_rights_check(why, sizeof(why))) {
		say(f, "yes: pmu-sample --labels can read them");
	} else {
		f->state = FINDING_NOTE;
		say(f, "%s", why);
	}
}

static void print_text(const struct findings *all)
{
	static const char *const marks[] = { "ok", "note", "BAD" };

	for (size_t i = 0; i < all->count; i++) {
		const struct finding *f = &all->finding[i];
		printf("%-4s  %-18s %s\n", marks[f->state], f->topic, f->text);
		if (*f->mend)
			printf("%-25s> %s\n", "", f->mend);
	}
}

static void print_json(const struct findings *all)
{
	static const char *const marks[] = { "ok", "note", "bad" };

	for (size_t i = 0; i < all->count; i++) {
		const struct finding *f = &all->finding[i];
		printf("%s\n  {", i ? "," : "[");
		json_key("topic", true);
		json_string(f->topic);
		json_text("state", marks[f->state]);
		json_text("text", f->text);
		json_text("mend", *f->mend ? f->mend : NULL);
		printf("}");
	}
	printf("\n]\n");
}

void doctor_print(pid_t pid, bool json, struct report *report)
{
	struct findings all = { 0 };

	examine_proc(&all);
	examine_pmus(&all);
	examine_watchdog(&all);
	examine_rights(&all);
	examine_confinement(&all);
	examine_limits(&all);
	examine_symbols(&all);
	examine_labels(&all);
	if (pid)
		doctor_process(&all, pid);
	(json ? print_json : print_text)(&all);
	for (size_t i = 0; i < all.count; i++)
		if (all.finding[i].state == FINDING_BAD)
			report->status = 1;	/* the finding has the reason */
	free(all.finding);
}
