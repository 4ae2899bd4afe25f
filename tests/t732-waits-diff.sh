#!/bin/sh
# pmu-diff on profiles of waits: Go's sample types, runs as units, what is more and what is less.
# kinds: release asan
. tests/lib.sh

# waits NAME CONTENTIONS,SECONDS...: NAME.pb, a mutex profile as Go's, of 10 s: functions f1, f2
# and so on were so often waited for, so long
waits() {
	python3 - "$TOP" "$@" <<-'PY'
		import sys
		sys.path.insert(0, sys.argv[1] + "/tests")
		from profiles import *
		rows = [value.split(",") for value in sys.argv[3:]]
		texts = [b"", b"contentions", b"count", b"delay", b"nanoseconds"]
		parts = [bytes_of(1, number(1, i) + number(2, i + 1)) for i in (1, 3)]
		for i, (count, seconds) in enumerate(rows, 1):
		    parts += [function(i, len(texts)), location(i, [i])]
		    parts += [sample([i], [int(count), round(float(seconds) * 1e9)])]
		    texts.append(b"f%d" % i)
		parts += [bytes_of(6, text) for text in texts] + [number(10, 10 * 10**9)]
		open(sys.argv[2] + ".pb", "wb").write(b"".join(parts))
	PY
}

# made: four runs of a program before and after a change: f1 makes others wait half as long, f2 a
# quarter longer, f3 as long as before; runs differ by some per cent
made() {
	i=0
	for noise in 1.00,1.01 1.03,0.99 0.98,1.02 1.01,1.00; do
		i=$((i + 1))
		set -- $(echo "${noise%,*} ${noise#*,}" | awk '{
			printf "%f %f %f %f\n", 4 * $1, 1 * $2, 2 * $1, 1.25 * $2 }')
		waits old$i 4000,$1 100,$2 500,1.0$i
		waits new$i 4000,$3 100,$4 500,1.0$((5 - i))
	done
	runs="-b old1.pb -b old2.pb -b old3.pb -b old4.pb new1.pb new2.pb new3.pb new4.pb"
}

check 'the time that each function makes others wait is compared, run by run' <<'END'
	made
	pmu-diff $runs >table
	cat table
	grep -q "^delay: base 4 runs, after 4 runs; time per second" table
	awk '$NF == "f1" && / less / { found++ } $NF == "f2" && / more / { found++ }
		END { exit found != 2 }' table
	none grep " f3$" table
	pmu-diff -j $runs >got
	python3 - <<-"EOF"
	import json
	got = json.load(open("got"))
	rows = {row["name"]: row for row in got["rows"]}
	assert rows["f1"]["low"] < -0.5 < rows["f1"]["high"] < 0, rows["f1"]
	assert 0 < rows["f2"]["low"] < 0.25 < rows["f2"]["high"], rows["f2"]
	EOF
	pmu-diff -t contentions $runs >table
	none grep "sure changes" table
END

check 'a change that makes others wait longer fails a gate; one that ends waits does not' <<'END'
	made
	exits 3 pmu-diff --fail-if function:+5% $runs >table
	grep " f2$" table
	pmu-diff --fail-if total:+5% $runs >table
	back=$(echo "$runs" | sed "s/old/OLD/g; s/new/old/g; s/OLD/new/g")
	exits 3 pmu-diff --fail-if total:+5% $back >table
END

check 'of recordings: with fewer threads that queue, each function makes others wait less' <<'END'
	unsanitized
	needs_tracepoints
	needs_command convoy
	needs_sampling
	for i in 1 2 3; do
		pmu-sample -q --waits -e dummy -o s.data -- convoy 0.5 2>err
		pmu-topprof --mutex -o old$i.pb.gz s.data
		pmu-sample -q --waits -e dummy -o s.data -- convoy 0.5 1 2>err
		pmu-topprof --mutex -o new$i.pb.gz s.data
	done
	pmu-diff --cum -n 100 -b old1.pb.gz -b old2.pb.gz -b old3.pb.gz new[123].pb.gz >table
	cat table
	grep -q "^delay: base 3 runs" table
	grep " less .*hold_flush$" table
END

check '--run --waits runs both commands under pmu-prof --waits, and compares the causes' <<'END'
	unsanitized
	needs_tracepoints
	needs_command convoy
	needs_sampling
	pmu-diff --run 2 --waits --cum --keep kept -n 100 "convoy 0.3" "convoy 0.4" >table 2>err
	cat table
	grep -q "^mutex: base 2 runs, after 2 runs" table
	ls kept/base-1.pb.gz kept/after-2.pb.gz
	pmu-top -t block kept/base-1.pb.gz | grep -q ^block
	exits 2 pmu-diff --waits kept/base-1.pb.gz kept/after-1.pb.gz 2>err
	grep -q "waits.*--run" err
END

check 'if a run fails, the command that shows why has --waits, too' <<'END'
	unsanitized
	needs_sampling
	for waits in -- --waits; do
		exits 1 pmu-diff --run 2 $waits "echo 'a b'; exit 3" "echo 'a b'; exit 3" 2>err
		cat err
		why=$(sed -n "s/^pmu-diff: no comparison: run 1 of .*to see why: //p" err)
		test "${why#pmu-prof $waits sh -c }" != "$why"
		# it is a line for a shell
		exits 3 eval "${why#pmu-prof $waits}" >said
		grep -qx "a b" said
	done
END

done_testing
