/* SPDX-License-Identifier: Apache-2.0 */
/* internal - what only this module uses; the files are named. */
#pragma once
#include "access/accesses.h"

/* accesses */

void access_sums_add(struct access_sums *to, const struct access_sums *more);

uint64_t access_row_hash(const struct accesses *a, const struct access_row *row);
uint64_t access_part_hash(const struct access_part *p);
uint64_t access_weight_hash(const struct access_weight *w);

/* access-room */

/*
 * A table of A is full: move the half of the rows with fewer samples to A->others, with their
 * parts.  If most parts belong to few rows, which stay, also remove the half of the parts with
 * fewer samples.  Indices of rows and parts change.
 */
void accesses_make_room(struct accesses *a);
