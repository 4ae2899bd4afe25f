/* SPDX-License-Identifier: Apache-2.0 */
#include "listing/source-text.h"
#include "base/descriptor.h"
#include "base/regular.h"
#include "base/text.h"
#include "listing/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FILE_MAX = 32 << 20,	/* bytes of a source file */
	ALL_MAX = 256 << 20,	/* bytes of all source files */
	TAB = 8,
};

/* Copy PATH to NORMAL, PATH_MAX bytes, without "." and "..".  Return false if it is too long. */
static bool normalize(const char *path, char *normal)
{
	size_t size = 0;

	if (strlen(path) >= PATH_MAX)
		return false;
	while (*path) {
		size_t length = strcspn(path, "/");
		bool is_up = length == 2 && !memcmp(path, "..", 2);
		while (is_up && size > 0 && normal[--size] != '/')
			;
		if (length > 0 && !is_up && !(length == 1 && *path == '.')) {
			normal[size++] = '/';
			memcpy(normal + size, path, length);
			size += length;
		}
		path += length + (path[length] == '/');
	}
	normal[size] = '\0';
	return size > 0;
}

/*
 * Open PATH, which debug information or a link of others chose, below ROOT ("": anywhere).  Root
 * opens only what all users may read; errno is EPERM if not all may.
 */
static int open_for_all(const char *root, const char *path)
{
	struct any_user before;
	struct stat st;
	bool is_root = geteuid() == 0;
	int fd = -1;

	errno = EPERM;
	if (any_user_begin(&before))
		fd = regular_open_below(root, path, false);
	int error = is_root && errno == EACCES ? EPERM : errno;
	any_user_end(&before);
	/* what user nobody owns is not for all */
	if (fd >= 0 && is_root && !(fstat(fd, &st) == 0 && st.st_mode & S_IROTH)) {
		close(fd);
		fd = -1;
		error = EPERM;
	}
	errno = error;
	return fd;
}

/*
 * Open PATH below DIRECTORY, or without its first components.  Write what was found to FOUND.
 * A link out of DIRECTORY may lead only to what all users may read.
 */
static int open_in(const char *directory, const char *path, char found[PATH_MAX])
{
	int fd = -1;

	for (const char *rest = path; rest && fd < 0; rest = strchr(rest + 1, '/')) {
		if (snprintf(found, PATH_MAX, "%s%s", directory, rest) < PATH_MAX)
			fd = open_for_all("", found);
		if (fd < 0)
			fd = regular_open_below(directory, rest, false);
	}
	return fd;
}

/* Open PATH where debug information says it is, unless only some users may read it. */
static int open_there(const struct source_texts *t, const char *path, char found[PATH_MAX])
{
	int fd = t->sysroot ? open_for_all(t->sysroot, path) : -1;

	snprintf(found, PATH_MAX, "%s", path);
	return fd < 0 ? open_for_all("", path) : fd;
}

static int open_source(const struct source_texts *t, const char *path, char found[PATH_MAX])
{
	char normal[PATH_MAX + 1];
	int fd = -1;

	if (!normalize(path, normal)) {
		errno = ENOENT;
		return -1;
	}
	for (size_t i = 0; t->directories && i < t->directories->count && fd < 0; i++)
		fd = open_in(t->directories->item[i], normal, found);
	return fd < 0 ? open_there(t, path, found) : fd;
}

static const char *why_closed(void)
{
	switch (errno) {
	case ENOTSUP:
		return "it is not a regular file";
	case EPERM:
		return "not all users may read it: name its directory with --source-path";
	case EACCES:
		return "you may not read it";
	default:
		return "it is not here: --source-path says where to look";
	}
}

/* Read FD, SIZE bytes, to S->bytes, and end it with a line end. */
static void read_all(struct source_text *s, int fd, size_t size)
{
	size_t have = 0;
	ssize_t n = 1;

	s->bytes = mem_resize(NULL, size + 1);
	while (have < size && n != 0) {
		n = read(fd, s->bytes + have, size - have);
		if (n < 0 && errno != EINTR)
			break;
		have += n > 0 ? (size_t)n : 0;
	}
	if (memchr(s->bytes, 0, have))
		s->why_not = "it is not text";
	if (have > 0 && s->bytes[have - 1] != '\n')
		s->bytes[have++] = '\n';
	for (size_t at = 0; at < have && !s->why_not; s->lines++) {
		s->line = array_grow(s->line, s->lines, sizeof(*s->line));
		s->line[s->lines] = at;
		at = (size_t)((char *)memchr(s->bytes + at, '\n', have - at) - s->bytes) + 1;
	}
	s->line = array_grow(s->line, s->lines, sizeof(*s->line));
	s->line[s->lines] = have;
}

static void load(struct source_texts *t, struct source_text *s, const char *path)
{
	char found[PATH_MAX];
	struct stat st;
	int fd = open_source(t, path, found);

	if (fd < 0 || fstat(fd, &st) < 0) {
		s->why_not = why_closed();
	} else if (st.st_size > FILE_MAX || t->bytes + (size_t)st.st_size > ALL_MAX) {
		s->why_not = "it is too large";
	} else {
		s->found = mem_text(found);
		s->modified = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
		read_all(s, fd, (size_t)st.st_size);
		t->bytes += (size_t)st.st_size;
	}
	descriptor_close(fd);
}

const struct source_text *source_texts_find(struct source_texts *t, const char *path)
{
	uint32_t id = intern_text(&t->paths, path);

	for (; t->texts < t->paths.count; t->texts++) {
		t->text = array_grow(t->text, t->texts, sizeof(*t->text));
		struct source_text *s = &t->text[t->texts];
		*s = (struct source_text){ 0 };
		if (t->texts == 0)
			s->why_not = "its name is unknown";
		else
			load(t, s, path);
	}
	return &t->text[id];
}

bool source_text_line(const struct source_text *s, uint64_t number, char *line, size_t size)
{
	size_t used = 0;

	*line = '\0';
	if (number == 0 || number > s->lines)
		return false;
	const char *at = s->bytes + s->line[number - 1];
	const char *end = s->bytes + s->line[number] - 1;
	for (; at < end && used + TAB < size; at++) {
		if (*at == '\t')
			do
				line[used++] = ' ';
			while (used % TAB);
		else if (*at != '\r' || at + 1 < end)
			line[used++] = *at;
	}
	line[used] = '\0';
	text_make_safe(line);
	return true;
}

void source_texts_release(struct source_texts *t)
{
	for (uint32_t i = 0; i < t->texts; i++) {
		free(t->text[i].found);
		free(t->text[i].bytes);
		free(t->text[i].line);
	}
	free(t->text);
	intern_release(&t->paths);
}
