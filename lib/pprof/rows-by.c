/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/rows-by.h"
#include "pprof/label-kinds.h"
#include "record/words.h"

struct rows_by rows_by(const char *what)
{
	struct rows_by r = { .of_stream = "none" };

	if (!what)
		return r;
	for (int i = 0; i < FRAMES_BY_KINDS; i++)
		if (!strcmp(what, frames_by_name[i])) {
			r.by = (enum frames_by)i;
			return r;
		}
	r.stacks = !strcmp(what, "stack");
	if (r.stacks)
		return r;
	/* users mean the name of the thread, not that of its process */
	r.of_stream = strcmp(what, LABEL_COMM) ? what : LABEL_THREAD_COMM;
	r.label = label_shown(r.of_stream);
	return r;
}
