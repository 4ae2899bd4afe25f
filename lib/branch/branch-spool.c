/* SPDX-License-Identifier: Apache-2.0 */
#include "branch/branch-spool.h"

#include "base/arena.h"
#include "base/spool.h"
#include "branch/branches.h"

struct branch_spool {
	struct report *report;
	FILE *file;		/* NULL: it could not be made (reported) */
	const char *directory;	/* where it is, for messages */
	bool has_failed;
};

/* Return false and report that the spool cannot be used, the first time. */
static bool fail(struct branch_spool *s)
{
	if (report_first(&s->has_failed))
		report_failure(s->report, "cannot keep branch stacks in '%s' (set TMPDIR)",
			       s->directory);
	return false;
}

struct branch_spool *branch_spool_new(struct report *report)
{
	struct branch_spool *s = mem_zeroed(1, sizeof(*s));

	s->report = report;
	int fd = spool_open(&s->directory);
	s->file = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!s->file)
		fail(s);
	return s;
}

static bool put(struct branch_spool *s, const void *bytes, size_t size)
{
	return fwrite(bytes, 1, size, s->file) == size || fail(s);
}

void branch_spool_add(struct branch_spool *s, struct branches *b, uint32_t count)
{
	if (s->has_failed || count == 0 || !put(s, &count, sizeof(count)))
		return;
	for (uint32_t i = 0; i < count; i++) {
		bool has_range = i > 0 && places_are_in_one(b->to[i], b->from[i - 1]);
		struct kept_branch kept;
		memset(&kept, 0, sizeof(kept));		/* its padding is written, too */
		kept.from = b->from[i];
		kept.to = b->to[i];
		kept.flags = b->entry[i].flags;
		kept.has_range = has_range && branch_stack_range(b->entry, i, &b->drops);
		if (!put(s, &kept, sizeof(kept)))
			return;
	}
}

void branch_spool_rewind(struct branch_spool *s)
{
	if (!s->has_failed && (fflush(s->file) || fseek(s->file, 0, SEEK_SET)))
		fail(s);
}

bool branch_spool_next(struct branch_spool *s, struct branch_stack *out)
{
	if (s->has_failed)
		return false;
	if (fread(&out->count, sizeof(out->count), 1, s->file) != 1)
		return ferror(s->file) && fail(s);
	if (out->count <= BRANCH_DEPTH_MAX &&
	    fread(out->branch, sizeof(out->branch[0]), out->count, s->file) == out->count)
		return true;
	return fail(s);
}

bool branch_spool_failed(const struct branch_spool *s)
{
	return s->has_failed;
}

void branch_spool_free(struct branch_spool *s)
{
	if (!s)
		return;
	if (s->file)
		fclose(s->file);
	free(s);
}
