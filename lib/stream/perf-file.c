/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the header of a perf.data file.  A file from a pipe is first copied to a temporary file.
 *
 *	u64 magic, header size, attr entry size;
 *	{ u64 offset, size } of attrs, data, event types (unused);
 *	u64 features[4];			a bit for each feature
 *	...
 *	attr entries: attr, { u64 offset, size } of its ids
 *	data: records
 *	right after the data: { u64 offset, size } of each feature, in order of their bits
 *
 * (tools/perf/util/header.h, struct perf_file_header.)
 */
#include "stream/internal.h"
#include "record/recorded.h"
#include "record/swap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FILE_HEADER_MIN = 72,		/* up to the features; older headers end there */
	FEATURES = 256,			/* bits */
	SECTION_MAX = 64 * 1024 * 1024,	/* bytes of a section that is read as a whole */
	FEATURE_HEAD = RECORD_HEADER_SIZE + 8,	/* a FEATURE record's header and number */
};

struct section {
	uint64_t offset, size;		/* bytes, from the file's start */
};

struct file_header {
	uint64_t attr_size;		/* bytes of an attr entry */
	struct section attrs, data;
	uint64_t features[FEATURES / 64];
};

static struct section take_section(struct cursor *c)
{
	struct section s = { .offset = cursor_u64(c) };

	s.size = cursor_u64(c);
	return s;
}

/* Report that the header is damaged at OFFSET.  Return false. */
static bool header_damage(struct stream_reader *in, uint64_t offset, const char *what)
{
	in->damaged = true;
	report_damage(in->report, (struct report_place){ in->file, offset }, "%s", what);
	return false;
}

/* Read the section S.  False: the file does not have it. */
static bool read_all(const struct stream_reader *in, struct section s, uint8_t *bytes)
{
	uint64_t done = 0;

	while (done < s.size) {
		ssize_t n = pread(in->fd, bytes + done, s.size - done, (off_t)(s.offset + done));
		if (n > 0)
			done += (uint64_t)n;
		else if (n == 0 || errno != EINTR)
			return false;
	}
	return true;
}

/*
 * Return the bytes of a section; the caller frees.  NULL: they cannot be read, or sections
 * overlap so much that more was read than the file has (reported).
 */
static uint8_t *read_section(struct stream_reader *in, struct section s, const char *what)
{
	struct report_place where = { in->file, s.offset };
	bool is_in_file = s.size <= SECTION_MAX && s.offset <= in->file_size &&
			  s.size <= in->file_size - s.offset;

	if (is_in_file && !fuel_take(&in->sections, s.size)) {
		in->damaged = true;
		report_damage(in->report, where, "%s of %" PRIu64 " bytes is not read: the file's "
			      "sections overlap", what, s.size);
		return NULL;
	}
	uint8_t *bytes = is_in_file ? mem_resize(NULL, s.size) : NULL;
	if (bytes && read_all(in, s, bytes))
		return bytes;
	free(bytes);
	in->damaged = true;
	report_damage(in->report, where, "%s of %" PRIu64 " bytes is not in the file", what,
		      s.size);
	return NULL;
}

/* Add a made record of SIZE bytes, and write its header.  Return its body. */
static uint8_t *make_record(struct stream_reader *in, uint32_t type, uint16_t misc, size_t size)
{
	uint16_t size16 = (uint16_t)size;

	uint8_t *rec = buffer_extend(&in->made, size);
	memcpy(rec, &type, 4);
	memcpy(rec + 4, &misc, 2);
	memcpy(rec + 6, &size16, 2);
	return rec + RECORD_HEADER_SIZE;
}

/* Make the ATTR records of an event, see events_is_full(); our own reader has the ids already. */
static void make_attr(struct stream_reader *in, const uint8_t *attr, size_t size,
		      struct cursor ids)
{
	size_t count;

	do {
		count = events_ids_that_fit(size, cursor_left(&ids) / 8);
		uint8_t *to = make_record(in, RECORD_ATTR, 0,
					  RECORD_HEADER_SIZE + size + 8 * count);
		memcpy(to, attr, size);
		if (count)
			memcpy(to + size, cursor_bytes(&ids, 8 * count), 8 * count);
	} while (events_is_full(size, count));
}

static bool open_attr(struct stream_reader *in, uint8_t *entry, size_t entry_size,
		      uint64_t offset)
{
	struct cursor c = { .at = entry, .end = entry + entry_size, .swap = in->swap };
	size_t size = entry_size - sizeof(struct section), own = events_attr_size(c);
	uint8_t *ids = NULL;
	const char *error;

	cursor_bytes(&c, size);
	struct section s = take_section(&c);
	if (s.size > 0)
		ids = read_section(in, s, "a list of event ids");
	if (in->swap) {
		swap_attr(entry, size);
		if (ids)
			swap_words(ids, s.size);
	}
	struct cursor id = { .at = ids, .end = ids ? ids + s.size : NULL };
	if (own < size)
		size = own;	/* the rest is padding */
	memcpy(entry + 4, &(uint32_t){ (uint32_t)size }, 4);
	bool good = events_add(&in->events, entry, size, id, &error);
	if (good)
		make_attr(in, entry, size, id);
	else
		header_damage(in, offset, error);
	free(ids);
	return good;
}

static bool open_attrs(struct stream_reader *in, const struct file_header *h)
{
	size_t size = h->attr_size;

	if (size < PERF_ATTR_SIZE_VER0 + sizeof(struct section) || size > 4096)
		return header_damage(in, 16, "the header's size of an attr is impossible");
	if (h->attrs.size == 0 || h->attrs.size % size)
		return header_damage(in, 24, "the header's list of events is empty or cut short");
	uint8_t *entries = read_section(in, h->attrs, "the list of events");
	if (!entries)
		return false;
	bool good = true;
	for (uint64_t at = 0; good && at < h->attrs.size; at += size)
		good = open_attr(in, entries + at, size, h->attrs.offset + at);
	free(entries);
	return good;
}

/*
 * Make BUILD_ID records from the build ID section, a list of such records; old perf
 * wrote them without a type.
 */
static void make_build_ids(struct stream_reader *in, uint8_t *bytes, size_t size)
{
	struct record rec;

	while (size >= RECORD_HEADER_SIZE) {
		size_t rec_size = record_frame(&rec, bytes, in->swap);
		if (rec_size < RECORD_HEADER_SIZE || rec_size > size)
			return;
		uint8_t *body = make_record(in, RECORD_BUILD_ID, rec.misc, rec_size);
		memcpy(body, rec.body.at, rec_size - RECORD_HEADER_SIZE);
		rec.body.swap = in->swap;
		uint32_t pid = cursor_u32(&rec.body);
		if (!rec.body.failed)
			memcpy(body, &pid, sizeof(pid));
		bytes += rec_size;
		size -= rec_size;
	}
}

/* Make a TRACING_DATA record: u32 size, and after the record that many bytes, padded to 8. */
static void make_tracing_data(struct stream_reader *in, const uint8_t *bytes, size_t size)
{
	static const uint8_t zeros[8];
	uint32_t size32 = (uint32_t)((size + 7) & ~(size_t)7);

	if (size > TRAILING_MAX)
		return;
	memcpy(make_record(in, RECORD_TRACING_DATA, 0, RECORD_HEADER_SIZE + 4), &size32, 4);
	buffer_add(&in->made, bytes, size);
	buffer_add(&in->made, zeros, size32 - size);
}

/* Make FEATURE records of simpleperf's symbols, each with one file or a part of one. */
static void make_recorded(struct stream_reader *in, struct cursor c)
{
	enum { PART_MAX = 60000 };	/* bytes per record */
	struct recorded_file file;
	uint8_t *part = mem_resize(NULL, PART_MAX);
	const uint64_t feature = FEATURE_FILE;
	size_t size;

	while (recorded_next(&c, &file))
		while ((size = recorded_split(&file, part, PART_MAX)) > 0) {
			size_t padded = (size + 7) & ~(size_t)7;
			memset(part + size, 0, padded - size);
			uint8_t *to = make_record(in, RECORD_FEATURE, 0, FEATURE_HEAD + padded);
			memcpy(to, &feature, 8);
			memcpy(to + 8, part, padded);
		}
	if (c.failed)
		report_note(in->report, "%s: its list of symbols is damaged: symbols of some files "
			    "are missing", in->file);
	free(part);
}

static void make_recorded2(struct stream_reader *in, const uint8_t *bytes, size_t size)
{
	uint8_t *decoded = recorded_decode((struct cursor){ .at = bytes, .end = bytes + size,
							    .swap = in->swap }, &size);

	make_recorded(in, (struct cursor){ .at = decoded, .end = decoded + size });
	free(decoded);
}

static bool is_of_any_size(uint64_t feature)
{
	return feature == FEATURE_BUILD_ID || feature == FEATURE_TRACING_DATA ||
	       feature == FEATURE_FILE || feature == FEATURE_FILE2;
}

static void open_feature(struct stream_reader *in, uint64_t feature, struct section s)
{
	if (s.size == 0 ||
	    (!is_of_any_size(feature) && s.size > RECORD_MAX_SIZE - FEATURE_HEAD))
		return;		/* too large for a record; no feature that we use is so large */
	uint8_t *bytes = read_section(in, s, "a header feature");
	if (!bytes)
		return;
	if (feature == FEATURE_BUILD_ID) {
		make_build_ids(in, bytes, s.size);
	} else if (feature == FEATURE_TRACING_DATA) {
		make_tracing_data(in, bytes, s.size);
	} else if (feature == FEATURE_FILE) {
		make_recorded(in, (struct cursor){ .at = bytes, .end = bytes + s.size,
						   .swap = in->swap });
	} else if (feature == FEATURE_FILE2) {
		make_recorded2(in, bytes, s.size);
	} else {
		if (in->swap)
			swap_feature(feature, bytes, s.size);
		uint8_t *to = make_record(in, RECORD_FEATURE, 0, FEATURE_HEAD + s.size);
		memcpy(to, &feature, 8);
		memcpy(to + 8, bytes, s.size);
	}
	free(bytes);
}

static void open_features(struct stream_reader *in, const struct file_header *h)
{
	struct section list = { .offset = h->data.offset + h->data.size };

	for (int i = 0; i < FEATURES; i++)
		if (h->features[i / 64] >> i % 64 & 1)
			list.size += sizeof(struct section);
	if (list.size == 0)
		return;
	uint8_t *bytes = read_section(in, list, "the list of header features");
	struct cursor c = { .at = bytes, .end = bytes ? bytes + list.size : NULL,
			    .swap = in->swap };
	for (uint64_t i = 0; bytes && i < FEATURES; i++)
		if (h->features[i / 64] >> i % 64 & 1)
			open_feature(in, i, take_section(&c));
	free(bytes);
}

static struct file_header take_header(struct cursor c)
{
	struct file_header h = { 0 };

	cursor_bytes(&c, PIPE_HEADER_SIZE);
	h.attr_size = cursor_u64(&c);
	h.attrs = take_section(&c);
	h.data = take_section(&c);
	take_section(&c);	/* event types: no longer written */
	for (size_t i = 0; i < FEATURES / 64; i++)
		h.features[i] = cursor_u64(&c);
	/*
	 * A big-endian recorder's words have 32 bits if HOSTNAME, which all its recordings have,
	 * is missing.
	 */
	bool is_big = c.swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	bool short_words = is_big && !(h.features[0] >> FEATURE_HOSTNAME & 1);
	for (size_t i = 0; short_words && i < FEATURES / 64; i++)
		h.features[i] = h.features[i] << 32 | h.features[i] >> 32;
	return h;
}

bool reader_open_file(struct stream_reader *in, uint64_t header_size)
{
	struct stat st;

	in->is_file = true;
	if (header_size < FILE_HEADER_MIN || header_size > READER_BUFFER)
		return header_damage(in, 8, "the header's size is neither a pipe's nor a file's");
	if (!in->seekable && !reader_spool(in))
		return false;
	if (fstat(in->fd, &st) == 0)
		in->sections.left = in->file_size = (uint64_t)st.st_size;
	if (!reader_fill(in, header_size))
		return header_damage(in, 0, "file ends inside its header");
	struct file_header h = take_header((struct cursor){ .at = in->buffer, .swap = in->swap,
							    .end = in->buffer + header_size });
	if (h.data.offset < header_size || h.data.size > UINT64_MAX - h.data.offset)
		return header_damage(in, 40, "the header's data section is impossible");
	if (!open_attrs(in, &h))
		return false;
	if (h.data.size == 0)
		header_damage(in, 48, "the header claims no data: the recorder was killed; "
			      "the file is read to its end");
	else
		open_features(in, &h);
	if (lseek(in->fd, (off_t)h.data.offset, SEEK_SET) < 0) {
		report_failure(in->report, "cannot seek in '%s'", in->file);
		return false;
	}
	in->begin = in->end = 0;
	in->offset = h.data.offset;
	if (h.data.size)
		in->limit = h.data.offset + h.data.size;
	return true;
}
