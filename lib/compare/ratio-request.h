/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratio-request - what --ratio asks for: the ratio of two sample types, or the name of a ratio,
 * such as "ipc", which stands for types that most profiles have.
 */
#pragma once
#include "pprof/decode.h"

/* What the texts of requests are, for messages. */
extern const char ratio_request_form[];

struct ratio_request {
	const char *text;	/* as it was asked for */
	char a[200], b[200];	/* sample types; A is "" if KNOWN decides */
	const struct ratio_known *known;	/* a ratio with a name of its own, or NULL */
	double factor;
	const char *name;	/* in TEXT; all of it if it has no "=" */
};

/* Parse TEXT into R, which refers to TEXT.  Return false if TEXT is not a ratio. */
bool ratio_request_parse(const char *text, struct ratio_request *r);

/* The sample types of a ratio. */
struct ratio_types {
	uint32_t a, b;		/* indices */
};

/* Find the TYPES of R in D.  Return false (reported) if D does not have one of them. */
bool ratio_request_find(const struct ratio_request *r, const struct decoded *d,
			struct ratio_types *types, struct report *report);
