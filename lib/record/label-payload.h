/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-payload - the raw data of a labels record: the labels of one sample.
 *
 * A labels record is a SAMPLE with PERF_SAMPLE_RAW.  Its event has the name LABEL_EVENT and is a
 * software event, bpf-output.  A labels record comes before its sample, and has the same thread,
 * time and address.  Its raw data, without the u32 size before it, in the byte order of the
 * stream:
 *
 *	u32 magic	LABEL_MAGIC
 *	u8  status	enum label_status
 *	u8  n		number of pairs that follow
 *	u8  flags	LABEL_CUT, LABEL_FAULT
 *	u8  form	enum label_form: where the labels were
 *	u64 event	index, from 0, of the sample's event; the upper 32 bits are 0
 *	u64 ip		address of the interrupted code: equal to the sample's
 *	u32 used	bytes of the pairs that follow
 *	u32 count	labels that the sample has: if more than N, some were left out
 *	n times		u8 size, key, u8 size, value; no NUL
 *
 * The kernel adds zeros at the end, so the raw data may be longer than that.  A sample without
 * a labels record has unknown labels; this is not the same as no labels.
 */
#pragma once

#define LABEL_EVENT "labels"

enum {
	LABEL_MAGIC = 0x314c4247,	/* "GBL1" on a little-endian machine */
	LABEL_PAYLOAD_HEAD = 32,	/* bytes before the pairs */
	LABEL_PAYLOAD_TEXT = 2000,	/* most bytes of all pairs of a sample */
	LABEL_PAIRS_MAX = 32,		/* most pairs of a sample */
	LABEL_KEY_BYTES = 63,		/* longer keys are cut */
	LABEL_VALUE_BYTES = 255,	/* longer values are cut */
};

enum label_status {
	LABEL_STATUS_LABELS,	/* the pairs are the sample's labels */
	LABEL_STATUS_OUTSIDE,	/* the process has nothing that can be read */
	LABEL_STATUS_NO_G,	/* the thread has no goroutine */
	LABEL_STATUS_BAD_G,	/* the pointer to the goroutine leads to something else */
	LABEL_STATUS_SCHEDULER,	/* the thread runs the Go scheduler, for no goroutine */
	LABEL_STATUS_NONE,	/* no labels are set */
	LABEL_STATUS_FAULT,	/* the memory could not be read */
	LABEL_STATUSES
};

enum {				/* flags */
	LABEL_CUT = 1,		/* a key or a value was cut */
	LABEL_FAULT = 2,	/* a key or a value could not be read: it is empty */
	LABEL_LEFT_OUT = 4,	/* not in the payload; set by readers if COUNT is above N */
};

enum label_form {
	LABEL_FORM_NONE,
	LABEL_FORM_MAP,		/* Go before 1.24: map[string]string */
	LABEL_FORM_SLICE,	/* Go since 1.24: a slice of pairs */
	LABEL_FORM_OTEL,	/* OpenTelemetry's thread context */
	LABEL_FORM_CUSTOM,	/* custom labels, version 1 */
	LABEL_FORMS
};
