/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/fold.h"
#include "profile/by-id.h"

struct folding {
	const Perftools__Profiles__Profile *p;
	struct table locations, functions, mappings;	/* by id: indices into P's arrays */
};

static void add_location(const struct folding *s, uint64_t id, struct folded *f)
{
	const Perftools__Profiles__Location *l;
	uint32_t at;

	BY_ID_FIND(at, s->locations, s->p->location, id);
	if (at == TABLE_NONE)
		return;
	l = s->p->location[at];
	for (size_t k = l->n_line; k-- > 0;) {
		BY_ID_FIND(at, s->functions, s->p->function, l->line[k]->function_id);
		folded_frame(f, at == TABLE_NONE ? "?"
				: profile_string(s->p, s->p->function[at]->name));
	}
	if (l->n_line > 0)
		return;
	BY_ID_FIND(at, s->mappings, s->p->mapping, l->mapping_id);
	folded_object(f, at == TABLE_NONE ? ""
			 : profile_string(s->p, s->p->mapping[at]->filename));
}

static void add_stack(const struct folding *s, const Perftools__Profiles__Sample *sample,
		      struct folded *f)
{
	for (size_t i = 0; i < sample->n_label; i++)
		if (!strcmp(profile_string(s->p, sample->label[i]->key), "thread_comm"))
			folded_frame(f, profile_string(s->p, sample->label[i]->str));
	for (size_t i = sample->n_location_id; i-- > 0;)
		add_location(s, sample->location_id[i], f);
}

void fold_profile(const Perftools__Profiles__Profile *p, struct folded *f)
{
	struct folding s = { .p = p };
	size_t type = p->n_sample_type - 1;

	for (size_t i = 0; i < p->n_sample_type; i++)
		if (p->default_sample_type && p->sample_type[i]->type == p->default_sample_type)
			type = i;
	BY_ID_INDEX(s.locations, p->location, p->n_location);
	BY_ID_INDEX(s.functions, p->function, p->n_function);
	BY_ID_INDEX(s.mappings, p->mapping, p->n_mapping);
	for (size_t i = 0; i < p->n_sample; i++) {
		add_stack(&s, p->sample[i], f);
		folded_end(f, p->sample[i]->value[type]);
	}
	table_release(&s.locations);
	table_release(&s.functions);
	table_release(&s.mappings);
}
