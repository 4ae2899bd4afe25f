/* SPDX-License-Identifier: Apache-2.0 */
/* Binaries: functions and lines at addresses of an ELF file. */
#include "base/regular.h"
#include "elf/elf.h"
#include "library/frame-list.h"
#include "library/given.h"
#include "library/file-names.h"

#include <string.h>
#include <unistd.h>

struct pmukit_binary {
	struct handle handle;
	struct options options;
	struct resolved definitions;	/* of one object, and one frame: the last */
	struct file_names *names;
	char build_id[BUILD_ID_HEX];
	struct frame_list list;
};

struct binary_opening {
	struct pmukit_binary *b;
	const char *name;
	int fd;				/* of the caller; -1: open the file NAME */
	struct pmukit_options options;
};

/* Return a descriptor of the file of A, to be closed, or -1. */
static int open_file(const struct binary_opening *a)
{
	struct report *report = &a->b->handle.report;
	int fd = a->fd < 0 ? regular_open(a->name, false) : room_dup(a->fd);

	if (fd < 0 && errno == ENOTSUP)
		report_error(report, "cannot read '%s': it is not a regular file", a->name);
	else if (fd < 0)
		report_failure(report, "cannot open '%s'", a->name);
	return fd;
}

/* Define the object of B, whose file has NAME, and a frame of it. */
static void define_object(struct pmukit_binary *b, const char *name)
{
	struct resolved_object o = { .path = file_names_string(b->names, name) };
	const uint8_t *id;
	size_t size = elf_build_id(file_names_elf(b->names), &id);

	o.build_id_size = (uint8_t)(size < BUILD_ID_MAX ? size : BUILD_ID_MAX);
	if (size)
		memcpy(o.build_id, id, o.build_id_size);
	record_build_id_hex(o.build_id, o.build_id_size, b->build_id);
	resolved_add_object(&b->definitions, &o);
	resolved_add_frame(&b->definitions, &(struct resolved_frame){ 0 });
}

static int open_binary(void *arguments)
{
	const struct binary_opening *a = arguments;
	struct pmukit_binary *b = a->b;
	struct report *report = &b->handle.report;
	const char *why;

	options_copy(&b->options, &a->options);
	int fd = open_file(a);
	if (fd < 0)
		return errno == ENOMEM || errno == EMFILE || errno == ENFILE
		       ? PMUKIT_NO_MEMORY : handle_status(&b->handle, PMUKIT_DAMAGED);
	/* A file of the caller has its position in common with FD. */
	off_t at = lseek(fd, 0, SEEK_CUR);
	errno = 0;
	b->names = file_names_open(&b->options.resolve, fd, a->fd < 0 ? NULL : a->name,
				   &b->definitions, report, &why);
	if (a->fd >= 0)
		lseek(a->fd, at, SEEK_SET);
	if (!b->names) {
		if (errno == ENOMEM || errno == EMFILE || errno == ENFILE)
			report_failure(report, "cannot read '%s'", a->name);
		else
			report_error(report, "cannot read '%s': %s", a->name, why);
		return handle_status(&b->handle, PMUKIT_DAMAGED);
	}
	define_object(b, a->name);
	return 0;
}

static struct pmukit_binary *opened(struct binary_opening *a, const struct pmukit_options *options)
{
	if (!a->name) {
		fail(PMUKIT_WRONG_ARGUMENT, "no file to open");
		return NULL;
	}
	if (options_given(&a->options, options) < 0)
		return NULL;
	struct pmukit_binary *b = handle_new(HANDLE_BINARY, sizeof(*b), a->options.message,
					     a->options.context);
	a->b = b;
	if (b && guarded(&b->handle, HANDLE_BINARY, open_binary, a) < 0)
		return handle_free(&b->handle);
	return b;
}

struct pmukit_binary *pmukit_binary_open(const char *file, const struct pmukit_options *options)
{
	struct binary_opening a = { .name = file, .fd = -1 };

	return opened(&a, options);
}

struct pmukit_binary *pmukit_binary_open_fd(int fd, const char *file,
					    const struct pmukit_options *options)
{
	struct binary_opening a = { .name = file, .fd = fd };

	if (fd < 0) {
		fail(PMUKIT_WRONG_ARGUMENT, "the descriptor is %d", fd);
		return NULL;
	}
	return opened(&a, options);
}

static int build_id(void *arguments)
{
	(void)arguments;
	return 0;
}

const char *pmukit_binary_build_id(struct pmukit_binary *b)
{
	return guarded(b ? &b->handle : NULL, HANDLE_BINARY, build_id, NULL) < 0 ? NULL
										  : b->build_id;
}

struct binary_lookup {
	struct pmukit_binary *b;
	uint64_t address;
};

static int look_up(void *arguments)
{
	const struct binary_lookup *a = arguments;
	struct pmukit_binary *b = a->b;
	struct resolved_frame *frame = &b->definitions.frame[0];

	frame->address = a->address;
	frame->line = file_names_find(b->names, a->address, &frame->lines);
	frame_list_begin(&b->list, &b->definitions);
	frame_list_add(&b->list, &b->definitions, 0, a->address);
	return (int)b->list.count;
}

int pmukit_binary_frames(struct pmukit_binary *b, uint64_t address,
			 const struct pmukit_frame **frames)
{
	struct binary_lookup a = { b, address };

	if (!frames)
		return fail(PMUKIT_WRONG_ARGUMENT, "there is no pointer for the frames");
	int count = guarded(b ? &b->handle : NULL, HANDLE_BINARY, look_up, &a);
	if (count >= 0)
		*frames = b->list.frame;
	return count;
}

static int release(void *arguments)
{
	struct pmukit_binary *b = arguments;

	frame_list_release(&b->list);
	file_names_close(b->names);
	resolved_release(&b->definitions);
	options_release(&b->options);
	return 0;
}

void pmukit_binary_close(struct pmukit_binary *b)
{
	handle_close(b ? &b->handle : NULL, HANDLE_BINARY, release, b);
}
