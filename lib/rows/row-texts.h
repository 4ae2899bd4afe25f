/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row-texts - the texts of rows: names, stacks and sets of labels, each written as JSON once,
 * however many rows and profiles have it.
 */
#pragma once
#include "base/buffer.h"
#include "base/byte-ids.h"
#include "base/intern.h"

/* Part of a text. */
struct row_piece {
	size_t at, size;	/* bytes, in the buffer that has the text */
};

/* A frame with details: texts by id, and a line; 0: not known. */
struct row_frame {
	uint32_t name, file, build_id, unused;
	int64_t line;
};

/* What a label is in a row. */
enum row_role { ROW_IS_LABEL, ROW_IS_HOST, ROW_IS_SERVICE };

/* A label of a sample: texts by id; TEXT TABLE_NONE: the value is NUMBER. */
struct row_label {
	uint32_t key, text, unit;
	uint32_t role;		/* enum row_role, which row_texts_set() sets */
	int64_t number;
};

/* Zero-initialised: empty, without details of frames. */
struct row_texts {
	bool has_details;
	struct intern names;
	struct row_piece *quoted;	/* by id of a name: its JSON string in QUOTES */
	uint32_t quotes_made;
	struct buffer quotes;
	struct byte_ids details;	/* struct row_frame by id of a frame, if HAS_DETAILS */
	struct byte_ids stacks;		/* ids of frames, or else of names; the root first */
	struct row_stack {
		uint64_t hash;
		struct row_piece text;	/* in TEXT: hash, names; SIZE 0: too long to keep */
		struct row_piece details;	/* in TEXT: files, lines, build IDs */
	} *stack;
	struct byte_ids sets;		/* struct row_label, sorted by key, by id of a set */
	struct row_set {
		struct row_piece text;	/* in TEXT */
		/* names, or 0: */
		uint32_t host, service;	/* from labels that are members of rows */
		uint32_t process;	/* the label comm, or else thread_comm */
		bool is_base;		/* of the base of a difference */
	} *set;
	struct row_member {
		uint32_t key;		/* name */
		enum row_role role;
	} *member;			/* labels of this profile that are members of rows */
	size_t members;
	struct buffer text;
};

/* Callback: take the SIZE bytes at BYTES. */
typedef void row_put(void *to, const void *bytes, size_t size);

uint32_t row_texts_name(struct row_texts *t, const char *name);

/* Return the id of this frame, if there are details. */
uint32_t row_texts_frame(struct row_texts *t, const struct row_frame *frame);

/* Return the id of a stack of COUNT ids of frames, the root first. */
uint32_t row_texts_stack(struct row_texts *t, const uint32_t *frame, size_t count);

/* From now on, a label with this KEY is the host or service of its row. */
void row_texts_member(struct row_texts *t, enum row_role role, const char *key);

/* Return the id of a set of labels.  Sorts LABEL. */
uint32_t row_texts_set(struct row_texts *t, struct row_label *label, size_t count);

/* Return the JSON string for a name. */
struct row_piece row_texts_quoted(struct row_texts *t, uint32_t name);

/* Write the text of a stack, and of its details, whether or not they are kept. */
void row_texts_put_stack(struct row_texts *t, uint32_t stack, row_put *put, void *to);
void row_texts_put_details(struct row_texts *t, uint32_t stack, row_put *put, void *to);

/* Return about how many bytes of memory all texts take. */
size_t row_texts_size(const struct row_texts *t);

/* Remove all texts. */
void row_texts_clear(struct row_texts *t);
