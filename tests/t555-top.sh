#!/bin/sh
# pmu-top: it opens whatever holds samples; callers and callees; rows of other things than
# functions; JSON and CSV; the last seconds of a stream on a terminal.
# kinds: release asan
. tests/lib.sh

pmu-sample -q --sample-cpu -g -e cpu-clock -F 1000 -o "$scratch/raw" -- \
	sh -c 'ten serial 0.2; ten threads 0.1'
pmu-symbolize -q "$scratch/raw" >"$scratch/resolved"
pmu-topprof -l pid,thread_comm --slices 20 -o "$scratch/p.pb.gz" "$scratch/resolved"
pmu-top -n 100 "$scratch/p.pb.gz" >"$scratch/table"

# as_table INPUT: it shows the table by its name, by stdin and by a pipe
as_table() {
	pmu-top -n 100 "$1" | same "$scratch/table" - && pmu-top -n 100 <"$1" |
		same "$scratch/table" - && cat "$1" | pmu-top -n 100 | same "$scratch/table" -
}

# fields KEY...: of the rows of the JSON on stdin, a line each, with the name first
fields() {
	python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    print(row["name"], *(row[key] for key in sys.argv[1:]))' "$@" | sort
}

check 'a stream, raw or resolved, and its profile make one table, compressed or not' <<'END'
	test "$(wc -l <"$scratch/table")" -gt 12
	for input in raw resolved; do
		as_table "$scratch/$input"
		! sanitized || test -n "$ALL" || continue
		gzip -c "$scratch/$input" >$input.gz
		as_table $input.gz
		zstd -q "$scratch/$input" -o $input.zst
		as_table $input.zst
	done
	for how in gzip zstd none; do
		pmu-topprof --slices 20 -Z $how -o p.$how "$scratch/resolved"
		as_table p.$how
	done
	go tool pprof -proto -symbolize=none -output go.pb.gz "$scratch/p.pb.gz" 2>go-log
	as_table go.pb.gz
END

check 'a file of perf record is opened, and a stream of it' <<'END'
	unsanitized
	needs_command perf
	perf_record -e cpu-clock -F 1000 -g -o perf.data -- ten serial 0.2
	pmu-symbolize -q perf.data | pmu-topprof -l none --slices 20 | pmu-top -n 100 >want
	grep -q " J$" want
	pmu-top -n 100 perf.data | same want -
	pmu-top -n 100 <perf.data | same want -
	cat perf.data | pmu-top -n 100 | same want -
	perf record -q -e cpu-clock -F 1000 -g -o - -- ten serial 0.2 2>log | tee piped |
		pmu-top -n 100 >got
	pmu-symbolize -q piped | pmu-topprof -l none --slices 20 | pmu-top -n 100 | same got -
END

check 'folded text has the sums that counting its lines gives' <<'END'
	pmu-topprof --to folded -l none "$scratch/resolved" >folded
	awk '{ value = $NF; sub(/ [0-9]+$/, ""); n = split($0, f, ";"); flat[f[n]] += value
		split("", seen)
		for (i = 1; i <= n; i++) if (!seen[f[i]]++) cum[f[i]] += value }
		END { for (name in cum) print name, flat[name] + 0, cum[name] }' folded | sort >want
	test "$(wc -l <want)" -gt 20
	pmu-top -j folded | fields flat cum | same want -
	gzip -c folded | pmu-top -j | fields flat cum | same want -
	zstd -qc folded | pmu-top -j | fields flat cum | same want -
	printf 'a;b;a;c 3\n\n# comment\na;b 4\r\nc 2.5\nx;;y 1' | pmu-top -j | fields flat cum >got
	printf '%s\n' 'a 0 7' 'b 4 7' 'c 6 6' 'x 0 1' 'y 1 1' | same got -
END

check 'text that is not a stack is reported, and input of no known kind is refused' <<'END'
	printf 'a;b 3\nno number\nc 1\n' >text
	exits 1 pmu-top -j text >out 2>err
	fields flat <out | grep -qx "b 3"
	grep -q "^pmu-top: 'text': line 2 is left out: a line is a stack, a space and a num" err
	printf 'a -5\na -2\nc 1\n' >text
	exits 1 pmu-top -j text >out 2>err
	grep -q "^pmu-top: 'text': line 1 and 1 more are left out: .* number from 0 on$" err
	for bytes in 'just words' '1 2 x' ''; do
		printf "$bytes" >text
		exits 1 pmu-top text >out 2>err
		test ! -s out
		test "$(wc -l <err)" = 1
	done
	: >text
	exits 1 pmu-top text 2>err
	grep -qx "pmu-top: 'text' is empty" err
	head -c 3000 /dev/urandom >noise
	exits 1 pmu-top noise >out 2>err
	grep -qx "pmu-top: 'noise' is not a .* or folded text, or is damaged" err
	exits 1 pmu-top . >out
	exits 1 pmu-top nowhere >out
END

check 'byte by byte, a pipe is opened as well' <<'END'
	head -c 20000 "$scratch/raw" >cut
	for input in cut "$scratch/p.pb.gz"; do
		pmu-top -n 5 $input >want 2>err || :
		python3 -c "
import os, sys
for byte in open('$input', 'rb').read():
    os.write(1, bytes([byte]))" | { pmu-top -n 5 2>err || :; } | same want -
	done
END

check 'a cut or damaged stream is shown as far as it goes, with exit 1' <<'END'
	for input in raw resolved; do
		size=$(wc -c <"$scratch/$input")
		for cut in 0 7 15 16 40 300 $((size / 2)) $((size - 5)); do
			head -c $cut "$scratch/$input" >cut
			exits 1 pmu-top cut >out 2>err
			test -s err
			! sanitized || test -n "$ALL" || continue	# the parsers are the same
			{ exits 1 pmu-top >out 2>err; } <cut
			exits 1 sh -c "cat cut | pmu-top >out 2>err"
		done
	done
END

check 'the other tools are found in $PMU_PATH, beside pmu-top, and in $PATH, in this order' <<'END'
	unsanitized
	needs_single_tools
	test -z "$WRAP" || skip 'under a wrapper'
	mkdir beside first path
	cp "$BIN/pmu-top" beside
	for where in beside first path; do
		printf "#!/bin/sh\necho $where >found\nexec $BIN/pmu-symbolize \"\$@\"\n" >tool
		install -m 755 tool $where/pmu-symbolize
	done
	found() { env PATH="$PWD/path:/bin:/usr/bin" "$@" beside/pmu-top "$scratch/raw" >out; cat found; }
	test "$(found env PMU_PATH=$PWD/nowhere:$PWD/first)" = first
	test "$(found env)" = beside
	test "$(found env PMU_PATH=)" = beside
	rm beside/pmu-symbolize
	test "$(found env)" = path
	exits 1 env PATH=/bin:/usr/bin beside/pmu-top "$scratch/raw" >out 2>err
	grep -q "^pmu-top: cannot find 'pmu-symbolize', which is needed here: put it beside" err
	test ! -s out
	# what needs no other tool works alone
	env PATH=/nowhere beside/pmu-top -n 100 "$scratch/resolved" | same "$scratch/table" -
END

check 'the other tools are found beside pmu-top in the root directory, without /proc' <<'END'
	needs_root
	test -z "$WRAP" || skip 'under a wrapper'
	ldd "$BIN/pmu-top" 2>/dev/null | grep -q "=>" && skip 'the tools are not static'
	mkdir root
	cp "$BIN/pmu-top" "$BIN/pmu-symbolize" "$scratch/raw" root
	chroot root /pmu-top /raw >out 2>err
	grep -q "^cpu (nanoseconds): " out
END

check 'a stream without any name is reported, raw or symbolized' <<'END'
	compose s.data <<-PY
		out = pipe(record(64, attr(1, 0, 1000000, IP | TID) + struct.pack("<Q", 1), 0),
		    *[record(9, struct.pack("<QII", 0x1000 + i % 3, 7, 7)) for i in range(9)])
	PY
	pmu-symbolize -q s.data >named
	for input in s.data named; do
		pmu-top $input >out 2>err
		grep -qx "pmu-top: no address has a name; pmu-symbolize -v says what was missing" err
	done
END

check 'columns never touch, whatever the values are' <<'END'
	any_user
	for unit in count nanoseconds bytes; do
		for value in 0 1 999999 9999999 99999999 999999999 8982000000 99999999999 \
			1592970000000 3009300000000000 8999999999999999999 -1 -9999999 \
			-999999999 -8999999999999999999
		do
			python3 - "$TOP" $unit $value >p.pb <<-'PY'
				import sys
				sys.path.insert(0, sys.argv[1] + "/tests")
				from profiles import *
				value, small = int(sys.argv[3]), 1 if sys.argv[3][0] != "-" else -1
				strings = [b"cost", sys.argv[2].encode(), b"small", b"callee"]
				sys.stdout.buffer.write(
				    bytes_of(1, number(1, SAMPLES) + number(2, COUNT)) +
				    profile([bytes_of(1, number(1, FIRST) + number(2, FIRST + 1)),
				             function(1, MAIN), location(1, [1]),
				             function(2, FIRST + 2), location(2, [2]),
				             function(3, FIRST + 3), location(3, [3]),
				             sample([1], [1000, value]), sample([2], [900, small]),
				             sample([3, 1], [100, value // 10])],
				            strings, types=0))
			PY
			pmu-top -t cost p.pb >with 2>/dev/null
			pmu-top -t cost --bars none p.pb >without
			pmu-top -t cost --tree p.pb >tree 2>/dev/null
			columns=7
			test ${value#-} = $value || columns=5
			awk -v n=$columns -v rows=$((value == 0 ? 0 : 1)) '
				/ (main|callee)$/ { found++; if (NF != n) bad = 1 }
				END { exit bad || found < rows }' with || { cat with; exit 1; }
			awk '/ (main|callee|small)$/ && NF != 5 { bad = 1 }
				END { exit bad }' without || { cat without; exit 1; }
			none grep -E '[0-9][MGTPEshy][0-9]|\.[0-9]{3}' with without tree
		done
	done
END

check 'a tool that fails, is killed, or cannot run makes pmu-top fail, and nothing is left' <<'END'
	unsanitized
	mkdir tools
	tool() { printf "#!/bin/sh\n$1\n" >tools/pmu-symbolize; chmod +x tools/pmu-symbolize; }
	cp "$scratch/raw" raw
	tool "$BIN/pmu-symbolize \"\$@\"; exit 3"
	for input in raw -; do
		PMU_PATH=$PWD/tools exits 1 pmu-top -n 100 $input <raw >out 2>err
		same "$scratch/table" out
		grep -q "^pmu-top: 'pmu-symbolize' failed: exit status 3" err
	done
	tool 'kill -KILL $$'
	cat raw | PMU_PATH=$PWD/tools exits 1 pmu-top >out 2>err
	grep -q "^pmu-top: 'pmu-symbolize' was ended by signal 9 (Killed): the rest is missing" err
	printf 'no program' >tools/pmu-symbolize
	PMU_PATH=$PWD/tools exits 1 pmu-top raw >out 2>err
	grep -q "^pmu-top: cannot run '$PWD/tools/pmu-symbolize': " err
	eventually exits 1 strays_left
END

check 'samples with dumps of stacks go through pmu-unwind first' <<'END'
	unsanitized
	mkdir tools
	printf '#!/bin/sh\necho "$@" >called\nexec cat "${2:--}"\n' >tools/pmu-unwind
	chmod +x tools/pmu-unwind
	needs_command perf
	perf_record -e cpu-clock -F 500 --call-graph dwarf,1024 -o dumps -- ten serial 0.1
	PMU_PATH=$PWD/tools pmu-top dumps >got
	grep -qx -- "-- dumps" called
	grep -q " [A-J]$" got
	rm called
	cat dumps | PMU_PATH=$PWD/tools pmu-top >got
	grep -qx "" called
	rm called
	PMU_PATH=$PWD/tools pmu-top "$scratch/raw" >got
	test ! -e called
END

check 'a full disk is a failure; a reader that closes the pipe is not' <<'END'
	for input in raw resolved p.pb.gz; do
		(pmu-top -n 1000 "$scratch/$input"; echo $? >status) | true
		test "$(cat status)" = 0
		exits 1 pmu-top "$scratch/$input" >/dev/full 2>err
	done
END

# calls: of the JSON on stdin, a line for each row and each of its callers and callees
calls() {
	python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    print(row["name"], row["flat"], row["cum"])
    for what in "callers", "callees":
        for call in row[what]:
            print(row["name"], what, call["name"], call["value"])' |
		settled
}

# settled: without what is named only while it is there: code that the kernel made
settled() { grep -vE "\[|<unknown>|0x[0-9a-f]{6}|bpf_prog_" | sort; }

# calls_of_pprof PROFILE: the same from go tool pprof -tree
calls_of_pprof() {
	go tool pprof -tree -symbolize=none -sample_index=samples -nodefraction=0 \
		-edgefraction=0 -nodecount=100000 "$1" 2>go-log | python3 -c '
import re, sys
blocks = sys.stdin.read().split("----------------------------------------------------------+")
for block in blocks[2:]:
    calls, name = {"callers": [], "callees": []}, None
    for line in block.split("\n")[1:]:
        if "|" not in line:
            continue
        left, right = line.split("|", 1)
        left, right = left.split(), right.strip().replace(" (inline)", "")
        if len(left) == 5:
            name, row = right, f"{right} {left[0]} {left[3]}"
        else:
            calls["callees" if name else "callers"].append((right, left[0]))
    if name:
        print(row)
        for what, list in calls.items():
            for other, value in list:
                print(name, what, other, value)' |
		settled
}

check 'callers and callees are those of go tool pprof -tree' <<'END'
	unsanitized
	pmu-top -t samples --tree -j "$scratch/p.pb.gz" | calls >got
	calls_of_pprof "$scratch/p.pb.gz" >want
	test "$(wc -l <want)" -gt 60
	same want got
	pmu-top --sample-index samples --tree -j "$scratch/raw" | calls | same want -
END

check 'calls are counted once for each sample; calls of a function by itself are not' <<'END'
	printf 'a;b;a;b;c 3\na;a;c 5\nb;c 2\n' | pmu-top --tree -j | calls >got
	sort >want <<-EOF
		a 0 8
		a callers b 3
		a callees b 3
		a callees c 5
		b 0 5
		b callers a 3
		b callees a 3
		b callees c 5
		c 10 10
		c callers a 5
		c callers b 5
	EOF
	same want got
END

# rows_of TABLE: its rows, without the lines around them
rows_of() { grep -E '^ *[0-9.]+[a-z]+ +[0-9.]+%' "$1"; }

check 'a flat table has no function without a cost of its own; --cum, --tree, JSON have' <<'END'
	pmu-top -n 1000 --bars none "$scratch/p.pb.gz" >flat
	pmu-top -j "$scratch/p.pb.gz" | fields flat cum >all
	# one without a cost of its own: main, if it did not get a sample after all
	caller=$(sed -n 's/^\([a-zA-Z_][a-zA-Z0-9_]*\) 0 [1-9][0-9]*$/\1/p' all |
		awk '{ name = $1 } name == "main" { exit } END { print name }')
	test -n "$caller"
	test "$(rows_of flat | wc -l)" -eq "$(grep -vc ' 0 [0-9]*$' all)"
	none grep ' 0\.00% .* [1-9][0-9.]*% ' flat
	pmu-top -n 1000 --bars none --cum "$scratch/p.pb.gz" >cum
	test "$(rows_of cum | wc -l)" -eq "$(wc -l <all)"
	grep -E " 0\.00% +[0-9.]+ms +[0-9.]+% +$caller\$" cum
	pmu-top -n 1000 --bars none --tree "$scratch/p.pb.gz" >tree
	grep -E " 0\.00% .* $caller\$" tree
	# what is left out for its few samples does not count functions without cost
	pmu-top -n 1000 "$scratch/p.pb.gz" >bars
	few=$(sed -n 's/^\([0-9]*\) more functions\{0,1\}, too rare.*/\1/p' bars)
	test $(($(rows_of bars | wc -l) + ${few:-0})) -eq "$(rows_of flat | wc -l)"
END

check 'a short profile shows the functions that hold the samples' <<'END'
	for n in 1 3 7; do
		pmu-stream -n $n "$scratch/raw" | pmu-symbolize -q |
			pmu-topprof --slices 20 -o short.pb.gz
		pmu-top -t samples short.pb.gz >table
		sum=$(awk '$2 ~ /%/ { s += $1 } END { print s + 0 }' table)
		at_least "$((4 * sum))" $((3 * n))
	done
END

check 'the tree is cut at --min, and says how many are left out' <<'END'
	printf 'm;a 900\nm;b 90\nm;c 9\nm;d 1\n' >text
	pmu-top --tree --min 5% -n 1 --cum text >out
	grep -qE "^ +900  90.00%      a$" out
	grep -qE "^ +90   9.00%      b$" out
	grep -qE "^ +\[2 more, with less\]$" out
	none grep -qE " [cd]$" out
	pmu-top --cum --min 0.05 text | tail -n +3 | awk '{ print $5 }' >names
	printf 'm\na\nb\n' | same names -
	pmu-top --tree --min 0 -n 1 --cum text | grep -qE "^ +1   0.10%      d$"
	for wrong in 2 -1 x 5%% '' nan; do exits 2 pmu-top --min "$wrong" text 2>err; done
END

check 'rows of processes, threads, names and CPUs are the labels that pprof counts' <<'END'
	unsanitized
	for by in pid tid comm cpu; do
		label=$by
		test $by != comm || label=thread_comm
		pmu-topprof -l $label -o $by.pb.gz "$scratch/resolved"
		go tool pprof -tags -sample_index=samples $by.pb.gz 2>go-log |
			sed -n 's/^ *\([0-9]*\)\.0 *(.*): *\([^ ]*\) *$/\2 \1/p' | sort >want
		test -s want
		pmu-top -j -t samples --by $by $by.pb.gz | fields flat | same want -
		pmu-top -j -t samples --by $by "$scratch/raw" | fields cum | same want -
		pmu-top -j -t samples --by $label "$scratch/resolved" | fields cum | same want -
	done
	exits 1 pmu-top --by cpu pid.pb.gz >out 2>err
	grep -q "^pmu-top: no sample has the label 'cpu'" err
	test ! -s out
	exits 1 pmu-top --by nosuch "$scratch/raw" >out 2>err
	grep -q "^pmu-top: a stream has no label 'nosuch'; it has pid, " err
	exits 2 pmu-top --tree --by pid pid.pb.gz 2>err
END

check 'rows of files and lines are those of go tool pprof, rows of objects those of perf' <<'END'
	unsanitized
	# pprof has a row for each function of a file; it writes paths of libraries otherwise
	for by in file line; do
		go tool pprof -top -${by}s -symbolize=none -sample_index=samples -nodefraction=0 \
			-nodecount=100000 "$scratch/p.pb.gz" 2>go-log | sed 's/ (inline)$//' |
			awk 'on { name = $6; for (i = 7; i <= NF; i++) name = name " " $i
				flat[name] += $1 } $1 == "flat" { on = 1 }
				END { for (name in flat) if (flat[name]) print name, flat[name] }' |
			grep '/ten\.c[: ]' | sort >want
		test -s want
		pmu-top -j -t samples --by $by "$scratch/p.pb.gz" | fields flat |
			grep '/ten\.c[: ]' | grep -v ' 0$' | same want -
	done
	needs_command perf
	perf report -i "$scratch/raw" --stdio --no-children -g none -F sample,dso 2>log |
		awk '$1 ~ /^[0-9]+$/ { sub("^/.*/", "", $2); print $2, $1 }' | sort >want
	pmu-top -j -t samples --by object "$scratch/raw" | fields flat | awk '$2 > 0' >got
	grep -v kernel want >a
	grep -v kernel got | same a -
	grep -q "^ten " a
END

check 'the object of each function is that of perf; several if the name is in several' <<'END'
	unsanitized
	pmu-top --objects -j "$scratch/p.pb.gz" | fields object | grep -v "^\[\|^bpf_prog_" >got
	grep -qx "J ten" got
	pmu-top --objects -j "$scratch/raw" | fields object | grep -v "^\[\|^bpf_prog_" |
		same got -
	pmu-top --objects -n 100 "$scratch/p.pb.gz" >table
	grep -qE "^ +flat .* object +function$" table
	grep -qE " +ten +J$" table
	pmu-top --objects --to csv "$scratch/p.pb.gz" | tr -d '\r' | grep -qE ",ten,J$"
	pmu-top --objects --tree -n 1 --cum "$scratch/p.pb.gz" | \
		grep -qE "% +ten +(main|__libc_start.*)$"
	exits 2 pmu-top --objects --by comm "$scratch/p.pb.gz" 2>err
	exits 2 pmu-top --objects --by object "$scratch/p.pb.gz" 2>err
	python3 "$TOP/tests/flame-profiles.py" twins | pmu-top --objects -j | fields object |
		grep -qxF "twin [several]"
	needs_command perf
	# of the kernel perf has other names
	perf report -i "$scratch/raw" --stdio --no-children -g none -F dso,sym 2>log |
		awk '$2 == "[.]" && NF == 3 && $3 !~ /^0x/ {
			sub("^/.*/", "", $1)
			sub("@.*", "", $3)	# the version of a symbol
			print $3, $1
		}' | sort -u >want
	at_least "$(wc -l <want)" 8
	pmu-top --objects -j "$scratch/raw" | fields object | sort -u | comm -13 - want >missing
	same /dev/null missing
END

check 'values whose sum is too large for 64 bits have shares, none above 100 %' <<'END'
	PYTHONPATH="$TOP/tests" PYTHONDONTWRITEBYTECODE=1 python3 >huge <<-PY
		import sys
		from profiles import *
		sys.stdout.buffer.write(profile([function(1, MAIN), function(2, COMM),
		    location(1, [1]), location(2, [2]), sample([1], [-2**63]), sample([2], [2**63 - 1]),
		    sample([2, 1], [5])]))
	PY
	pmu-top huge >table
	pmu-top -j huge | fields flat_share cum_share >shares
	test "$(wc -l <shares)" = 2
	none awk '{ for (i = 2; i <= NF; i++) if ($i > 1 || $i < -1 || $i == 0) print }' shares
END

check 'JSON and CSV have all rows, and every name comes back from them' <<'END'
	python3 - >text <<-EOF
		names = ["plain", 'a "quoted, one', "tab	here", "ünïcode", "back\\\\slash", "=1+1",
		         "+1", "-1+2|cmd", "@SUM(1,2)", "'a"]
		for i, name in enumerate(names * 10):
		    print(f"{name}{i} {i + 1}")
	EOF
	pmu-top -j text >out.json
	pmu-top --to json text | same out.json -
	pmu-top --to csv text >out.csv
	python3 - <<-EOF
		import csv, json
		want = {}
		for line in open("text"):
		    name, value = line.rsplit(" ", 1)
		    want[name.replace("\t", "?")] = int(value)
		rows = json.load(open("out.json"))["rows"]
		assert {r["name"]: r["flat"] for r in rows} == want, rows
		rows = list(csv.DictReader(open("out.csv", newline="")))
		mark = lambda name: "'" + name if name[0] in "=+-@" else name
		assert {r["name"]: int(r["flat"]) for r in rows} == {
		    mark(name): value for name, value in want.items()}, rows
		assert abs(sum(float(r["flat_share"]) for r in rows) - 1) < 1e-3
	EOF
	test "$(pmu-top --to csv -n 3 text | wc -l)" = 4
	pmu-top --tree --to csv "$scratch/p.pb.gz" >tree.csv
	python3 -c '
import csv
rows = list(csv.DictReader(open("tree.csv", newline="")))
assert {r["relation"] for r in rows} == {"self", "caller", "callee"}
assert any(r["of"] == "J" and r["name"] == "serial" and r["relation"] == "caller" for r in rows)'
	exits 2 pmu-top --to xml text 2>err
	pmu-top --to csv -j text | python3 -m json.tool >pretty	# the last one counts
END

check 'the column of objects is as wide as the objects of the rows that are printed' <<'END'
	any_user
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests python3 - >p.pb <<-'EOF'
		from profiles import *
		# sixty functions with too few samples for a bar, called by one that is printed after them
		parts = [mapping(1, FIRST), mapping(2, FIRST + 1)]
		for i in range(1, 62):
		    parts += [function(i, FIRST + 1 + i), location(i, [i], 2 if i == 61 else 1)]
		    parts += [sample([61], [1]) if i == 61 else sample([i, 61], [2])]
		sys.stdout.buffer.write(profile(parts, [b"/bin/p", b"/lib/a-library-with-a-long-name.so"] +
		                                [b"f%d" % i for i in range(1, 62)]))
	EOF
	pmu-top --objects p.pb >table
	grep -c " p       f[0-9]*$" table | grep -qx 20
	none grep "library" table
	pmu-top --objects --cum p.pb >table
	grep -q " a-library.*name\.so  f61$" table
END

check 'a sample type is chosen by its name or its number' <<'END'
	pmu-top -t samples "$scratch/p.pb.gz" >want
	pmu-top --sample-index 0 "$scratch/p.pb.gz" | same want -
	pmu-top --sample-index 1 "$scratch/p.pb.gz" | head -n 1 | grep -q "^cpu (nanoseconds)"
	exits 1 pmu-top -t 2 "$scratch/p.pb.gz" >out 2>err
	echo "pmu-top: the profile has no sample type '2'; it has samples cpu" | same - err
	exits 1 pmu-top -q -t 2 "$scratch/p.pb.gz" >>out 2>err
	none grep . out err
END

check 'characters of two columns, and accents of none, are counted as they are shown' <<'END'
	python3 - >text <<-EOF
		for i in range(12):
		    print("\u51fd\u6570" * (10 + i) + "x" * i + " 5")
		    print("e\u0301a\u0308" * (10 + i) + "y" * (20 + i) + " 5")
		print("\u95a2\u6570 900")
	EOF
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/terminal.py" 70 40 "pmu-top -n 100 text" \
		>out <<-EOF
		end
	EOF
	python3 - <<-EOF
		import sys
		sys.path.insert(0, "$TOP/tests")
		sys.dont_write_bytecode = True
		from columns import columns
		lines = open("out").read().split("\n")[2:-1]
		widths = [columns(line) for line in lines]
		assert len(lines) == 25, lines
		assert max(widths) in (69, 70), widths
		cut = [w for w, line in zip(widths, lines) if "…" in line]
		assert len(cut) > 10 and min(cut) >= 67, list(zip(widths, lines))
	EOF
END

# on_terminal COLUMNS LINES COMMAND: with steps for tests/terminal.py on stdin
on_terminal() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/terminal.py" "$@"; }

# Samples for as long as the test wants.
stream='pmu-sample -q -g -e cpu-clock -F 1000 -- ten lazy 600'

check 'on a terminal a sample type is chosen as in a table, or another one is shown' <<'END'
	on_terminal 80 24 "$stream | pmu-symbolize -q | pmu-top --live=4 -t 0" >out <<-'EOF'
		see samples \(count\).* in the last 4 s
		type q
		end
	EOF
	exits 1 on_terminal 80 24 "$stream | pmu-symbolize -q | pmu-top --live=4 -t nothing 2>err" \
		>out <<-'EOF'
		see samples \(count\).* in the last 4 s
		type q
		end
	EOF
	grep -qx "pmu-top: the profile has no sample type 'nothing'; it has samples cpu" err
END

check 'on a terminal the last seconds are drawn again, keys change what is shown' <<'END'
	on_terminal 80 24 "$stream | pmu-symbolize -q | pmu-top --live=4" >out <<-'EOF'
		see cpu \(nanoseconds\).* in the last 4 s in [0-9]+ functions
		see q quit
		see [A-J]\n
		fits
		type a
		see since the start
		type a
		see in the last 4 s
		type /
		type ^main$|serial
		see /\^main\$\|serial_
		miss [A-J]\n
		type \n
		see filter: \^main
		see serial
		type /
		type \x1b
		see [A-J]\n
		type /
		type se…[
		see /se…\[_
		miss serial\n
		type \x7f\x7fr…al\n
		see filter: ser…al\n
		see  serial
		type /
		type \x1b
		see [A-J]\n
		type c
		see c flat
		see 0.0ms +0.00% +[^ ]+ 100.00%
		type t
		see samples \(count\)
		type t
		see cpu
		type p
		see paused
		type p
		miss paused
		see object +function
		see % +ten +[A-J]\n
		type o
		miss object +function
		type q
		end
	EOF
	grep -q "^cpu (nanoseconds): .* functions" out
	grep -q " serial$" out
END

check 'the table scrolls by keys and the wheel, and the selected function stays selected' <<'END'
	unsanitized
	pmu-topprof -l none --slices 0 "$scratch/resolved" | pmu-top --bars none -n 30 >table
	set -- $(sed -n '3,$s/.*% *//p' table)
	first=$1 third=$3 fifth=$5 last=$(eval "echo \$$#")
	on_terminal 80 9 "{ cat '$scratch/resolved'; while ! test -e go; do sleep 0.1; done; } |
			pmu-top --live=60" >out <<-EOF
		bright % +ten +$first *\$
		see q quit  h help
		type \x1b[F
		miss % +ten +$first
		type g
		see % +ten +$first
		type jj
		bright % .* $third *\$
		type c
		see c flat
		bright % .* $third *\$
		type c
		see c cum
		bright % .* $third *\$
		type \x1b[6~\x1b[6~
		miss % +ten +$first
		type \x1bOA\x1b[A\x1b[5~\x1b[5~\x1b[5~
		see % +ten +$first
		bright % +ten +$first *\$
		type \x1b[<65;5;5M\x1b[B
		bright % .* $fifth *\$
		type \x1b[<64;5;5M\x1b[<64;5;5M\x1b[<0;5;6M
		bright % .* $third *\$
		type /
		type ^($first|$third)\$
		see ; 2 match, [0-9.]+%
		type \n
		see filter: \\^\\(
		see Esc all
		type \x1b
		miss filter:
		see % .* $fifth
		type ?
		see (?s)Page Down.*any key: back
		type x
		see % +ten
		type \x1b[21~
		run touch go
		end
	EOF
	grep -qE " $first\$" out
END

check 'Enter shows the lines of the selected function, with costs that pmu-annotate shows' <<'END'
	unsanitized
	PATIENCE=120 on_terminal 100 24 "$stream | pmu-symbolize -q | tee -i stream |
		pmu-top --live=60" >out <<-'EOF'
		type /
		type ^J$\n
		see filter: \^J
		bright % +ten +J *$
		type \r
		see source lines of J
		see (?s)> +[0-9]+: .*Esc functions
		run cp stream so-far
		type a
		see (?s)instructions of J.* [0-9a-f]+: +[a-z]+
		type \x1b[B
		type r
		see instructions of J
		type \x1b
		see filter: \^J
		type \x1b
		type /
		type nothing-is-called-so\n
		see ; 0 match, 0.00%
		type \r
		type \x03
		end
	EOF
	pmu-annotate -q J so-far | grep -qE '> +[0-9]+: '
END

check 'the window follows the time: what was before it goes, since the start it stays' <<'END'
	unsanitized
	on_terminal 80 40 "pmu-sample -q -g -e cpu-clock -F 2000 -- \
		sh -c 'ten threads 0.2; exec ten lazy 600' | pmu-top --cum -n 100 --live 2" >out <<-'EOF'
		type /w[o]rk|s[e]rial
		type \n
		see serial
		miss work
		type a
		see work
		type q
		end
	EOF
	grep -q ' work$' out
	grep -q ' serial$' out
	none grep 'cut short' out
END

check 'an interrupt ends the recording; all that the pipe holds is read, and shown' <<'END'
	unsanitized
	on_terminal 80 24 "$stream | pmu-symbolize -q | tee -i stream | pmu-top -t samples" >out <<-'EOF'
		see in the last 10 s
		see samples \(count\): +[1-9]
		type \x03
		end
	EOF
	want=$(pmu-top -j -t samples stream | sed -n 's/.*"total": \([0-9]*\),.*/\1/p')
	at_least "$want" 1
	grep -qE "^samples \(count\): +$want in " out
END

check 'the stream ends by itself; narrow terminals and new sizes are kept to' <<'END'
	unsanitized
	on_terminal 50 10 "pmu-sample -q -g -e cpu-clock -F 2000 -- \
		sh -c 'echo \$\$ >pid; exec ten lazy 600' | pmu-top --live 1" >out <<-'EOF'
		see [A-J]\n
		fits
		size 30 6
		see flat
		fits
		size 100 30
		see (?s)serial.*
		see J\n
		fits
		run kill $(cat pid)
		end
	EOF
	grep -qE "^ .* J$" out
END

check 'a signal ends it; the terminal is as before, and the other programs end' <<'END'
	unsanitized
	on_terminal 80 24 "$stream | sh -c 'echo \$\$ >pid; exec pmu-top'; stty -a" >out <<-'EOF'
		see in the last 10 s
		see [A-J]\n
		run kill -TERM $(cat pid)
		end
	EOF
	grep -q ' [A-J]$' out
	grep -qE '(^|[^-])icanon' out
	grep -qE '(^|[^-])echo ' out
	eventually exits 1 strays_left
END

check 'no terminal: one table at the end, without control characters' <<'END'
	unsanitized
	pmu-sample -q -g -e cpu-clock -F 500 -- ten serial 0.2 | pmu-top --live=1 >out
	grep -q " J$" out
	none grep -q "$(printf '\033')" out
	for wrong in 0 11m x ''; do exits 2 pmu-top --live="$wrong" "$scratch/raw" 2>err; done
END

done_testing
