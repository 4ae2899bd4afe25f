#!/bin/sh
# release/one-file.sh [FILE...] - the test files t0*, t5* and t6*, or only FILEs, with links to pmukit
# for tools.  Checks of the tools' own files are skipped there (needs_single_tools).
cd "$(dirname "$0")/../.." || exit 1
make --no-print-directory -s -j2 WERROR=1 tests || exit 1

here=$PWD/build/one-file
rm -rf "$here"
mkdir -p "$here/release/bin"
ln -s "$PWD/build/release/tests" "$here/release/tests"
cp build/release/bin/pmukit "$here/release/bin"
"$here/release/bin/pmukit" --link "$here/release/bin" || exit 1

# files KIND: those that name this kind
files() { grep -l "^# kinds:.* $1\b" tests/t[056]*.sh; }
status=0
export BUILDS="$here"
TESTS=${*:-$(files release)} tests/run release || status=1
test $# -gt 0 || TESTS=$(files alone) tests/run alone || status=1
exit $status
