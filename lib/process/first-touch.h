/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first-touch - what touched each page of memory first, by samples of page faults: a text, which
 * has the name of the function.
 *
 * If a page has several faults, the last one before the sample counts: memory that was freed and
 * allocated again has new contents.
 */
#pragma once
#include "base/intern.h"

enum {
	TOUCHED_PAGE = 4096,		/* bytes: the smallest page; a fault stands for one */
	TOUCHES_MAX = 1 << 20,		/* pages that are remembered: the newest */
	TOUCH_NAMES_MAX = 1 << 14,	/* texts; pages of further ones are not remembered */
};

/* Zero-initialised: empty. */
struct first_touches {
	struct touch {
		uint64_t space, page;	/* space.birth; address / TOUCHED_PAGE */
		uint32_t name;		/* its text, in NAMES */
	} *touch;			/* a ring once it has TOUCHES_MAX elements */
	uint32_t count, next;		/* elements; the oldest, if the ring is full */
	struct table table;		/* over TOUCH */
	struct intern names;
};

/* What TEXT says touched the page of ADDRESS in the space born as SPACE. */
void first_touch_add(struct first_touches *t, uint64_t space, uint64_t address,
		     const char *text);

/* Return the id in t->names of the text on what touched the page of ADDRESS; 0: unknown. */
uint32_t first_touch_find(const struct first_touches *t, uint64_t space, uint64_t address);

void first_touches_release(struct first_touches *t);
