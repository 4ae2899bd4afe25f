/* SPDX-License-Identifier: Apache-2.0 */
/* internal - what only this module uses; the files are named. */
#pragma once
#include "base/buffer.h"
#include "base/output.h"

#include <stdbool.h>
#include <stdint.h>

/* flame-change - whether a share of samples has changed by more than chance. */

/* The share of a function: its value, the value of all, and the number of samples in all. */
struct flame_share {
	double value, all;
	double samples;		/* 0: unknown */
};

/* Changes below this are shown in grey. */
#define FLAME_SIGNIFICANT 3.0

/*
 * Return by how many standard errors the share of A is above that of B.  If samples are few, the
 * probability is exact (binomial), so one new sample is not significant.  If the numbers of samples
 * are unknown, chance is, too: the result is 99 for any rise and -99 for any fall.
 */
double flame_change(struct flame_share a, struct flame_share b);

/*
 * flame-column - the data inside a page: JSON, in which a column of numbers is
 * {"n":count,"z":"..."}: LEB128 varints, compressed by raw deflate, in base64.
 */

/* Zero-initialised: empty. */
struct flame_column {
	struct buffer bytes;
	uint32_t count;
};

void flame_column_add(struct flame_column *c, uint64_t number);

/* Add a number that may be negative: zigzag, small ones of either sign are short. */
void flame_column_add_signed(struct flame_column *c, int64_t number);

/* Write the column, and empty it.  MUL: the factor of all its numbers; 0: not written. */
void flame_column_write(struct flame_column *c, uint64_t mul, struct output *out);

/* Write FORMAT, at most 500 bytes. */
void flame_print(struct output *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Write TEXT as a string of JSON that is harmless inside an HTML script element: with
 * neither "<" nor a control character, and valid UTF-8.
 */
void flame_json(struct output *out, const char *text);

/* Write TEXT for HTML and XML, between tags or in quotes. */
void flame_markup(struct output *out, const char *text);
