/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a profile in each form that it may have: profile.proto, rows and folded text. */
#include "base/descriptor.h"
#include "pprof/decode-internal.h"
#include "pprof/folded-read.h"
#include "pprof/row-read.h"
#include "pprof/unpack.h"
#include "stream/look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 4096 };	/* bytes of an input that show its form */

static const char no_profile[] = "not a pprof profile, stream, perf.data file, rows or folded "
				 "text, or is damaged";

struct decoded *decoded_take(uint8_t *bytes, size_t size, const char *file,
			     struct report *report)
{
	return decode_bytes(bytes, size, file, no_profile, report);
}

/* Encode BYTES, folded text, which this frees. */
static uint8_t *encode_folded(uint8_t *bytes, size_t *size, const char *file,
			      struct report *report)
{
	char *text = mem_resize(bytes, *size + 1);

	text[*size] = '\n';
	bytes = folded_read(text, *size + 1, file, size, report);
	free(text);
	return bytes;
}

/* Decode BYTES, all of the input, uncompressed, which this owns. */
static struct decoded *decode_input(const struct decoded_input *in, uint8_t *bytes, size_t size,
				    struct report *report)
{
	if (look_is_old_profile(bytes, size)) {
		report_error(report, "'%s' is %s", in->file, LOOK_OLD_PROFILE);
		free(bytes);
		return NULL;
	}
	if (in->kind == LOOK_TEXT)
		bytes = encode_folded(bytes, &size, in->file, report);
	return bytes ? decode_bytes(bytes, size, in->file, in->wrong ? in->wrong : no_profile,
				    report) : NULL;
}

struct decoded *decoded_rest(const struct decoded_input *in, void when_read(void),
			     struct report *report)
{
	size_t size;

	if (in->kind == LOOK_ROWS)
		return row_read(in, when_read, report);
	uint8_t *bytes = unpack_rest(in->fd, in->file, in->head, in->size, &size, report);
	if (bytes && when_read)
		when_read();
	return bytes ? decode_input(in, bytes, size, report) : NULL;
}

static enum look_kind kind_of(const uint8_t *head, size_t size)
{
	return look_at(head, size < HEAD ? size : HEAD, true).kind == LOOK_ROWS ? LOOK_ROWS
										: LOOK_PROFILE;
}

/*
 * Decode a small regular file of gzip: to unpack it takes less time than to look into it.  Return
 * false, with nothing read, if it is something else.
 */
static bool decode_small(struct decoded_input *in, struct decoded **d, void when_read(void),
			 struct report *report)
{
	size_t size;
	uint8_t *bytes = unpack_small(in->fd, &size);

	if (!bytes)
		return false;
	if (kind_of(bytes, size) == LOOK_ROWS) {
		free(bytes);
		return false;
	}
	in->kind = LOOK_PROFILE;
	if (when_read)
		when_read();
	*d = decode_input(in, bytes, size, report);
	return true;
}

/*
 * Return the number of the first SIZE bytes of FD that can be put at HEAD.  IS_REGULAR: they stay
 * in FD.  A failure is left for a later read to find again.
 */
static size_t read_head(int fd, bool is_regular, uint8_t *head, size_t size)
{
	size_t have = 0;
	ssize_t n;

	if (is_regular) {
		n = pread(fd, head, size, lseek(fd, 0, SEEK_CUR));
		return n > 0 ? (size_t)n : 0;
	}
	do {
		n = read(fd, head + have, size - have);
		have += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && have < size) || (n < 0 && errno == EINTR));
	return have;
}

struct decoded *decoded_read(const char *file, void when_read(void), struct report *report)
{
	bool is_stdin = !strcmp(file, "-");
	uint8_t head[HEAD];
	struct decoded_input in = {
		.file = file, .fd = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC),
		.head = head, .wrong = "not a pprof profile, or damaged; streams are joined by "
				       "pmu-stream --cat",
	};
	struct stat st;

	if (in.fd < 0) {
		report_failure(report, "cannot open '%s'", file);
		return NULL;
	}
	descriptor_enlarge_pipe(in.fd);
	bool is_regular = fstat(in.fd, &st) == 0 && S_ISREG(st.st_mode);
	struct decoded *d = NULL;
	if (!is_regular || !decode_small(&in, &d, when_read, report)) {
		size_t size = read_head(in.fd, is_regular, head, sizeof(head));
		in.size = is_regular ? 0 : size;
		in.kind = kind_of(head, size);
		d = decoded_rest(&in, when_read, report);
	}
	if (!is_stdin)
		close(in.fd);
	return d;
}
