/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the file of a kernel module: by build ID, or where distributions put it, where it may be
 * compressed (.ko.gz, .ko.xz, .ko.zst).
 */
#include "locate/internal.h"
#include "base/regular.h"
#include "elf/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool locate_is_module(const char *path, const char *module)
{
	const char *slash = strrchr(path, '/'), *at = slash ? slash + 1 : path + 1;

	if ((*path != '[' && !slash) || *module != '[')
		return false;
	for (module++; *at && *at != '.' && *at != ']'; at++, module++)
		if ((*at == '-' ? '_' : *at) != *module)
			return false;
	return *module == ']';
}

/* Set PATH to "ROOT/lib/modules/RELEASE/FILE". Returns false if it is too long. */
static bool set_path(char path[PATH_MAX], const char *root, const char *release,
		     const char *file)
{
	return snprintf(path, PATH_MAX, "%s/lib/modules/%s/%s", root, release, file) < PATH_MAX;
}

static FILE *open_list(const char *path)
{
	int fd = regular_open(path, false);
	FILE *list = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !list)
		close(fd);
	return list;
}

/*
 * Set FOUND to the path of MODULE ("[ext4]") below /lib/modules/RELEASE, from the list that
 * depmod(8) writes there. Returns false if the list does not have it.
 */
static bool find_listed(const char *root, const char *release, const char *module,
			char found[PATH_MAX])
{
	char path[PATH_MAX], *line = NULL;
	size_t capacity = 0;
	bool is_found = false;
	FILE *in = set_path(path, root, release, "modules.dep") ? open_list(path) : NULL;

	while (in && !is_found && getline(&line, &capacity, in) > 0) {
		line[strcspn(line, ":\n")] = '\0';
		is_found = strchr(line, '/') && locate_is_module(line, module) &&
			   snprintf(found, PATH_MAX, "%s", line) < PATH_MAX;
	}
	free(line);
	if (in)
		fclose(in);
	return is_found;
}

/* Cut off the ending of a compressed module: ".xz", ".gz", ".zst". */
static void cut_packing(char *path)
{
	char *end = strstr(path, ".ko.");

	if (end)
		end[3] = '\0';
}

struct elf *locate_packed(const struct locate_options *where, const char *root, const char *path,
			  struct report *report)
{
	const char *why;
	int fd = where->files == LOCATE_RECORDED ? regular_open_below(root, path, false) : -1;
	struct elf *elf = fd < 0 ? NULL : elf_pool_open_packed(where->pool, fd, &why);

	if (fd >= 0 && !elf && report)
		report_note(report, "cannot read the module '%s%s': %s; some of its names and "
			    "lines may be missing", root, path, why);
	return elf;
}

struct elf *locate_module(const struct locate_options *where, const char *path,
			  const uint8_t *id, size_t size, const char *release,
			  struct report *report)
{
	static const char *const places[][2] = {
		{ "/usr/lib/debug", "" }, { "/usr/lib/debug", ".debug" }, { "", "" },
		{ "", ".gz" }, { "", ".xz" }, { "", ".zst" },
	};
	const char *root = where->sysroot ? where->sysroot : "";
	struct elf *elf = locate_by_id(where, "", id, size, LOCATE_DEBUG);
	char below[PATH_MAX], file[PATH_MAX], whole[PATH_MAX];

	if (elf || !release || strchr(release, '/') || where->files != LOCATE_RECORDED)
		return elf;
	const char *tail = *path == '/' ? strstr(path, "/kernel/") : NULL;
	if (tail)
		snprintf(below, sizeof(below), "%s", tail + 1);
	else if (*path != '[' || !find_listed(root, release, path, below))
		return NULL;
	cut_packing(below);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !elf; i++)
		if (set_path(file, places[i][0], release, below) &&
		    snprintf(whole, sizeof(whole), "%s%s", file, places[i][1]) < PATH_MAX)
			elf = locate_with_id(locate_packed(where, root, whole, report), id, size);
	return elf;
}
