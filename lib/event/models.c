/* SPDX-License-Identifier: Apache-2.0 */
#include "event/models.h"
#include "event/internal.h"

#include <inttypes.h>
#include <perfmon/pfmlib_perf_event.h>

enum { LONGEST_NAME = 512 };

/*
 * Set libpfm4 up; it does nothing the second time.  It must be told by the
 * environment that models other than this machine's are wanted.
 */
static bool begin(void)
{
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	return pfm_initialize() == PFM_SUCCESS;
}

/* libpfm4's own rendering of the kernel's generic events: alias.c has those. */
static bool is_model(const pfm_pmu_info_t *info)
{
	return info->type != PFM_PMU_TYPE_OS_GENERIC &&
	       strcmp(info->name, "perf") && strcmp(info->name, "perf_raw");
}

static bool info_of(int pmu, pfm_pmu_info_t *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return pfm_get_pmu_info((pfm_pmu_t)pmu, info) == PFM_SUCCESS && is_model(info);
}

bool models_next(int *at, struct model *model)
{
	pfm_pmu_info_t info;

	if (!begin())
		return false;
	while (*at < PFM_PMU_MAX)
		if (info_of((*at)++, &info)) {
			*model = (struct model){ .name = info.name, .text = info.desc,
						 .present = info.is_present,
						 .events = info.nevents };
			return true;
		}
	return false;
}

bool models_event_next(const char *name, int *at, struct model_event *event)
{
	pfm_event_info_t info = { .size = sizeof(info) };
	pfm_pmu_info_t pmu;

	if (*at < 0) {
		if (!begin())
			return false;
		for (int i = 0; i < PFM_PMU_MAX && *at < 0; i++)
			if (info_of(i, &pmu) && !strcmp(pmu.name, name))
				*at = pmu.first_event;
	}
	if (*at < 0 || pfm_get_event_info(*at, PFM_OS_NONE, &info) != PFM_SUCCESS)
		return false;
	*event = (struct model_event){ .name = info.name, .text = info.desc ? info.desc : "",
				       .index = *at };
	*at = pfm_get_event_next(*at);
	if (*at < 0)
		*at = INT32_MAX;	/* the last: no index there */
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
 * The canonical name, from libpfm4's full one, in which every attribute is
 * spelt out: umasks stay, and modifiers that are not 0; what perf's letters
 * and terms say is left to them.
 */
static const char *canonical(struct arena *arena, const char *full)
{
	static const char *const letters[] = {
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
		for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
			drop |= slice_starts(part, letters[i]);
		if (!drop && used < sizeof(name))	/* the empty part after the model is "::" */
			used += (size_t)snprintf(name + used, sizeof(name) - used, "%s%.*s",
						 n ? ":" : "", (int)part.size, part.at);
	}
	return arena_text(arena, name, sizeof(name));
}

/* What encode() got. */
struct encoded {
	struct perf_event_attr attr;
	const char *base;
	const char *pmu;	/* that this machine lacks; NULL: it has it */
	int cpu;
};

/*
 * Encode NAME of an uncore PMU that this machine lacks.  libpfm4 has no type for it, but
 * knows the registers of its events, and so what the kernel's driver takes.
 */
static int encode_absent(struct arena *arena, const char *name, struct encoded *out)
{
	/* Where bits 20 and 22 (interrupt, enable) are set, the driver sets these and 16, 17. */
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
		/* the two registers of a filter, if it has them */
		out->attr.config1 = (arg.count > 1 ? arg.codes[1] : 0) |
				    (arg.count > 2 ? arg.codes[2] << 32 : 0);
		out->base = canonical(arena, full);
		out->pmu = pmu.name;
	}
	free(full);
	free(arg.codes);
	return status;
}

/* Ask libpfm4 for NAME: its status, PFM_SUCCESS or what is wrong. */
static int encode(struct arena *arena, const char *name, struct encoded *out)
{
	pfm_perf_encode_arg_t arg = { .size = sizeof(arg), .attr = &out->attr };
	char *full = NULL;

	memset(&out->attr, 0, sizeof(out->attr));
	out->attr.size = sizeof(out->attr);
	arg.fstr = &full;
	int status = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3 | PFM_PLMH,
					       PFM_OS_PERF_EVENT_EXT, &arg);
	if (status == PFM_SUCCESS && full) {
		out->base = canonical(arena, full);
		out->cpu = arg.cpu;
	}
	free(full);
	return status == PFM_ERR_NOTSUPP ? encode_absent(arena, name, out) : status;
}

/* The ':' before the last part of NAME, if that part is all of LETTERS; else NULL. */
static char *letters_part(char *name, const char *letters)
{
	char *colon = strrchr(name, ':');

	return colon && colon > name && colon[-1] != ':' && colon[1] &&
	       strspn(colon + 1, letters) == strlen(colon + 1) ? colon : NULL;
}

/*
 * Encode NAME, with letters of perf's at its end cut off into LETTERS.  u, k
 * and h are always such; of the others some models have umasks, so those are
 * such only where libpfm4 does not know them.
 */
static int encode_with_letters(struct arena *arena, char *name, char *letters, size_t size,
			       struct encoded *out)
{
	char *colon;

	*letters = '\0';
	while ((colon = letters_part(name, "ukh")) != NULL) {
		size_t used = strlen(letters);
		snprintf(letters + used, size - used, "%s", colon + 1);
		*colon = '\0';
	}
	int status = encode(arena, name, out);
	if (status == PFM_ERR_ATTR && (colon = letters_part(name, "ukhGHpPIDSW")) != NULL) {
		size_t used = strlen(letters);
		snprintf(letters + used, size - used, "%s", colon + 1);
		*colon = '\0';
		status = encode(arena, name, out);
	}
	return status;
}

/*
 * libpfm4 does not take all of its own full names (some umasks stand for many,
 * which exclude each other); E then keeps the NAME as typed, with its model.
 */
static void keep_parsable(struct arena *arena, const char *name, struct encoded *e)
{
	struct encoded again = { .cpu = -1 };

	if (encode(arena, e->base, &again) == PFM_SUCCESS && again.attr.config == e->attr.config &&
	    again.attr.config1 == e->attr.config1 && !strcmp(again.base, e->base))
		return;
	const char *colons = strstr(name, "::") ? NULL : strstr(e->base, "::");
	size_t model = colons ? (size_t)(colons + 2 - e->base) : 0, size = strlen(name) + 1;
	char *typed = arena_alloc(arena, model + size);
	memcpy(typed, e->base, model);
	memcpy(typed + model, name, size);
	e->base = typed;
}

/* Add what ENCODED is; LETTERS are perf's modifiers, besides those libpfm4 took. */
static bool add(struct event_parser *p, struct event_item *item, const struct encoded *e,
		const char *letters)
{
	const struct perf_event_attr *attr = &e->attr;
	bool some = attr->exclude_user || attr->exclude_kernel;
	struct event event = { .attr = { .type = attr->type, .config = attr->config,
					 .config1 = attr->config1, .config2 = attr->config2,
					 .branch_sample_type = attr->branch_sample_type,
					 .sample_type = attr->sample_type } };
	char all[64];

	event.base = e->base;
	if (e->pmu)
		event.pmu = e->pmu;
	else
		sysfs_bind(p, &event);
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
	struct event_rates rates = rates_guess(e->base);
	return event_add(p, item, event, (struct slice){ kept, strlen(kept) }, &rates);
}

/* The nearest umask of the event that NAME starts with, or where there is none, a list. */
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
		return event_wrong(p, item->all.at, "'%s' wants one of the umasks %s", name, list);
	return event_wrong(p, item->all.at, "'%s' does not take this modifier", name);
}

/* Whether MODEL is one libpfm4 knows. */
static bool is_known(const char *model)
{
	struct model m;

	for (int at = 0; models_next(&at, &m);)
		if (!strcmp(m.name, model))
			return true;
	return false;
}

enum event_found models_parse(struct event_parser *p, struct event_item *item)
{
	const char *model = p->options->model;
	char name[LONGEST_NAME], letters[64];
	struct encoded encoded = { .cpu = -1 };

	if (item->has_terms || item->all.size + 64 >= sizeof(name) || !begin())
		return EVENT_UNKNOWN;
	bool qualified = memmem(item->all.at, item->all.size, "::", 2) != NULL;
	snprintf(name, sizeof(name), "%s%s%.*s", model && !qualified ? model : "",
		 model && !qualified ? "::" : "", (int)item->all.size, item->all.at);
	if (model && !qualified && !is_known(model)) {
		event_wrong(p, item->all.at, "'%s' is neither an event nor is '%s' a model that "
			    "libpfm4 knows", strchr(name, ':') + 2, model);
		return EVENT_WRONG;
	}
	int status = encode_with_letters(&p->list->arena, name, letters, sizeof(letters), &encoded);
	switch (status) {
	case PFM_SUCCESS:
		keep_parsable(&p->list->arena, name, &encoded);
		return add(p, item, &encoded, letters) ? EVENT_ADDED : EVENT_WRONG;
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
