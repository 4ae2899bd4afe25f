/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-collect - any bytes as a stream, raw or resolved, all the way to a profile. */
#include "profile/collect.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report report = { .tool = "fuzz-collect", .quiet = true };
	struct output out;
	struct collect c;
	char file[64];

	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(file, sizeof(file), "/proc/self/fd/%d", fd);
	collect_init(&c, &report);
	struct stream_reader *in = stream_open(file, &report);
	collect_stream(&c, in);
	collect_comment(&c, in);
	output_open(&out, "/dev/null", &report);
	if (in)
		profile_write(&c.profile, stream_events(in), stream_origin(in), &out);
	if (in && !stream_is_whole(in) && report.status == 0)
		abort();	/* damage that nobody was told of */
	stream_close(in);
	collect_release(&c);
	output_close(&out);
	close(fd);
	return 0;
}
