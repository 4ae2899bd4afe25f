/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-merge - any bytes as a profile, added to itself and taken away again. */
#include "pprof/merge.h"
#include "tests/memory-file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report report = { .tool = "fuzz-merge", .quiet = true };
	struct output out;
	char file[MEMORY_FILE_PATH];

	int fd = memory_file(data, size, file);
	struct merge *m = merge_new();
	struct decoded *p = decoded_read(file, NULL, &report);
	bool good = p && merge_add(m, p, MERGE_SUM, file, &report) &&
		    merge_add(m, p, MERGE_SUM, file, &report) &&
		    merge_add(m, p, MERGE_BASE, file, &report);
	decoded_free(p);
	output_open(&out, "/dev/null", &report);
	if (good)
		merge_write(m, PACK_NONE, &out);
	else
		merge_free(m);
	output_close(&out);
	close(fd);
	return 0;
}
