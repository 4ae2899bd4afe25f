/* SPDX-License-Identifier: Apache-2.0 */
/* describe - records for people and scripts: a line each, on stdout. */
#pragma once
#include "stream/reader.h"

/*
 * Print REC, just read from IN: "OFFSET TYPE size=N time=NS ...", then the fields
 * of the types that the library decodes; with JSON an object of the same.
 * A record whose fields do not fit is reported.
 */
void describe_record(struct stream_reader *in, const struct record *rec, bool json);
