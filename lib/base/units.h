/* SPDX-License-Identifier: Apache-2.0 */
/* units - numbers with units, as people type them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/*
 * A whole number of things: "250", "10k", "1M", "2G" (powers of 1000) or
 * "64Ki", "1Mi" (of 1024); an unsigned decimal or 0x hexadecimal number.
 * False if it is none, or does not fit.
 */
bool units_parse_count(const char *text, uint64_t *count);

/*
 * A duration in nanoseconds: "10" (seconds), "1.5", ".5", "10ms", "250us", "7ns",
 * "2m", "1h".  False if it is none, or does not fit.
 */
bool units_parse_duration(const char *text, uint64_t *ns);
