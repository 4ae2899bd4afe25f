/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jitmap-internal.h"
#include "base/arena.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };	/* bytes read at a time; a longer line or record ends the reading */

struct jitmap *jitmap_new(void)
{
	struct jitmap *j = mem_zeroed(1, sizeof(*j));

	j->map.fd = j->dump.fd = -1;
	return j;
}

struct jit_function *jitmap_add(struct jitmap *j, uint64_t start, uint64_t size,
				const char *name, size_t length)
{
	if (size == 0 || size > UINT64_MAX - start || j->functions == JIT_FUNCTIONS_MAX)
		return NULL;
	if (length > JIT_NAME_MAX)
		length = JIT_NAME_MAX;
	j->function = array_grow(j->function, j->functions, sizeof(*j->function));
	struct jit_function *f = &j->function[j->functions++];
	*f = (struct jit_function){ .start = start, .size = size,
				    .name = intern_bytes(&j->strings, name, length) };
	j->flat_is_old = true;
	return f;
}

void jitmap_add_function(struct jitmap *j, uint64_t start, uint64_t size, const char *name)
{
	jitmap_add(j, start, size, name, strlen(name));
}

/* A hexadecimal number, with or without "0x"; false: none, or too large. */
static bool parse_hex(const char **at, const char *end, uint64_t *out)
{
	const char *start;

	if (end - *at > 2 && (*at)[0] == '0' && ((*at)[1] | 0x20) == 'x')
		*at += 2;
	*out = 0;
	for (start = *at; *at < end && isxdigit((unsigned char)**at); ++*at)
		*out = *out << 4 | (uint64_t)(**at <= '9' ? **at - '0' : (**at | 0x20) - 'a' + 10);
	return *at > start && *at - start <= 16;
}

static void add_line(struct jitmap *j, const char *at, const char *end)
{
	uint64_t start, size;

	if (!parse_hex(&at, end, &start) || at == end || *at++ != ' ' ||
	    !parse_hex(&at, end, &size) || at == end || *at++ != ' ')
		return;
	if (at < end && !memchr(at, 0, (size_t)(end - at)))
		jitmap_add(j, start, size, at, (size_t)(end - at));
}

size_t jitmap_add_map(struct jitmap *j, const void *bytes, size_t size)
{
	const char *at = bytes, *end = at + size, *newline;

	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		add_line(j, at, newline);
		at = newline + 1;
	}
	return (size_t)(at - (const char *)bytes);
}

static bool open_file(struct jit_file *f, const char *file)
{
	struct stat st;
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);

	if (fd < 0)
		return false;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return false;
	}
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct jit_file){ .fd = fd };
	return true;
}

bool jitmap_open_map(struct jitmap *j, const char *file)
{
	return open_file(&j->map, file);
}

bool jitmap_open_dump(struct jitmap *j, const char *file)
{
	j->header_read = false;
	return open_file(&j->dump, file);
}

bool jitmap_has_map(const struct jitmap *j)
{
	return j->map.fd >= 0;
}

static bool read_more(struct jitmap *j, struct jit_file *f,
		      size_t (*add)(struct jitmap *, const void *, size_t))
{
	struct stat st;
	bool any = false;

	if (f->fd < 0 || fstat(f->fd, &st) < 0)
		return false;
	if ((uint64_t)st.st_size < f->at) {	/* written anew */
		f->at = 0;
		if (f == &j->dump)
			j->header_read = false;
	}
	if ((uint64_t)st.st_size == f->at)
		return false;
	char *chunk = mem_resize(NULL, CHUNK);
	for (;;) {
		ssize_t n = pread(f->fd, chunk, CHUNK, (off_t)f->at);
		size_t used = n > 0 ? add(j, chunk, (size_t)n) : 0;
		if (used == 0)
			break;
		f->at += used;
		any = true;
	}
	free(chunk);
	return any;
}

bool jitmap_refresh(struct jitmap *j)
{
	bool map = read_more(j, &j->map, jitmap_add_map);

	return read_more(j, &j->dump, jitmap_add_dump) || map;
}

static void flatten(struct jitmap *j)
{
	struct spans spans = { 0 };

	for (uint32_t i = 0; i < j->functions; i++)
		spans_add(&spans, j->function[i].start, j->function[i].start + j->function[i].size,
			  i);
	free(j->flat.at);
	j->flat = spans_flatten(&spans);
	j->flat_is_old = false;
}

/* The last line at or before ADDRESS. */
static void find_line(const struct jitmap *j, const struct jit_function *f, uint64_t address,
		      struct jit_place *out)
{
	const struct jit_line *best = NULL;

	for (uint32_t i = 0; i < f->lines; i++) {
		const struct jit_line *line = &j->line[f->first_line + i];
		if (line->address + f->moved <= address &&
		    (!best || best->address <= line->address))
			best = line;
	}
	if (best) {
		out->file = j->strings.text[best->file];
		out->line = best->line;
	}
}

bool jitmap_find(struct jitmap *j, uint64_t address, struct jit_place *out)
{
	if (j->flat_is_old)
		flatten(j);
	uint32_t id = flats_find(&j->flat, address);
	if (id == SPAN_NONE)
		return false;
	*out = (struct jit_place){ .name = j->strings.text[j->function[id].name] };
	find_line(j, &j->function[id], address, out);
	return true;
}

void jitmap_free(struct jitmap *j)
{
	if (!j)
		return;
	if (j->map.fd >= 0)
		close(j->map.fd);
	if (j->dump.fd >= 0)
		close(j->dump.fd);
	free(j->function);
	free(j->line);
	free(j->flat.at);
	table_release(&j->by_index);
	intern_release(&j->strings);
	free(j);
}
