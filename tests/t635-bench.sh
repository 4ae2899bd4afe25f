#!/bin/sh
# pmu-stat --bench and --per: the cost of one operation, in Go's benchmark format.
#
# The truth is what go test prints itself, and benchmarks whose costs are known (tests/benches).
# kinds: release
. tests/lib.sh

cp -r "$TOP/tests/benches" "$scratch/benches"
GOFLAGS=-vet=off GOPROXY=off GOTOOLCHAIN=local
export GOFLAGS GOPROXY GOTOOLCHAIN

# format [NAME UNIT]: read the output by the format, strictly: benchstat is not on every machine
format() { python3 "$TOP/tests/benches.py" "$@"; }

# binary: compile the benchmarks of known costs to costs.test, once
binary() {
	needs_command go
	test -e "$scratch/costs.test" ||
		(cd "$scratch/benches" && go test -c -o "$scratch/costs.test" ./costs)
}

# other FILE: all lines but results of benchmarks, without the time that a test took
other() {
	grep -v "^Benchmark" "$1" | sed "s/	[0-9.]*s\$/	TIME/; s/0x[0-9a-f]*/ADDRESS/g
		s/^goroutine .*/goroutine/"
}

check 'go test: each benchmark has as many lines as -count says, all else stays as it is' <<'END'
	needs_command go
	cd "$scratch/benches"
	export GOMAXPROCS=2
	exits 1 go test -bench . -benchtime 2x -count 2 ./... >plain 2>plain.err
	exits 1 pmu-stat --bench -e page-faults -- go test -bench . -benchtime 2x -count 2 ./... \
		>ours 2>err
	format <ours >names
	# the name comes before what the benchmark prints: then its line is none of the format
	sed "s/^Benchmark.*a line\$//; s/^BenchmarkPanics.*//" plain | format >plain.names
	echo BenchmarkNames/talks >>plain.names
	echo BenchmarkNames/talks >>plain.names
	sed "s/-[0-9]*\$//" names | grep -v NeedsOther | sort >all
	sed "s/-[0-9]*\$//" plain.names | grep -v NeedsOther | sort | same - all
	at_least "$(wc -l <all)" 30
	for file in plain ours; do
		# without what fails alone, and the line that go test breaks
		other $file | grep -v "NeedsOther\|_test.go:16\|^panic\|^no line\|^FAIL\$" |
			sort -u >$file.other
	done
	same plain.other ours.other
END

check 'what fails only when it runs alone is reported, and the rest is counted' <<'END'
	needs_command go
	cd "$scratch/benches"
	test -s ours
	grep -q "^pmu-stat: 'BenchmarkNeedsOther.*' failed when it ran alone with 2 iterations: it is" ours
	grep -q "broken_test.go:16: nobody has prepared this" ours
	grep -q "^BenchmarkGood.* page-faults/op" ours
	none grep "^BenchmarkNever" ours
	none cat err
	# alone, it is why the binary fails
	go test -c -o "$scratch/broken.test" ./broken
	exits 1 pmu-stat --bench -e page-faults -- "$scratch/broken.test" -test.bench=Needs\|Good \
		-test.benchtime=2x >out 2>err
	grep -q "^PASS" out
	exits 1 "$scratch/broken.test" -test.bench=Fails -test.benchtime=2x
	exits 2 pmu-stat --bench -e page-faults -- sh -c "exit 2" a -test.bench=.
END

check 'page faults and CPU time of an operation; the compiler and the start are not in it' <<'END'
	binary
	cd "$scratch/benches"
	export GOMAXPROCS=1
	# the compiler has thousands
	near "$(format BenchmarkFaults-2 page-faults/op <ours | sed -n 1p)" 8 500
	pmu-stat --bench -e page-faults -- "$scratch/costs.test" -test.bench=Faults \
		-test.benchtime=1000x >out
	near "$(format BenchmarkFaults page-faults/op <out)" 8 0.3
	# whatever the machine does besides, these operations take a millisecond of CPU time, and
	# what Go's own threads take; the start varies by some 30 ms where other work disturbs it,
	# at times by more
	for attempt in 1 2 3 4 5; do
		pmu-stat --bench -e task-clock -- "$scratch/costs.test" -test.bench=Time \
			-test.benchtime=400x >out
		cat out
		clock=$(format BenchmarkTime task-clock-ns/op <out)
		truth=$(format BenchmarkTime process-ns/op <out)
		! near "$clock" "$truth" 100000 || break
	done
	near "$clock" "$truth" 100000
	at_least "$truth" 1000000
	grep -q "^BenchmarkTime	 *400	" out
END

check 'one iteration, the number that Go chooses, and metrics of the benchmark' <<'END'
	binary
	export GOMAXPROCS=1
	pmu-stat --bench -e page-faults -- "$scratch/costs.test" -test.bench=Faults \
		-test.benchtime=1x -test.count=40 >out
	format BenchmarkFaults page-faults/op <out >values
	test "$(wc -l <values)" = 40
	# the start varies by some page faults
	near "$(sort -g values | sed -n 20p)" 8 4
	pmu-stat --bench -e page-faults -- "$scratch/costs.test" -test.bench=Faults \
		-test.benchtime=30ms >out
	at_least "$(awk "/^BenchmarkFaults/ { print \$2 }" out)" 100
	near "$(format BenchmarkFaults page-faults/op <out)" 8 1
	pmu-stat --bench -e page-faults -- "$scratch/costs.test" -test.bench=Names/metric \
		-test.benchtime=2x >out
	# by its own clock: 1000 ns, and 100 for each iteration: 1800 and 2600 ns for 8 and 16
	pmu-stat --bench -e page-faults -- "$scratch/costs.test" -test.bench=Names/fixed \
		-test.benchtime=8x >fixed
	test "$(format BenchmarkNames/fixed ns/op <fixed)" = 183.333
	test "$(format BenchmarkNames/metric things/op <out)" = 3.5
	test -z "$(format BenchmarkNames/metric ns/op <out)"
END

# like_go SCRIPT: a test binary that runs SCRIPT, where $n is the number of iterations, 10 at first
like_go() {
	cat >like-go <<-END
	#!/bin/sh
	n=10
	for word; do
		case \$word in -test.benchtime=*x) n=\${word#*=} n=\${n%x} ;; esac
	done
	$1
	END
	chmod +x like-go
}

check 'a process that ends while its benchmark runs is reported, and has no line' <<'END'
	for more in "" "	0	NaN ns/op" "	10	5 ns/op"; do
		like_go "echo \"BenchmarkGood	\$n	3 ns/op\"; test \$n = 20 &&
			exec echo \"BenchmarkEnds$more\"; echo \"BenchmarkEnds	\$n	5 ns/op\""
		exits 1 pmu-stat --bench -e page-faults -- ./like-go -test.bench=. >out 2>err
		test "$(format <out)" = BenchmarkGood
		grep -q "^pmu-stat: .BenchmarkEnds. printed no result .* 20 iterations: " err
		test "$(grep -c left err)" = 1
	done
END

check 'what is stopped does not look complete' <<'END'
	# $PPID is pmu-stat, which passes the signal on
	for ending in 5 0; do
		like_go "echo \"BenchmarkA	\$n	3 ns/op\"; test \$n = 10 ||
			{ trap \"exit $ending\" TERM; kill -TERM \$PPID; sleep 60 & wait; }"
		status=0
		pmu-stat --bench -e page-faults -- ./like-go -test.bench=. >out 2>err || status=$?
		test "$status" = "$((ending ? ending : 130))"
		test "$(cat out)" = ""
		grep -q "^pmu-stat: stopped: the rest of the benchmarks has no lines\$" err
	done
END

check 'no time is below 0, and none is the difference of two' <<'END'
	like_go "echo \"BenchmarkA	\$n	\$((n == 10 ? 1000 : 400)) ns/op\""
	pmu-stat --bench -e page-faults -- ./like-go -test.bench=. >out
	test "$(format BenchmarkA ns/op <out)" = 600.0
	grep -q "^BenchmarkA	 *10	 *600 ns/op	.* page-faults/op\$" out
END

check 'a benchmark that reports the unit of an event itself keeps its value' <<'END'
	like_go "echo \"BenchmarkA	\$n	5 ns/op	7.000 page-faults/op\"
		echo \"BenchmarkB	\$n	5 ns/op	NaN page-faults/op\"
		echo \"BenchmarkC	\$n	5 ns/op\""
	pmu-stat --bench -e page-faults,task-clock -- ./like-go -test.bench=. >out 2>err
	test "$(format BenchmarkA page-faults/op <out)" = 7.0
	test "$(format BenchmarkB page-faults/op <out)" = nan
	test -n "$(format BenchmarkC page-faults/op <out)"
	test "$(format BenchmarkA task-clock-ns/op <out | wc -l)" = 1
	grep -q "reports .page-faults/op. itself, as .BenchmarkA. does, keeps its own" err
	test "$(grep -c itself err)" = 1
END

check 'numbers of threads: -cpu, and names that end like one' <<'END'
	binary
	names() { sort | uniq -c; }
	test=$scratch/costs.test
	$test -test.bench=Names/x -test.benchtime=1x -test.cpu=1,2 | format | names >plain
	pmu-stat --bench -e page-faults -- $test -test.bench=Names/x -test.benchtime=1x \
		-test.cpu=1,2 | format | names | same plain -
	# "x-2" is a name by itself, and what two threads make of "x"
	grep -q " 2 BenchmarkNames/x-2\$" plain
	for threads in 1 2 3; do
		export GOMAXPROCS=$threads
		$test -test.bench=Names/x -test.benchtime=1x | format | names >plain
		pmu-stat --bench -e page-faults -- $test -test.bench=Names/x -test.benchtime=1x |
			format | names | same plain -
	done
END

check 'a program of the user runs the binary, and quotes in the path of the tool are kept' <<'END'
	binary
	needs_single_tools
	mkdir "it's here"
	cp "$(command -v pmu-stat)" "it's here/pmu-stat"
	tool=$PWD/it\'s\ here/pmu-stat
	cd "$scratch/benches"
	export GOMAXPROCS=1
	"$tool" --bench -e "{page-faults,task-clock:u}" -- go test -bench Environment \
		-benchtime 2x -exec "env BENCH_RUNS_THIS=1" ./costs >out
	test -n "$(format BenchmarkEnvironment page-faults/op <out)"
	test -n "$(format BenchmarkEnvironment task-clock:u-ns/op <out)"
END

check 'other commands: a line for each run that did not fail, divided by --per' <<'END'
	pmu-stat --bench --per op=10 -n 3 -e page-faults -- /bin/true >out
	test "$(format <out | sort | uniq -c | xargs)" = "3 BenchmarkTrue"
	grep -q "^goos: linux\$" out
	grep -q "^BenchmarkTrue	 *10	" out
	pmu-stat -e page-faults -- /bin/true >whole
	faults=$(awk "\$NF == \"page-faults\" { print \$1 }" whole)
	near "$(format BenchmarkTrue page-faults/op <out | sed -n 1p)" \
		"$(awk "BEGIN { print $faults / 10 }")" 0.5
	pmu-stat --bench -n 2 -e page-faults -- sh -c "exit 3" >out 2>err
	test -z "$(format <out)"
	grep -q "^pmu-stat: 2 of 2 runs failed" err
	for per in op=1e30 op=0.001; do
		test "$(pmu-stat --bench --per $per -e page-faults -- true | format)" = BenchmarkTrue
	done
	pmu-stat --bench --per op=2.6 -e page-faults -- true | grep -q "^BenchmarkTrue	 *3	"
	# "-2" at the end would be a number of threads
	for name in prog-2 prog-10 my-2-prog- x-2y; do
		cp /bin/true "$name"
		pmu-stat --bench -e page-faults -- "./$name" | format
	done | xargs >out
	test "$(cat out)" = "BenchmarkProg_2 BenchmarkProg_10 BenchmarkMy-2-prog- BenchmarkX-2y"
	# what the command prints is not between the lines
	pmu-stat --bench -e page-faults -- sh -c "printf Benchmark" >out 2>err
	test "$(format <out)" = BenchmarkSh
	grep -q "^Benchmark\$" err
END

check 'a command that starts go test is counted as a whole, with a note' <<'END'
	mkdir bin
	printf "#!/bin/sh\n" >bin/go
	chmod +x bin/go
	for command in "env A=1" nice; do
		pmu-stat --bench -e page-faults -- $command bin/go test -bench . >out 2>err
		test "$(format <out | wc -l)" = 1
		grep -q "^pmu-stat: .${command% *}. is not .go test.: the whole command" err
	done
	pmu-stat --bench -e page-faults -- env bin/go test ./... 2>&1 | none grep "whole command"
END

check '--per divides the table, too, and names the unit' <<'END'
	pmu-stat -e page-faults -n 3 -- /bin/true >whole
	pmu-stat -e page-faults -n 3 --per request=10 -- /bin/true >out
	grep -q "values per request" out
	mean() { awk "\$NF == \"page-faults\" { print \$1 }" $1; }
	near "$(mean out)" "$(awk "BEGIN { print $(mean whole) / 10 }")" 0.5
END

check 'so it does in JSON and CSV' <<'END'
	pmu-stat -j -e page-faults -n 2 --per request=0.5 -- /bin/true >out.json
	python3 - <<-"EOF"
	import json
	whole = json.load(open("out.json"))
	assert whole["per"] == {"unit": "request", "number": 0.5}
	row = next(row for row in whole["rows"] if row["name"].startswith("page-faults"))
	assert all(value > 40 and value == int(value) for value in row["values"])
	EOF
	pmu-stat -j -e page-faults -n 2 -- /bin/true | none grep "\"per\""
	pmu-stat --to csv -e page-faults --per op=10 -- /bin/true >out.csv
	grep -q "^,page-faults,count/op,[0-9.]*," out.csv
	grep -q "^,wall-time,nanoseconds/op," out.csv
END

check 'runs for warming up have no line, and --exit-status holds' <<'END'
	pmu-stat --bench --warmup 2 -n 3 -e page-faults -- sh -c "echo >>ran" >out
	test "$(format <out | wc -l) $(wc -l <ran)" = "3 5"
	exits 3 pmu-stat --bench --exit-status -e page-faults -- sh -c "exit 3" 2>err
END

check 'wrong usage' <<'END'
	for per in op op= =1 op=0 op=-1 op=x op=1x op=inf op=nan "a b=1"; do
		exits 2 pmu-stat --per "$per" -- true 2>err
	done
	exits 2 pmu-stat --bench --per op=1 -- go test -bench . 2>err
	grep -q "^pmu-stat: --per is for other commands" err
	exits 2 pmu-stat --bench -n 2 -- go test -bench . 2>err
	grep -q "run as often as -count says" err
	for more in --warmup=1 --to=json --interval=1 -d1 -p1 --vs --save=x --metrics=x; do
		exits 2 pmu-stat --bench $more -- go test -bench . 2>err
	done
	exits 2 pmu-stat --per op=1 --interval 1 -- true 2>err
	test ! -e x
	exits 2 pmu-stat --bench -- go test ./... 2>err
	grep -q "^pmu-stat: 'go test' runs no benchmark without -bench" err
	exits 1 pmu-stat --bench -e nosuch -- go test -bench . 2>err
	test "$(wc -l <err)" = 1
END

done_testing
