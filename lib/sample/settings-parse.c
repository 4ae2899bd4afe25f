/* SPDX-License-Identifier: Apache-2.0 */
/* settings-parse - parse lists of kinds of branches and of registers. */
#include "sample/settings.h"

#include <asm/perf_regs.h>
#include <string.h>

struct word {
	const char *name;
	uint64_t mask;
};

/* Add the masks of the words in LIST to MASK.  Returns NULL, or the first unknown word. */
static const char *parse_words(const char *list, const struct word *words, size_t count,
			       uint64_t *mask)
{
	for (;; list++) {
		size_t length = strcspn(list, ","), i = 0;
		while (i < count && (strncmp(words[i].name, list, length) ||
				     words[i].name[length]))
			i++;
		if (i == count)
			return list;
		*mask |= words[i].mask;
		list += length;
		if (!*list)
			return NULL;
	}
}

/* The words of perf record -j, with PERF_SAMPLE_BRANCH_* of linux/perf_event.h. */
static const struct word branch_words[] = {
	{ "u", PERF_SAMPLE_BRANCH_USER },
	{ "k", PERF_SAMPLE_BRANCH_KERNEL },
	{ "hv", PERF_SAMPLE_BRANCH_HV },
	{ "any", PERF_SAMPLE_BRANCH_ANY },
	{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
	{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
	{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
	{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP },
	{ "call", PERF_SAMPLE_BRANCH_CALL },
	{ "cond", PERF_SAMPLE_BRANCH_COND },
	{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX },
	{ "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
	{ "abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX },
	{ "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE },
	{ "stack", PERF_SAMPLE_BRANCH_CALL_STACK },
	{ "no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS },
	{ "no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES },
	{ "hw_index", PERF_SAMPLE_BRANCH_HW_INDEX },
};

const char *settings_parse_branches(const char *list, uint64_t *type)
{
	const uint64_t modes = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL |
			       PERF_SAMPLE_BRANCH_HV;
	const uint64_t extras = PERF_SAMPLE_BRANCH_IN_TX | PERF_SAMPLE_BRANCH_NO_TX |
				PERF_SAMPLE_BRANCH_TYPE_SAVE | PERF_SAMPLE_BRANCH_NO_FLAGS |
				PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_HW_INDEX;

	*type = 0;
	const char *unknown = parse_words(list, branch_words,
					  sizeof(branch_words) / sizeof(*branch_words), type);
	if (!(*type & ~modes & ~extras))	/* no kind of branch is named: all */
		*type |= PERF_SAMPLE_BRANCH_ANY;
	return unknown;
}

/* arch/x86/include/uapi/asm/perf_regs.h, arch/arm64/include/uapi/asm/perf_regs.h */
#define REG(name, number) { name, 1ULL << (number) }
static const struct word register_words[] = {
#if defined(__x86_64__)
	REG("ax", PERF_REG_X86_AX), REG("bx", PERF_REG_X86_BX), REG("cx", PERF_REG_X86_CX),
	REG("dx", PERF_REG_X86_DX), REG("si", PERF_REG_X86_SI), REG("di", PERF_REG_X86_DI),
	REG("bp", PERF_REG_X86_BP), REG("sp", PERF_REG_X86_SP), REG("ip", PERF_REG_X86_IP),
	REG("flags", PERF_REG_X86_FLAGS), REG("cs", PERF_REG_X86_CS), REG("ss", PERF_REG_X86_SS),
	REG("r8", PERF_REG_X86_R8), REG("r9", PERF_REG_X86_R9), REG("r10", PERF_REG_X86_R10),
	REG("r11", PERF_REG_X86_R11), REG("r12", PERF_REG_X86_R12), REG("r13", PERF_REG_X86_R13),
	REG("r14", PERF_REG_X86_R14), REG("r15", PERF_REG_X86_R15),
#elif defined(__aarch64__)
	REG("x0", 0), REG("x1", 1), REG("x2", 2), REG("x3", 3), REG("x4", 4), REG("x5", 5),
	REG("x6", 6), REG("x7", 7), REG("x8", 8), REG("x9", 9), REG("x10", 10), REG("x11", 11),
	REG("x12", 12), REG("x13", 13), REG("x14", 14), REG("x15", 15), REG("x16", 16),
	REG("x17", 17), REG("x18", 18), REG("x19", 19), REG("x20", 20), REG("x21", 21),
	REG("x22", 22), REG("x23", 23), REG("x24", 24), REG("x25", 25), REG("x26", 26),
	REG("x27", 27), REG("x28", 28), REG("x29", 29), REG("lr", PERF_REG_ARM64_LR),
	REG("sp", PERF_REG_ARM64_SP), REG("pc", PERF_REG_ARM64_PC),
#endif
};

const char *settings_parse_registers(const char *list, uint64_t *mask)
{
	*mask = settings_unwind_regs();
	if (!strcmp(list, "all"))
		return NULL;
	*mask = 0;
	return parse_words(list, register_words,
			   sizeof(register_words) / sizeof(*register_words), mask);
}
