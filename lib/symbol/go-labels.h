/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go-labels - where a Go program keeps the labels of its goroutines (runtime/pprof.Do()).
 *
 * The fields have other offsets in each few versions of Go.  The program's own code says which: the
 * function that sets the labels, and runtime.systemstack, which compares a goroutine with those of
 * its thread.  What the code says must be what is known of the program's version.
 */
#pragma once
#include "elf/elf.h"

enum go_labels_state {
	GO_LABELS_ABSENT,	/* this is no Go program */
	GO_LABELS_NEVER,	/* the program has no code that sets labels */
	GO_LABELS_UNKNOWN,	/* how this version keeps labels is not known for sure */
	GO_LABELS_FOUND,
};

struct go_labels {
	enum go_labels_state state;
	char version[32];	/* "go1.24.4"; "": unknown */
	bool is_map;		/* labels are a map[string]string; otherwise a slice of pairs */
	bool in_register;	/* arm64: the goroutine of a thread is in x28 */
	int64_t g;		/* otherwise at this offset from the thread pointer, bytes */
	uint64_t g_word;	/* address in the file of a word that has this offset instead, when
				   the dynamic linker has filled it; 0: none */
	uint64_t labels, m, curg, gsignal;	/* offsets of g.labels, g.m, m.curg, m.gsignal */
};

/* Find the labels of the program or library ELF. */
struct go_labels go_labels_find(struct elf *elf);
