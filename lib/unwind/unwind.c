/* SPDX-License-Identifier: Apache-2.0 */
/* Attrs and samples: finds the callers of samples with dumps, and counts. */
#include "base/clock.h"
#include "unwind/deferred.h"
#include "unwind/internal.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/utsname.h>

#define DUMP (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* Frames of a stack that are followed at most: more than a dump or a callchain can have. */
enum { WALK_MAX = 1 << 14 };

/*
 * Return whether the stream was recorded on this machine with the kernel release that runs now, and
 * WHERE allows to ask it.
 */
static bool is_local(const struct locate_options *where, const struct stream_origin *origin)
{
	return !origin || locate_may_ask(where, origin);
}

struct unwind *unwind_new(const struct unwind_options *options,
			  const struct stream_origin *origin, struct report *report)
{
	struct unwind *u = mem_zeroed(1, sizeof(*u));

	u->options = *options;
	if (!u->options.stack_max)
		u->options.stack_max = UNWIND_STACK_MAX;
	u->images = (struct images){ .where = options->where, .report = report,
				     .size = sizeof(struct code), .forget = code_forget,
				     .refuses_changed = true, .origin = origin,
				     .is_local = is_local(&options->where, origin) };
	images_begin(&u->images);
	u->spaces.rename = images_rename;
	u->spaces.rename_context = &u->images;
	u->report = report;
	u->frames_max = WALK_MAX;
	u->frame = mem_zeroed(u->frames_max, sizeof(*u->frame));
	rules_init(&u->rules);
	u->budget.left = CFI_BUDGET_MOST;
	u->flow_left = FLOW_MOST;
	if (!options->no_join)
		u->joiner = joiner_new();
	if (options->budget.is_set)
		spending_begin(u);
	return u;
}

void unwind_free(struct unwind *u)
{
	if (!u)
		return;
	rules_release(&u->rules);
	scan_free(u->scan);
	images_release(&u->images);
	spaces_release(&u->spaces);
	joiner_free(u->joiner);
	cpu_budget_release(&u->cpu);
	free(u->frame);
	free(u);
}

const struct machine *unwind_machine(const struct unwind *u)
{
	const struct stream_origin *origin = u->images.origin;
	const char *name = origin && origin->arch && *origin->arch ? origin->arch
									    : u->options.arch;
	struct utsname here;

	if (!name && uname(&here) == 0)
		name = here.machine;
	return name ? machine_find(name) : NULL;
}

bool unwind_takes(const struct unwind *u, const struct perf_event_attr *attr)
{
	return (attr->sample_type & DUMP) == DUMP &&
	       (attr->sample_type & PERF_SAMPLE_CALLCHAIN || !unwind_keeps_fields(u));
}

void unwind_attr(const struct unwind *u, uint8_t *bytes, size_t size)
{
	const size_t max_stack = offsetof(struct perf_event_attr, sample_max_stack);
	const uint32_t kernel = 256;	/* words for the kernel's part, and markers */
	struct perf_event_attr attr = { 0 };
	size_t known = size < sizeof(attr) ? size : sizeof(attr);

	memcpy(&attr, bytes, known);
	deferred_clear_attr(&attr);
	if (unwind_takes(u, &attr)) {
		uint32_t words = u->options.stack_max + UNWIND_OUTERMOST + kernel;
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
		if (!unwind_keeps_fields(u)) {
			attr.sample_regs_user &= u->options.registers;
			attr.sample_type &= ~(uint64_t)PERF_SAMPLE_STACK_USER;
			if (!attr.sample_regs_user)
				attr.sample_type &= ~(uint64_t)PERF_SAMPLE_REGS_USER;
			attr.sample_stack_user = 0;
		}
		if (size >= max_stack + sizeof(attr.sample_max_stack) &&
		    attr.sample_max_stack < words)
			attr.sample_max_stack = (uint16_t)words;
	}
	memcpy(bytes, &attr, known);
}

/* Forget the stacks of a thread that ended or runs another program. */
static void follow_joiner(struct unwind *u, const struct record *rec)
{
	struct comm_record comm;
	struct task_record task;

	if (rec->type == PERF_RECORD_EXIT && record_task(rec, &task))
		joiner_end(u->joiner, task.tid);
	else if (rec->type == PERF_RECORD_COMM && record_comm(rec, &comm) && comm.exec)
		joiner_end(u->joiner, comm.tid);
	for (uint32_t i = 0; i < u->spaces.tasks.forgotten_count; i++)
		joiner_forget(u->joiner, u->spaces.tasks.forgotten[i].tid);
}

bool unwind_follow(struct unwind *u, const struct record *rec)
{
	if (u->images.origin)
		u->spaces.all_is_code = u->images.origin->is_simpleperf;
	u->images.is_local = is_local(&u->images.where, u->images.origin);
	code_remove_unmapped(u);
	images_follow(&u->images, rec);
	bool good = spaces_follow(&u->spaces, rec);
	if (rec->type == RECORD_FINISHED_ROUND && u->images.is_local && u->sample_monotonic)
		spaces_forget_ended(&u->spaces, monotonic_ns(), u->sample_monotonic);
	if (u->spaces.silenced)
		report_more(u->report, u->spaces.silenced, SPACES_SILENCED, PROCESSES_MAX);
	if (u->joiner)
		follow_joiner(u, rec);
	if ((rec->type == PERF_RECORD_MMAP || rec->type == PERF_RECORD_MMAP2) &&
	    spending_allows(u, CPU_BUDGET_COMMON)) {
		code_make_room(u);
		images_open_mapped(&u->images, &u->spaces, rec);
		spending_charge(u, CPU_BUDGET_COMMON);
	}
	if (rec->type == RECORD_FINISHED_ROUND) {
		code_blocks_forget(&u->blocks);
		spending_check_memory(u);
		u->rounds++;
	}
	return good;
}

const struct tasks *unwind_tasks(const struct unwind *u)
{
	return &u->spaces.tasks;
}

/* Prepare for the registers in MASK of machine M. */
static void set_mask(struct unwind *u, uint64_t mask, const struct machine *m)
{
	unsigned count = 0;

	for (unsigned bit = 0; bit < MACHINE_BITS; bit++)
		if (mask >> bit & 1)
			u->number[count++] = m->number[bit];
	u->mask = mask;
	u->mask_machine = m;
}

static bool read_registers(struct unwind *u, const struct perf_event_attr *attr,
			   const struct sample *s, struct dump *dump)
{
	const struct machine *m = dump->machine;
	struct cfi_registers *r = &dump->registers;

	if (u->mask != attr->sample_regs_user || u->mask_machine != m)
		set_mask(u, attr->sample_regs_user, m);
	for (uint64_t i = 0; i < s->user_regs.count; i++) {
		uint8_t reg = u->number[i];
		if (reg == NO_REGISTER)
			continue;
		r->value[reg] = word_at(s->user_regs, i);
		r->known |= 1ULL << reg;
	}
	return r->known >> m->pc & 1 && r->known >> m->sp & 1;
}

/* Return whether S has user words. */
static bool is_finished(const struct sample *s)
{
	for (uint64_t i = 0; i < s->callchain.count; i++)
		if (word_at(s->callchain, i) == PERF_CONTEXT_USER)
			return true;
	return false;
}

/* Return whether the frame pointers of S, of a 32-bit program on M, are followed. */
static bool follows_32(const struct unwind *u, const struct sample *s, const struct machine *m)
{
	return m && m->elf == EM_X86_64 && !u->options.no_frame_pointers && !is_finished(s);
}

/* Return whether S can be unwound, and fill DUMP.  If not, store the reason in *WHY. */
static bool open_dump(struct unwind *u, const struct perf_event_attr *attr,
		      const struct sample *s, struct dump *dump, const char **why)
{
	enum { PAGE = 4096 };

	*dump = (struct dump){ .machine = unwind_machine(u) };
	if (s->user_regs_abi != ABI_64 && !follows_32(u, s, dump->machine))
		*why = "32-bit code";
	else if (u->options.is_swapped || !dump->machine)
		*why = "code of a machine that is not x86-64 or arm64";
	else if (!read_registers(u, attr, s, dump))
		*why = "samples without the program counter or the stack pointer";
	else
		*why = NULL;
	if (*why)
		return false;
	uint64_t sp = dump->registers.value[dump->machine->sp], size = s->user_stack.size;
	if (size > UINT64_MAX - sp)
		size = UINT64_MAX - sp;
	dump->at = s->user_stack.at;
	dump->base = sp;
	dump->size = size;
	/* The copy ends before its size where the stack's last page ends, or nothing was there. */
	dump->is_full = size && (size + 8 > attr->sample_stack_user || (sp + size) % PAGE);
	return true;
}

/*
 * Continue a stack that was cut or lost, by the kernel's callchain, or else by earlier stacks.
 * Return whether it is whole then.
 */
static bool extend(struct unwind *u, const struct sample *s, const struct walk_process *process,
		   const struct dump *dump, enum unwind_outcome outcome)
{
	uint32_t found = u->frames;
	bool is_whole = unwind_by_kernel(u, process, dump, outcome, s->callchain);
	uint32_t by_kernel = u->frames;

	if (is_whole || outcome == UNWIND_LOST || !u->joins_left)
		return is_whole;
	u->frames = joiner_extend(u->joiner, s->tid, u->frame, found, &u->caller,
				  u->frames_max, &is_whole);
	if (!is_whole && u->frames < by_kernel) {
		u->frames = found;
		unwind_by_kernel(u, process, dump, outcome, s->callchain);
	}
	return is_whole;
}

/*
 * Join a stack that was cut, and remember stacks for some time after it.  Many programs have no
 * cut stacks; for them nothing is remembered, because that takes a third of the work.
 */
static enum unwind_outcome finish(struct unwind *u, const struct sample *s,
				  const struct walk_process *process, const struct dump *dump,
				  enum unwind_outcome outcome)
{
	enum { REMEMBERED = 4096 };	/* stacks: more than there are between two cut stacks of
					   most programs */
	bool is_cut = outcome == UNWIND_CUT || outcome == UNWIND_HOLE;
	bool is_whole = outcome == UNWIND_WHOLE;
	uint32_t copied = u->frames;

	if (is_cut || outcome == UNWIND_LOST)
		is_whole = extend(u, s, process, dump, outcome);
	if (u->joins_left) {
		joiner_add(u->joiner, s->tid, u->frame, u->frames, copied, is_whole);
		u->joins_left--;
	}
	if (is_cut && u->joiner)
		u->joins_left = REMEMBERED;
	if (!is_whole)
		return outcome;
	return outcome == UNWIND_CUT ? UNWIND_JOINED
	     : outcome == UNWIND_HOLE ? UNWIND_HOLE_JOINED : UNWIND_WHOLE;
}

/* Find the frames of S. */
static enum unwind_outcome find_frames(struct unwind *u, const struct sample *s,
				       const struct walk_process *process, const struct dump *dump)
{
	if (s->user_regs_abi != ABI_64) {
		u->stacks_32++;
		return unwind_walk_32(u, process, dump);
	}
	enum unwind_outcome outcome = unwind_walk(u, process->space, process->pid, dump);
	outcome = finish(u, s, process, dump, outcome);
	if (u->options.judges)
		judge_add(&u->judge, s->time, chain_lacks_callers(u, process, s->callchain));
	return outcome;
}

bool unwind_is_spared(const struct unwind *u)
{
	return u->judge.is_spared;
}

/* Return the word of a callchain that describes how the stack ended. */
static enum stack_end end_of(enum unwind_outcome outcome)
{
	switch (outcome) {
	case UNWIND_CUT:
	case UNWIND_HOLE:
		return STACK_DUMP;
	case UNWIND_NO_CODE:
		return STACK_NO_CODE;
	case UNWIND_NO_CFI:
	case UNWIND_LOST:
	case UNWIND_COSTLY:
		return STACK_NO_INFORMATION;
	default:
		return STACK_WHOLE;
	}
}

/*
 * Allow another stack its steps.  Most stacks take none, since the rules at their addresses are
 * known.  So a hostile program that takes many steps cannot keep others from being unwound.
 */
static void add_budget(struct cfi_budget *b)
{
	enum { STACK = 4096 };		/* steps: 15 us */

	b->left = b->left < CFI_BUDGET_MOST - STACK ? b->left + STACK : CFI_BUDGET_MOST;
}

void unwind_begin(struct unwind *u, const struct perf_event_attr *attr, const struct sample *s)
{
	u->sample_time = attr->sample_type & PERF_SAMPLE_TIME ? s->time : 0;
	u->sample_monotonic = attr->use_clockid && attr->clockid == CLOCK_MONOTONIC
			      ? u->sample_time : 0;
	code_make_room(u);
	add_budget(&u->budget);
	u->flow_left += u->flow_left < FLOW_MOST ? FLOW_STACK : 0;
	tasks_sampled(&u->spaces.tasks, s->pid, s->tid);
}

size_t unwind_sample(struct unwind *u, const struct stream_event *event,
		     const struct record *rec, const struct sample *s,
		     uint8_t out[RECORD_MAX_SIZE])
{
	struct dump dump;
	const char *why;
	bool is_unwound = false;

	if (!unwind_takes(u, &event->attr))
		return 0;
	unwind_begin(u, &event->attr, s);
	/* A sample with user words and without a dump was unwound by this program before. */
	bool is_done = s->user_stack.size == 0 && is_finished(s);
	if (s->user_regs_abi == 0 || is_done) {	/* a thread of the kernel, or unwound before */
		if (is_finished(s))
			u->counts.samples[UNWIND_BEFORE]++;
	} else if (!spending_allows(u, s->pid)) {
		return 0;
	} else if (!open_dump(u, &event->attr, s, &dump, &why)) {
		u->foreign = why;
		u->counts.samples[UNWIND_FOREIGN]++;
		u->foreign_32 += s->user_regs_abi != ABI_64 && !is_finished(s);
	} else {
		struct walk_process process = { spaces_find(&u->spaces, s->pid), s->pid,
						dump.machine };
		enum unwind_outcome outcome = find_frames(u, s, &process, &dump);
		u->counts.samples[outcome]++;
		u->end = end_of(outcome);
		if (outcome == UNWIND_CUT || outcome == UNWIND_JOINED)
			u->full_size = event->attr.sample_stack_user;
		is_unwound = true;
		spending_charge(u, s->pid);
	}
	return unwind_write_sample(u, event, rec, s, is_unwound, out);
}
