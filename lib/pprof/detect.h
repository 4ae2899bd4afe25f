/* SPDX-License-Identifier: Apache-2.0 */
/* detect - distinguishes profiles and rows from streams by their first bytes. */
#pragma once
#include <stdbool.h>

/*
 * Return whether FILE ("-": stdin) is a profile, or rows, plain or compressed, as look_at() sees
 * it.  All bytes can still be read afterwards.
 */
bool detect_profile(const char *file);
