#!/bin/sh
# riscv64.sh - make ARCH=riscv64 builds all tools, and they run under qemu-user as far as no
# performance counter is needed.
unset CDPATH
cd "$(dirname "$0")/../.." || exit 1
for program in riscv64-linux-gnu-gcc qemu-riscv64; do
	command -v $program >/dev/null || { echo "no $program here"; exit 77; }
done
make --no-print-directory -s ARCH=riscv64 sysroot 2>build/riscv64.log || {
	tail -n 1 build/riscv64.log
	exit 77
}
make --no-print-directory -s -j2 ARCH=riscv64 all pmukit || exit 1
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT || exit 1
compared=0
for stream in tests/data/releases/*/*.data ${SHARED:-../shared/data}/*.data; do
	test -f "$stream" || continue
	for way in '' --dump; do
		build/release/bin/pmu-stream $way "$stream" >"$dir/want" 2>/dev/null
		qemu-riscv64 build/riscv64/bin/pmu-stream $way "$stream" >"$dir/found" 2>/dev/null
		cmp "$dir/want" "$dir/found" || exit 1
		compared=$((compared + 1))
	done
done
test $compared -gt 0 || { echo "nothing was compared"; exit 1; }
echo "riscv64: $(ls build/riscv64/bin | wc -l) programs, $compared outputs as on this machine"
