/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether a file was changed since it was mapped, by the times of both. */
#include "locate/locate.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int64_t locate_written_at(const char *input)
{
	struct stat st;
	bool is_stdin = !input || !strcmp(input, "-");

	if ((is_stdin ? fstat(STDIN_FILENO, &st) : stat(input, &st)) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

/* The wall clock may have run 0.1 % faster or slower than the stream's clock. */
int64_t locate_taken_before(const struct locate_options *where,
			    const struct stream_origin *origin, uint64_t time)
{
	if (!origin || !origin->has_clock || !time)
		return where->recorded_before;
	uint64_t since = time - origin->clock_time;	/* or before: then near 2^64 */
	uint64_t distance = since >> 63 ? -since : since;
	return (int64_t)(origin->wall_time + since + distance / 1000);
}

bool locate_is_changed(const struct locate_options *where, const struct object *object,
		       const struct elf *elf, int64_t taken_before)
{
	return elf && object->kind == OBJECT_FILE && !object_has_id(object) && !where->sysroot &&
	       taken_before && elf_modified(elf) > taken_before;
}
