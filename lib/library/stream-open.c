/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes streams. */
#include "library/stream.h"
#include "library/system.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

struct stream_opening {
	struct pmukit_stream *s;
	const struct pmukit_options *options;
	struct stream_input input;
};

/*
 * Return the reader of S->input.  A regular file never lets a reader wait, and a perf.data file is
 * read at any place.  All else is read by stream_input_read(), which pmukit_stream_stop() can end.
 */
static struct stream_reader *open_reader(struct pmukit_stream *s)
{
	struct stream_input *input = &s->input;
	struct stream_source source = { .file = input->name, .fd = input->fd,
					.is_lent = true };
	struct stat st;

	if (input->fd < 0 && input->is_lent)
		errno = EBADF;
	if (!input->read && (input->fd < 0 || fstat(input->fd, &st) < 0)) {
		report_failure(&s->handle.report, "cannot open '%s'", input->name);
		return NULL;
	}
	if (!input->read && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		report_failure(&s->handle.report, "cannot read '%s'", input->name);
		return NULL;
	}
	if (input->read || !S_ISREG(st.st_mode)) {
		source.read = stream_input_read;
		source.context = s;
		source.fd = -1;
	}
	return stream_open_source(&source, &s->is_stopped, &s->handle.report);
}

/* Return when the stream was complete, if it is a file, in ns since 1970; 0: it is none. */
static int64_t written_at(const struct stream_input *input)
{
	struct stat st;

	return input->fd >= 0 && fstat(input->fd, &st) == 0 && S_ISREG(st.st_mode)
		? st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec : 0;
}

static void begin_names(struct pmukit_stream *s)
{
	struct resolver_options *how = &s->options.resolve;

	how->where.recorded_before = written_at(&s->input);
	s->resolver = resolver_new(how, &s->tables, &s->handle.report);
	s->leaf_callers.where = &how->where;
	s->reader.tables = &s->tables;
	s->ids = mem_zeroed(RESOLVED_FRAMES_MAX, sizeof(*s->ids));
	s->label = mem_zeroed(LABEL_SET_PAIRS_MAX, sizeof(*s->label));
	if (s->options.flags & PMUKIT_KEEP_DUMPS)
		return;
	const struct unwind_options unwinding = {
		.where = how->where, .keep_fields = true, .is_swapped = stream_is_swapped(s->in),
	};
	s->unwind = unwind_new(&unwinding, stream_origin(s->in), &s->handle.report);
	s->unwound = mem_resize(NULL, RECORD_MAX_SIZE);
}

static int open_stream(void *arguments)
{
	struct stream_opening *a = arguments;
	struct pmukit_stream *s = a->s;
	struct report *report = &s->handle.report;

	s->input = a->input;
	s->input.name = mem_text(a->input.name);
	options_copy(&s->options, a->options);
	s->selection = (struct selection)SELECTION_ALL;
	if (s->options.select && !select_parse(&s->selection, s->options.select, report))
		return PMUKIT_WRONG_ARGUMENT;
	s->selects = selection_restricts(&s->selection);
	s->input.file = OWNED_NONE;
	if (owned_take(&s->input.wake, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) {
		report_failure(report, "cannot make an eventfd");
		return errno == EMFILE || errno == ENFILE ? PMUKIT_NO_MEMORY : PMUKIT_SYSTEM;
	}
	if (!s->input.read && !s->input.is_lent) {
		s->input.fd = owned_take(&s->input.file,
					 open(s->input.name, O_RDONLY | O_CLOEXEC));
		s->handle.input = &s->input.file;
	}
	s->in = open_reader(s);
	if (!s->in)
		return handle_status(&s->handle, PMUKIT_DAMAGED);
	stream_keep_damage(s);
	begin_names(s);
	return 0;
}

static struct pmukit_stream *opened(const struct stream_input *input,
				    const struct pmukit_options *options)
{
	struct pmukit_options own;

	if (options_given(&own, options) < 0)
		return NULL;
	struct pmukit_stream *s = handle_new(HANDLE_STREAM, sizeof(*s), own.message, own.context);
	struct stream_opening a = { .s = s, .options = &own, .input = *input };
	if (s && guarded(&s->handle, HANDLE_STREAM, open_stream, &a) < 0)
		return handle_free(&s->handle);
	return s;
}

struct pmukit_stream *pmukit_stream_open(const char *file, const struct pmukit_options *options)
{
	if (!file) {
		fail(PMUKIT_WRONG_ARGUMENT, "no file to open");
		return NULL;
	}
	if (!strcmp(file, "-"))
		return opened(&(struct stream_input){ .name = file, .fd = STDIN_FILENO,
						      .is_lent = true }, options);
	return opened(&(struct stream_input){ .name = file, .fd = -1 }, options);
}

struct pmukit_stream *pmukit_stream_open_fd(int fd, const struct pmukit_options *options)
{
	char name[32];

	snprintf(name, sizeof(name), "descriptor %d", fd);
	return opened(&(struct stream_input){ .name = name, .fd = fd, .is_lent = true }, options);
}

struct pmukit_stream *pmukit_stream_open_callback(pmukit_read *read, void *context,
						  const struct pmukit_options *options)
{
	if (!read) {
		fail(PMUKIT_WRONG_ARGUMENT, "no callback to read from");
		return NULL;
	}
	return opened(&(struct stream_input){ .name = "the callback", .fd = -1, .read = read,
					      .context = context }, options);
}

static void release_shown(struct pmukit_stream *s)
{
	for (uint32_t i = 0; i < s->events; i++)
		free(s->event[i]);
	free(s->event);
	free(s->callchain);
	free(s->label);
	frame_list_release(&s->frames);
}

static int close_stream(void *arguments)
{
	struct pmukit_stream *s = arguments;

	if (s->has_begun)
		resolver_save(s->resolver);
	resolver_free(s->resolver);
	resolved_reader_release(&s->reader);
	resolved_release(&s->tables);
	unwind_free(s->unwind);
	free(s->unwound);
	leaf_callers_release(&s->leaf_callers);
	label_join_release(&s->labels);
	groups_release(&s->groups);
	selection_release(&s->selection);
	free(s->ids);
	release_shown(s);
	stream_close(s->in);
	owned_close(&s->input.file);
	owned_close(&s->input.wake);
	options_release(&s->options);
	free((char *)(uintptr_t)s->input.name);
	return 0;
}

void pmukit_stream_close(struct pmukit_stream *s)
{
	handle_close(s ? &s->handle : NULL, HANDLE_STREAM, close_stream, s);
}
