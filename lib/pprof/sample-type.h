/* SPDX-License-Identifier: Apache-2.0 */
/* sample-type - finds the sample type that a user asks for, or says which ones there are. */
#pragma once
#include "pprof/decode.h"

/*
 * Return the index of the sample type of D that decoded_find_type() finds for NAME, or of the
 * default type if NAME is NULL.  Return TABLE_NONE (reported) if D has no such type.  FILE is D's
 * name for messages; NULL: there is only one profile.
 */
uint32_t sample_type_find(const struct decoded *d, const char *name, const char *file,
			  struct report *report);

/* Return whether the sample type NAME says how many contentions there were, or how long. */
bool sample_type_is_of_contentions(const char *name);

/* Report that D has no sample type NAME, and which ones it has. */
void sample_type_refuse(const struct decoded *d, const char *name, const char *file,
			struct report *report);
