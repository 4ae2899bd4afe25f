/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames - the functions of a location of a profile that was read, as the user numbers
 * them.  Each location, function, mapping and name is looked at once, however many samples
 * refer to it.
 */
#pragma once
#include "profile/decode.h"

/* The number of a function of this name, or of an object of this path. */
typedef uint32_t frames_number(void *context, const char *name);

struct frames {
	const struct decoded *d;
	frames_number *of_function, *of_object;
	void *context;
	uint32_t *function, *mapping;	/* numbers by index, and for none; TABLE_NONE: not yet */
	uint32_t *name_of, *path_of;	/* by string, of functions and of objects */
	struct frames_of {
		uint32_t first;		/* in NAME */
		uint16_t count;		/* of lines, the innermost call first, or 1; 0: not yet */
		bool is_address;	/* it has no line: the name is its object's */
	} *location;			/* by index */
	uint32_t *name;			/* numbers */
	uint32_t names;
};

void frames_init(struct frames *f, const struct decoded *d, frames_number *of_function,
		 frames_number *of_object, void *context);

/* Those of the location with this index; until the next call. */
const struct frames_of *frames_of(struct frames *f, uint32_t location);

void frames_release(struct frames *f);
