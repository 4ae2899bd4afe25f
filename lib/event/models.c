/* SPDX-License-Identifier: Apache-2.0 */
#include "event/models.h"
#include "event/internal.h"
#include "event/libpfm.h"
#include "event/makers.h"

#include <inttypes.h>
#include <perfmon/pfmlib_perf_event.h>

enum { LONGEST_NAME = 512 };

/* Return whether INFO is a CPU's PMU, not libpfm4's list of generic events: alias.c has these. */
static bool is_model(const pfm_pmu_info_t *info)
{
	return info->type != PFM_PMU_TYPE_OS_GENERIC &&
	       strcmp(info->name, "perf") && strcmp(info->name, "perf_raw");
}

static bool get_info(int pmu, pfm_pmu_info_t *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return pfm_get_pmu_info((pfm_pmu_t)pmu, info) == PFM_SUCCESS && is_model(info);
}

bool models_next(int *at, struct model *model)
{
	pfm_pmu_info_t info;

	if (!libpfm_initialize())
		return false;
	while (*at < PFM_PMU_MAX)
		if (get_info((*at)++, &info)) {
			*model = (struct model){ .name = info.name, .text = info.desc,
						 .present = info.is_present,
						 .events = info.nevents };
			return true;
		}
	return false;
}

bool models_is_known(const char *name)
{
	struct model m;

	for (int at = 0; models_next(&at, &m);)
		if (!strcmp(m.name, name))
			return true;
	return false;
}

const char *models_text(const char *name)
{
	struct table_model table;
	struct model m;

	for (int at = 0; tables_next(&at, &table);)
		if (!strcmp(table.name, name))
			return table.text;
	for (int at = 0; models_next(&at, &m);)
		if (!strcmp(m.name, name))
			return m.text;
	return "";
}

bool models_has(const char *name)
{
	return libpfm_initialize() && pfm_find_event(name) >= 0;
}

bool models_event_next(const char *name, int *at, struct model_event *event)
{
	pfm_event_info_t info = { .size = sizeof(info) };
	pfm_pmu_info_t pmu;

	if (*at < 0) {
		if (!libpfm_initialize())
			return false;
		for (int i = 0; i < PFM_PMU_MAX && *at < 0; i++)
			if (get_info(i, &pmu) && !strcmp(pmu.name, name))
				*at = pmu.first_event;
	}
	if (*at < 0 || pfm_get_event_info(*at, PFM_OS_NONE, &info) != PFM_SUCCESS)
		return false;
	*event = (struct model_event){ .name = info.name, .text = info.desc ? info.desc : "",
				       .index = *at };
	*at = pfm_get_event_next(*at);
	if (*at < 0)
		*at = INT32_MAX;	/* no more events: no event has this index */
	return true;
}

bool models_attribute(int index, int i, struct model_attribute *attribute)
{
	pfm_event_attr_info_t info = { .size = sizeof(info) };

	if (pfm_get_event_attr_info(index, i, PFM_OS_PERF_EVENT_EXT, &info) != PFM_SUCCESS)
		return false;
	*attribute = (struct model_attribute){ .name = info.name,
		.text = info.desc ? info.desc : "", .umask = info.type == PFM_ATTR_UMASK,
		.is_default = info.is_dfl, .number = info.type == PFM_ATTR_MOD_INTEGER };
	return true;
}

/*
 * Return the canonical name for FULL, in which libpfm4 spells out every attribute.  Keep
 * umasks and modifiers that are not 0; drop attributes that perf's modifiers and terms express.
 */
static const char *canonical_name(struct arena *arena, const char *full)
{
	static const char *const perf_attributes[] = {
		"u=", "k=", "h=", "precise=", "excl=", "pinned=", "mg=", "mh=", "period=", "freq=",
		"hw_smpl=", "cpu=",
	};
	struct slice left = { full, strlen(full) };
	char name[LONGEST_NAME] = "";
	size_t used = 0;

	for (int n = 0; left.size > 0; n++) {
		struct slice part = slice_cut(&left, ":");
		const char *equals = memchr(part.at, '=', part.size);
		bool drop = equals && slice_is((struct slice){ equals, part.size - (size_t)
			(equals - part.at) }, "=0");
		for (size_t i = 0; i < sizeof(perf_attributes) / sizeof(*perf_attributes); i++)
			drop |= slice_starts(part, perf_attributes[i]);
		if (!drop && used < sizeof(name))	/* the empty part after the model is "::" */
			used += (size_t)snprintf(name + used, sizeof(name) - used, "%s%.*s",
						 n ? ":" : "", (int)part.size, part.at);
	}
	return arena_text(arena, name, sizeof(name));
}

/* An event as libpfm4 encodes it. */
struct model_encoding {
	struct perf_event_attr attr;
	const char *base;	/* canonical name */
	const char *pmu;	/* its PMU, if this machine lacks it; otherwise NULL */
	int cpu;		/* CPU to open it on, or -1 */
};

/*
 * Encode NAME, an event of an uncore PMU that this machine lacks.  libpfm4 does not know the
 * PMU's type, but the values of its registers, which are the config words of the kernel's
 * driver.
 */
static int encode_absent(struct arena *arena, const char *name, struct model_encoding *out)
{
	/* If libpfm4 sets bits 20 and 22 (interrupt, enable), the driver sets these, 16 and 17. */
	const uint64_t driven = 1 << 20 | 1 << 22, ring = 1 << 16 | 1 << 17;
	pfm_pmu_encode_arg_t arg = { .size = sizeof(arg) };
	pfm_event_info_t event = { .size = sizeof(event) };
	pfm_pmu_info_t pmu = { .size = sizeof(pmu) };
	char *full = NULL;

	arg.fstr = &full;
	int status = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &arg);
	if (status == PFM_SUCCESS &&
	    (pfm_get_event_info(arg.idx, PFM_OS_NONE, &event) != PFM_SUCCESS ||
	     pfm_get_pmu_info(event.pmu, &pmu) != PFM_SUCCESS || pmu.type != PFM_PMU_TYPE_UNCORE ||
	     arg.count < 1))
		status = PFM_ERR_NOTSUPP;
	if (status == PFM_SUCCESS && full) {
		bool is_driven = (arg.codes[0] & driven) == driven;
		out->attr.type = EVENT_TYPE_ABSENT;
		out->attr.config = arg.codes[0] & ~(is_driven ? driven | ring : 0);
		/* the event's two filter registers, if any */
		out->attr.config1 = (arg.count > 1 ? arg.codes[1] : 0) |
				    (arg.count > 2 ? arg.codes[2] << 32 : 0);
		out->base = canonical_name(arena, full);
		out->pmu = pmu.name;
	}
	free(full);
	free(arg.codes);
	return status;
}

/* Encode NAME.  Returns libpfm4's status: PFM_SUCCESS or an error. */
static int encode(struct arena *arena, const char *name, struct model_encoding *out)
{
	pfm_perf_encode_arg_t arg = { .size = sizeof(arg), .attr = &out->attr };
	char *full = NULL;

	memset(&out->attr, 0, sizeof(out->attr));
	out->attr.size = sizeof(out->attr);
	arg.fstr = &full;
	int status = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3 | PFM_PLMH,
					       PFM_OS_PERF_EVENT_EXT, &arg);
	if (status == PFM_SUCCESS && full) {
		out->base = canonical_name(arena, full);
		out->cpu = arg.cpu;
	}
	free(full);
	return status == PFM_ERR_NOTSUPP ? encode_absent(arena, name, out) : status;
}

/* Return the last ':' in NAME if only characters in LETTERS follow it; otherwise NULL. */
static char *letters_part(char *name, const char *letters)
{
	char *colon = strrchr(name, ':');

	return colon && colon > name && colon[-1] != ':' && colon[1] &&
	       strspn(colon + 1, letters) == strlen(colon + 1) ? colon : NULL;
}

/* Append MORE to LETTERS, which has SIZE bytes; what does not fit is left out. */
static void add_letters(char *letters, size_t size, const char *more)
{
	size_t used = strlen(letters), room = size - used - 1, length = strlen(more);

	length = length < room ? length : room;
	memcpy(letters + used, more, length);
	letters[used + length] = '\0';
}

/*
 * Encode NAME after cutting perf's modifiers off its end into LETTERS.  u, k and h are always
 * modifiers.  The other letters may be umasks of some models, so they are modifiers only if
 * libpfm4 rejects them.
 */
static int encode_with_letters(struct arena *arena, char *name, char *letters, size_t size,
			       struct model_encoding *out)
{
	char *colon;

	*letters = '\0';
	while ((colon = letters_part(name, "ukh")) != NULL) {
		add_letters(letters, size, colon + 1);
		*colon = '\0';
	}
	int status = encode(arena, name, out);
	if (status == PFM_ERR_ATTR && (colon = letters_part(name, "ukhGHpPIDSW")) != NULL) {
		add_letters(letters, size, colon + 1);
		*colon = '\0';
		status = encode(arena, name, out);
	}
	return status;
}

/*
 * Make sure that libpfm4 can parse E's name.  It rejects some of its own full names: a umask
 * may stand for several that exclude each other.  E then gets NAME, as typed, with its model.
 */
static void keep_parsable(struct arena *arena, const char *name, struct model_encoding *e)
{
	struct model_encoding parsed = { .cpu = -1 };

	if (encode(arena, e->base, &parsed) == PFM_SUCCESS &&
	    parsed.attr.config == e->attr.config && parsed.attr.config1 == e->attr.config1 &&
	    !strcmp(parsed.base, e->base))
		return;
	const char *colons = strstr(name, "::") ? NULL : strstr(e->base, "::");
	size_t model = colons ? (size_t)(colons + 2 - e->base) : 0, size = strlen(name) + 1;
	char *typed = arena_alloc(arena, model + size);
	memcpy(typed, e->base, model);
	memcpy(typed + model, name, size);
	e->base = typed;
}

/* Find the table of the model called NAME. */
static bool find_table(struct slice name, struct table_model *table)
{
	for (int at = 0; tables_next(&at, table);)
		if (slice_is(name, table->name))
			return true;
	return false;
}

/*
 * Return whether the maker's code of EVENT with the umask WITH, if its TABLE has one, is a part
 * of E, which has other umasks, too.
 */
static bool agrees(const struct model_encoding *e, const struct table_model *table,
		   struct slice event, struct slice with)
{
	struct table_event maker;
	char name[LONGEST_NAME];
	int size = snprintf(name, sizeof(name), "%.*s.%.*s", (int)event.size, event.at,
			    (int)with.size, with.at);

	if (!tables_find(table->number, (struct slice){ name, (size_t)size }, &maker))
		return true;
	return (maker.config & 0xff) == (e->attr.config & 0xff) &&
	       !(maker.config & 0xff00 & ~e->attr.config);
}

/* Return the first umask of NAME, MODEL::EVENT:UMASK:..., that does not agree with E. */
static struct slice find_disagreement(const struct model_encoding *e,
				      const struct table_model *table, const char *name)
{
	const char *colons = strstr(name, "::");
	struct slice left = { colons ? colons + 2 : name, 0 };

	left.size = strlen(left.at);
	struct slice event = slice_cut(&left, ":.");
	while (left.size > 0) {
		struct slice part = slice_cut(&left, ":.");
		if (!memchr(part.at, '=', part.size) && !agrees(e, table, event, part))
			return part;
	}
	return (struct slice){ NULL, 0 };
}

/*
 * Make sure that E, which libpfm4 encoded for NAME, has the maker's code: some of libpfm4's codes
 * are wrong.  The maker's table replaces the code, if it has the whole name.  False (reported):
 * libpfm4's code of a part of the name differs from the maker's, and the table does not have the
 * whole name.
 */
static bool take_makers_code(struct event_parser *p, const struct event_item *item,
			     const char *name, struct model_encoding *e)
{
	struct slice left = { e->base, strlen(e->base) }, model = slice_cut(&left, ":");
	struct maker_encoding maker;
	struct table_model table;

	if (left.size == 0 || *left.at != ':' || !find_table(model, &table))
		return true;
	left.at++;
	left.size--;
	if (makers_encode(&table, left, &maker) == EVENT_ADDED) {
		e->attr.config = maker.event.config;
		e->attr.config1 = maker.event.config1;
		e->base = arena_text(&p->list->arena, maker.base, sizeof(maker.base));
		return true;
	}
	struct slice wrong = find_disagreement(e, &table, e->base);
	if (!wrong.at)
		wrong = find_disagreement(e, &table, name);
	return !wrong.at || event_wrong(p, item->all.at, "libpfm4 and the maker of '%s' have "
					"different codes for the umask '%.*s': use it alone",
					table.name, (int)wrong.size, wrong.at);
}

/*
 * BASE is MODEL::EVENT.  Return the description of MODEL if this machine's model is another; or
 * NULL.
 */
static const char *find_foreign(struct event_parser *p, const char *base)
{
	const char *colons = strstr(base, "::");
	struct slice name = { base, colons ? (size_t)(colons - base) : 0 };
	struct model m;

	for (int at = 0; colons && models_next(&at, &m);)
		if (slice_is(name, m.name))
			return m.present || makers_is_present(p, name) ? NULL : m.text;
	return NULL;
}

/* Add the event E; LETTERS are modifiers in addition to those that libpfm4 parsed. */
static bool add(struct event_parser *p, struct event_item *item, const struct model_encoding *e,
		const char *letters)
{
	const struct perf_event_attr *attr = &e->attr;
	bool some = attr->exclude_user || attr->exclude_kernel;
	struct event event = { .attr = { .type = attr->type, .config = attr->config,
					 .config1 = attr->config1, .config2 = attr->config2,
					 .branch_sample_type = attr->branch_sample_type,
					 .sample_type = attr->sample_type } };
	char all[80];	/* LETTERS has fewer than 64, and up to 7 are added here */

	event.base = e->base;
	if (attr->type == PERF_TYPE_RAW)
		event.foreign = find_foreign(p, e->base);
	if (e->pmu)
		event.pmu = e->pmu;
	else
		pmu_event_bind(p, &event);
	if (e->cpu >= 0) {
		event.cpu = arena_copy(&p->list->arena, &e->cpu, sizeof(e->cpu));
		event.cpus = 1;
		event.per_cpu = true;
	}
	if (attr->freq)
		item->frequency = attr->sample_freq;
	else if (attr->sample_period)
		item->period = attr->sample_period;
	snprintf(all, sizeof(all), "%s%s%s%s%s%s", letters,
		 some && !attr->exclude_user ? "u" : "", some && !attr->exclude_kernel ? "k" : "",
		 &"ppp"[3 - attr->precise_ip], attr->exclusive ? "e" : "",
		 attr->pinned ? "D" : "");
	const char *kept = arena_text(&p->list->arena, all, sizeof(all));
	struct event_rates rates = alias_rates(e->base);
	return event_parser_add(p, item, event, (struct slice){ kept, strlen(kept) }, &rates);
}

/* Report a wrong umask or modifier in NAME, with the most similar one, or a list of umasks. */
static bool wrong_attribute(struct event_parser *p, const struct event_item *item, char *name)
{
	struct model_attribute a;
	struct suggestion s = { .distance = 0 };
	char list[256] = "";
	size_t used = 0;
	int index = -1;

	char *part = strrchr(name, ':');
	char *end = strstr(name, "::");
	end = strpbrk(end ? end + 2 : name, ":.");
	if (part && end)
		suggest_begin(&s, (struct slice){ part + 1, strcspn(part + 1, "=") });
	if (end)
		*end = '\0';
	index = pfm_find_event(name);
	for (int i = 0; index >= 0 && models_attribute(index, i, &a); i++) {
		suggest_try(&s, a.name);
		if (a.umask && used + 40 < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used ? ", " : "", a.name);
	}
	if (*s.best && s.distance > 0)
		return event_wrong(p, item->all.at, "'%s' has no umask or modifier '%s': did you "
				   "mean '%s'?", name, part + 1, s.best);
	if (*list)
		return event_wrong(p, item->all.at, "'%s' needs one of the umasks %s", name, list);
	return event_wrong(p, item->all.at, "'%s' does not support this modifier", name);
}

enum event_found models_parse(struct event_parser *p, struct event_item *item)
{
	const char *model = p->options->model;
	char name[LONGEST_NAME], letters[64];
	struct model_encoding encoding = { .cpu = -1 };
	struct maker maker[MOST_MAKERS];

	if (item->has_terms || item->all.size + 64 >= sizeof(name) || !libpfm_initialize())
		return EVENT_UNKNOWN;
	bool qualified = memmem(item->all.at, item->all.size, "::", 2) != NULL;
	snprintf(name, sizeof(name), "%s%s%.*s", model && !qualified ? model : "",
		 model && !qualified ? "::" : "", (int)item->all.size, item->all.at);
	if (model && !qualified && !models_is_known(model)) {
		if (makers_select(p, (struct slice){ "", 0 }, maker) > 0)
			return EVENT_UNKNOWN;
		report_because(p->report, REPORT_NOT_FOUND);
		event_wrong(p, item->all.at, "unknown event '%s'; neither a maker's table nor "
			    "libpfm4 has the model '%s'", strchr(name, ':') + 2, model);
		return EVENT_WRONG;
	}
	int status = encode_with_letters(&p->list->arena, name, letters, sizeof(letters),
					 &encoding);
	switch (status) {
	case PFM_SUCCESS:
		keep_parsable(&p->list->arena, name, &encoding);
		if (!take_makers_code(p, item, name, &encoding))
			return EVENT_WRONG;
		return add(p, item, &encoding, letters) ? EVENT_ADDED : EVENT_WRONG;
	case PFM_ERR_ATTR: case PFM_ERR_UMASK: case PFM_ERR_FEATCOMB:
		wrong_attribute(p, item, name);
		return EVENT_WRONG;
	case PFM_ERR_NOTFOUND:
		return EVENT_UNKNOWN;
	default:
		event_wrong(p, item->all.at, "libpfm4 cannot encode '%s': %s", name,
			    pfm_strerror(status));
		return EVENT_WRONG;
	}
}

/* Return whether MODEL of libpfm4 has EVENT, a name with its umasks and modifiers. */
static bool has_event(struct arena *arena, const char *model, struct slice event)
{
	struct model_encoding unused = { .cpu = -1 };
	struct maker_encoding maker;
	struct table_model table;
	char name[LONGEST_NAME], letters[64];

	if (find_table((struct slice){ model, strlen(model) }, &table) &&
	    makers_encode(&table, event, &maker) == EVENT_ADDED)
		return true;
	snprintf(name, sizeof(name), "%s::%.*s", model, (int)strcspn(event.at, ":."), event.at);
	if (pfm_find_event(name) < 0)
		return false;		/* this costs far less than encoding the name */
	snprintf(name, sizeof(name), "%s::%.*s", model, (int)event.size, event.at);
	return encode_with_letters(arena, name, letters, sizeof(letters), &unused) == PFM_SUCCESS;
}

/* A list of models: the first few names, and the number of all. */
struct model_names {
	char *text;
	size_t size, used;
	int count;
};

static void add_name(struct model_names *names, const char *name)
{
	enum { MOST = 8 };

	if (names->count++ < MOST && names->used < names->size)
		names->used += (size_t)snprintf(names->text + names->used,
						names->size - names->used, "%s%s",
						names->used ? ", " : "", name);
	else if (names->used < names->size)
		snprintf(names->text + names->used, names->size - names->used, " and %d others",
			 names->count - MOST);
}

bool models_having(const struct event_parser *p, const struct event_item *item, char *list,
		   size_t size)
{
	struct model_names names = { .text = list, .size = size };
	struct maker_encoding maker;
	struct table_model table;
	struct model m;

	*list = '\0';
	if (item->has_terms || item->all.size + 64 >= LONGEST_NAME || p->options->model ||
	    memmem(item->all.at, item->all.size, "::", 2))
		return false;
	for (int at = 0; models_next(&at, &m); )
		if (has_event(&p->list->arena, m.name, item->all))
			add_name(&names, m.name);
	for (int at = 0; tables_next(&at, &table); )
		if (!models_is_known(table.name) &&
		    makers_encode(&table, item->all, &maker) == EVENT_ADDED)
			add_name(&names, table.name);
	return names.count > 0;
}

void models_suggest(const struct event_parser *p, const struct event_item *item,
		    struct suggestion *s)
{
	char wanted[64];
	struct slice left = item->all, model_name = left;
	struct model m;
	struct model_event e;
	bool qualified = memmem(left.at, left.size, "::", 2) != NULL;

	if (qualified) {
		model_name = slice_cut(&left, ":");
		slice_cut(&left, ":");
	}
	s->wanted = slice_cut(&left, ":");
	if (model_name.size >= sizeof(wanted))
		return;
	snprintf(wanted, sizeof(wanted), "%.*s", (int)model_name.size, model_name.at);
	for (int at = 0; models_next(&at, &m);) {
		if (qualified ? strcmp(m.name, wanted) : p->options->model
		    ? strcmp(m.name, p->options->model) : !m.present)
			continue;
		for (int i = -1; models_event_next(m.name, &i, &e);)
			suggest_try(s, e.name);
	}
}
