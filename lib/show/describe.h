/* SPDX-License-Identifier: Apache-2.0 */
/* describe - prints records for people and scripts, one line each, on stdout. */
#pragma once
#include "stream/reader.h"

/*
 * Print REC, just read from IN: "OFFSET TYPE size=N time=NS ...", then its fields, if the
 * library decodes this type.  With JSON, print the same as an object.  A record that is
 * too short for its fields is reported.
 */
void describe_record(struct stream_reader *in, const struct record *rec, bool json);
