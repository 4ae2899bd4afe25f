#!/bin/sh
# A program that was built with an older libpmukit works with this one: the interface is the kept
# one.  tests/library/abi makes what is kept.  ABI=all: as abidiff sees it, too.
# kinds: release
. tests/lib.sh

lib=${BIN%/bin}/lib
kept=$TOP/tests/library

abi() { "$kept/abi" "$@"; }
needs_abidiff() {
	test "$ABI" = all || skip "ABI=all"
	needs_command abidiff abidw
}
# abidiff's options that leave private types out leave out changes, too.
compared() { abidiff --no-added-syms "$kept/pmukit.abi" "$1"; }

check 'sizes, offsets, values and functions of the header are those that were kept' <<'END'
	abi layout "$TOP/include" | same "$kept/layout" -
END

check 'a member that is moved, another value and another argument are found' <<'END'
	found() {
		mkdir -p changed
		sed "$1" "$TOP/include/pmukit.h" >changed/pmukit.h
		exits 1 cmp -s "$TOP/include/pmukit.h" changed/pmukit.h
		abi layout changed >layout
		exits 1 diff "$kept/layout" layout >differences
		at_least "$(grep -c "^[<>]" differences)" 1
	}
	found "/const char \*root;/d"
	found "s/uint32_t column;/uint64_t column;/"
	found "s/PMUKIT_MANGLED = 4,/PMUKIT_MANGLED = 16,/"
	found "s/(struct pmukit_stream \*s, int index)/(struct pmukit_stream *s, long index)/"
	found "s/int pmukit_error_code(void);//"
END

check 'the library has this interface: abidiff' <<'END'
	needs_abidiff
	needs "$lib/libpmukit.so.0"
	compared "$lib/libpmukit.so.0"
END

check 'abidiff finds a member and a function that are gone' <<'END'
	needs_abidiff
	mkdir changed
	for change in "/const char \*root;/d" "/^int pmukit_error_code(void);/d"; do
		sed "$change" "$TOP/include/pmukit.h" >changed/pmukit.h
		abi stub changed changed.so
		got=0
		compared changed.so >said || got=$?
		test $((got & 4)) = 4
	done
END

done_testing
