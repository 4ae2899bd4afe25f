/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of the last sample of a stream. */
#include "library/stream.h"

static void add_raw(struct pmukit_stream *s)
{
	struct resolved_sample resolved;

	resolver_fields(s->resolver, s->in, &s->sample, &resolved);
	resolver_frames(s->resolver, s->in, &s->sample, &resolved);
	const uint64_t *address = resolver_addresses(s->resolver);
	frame_list_begin(&s->frames, &s->tables);
	for (uint32_t i = 0; i < resolved.frames; i++)
		frame_list_add(&s->frames, &s->tables, resolved.frame[i], address[i]);
}

static void add_resolved(struct pmukit_stream *s)
{
	frame_list_begin(&s->frames, &s->tables);
	for (uint32_t i = 0; i < s->resolved.frames; i++)
		frame_list_add(&s->frames, &s->tables, s->resolved.frame[i], 0);
}

static int find_frames(void *arguments)
{
	struct pmukit_stream *s = arguments;

	if (s->last == LAST_RAW)
		add_raw(s);
	else if (s->last == LAST_RESOLVED)
		add_resolved(s);
	else
		return 0;
	return (int)s->frames.count;
}

int pmukit_stream_frames(struct pmukit_stream *s, const struct pmukit_frame **frames)
{
	if (!frames)
		return fail(PMUKIT_WRONG_ARGUMENT, "no place for the frames");
	int status = guarded(s ? &s->handle : NULL, HANDLE_STREAM, find_frames, s);
	if (status >= 0)
		*frames = s->frames.frame;
	return status;
}
