/* SPDX-License-Identifier: Apache-2.0 */
/* settings_apply(), asked of kernels that this machine does not have. */
#include "counters/settings.h"
#include "tests/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { AUX = 0x8203, LOADS = 0x1cd };	/* mem-loads-aux and mem-loads of a Sapphire Rapids */

static int aux_fd;		/* the last descriptor of the event AUX */
static bool is_old;		/* a kernel before Linux 5.12 */
static int calls;

int __wrap_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		      unsigned long flags);

/* As intel_pmu_hw_config(): loads with their source only in a group with AUX. */
int __wrap_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		      unsigned long flags)
{
	bool needs_aux = attr->config == LOADS && attr->sample_type & PERF_SAMPLE_DATA_SRC;

	(void)pid, (void)cpu, (void)flags;
	calls++;
	errno = is_old && attr->sample_type & PERF_SAMPLE_WEIGHT_STRUCT ? EINVAL
	      : attr->precise_ip > 2 ? EOPNOTSUPP
	      : needs_aux && (group_fd < 0 || group_fd != aux_fd) ? ENODATA : 0;
	if (errno)
		return -1;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (attr->config == AUX)
		aux_fd = fd;
	return fd;
}

static struct event event_of(uint64_t config, uint32_t group)
{
	return (struct event){
		.name = "event", .base = "event", .letters = "P", .group = group,
		.precise_max = true, .scale = 1,
		.attr = { .type = PERF_TYPE_RAW, .config = config, .sample_period = 1000,
			  .size = sizeof(struct perf_event_attr) },
	};
}

/* Apply settings with data addresses to LIST, whose last event is the dummy. */
static bool apply(struct event_list *list)
{
	const struct sample_settings settings = {
		.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT_STRUCT,
	};
	const struct open_settings opening = { .on_exec = true };
	struct report report = { .tool = "test", .quiet = true };

	aux_fd = -1;
	calls = 0;
	return settings_apply(&settings, &opening, list, &report);
}

int main(void)
{
	struct event alone[] = { event_of(LOADS, 0), event_of(0, 0) };
	struct event group[] = { event_of(AUX, 1), event_of(LOADS, 1), event_of(0, 0) };
	struct event_list one = { .event = alone, .count = 2 };
	struct event_list both = { .event = group, .count = 3 };
	int before = dup(0);

	close(before);
	tap(!apply(&one), "an event that needs a leader is refused without it");
	tap(apply(&both), "it is tried in the group of its leader");
	tap(group[0].attr.precise_ip == 2 && group[1].attr.precise_ip == 2,
	    "the highest precise level is found in the group, too");
	tap(group[1].attr.sample_type & PERF_SAMPLE_WEIGHT_STRUCT, "weights are three numbers");
	int after = dup(0);
	close(after);
	tap(before == after && calls > 0, "no descriptor stays open");

	group[0] = event_of(AUX, 1);
	group[1] = event_of(LOADS, 1);
	group[2] = event_of(0, 0);
	is_old = true;
	tap(apply(&both) && !(group[1].attr.sample_type & PERF_SAMPLE_WEIGHT_STRUCT) &&
	    group[1].attr.sample_type & PERF_SAMPLE_WEIGHT,
	    "a kernel that lacks weights of three numbers gives one");
	return tap_done();
}
