/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/fold.h"
#include "base/arena.h"
#include "pprof/frames.h"
#include "record/words.h"

#include <stdlib.h>

static uint32_t number_of_function(void *folded, const char *name)
{
	return folded_name(folded, name);
}

static uint32_t number_of_object(void *folded, const char *path)
{
	return folded_object(folded, path);
}

/* Add the thread's name, if it is a label.  NUMBER: 1 + id of a name, by string; 0: not yet. */
static void add_comm(const struct decoded *d, const struct decoded_sample *sample,
		     uint32_t *number, struct folded *f)
{
	for (size_t i = 0; i < sample->labels; i++) {
		uint32_t text = sample->label[i].text;
		if (strcmp(decoded_string(d, sample->label[i].key), LABEL_THREAD_COMM))
			continue;
		if (number[text] == 0)
			number[text] = folded_name(f, decoded_string(d, text)) + 1;
		folded_frame(f, number[text] - 1);
	}
}

static void add_stack(struct frames *frames, const struct decoded_sample *sample,
		      struct folded *f)
{
	for (size_t i = sample->locations; i-- > 0;) {
		if (sample->location[i] == TABLE_NONE)
			continue;
		const struct frames_of *of = frames_of(frames, sample->location[i]);
		for (uint32_t k = of->count; k-- > 0;)
			if (!folded_frame(f, frames->name[of->first + k]))
				return;
	}
}

void fold_profile(const struct decoded *d, struct folded *f)
{
	enum { FRAMES_PER_BYTE = 4 };	/* an address takes two or three bytes of a profile */
	struct decoded_reader r = { .d = d };
	uint32_t type = decoded_default_type(d);
	struct frames frames;
	uint32_t *number = mem_zeroed(d->strings, sizeof(*number));

	folded_allow(f, FRAMES_PER_BYTE * (uint64_t)d->size);
	frames_init(&frames, d, number_of_function, number_of_object, f);
	while (decoded_next(&r)) {
		add_comm(d, &r.sample, number, f);
		add_stack(&frames, &r.sample, f);
		folded_end(f, r.sample.value[type]);
	}
	decoded_reader_release(&r);
	frames_release(&frames);
	free(number);
}
