/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/cpus.h"
#include "base/arena.h"
#include "linux/read.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS_MAX = 65536 };

static void add(struct cpu_list *list, int cpu)
{
	size_t at = list->count;

	while (at > 0 && list->cpu[at - 1] > cpu)
		at--;
	if (at > 0 && list->cpu[at - 1] == cpu)
		return;
	list->cpu = array_grow(list->cpu, list->count, sizeof(*list->cpu));
	memmove(list->cpu + at + 1, list->cpu + at, (list->count - at) * sizeof(*list->cpu));
	list->cpu[at] = cpu;
	list->count++;
}

bool cpus_add(struct cpu_list *list, const char *text)
{
	do {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;
		if (end == text)
			return false;
		if (*end == '-') {
			text = end + 1;
			last = strtoul(text, &end, 10);
			if (end == text)
				return false;
		}
		if (last < first || last >= CPUS_MAX)
			return false;
		for (unsigned long cpu = first; cpu <= last; cpu++)
			add(list, (int)cpu);
		text = end;
	} while (*text++ == ',');
	return text[-1] == '\0';
}

bool cpus_has(const int *cpus, size_t count, int cpu)
{
	for (size_t i = 0; i < count; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

/* Return the list in the file NAME below the directory of system devices. */
static struct cpu_list read_list(const char *name)
{
	struct cpu_list list = { 0 };
	char text[4096];

	if (linux_read_text(text, sizeof(text), "/sys/devices/system/%s", name) &&
	    !cpus_add(&list, text))
		cpus_release(&list);
	return list;
}

/* Add the CPUs on which process PID (0: this one) may run. */
static void add_allowed(struct cpu_list *list, pid_t pid)
{
	enum { CPUS = 8192 };
	cpu_set_t set[CPUS / CPU_SETSIZE];

	memset(set, 0, sizeof(set));
	if (sched_getaffinity(pid, sizeof(set), set) < 0)
		return;
	for (int cpu = 0; cpu < CPUS; cpu++)
		if (CPU_ISSET_S((size_t)cpu, sizeof(set), set))
			add(list, cpu);
}

struct cpu_list cpus_online(void)
{
	struct cpu_list list = read_list("cpu/online");

	if (!list.count) {	/* no /sys, as in a bare chroot */
		add_allowed(&list, 0);
		add_allowed(&list, 1);
	}
	return list;
}

struct cpu_list cpus_possible(void)
{
	return read_list("cpu/possible");
}

/* Store the number in the file NAME of CPU's topology in *NUMBER.  False: unknown. */
static bool topology(int cpu, const char *name, int *number)
{
	char text[32];

	if (!linux_read_text(text, sizeof(text), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu,
			     name))
		return false;
	*number = (int)strtol(text, NULL, 10);
	return true;
}

struct cpu_place cpus_place(int cpu)
{
	struct cpu_place place = { .is_known = false };
	struct cpu_list nodes = read_list("node/online");
	char name[64];

	place.is_known = topology(cpu, "core_id", &place.core);
	topology(cpu, "physical_package_id", &place.package);
	for (size_t i = 0; i < nodes.count; i++) {
		snprintf(name, sizeof(name), "node/node%d/cpulist", nodes.cpu[i]);
		struct cpu_list cpus = read_list(name);
		if (cpus_has(cpus.cpu, cpus.count, cpu))
			place.node = nodes.cpu[i];
		cpus_release(&cpus);
	}
	cpus_release(&nodes);
	return place;
}

void cpus_release(struct cpu_list *list)
{
	free(list->cpu);
	*list = (struct cpu_list){ 0 };
}

bool cpus_model(char *model, size_t size)
{
	char line[256];

	*model = '\0';
	FILE *f = linux_open_stream("/proc/cpuinfo");
	while (f && !*model && fgets(line, sizeof(line), f))
		if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
			char *name = strchr(line, ':') + 1;
			name += strspn(name, " \t");
			name[strcspn(name, "\n")] = '\0';
			snprintf(model, size, "%s", name);
		}
	if (f)
		fclose(f);
	return *model;
}
