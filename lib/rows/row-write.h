/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row-write - writes the samples of decoded profiles as rows, lines of JSON (pmu-rows(5)).
 *
 *	struct row_writer *w = row_writer_new(&options);
 *
 *	row_write(w, d, out);		for each profile
 *	row_writer_free(w, report);
 *
 * A row has the sum of the samples that have the same names of functions (with details: files,
 * lines and build IDs, too) and the same labels.  What is equal in several profiles is made into
 * text once.
 */
#pragma once
#include "base/output.h"
#include "pprof/decode.h"

/* Zero-initialised: nothing is chosen. */
struct row_options {
	const char *host;	/* NULL: that of the profile's comments */
	const char *service;	/* NULL: of the comments, or else the label comm, or thread_comm */
	bool details;		/* also files, lines and build IDs */
};

struct row_writer;

/* OPTIONS must outlive the result. */
struct row_writer *row_writer_new(const struct row_options *options);

/* Write the rows of D, which have a value that is not 0, and flush.  OUT reports failures. */
void row_write(struct row_writer *w, const struct decoded *d, struct output *out);

/* Report names that could not be written as they are, and free W, which may be NULL. */
void row_writer_free(struct row_writer *w, struct report *report);
