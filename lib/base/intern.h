/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern - maps strings to ids: equal strings have the same id.
 *
 * Id 0 is always "".  Ids are dense, so they can index arrays.
 */
#pragma once
#include "base/arena.h"
#include "base/table.h"

/* Zero-initialised: empty. */
struct intern {
	const char **text;	/* strings by id, NUL-terminated; valid until intern_release() */
	uint32_t count;		/* 0, or 1 + the last id */
	struct arena arena;
	struct table table;
};

/* Return the id of the SIZE bytes at TEXT (none of them NUL); add them if they are new. */
uint32_t intern_bytes(struct intern *in, const char *text, size_t size);

/* Return the id of TEXT; add it if it is new. */
uint32_t intern_text(struct intern *in, const char *text);

/* Add an empty string, and return its id, which is not 0: where 0 means that there is no text. */
uint32_t intern_empty(struct intern *in);

/* Return the table's own copy of TEXT, valid until intern_release(); add it if it is new. */
const char *intern_copy(struct intern *in, const char *text);

/* Return the id of TEXT, or TABLE_NONE if it has not been added. */
uint32_t intern_find(const struct intern *in, const char *text);

void intern_release(struct intern *in);
