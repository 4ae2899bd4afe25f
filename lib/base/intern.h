/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern - strings to dense ids: equal strings get the same id.
 *
 * Id 0 is always "".  Ids count up from there, so they index arrays.
 */
#pragma once
#include "base/arena.h"
#include "base/table.h"

/* Zero-initialised: empty. */
struct intern {
	const char **text;	/* by id; NUL-terminated; they live as long as the table */
	uint32_t count;		/* 0, or 1 + the last id */
	struct arena arena;
	struct table table;
};

/* The id of the SIZE bytes at TEXT (none of them NUL). */
uint32_t intern_bytes(struct intern *in, const char *text, size_t size);

/* The id of TEXT. */
uint32_t intern_text(struct intern *in, const char *text);

/* The same, or TABLE_NONE if it has none. */
uint32_t intern_find(const struct intern *in, const char *text);

void intern_release(struct intern *in);
