/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream-stats FILE - count the records of a stream.  Prints lines NAME=COUNT: of all
 * records (TOTAL), of each type in order of its number, then of the samples of each event.
 */
#include "base/arena.h"
#include "stream/reader.h"

#include <inttypes.h>

enum { TYPES = 128 };	/* record types of the kernel and of perf */

int main(int argc, char **argv)
{
	struct report report = { .tool = "stream-stats" };
	uint64_t total = 0, type[TYPES] = { 0 }, *event = NULL;
	uint32_t events = 0;
	struct sample sample;
	struct record rec;

	if (argc != 2)
		return 2;
	struct stream_reader *in = stream_open(argv[1], NULL, &report);
	while (stream_next(in, &rec)) {
		if (rec.made)
			continue;
		total++;
		if (rec.type < TYPES)
			type[rec.type]++;
		if (rec.type != PERF_RECORD_SAMPLE || !stream_sample(in, &rec, &sample))
			continue;
		for (; events <= sample.event; events++) {
			event = array_grow(event, events, sizeof(*event));
			event[events] = 0;
		}
		event[sample.event]++;
	}
	stream_close(in);

	printf("TOTAL=%" PRIu64 "\n", total);
	for (uint32_t t = 0; t < TYPES; t++)
		if (type[t])
			printf("%s=%" PRIu64 "\n", record_type_name(t), type[t]);
	for (uint32_t e = 0; e < events; e++)
		if (event[e])
			printf("SAMPLE=%" PRIu64 "\n", event[e]);
	free(event);
	return report_finish(&report);
}
