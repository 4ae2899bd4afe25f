/* SPDX-License-Identifier: Apache-2.0 */
#include "counters/settings.h"
#include "base/descriptor.h"
#include "record/events.h"

#include <errno.h>
#include <unistd.h>

static void set_callchain(const struct sample_settings *s, struct event *event)
{
	struct perf_event_attr *attr = &event->attr;

	if (s->callchain == CHAIN_NONE)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->sample_max_stack = event->max_stack ? event->max_stack : s->max_stack;
	attr->exclude_callchain_kernel = s->no_kernel_stack || attr->exclude_kernel;
	attr->exclude_callchain_user = s->no_user_stack;
	if (s->callchain == CHAIN_FP && settings_leaf_regs() && !s->no_user_stack) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user |= settings_leaf_regs();
	}
	if (s->callchain == CHAIN_DWARF) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user |= settings_unwind_regs();
		attr->sample_stack_user = s->stack_bytes;
		/* The stack copy replaces it. */
		attr->exclude_callchain_user = !s->user_frames || s->no_user_stack;
	}
	if (s->callchain == CHAIN_LBR && !attr->branch_sample_type)
		event_set_branches(event, PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
				   PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS);
}

/*
 * Return whether samples of this event must have their period.  Several events of one stream have
 * periods of their own, and VARIES: the period of each changes.  But an event that software counts
 * is never sampled by a longer period if its samples have it (perf_swevent_event()): each
 * occurrence is a sample.  Readers then take the period from the attr.  With a period of 1, that is
 * what we want: an occurrence of a tracepoint may count more than one, and is one sample all the
 * same.
 */
static bool needs_period(const struct perf_event_attr *attr, bool several, bool varies)
{
	if (event_is_occurrence(attr) && !attr->freq)
		return attr->type == PERF_TYPE_TRACEPOINT && attr->sample_period == 1;
	return attr->freq || several || varies;
}

static void set_fields(const struct sample_settings *s, struct event *event, bool several)
{
	struct perf_event_attr *attr = &event->attr;

	attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | s->sample_type;
	attr->sample_type |= PERF_SAMPLE_IDENTIFIER;	/* there are at least two events */
	if (needs_period(attr, several, s->periods))
		attr->sample_type |= PERF_SAMPLE_PERIOD;
	if (attr->type != PERF_TYPE_TRACEPOINT && !event_is_ibs(event))
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_RAW;
	/* before Linux 6.2, only the raw record of IBS has the address (record/ibs.h) */
	if (event_is_ibs(event) && s->sample_type & PERF_SAMPLE_ADDR)
		attr->sample_type |= PERF_SAMPLE_RAW;
	if (s->branch_type && !attr->branch_sample_type)	/* no branch_type= of its own */
		event_set_branches(event, s->branch_type);
	if (s->user_regs) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user = s->user_regs;
	}
	if (s->sample_type & PERF_SAMPLE_ADDR && settings_stack_regs()) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user |= settings_stack_regs();
	}
	if (s->intr_regs) {
		attr->sample_type |= PERF_SAMPLE_REGS_INTR;
		attr->sample_regs_intr = s->intr_regs;
	}
	if (s->user)
		event_exclude_kernel(event);
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = s->clock;
	attr->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			     PERF_FORMAT_ID | PERF_FORMAT_LOST;
	set_callchain(s, event);
}

static void set_opening(const struct open_settings *o, struct event *event, bool only_tracks)
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

/*
 * Let ATTR, the dummy event, record names, mappings and threads on behalf of all events.  It takes
 * no samples: the sampled events' counts of lost records are then counts of samples.  Yet it has
 * the fields of samples of FIRST, a sampled event, because all its records end with some of them,
 * and because some readers know only one layout; but not those that software events refuse.
 */
static void set_tracking(const struct sample_settings *s, const struct perf_event_attr *first,
			 struct perf_event_attr *attr)
{
	attr->sample_type = first->sample_type &
		(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
		 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
		 PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR);
	attr->sample_max_stack = first->sample_max_stack;
	attr->exclude_callchain_kernel = first->exclude_callchain_kernel;
	attr->exclude_callchain_user = first->exclude_callchain_user;
	attr->sample_regs_user = first->sample_regs_user;
	attr->sample_regs_intr = first->sample_regs_intr;
	attr->sample_stack_user = first->sample_stack_user;
	attr->sample_id_all = attr->use_clockid = 1;
	attr->clockid = s->clock;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			    PERF_FORMAT_ID | PERF_FORMAT_LOST;
	attr->exclude_kernel = attr->exclude_hv = 1;	/* needs no rights, and changes nothing */
	attr->comm = attr->comm_exec = attr->task = attr->mmap = attr->mmap2 = 1;
	attr->build_id = attr->ksymbol = 1;
	/* unwinders read other parts of files than code; data addresses and locks are anywhere */
	attr->mmap_data = s->callchain == CHAIN_DWARF || first->sample_type & PERF_SAMPLE_ADDR ||
			  s->wakes;
	attr->context_switch = s->switches;
}

/*
 * Return whether an event that failed alone with ERROR may open after LEADER, which it needs before
 * it in its group (intel_pmu_hw_config() of arch/x86/events/intel/core.c): ENODATA for loads, and
 * EINVAL for topdown-*, whose leader is not sampled.
 */
static bool may_need_leader(int error, const struct perf_event_attr *leader)
{
	return leader && (error == ENODATA || (error == EINVAL && !leader->sample_period));
}

/* Open ATTR on this process.  If the event needs another one before it, open it after LEADER. */
static int open_after(void *leader, const struct perf_event_attr *attr)
{
	int fd = event_open(attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0 || !may_need_leader(errno, leader))
		return fd;
	struct perf_event_attr first = *(const struct perf_event_attr *)leader;
	first.disabled = 1;
	first.enable_on_exec = 0;
	int group = event_open(&first, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (group < 0)
		return -1;
	fd = event_open(attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
	int error = errno;
	close(group);
	errno = error;
	return fd;
}

/* Return whether the kernel opens ATTR, in the group of LEADER or NULL.  False: errno is set. */
static bool opens(const struct perf_event_attr *attr, struct perf_event_attr *leader)
{
	struct perf_event_attr probe = *attr;

	probe.disabled = 1;
	probe.enable_on_exec = 0;
	int fd = open_after(leader, &probe);
	descriptor_close(fd);
	return fd >= 0;
}

/* Features of newer kernels, newest first: the order in which to remove them. */
enum new_feature {
	NEW_LOST, NEW_INHERIT_THREAD, NEW_WEIGHT, NEW_BUILD_ID, NEW_KSYMBOL, NEW_MMAP2,
	NEW_COMM_EXEC, NEW_READ, NEW_FEATURES
};

static const struct {
	const char *name;
	const char *loss;	/* how the result changes without the feature; NULL: not at all */
} new_features[NEW_FEATURES] = {
	[NEW_LOST] = { "counts of lost samples (PERF_FORMAT_LOST, Linux 6.0)", NULL },
	[NEW_INHERIT_THREAD] = { "inherit_thread (Linux 5.13)", NULL },
	[NEW_WEIGHT] = { "weights of three numbers (Linux 5.12)", NULL },
	[NEW_BUILD_ID] = { "build IDs in MMAP2 records (Linux 5.12)", NULL },
	[NEW_KSYMBOL] = { "KSYMBOL records of code that the kernel generates (Linux 5.1)", NULL },
	[NEW_MMAP2] = { "MMAP2 records (Linux 3.16)", NULL },
	[NEW_COMM_EXEC] = { "the exec flag in COMM records (Linux 3.16)", NULL },
	[NEW_READ] = { "counts of an inherited group (Linux 6.12)",
		       "the counts of a group cannot be sampled in threads it creates "
		       "(Linux 6.12): these are not followed" },
};

/* Remove FEATURE from ATTR.  Returns whether ATTR had it. */
static bool leave_out(struct perf_event_attr *attr, enum new_feature feature)
{
	struct perf_event_attr before = *attr;

	switch (feature) {
	case NEW_LOST:
		attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
		break;
	case NEW_INHERIT_THREAD:
		attr->inherit_thread = 0;
		break;
	case NEW_WEIGHT:
		if (attr->sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
			attr->sample_type ^= PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_WEIGHT;
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
	case NEW_FEATURES:
		break;
	}
	return memcmp(&before, attr, sizeof(before));
}

/* Report the features of EVENT that LESS lacks. */
static void report_left_out(const struct event *event, const struct perf_event_attr *less,
			  struct report *report)
{
	for (enum new_feature feature = 0; feature < NEW_FEATURES; feature++) {
		struct perf_event_attr without = event->attr, both = *less;
		if (!leave_out(&without, feature) || leave_out(&both, feature))
			continue;
		report_detail(report, "'%s': this kernel refuses %s", event->name,
			      new_features[feature].name);
		if (new_features[feature].loss)
			report_note(report, "'%s': %s", event->name, new_features[feature].loss);
	}
}

/*
 * Remove one feature after the other until the kernel accepts EVENT, in the group of LEADER or
 * NULL.  False: errno is set.
 */
static bool adapt(struct event *event, struct perf_event_attr *leader, struct report *report)
{
	struct perf_event_attr attr = event->attr;

	if (opens(&attr, leader))
		return true;
	for (enum new_feature feature = 0; feature < NEW_FEATURES; feature++) {
		/* Other errors, such as missing rights, are not about features. */
		if (errno != EINVAL && errno != E2BIG)
			return false;
		if (leave_out(&attr, feature) && opens(&attr, leader)) {
			report_left_out(event, &attr, report);
			event->attr = attr;
			return true;
		}
	}
	return false;
}

/*
 * Remove features from EVENT, and exclude the kernel if our rights or the PMU require it
 * (*NO_KERNEL), until the kernel accepts EVENT.  False: errno is set.
 */
static bool adapt_to_rights(const struct sample_settings *s, struct event_list *events,
			    struct event *event, struct perf_event_attr *leader, bool *no_kernel,
			    struct report *report)
{
	bool had_kernel = !event->attr.exclude_kernel;

	while (!adapt(event, leader, report))
		if (!event_relax(events, event, errno))
			return false;
	if (had_kernel && event->attr.exclude_kernel) {
		set_callchain(s, event);	/* nor the kernel's part of callchains */
		*no_kernel = true;
	}
	return true;
}

/* Report what EVENTS cannot record.  NO_KERNEL: sampling the kernel is forbidden. */
static void report_limits(const struct sample_settings *s, const struct event_list *events,
				 bool no_kernel, struct report *report)
{
	if (no_kernel)
		report_note(report, "the kernel's own code is not sampled: "
			    "kernel.perf_event_paranoid forbids it without CAP_PERFMON");
	for (size_t i = 0; i < events->count; i++) {
		const struct perf_event_attr *attr = &events->event[i].attr;
		if (s->periods && event_is_occurrence(attr) && !attr->freq &&
		    attr->sample_period > 1)
			report_note(report, "--jitter does not vary the period of '%s': the kernel "
				    "records periods of such an event only if it samples each "
				    "occurrence", events->event[i].name);
		if (attr->exclude_kernel && attr->type == PERF_TYPE_SOFTWARE &&
		    attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES)
			report_note(report, "'%s' counts nothing%s: threads are switched in the "
				    "kernel, which is not sampled", events->event[i].name,
				    s->waits ? ", so only waits that began before the "
				    "recording are known" : "");
	}
}

/* Return the attr of the first event in EVENT's group, or NULL if that is EVENT. */
static struct perf_event_attr *leader_of(struct event_list *events, const struct event *event)
{
	for (struct event *first = events->event; event->group && first < event; first++)
		if (first->group == event->group)
			return &first->attr;
	return NULL;
}

/* Adapt EVENT until the kernel accepts it; see adapt_to_rights().  False: reported. */
static bool try_event(const struct sample_settings *s, struct event_list *events,
		      struct event *event, bool *no_kernel, struct report *report)
{
	struct perf_event_attr *leader = leader_of(events, event);
	char why[512];

	if (!event_is_readable(event, why, sizeof(why))) {
		event_because(EOPNOTSUPP, report);
		report_error(report, "cannot sample '%s': %s", event->name, why);
		return false;
	}
	if (event->precise_max)
		event_probe_precise(event, event->per_cpu ? NULL : open_after, leader);
	/* A PMU that is not on all CPUs may refuse an attempt on this CPU: do not try. */
	if (event->per_cpu || event->cpus ||
	    adapt_to_rights(s, events, event, leader, no_kernel, report))
		return true;
	event_because(errno, report);
	event_explain(event, errno, why, sizeof(why));
	report_error(report, "cannot sample '%s': %s", event->name, why);
	return false;
}

bool settings_apply(const struct sample_settings *s, const struct open_settings *opening,
		    struct event_list *events, struct report *report)
{
	size_t sampled = events->count - 1;
	bool no_kernel = false;

	for (size_t i = 0; i < events->count; i++) {
		struct event *event = &events->event[i];
		if (i < sampled)
			set_fields(s, event, sampled > 1);
		else
			set_tracking(s, &events->event[0].attr, &event->attr);
		set_opening(opening, event, i == sampled);
		if (!try_event(s, events, event, &no_kernel, report))
			return false;
	}
	report_limits(s, events, no_kernel, report);
	return true;
}
