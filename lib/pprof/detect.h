/* SPDX-License-Identifier: Apache-2.0 */
/* detect - distinguishes profiles from streams by their first bytes. */
#pragma once
#include <stdbool.h>

/*
 * Return whether FILE ("-": stdin) is a profile, plain or compressed by gzip, as look_at() sees it.
 * All bytes can still be read afterwards.
 */
bool detect_profile(const char *file);
