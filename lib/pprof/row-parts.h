/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row-parts - what rows have in common: texts, functions, stacks and sets of labels, each once, by
 * ids.  A text of a row that an earlier row had is not parsed again.
 */
#pragma once
#include "base/intern.h"
#include "pprof/row-split.h"

/* Ids of strings that are known from the start. */
enum { ROW_NO_TEXT, ROW_EMPTY_TEXT, ROW_COMM, ROW_THREAD_COMM, ROW_BASE, ROW_TEXTS };

struct parsed_label {
	uint32_t key, text, unit;	/* strings; TEXT: ROW_NO_TEXT if the value is NUMBER */
	uint32_t unused;		/* 0: labels are compared by their bytes */
	int64_t number;
};

/* What a set of labels says of all samples that have it. */
struct parsed_labels {
	uint32_t process;	/* string: the service of rows that name none; or ROW_NO_TEXT */
	bool is_base;		/* of the base of a difference */
};

struct parsed_function {
	uint32_t name, file;		/* strings */
};

struct parsed_location {
	uint32_t function, mapping;	/* ids; TABLE_NONE: the mapping is not known */
	int64_t line;
};

struct row_parts {
	struct intern strings;
	struct byte_ids quoted;		/* strings, as they are in rows */
	uint32_t *string;		/* by id in QUOTED */
	struct row_stacks stacks;
	uint32_t *stack;		/* by id of the text: id in CHAINS; TABLE_NONE: not yet */
	struct byte_ids detailed;	/* stacks with files, lines or build IDs */
	uint32_t *detailed_stack;	/* by id in DETAILED: id in CHAINS */
	struct byte_ids labels;		/* texts of labels and units */
	uint32_t *labels_set;		/* by id in LABELS: id in SETS */
	struct byte_ids functions, locations;	/* structs parsed_function and parsed_location */
	struct byte_ids mappings;	/* build IDs: strings */
	struct byte_ids chains;		/* ids of locations, the leaf first */
	struct byte_ids sets;		/* structs parsed_label, sorted */
	struct parsed_labels *set;		/* by id in SETS */
	const char *wrong;		/* what is wrong with the row */
	/* private: */
	struct row_list {
		int64_t *item;
		size_t count;
	} list[4];			/* of a row: names, files, lines, build IDs */
	struct parsed_label *label;	/* of a row */
	size_t label_count;
	uint32_t *chain;
	char *text, *inner;		/* text that is decoded */
	size_t text_room, inner_room;
	char *key;			/* a row's text of several values */
	size_t key_room;
};

void row_parts_init(struct row_parts *p);

/*
 * Return the id of the string, stack or set of labels of a row.  TABLE_NONE: p->wrong says what is
 * wrong.  A string or labels that the row does not have have the id 0.
 */
uint32_t row_parts_string(struct row_parts *p, struct row_value v);
uint32_t row_parts_stack(struct row_parts *p, const struct row_line *row);
uint32_t row_parts_set(struct row_parts *p, const struct row_line *row);

void row_parts_release(struct row_parts *p);
