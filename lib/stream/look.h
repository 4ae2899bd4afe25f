/* SPDX-License-Identifier: Apache-2.0 */
/* look - recognizes inputs by their first bytes: streams, at which stage, text, profiles. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum look_kind {
	LOOK_TOO_SHORT,		/* more bytes are needed */
	LOOK_RAW,		/* a stream with raw samples, or a perf.data file */
	LOOK_RESOLVED,		/* a stream after pmu-symbolize */
	LOOK_ROWS,		/* lines of JSON (pmu-rows(5)) */
	LOOK_TEXT,
	LOOK_PROFILE,		/* profile.proto, or anything else in gzip */
	LOOK_OTHER,
};

struct look {
	enum look_kind kind;
	bool has_dumps;		/* LOOK_RAW only: samples of an event have copies of stacks */
};

/*
 * Look at HEAD, the first SIZE bytes of an input, compressed or not.  IS_ALL: there are no more
 * bytes, or the caller reads no more; the answer is then never LOOK_TOO_SHORT.
 */
struct look look_at(const uint8_t *head, size_t size, bool is_all);

/*
 * Look at what IN will return, before the first stream_next().  It reads as far as it must, and
 * keeps what it reads; so it may wait for input.
 */
struct stream_reader;
struct look stream_look(struct stream_reader *in);

/*
 * Look at the first bytes of FD.  They are then at HEAD, which has room for STREAM_HEAD_MAX, and
 * *SIZE is their number.  IS_REGULAR: they can be read from FD again.
 */
struct look look_into(int fd, bool is_regular, uint8_t *head, size_t *size);

/*
 * Return whether HEAD, the first SIZE bytes of a plain input, is a profile in a format from before
 * profile.proto, of gperftools, old Go or Java, which only pprof reads.
 */
bool look_is_old_profile(const uint8_t *head, size_t size);

/* What to do with such a profile, after "FILE is ". */
#define LOOK_OLD_PROFILE "a profile in an old format of gperftools, Go or Java: " \
	"go tool pprof -proto FILE >FILE.pb.gz makes a new one of it"
