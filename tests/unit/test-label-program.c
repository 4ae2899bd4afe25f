/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The BPF program that reads labels is, instruction by instruction, the one that kernels have
 * verified and run in the lab (tests/lab).  A program that is changed on purpose has to pass there
 * first; then the digests here change, too.
 */
#include "base/digest.h"
#include "labels/label-program.h"
#include "tests/unit/tap.h"

static struct bpf_code code;

/* The digest of all instructions, by architecture. */
static const struct {
	struct label_program program;
	uint32_t index;
	uint64_t x86, arm64;
} variants[] = {
	{ { .targets = 3, .scratch = 4, .output = 5, .thread_pointer = 0x1234 }, 0,
	  0xefe42f7cc1deaf9e, 0x235d309d5bd39313 },
	{ { .targets = 9, .scratch = 8, .output = 7, .thread_pointer = 0x2345,
	    .device = 4, .inode = 0xf0000001 }, 7, 0x393141858cf8eee7, 0x962da3d910709376 },
};

int main(void)
{
	for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); i++) {
		label_program_write(&variants[i].program, variants[i].index, &code);
		uint64_t digest = digest_bytes(code.insn, (size_t)code.count * sizeof(*code.insn));
#ifdef __aarch64__
		bool same = digest == variants[i].arm64;
#else
		bool same = digest == variants[i].x86;
#endif
		if (!same)
			printf("# %d instructions, digest 0x%016llx\n", code.count,
			       (unsigned long long)digest);
		tap(same, "the program is the one that kernels have verified");
	}
	return tap_done();
}
