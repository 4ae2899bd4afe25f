/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code of JIT compilers whose names come after its samples.
 *
 * Many compilers write names when the process ends, or when somebody asks for them, long after the
 * first samples of that code. The samples need not wait for that: they refer to frames, and a NAME
 * record gives a frame its name later. So what waits are frames without a name, for each process.
 * They are looked up again when the process ends, and at the end of the stream. A restart forgets
 * all other definitions, but defines these frames anew.
 */
#include "resolve/resolver-internal.h"

#include <inttypes.h>
#include <stdlib.h>

void resolver_late_add(struct resolver *r, pid_t pid, uint32_t frame)
{
	struct jit_process *p = resolver_jit_process(r, pid);

	if (!p)
		return;
	if (r->late >= JIT_LATE_MAX) {
		r->late_refused++;
		return;
	}
	r->late++;
	p->unnamed_frame = array_grow(p->unnamed_frame, p->unnamed_frames,
				      sizeof(*p->unnamed_frame));
	p->unnamed_frame[p->unnamed_frames++] = (struct unnamed){ frame, r->time };
}

void resolver_late_forget(struct resolver *r, struct jit_process *p)
{
	r->late -= p->unnamed_frames;
	free(p->unnamed_frame);
	p->unnamed_frame = NULL;
	p->unnamed_frames = 0;
}

uint32_t *resolver_late_list(const struct resolver *r)
{
	uint32_t *frame = mem_resize(NULL, (r->late + 1) * sizeof(*frame)), at = 0;

	for (uint32_t i = 0; i < r->jits; i++)
		for (uint32_t k = 0; k < r->jit[i].unnamed_frames; k++)
			frame[at++] = r->jit[i].unnamed_frame[k].frame;
	return frame;
}

void resolver_late_renumber(struct resolver *r, const uint32_t *frame)
{
	for (uint32_t i = 0; i < r->jits; i++)
		for (uint32_t k = 0; k < r->jit[i].unnamed_frames; k++)
			r->jit[i].unnamed_frame[k].frame = *frame++;
}

/*
 * Return whether MAP has one function at ADDRESS since TIME.  If there was another one later, it is
 * unknown how many samples are of which.
 */
static bool has_one_name(struct jitmap *map, uint64_t address, uint64_t time)
{
	struct jit_place first, last;

	return jitmap_find(map, address, time, &first) &&
	       (!jitmap_find(map, address, JIT_LATEST, &last) || !strcmp(first.name, last.name));
}

/* Give names to those frames of process PID whose names have come, and keep the others. */
static void name_frames(struct resolver *r, const struct stream_reader *in, pid_t pid)
{
	struct jitmap *map = resolver_jit_find(r, in, pid);	/* this may move r->jit */
	struct jit_process *p = resolver_jit_process(r, pid);
	uint32_t kept = 0;

	if (!map)
		return;
	for (uint32_t i = 0; i < p->unnamed_frames; i++) {
		const struct unnamed u = p->unnamed_frame[i];
		const struct resolved_frame *f = &r->tables->frame[u.frame];
		struct place place = { .object = f->object, .address = f->address,
				       .source = TABLE_NONE, .jit = map };
		r->time = u.time;
		uint32_t lines = has_one_name(map, f->address, u.time)
			? resolver_find_lines(r, &place) : 0;
		if (lines)
			resolver_name_frame(r, u.frame, lines);
		else
			p->unnamed_frame[kept++] = u;
	}
	r->late -= p->unnamed_frames - kept;
	p->unnamed_frames = kept;
}

void resolver_late_name(struct resolver *r, const struct stream_reader *in, pid_t pid)
{
	struct jit_process *p = resolver_jit_process(r, pid);

	if (p->unnamed_frames && r->jit_credit >= p->unnamed_frames) {
		r->jit_credit -= p->unnamed_frames;
		resolver_jit_read_again(r, p);
		name_frames(r, in, pid);
	}
	resolver_jit_advise_at_end(r, in, resolver_jit_process(r, pid));
}

void resolver_name_late(struct resolver *r, const struct stream_reader *in)
{
	for (uint32_t i = 0; i < r->jits; i++) {
		resolver_jit_read_again(r, &r->jit[i]);
		if (r->jit[i].unnamed_frames)
			name_frames(r, in, r->jit[i].pid);
		resolver_jit_advise_at_end(r, in, &r->jit[i]);
	}
	resolver_advise_python(r, in);
	if (r->late_refused)
		report_note(r->report, "%" PRIu64 " addresses of code that was made at run time "
			    "have no names, because %d others waited for theirs", r->late_refused,
			    JIT_LATE_MAX);
}
