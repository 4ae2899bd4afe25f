/* SPDX-License-Identifier: Apache-2.0 */
/* Shared inside encode: the profile that is being written, and its sample types. */
#pragma once
#include "aggregate/ranking.h"
#include "base/intern.h"
#include "pprof/pack.h"
#include "profile.pb-c.h"

struct encoder {
	struct profile *p;
	const struct stream_events *events;
	struct ranking ranking;
	struct pack *pack;
	struct intern strings;	/* the profile's string table */
	int64_t *fact;		/* strings: the figures of each event that is shown */
	size_t facts;
	int64_t *count_name;	/* strings: the name of each event's type with counts */
	double ns_per_cycle;	/* estimated, of the event CYCLES; 0: not shown */
	uint32_t cycles;
	struct encoded_strings {	/* 1 + index of a text in STRINGS; 0: not yet */
		uint32_t *resolved, *own, *labels;	/* by id of the text there */
		struct encoded_key {
			uint32_t name, unit;
		} keys[LABEL_KEYS_MAX];			/* by key of a label */
	} id;
	uint32_t first_clock;	/* index of the first event that is a clock */
	struct object_has {	/* what the frames in an object have */
		bool functions, files, lines, inlines;
		uint64_t samples;	/* that have a frame in it, for a main executable */
	} *has;			/* by index in ranking.objects.order */
};

/* Return the string index of TEXT, made UTF-8 and safe to print: sampled programs choose names. */
int64_t encode_text(struct encoder *e, const char *text);

/* The same, memoized in *ID (0 at first), for a text that many parts share. */
int64_t encode_known(struct encoder *e, uint32_t *id, const char *text);

/*
 * Write two types for each event: "samples" ("cycles_samples" if there are several) and values; and
 * then the further types.  The default type is the first further type; without one, the time that
 * threads waited; without that, the values of the first event.
 */
void encode_types(struct encoder *e);

/*
 * Write the values of a stack, V, to TO, one for each type in the order of encode_types(): at
 * most ENCODE_VALUES_MAX for each event and one more.  Return the end.
 */
enum { ENCODE_VALUES_MAX = 3 };
uint8_t *encode_values(struct encoder *e, const struct stack_value *v, uint8_t *to);

/* Write all samples, count those of each main executable, and free the stacks and chains. */
void encode_samples(struct encoder *e);
