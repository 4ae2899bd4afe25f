/* SPDX-License-Identifier: Apache-2.0 */
/* settings-parse - parses kinds of branches and of callchains, and registers. */
#include "counters/settings.h"
#include "base/units.h"

#include <asm/perf_regs.h>
#include <stdio.h>
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
#define WORD(name, bit) { #name, PERF_SAMPLE_BRANCH_##bit }
static const struct word branch_words[] = {
	WORD(any, ANY), WORD(any_call, ANY_CALL), WORD(any_ret, ANY_RETURN),
	WORD(ind_call, IND_CALL), WORD(ind_jmp, IND_JUMP), WORD(call, CALL), WORD(cond, COND),
	WORD(u, USER), WORD(k, KERNEL), WORD(hv, HV), WORD(stack, CALL_STACK),
	WORD(save_type, TYPE_SAVE), WORD(no_flags, NO_FLAGS), WORD(no_cycles, NO_CYCLES),
	WORD(hw_index, HW_INDEX), WORD(in_tx, IN_TX), WORD(no_tx, NO_TX), WORD(abort_tx, ABORT_TX),
};

const char *settings_parse_branches(const char *list, void *value)
{
	uint64_t *type = value;
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

uint64_t settings_unwind_regs(void)
{
#if defined(__x86_64__)
	return 0xff0fff;	/* all except the segments ds, es, fs, gs */
#elif defined(__aarch64__)
	return 0x1ffffffff;	/* x0..x29, lr, sp, pc */
#else
	return 0;		/* unknown: record no user registers */
#endif
}

uint64_t settings_leaf_regs(void)
{
#ifdef __aarch64__
	return 1ULL << 30;	/* lr */
#else
	return 0;
#endif
}

uint64_t settings_stack_regs(void)
{
#if defined(__x86_64__)
	return 1ULL << PERF_REG_X86_SP;
#elif defined(__aarch64__)
	return 1ULL << PERF_REG_ARM64_SP;
#else
	return 0;
#endif
}

uint64_t settings_argument_regs(void)
{
#if defined(__x86_64__)
	return 1ULL << PERF_REG_X86_DI;
#elif defined(__aarch64__)
	return 1ULL << 0;	/* x0 */
#else
	return 0;
#endif
}

const char *settings_parse_registers(const char *list, void *value)
{
	uint64_t *mask = value;

	*mask = settings_unwind_regs();
	if (!strcmp(list, "all"))
		return NULL;
	*mask = 0;
	return parse_words(list, register_words,
			   sizeof(register_words) / sizeof(*register_words), mask);
}

static const char *const kinds[] = {
	[CHAIN_NONE] = "none", [CHAIN_FP] = "fp", [CHAIN_DWARF] = "dwarf", [CHAIN_LBR] = "lbr",
	NULL
};

const char *settings_callchain_name(enum callchain_kind kind)
{
	return kinds[kind];
}

/* Set *KIND to the kind called WORD.  Return whether there is one. */
static bool find_kind(const char *word, enum callchain_kind *kind)
{
	for (size_t i = 0; kinds[i]; i++)
		if (!strcmp(kinds[i], word)) {
			*kind = (enum callchain_kind)i;
			return true;
		}
	return false;
}

/* Parse WORD into S.  AFTER_DWARF: the word before it was "dwarf".  Return false if it is wrong. */
static bool parse_chain_word(struct sample_settings *s, const char *word, bool after_dwarf)
{
	enum { STACK_MAX = 65528 };	/* bytes: the kernel's limit, linux/perf_event.h */
	static const char most[] = "max=";
	uint64_t number;

	if (find_kind(word, &s->callchain)) {
		s->callchain_given = true;
		s->stack_bytes = 0;
	} else if (!strcmp(word, "user")) {
		s->no_kernel_stack = true;
	} else if (!strcmp(word, "kernel")) {
		s->no_user_stack = true;
	} else if (!strncmp(word, most, strlen(most))) {
		if (!units_parse_count(word + strlen(most), &number) || !number ||
		    number > UINT16_MAX)
			return false;
		s->max_stack = (uint16_t)number;
	} else if (strcmp(word, "auto")) {
		if (!after_dwarf || !units_parse_count(word, &number) || number < 8 ||
		    number > STACK_MAX || number % 8)
			return false;
		s->stack_bytes = (uint32_t)number;
	}
	return true;
}

const char *settings_parse_callgraph(const char *text, void *settings)
{
	bool after_dwarf = false;
	char word[32];

	for (const char *at = text; ; at++) {
		size_t size = strcspn(at, ",");
		snprintf(word, sizeof(word), "%.*s", (int)size, at);
		if (size >= sizeof(word) || !parse_chain_word(settings, word, after_dwarf))
			return at;
		after_dwarf = !strcmp(word, kinds[CHAIN_DWARF]);
		at += size;
		if (!*at)
			return NULL;
	}
}
