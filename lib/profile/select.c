/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that are taken out are freed; those that stay close up.  Strings,
 * functions and locations that nothing refers to any more stay.
 */
#include "profile/select.h"
#include "base/arena.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const Perftools__Profiles__Label *label_of(const Perftools__Profiles__Profile *p,
						  const Perftools__Profiles__Sample *sample,
						  const char *key)
{
	for (size_t i = 0; i < sample->n_label; i++)
		if (!strcmp(profile_string(p, sample->label[i]->key), key))
			return sample->label[i];
	return NULL;
}

/* Keep the samples whose label KEY is NUMBER, or TEXT if that is given. */
static bool select_by_label(Perftools__Profiles__Profile *p, const char *key, int64_t number,
			    const char *text, const char *file, struct report *report)
{
	size_t kept = 0;
	bool known = p->n_sample == 0;

	for (size_t i = 0; i < p->n_sample; i++) {
		Perftools__Profiles__Sample *sample = p->sample[i];
		const Perftools__Profiles__Label *l = label_of(p, sample, key);
		known |= l != NULL;
		if (l && (text ? !strcmp(profile_string(p, l->str), text) : l->num == number))
			p->sample[kept++] = sample;
		else
			perftools__profiles__sample__free_unpacked(sample, NULL);
	}
	p->n_sample = kept;
	if (!known)
		report_error(report, "'%s' does not say which sample is of which %s: no sample has "
			     "the label '%s'; select from the stream, or make the profile with "
			     "--label %s", file, key, key, key);
	return known;
}

/* Whether LIST, separated by commas, has the word NAME. */
static bool list_has(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, name, length) && (at[length] == ',' || !at[length]))
			return true;
	}
	return false;
}

static void keep_labels(Perftools__Profiles__Profile *p, const char *list)
{
	for (size_t i = 0; i < p->n_sample; i++) {
		Perftools__Profiles__Sample *sample = p->sample[i];
		size_t kept = 0;

		for (size_t k = 0; k < sample->n_label; k++)
			if (list_has(list, profile_string(p, sample->label[k]->key)))
				sample->label[kept++] = sample->label[k];
			else
				perftools__profiles__label__free_unpacked(sample->label[k], NULL);
		sample->n_label = kept;
	}
}

/* Whether a sample type called TYPE counts EVENT, or samples of it, by either naming. */
static bool is_name_of(const char *type, const char *event)
{
	static const char *const ends[] = { "", "_samples", "_sample", "_event" };
	size_t length = strlen(event);

	for (size_t k = 0; k < sizeof(ends) / sizeof(*ends); k++)
		if (!strncmp(type, event, length) && !strcmp(type + length, ends[k]))
			return true;
	return !strcmp(type, "cpu") &&	/* what clocks are called */
	       (!strcmp(event, "cpu-clock") || !strcmp(event, "task-clock"));
}

/* The samples of a single event are called just "samples". */
static bool is_type_of(const Perftools__Profiles__Profile *p, size_t i, const char *event)
{
	const char *type = profile_string(p, p->sample_type[i]->type);

	return is_name_of(type, event) ||
	       (!strcmp(type, "samples") && p->n_sample_type == 2 &&
		is_name_of(profile_string(p, p->sample_type[1 - i]->type), event));
}

/* Keep the values of the types that KEEP marks, of each sample. */
static void keep_types(Perftools__Profiles__Profile *p, const bool *keep)
{
	size_t kept = 0;
	bool has_default = false;

	for (size_t i = 0; i < p->n_sample; i++) {
		int64_t *value = p->sample[i]->value;
		size_t n = 0;

		for (size_t k = 0; k < p->n_sample_type; k++)
			if (keep[k])
				value[n++] = value[k];
		p->sample[i]->n_value = n;
	}
	for (size_t k = 0; k < p->n_sample_type; k++)
		if (keep[k]) {
			has_default |= p->sample_type[k]->type == p->default_sample_type;
			p->sample_type[kept++] = p->sample_type[k];
		} else {
			perftools__profiles__value_type__free_unpacked(p->sample_type[k], NULL);
		}
	p->n_sample_type = kept;
	if (!has_default)
		p->default_sample_type = p->sample_type[kept - 1]->type;
}

static bool select_event(Perftools__Profiles__Profile *p, const char *event, const char *file,
			 struct report *report)
{
	bool *keep = mem_zeroed(p->n_sample_type, sizeof(*keep)), any = false;
	char names[400] = "";

	for (size_t i = 0; i < p->n_sample_type; i++) {
		size_t used = strlen(names);
		keep[i] = is_type_of(p, i, event);
		any |= keep[i];
		snprintf(names + used, sizeof(names) - used, " %s",
			 profile_string(p, p->sample_type[i]->type));
	}
	if (any)
		keep_types(p, keep);
	else
		report_error(report, "'%s' has no sample type of the event '%s'; it has%s", file,
			     event, names);
	free(keep);
	return any;
}

bool profile_select(Perftools__Profiles__Profile *p, const struct profile_selection *want,
		    const char *file, struct report *report)
{
	return (want->pid < 0 || select_by_label(p, "pid", want->pid, NULL, file, report)) &&
	       (want->tid < 0 || select_by_label(p, "tid", want->tid, NULL, file, report)) &&
	       (want->cpu < 0 || select_by_label(p, "cpu", want->cpu, NULL, file, report)) &&
	       (!want->comm ||
		select_by_label(p, "thread_comm", 0, want->comm, file, report)) &&
	       (!want->event || select_event(p, want->event, file, report)) &&
	       (!want->labels || (keep_labels(p, want->labels), true));
}
