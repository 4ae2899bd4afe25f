/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add-model - keeps a maker's or perf's table of events as a model of the user.
 *
 * The JSON does not say for which CPU it is.  A file mapfile.csv in a directory above it does, in
 * perf's source and in Intel's repository.  Without such a file the model is for this machine's CPU
 * if pmukit has no table for that, and otherwise only for users who name the model.
 */
#include "base/heap.h"
#include "base/regular.h"
#include "event/internal.h"
#include "event/maker-json.h"
#include "event/makers.h"
#include "event/models.h"
#include "event/own.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>

enum { LARGEST = 64 << 20, LONGEST_CPUS = 1000, MODEL_NAME = 64, LEVELS = 4 };

/* A model that is being added. */
struct addition {
	struct maker_json json;
	char name[MODEL_NAME];
	char cpus[LONGEST_CPUS];	/* regular expression, or "" */
	struct report *report;
};

static bool read_json(struct addition *a, const char *path)
{
	size_t size;
	char *text = regular_read(path, LARGEST, &size);

	if (!text) {
		report_failure(a->report, "cannot read '%s'", path);
		return false;
	}
	bool good = maker_json_read(&a->json, path, text, size, a->report);
	free(text);
	return good;
}

/* Return whether the file ENTRY may have events. */
static int is_json(const struct dirent *entry)
{
	size_t size = strlen(entry->d_name);

	return size > 5 && !strcmp(entry->d_name + size - 5, ".json") &&
	       strcmp(entry->d_name, "metricgroups.json");
}

/* Read the file PATH, or all files .json of the directory PATH. */
static bool read_path(struct addition *a, const char *path)
{
	struct dirent **entries = NULL;
	struct stat st;
	char file[PATH_MAX];
	bool good = true;

	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return read_json(a, path);
	int count = scandir(path, &entries, is_json, alphasort);
	for (int i = 0; i < count; i++) {
		bool fits = snprintf(file, sizeof(file), "%s/%s", path,
				     entries[i]->d_name) < (int)sizeof(file);
		good = fits && good && read_json(a, file);
		free(entries[i]);
	}
	free(entries);
	if (count <= 0) {
		report_error(a->report, "'%s' has no files .json", path);
		return false;
	}
	return good;
}

/* Write the name of a model to A: TEXT without directories and ".json", with safe letters. */
static void set_name(struct addition *a, const char *text)
{
	const char *slash = strrchr(text, '/');
	size_t size = 0;

	if (slash && slash[1])
		text = slash + 1;
	for (; text[size] && strcmp(text + size, ".json") && size + 12 < sizeof(a->name); size++)
		a->name[size] = isalnum((unsigned char)text[size])
			      ? (char)tolower((unsigned char)text[size]) : text[size] == '-'
			      ? '-' : '_';
	a->name[size] = '\0';
}

/* Add the PATTERN for CPUs of a line of mapfile.csv. */
static void add_pattern(struct addition *a, struct slice pattern)
{
	char text[LONGEST_CPUS], *end;
	size_t used = strlen(a->cpus);

	snprintf(text, sizeof(text), "%.*s", (int)pattern.size, pattern.at);
	if (slice_starts(pattern, "0x") && pattern.size == 18) {	/* MIDR */
		uint64_t midr = strtoull(text, &end, 16);
		snprintf(text, sizeof(text), "0x%02x%03x", (unsigned int)(midr >> 24 & 0xff),
			 (unsigned int)(midr >> 4 & 0xfff));
	}
	size_t size = strlen(text);
	if (!own_may_be_cpus(text) || used + 1 + size >= sizeof(a->cpus))
		return;
	if (used)
		a->cpus[used++] = '|';
	memcpy(a->cpus + used, text, size + 1);
}

/* Return whether the resolved PATH is, or is in, what a line of mapfile.csv calls NAME. */
static bool is_mapped(const char *path, const char *root, struct slice name)
{
	size_t size = strlen(root);

	while (name.size > 0 && *name.at == '/') {
		name.at++;
		name.size--;
	}
	if (name.size == 0 || strncmp(path, root, size) || path[size] != '/')
		return false;
	path += size + 1;
	return !strncmp(path, name.at, name.size) &&
	       (!path[name.size] || path[name.size] == '/');
}

/* Take the lines of TEXT, mapfile.csv in the directory ROOT, that name PATH. */
static void take_map(struct addition *a, const char *path, const char *root, const char *text,
		     size_t size, bool named)
{
	struct slice left = { text, size };

	while (left.size > 0) {
		struct slice line = slice_cut(&left, "\r\n");
		struct slice pattern = slice_cut(&line, ",");
		slice_cut(&line, ",");		/* the version */
		struct slice name = slice_cut(&line, ","), type = slice_cut(&line, ",");
		if ((!slice_is(type, "core") && !slice_is(type, "hybridcore")) ||
		    !is_mapped(path, root, name))
			continue;
		add_pattern(a, pattern);
		a->json.arm |= slice_starts(pattern, "0x");
		char text_of_name[PATH_MAX];
		snprintf(text_of_name, sizeof(text_of_name), "%.*s", (int)name.size, name.at);
		if (!named)
			set_name(a, text_of_name);
	}
}

/* Look for PATH in the files mapfile.csv of the directories above it. */
static void find_cpus(struct addition *a, const char *path, bool named)
{
	char whole[PATH_MAX], root[PATH_MAX], map[PATH_MAX + 16];
	size_t size;

	if (!realpath(path, whole))
		return;
	memcpy(root, whole, sizeof(root));
	for (int level = 0; level < LEVELS && !*a->cpus; level++) {
		char *slash = strrchr(root, '/');
		if (!slash || slash == root)
			return;
		*slash = '\0';
		snprintf(map, sizeof(map), "%s/mapfile.csv", root);
		char *text = regular_read(map, LARGEST, &size);
		if (text)
			take_map(a, whole, root, text, size, named);
		free(text);
	}
}

/* Set the CPUs to this machine's, if it has no table and may have these events. */
static void take_this_cpu(struct addition *a, const struct event_options *options)
{
	struct event_list unused = { 0 };
	struct event_parser p = { .list = &unused, .options = options, .report = a->report };
	const struct event_options here = { .sysfs = options->sysfs };
	struct maker maker[MOST_MAKERS];
	char id[CPU_ID_SIZE];

	p.options = &here;
	bool has_table = false;
	size_t count = makers_select(&p, (struct slice){ "", 0 }, maker);
	for (size_t i = 0; i < count; i++)
		has_table |= !maker[i].model.own;
	cpu_identify(&p.pmus, NULL, id);
	if (!has_table && *id && a->json.arm == !strncmp(id, "0x", 2)) {
		char *stepping = id;
		for (int part = 0; part < 3 && stepping; part++)
			stepping = strchr(stepping + 1, '-');
		if (stepping)
			*stepping = '\0';	/* for all steppings */
		add_pattern(a, (struct slice){ id, strlen(id) });
	}
	makers_release(&p);
}

/* Return whether pmukit itself has a model called NAME. */
static bool is_taken(const char *name)
{
	struct table_model table;

	for (int at = 0; tables_next(&at, &table);)
		if (tables_is_called(table.number, (struct slice){ name, strlen(name) }))
			return true;
	return models_is_known(name);
}

/* Keep the events of ROLE, from index FIRST on.  Return their number; 0 also on failure. */
static size_t keep_role(struct addition *a, unsigned int role, size_t first)
{
	size_t count = 0;
	char name[MODEL_NAME + 16], text[160];

	while (first + count < a->json.count && a->json.role[first + count] == role)
		count++;
	snprintf(name, sizeof(name), "%s%s%s", a->name, role ? "_" : "", maker_json_role(role));
	snprintf(text, sizeof(text), "%s, %zu events", a->name, count);
	const struct own_new new = {
		.name = name, .cpus = *a->cpus ? a->cpus : "-", .text = text,
		.kind = role ? maker_json_role(role) : a->json.arm ? "arm" : "x86",
		.event = a->json.event + first, .count = count,
	};
	if (count == 0 || !own_keep(&new, a->report))
		return 0;
	report_note(a->report, "model '%s': %zu events, %s%s", name, count,
		    *a->cpus ? "for the CPU " : "only for --pmu and MODEL::EVENT, because this CPU "
		    "has a table or is of another kind, and no mapfile.csv names another",
		    a->cpus);
	return count;
}

/* Read FILES into A, again if it turns out that they are Arm's. */
static bool read_all(struct addition *a, char *const *file, size_t files)
{
	bool good = true, arm;

	do {
		arm = a->json.arm;
		maker_json_release(&a->json);
		a->json.arm = arm;
		good = true;
		for (size_t i = 0; i < files && good; i++)
			good = read_path(a, file[i]);
	} while (good && a->json.arm != arm);
	return good;
}

bool models_add(char *const *file, size_t files, const char *name,
		const struct event_options *options, struct report *report)
{
	struct addition a = { .report = report };
	size_t kept = 0;

	set_name(&a, name ? name : file[0]);
	for (size_t i = 0; i < files && !*a.cpus; i++)
		find_cpus(&a, file[i], name != NULL);
	bool good = read_all(&a, file, files);
	if (good && is_taken(a.name)) {
		report_error(report, "there is a model '%s' already: give another name by --pmu",
			     a.name);
		good = false;
	}
	if (good && !*a.cpus)
		take_this_cpu(&a, options);
	maker_json_finish(&a.json);
	for (unsigned int role = 0; role < JSON_ROLES && good; role++)
		kept += keep_role(&a, role, kept);
	if (good && (a.json.elsewhere || a.json.unclear))
		report_note(report, "left out: %zu events that no core counts, %zu without a clear "
			    "code", a.json.elsewhere, a.json.unclear);
	if (good && a.json.count == 0)
		report_error(report, "'%s' has no events of a CPU's cores", file[0]);
	maker_json_release(&a.json);
	return good && kept > 0;
}
