/* SPDX-License-Identifier: Apache-2.0 */
/* The start and the end of the BPF program's record of labels. */
#include "labels/label-steps.h"

#include <stddef.h>

int label_record_start(struct label_writing *w, const struct label_program *p, uint32_t index)
{
	struct bpf_code *c = w->code;

	bpf_store_value(c, BPF_W, BPF_REG_10, AT_KEY, 0);
	bpf_move(c, BPF_REG_2, BPF_REG_10);
	bpf_alu(c, BPF_ADD, BPF_REG_2, AT_KEY);
	bpf_load_map(c, BPF_REG_1, p->scratch);
	bpf_call(c, BPF_FUNC_map_lookup_elem);
	int absent = bpf_jump_if(c, BPF_JEQ, BPF_REG_0, 0);
	bpf_move(c, SCRATCH, BPF_REG_0);
	bpf_store_value(c, BPF_W, SCRATCH, HEAD, LABEL_MAGIC);
	bpf_store_value(c, BPF_W, SCRATCH, HEAD_STATUS, 0);	/* and N, FLAGS, FORM */
	bpf_store_value(c, BPF_W, SCRATCH, HEAD_EVENT, (int32_t)index);
	bpf_load(c, BPF_W, BPF_REG_1, TARGET, offsetof(struct label_target, edition));
	bpf_store(c, BPF_W, SCRATCH, HEAD_EVENT + 4, BPF_REG_1);
	bpf_store_value(c, BPF_DW, SCRATCH, HEAD_USED, 0);	/* and COUNT */
	bpf_load(c, BPF_DW, BPF_REG_1, CONTEXT, REGISTER_PC);
	bpf_store(c, BPF_DW, SCRATCH, HEAD_IP, BPF_REG_1);
	return absent;
}

void label_record_write(struct label_writing *w, const struct label_program *p)
{
	struct bpf_code *c = w->code;
	int join[LABEL_STATUSES], joins = 0;

	for (int status = 0; status < LABEL_STATUSES; status++) {
		bool any = status == LABEL_STATUS_LABELS;
		for (int i = 0; i < w->leaves; i++)
			any |= (int)w->leave[i].status == status;
		if (!any)
			continue;
		for (int i = 0; i < w->leaves; i++)
			if ((int)w->leave[i].status == status)
				bpf_land(c, w->leave[i].jump);
		if (status == LABEL_STATUS_LABELS)
			WRITE_STEP(w, HERE, L_FULL);
		bpf_store_value(c, BPF_B, SCRATCH, HEAD_STATUS, status);
		join[joins++] = bpf_jump(c);
	}
	for (int i = 0; i < joins; i++)
		bpf_land(c, join[i]);
	bpf_load(c, BPF_W, BPF_REG_5, SCRATCH, HEAD_USED);
	bpf_alu(c, BPF_AND, BPF_REG_5, 2047);
	bpf_alu(c, BPF_ADD, BPF_REG_5, LABEL_PAYLOAD_HEAD);
	bpf_move(c, BPF_REG_4, SCRATCH);
	bpf_alu(c, BPF_ADD, BPF_REG_4, HEAD);
	bpf_set_wide(c, BPF_REG_3, BPF_F_CURRENT_CPU);
	bpf_load_map(c, BPF_REG_2, p->output);
	bpf_move(c, BPF_REG_1, CONTEXT);
	bpf_call(c, BPF_FUNC_perf_event_output);
}
