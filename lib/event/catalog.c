/* SPDX-License-Identifier: Apache-2.0 */
#include "event/catalog.h"
#include "event/internal.h"
#include "event/makers.h"
#include "event/models.h"

#include <inttypes.h>
#include <limits.h>

static void add(struct catalog *c, struct catalog_entry entry)
{
	if (!entry.others)
		entry.others = "";
	c->entry = array_grow(c->entry, c->count, sizeof(entry));
	c->entry[c->count++] = entry;
}

/* Return the formatted text as a string in the catalog's arena. */
__attribute__((format(printf, 2, 3)))
static const char *text_of(struct catalog *c, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return arena_text(&c->arena, text, sizeof(text));
}

/* Return the op and result in NAME, a cache event: "load-misses" in "L1-dcache-load-misses". */
static const char *cache_access(const char *name)
{
	const char *part = strstr(name, "cache-");

	return part ? part + strlen("cache-") : strchr(name, '-') + 1;
}

/* Return the synonyms of ALIAS, joined by ", ". */
static const char *others_of(struct catalog *c, const struct event_alias *alias)
{
	const char *other;
	char text[160] = "";

	for (unsigned int i = 0; (other = alias_other_name(alias, i)) != NULL; i++) {
		size_t used = strlen(text);
		snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "", other);
	}
	return text_of(c, "%s", text);
}

static void add_generic(struct catalog *c)
{
	struct event_alias alias;

	for (unsigned int i = 0; alias_next(i, &alias); i++) {
		bool cache = alias.type == PERF_TYPE_HW_CACHE;
		bool software = alias.type == PERF_TYPE_SOFTWARE;
		add(c, (struct catalog_entry){
			.group = cache ? "cache" : software ? "software" : "hardware",
			.kind = "generic", .name = text_of(c, "%s", alias.name),
			.text = cache ? text_of(c, "%s: %s", alias.text, cache_access(alias.name))
				      : alias.text,
			.others = others_of(c, &alias), .index = -1 });
	}
}

/* Add an entry that lists a PMU's terms; it is not an event. */
static void add_terms(struct catalog *c, struct pmus *pmus, const struct pmu *pmu)
{
	char text[512] = "terms:";
	size_t count;

	const char **names = pmus_names(pmus, pmu, "format", &count);
	for (size_t i = 0; i < count; i++) {
		size_t used = strlen(text);
		snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : " ", names[i]);
	}
	if (count)
		add(c, (struct catalog_entry){ .group = text_of(c, "%s", pmu->name),
			.kind = "terms", .name = text_of(c, "%s/.../", pmu->name),
			.text = text_of(c, "%s", text), .index = -1 });
	free(names);
}

static void add_pmu(struct catalog *c, struct pmus *pmus, const struct pmu *pmu)
{
	const char *group = text_of(c, "%s", pmu->name);
	char text[512];
	size_t count;

	const char **names = pmus_names(pmus, pmu, "events", &count);
	for (size_t i = 0; i < count; i++)	/* names with a dot: NAME.unit, NAME.scale */
		if (!strchr(names[i], '.') &&
		    pmus_text(pmus, pmu, "events", names[i], text, sizeof(text)))
			add(c, (struct catalog_entry){ .group = group, .kind = "pmu",
				.name = text_of(c, "%s/%s/", group, names[i]),
				.text = text_of(c, "%s", text), .index = -1 });
	free(names);
	add_terms(c, pmus, pmu);
}

/* Add the events of the PMU NAME, or of all PMUs (NULL).  False: there is no such PMU. */
static bool add_pmus(struct catalog *c, const char *root, const char *name)
{
	struct pmus pmus = { 0 };
	bool found = false;

	pmus_read(&pmus, root);
	for (size_t i = 0; i < pmus.count; i++)
		if (!name || !strcmp(name, pmus.pmu[i].name)) {
			found = true;
			add_pmu(c, &pmus, &pmus.pmu[i]);
		}
	pmus_release(&pmus);
	return found;
}

static void add_model(struct catalog *c, const struct model *model)
{
	struct model_event event;

	for (int at = -1; models_event_next(model->name, &at, &event);)
		add(c, (struct catalog_entry){ .group = model->name, .kind = "model",
			.name = text_of(c, "%s::%s", model->name, event.name),
			.text = event.text, .index = event.index });
}

/*
 * Add the events of a maker's table; if libpfm4 has a model of the same name, only those that it
 * lacks.
 */
static void add_table(struct catalog *c, const struct table_model *table)
{
	bool known = models_is_known(table->name);
	struct table_event event;
	char extra[64] = "";

	for (size_t i = 0; makers_event(table, i, &event); i++) {
		const char *name = text_of(c, "%s::%s", table->name, event.name);
		if (known && models_has(name))
			continue;
		*extra = '\0';
		if (event.extra)
			snprintf(extra, sizeof(extra), ", %s=0x%" PRIx64,
				 tables_register(event.extra), event.config1);
		add(c, (struct catalog_entry){ .group = text_of(c, "%s", table->name),
			.kind = "model", .name = name, .index = -1,
			.text = text_of(c, "config=0x%" PRIx64 "%s%s%s", event.config, extra,
					event.only_precise ? "; only precise (p)"
					: event.precise ? "; can be precise (p)" : "",
					event.deprecated ? "; deprecated" : "") });
	}
}

/*
 * Add the makers' and the user's tables.  NAME: of a model, or of several; "": those of this
 * machine; NULL: all.  Return false if there are none.
 */
static bool add_tables(struct catalog *c, const char *name, const struct event_options *options)
{
	struct report silent = { .quiet = true };
	struct event_list unused = { 0 };
	struct event_parser p = { .list = &unused, .options = options, .report = &silent };
	struct maker maker[MOST_MAKERS];
	struct table_model table;
	struct slice wanted = { name ? name : "", name ? strlen(name) : 0 };
	size_t count = makers_select(&p, wanted, maker);

	for (size_t i = 0; name && i < count; i++)
		add_table(c, &maker[i].model);
	for (int at = 0; !name && tables_next(&at, &table);)
		add_table(c, &table);
	for (size_t i = 0; !name && i < p.own.count; i++)
		add_table(c, &p.own.model[i]->model);
	makers_release(&p);
	return count > 0;
}

/*
 * Add the events of the model NAME; if NAME is NULL, of all models (ALL) or of those present.
 * False: there is no such model.
 */
static bool add_models(struct catalog *c, const char *name, bool all)
{
	struct model model;
	bool found = false;

	for (int at = 0; models_next(&at, &model);) {
		if (name ? strcmp(name, model.name) : !all && !model.present)
			continue;
		found = true;
		add_model(c, &model);
	}
	return found;
}

static void add_tracepoints(struct catalog *c, const struct event_options *options)
{
	char root[PATH_MAX / 2], path[PATH_MAX];
	size_t systems, count;

	if (!tracepoint_root(options, root, sizeof(root)))
		return;
	const char **system = event_read_names(&c->arena, &systems, root);
	for (size_t i = 0; i < systems; i++) {
		if (!strcmp(system[i], "ftrace"))	/* its own records: nobody else gets them */
			continue;
		snprintf(path, sizeof(path), "%s/%s", root, system[i]);
		const char **names = event_read_names(&c->arena, &count, path);
		for (size_t j = 0; j < count; j++)
			if (strcmp(names[j], "enable") && strcmp(names[j], "filter"))
				add(c, (struct catalog_entry){ .group = system[i],
					.kind = "tracepoint", .text = "", .index = -1,
					.name = text_of(c, "%s:%s", system[i], names[j]) });
		free(names);
	}
	free(system);
}

/* Add the models of other CPUs that a glob names. */
static void add_named_models(struct catalog *c, const struct catalog_options *options)
{
	struct model model;

	for (size_t i = 0; i < options->globs; i++) {
		const char *colons = strstr(options->glob[i], "::");
		if (colons)
			add_tables(c, text_of(c, "%.*s", (int)(colons - options->glob[i]),
					      options->glob[i]), options->event);
	}

	for (int at = 0; models_next(&at, &model);)
		for (size_t i = 0; i < options->globs && !model.present; i++) {
			size_t size = strlen(model.name);
			if (strncmp(options->glob[i], model.name, size) ||
			    strncmp(options->glob[i] + size, "::", 2))
				continue;
			add_model(c, &model);
			break;
		}
}

bool catalog_read(struct catalog *catalog, const struct catalog_options *options)
{
	if (options->pmu) {
		if (add_pmus(catalog, options->event->sysfs, options->pmu))
			return true;
		bool model = add_models(catalog, options->pmu, false);
		return add_tables(catalog, options->pmu, options->event) || model;
	}
	if (options->all_models) {
		add_models(catalog, NULL, true);
		add_tables(catalog, NULL, options->event);
		return true;
	}
	add_generic(catalog);
	add_pmus(catalog, options->event->sysfs, NULL);
	add_models(catalog, NULL, false);
	add_tables(catalog, "", options->event);
	if (options->globs)
		add_named_models(catalog, options);
	add_tracepoints(catalog, options->event);
	return true;
}

void catalog_release(struct catalog *catalog)
{
	free(catalog->entry);
	arena_release(&catalog->arena);
	*catalog = (struct catalog){ 0 };
}
