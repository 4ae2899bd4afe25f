#!/bin/sh
# Rows, lines of JSON (pmu-rows(5)), are read wherever a profile is.  tests/rows-back.py writes and
# compares them without our code.
# kinds: release asan
. tests/lib.sh

rows() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/rows-back.py" "$@"; }

# back FILE: the rows in FILE as a profile, whose content is shown
back() {
	pmu-topprof -Z none -o back.pb "$1"
	rows show back.pb
}

row='{"type":"cpu","unit":"nanoseconds","value":5,"samples":1,"stack":["main","f"]}'

check 'stacks, labels, values, types and times come back from rows, also of inlined calls' <<'END'
	for data in callgraph-3.8 i686-3.4 hybrid_topology piped.hw_and_sw-3.4; do
		in=$TOP/../shared/data/$data.perf.data
		test -e "$in" || skip 'no recordings of other machines (see CONTRIBUTING.md)'
		pmu-symbolize -q "$in" 2>err | pmu-topprof -q -l pid,thread_comm,cpu -o p.pb.gz
		for detail in '' detail; do
			rows write p.pb.gz $detail >p.rows
			pmu-topprof -o back.pb.gz p.rows
			rows same p.pb.gz back.pb.gz $detail >differs
			none cat differs
		done
		go tool pprof -raw back.pb.gz >raw
		grep -q '^Samples:' raw
	done
END

check 'each tool that reads profiles reads rows: files and pipes, plain, gzip and zstd' <<'END'
	any_user
	for n in 1 2 3; do echo "$row" | sed "s/\"f\"/\"f$n\"/"; done >p.rows
	for pack in cat gzip zstd; do
		$pack <p.rows >in
		for from in "cat in" "dd bs=1 if=in status=none"; do
			$from | pmu-top -j >top
			test "$(grep -c '"f[123]"' top)" = 3
			$from | pmu-topprof --to folded | same - - <<-EOF
			main;f1 5
			main;f2 5
			main;f3 5
			EOF
		done
		pmu-top -t samples in | grep -q '1 *33.33%.*f3'
		pmu-topprof -o sum.pb in in
		pmu-topprof --to folded sum.pb | grep -qx 'main;f2 10'
		pmu-topprof --diff in -o none.pb in
		pmu-flame -o page.html in
		grep -q f3 page.html
		pmu-diff -j in in >diff.json
		grep -q '"f1"' diff.json
		exits 1 pmu-data in 2>err
		grep -q "'in' is a profile" err
	done
	pmu-annotate f1 p.rows >out 2>&1 || :
	grep -q '5ns *33.33%.* f1' out
END

check 'a pipe is known by its first bytes, however late and in small pieces they come' <<'END'
	any_user
	echo "$row" >p.rows
	pmu-topprof -o p.pb.gz p.rows
	for in in p.rows p.pb.gz; do
		for file in - /dev/stdin; do
			{
				sleep 0.1
				dd bs=1 count=1 status=none
				sleep 0.1
				cat
			} <$in | pmu-topprof --to folded $file >got
			echo 'main;f 5' | same - got
		done
	done
END
done_testing
