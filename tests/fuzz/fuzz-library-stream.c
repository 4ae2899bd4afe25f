/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz-library-stream - any bytes as a stream of the library: by records, by samples with frames,
 * or as a profile.  The first byte says how.  In a build for fuzzing, a handle that is closed traps
 * if it has not given back everything.
 */
#include <pmukit.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *at;
	size_t left, part;
};

static ssize_t read_part(void *context, void *bytes, size_t size)
{
	struct input *in = context;
	size_t n = size < in->part ? size : in->part;

	n = n < in->left ? n : in->left;
	memcpy(bytes, in->at, n);
	in->at += n;
	in->left -= n;
	return (ssize_t)n;
}

static int write_nowhere(void *context, const void *bytes, size_t size)
{
	(void)context;
	(void)bytes;
	(void)size;
	return 0;
}

static void read_records(struct pmukit_stream *s)
{
	const struct pmukit_record *record;
	const struct pmukit_frame *frame;

	while (pmukit_stream_next(s, &record) > 0)
		if (record->size < 8 || pmukit_stream_frames(s, &frame) < 0)
			abort();
}

/* Look at each text: sanitizers see whether it is there. */
static size_t look(const struct pmukit_frame *frame, int count)
{
	size_t all = 0;

	for (int i = 0; i < count; i++) {
		all += frame[i].function ? strlen(frame[i].function) : 0;
		all += frame[i].symbol ? strlen(frame[i].symbol) : 0;
		all += frame[i].file ? strlen(frame[i].file) : 0;
		all += frame[i].object ? strlen(frame[i].object) : 0;
		all += strlen(frame[i].build_id);
	}
	return all;
}

static void read_samples(struct pmukit_stream *s)
{
	const struct pmukit_sample *sample;
	const struct pmukit_frame *frame;
	volatile size_t seen = 0;

	while (pmukit_stream_next_sample(s, &sample) > 0) {
		if (!pmukit_stream_event(s, sample->event))
			abort();
		for (size_t i = 0; i < sample->labels_size; i++)
			seen = seen + strlen(sample->labels[i].key) +
			       strlen(sample->labels[i].value);
		for (size_t i = 0; i < sample->callchain_size; i++)
			seen = seen + sample->callchain[i];
		seen = seen + strlen(sample->comm);
		int frames = pmukit_stream_frames(s, &frame);
		if (frames < 0)
			abort();
		seen = seen + look(frame, frames);
	}
}

static void make_profile(struct pmukit_stream *s)
{
	struct pmukit_pprof *p = pmukit_stream_profile(s, NULL);

	if (p && pmukit_pprof_write_callback(p, write_nowhere, NULL) < 0)
		abort();
	pmukit_pprof_close(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const ways[])(struct pmukit_stream *) = { read_records, read_samples,
								 make_profile };
	const struct pmukit_options options = { .size = sizeof(options), .files = PMUKIT_NO_FILES };

	if (size == 0)
		return 0;
	struct input in = { .at = data + 1, .left = size - 1, .part = data[0] & 4 ? 7 : 1 << 20 };
	struct pmukit_stream *s = pmukit_stream_open_callback(read_part, &in, &options);
	if (s)
		ways[(data[0] & 3) % 3](s);
	pmukit_stream_close(s);
	return 0;
}
