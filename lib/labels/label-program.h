/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-program - the BPF program that reads the labels of a thread when an event interrupts it.
 *
 * The program runs in the interrupt in which the kernel takes the sample, before the kernel writes
 * the sample.  It looks up the process in a map, follows pointers from the thread pointer to the
 * labels, and writes a labels record (record/label-payload.h) to the ring of the CPU.  It only
 * reads, and the kernel copies memory for it only if the page is present.
 */
#pragma once
#include "labels/bpf-code.h"

/* Where a thread-local variable is. */
enum label_place {
	LABEL_PLACE_NONE,	/* the variable was not found */
	LABEL_PLACE_STATIC,	/* at the thread pointer + OFFSET */
	LABEL_PLACE_MODULE,	/* at OFFSET in block MODULE of the thread's vector (DTV) */
};

struct label_variable {
	uint64_t place;		/* enum label_place */
	uint64_t module;
	uint64_t offset;	/* bytes */
	/* With LABEL_PLACE_MODULE: offsets in bytes, which depend on the C library: */
	uint64_t vector;	/* from the thread pointer to the vector's address */
	uint64_t modules;	/* from the vector's start to the number of modules */
	uint64_t block;		/* from the vector's start to the address of block MODULE */
};

/* What the program knows about a process.  The map of targets has one for each process id. */
struct label_target {
	uint64_t form;		/* enum label_form of Go's labels; LABEL_FORM_NONE: no Go */
	uint64_t in_register;	/* arm64: Go keeps the goroutine's address in x28 */
	struct label_variable g;	/* Go's goroutine of a thread (runtime.g) */
	uint64_t m, curg, gsignal, labels;	/* bytes: g.m, m.curg, m.gsignal, g.labels */
	struct label_variable otel;	/* otel_thread_ctx_v1 */
	struct label_variable custom;	/* custom_labels_current_set */
	uint64_t otherwise;	/* enum label_status of a thread that has none of these */
	uint64_t edition;	/* number of this entry; upper half of the event in each record */
};

enum {
	LABEL_SCRATCH = 4096,	/* bytes of the program's memory per CPU */
	LABEL_OTEL_HEAD = 28,	/* bytes of a thread context before its attributes */
	LABEL_OTEL_MAX = 1024,	/* bytes of its attributes that are read */
};

/* What the program must know. */
struct label_program {
	int targets, scratch, output;	/* maps: of struct label_target by pid, of memory, of
					   events by CPU */
	int thread_pointer;	/* offset in the kernel's task_struct, from bpf_task_pointer() */
	uint64_t device, inode;	/* of our pid namespace; 0: the initial namespace */
};

/*
 * Write the program for the event INDEX to CODE.  With form LABEL_FORM_OTEL, its records have
 * the bytes of the thread context in place of pairs.
 */
void label_program_write(const struct label_program *p, uint32_t index, struct bpf_code *code);
