/* SPDX-License-Identifier: Apache-2.0 */
#include "labels/label-steps.h"

/* Bytes of an m (struct runtime.m) are copied in words: the offsets of its fields that may be. */
enum { M_OFFSETS = 0xf8 };
/* A pair is appended only if the pairs before it have at most FULL bytes. */
enum { FULL = LABEL_PAYLOAD_TEXT - 2 - LABEL_KEY_BYTES - LABEL_VALUE_BYTES };

/* Let JUMP lead to the end of the program, where the record gets STATUS. */
static void leave(struct label_writing *w, int jump, int status)
{
	w->leave[w->leaves].jump = jump;
	w->leave[w->leaves++].status = (enum label_status)status;
}

static void go(struct label_writing *w, int jump, int label)
{
	w->pending[w->pendings].jump = jump;
	w->pending[w->pendings++].label = label;
}

/* Let all jumps to LABEL lead to the next instruction. */
static void land(struct label_writing *w, int label)
{
	int kept = 0;

	for (int i = 0; i < w->pendings; i++)
		if (w->pending[i].label == label)
			bpf_land(w->code, w->pending[i].jump);
		else
			w->pending[kept++] = w->pending[i];
	w->pendings = kept;
}

/* Return the register of BASE, and add to *OFFSET where it is from there. */
static int base_of(const struct label_writing *w, int base, int *offset)
{
	if (base < VARIABLE)
		return base;
	*offset += w->offset[base];
	return base == VARIABLE ? TARGET : SCRATCH;
}

/* Copy SIZE bytes, or R2 if it is 0, at R3 to offset TO of BASE; leave if they are not present. */
static void read_to(struct label_writing *w, int base, int to, int size)
{
	struct bpf_code *c = w->code;

	bpf_move(c, R1, base);
	bpf_alu(c, BPF_ADD, R1, to);
	if (size)
		bpf_set(c, R2, size);
	bpf_call(c, BPF_FUNC_probe_read_user);
	leave(w, bpf_jump_if(c, IF_OTHER, R0, 0), LABEL_STATUS_FAULT);
}

/*
 * Append the string at POINTER to the text, at USED.  It is cut to MOST bytes, which is a power of
 * two minus 1.
 */
static const struct label_step append_string[] = {
	{ LOAD, LONG, R2, LENGTH, 0 },
	{ GO_IF, IF_AT_MOST, R2, MOST, L_FITS },
	{ SET, R2, MOST },
	{ FLAG, LABEL_CUT },
	{ HERE, L_FITS },
	{ MOVE, R1, SCRATCH },
	{ ADD_REG, R1, USED },
	{ STORE, BYTE, R1, TEXT, R2 },
	{ LOAD, BYTE, R2, R1, TEXT },
	{ AND, R2, MOST },
	{ ADD, R1, TEXT + 1 },
	{ LOAD, LONG, R3, POINTER, 0 },
	{ CALL, BPF_FUNC_probe_read_user },
	{ GO_IF, IF_EQUAL, R0, 0, L_GOOD },
	{ FLAG, LABEL_FAULT },
	{ MOVE, R1, SCRATCH },
	{ ADD_REG, R1, USED },
	{ PUT, BYTE, R1, TEXT, 0 },
	{ HERE, L_GOOD },
	{ MOVE, R1, SCRATCH },
	{ ADD_REG, R1, USED },
	{ LOAD, BYTE, R2, R1, TEXT },
	{ AND, R2, MOST },
	{ ADD_REG, USED, R2 },
	{ ADD, USED, 1 },
};

static const struct label_step before_pair[] = {
	{ LOAD, WORD, USED, SCRATCH, HEAD_USED },
	{ GO_IF, IF_MORE, USED, FULL, L_FULL },
};

static const struct label_step after_pair[] = {
	{ STORE, WORD, SCRATCH, HEAD_USED, USED },
	{ LOAD, BYTE, R1, SCRATCH, HEAD_N },
	{ ADD, R1, 1 },
	{ STORE, BYTE, SCRATCH, HEAD_N, R1 },
};

/* Append the string whose address and length are at POINTER and LENGTH of PAIR. */
static void append(struct label_writing *w, int pointer, int length, int most)
{
	int pair = w->offset[PAIR];

	w->offset[POINTER] = pair + pointer;
	w->offset[LENGTH] = pair + length;
	w->most = most;
	WRITE_STEPS(w, append_string);
}

static void append_pair(struct label_writing *w, const struct label_step *s)
{
	WRITE_STEPS(w, before_pair);
	append(w, s->a, s->b, LABEL_KEY_BYTES);
	append(w, s->c, s->d, LABEL_VALUE_BYTES);
	WRITE_STEPS(w, after_pair);
}

static const struct label_step load_of_m[] = {
	{ AND, R2, M_OFFSETS },
	{ MOVE, R1, SCRATCH },
	{ ADD_REG, R1, R2 },
	{ LOAD, LONG, R1, R1, COPY },
};

/* Append the instructions of a step that is several. */
static void write_several(struct label_writing *w, const struct label_step *s)
{
	struct bpf_code *c = w->code;
	int offset = s->a, base, fits;

	switch (s->op) {
	case READ:
		read_to(w, STACK, s->a, s->b);
		break;
	case READ_SCRATCH:
		read_to(w, SCRATCH, s->a, s->b);
		break;
	case ADD_FIELD:
		base = base_of(w, s->b, &offset);
		bpf_load(c, LONG, R1, base, offset);
		bpf_alu_reg(c, BPF_ADD, R3, R1);
		break;
	case LOAD_OF_M:
		bpf_load(c, LONG, R2, TARGET, s->a);
		WRITE_STEPS(w, load_of_m);
		break;
	case LIMIT:
		fits = bpf_jump_if(c, IF_AT_MOST, R2, s->a);
		bpf_set(c, R2, s->a);
		bpf_land(c, fits);
		break;
	case FLAG:
		bpf_load(c, BYTE, R1, SCRATCH, HEAD_FLAGS);
		bpf_alu(c, BPF_OR, R1, s->a);
		bpf_store(c, BYTE, SCRATCH, HEAD_FLAGS, R1);
		break;
	case APPEND:
		append_pair(w, s);
		break;
	}
}

static int value_of(const struct label_writing *w, int value)
{
	return value == MOST ? w->most : value;
}

static void write_jump(struct label_writing *w, const struct label_step *s)
{
	struct bpf_code *c = w->code;

	switch (s->op) {
	case GO:
		go(w, bpf_jump(c), s->a);
		break;
	case GO_IF:
		go(w, bpf_jump_if(c, s->a, s->b, value_of(w, s->c)), s->d);
		break;
	case GO_IF_REG:
		go(w, bpf_jump_if_reg(c, s->a, s->b, s->c), s->d);
		break;
	case HERE:
		land(w, s->a);
		break;
	case LEAVE:
		leave(w, bpf_jump(c), s->a);
		break;
	case LEAVE_IF:
		leave(w, bpf_jump_if(c, s->a, s->b, s->c), s->d);
		break;
	case LEAVE_IF_REG:
		leave(w, bpf_jump_if_reg(c, s->a, s->b, s->c), s->d);
		break;
	default:
		write_several(w, s);
	}
}

static void write_step(struct label_writing *w, const struct label_step *s)
{
	struct bpf_code *c = w->code;
	int offset = s->op == LOAD ? s->d : s->c, base;

	switch (s->op) {
	case LOAD:
		base = base_of(w, s->c, &offset);
		bpf_load(c, s->a, s->b, base, offset);
		break;
	case STORE:
		base = base_of(w, s->b, &offset);
		bpf_store(c, s->a, base, offset, s->d);
		break;
	case PUT:
		base = base_of(w, s->b, &offset);
		bpf_store_value(c, s->a, base, offset, s->d);
		break;
	case SET:
		bpf_set(c, s->a, value_of(w, s->b));
		break;
	case MOVE:
		bpf_move(c, s->a, s->b);
		break;
	case ADD:
		bpf_alu(c, BPF_ADD, s->a, s->b);
		break;
	case SUBTRACT:
		bpf_alu(c, BPF_SUB, s->a, s->b);
		break;
	case AND:
		bpf_alu(c, BPF_AND, s->a, value_of(w, s->b));
		break;
	case SHIFT:
		bpf_alu(c, BPF_LSH, s->a, s->b);
		break;
	case ADD_REG:
		bpf_alu_reg(c, BPF_ADD, s->a, s->b);
		break;
	case CALL:
		bpf_call(c, s->a);
		break;
	default:
		write_jump(w, s);
	}
}

void label_steps_write(struct label_writing *w, const struct label_step *step, size_t count)
{
	for (size_t i = 0; i < count; i++)
		write_step(w, &step[i]);
}
