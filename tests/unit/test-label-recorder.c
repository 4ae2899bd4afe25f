/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-recorder: labels records are joined with their samples by their place in the ring, also
 * where one pair is inside another, and never with another sample.
 */
#include "labels/label-recorder.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>

enum { ID = 7, RAW = 32 };

/* A SAMPLE of fields id, ip, pid and tid, time; a labels record has raw data, too. */
struct made {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t size, magic;
	uint8_t status, n, flags, form;
	uint32_t event[2], address[2], used, count;
	uint8_t pairs[12];
};

static struct label_ring rings[1];
static uint32_t edition = 1;	/* of what the program knew of the process */
static struct label_recorder recorder = {
	.ring = rings, .rings = 1, .ip = 8, .tid = 16, .time = 24, .raw = RAW,
};
static const struct sample_layout layout = { .id = 0, .ip = 8, .tid = 16, .time = 24 };

static struct made make(uint64_t id, uint64_t ip, uint32_t tid)
{
	return (struct made){ .header = { .type = PERF_RECORD_SAMPLE, .size = sizeof(struct made) },
			      .id = id, .ip = ip, .pid = 1, .tid = tid, .magic = LABEL_MAGIC };
}

/* The ring has labels for EVENT.  Returns whether they are kept. */
static bool labels(uint32_t event, uint64_t ip, uint32_t tid)
{
	struct made record = make(ID, ip, tid);

	record.size = sizeof(record) - 44;
	record.event[0] = event;
	record.event[1] = edition;
	return label_recorder_keep(&recorder, 0, &record.header);
}

/* The ring has a sample of EVENT.  Returns whether it has labels. */
static bool sample(uint32_t event, uint64_t ip, uint32_t tid)
{
	struct made record = make(ID + 1, ip, tid);

	return !label_recorder_keep(&recorder, 0, &record.header) &&
	       label_recorder_take(&recorder, 0, event, &record.header, &layout);
}

static void start(void)
{
	memset(rings, 0, sizeof(rings));
	rings[0].id = ID;
	recorder.counts.alone = 0;
}

/* A pair; a pair in a pair; samples of another thread, another place, another event. */
static bool joins(void)
{
	start();
	bool good = labels(0, 10, 1) && sample(0, 10, 1) && !sample(0, 10, 1);
	good &= labels(0, 10, 1) && labels(1, 20, 1) && sample(1, 20, 1) && sample(0, 10, 1);
	return good && recorder.counts.alone == 0;
}

static bool refuses(void)
{
	start();
	bool good = labels(0, 10, 1) && !sample(0, 10, 2) && labels(0, 10, 1) && !sample(0, 11, 1);
	good &= labels(0, 10, 1) && !sample(1, 10, 1) && sample(0, 10, 1);
	return good && recorder.counts.alone == 2;
}

/* A sample was lost, and with the LOST record or without it the next has its own labels. */
static bool survives_losses(void)
{
	start();
	bool good = labels(0, 10, 1);
	const struct perf_event_header lost = { .type = PERF_RECORD_LOST, .size = sizeof(lost) };
	label_recorder_take(&recorder, 0, 0, &lost, &layout);
	good &= !sample(0, 10, 1) && labels(0, 10, 1) && labels(0, 30, 1) && sample(0, 30, 1);
	return good && recorder.counts.alone == 2;
}

/* The process starts another program: what the program in the kernel knew is no longer true. */
static bool refuses_former_program(void)
{
	struct { struct perf_event_header header; uint32_t pid, tid; char name[8]; } comm = {
		.header = { PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, sizeof(comm) },
		.pid = 1, .tid = 1, .name = "other",
	};

	start();
	recorder.targets.edition = edition = 4;
	bool good = labels(0, 10, 1) && sample(0, 10, 1);
	label_targets_follow(&recorder.targets, &comm.header);
	good &= labels(0, 10, 1) && !sample(0, 10, 1) && recorder.targets.waiting_count == 1;
	edition = 5;
	good &= labels(0, 10, 1) && sample(0, 10, 1);
	label_targets_close(&recorder.targets);
	edition = 1;
	return good;
}

/*
 * A map of Go that says it has COUNT labels has two; user may be recorded.  Returns the count that
 * is written, or -1 if the user is not written.
 */
static int64_t count_of_two(uint32_t count)
{
	struct label_options user = { .key = (char *[]){ (char[]){ "user" } }, .keys = 1 };
	struct kept_labels kept = { .size = sizeof(struct made) };
	struct made record = make(ID, 10, 1);
	struct report report = { .tool = "test" };
	struct output out;
	struct made written;

	record.n = 2;
	record.form = LABEL_FORM_MAP;
	record.used = sizeof(record.pairs);
	record.count = count;
	memcpy(record.pairs, "\4user\1A\1k\1v", sizeof(record.pairs));
	memcpy(kept.record, &record, sizeof(record));
	recorder.options = &user;
	output_open_memory(&out, &report);
	label_recorder_write(&recorder, &kept, &record.header, &layout, &out);
	memcpy(&written, out.buffer, sizeof(written));
	output_close(&out);
	return written.status == LABEL_STATUS_LABELS && written.n == 1 ? (int64_t)written.count
								       : -1;
}

/* More labels wait than there is room for; records too long or too short. */
static bool is_bounded(void)
{
	struct made record = make(ID, 10, 1);
	bool good = true;

	start();
	for (uint32_t event = 0; event < 100; event++)
		good &= labels(event, event, 1);
	good &= sample(99, 99, 1) && sample(96, 96, 1) && !sample(95, 95, 1);
	record.header.size = sizeof(record.header) + RAW + 4;
	good &= label_recorder_keep(&recorder, 0, &record.header) && rings[0].kept == 2;
	return good && recorder.counts.alone == 96;
}

int main(void)
{
	tap(joins(), "labels and the next sample of their event are joined, also in another pair");
	tap(refuses(), "not with a sample of another thread, address or event");
	tap(survives_losses(), "after a loss nothing is joined with what came before");
	tap(refuses_former_program(), "nor with what was read as if a former program ran");
	tap(count_of_two(2) == 1 && count_of_two(1) == 1 && count_of_two(0) == 1 &&
	    count_of_two(5) == 4, "a count that the target made up fits the labels");
	tap(is_bounded(), "a ring keeps so many labels, and no damaged record");
	return tap_done();
}
