/* SPDX-License-Identifier: Apache-2.0 */
#include "branch/branches.h"

#include "base/arena.h"
#include "branch/branch-spool.h"
#include "code/instruction.h"
#include "labels/label-join.h"

#include <stdlib.h>

struct branches *branches_new(const struct branches_how *how, struct report *report)
{
	struct branches *b = mem_zeroed(1, sizeof(*b));

	b->report = report;
	b->how = *how;
	b->sources.images = (struct images){ .where = how->where, .report = report,
					     .size = sizeof(struct source) };
	sources_begin(&b->sources);
	b->spaces.rename = images_rename;
	b->spaces.rename_context = &b->sources.images;
	b->objects = (struct branch_objects){ .wanted = how->wanted,
					      .wants_all = how->is_for_people,
					      .spaces = &b->spaces, .sources = &b->sources,
					      .report = report };
	b->cells.most = how->most_cells;
	if (how->rule == BRANCH_STACKS)
		b->spool = branch_spool_new(report);
	return b;
}

/* A record that is not a sample. */
static void follow(struct branches *b, struct stream_reader *in, const struct record *rec)
{
	struct images *images = &b->sources.images;

	b->counts.is_resolved |= record_is_resolved(rec->type);
	b->spaces.all_is_code = stream_origin(in)->is_simpleperf;
	images->is_local = locate_may_ask(&images->where, stream_origin(in));
	images->origin = stream_origin(in);
	images_follow(images, rec);
	if (!spaces_follow(&b->spaces, rec))
		stream_damaged(in, rec, "record with fields that do not fit into it");
	if (b->spaces.silenced)
		report_more(b->report, b->spaces.silenced, SPACES_SILENCED, PROCESSES_MAX);
	branch_objects_sweep(&b->objects);
}

/* Fill R, which is for the mapping of ADDRESS in SPACE, where S was taken. */
static void look_up(struct branches *b, struct branch_recent *r, const struct space *space,
		    const struct sample *s, uint64_t address)
{
	const struct mapping *m = space_find(space, address);

	*r = (struct branch_recent){ .generation = space->generation, .start = address,
				     .end = address + 1, .object = UINT32_MAX };
	if (!m)
		return;
	r->start = m->start;
	r->end = m->end;
	r->file_offset = m->file_offset;
	struct branch_object *object = m->is_covered
		? NULL : branch_objects_at(&b->objects, m, s->pid, s->time);
	if (object && object->is_counted)
		r->object = m->object;
}

/* Return the place of ADDRESS in SPACE, where S was taken. */
static uint64_t find_place(struct branches *b, const struct space *space, const struct sample *s,
			   uint64_t address)
{
	enum { RECENTS = sizeof(b->recent) / sizeof(b->recent[0]) };
	struct branch_recent *r = &b->recent[(address >> 21 ^ space->generation) % RECENTS];

	if (branch_address_is_kernel(address))
		return PLACE_OUTSIDE;
	if (r->generation != space->generation || address < r->start || address >= r->end)
		look_up(b, r, space, s, address);
	if (r->object == UINT32_MAX)
		return PLACE_OUTSIDE;
	uint64_t offset = address - r->start + r->file_offset;
	/* an instruction there ends below the limit, too */
	bool is_in = offset < (1ULL << PLACE_OFFSET_BITS) - INSTRUCTION_ROOM &&
		     (!branches_omit_stubs(b) ||
		      branch_object_is_code(&b->objects.object[r->object], offset));
	return is_in ? place_make(r->object, offset) : PLACE_OUTSIDE;
}

static void add(struct branches *b, enum branch_cell_kind kind, uint64_t from, uint64_t to,
		uint64_t flags)
{
	uint64_t type = b->how.is_for_people && kind == CELL_BRANCH ? branch_type(flags) : 0;
	struct branch_cell *c = branch_cells_at(&b->cells, from,
						(uint64_t)kind << CELL_KIND_SHIFT |
						type << CELL_TYPE_SHIFT | to);

	if (!c) {
		b->drops.cells++;
		return;
	}
	c->count++;
	c->mispredicted += branch_is_mispredicted(flags);
	c->predicted += branch_is_predicted(flags);
	c->cycles += branch_cycles(flags);
}

/* Count the COUNT branches of a stack whose places are known, and the ranges if HAS_RANGES. */
static void add_by_end(struct branches *b, uint32_t count, bool has_ranges)
{
	const struct branch_entry *e = b->entry;
	const uint64_t *from = b->from, *to = b->to;

	for (uint32_t i = 0; i < count; i++) {
		if (from[i] || to[i])
			add(b, CELL_BRANCH, from[i], to[i], e[i].flags);
		if (i > 0 && has_ranges && places_are_in_one(to[i], from[i - 1]) &&
		    branch_stack_range(e, i, &b->drops))
			add(b, places_are_in_one(from[i], to[i]) ? CELL_RANGE : CELL_RANGE_ENTERED,
			    to[i], from[i - 1], e[i - 1].flags);
	}
}

/* The same by AutoFDO's rule. */
static void add_by_range(struct branches *b, uint32_t count)
{
	const struct branch_entry *e = b->entry;
	const uint64_t *from = b->from, *to = b->to;

	for (uint32_t i = 0; i < count; i++) {
		if (i > 0) {
			if (!places_are_in_one(to[i], from[i - 1]) ||
			    !branch_stack_range(e, i, &b->drops))
				continue;
			add(b, CELL_RANGE, to[i], from[i - 1], e[i - 1].flags);
		}
		if (places_are_in_one(from[i], to[i]))
			add(b, CELL_BRANCH, from[i], to[i], e[i].flags);
	}
}

/* Count for each object the branches that have an end there. */
static void count_users(struct branches *b, uint32_t count, pid_t pid)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t from = b->from[i], to = b->to[i];
		if (from)
			branch_objects_count(&b->objects, place_object(from), pid);
		if (to && !places_are_in_one(from, to))
			branch_objects_count(&b->objects, place_object(to), pid);
	}
}

/* IS_WHOLE: the stack has all branches. */
static void count_stack(struct branches *b, const struct sample *s, bool is_whole)
{
	const struct space *space = spaces_find(&b->spaces, s->pid);
	uint32_t count = branch_stack_take(s->branches, b->entry, &b->drops);

	for (uint32_t i = 0; i < count; i++) {
		const struct branch_entry *e = &b->entry[i];
		b->drops.kernel += branch_address_is_kernel(e->from) !=
				   branch_address_is_kernel(e->to);
		b->from[i] = find_place(b, space, s, e->from);
		b->to[i] = find_place(b, space, s, e->to);
		b->counts.inside += b->from[i] || b->to[i];
	}
	b->counts.entries += count;
	count_users(b, count, s->pid);
	if (b->how.rule == BRANCH_BY_END) {
		add_by_end(b, count, is_whole && b->how.counts_ranges);
	} else if (b->how.rule == BRANCH_STACKS) {
		branch_spool_add(b->spool, b, count);
	} else {
		uint64_t place = find_place(b, space, s, s->ip);
		if (place)
			add(b, CELL_ADDRESS, place, PLACE_OUTSIDE, 0);
		add_by_range(b, count);
	}
}

/* Return whether the event's samples come with time, not with branches. */
static bool is_timed(const struct perf_event_attr *attr)
{
	return event_is_cycles(attr) || event_is_clock(attr);
}

/* Return whether the branches of S, of EVENT, are of use, and count it. */
static bool is_suited(struct branches *b, const struct stream_event *event, const struct sample *s)
{
	struct branch_counts *c = &b->counts;
	enum branch_content content = branch_content(&event->attr);
	bool needs = b->how.needs_ranges || b->how.rule != BRANCH_BY_END;
	bool is_short = content == BRANCH_SOME && needs;

	c->samples++;
	if (content == BRANCH_NOTHING || s->branches.count == 0)
		return false;
	c->calls += content == BRANCH_CALL_STACK;
	c->unsuited += is_short;
	if (content == BRANCH_CALL_STACK || is_short) {
		c->unsuited_event = c->unsuited_event ?: event->name;
		return false;
	}
	c->stacks++;
	if (is_timed(&event->attr)) {
		c->timed++;
		c->timed_event = c->timed_event ?: event->name;
	}
	return true;
}

void branches_read(struct branches *b, struct stream_reader *in)
{
	const struct selection *selection = b->how.selection;
	const struct tasks *tasks = &b->spaces.tasks;
	struct record rec;
	struct sample s;

	stream_limit_waiting(in, 32 << 20);
	while (stream_next(in, &rec)) {
		if (rec.type != PERF_RECORD_SAMPLE) {
			follow(b, in, &rec);
			continue;
		}
		if (!stream_sample(in, &rec, &s))
			continue;
		const struct stream_event *event = &stream_events(in)->event[s.event];
		if (event->is_labels ||
		    !selection_takes(selection, stream_events(in), &s,
				     selection->comm ? tasks_name_text(tasks, s.tid) : ""))
			continue;
		if (is_suited(b, event, &s))
			count_stack(b, &s, branch_content(&event->attr) == BRANCH_ALL);
	}
}

struct elf *branches_elf(struct branches *b)
{
	struct branch_object *object = &b->objects.object[b->objects.binary];

	if (!object->elf) {
		const struct image *image = image_find(&b->sources.images, b->objects.binary);
		const char *path = branch_objects_path(&b->objects);
		enum locate_result why = image ? image->result : LOCATE_ABSENT;
		report_error(b->report, "the file of '%s' is needed: %s; name it with --binary",
			     path, locate_reason(why));
	}
	return object->elf;
}

void branches_free(struct branches *b)
{
	branch_spool_free(b->spool);
	branch_objects_release(&b->objects);
	branch_cells_release(&b->cells);
	if (!b->objects.has_given)
		elf_close(b->how.wanted.elf);
	images_release(&b->sources.images);
	spaces_release(&b->spaces);
	pointers_release(&b->sources.strings);
	free(b);
}
