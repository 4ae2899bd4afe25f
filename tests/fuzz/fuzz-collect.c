/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-collect - any bytes as a stream, raw or resolved, all the way to a profile. */
#include "aggregate/collect.h"
#include "tests/memory-file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char all_labels[] =
	"pid,tid,comm,thread_comm,cpu,cgroup,timestamp_ns,execution_mode,data_src,snoop_status,"
	"weight,addr,phys_addr,data_page_size,code_page_size,transaction,field:prev_comm,field:x";

static void write_both(struct collect *c, struct collect_subject *subject, void *context)
{
	profile_write_folded(&subject->profile, stream_events(c->in), 0, context);
	profile_write(&subject->profile, stream_events(c->in), stream_origin(c->in), context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report report = { .tool = "fuzz-collect", .quiet = true };
	struct collect_options how = {
		.selection = SELECTION_ALL, .labels = size % 2 ? NULL : all_labels, .max_stacks = 4,
		.data_frames = size % 3 == 0, .latency = size % 5 < 2, .wall = size % 5 == 0,
		.parallelism = size % 7 < 2, .as_time = size % 7 == 3,
		.blame = size % 4, .all_waits = size % 8 == 1, .links = size % 3,
	};
	const char *wrong;
	struct output out;
	struct collect c;
	char file[MEMORY_FILE_PATH];

	int fd = memory_file(data, size, file);
	if (!collect_init(&c, &how, &report, &wrong))
		abort();
	struct stream_reader *in = stream_open(file, NULL, &report);
	output_open(&out, "/dev/null", &report);
	collect_stream(&c, in, write_both, &out);
	if (in && !stream_is_whole(in) && report.status == 0)
		abort();	/* damage that was not reported */
	stream_close(in);
	collect_release(&c);
	output_close(&out);
	close(fd);
	return 0;
}
