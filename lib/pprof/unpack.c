/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/unpack.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/progress.h"
#include "pprof/decode.h"
#include "stream/inflate.h"

#include <endian.h>
#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CHUNK = 1 << 16,	/* bytes of the file that are read at a time */
	GZIP_LEAST = 18,	/* bytes of header and trailer */
	AT_ONCE_MAX = 64 << 20,	/* bytes of a file that is read as a whole */
	SMALL = 1 << 20,	/* bytes of a file that may as well be unpacked twice */
};

struct unpacking {
	const char *file;
	struct report *report;
	int fd;
	struct inflate *packed;	/* NULL: the file is plain */
	const char *how;	/* "gzip" or "zstd" */
	struct buffer out;
	size_t taken;		/* bytes read from the file */
	void (*piece)(void *to, const uint8_t *bytes, size_t size);	/* takes OUT; or NULL */
	void *to;
};

/* A byte may expand to a thousand and more; a real profile never expands that much. */
static size_t limit_of(const struct unpacking *u)
{
	size_t limit = PROFILE_SMALL + PROFILE_RATIO * u->taken;

	return limit < PROFILE_MAX ? limit : PROFILE_MAX;
}

/* Pass on what has been unpacked. */
static void pass_on(struct unpacking *u)
{
	if (!u->piece)
		return;
	u->piece(u->to, u->out.at, u->out.size);
	u->out.size = 0;
}

static bool take_packed(struct unpacking *u, const uint8_t *in, size_t size)
{
	ptrdiff_t n;

	inflate_feed(u->packed, in, size);
	do {
		uint8_t *end = buffer_end(&u->out, CHUNK);
		n = inflate_read(u->packed, end, u->out.room - u->out.size);
		u->out.size += n > 0 ? (size_t)n : 0;
		pass_on(u);
	} while (n > 0 && u->out.size <= limit_of(u));
	if (n < 0)
		report_error(u->report, "cannot read '%s': its %s data are damaged", u->file,
			     u->how);
	return n >= 0;
}

/* Recognize the compression by the first bytes. */
static void begin(struct unpacking *u, const uint8_t *in, size_t size)
{
	static const uint8_t zstd[4] = { 0x28, 0xb5, 0x2f, 0xfd };	/* RFC 8878, 3.1.1 */

	if (size >= 2 && in[0] == 0x1f && in[1] == 0x8b) {		/* RFC 1952, 2.3.1 */
		u->packed = inflate_open_gzip();
		u->how = "gzip";
	} else if (size >= sizeof(zstd) && !memcmp(in, zstd, sizeof(zstd))) {
		u->packed = inflate_open();
		u->how = "zstd";
	}
}

static bool take(struct unpacking *u, const uint8_t *in, size_t size)
{
	if (u->taken == 0)
		begin(u, in, size);
	u->taken += size;
	if (!u->packed && u->piece)
		u->piece(u->to, in, size);
	else if (!u->packed)
		buffer_add(&u->out, in, size);
	else if (!take_packed(u, in, size))
		return false;
	if (u->out.size <= limit_of(u))
		return true;
	if (limit_of(u) == PROFILE_MAX)
		report_error(u->report, "'%s' is too large: a profile may have %zu MiB, "
			     "uncompressed", u->file, PROFILE_MAX >> 20);
	else
		report_error(u->report, "'%s' is too large for a sampled profile: it has more than "
			     "%zu MiB plus %d times the size of its file, uncompressed",
			     u->file, PROFILE_SMALL >> 20, PROFILE_RATIO);
	return false;
}

/*
 * Unpack all of a regular file of at most MOST bytes that is one member of gzip, several times
 * faster than in parts.  Return false, with nothing read, if it is something else, or damaged.
 */
static bool unpack_at_once(struct unpacking *u, off_t most)
{
	struct stat st;
	uint32_t unpacked;	/* RFC 1952, 2.3.1: the last four bytes, ISIZE */
	size_t taken, size;

	if (fstat(u->fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < GZIP_LEAST ||
	    st.st_size > most)
		return false;
	uint8_t *in = mem_resize(NULL, (size_t)st.st_size);
	ssize_t n = pread(u->fd, in, (size_t)st.st_size, lseek(u->fd, 0, SEEK_CUR));
	bool good = n == st.st_size && in[0] == 0x1f && in[1] == 0x8b;
	if (good) {
		memcpy(&unpacked, in + n - sizeof(unpacked), sizeof(unpacked));
		unpacked = le32toh(unpacked);
		u->taken = (size_t)n;
		good = unpacked <= limit_of(u);
	}
	if (good) {
		struct libdeflate_decompressor *z = libdeflate_alloc_decompressor();
		uint8_t *end = buffer_end(&u->out, (size_t)unpacked + 1);
		good = z && libdeflate_gzip_decompress_ex(z, in, (size_t)n, end, unpacked, &taken,
							  &size) == LIBDEFLATE_SUCCESS &&
		       taken == (size_t)n;
		libdeflate_free_decompressor(z);
	}
	u->out.size = good ? size : 0;
	u->taken = 0;
	free(in);
	return good;
}

/*
 * Read the next bytes, at least four (a pipe may return one), so that begin() can see them.
 * Return 0, the end, if there is no descriptor.
 */
static ssize_t fill(const struct unpacking *u, uint8_t *in, size_t size)
{
	size_t have = 0;
	ssize_t n;

	if (u->fd < 0)
		return 0;
	do {
		n = read(u->fd, in + have, size - have);
		have += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && have < 4) || (n < 0 && errno == EINTR));
	return n < 0 ? n : (ssize_t)have;
}

static bool unpack(struct unpacking *u, const uint8_t *head, size_t size)
{
	uint8_t *in = mem_resize(NULL, CHUNK);
	bool good = true;
	ssize_t n = 0;

	for (size_t part; good && size > 0; head += part, size -= part) {
		part = size < CHUNK ? size : CHUNK;
		good = take(u, head, part);
	}
	while (good && (n = fill(u, in, CHUNK)) > 0) {
		progress_reading(u->fd);
		good = take(u, in, (size_t)n);
	}
	progress_erase();
	if (good && n < 0)
		report_failure(u->report, "cannot read '%s'", u->file);
	else if (good && u->packed && !inflate_is_whole(u->packed))
		report_error(u->report, "cannot read '%s': its %s data are cut short", u->file,
			     u->how);
	else
		n = good ? 0 : -1;
	good = good && n == 0 && (!u->packed || inflate_is_whole(u->packed));
	free(in);
	return good;
}

uint8_t *unpack_small(int fd, size_t *size)
{
	struct unpacking u = { .fd = fd };

	if (!unpack_at_once(&u, SMALL)) {
		free(u.out.at);
		return NULL;
	}
	*size = u.out.size;
	return u.out.at;
}

uint8_t *unpack_rest(int fd, const char *file, const uint8_t *head, size_t head_size,
		     size_t *size, struct report *report)
{
	struct unpacking u = { .file = file, .report = report, .fd = fd };

	buffer_grow(&u.out, CHUNK);
	bool good = (head_size == 0 && unpack_at_once(&u, AT_ONCE_MAX)) ||
		    unpack(&u, head, head_size);
	inflate_close(u.packed);
	if (!good) {
		free(u.out.at);
		return NULL;
	}
	*size = u.out.size;
	return u.out.at;
}

bool unpack_pieces(int fd, const char *file, const uint8_t *head, size_t head_size,
		   void piece(void *to, const uint8_t *bytes, size_t size), void *to,
		   struct report *report)
{
	struct unpacking u = { .file = file, .report = report, .fd = fd, .piece = piece, .to = to };

	buffer_grow(&u.out, CHUNK);
	bool good = unpack(&u, head, head_size);
	inflate_close(u.packed);
	free(u.out.at);
	return good;
}
