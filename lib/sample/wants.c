/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/wants.h"
#include "record/events.h"

#include <errno.h>
#include <unistd.h>

uint64_t wants_unwind_regs(void)
{
#if defined(__x86_64__)
	return 0xff0fff;	/* all but the segments ds, es, fs, gs */
#elif defined(__aarch64__)
	return 0x1ffffffff;	/* x0..x29, lr, sp, pc */
#else
	return 0;		/* unknown: no user registers are asked for */
#endif
}

static void want_callchain(const struct wants *w, struct perf_event_attr *attr)
{
	if (w->callchain == CHAIN_NONE)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (!attr->sample_max_stack)	/* the event has a max-stack= of its own */
		attr->sample_max_stack = w->max_stack;
	attr->exclude_callchain_kernel = w->no_kernel_stack || attr->exclude_kernel;
	attr->exclude_callchain_user = w->no_user_stack;
	if (w->callchain == CHAIN_DWARF) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = wants_unwind_regs();
		attr->sample_stack_user = w->stack_bytes;
		attr->exclude_callchain_user = 1;	/* the dump is instead of it */
	}
	if (w->callchain == CHAIN_LBR) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					   PERF_SAMPLE_BRANCH_NO_CYCLES |
					   PERF_SAMPLE_BRANCH_NO_FLAGS;
	}
}

static void want_fields(const struct wants *w, const struct wants_opening *o,
			struct event *event, bool several)
{
	struct perf_event_attr *attr = &event->attr;

	attr->size = sizeof(*attr);
	attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | w->sample_type;
	if (attr->freq || several || w->periods)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
	if (several || o->ids)
		attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
	if (attr->type == PERF_TYPE_TRACEPOINT)
		attr->sample_type |= w->sample_type & PERF_SAMPLE_RAW;
	else
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_RAW;
	if (!attr->branch_sample_type)	/* it has no branch_type= of its own */
		attr->branch_sample_type = w->branch_type;
	if (w->user_regs) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user = w->user_regs;
	}
	if (w->intr_regs) {
		attr->sample_type |= PERF_SAMPLE_REGS_INTR;
		attr->sample_regs_intr = w->intr_regs;
	}
	if (w->user)
		attr->exclude_kernel = attr->exclude_hv = 1;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = w->clock;
	attr->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			     PERF_FORMAT_ID | PERF_FORMAT_LOST;
	want_callchain(w, attr);
}

static void want_opening(const struct wants_opening *o, struct event *event, bool only_tracks)
{
	struct perf_event_attr *attr = &event->attr;
	bool waits = o->delayed && !only_tracks;

	attr->write_backward = o->overwritten && !only_tracks;
	attr->disabled = o->on_exec || waits;
	attr->enable_on_exec = o->on_exec && !waits;
	attr->inherit = o->inherit && event->inherit >= 0;
	attr->inherit_thread = attr->inherit && o->threads_only;
	attr->watermark = 1;
	attr->wakeup_watermark = o->wakeup;
}

/* One event tells of names, mappings and threads for all. */
static void want_tracking(const struct wants *w, struct perf_event_attr *attr)
{
	attr->comm = attr->comm_exec = attr->task = attr->mmap = attr->mmap2 = 1;
	attr->build_id = attr->ksymbol = 1;
	attr->mmap_data = w->callchain == CHAIN_DWARF;	/* unwinders look into read-only parts */
	attr->context_switch = w->switches;
}

/* Whether the kernel opens ATTR for ourselves; errno is its answer. */
static bool opens(const struct perf_event_attr *attr)
{
	struct perf_event_attr probe = *attr;

	probe.disabled = 1;
	probe.enable_on_exec = 0;
	int fd = event_open(&probe, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* What newer kernels have, the newest first; each is left out where it is refused. */
enum newer {
	NEW_LOST, NEW_INHERIT_THREAD, NEW_BUILD_ID, NEW_KSYMBOL, NEW_MMAP2, NEW_COMM_EXEC,
	NEW_READ, NEWS
};

static const struct {
	const char *name;
	const char *loss;	/* how the result changes; NULL: it does not */
} newer[NEWS] = {
	[NEW_LOST] = { "counts of lost samples (PERF_FORMAT_LOST, Linux 6.0)", NULL },
	[NEW_INHERIT_THREAD] = { "inherit_thread (Linux 5.13)", NULL },
	[NEW_BUILD_ID] = { "build IDs in MMAP2 records (Linux 5.12)", NULL },
	[NEW_KSYMBOL] = { "KSYMBOL records of code that the kernel makes (Linux 5.1)", NULL },
	[NEW_MMAP2] = { "MMAP2 records (Linux 3.16)", NULL },
	[NEW_COMM_EXEC] = { "COMM records that tell of an exec (Linux 3.16)", NULL },
	[NEW_READ] = { "counts of an inherited group (Linux 6.12)",
		       "the counts of a group cannot be sampled in threads it creates "
		       "(Linux 6.12): these are not followed" },
};

/* Leave FEATURE out of ATTR; false: it was not in it. */
static bool leave_out(struct perf_event_attr *attr, enum newer feature)
{
	struct perf_event_attr before = *attr;

	switch (feature) {
	case NEW_LOST:
		attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
		break;
	case NEW_INHERIT_THREAD:
		attr->inherit_thread = 0;
		break;
	case NEW_BUILD_ID:
		attr->build_id = 0;
		break;
	case NEW_KSYMBOL:
		attr->ksymbol = 0;
		break;
	case NEW_MMAP2:
		attr->mmap2 = 0;
		break;
	case NEW_COMM_EXEC:
		attr->comm_exec = 0;
		break;
	case NEW_READ:
		if (attr->sample_type & PERF_SAMPLE_READ)
			attr->inherit = attr->inherit_thread = 0;
		break;
	case NEWS:
		break;
	}
	return memcmp(&before, attr, sizeof(before));
}

/* Say what LESS lacks of what EVENT asked for. */
static void tell_left_out(const struct event *event, const struct perf_event_attr *less,
			  struct report *report)
{
	for (enum newer feature = 0; feature < NEWS; feature++) {
		struct perf_event_attr without = event->attr, both = *less;
		if (!leave_out(&without, feature) || leave_out(&both, feature))
			continue;
		report_detail(report, "'%s': this kernel refuses %s", event->name,
			      newer[feature].name);
		if (newer[feature].loss)
			report_note(report, "'%s': %s", event->name, newer[feature].loss);
	}
}

/* Leave out one thing after the other until the kernel agrees; errno: its last answer. */
static bool adapt(struct event *event, struct report *report)
{
	struct perf_event_attr attr = event->attr;

	if (opens(&attr))
		return true;
	for (enum newer feature = 0; feature < NEWS; feature++) {
		/* Any other answer, such as missing rights, is not about features. */
		if (errno != EINVAL && errno != E2BIG)
			return false;
		if (leave_out(&attr, feature) && opens(&attr)) {
			tell_left_out(event, &attr, report);
			event->attr = attr;
			return true;
		}
	}
	return false;
}

/* Take less where the rights, or the PMU, give less: the user's part without the kernel's. */
static bool adapt_to_rights(const struct wants *w, struct event_list *events,
			    struct event *event, bool *no_kernel, struct report *report)
{
	bool had_kernel = !event->attr.exclude_kernel;

	while (!adapt(event, report)) {
		bool is_forbidden = errno == EACCES || errno == EPERM;
		if ((is_forbidden && w->kernel) || !event_relax(events, event, errno))
			return false;
	}
	if (had_kernel && event->attr.exclude_kernel) {
		event->attr.exclude_callchain_kernel = 1;
		*no_kernel = true;
	}
	return true;
}

/* Say what EVENTS will not record; NO_KERNEL: since it is forbidden. */
static void tell_what_is_missing(const struct wants *w, const struct event_list *events,
				 bool no_kernel, struct report *report)
{
	if (no_kernel)
		report_note(report, "the kernel's own code is not sampled: "
			    "kernel.perf_event_paranoid forbids it without CAP_PERFMON");
	for (size_t i = 0; i < events->count; i++) {
		const struct perf_event_attr *attr = &events->event[i].attr;
		if (attr->exclude_kernel && attr->type == PERF_TYPE_SOFTWARE &&
		    attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES)
			report_note(report, "'%s' counts nothing%s: threads are switched in the "
				    "kernel, which is not sampled", events->event[i].name,
				    w->switches ? ", so where threads wait is not known" : "");
	}
}

bool wants_apply(const struct wants *w, const struct wants_opening *opening,
		 struct event_list *events, struct report *report)
{
	size_t tracking = opening->tracking_apart ? events->count - 1 : 0;
	bool no_kernel = false;
	char why[512];

	for (size_t i = 0; i < events->count; i++) {
		struct event *event = &events->event[i];
		want_fields(w, opening, event, events->count > 1);
		want_opening(opening, event, opening->tracking_apart && i == tracking);
		if (i == tracking)
			want_tracking(w, &event->attr);
		if (event->precise_max)
			event_probe_precise(event, NULL, NULL);
		/* A PMU outside the cores, or of others, refuses us here: it is opened later. */
		if (event->per_cpu || event->cpus ||
		    adapt_to_rights(w, events, event, &no_kernel, report))
			continue;
		event_explain(event, errno, why, sizeof(why));
		report_error(report, "cannot sample '%s': %s", event->name, why);
		return false;
	}
	tell_what_is_missing(w, events, no_kernel, report);
	return true;
}
