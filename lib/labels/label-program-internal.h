/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the BPF program share: the layout of its memory, and its jumps to the end. */
#pragma once
#include "labels/label-program.h"
#include "record/label-payload.h"

/* Offsets in the scratch memory: copies of the target's memory, then the raw data of the record. */
enum { COPY = 0, COPY_BYTES = 512, HEAD = COPY_BYTES, TEXT = HEAD + LABEL_PAYLOAD_HEAD };
enum {
	HEAD_STATUS = HEAD + 4, HEAD_N = HEAD + 5, HEAD_FLAGS = HEAD + 6, HEAD_FORM = HEAD + 7,
	HEAD_EVENT = HEAD + 8, HEAD_IP = HEAD + 16, HEAD_USED = HEAD + 24, HEAD_COUNT = HEAD + 28,
};
/* Offsets on the stack, from the frame pointer. */
enum {
	AT_KEY = -16, AT_TASK = -24, AT_POINTER = -32, AT_G = -40, AT_M = -48, AT_CURG = -56,
	AT_LABELS = -64, AT_SECOND = -72, AT_STARTED = -80, AT_PAIRS = -88, AT_WORDS = -112,
	AT_NAMESPACE = -120,
};
enum { CONTEXT = BPF_REG_6, TARGET = BPF_REG_7, SCRATCH = BPF_REG_8, USED = BPF_REG_9 };

/* Offsets in the program's context, struct bpf_perf_event_data: registers in ptrace's layout. */
#ifdef __aarch64__
enum { REGISTER_PC = 256, REGISTER_G = 28 * 8 };
#else
enum { REGISTER_PC = 128, REGISTER_G = 14 * 8 };
#endif

enum { LEAVES_MAX = 512, PENDING_MAX = 96, STEP_BASES = 21 };

struct label_writing {
	struct bpf_code *code;
	/* Jumps to the end, and the status that the record then gets. */
	struct { int jump; enum label_status status; } leave[LEAVES_MAX];
	int leaves;
	/* Jumps whose labels were not reached yet: see enum step_label. */
	struct { int jump, label; } pending[PENDING_MAX];
	int pendings;
	int offset[STEP_BASES];	/* of each base that is not a register: see enum step_base */
	int most;		/* bytes of the string that is appended */
};

/* Get the scratch memory, and start the record of the event INDEX.  Return the jump on failure. */
int label_record_start(struct label_writing *w, const struct label_program *p, uint32_t index);

/* All jumps of leave() end here: set the status, and write the record. */
void label_record_write(struct label_writing *w, const struct label_program *p);
