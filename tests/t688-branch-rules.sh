#!/bin/sh
# pmu-branch: what each kind of entry of a branch stack means, and which binary is counted.  The
# streams are made, and what must come out is worked out by hand (tests/branches.py).
# kinds: release asan
. tests/lib.sh

cat >"$scratch/program.s" <<'END'
	.globl _start
	.type f, @function
	.type g, @function
	.text
_start:
f:	.fill 0x40, 1, 0x90
	jmp 1f			# at 0x40
	.org 0x80
1:	.fill 0x20, 1, 0x90
	ret			# at 0xa0
	.size f, . - f
	.org 0x100
g:	.fill 0x40, 1, 0x90
	ret
	.size g, . - g
	.type h, @function
	.type k, @function
	.org 0x180
h:	.fill 0x40, 1, 0x90
	.size h, . - h
k:	.fill 0x20, 1, 0x90
	ret
	.size k, . - k
	.section .plt.made, "ax"
	.balign 0x100		# at 0x401200
	jmp f
END

made=$scratch/made
program=$made/program
mkdir "$made"
why=
test "$(uname -m)" = x86_64 || why="the program is for x86-64"
command -v gcc >/dev/null || why="no gcc"
if test -z "$why"; then
	gcc -nostdlib -static -no-pie -Wl,--build-id=sha1 -o "$program" "$scratch/program.s" &&
	ident=$(readelf -n "$program" | sed -n 's/.*Build ID: //p') &&
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/branches.py" "$made" "$ident" || exit 1
fi
needs_program() { test -z "$why" || skip "$why"; }

# counted NAME OPTION...: pmu-branch on that stream, with the program
counted() {
	name=$1
	shift
	pmu-branch --binary "$program" "$@" "$made/$name.data"
}

check 'each rule: the branches and ranges that are left, and what -v says of the others' <<'END'
	needs_program
	tried=0
	for case in "$made"/*.want; do
		name=$(basename "$case" .want)
		counted "$name" -v --to bolt -o out 2>err || { echo "$name"; cat err; exit 1; }
		same "$case" out || { echo "$name"; exit 1; }
		grep -qF -e "$(cat "$made/$name.says")" err || { echo "$name"; cat err; exit 1; }
		tried=$((tried + 1))
	done
	at_least $tried 20
END

check 'offsets for AutoFDO, addresses for LLVM and perf script, of the same stack' <<'END'
	needs_program
	counted usual -q --to autofdo -o out
	printf "%s\n" 1 "1010-1040:1" 1 "1000:1" 2 "1040->1080:1" "10a0->1010:1" | same - out
	# the first page of code is at 0x401000
	counted usual -q --to llvm -o out
	printf "%s\n" 1 "10-40:1" 2 "40->80:1" "a0->10:1" | same - out
	# a branch from outside starts at address 1, less the base; one to outside is left out
	counted kernel -q --to llvm -o out
	printf "%s\n" 2 "10-10:1" "20-40:1" 3 "ffffffffffbff001->20:1" "40->80:1" "a0->10:1" |
		same - out
	counted flags -q --to perfscript -o out
	mapped="PERF_RECORD_MMAP2 1/1: [0x401000(0x1000) @ 0x1000 00:00 0 0]: r-xp /program"
	printf "%s\n" "$mapped" \
		" 401080 0x401040/0x401080/M/-/-/0 0x4010a0/0x401010/P/-/-/0" | same - out
	# a stack is divided where a range is left out
	counted jump-inside -q --to perfscript -o out
	test "$(wc -l <out)" = 3
	# a range of more than 1 MiB
	exits 0 pmu-branch -v --to autofdo --build-id 0001020304 -o out "$made/long.data" 2>err
	grep -q "1 that end before they start, 1 longer than 1 MiB" err
	printf "%s\n" 0 0 1 "200000->10:1" | same - out
END

check 'the right binary is known by its build ID, by its name only without one, or refused' <<'END'
	needs_program
	for name in same-id late-id; do
		exits 0 counted $name --to bolt -o out 2>err
		same "$made/usual.want" out
		none grep "by its name" err
	done
	gcc -nostdlib -static -no-pie -Wl,--build-id=0x1122334455667788 -o short \
		"$scratch/program.s"
	for name in padded-id short-id; do
		exits 0 pmu-branch --binary short --to bolt -o out "$made/$name.data" 2>err
		same "$made/usual.want" out
		none grep "by its name" err
		exits 1 counted $name --to bolt -o other 2>err
	done
	cp short program
	exits 1 pmu-branch --binary program --to bolt -o other "$made/longer-id.data" 2>err
	grep -q "its build ID is 1122334455667788, and .* is 11223344556677880001" err
	counted usual --to bolt -o out 2>err
	test "$(grep -c "recognized by its name alone: the recording has no build ID" err)" = 1
	# stubs (PLT) are known late, too
	for name in stub late-stub; do
		exits 0 counted $name --to bolt -o out 2>err
		grep -qx "B 0 401010 1 0" out
		none grep "401200" out
		exits 0 counted $name --to autofdo -o out 2>err
		grep -qx "1200->1010:1" out
	done
	# Linux does not always find the build ID of a file; the same path has another one
	exits 0 counted mixed-id --to bolt -o out 2>err
	sed "s/ 1\( 0\)*$/ 2\1/" "$made/usual.want" | same - out
	test "$(grep -c "by its name alone where the recording has no build ID" err)" = 1
	exits 0 counted upgraded --to bolt -o out 2>err
	same "$made/usual.want" out
	grep -qx "pmu-branch: 2 of 4 branch entries in program .*, 1 process" err
	echo before >out
	for name in other-id late-other-id; do
		exits 1 counted $name --to bolt -o out 2>err
		grep -q "'$program' is another build than the one recorded" err
		grep -q "$(readelf -n "$program" | sed -n "s/.*Build ID: //p")" err
		grep -q "000102030405060708090a0b0c0d0e0f10111213" err
		echo before | same - out
	done
	exits 1 counted nowhere --to bolt -o out 2>err
	grep -q "none of the 2 branches is in '$program'" err
	exits 1 pmu-branch --to bolt -o out "$made/kernel-only.data" 2>err
	grep -q "the kernel's code is not supported" err
	exits 1 pmu-branch --to bolt --build-id ffff -o out "$made/usual.data" 2>err
	grep -q "build ID ffff" err
	exits 1 pmu-branch --to bolt --binary /nonexistent -o out "$made/usual.data" 2>err
	exits 1 pmu-branch --to bolt --binary "$TOP/README.md" -o out "$made/usual.data" 2>err
	objcopy --only-keep-debug "$program" program.debug
	exits 1 pmu-branch --to bolt --binary program.debug -o out "$made/same-id.data" 2>err
	grep -q "'program.debug' has no code" err
	exits 2 pmu-branch --build-id 12x "$made/usual.data" 2>err
	exits 2 pmu-branch --build-id 12 --binary "$program" "$made/usual.data" 2>err
	echo before | same - out
	# without a choice, it is the object with most branches, whose file must be found
	exits 1 pmu-branch --to bolt -o out "$made/few.data" 2>err
	grep -q "'/x/library'.* name it with --binary" err
	exits 0 counted few --to bolt -o out 2>err
	same "$made/usual.want" out
	few="2 of 602 branch entries in program (0.3 %), 1 ranges, 0 broken, 1 process"
	grep -qx "pmu-branch: $few" err
	grep -q "less than 1 % of the branches are in program" err
	mkdir -p root/x && cp "$program" root/x
	exits 0 pmu-branch --to bolt --sysroot root -o out "$made/usual.data" 2>err
	same "$made/usual.want" out
	exits 0 pmu-branch --to bolt --sysroot root -o out "$made/mixed-id.data" 2>err
	grep -qx "F 401010 401040 2" out
END

check 'what has no branches, or no ranges, is refused with the reason' <<'END'
	needs_program
	for format in autofdo llvm bolt perfscript blocks; do
		exits 1 counted any-call --to $format -o out 2>err
		grep -q "have branches of some kinds only, by the filter" err
		test ! -e out
	done
	for format in autofdo mispredicts edges text; do
		exits 1 counted call-stack --to $format -o out 2>err
		grep -q "call-stack mode" err
		exits 1 counted none --to $format -o out 2>err
		grep -q "no sample has branch records: record with pmu-sample -b" err
		test ! -e out
	done
	exits 0 counted any-call --to mispredicts -o out.pb.gz
	exits 1 counted usual -e nosuch --to bolt -o out 2>err
	grep -q "no event 'nosuch'; it has 'raw 0xc4'\|has no event 'nosuch'" err
	pmu-symbolize -q "$made/usual.data" >resolved
	exits 1 pmu-branch --to bolt resolved 2>err >out
	grep -q "resolved already" err
	test ! -s out
END

check 'limits, damage, and rates that are unknown' <<'END'
	needs_program
	exits 0 counted usual --max-cells 2 --to bolt -o out 2>err
	grep -q "1 counts found no room: allow more cells with --max-cells" err
	test "$(wc -l <out)" = 2
	for format in autofdo edges json; do
		exits 1 pmu-branch --to $format -o out "$made/wraps.data" 2>err
		exits 0 pmu-branch --to $format -o out "$made/limit.data" 2>err
		grep -q ": 2 of 4 branch entries in" err
	done
	rm out
	exits 1 counted claims --to bolt -o out 2>err
	grep -q "claims.data: offset 0x[0-9a-f]*: " err
	sed "s/ 1\( 0\)*$/ 2\1/" "$made/usual.want" | same - out
	size=$(wc -c <"$made/two-processes.data")
	head -c $((size - 20)) "$made/two-processes.data" >cut.data
	exits 1 pmu-branch --binary "$program" --to bolt -o out cut.data 2>err
	grep -q "cut.data: offset 0x" err
	grep -qx "F 401010 401040 5" out
	# what the CPU did not say is not 0 %
	counted usual -q >table
	grep -q "^ *1 *- *-  f -> f$" table
	counted flags -q >table
	grep -q "^ *1 *1 100.00%  f -> f$" table
	grep -q "^ *1 *0 *0.00%  f -> f$" table
	counted usual -q --json | grep -c "\"mispredicted\": null, \"rate\": null" | grep -qx 2
	# cycles belong to the range before the branch
	counted counted-cycles -q --to blocks -o p.pb.gz
	go tool pprof -raw p.pb.gz >raw
	grep -q "executions/count.*cycles/count" raw
	grep -q "^ *1 *50: 1" raw
	counted usual -q --to blocks -o p.pb.gz
	go tool pprof -raw p.pb.gz >raw
	none grep cycles raw
	counted jump-inside -q --to blocks -o p.pb.gz
	go tool pprof -comments p.pb.gz | grep -qx "left out: 1 broken ranges"
END

done_testing
