/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream cut at every byte: all that was whole is used, the damage is reported.  Each sample has
 * its labels, because they come first.
 */
#include "aggregate/collect.h"
#include "stream/writer.h"
#include "tests/memory-file.h"
#include "tests/unit/tap.h"

#include <sys/mman.h>
#include <unistd.h>

enum { SAMPLES = 4, SIZE_MAX_ = 1 << 20 };

struct stream {
	uint8_t *bytes;
	size_t size;
	size_t sample_end[SAMPLES];	/* where each SAMPLE is whole */
};

static size_t samples_in(const struct stream *s, size_t size)
{
	size_t n = 0;

	while (n < SAMPLES && s->sample_end[n] <= size)
		n++;
	return n;
}

/* The bytes that WRITE puts out. */
static struct stream record(void (*write)(struct output *, struct stream *, void *), void *context)
{
	struct report report = { .tool = "test-cut" };
	struct stream s = { 0 };
	struct output out;
	char file[MEMORY_FILE_PATH];

	int fd = memfd_create("stream", 0);
	snprintf(file, sizeof(file), "/proc/self/fd/%d", fd);
	output_open(&out, file, &report);
	write(&out, &s, context);
	s.size = (size_t)out.used;
	s.bytes = memcpy(mem_resize(NULL, s.size), out.buffer, s.size);
	output_close(&out);
	close(fd);
	return s;
}

/* Sample I's labels: "i" is I. */
static void write_labels(struct output *out, uint64_t id, uint64_t ip, uint64_t i)
{
	const uint8_t pair[] = { 1, 'i', 1, (uint8_t)('0' + i) };
	struct writer w;

	writer_begin(&w, out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	writer_u64(&w, id);
	writer_u64(&w, ip);
	writer_u64(&w, 42 | 42ULL << 32);
	writer_u64(&w, 2 + i);
	writer_u32(&w, LABEL_PAYLOAD_HEAD + sizeof(pair));
	writer_u32(&w, LABEL_MAGIC);
	writer_bytes(&w, (const uint8_t[]){ LABEL_STATUS_LABELS, 1, 0, LABEL_FORM_SLICE }, 4);
	writer_u64(&w, 0);		/* event */
	writer_u64(&w, ip);
	writer_u32(&w, sizeof(pair));
	writer_u32(&w, 1);
	writer_bytes(&w, pair, sizeof(pair));
	writer_end(&w);
}

/* header, recorder, an event, a mapping, a name, samples with callchains, the end */
static void write_raw(struct output *out, struct stream *s, void *context)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
		.sample_period = 1000000, .sample_id_all = 1,
	}, labels = attr;
	const uint64_t id = 7, labels_id = 8, chain[3] = { PERF_CONTEXT_USER, 0x401010, 0x401020 };
	const uint64_t span[2] = { 1, 100 };
	struct writer w;
	(void)context;

	writer_header(out);
	writer_feature_text(out, FEATURE_VERSION, "pmukit test");
	writer_attr(out, &attr, &id, 1);
	labels.config = PERF_COUNT_SW_BPF_OUTPUT;
	labels.sample_type ^= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW;
	writer_attr(out, &labels, &labels_id, 1);
	writer_event_name(out, labels_id, LABEL_EVENT);
	writer_begin(&w, out, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
	writer_u64(&w, 42 | 42ULL << 32);	/* pid, tid */
	writer_u64(&w, 0x401000);
	writer_u64(&w, 0x1000);
	writer_u64(&w, 0x1000);
	writer_string(&w, "/nonexistent/program");
	writer_u64(&w, 42 | 42ULL << 32);	/* sample_id */
	writer_u64(&w, 1);
	writer_u64(&w, id);
	writer_end(&w);
	for (uint64_t i = 0; i < SAMPLES; i++) {
		write_labels(out, labels_id, chain[1], i);
		writer_begin(&w, out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
		writer_u64(&w, id);
		writer_u64(&w, chain[1]);
		writer_u64(&w, 42 | 42ULL << 32);
		writer_u64(&w, 2 + i);
		writer_u64(&w, 3);
		writer_bytes(&w, chain, sizeof(chain));
		writer_end(&w);
		s->sample_end[i] = out->used;
	}
	writer_feature(out, FEATURE_SAMPLE_TIME, span, sizeof(span));
}

/* Open the first SIZE bytes of a stream. */
static struct stream_reader *open_part(const struct stream *s, size_t size,
				       char file[MEMORY_FILE_PATH], struct report *report)
{
	int fd = memory_file(s->bytes, size, file);
	struct stream_reader *in = stream_open(file, NULL, report);
	close(fd);
	return in;
}

/* What pmu-symbolize makes of the stream in CONTEXT. */
static void write_resolved(struct output *out, struct stream *s, void *context)
{
	struct resolver_options options = { .symbols = true };
	struct report report = { .tool = "test-cut", .quiet = true };
	struct resolved tables = { 0 };
	struct resolved_writer writer = { .out = out };
	struct resolver *r = resolver_new(&options, &tables, &report);
	struct resolved_sample resolved;
	struct label_join join = { 0 };
	struct sample sample;
	struct record rec;
	const struct stream *raw = context;
	char file[MEMORY_FILE_PATH];
	size_t n = 0;

	struct stream_reader *in = open_part(raw, raw->size, file, &report);
	writer_header(out);
	resolved_write_tool(out, "test-cut", "1", "");
	while (stream_next(in, &rec))
		if (rec.type == PERF_RECORD_SAMPLE && stream_sample(in, &rec, &sample)) {
			if (label_join_take(&join, in, &rec, &sample))
				continue;
			struct resolver_key key = resolver_key(r, in, &sample);
			resolver_sample(r, in, &sample, &key, &resolved);
			resolved_write_new(&writer, &tables);
			resolved_write_sample(&writer, &tables, &resolved);
			s->sample_end[n++] = out->used;
		} else {
			resolver_follow(r, in, &rec);
			writer_record(out, &rec);
		}
	resolved_write_end(out, &tables);
	stream_close(in);
	resolver_free(r);
	label_join_release(&join);
	resolved_release(&tables);
}

static void ignore(struct collect *c, struct collect_subject *subject, void *context)
{
	(void)c;
	(void)subject;
	(void)context;
}

/*
 * The samples that a profile of the first SIZE bytes has, of them *LABELLED with labels;
 * *STATUS: pmu-topprof's.
 */
static uint64_t collect(const struct stream *s, size_t size, uint64_t *labelled, int *status)
{
	struct report report = { .tool = "test-cut", .quiet = true };
	const struct collect_options all = { .selection = SELECTION_ALL };
	const char *wrong;
	struct collect c;
	char file[MEMORY_FILE_PATH];

	collect_init(&c, &all, &report, &wrong);
	struct stream_reader *in = open_part(s, size, file, &report);
	collect_stream(&c, in, ignore, NULL);
	uint64_t samples = c.samples;
	*labelled = c.labels.samples[LABELS_SOME];
	stream_close(in);
	collect_release(&c);
	*status = report_finish(&report);
	return samples;
}

static void test_cuts(const struct stream *s, const char *kind)
{
	size_t wrong_samples = 0, wrong_labels = 0, wrong_status = 0;
	uint64_t labelled;
	char text[100];
	int status;

	for (size_t size = 0; size < s->size; size++) {
		uint64_t samples = collect(s, size, &labelled, &status);
		if (samples != samples_in(s, size) && !wrong_samples++)
			printf("# cut at %zu: %zu samples\n", size, (size_t)samples);
		if (labelled != samples && !wrong_labels++)
			printf("# cut at %zu: %zu labelled\n", size, (size_t)labelled);
		if (status != 1 && !wrong_status++)
			printf("# cut at %zu: exit status %d\n", size, status);
	}
	snprintf(text, sizeof(text), "%s stream cut at each of %zu bytes: exit status 1", kind,
		 s->size);
	tap(!wrong_status, text);
	snprintf(text, sizeof(text), "%s stream cut anywhere: every whole sample is counted", kind);
	tap(!wrong_samples, text);
	snprintf(text, sizeof(text), "%s stream cut anywhere: each of them has labels", kind);
	tap(!wrong_labels, text);
	tap(collect(s, s->size, &labelled, &status) == SAMPLES && status == 0,
	    "and uncut it is whole");
}

int main(void)
{
	struct stream raw = record(write_raw, NULL), resolved = record(write_resolved, &raw);

	test_cuts(&raw, "raw");
	test_cuts(&resolved, "resolved");
	free(raw.bytes);
	free(resolved.bytes);
	return tap_done();
}
