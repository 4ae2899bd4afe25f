/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-pipe - any bytes as they come by a pipe, in which nothing can be sought. */
#include "stream/reader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PIPE_SIZE = 1024 * 1024 };	/* bytes; what any user may ask for */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report report = { .tool = "fuzz-pipe", .quiet = true };
	struct sample sample;
	struct record rec;
	int ends[2];

	if (size >= PIPE_SIZE || pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	if (fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE) < 0 ||
	    write(ends[1], data, size) != (ssize_t)size)
		abort();
	close(ends[1]);
	if (dup2(ends[0], STDIN_FILENO) < 0)
		abort();
	close(ends[0]);
	struct stream_reader *in = stream_open("-", NULL, &report);
	while (stream_next(in, &rec))
		if (rec.type == PERF_RECORD_SAMPLE)
			stream_sample(in, &rec, &sample);
	if (in && !stream_is_whole(in) && report.status == 0)
		abort();	/* damage that was not reported */
	stream_close(in);
	return 0;
}
