/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz-event - the language of events, and a sysfs that lies.
 *
 * The first two lines of the input become a PMU's format and event, the rest
 * is parsed.  What is accepted must be so again under its canonical name.
 */
#include "event/event.h"

#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/fuzz-event-XXXXXX";

static void remove_tree(void)
{
	static const char *const paths[] = {
		"bus/event_source/devices/cpu/type", "bus/event_source/devices/cpu/format/event",
		"bus/event_source/devices/cpu/events/some", "bus/event_source/devices/cpu/format",
		"bus/event_source/devices/cpu/events", "bus/event_source/devices/cpu",
		"bus/event_source/devices", "bus/event_source", "bus", "",
	};
	char path[256];

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, paths[i]);
		remove(path);
	}
}

static void write_file(const char *name, const char *text, size_t size)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/bus/event_source/devices/cpu/%s", root, name);
	FILE *file = fopen(path, "w");
	if (!file)
		abort();
	fwrite(text, 1, size, file);
	fclose(file);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const char *const directories[] = { "bus", "bus/event_source",
		"bus/event_source/devices", "bus/event_source/devices/cpu",
		"bus/event_source/devices/cpu/format", "bus/event_source/devices/cpu/events" };
	char path[256];

	(void)argc;
	(void)argv;
	if (!mkdtemp(root))
		abort();
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, directories[i]);
		mkdir(path, 0777);
	}
	write_file("type", "4\n", 2);
	atexit(remove_tree);
	return 0;
}

/* The next line of *TEXT, of *SIZE bytes, written to the file NAME. */
static void take_line(const char **text, size_t *size, const char *name)
{
	const char *end = memchr(*text, '\n', *size);
	size_t line = end ? (size_t)(end - *text) : *size;

	write_file(name, *text, line);
	*text += line + !!end;
	*size -= line + !!end;
}

/* Each of LIST by its canonical name alone: the same type, config and excludes. */
static void parse_again(const struct event_list *list, const struct event_options *options)
{
	for (size_t i = 0; i < list->count && i < 16; i++) {
		const struct event *e = &list->event[i];
		struct report silent = { .tool = "fuzz", .quiet = true };
		struct event_list again = { 0 };

		if (e->named)
			continue;
		if (!event_parse(&again, options, e->name, &silent) || again.count != 1 ||
		    again.event[0].attr.type != e->attr.type ||
		    again.event[0].attr.config != e->attr.config ||
		    again.event[0].attr.exclude_user != e->attr.exclude_user ||
		    again.event[0].attr.exclude_guest != e->attr.exclude_guest ||
		    strcmp(again.event[0].name, e->name)) {
			fprintf(stderr, "'%s' is not what it was\n", e->name);
			abort();
		}
		event_list_release(&again);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_options options = { .sysfs = root, .tracefs = "/nonexistent",
					 .max_rate = 100000, .force = true };
	struct report silent = { .tool = "fuzz", .quiet = true };
	struct event_list list = { 0 };
	const char *text = (const char *)data;

	take_line(&text, &size, "format/event");
	take_line(&text, &size, "events/some");
	char *copy = malloc(size + 1);
	if (!copy)
		abort();
	memcpy(copy, text, size);
	copy[size] = '\0';
	if (event_parse(&list, &options, copy, &silent))
		parse_again(&list, &options);
	event_list_release(&list);
	free(copy);
	return 0;
}
