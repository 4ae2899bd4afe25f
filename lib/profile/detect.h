/* SPDX-License-Identifier: Apache-2.0 */
/* detect - distinguish profiles from streams by their first bytes. */
#pragma once
#include <stdbool.h>

/*
 * Return whether FILE ("-": stdin) is a profile, and not a stream: compressed by gzip without a
 * stream inside, or plain with a sample type first (field 1, its length, its first field).  All
 * bytes can still be read afterwards.
 */
bool detect_profile(const char *file);
