/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the unwinder: code that is always the same, deferred callchains. */
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

static bool in_trampoline(const char *text, size_t size, size_t at)
{
	uint8_t *copy = memcpy(malloc(size), text, size);
	struct machine_code code = { .at = copy + at, .before = at, .after = size - at };
	bool is_in = machine_is_trampoline(machine_find("x86_64"), code);

	free(copy);
	return is_in;
}

/* Return the places of TEXT where a thread may be in a trampoline, a bit each. */
static uint64_t trampoline_places(const char *text, size_t size)
{
	uint64_t places = 0;

	for (size_t at = 0; at < size; at++)
		places |= (uint64_t)in_trampoline(text, size, at) << at;
	return places;
}

static void test_trampoline(void)
{
	static const char whole[] = "\xf3\x0f\x1e\xfa\x49\xbb" "12345678\x49\xba" "12345678"
				    "\x49\xff\xe3\x90";
	static const char shorter[] = "\x41\xbb" "1234\x49\xba" "12345678\x49\xff\xe3\x90";

	tap(trampoline_places(whole, sizeof(whole) - 1) ==
	    (1ULL | 1 << 4 | 1 << 14 | 1 << 24), "a nested function's code on the stack");
	tap(trampoline_places(shorter, sizeof(shorter) - 1) == (1ULL | 1 << 6 | 1 << 16),
	    "the same with a function in the first 4 GiB");
	tap(trampoline_places(whole, sizeof(whole) - 3) == 0 &&
	    trampoline_places(shorter + 1, sizeof(shorter) - 2) == 0, "not of a part of it");
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

/* A call on another stack: the bytes of Go's own code, up to the return address and after it. */
struct go_call {
	const char *machine, *name;
	const char *before, *after;
	uint8_t before_size, after_size;
	uint8_t saved;		/* register with the stack pointer; 0: the stack ends */
};

#define GO_CALL(machine, name, before, after, saved) \
	{ machine, name, before, after, sizeof(before) - 1, sizeof(after) - 1, saved }

static const struct go_call go_calls[] = {
	GO_CALL("x86_64", "asmcgocall (1.19)", "\xff\xd0",
		"\x48\x8b\x7c\x24\x30\x48\x8b\x77\x08\x48\x2b\x74\x24\x28", 0),
	GO_CALL("x86_64", "asmcgocall on g0 (1.19)", "\xff\xd0",
		"\x48\x8b\x74\x24\x28\x48\x89\xf4\x89\x44\x24\x18\xc3", 0),
	GO_CALL("x86_64", "asmcgocall (1.22 to 1.26)", "\xe8\x7c\xff\xff\xff",
		"\x48\x8b\x7c\x24\x08\x48\x8b\x77\x08\x48\x2b\x34\x24", 0),
	GO_CALL("x86_64", "asmcgocall on g0 (1.22 to 1.26)", "\xe8\x43\xff\xff\xff",
		"\x48\x8b\x34\x24\x48\x89\xf4\x89\x44\x24\x20\x5d\xc3", 0),
	GO_CALL("x86_64", "systemstack (1.19)",
		"\x48\x89\xdc\x48\x89\xfa\x48\x8b\x3f\xff\xd7", "\x90", 0),
	GO_CALL("x86_64", "systemstack (1.22 to 1.26)",
		"\x48\x8b\x62\x38\x48\x89\xfa\x48\x8b\x3f\xff\xd7", "\x90", 0),
	GO_CALL("x86_64", "mcall (1.19 to 1.23)",
		"\x49\x8b\x66\x38\x50\x4c\x8b\x22\x41\xff\xd4", "\x90", 0),
	GO_CALL("x86_64", "mcall (1.26)", "\x49\x8b\x66\x38\x48\xc7\xc5\0\0\0\0"
		"\x50\x4c\x8b\x22\x41\xff\xd4", "\x90", 0),
	GO_CALL("x86_64", "morestack (1.19)", "\x48\x8b\x63\x38\xe8\x46\x44\0\0", "\xe8", 0),
	GO_CALL("x86_64", "morestack (1.22 to 1.23)",
		"\x48\x8b\x63\x38\x48\x8b\x6b\x68\xe8\x46\x44\0\0", "\xe8", 0),
	GO_CALL("x86_64", "morestack (1.26)",
		"\x48\x8b\x63\x38\x48\xc7\xc5\0\0\0\0\xe8\x63\x3d\0\0", "\xe8", 0),
	GO_CALL("x86_64", "nanotime1's of the vdso", "\xff\xd0",
		"\x48\x8b\x04\x24\x48\x8b\x54\x24\x08\x4c\x89\xe4", 12),
	GO_CALL("aarch64", "asmcgocall (1.19 to 1.26)", "\x20\0\x3f\xd6",
		"\xe9\x03\0\xaa\xfc\x03\x40\xf9\xdb\x05\0\x94"
		"\x85\x07\x40\xf9\xe6\x07\x40\xf9", 0),
	GO_CALL("aarch64", "asmcgocall on g0 (1.19 to 1.26)", "\x20\0\x3f\xd6",
		"\xe2\x07\x40\xf9\x5f\0\0\x91", 0),
	GO_CALL("aarch64", "systemstack (1.26)",
		"\x7f\0\0\x91\x43\x03\x40\xf9\x60\0\x3f\xd6", "\x83\x1b\x40\xf9", 0),
	GO_CALL("aarch64", "mcall (1.26)", "\xff\x03\x1f\xf8\xff\x43\0\xd1"
		"\x44\x03\x40\xf9\x80\0\x3f\xd6", "", 0),
	GO_CALL("aarch64", "morestack (1.26)", "\x1f\0\0\x91\xfd\x03\x1f\xaa"
		"\xff\x0f\x1f\xf8\xa1\x0d\0\x94", "", 0),
	GO_CALL("aarch64", "nanotime1's of the vdso", "\x40\0\x3f\xd6",
		"\x03\0\0\x14\x28\x0e\x80\xd2\x01\0\0\xd4"
		"\xe3\x03\x40\xf9\xe5\x07\x40\xf9\x9f\x02\0\x91", 20),
};

/* Return whether CALL is recognized in code that has all its bytes but MISSING at its end. */
static bool is_recognized(const struct go_call *call, size_t missing)
{
	const struct machine *m = machine_find(call->machine);
	size_t size = call->before_size + (size_t)call->after_size - missing;
	uint8_t *bytes = mem_zeroed(1, size), copy[64];

	memcpy(copy, call->before, call->before_size);
	memcpy(copy + call->before_size, call->after, call->after_size);
	memcpy(bytes, copy, size);
	const struct machine_code code = { .at = bytes + call->before_size,
					   .before = call->before_size,
					   .after = size - call->before_size };
	bool good = call->saved ? machine_saved_sp(m, code, false) == call->saved &&
				  !machine_changes_stack(m, code)
				: machine_changes_stack(m, code) &&
				  machine_saved_sp(m, code, false) == m->sp;
	free(bytes);
	return good;
}

/*
 * Return whether the stack pointer of CALL, of the vdso, is found at each place from where it is
 * saved to where it is restored, and nowhere else.
 */
static bool is_saved_between(const struct go_call *call)
{
	const struct machine *m = machine_find(call->machine);
	const bool is_arm64 = m->lr != NO_REGISTER;
	const size_t size = is_arm64 ? 4 : 3, before = call->before_size;
	const size_t end = 2 * size + before + call->after_size;
	uint8_t *bytes = mem_zeroed(1, end + size);
	bool good = true;

	memcpy(bytes + size, is_arm64 ? "\xf4\x03\0\x91" : "\x49\x89\xe4", size);
	memcpy(bytes + 2 * size, call->before, before);
	memcpy(bytes + 2 * size + before, call->after, call->after_size);
	for (size_t at = 0; at <= end; at += is_arm64 ? 4 : 1) {
		bool is_saved = at >= 2 * size && at <= end - size;
		const struct machine_code code = { .at = bytes + at, .before = at,
						   .after = end + size - at };
		/* Inside the last instruction nobody is interrupted. */
		if (at > end - size && at < end)
			continue;
		good &= machine_saved_sp(m, code, true) == (is_saved ? call->saved : m->sp);
	}
	free(bytes);
	return good;
}

static void test_go_calls(void)
{
	for (size_t i = 0; i < sizeof(go_calls) / sizeof(*go_calls); i++) {
		const struct go_call *call = &go_calls[i];
		char text[80];
		snprintf(text, sizeof(text), "%s: a call by Go, %s", call->machine, call->name);
		tap(is_recognized(call, 0), text);
		for (size_t missing = 1; missing <= call->after_size; missing++)
			is_recognized(call, missing);	/* reads no byte too far */
		if (call->saved) {
			snprintf(text, sizeof(text), "%s: the stack pointer around it",
				 call->machine);
			tap(is_saved_between(call), text);
		}
	}
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
	test_trampoline();
	test_edges();
	test_stubs();
	test_go_calls();
	test_deferred();
	return tap_done();
}
