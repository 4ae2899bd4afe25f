/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row-origins - when and where the samples of a profile were recorded, if its facts say that not
 * all were recorded together: a sum of rows, or a difference.
 */
#pragma once
#include "pprof/decode.h"
#include "pprof/figures.h"
#include "rows/row-texts.h"

struct row_time {
	int64_t time, duration;		/* ns since the epoch, ns; 0: unknown */
};

/* Zero-initialised: empty. */
struct row_origins {
	struct row_time all;		/* of the profile */
	bool has_sides;			/* it is a difference, of: */
	struct row_time side[2];	/* by is_base */
	struct byte_ids ids;		/* host, service, is_base */
	struct row_time *time;		/* by id */
	bool is_uncounted;		/* some rows had no number of samples */
};

/* Read the facts of D.  TEXTS then knows which labels are members of rows. */
void row_origins_read(struct row_origins *o, const struct decoded *d, struct row_texts *texts);

/* Return when the samples with the labels SET were recorded. */
struct row_time row_origins_time(const struct row_origins *o, const struct row_set *set);

void row_origins_release(struct row_origins *o);
