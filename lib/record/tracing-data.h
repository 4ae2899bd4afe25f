/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracepoint - where the fields of tracepoints lie, as TRACING_DATA says.
 *
 * What is behind that record is the head of trace-cmd's files, version 0.6
 * (trace-cmd.dat(5)), with the kernel's own descriptions of events.
 */
#pragma once
#include "base/arena.h"
#include "base/cursor.h"
#include "record/sample.h"

struct tracepoint_field {
	uint64_t id;		/* of the tracepoint: its events' attr.config */
	const char *name;
	uint16_t offset, size;	/* bytes, in the raw fields of a sample */
	bool is_signed;
	bool is_text;		/* an array of characters */
	bool is_elsewhere;	/* a u32 there says where: size << 16 | offset (__data_loc) */
};

/* Zero-initialised: none known. */
struct tracepoints {
	struct tracepoint_field *field;
	size_t fields;
	bool swap;		/* numbers are of the other byte order */
	struct arena arena;	/* the names */
};

/* Take in what is behind a TRACING_DATA record.  False where it is damaged. */
bool tracepoints_add(struct tracepoints *t, struct cursor data);

/* The field NAME of tracepoint ID, or NULL. */
const struct tracepoint_field *tracepoints_find(const struct tracepoints *t, uint64_t id,
						const char *name);

/* The field's number in RAW; false where it is not there. */
bool tracepoint_number(const struct tracepoints *t, const struct tracepoint_field *f,
		       struct bytes raw, int64_t *value);

/* The field's text in RAW: at most SIZE - 1 bytes of it to TEXT. */
bool tracepoint_text(const struct tracepoints *t, const struct tracepoint_field *f,
		     struct bytes raw, char *text, size_t size);

void tracepoints_release(struct tracepoints *t);
