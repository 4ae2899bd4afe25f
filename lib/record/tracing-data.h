/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracing-data - the fields of tracepoints, from the data of TRACING_DATA records.
 *
 * The data that follow the record have the format of the first part of trace-cmd's
 * files, version 0.6 (trace-cmd.dat(5)), with the kernel's descriptions of events.
 */
#pragma once
#include "base/arena.h"
#include "base/cursor.h"
#include "base/table.h"
#include "record/sample.h"

struct tracepoint_field {
	uint64_t id;		/* id of the tracepoint: attr.config of its events */
	const char *name;
	uint16_t offset, size;	/* in a sample's raw data, in bytes */
	bool is_signed;
	bool is_text;		/* an array of characters */
	bool is_elsewhere;	/* the field only says where the data are: u32 size << 16 | offset
				   (__data_loc) */
};

/* Zero-initialised: empty. */
struct tracepoints {
	struct tracepoint_field *field;
	uint32_t fields;
	struct table table;	/* index over FIELD, by id and name */
	bool swap;		/* numbers have the other byte order */
	struct arena arena;	/* memory of the names */
};

/* Add the fields in DATA, which follow a TRACING_DATA record.  Return false if DATA is damaged. */
bool tracepoints_add(struct tracepoints *t, struct cursor data);

/* Return the field NAME of tracepoint ID, or NULL. */
const struct tracepoint_field *tracepoints_find(const struct tracepoints *t, uint64_t id,
						const char *name);

/* Set *VALUE to the number in field F of RAW.  Return false if RAW does not contain it. */
bool tracepoint_number(const struct tracepoints *t, const struct tracepoint_field *f,
		       struct bytes raw, int64_t *value);

/* Copy at most SIZE - 1 bytes of the text in field F of RAW to TEXT.  Return false as above. */
bool tracepoint_text(const struct tracepoints *t, const struct tracepoint_field *f,
		     struct bytes raw, char *text, size_t size);

void tracepoints_release(struct tracepoints *t);
