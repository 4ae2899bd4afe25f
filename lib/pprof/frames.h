/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames - maps a location of a decoded profile to its functions, as numbers that the
 * caller assigns.  Each location, function, mapping and name is decoded once, however many
 * samples refer to it.
 */
#pragma once
#include "base/byte-ids.h"
#include "pprof/decode.h"

/* What makes two frames equal: equal frames have one number. */
enum frames_by {
	FRAMES_BY_FUNCTION,	/* its name */
	FRAMES_BY_FILE,		/* the source file, or "?" */
	FRAMES_BY_LINE,		/* "function file:line" */
	FRAMES_BY_OBJECT,	/* equal objects; calls inlined at a location are one frame */
	FRAMES_BY_KINDS
};

/* What such a frame is called, as in options: "function", "file", "line", "object". */
extern const char *const frames_by_name[FRAMES_BY_KINDS];

/* Callback: return the caller's number for a function or an object with this NAME. */
typedef uint32_t frames_number(void *context, const char *name);

struct frames {
	const struct decoded *d;
	frames_number *of_function, *of_object;
	void *context;
	enum frames_by by;	/* set after frames_init(); else by function */
	struct byte_ids lines;	/* by line: function and line */
	uint32_t *line;		/* numbers by id in LINES */
	uint32_t *function, *mapping;	/* numbers by index, last "none"; TABLE_NONE: not yet */
	uint32_t *name_of, *path_of;	/* numbers of functions and objects by string */
	struct frames_of {
		uint32_t first;		/* index in NAME */
		uint16_t count;		/* of lines, innermost call first, or 1; 0: not yet */
		bool is_address;	/* no line: the name is that of the object */
	} *location;			/* by index */
	uint32_t *name;			/* numbers of all locations */
	uint32_t names;
};

void frames_init(struct frames *f, const struct decoded *d, frames_number *of_function,
		 frames_number *of_object, void *context);

/* Return the frames of the location with this index.  F->name is valid until the next call. */
const struct frames_of *frames_of(struct frames *f, uint32_t location);

void frames_release(struct frames *f);
