/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/futex.h"

#include <fcntl.h>
#include <inttypes.h>

/* Return the bit in sample_regs_user of the first argument of a call (asm/perf_regs.h), or -1. */
static int argument_bit(const char *arch)
{
	static const struct { const char *arch; int bit; } bits[] = {
		{ "x86_64", 5 }, { "aarch64", 0 }, { "riscv64", 10 },
	};

	for (size_t i = 0; arch && i < sizeof(bits) / sizeof(bits[0]); i++)
		if (!strcmp(arch, bits[i].arch))
			return bits[i].bit;
	return -1;
}

bool futex_has_samples(const struct perf_event_attr *attr)
{
	bool is_switch = attr->type == PERF_TYPE_SOFTWARE &&
			 attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES;

	return attr->sample_type & PERF_SAMPLE_REGS_USER &&
	       (is_switch || attr->type == PERF_TYPE_TRACEPOINT);
}

/* Return the first argument of the call that S's thread is in; 0: unknown. */
static uint64_t argument(const struct perf_event_attr *attr, const char *arch,
			 const struct sample *s)
{
	int bit = argument_bit(arch);
	uint64_t below = bit < 0 ? 0 : attr->sample_regs_user & ((1ULL << bit) - 1);
	uint64_t at = (uint64_t)__builtin_popcountll(below);

	if (bit < 0 || !(attr->sample_regs_user >> bit & 1) || at >= s->user_regs.count ||
	    s->user_regs_abi != PERF_SAMPLE_REGS_ABI_64)
		return 0;
	return word_at(s->user_regs, at);
}

/* Return whether a word can be at ADDRESS: it is aligned, and not a small number. */
static bool may_be_word(uint64_t address)
{
	return address >= 4096 && address % 4 == 0;
}

bool futex_is_likely(const struct perf_event_attr *attr, const char *arch, const struct sample *s)
{
	uint64_t address = argument(attr, arch, s);

	return may_be_word(address) && address != (uint32_t)AT_FDCWD;	/* of calls for a path */
}

uint64_t futex_address(struct wait_names *names, const struct resolved *r,
		       const struct resolved_sample *out, const struct stream_reader *in,
		       const struct sample *s, bool *guessed)
{
	const struct perf_event_attr *attr = &stream_events(in)->event[s->event].attr;
	uint64_t address = argument(attr, stream_origin(in)->arch, s);

	if (!address)
		return 0;
	struct wait_stack stack = wait_stack_of(names, r, out->frame, out->frames);
	bool is_in_futex = wait_stack_in_futex(&stack);

	*guessed = is_in_futex && !stack.has_kernel_names;
	if (*guessed && !may_be_word(address))
		return 0;
	return is_in_futex ? address : 0;
}

/*
 * Return whether the word of S is in a file that processes share: then its place is the offset in
 * that file.  Variables of programs are not shared.
 */
static bool is_in_shared_file(const struct resolved *r, const struct resolved_datum *d)
{
	return d && d->kind == DATA_FILE && r->object[d->object].build_id_size == 0 &&
	       r->object[d->object].size == 0;
}

static uint64_t address_of(const struct resolved_sample *s)
{
	return s->has & PERF_SAMPLE_ADDR ? s->value[VALUE_ADDR] : 0;
}

static const struct resolved_datum *datum_of(const struct resolved *r,
					     const struct resolved_sample *s)
{
	return s->datum ? &r->datum[s->datum - 1] : NULL;
}

bool futex_is_shared(const struct resolved *r, const struct resolved_sample *s)
{
	return is_in_shared_file(r, datum_of(r, s));
}

uint64_t futex_key(const struct resolved *r, const struct resolved_sample *s, pid_t pid,
		   bool is_pair)
{
	uint64_t address = address_of(s), in_pair = is_pair ? address & 7 : 0, place;

	if (!address)
		return 0;
	if (futex_is_shared(r, s))
		place = hash_more(hash_u64(s->datum), s->data_offset - in_pair);
	else
		place = hash_more(hash_u64((uint32_t)pid) + 1, address - in_pair);
	return hash_more(place, is_pair) | 1;
}

void futex_text(const struct resolved *r, const struct resolved_sample *s, bool is_pair,
		char text[FUTEX_TEXT])
{
	uint64_t address = address_of(s), in_pair = is_pair ? address & 7 : 0;
	const struct resolved_datum *d = datum_of(r, s);
	const char *name = d ? r->string[r->function[d->function].name] : "";
	bool has_offset = d && resolved_has_offset(d->kind);

	if (has_offset && s->data_offset > in_pair)
		snprintf(text, FUTEX_TEXT, "%.400s+0x%" PRIx64, name, s->data_offset - in_pair);
	else if (has_offset)
		snprintf(text, FUTEX_TEXT, "%.400s", name);
	else
		snprintf(text, FUTEX_TEXT, "%.400s%s0x%" PRIx64, name, *name ? " " : "",
			 address - in_pair);
}
