#!/bin/sh
# One difference, one answer: pmu-diff, pmu-flame --diff, and pmu-flame and pmu-top of what
# pmu-topprof --diff writes have the same order, sizes and verdicts.
# kinds: release user
. tests/lib.sh

page() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/flame.py" "$@"; }

# built NAME HALVED TRIPLED: a program whose functions take turns, all in each thousandth of a run
built() {
	cat >$1.c <<-END
		#include <stdlib.h>
		static volatile long sum;
		#define WORK(name, n) \\
			__attribute__((noinline)) void name(void) { for (int i = 0; i < (n); i++) sum++; }
		WORK(halved, $2)
		WORK(tripled, $3)
		WORK(equal, 30000)
		WORK(small, 3000)
		int main(int argc, char **argv)
		{
			for (long turns = argc > 1 ? atol(argv[1]) : 0; turns > 0; turns--) {
				halved();
				tripled();
				equal();
				small();
			}
		}
	END
	gcc -O1 -g -o $1 $1.c
}

# compared TYPE: "verdict sign name" of each function, in all four ways; the first one of each
compared() {
	pmu-diff -j old.pb.gz new.pb.gz >diff.json
	pmu-topprof --diff old.pb.gz new.pb.gz -o difference.pb.gz
	pmu-top -j difference.pb.gz >top.json
	pmu-flame --diff old.pb.gz -o one.html new.pb.gz
	pmu-flame -o two.html difference.pb.gz
	python3 - "$1" <<-'PY'
		import json, os, sys
		sys.dont_write_bytecode = True
		sys.path.insert(0, os.environ["TOP"] + "/tests")
		from flame import data_of, verdicts_of
		short = {"few samples": "few"}
		sign = lambda change: "+" if change > 0 else "-"
		diff = json.load(open("diff.json"))["rows"]
		want = {r["name"]: short.get(r["verdict"], r["verdict"]) + sign(r["after"] - r["base"])
		        for r in diff}
		top = {r["name"]: r for r in json.load(open("top.json"))["rows"] if "verdict" in r}
		assert len(want) > 3 and any(v.startswith("sure") for v in want.values()), want
		for r in diff:
		    if r["name"] not in top:
		        continue			# an object: its name has a number of addresses
		    t = top[r["name"]]
		    assert short.get(t["verdict"], t["verdict"]) + sign(t["change"]) == want[r["name"]], t
		    assert abs(t["change"] - (r["after"] - r["base"])) < 1e-5, (r, t)
		for file in "one.html", "two.html":
		    names = set()
		    for flat, cum, name in verdicts_of(data_of(file), sys.argv[1]):
		        if name in want:
		            assert flat == want[name], (file, name, flat, want[name])
		            names.add(name)
		    assert {r["name"] for r in diff if r["verdict"] in ("sure", "unsteady")} <= names
		print(diff[0]["name"])
	PY
}

check 'two builds with a halved and a tripled function: the same first, the same verdicts' <<'END'
	built old 40000 10000
	built new 20000 30000
	for build in old new; do
		pmu-sample -q -e cpu-clock:u -F 2000 -o $build.data -- ./$build 8000
		pmu-symbolize -q $build.data | pmu-topprof -o $build.pb.gz
	done
	export TOP
	# halved: 48 to 24 %; tripled: 12 to 36 %; which is larger is chance
	compared cpu >first
	grep -qx "halved\|tripled" first
	for name in halved tripled; do
		grep -q "\"name\": \"$name\".*\"verdict\": \"sure\"" diff.json
	done
	pmu-diff old.pb.gz new.pb.gz >table
	pmu-top difference.pb.gz 2>err | same table -
	awk '/^sure/ { sure = 1; next } sure { print $NF; exit }' table | same first -
	# the page's own order is in t620-browser.sh
	pmu-flame --to svg difference.pb.gz | grep -q "before .*<rect.*hsl(\(18\|214\),"
END

check 'of simulated programs with phases the four agree on each function' <<'END'
	any_user
	export TOP
	for seed in 41 52 60; do
		simulate phases $seed 2000 | pmu-topprof -q --slices 20 -o old.pb.gz
		simulate phases $((seed + 1)) 2000 8 0.5 | pmu-topprof -q --slices 20 -o new.pb.gz
		pmu-diff -j old.pb.gz new.pb.gz | grep -o '"verdict": "[a-z]*"'
		pmu-diff old.pb.gz new.pb.gz >table
		pmu-topprof --diff old.pb.gz new.pb.gz | pmu-top 2>err | same table -
	done >verdicts
	grep -q sure verdicts
	grep -q unsteady verdicts
END

check 'a difference has the times of both sides, and the page names them' <<'END'
	any_user
	simulate steady 41 2000 | pmu-topprof -q --slices 20 -o old.pb.gz
	simulate steady 42 3000 | pmu-topprof -q --slices 20 -o new.pb.gz
	pmu-topprof --diff old.pb.gz new.pb.gz -o difference.pb.gz
	pmu-flame --diff old.pb.gz -o one.html new.pb.gz
	pmu-flame -o two.html difference.pb.gz
	for p in one two; do
		grep -o '"duration":[0-9]*\|"baseDuration":[0-9]*' $p.html >$p
	done
	same one two
	grep -qx '"duration":2999000000' one
	grep -qx '"baseDuration":1999000000' one
	pmu-top difference.pb.gz 2>err >table
	grep -q "^total 2.00s in 2.00s -> 3.00s in 3.00s" table
	pmu-flame --to svg difference.pb.gz >p.svg
	grep -q "cpu 3.00s in 3.00s, before 2.00s in 2.00s; orange" p.svg
END

done_testing
