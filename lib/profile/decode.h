/* SPDX-License-Identifier: Apache-2.0 */
/* decode - a profile.proto file, gzip'd or plain, in memory. */
#pragma once
#include "base/report.h"
#include "profile.pb-c.h"

#include <stddef.h>

/* The label of the samples of a difference that are its base's ("true"), as pprof calls it. */
#define PROFILE_BASE "pprof::base"

enum { PROFILE_MAX = 1 << 30 };	/* bytes, uncompressed; a larger one is refused */

/*
 * Read FILE ("-": stdin).  NULL (reported) if it cannot be read, is no
 * profile, or refers to what it does not have: every index and id in the
 * result is sound, every string is safe to print (base/text.h).  The caller frees it
 * with profile_free().
 */
Perftools__Profiles__Profile *profile_read(const char *file, struct report *report);

void profile_free(Perftools__Profiles__Profile *profile);

/* The string of this index. */
static inline const char *profile_string(const Perftools__Profiles__Profile *p, int64_t index)
{
	return p->string_table[index];
}
