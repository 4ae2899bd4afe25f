/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a profile: profile.proto, rows or folded stacks, in a file or in memory. */
#include "base/descriptor.h"
#include "library/given.h"
#include "library/pprof.h"
#include "stream/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct pprof_opening {
	struct pmukit_pprof *p;
	const char *name;	/* in messages; of a file that is opened: its path */
	const uint8_t *bytes;
	size_t size;
};

/* What is wrong with an input of an unknown format. */
static const char wrong[] = "not a pprof profile, rows or folded text, or is damaged";

/* Take IN, a profile or text, if it can be read as one. */
static int take(struct pmukit_pprof *p, const struct decoded_input *in)
{
	struct report *report = &p->handle.report;

	if (in->kind == LOOK_RAW || in->kind == LOOK_RESOLVED) {
		report_error(report, "'%s' is a stream, not a profile: pmukit_stream_open() reads "
			     "it", in->file);
		return PMUKIT_WRONG_ARGUMENT;
	}
	struct decoded *d = decoded_rest(in, NULL, report);
	if (!d)
		return handle_status(&p->handle, PMUKIT_DAMAGED);
	pprof_take(p, d);
	return 0;
}

static int open_file(void *arguments)
{
	const struct pprof_opening *a = arguments;
	struct report *report = &a->p->handle.report;
	bool is_stdin = !strcmp(a->name, "-");
	struct decoded_input in = {
		.file = a->name,
		.fd = is_stdin ? STDIN_FILENO : open(a->name, O_RDONLY | O_CLOEXEC),
		.wrong = wrong,
	};
	struct stat st;

	if (in.fd < 0 || fstat(in.fd, &st) < 0) {
		report_failure(report, "cannot open '%s'", a->name);
		return handle_status(&a->p->handle, PMUKIT_SYSTEM);
	}
	descriptor_enlarge_pipe(in.fd);
	uint8_t *head = mem_resize(NULL, STREAM_HEAD_MAX);
	in.head = head;
	in.kind = look_into(in.fd, S_ISREG(st.st_mode), head, &in.size).kind;
	if (S_ISREG(st.st_mode))
		in.size = 0;
	int status = take(a->p, &in);
	free(head);
	if (!is_stdin)
		close(in.fd);
	return status;
}

static int open_bytes(void *arguments)
{
	const struct pprof_opening *a = arguments;
	size_t looked_at = a->size < STREAM_HEAD_MAX ? a->size : STREAM_HEAD_MAX;
	const struct decoded_input in = {
		.file = a->name, .fd = -1, .head = a->bytes, .size = a->size,
		.kind = look_at(a->bytes, looked_at, true).kind,
		.wrong = wrong,
	};

	return take(a->p, &in);
}

static int take_bytes(void *arguments)
{
	const struct pprof_opening *a = arguments;
	uint8_t *bytes = memcpy(mem_resize(NULL, a->size), a->bytes, a->size);
	struct decoded *d = decoded_take(bytes, a->size, a->name, &a->p->handle.report);

	if (!d)
		return handle_status(&a->p->handle, PMUKIT_DAMAGED);
	pprof_take(a->p, d);
	return 0;
}

/* Return a handle for which WORK has opened A, or NULL. */
static struct pmukit_pprof *opened(struct pprof_opening *a, const struct pmukit_options *options,
				   int (*work)(void *arguments))
{
	struct pmukit_options own;

	if (options_given(&own, options) < 0)
		return NULL;
	struct pmukit_pprof *p = handle_new(HANDLE_PPROF, sizeof(*p), own.message, own.context);
	a->p = p;
	if (p && guarded(&p->handle, HANDLE_PPROF, work, a) < 0)
		return handle_free(&p->handle);
	if (p && p->handle.sentence[0])
		fail(PMUKIT_DAMAGED, "%s", p->handle.sentence);
	else if (p)
		succeed();
	return p;
}

struct pmukit_pprof *pmukit_pprof_open(const char *file, const struct pmukit_options *options)
{
	struct pprof_opening a = { .name = file };

	if (!file) {
		fail(PMUKIT_WRONG_ARGUMENT, "no file to open");
		return NULL;
	}
	return opened(&a, options, open_file);
}

struct pmukit_pprof *pmukit_pprof_open_memory(const void *bytes, size_t size,
					      const struct pmukit_options *options)
{
	struct pprof_opening a = { .name = "memory", .bytes = bytes, .size = size };

	if (!bytes && size > 0) {
		fail(PMUKIT_WRONG_ARGUMENT, "the profile in memory has %zu bytes, but no address",
		     size);
		return NULL;
	}
	return opened(&a, options, open_bytes);
}

struct pmukit_pprof *pprof_from_bytes(const uint8_t *bytes, size_t size, const char *name,
				      const struct pmukit_options *options)
{
	struct pprof_opening a = { .name = name, .bytes = bytes, .size = size };

	return opened(&a, options, take_bytes);
}
