#!/bin/sh
# pmu-diff: known answers, one run and several on each side, --fail-if, errors, and whole runs.
# kinds: release asan
. tests/lib.sh

# counts NAME COUNT... [/ NAME COUNT...]...: profiles NAME.pb with so many samples in the
# functions f1, f2, ...
counts() {
	python3 - "$TOP" "$*" <<-'PY'
		import sys
		sys.path.insert(0, sys.argv[1] + "/tests")
		from profiles import *
		for words in filter(None, map(str.split, sys.argv[2].split("/"))):
		    n = [int(x) for x in words[1:]]
		    open(words[0] + ".pb", "wb").write(profile([p for i, count in enumerate(n, 1)
		        for p in (function(i, FIRST + i - 1), location(i, [i]),
		                  sample([i], [count]) if count else b"")],
		        [b"f%d" % i for i in range(1, len(n) + 1)]))
	PY
}

# runs BASE,AFTER...: make profiles with so many samples; RUNS are the arguments to compare them
runs() {
	i=0 base= after= all=
	for value; do
		i=$((i + 1))
		all="$all / a$i ${value%,*} / b$i ${value#*,}"
		base="$base -b a$i.pb" after="$after b$i.pb"
	done
	counts $all
	runs="$base $after"
}

# five: the runs of the reference case of Welch's test, ten times as many samples
five() {
	runs 1010,1031 995,1022 1002,1040 989,1029 1009,1018
	five=$runs
}

# get PATH...: members of the JSON on stdin, a line each; @NAME means a row
get() {
	python3 -c '
import json, sys
all = json.load(sys.stdin)
for path in sys.argv[1:]:
    it = all
    for key in path.split("."):
        it = next(r for r in it["rows"] if r["name"] == key[1:]) if key[0] == "@" else it[key]
    print(it)' "$@"
}

# nears FILE PATH VALUE TOLERANCE...: members of the JSON in FILE are so near
nears() {
	file=$1
	shift
	echo "$@" | xargs -n 3 >wanted
	get $(cut -d " " -f 1 wanted) <"$file" | paste -d " " - wanted >figures
	test "$(wc -l <figures)" = "$(grep -c . wanted)"
	while read -r figure path value tolerance; do
		near $figure $value $tolerance || { echo "$path"; return 1; }
	done <figures
}

check 'several runs on each side: the change and the interval are those of scipy' <<'END'
	unsanitized
	five
	pmu-diff --per run -j $five >got
	nears got total.change 0.0269783 0.0000001 total.low 0.0140716 0.0000001 \
		total.high 0.0400493 0.0000001 total.p 0.00128273 0.00000001 \
		@f1.low 0.0140716 0.0000001
	pmu-diff --per run --paired -j $five >got
	nears got total.low 0.0110571 0.0000001 total.high 0.0431503 0.0000001 \
		total.p 0.00910084 0.00000001
	pmu-diff --per run --paired $five >table
	grep -q "^pair 5: a5.pb, b5.pb$" table
	pmu-diff --per requests=10 -j $five >got
	nears got total.change 0.0269783 0.0000001 total.base 100.1 0.0001 tested 1 0
END

check 'the table has the total, changes, and how many runs would find smaller ones' <<'END'
	five
	pmu-diff --per run $five >table
	grep -q "^samples: base 5 runs, after 5 runs; values per run (right if both did the same work" \
		table
	grep -q "^total 1001 -> 1028  +2.7 % \[+1.4, +4.0\]$" table
	grep -qx "sure changes, the largest first (with points of the total)" table
	grep -q " +2.7 % \[+1.4, +4.0\] .* more  f1$" table
	counts $(for i in 1 2 3; do
		echo "/ a$i 10000 1$i 500$i / b$i 10000 1$((4 - i)) 500$((4 - i))"
	done)
	pmu-diff --per share -b a1.pb -b a2.pb -b a3.pb b1.pb b2.pb b3.pb >table
	grep -q "^3 functions: no change found. Of 'f1', the largest, these .* only changes above" table
	grep -q "; about 2 runs of each side would show 3 %.$" table
	none grep -iE "significant|no difference|confiden" table
END

check 'new and gone functions, and those with too few samples' <<'END'
	counts $(for i in 1 2 3; do
		echo "/ a$i 100$i 4 0 70$i / b$i 100$i 4 20$i 0"
	done) / a 1000 3 / b 1 20 / nine 9 9 / forty 40 40
	pmu-diff --per run -j -b a1.pb -b a2.pb -b a3.pb b1.pb b2.pb b3.pb >got
	# no interval goes below -100 %
	get @f3.group @f4.group @f2.group tested @f4.low <got >figures
	printf "%s\n" new gone "few samples" 3 -1 | same - figures
	pmu-diff --per run -b a1.pb -b a2.pb -b a3.pb b1.pb b2.pb b3.pb >table
	grep -qx "1 function: too few samples (under 5 per run) to compare." table
	near "$(pmu-diff -j a.pb b.pb | get @f2.high)" 0.997009 0.000001	# up to 1
	pmu-diff --by object nine.pb nine.pb >table
	grep -q "^1 object: no change" table
	pmu-diff forty.pb forty.pb >table
	grep -q " only changes above 192 %; several runs of each .* show less, such as 3 %" table
END

check 'on a terminal a long name keeps the function of its own, and the line fits' <<'END'
	name='std::map<int, std::vector<long>, std::less<int> >::lower_bound(int const&)'
	for i in 1 2 3; do
		printf '%s 10%s\nmain 900%s\n' "$name" $i $i >a$i
		printf '%s 50%s\nmain 900%s\n' "$name" $i $i >b$i
	done
	echo end | PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/terminal.py" 100 40 \
		"pmu-diff --per run -b a1 -b a2 -b a3 b1 b2 b3" >out
	grep "lower_bound" out
	test "$(grep "::lower_bound" out | tr -d "\r" | sed "s/…/./g" | wc -L)" -le 100
	none grep -F "$name" out
	pmu-diff --per run -b a1 -b a2 -b a3 b1 b2 b3 | grep -F "$name"
END

check 'runs that differ by much show no change, and no number of many digits' <<'END'
	counts a1 100 900 / a2 90000 900 / b1 100 900 / b2 90000 900
	pmu-diff --per run -b a1.pb -b a2.pb b1.pb b2.pb >table
	cat table
	grep -q "Of 'f1', the largest, these runs can show no change, unless it is gone" table
	none grep 'would have been seen' table
END

check 'two and three runs a side show that a function was renamed, as one run does' <<'END'
	# f1 varies by much between the runs, and is f2 later; f3 and f4 are the rest
	counts a 300 0 400 300 / b 0 300 400 300 / a1 300 0 400 300 / a2 160 0 400 300 / \
		a3 250 0 400 300 / b1 0 150 400 300 / b2 0 310 400 300 / b3 0 190 400 300
	for how in '--per run' '--per share' '--per run --paired'; do
		pmu-diff -j $how -b a1.pb -b a2.pb b1.pb b2.pb | get @f1.group @f2.group >two
		pmu-diff -j $how -b a1.pb -b a2.pb -b a3.pb b1.pb b2.pb b3.pb |
			get @f1.group @f2.group @f1.low >three
		printf '%s\n' gone new | same - two
		printf '%s\n' gone new -1 | same - three
		exits 3 pmu-diff --fail-if function:+2% $how -b a1.pb -b a2.pb b1.pb b2.pb >out
	done
	# a few samples more may be chance
	counts a1 0 994 / a2 0 994 / b1 3 991 / b2 9 985
	pmu-diff --per share -b a1.pb -b a2.pb b1.pb b2.pb | none grep '^sure'
END

check 'one run on each side: shares, what is not included, and samples that a change needs' <<'END'
	counts a 1000 1000 8000 / b 1000 1500 7500
	pmu-diff a.pb b.pb >table
	grep -q "^samples: base 1 run, after 1 run; shares of the total; " table
	total='total 10000 -> 10000 (with one run on each side, noise cannot be ruled out)'
	grep -qx "$total" table
	grep -qx "sure changes, the largest first" table
	grep -qE "^ +10.00 % -> +15.00 %  \+5.0 points \[\+4.0, \+6.0\] .* f2$" table
	grep -q "^one run a side: differences between runs are not in this. Of programs that do" table
	grep -q " in a few long bursts, 10 to 15 % differ so from themselves. Give several" table
	grep -qx "phases of the program are not included: use pmu-topprof --slices" table
	none grep -E "grew|shrank|slower|faster" table
	# the table allows for the choice of two of three: z is 2.128, not 1.96; JSON has both
	pmu-diff -j a.pb b.pb | get @f2.low @f2.low_called >figures
	near "$(sed -n 1p figures)" 0.0408 0.0001
	near "$(sed -n 2p figures)" 0.0400 0.0001
	# z of the pooled share, by hand: 5 points, 12.5 % of 20,000
	near "$(pmu-diff -j a.pb b.pb | get @f2.p)" 1.12822e-26 1e-31
	# 3 % of 10/55, ten functions, as the reference says
	counts a 1000000 900000 800000 700000 600000 500000 400000 300000 200000 100000
	pmu-diff --smallest 3% a.pb a.pb >table
	grep -q "; about 304409 samples of each side would show 3 %.$" table
END

check 'a function that takes all of both profiles is not reported' <<'END'
	counts a 1000 / b 1200
	pmu-diff a.pb b.pb >table
	grep -q "^1 function: no change found" table
	test "$(pmu-diff -j a.pb b.pb | get @f1.p)" = 1
END

check 'phases widen the intervals of one run on each side' <<'END'
	unsanitized
	for seed in 1 2; do
		simulate phases $seed 2000 >s.data
		pmu-topprof --slices 20 -o s$seed.pb.gz s.data
		pmu-topprof --slices 0 -o p$seed.pb.gz s.data
	done
	with=$(pmu-diff --by object -j s1.pb.gz s2.pb.gz | get @f0.high @f0.low)
	without=$(pmu-diff --by object -j p1.pb.gz p2.pb.gz | get @f0.high @f0.low)
	echo $with $without | awk '{ exit !($1 - $2 > 1.2 * ($3 - $4)) }'
	pmu-diff --by object s1.pb.gz s2.pb.gz | none grep "^phases are not"
	# and what it takes to tell more
	for p in s p; do
		pmu-diff --by object --smallest 90% ${p}1.pb.gz ${p}2.pb.gz >table
		sed -n "s/.*; about \([0-9]*\) samples of each side would show.*/\1/p" table >$p
	done
	at_least "$(cat s)" $(($(cat p) * 12 / 10))
END

check '--fail-if: a total or a function surely above the limit makes the exit status 3' <<'END'
	counts $(for i in 1 2 3 4 5; do echo "/ a$i 100$i 200$i / b$i 101$i 240$i"; done)
	all="-b a1.pb -b a2.pb -b a3.pb -b a4.pb -b a5.pb b1.pb b2.pb b3.pb b4.pb b5.pb"
	exits 3 pmu-diff --per run --fail-if +2% $all >table
	exits 3 pmu-diff --per run --fail-if function:+18% $all >table
	exits 0 pmu-diff --per run --fail-if function:+21% $all >table
	exits 3 pmu-diff --per run --fail-if total:+12% $all >table
	exits 0 pmu-diff --per run --fail-if total:+15% $all >table
	# f1 surely grew by 1 %, but not by 2 %
	exits 0 pmu-diff --per run --fail-if +2% -b a1.pb -b a2.pb a1.pb a2.pb >table
	exits 2 pmu-diff --fail-if +2% a1.pb b1.pb >table 2>err
	grep -q "^pmu-diff: --fail-if with one run on each side cannot know" err
	exits 3 pmu-diff --one-run --fail-if +2% a1.pb b1.pb >table
	# 2.5 %, surely a growth, but not surely above 2 %
	runs 1000,1025 1010,1036 990,1015 1005,1030 995,1020
	pmu-diff --per run $runs | grep -q "+2.5 % .* f1$"
	exits 0 pmu-diff --per run --fail-if +2% $runs >table
	exits 3 pmu-diff --per run --fail-if +1% $runs >table
	for wrong in 2% +2 -2% +x% '' '+2%x' 'totl:+2%' +nan%; do
		exits 2 pmu-diff --fail-if "$wrong" $all 2>err
	done
END

# stacks NAME COUNT=LEAF.CALLER... [/ NAME ...]: profiles NAME.pb with so many samples on these
# stacks
stacks() {
	python3 - "$TOP" "$*" <<-'PY'
		import sys
		sys.path.insert(0, sys.argv[1] + "/tests")
		from profiles import *
		for words in map(str.split, sys.argv[2].split("/")):
		    n = [(int(x.split("=")[0]), x.split("=")[1].split(".")) for x in words[1:]]
		    names = sorted({f for _, stack in n for f in stack})
		    id_of = {f: i for i, f in enumerate(names, 1)}
		    open(words[0] + ".pb", "wb").write(profile([p for i, f in enumerate(names, 1)
		        for p in (function(i, FIRST + i - 1), location(i, [i]))] +
		        [sample([id_of[f] for f in stack], [count]) for count, stack in n],
		        [f.encode() for f in names]))
	PY
}

check '--by stack: one function is compared by its callers' <<'END'
	# w grows under b only, and shrinks under a: as a function it is the same
	stacks old 4000=w.a.main 1000=w.b.main 5000=x.main \
		/ new 1000=w.a.main 4000=w.b.main 5000=x.main
	pmu-diff -j old.pb new.pb >got
	test "$(get @w.called <got)" = False
	pmu-diff --by stack -j old.pb new.pb >got
	get "@w < a < main.base" "@w < a < main.after" "@w < b < main.after" \
		"@w < b < main.called" "@x < main.called" <got >figures
	printf "%s\n" 0.4 0.1 0.4 True False | same - figures
	pmu-diff --by stack old.pb new.pb >table
	grep -q "^1 stack: no change" table
	grep -q "  w < b < main$" table
	exits 2 pmu-diff --by stack --cum old.pb new.pb 2>err
	# stacks that are too long for a name are still apart, by what is cut off
	deep=$(seq -s . 10000 10900)
	stacks old 4000=$deep.a 1000=$deep.b / new 1000=$deep.a 4000=$deep.b
	pmu-diff --by stack -j old.pb new.pb >got
	test "$(get tested <got)" -eq 2
	test "$(grep -c '"called": true' got)" -eq 2
END

check '-o writes the difference that pmu-topprof --diff writes' <<'END'
	counts a 1000 1000 8000 / b 1000 1500 7500
	pmu-diff -o d.pb.gz a.pb b.pb >table
	pmu-topprof --diff a.pb b.pb | pmu-top -j >want
	pmu-top -j d.pb.gz | same want -
	go tool pprof -raw d.pb.gz 2>err | grep -q "pprof::base:"
	exits 2 pmu-diff -o a.pb a.pb b.pb 2>err
END

check 'the runs of a merged profile are compared separately' <<'END'
	for i in 1 2 3; do
		simulate layout $i 3000 | pmu-topprof --slices 20 -o a$i.pb.gz
		simulate layout 5$i 3000 | pmu-topprof --slices 20 -o b$i.pb.gz
	done
	pmu-topprof a?.pb.gz -o a.pb.gz
	pmu-topprof b?.pb.gz -o b.pb.gz
	pmu-diff --by object --per share -j -b a.pb.gz b.pb.gz >got
	test "$(get base_runs <got)" = 3
	pmu-diff --by object --per share -j -b a1.pb.gz -b a2.pb.gz -b a3.pb.gz b?.pb.gz >want
	set -- $(get @f9.p @f9.low <want)
	nears got @f9.p $1 0.000001 @f9.low $2 0.000001
	pmu-topprof -l none a?.pb.gz -o a.pb.gz
	exits 1 pmu-diff --per run -b a.pb.gz -b a1.pb.gz b?.pb.gz >table 2>err
	grep -q "^pmu-diff: 'a.pb.gz' is merged from several runs that have no label 'run'" err
END

# labelled RUN:COUNT...: a profile of one function, whose samples have labels "run" and values
labelled() {
	python3 - "$TOP" "$@" <<-'PY'
		import sys
		sys.path.insert(0, sys.argv[1] + "/tests")
		from profiles import *
		runs = [word.split(":") for word in sys.argv[2:]]
		if len(runs) == 1 and runs[0][0] == "many":
		    runs = [(str(i), 10) for i in range(int(runs[0][1]))]
		sys.stdout.buffer.write(profile(
		    [function(1, MAIN), location(1, [1])] +
		    [sample([1], [int(value)], label(FIRST, FIRST + 1 + i))
		     for i, (run, value) in enumerate(runs)],
		    [b"run"] + [run.encode() for run, value in runs]))
	PY
}

check 'a merged profile with a run of no samples, or with too many runs, is refused' <<'END'
	labelled a:10 b:0 c:10 >zero.pb
	exits 1 pmu-diff -b zero.pb zero.pb 2>err
	grep -qx "pmu-diff: 'zero.pb', run b cannot be compared: there are no samples" err
	labelled many:1000 >most.pb
	exits 0 pmu-diff --per share -b most.pb most.pb >table
	labelled many:$(sanitized && echo 2000 || echo 60000) >many.pb
	exits 1 pmu-diff -b many.pb many.pb 2>err
	grep -qx "pmu-diff: 'many.pb' has more than 1,000 runs" err
	# not all runs were compared with all others before
	sanitized || at_most "$(cost pmu-diff -b many.pb many.pb | cut -d " " -f 1)" 2
	# one run under many strings
	labelled $(seq -f 'a:%g' 100) >same.pb
	test "$(pmu-diff -j same.pb same.pb | get base_runs)" = 1
END

check 'profiles that cannot be compared are refused, with advice' <<'END'
	counts a 1000 1000 / b 900 1100
	exits 1 pmu-diff -b a.pb b.pb b.pb 2>err
	grep -q "^pmu-diff: 1 runs against 2: give two or more on each side, or one on each$" err
	exits 1 pmu-diff --per run a.pb b.pb 2>err
	grep -q "^pmu-diff: one run on each side can only be compared by shares: give several" err
	exits 1 pmu-diff --per second -b a.pb -b a.pb b.pb b.pb 2>err
	grep -q "^pmu-diff: the length of the recording in 'a.pb' is unknown: use --per" err
	exits 1 pmu-diff --paired -b a.pb -b a.pb -b a.pb b.pb b.pb 2>err
	sed 's/samples/mallocs/' b.pb >other.pb
	exits 1 pmu-diff a.pb other.pb 2>err
	grep -q "^pmu-diff: 'other.pb' has values of mallocs in count, but the profiles bef" err
	pmu-topprof --diff a.pb b.pb >d.pb.gz
	exits 1 pmu-diff a.pb d.pb.gz 2>err
	exits 1 pmu-diff a.pb nowhere 2>err
	exits 1 pmu-diff -t nothing a.pb b.pb >out 2>err
	echo "pmu-diff: 'a.pb' has no sample type 'nothing'; it has samples" | same - err
	exits 1 pmu-diff -q --sample-index 1 a.pb b.pb >>out 2>err
	none grep . out err
	for type in 0 samples; do
		pmu-diff --sample-index $type -j a.pb b.pb >of_type
		pmu-diff -j a.pb b.pb | same of_type -
	done
	exits 2 pmu-diff a.pb 2>err
	for wrong in x =3 requests= requests=-1 requests=0 requests=inf; do
		exits 2 pmu-diff --per "$wrong" a.pb b.pb 2>err
	done
	exits 1 pmu-diff --by thread a.pb b.pb 2>err
	exits 1 pmu-diff a.pb b.pb >/dev/full 2>err
END

check 'a warning if all runs of one side came first' <<'END'
	unsanitized
	for i in 1 2; do
		simulate steady $i 500 | pmu-topprof -o a$i.pb.gz
	done
	# go tool pprof -raw would show the times; set them here
	stamp() { python3 - "$TOP" $1 $2 <<-'PY'
		import gzip, sys
		sys.path.insert(0, sys.argv[1] + "/tests")
		from profiles import number
		whole = gzip.open(sys.argv[2]).read() + number(9, int(sys.argv[3]))
		sys.stdout.buffer.write(whole)
	PY
	}
	stamp a1.pb.gz 1000 >a1
	stamp a2.pb.gz 2000 >a2
	stamp a1.pb.gz 3000 >b1
	stamp a2.pb.gz 4000 >b2
	pmu-diff --by object -b a1 -b a2 b1 b2 >table 2>err
	grep -q "^pmu-diff: all runs of one side were recorded before the other side: " err
	pmu-diff --by object -b a1 -b a1 b1 b2 2>err >table
	grep -q "^pmu-diff: 'a1' was given twice for one side: " err
	stamp a1.pb.gz 1500 >b1
	pmu-diff --by object -b a1 -b a2 b1 b2 >table 2>err
	none cat err
END

check '--run profiles both commands in turns; failures are reported, nothing is left' <<'END'
	unsanitized
	test -z "$WRAP" || skip 'under a wrapper'
	ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0	# pmu-prof keeps what it has until it ends
	pmu-diff -q --run 2 --keep keep -j 'ten serial 0.1; echo a >>order' \
		'ten serial 0.1; echo b >>order' >got
	xargs <order | grep -qx "a b b a\|b a a b"
	test "$(get per <got)" = run
	test "$(get base_runs <got)" = 2
	ls keep/base-1.pb.gz keep/base-2.pb.gz keep/after-1.pb.gz keep/after-2.pb.gz
	none ls "$TMPDIR"
	exits 1 pmu-diff --run 2 'ten serial 0.02' 'ten serial 0.02; exit 5' >out 2>err
	test ! -s out
	grep -q "^pmu-diff: 'pmu-prof' failed: exit status 5" err
	grep -q "^pmu-diff: no comparison: run 1 of 'after' failed; to see why: pmu-prof -- sh -c" err
	exits 1 pmu-diff --run 2 true true 2>err
	grep -q "^pmu-diff: no comparison: run [12] of '\(base\|after\)' has no profile: it was too sh" err
	exits 1 pmu-diff --run 2 --keep no/where true true 2>err
	grep -q "^pmu-diff: cannot create 'no/where'" err
	none ls "$TMPDIR"
	exits 2 pmu-diff --run 2 'ten serial 0.05' 2>err
	exits 2 pmu-diff --run 1 true true 2>err
	exits 2 pmu-diff --keep keep a b 2>err
END

done_testing
