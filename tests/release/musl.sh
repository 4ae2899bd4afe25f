#!/bin/sh
# musl.sh - every file compiles with musl-gcc, without a warning, with an optimizer and without.  With
# MUSL=DIR, where DIR has libraries for musl, all tools are linked with these and run.
unset CDPATH
cd "$(dirname "$0")/../.." || exit 1
command -v musl-gcc >/dev/null || { echo "no musl-gcc here"; exit 77; }

for level in ${LEVELS:--O0 -O2}; do
	mkdir -p build/musl && : >build/musl/ready	# headers, not libraries, are all it needs
	make --no-print-directory -s -k -j2 "MUSL=${MUSL:-/none}" WERROR=1 CFLAGS="$level" objects ||
		exit 1
	rm -rf build/musl
	echo "musl-gcc $level: no warning"
done
test -n "$MUSL" || { echo "no libraries for musl: nothing is linked (MUSL=DIR has them)"; exit 0; }
make --no-print-directory -s -j2 "MUSL=$MUSL" all pmukit &&
	build/musl/bin/pmukit --help >/dev/null && echo "linked with musl: it runs"
