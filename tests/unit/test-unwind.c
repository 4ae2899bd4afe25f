/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the unwinder: code that is always the same, earlier stacks, deferred callchains. */
#include "base/arena.h"
#include "tests/unit/tap.h"
#include "unwind/deferred.h"
#include "unwind/internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* A row at AT bytes in SIZE bytes of code, which are exactly as many in memory. */
struct query {
	struct cfi_row row;
	bool found;
};

enum kind { SIGNAL, RETURN_TO_SIGNAL, EDGE, STUB };

static struct query ask(const char *machine, enum kind kind, const char *text, size_t size,
			size_t at)
{
	const struct machine *m = machine_find(machine);
	uint8_t *copy = memcpy(malloc(size), text, size);
	struct machine_code code = { .at = copy + at, .before = at, .after = size - at };
	struct query q = { .found = true };

	if (kind == EDGE)
		q.found = machine_edge_row(m, code, &q.row);
	else if (kind == STUB)
		machine_plt_row(m, code, at, &q.row);
	else
		q.found = machine_signal_row(m, code, kind == SIGNAL, &q.row);
	free(copy);
	return q;
}

#define ASK(machine, kind, text, at) ask(machine, kind, text, sizeof(text) - 1, at)

static bool is_cfa(struct query q, int32_t value, unsigned saves)
{
	return q.found && q.row.cfa_kind == CFI_OFFSET && q.row.cfa_value == value &&
	       q.row.saves == saves;
}

static void test_signal(void)
{
	static const char glibc[] = "\x48\xc7\xc0\x0f\0\0\0\x0f\x05";
	static const char arm[] = "\x68\x11\x80\xd2\x01\0\0\xd4";

	struct query q = ASK("x86_64", RETURN_TO_SIGNAL, glibc, 0);
	tap(q.found && q.row.is_signal && q.row.saves == 17 && q.row.ra_reg == 16,
	    "x86-64: a handler returns to code that restores all registers");
	tap(ASK("x86_64", SIGNAL, glibc, 7).found && ASK("x86_64", SIGNAL, glibc, 9).found &&
	    !ASK("x86_64", RETURN_TO_SIGNAL, glibc, 7).found,
	    "a thread may be in it, but no handler returns to its middle");
	tap(ASK("x86_64", RETURN_TO_SIGNAL, "\xb8\x0f\0\0\0\x0f\x05", 0).found, "as to musl's");
	q = ASK("aarch64", RETURN_TO_SIGNAL, arm, 0);
	tap(q.found && q.row.is_signal && q.row.saves == 33, "arm64's has 31 registers, sp and pc");
	for (size_t size = 1; size < sizeof(glibc) - 1; size++)
		if (ask("x86_64", SIGNAL, glibc, size, 0).found)
			tap(false, "a trampoline that is cut is not recognized");
}

static void test_edges(void)
{
	static const char frame[] = "\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\x90\x5d\xc3";

	tap(is_cfa(ASK("x86_64", EDGE, frame, 0), 8, 1) &&
	    is_cfa(ASK("x86_64", EDGE, frame, 4), 8, 1) &&
	    is_cfa(ASK("x86_64", EDGE, frame, 5), 16, 2) &&
	    is_cfa(ASK("x86_64", EDGE, frame, 10), 8, 1),
	    "x86-64: where a function has not set its frame pointer yet, or no longer");
	tap(!ASK("x86_64", EDGE, frame, 8).found && !ASK("x86_64", EDGE, frame, 9).found,
	    "between, the frame pointer holds");
	static const char arm[] = "\x3f\x23\x03\xd5\xfd\x7b\xbe\xa9\xfd\x03\0\x91\xc0\x03\x5f\xd6";
	tap(is_cfa(ASK("aarch64", EDGE, arm, 0), 0, 0) &&
	    is_cfa(ASK("aarch64", EDGE, arm, 4), 0, 0) &&
	    is_cfa(ASK("aarch64", EDGE, arm, 8), 32, 2) &&
	    is_cfa(ASK("aarch64", EDGE, arm, 12), 0, 0), "the same on arm64");
}

static void test_stubs(void)
{
	static const char plt[] = "\xff\x35\0\0\0\0\xff\x25\0\0\0\0\x0f\x1f\x40\0"
				  "\xff\x25\0\0\0\0\x68\0\0\0\0\xe9\xe0\xff\xff\xff";

	tap(is_cfa(ASK("x86_64", STUB, plt, 0), 16, 1) &&
	    is_cfa(ASK("x86_64", STUB, plt, 6), 24, 1) &&
	    is_cfa(ASK("x86_64", STUB, plt, 16), 8, 1) &&
	    is_cfa(ASK("x86_64", STUB, plt, 22), 8, 1) &&
	    is_cfa(ASK("x86_64", STUB, plt, 27), 16, 1), "stubs push up to two words");
}

static uint32_t extend(struct joiner *j, pid_t tid, struct frame *f, uint32_t n, bool *whole)
{
	return joiner_extend(j, tid, f, n, 8, whole);
}

static void test_joiner(void)
{
	const struct frame stack[6] = { { 1, 10, 0, true }, { 2, 20, 1, false },
					{ 3, 30, 2, false }, { 4, 40, 3, false },
					{ 5, 50, 4, true }, { 6, 60, 5, false } };
	struct frame cut[8] = { { 9, 10, 0, true }, { 2, 20, 1, false }, { 3, 30, 2, false },
				{ 4, 40, 7, false } };
	struct joiner *j = joiner_new();
	bool whole;

	tap(extend(j, 7, cut, 4, &whole) == 4, "nothing was seen before");
	joiner_add(j, 7, stack, 6, true);
	tap(extend(j, 7, cut, 4, &whole) == 6 && whole && cut[5].pc == 6 && cut[5].sp == 60 &&
	    cut[4].is_exact && !cut[5].is_exact, "the rest of an earlier stack is taken");
	tap(extend(j, 8, cut, 4, &whole) == 4, "but not another thread's");
	cut[1].sp = 21;
	tap(extend(j, 7, cut, 4, &whole) == 4, "nor if only two frames are the same");
	cut[1].sp = 20;
	tap(joiner_extend(j, 7, cut, 4, 5, &whole) == 5 && !whole, "up to the limit of frames");
	joiner_add(j, 7, stack, 4, false);
	tap(extend(j, 7, cut, 4, &whole) == 6 && whole, "a cut stack changes nothing");
	for (uint64_t i = 0; i < 40000; i++) {
		struct frame many[2] = { { 1, 10, 0, true }, { 100 + i, 20, 0, false } };
		joiner_add(j, 7, many, 2, true);
	}
	tap(extend(j, 7, cut, 4, &whole) == 6, "an old generation is looked at, too");
	for (uint64_t i = 0; i < 40000; i++) {
		struct frame many[2] = { { 1, 10, 0, true }, { 100000 + i, 20, 0, false } };
		joiner_add(j, 7, many, 2, true);
	}
	tap(extend(j, 7, cut, 4, &whole) == 4, "the one before it is forgotten");
	joiner_add(j, 7, stack, 6, true);
	joiner_end(j, 7);
	tap(extend(j, 7, cut, 4, &whole) == 4, "a thread that ends leaves nothing");
	joiner_add(j, 7, stack, 6, true);
	joiner_forget(j, 7);
	joiner_forget(j, 7);
	tap(extend(j, 7, cut, 4, &whole) == 4, "nor one that is forgotten");
	joiner_free(j);
}

/* The same frames with other callers. */
static void test_joiner_callers(void)
{
	struct frame stack[7] = { { 1, 10, 0, true }, { 2, 20, 1, false }, { 3, 30, 2, false },
				  { 4, 40, 3, false }, { 5, 50, 4, false }, { 6, 60, 5, false },
				  { 7, 70, 6, false } };
	struct frame cut[8] = { { 9, 10, 0, true }, { 2, 20, 1, false }, { 3, 30, 2, false },
				{ 4, 40, 9, false } };
	struct joiner *j = joiner_new();
	bool whole;

	joiner_add(j, 7, stack, 7, true);
	stack[5].pc = 16;
	stack[3].registers = 13;
	joiner_add(j, 7, stack, 7, true);
	tap(extend(j, 7, cut, 4, &whole) == 5 && !whole && cut[4].pc == 5,
	    "a stack is extended as far as those that were seen agree");
	cut[3].registers = 3;
	tap(extend(j, 7, cut, 4, &whole) == 7 && whole && cut[5].pc == 6,
	    "or like the one that had the same registers");
	cut[3].registers = 13;
	tap(extend(j, 7, cut, 4, &whole) == 7 && whole && cut[5].pc == 16, "the other, too");
	for (uint64_t i = 0; i < 40; i++) {
		stack[4].pc = 100 + i;
		joiner_add(j, 7, stack, 7, true);
	}
	tap(extend(j, 7, cut, 4, &whole) == 4 && !whole, "with too many callers it stays as it is");
	joiner_free(j);
}

/* A sample with a callchain of one word, the marker and COOKIE. */
static void write_deferred(struct deferred *d, struct output *out, uint64_t cookie)
{
	uint64_t record[5] = { 0, 3, 1, CONTEXT_USER_DEFERRED, cookie };
	const uint16_t size = sizeof(record);

	memcpy((uint8_t *)record + 6, &size, sizeof(size));
	deferred_write(d, record, size, 8, 5, out);
}

static bool take(struct deferred *d, struct output *out, uint64_t cookie, uint64_t count,
		 size_t words)
{
	uint8_t *bytes = mem_zeroed(1, 16 + 8 * words);
	struct record rec = { .body = { .at = bytes, .end = bytes + 16 + 8 * words } };

	memcpy(bytes, &cookie, 8);
	memcpy(bytes + 8, &count, 8);
	bool good = deferred_take(d, &rec, 5, out);
	free(bytes);
	return good;
}

static size_t pending(const struct output *out)
{
	return out->used + (size_t)out->written;
}

static void test_deferred(void)
{
	struct report report = { .tool = "test", .quiet = true };
	struct deferred *d = deferred_new();
	uint64_t merged, without;
	struct output out;

	output_open(&out, "/dev/null", &report);
	write_deferred(d, &out, 1);
	write_deferred(d, &out, 2);
	tap(pending(&out) == 0, "samples are held");
	tap(take(d, &out, 2, 1, 1) && pending(&out) == 0, "a later one does not overtake");
	tap(take(d, &out, 1, 2, 2) && pending(&out) == 48 + 40,
	    "both go in order, with a marker and their words");
	tap(!take(d, &out, 1, 3, 2) && !take(d, &out, 1, UINT64_MAX, 2),
	    "more words than the record has are damage");
	write_deferred(d, &out, 3);
	tap(take(d, &out, 3, 9000, 9000) && pending(&out) == 88 + 65528,
	    "words that do not fit a record are cut");
	write_deferred(d, &out, 4);
	deferred_round(d, &out);
	tap(pending(&out) == 88 + 65528, "a sample waits for one further round");
	deferred_round(d, &out);
	tap(pending(&out) == 88 + 65528 + 24, "then it goes without");
	for (int i = 0; i <= DEFERRED_SAMPLES; i++)
		write_deferred(d, &out, 1000);
	deferred_counts(d, &merged, &without);
	tap(merged == 3 && without > 1, "more samples than may wait let the oldest go");
	for (int i = 0; i < 2000; i++)
		write_deferred(d, &out, 2000 + (uint64_t)i);
	for (int i = 1999; i > 0; i--)
		take(d, &out, 2000 + (uint64_t)i, 8000, 8000);
	deferred_counts(d, &merged, &without);
	tap(merged > 3 && pending(&out) > 16 << 20, "more words than may wait let the oldest go");
	deferred_end(d, &out);
	deferred_counts(d, &merged, &without);
	tap(merged + without == 4 + DEFERRED_SAMPLES + 1 + 2000, "each sample went once");
	deferred_free(d);
	output_close(&out);
}

int main(void)
{
	test_signal();
	test_edges();
	test_stubs();
	test_joiner();
	test_joiner_callers();
	test_deferred();
	return tap_done();
}
