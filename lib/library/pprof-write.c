/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a profile.  It is encoded and compressed as a whole before anything is written. */
#include "base/destination.h"
#include "base/replace.h"
#include "base/write.h"
#include "library/pprof.h"

#include <unistd.h>

struct pprof_writing {
	struct pmukit_pprof *p;
	const char *file;
	int fd;
	pmukit_write *write;
	void *context;
	uint8_t *bytes;		/* the profile */
	size_t size;
};

/* Encode D, which was read: its bytes, or if names were not safe to print, what it says. */
static struct pack *encode_read(const struct decoded *d, struct report *report)
{
	struct pack *packed = decoded_pack(d);

	if (!packed) {
		struct merge *m = merge_new();
		merge_add(m, d, MERGE_SUM, "", report);
		packed = merge_pack(m);
		merge_free(m);
	}
	return packed;
}

/* Encode and compress the profile.  The caller frees A->bytes.  Return 0 or a status. */
static int encode(struct pprof_writing *a)
{
	struct pmukit_pprof *p = a->p;
	struct pack *packed = p->sum ? merge_pack(p->sum) : encode_read(p->d, &p->handle.report);

	a->bytes = pack_take_gzip(packed, &a->size);
	return a->bytes ? 0 : PMUKIT_NO_MEMORY;
}

/* Report that NAME, a file or a descriptor, could not be written because of ERROR, an errno. */
static int fail_to_write(struct handle *h, const char *name, int error)
{
	errno = error;
	report_failure(&h->report, "cannot write to %s", name);
	return handle_status(h, PMUKIT_SYSTEM);
}

static int write_file(void *arguments)
{
	struct pprof_writing *a = arguments;
	struct handle *h = &a->p->handle;
	int status = encode(a);

	if (status < 0)
		return status;
	struct replace *file = replace_open(a->file, false);
	if (!file) {
		int why = errno;
		report_error(&h->report, "cannot open '%s' for writing: %s", a->file,
			     destination_why(why));
		status = why == ENOENT ? PMUKIT_NOT_FOUND : why == EACCES || why == EPERM
			 ? PMUKIT_NO_RIGHTS : PMUKIT_SYSTEM;
	} else {
		int error = write_whole(replace_fd(file), a->bytes, a->size);
		if (!replace_close(file, error == 0) && error == 0)
			error = errno;
		if (error)
			status = fail_to_write(h, a->file, error);
	}
	free(a->bytes);
	return status;
}

int pmukit_pprof_write(struct pmukit_pprof *p, const char *file)
{
	struct pprof_writing a = { .p = p, .file = file };

	if (!file)
		return fail(PMUKIT_WRONG_ARGUMENT, "no file to write to");
	return guarded(p ? &p->handle : NULL, HANDLE_PPROF, write_file, &a);
}

static int write_descriptor(void *arguments)
{
	struct pprof_writing *a = arguments;
	int status = encode(a);

	if (status < 0)
		return status;
	int error = write_whole(a->fd, a->bytes, a->size);
	free(a->bytes);
	return error ? fail_to_write(&a->p->handle, "the descriptor", error) : 0;
}

int pmukit_pprof_write_fd(struct pmukit_pprof *p, int fd)
{
	struct pprof_writing a = { .p = p, .fd = fd };

	return guarded(p ? &p->handle : NULL, HANDLE_PPROF, write_descriptor, &a);
}

static int write_callback(void *arguments)
{
	enum { PART = 1 << 16 };
	struct pprof_writing *a = arguments;
	int status = encode(a), answer = 0;

	if (status < 0)
		return status;
	for (size_t at = 0, size; at < a->size && answer == 0; at += size) {
		size = a->size - at < PART ? a->size - at : PART;
		struct aside aside = leave_guard();
		answer = a->write(a->context, a->bytes + at, size);
		return_to_guard(aside);
	}
	free(a->bytes);
	return answer ? PMUKIT_STOPPED : 0;
}

int pmukit_pprof_write_callback(struct pmukit_pprof *p, pmukit_write *write, void *context)
{
	struct pprof_writing a = { .p = p, .write = write, .context = context };

	if (!write)
		return fail(PMUKIT_WRONG_ARGUMENT, "no callback to write to");
	return guarded(p ? &p->handle : NULL, HANDLE_PPROF, write_callback, &a);
}
