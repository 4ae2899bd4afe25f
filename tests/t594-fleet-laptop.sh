#!/bin/sh
# fleet/duckdb: its queries over files of rows, each compared with loops over all rows.
# kinds: release
. tests/lib.sh

# DuckDB's own client, or its library for Node.js, which "make check-all PARTS=fleet" fetches.
DUCKDB=${DUCKDB:-$TOP/build/duckdb}
export DUCKDB
if ! command -v duckdb >/dev/null && test -e "$DUCKDB/node_modules/@duckdb/node-api"; then
	printf '#!/bin/sh\nexec node "%s" "$@"\n' "$TOP/tests/duckdb.mjs" >"$scratch/bin/duckdb"
	chmod +x "$scratch/bin/duckdb"
fi

needs_duckdb() {
	any_user
	command -v duckdb >/dev/null || skip "no duckdb: make check-all PARTS=fleet fetches it"
}

# asks QUERY FILES [NAME=VALUE]...: what it answers; tables have names of columns
asks() {
	query=$1 files=$2 head=
	shift 2
	case $query in hosts | builds | growth) ;; *) head=-noheader ;; esac
	{
		printf "SET VARIABLE rows = '%s';\n" "$files"
		for word; do
			value=$(printf %s. "${word#*=}" | sed "s/'/''/g")
			printf "SET VARIABLE \"%s\" = '%s';\n" "${word%%=*}" "${value%.}"
		done
		cat "$TOP/fleet/duckdb/rows.sql" "$TOP/fleet/duckdb/queries/$query.sql"
	} | duckdb -init /dev/null -bail -batch $head -list -separator "$(printf '\t')"
}

# is_right QUERY [NAME=VALUE]...: its answer about rows.json is that of loops
is_right() {
	query=$1
	shift
	asks "$query" rows.json "$@" >answer
	test -s answer
	python3 "$TOP/tests/fleet-answers.py" "$query" "$@" rows.json <answer
}

# made_rows: of 20 hosts on four days, of which the last two have a new build on odd hosts
made_rows() {
	python3 - <<-"EOF"
	import json, random
	numbers = random.Random(1)
	for day in range(4):
	    for host in range(20):
	        for n in range(40):
	            count = numbers.randrange(1, 50)
	            count += 40 * day * (n == 3) + 500 * (n == 5 and host == 7)
	            build = "Bbbb05" if day > 1 and host % 2 else "aaaa05"
	            row = {"time": 1728000000 + 86400 * day + 60 * host,
	                   "duration_ns": 60000000000, "host": f"h{host}",
	                   "service": "odd" if n % 2 else "even", "type": "cpu",
	                   "unit": "nanoseconds", "value": count * 10**7, "samples": count,
	                   "hash": f"{n:016x}",
	                   "stack": ["_start", "main", f"f{n % 30}", f"f{n}"][: n + 1],
	                   "build_id": ["aaaa01", build, "cc", "cc"][: n + 1]}
	            if n % 3 == 0:
	                row["labels"] = {"user": "it's", "pid": n}
	            print(json.dumps(row))
	EOF
}

check 'each query answers what loops over all rows find, for what its variables select' <<'END'
	needs_duckdb
	made_rows >rows.json
	TZ=America/New_York
	export TZ
	for query in service stacks top hosts growth; do is_right $query; done
	is_right callers function=main
	is_right callers function=f5 service=odd
	is_right builds function=main
	is_right builds function=f7 to=1728172800
	is_right deploy after=1 build=bBbB0
	is_right deploy after=0 build=bbbb05
	is_right deploy after=1 at=1728172800
	is_right deploy after=0 at=1728172800
	asks deploy rows.json at=1728172800 runs=3 >answer
	test "$(grep -o "\"run\":\"[0-9]*\"" answer | sort -u | wc -l)" = 3
	is_right top host=h3 from=1728086400 to=1728259200
	is_right growth function=f5
	is_right growth limit=3 to=1728086400
	is_right hosts limit=3 service=odd
	test "$(cut -f 1 answer | sed -n 2p)" = h7
	asks top rows.json host=h99 >answer
	none cat answer
	# what the check compares with is not always the same
	asks top rows.json >answer
	exits 1 python3 "$TOP/tests/fleet-answers.py" top host=h3 rows.json <answer >differences
END

check 'pmu-query gives these answers, and shows them' <<'END'
	needs_duckdb
	made_rows >rows.json
	query() { "$TOP/fleet/pmu-query" --duckdb rows.json "$@"; }
	for words in service stacks top "callers function=f5" "builds function=f7" "hosts limit=5" \
			"growth limit=3" "deploy build=bbbb05 after=1" "top service=odd host=h3"; do
		asks ${words%% *} rows.json $(echo "$words" | grep -o "[a-z]*=.*") >want
		test -s want
		query --raw $words | same want -
	done
	query top | grep -q " f5$"
	query stacks >want
	query service | same want -
	head -n 1 want >&2
	# an answer of one host or one day says what it cannot tell
	query hosts limit=1 >out 2>err
	test "$(wc -l <out)" = 2
	test ! -s err
	query hosts host=h3 >out 2>err
	grep -x "pmu-query: fewer than three hosts: none can be unlike the others" err
	sed 1d out | cut -f 1,3 | grep -x "h3	0\(\.0*\)*"
	query growth limit=2 to=1728086400 >out 2>err
	none grep -i nan out
	grep -x "pmu-query: growth needs at least two days" err
	query deploy build=bbbb05 >out
	query stacks -o page.html
	grep -q "</html>" page.html
	exits 1 query top service="it's; DROP" 2>err
	grep -x "pmu-query: no row has these values" err
END

check 'a row counts once, from plain and compressed files; others with equal stacks add up' <<'END'
	needs_duckdb
	needs_command zstd
	made_rows >rows.json
	asks stacks rows.json >once
	mkdir many
	head -n 2000 rows.json | gzip >many/a.json.gz
	tail -n 2000 rows.json | zstd -q >many/b.json.zst
	cat rows.json rows.json >many/c.json
	asks stacks "many/*.json*" >answer
	same once answer
	sed "s/\"host\": \"h/\"host\": \"other-h/" rows.json >many/other.json
	asks stacks "many/*.json*" >answer
	python3 "$TOP/tests/fleet-answers.py" stacks rows.json many/other.json <answer
	# labels, nanoseconds and hashes tell rows apart; without a hash, stacks do
	sed '1s/"value": [0-9]*, "samples": [0-9]*/"value": 10, "samples": 1/; q' rows.json >row
	{
		cat row row
		sed "s/\"user\": \"it's\"/\"user\": \"she\"/" row
		sed "s/\"host\"/\"time_ns\": 5, \"host\"/" row
		sed "s/\"hash\": \"0*\"/\"hash\": \"00000000000000ff\"/" row
		sed "s/\"hash\": \"0*\", //" row
		sed "s/\"hash\": \"0*\", //; s/_start/start/" row
	} >rows.json
	is_right stacks
	grep -F "\"value\":50,\"samples\":5," answer
END

check 'hostile names, numbers as text and unknown keys stay as they are; SQL stays text' <<'END'
	needs_duckdb
	python3 - >rows.json <<-"EOF"
	import json
	names = ["'; DROP VIEW samples; --", 'a"b\\c', "x;y\nz\tw\r", "\x00nul\x1b[31m",
	         "\u202eafter", "N" * 1000000, "", "$(touch here)", "%s", "\U0001f600"]
	for n, name in enumerate(names):
	    row = {"time": 7, "host": name[:30], "service": name[:30], "type": "cpu",
	           "unit": "nanoseconds", "value": str(2**53 + n), "samples": str(n),
	           "stack": ["root", name], "labels": {name[:9]: name[:9], "n": 2**63 - 1},
	           "new": {"a": [1]}}
	    print(json.dumps(row, ensure_ascii=n % 2 == 0))
	print(json.dumps({"time": 7, "type": "cpu", "value": 1, "stack": []}))
	EOF
	for query in service stacks top; do is_right $query; done
	test "$(wc -l <answer)" = 11
	for name in "'; DROP VIEW samples; --" '$(touch here)' "%s"; do
		is_right callers function="$name"
		is_right stacks service="$name"
		is_right stacks host="$name" from=7 to=8
		test "$(wc -l <answer)" = 1
	done
	test ! -e here
	# a damaged line is an error that names the file and the line; nothing is answered
	{ cat rows.json; echo '{"time":7,"type":"cp'; cat rows.json; } >damaged.json
	exits 1 asks stacks damaged.json >answer 2>err
	cat err
	grep damaged.json err
	none cat answer
END

done_testing
