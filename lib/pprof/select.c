/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays keep only the selected items, without gaps.  The encoded bytes are not changed. */
#include "pprof/select.h"
#include "base/arena.h"
#include "pprof/label-kinds.h"
#include "pprof/sample-type.h"
#include "record/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct decoded_label *label_of(const struct decoded *d,
					    const struct decoded_sample *sample, const char *key)
{
	for (size_t i = 0; i < sample->labels; i++)
		if (!strcmp(decoded_string(d, sample->label[i].key), key))
			return &sample->label[i];
	return NULL;
}

/* Keep the samples whose label KEY is NUMBER, or TEXT if that is given. */
static bool select_by_label(struct decoded *d, const char *key, int64_t number, const char *text,
			    const char *file, struct report *report)
{
	struct decoded_reader r = { .d = d };
	uint32_t kept = 0;
	bool known = d->samples == 0;

	while (decoded_next(&r)) {
		const struct decoded_label *l = label_of(d, &r.sample, key);
		known |= l != NULL;
		if (l && (text ? !strcmp(decoded_string(d, l->text), text) : l->number == number))
			d->sample[kept++] = d->sample[r.next - 1];
	}
	d->samples = kept;
	decoded_reader_release(&r);
	if (!known)
		report_error(report, "'%s' does not say which sample is of which %s: no sample has "
			     "the label '%s'; select from the stream, or make the profile with "
			     "--label %s", file, key, key, key);
	return known;
}

/* Return whether the comma-separated LIST has the word NAME. */
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

/* Return whether LIST asks for the label KEY of the profiled program: by label:KEY or label:*. */
static bool asks_for_program(const char *list, const char *key)
{
	char name[300];

	if (list_has(list, "label:*") && !label_is_ours(key))
		return true;
	return (size_t)snprintf(name, sizeof(name), "label:%s", key) < sizeof(name) &&
	       list_has(list, name);
}

/* Without the run, slices of two runs would become one, so both labels go together. */
static void keep_labels(struct decoded *d, const char *list)
{
	bool has_run = list_has(list, LABEL_RUN);

	d->hidden = mem_zeroed(d->strings, sizeof(*d->hidden));
	for (uint32_t i = 0; i < d->strings; i++) {
		const char *key = decoded_string(d, i);
		d->hidden[i] = !(list_has(list, key) || asks_for_program(list, key)) ||
			       (!has_run && !strcmp(key, LABEL_SLICE));
	}
}

/* Return whether the sample type TYPE has the values or the samples of EVENT, in either naming. */
static bool is_name_of(const char *type, const char *event)
{
	static const char *const ends[] = { "", TYPE_END_SAMPLES, TYPE_END_SAMPLE, TYPE_END_EVENT };
	size_t length = strlen(event);

	for (size_t k = 0; k < sizeof(ends) / sizeof(*ends); k++)
		if (!strncmp(type, event, length) && !strcmp(type + length, ends[k]))
			return true;
	return !strcmp(type, TYPE_CPU) &&	/* the sample type of clocks */
	       (!strcmp(event, "cpu-clock") || !strcmp(event, "task-clock"));
}

/* If there is only one event, its samples are called just "samples". */
static bool is_type_of(const struct decoded *d, uint32_t i, const char *event)
{
	const char *type = decoded_string(d, d->type[i].type);

	return is_name_of(type, event) ||
	       (!strcmp(type, TYPE_SAMPLES) && d->types == 2 &&
		is_name_of(decoded_string(d, d->type[1 - i].type), event));
}

/* Keep the types that KEEP marks. */
static void keep_types(struct decoded *d, const bool *keep)
{
	uint32_t kept = 0;
	bool has_default = false;

	for (uint32_t i = 0; i < d->types; i++)
		if (keep[i]) {
			has_default |= d->type[i].type == d->default_type;
			d->type[kept++] = d->type[i];
		}
	d->types = kept;
	if (!has_default)
		d->default_type = d->type[kept - 1].type;
}

static bool select_event(struct decoded *d, const char *event, const char *file,
			 struct report *report)
{
	bool *keep = mem_zeroed(d->types, sizeof(*keep)), any = false;

	for (uint32_t i = 0; i < d->types; i++) {
		keep[i] = is_type_of(d, i, event);
		any |= keep[i];
	}
	if (any)
		keep_types(d, keep);
	else
		sample_type_refuse(d, event, file, report);
	free(keep);
	return any;
}

static void select_default_type(struct decoded *d)
{
	bool *keep = mem_zeroed(d->types, sizeof(*keep));

	if (d->types > 0) {
		keep[decoded_default_type(d)] = true;
		keep_types(d, keep);
	}
	free(keep);
}

bool profile_select(struct decoded *d, const struct profile_selection *want,
		    const char *file, struct report *report)
{
	return (want->pid < 0 || select_by_label(d, LABEL_PID, want->pid, NULL, file, report)) &&
	       (want->tid < 0 || select_by_label(d, LABEL_TID, want->tid, NULL, file, report)) &&
	       (want->cpu < 0 || select_by_label(d, LABEL_CPU, want->cpu, NULL, file, report)) &&
	       (!want->comm ||
		select_by_label(d, LABEL_THREAD_COMM, 0, want->comm, file, report)) &&
	       (!want->event || select_event(d, want->event, file, report)) &&
	       (!want->labels || (keep_labels(d, want->labels), true)) &&
	       (!want->one_type || (select_default_type(d), true));
}
