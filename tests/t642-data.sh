#!/bin/sh
# pmu-data: which data samples with addresses are about.
# kinds: release asan
. tests/lib.sh

weights=$SHARED/weight_struct.perf.data

needs_weights() { test -r "$weights" || skip 'no recording with weights in ../shared/data'; }

check 'the sums by source are those of perf script: samples, loads, weights' <<'END'
	needs_weights
	pmu-data -q --by source -j "$weights" >found
	perf script -i "$weights" -F addr,data_src,weight 2>/dev/null >samples
	test -s samples
	python3 - found samples <<'PY'
import collections, json, re, sys
want = collections.Counter()
weight = collections.Counter()
for line in open(sys.argv[2]):
    m = re.search(r"\|OP (\w+)\|LVL (\w+)(/MAB)?( or \S+)? (hit|miss)\|.*?(\d+)\s*$", line)
    assert m and m[1] == "LOAD" and m[5] == "hit", line
    want[m[2]] += 1
    weight[m[2]] += int(m[6])
rows = json.load(open(sys.argv[1]))["rows"]
assert want == {row["name"]: row["samples"] for row in rows}, want
assert weight == {row["name"]: row["weight"] for row in rows}, weight
assert all(row["loads"] == row["samples"] == row["weighed"] for row in rows)
PY
END

check 'each sample has the address, source and weight that perf script prints' <<'END'
	needs_weights
	any_user
	pmu-stream -q --dump -j "$weights" | python3 -c '
import json, sys
for line in sys.stdin:
    s = json.loads(line)
    if s["type"] == "SAMPLE":
        print(s["addr"][2:], s["data_src"][2:], s["weight"])' >found
	perf script -i "$weights" -F addr,data_src,weight 2>/dev/null |
		awk '{ print $1, $2, $NF }' >want
	test -s want
	same want found
END

accesses() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/accesses.py" "$@"; }

# recordings of each kind, in files m.KIND
for kind in all physical old; do
	accesses make "$scratch/m.$kind" $kind
done
made=$scratch/m.all

# judged KIND: what pmu-data says of this recording, in the directory KIND, is right
judged() {
	mkdir "$1"
	for by in line source thread; do
		pmu-data -q --latency --by $by -j "$scratch/m.$1" >"$1/$by.json"
	done
	accesses judge "$1" "$1"
}

check 'sums, shares, percentiles and lines are those of 4,000 made samples' <<'END'
	any_user
	judged all
END

check 'error bars are those of pmu-top, which reads the same recording as a profile' <<'END'
	any_user
	pmu-data -q --by thread -j "$made" >found
	pmu-top -q --by tid -j "$made" >want
	python3 - found want <<'PY'
import json, sys
found = {row["tid"]: row["bar"] for row in json.load(open(sys.argv[1]))["rows"]}
want = {int(row["name"]): row["flat_bar"] for row in json.load(open(sys.argv[2]))["rows"]}
assert len(found) == 6 and found == want, (found, want)
PY
END

check 'all rows of a complete recording are exact, and one line says for what' <<'END'
	any_user
	cat <<-EOF | compose s.data
		fields = IP | TID | TIME | ADDR | PERIOD
		def fault(i, period, tid):
		    return record(9, struct.pack("<QIIQQQ", 0x400000, 7, tid, 10**9 + i * 10**6, 0x4000, period))
		# thread 8 is rare and then frequent
		tids = [8 if i % (20 if i < 500 else 2) == 0 else 9 for i in range(1000)]
		for name, period in ("sampled", 1000), ("complete", 1):
		    out = file([(attr(1, 2, period, fields), [])],
		               [fault(i, period, tid) for i, tid in enumerate(tids)])
		    open(name, "wb").write(out)
	EOF
	pmu-data --by thread complete >table
	cat table
	grep -q "^1,000 samples; all events were recorded: shares are exact for this recording, " table
	none grep -E "~|in 95 of 100" table
	test "$(grep -c "%  exact " table)" = 2
	pmu-data --by thread -j complete >json
	test "$(grep -o '"low": [0-9.]*, "high": [0-9.]*, .*"exact": true' json | wc -l)" = 2
	pmu-data --by thread sampled >table
	none grep exact table
	test "$(grep -c "%~ " table)" = 2
END

check 'with physical addresses, memory that processes share is one line' <<'END'
	any_user
	judged physical
END

check 'samples by source are those of perf mem report, lines those of perf c2c report' <<'END'
	any_user
	needs_command perf
	judged old
	perf mem report -i "$scratch/m.old" --stdio --sort mem >old/mem 2>/dev/null
	perf c2c report -i "$scratch/m.old" --stdio >old/c2c 2>/dev/null
	accesses peers old old
END

check 'samples are selected by event, process, thread, name, CPU and time' <<'END'
	any_user
	count() { pmu-data -q --by thread -j "$@" "$made" | grep -o '^{"samples": [0-9]*' |
		awk '{ n += $2 } END { print n + 0 }'; }
	test "$(count)" = 4000
	test "$(($(count -p 100) + $(count -p 200)))" = 4000
	test "$(count -t 101)" = "$(count -t 101 --comm thread1)"
	test "$(($(count --comm thread0) + $(count --comm thread1) + $(count --comm thread2)))" = 4000
	test "$(($(count -C 0) + $(count -C 1) + $(count -C 2) + $(count -C 3)))" = 4000
	test "$(count --time 1,2)" = 1000
	exits 1 pmu-data -e nosuch "$made" 2>err
	grep -q "the stream has no event 'nosuch'; it has 'r1cd'" err
END

check 'what was whole of a recording that is cut is shown; the exit status is 1' <<'END'
	any_user
	head -c $(($(wc -c <"$made") / 2)) "$made" >cut
	exits 1 pmu-data -q --by thread cut >out
	at_least "$(grep -c 'thread[012]/[12]0[012]' out)" 6
	# two tools, and each says what it alone knows
	pmu-sample -q -c 1 -e page-faults:u --record data -o whole -- true
	head -c $(($(wc -c <whole) - 40)) whole >cut
	exits 1 pmu-data cut >out 2>err
	cat err
	test "$(wc -l <err)" = 2
	grep -q "^pmu-symbolize: cut: .*stream ends" err
	grep -q "^pmu-data: 'pmu-symbolize' failed: .*what it could not read is missing" err
	head -c 1000 whole >cut
	exits 1 pmu-data cut >out 2>err
	test "$(wc -l <err)" = 2
	grep -Eq "stream ends inside a record of type [0-9]+ \([A-Z_0-9]+\), which has [0-9]+ bytes$" err
	pmu-symbolize -q "$made" >resolved
	head -c $(($(wc -c <resolved) / 2)) resolved >cut
	exits 1 pmu-data -q --by thread cut >out
	at_least "$(grep -c 'thread[012]/[12]0[012]' out)" 6
END

check 'a stream without data addresses is refused, with the option that records them' <<'END'
	pmu-sample -q -e cpu-clock:u -o plain -- ten serial 0.02
	exits 1 pmu-data plain >out 2>err
	test ! -s out
	grep -q '^pmu-data: no sample has a data address: .*--record data' err
END

check 'what is not a stream is refused for what it is' <<'END'
	any_user
	: >empty
	echo 'main;work 7' >folded
	pmu-topprof -q -o p.pb.gz "$made"
	profile='is a profile, which has no addresses of data: give the stream that it was made from'
	refused() { exits 1 pmu-data "$1" >out 2>err; test ! -s out; grep -qxF "pmu-data: $2" err; }
	refused empty "'empty' is empty"
	refused . "cannot read '.': Is a directory"
	for file in folded p.pb.gz; do
		refused $file "'$file' $profile"
	done
	refused - 'standard input is empty: give a FILE, or send a profile or a stream into it' \
		</dev/null
	refused - "standard input $profile" <folded
	echo text >text
	exits 1 pmu-data text 2>err
	grep -q "^pmu-data: 'text' is not a pprof profile, stream or perf.data file" err
END

done_testing
