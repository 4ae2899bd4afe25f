/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swap - converts data from a machine of the other byte order to ours, in place.
 *
 * A nested count or size that overruns its record ends the conversion there;
 * the decoder of the record finds the same count and reports it.
 */
#pragma once
#include "record/events.h"

/*
 * Convert a record of SIZE bytes, at least a header.  Return false if only its header, and the
 * number of a FEATURE record, were converted, because its fields cannot be.
 */
bool swap_record(const struct stream_events *events, uint8_t *record, size_t size);

/* Convert an attr of SIZE bytes, as in a file's table of events. */
void swap_attr(uint8_t *attr, size_t size);

/* Convert a header feature of SIZE bytes.  Return false if its fields are unknown. */
bool swap_feature(uint64_t feature, uint8_t *bytes, size_t size);

/* Return whether swap_feature() knows the fields of FEATURE. */
bool swap_knows_feature(uint64_t feature);

/* Convert SIZE / 8 words of 64 bits. */
void swap_words(uint8_t *bytes, size_t size);
