/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of C++20 and C++23 as gcc 14, clang 18 and later write them, after the function in the
 * source.  Names that libiberty does not know stay whole; pmu-symbolize(1) lists them.
 */
#include "tests/unit/demangled.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

/* NULL: the name stays as it is. */
static const struct new_name {
	const char *source, *mangled, *full, *templates;
} names[] = {
	{ "template <Sortable T> void f(T)", "_Z1fITk8SortableiEvT_", NULL, NULL },
	{ "void f(Sortable auto)", "_ZN3BoxIiE3putITk8SortableiEEvT_", NULL, NULL },
	{ "template <typename T> requires Big<T> void f(T)", "_Z1fIiQ3BigIT_EEvS0_", NULL, NULL },
	{ "template <typename T> void f(T) requires Big<T>", "_Z1fIiEvT_Q3BigIS0_E",
	  NULL, "f<int>" },
	{ "void Box<T>::get() requires Big<T>", "_ZN3BoxIiE3getEvQ3BigIT_E",
	  NULL, "Box<int>::get" },
	{ "friend void f(Box) requires Big<T>", "_ZN3BoxIiEF1fES0_Q3BigIT_E", NULL, NULL },
	{ "auto f(T) -> A<requires(T a) { a + a; }>", "_Z1fIiiE1AIXrQT__Xplfp_fp_EEES1_",
	  NULL, "f<int, int>" },
	{ "[]<Sortable T>(T) in a template", "_ZZ1fIiEvT_ENKUlTk8SortableS0_E_clIiEEDaS0_",
	  NULL, NULL },
	{ "[](auto u) requires Big<decltype(u)> in a template",
	  "_ZZ1fIiEvT_ENKUlS0_E_clIiEEDaS0_Q3BigIDtfp_EE",
	  NULL, "f<int>(int)::{lambda(auto:1)#1}::operator()<int>" },
	{ "template <auto N> int f()", "_Z1fITnDaLi5EEiv", NULL, NULL },
	{ "template <decltype(auto) N> int f()", "_Z1fITnDcLi4EEiv", NULL, NULL },
	{ "template <auto... N> int f()", "_Z1fITpTnDaJLi1ELi2EEEiv", NULL, NULL },
	{ "template <typename T, T N> int f()", "_Z1fIiTnT_Li3EEiv", NULL, NULL },
	{ "f<[]{}>() in a template", "_Z1fITnDaXtlZ1gIiEvvEUlvE_EEEvv", NULL, NULL },
	{ "void Box<T>::self(this auto &)", "_ZNH3BoxIiE4selfIS0_EEvRT_", NULL, NULL },
	{ "void f(_BitInt(37))", "_Z1fDB37_", NULL, "f" },
	/* These are of C++20, too, and libiberty knows them. */
	{ "[](T) in a template", "_ZZ1fIiEvT_ENKUlS0_E_clIiEEDaS0_",
	  "auto f<int>(int)::{lambda(auto:1)#1}::operator()<int>(int) const",
	  "f<int>(int)::{lambda(auto:1)#1}::operator()<int>" },
	{ "[]<typename T>(T) in a template", "_ZZ1fIiEvT_ENKUlTyS0_E_clIiEEDaS0_",
	  "auto f<int>(int)::{lambda<typename $T0>($T0)#1}::operator()<int>(int) const",
	  "f<int>(int)::{lambda<typename $T0>($T0)#1}::operator()<int>" },
	{ "void f(auto)", "_Z1fIiEvT_", "void f<int>(int)", "f<int>" },
	{ "template <P p> int f()", "_Z1fIXtl1PLi1EEEEiv", "int f<P{1}>()", "f<P{1}>" },
};

enum { NAMES = sizeof(names) / sizeof(*names) };

static bool all_are_as_in_the_table(void)
{
	bool good = true;

	for (size_t i = 0; i < NAMES; i++) {
		const struct new_name *n = &names[i];
		good &= gives(n->mangled, DEMANGLE_FULL, n->full ?: n->mangled);
		good &= gives(n->mangled, DEMANGLE_TEMPLATES, n->templates ?: n->mangled);
		good &= n->templates || n->full || gives(n->mangled, DEMANGLE_SIMPLE, n->mangled);
	}
	return good;
}

/* Each name, cut at each byte, in memory of just its size, in each style. */
static bool cut_names_are_bounded(void)
{
	bool good = true;

	for (size_t i = 0; i < NAMES; i++)
		for (size_t size = 0; size < strlen(names[i].mangled); size++) {
			char *cut = strndup(names[i].mangled, size);
			for (int style = DEMANGLE_NONE; style <= DEMANGLE_FULL; style++)
				good &= strlen(demangle(&arena, cut, style)) < 1000;
			free(cut);
		}
	return good;
}

int main(void)
{
	tap(all_are_as_in_the_table(), "new names are readable, or stay whole");
	tap(cut_names_are_bounded(), "new names that are cut do no harm");
	arena_release(&arena);
	return tap_done();
}
