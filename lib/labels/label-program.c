/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code has no loops.  Sizes and offsets are kept in the scratch memory, not in registers: the
 * kernel's verifier regards any value loaded from there as unknown.  So after each string all
 * paths look the same to the verifier, and it follows only one of them.
 */
#include "labels/label-program-internal.h"

#include <stddef.h>

/*
 * Maximum of pairs read from a slice or an array, and of buckets read from a map; layout of a
 * bucket.
 */
enum { PAIRS = 10, BUCKETS = 2, BUCKET_SLOTS = 8, BUCKET_BYTES = 272, BUCKET_NEXT = 264 };
/* A pair is appended only if the pairs before it have at most FULL bytes. */
enum { FULL = LABEL_PAYLOAD_TEXT - 2 - LABEL_KEY_BYTES - LABEL_VALUE_BYTES };
/* Bytes of an m (struct runtime.m) that are read: up to the last field that we need. */
enum { M_BYTES = 208, M_OFFSETS = 0xf8 };

/* Let JUMP lead to the end of the program, where the record gets STATUS. */
static void leave(struct label_writing *w, int jump, enum label_status status)
{
	w->leave[w->leaves].jump = jump;
	w->leave[w->leaves++].status = status;
}

/*
 * Copy SIZE bytes of the target's memory at R3 to the stack at TO; leave if they are not present.
 */
static void read_to_stack(struct label_writing *w, int to, int size)
{
	struct bpf_code *c = w->code;

	bpf_move(c, BPF_REG_1, BPF_REG_10);
	bpf_alu(c, BPF_ADD, BPF_REG_1, to);
	bpf_set(c, BPF_REG_2, size);
	bpf_call(c, BPF_FUNC_probe_read_user);
	leave(w, bpf_jump_if(c, BPF_JNE, BPF_REG_0, 0), LABEL_STATUS_FAULT);
}

/* Copy R2 bytes, or SIZE unless it is 0, at R3 to the scratch at TO; leave if not present. */
static void read_to_scratch(struct label_writing *w, int to, int size)
{
	struct bpf_code *c = w->code;

	bpf_move(c, BPF_REG_1, SCRATCH);
	bpf_alu(c, BPF_ADD, BPF_REG_1, to);
	if (size)
		bpf_set(c, BPF_REG_2, size);
	bpf_call(c, BPF_FUNC_probe_read_user);
	leave(w, bpf_jump_if(c, BPF_JNE, BPF_REG_0, 0), LABEL_STATUS_FAULT);
}

static void set_flag(struct label_writing *w, int flag)
{
	bpf_load(w->code, BPF_B, BPF_REG_1, SCRATCH, HEAD_FLAGS);
	bpf_alu(w->code, BPF_OR, BPF_REG_1, flag);
	bpf_store(w->code, BPF_B, SCRATCH, HEAD_FLAGS, BPF_REG_1);
}

/* R2 = the smaller of R2 and MOST. */
static void limit(struct label_writing *w, int most)
{
	int fits = bpf_jump_if(w->code, BPF_JLE, BPF_REG_2, most);

	bpf_set(w->code, BPF_REG_2, most);
	bpf_land(w->code, fits);
}

/*
 * Append a string to the text, at USED: its address is in the scratch at POINTER, its length at
 * LENGTH.  It is cut to MOST bytes, which is a power of two minus 1.
 */
static void append_string(struct label_writing *w, int pointer, int length, int most)
{
	struct bpf_code *c = w->code;

	bpf_load(c, BPF_DW, BPF_REG_2, SCRATCH, length);
	int fits = bpf_jump_if(c, BPF_JLE, BPF_REG_2, most);
	bpf_set(c, BPF_REG_2, most);
	set_flag(w, LABEL_CUT);
	bpf_land(c, fits);
	bpf_move(c, BPF_REG_1, SCRATCH);
	bpf_alu_reg(c, BPF_ADD, BPF_REG_1, USED);
	bpf_store(c, BPF_B, BPF_REG_1, TEXT, BPF_REG_2);
	bpf_load(c, BPF_B, BPF_REG_2, BPF_REG_1, TEXT);
	bpf_alu(c, BPF_AND, BPF_REG_2, most);
	bpf_alu(c, BPF_ADD, BPF_REG_1, TEXT + 1);
	bpf_load(c, BPF_DW, BPF_REG_3, SCRATCH, pointer);
	bpf_call(c, BPF_FUNC_probe_read_user);
	int good = bpf_jump_if(c, BPF_JEQ, BPF_REG_0, 0);
	set_flag(w, LABEL_FAULT);
	bpf_move(c, BPF_REG_1, SCRATCH);
	bpf_alu_reg(c, BPF_ADD, BPF_REG_1, USED);
	bpf_store_value(c, BPF_B, BPF_REG_1, TEXT, 0);
	bpf_land(c, good);
	bpf_move(c, BPF_REG_1, SCRATCH);
	bpf_alu_reg(c, BPF_ADD, BPF_REG_1, USED);
	bpf_load(c, BPF_B, BPF_REG_2, BPF_REG_1, TEXT);
	bpf_alu(c, BPF_AND, BPF_REG_2, most);
	bpf_alu_reg(c, BPF_ADD, USED, BPF_REG_2);
	bpf_alu(c, BPF_ADD, USED, 1);
}

/* Append a pair: the scratch has the addresses of its strings at KEY and VALUE. */
static void append_pair(struct label_writing *w, int key, int key_length, int value,
			int value_length)
{
	struct bpf_code *c = w->code;

	bpf_load(c, BPF_W, USED, SCRATCH, HEAD_USED);
	w->full[w->fulls++] = bpf_jump_if(c, BPF_JGT, USED, FULL);
	append_string(w, key, key_length, LABEL_KEY_BYTES);
	append_string(w, value, value_length, LABEL_VALUE_BYTES);
	bpf_store(c, BPF_W, SCRATCH, HEAD_USED, USED);
	bpf_load(c, BPF_B, BPF_REG_1, SCRATCH, HEAD_N);
	bpf_alu(c, BPF_ADD, BPF_REG_1, 1);
	bpf_store(c, BPF_B, SCRATCH, HEAD_N, BPF_REG_1);
}

/*
 * The stack has, at AT_WORDS, the address and the number of structs of 32 bytes: store the number
 * as the count, and copy the structs to the scratch.  The number that is copied is on the stack at
 * AT_PAIRS.
 */
static void read_pairs(struct label_writing *w)
{
	struct bpf_code *c = w->code;

	bpf_load(c, BPF_DW, BPF_REG_3, BPF_REG_10, AT_WORDS);
	bpf_load(c, BPF_DW, BPF_REG_2, BPF_REG_10, AT_WORDS + 8);
	leave(w, bpf_jump_if(c, BPF_JEQ, BPF_REG_2, 0), LABEL_STATUS_NONE);
	bpf_move(c, BPF_REG_1, BPF_REG_2);
	int fits = bpf_jump_if(c, BPF_JLE, BPF_REG_1, INT32_MAX);
	bpf_set(c, BPF_REG_1, INT32_MAX);
	bpf_land(c, fits);
	bpf_store(c, BPF_W, SCRATCH, HEAD_COUNT, BPF_REG_1);
	limit(w, PAIRS);
	bpf_store(c, BPF_DW, BPF_REG_10, AT_PAIRS, BPF_REG_2);
	bpf_alu(c, BPF_LSH, BPF_REG_2, 5);
	bpf_alu(c, BPF_AND, BPF_REG_2, COPY_BYTES - 1);
	read_to_scratch(w, COPY, 0);
}

/* Leave if only I pairs were copied.  Return where pair I is in the scratch. */
static int start_pair(struct label_writing *w, int i)
{
	bpf_load(w->code, BPF_DW, BPF_REG_1, BPF_REG_10, AT_PAIRS);
	leave(w, bpf_jump_if(w->code, BPF_JLE, BPF_REG_1, i), LABEL_STATUS_LABELS);
	return COPY + 32 * i;
}

/* Find the process in the map of targets; otherwise take the jump *UNKNOWN or *OUTSIDE. */
static void find_target(struct label_writing *w, const struct label_program *p, int *unknown,
			int *outside)
{
	struct bpf_code *c = w->code;

	*outside = -1;
	if (p->inode) {
		bpf_set_wide(c, BPF_REG_1, p->device);
		bpf_set_wide(c, BPF_REG_2, p->inode);
		bpf_move(c, BPF_REG_3, BPF_REG_10);
		bpf_alu(c, BPF_ADD, BPF_REG_3, AT_NAMESPACE);
		bpf_set(c, BPF_REG_4, 8);	/* u32 pid, tgid */
		bpf_call(c, BPF_FUNC_get_ns_current_pid_tgid);
		*outside = bpf_jump_if(c, BPF_JNE, BPF_REG_0, 0);
		bpf_load(c, BPF_W, BPF_REG_0, BPF_REG_10, AT_NAMESPACE + 4);
	} else {
		bpf_call(c, BPF_FUNC_get_current_pid_tgid);
		bpf_alu(c, BPF_RSH, BPF_REG_0, 32);
	}
	bpf_store(c, BPF_W, BPF_REG_10, AT_KEY, BPF_REG_0);
	bpf_move(c, BPF_REG_2, BPF_REG_10);
	bpf_alu(c, BPF_ADD, BPF_REG_2, AT_KEY);
	bpf_load_map(c, BPF_REG_1, p->targets);
	bpf_call(c, BPF_FUNC_map_lookup_elem);
	*unknown = bpf_jump_if(c, BPF_JEQ, BPF_REG_0, 0);
	bpf_move(c, TARGET, BPF_REG_0);
}

/* Copy the thread pointer to the stack. */
static void read_thread_pointer(struct label_writing *w, int offset)
{
	struct bpf_code *c = w->code;

	bpf_call(c, BPF_FUNC_get_current_task);
	bpf_move(c, BPF_REG_3, BPF_REG_0);
	bpf_alu(c, BPF_ADD, BPF_REG_3, offset);
	bpf_move(c, BPF_REG_1, BPF_REG_10);
	bpf_alu(c, BPF_ADD, BPF_REG_1, AT_TASK);
	bpf_set(c, BPF_REG_2, 8);
	bpf_call(c, BPF_FUNC_probe_read_kernel);
	leave(w, bpf_jump_if(c, BPF_JNE, BPF_REG_0, 0), LABEL_STATUS_FAULT);
}

enum { ABSENTS = 4 };	/* jumps */

/* R3 += the word at FIELD of the target; then copy the word at R3 to the stack at TO. */
static void read_word_after(struct label_writing *w, int field, int to)
{
	bpf_load(w->code, BPF_DW, BPF_REG_1, TARGET, field);
	bpf_alu_reg(w->code, BPF_ADD, BPF_REG_3, BPF_REG_1);
	read_to_stack(w, to, 8);
}

/*
 * R3 = the address of the variable at VARIABLE in the target.  The jumps ABSENT are taken if the
 * variable does not exist, or if the thread has no memory block for it yet: the address of the
 * block is then 0 or -1.
 */
static void find_variable(struct label_writing *w, int variable, int absent[ABSENTS])
{
	const int place = variable + (int)offsetof(struct label_variable, place);
	const int module = variable + (int)offsetof(struct label_variable, module);
	const int offset = variable + (int)offsetof(struct label_variable, offset);
	struct bpf_code *c = w->code;

	bpf_load(c, BPF_DW, BPF_REG_1, TARGET, place);
	absent[0] = bpf_jump_if(c, BPF_JEQ, BPF_REG_1, LABEL_PLACE_NONE);
	bpf_load(c, BPF_DW, BPF_REG_3, BPF_REG_10, AT_TASK);
	int is_static = bpf_jump_if(c, BPF_JEQ, BPF_REG_1, LABEL_PLACE_STATIC);
	read_word_after(w, variable + (int)offsetof(struct label_variable, vector), AT_POINTER);
	bpf_load(c, BPF_DW, BPF_REG_3, BPF_REG_10, AT_POINTER);
	read_word_after(w, variable + (int)offsetof(struct label_variable, modules), AT_WORDS);
	bpf_load(c, BPF_DW, BPF_REG_1, BPF_REG_10, AT_WORDS);
	bpf_load(c, BPF_DW, BPF_REG_2, TARGET, module);
	absent[1] = bpf_jump_if_reg(c, BPF_JLT, BPF_REG_1, BPF_REG_2);
	bpf_load(c, BPF_DW, BPF_REG_3, BPF_REG_10, AT_POINTER);
	read_word_after(w, variable + (int)offsetof(struct label_variable, block), AT_WORDS);
	bpf_load(c, BPF_DW, BPF_REG_3, BPF_REG_10, AT_WORDS);
	absent[2] = bpf_jump_if(c, BPF_JEQ, BPF_REG_3, 0);
	absent[3] = bpf_jump_if(c, BPF_JEQ, BPF_REG_3, -1);
	bpf_land(c, is_static);
	bpf_load(c, BPF_DW, BPF_REG_1, TARGET, offset);
	bpf_alu_reg(c, BPF_ADD, BPF_REG_3, BPF_REG_1);
}

/*
 * R3 = the pointer in that variable; it is also put on the stack at AT_POINTER.  Return the jump
 * that is taken if it is NULL.
 */
static int find_pointer(struct label_writing *w, int variable, int absent[ABSENTS])
{
	find_variable(w, variable, absent);
	read_to_stack(w, AT_POINTER, 8);
	bpf_load(w->code, BPF_DW, BPF_REG_3, BPF_REG_10, AT_POINTER);
	return bpf_jump_if(w->code, BPF_JEQ, BPF_REG_3, 0);
}

static void land_all(struct label_writing *w, const int absent[ABSENTS])
{
	for (int i = 0; i < ABSENTS; i++)
		bpf_land(w->code, absent[i]);
}

/*
 * OpenTelemetry's thread context (OTEP 4947): a pointer to u8 trace id[16], span id[8], valid,
 * flags; u16 size of the attributes; attributes.  The record has a copy of it.
 */
static void read_otel(struct label_writing *w)
{
	enum { VALID = 24, SIZE = 26 };
	struct bpf_code *c = w->code;
	int absent[ABSENTS];

	int no_context = find_pointer(w, offsetof(struct label_target, otel), absent);
	read_to_scratch(w, TEXT, LABEL_OTEL_HEAD);
	bpf_load(c, BPF_B, BPF_REG_1, SCRATCH, TEXT + VALID);
	int invalid = bpf_jump_if(c, BPF_JNE, BPF_REG_1, 1);
	bpf_store_value(c, BPF_B, SCRATCH, HEAD_FORM, LABEL_FORM_OTEL);
	bpf_store_value(c, BPF_W, SCRATCH, HEAD_USED, LABEL_OTEL_HEAD);
	bpf_load(c, BPF_H, BPF_REG_2, SCRATCH, TEXT + SIZE);
	leave(w, bpf_jump_if(c, BPF_JEQ, BPF_REG_2, 0), LABEL_STATUS_LABELS);
	limit(w, LABEL_OTEL_MAX);
	bpf_move(c, BPF_REG_1, BPF_REG_2);
	bpf_alu(c, BPF_ADD, BPF_REG_1, LABEL_OTEL_HEAD);
	bpf_store(c, BPF_W, SCRATCH, HEAD_USED, BPF_REG_1);
	bpf_load(c, BPF_DW, BPF_REG_3, BPF_REG_10, AT_POINTER);
	bpf_alu(c, BPF_ADD, BPF_REG_3, LABEL_OTEL_HEAD);
	read_to_scratch(w, TEXT + LABEL_OTEL_HEAD, 0);
	leave(w, bpf_jump(c), LABEL_STATUS_LABELS);
	land_all(w, absent);
	bpf_land(c, no_context);
	bpf_land(c, invalid);
}

/*
 * Custom labels, version 1: a pointer to the address of an array, and its count; a pair is the
 * length and the address of its key, then of its value.  A pair without a key is not set.
 */
static void read_custom(struct label_writing *w)
{
	enum { KEY_LENGTH = 0, KEY = 8, VALUE_LENGTH = 16, VALUE = 24 };
	struct bpf_code *c = w->code;
	int absent[ABSENTS];

	int no_set = find_pointer(w, offsetof(struct label_target, custom), absent);
	read_to_stack(w, AT_WORDS, 16);
	bpf_store_value(c, BPF_B, SCRATCH, HEAD_FORM, LABEL_FORM_CUSTOM);
	read_pairs(w);
	for (int i = 0; i < PAIRS; i++) {
		int pair = start_pair(w, i);
		bpf_load(c, BPF_DW, BPF_REG_1, SCRATCH, pair + KEY);
		int unset = bpf_jump_if(c, BPF_JEQ, BPF_REG_1, 0);
		append_pair(w, pair + KEY, pair + KEY_LENGTH, pair + VALUE, pair + VALUE_LENGTH);
		int set = bpf_jump(c);
		bpf_land(c, unset);
		bpf_load(c, BPF_W, BPF_REG_1, SCRATCH, HEAD_COUNT);
		bpf_alu(c, BPF_SUB, BPF_REG_1, 1);
		bpf_store(c, BPF_W, SCRATCH, HEAD_COUNT, BPF_REG_1);
		bpf_land(c, set);
	}
	leave(w, bpf_jump(c), LABEL_STATUS_LABELS);
	land_all(w, absent);
	bpf_land(c, no_set);
}

/* R1 = the word of the copied m whose offset is at FIELD of the target. */
static void load_from_m(struct label_writing *w, size_t field)
{
	struct bpf_code *c = w->code;

	bpf_load(c, BPF_DW, BPF_REG_2, TARGET, (int)field);
	bpf_alu(c, BPF_AND, BPF_REG_2, M_OFFSETS);
	bpf_move(c, BPF_REG_1, SCRATCH);
	bpf_alu_reg(c, BPF_ADD, BPF_REG_1, BPF_REG_2);
	bpf_load(c, BPF_DW, BPF_REG_1, BPF_REG_1, COPY);
}

/* Put the goroutine of this thread (g) on the stack at AT_G. */
static void find_g(struct label_writing *w)
{
	struct bpf_code *c = w->code;
	int absent[ABSENTS];

#ifdef __aarch64__
	bpf_load(c, BPF_DW, BPF_REG_1, TARGET, offsetof(struct label_target, in_register));
	int in_memory = bpf_jump_if(c, BPF_JEQ, BPF_REG_1, 0);
	bpf_load(c, BPF_DW, BPF_REG_1, CONTEXT, REGISTER_G);
	bpf_store(c, BPF_DW, BPF_REG_10, AT_G, BPF_REG_1);
	int found = bpf_jump(c);
	bpf_land(c, in_memory);
#endif
	find_variable(w, offsetof(struct label_target, g), absent);
	read_to_stack(w, AT_G, 8);
	int have = bpf_jump(c);
	land_all(w, absent);
	leave(w, bpf_jump(c), LABEL_STATUS_NO_G);
	bpf_land(c, have);
#ifdef __aarch64__
	bpf_land(c, found);
#endif
}

/*
 * Put the address of the labels of the goroutine that this thread runs (m.curg) on the stack at
 * AT_LABELS.  On the scheduler's stack (m.g0) and in a signal handler (m.gsignal), g is not that
 * goroutine.  If g equals none of this thread's curg, g0 and gsignal, it is not a goroutine and is
 * ignored.
 */
static void find_goroutine_labels(struct label_writing *w)
{
	struct bpf_code *c = w->code;

	bpf_load(c, BPF_DW, BPF_REG_3, BPF_REG_10, AT_G);
	leave(w, bpf_jump_if(c, BPF_JEQ, BPF_REG_3, 0), LABEL_STATUS_NO_G);
	bpf_load(c, BPF_DW, BPF_REG_1, TARGET, offsetof(struct label_target, m));
	bpf_alu_reg(c, BPF_ADD, BPF_REG_3, BPF_REG_1);
	read_to_stack(w, AT_M, 8);
	bpf_load(c, BPF_DW, BPF_REG_3, BPF_REG_10, AT_M);
	leave(w, bpf_jump_if(c, BPF_JEQ, BPF_REG_3, 0), LABEL_STATUS_BAD_G);
	read_to_scratch(w, COPY, M_BYTES);
	bpf_load(c, BPF_DW, BPF_REG_3, BPF_REG_10, AT_G);
	bpf_load(c, BPF_DW, BPF_REG_1, SCRATCH, COPY);		/* m.g0 */
	int is_g0 = bpf_jump_if_reg(c, BPF_JEQ, BPF_REG_1, BPF_REG_3);
	load_from_m(w, offsetof(struct label_target, gsignal));
	int is_gsignal = bpf_jump_if_reg(c, BPF_JEQ, BPF_REG_1, BPF_REG_3);
	load_from_m(w, offsetof(struct label_target, curg));
	leave(w, bpf_jump_if_reg(c, BPF_JNE, BPF_REG_1, BPF_REG_3), LABEL_STATUS_BAD_G);
	bpf_land(c, is_g0);
	bpf_land(c, is_gsignal);
	load_from_m(w, offsetof(struct label_target, curg));
	leave(w, bpf_jump_if(c, BPF_JEQ, BPF_REG_1, 0), LABEL_STATUS_SCHEDULER);
	bpf_store(c, BPF_DW, BPF_REG_10, AT_CURG, BPF_REG_1);
	bpf_move(c, BPF_REG_3, BPF_REG_1);
	bpf_load(c, BPF_DW, BPF_REG_1, TARGET, offsetof(struct label_target, m));
	bpf_alu_reg(c, BPF_ADD, BPF_REG_3, BPF_REG_1);
	read_to_stack(w, AT_WORDS, 8);				/* m.curg.m */
	bpf_load(c, BPF_DW, BPF_REG_1, BPF_REG_10, AT_WORDS);
	leave(w, bpf_jump_if(c, BPF_JEQ, BPF_REG_1, 0), LABEL_STATUS_SCHEDULER);
	bpf_load(c, BPF_DW, BPF_REG_2, BPF_REG_10, AT_M);
	leave(w, bpf_jump_if_reg(c, BPF_JNE, BPF_REG_1, BPF_REG_2), LABEL_STATUS_BAD_G);
	bpf_load(c, BPF_DW, BPF_REG_3, BPF_REG_10, AT_CURG);
	bpf_load(c, BPF_DW, BPF_REG_1, TARGET, offsetof(struct label_target, labels));
	bpf_alu_reg(c, BPF_ADD, BPF_REG_3, BPF_REG_1);
	read_to_stack(w, AT_LABELS, 8);
	bpf_load(c, BPF_DW, BPF_REG_3, BPF_REG_10, AT_LABELS);
	leave(w, bpf_jump_if(c, BPF_JEQ, BPF_REG_3, 0), LABEL_STATUS_NONE);
}

/* R3 is the address of a slice of pairs of strings: address, length, capacity. */
static void read_slice(struct label_writing *w)
{
	enum { KEY = 0, KEY_LENGTH = 8, VALUE = 16, VALUE_LENGTH = 24 };

	read_to_stack(w, AT_WORDS, 16);
	read_pairs(w);
	for (int i = 0; i < PAIRS; i++) {
		int pair = start_pair(w, i);
		append_pair(w, pair + KEY, pair + KEY_LENGTH, pair + VALUE, pair + VALUE_LENGTH);
	}
	leave(w, bpf_jump(w->code), LABEL_STATUS_LABELS);
}

/* A bucket is in the scratch: 8 marks, 8 keys, 8 values, the address of the next bucket. */
static void append_bucket(struct label_writing *w)
{
	enum { FIRST_MARK = 5 };	/* a lower mark means that the slot is free */
	struct bpf_code *c = w->code;

	for (int i = 0; i < BUCKET_SLOTS; i++) {
		int key = COPY + BUCKET_SLOTS + 16 * i, value = key + 16 * BUCKET_SLOTS;
		bpf_load(c, BPF_B, BPF_REG_1, SCRATCH, COPY + i);
		int is_free = bpf_jump_if(c, BPF_JLT, BPF_REG_1, FIRST_MARK);
		append_pair(w, key, key + 8, value, value + 8);
		bpf_land(c, is_free);
	}
}

/*
 * R3 is the address of a map[string]string (runtime/map.go, struct hmap): the address of its head,
 * which has the count, the logarithm of the number of buckets, and their address.  Two buckets are
 * read, each with one overflow bucket.
 */
static void read_map(struct label_writing *w)
{
	enum { LOGARITHM = 9, FIRST = 16, HEAD_BYTES = 24 };
	struct bpf_code *c = w->code;

	read_to_stack(w, AT_WORDS, 8);
	bpf_load(c, BPF_DW, BPF_REG_3, BPF_REG_10, AT_WORDS);
	leave(w, bpf_jump_if(c, BPF_JEQ, BPF_REG_3, 0), LABEL_STATUS_NONE);
	read_to_stack(w, AT_WORDS, HEAD_BYTES);
	bpf_load(c, BPF_DW, BPF_REG_2, BPF_REG_10, AT_WORDS);
	leave(w, bpf_jump_if(c, BPF_JEQ, BPF_REG_2, 0), LABEL_STATUS_NONE);
	limit(w, INT32_MAX);
	bpf_store(c, BPF_W, SCRATCH, HEAD_COUNT, BPF_REG_2);
	for (int i = 0; i < BUCKETS; i++) {
		bpf_load(c, BPF_DW, BPF_REG_3, BPF_REG_10, AT_WORDS + FIRST);
		if (i) {
			bpf_load(c, BPF_B, BPF_REG_1, BPF_REG_10, AT_WORDS + LOGARITHM);
			leave(w, bpf_jump_if(c, BPF_JEQ, BPF_REG_1, 0), LABEL_STATUS_LABELS);
			bpf_alu(c, BPF_ADD, BPF_REG_3, i * BUCKET_BYTES);
		}
		read_to_scratch(w, COPY, BUCKET_BYTES);
		append_bucket(w);
		bpf_load(c, BPF_DW, BPF_REG_3, SCRATCH, COPY + BUCKET_NEXT);
		int no_more = bpf_jump_if(c, BPF_JEQ, BPF_REG_3, 0);
		read_to_scratch(w, COPY, BUCKET_BYTES);
		append_bucket(w);
		bpf_land(c, no_more);
	}
	leave(w, bpf_jump(c), LABEL_STATUS_LABELS);
}

static void read_go(struct label_writing *w)
{
	struct bpf_code *c = w->code;

	bpf_load(c, BPF_DW, BPF_REG_1, TARGET, offsetof(struct label_target, form));
	int is_go = bpf_jump_if(c, BPF_JNE, BPF_REG_1, LABEL_FORM_NONE);
	bpf_load(c, BPF_DW, BPF_REG_1, TARGET, offsetof(struct label_target, otherwise));
	leave(w, bpf_jump_if(c, BPF_JEQ, BPF_REG_1, LABEL_STATUS_OUTSIDE), LABEL_STATUS_OUTSIDE);
	leave(w, bpf_jump(c), LABEL_STATUS_NONE);
	bpf_land(c, is_go);
	bpf_store(c, BPF_B, SCRATCH, HEAD_FORM, BPF_REG_1);
	find_g(w);
	find_goroutine_labels(w);
	bpf_load(c, BPF_DW, BPF_REG_1, TARGET, offsetof(struct label_target, form));
	int is_map = bpf_jump_if(c, BPF_JEQ, BPF_REG_1, LABEL_FORM_MAP);
	read_slice(w);
	bpf_land(c, is_map);
	read_map(w);
}

void label_program_write(const struct label_program *p, uint32_t index, struct bpf_code *code)
{
	struct label_writing w = { .code = code };
	int unknown, outside, kernel = -1;

	code->count = 0;
	bpf_move(code, CONTEXT, BPF_REG_1);
#ifdef __aarch64__
	/* In the kernel, x28 has a value of the kernel. */
	bpf_load(code, BPF_DW, BPF_REG_1, CONTEXT, REGISTER_PC);
	bpf_alu(code, BPF_RSH, BPF_REG_1, 63);
	kernel = bpf_jump_if(code, BPF_JNE, BPF_REG_1, 0);
#endif
	find_target(&w, p, &unknown, &outside);
	int absent = label_record_start(&w, p, index);
	read_thread_pointer(&w, p->thread_pointer);
	read_otel(&w);
	read_custom(&w);
	read_go(&w);
	label_record_write(&w, p);
	bpf_land(code, unknown);
	bpf_land(code, absent);
	if (outside >= 0)
		bpf_land(code, outside);
	if (kernel >= 0)
		bpf_land(code, kernel);
	bpf_set(code, BPF_REG_0, 1);	/* perf writes the sample */
	bpf_exit(code);
}
