/* SPDX-License-Identifier: Apache-2.0 */
/* waiting-write - the samples of threads that waited at the start (linux/perf_event.h). */
#include "base/arena.h"
#include "linux/kernel-info.h"
#include "record/words.h"
#include "sample/flow.h"
#include "sample/waiting.h"
#include "symbol/kallsyms.h"
#include "target/existing.h"
#include "unwind/unwind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__aarch64__)
#include <asm/perf_regs.h>
#endif

/*
 * Addresses of frames that are only names, such as "[waits: futex_do_wait]": KSYMBOL records give
 * them these names.  The kernels of x86-64 and arm64 have nothing there.
 */
#define NAMES_START 0xffffffffffe00000
enum { FRAME_NAMES_MAX = 1000, NAME_BYTES = 16 };	/* NAME_BYTES: between two addresses */

/* A function of the kernel. */
struct kernel_function {
	char *name;
	uint64_t size;		/* bytes */
	uint64_t address;	/* 0: unknown */
};

struct writing {
	struct start_waits *waiting;
	struct flow *flow;
	struct kallsyms *symbols;	/* NULL: not read yet */
	struct kernel_function *function;	/* that were looked up */
	size_t functions;
	char **name;			/* I is at NAMES_START + NAME_BYTES * I */
	size_t names;
	struct buffer record;
};

static void put(struct writing *w, uint64_t value)
{
	buffer_add(&w->record, &value, sizeof(value));
}

static void put_zeros(struct writing *w, uint64_t bits, uint64_t sample_type)
{
	for (uint64_t fields = bits & sample_type; fields; fields &= fields - 1)
		put(w, 0);
}

/* Return the address of the function of the kernel in FRAME; 0: unknown. */
static uint64_t address_of(struct writing *w, const struct thread_frame *frame)
{
	for (size_t i = 0; i < w->functions; i++)
		if (w->function[i].size == frame->size &&
		    !strcmp(w->function[i].name, frame->name))
			return w->function[i].address;
	if (!w->symbols)
		w->symbols = kallsyms_open(KERNEL_KALLSYMS);
	uint64_t address = kallsyms_function(w->symbols, frame->name, frame->size);
	w->function = array_grow(w->function, w->functions, sizeof(*w->function));
	w->function[w->functions++] = (struct kernel_function){ mem_text(frame->name), frame->size,
								address };
	return address;
}

/* Return the address that stands for NAME; 0: there are too many names. */
static uint64_t named_address(struct writing *w, const char *name)
{
	size_t i = 0;

	while (i < w->names && strcmp(w->name[i], name))
		i++;
	if (i == FRAME_NAMES_MAX)
		return 0;
	uint64_t address = NAMES_START + NAME_BYTES * i;
	if (i == w->names) {
		w->name = array_grow(w->name, w->names, sizeof(*w->name));
		w->name[w->names++] = mem_text(name);
		existing_kernel_name(relay_begin(&w->flow->relay), w->flow->layout, address,
				     NAME_BYTES, name);
		relay_end(&w->flow->relay);
	}
	return address;
}

/* Append the frames of T in the kernel.  False: they are not known. */
static bool put_kernel_stack(struct writing *w, const struct waiting_thread *t)
{
	size_t start = w->record.size;
	const char *at = t->kernel ? t->kernel : "";
	struct thread_frame frame;

	while (thread_next_frame(&at, &frame)) {
		uint64_t address = address_of(w, &frame);
		if (address)
			put(w, address + frame.offset);
	}
	return w->record.size > start;
}

/* Append a frame with the name of what T waits for. */
static void put_name(struct writing *w, const struct waiting_thread *t)
{
	char name[THREAD_CHANNEL_SIZE + sizeof(WORD_WAITS_FOR)] = WORD_WAITS;

	if (t->state.state == 'R')
		snprintf(name, sizeof(name), WORD_PREEMPTED);
	else if (*t->channel)
		snprintf(name, sizeof(name), WORD_WAITS_FOR, t->channel);
	uint64_t address = named_address(w, name);
	if (address)
		put(w, address);
}

/* Append the callchain of T. */
static void put_callchain(struct writing *w, const struct waiting_thread *t)
{
	const struct perf_event_attr *attr = &w->waiting->event->attr;
	size_t start = w->record.size;
	uint64_t count;

	put(w, 0);
	put(w, PERF_CONTEXT_KERNEL);
	if (attr->exclude_callchain_kernel || !put_kernel_stack(w, t))
		put_name(w, t);
	if (!attr->exclude_callchain_user && t->registers.is_known) {
		put(w, PERF_CONTEXT_USER);
		put(w, t->registers.pc);
		if (t->callers.size)
			buffer_add(&w->record, t->callers.at, t->callers.size);
	}
	count = (w->record.size - start) / sizeof(count) - 1;
	memcpy(w->record.at + start, &count, sizeof(count));
}

/* Return user register REG, a PERF_REG_*, of R; 0 if /proc does not show it. */
static uint64_t register_of(const struct thread_registers *r, unsigned reg)
{
#if defined(__x86_64__)
	static const uint8_t arguments[THREAD_ARGUMENTS] = {
		PERF_REG_X86_DI, PERF_REG_X86_SI, PERF_REG_X86_DX, PERF_REG_X86_R10,
		PERF_REG_X86_R8, PERF_REG_X86_R9,
	};
	enum { SP = PERF_REG_X86_SP, PC = PERF_REG_X86_IP };
	const uint64_t unknown = 1ULL << PERF_REG_X86_BP;
#elif defined(__aarch64__)
	static const uint8_t arguments[THREAD_ARGUMENTS] = { 0, 1, 2, 3, 4, 5 };
	enum { SP = PERF_REG_ARM64_SP, PC = PERF_REG_ARM64_PC };
	const uint64_t unknown = 1ULL << PERF_REG_ARM64_X29 | 1ULL << PERF_REG_ARM64_LR;
#else
	static const uint8_t arguments[THREAD_ARGUMENTS];
	enum { SP = 64, PC };	/* none */
	const uint64_t unknown = 0;
#endif
	if (reg == SP || reg == PC)
		return reg == SP ? r->sp : r->pc;
	if (unknown >> reg & 1)
		return UNWIND_UNKNOWN;
	for (unsigned i = 0; i < THREAD_ARGUMENTS; i++)
		if (arguments[i] == reg)
			return r->argument[i];
	return 0;
}

/* Append the user registers and the copy of the stack, if T and its event have them. */
static void put_dump(struct writing *w, const struct waiting_thread *t)
{
	const struct perf_event_attr *attr = &w->waiting->event->attr;
	bool is_known = t->registers.is_known && t->registers.sp >= WAITING_64_BITS;

	if (attr->sample_type & PERF_SAMPLE_REGS_USER) {
		put(w, is_known ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
		for (unsigned reg = 0; reg < 64 && is_known; reg++)
			if (attr->sample_regs_user >> reg & 1)
				put(w, register_of(&t->registers, reg));
	}
	if (attr->sample_type & PERF_SAMPLE_STACK_USER) {
		size_t size = is_known ? t->stack.size : 0;
		put(w, size);
		if (size) {
			buffer_add(&w->record, t->stack.at, size);
			put(w, size);
		}
	}
}

/* Fill in the header, and the address of the sample, whose callchain is at CHAIN. */
static void complete(struct writing *w, size_t chain)
{
	const struct sample_layout *l = &w->waiting->event->layout;
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE,
					    .misc = PERF_RECORD_MISC_KERNEL };
	uint64_t word;

	if (chain && w->record.size >= chain + 3 * sizeof(word)) {	/* count, marker, address */
		memcpy(&word, w->record.at + chain + 2 * sizeof(word), sizeof(word));
		memcpy(w->record.at + sizeof(header) + l->ip, &word, sizeof(word));
	}
	header.size = (uint16_t)w->record.size;
	memcpy(w->record.at, &header, sizeof(header));
}

/* Make the sample of T.  False: the event has fields that nobody knows. */
static bool make_sample(struct writing *w, const struct waiting_thread *t)
{
	const struct perf_event_attr *attr = &w->waiting->event->attr;
	const uint64_t type = attr->sample_type, unknown = PERF_SAMPLE_READ | PERF_SAMPLE_RAW |
							   PERF_SAMPLE_AUX;
	uint64_t id = w->flow->counters->ids[w->waiting->index].id[0];
	size_t chain = 0;

	if (type & unknown)
		return false;
	w->record.size = 0;
	put(w, 0);	/* the header */
	if (type & PERF_SAMPLE_IDENTIFIER)
		put(w, id);
	put_zeros(w, PERF_SAMPLE_IP, type);
	if (type & PERF_SAMPLE_TID)
		put(w, (uint32_t)t->pid | (uint64_t)t->tid << 32);
	if (type & PERF_SAMPLE_TIME)
		put(w, w->waiting->since);
	put_zeros(w, PERF_SAMPLE_ADDR, type);
	if (type & PERF_SAMPLE_ID)
		put(w, id);
	put_zeros(w, PERF_SAMPLE_STREAM_ID, type);
	if (type & PERF_SAMPLE_CPU)
		put(w, t->state.cpu);
	if (type & PERF_SAMPLE_PERIOD)
		put(w, 1);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		chain = w->record.size;
		put_callchain(w, t);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		put(w, 0);
		if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
			put(w, UINT64_MAX);
	}
	put_dump(w, t);
	put_zeros(w, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC |
		     PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR |
		     PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE |
		     PERF_SAMPLE_CODE_PAGE_SIZE, type);
	if (w->record.size > RECORD_MAX_SIZE)
		return false;
	complete(w, chain);
	return true;
}

/*
 * Return whether T waited at the start.  Without a record it either waits, or it is ready: then it
 * waits for a CPU if it has not run since.
 */
static bool has_waited(const struct waiting_thread *t)
{
	struct thread_state now;

	if (t->first != FIRST_NONE)
		return t->first == FIRST_IN;
	if (t->state.state != 'R')
		return true;
	return thread_read_state(t->pid, t->tid, &now) && now.state == 'R' && t->state.turns &&
	       now.ran == t->state.ran && now.turns == t->state.turns;
}

static void release(struct writing *w)
{
	kallsyms_close(w->symbols);
	for (size_t i = 0; i < w->functions; i++)
		free(w->function[i].name);
	for (size_t i = 0; i < w->names; i++)
		free(w->name[i]);
	free(w->function);
	free(w->name);
	free(w->record.at);
}

uint64_t waiting_write(struct start_waits *waiting, struct flow *flow)
{
	struct writing w = { .waiting = waiting, .flow = flow };
	uint64_t samples = 0;

	for (size_t i = 0; i < waiting->count; i++) {
		if (!has_waited(&waiting->thread[i]) || !make_sample(&w, &waiting->thread[i]))
			continue;
		flow_write_sample(flow, (const void *)w.record.at);
		samples++;
	}
	release(&w);
	waiting_release(waiting);
	return samples;
}
