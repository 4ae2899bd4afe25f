#!/bin/sh
# pmu-branch on a recording of another maker: the figures and texts that other programs make of it.
# kinds: release
. tests/lib.sh

data=$TOP/../shared/data/lbr
kept=$TOP/tests/data/branch	# see the README there
binary=$data/test.binary
needs_files() { needs "$data/test.lbr" "$binary"; }

# figure NAME: its value in the list of what others found
figure() { awk -F '\t' -v name="$1" '$1 == name { print $2 }' "$data/expected.tsv"; }

# branch FORMAT FILE: write it
branch() { pmu-branch -q --to "$1" --binary "$binary" -o "$2" "$data/test.lbr"; }

check 'bolt: the counts of branches, mispredictions and ranges that others found' <<'END'
	needs_files
	pmu-branch --to bolt --binary "$binary" -o out "$data/test.lbr" 2>err
	grep -q "143,667 of 147,712 branch entries in test.binary (97.3 %), 134,019 ranges, 0 broken" err
	awk '{ lines[$1]++; sum[$1] += $4; wrong += $5 }
		END { for (k in lines) print "bolt", k, "lines\t" lines[k]
			print "bolt branches\t" sum["B"]; print "bolt mispredicted\t" wrong
			print "bolt F sum\t" sum["F"]; print "bolt f sum\t" sum["f"] }' out |
		LC_ALL=C sort >found
	grep "^bolt" "$data/expected.tsv" | grep -v bytes | LC_ALL=C sort | same found -
	test "$(wc -c <out)" = 12327
END

check 'autofdo: what sample_merger writes, byte for byte, and the figures that others found' <<'END'
	needs_files
	pmu-branch -v --to autofdo --binary "$binary" -o out "$data/test.lbr" 2>err
	grep -q "$(figure samples) samples read, $(figure samples) of them with branches" err
	grep -q "of 147,712 branch entries" err
	test "$(figure entries)" = 147712
	same "$kept/test.lbr.autofdo" out
	test "$(wc -c <out)" = "$(figure "autofdo text, bytes")"
	test "$(sed -n 1p out)" = "$(figure ranges)"
	sed -n "2,358s/\(.*\)-\(.*\):/0x\1 0x\2 /p" out | while read -r start end count; do
		echo $count $((count * (end - start + 1)))
	done | awk "{ s += \$1; l += \$2 } END { print s, l }" >sums
	echo "$(figure "sum over ranges") $(figure "sum of count x length")" | same sums -
	grep -qx "4e80-4e8e:$(figure "range 4e80-4e8e")" out
	for address in fe0 1005; do
		grep -qx "$address:$(figure "address $address")" out
	done
	test "$(sed -n 359p out)" = "$(figure "sampled addresses")"
	test "$(grep -c -e "->" out)" = "$(figure branches)"
END

check 'llvm: what llvm-profgen collects from the recording itself, in 8 KB' <<'END'
	needs_files
	branch llvm out
	same "$kept/test.lbr.llvm" out
	test "$(wc -c <out)" = 8366
END

check 'all forms: what a script counts that walks perf script, line for line' <<'END'
	needs_files
	needs_command perf
	perf script -i "$data/test.lbr" --show-mmap-events -F pid,ip,brstack >script 2>log
	for form in autofdo llvm bolt; do
		branch $form ours
		python3 "$TOP/tests/brstack.py" $form "$binary" <script >theirs
		same theirs ours
		at_least "$(wc -l <theirs)" 600
	done
END

check 'the same input gives the same bytes, also through a pipe and from our perf.data' <<'END'
	needs_files
	pmu-stream --to perf.data -o written "$data/test.lbr"
	for form in autofdo llvm bolt perfscript; do
		branch $form once
		branch $form twice
		cmp once twice
		pmu-branch -q --to $form --binary "$binary" <"$data/test.lbr" >thrice
		cmp once thrice
		pmu-stream --cat "$data/test.lbr" | pmu-branch -q --to $form --binary "$binary" >again
		cmp once again
		pmu-branch -q --to $form --binary "$binary" written >again
		cmp once again
	done
END

check 'perfscript: one mapping; a line of the program alone is as perf script prints it' <<'END'
	needs_files
	needs_command perf
	branch perfscript ours
	mapped="PERF_RECORD_MMAP2 1/1: [0x400000(0xa000) @ 0 00:00 0 0]: r-xp /test.binary"
	test "$(sed -n 1p ours)" = "$mapped"
	perf script -i "$data/test.lbr" -F ip,brstack >script 2>log
	# stacks that are whole in the code, above the stubs, are equal but for the address of the sample
	inside() {
		sed -E "s/^ *[0-9a-f]+ +//; s/ +/ /g; s/ \$//; s|/-/-/0/|/-/-/0|g" |
			grep -xE "(0x40[1-9][0-9a-f]{3}/0x40[1-9][0-9a-f]{3}/[MP]/-/-/0 ?){16}"
	}
	inside <script >theirs
	sed 1d ours | inside >found
	at_least "$(wc -l <theirs)" 7000
	same theirs found
END

check 'perfscript: where stacks find no room in TMPDIR, there is a message and no file' <<'END'
	needs_files
	needs_root
	mkdir small
	mount -t tmpfs -o size=1m tmpfs small 2>/dev/null || skip 'no tmpfs'
	echo before >out
	TMPDIR=$PWD/small exits 1 pmu-branch --to perfscript --binary "$binary" -o out \
		"$data/test.lbr" 2>err
	umount small
	grep -q "cannot keep branch stacks in '$PWD/small' (set TMPDIR): No space left" err
	none grep "branch entries" err
	echo before | same - out
END

only_all() { test "$BRANCH" = all || skip "make check-all PARTS=branch does it"; }

check 'llvm-profgen makes its own profile of the recording from --to llvm and perfscript' <<'END'
	needs_files
	needs_command llvm-profgen-19
	branch llvm raw
	llvm-profgen-19 --format=text --binary="$binary" --unsymbolized-profile=raw -o profile 2>log
	same "$kept/test.lbr.profile" profile
	test "$BRANCH" = all || exit 0
	llvm-profgen-19 --binary="$binary" --perfdata="$data/test.lbr" -o theirs 2>log
	llvm-profgen-19 --binary="$binary" --unsymbolized-profile=raw -o ours 2>log
	cmp theirs ours
	branch perfscript script
	llvm-profgen-19 --binary="$binary" --perfscript=script -o ours 2>log
	cmp theirs ours
	llvm-profgen-19 --binary="$binary" --perfdata="$data/test.lbr" --skip-symbolization \
		-o theirs 2>log
	same theirs raw
END

check 'perf2bolt finds no mismatch, and nothing out of range' <<'END'
	needs_files
	only_all
	bolt=/usr/lib/llvm-19/bin	# by its other name, it does something else
	needs_command $bolt/perf2bolt
	branch bolt out
	$bolt/perf2bolt -pa -p out -o fdata "$binary" >log 2>&1 || { cat log; exit 1; }
	grep -q "mismatching disassembled function contents: 0 " log
	grep -q "involving unknown regions: 0 \|out of range traces.*: 0" log
	at_least "$(wc -l <fdata)" 100
END

check 'sample_merger of this machine writes the same as pmu-branch' <<'END'
	needs_files
	only_all
	needs_command sample_merger
	branch autofdo ours
	sample_merger -profiler=perf -binary="$binary" -profile="$data/test.lbr" -output_file=theirs \
		"$data/test.lbr"
	cmp theirs ours
END

done_testing
