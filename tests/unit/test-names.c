/* SPDX-License-Identifier: Apache-2.0 */
/* Names with what compilers and linkers append to them. */
#include "symbol/demangle.h"
#include "tests/unit/tap.h"

static struct arena arena;

static bool gives(const char *mangled, enum demangle_style style, const char *readable)
{
	const char *got = demangle(&arena, mangled, style);

	if (strcmp(got, readable))
		printf("# '%s', not '%s'\n", got, readable);
	return !strcmp(got, readable);
}

/* Whether it is so in the styles without parameters. */
static bool shows(const char *mangled, const char *readable)
{
	return gives(mangled, DEMANGLE_TEMPLATES, readable) &&
	       gives(mangled, DEMANGLE_SIMPLE, readable);
}

static void test_suffixes(void)
{
	static const char rust[] = "_ZN4core3ptr42drop_in_place$LT$std..rt..x$LT$i32$GT$$GT$"
				   "17h0123456789abcdefE.cold.1";

	tap(shows("_ZSt13get_terminatev@plt", "std::get_terminate@plt") &&
	    gives("_ZSt13get_terminatev@plt", DEMANGLE_FULL, "std::get_terminate()@plt"),
	    "a stub is not the function");
	tap(shows("_Z3fooi.cold", "foo.cold") && shows("_Z3fooi.constprop.0.isra.1",
						       "foo.constprop.0.isra.1") &&
	    shows("_Z3fooi.part.0.cold", "foo.part.0.cold"), "nor is a part or a copy of it");
	tap(gives("_Z3fooi.constprop.0.isra.1", DEMANGLE_FULL,
		  "foo(int) [clone .constprop.0] [clone .isra.1]"), "in full as c++filt has it");
	tap(gives("_ZN1AIiE1fEv.cold", DEMANGLE_TEMPLATES, "A<int>::f.cold") &&
	    gives("_ZN1AIiE1fEv.cold", DEMANGLE_SIMPLE, "A::f.cold"),
	    "arguments before it go, it stays");
	tap(shows("_RNvC4main3foo.cold.1", "main::foo.cold.1") &&
	    gives(rust, DEMANGLE_TEMPLATES, "core::ptr::drop_in_place<std::rt::x<i32>>.cold.1"),
	    "of Rust, too");
	tap(shows("_Z3fooi.llvm.123", "foo") && shows("_ZL3fooi.lto_priv.0", "foo") &&
	    shows("_ZL3fooi.__uniq.12.llvm.3", "foo") && shows("_ZL3fooi.lto_priv.1.cold", "foo.cold"),
	    "a number of the compiler is no part of the name");
	tap(shows("f.cold", "f.cold") && shows("memcpy@plt", "memcpy@plt") &&
	    shows("_Zx.cold", "_Zx.cold"), "what is not mangled stays");
}

int main(void)
{
	test_suffixes();
	arena_release(&arena);
	return tap_done();
}
