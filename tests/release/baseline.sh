#!/bin/sh
# baseline.sh [DIR] - the tools in DIR (build/release/bin) run on any x86-64: on a processor that
# has nothing but what the first ones had, they print of all recordings what they print here.
#
# Libraries such as libdeflate and zstd look for more at run time; then they use it.
cd "$(dirname "$0")/../.." || exit 1
bin=${1:-${BIN:-build/release/bin}}
test "$(uname -m)" = x86_64 || { echo "this machine is not x86-64"; exit 77; }
command -v qemu-x86_64 >/dev/null || { echo "no qemu-x86_64"; exit 77; }
first="qemu-x86_64 -cpu qemu64,-pni,-cx16"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
result=0

# It refuses what came later: SSE3, POPCNT, AVX2.
for flag in sse3 popcnt avx2; do
	case $flag in
	sse3) code='haddpd %xmm0, %xmm0' ;;
	popcnt) code='popcnt %rax, %rax' ;;
	avx2) code='vpaddd %ymm0, %ymm0, %ymm0' ;;
	esac
	echo "int main(void) { __asm__ volatile(\"$code\"); return 0; }" >"$work/later.c"
	${CC:-cc} -w -static -o "$work/later" "$work/later.c" || exit 1
	$first "$work/later" 2>/dev/null && { echo "the emulator takes $flag"; result=1; }
done

# same TOOL ARG...: prints the same here and there
same() {
	want=0 got=0
	tool=$1
	shift
	"$bin/$tool" "$@" >"$work/want" 2>&1 || want=$?
	$first "$bin/$tool" "$@" >"$work/got" 2>&1 || got=$?
	test $want = $got && cmp -s "$work/want" "$work/got" && return
	echo "$tool $* differs: exit status $got, not $want"
	diff "$work/want" "$work/got" | head -n 4
	result=1
}
for tool in "$bin"/pmu*; do
	test ! -x "$tool" || same "${tool##*/}" --help
done
a=${SHARED:-../shared/data}/callgraph-3.8.perf.data b=${SHARED:-../shared/data}/sleep.data
if test -e "$a" && test -e "$b"; then
	"$bin/pmu-topprof" -q -o "$work/a.pb.gz" "$a"
	"$bin/pmu-topprof" -q -o "$work/b.pb.gz" "$b"
	same pmu-diff "$work/a.pb.gz" "$work/b.pb.gz"
fi
tests/release/same-outputs "$bin" "$bin" $first || {
	status=$?
	test $status = 77 || result=1
}
exit $result
