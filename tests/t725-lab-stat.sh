#!/bin/sh
# pmu-stat on an emulated PMU: instructions are exact, and so are cycles where each instruction
# takes one (icount); groups; what an operation of a benchmark in Go costs.
#
# LAB=all (make lab): t700 has an extract.
# kinds: release
. tests/lib.sh
. tests/lab.sh

command -v go >/dev/null || why=${why:-no go}
test "$LAB" = all || why='only with LAB=all (make lab)'

test -n "$why" || {
	counted 199999997
	cp -r tests/benches "$scratch"
	(cd "$scratch/benches" && CGO_ENABLED=0 GOARCH=arm64 go test -c -o ../counted.test ./counted)
	start stat -p "$scratch/counted-199999997" -p "$scratch/counted.test" <<'END'
work=counted-199999997
s() { pmu-stat --bench "$@"; }
s -n 3 -e instructions:u,cycles:u,task-clock -- $work >single
s -n 3 -e '{cycles:u,instructions:u},{instructions:u,cycles:u,r08:u}' -- $work >groups
s -n 2 -e instructions:u -- sh -c "$work; $work" >children
s -n 2 --per turn=199999997 -e instructions:u -- $work >turns
pmu-stat -n 3 -e instructions:u -- $work >table
s -e instructions:u -- counted.test -test.bench=. -test.benchtime=100x -test.count=2 >go
:
END
}

# each UNIT FILE: the value of each line
each() {
	awk -v unit="$1" '/^Benchmark/ {
		for (i = 4; i <= NF; i += 2) if ($i == unit) print $(i - 1) }' "$lab/stat/$2"
}

check 'the guest ends' <<'END'
	in_lab
	ended_well stat
END

check 'user instructions of a counted loop are exact, and cycles, too' <<'END'
	ended stat
	cat "$lab/stat/single" "$lab/stat/table"
	for unit in instructions:u/op cycles:u/op; do
		test "$(each $unit single | sort | uniq -c | xargs)" = "3 400000000"
	done
	# an instruction takes a ns; the kernel's are besides
	each task-clock-ns/op single | awk '$1 < 4e8 || $1 > 4.04e8 { bad = 1 } END { exit bad }'
	grep -q "^400,000,000  *<0.001 %  *400,000,000  *400,000,000  *100 %  *instructions:u\$" \
		"$lab/stat/table"
END

check 'in groups, too' <<'END'
	ended stat
	cat "$lab/stat/groups"
	tr "\t" "\n" <"$lab/stat/groups" | grep ":u/op" | grep -v "^ *400000000 " | none cat
	test "$(grep -c "^Benchmark" "$lab/stat/groups")" = 3
	test "$(tr "\t" "\n" <"$lab/stat/groups" | grep -c ":u/op")" = 15
END

check 'with children, and divided' <<'END'
	ended stat
	cat "$lab/stat/children" "$lab/stat/turns"
	each instructions:u/op children | awk '$1 < 800000000 || $1 > 802000000 { bad = 1 }
		END { exit bad || NR != 2 }'
	test "$(each instructions:u/turn turns | sort -u)" = 2
END

check 'an operation of a benchmark in Go: within 0.1 % of its instructions' <<'END'
	ended stat
	cat "$lab/stat/go"
	for name in BenchmarkTurns BenchmarkPrepared/n=1; do
		grep "^$name	" "$lab/stat/go" >"$lab/stat/one"
		each instructions:u/op one >values
		test "$(wc -l <values)" = 2
		awk '$1 < 1998000 || $1 > 2002000 { bad = 1 } END { exit bad }' values
	done
END

done_testing
