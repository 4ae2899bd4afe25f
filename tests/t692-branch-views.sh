#!/bin/sh
# pmu-branch's profiles for people: executions of lines, mispredictions, calls.
# kinds: release
. tests/lib.sh

data=$TOP/../shared/data/lbr
judge() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/branch-views.py" "$@"; }
needs_recording() { needs "$data/test.lbr" "$data/test.binary"; }
view() {
	pmu-branch -q --to "$1" --binary "$data/test.binary" -o "$2" "$data/test.lbr"
}

check 'blocks: each line ran as often as llvm-profgen finds, or calls explain why not' <<'END'
	needs_recording
	needs_command llvm-profgen-19
	view blocks p.pb.gz
	# from perf's own reading of the recording, not from ours
	llvm-profgen-19 --perfdata="$data/test.lbr" --binary="$data/test.binary" --format=text \
		-o profile 2>log
	judge blocks p.pb.gz profile >found
	sed -i "1s/ of.*//" found
	at_least "$(sed -n 1p found)" 516
	test "$(wc -l <found)" = 1
END

check 'mispredicts: each branch was taken and mispredicted as often as perf script shows' <<'END'
	needs_recording
	view mispredicts p.pb.gz
	perf script --kallsyms /dev/null -F ip,brstack -i "$data/test.lbr" >script 2>log
	judge branches p.pb.gz <script >found 2>count
	none cat found
	at_least "$(cut -d " " -f 1 count)" 140000
	go tool pprof -comments p.pb.gz | grep -qx "branches: 147712 records in 9232 samples"
	# JSON has the same sums, and the rate only where it is known
	pmu-branch -q --json --binary "$data/test.binary" "$data/test.lbr" >json
	python3 -c "
import json
d = json.load(open(\"json\"))
known = [b for b in d[\"branches\"] if b[\"rate\"] is not None]
missed = sum(b[\"mispredicted\"] for b in known)
assert len(known) > 200 and all(0 <= b[\"rate\"] <= 1 for b in known)
assert missed == 8645, missed
assert d[\"ranges\"] == 134677 and d[\"left_out\"][\"kernel\"] == 1, d"
	pmu-branch -q --binary "$data/test.binary" "$data/test.lbr" >table
	grep -q "^ *18021 *1789 *9.93%  longest_match deflate.c:439 -> longest_match deflate.c:479$" \
		table
	test "$(wc -l <table)" = 22
END

check 'edges: where the recording has no types, calls are told from returns by the code' <<'END'
	needs_recording
	needs_command objdump
	view edges p.pb.gz
	objdump -d --no-show-raw-insn "$data/test.binary" >code
	perf script --kallsyms /dev/null -F ip,brstack -i "$data/test.lbr" >script 2>log
	judge returns p.pb.gz code <script >found 2>count
	none cat found
	at_least "$(cut -d " " -f 1 count)" 7000
END

cat >"$scratch/known.c" <<'EOF'
#include <signal.h>
#include <unistd.h>
volatile int sink;
__attribute__((noinline)) void leaf(int i)
{
	sink += i;				/* LEAF */
}
__attribute__((noinline)) void odd(int i)
{
	sink -= i;				/* ODD */
}
__attribute__((noinline)) void work(void (*const *call)(int))
{
	for (int i = 0; i < 100; i++) {
		sink++;				/* HUNDRED */
		for (int k = 0; k < 7; k++)
			sink += k;		/* INNER */
		if (i % 4 == 0)
			leaf(i);		/* CALL */
		call[i % 2](i);			/* INDIRECT */
	}
}
int main(void)
{
	static void (*const call[])(int) = { leaf, odd };
	kill(getpid(), SIGURG);
	work(call);
	kill(getpid(), SIGURG);
	return 0;
}
EOF

# line MARK: its number in known.c
line() { grep -n "/\* $1 \*/" "$scratch/known.c" | cut -d : -f 1; }

check 'a program whose counts are known, recorded whole: lines and calls are exact' <<'END'
	test "$(uname -m)" = x86_64 || skip "branch-step steps x86-64 only"
	needs_command gcc
	for level in 0 1; do
		gcc -O$level -g -fno-unroll-loops -o known "$scratch/known.c"
		# each range once, for lines; each branch once, for calls
		branch-step -f -r -m -o ranges.data -n counts ./known
		branch-step -f -m -o branches.data -n counts ./known
		pmu-branch -q --to blocks --binary known -o blocks.pb.gz ranges.data
		judge lines blocks.pb.gz work >lines
		# pmu-annotate shows them, though the profile has cycles, too
		pmu-annotate -q work blocks.pb.gz >annotated
		grep -q "^executions (count):" annotated
		grep -q "^ *700 .*/\* INNER \*/" annotated
		for want in "HUNDRED 100" "INNER 700" "CALL 25" "INDIRECT 100"; do
			grep -qx "$(line ${want% *}) ${want#* }" lines ||
				{ cat lines; echo "$want"; exit 1; }
		done
		judge lines blocks.pb.gz leaf | grep -qx "$(line LEAF) 75"
		judge lines blocks.pb.gz odd | grep -qx "$(line ODD) 50"
		pmu-branch -q --to edges --binary known -o edges.pb.gz branches.data
		judge calls edges.pb.gz >calls
		for want in "CALL leaf 25" "INDIRECT leaf 50" "INDIRECT odd 50"; do
			grep -qx "work:$(line ${want%% *}) ${want#* }" calls ||
				{ cat calls; echo "$want"; exit 1; }
		done
		none grep "^leaf\|^odd" calls
	done
END

done_testing
