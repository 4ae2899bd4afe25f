/* SPDX-License-Identifier: Apache-2.0 */
/* label-record - reads the raw data of a labels record (record/label-payload.h). */
#pragma once
#include "record/label-payload.h"
#include "record/sample.h"

/* A labels record, and the values that its sample must also have. */
struct label_record {
	uint32_t event, cpu;
	pid_t tid;
	uint64_t time, ip;
	struct sample_labels labels;
};

/*
 * Read the raw data of a labels record: the event, address and labels of *R, whose text stays
 * in RAW.  Return what is wrong with it, or NULL.
 */
const char *label_record_read(struct bytes raw, struct label_record *r);

/* Byte offset in the raw data of the event's index, 64 bits. */
enum { LABEL_RECORD_EVENT = 8 };

/* A label: a key and its value, not NUL-terminated. */
struct label_text {
	const char *key, *value;
	uint8_t key_size, value_size;	/* bytes */
};

/* Take the next pair of the labels at *TEXT, which label_record_read() has checked. */
struct label_text label_next(const uint8_t **text);
