/* SPDX-License-Identifier: Apache-2.0 */
/* Events: the perf_event_attr of a name, and all names of this machine. */
#include "event/catalog.h"
#include "event/models.h"
#include "library/handle.h"

#include <strings.h>

/* The handle of pmukit_event_encode() lives as long as the call. */
struct event_encoding {
	struct handle handle;
	const char *name;
	struct event_list list;
	struct perf_event_attr attr;
};

/* Return whether this machine has EVENT, or report that it does not. */
static bool is_here(const struct event *event, struct report *report)
{
	if (event->foreign)
		report_error(report, "'%s' is an event of another CPU: %s", event->name,
			     event->foreign);
	else if (event->attr.type == EVENT_TYPE_ABSENT)
		report_error(report, "this machine has no PMU %s for '%s'", event->pmu,
			     event->name);
	return !event->foreign && event->attr.type != EVENT_TYPE_ABSENT;
}

/* Copy the members that say what is counted, and when.  Those that say how to sample stay 0. */
static void copy_attr(struct perf_event_attr *to, const struct perf_event_attr *from)
{
	*to = (struct perf_event_attr){
		.type = from->type, .config = from->config, .config1 = from->config1,
		.config2 = from->config2, .bp_type = from->bp_type,
		.exclude_user = from->exclude_user, .exclude_kernel = from->exclude_kernel,
		.exclude_hv = from->exclude_hv, .exclude_idle = from->exclude_idle,
		.exclude_host = from->exclude_host, .exclude_guest = from->exclude_guest,
		.precise_ip = from->precise_ip, .pinned = from->pinned,
		.exclusive = from->exclusive,
	};
#ifdef PERF_ATTR_SIZE_VER8
	to->config3 = from->config3;
#endif
}

/* Return what CPU the event NAME, MODEL::EVENT, is of if this machine lacks it; or NULL. */
static const char *absent_model(const char *name)
{
	const char *colons = strstr(name, "::");
	struct model m;

	for (int at = 0; colons && models_next(&at, &m);)
		if (!m.present && strlen(m.name) == (size_t)(colons - name) &&
		    !strncmp(m.name, name, strlen(m.name)))
			return m.text;
	return NULL;
}

/* Parse the name of E.  A model that this machine lacks is a better reason than a similar name. */
static bool parse(struct event_encoding *e, const struct event_options *machine)
{
	struct report silent = { .quiet = true };
	const char *model = absent_model(e->name);

	if (!model)
		return event_parse(&e->list, machine, e->name, &e->handle.report);
	if (event_parse(&e->list, machine, e->name, &silent))
		return true;
	report_error(&e->handle.report, "'%s' is an event of another CPU: %s", e->name, model);
	return false;
}

static int encode(void *arguments)
{
	struct event_encoding *e = arguments;
	const struct event_options machine = { .force = true };	/* its period is not returned */
	struct report *report = &e->handle.report;

	if (!parse(e, &machine))
		return handle_status(&e->handle, PMUKIT_NOT_FOUND);
	const struct event *event = e->list.event;
	if (e->list.count > 1) {
		report_error(report, "'%s' stands for %zu events here, of which '%s' and '%s' are "
			     "two: name one", e->name, e->list.count, event[0].name, event[1].name);
		return PMUKIT_WRONG_ARGUMENT;
	}
	if (!is_here(event, report))
		return PMUKIT_NOT_FOUND;
	copy_attr(&e->attr, &event->attr);
	return 0;
}

static int release_encoding(void *arguments)
{
	struct event_encoding *e = arguments;

	event_list_release(&e->list);
	return 0;
}

/* Copy FROM to the SIZE bytes at TO.  Return false if a member that is not 0 does not fit. */
static bool give(const struct perf_event_attr *from, void *to, size_t size)
{
	const size_t whole = sizeof(*from);
	const uint8_t *bytes = (const uint8_t *)from;

	for (size_t i = size; i < whole; i++)
		if (bytes[i] != 0)
			return false;
	memset(to, 0, size);
	memcpy(to, from, size < whole ? size : whole);
	((struct perf_event_attr *)to)->size = (uint32_t)(size < whole ? size : whole);
	return true;
}

int pmukit_event_encode(const char *name, void *attr, size_t size)
{
	if (!name || !attr)
		return fail(PMUKIT_WRONG_ARGUMENT, "no %s", name ? "place for the result" : "name");
	if (size < PERF_ATTR_SIZE_VER0 || size % sizeof(uint64_t))
		return fail(PMUKIT_WRONG_ARGUMENT, "no struct perf_event_attr has %zu bytes", size);
	struct event_encoding *e = handle_new(HANDLE_EVENTS, sizeof(*e), NULL, NULL);
	if (!e)
		return PMUKIT_NO_MEMORY;
	e->name = name;
	int status = guarded(&e->handle, HANDLE_EVENTS, encode, e);
	if (status == 0 && !give(&e->attr, attr, size))
		status = fail(PMUKIT_WRONG_ARGUMENT, "'%s' needs members of struct perf_event_attr "
			      "that are not in its first %zu bytes", name, size);
	handle_close(&e->handle, HANDLE_EVENTS, release_encoding, e);
	return status;
}

struct pmukit_event_list {
	struct handle handle;
	const char *match;		/* while the list is made */
	struct catalog catalog;
	size_t next;			/* index of the next entry */
	struct pmukit_event_name name;
};

/* Return whether TEXT has MATCH, in any case. */
static bool has(const char *text, const char *match)
{
	return strcasestr(text, match) != NULL;
}

/* Keep the entries that are events and match. */
static int list(void *arguments)
{
	static const struct event_options machine;
	const struct catalog_options all = { .event = &machine };
	struct pmukit_event_list *l = arguments;
	const char *match = l->match ? l->match : "";
	size_t kept = 0;

	catalog_read(&l->catalog, &all);
	for (size_t i = 0; i < l->catalog.count; i++) {
		const struct catalog_entry *e = &l->catalog.entry[i];
		if (strcmp(e->kind, "terms") && (has(e->name, match) || has(e->text, match) ||
						 has(e->others, match)))
			l->catalog.entry[kept++] = *e;
	}
	l->catalog.count = kept;
	return 0;
}

struct pmukit_event_list *pmukit_event_list_open(const char *match)
{
	struct pmukit_event_list *l = handle_new(HANDLE_EVENTS, sizeof(*l), NULL, NULL);

	if (!l)
		return NULL;
	l->match = match;
	if (guarded(&l->handle, HANDLE_EVENTS, list, l) < 0)
		return handle_free(&l->handle);
	return l;
}

static int next(void *arguments)
{
	struct pmukit_event_list *l = arguments;

	if (l->next == l->catalog.count)
		return 0;
	const struct catalog_entry *e = &l->catalog.entry[l->next++];
	bool is_tracepoint = !strcmp(e->kind, "tracepoint");
	l->name = (struct pmukit_event_name){ e->name, e->text,
					      is_tracepoint ? "tracepoint" : e->group };
	return 1;
}

int pmukit_event_list_next(struct pmukit_event_list *l, const struct pmukit_event_name **event)
{
	if (!event)
		return fail(PMUKIT_WRONG_ARGUMENT, "there is no place for the event");
	int found = guarded(l ? &l->handle : NULL, HANDLE_EVENTS, next, l);
	*event = found > 0 ? &l->name : NULL;
	return found;
}

static int release_list(void *arguments)
{
	struct pmukit_event_list *l = arguments;

	catalog_release(&l->catalog);
	return 0;
}

void pmukit_event_list_close(struct pmukit_event_list *l)
{
	handle_close(l ? &l->handle : NULL, HANDLE_EVENTS, release_list, l);
}
