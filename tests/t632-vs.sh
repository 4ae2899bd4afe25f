#!/bin/sh
# pmu-stat --vs: the order of runs, which changes are called, --fail-if, --base, outliers, failures.
#
# SIMULATED=all: 100 comparisons of equal commands, too.
# kinds: release asan user
. tests/lib.sh

# touch-pages PAGES EVERY: touch so many pages, more or less; every EVERYth time twice as many
cat >"$scratch/bin/touch-pages" <<'END'
#!/bin/sh
pages=$1
echo >>times
test $(($(wc -l <times) % $2)) != 0 || pages=$((2 * pages))
exec known $pages 0 0
END
chmod +x "$scratch/bin/touch-pages"

# row NAME: "CHANGE LOW HIGH CALLED" of the row NAME of a table, in per cent
row() {
	sed -n "/ $1\(:u\)\?$/!d
		s/^.* \([-+][0-9.]*\) %  *\[\([-+][0-9.]*\), \([-+][0-9.]*\)\]  \(yes\|no\).*/\1 \2 \3 \4/p" table
}

check 'ten runs in turns, in a random order, of which every second is reversed' <<'END'
	unsanitized
	printf "#!/bin/sh\necho \$1 >>order\n" >mark
	chmod +x mark
	pmu-stat -e task-clock --vs "./mark a" "./mark b" "./mark c" >table
	test "$(wc -l <order)" = 30
	xargs -n 6 <order >pairs
	awk '{ if ($1 != $6 || $2 != $5 || $3 != $4 || $1 == $2 || $2 == $3 || $1 == $3) bad = 1 }
		END { exit bad || NR != 5 }' pairs
	test "$(grep -c "(10 runs)$" table)" = 3
	rm order
	pmu-stat -e task-clock -n 2 --vs "./mark a" "./mark b" >table
	test "$(sort order | xargs)" = "a a b b"
END

check 'a shell runs only a command that needs one, and is counted' <<'END'
	unsanitized
	printf "#!/bin/sh\ntr '\\\\0' ' ' </proc/\$PPID/cmdline >>\$1; echo >>\$1\n" >parent
	chmod +x parent
	pmu-stat -n 2 -e task-clock --vs "./parent old" "./parent new; :" >table
	none grep -v "^pmu-stat " old
	none grep -vx "sh -c ./parent new; : " new
	grep -qx "base: ./parent old (2 runs)" table
	grep -qx "new: ./parent new; : (2 runs; a shell runs it, and is counted, too)" table
END

check 'a planted change is called, its interval has the truth; equal commands do not differ' <<'END'
	unsanitized
	pmu-stat -e page-faults --vs "known 2000 0 0" "known 2100 0 0" >table
	pmu-stat -e page-faults -- known 2000 0 0 >alone
	base=$(awk '/page-faults/ { gsub(",", "", $1); print $1 }' alone)
	row page-faults >found
	cat table found
	read -r change low high called <found
	test "$called" = yes
	# the base has a few faults of its own
	awk "BEGIN { truth = 100 * 100 / $base; exit !($low - 0.2 < truth && truth < $high + 0.2) }"
	pmu-stat -e page-faults --vs "known 2000 0 0" "known 2000 0 0" >table
	cat table
	near "$(sed -n "s/^.* \([-+]\?[0-9.]*\) %  .* page-faults.*/\1/p" table)" 0 0.5
	grep -q "^more than chance: at a false discovery rate of 5 %, with 4 rows$" table
END

check 'of 100 comparisons of equal commands, at most 10 call a change' <<'END'
	test "$SIMULATED" = all || skip 'only in make check-all PARTS=statistics'
	any_user
	unsanitized
	seq 20000 >numbers
	for round in $(seq 25); do
		for command in true "ls /usr/bin" "gzip -kc numbers" "ten serial 0.002"; do
			pmu-stat --vs "$command" "$command" >table 2>err
			grep -h "  yes " table || :
			grep -q "  yes " table && echo "$command" >>called || :
			echo >>made
		done
	done
	test "$(wc -l <made)" = 100
	touch called
	echo "$(wc -l <called) of 100 call a change"
	at_most "$(wc -l <called)" 10
END

check '--fail-if: exit 3 only if the whole interval is above the limit' <<'END'
	unsanitized
	vs() { pmu-stat -e page-faults -n 5 "$@" --vs "known 2000 0 0" "known 2100 0 0"; }
	exits 3 vs --fail-if page-faults:+1% >table 2>err
	# 100 of 2,028: the program itself has about 28
	grew="'page-faults(:u)?' grew by more than 1 %"
	grep -qE "^pmu-stat: $grew: \+(4\.[5-9][0-9]?|5(\.[0-4][0-9]?)?) % \[" err
	exits 0 vs --fail-if page-faults:+20% >table 2>err
	none grep grew err
	exits 3 vs --fail-if wall-time:+900%,page-faults:+1% >table
	exits 3 vs --fail-if page-faults:+1% --fail-if wall-time:+900% >table
	exits 0 pmu-stat -e page-faults --fail-if page-faults:+1% -n 3 \
		--vs "known 2100 0 0" "known 2000 0 0" >table
	exits 1 vs --fail-if nosuch:+1% >table 2>err
	grep -qx "pmu-stat: --fail-if: 'nosuch' is not counted here; to count it: -e nosuch" err
	test ! -s table
	exits 1 pmu-stat -n 1 --fail-if wall-time:+1% --vs true true >table 2>err
	grep -q "^pmu-stat: --fail-if cannot test 'wall-time': it takes two runs or more" err
	for limit in page-faults page-faults:1% page-faults:+1 :+1% page-faults:+1%,; do
		exits 2 vs --fail-if $limit 2>err
	done
	exits 2 pmu-stat --fail-if wall-time:+1% true 2>err
	for wrong in page-faults "a b"; do
		exits 2 vs --fail-if "$wrong" 2>err
		grep -qx "pmu-stat: --fail-if takes limits such as .*, not '$wrong'" err
	done
	for wrong in op op=0 "o p=3"; do
		exits 2 pmu-stat --per "$wrong" true 2>err
		grep -qx "pmu-stat: --per takes a word, = and a number above 0, .*, not '$wrong'" err
	done
	exits 2 pmu-stat --vs true " " 2>err
	grep -qx "pmu-stat: a command of --vs is empty" err
	exits 2 pmu-stat --vs true 2>err
	exits 2 pmu-stat --vs --bench true true 2>err
	exits 2 pmu-stat --vs --exit-status true true 2>err
END

check 'outliers are named, and count' <<'END'
	unsanitized
	pmu-stat -e page-faults --vs "touch-pages 1000 7" true >table
	cat table
	grep -qx "outliers, which count as all other runs do:" table
	grep -qE "^  run 7 of base: page-faults(:u)? [0-9,]+ \(median [0-9,]+\)" table
	rm times
	pmu-stat -e page-faults -n 4 --vs "touch-pages 1000 4" true >table
	none grep outliers table
END

check 'the change has the sign and the size of the means beside it' <<'END'
	unsanitized
	pmu-stat -e page-faults -n 3 -j --vs "touch-pages 50 3" "known 250 0 0" >vs.json
	python3 - vs.json <<-'PY'
		import json, math, sys
		for row in json.load(open(sys.argv[1]))["comparisons"][0]["rows"]:
		    if row["base"]:
		        assert math.isclose(row["change"], row["new"] / row["base"] - 1, abs_tol=1e-9), row
	PY
END

check 'runs that fail are counted and reported; --fail-if then decides nothing' <<'END'
	unsanitized
	exits 0 pmu-stat -n 3 --vs false true >table 2>err
	grep -qx "base: false (3 runs, 3 failed)" table
	grep -qx "pmu-stat: 3 of 3 runs of 'false' failed" err
	exits 0 pmu-stat -n 2 --vs true "kill -9 \$\$" >table 2>err
	grep -qx "pmu-stat: 2 of 2 runs of 'kill -9 \$\$' failed" err
	exits 1 pmu-stat -n 3 --fail-if wall-time:+900% --vs true false >table 2>err
	grep -qx "pmu-stat: --fail-if: 3 of 3 runs of 'false' failed" err
	exits 1 pmu-stat -n 3 -e page-faults --fail-if page-faults:+1% --vs true "known 900 0 0; false" \
		>table 2>err
	none grep grew err
	exits 1 pmu-stat -n 3 --vs true ./nosuch >table 2>err
	grep -qx "pmu-stat: cannot run './nosuch': No such file or directory" err
	exits 0 pmu-stat -n 1 -e task-clock --vs true true >table
	grep -qE "  -  +-  +-  +task-clock(:u)?$" table
	grep -q "^one run says nothing about chance" table
END

check 'Ctrl-C prints the runs so far; the one that was stopped does not count' <<'END'
	unsanitized
	# the seventh run waits for the signal
	printf '#!/bin/sh\necho >>ran\ntest "$(wc -l <ran)" -lt 7 || exec sleep 600\n' >nap
	chmod +x nap
	pmu-stat -e task-clock --fail-if task-clock:+1% --vs "./nap a" "./nap b" 2>err >table &
	pid=$!
	seven() { test "$(wc -l <ran)" = 7; }
	eventually seven
	kill -INT $pid
	exits 1 wait $pid
	cat err table
	grep -qx "pmu-stat: --fail-if: stopped after 3 of 10 runs" err
	grep -qx "base: ./nap a (3 runs)" table
END

# earlier MACHINE VALUES [FAILED]: the JSON of three runs that counted page-faults
earlier() {
	echo "{\"machine\": {\"name\": \"$1\", \"kernel\": \"$(uname -r)\", \"cpu\": \"\"}, \
		\"command\": [\"./old\", \"-x\"], \"runs\": 3, \"failed\": ${3:-0}, \"rows\": [ \
		{\"name\": \"page-faults\", \"kind\": \"event\", \"unit\": \"count\", \"values\": [$2]}, \
		{\"name\": \"page-faults:u\", \"kind\": \"event\", \"unit\": \"count\", \"values\": [$2]}]}"
}

check '--base compares with the runs in a file; one of another machine is named' <<'END'
	earlier "$(uname -n)" "10, 11, 10" >old.json
	exits 3 pmu-stat -e page-faults --fail-if page-faults:+50% --base old.json -- known 100 0 0 \
		>table 2>err
	cat table err
	grep -qx "base: ./old -x (3 runs, from 'old.json')" table
	grep -qx "new: known 100 0 0 (10 runs)" table
	test "$(row page-faults | cut -d " " -f 4)" = yes
	none grep machine err
	earlier elsewhere "10, 11, 10" 1 >old.json
	pmu-stat -n 2 -e page-faults --base old.json --vs "known 100 0 0" "known 200 0 0" >table 2>err
	grep -q "^pmu-stat: 'old.json' is from another machine: elsewhere, kernel .*; this is " err
	grep -qx "base: ./old -x (3 runs, 1 failed, from 'old.json')" table
	grep -qx "new 2: known 200 0 0 (2 runs)" table
	earlier elsewhere "10, 11, 10" >old.json
	exits 1 pmu-stat -n 2 -e task-clock --fail-if task-clock:+1% --base old.json true >table 2>err
	grep -q "^pmu-stat: --fail-if cannot test 'task-clock\(:u\)\?': the base does not have it" err
END

check '--save and -j write what --base reads; a run that fails to start leaves the file' <<'END'
	unsanitized
	pmu-stat -e page-faults --save one.json -- known 500 0 0 >table
	grep -q "^10 runs of" table
	pmu-stat -e page-faults -n 3 -j -- known 500 0 0 >plain.json
	pmu-stat -e page-faults -n 3 --save two.json --vs "known 500 0 0" "known 600 0 0" >table
	for base in one:10 plain:3; do
		exits 3 pmu-stat -e page-faults -n 3 --fail-if page-faults:+5% --base ${base%:*}.json \
			-- known 600 0 0 >table
		grep -qx "base: known 500 0 0 (${base#*:} runs, from '${base%:*}.json')" table
	done
	# the last of several commands
	exits 0 pmu-stat -e page-faults -n 3 --fail-if page-faults:+5% --base two.json known 600 0 0 \
		>table
	grep -qx "base: known 600 0 0 (3 runs, from 'two.json')" table
	exits 1 pmu-stat -e page-faults --per op=10 --base one.json true 2>err
	grep -q "^pmu-stat: 'one.json' has values per run, but these are per op: --per must be " err
	pmu-stat -e page-faults -n 3 --per op=100 --save per.json --vs "known 500 0 0" true >table
	grep -qE " event, values per op$" table
	exits 1 pmu-stat --base per.json true 2>err
	exits 1 pmu-stat -e page-faults --save two.json ./nosuch 2>err
	pmu-stat -e page-faults -n 2 --base two.json --save two.json known 600 0 0 >table
	exits 1 pmu-stat --save no/where true 2>err
	grep -qx "pmu-stat: cannot open 'no/where' for writing: No such file or directory" err
	exits 2 pmu-stat --save x.json -p $$ 2>err
END

check 'JSON and CSV have what the table has' <<'END'
	unsanitized
	pmu-stat -e page-faults -n 5 -j --vs "known 500 0 0" "known 600 0 0; :" >vs.json
	python3 - vs.json >got <<-'PY'
		import json, sys
		d = json.load(open(sys.argv[1]))
		old, new = d["commands"]
		row = next(r for r in d["comparisons"][0]["rows"] if r["name"].startswith("page-faults"))
		values = next(r["values"] for r in old["rows"] if r["name"] == row["name"])
		print(len(values), old["runs"], old["shell"], new["shell"], row["called"], row["ranks"],
		      0.1 < row["low"] <= row["change"] <= row["high"] < 0.5,
		      abs(sum(values) / 5 - row["base"]) < 1e-6, row["p"] <= row["q"] < 0.05)
	PY
	echo "5 5 False True True agree True True True" | same - got
	pmu-stat -e page-faults -n 5 --to csv --vs "known 500 0 0" "known 600 0 0" >vs.csv
	test "$(wc -l <vs.csv)" = 5
	tr -d "\r" <vs.csv | grep -qE "^known 500 0 0,known 600 0 0,page-faults(:u)?,count,.*,yes$"
END

check 'a file that pmu-stat did not write is refused, with the place' <<'END'
	exits 1 pmu-stat --base nosuch.json true 2>err
	grep -qx "pmu-stat: cannot read 'nosuch.json': No such file or directory" err
	mkfifo fifo
	exits 1 timeout 20 pmu-stat --base fifo true 2>err
	grep -qx "pmu-stat: cannot read 'fifo': not a regular file" err
	earlier here "1, 2, oops" >bad.json
	exits 1 pmu-stat --base bad.json true 2>err
	grep -q "^pmu-stat: bad.json: offset 0x[0-9a-f]*: not what pmu-stat wrote: not a number" err
	echo "{}" >bad.json
	exits 1 pmu-stat --base bad.json true 2>err
	grep -qx "pmu-stat: 'bad.json' has no counts of pmu-stat" err
	earlier here "1, 2, 3" >good
	pmu-stat -e task-clock:u -j -p $$ -d 10ms >bad.json
	exits 1 pmu-stat --base bad.json true 2>err
	echo "pmu-stat: 'bad.json' counted process $$, not a command" | same - err
	exits 2 pmu-stat -o same.json --save same.json true 2>err
	: >bad.json
	exits 1 pmu-stat --base bad.json true 2>err
	echo "pmu-stat: 'bad.json' is empty" | same - err
	echo "[1]" >bad.json
	exits 1 pmu-stat --base bad.json true 2>err
	echo "pmu-stat: 'bad.json' is not JSON of pmu-stat" | same - err
	for size in 1 20 100 200 $(($(wc -c <good) - 4)); do
		head -c $size good >bad.json
		exits 1 pmu-stat --base bad.json true 2>err
		grep -q "^pmu-stat: bad.json: offset 0x" err
	done
END

done_testing
