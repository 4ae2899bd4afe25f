/* SPDX-License-Identifier: Apache-2.0 */
#include "event/own.h"
#include "base/bisect.h"
#include "base/descriptor.h"
#include "base/directory.h"
#include "base/heap.h"
#include "base/regular.h"
#include "base/replace.h"
#include "base/write.h"

#include <ctype.h>
#include <errno.h>
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LARGEST = 16 << 20,	/* bytes of a file; Intel's largest table takes 0.2 MB */
	MOST_EVENTS = 65536,	/* in a file */
	MOST_MODELS = 256,
	LONGEST_CPUS = 1000, LONGEST_NAME = 120,
};
static const char heading[] = "# pmukit model 1\n";
static const char suffix[] = ".tsv";

/* Write the path of the directory of models.  False: the user has none. */
static bool find_directory(char path[PATH_MAX])
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int size = config && *config == '/'
		 ? snprintf(path, PATH_MAX, "%s/pmukit/models", config)
		 : home && *home == '/' ? snprintf(path, PATH_MAX, "%s/.config/pmukit/models", home)
		 : PATH_MAX;

	return size < PATH_MAX;
}

bool own_may_be_cpus(const char *text)
{
	size_t size = strlen(text);
	regex_t regex;

	/* no {}: counted repetitions of counted repetitions take gigabytes */
	if (size == 0 || size > LONGEST_CPUS || strspn(text, "abcdefghijklmnopqrstuvwxyz"
			"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-()[]:|+*?.^$_") != size)
		return false;
	if (regcomp(&regex, text, REG_EXTENDED | REG_NOSUB))
		return false;
	regfree(&regex);
	return true;
}

bool own_is_for(const struct own_model *own, const char *id, const char *role)
{
	char whole[LONGEST_CPUS + 32];
	regex_t regex;

	if (strcmp(own->role, role))
		return false;
	if (!id)
		return true;
	/* as in perf, a pattern without a stepping is for all steppings */
	snprintf(whole, sizeof(whole), "^(%s)(-[0-9A-F]+)?$", own->cpus);
	if (!strcmp(own->cpus, "-") || regcomp(&regex, whole, REG_EXTENDED | REG_NOSUB))
		return false;
	bool matches = !regexec(&regex, id, 0, NULL, 0);
	regfree(&regex);
	return matches;
}

static int by_name(const void *a, const void *b)
{
	const struct table_event *first = a, *second = b;

	return tables_compare((struct slice){ first->name, strlen(first->name) }, second->name);
}

bool own_find(const struct own_model *own, struct slice name, struct table_event *event)
{
	size_t count = own->model.events;
	size_t i = BISECT(0, count, at, tables_compare(name, own->event[at].name) <= 0);

	if (i == count || tables_compare(name, own->event[i].name))
		return false;
	*event = own->event[i];
	return true;
}

static bool is_hex(struct slice s, uint64_t *number)
{
	return slice_starts(s, "0x") && slice_number(s, number);
}

/* Parse "-" or "REGISTER=VALUE". */
static bool parse_extra(struct slice s, struct table_event *event)
{
	struct slice name = slice_cut(&s, "=");

	if (slice_is(name, "-"))
		return true;
	for (int extra = TABLE_LDLAT; extra <= TABLE_OMR; extra++)
		if (slice_is(name, tables_register((enum table_register)extra)))
			event->extra = (enum table_register)extra;
	return event->extra && is_hex(s, &event->config1);
}

/* Parse the line of an event. */
static bool parse_event(struct own_models *own, struct slice line, struct table_event *event)
{
	struct slice name = slice_cut(&line, "\t"), config = slice_cut(&line, "\t");
	struct slice extra = slice_cut(&line, "\t");

	*event = (struct table_event){ .config = 0 };
	if (name.size == 0 || name.size > LONGEST_NAME || !is_hex(config, &event->config) ||
	    !parse_extra(extra, event))
		return false;
	for (size_t i = 0; i < name.size; i++)
		if (!isalnum((unsigned char)name.at[i]) && !strchr("_.:=-", name.at[i]))
			return false;
	for (size_t i = 0; i < line.size; i++) {
		event->precise |= line.at[i] == 'p' || line.at[i] == 'P';
		event->only_precise |= line.at[i] == 'P';
		event->deprecated |= line.at[i] == 'd';
		if (!strchr("pPd-", line.at[i]))
			return false;
	}
	event->name = arena_text(&own->arena, name.at, name.size);
	return true;
}

/* Take a line before the events: cpus, kind or text.  False: it is something else. */
static bool take_detail(struct own_models *own, struct own_model *model, struct slice line)
{
	struct slice name = slice_cut(&line, "\t");
	const char *value = arena_text(&own->arena, line.at, line.size);

	if (slice_is(name, "cpus") && (!strcmp(value, "-") || own_may_be_cpus(value))) {
		model->cpus = value;
	} else if (slice_is(name, "kind") && line.size < 20) {
		bool role = strcmp(value, "x86") && strcmp(value, "arm");
		model->role = role ? value : "";
		model->model.arm = !strcmp(value, "arm");
	} else if (slice_is(name, "text") && line.size < 200) {
		model->model.text = value;
	} else {
		return false;
	}
	return true;
}

/* Parse the text of a file, SIZE bytes.  Returns NULL, or what is wrong. */
static const char *parse(struct own_models *own, struct own_model *model, const char *text,
			 size_t size)
{
	struct slice left = { text, size };
	size_t count = 0;

	if (!slice_starts(left, heading) || memchr(text, 0, size))
		return "it is not a model that --add-model wrote";
	slice_cut(&left, "\n");
	while (left.size > 0) {
		struct slice line = slice_cut(&left, "\n");
		struct table_event event;
		if (count == 0 && take_detail(own, model, line))
			continue;
		if (!parse_event(own, line, &event))
			return "a line is not an event";
		if (count == MOST_EVENTS)
			return "it has too many events";
		model->event = array_grow(model->event, count, sizeof(event));
		model->event[count++] = event;
	}
	if (count > 0)
		qsort(model->event, count, sizeof(*model->event), by_name);
	model->model.events = count;
	return NULL;
}

/* Return why the file of FD is not used, or NULL; its size is in *SIZE. */
static const char *check_file(int fd, size_t *size)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return strerror(errno);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return "it belongs to another user";
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return "other users may change it: chmod go-w";
	if (st.st_size > LARGEST)
		return "it is too large";
	*size = (size_t)st.st_size;
	return NULL;
}

/* Read the file NAME in the DIRECTORY of descriptor FD. */
static void read_model(struct own_models *own, int fd, const char *directory, const char *name,
		       struct report *report)
{
	struct own_model *model = mem_zeroed(1, sizeof(*model));
	size_t size = 0, length = strlen(name) - strlen(suffix);
	int file = regular_open_in(fd, name, true);
	const char *why = check_file(file, &size);
	char *text = why ? NULL : mem_zeroed(size + 1, 1);
	ssize_t got = why ? 0 : pread(file, text, size, 0);

	*model = (struct own_model){ .cpus = "-", .role = "", .model = {
		.number = -1, .own = model, .version = "-", .text = "",
		.name = arena_text(&own->arena, name, length) } };
	if (got < 0)
		why = strerror(errno);
	if (!why)
		why = parse(own, model, text, (size_t)got);
	if (why) {
		report_note(report, "%s/%s is not used: %s", directory, name, why);
		free(model->event);
		free(model);
	} else {
		own->model = array_grow(own->model, own->count, sizeof(*own->model));
		own->model[own->count++] = model;
	}
	free(text);
	descriptor_close(file);
}

static bool is_model_file(const char *name)
{
	size_t size = strlen(name), end = strlen(suffix);

	return size > end && size < 80 && *name != '.' && !strcmp(name + size - end, suffix);
}

static int by_text(const void *a, const void *b)
{
	const struct own_model *const *first = a, *const *second = b;

	return strcmp((*first)->model.name, (*second)->model.name);
}

void own_read(struct own_models *own, struct report *report)
{
	char path[PATH_MAX], why[DIRECTORY_WHY];
	struct dirent *entry;

	if (own->read)
		return;
	own->read = true;
	/* the user who set the environment may have fewer rights than this program */
	if (getauxval(AT_SECURE) || !find_directory(path) || access(path, F_OK))
		return;
	int fd = directory_open(path, why);
	int copy = fd < 0 ? -1 : dup(fd);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	if (!dir)
		report_note(report, "%s is not used: %s", path, fd < 0 ? why : strerror(errno));
	while (dir && (entry = readdir(dir)) != NULL && own->count < MOST_MODELS)
		if (is_model_file(entry->d_name))
			read_model(own, fd, path, entry->d_name, report);
	if (own->count > 0)
		qsort(own->model, own->count, sizeof(*own->model), by_text);
	if (dir)
		closedir(dir);
	else
		descriptor_close(copy);
	descriptor_close(fd);
}

void own_release(struct own_models *own)
{
	for (size_t i = 0; i < own->count; i++) {
		free(own->model[i]->event);
		free(own->model[i]);
	}
	free(own->model);
	arena_release(&own->arena);
	*own = (struct own_models){ 0 };
}

/* Write NEW as text to FD. */
static bool write_model(const struct own_new *new, int fd)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return false;
	fprintf(out, "%scpus\t%s\nkind\t%s\ntext\t%s\n", heading, new->cpus, new->kind, new->text);
	for (size_t i = 0; i < new->count; i++) {
		const struct table_event *e = &new->event[i];
		fprintf(out, "%s\t0x%" PRIx64 "\t", e->name, e->config);
		if (e->extra)
			fprintf(out, "%s=0x%" PRIx64, tables_register(e->extra), e->config1);
		else
			fputc('-', out);
		fprintf(out, "\t%s%s\n", e->only_precise ? "P" : e->precise ? "p" : "-",
			e->deprecated ? "d" : "");
	}
	bool good = !ferror(out);
	good &= !fclose(out);
	int error = good ? write_whole(fd, text, size) : ENOMEM;
	free(text);
	errno = error;
	return !error;
}

bool own_keep(const struct own_new *new, struct report *report)
{
	char path[PATH_MAX], name[128], why[DIRECTORY_WHY];

	if (!find_directory(path)) {
		report_error(report, "no configuration directory: set HOME or XDG_CONFIG_HOME");
		return false;
	}
	if (!directory_make(path, 0755)) {
		report_failure(report, "cannot create '%s'", path);
		return false;
	}
	int fd = directory_open(path, why);
	if (fd < 0) {
		report_error(report, "'%s' is not used: %s", path, why);
		return false;
	}
	snprintf(name, sizeof(name), "%s%s", new->name, suffix);
	struct replace *file = replace_open_in(fd, name, 0666);
	bool good = file && write_model(new, replace_fd(file));
	if (file)
		good = replace_close(file, good) && good;
	if (!good)
		report_failure(report, "cannot write '%s/%s'", path, name);
	close(fd);
	return good;
}
