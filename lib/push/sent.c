/* SPDX-License-Identifier: Apache-2.0 */
#include "push/sent.h"
#include "base/arena.h"
#include "base/digest.h"
#include "base/regular.h"
#include "base/replace.h"
#include "base/write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MARK_MOST = 64 << 20,		/* bytes of a mark that is read */
	LINE_MOST = 3 * 21,		/* bytes of a line: three numbers of 64 bits */
	END_SIZE = 4 + 16 + 1,		/* bytes of the last line */
};

static const char first_line[] = "sent 1\n";

int sent_compare(const void *a, const void *b)
{
	const struct sent_file *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return x->changed < y->changed ? -1 : x->changed > y->changed;
}

bool sent_has(const struct sent *s, const struct sent_file *f)
{
	return s->files > 0 && bsearch(f, s->file, s->files, sizeof(*f), sent_compare);
}

void sent_add(struct sent *s, const struct sent_file *f)
{
	size_t at = s->files;

	if (sent_has(s, f))
		return;
	s->file = array_grow(s->file, s->files, sizeof(*s->file));
	while (at > 0 && sent_compare(&s->file[at - 1], f) > 0)
		at--;
	memmove(s->file + at + 1, s->file + at, (s->files - at) * sizeof(*f));
	s->file[at] = *f;
	s->files++;
}

void sent_forget(struct sent *s, const struct sent_file *file, size_t files)
{
	size_t left = 0;

	for (size_t i = 0; i < s->files; i++)
		if (files > 0 && bsearch(&s->file[i], file, files, sizeof(*file), sent_compare))
			s->file[left++] = s->file[i];
	s->files = left;
}

void sent_release(struct sent *s)
{
	free(s->file);
	*s = (struct sent){ .files = 0 };
}

char *sent_format(const struct sent *s, size_t *size)
{
	size_t room = strlen(first_line) + s->files * LINE_MOST + END_SIZE + 1;
	char *text = mem_zeroed(room, 1);
	size_t used = (size_t)snprintf(text, room, "%s", first_line);

	for (size_t i = 0; i < s->files; i++)
		used += (size_t)snprintf(text + used, room - used,
					 "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", s->file[i].start,
					 s->file[i].length, s->file[i].changed);
	used += (size_t)snprintf(text + used, room - used, "end %016" PRIx64 "\n",
				 digest_bytes(text, used));
	*size = used;
	return text;
}

/* Parse the line at *AT, and move *AT after it. */
static bool parse_line(const char **at, struct sent_file *f)
{
	int size = 0;

	if (sscanf(*at, "%20" SCNu64 " %20" SCNu64 " %20" SCNu64 "%n", &f->start, &f->length,
		   &f->changed, &size) != 3 || (*at)[size] != '\n')
		return false;
	*at += size + 1;
	return true;
}

bool sent_parse(struct sent *s, const char *text, size_t size)
{
	struct sent_file f, last = { .start = 0 };
	char end[END_SIZE + 1];

	*s = (struct sent){ .files = 0 };
	if (size < strlen(first_line) + END_SIZE || strlen(text) != size ||
	    strncmp(text, first_line, strlen(first_line)))
		return false;
	size -= END_SIZE;
	snprintf(end, sizeof(end), "end %016" PRIx64 "\n", digest_bytes(text, size));
	if (strcmp(text + size, end))
		return false;
	for (const char *at = text + strlen(first_line); at < text + size; last = f) {
		if (!parse_line(&at, &f) || (s->files > 0 && sent_compare(&last, &f) >= 0)) {
			sent_release(s);
			return false;
		}
		s->file = array_grow(s->file, s->files, sizeof(*s->file));
		s->file[s->files++] = f;
	}
	return true;
}

/* Return the bytes of FD, which is at its start, and a NUL; or NULL with WHY set.  Set *SIZE. */
static char *read_mark(int fd, size_t *size, char why[SENT_WHY])
{
	struct stat st;

	if (fstat(fd, &st) < 0) {
		snprintf(why, SENT_WHY, "%s", strerror(errno));
		return NULL;
	}
	if (st.st_uid != 0 && st.st_uid != geteuid()) {
		snprintf(why, SENT_WHY, "it belongs to user %u", st.st_uid);
		return NULL;
	}
	if (st.st_size > MARK_MOST) {
		snprintf(why, SENT_WHY, "it is larger than %d bytes", MARK_MOST);
		return NULL;
	}
	char *text = mem_zeroed((size_t)st.st_size + 1, 1);
	ssize_t n = read(fd, text, (size_t)st.st_size);
	*size = n < 0 ? 0 : (size_t)n;
	return text;
}

bool sent_read(struct sent *s, int directory, const char *name, char why[SENT_WHY])
{
	int fd = regular_open_in(directory, name, true);
	size_t size = 0;

	*s = (struct sent){ .files = 0 };
	if (fd < 0 && errno == ENOENT)
		return true;
	if (fd < 0) {
		snprintf(why, SENT_WHY, "%s", strerror(errno));
		return false;
	}
	char *text = read_mark(fd, &size, why);
	close(fd);
	bool good = text && sent_parse(s, text, size);
	if (text && !good)
		snprintf(why, SENT_WHY, "it is damaged");
	free(text);
	return good;
}

bool sent_write(const struct sent *s, int directory, const char *name)
{
	struct replace *r = replace_open_in(directory, name, 0666);
	size_t size;

	if (!r)
		return false;
	char *text = sent_format(s, &size);
	int error = write_whole(replace_fd(r), text, size);
	free(text);
	if (!error && fsync(replace_fd(r)) < 0)		/* replace does it only for a second mark */
		error = errno;
	if (!replace_close(r, !error) && !error)
		error = errno;
	errno = error;
	return !error;
}
