/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-program - the BPF program that reads the labels of a thread when an event interrupts it.
 *
 * The program runs in the interrupt in which the kernel takes the sample, before the kernel
 * writes the sample.  It looks up the process in a map, follows pointers from the thread pointer to
 * the labels, and writes a labels record (record/label-payload.h) to the ring of the CPU.  It
 * only reads.  The kernel copies memory for it that is present, and no other.
 */
#pragma once
#include "sample/bpf-code.h"

/* Where a thread-local variable is. */
enum label_place {
	LABEL_PLACE_NONE,	/* nowhere */
	LABEL_PLACE_STATIC,	/* at the thread pointer + OFFSET */
	LABEL_PLACE_MODULE,	/* at OFFSET in block MODULE of the thread's vector (DTV) */
};

struct label_variable {
	uint64_t place;		/* enum label_place */
	uint64_t module;
	uint64_t offset;	/* bytes */
	/* With LABEL_PLACE_MODULE, as the C library has it, in bytes: */
	uint64_t vector;	/* of the vector's address, from the thread pointer */
	uint64_t modules;	/* of the number of modules, from the vector's address */
	uint64_t block;		/* of the address of block MODULE, from there, too */
};

/* What the program knows of a process: the value of the map of targets, by process id. */
struct label_target {
	uint64_t form;		/* enum label_form of Go's labels; LABEL_FORM_NONE: no Go */
	uint64_t in_register;	/* arm64: Go keeps the goroutine in x28 */
	struct label_variable g;	/* Go's goroutine of a thread (runtime.g) */
	uint64_t m, curg, gsignal, labels;	/* bytes: g.m, m.curg, m.gsignal, g.labels */
	struct label_variable otel;	/* otel_thread_ctx_v1 */
	struct label_variable custom;	/* custom_labels_current_set */
	uint64_t otherwise;	/* enum label_status of a thread without all these */
	uint64_t edition;	/* goes into each record, as the upper half of the event */
};

enum {
	LABEL_SCRATCH = 4096,	/* bytes of the program's memory per CPU */
	LABEL_OTEL_HEAD = 28,	/* bytes of a thread context before its attributes */
	LABEL_OTEL_MAX = 1024,	/* bytes of its attributes that are read */
};

/* What the program needs to know. */
struct label_program {
	int targets, scratch, output;	/* maps: of struct label_target by pid, of memory, of
					   events by CPU */
	int thread_pointer;	/* offset in the kernel's task_struct, from bpf_task_pointer() */
	uint64_t device, inode;	/* of our namespace of processes; 0: the first one */
};

/*
 * Write the program for the event INDEX to CODE.  With form LABEL_FORM_OTEL, its records have
 * the bytes of the thread context in place of pairs.
 */
void label_program_write(const struct label_program *p, uint32_t index, struct bpf_code *code);
