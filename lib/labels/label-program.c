/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code has no loops.  Sizes and offsets are kept in the scratch memory, not in registers: the
 * kernel's verifier regards any value loaded from there as unknown.  So after each string all
 * paths look the same to the verifier, and it follows only one of them.
 */
#include "labels/label-steps.h"

#include <stddef.h>

/* The most pairs that are read from a slice or an array; the most buckets of a map; its layout. */
enum { PAIRS = 10, BUCKETS = 2, BUCKET_SLOTS = 8, BUCKET_BYTES = 272, BUCKET_NEXT = 264 };
enum { M_BYTES = 208 };	/* of an m (struct runtime.m): up to the last field that we need */

#define IN_TARGET(field) ((int)offsetof(struct label_target, field))
#define IN_VARIABLE(field) ((int)offsetof(struct label_variable, field))

/*
 * The stack has, at AT_WORDS, the address and the number of structs of 32 bytes: store the number
 * as the count, and copy the structs to the scratch.  The number that is copied is on the stack at
 * AT_PAIRS.
 */
static const struct label_step read_pairs[] = {
	{ LOAD, LONG, R3, STACK, AT_WORDS },
	{ LOAD, LONG, R2, STACK, AT_WORDS + 8 },
	{ LEAVE_IF, IF_EQUAL, R2, 0, LABEL_STATUS_NONE },
	{ MOVE, R1, R2 },
	{ GO_IF, IF_AT_MOST, R1, INT32_MAX, L_FITS },
	{ SET, R1, INT32_MAX },
	{ HERE, L_FITS },
	{ STORE, WORD, SCRATCH, HEAD_COUNT, R1 },
	{ LIMIT, PAIRS },
	{ STORE, LONG, STACK, AT_PAIRS, R2 },
	{ SHIFT, R2, 5 },
	{ AND, R2, COPY_BYTES - 1 },
	{ READ_SCRATCH, COPY, 0 },
};

/* Write the steps of a pair, TABLE, for each pair that read_pairs copied. */
static void write_pairs(struct label_writing *w, const struct label_step *table, size_t steps)
{
	WRITE_STEPS(w, read_pairs);
	for (int i = 0; i < PAIRS; i++) {
		WRITE_STEP(w, LOAD, LONG, R1, STACK, AT_PAIRS);
		WRITE_STEP(w, LEAVE_IF, IF_AT_MOST, R1, i, LABEL_STATUS_LABELS);
		w->offset[PAIR] = COPY + 32 * i;
		label_steps_write(w, table, steps);
	}
	WRITE_STEP(w, LEAVE, LABEL_STATUS_LABELS);
}

/* Find the process in the map of targets; otherwise take the jump *UNKNOWN or *OUTSIDE. */
static void find_target(struct label_writing *w, const struct label_program *p, int *unknown,
			int *outside)
{
	struct bpf_code *c = w->code;

	*outside = -1;
	if (p->inode) {
		bpf_set_wide(c, R1, p->device);
		bpf_set_wide(c, R2, p->inode);
		bpf_move(c, R3, STACK);
		bpf_alu(c, BPF_ADD, R3, AT_NAMESPACE);
		bpf_set(c, BPF_REG_4, 8);	/* u32 pid, tgid */
		bpf_call(c, BPF_FUNC_get_ns_current_pid_tgid);
		*outside = bpf_jump_if(c, BPF_JNE, R0, 0);
		bpf_load(c, BPF_W, R0, STACK, AT_NAMESPACE + 4);
	} else {
		bpf_call(c, BPF_FUNC_get_current_pid_tgid);
		bpf_alu(c, BPF_RSH, R0, 32);
	}
	bpf_store(c, BPF_W, STACK, AT_KEY, R0);
	bpf_move(c, R2, STACK);
	bpf_alu(c, BPF_ADD, R2, AT_KEY);
	bpf_load_map(c, R1, p->targets);
	bpf_call(c, BPF_FUNC_map_lookup_elem);
	*unknown = bpf_jump_if(c, BPF_JEQ, R0, 0);
	bpf_move(c, TARGET, R0);
}

/* Copy the thread pointer to the stack. */
static void read_thread_pointer(struct label_writing *w, int offset)
{
	struct bpf_code *c = w->code;

	bpf_call(c, BPF_FUNC_get_current_task);
	bpf_move(c, R3, R0);
	bpf_alu(c, BPF_ADD, R3, offset);
	bpf_move(c, R1, STACK);
	bpf_alu(c, BPF_ADD, R1, AT_TASK);
	bpf_set(c, R2, 8);
	bpf_call(c, BPF_FUNC_probe_read_kernel);
	WRITE_STEP(w, LEAVE_IF, IF_OTHER, R0, 0, LABEL_STATUS_FAULT);
}

/*
 * R3 = the address of VARIABLE.  Go to L_ABSENT if the variable does not exist, or if the thread
 * has no memory block for it yet: the address of the block is then 0 or -1.
 */
static const struct label_step find_variable[] = {
	{ LOAD, LONG, R1, VARIABLE, IN_VARIABLE(place) },
	{ GO_IF, IF_EQUAL, R1, LABEL_PLACE_NONE, L_ABSENT },
	{ LOAD, LONG, R3, STACK, AT_TASK },
	{ GO_IF, IF_EQUAL, R1, LABEL_PLACE_STATIC, L_STATIC },
	{ ADD_FIELD, IN_VARIABLE(vector), VARIABLE },
	{ READ, AT_POINTER, 8 },
	{ LOAD, LONG, R3, STACK, AT_POINTER },
	{ ADD_FIELD, IN_VARIABLE(modules), VARIABLE },
	{ READ, AT_WORDS, 8 },
	{ LOAD, LONG, R1, STACK, AT_WORDS },
	{ LOAD, LONG, R2, VARIABLE, IN_VARIABLE(module) },
	{ GO_IF_REG, IF_LESS, R1, R2, L_ABSENT },
	{ LOAD, LONG, R3, STACK, AT_POINTER },
	{ ADD_FIELD, IN_VARIABLE(block), VARIABLE },
	{ READ, AT_WORDS, 8 },
	{ LOAD, LONG, R3, STACK, AT_WORDS },
	{ GO_IF, IF_EQUAL, R3, 0, L_ABSENT },
	{ GO_IF, IF_EQUAL, R3, -1, L_ABSENT },
	{ HERE, L_STATIC },
	{ ADD_FIELD, IN_VARIABLE(offset), VARIABLE },
};

/* R3 = the pointer in that variable; it is also put on the stack at AT_POINTER.  NULL: L_ABSENT. */
static const struct label_step read_pointer[] = {
	{ READ, AT_POINTER, 8 },
	{ LOAD, LONG, R3, STACK, AT_POINTER },
	{ GO_IF, IF_EQUAL, R3, 0, L_ABSENT },
};

static void write_variable(struct label_writing *w, int variable)
{
	w->offset[VARIABLE] = variable;
	WRITE_STEPS(w, find_variable);
}

/*
 * OpenTelemetry's thread context (OTEP 4947): a pointer to u8 trace id[16], span id[8], valid,
 * flags; u16 size of the attributes; attributes.  The record has a copy of it.
 */
enum { OTEL_VALID = 24, OTEL_SIZE = 26 };
static const struct label_step read_otel[] = {
	{ READ_SCRATCH, TEXT, LABEL_OTEL_HEAD },
	{ LOAD, BYTE, R1, SCRATCH, TEXT + OTEL_VALID },
	{ GO_IF, IF_OTHER, R1, 1, L_ABSENT },
	{ PUT, BYTE, SCRATCH, HEAD_FORM, LABEL_FORM_OTEL },
	{ PUT, WORD, SCRATCH, HEAD_USED, LABEL_OTEL_HEAD },
	{ LOAD, HALF, R2, SCRATCH, TEXT + OTEL_SIZE },
	{ LEAVE_IF, IF_EQUAL, R2, 0, LABEL_STATUS_LABELS },
	{ LIMIT, LABEL_OTEL_MAX },
	{ MOVE, R1, R2 },
	{ ADD, R1, LABEL_OTEL_HEAD },
	{ STORE, WORD, SCRATCH, HEAD_USED, R1 },
	{ LOAD, LONG, R3, STACK, AT_POINTER },
	{ ADD, R3, LABEL_OTEL_HEAD },
	{ READ_SCRATCH, TEXT + LABEL_OTEL_HEAD, 0 },
	{ LEAVE, LABEL_STATUS_LABELS },
	{ HERE, L_ABSENT },
};

/*
 * Custom labels, version 1: a pointer to the address of an array, and its count; a pair is the
 * length and the address of its key, then of its value.  A pair without a key is not set.
 */
static const struct label_step read_custom[] = {
	{ READ, AT_WORDS, 16 },
	{ PUT, BYTE, SCRATCH, HEAD_FORM, LABEL_FORM_CUSTOM },
};
enum { CUSTOM_KEY_LENGTH = 0, CUSTOM_KEY = 8, CUSTOM_VALUE_LENGTH = 16, CUSTOM_VALUE = 24 };
static const struct label_step custom_pair[] = {
	{ LOAD, LONG, R1, PAIR, CUSTOM_KEY },
	{ GO_IF, IF_EQUAL, R1, 0, L_UNSET },
	{ APPEND, CUSTOM_KEY, CUSTOM_KEY_LENGTH, CUSTOM_VALUE, CUSTOM_VALUE_LENGTH },
	{ GO, L_SET },
	{ HERE, L_UNSET },
	{ LOAD, WORD, R1, SCRATCH, HEAD_COUNT },
	{ SUBTRACT, R1, 1 },
	{ STORE, WORD, SCRATCH, HEAD_COUNT, R1 },
	{ HERE, L_SET },
};

/* Before the goroutine of this thread is searched for in memory. */
static const struct label_step g_in_register[] = {
#ifdef __aarch64__
	{ LOAD, LONG, R1, TARGET, IN_TARGET(in_register) },
	{ GO_IF, IF_EQUAL, R1, 0, L_MEMORY },
	{ LOAD, LONG, R1, CONTEXT, REGISTER_G },
	{ STORE, LONG, STACK, AT_G, R1 },
	{ GO, L_FOUND },
#endif
	{ HERE, L_MEMORY },
};

/* Put the goroutine of this thread (g) on the stack at AT_G. */
static const struct label_step read_g[] = {
	{ READ, AT_G, 8 },
	{ GO, L_FOUND },
	{ HERE, L_ABSENT },
	{ LEAVE, LABEL_STATUS_NO_G },
	{ HERE, L_FOUND },
};

/*
 * Put the address of the labels of the goroutine that this thread runs (m.curg) on the stack at
 * AT_LABELS.  On the scheduler's stack (m.g0) and in a signal handler (m.gsignal), g is not that
 * goroutine.  If g equals none of this thread's curg, g0 and gsignal, it is not a goroutine and is
 * ignored.
 */
static const struct label_step find_goroutine_labels[] = {
	{ LOAD, LONG, R3, STACK, AT_G },
	{ LEAVE_IF, IF_EQUAL, R3, 0, LABEL_STATUS_NO_G },
	{ ADD_FIELD, IN_TARGET(m), TARGET },
	{ READ, AT_M, 8 },
	{ LOAD, LONG, R3, STACK, AT_M },
	{ LEAVE_IF, IF_EQUAL, R3, 0, LABEL_STATUS_BAD_G },
	{ READ_SCRATCH, COPY, M_BYTES },
	{ LOAD, LONG, R3, STACK, AT_G },
	{ LOAD, LONG, R1, SCRATCH, COPY },		/* m.g0 */
	{ GO_IF_REG, IF_EQUAL, R1, R3, L_FOUND },
	{ LOAD_OF_M, IN_TARGET(gsignal) },
	{ GO_IF_REG, IF_EQUAL, R1, R3, L_FOUND },
	{ LOAD_OF_M, IN_TARGET(curg) },
	{ LEAVE_IF_REG, IF_OTHER, R1, R3, LABEL_STATUS_BAD_G },
	{ HERE, L_FOUND },
	{ LOAD_OF_M, IN_TARGET(curg) },
	{ LEAVE_IF, IF_EQUAL, R1, 0, LABEL_STATUS_SCHEDULER },
	{ STORE, LONG, STACK, AT_CURG, R1 },
	{ MOVE, R3, R1 },
	{ ADD_FIELD, IN_TARGET(m), TARGET },
	{ READ, AT_WORDS, 8 },				/* m.curg.m */
	{ LOAD, LONG, R1, STACK, AT_WORDS },
	{ LEAVE_IF, IF_EQUAL, R1, 0, LABEL_STATUS_SCHEDULER },
	{ LOAD, LONG, R2, STACK, AT_M },
	{ LEAVE_IF_REG, IF_OTHER, R1, R2, LABEL_STATUS_BAD_G },
	{ LOAD, LONG, R3, STACK, AT_CURG },
	{ ADD_FIELD, IN_TARGET(labels), TARGET },
	{ READ, AT_LABELS, 8 },
	{ LOAD, LONG, R3, STACK, AT_LABELS },
	{ LEAVE_IF, IF_EQUAL, R3, 0, LABEL_STATUS_NONE },
};

/* R3 is the address of a slice of pairs of strings: address, length, capacity. */
static const struct label_step slice_pair[] = { { APPEND, 0, 8, 16, 24 } };

/*
 * R3 is the address of a map[string]string (runtime/map.go, struct hmap): the address of its head,
 * which has the count, the logarithm of the number of buckets, and their address.  Two buckets are
 * read, each with one overflow bucket.
 */
enum { MAP_LOGARITHM = 9, MAP_FIRST = 16, MAP_HEAD_BYTES = 24 };
static const struct label_step read_map[] = {
	{ READ, AT_WORDS, 8 },
	{ LOAD, LONG, R3, STACK, AT_WORDS },
	{ LEAVE_IF, IF_EQUAL, R3, 0, LABEL_STATUS_NONE },
	{ READ, AT_WORDS, MAP_HEAD_BYTES },
	{ LOAD, LONG, R2, STACK, AT_WORDS },
	{ LEAVE_IF, IF_EQUAL, R2, 0, LABEL_STATUS_NONE },
	{ LIMIT, INT32_MAX },
	{ STORE, WORD, SCRATCH, HEAD_COUNT, R2 },
};
static const struct label_step second_bucket[] = {
	{ LOAD, BYTE, R1, STACK, AT_WORDS + MAP_LOGARITHM },
	{ LEAVE_IF, IF_EQUAL, R1, 0, LABEL_STATUS_LABELS },
	{ ADD, R3, BUCKET_BYTES },
};
static const struct label_step next_bucket[] = {
	{ LOAD, LONG, R3, SCRATCH, COPY + BUCKET_NEXT },
	{ GO_IF, IF_EQUAL, R3, 0, L_NO_MORE },
};

enum { FIRST_MARK = 5 };	/* a lower mark means that the slot is free */
static const struct label_step slot_of_bucket[] = {
	{ LOAD, BYTE, R1, SLOT, 0 },
	{ GO_IF, IF_LESS, R1, FIRST_MARK, L_FREE },
	{ APPEND, 0, 8, 16 * BUCKET_SLOTS, 16 * BUCKET_SLOTS + 8 },
	{ HERE, L_FREE },
};

/* A bucket is read to the scratch: 8 marks, 8 keys, 8 values, the address of the next bucket. */
static void write_bucket(struct label_writing *w)
{
	WRITE_STEP(w, READ_SCRATCH, COPY, BUCKET_BYTES);
	for (int i = 0; i < BUCKET_SLOTS; i++) {
		w->offset[SLOT] = COPY + i;
		w->offset[PAIR] = COPY + BUCKET_SLOTS + 16 * i;
		WRITE_STEPS(w, slot_of_bucket);
	}
}

static void write_map(struct label_writing *w)
{
	WRITE_STEPS(w, read_map);
	for (int i = 0; i < BUCKETS; i++) {
		WRITE_STEP(w, LOAD, LONG, R3, STACK, AT_WORDS + MAP_FIRST);
		if (i)
			WRITE_STEPS(w, second_bucket);
		write_bucket(w);
		WRITE_STEPS(w, next_bucket);
		write_bucket(w);
		WRITE_STEP(w, HERE, L_NO_MORE);
	}
	WRITE_STEP(w, LEAVE, LABEL_STATUS_LABELS);
}

static const struct label_step go_or_leave[] = {
	{ LOAD, LONG, R1, TARGET, IN_TARGET(form) },
	{ GO_IF, IF_OTHER, R1, LABEL_FORM_NONE, L_IS_GO },
	{ LOAD, LONG, R1, TARGET, IN_TARGET(otherwise) },
	{ LEAVE_IF, IF_EQUAL, R1, LABEL_STATUS_OUTSIDE, LABEL_STATUS_OUTSIDE },
	{ LEAVE, LABEL_STATUS_NONE },
	{ HERE, L_IS_GO },
	{ STORE, BYTE, SCRATCH, HEAD_FORM, R1 },
};
static const struct label_step map_or_slice[] = {
	{ LOAD, LONG, R1, TARGET, IN_TARGET(form) },
	{ GO_IF, IF_EQUAL, R1, LABEL_FORM_MAP, L_IS_MAP },
};

static void write_go(struct label_writing *w)
{
	WRITE_STEPS(w, go_or_leave);
	WRITE_STEPS(w, g_in_register);
	write_variable(w, IN_TARGET(g));
	WRITE_STEPS(w, read_g);
	WRITE_STEPS(w, find_goroutine_labels);
	WRITE_STEPS(w, map_or_slice);
	WRITE_STEP(w, READ, AT_WORDS, 16);
	write_pairs(w, slice_pair, 1);
	WRITE_STEP(w, HERE, L_IS_MAP);
	write_map(w);
}

static void write_otel(struct label_writing *w)
{
	write_variable(w, IN_TARGET(otel));
	WRITE_STEPS(w, read_pointer);
	WRITE_STEPS(w, read_otel);
}

static void write_custom(struct label_writing *w)
{
	write_variable(w, IN_TARGET(custom));
	WRITE_STEPS(w, read_pointer);
	WRITE_STEPS(w, read_custom);
	write_pairs(w, custom_pair, sizeof(custom_pair) / sizeof(*custom_pair));
	WRITE_STEP(w, HERE, L_ABSENT);
}

void label_program_write(const struct label_program *p, uint32_t index, struct bpf_code *code)
{
	struct label_writing w = { .code = code };
	int unknown, outside, kernel = -1;

	code->count = 0;
	bpf_move(code, CONTEXT, R1);
#ifdef __aarch64__
	/* In the kernel, x28 has a value of the kernel. */
	bpf_load(code, BPF_DW, R1, CONTEXT, REGISTER_PC);
	bpf_alu(code, BPF_RSH, R1, 63);
	kernel = bpf_jump_if(code, BPF_JNE, R1, 0);
#endif
	find_target(&w, p, &unknown, &outside);
	int absent = label_record_start(&w, p, index);
	read_thread_pointer(&w, p->thread_pointer);
	write_otel(&w);
	write_custom(&w);
	write_go(&w);
	label_record_write(&w, p);
	bpf_land(code, unknown);
	bpf_land(code, absent);
	if (outside >= 0)
		bpf_land(code, outside);
	if (kernel >= 0)
		bpf_land(code, kernel);
	bpf_set(code, R0, 1);	/* perf writes the sample */
	bpf_exit(code);
}
