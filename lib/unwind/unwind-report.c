/* SPDX-License-Identifier: Apache-2.0 */
/* The report at the end: how stacks ended, and what would help. */
#include "base/clock.h"
#include "unwind/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Append FORMAT to TEXT, as much as fits. */
static void append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, size - used, format, arguments);
	va_end(arguments);
}

/* Report the first damage in SECTION of the object's CFI, once. */
static void report_damage_of(struct unwind *u, uint32_t object, unsigned section)
{
	struct code *code = code_find(u, object);
	const struct cfi_damage *damage = code->cfi ? cfi_damage_in(code->cfi, section) : NULL;

	if (!damage || code->damaged >> section & 1)
		return;
	code->damaged |= 1U << section;
	const char *path = u->spaces.objects.object[object].path;
	if (damage->limit == CFI_LIMIT_SIZE)
		report_note(u->report, "'%s': %s %s; its functions are not unwound", path,
			    damage->section, cfi_limit_text(damage->limit));
	else
		report_note(u->report, "'%s': %s %s at 0x%" PRIx64 "; its functions are not "
			    "unwound", path, damage->section, cfi_limit_text(damage->limit),
			    damage->offset);
}

void unwind_report_damage(struct unwind *u, uint32_t object)
{
	struct code *code = code_find(u, object);

	if (!code)
		return;
	if (code->costs && report_first(&code->costs_reported) &&
	    !(code->cfi && cfi_damage(code->cfi)))
		report_note(u->report, "%" PRIu64 " stacks end in '%s': unwinding it takes more "
			    "work than one program may cause", code->costs,
			    u->spaces.objects.object[object].path);
	for (unsigned section = 0; section < CFI_SECTIONS; section++)
		report_damage_of(u, object, section);
}

struct ended {
	uint64_t stacks;
	const char *path;
};

static int by_stacks(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;

	return x->stacks < y->stacks ? 1 : -(x->stacks > y->stacks);
}

static uint64_t ends_of(const struct code *code)
{
	return code->ends;
}

static uint64_t costs_of(const struct code *code)
{
	return code->costs;
}

/* Append the objects in which most stacks ended, by COUNT: " ('a.so' 54, 'b' 7, ...)". */
static void append_objects(const struct unwind *u, char *text, size_t size,
			   uint64_t (*count_of)(const struct code *))
{
	enum { SHOWN = 3 };
	struct ended *ended = mem_resize(NULL, (u->images.count + 1) * sizeof(*ended));
	uint32_t count = 0;

	for (uint32_t i = 0; i < u->images.count; i++)
		if (code_find(u, i) && count_of(code_find(u, i)))
			ended[count++] = (struct ended){ count_of(code_find(u, i)),
							 u->spaces.objects.object[i].path };
	qsort(ended, count, sizeof(*ended), by_stacks);
	for (uint32_t i = 0; i < count && i < SHOWN; i++) {
		const char *slash = strrchr(ended[i].path, '/');
		append(text, size, "%s'%s' %" PRIu64, i ? ", " : " (",
		       slash ? slash + 1 : ended[i].path, ended[i].stacks);
	}
	if (count)
		append(text, size, "%s)", count > SHOWN ? ", ..." : "");
	free(ended);
}

/* Return how many samples were unwound, to the start of the thread or in part. */
static uint64_t unwound(const struct unwind_counts *c)
{
	uint64_t sum = 0;

	for (int i = 0; i < UNWIND_FOREIGN; i++)
		sum += c->samples[i];
	return sum;
}

static void append_share(char *text, size_t size, uint64_t part, uint64_t all, const char *what)
{
	if (part)
		append(text, size, ", %.1f %% %s", 100. * (double)part / (double)all, what);
}

void unwind_describe(const struct unwind *u, char *text, size_t size)
{
	const struct unwind_counts *c = &u->counts;
	uint64_t all = unwound(c), cut = c->samples[UNWIND_CUT] + c->samples[UNWIND_JOINED];
	double percent = all ? 100. / (double)all : 0;

	snprintf(text, size, "%" PRIu64 " stacks, %.1f frames: %.1f %% whole", all,
		 all ? (double)c->frames / (double)all : 0,
		 percent * (double)c->samples[UNWIND_WHOLE]);
	append_share(text, size, u->left_out, all, "with frames left out");
	if (cut)
		append(text, size, ", %.1f %% cut by the dump's %" PRIu64 " bytes",
		       percent * (double)cut, u->full_size);
	if (c->samples[UNWIND_JOINED])
		append(text, size, " (%.1f %% joined)",
		       percent * (double)c->samples[UNWIND_JOINED]);
	append_share(text, size, c->samples[UNWIND_HOLE] + c->samples[UNWIND_HOLE_JOINED], all,
		     "where the kernel's copy ended early");
	if (c->samples[UNWIND_HOLE_JOINED])
		append(text, size, " (%.1f %% joined)",
		       percent * (double)c->samples[UNWIND_HOLE_JOINED]);
	append_share(text, size, c->samples[UNWIND_NO_CFI], all, "no CFI");
	if (c->samples[UNWIND_NO_CFI])
		append_objects(u, text, size, ends_of);
	append_share(text, size, c->samples[UNWIND_NO_CODE], all, "at an address without code");
	append_share(text, size, c->samples[UNWIND_LIMIT], all, "too deep");
	append_share(text, size, c->samples[UNWIND_COSTLY], all, "at a limit of work");
	if (c->samples[UNWIND_COSTLY])
		append_objects(u, text, size, costs_of);
	append_share(text, size, c->samples[UNWIND_LOST], all, "lost");
}

/* Report the CPU time per stack of this process, which does little else. */
static void report_summaries(struct unwind *u)
{
	uint64_t all = unwound(&u->counts);
	char text[512];

	unwind_describe(u, text, sizeof(text));
	if (all)
		append(text, sizeof(text), "; %.1f us each",
		       (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e3 / (double)all);
	report_summary(u->report, "%s", text);
	if (u->counts.samples[UNWIND_FOREIGN])
		report_summary(u->report, "%" PRIu64 " stacks not unwound: %s",
			       u->counts.samples[UNWIND_FOREIGN], u->foreign);
	if (u->counts.samples[UNWIND_BEFORE])
		report_summary(u->report, "%" PRIu64 " stacks were unwound before",
			       u->counts.samples[UNWIND_BEFORE]);
	if (u->judge.all)
		report_summary(u->report, "frame pointers lack callers of %" PRIu64 " of %" PRIu64
			       " stacks, so %s are unwound", u->judge.all_lacking, u->judge.all,
			       u->judge.is_spared ? "only some" : "all");
	if (u->too_long)
		report_summary(u->report, "%" PRIu64 " stacks are cut: they do not fit a record",
			       u->too_long);
}

/* If many stacks are longer than their dumps, suggest a larger dump. */
static void report_short_dumps(struct unwind *u)
{
	const uint64_t sizes[] = { 16384, 32768, 65528 };
	const struct unwind_counts *c = &u->counts;
	uint64_t all = unwound(c), cut = c->samples[UNWIND_CUT], better = 0;

	if (cut * 5 <= all || all == 0)		/* more than 20 % */
		return;
	for (int i = 2; i >= 0; i--)	/* four times as many bytes, if that is possible */
		if (sizes[i] > u->full_size && (sizes[i] >= 4 * u->full_size || !better))
			better = sizes[i];
	if (better)
		report_note(u->report, "%.0f %% of stacks cannot be followed to the end in the %"
			    PRIu64 " bytes recorded: try --call-graph dwarf,%" PRIu64,
			    100. * (double)cut / (double)all, u->full_size, better);
	else
		report_note(u->report, "%.0f %% of stacks cannot be followed to the end in the %"
			    PRIu64 " bytes recorded, the most that can be",
			    100. * (double)cut / (double)all, u->full_size);
}

/* If many stacks end in code that Java compiled, say which option would help. */
static void report_java(struct unwind *u)
{
	enum { FEW = 10 };	/* so few stacks say little: some stubs never have frame pointers */
	uint64_t all = u->java_ends + u->java_others;

	if (u->java_ends >= FEW && u->java_ends > all / 5)
		report_note(u->report, "%" PRIu64 " of %" PRIu64 " stacks with Java end in code "
			    "that it compiled: start Java with -XX:+PreserveFramePointer",
			    u->java_ends, all);
}

/* Say how 32-bit programs were unwound, or that they were not. */
static void report_32(struct unwind *u)
{
	uint64_t foreign = u->counts.samples[UNWIND_FOREIGN];

	if (u->stacks_32)
		report_note(u->report, "%" PRIu64 " stacks are of 32-bit programs: their callers "
			    "are found by frame pointers only", u->stacks_32);
	if (foreign && u->foreign_32)
		report_note(u->report, "%" PRIu64 " stacks of 32-bit programs are not unwound: -g "
			    "records their callers, by frame pointers", u->foreign_32);
}

/* If the copies of many stacks ended early, say why. */
static void report_holes(struct unwind *u)
{
	uint64_t all = unwound(&u->counts), holes = u->counts.samples[UNWIND_HOLE];

	if (holes * 5 > all)		/* more than 20 % */
		report_note(u->report, "%.0f %% of stacks end where the kernel's copy ended early, "
			    "at a page of the stack that was never written: try -g, or write to "
			    "the stack once", 100. * (double)holes / (double)all);
}

void unwind_report(struct unwind *u)
{
	for (uint32_t i = 0; i < u->images.count; i++)
		unwind_report_damage(u, i);
	report_short_dumps(u);
	report_holes(u);
	report_java(u);
	report_32(u);
	report_summaries(u);
}
