/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swap - what a machine of the other byte order recorded, made as ours would
 * have it, in place.
 *
 * A nested count or size that overruns its record ends the conversion there;
 * whoever decodes the record finds the same count, and tells.
 */
#pragma once
#include "record/events.h"

/* A record of SIZE bytes, at least a header.  False: there is no telling its fields; drop it. */
bool swap_record(const struct stream_events *events, uint8_t *record, size_t size);

/* An attr of SIZE bytes, as a file's list of events has it. */
void swap_attr(uint8_t *attr, size_t size);

/* The SIZE bytes of a header feature.  False: there is no telling its fields; drop it. */
bool swap_feature(uint64_t feature, uint8_t *bytes, size_t size);

/* SIZE / 8 words of 64 bits. */
void swap_words(uint8_t *bytes, size_t size);
