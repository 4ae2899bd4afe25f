/* SPDX-License-Identifier: Apache-2.0 */
/* label-options - which labels of the target's threads to record. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum label_source {
	LABEL_GO = 1,		/* labels of goroutines: runtime/pprof.Do() */
	LABEL_OTEL = 2,		/* attributes of OpenTelemetry's thread context */
	LABEL_CUSTOM = 4,	/* custom labels, version 1 */
	LABEL_IDS = 8,		/* also OpenTelemetry's trace and span ids */
};

/* Zero-initialised: record no labels. */
struct label_options {
	unsigned sources;	/* enum label_source */
	char **key;		/* record only labels with these keys */
	size_t keys;		/* 0: all */
};

/*
 * Parse a list of sources such as "go,otel" (none: all but ids) and of keys such as "key:user" into
 * a struct label_options; for command_option.parse.  Returns NULL, or the first wrong word.
 */
const char *label_options_parse(const char *list, void *options);

#define LABEL_OPTIONS_TAKES "a list of go, otel, custom, ids and key:NAME"

void label_options_release(struct label_options *options);
