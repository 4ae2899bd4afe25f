/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/row-origins.h"
#include "base/saturate.h"
#include "pprof/comments.h"

/* A recording: one side of one host and service.  HOST and SERVICE are names in the texts. */
struct origin {
	uint32_t host, service, is_base;
};

static struct row_time time_of(const struct figures_side *side)
{
	return (struct row_time){ side->time, side->duration };
}

static uint32_t name_of(struct row_texts *texts, const char *text, size_t size)
{
	return intern_bytes(&texts->names, text, size);
}

/* Take a fact about the rows of a host and service.  A sum of profiles may have several. */
static void take_time(struct row_origins *o, struct row_texts *texts, bool is_base,
		      const struct figures_rows *r)
{
	const struct origin of = { name_of(texts, r->host, r->host_size),
				   name_of(texts, r->service, r->service_size), is_base };
	uint32_t count = o->ids.count, id = byte_ids_add(&o->ids, &of, sizeof(of));

	if (id == count) {
		o->time = array_grow(o->time, id, sizeof(*o->time));
		o->time[id] = (struct row_time){ r->time, r->duration };
		return;
	}
	struct row_time *sum = &o->time[id];
	if (r->time && (sum->time == 0 || r->time < sum->time))
		sum->time = r->time;
	saturate_add(&sum->duration, r->duration);
}

void row_origins_read(struct row_origins *o, const struct decoded *d, struct row_texts *texts)
{
	struct figures_sides sides;
	struct figures_rows rows;
	const char *key;

	*o = (struct row_origins){ .all = { d->time, d->duration } };
	texts->members = 0;
	for (uint32_t i = 0; i < d->facts; i++) {
		const char *fact = decoded_string(d, d->fact[i]);
		const char *of_base = comment_after(fact, FIGURES_OF_BASE);
		fact = of_base ? of_base : fact;
		if (figures_read_rows(fact, &rows))
			take_time(o, texts, of_base, &rows);
		else if ((key = comment_after(fact, FIGURES_ROW_HOST_KEY)))
			row_texts_member(texts, ROW_IS_HOST, key);
		else if ((key = comment_after(fact, FIGURES_ROW_SERVICE_KEY)))
			row_texts_member(texts, ROW_IS_SERVICE, key);
		else if (!strcmp(fact, FIGURES_ROWS_UNCOUNTED))
			o->is_uncounted = true;
		else if (!of_base && figures_read_sides(fact, &sides)) {
			o->has_sides = true;
			o->side[false] = time_of(&sides.after);
			o->side[true] = time_of(&sides.base);
		}
	}
}

struct row_time row_origins_time(const struct row_origins *o, const struct row_set *set)
{
	const struct origin of = { set->host, set->service, set->is_base };
	uint32_t id = TABLE_NONE;

	if (o->ids.count > 0)
		id = byte_ids_find(&o->ids, &of, sizeof(of));
	return id != TABLE_NONE ? o->time[id] : o->has_sides ? o->side[set->is_base] : o->all;
}

void row_origins_release(struct row_origins *o)
{
	byte_ids_release(&o->ids);
	free(o->time);
}
