/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/kernel-info.h"
#include "linux/read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Return the kernel's default of sysctl NAME. */
static long usual_value(const char *name)
{
	static const struct {
		const char *name;
		long value;
	} usual[] = {
		{ "perf_event_paranoid", 2 },
		{ "perf_event_max_sample_rate", 100000 },
		{ "perf_event_mlock_kb", 516 },
		{ "perf_event_max_stack", 127 },
	};

	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		if (!strcmp(name, usual[i].name))
			return usual[i].value;
	return 0;
}

long kernel_sysctl(const char *name)
{
	char text[32], *end;

	linux_read_text(text, sizeof(text), "/proc/sys/kernel/%s", name);
	long number = strtol(text, &end, 10);
	return end == text ? usual_value(name) : number;
}

uint64_t kernel_start(void)
{
	enum { LINES_MAX = 64 };	/* these symbols are among the first */
	uint64_t start = 0, address;
	char name[128];

	FILE *f = linux_open_stream(KERNEL_KALLSYMS);
	for (int line = 0; f && !start && line < LINES_MAX; line++)
		if (fscanf(f, "%" SCNx64 " %*c %127s%*[^\n]", &address, name) == 2 &&
		    (!strcmp(name, "_text") || !strcmp(name, "_stext")))
			start = address;
	if (f)
		fclose(f);
	return start;
}

ssize_t kernel_notes(const char *name, void *notes, size_t size)
{
	return name ? linux_read(notes, size, "/sys/module/%s/notes/.note.gnu.build-id", name)
		    : linux_read(notes, size, "/sys/kernel/notes");
}

FILE *kernel_modules(void)
{
	return linux_open_stream("/proc/modules");
}

/* NAME SIZE REFERENCES USERS STATE ADDRESS */
bool kernel_next_module(FILE *modules, struct kernel_module *module)
{
	return modules && fscanf(modules, "%63s %" SCNu64 " %*s %*s %*s 0x%" SCNx64 "%*[^\n]",
				 module->name, &module->size, &module->start) == 3;
}
