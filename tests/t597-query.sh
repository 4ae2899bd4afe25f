#!/bin/sh
# pmu-query without a server: what it sends and reads, and how it refuses.  t593 asks a real server.
# kinds: quick release
. tests/lib.sh

# sends PATTERN [ARGUMENT...]: pmu-query sends a query with such a line.  In place of curl, a script
# keeps the query, the words of the command line and the file that -K names.
sends() {
	pattern=$1
	shift
	mkdir -p fakes
	cat >fakes/curl <<-"EOF"
	#!/bin/sh
	printf '%s\n' "$@" >words
	cat >sql
	while test $# -gt 0; do test "$1" != -K || cp "$2" config; shift; done
	cat answer
	EOF
	chmod +x fakes/curl
	test -e answer || echo '{"type":"cpu","unit":"ns","value":1,"stack":["f"]}' >answer
	PMU_PATH=$PWD/fakes $shell "$TOP/fleet/pmu-query" --raw "$@" >out || return
	grep -F -x -q -- "$pattern" sql || { cat sql; return 1; }
}
tab='	'
shell=

check 'values are quoted, and a line without a value is left out' <<'END'
	any_user
	for shell in dash bash; do
		command -v $shell >/dev/null || continue
		sends "$tab${tab}AND service = 'x\\' OR \\'1\\'=\\'1'" top "service=x' OR '1'='1"
		none grep 'host = ' sql
		none grep 'time [<>]' sql
		sends "$tab${tab}AND host = 'a\\\\'" top 'host=a\'
		sends "$tab${tab}AND host = '\\\\\\' -- &'" top "host=\\' -- &"
		sends "$tab${tab}AND host = '{type:String}'" top 'host={type:String}'
		sends "$tab${tab}AND host = ''" top host=
		sends "$tab${tab}AND host = 'é\$(false)\`false\`%'" top 'host=é$(false)`false`%'
		sends "line'" top "host=new
line"
		sends "${tab}WHERE type = 'cycles'" top type=cycles
	done
	sends "${tab}WHERE has(stack, 'operator\\\\n')" callers 'function=operator\n'
	pmu_query_host=h1 sends "${tab}WHERE type = 'cpu'" top
	none grep 'host = ' sql
	sends "$tab$tab${tab}GROUP BY host, service, time, time_ns" deploy build=abCD05 after=0
	sends "${tab}GROUP BY type, unit, hash, run" deploy at=5 after=0
	none grep build_id sql
	# no query has a parameter that pmu-query does not know
	for query in top stacks service hosts 'callers function=f' 'builds function=f' \
		'growth function=f' 'deploy after=0 at=5' 'deploy after=0 build=abcdef'; do
		format=$(grep ^FORMAT "$TOP/fleet/clickhouse/queries/${query%% *}.sql")
		sends "$format" $query service=s host=h from=1 to=2
		none grep '{[a-z]*:' sql
	done
END

check 'times are seconds, dates in UTC, and times before now' <<'END'
	any_user
	export TZ=America/New_York
	sends "$tab${tab}AND time >= toDateTime(1763892720, 'UTC')" top from=1763892720
	sends "$tab${tab}AND time < toDateTime(1763892720, 'UTC')" top to='2025-11-23 10:12'
	sends "$tab${tab}AND time < toDateTime(1763892720, 'UTC')" top to=2025-11-23T10:12:00Z
	# seconds may be zero
	sends "$tab${tab}AND time >= toDateTime(0, 'UTC')" top from=0
	sends "$tab${tab}AND (time >= toDateTime(0, 'UTC')) = 1" deploy at=0 after=1
	for pair in -0s:0 -90s:90 -1m:60 -2h:7200 -08h:28800 -7d:604800; do
		before=$(date +%s)
		sends "${tab}WHERE type = 'cpu'" top from=${pair%:*}
		got=$(sed -n 's/.*time >= toDateTime(\([0-9]*\),.*/\1/p' sql)
		at_least "$got" $((before - ${pair#*:}))
		at_most "$got" $(($(date +%s) - ${pair#*:}))
	done
	for text in -h -1 -1x --1h yesterdayish '' 4294967296 12345678901 -99999999d 1969-12-31 \
		"1' OR 1"; do
		exits 2 sends x top "from=$text" 2>err
		grep -q "^pmu-query: 'from=.*' is not a time$" err
	done
END

check 'a page goes to the file that -o names, and service is shown as stacks are' <<'END'
	any_user
	sends "FORMAT TSVRaw" service
	query() { PMU_PATH=$PWD/fakes:$PATH "$TOP/fleet/pmu-query" "$@"; }
	for words in -opage.html '-o page.html' --output=page.html; do
		rm -f page.html
		query service $words
		grep -q '</html>' page.html
	done
	query service -o=page.html
	test -s =page.html
	grep -x 'FORMAT JSONEachRow' sql
	test "$(query service)" = "$(query stacks)"
	# a table cannot change a terminal, and an escaped backslash is one
	printf 'name\na\\\\b\302\2331m\342\200\256é\342\201\246\n' >answer
	query hosts 2>err >out
	printf 'name\na\\b?1m?é?\n' | same - out
	rm answer
END

check 'credentials come from a file that others cannot read, and are on no command line' <<'END'
	any_user
	(umask 077 && printf 'me:se"c\\ret\n' >secret && echo 'Bearer abc' >token)
	sends "${tab}WHERE type = 'cpu'" top --credentials secret
	tail -n 1 config >got
	printf 'user = "me:se\\"c\\\\ret"\n' | same - got
	none grep -e 'c\\ret' -e me: words
	# as for pmu-serve; curl never asks for a password
	(umask 077 && printf abc >bare && printf 'me:a b\r\nx\n' >cr &&
		: >empty && echo 'a ' >blank)
	sends "${tab}WHERE type = 'cpu'" top --credentials=bare
	grep -qx 'header = "Authorization: Bearer abc"' config
	sends "${tab}WHERE type = 'cpu'" top --credentials=cr
	grep -qx 'user = "me:a b"' config
	for file in empty blank; do
		exits 1 sends x top --credentials $file 2>err
		grep -qx "pmu-query: no credentials in the first line of '$file'" err
	done
	sends "${tab}WHERE type = 'cpu'" top --credentials=token --url 'http://h:1/?user=x'
	grep -qx 'header = "Authorization: Bearer abc"' config
	grep -q '^http://h:1/?user=x&database=pmu&' words
	none grep abc words
	chmod g+r secret
	exits 1 sends x top --credentials secret 2>err
	grep -qx "pmu-query: others can read 'secret'; run chmod 600 'secret'" err
	exits 1 sends x top --credentials missing 2>err
	exits 2 sends x top --url http://me:secret@h/ 2>err
	none grep secret err
END

check 'wrong usage exits 2 and says what is wrong; no answer exits 1 and says why' <<'END'
	any_user
	query=$TOP/fleet/pmu-query
	$query --help >help
	at_most "$(wc -L <help)" 100
	for name in $(ls "$TOP/fleet/clickhouse/queries"); do
		grep -q "^Queries:.* ${name%.sql}\b" help
		grep -q "^\.It Cm ${name%.sql}\$" "$TOP/man/pmu-query.1"
		test -e "$TOP/fleet/duckdb/queries/$name"
	done
	$query --version | grep -q '^pmu-query [0-9]'
	for words in '' nothing 'top stacks' '--nothing top' 'top colour=red' callers builds \
		deploy 'top limit=x' 'top limit=' 'top --url' 'top --duckdb=' '--raw deploy at=1' \
		'hosts -o page.html' 'top --raw -o page.html' 'hosts -opage.html' \
		'deploy build=abcde' 'deploy build=abcdef at=1' 'deploy at=1 after=1'; do
		exits 2 $query $words >out 2>err
		test ! -s out
		grep -q '^pmu-query: ' err
		grep -q '^usage: pmu-query ' err
	done
	for words in 'top function=f' 'stacks limit=2' 'hosts function=f' 'growth at=1' \
		'callers function=f runs=3'; do
		exits 2 $query $words 2>err
		query_name=${words%% *} value=${words##* }
		grep -qx "pmu-query: '$query_name' does not take '${value%=*}'; it takes type.*" err
	done
	ln -s $query link
	test "$(./link --version)" = "$($query --version)"
	exits 1 ./link --url http://127.0.0.1:1 top 2>err
	grep -q 'curl: (7)' err
	cp $query copy
	exits 1 ./copy top 2>err
	grep -q "^pmu-query: cannot read '.*/clickhouse/queries/top.sql'" err
	test "$(wc -l <err)" = 1
	exits 1 $query --url http://127.0.0.1:1 top 2>err
	grep -q "^pmu-query: no answer from 'http://127.0.0.1:1/': curl: (7)" err
	test "$(wc -l <err)" = 1
	: >answer
	exits 1 sends x top service=unknown 2>err
	grep -qx 'pmu-query: no row has these values' err
	printf '#!/bin/sh\ncat >sql\nprintf "Code: 1\\033[1m, e\\nx"\nexit 22\n' >fakes/curl
	PMU_PATH=$PWD/fakes exits 1 $query top 2>err
	grep -qx "pmu-query: no answer from 'http://127.0.0.1:8123/': Code: 1?\[1m, e x" err
	test -z "$(ls "$TMPDIR")"
END

done_testing
