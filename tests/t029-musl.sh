#!/bin/sh
# The library works with musl's libc, too.
# kinds: release
. tests/lib.sh

# symbols FILE...: what these define
symbols() { nm --defined-only "$@" 2>/dev/null | awk "NF == 3 { print \$3 }" | sort -u; }

check 'the library and the tools call no function that musl does not have' <<'END'
	any_user
	musl=/usr/lib/$(uname -m)-linux-musl/libc.a
	needs "$musl"
	for name in $(sed -n "s/^LDLIBS = //p" "$TOP/Makefile" | sed "s/-l//g") gcc; do
		gcc -print-file-name=lib$name.a
	done >libraries
	cd "$TOP/build/release"
	objects="libsampler.a lib/base/version.o $(echo cmd/*.o)"
	symbols $objects $(grep / "$OLDPWD/libraries") >"$OLDPWD/defined"
	nm -u $objects | awk "NF == 2 { print \$2 }" | sort -u >"$OLDPWD/used"
	cd "$OLDPWD"
	symbols "$musl" >musl
	# glibc has other names for functions with checks, and for files of 64 bits
	comm -23 used defined | grep -v "^__start_\|^__stop_" |
		sed "s/^__\(.*\)_chk$/\1/; s/^__isoc[0-9]*_//; s/^__\(.*\)64_2$/\1/; s/64$//" |
		sort -u >called
	at_least "$(wc -l <called)" 150
	# lib/base/memory.h and lib/sample/rotation.c call these where they are
	printf "%s\n" malloc_trim mallopt renameat2 _GLOBAL_OFFSET_TABLE_ | sort - musl >known
	none grep -vxFf known called
END

done_testing
