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

check 'a stream without data addresses is refused, with the option that records them' <<'END'
	pmu-sample -q -e cpu-clock:u -o plain -- ten serial 0.02
	exits 1 pmu-data plain >out 2>err
	test ! -s out
	grep -q '^pmu-data: no sample has a data address: .*--record data' err
END

done_testing
