/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf-code - an assembler for BPF programs, which the kernel verifies and runs (bpf(2)).
 *
 * Each function appends an instruction.  Registers are BPF_REG_0 to BPF_REG_10, sizes BPF_B,
 * BPF_H, BPF_W and BPF_DW, conditions BPF_JEQ, BPF_JNE, BPF_JGT, BPF_JGE, BPF_JLT and BPF_JLE, as
 * in linux/bpf.h.
 */
#pragma once
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

enum { BPF_CODE_MAX = 6144 };	/* instructions; more than our longest program has */

/* Zero-initialised: empty. */
struct bpf_code {
	struct bpf_insn insn[BPF_CODE_MAX];
	int count;		/* instructions; above BPF_CODE_MAX: the program did not fit */
};

void bpf_move(struct bpf_code *c, int to, int from);
void bpf_set(struct bpf_code *c, int reg, int32_t value);

/* REG = REG OPERATION VALUE, or OTHER, of 64 bits: BPF_ADD, _SUB, _AND, _OR, _LSH, _RSH. */
void bpf_alu(struct bpf_code *c, int operation, int reg, int32_t value);
void bpf_alu_reg(struct bpf_code *c, int operation, int reg, int other);

void bpf_load(struct bpf_code *c, int size, int to, int base, int offset);
void bpf_store(struct bpf_code *c, int size, int base, int offset, int from);
void bpf_store_value(struct bpf_code *c, int size, int base, int offset, int32_t value);

/* Jump if REG is in CONDITION to VALUE, or to OTHER (unsigned); or always.  Returns the jump. */
int bpf_jump_if(struct bpf_code *c, int condition, int reg, int32_t value);
int bpf_jump_if_reg(struct bpf_code *c, int condition, int reg, int other);
int bpf_jump(struct bpf_code *c);

/* Make the next instruction the destination of JUMP. */
void bpf_land(struct bpf_code *c, int jump);

/* REG = the map of descriptor FD, or the 64-bit VALUE. */
void bpf_load_map(struct bpf_code *c, int reg, int fd);
void bpf_set_wide(struct bpf_code *c, int reg, uint64_t value);

void bpf_call(struct bpf_code *c, int function);	/* BPF_FUNC_* */
void bpf_exit(struct bpf_code *c);
