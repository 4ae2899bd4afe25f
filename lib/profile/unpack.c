/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/unpack.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "profile/decode.h"
#include "stream/inflate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHUNK = 1 << 16 };	/* bytes of the file that are read at a time */

struct unpacking {
	const char *file;
	struct report *report;
	int fd;
	struct inflate *gzip;	/* NULL: the file is plain */
	struct buffer out;
	size_t taken;		/* bytes read from the file */
};

/* Gzip can expand a byte to a thousand; a real profile never expands that much. */
static size_t limit_of(const struct unpacking *u)
{
	size_t limit = PROFILE_SMALL + PROFILE_RATIO * u->taken;

	return limit < PROFILE_MAX ? limit : PROFILE_MAX;
}

static bool take_gzip(struct unpacking *u, const uint8_t *in, size_t size)
{
	ptrdiff_t n;

	inflate_feed(u->gzip, in, size);
	do {
		uint8_t *end = buffer_end(&u->out, CHUNK);
		n = inflate_read(u->gzip, end, u->out.room - u->out.size);
		u->out.size += n > 0 ? (size_t)n : 0;
	} while (n > 0 && u->out.size <= limit_of(u));
	if (n < 0)
		report_error(u->report, "cannot read '%s': its gzip data are damaged", u->file);
	return n >= 0;
}

static bool take(struct unpacking *u, const uint8_t *in, size_t size)
{
	bool is_first = u->taken == 0;

	u->taken += size;
	if (is_first && size >= 2 && in[0] == 0x1f && in[1] == 0x8b)
		u->gzip = inflate_open_gzip();
	if (!u->gzip)
		buffer_add(&u->out, in, size);
	else if (!take_gzip(u, in, size))
		return false;
	if (u->out.size <= limit_of(u))
		return true;
	if (limit_of(u) == PROFILE_MAX)
		report_error(u->report, "'%s' is too large: a profile may have %zu MiB, "
			     "uncompressed", u->file, PROFILE_MAX >> 20);
	else
		report_error(u->report, "'%s' is no profile that anyone made by sampling: it is "
			     "more than %zu MiB and %d times as large as its file, uncompressed",
			     u->file, PROFILE_SMALL >> 20, PROFILE_RATIO);
	return false;
}

/* Read the next bytes, at least two (a pipe may return one) for the check of gzip's magic. */
static ssize_t fill(const struct unpacking *u, uint8_t *in, size_t size)
{
	size_t have = 0;
	ssize_t n;

	do {
		n = read(u->fd, in + have, size - have);
		have += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && have < 2) || (n < 0 && errno == EINTR));
	return n < 0 ? n : (ssize_t)have;
}

static bool unpack(struct unpacking *u)
{
	uint8_t *in = mem_resize(NULL, CHUNK);
	bool good = true;
	ssize_t n;

	while (good && (n = fill(u, in, CHUNK)) > 0)
		good = take(u, in, (size_t)n);
	if (good && n < 0)
		report_failure(u->report, "cannot read '%s'", u->file);
	else if (good && u->gzip && !inflate_is_whole(u->gzip))
		report_error(u->report, "cannot read '%s': its gzip data are cut short", u->file);
	else
		n = good ? 0 : -1;
	good = good && n == 0 && (!u->gzip || inflate_is_whole(u->gzip));
	free(in);
	return good;
}

uint8_t *unpack_file(const char *file, size_t *size, struct report *report)
{
	struct unpacking u = { .file = file, .report = report };
	bool is_stdin = !strcmp(file, "-");

	u.fd = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	if (u.fd < 0) {
		report_failure(report, "cannot open '%s'", file);
		return NULL;
	}
	buffer_grow(&u.out, CHUNK);
	bool good = unpack(&u);
	inflate_close(u.gzip);
	if (!is_stdin)
		close(u.fd);
	if (!good) {
		free(u.out.at);
		return NULL;
	}
	*size = u.out.size;
	return u.out.at;
}
