/* SPDX-License-Identifier: Apache-2.0 */
/* units - numbers with units, as users type them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/*
 * Parse a whole number: unsigned decimal or hexadecimal (0x), with an optional power of
 * 1000 ("10k", "1M", "2G") or of 1024 ("64Ki", "1Mi").  Return false if TEXT is not such a
 * number or does not fit.
 */
bool units_parse_count(const char *text, uint64_t *count);

/*
 * Parse a duration into nanoseconds: "10" (seconds), "1.5", ".5", "10ms", "250us",
 * "7ns", "2m", "1h".  Return false if TEXT is not a duration or does not fit.
 */
bool units_parse_duration(const char *text, uint64_t *ns);

/* Parse a share, from 0 to 1: "0.5%" or "0.005".  Return false if TEXT is not a share. */
bool units_parse_share(const char *text, double *share);

/* Size of TEXT in what follows, with its NUL. */
enum { UNITS_SIZE = 32 };

/* Write BYTES to TEXT as units_parse_count() reads it: "64Mi", "1000". */
void units_format_size(char text[UNITS_SIZE], uint64_t bytes);

/* Write NS to TEXT as units_parse_duration() reads it: "5m", "1500ms". */
void units_format_duration(char text[UNITS_SIZE], uint64_t ns);

/* Write NUMBER to TEXT with commas between thousands: "12,345,678". */
void units_format_grouped(char text[UNITS_SIZE], uint64_t number);
