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
			pmu-topprof --to rows ${detail:+--rows-detail} p.pb.gz >ours.rows
			for written in p.rows ours.rows; do
				pmu-topprof -o back.pb.gz $written
				rows same p.pb.gz back.pb.gz $detail >differs
				none cat differs
			done
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

check 'a damaged line is named by its number, with the reason, and takes no other with it' <<'END'
	any_user
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/rows-hostile.py"
	n=$(ls ./*.why | wc -l)
	test "$n" -gt 50
	exits 1 pmu-topprof -o all.pb all.rows 2>err
	grep -q "^pmu-topprof: $((n - 3)) more like this: 'all.rows': line 2 is left out: " err
	pmu-topprof --to folded all.pb >folded
	echo "main;f $((n * 10))" | same - folded
	sanitized && n=0	# it has read all of them
	for i in $(seq "$n"); do
		exits 1 pmu-topprof -o one.pb "$i.rows" 2>err
		echo "pmu-topprof: '$i.rows': line 2 is left out: $(cat "$i.why")" | same - err
	done
	{ echo; printf '{"type":"cpu"}\n'; } >none
	exits 1 pmu-topprof none 2>err >out
	test ! -s out
	grep -q "'none': line 2 is left out: it has no value" err ||
		grep -q "'none': line 2 is left out: it has no stack" err
	grep -q "'none' has no row" err
END

check 'a line without end is left out, and one of more than 64 MiB; a megabyte is read' <<'END'
	any_user
	long() { head -c "$1" /dev/zero | tr '\0' a; }
	{ printf '{"type":"t","value":1,"stack":["'; long 1000000; printf '"]}\n'; } >megabyte
	{ echo "$row"; cat megabyte; printf '{"type":"t","value":1,"stack":["'; long 2000000; } >cut
	exits 1 pmu-topprof -Z none -o cut.pb cut 2>err
	grep -q "line 3 is left out: a value is missing, or does not end" err
	test "$(rows show cut.pb | wc -c)" -gt 1000000
	unsanitized
	{ echo "$row"; printf '{"type":"'; long 70000000; echo; echo "$row"; } >huge
	exits 1 pmu-topprof -Z none -o huge.pb huge 2>err
	grep -qx "pmu-topprof: 'huge': line 2 is left out: it has more than 64 MiB" err
	rows show huge.pb >got
	test "$(grep -c "'nanoseconds') 10$" got)" = 1
END

# rows of the type t/u with what stdin has
of_t() { sed 's/.*/{"type":"t","unit":"u",&}/'; }

# Engines answer in forms of their own.
check 'quoted numbers, other orders and spaces, null, texts of JSON and arrays are read' <<'END'
	any_user
	cat >forms <<-'EOF'
	[{"stack" : ["main", "f"] , "unit":"u","type":"t", "value" : "5" ,"samples":null},
	{"value":"5","samples":"2","type":"t","unit":"u","stack":"[\"main\",\"f\"]"},

	{"type":"t","unit":"u","value":5.0,"stack":["main","\u0066"],"labels":"","host":""},
	  {"type":"t","unit":"u","value":0.5e1,"stack":["main","f"],"labels":"{}","new":[{}]}
	]
	EOF
	back forms >got
	cat >want <<-'EOF'
	main;f {} ('samples', 'count') 2
	main;f {} ('t', 'u') 20
	EOF
	same want got
	zstd -q forms -o forms.zst
	back forms.zst | same want -
END

check 'folded text may have a tab before its number, as answers of databases have' <<'END'
	any_user
	printf 'main;a b\t12\nmain;c\t3.5\nmain;d 4\n' >tabs
	test "$(pmu-top -j tabs | grep -c '"flat": [1-9]')" = 3
	pmu-top -j tabs | grep -q '"name": "a b", "flat": 12,'
	pmu-top -j tabs | grep -q '"name": "c", "flat": 4,'
END

check 'labels come back as they were: texts, numbers, units, several values, odd ones' <<'END'
	any_user
	of_t >labels <<-'EOF'
	"value":1,"stack":[],"labels":{"e":"","n":0,"s":"0","z":-5},"units":{"z":"b"}
	"value":2,"stack":["f"],"labels":{"k":["a","b",7]},"units":{"k":"bytes","x":"y"}
	"value":4,"stack":[],"labels":{"k":null,"\u00e9\ud83d\ude00\ud800":"\u0000"}
	"value":6,"stack":["n"],"labels":{"a":1.5,"b":18446744073709551616,"c":-1.5e3}
	"value":8,"stack":[],"labels":"{\"q\":\"a\\\"b\"}"
	EOF
	back labels >got
	cat >want <<-'EOF'
	 {'e': ('', ''), 'n': (0, ''), 's': ('0', ''), 'z': (-5, 'b')} ('t', 'u') 1
	 {'q': ('a"b', '')} ('t', 'u') 8
	 {'é😀?': ('?', '')} ('t', 'u') 4
	f {'k': ('b', '')} ('t', 'u') 2
	n {'a': ('1.5', ''), 'b': ('18446744073709551616', ''), 'c': (-1500, '')} ('t', 'u') 6
	EOF
	same want got
	go tool pprof -raw back.pb >raw
	grep -q 'k:\[[ab] [ab]\]' raw
	grep -q 'k:\[7\( bytes\)*\]' raw
END

check 'one host and one service are comments; several are labels, but not those of comm' <<'END'
	any_user
	of_t >one <<-'EOF'
	"time":5,"time_ns":7,"duration_ns":3,"host":"h","service":"s","value":1,"stack":["f"]
	"time":5,"time_ns":7,"duration_ns":3,"host":"h","service":"s","value":1,"stack":["g"]
	"time":9,"duration_ns":4,"host":"h","service":"s","value":1,"stack":["g"]
	EOF
	back one | cut -d' ' -f2 | sort -u | same - - <<-'EOF'
	{}
	EOF
	go tool pprof -raw back.pb >raw
	grep -qx 'Comment: host: h' raw
	grep -qx 'Comment: service: s' raw
	grep -qx 'Time: 1970-01-01 00:00:05.000000007 +0000 UTC' raw
	grep -qx 'Duration: 7ns' raw
	of_t >several <<-'EOF'
	"time":5,"host":"h","service":"s","value":1,"stack":["f"]
	"time":5,"host":"i","service":"c","value":2,"stack":["f"],"labels":{"comm":"c"}
	"time":5,"service":"x","value":4,"stack":["f"],"labels":{"service":"y"}
	EOF
	back several >got
	same - got <<-'EOF'
	f {'comm': ('c', ''), 'host': ('i', '')} ('t', 'u') 2
	f {'host': ('h', ''), 'row_service': ('s', '')} ('t', 'u') 1
	f {'row_service': ('x', ''), 'service': ('y', '')} ('t', 'u') 4
	EOF
END

# Two hosts, several services, one of them the name of a thread; and a label with the name service.
several='"time":5,"duration_ns":3,"host":"h","service":"s t","value":1,"labels":{"thread_comm":"w"}
"time":6,"time_ns":7,"host":"i","service":"py","value":2,"labels":{"thread_comm":"py"}
"time":6,"time_ns":7,"host":"i","service":"w","value":2,"labels":{"comm":"p","thread_comm":"w"}
"time":7,"host":"i","service":"x","value":3,"labels":{"service":"own"}
"duration_ns":9,"value":4,"labels":{"a":1,"z":"b"}
"time":7,"host":"h","service":"x","value":-5,"labels":{"pprof::base":"true"}'

check 'rows of several hosts and services, joined and written again, are the same rows' <<'END'
	any_user
	echo "$several" | sed 's/^/{/; s/$/}/
		s/,"value":\([-0-9]*\)/,"type":"t","unit":"u","value":\1,"stack":["f"]/' >joined
	# once more through a sum: the facts are kept
	pmu-topprof -o joined.pb.gz joined
	pmu-topprof -o sum.pb.gz joined.pb.gz joined.pb.gz
	for from in joined joined.pb.gz; do
		pmu-topprof --to rows $from | sed 's/"hash":"[^"]*",//' | sort >again
		sort joined | same - again
	done
	for alike in host service; do
		sed "s/\"$alike\":\"[^\"]*\",/\"$alike\":\"x\",/" joined | grep -v own |
			grep "\"$alike\":\"x\"," >part
		test "$(wc -l <part)" = 4
		pmu-topprof --to rows part | sed 's/"hash":"[^"]*",//' | sort >again
		sort part | same - again
	done
	pmu-topprof --to rows sum.pb.gz | grep -q '"time":6,"time_ns":7,.*"service":"py",.*"value":4,'
	pmu-topprof --to rows --host H --service S joined >all
	test "$(grep -c '"host":"H","service":"S",' all)" = 6
END

check 'the default type is that of the profile: waits or passed time, if there are any' <<'END'
	any_user
	for types in 'cpu:a off-cpu:wait' 'a:wall off-cpu:wall wall:wall' 'b:c c:c'; do
		for type in $types; do
			samples=',"samples":2'
			test "${type%:*}" != wall || samples=
			printf '{"type":"%s","unit":"nanoseconds","value":1%s,"stack":["%s"]}\n' \
				"${type%:*}" "$samples" "${type#*:}"
		done >types
		pmu-topprof --to folded types | cat
	done >got
	printf '%s 1\n' wait wall c | same - got
END

check 'a number of samples that is not known is not written as 0' <<'END'
	any_user
	of_t >some <<-'EOF'
	"value":5,"samples":2,"stack":["a"]
	"value":7,"stack":["b"]
	"value":0,"samples":1,"stack":["c"]
	EOF
	pmu-topprof --to rows some | sed 's/"hash":"[^"]*",//' | same some -
	grep '"samples"' some | sed 's/"samples":2/"samples":0/' >all
	pmu-topprof --to rows all | sed 's/"hash":"[^"]*",//' | same all -
END

check 'sums beyond 64 bits are reported, and cut: in rows, and in a sum of profiles' <<'END'
	any_user
	most=9223372036854775807
	of_t >most <<-EOF
	"value":$most,"stack":["a"]
	"value":-$most,"stack":["b"]
	"value":-2,"stack":["b"]
	"value":1,"stack":["a"]
	EOF
	exits 1 pmu-topprof --to rows most >got 2>err
	grep -q "'most': 2 sums do not fit into 64 bits" err
	grep -q "\"value\":$most,.*\"a\"" got
	grep -q "\"value\":-9223372036854775808,.*\"b\"" got
	head -n 1 most >one
	pmu-topprof -o one.pb one
	exits 1 pmu-topprof -Z none -o sum.pb one.pb one.pb 2>err
	grep -q 'sums do not fit into 64 bits' err
	rows show sum.pb | grep -qx "a {} ('t', 'u') $most"
	sed 'p; s/}$/,"labels":{"a":1}}/' one >two
	exits 1 pmu-topprof --to folded two >got 2>err
	echo "a $most" | same - got
	grep -q 'sums do not fit into 64 bits' err
END

check 'broken characters are counted; a mark of UTF-8 is skipped; a row is one line' <<'END'
	any_user
	of_t >broken <<-'EOF'
	"value":1,"stack":["a\ud800"]
	"value":1,"stack":["b\u0000"],"labels":"{\"k\\udfff\":1}"
	EOF
	pmu-topprof --to rows broken >got 2>err
	grep -q ': 3 names have bytes that are not UTF-8' err
	grep -q '"a?"' got
	{ printf '\357\273\277'; echo "$row"; } >mark
	for from in 'cat mark' 'dd bs=1 if=mark status=none' 'gzip -c mark'; do
		$from | pmu-topprof --to folded
	done >got
	printf 'main;f 5\n%.0s' 1 2 3 | same - got
	for space in '' '                     '; do
		echo "$row" | python3 -c 'import json, sys
for line in sys.stdin: print(json.dumps(json.loads(line), indent="'"$space"'  "))' >pretty
		exits 1 pmu-topprof pretty >out 2>err
		grep -q 'line 1 is left out: a row is one line, but this one goes on in the next' err
		grep -q 'has no row: each row is one line' err
		dd bs=1 if=pretty status=none | pmu-topprof >out 2>err || :
		grep -q 'has no row: each row is one line' err
	done
END

check 'an empty input: the message names rows; a profile without samples says so as rows' <<'END'
	any_user
	: >empty
	cat empty | exits 1 pmu-topprof 2>err
	grep -q 'empty: no stream came, and no rows' err
	echo "$row" >some
	sed 's/:[15],/:0,/g' some | pmu-topprof -o zero.pb
	pmu-topprof --to rows zero.pb >zero 2>err
	test ! -s zero
	grep -qx 'pmu-topprof: a profile without samples has no rows' err
	pmu-topprof --to rows some >got 2>err
	none cat err
END

check 'a difference written as rows comes back: the times of both sides, and the rows' <<'END'
	any_user
	for n in 1 2; do
		run="\"labels\":{\"run\":\"r$n\"}"
		sed 's/^/{"type":"cpu","unit":"nanoseconds",/; s/$/}/' >side$n <<-EOF
		"time":$n,"duration_ns":${n}000000000,"value":${n}5,"samples":$n,"stack":["f"],$run
		"time":$n,"duration_ns":${n}000000000,"value":${n}7,"samples":$n,"stack":["g$n"],$run
		EOF
	done
	pmu-topprof --diff side1 -o d.pb.gz side2
	pmu-topprof --to rows d.pb.gz | sort >d.rows
	test "$(grep -c '"time":1,"duration_ns":1000000000,.*"pprof::base":"true"' d.rows)" = 2
	test "$(grep -c '"time":2,"duration_ns":2000000000,.*"labels":{"run":"r2"}' d.rows)" = 2
	pmu-topprof --to rows d.rows | sort | same d.rows -
	pmu-topprof -Z none -o back.pb d.rows
	rows same d.pb.gz back.pb >differs
	none cat differs
	pmu-top d.pb.gz | sed 's/d\.pb\.gz/D/' >want
	pmu-top d.rows | sed 's/d\.rows/D/' | same want -
	grep -q 'in 1\.00s -> .* in 2\.00s' want
END

check 'rows with the labels of runs and slices give the error bars that the profile gives' <<'END'
	any_user
	for p in "$TOP"/tests/data/releases/*/*.pb.gz; do
		pmu-topprof --to rows "$p" >p.rows
		pmu-top -j "$p" | grep -o '"[a-z_]*bar": {[^}]*}' >want || :
		pmu-top -j p.rows | grep -o '"[a-z_]*bar": {[^}]*}' | same want -
		cat want
	done | grep -q '"deff": [0-9]'
END

check 'the same stacks in ten times as many rows take the same memory' <<'END'
	any_user
	unsanitized
	for i in $(seq 2000); do echo "$row" | sed "s/f/f$i/"; done >rows
	for n in 1 2 3 4 5 6 7 8 9 10; do cat rows; done >more
	for n in 1 2 3 4 5 6 7 8 9 10; do cat more; done >most
	small=$(cost pmu-top more | cut -d' ' -f2)
	at_most "$(cost pmu-top most | cut -d' ' -f2)" $((small + 2000))
END
done_testing
