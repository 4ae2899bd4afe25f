/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracepoint - tracepoints SYSTEM:NAME, from tracefs: config is events/SYSTEM/NAME/id.
 *
 * Both parts may be globs, which stand for all matches, sorted by name.
 */
#include "event/internal.h"
#include "linux/sysfs.h"
#include "linux/read.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <unistd.h>

enum { LONGEST_NAME = 128 };

static const char globs[] = "*?[";

bool tracepoint_root(const struct event_options *options, char *path, size_t size)
{
	if (!options->tracefs)
		return sysfs_tracepoints(path, size);
	snprintf(path, size, "%s/events", options->tracefs);
	return !faccessat(AT_FDCWD, path, R_OK | X_OK, AT_EACCESS);	/* by capabilities, too */
}

bool event_tracepoints_path(char *path, size_t size)
{
	return tracepoint_root(&(struct event_options){ 0 }, path, size);
}

/*
 * Return the names in the directory PATH that match GLOB, with their number in *COUNT.  A
 * GLOB without special characters is returned as it is.  The caller frees the array.
 */
static const char **matches(struct arena *arena, const char *path, const char *glob,
			    size_t *count)
{
	const char **names, *one = arena_text(arena, glob, LONGEST_NAME);

	if (!strpbrk(glob, globs)) {
		names = array_grow(NULL, 0, sizeof(*names));
		names[0] = one;
		*count = 1;
		return names;
	}
	names = event_read_names(arena, count, path);
	size_t kept = 0;
	for (size_t i = 0; i < *count; i++)
		if (!fnmatch(one, names[i], 0))
			names[kept++] = names[i];
	*count = kept;
	return names;
}

/* Add the tracepoint SYSTEM:NAME, if it exists. */
static enum event_found add_one(struct event_parser *p, const struct event_item *item,
				const char *root, const char *system, const char *name,
				struct slice letters)
{
	static const struct event_rates every = { 1, 0, 1 };
	struct event event = { .attr.type = PERF_TYPE_TRACEPOINT };
	char text[32], base[2 * LONGEST_NAME + 2];
	uint64_t id;

	if (!linux_read_text(text, sizeof(text), "%s/%s/%s/id", root, system, name) ||
	    !slice_number((struct slice){ text, strlen(text) }, &id))
		return EVENT_UNKNOWN;
	event.attr.config = id;
	snprintf(base, sizeof(base), "%s:%s", system, name);
	event.base = arena_text(&p->list->arena, base, sizeof(base));
	return event_parser_add(p, item, event, letters, &every) ? EVENT_ADDED : EVENT_WRONG;
}

static enum event_found add_all(struct event_parser *p, const struct event_item *item,
				const char *system, const char *name, struct slice letters)
{
	char root[PATH_MAX / 2], path[PATH_MAX];
	enum event_found found = EVENT_UNKNOWN;
	struct arena arena = { 0 };
	size_t systems, names;

	tracepoint_root(p->options, root, sizeof(root));
	const char **s = matches(&arena, root, system, &systems);
	for (size_t i = 0; i < systems && found != EVENT_WRONG; i++) {
		snprintf(path, sizeof(path), "%s/%s", root, s[i]);
		const char **n = matches(&arena, path, name, &names);
		for (size_t j = 0; j < names && found != EVENT_WRONG; j++) {
			enum event_found one = add_one(p, item, root, s[i], n[j], letters);
			if (one != EVENT_UNKNOWN)
				found = one;
		}
		free(n);
	}
	free(s);
	arena_release(&arena);
	return found;
}

/* No tracepoint matches: report an error if the item can only mean a tracepoint. */
static enum event_found report_missing(struct event_parser *p, const struct event_item *item,
				       const char *system, const char *name)
{
	char root[PATH_MAX / 2], path[PATH_MAX];
	struct arena arena = { 0 };
	struct suggestion s;
	size_t count;

	bool readable = tracepoint_root(p->options, root, sizeof(root));
	snprintf(path, sizeof(path), "%s/%s/%s/id", root, system, name);
	readable &= !faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) || errno != EACCES;
	snprintf(path, sizeof(path), "%s/%s", root, system);
	bool is_system = !access(path, F_OK);
	if (!is_system && !strpbrk(system, globs)) {
		return EVENT_UNKNOWN;
	} else if (!readable) {
		report_because(p->report, REPORT_NO_RIGHTS);
		event_wrong(p, item->all.at, "cannot read tracepoints in %s; as root, mount -o "
			    "remount,mode=750,gid=%u %.*s", root, (unsigned)getegid(),
			    (int)(strlen(root) - strlen("/events")), root);
		return EVENT_WRONG;
	}
	report_because(p->report, REPORT_NOT_FOUND);
	suggest_begin(&s, (struct slice){ name, strlen(name) });
	const char **names = event_read_names(&arena, &count, path);
	for (size_t i = 0; i < count && is_system; i++)
		suggest_try(&s, names[i]);
	free(names);
	if (*s.best)
		event_wrong(p, item->all.at, "no tracepoint '%s:%s': did you mean '%s:%s'?", system,
			    name, system, s.best);
	else
		event_wrong(p, item->all.at, "no tracepoint matches '%s:%s'; see pmu-events --list "
			    "'%s:*'", system, name, is_system ? system : "*");
	arena_release(&arena);
	return EVENT_WRONG;
}

enum event_found tracepoint_parse(struct event_parser *p, struct event_item *item)
{
	char system[LONGEST_NAME], name[LONGEST_NAME];
	struct slice left = item->has_terms
		? item->name
		: (struct slice){ item->all.at, item->all.size };
	struct slice first = slice_cut(&left, ":");
	struct slice second = slice_cut(&left, ":");
	struct slice letters = item->has_terms ? item->rest : left;

	if (first.size == 0 || second.size == 0 || first.size >= sizeof(system) ||
	    second.size >= sizeof(name) || *first.at == '.' || *second.at == '.')
		return EVENT_UNKNOWN;
	snprintf(system, sizeof(system), "%.*s", (int)first.size, first.at);
	snprintf(name, sizeof(name), "%.*s", (int)second.size, second.at);
	if (!terms_common_only(p, item))
		return EVENT_WRONG;
	enum event_found found = add_all(p, item, system, name, letters);
	return found == EVENT_UNKNOWN ? report_missing(p, item, system, name) : found;
}
