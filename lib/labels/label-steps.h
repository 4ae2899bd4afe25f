/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-steps - the steps of the BPF program that reads labels, as rows of tables.
 *
 * A step is an instruction, or a few that always come together.  The columns A to D are its
 * operands, as in the list of enum label_step_op.  A base of loads and stores is a register, or a
 * place that is at another offset in each copy of a table: see enum step_base.
 */
#pragma once
#include "labels/label-program-internal.h"

enum label_step_op {
	/* Instructions: */
	LOAD,		/* A: size, B: register, C: base, D: offset */
	STORE,		/* A: size, B: base, C: offset, D: register */
	PUT,		/* A: size, B: base, C: offset, D: value to store */
	SET, MOVE,	/* A: register, B: value, or another register */
	ADD, SUBTRACT, AND, SHIFT,	/* A: register, B: value; SHIFT: to the left */
	ADD_REG,	/* A: register, B: another one */
	CALL,		/* A: BPF_FUNC_* */
	/* Jumps, to HERE with the same label: */
	GO,		/* A: label */
	GO_IF, GO_IF_REG,	/* A: condition, B: register, C: value or register, D: label */
	HERE,		/* A: label */
	/* Jumps to the end, where the record gets a status: */
	LEAVE,		/* A: status */
	LEAVE_IF, LEAVE_IF_REG,	/* A: condition, B: register, C: value or register, D: status */
	/* Several instructions: */
	READ,		/* copy B bytes of the target at R3 to the stack at A; leave if absent */
	READ_SCRATCH,	/* copy B bytes, or R2 if B is 0, at R3 to the scratch at A; likewise */
	ADD_FIELD,	/* R3 += the word at A of base B */
	LOAD_OF_M,	/* R1 = the word of the copied m whose offset is at A of the target */
	LIMIT,		/* R2 = the smaller of R2 and A */
	FLAG,		/* set flag A in the record */
	APPEND,		/* strings of PAIR: the key's address at A, length at B; C, D: value's */
};

/* Bases that are not registers; w->offset has where they are. */
enum step_base {
	VARIABLE = 16,	/* a struct label_variable in the target */
	PAIR,		/* a pair of strings in the scratch */
	SLOT,		/* the mark of a pair in a bucket, in the scratch */
	POINTER, LENGTH,	/* a string's address and length, in the scratch */
};

/* Jumps that no HERE has been the destination of yet.  A table may be copied many times. */
enum step_label {
	L_FITS, L_GOOD, L_STATIC, L_ABSENT, L_SET, L_UNSET, L_FREE, L_MEMORY, L_FOUND, L_NO_MORE,
	L_IS_GO, L_IS_MAP, L_FULL,
};

struct label_step {
	uint8_t op;		/* enum label_step_op */
	int a, b, c, d;
};
/* A row has only the operands that its step needs. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum { MOST = INT32_MIN };	/* a value of SET, AND and GO_IF: w->most */

#define R0 BPF_REG_0
#define R1 BPF_REG_1
#define R2 BPF_REG_2
#define R3 BPF_REG_3
#define STACK BPF_REG_10
#define BYTE BPF_B
#define HALF BPF_H
#define WORD BPF_W
#define LONG BPF_DW
#define IF_EQUAL BPF_JEQ
#define IF_OTHER BPF_JNE
#define IF_MORE BPF_JGT
#define IF_LESS BPF_JLT
#define IF_AT_MOST BPF_JLE

/* Append the instructions of COUNT steps. */
void label_steps_write(struct label_writing *w, const struct label_step *step, size_t count);

#define WRITE_STEPS(w, table) label_steps_write(w, table, sizeof(table) / sizeof(*(table)))

/* Append one step. */
#define WRITE_STEP(w, ...) label_steps_write(w, &(const struct label_step){ __VA_ARGS__ }, 1)
