/* SPDX-License-Identifier: Apache-2.0 */
/* file - the short files of /sys and /proc, as text and as numbers. */
#include "event/internal.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <unistd.h>

bool event_read_text(char *text, size_t size, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;

	va_start(args, format);
	int length = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	*text = '\0';
	if (length < 0 || (size_t)length >= sizeof(path))
		return false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	text[n] = '\0';
	return true;
}

long event_read_number(const char *file, long fallback)
{
	char text[32], *end;

	if (!event_read_text(text, sizeof(text), "%s", file))
		return fallback;
	long number = strtol(text, &end, 10);
	return end == text ? fallback : number;
}

uint64_t event_self_status(const char *field, int base)
{
	char text[8192];

	event_read_text(text, sizeof(text), "/proc/self/status");
	const char *at = strstr(text, field);
	return at ? strtoull(at + strlen(field), NULL, base) : 0;
}

bool event_has_capability(int capability)
{
	return event_self_status("\nCapEff:", 16) >> capability & 1;
}

bool event_is_privileged(void)
{
	return event_has_capability(CAP_PERFMON) || event_has_capability(CAP_SYS_ADMIN);
}

const int *event_read_cpus(struct arena *arena, const char *text, size_t *count)
{
	enum { MOST_CPUS = 16384 };
	struct slice left = { text, strlen(text) };
	uint64_t from, to;
	int *cpu = NULL;
	size_t n = 0;

	while (left.size > 0 && n < MOST_CPUS) {
		struct slice range = slice_cut(&left, ",");
		struct slice low = slice_cut(&range, "-");
		if (!slice_number(low, &from))
			break;
		if (range.size == 0 || !slice_number(range, &to))
			to = from;
		for (; from <= to && to < MOST_CPUS && n < MOST_CPUS; from++) {
			cpu = array_grow(cpu, n, sizeof(*cpu));
			cpu[n++] = (int)from;
		}
	}
	const int *kept = n > 0 ? arena_copy(arena, cpu, n * sizeof(*cpu)) : NULL;
	free(cpu);
	*count = n;
	return kept;
}
