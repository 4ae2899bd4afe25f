/* SPDX-License-Identifier: Apache-2.0 */
/* The symbols that a recorder put into the stream, and where in them an address lies. */
#include "resolve/place-internal.h"

void places_follow_feature(struct places *p, struct stream_reader *in, const struct record *rec)
{
	struct cursor c = rec->body;

	if (cursor_u64(&c) == FEATURE_FILE && !recorded_names_add(&p->recorded, c))
		stream_damaged(in, rec, "FEATURE record with symbols that do not fit into it");
	if (p->recorded.is_full)
		report_once(p->report, "the stream has more symbols than are kept; further symbols "
			    "are dropped");
}

struct recorded_place place_recorded(const struct places *p, const struct mapping *m,
				     uint64_t address)
{
	const struct object *object = &p->spaces->objects.object[m->object];
	uint32_t file = p->recorded.files ? recorded_names_file(&p->recorded, object->path)
					  : TABLE_NONE;

	if (file == TABLE_NONE)
		return (struct recorded_place){ .file = TABLE_NONE };
	if (!m->is_jit && object->kind != OBJECT_KERNEL)
		address = recorded_names_address(&p->recorded, file,
						 address - m->start + m->file_offset,
						 address - m->start);
	return (struct recorded_place){ .file = file, .address = address };
}
