/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz-labels - labels records and samples in any order, with any raw data: none reads beyond its
 * bytes, and a sample that gets labels gets those that were written for it.
 *
 * Each step takes a byte that says what to write, and a byte with event, thread, CPU and address.
 */
#include "labels/label-join.h"
#include "record/label-payload.h"
#include "resolved/label-sets.h"
#include "stream/writer.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENTS = 3, LABELS = 2, IDS = 10 };	/* events 0 and 1 are sampled */

struct step {
	uint8_t what, where;	/* WHERE: two bits each of event, thread, CPU, address */
	uint64_t time;
};

static void write_events(struct output *out)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	};

	writer_header(out);
	for (uint64_t id = IDS; id < IDS + EVENTS; id++) {
		attr.config = id == IDS + LABELS ? PERF_COUNT_SW_BPF_OUTPUT : id - IDS;
		if (id == IDS + LABELS)
			attr.sample_type |= PERF_SAMPLE_RAW;
		writer_attr(out, &attr, &id, 1);
	}
	writer_event_name(out, IDS + LABELS, LABEL_EVENT);
}

static void write_fixed(struct writer *w, uint64_t id, const struct step *s)
{
	writer_u64(w, id);
	writer_u64(w, 0x400000 + (s->where >> 6));
	writer_u32(w, 42);
	writer_u32(w, 42 + (s->where >> 2 & 3));
	writer_u64(w, s->time);
	writer_u32(w, s->where >> 4 & 3);
	writer_u32(w, 0);
}

/* The labels of a step: the key is "k", the value its WHERE and its time. */
static void write_good_labels(struct output *out, const struct step *s)
{
	uint8_t value[12];
	struct writer w;

	memcpy(value, &s->where, 1);
	memcpy(value + 1, &s->time, 8);
	writer_begin(&w, out, PERF_RECORD_SAMPLE, 0);
	write_fixed(&w, IDS + LABELS, s);
	writer_u32(&w, LABEL_PAYLOAD_HEAD + 3 + 9);
	writer_u32(&w, LABEL_MAGIC);
	writer_bytes(&w, (const uint8_t[]){ LABEL_STATUS_LABELS, 1, 0, LABEL_FORM_SLICE }, 4);
	writer_u64(&w, s->where & 1);
	writer_u64(&w, 0x400000 + (s->where >> 6));
	writer_u32(&w, 3 + 9);
	writer_u32(&w, 1);
	writer_bytes(&w, (const uint8_t[]){ 1, 'k', 9 }, 3);
	writer_bytes(&w, value, 9);
	writer_end(&w);
}

/* A labels record for an address where no sample is, so its labels must not appear. */
static void write_raw(struct output *out, const struct step *s, const uint8_t *bytes, size_t size,
		      bool with_head)
{
	struct writer w;

	writer_begin(&w, out, PERF_RECORD_SAMPLE, 0);
	write_fixed(&w, IDS + LABELS, s);
	writer_u32(&w, (uint32_t)(size + (with_head ? 20 : 1)));
	if (with_head) {
		writer_u32(&w, LABEL_MAGIC);
		writer_bytes(&w, bytes, size < 4 ? size : 4);
		writer_u64(&w, s->where & 1);
		writer_u64(&w, 0x500000);
		writer_bytes(&w, bytes + (size < 4 ? size : 4), size < 4 ? 0 : size - 4);
	} else {
		writer_u8(&w, 0);	/* not the magic, which would make it any labels record */
		writer_bytes(&w, bytes, size);
	}
	writer_end(&w);
}

static void write_step(struct output *out, const struct step *s, const uint8_t **data,
		       const uint8_t *end)
{
	size_t size = (size_t)(end - *data), want = (s->what >> 3) * 8u;
	struct writer w;

	size = size < want ? size : want;
	switch (s->what & 7) {
	case 0: case 1: case 2:
		writer_begin(&w, out, PERF_RECORD_SAMPLE, 0);
		write_fixed(&w, IDS + (s->where & 1), s);
		writer_end(&w);
		break;
	case 3: case 4: case 5:
		write_good_labels(out, s);
		break;
	case 6:
		write_raw(out, s, *data, size, s->where & 2);
		*data += size;
		break;
	default:
		writer_begin(&w, out, PERF_RECORD_LOST, 0);
		writer_u64(&w, IDS);
		writer_u64(&w, 1);
		writer_end(&w);
	}
}

static void write_stream(int fd, const uint8_t *data, size_t size)
{
	struct report report = { .tool = "fuzz-labels", .quiet = true };
	const uint8_t *end = data + size;
	struct step s = { .time = 1 };
	struct output out;
	char file[64];

	snprintf(file, sizeof(file), "/proc/self/fd/%d", fd);
	output_open(&out, file, &report);
	write_events(&out);
	while (end - data >= 2) {
		s.what = *data++;
		s.where = *data++;
		s.time += s.what >> 7;
		write_step(&out, &s, &data, end);
	}
	output_close(&out);
}

/* Stop if SAMPLE has the labels of another step. */
static void check(const struct sample *sample)
{
	const uint8_t *at = sample->labels.text.at;

	if (!sample->labels.is_known)
		return;
	for (unsigned i = 0; i < sample->labels.pairs; i++) {
		struct label_text t = label_next(&at);
		uint8_t where;
		uint64_t time;
		if (t.key_size != 1 || *t.key != 'k' || t.value_size != 9)
			abort();	/* raw data, for another address */
		memcpy(&where, t.value, 1);
		memcpy(&time, t.value + 1, 8);
		if ((where & 1) != sample->event || 42 + (where >> 2 & 3) != sample->tid ||
		    (where >> 4 & 3u) != sample->cpu || 0x400000u + (where >> 6) != sample->ip ||
		    time != sample->time)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report report = { .tool = "fuzz-labels", .quiet = true };
	struct label_sets sets = { .version = 0 };
	struct label_join join = { .count = 0 };
	struct sample sample;
	struct record rec;
	char file[64];

	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0)
		abort();
	write_stream(fd, data, size);
	snprintf(file, sizeof(file), "/proc/self/fd/%d", fd);
	struct stream_reader *in = stream_open(file, NULL, &report);
	while (stream_next(in, &rec)) {
		label_join_follow(&join, &rec);
		if (rec.type != PERF_RECORD_SAMPLE || !stream_sample(in, &rec, &sample) ||
		    label_join_take(&join, in, &rec, &sample))
			continue;
		check(&sample);
		if (sample.labels.is_known)
			label_sets_of_sample(&sets, &sample.labels);
	}
	stream_close(in);
	label_join_release(&join);
	label_sets_release(&sets);
	close(fd);
	return 0;
}
