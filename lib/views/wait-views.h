/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait-views - one profile of a recording of waits, whose sample types are its sides: what ran,
 * where threads waited for others, what made them wait, and both in one stack.
 *
 * So each viewer that lets its user choose a sample type has a switch between them.
 */
#pragma once
#include "aggregate/collect.h"
#include "pprof/merge.h"

/*
 * Return the profile of the stream INPUT ("-": stdin), for merge_write(); NULL: reported.  HOW is
 * for each side.  An input that cannot be read again is copied to a file without a name first,
 * until it ends or *STOP is set.
 */
struct merge *wait_views_make(const char *input, const struct collect_options *how,
			      const volatile sig_atomic_t *stop, struct report *report);
