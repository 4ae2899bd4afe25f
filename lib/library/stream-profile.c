/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a profile of a whole stream. */
#include "aggregate/collect.h"
#include "library/pprof.h"
#include "library/stream.h"

#include <stdlib.h>

struct profile_making {
	struct pmukit_stream *s;
	const char *labels;
	uint8_t *bytes;		/* NULL: there is nothing to make a profile of */
	size_t size;
};

static void take_subject(struct collect *c, struct collect_subject *subject, void *making)
{
	struct profile_making *m = making;

	subject->profile.only = c->how.selection.event;
	if (!profile_has_types(&subject->profile, stream_events(c->in)))
		return;
	m->bytes = profile_take(&subject->profile, stream_events(c->in), stream_origin(c->in),
				&m->size);
}

/* As pmu-topprof: slices of time, unless labels are chosen, show how a profile varies. */
static struct collect_options how_to_collect(const struct profile_making *m)
{
	const struct pmukit_stream *s = m->s;
	struct collect_options how = {
		.resolve = s->options.resolve, .selection = s->selection, .labels = m->labels,
		.unwind = !(s->options.flags & PMUKIT_KEEP_DUMPS),
	};

	if (!m->labels) {
		how.slices = COLLECT_USUAL_SLICES;
		how.slice_stacks = COLLECT_USUAL_STACKS;
	}
	return how;
}

/* Collect the samples of M->s with C. */
static int collect_all(struct profile_making *m, struct collect *c)
{
	struct pmukit_stream *s = m->s;
	struct report *report = &s->handle.report;

	collect_begin(c, s->in, take_subject, m);
	while (collect_next(c))
		;
	resolver_name_late(c->resolver, s->in);
	collect_finish(c);
	resolver_save(c->resolver);
	if (!selection_check_event(&s->selection, stream_events(s->in), report))
		return PMUKIT_NOT_FOUND;
	if (stream_error(s->in))
		return PMUKIT_SYSTEM;
	if (!m->bytes && !s->handle.sentence[0])
		report_error(report, "'%s' has no event that was sampled", s->input.name);
	return m->bytes ? 0 : handle_status(&s->handle, PMUKIT_DAMAGED);
}

static int make_profile(void *arguments)
{
	struct profile_making *m = arguments;
	struct pmukit_stream *s = m->s;
	const struct collect_options how = how_to_collect(m);
	int status = PMUKIT_WRONG_ARGUMENT;
	const char *wrong;
	struct collect c;

	if (s->has_begun) {
		report_error(&s->handle.report, "records of the stream were read before: a profile "
			     "needs all");
		return status;
	}
	if (collect_init(&c, &how, &s->handle.report, &wrong)) {
		s->has_begun = s->is_told = true;
		status = collect_all(m, &c);
	} else {
		report_error(&s->handle.report, "a stream has no label '%s'; it has %s", wrong,
			     label_names);
	}
	collect_release(&c);
	stream_keep_damage(s);
	if (status < 0)
		free(m->bytes);
	return status;
}

struct pmukit_pprof *pmukit_stream_profile(struct pmukit_stream *s, const char *labels)
{
	struct profile_making m = { .s = s, .labels = labels };

	if (guarded(s ? &s->handle : NULL, HANDLE_STREAM, make_profile, &m) < 0)
		return NULL;
	const struct handle *h = &s->handle;
	const struct pmukit_options options = {
		.size = sizeof(options), .message = h->message, .context = h->context,
	};
	struct pmukit_pprof *p = pprof_from_bytes(m.bytes, m.size, "the profile", &options);
	free(m.bytes);
	if (p && s->damage[0])
		fail(PMUKIT_DAMAGED, "%s", s->damage);
	return p;
}
