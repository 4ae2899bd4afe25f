#!/bin/sh
# fleet/clickhouse on a server of the test: what was sent comes back once, as it was, and each query
# of pmu-query answers what loops over all rows find.  t595-fleet-proofs.sh has more rows.
# kinds: release
. tests/lib.sh
. tests/clickhouse.sh

made() { python3 "$TOP/tests/fleet-rows.py" "$@"; }
query() { PMU_QUERY_URL=$(clickhouse_base 1) "$TOP/fleet/pmu-query" "$@"; }

# is_right QUERY [NAME=VALUE]...: the answer about rows.json is that of loops
is_right() {
	query --raw "$@" >answer
	python3 "$TOP/tests/fleet-answers.py" "$@" rows.json <answer
}

# rows_again: all rows of the server, as lines of JSON
rows_again() {
	clickhouse_ask 1 "
		SELECT seconds AS time, time_ns, duration_ns, host, service, type, unit, value,
			samples, lower(hex(number)) AS hash, stack, labels, units, file, line,
			build_id
		FROM (SELECT *, toUInt32(time) AS seconds, hash AS number FROM rows_once)
		ANY LEFT JOIN (
			SELECT hash AS number, stack, file, line, build_id FROM stacks
		) USING number
		FORMAT JSONEachRow"
}

check 'each query answers what loops find; copies count once, cut otherwise or not' <<'END'
	clickhouse_needed
	made hosts=8 days=4 build=1 slower=3000 >rows.json
	clickhouse_start 1
	clickhouse_send 1 <rows.json
	sed -n '100,300p' rows.json | clickhouse_send 1
	clickhouse_kill 1
	clickhouse_again 1
	clickhouse_send 1 <rows.json
	for query in service stacks top hosts growth; do is_right $query; done
	is_right callers function=main
	is_right callers function=f5 service=odd host=h3
	is_right builds function=main
	is_right builds function=f7 to=1728172800
	for after in 0 1; do
		is_right deploy after=$after build=BBbbbb
		is_right deploy after=$after at=1728172800 service=odd
	done
	is_right top host=h3 from=1728086400 to=1728259200
	is_right growth function=planted limit=1
	is_right growth limit=3 to=1728086400
	# a host alone differs from nothing: not by -0
	query hosts host=h3 >one 2>said
	grep -qx "pmu-query: fewer than three hosts: none can be unlike the others" said
	test "$(sed 1d one | cut -f 1,3)" = "h3	0"
	query growth to=1728086400 2>said | sed 1d | cut -f 5 | sort -u >slopes
	grep -qx "pmu-query: growth needs at least two days" said
	test "$(cat slopes)" = 0
	# what is asked for is what is compared
	query --raw top host=h3 >other
	! python3 "$TOP/tests/fleet-answers.py" top host=h2 rows.json <other >differs
	test -s differs
	clickhouse_ask 1 'OPTIMIZE TABLE profiles FINAL'
	is_right stacks
	query top -- -n 3 | grep -c ' planted$'
	query deploy build=bbbbbb -- -n 3 | grep 'more *planted$'
	query stacks -o page.html
	grep -q planted page.html
	# retention: what is older than 90 days goes, and what is younger stays
	sed "s/\"time\":[0-9]*/\"time\":$(date +%s)/" rows.json | clickhouse_send 1
	clickhouse-client --port "$(clickhouse_port 1 2)" <"$TOP/fleet/clickhouse/retention.sql" |
		clickhouse-client --port "$(clickhouse_port 1 2)" -n
	none query --raw top to=1728432000
	query --raw stacks | grep -q planted
	none clickhouse_ask 1 "SELECT DISTINCT month FROM stacks WHERE month < '2025-01-01'"
END

check 'names, labels and numbers come back as they were; and no name of a value becomes SQL' <<'END'
	clickhouse_needed
	python3 "$TOP/tests/fleet-names.py" make names >rows.json
	clickhouse_start 1
	clickhouse_send 1 <rows.json
	rows_again | python3 "$TOP/tests/fleet-names.py" compare rows.json
	query --raw deploy at=0 after=1 >answer
	pmu-top answer >&2
	turn=0
	while IFS= read -r name; do
		name=$(printf %s. "$name" | sed 's/^new\\line/new\nline/')
		name=${name%.} turn=$((turn + 1))
		case $((turn % 3)) in
		0) chosen=service=$name ;;
		1) chosen=host=h$name ;;
		2) chosen=function=${name}leaf ;;
		esac
		query --raw callers function=root "$chosen" >answer
		NAME=$name python3 -c "if True:
			import json, os
			stack = json.loads(open('answer').read())['stack']
			assert stack[:2] == ['root', os.environ['NAME']][:len(stack)], stack"
	done <names
END

check 'rows of a real profile come back from the server as they went' <<'END'
	clickhouse_needed
	pmu-topprof --to rows --host h1 "$TOP/tests/data/releases/0.1/labels.pb.gz" >rows.json
	at_least "$(grep -c '"labels":' rows.json)" 10
	clickhouse_start 1
	clickhouse_send 1 <rows.json
	rows_again | sed 's/,"[a-z_]*":\[\]//g' | pmu-topprof --to rows | sort >again.json
	sort rows.json | same - again.json
END

done_testing
