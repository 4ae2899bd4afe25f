/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pgo - makes the profile that Go's compiler takes: go build -pgo=FILE.
 *
 *	struct pgo *p = pgo_new();
 *
 *	pgo_add(p, d, file, report);			for each profile
 *	struct merge *m = pgo_finish(p, main, report);	NULL: refused
 *	merge_write(m, ...);
 *	pgo_free(p);
 *
 * The compiler (cmd/internal/pgo) reads one sample type, samples/count.  Of each sample it counts
 * the call at the leaf: the caller, the line of the call less the line at which the caller starts,
 * and the function that is called.  It ignores a profile without calls, and says nothing.
 */
#pragma once
#include "pprof/merge.h"

struct pgo;

struct pgo *pgo_new(void);

/*
 * Add the samples of D by its first type that counts samples, without their labels, and without
 * frames of the kernel at the leaf.  FILE is the name for messages.  Return false (reported) if D
 * counts no samples.
 */
bool pgo_add(struct pgo *p, const struct decoded *d, const char *file, struct report *report);

/*
 * Return a profile of the samples whose leaf is in the program MAIN, a path or the last part of it
 * (NULL: the Go program with most samples), for merge_write(); NULL (reported): the compiler would
 * refuse or ignore it.  Call it once.
 */
struct merge *pgo_finish(struct pgo *p, const char *main, struct report *report);

void pgo_free(struct pgo *p);
