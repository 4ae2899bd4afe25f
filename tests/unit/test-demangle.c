/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/demangled.h"
#include "tests/unit/tap.h"

#include <pthread.h>
#include <stdlib.h>

/* A template of a pair of the same of ...: each level doubles the readable form. */
static bool bomb_is_left_alone(void)
{
	char name[2000];
	size_t used = (size_t)snprintf(name, sizeof(name), "_Z1fISt4pairIiiE");

	for (int i = 0; i < 60; i++)
		used += (size_t)snprintf(name + used, sizeof(name) - used, "St4pairIS%c_S%c_E",
					 i < 9 ? '1' + i : 'A' + (i - 9) % 26,
					 i < 9 ? '1' + i : 'A' + (i - 9) % 26);
	snprintf(name + used, sizeof(name) - used, "Evv");
	const char *got = demangle(&arena, name, DEMANGLE_FULL);
	return strlen(got) < 20000;
}

static bool depth_is_bounded(void)
{
	char *name = mem_zeroed(1, 100000);
	bool good = true;

	for (size_t depth = 10; depth < 99000; depth *= 3) {
		snprintf(name, 100000, "_Z1f");
		memset(name + 4, 'P', depth);
		snprintf(name + 4 + depth, 2, "i");
		const char *got = demangle(&arena, name, DEMANGLE_FULL);
		good = good && strlen(got) < 200000;
	}
	free(name);
	return good;
}

/* Demangle the worst names that were found by trying pairs of all tokens, 4,095 bytes each. */
static void *demangle_worst(void *done)
{
	static const char *const worst[][2] = {
		{ "_Z1fI", "F" }, { "_Z1f", "P" }, { "_Z1f", "A_" }, { "_Z1fI", "PF" },
		{ "_Z1fIX", "ng" }, { "_ZN1fE", "N1fI" }, { "_RM", "R" }, { "_RI", "RR" },
		{ "_D1f", "R" },
	};
	static char name[4096];

	for (size_t i = 0; i < sizeof(worst) / sizeof(*worst); i++) {
		size_t used = (size_t)snprintf(name, sizeof(name), "%s", worst[i][0]);

		while (used + strlen(worst[i][1]) < sizeof(name) - 1)
			used += (size_t)snprintf(name + used, sizeof(name) - used, "%s",
						 worst[i][1]);
		name[used - 1] = 'i';
		demangle(&arena, name, DEMANGLE_TEMPLATES);
		name[2000] = '\0';
		demangle(&arena, name, DEMANGLE_TEMPLATES);
	}
	*(bool *)done = true;
	return NULL;
}

#ifndef __has_feature
#define __has_feature(name) 0
#endif

/* The library promises 1 MiB for each call; sanitizers make frames larger. */
static bool stack_is_bounded(void)
{
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
	const size_t size = 16 << 20;
#else
	const size_t size = 960 << 10;
#endif
	pthread_attr_t attr;
	pthread_t thread;
	bool done = false;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, size);
	return pthread_create(&thread, &attr, demangle_worst, &done) == 0 &&
	       pthread_join(thread, NULL) == 0 && done;
}

int main(void)
{
	const char *plain = "memcpy", *cpp = "_ZNSt6vectorIiSaIiEE9push_backERKi";
	const char *rust = "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE";
	const char *trait = "_ZN51_$LT$X$u20$as$u20$core..iter..Iterator$LT$T$GT$$GT$4next"
			    "17h0123456789abcdefE";

	tap(demangle(&arena, plain, DEMANGLE_FULL) == plain, "what is not mangled is itself");
	tap(demangle(&arena, "_Z", DEMANGLE_FULL)[1] == 'Z', "nor is what only begins so");
	tap(demangle(&arena, cpp, DEMANGLE_NONE) == cpp, "none: as it is");
	tap(gives("main.Map[go.shape.int,[]go.shape.string].func1", DEMANGLE_TEMPLATES,
		  "main.Map[...].func1") &&
	    gives("main.Map[go.shape.int", DEMANGLE_SIMPLE, "main.Map[go.shape.int") &&
	    gives("main.Map[go.shape.int]", DEMANGLE_FULL, "main.Map[go.shape.int]"),
	    "a generic function of Go without its types, as Go itself says");
	tap(gives(cpp, DEMANGLE_FULL,
		  "std::vector<int, std::allocator<int> >::push_back(int const&)"),
	    "full");
	tap(gives(cpp, DEMANGLE_TEMPLATES, "std::vector<int, std::allocator<int> >::push_back"),
	    "without parameters");
	tap(gives(cpp, DEMANGLE_SIMPLE, "std::vector::push_back"), "simple");
	tap(gives("_ZlsIiEvRSoT_", DEMANGLE_SIMPLE, "operator<<") ||
	    gives("_ZlsIiEvRSoT_", DEMANGLE_SIMPLE, "operator<< "), "operator<< keeps its name");
	tap(gives("_ZNK1AptEv", DEMANGLE_SIMPLE, "A::operator->"), "so does operator->");
	tap(gives("_ZN1AltERKS_", DEMANGLE_SIMPLE, "A::operator<"), "and operator<");
	tap(gives(rust, DEMANGLE_TEMPLATES, "core::fmt::Write::write_fmt"),
	    "Rust without its hash");
	tap(gives(rust, DEMANGLE_FULL, "core::fmt::Write::write_fmt::h0123456789abcdef"),
	    "Rust with its hash");
	tap(gives(trait, DEMANGLE_SIMPLE, "<X as core::iter::Iterator>::next"),
	    "the type of a Rust method stays");
	tap(gives("_ZN1AILb1EE1fIXgtLi1ELi2EEEEvv", DEMANGLE_SIMPLE, "void A::f()") ||
	    gives("_ZN1AILb1EE1fIXgtLi1ELi2EEEEvv", DEMANGLE_SIMPLE, "A::f"),
	    "a comparison in template arguments is not a bracket");
	tap(gives("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE.llvm.42", DEMANGLE_SIMPLE,
		  "core::fmt::Write::write_fmt"), "Rust with a number of LLVM's");
	tap(gives("_RNvC6_123foo3bar", DEMANGLE_TEMPLATES, "123foo::bar"), "new Rust");
	tap(gives("_D3std5stdio7writelnFZv", DEMANGLE_TEMPLATES, "std.stdio.writeln()") ||
	    gives("_D3std5stdio7writelnFZv", DEMANGLE_TEMPLATES, "std.stdio.writeln"), "D");
	tap(bomb_is_left_alone(), "a name that doubles itself is cut or left");
	tap(depth_is_bounded(), "a deep name is bounded");
	tap(stack_is_bounded(), "no name takes more than 960 KiB of stack");
	arena_release(&arena);
	return tap_done();
}
