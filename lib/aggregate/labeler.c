/* SPDX-License-Identifier: Apache-2.0 */
#include "aggregate/labeler-internal.h"
#include "labels/label-join.h"
#include "record/data-source.h"
#include "record/label-payload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	CGROUPS_MAX = 1 << 16,		/* control groups known at a time */
	CGROUPS_MEMORY = 16 << 20,	/* bytes of their paths */
};

static const char field_prefix[] = "field:";

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* Add a label.  Return false if there are too many, or another fact has this name. */
static bool add_fact(struct labeler *f, struct label_key key, struct fact fact)
{
	for (uint32_t i = 0; i < f->labels.keys; i++)
		if (!strcmp(f->labels.key[i].name, key.name))
			return f->fact[i].kind == fact.kind;
	uint32_t at = labels_add_key(&f->labels, key);
	if (at == TABLE_NONE)
		return false;
	f->fact[at] = fact;
	return true;
}

static bool add_field(struct labeler *f, const char *name)
{
	struct label_key key = { .name = name, .unit = "", .is_text = true };

	return *name && add_fact(f, key, (struct fact){ .kind = FACT_FIELD, .field = name });
}

static struct label_key key_of(enum fact_kind kind)
{
	return (struct label_key){ .name = label_kinds[kind].name, .unit = label_kinds[kind].unit,
				   .is_text = label_kinds[kind].is_text,
				   .is_sorted = kind == FACT_PROGRAM_STATE };
}

static bool add_kind(struct labeler *f, const char *name)
{
	for (int kind = 0; kind < LABELS_CHOSEN; kind++)
		if (!strcmp(label_kinds[kind].name, name))
			return add_fact(f, key_of(kind), (struct fact){ .kind = kind });
	return false;
}

/* Add a label that users do not choose by name, and that is never dropped. */
static bool add_kept(struct labeler *f, enum fact_kind kind)
{
	uint32_t key = f->labels.keys;

	if (!add_fact(f, key_of(kind), (struct fact){ .kind = kind }))
		return false;
	f->kept |= 1u << key;
	return true;
}

bool labeler_slice(struct labeler *f, uint64_t count)
{
	f->slices.most = 2 * count;
	f->slice_key = f->labels.keys;
	f->run_key = f->labels.keys + 1;
	return add_kept(f, FACT_SLICE) && add_kept(f, FACT_RUN);
}

bool labeler_parallelism(struct labeler *f)
{
	return add_kept(f, FACT_PARALLELISM);
}

bool labeler_waits(struct labeler *f, uint32_t *first)
{
	*first = f->labels.keys;
	return add_kept(f, FACT_LOCK) && add_kept(f, FACT_WAKER) && add_kept(f, FACT_ENDED) &&
	       add_kept(f, FACT_RULE);
}

/* Return the name of the program's label KEY: KEY, or "label:KEY" if KEY is one of our names. */
static const char *name_of_program(struct labeler *f, const char *key)
{
	size_t size = sizeof(LABEL_PROGRAM_PREFIX) + strlen(key);
	bool is_taken = label_is_reserved(key);

	for (uint32_t i = 0; i < f->labels.keys; i++)
		is_taken |= !strcmp(f->labels.key[i].name, key);
	char *name = arena_alloc(&f->arena, size);
	snprintf(name, size, "%s%s", is_taken ? LABEL_PROGRAM_PREFIX : "", key);
	return name;
}

/* Add the label KEY of the program.  Return its key in f->labels, or TABLE_NONE: too many. */
static uint32_t add_program_key(struct labeler *f, const char *key)
{
	struct label_key label = { .unit = "", .is_text = true, .is_sorted = true };
	uint32_t at = f->labels.keys;

	if (at == LABEL_KEYS_MAX)
		return TABLE_NONE;
	label.name = name_of_program(f, key);
	if (!add_fact(f, label, (struct fact){ .kind = FACT_PROGRAM }) || f->labels.keys == at)
		return TABLE_NONE;
	f->kept |= 1u << at;
	return at;
}

/* Add a label for the program's KEY, which is new. */
static uint32_t add_new_program_key(void *labeler, const char **key)
{
	struct labeler *f = labeler;

	*key = arena_text(&f->arena, *key, strlen(*key));
	return add_program_key(f, *key);
}

/* Ask for the label NAME of the program, "*": all. */
static bool add_program(struct labeler *f, const char *name)
{
	if (!strcmp(name, "*")) {
		f->program.all = true;
		return true;
	}
	for (uint32_t i = 0; i < f->program.keys; i++)
		if (!strcmp(f->program.key[i].key, name))
			return true;
	uint32_t label = add_program_key(f, name);
	if (label == TABLE_NONE)
		return false;
	program_labels_add(&f->program, name, label);
	return true;
}

bool labeler_wants_program(const struct labeler *f)
{
	return f->program.all || f->program.keys > 0;
}

bool labeler_choose(struct labeler *f, const char *list, const char **wrong)
{
	while (*list) {
		size_t length = strcspn(list, ",");
		const char *name = arena_text(&f->arena, list, length);
		*wrong = name;
		if (starts_with(name, field_prefix) ? !add_field(f, name + strlen(field_prefix))
		    : starts_with(name, LABEL_PROGRAM_PREFIX)
		    ? !add_program(f, name + strlen(LABEL_PROGRAM_PREFIX)) : !add_kind(f, name))
			return false;
		list += length;
		list += *list == ',';
	}
	return true;
}

static struct cgroup *find_cgroup(const struct labeler *f, uint64_t id)
{
	uint32_t at = TABLE_FIND(&f->cgroup_table, hash_u64(id), i, f->cgroup[i].id == id);

	return at == TABLE_NONE ? NULL : &f->cgroup[at];
}

static void add_cgroup(struct labeler *f, struct cgroup group)
{
	group.path = arena_text(&f->cgroup_paths, group.path, strlen(group.path));
	f->cgroup = array_grow(f->cgroup, f->cgroups, sizeof(*f->cgroup));
	f->cgroup[f->cgroups] = group;
	table_add(&f->cgroup_table, hash_u64(group.id), f->cgroups++);
}

/*
 * Forget the control groups without samples since the last call, except for new ones.  No record
 * says when a control group was removed.
 */
static void forget_cgroups(struct labeler *f)
{
	struct arena past_paths = f->cgroup_paths;
	struct cgroup *past = f->cgroup;
	uint32_t count = f->cgroups;

	f->cgroup_paths = (struct arena){ 0 };
	f->cgroup = NULL;
	f->cgroups = 0;
	table_release(&f->cgroup_table);
	for (uint32_t i = 0; i < count; i++) {
		struct cgroup group = past[i];
		bool keeps = group.is_used || i > count / 4 * 3;
		group.is_used = false;
		if (keeps && f->cgroup_paths.size < CGROUPS_MEMORY / 2)
			add_cgroup(f, group);
	}
	arena_release(&past_paths);
	free(past);
}

/* PERF_RECORD_CGROUP: u64 id; char path[] */
static void follow_cgroup(struct labeler *f, const struct record *rec)
{
	struct cursor c = rec->body;
	struct cgroup group = { .id = cursor_u64(&c), .path = cursor_string(&c) };
	struct cgroup *known = c.failed ? NULL : find_cgroup(f, group.id);

	if (c.failed || (known && !strcmp(known->path, group.path)))
		return;
	if (f->cgroup_paths.size > CGROUPS_MEMORY || f->cgroups >= CGROUPS_MAX) {
		forget_cgroups(f);
		known = find_cgroup(f, group.id);
	}
	if (known)
		known->path = arena_text(&f->cgroup_paths, group.path, strlen(group.path));
	else
		add_cgroup(f, group);
}

void labeler_follow(struct labeler *f, const struct record *rec)
{
	tasks_follow(&f->tasks, rec);
	if (rec->type == PERF_RECORD_CGROUP)
		follow_cgroup(f, rec);
	else if (rec->type == RECORD_TRACING_DATA)
		tracepoints_add(&f->tracepoints, rec->trailing);
}

static int64_t text_of(struct labeler *f, const char *text)
{
	return *text ? (int64_t)intern_text(&f->labels.texts, text) : LABEL_ABSENT;
}

/* Return the last path that a record gave for control group ID; if no record gave a path, ID. */
static int64_t cgroup_of(struct labeler *f, uint64_t id)
{
	struct cgroup *group = find_cgroup(f, id);
	char number[32];

	if (id == 0)
		return LABEL_ABSENT;
	if (group) {
		group->is_used = true;
		return text_of(f, group->path);
	}
	snprintf(number, sizeof(number), "%" PRIu64, id);
	return text_of(f, number);
}

static const char *mode_name(uint16_t misc)
{
	static const char *const modes[8] = {
		[PERF_RECORD_MISC_KERNEL] = "Host Kernel", [PERF_RECORD_MISC_USER] = "Host User",
		[PERF_RECORD_MISC_HYPERVISOR] = "Hypervisor",
		[PERF_RECORD_MISC_GUEST_KERNEL] = "Guest Kernel",
		[PERF_RECORD_MISC_GUEST_USER] = "Guest User",
	};
	const char *name = modes[misc & PERF_RECORD_MISC_CPUMODE_MASK];

	return name ? name : "Unknown";
}

/* Return a tracepoint's field as text; also numbers, because a key has only one type of value. */
static int64_t field_of(struct labeler *f, const char *name, const struct resolved_sample *s,
			const struct perf_event_attr *attr)
{
	const struct tracepoint_field *field = attr->type != PERF_TYPE_TRACEPOINT ? NULL
		: tracepoints_find(&f->tracepoints, attr->config, name);
	char text[256];
	int64_t number;

	if (!field || !(s->has & PERF_SAMPLE_RAW))
		return LABEL_ABSENT;
	if (field->is_text)
		return tracepoint_text(&f->tracepoints, field, s->raw, text, sizeof(text))
			? text_of(f, text) : LABEL_ABSENT;
	if (!tracepoint_number(&f->tracepoints, field, s->raw, &number))
		return LABEL_ABSENT;
	snprintf(text, sizeof(text), "%" PRId64, number);
	return text_of(f, text);
}

/* Return a value of the sample unchanged, or LABEL_ABSENT. */
static int64_t number_of(const struct resolved_sample *s, enum resolved_value value)
{
	bool has = s->has & resolved_value_bits[value];

	return has ? (int64_t)s->value[value] : LABEL_ABSENT;
}

/* Return a value as hexadecimal text: as a signed number a kernel address would be negative. */
static int64_t hex_of(struct labeler *f, const struct resolved_sample *s, enum resolved_value value)
{
	char text[32];

	if (!(s->has & resolved_value_bits[value]))
		return LABEL_ABSENT;
	snprintf(text, sizeof(text), "0x%" PRIx64, s->value[value]);
	return text_of(f, text);
}

/* WEIGHT is one number; in WEIGHT_STRUCT the lowest 32 bits are the latency. */
static int64_t weight_of(const struct resolved_sample *s)
{
	int64_t weight = number_of(s, VALUE_WEIGHT);

	return s->has & PERF_SAMPLE_WEIGHT_STRUCT ? (int64_t)(uint32_t)weight : weight;
}

static int64_t data_text(struct labeler *f, const struct resolved_sample *s, bool snoop)
{
	char text[64];

	if (!(s->has & PERF_SAMPLE_DATA_SRC))
		return LABEL_ABSENT;
	if (snoop)
		data_source_snoop(s->value[VALUE_DATA_SRC], text, sizeof(text));
	else
		data_source_level(s->value[VALUE_DATA_SRC], text, sizeof(text));
	return text_of(f, text);
}

/* Return the class of f->parallelism as text: 1, 2, 3-4, 5-8, and so on. */
static int64_t parallelism_of(struct labeler *f)
{
	uint32_t most = 1;
	char text[32];

	if (f->parallelism == 0)
		return LABEL_ABSENT;
	while (most < f->parallelism)
		most *= 2;
	if (most <= 2)
		snprintf(text, sizeof(text), "%" PRIu32, most);
	else
		snprintf(text, sizeof(text), "%" PRIu32 "-%" PRIu32, most / 2 + 1, most);
	return text_of(f, text);
}

static int64_t value_of(struct labeler *f, const struct fact *fact, const struct resolved_sample *s,
			const char *comm, const struct perf_event_attr *attr)
{
	switch ((enum fact_kind)fact->kind) {
	case FACT_PID:
		return s->pid;
	case FACT_TID:
		return s->tid;
	case FACT_COMM:
		return text_of(f, tasks_name_text(&f->tasks, s->pid));
	case FACT_THREAD_COMM:
		return text_of(f, comm);
	case FACT_CPU:
		return attr->sample_type & PERF_SAMPLE_CPU ? (int64_t)s->cpu : LABEL_ABSENT;
	case FACT_CGROUP:
		return s->has & PERF_SAMPLE_CGROUP ? cgroup_of(f, s->value[VALUE_CGROUP])
						   : LABEL_ABSENT;
	case FACT_TIME:
		return s->time ? (int64_t)s->time : LABEL_ABSENT;
	case FACT_MODE:
		return text_of(f, mode_name(s->misc));
	case FACT_DATA_SRC:
	case FACT_SNOOP:
		return data_text(f, s, fact->kind == FACT_SNOOP);
	case FACT_WEIGHT:
		return weight_of(s);
	case FACT_ADDR:
		return hex_of(f, s, VALUE_ADDR);
	case FACT_PHYS_ADDR:
		return hex_of(f, s, VALUE_PHYS_ADDR);
	case FACT_DATA_PAGE:
		return number_of(s, VALUE_DATA_PAGE_SIZE);
	case FACT_CODE_PAGE:
		return number_of(s, VALUE_CODE_PAGE_SIZE);
	case FACT_TRANSACTION:
		return hex_of(f, s, VALUE_TRANSACTION);
	case FACT_SLICE:
		return s->time ? (int64_t)slices_at(&f->slices, s->time) : LABEL_ABSENT;
	case FACT_RUN:			/* known at the end, as these: */
	case FACT_LOCK:
	case FACT_WAKER:
	case FACT_ENDED:
	case FACT_RULE:
		return LABEL_ABSENT;
	case FACT_PARALLELISM:
		return parallelism_of(f);
	case FACT_FIELD:
		return field_of(f, fact->field, s, attr);
	case FACT_PROGRAM:		/* set by add_program_values() */
	case FACT_PROGRAM_STATE:
		return LABEL_ABSENT;
	}
	return LABEL_ABSENT;
}

/*
 * Record in VALUE WHY labels of the program are missing.  Return false if there is no room for it.
 */
static bool set_state(struct labeler *f, const char *why, int64_t *value)
{
	uint32_t at = 0;

	while (at < f->labels.keys && f->fact[at].kind != FACT_PROGRAM_STATE)
		at++;
	if (at == f->labels.keys && !add_kept(f, FACT_PROGRAM_STATE))
		return false;
	value[at] = text_of(f, why);
	return true;
}

/*
 * Add the values of the labels that the program gave the thread of sample S.  A sample whose
 * labels are not known must not look like one that has none.
 */
static void add_program_values(struct labeler *f, const struct resolved_sample *s, int64_t *value)
{
	enum label_state state = label_state(s->labels, s->label_status);
	const char *why = state == LABELS_UNKNOWN || state == LABELS_UNREADABLE ? "not known"
			  : s->label_flags & LABEL_LEFT_OUT ? "some left out" : NULL;

	for (uint32_t i = f->labels.keys; i < LABEL_KEYS_MAX; i++)
		value[i] = LABEL_ABSENT;
	if (s->labels && state == LABELS_SOME)
		program_labels_take(&f->program, &f->labels, f->sets, s->labels - 1,
				    add_new_program_key, f, value);
	if (why)
		set_state(f, why, value);
}

bool labeler_is_by_thread(const struct labeler *f)
{
	const uint32_t by_thread = 1u << FACT_PID | 1u << FACT_TID | 1u << FACT_COMM |
				   1u << FACT_THREAD_COMM | 1u << FACT_PROGRAM |
				   1u << FACT_PROGRAM_STATE | 1u << FACT_SLICE |
				   1u << FACT_RUN;

	for (uint32_t i = 0; i < f->labels.keys; i++)
		if (!(by_thread >> f->fact[i].kind & 1))
			return false;
	return true;
}

bool labeler_add_unknown(struct labeler *f, int64_t *value)
{
	bool has_labels = f->sets && labeler_wants_program(f);

	return has_labels && set_state(f, "not known", value);
}

uint32_t labeler_labels(struct labeler *f, const struct resolved_sample *s, const char *comm,
			const struct perf_event_attr *attr)
{
	int64_t value[LABEL_KEYS_MAX];

	for (uint32_t i = 0; i < f->labels.keys; i++)
		value[i] = value_of(f, &f->fact[i], s, comm, attr);
	if (f->sets && labeler_wants_program(f))
		add_program_values(f, s, value);
	return labels_set(&f->labels, value);
}

void labeler_release(struct labeler *f)
{
	labels_release(&f->labels);
	program_labels_release(&f->program);
	tasks_release(&f->tasks);
	tracepoints_release(&f->tracepoints);
	arena_release(&f->arena);
	arena_release(&f->cgroup_paths);
	free(f->cgroup);
	table_release(&f->cgroup_table);
	*f = (struct labeler){ 0 };
}
