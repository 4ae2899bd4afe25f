/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go-labels - where a Go program keeps the labels of its goroutines (runtime/pprof.Do()).
 *
 * The offsets of the fields differ between versions of Go.  They are read from the program's own
 * code: from the function that sets the labels, and from runtime.systemstack, which compares a
 * goroutine with those of its thread.  They must be equal to the known offsets of the program's
 * version.
 */
#pragma once
#include "elf/elf.h"

enum go_labels_state {
	GO_LABELS_ABSENT,	/* this is not a Go program */
	GO_LABELS_NEVER,	/* the program has no code that sets labels */
	GO_LABELS_UNKNOWN,	/* it is not certain how this version keeps labels */
	GO_LABELS_FOUND,
};

struct go_labels {
	enum go_labels_state state;
	char version[32];	/* "go1.24.4"; "": unknown */
	bool is_map;		/* labels are a map[string]string; otherwise a slice of pairs */
	bool in_register;	/* arm64: the goroutine of a thread is in x28 */
	int64_t g;		/* otherwise: its offset from the thread pointer, bytes */
	uint64_t g_word;	/* address in the file of a word in which the dynamic linker stores
				   this offset; 0: none */
	uint64_t labels, m, curg, gsignal;	/* offsets of g.labels, g.m, m.curg, m.gsignal */
};

/* Find the labels of the program or library ELF. */
struct go_labels go_labels_find(struct elf *elf);
