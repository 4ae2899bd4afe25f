/* SPDX-License-Identifier: Apache-2.0 */
/* Names with what compilers and linkers append to them. */
#include "tests/unit/demangled.h"
#include "tests/unit/tap.h"

/* Return whether it is so in the styles without parameters. */
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
	    shows("_ZL3fooi.__uniq.12.llvm.3", "foo") &&
	    shows("_ZL3fooi.lto_priv.1.cold", "foo.cold"),
	    "a number of the compiler is not part of the name");
	tap(shows("f.cold", "f.cold") && shows("memcpy@plt", "memcpy@plt") &&
	    shows("_Zx.cold", "_Zx.cold"), "what is not mangled stays");
}

static void test_other_languages(void)
{
	static const char nested[] = "_D4pack1d5outerFiZ5innerMFNaNbNiNfiZi";
	static const char of_struct[] = "_D4pack1d__T1STiVii3ZQj5twiceMxFNaNbNiNfiZi";
	static const char with_string[] = "_D4pack1d__T4tmplTiVAyaa5_6129622822ZQzFNaNbNiNfiZi";

	tap(shows(nested, "pack.d.outer.inner") &&
	    gives(nested, DEMANGLE_FULL, "pack.d.outer(int).inner(int)") &&
	    gives(of_struct, DEMANGLE_TEMPLATES, "pack.d.S!(int, 3).S.twice") &&
	    gives(of_struct, DEMANGLE_SIMPLE, "pack.d.S.S.twice") &&
	    gives(of_struct, DEMANGLE_FULL, "pack.d.S!(int, 3).S.twice(int) const"),
	    "D has parameters and arguments where C++ has them");
	tap(gives(with_string, DEMANGLE_SIMPLE, "pack.d.tmpl.tmpl"), "strings there are no code");
	tap(shows("_Dmain", "D main") && shows("_D4main3fooFZv.cold", "main.foo.cold"),
	    "and suffixes");
	tap(gives("camlStdlib__List__map_236", DEMANGLE_TEMPLATES, "Stdlib.List.map_236") &&
	    gives("camlStdlib__List__map_236", DEMANGLE_SIMPLE, "Stdlib.List.map") &&
	    gives("camlM.$2b$21_83", DEMANGLE_FULL, "M.+!_83"), "OCaml, before 5.1 and since");
	tap(shows("caml_alloc", "caml_alloc") && shows("camlM", "camlM") &&
	    gives("camlM__$0a$zz", DEMANGLE_FULL, "M.$0a$zz"), "which C code of it is not");
}

static void test_go(void)
{
	tap(shows("runtime.memmove.abi0", "runtime.memmove") &&
	    shows("main.(*T).Work-fm", "main.(*T).Work") &&
	    gives("main.(*T).Work-fm", DEMANGLE_FULL, "main.(*T).Work-fm"),
	    "Go's names without the mark of a calling convention");
	tap(shows("main.Map[go.shape.int].func1.abi0", "main.Map[...].func1") &&
	    shows("main.(*L[go.shape.int]).Get-fm", "main.(*L[...]).Get"), "generic ones, too");
	tap(shows("f-fm", "f-fm") && shows("abi0", "abi0") && shows(".abi0", ".abi0"),
	    "only of Go");
}

int main(void)
{
	test_go();
	test_suffixes();
	test_other_languages();
	arena_release(&arena);
	return tap_done();
}
