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
#include "resolve/internal.h"

#include <inttypes.h>

/*
 * Return whether MAP has one function at ADDRESS since TIME.  If there was another one later, it is
 * unknown how many samples are of which.
 */
static bool has_one_name(struct jitmap *map, uint64_t address, uint64_t time)
{
	struct jit_symbol first, last;

	return jitmap_find(map, address, time, &first) &&
	       (!jitmap_find(map, address, JIT_LATEST, &last) || !strcmp(first.name, last.name));
}

/* Give names to those frames of process PID whose names have come, and keep the others. */
static void name_frames(struct resolver *r, const struct stream_reader *in, pid_t pid)
{
	struct jitmap *map = jits_map(&r->jits, in, pid);	/* this may move jits.process */
	struct jit_process *p = jits_process(&r->jits, pid);
	uint32_t kept = 0;

	if (!map)
		return;
	for (uint32_t i = 0; i < p->waiting_count; i++) {
		const struct waiting_frame w = p->waiting[i];
		const struct resolved_frame *f = &r->definitions->frame[w.frame];
		struct place place = { .kind = PLACE_JIT, .object = f->object,
				       .address = f->address, .jit.time = w.time };
		if (has_one_name(map, f->address, w.time))
			jits_find(&r->jits, map, f->address, w.time, &place.jit.function);
		struct named_lines lines = namer_find(&r->namer, &place);
		if (lines.count)
			frame_set_lines(&r->frames, w.frame, &lines);
		else
			p->waiting[kept++] = w;
	}
	r->jits.waiting -= p->waiting_count - kept;
	p->waiting_count = kept;
}

void resolver_name_ended(struct resolver *r, const struct stream_reader *in, pid_t pid)
{
	struct jits *j = &r->jits;
	struct jit_process *p = jits_process(j, pid);

	if (p->waiting_count && j->credit >= p->waiting_count) {
		j->credit -= p->waiting_count;
		jits_read_again(j, p);
		name_frames(r, in, pid);
	}
	jits_advise_at_end(j, in, jits_process(j, pid));
}

void resolver_name_late(struct resolver *r, const struct stream_reader *in)
{
	enum { FEW = 100 };	/* samples */
	struct jits *j = &r->jits;

	for (uint32_t i = 0; i < j->count; i++) {
		jits_read_again(j, &j->process[i]);
		if (j->process[i].waiting_count)
			name_frames(r, in, j->process[i].pid);
		jits_advise_at_end(j, in, &j->process[i]);
	}
	if (r->python_samples >= FEW && r->python_samples > r->definitions->samples / 2)
		jits_advise_python(j, in, r->python_pid);
	if (j->refused)
		report_note(r->report, "%" PRIu64 " addresses of code that was made at run time "
			    "have no names, because %d others waited for theirs", j->refused,
			    JITS_WAITING_MAX);
}
