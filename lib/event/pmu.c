/* SPDX-License-Identifier: Apache-2.0 */
#include "event/pmu.h"
#include "event/internal.h"
#include "linux/cpus.h"
#include "linux/sysfs.h"
#include "linux/read.h"

#include <dirent.h>
#include <limits.h>
#include <unistd.h>

enum {
	MOST_NAMES = 65536,	/* in one directory: ten times more than any PMU has */
	LONGEST_NAME = 128,
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct pmu *)a)->name, ((const struct pmu *)b)->name);
}

const char **event_read_names(struct arena *arena, size_t *count, const char *path)
{
	const char **names = NULL;
	struct dirent *entry;
	int fd = linux_open("%s", path);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	*count = 0;
	while (dir && (entry = readdir(dir)) != NULL && *count < MOST_NAMES) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) > LONGEST_NAME)
			continue;
		names = array_grow(names, *count, sizeof(*names));
		names[(*count)++] = arena_text(arena, entry->d_name, LONGEST_NAME);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)	/* it is a file */
		close(fd);
	if (names)
		qsort(names, *count, sizeof(*names), by_text);
	return names;
}

static bool has_file(const struct pmus *pmus, const char *pmu, const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" SYSFS_PMUS "/%s/%s", pmus->root, pmu, file);
	return !access(path, F_OK);
}

void pmus_read(struct pmus *pmus, const char *root)
{
	char path[PATH_MAX];

	if (pmus->read)
		return;
	*pmus = (struct pmus){ .read = true, .root = root ? root : SYSFS_ROOT };
	snprintf(path, sizeof(path), "%s/" SYSFS_PMUS, pmus->root);
	const char **names = event_read_names(&pmus->arena, &pmus->count, path);
	pmus->pmu = mem_zeroed(pmus->count, sizeof(*pmus->pmu));
	for (size_t i = 0; i < pmus->count; i++) {
		struct pmu *pmu = &pmus->pmu[i];
		pmu->name = names[i];
		pmu->core = !strcmp(pmu->name, "cpu") || has_file(pmus, pmu->name, "cpus");
		pmus->cores += pmu->core;
	}
	free(names);
	qsort(pmus->pmu, pmus->count, sizeof(*pmus->pmu), by_name);
}

const char *event_find_sysfs(const char *directory, char *path, size_t size)
{
	const char *root[2] = { directory, path };

	if (snprintf(path, size, "%s/sys", directory) >= (int)size)
		return NULL;
	for (int i = 0; i < 2; i++) {
		struct pmus pmus = { .read = false };
		pmus_read(&pmus, root[i]);
		bool found = pmus.count > 0;
		pmus_release(&pmus);
		if (found)
			return root[i];
	}
	return NULL;
}

bool pmus_text(const struct pmus *pmus, const struct pmu *pmu, const char *directory,
	       const char *name, char *text, size_t size)
{
	if (*name == '.' || strchr(name, '/'))
		return false;
	return linux_read_text(text, size, "%s/" SYSFS_PMUS "/%s/%s%s%s", pmus->root,
			       pmu->name, directory, *directory ? "/" : "", name);
}

/* Set the CPUs of PMU from a text of sysfs; all CPUs if it is empty or malformed. */
static void set_cpus(struct pmus *pmus, struct pmu *pmu, const char *text)
{
	struct cpu_list list = { 0 };

	if (cpus_add(&list, text)) {
		pmu->cpu = arena_copy(&pmus->arena, list.cpu, list.count * sizeof(*list.cpu));
		pmu->cpus = list.count;
	}
	cpus_release(&list);
}

bool pmus_load(struct pmus *pmus, struct pmu *pmu)
{
	char text[1024];
	uint64_t type;

	if (pmu->loaded)
		return true;
	if (!pmus_text(pmus, pmu, "", "type", text, sizeof(text)) ||
	    !slice_number((struct slice){ text, strlen(text) }, &type) || type > UINT32_MAX)
		return false;
	pmu->type = (uint32_t)type;
	if (pmus_text(pmus, pmu, "", pmu->core ? "cpus" : "cpumask", text, sizeof(text))) {
		set_cpus(pmus, pmu, text);
		pmu->per_cpu = !pmu->core;
	}
	pmu->loaded = true;
	return true;
}

const char **pmus_names(struct pmus *pmus, const struct pmu *pmu, const char *directory,
			size_t *count)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" SYSFS_PMUS "/%s/%s", pmus->root, pmu->name,
		 directory);
	return event_read_names(&pmus->arena, count, path);
}

void pmus_release(struct pmus *pmus)
{
	free(pmus->pmu);
	arena_release(&pmus->arena);
	*pmus = (struct pmus){ 0 };
}

bool pmu_format_parse(const char *text, struct pmu_format *format)
{
	static const char *const words[] = { "config", "config1", "config2", "config3" };
	struct slice left = { text, strlen(text) };
	struct slice word = slice_cut(&left, ":");
	uint64_t from, to;

	*format = (struct pmu_format){ .word = 4 };
	for (unsigned int i = 0; i < 4; i++)
		if (slice_is(word, words[i]))
			format->word = i;
	while (left.size > 0) {
		struct slice range = slice_cut(&left, ",");
		struct slice low = slice_cut(&range, "-");
		if (!slice_number(low, &from))
			return false;
		to = from;
		if (range.size > 0 && !slice_number(range, &to))
			return false;
		if (from > to || to > 63)
			return false;
		format->bits |= (UINT64_MAX >> (63 - (to - from))) << from;
	}
	return format->word < 4 && format->bits;
}

bool pmu_format_spread(const struct pmu_format *format, uint64_t value, uint64_t *spread)
{
	*spread = 0;
	for (int bit = 0; bit < 64; bit++)
		if (format->bits >> bit & 1) {
			*spread |= (value & 1) << bit;
			value >>= 1;
		}
	return value == 0;
}
