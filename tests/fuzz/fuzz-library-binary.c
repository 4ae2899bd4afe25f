/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz-library-binary - any bytes as an ELF file of the library: frames at small addresses, and
 * again after the file was cut.
 */
#include "tests/memory-file.h"

#include <pmukit.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(struct pmukit_binary *b, uint64_t from)
{
	const struct pmukit_frame *frame;
	volatile size_t seen = strlen(pmukit_binary_build_id(b));

	for (uint64_t address = from; address < from + 0x200; address += 7) {
		int count = pmukit_binary_frames(b, address, &frame);

		if (count < 1)
			abort();
		for (int i = 0; i < count; i++)
			seen = seen + (frame[i].function ? strlen(frame[i].function) : 0) +
			       (frame[i].file ? strlen(frame[i].file) : 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pmukit_options options = { .size = sizeof(options), .files = PMUKIT_NO_FILES };
	int fd = memory_file(data, size, NULL);
	struct pmukit_binary *b = pmukit_binary_open_fd(fd, "file", &options);

	if (b) {
		look_up(b, 0x400);
		if (ftruncate(fd, (off_t)size / 2) == 0)
			look_up(b, 0x600);
	}
	pmukit_binary_close(b);
	close(fd);
	return 0;
}
