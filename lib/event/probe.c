/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe - opens events, and finds out which events this machine can open, and at which precise
 * level.
 */
#include "event/event.h"
#include "event/internal.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
	       unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
}

/* Open EVENT with ATTR on this process, or on its first CPU if it counts per CPU. */
static int try_here(const struct event *event, const struct perf_event_attr *attr)
{
	int cpu = event->cpus > 0 && event->per_cpu ? event->cpu[0] : -1;

	return event_open(attr, event->per_cpu ? -1 : 0, event->per_cpu && cpu < 0 ? 0 : cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);
}

static int open_here(void *context, const struct perf_event_attr *attr)
{
	return try_here(context, attr);
}

/* Return EVENT's attr, disabled, so that a probe does not disturb anything. */
static struct perf_event_attr idle_attr(const struct event *event)
{
	struct perf_event_attr attr = event->attr;

	attr.disabled = 1;
	attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	return attr;
}

int event_probe_precise(struct event *event, event_opener *open, void *context)
{
	struct perf_event_attr attr = idle_attr(event);
	int fd = -1, level = 3, error = 0;

	for (; level >= 0; level--) {
		attr.precise_ip = (unsigned int)level & 3;
		fd = open ? open(context, &attr) : open_here(event, &attr);
		if (fd >= 0)
			break;
		error = errno;	/* the error of level 0, which comes last, is the real reason */
	}
	if (fd < 0) {
		errno = error;
		return -1;
	}
	close(fd);
	event->attr.precise_ip = attr.precise_ip;
	return level;
}

/* Open EVENT for sampling or counting, and close it.  Returns 0 or an errno. */
static int try_mode(const struct event *event, bool sampling)
{
	struct perf_event_attr attr = idle_attr(event);

	if (!sampling) {
		attr.sample_period = 0;
		attr.freq = 0;
		attr.precise_ip = 0;
		attr.sample_type = 0;
	}
	int fd = try_here(event, &attr);
	if (fd < 0 && errno == EINVAL && attr.exclude_guest && !attr.exclude_host) {
		attr.exclude_guest = 0;		/* as event_relax() does */
		fd = try_here(event, &attr);
	}
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Do the work of event_check().  Returns 0 or the kernel's errno. */
static int check(const struct event *event, char *why, size_t size)
{
	struct event probed = *event;

	if (!event_is_readable(event, why, size))
		return EOPNOTSUPP;
	if (event->after_leader) {
		snprintf(why, size, "not tried: it is opened only with the leader of its group");
		return 0;
	}
	int error = try_mode(&probed, false);
	if (error) {
		event_explain(event, error, why, size);
		return error;
	}
	if (event->precise_max)
		event_probe_precise(&probed, NULL, NULL);
	error = try_mode(&probed, true);
	if (error == EINVAL && !probed.attr.precise_ip && !probed.attr.branch_sample_type) {
		snprintf(why, size, "it can be counted but not sampled: its PMU has no interrupt");
	} else if (error) {
		event_explain(&probed, error, why, size);
		size_t used = strlen(why);
		snprintf(why + used, size - used, " (it can be counted, not sampled)");
	} else {
		snprintf(why, size, event->precise_max ? "ok, with precise level %u" : "ok",
			 probed.attr.precise_ip);
	}
	return error;
}

bool event_check(const struct event *event, char *why, size_t size)
{
	return check(event, why, size) == 0;
}

bool event_check_relaxed(struct event_list *list, struct event *event, char *why, size_t size)
{
	int error;

	do
		error = check(event, why, size);
	while (error && event_relax(list, event, error));
	return error == 0;
}

bool event_relax(struct event_list *list, struct event *event, int error)
{
	struct perf_event_attr *attr = &event->attr;
	struct modifier_error unused;

	if ((error == EACCES || error == EPERM) && !attr->exclude_kernel && !attr->exclude_user &&
	    !event->per_cpu && !strchr(event->letters, 'k'))
		return event_modify(list, event, (struct slice){ "u", 1 }, true, &unused);
	if (error == EINVAL && attr->exclude_guest && !attr->exclude_host) {
		attr->exclude_guest = 0;	/* some PMUs cannot exclude anything */
		event_rename(list, event);
		return true;
	}
	return false;
}
