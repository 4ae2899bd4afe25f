/* SPDX-License-Identifier: Apache-2.0 */
#include "labels/bpf-code.h"

static int add(struct bpf_code *c, struct bpf_insn insn)
{
	if (c->count < BPF_CODE_MAX)
		c->insn[c->count] = insn;
	return c->count++;
}

static int emit(struct bpf_code *c, int code, int to, int from, int offset, int32_t value)
{
	return add(c, (struct bpf_insn){ .code = (uint8_t)code, .dst_reg = (uint8_t)to & 15,
					 .src_reg = (uint8_t)from & 15, .off = (int16_t)offset,
					 .imm = value });
}

void bpf_move(struct bpf_code *c, int to, int from)
{
	emit(c, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

void bpf_set(struct bpf_code *c, int reg, int32_t value)
{
	emit(c, BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, value);
}

void bpf_alu(struct bpf_code *c, int operation, int reg, int32_t value)
{
	emit(c, BPF_ALU64 | operation | BPF_K, reg, 0, 0, value);
}

void bpf_alu_reg(struct bpf_code *c, int operation, int reg, int other)
{
	emit(c, BPF_ALU64 | operation | BPF_X, reg, other, 0, 0);
}

void bpf_load(struct bpf_code *c, int size, int to, int base, int offset)
{
	emit(c, BPF_LDX | BPF_MEM | size, to, base, offset, 0);
}

void bpf_store(struct bpf_code *c, int size, int base, int offset, int from)
{
	emit(c, BPF_STX | BPF_MEM | size, base, from, offset, 0);
}

void bpf_store_value(struct bpf_code *c, int size, int base, int offset, int32_t value)
{
	emit(c, BPF_ST | BPF_MEM | size, base, 0, offset, value);
}

int bpf_jump_if(struct bpf_code *c, int condition, int reg, int32_t value)
{
	return emit(c, BPF_JMP | condition | BPF_K, reg, 0, 0, value);
}

int bpf_jump_if_reg(struct bpf_code *c, int condition, int reg, int other)
{
	return emit(c, BPF_JMP | condition | BPF_X, reg, other, 0, 0);
}

int bpf_jump(struct bpf_code *c)
{
	return emit(c, BPF_JMP | BPF_JA, 0, 0, 0, 0);
}

void bpf_land(struct bpf_code *c, int jump)
{
	if (jump < BPF_CODE_MAX)
		c->insn[jump].off = (int16_t)(c->count - jump - 1);
}

void bpf_load_map(struct bpf_code *c, int reg, int fd)
{
	emit(c, BPF_LD | BPF_IMM | BPF_DW, reg, BPF_PSEUDO_MAP_FD, 0, fd);
	emit(c, 0, 0, 0, 0, 0);
}

void bpf_set_wide(struct bpf_code *c, int reg, uint64_t value)
{
	emit(c, BPF_LD | BPF_IMM | BPF_DW, reg, 0, 0, (int32_t)(uint32_t)value);
	emit(c, 0, 0, 0, 0, (int32_t)(value >> 32));
}

void bpf_call(struct bpf_code *c, int function)
{
	emit(c, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

void bpf_exit(struct bpf_code *c)
{
	emit(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}
