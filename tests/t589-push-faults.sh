#!/bin/sh
# pmu-serve --push to servers that fail in every way: when all is well again, nothing is missing.
# PUSH=SECONDS (make check-all): more kinds of silence, of a minute each.
# kinds: release
. tests/lib.sh
. tests/serving.sh
. tests/pushing.sh

# row MORE: a row, with MORE after its hash
row() {
	printf '{"time":1763892720,"host":"h","type":"cpu","unit":"ns","value":7,'
	printf '"hash":"0123456789abcdef",%s}\n' "$1"
}

check 'the receiver of these tests takes what it should, and notes what no client may send' <<'END'
	needs_command curl
	receive good early=503,401 cut=cut-body,half closed=after-3-seconds
	row '"stack":["f","g"]' >rows
	row '"stack":["f","g"],"labels":{"pid":1},"units":{"pid":"x"}' >>rows
	test "$(get -w "%{http_code}" --data-binary @rows "$(at good)")" = 200
	same rows to/good/stored/000001.rows
	get --data-binary @rows "$(at early)" | grep "Code: 209, e.displayText"
	get --data-binary @rows "$(at early)" | grep "Code: 194, e.displayText"
	get --data-binary @rows "$(at early)"
	same rows to/early/stored/000001.rows
	exits 56 get --data-binary @rows "$(at cut)" 2>curl-err
	exits 18 get --data-binary @rows "$(at cut)" 2>curl-err
	echo refuse >to/closed/fault
	closed() { exits 7 get --data-binary @rows "$(at closed)"; }
	eventually closed
	rm to/closed/fault
	again() { get -i --data-binary @rows "$(at closed)" | grep "^Retry-After: 3"; }
	eventually again
	nothing_wrong
	wrong() { get -o answer "$@" 2>curl-err || :; }
	wrong --data-binary @rows "$(at good | sed s/JSONEachRow/TSV/)"
	wrong -X PUT --data-binary @rows "$(at good)"
	wrong -H "Expect: 100-continue" --data-binary @rows "$(at good)"
	wrong -H "Transfer-Encoding: chunked" --data-binary @rows "$(at good)"
	for bad in "$(row '"stack":[]' | head -c 60)" "$(row '"stack":["g","f"]')" \
			"$(row '"labels":{},"stack":["f","g"]')" "$(row '"stack":"f"')" \
			"$(row '"stack":["f","g"],"stack":["f","g"]')" "$(row '"x":1')" 7; do
		printf "%s\n" "$bad" >bad
		wrong --data-binary @bad "$(at good)"
	done
	printf "%s" "$(cat rows)" >bad
	wrong --data-binary @bad "$(at good)"
	head -c 4194305 /dev/zero >bad
	wrong --data-binary @bad "$(at good)"
	noted() { test "$(wc -l <to/good/wrong)" = 13; }
	eventually noted
	test "$(ls to/good/stored | wc -l)" = 1
END

# What a receiver does once, before all is well.  The rows come again:
once='close cut-body half half-head half-chunk garbage zeros status-99 status-999999999999 early-503
	large-length endless-head endless-body redirect not-modified after-nonsense after-past
	binary-500 late-text 401 403 404 408 429 500 503'
twice='stored-cut stored-half stored-500'	# they came before, too
well='slow chunked closing no-length old-version unsaid-close with-continue 201 204'

# steps STEP...: a plan in which a request that is taken follows each step
steps() { echo "$*" | sed "s/[ ,\t]\{1,\}/,200,/g"; }

check 'after a fault of any kind all comes again: also silence; answers have all forms' <<'END'
	any_user
	needs_command curl
	mkdir -m 700 ring
	pushes make ring 17 stacks=3
	idle
	set -- $once $twice
	test $# = 29
	first=$(echo "$*" | cut -d " " -f 1-15)
	second=$(echo "$*" | cut -d " " -f 16-)
	slow='silent drip drip-body'
	test -z "$PUSH" || slow="$slow deaf endless-chunks endless-continue"
	receive elsewhere first=$(steps $first) second=$(steps $second) well=$(echo $well | tr " " ,) \
		seconds=after-3-seconds date=after-date $(for step in $slow; do echo $step=$step; done)
	# half a minute each: these wait while the others are at work
	for name in $slow; do push $name "$(at $name)" --service s; done
	for name in first second well seconds date; do push $name "$(at $name)" --service s; done
	for name in first second well seconds date; do
		slowly has 17 $name
		eventually nothing_pending $name
		test "$(metric_of $name push_profiles_total)" = 17
	done
	pushes compare to/first to/second to/well to/seconds to/date ring host=h1 service=s
	# a server that takes or answers nothing, or without end, was left after a limit
	for name in $slow; do
		slowly has 17 $name
		grep "in time\|too long" run/$name/err
	done
	pushes compare $(for name in $slow; do echo to/$name; done) ring host=h1 service=s
	nothing_wrong
	test ! -e to/elsewhere/log
	# each fault came, once; the next request came after a pause, as long as was asked for
	for name in first second; do
		set -- $(eval echo \$$name)
		test "$(wc -l <to/$name/log)" = $((17 + $#))
		test "$(awk '$2 != 200 { print $2 }' to/$name/log | xargs)" = "$*"
		awk '$2 == 200 && last != "" && last != 200 { print last, $1 - at }
			{ last = $2; at = $1 }' to/$name/log >pauses
		test "$(wc -l <pauses)" = $#
		# an old connection that ends without an answer is replaced at once
		none awk '$2 < 0.5 && $1 !~ /^(close|cut-body|stored-cut)$/' pauses
	done
	at_least "$(pause seconds 1)" 3
	at_least "$(pause date 1)" 2.9
	test "$(wc -l <to/well/log)" = 17
	# what the server says is in the report; its control characters are not
	grep "status 404: late text" run/second/err
	grep "see --push-credentials" run/second/err
	test "$(cat run/*/err | tr -d "\n -~" | wc -c)" = 0
END

check 'what is refused twice is not sent again: it is counted and reported' <<'END'
	any_user
	needs_command curl
	mkdir -m 700 ring
	pushes make ring 3
	idle
	receive $(for status in 400 413 422; do echo "$status=$status,200,$status"; done)
	for status in 400 413 422; do push $status "$(at $status)"; done
	for status in 400 413 422; do
		eventually has 2 $status
		eventually nothing_pending $status
		test "$(wc -l <to/$status/log)" = 4
		test "$(metric_of $status push_profiles_total)" = 2
		test "$(metric_of $status "push_dropped_total{reason=\"refused\"}")" = 1
		grep "$(ls ring | head -n 1)" run/$status/err | grep $status
		pushes compare to/$status ring host=h1 only=2
	done
	nothing_wrong
END

check 'while a server is away, profiles wait; large ones go in parts, the oldest first' <<'END'
	any_user
	needs_command curl
	mkdir -m 700 ring
	receive away large=200,stored-cut
	echo refuse >to/away/fault
	gone() { ! get -o body --data x "$(at away)" 2>curl-err; }
	eventually gone
	pushes make ring 5
	idle
	push away "$(at away)"
	refused_there() { test "$(metric_of away push_pending)" = 5 &&
		test "$(metric_of away "push_failures_total{reason=\"connect\"}")" -ge 2; }
	eventually refused_there
	pushes make run/away/ring 2 start=$(($(date +%s) - 7000))
	seven_wait() { test "$(metric_of away push_pending)" = 7; }
	eventually seven_wait
	rm to/away/fault
	eventually has 7 away
	eventually nothing_pending away
	pushes compare to/away run/away/ring host=h1
	# oldest first, after the one that was being sent
	cat to/away/stored/*.rows | sed "s/{\"time\":\([0-9]*\).*/\1/" | uniq | sed 1d >times
	test "$(wc -l <times)" = 6
	sort -n times | same - times
	# a profile of more than 4 MiB as rows
	rm ring/*
	pushes make ring 1 stacks=4100 deep=80
	push large "$(at large)"
	large_there() { nothing_pending large && has 3 large; }
	eventually large_there
	pushes compare to/large ring host=h1
	nothing_wrong
	test "$(awk '$3 > 3000000' to/large/log | wc -l)" = 1	# a part that was taken is not repeated
END

check 'what is sampled now arrives as rows and as profiles, with the sums that pprof finds' <<'END'
	needs_command go curl
	workload
	receive rows profiles
	url_of_profiles="http://127.0.0.1:$(cat to/profiles/port)"
	serve -p $target --call-graph fp --keep 1h --interval 1s --host h1 --push "$(at rows)" \
		--keep-query "event=cpu-clock&frequency=97&label=pid" ring
	eventually has 2 rows
	kill $server
	exits 0 wait $server
	# the rest arrives after the next start; then all goes to another server, in another form
	idle
	mkdir -p run/rows run/profiles
	mv ring run/rows
	push rows "$(at rows)"
	eventually nothing_pending rows
	die rows
	mv run/rows/ring run/profiles
	push profiles "$url_of_profiles" --push-as pprof --service web
	eventually nothing_pending profiles
	nothing_wrong
	pushes compare to/rows run/profiles/ring host=h1
	pushes compare to/profiles run/profiles/ring
	test "$(ls to/profiles/stored/*.pb.gz | wc -l)" = "$(ls run/profiles/ring/profile* | wc -l)"
	grep -l "name=web%7Bhost%3Dh1%7D" to/profiles/stored/*.query | wc -l >named
	ls to/profiles/stored/*.query | wc -l | same named -
	go tool pprof -symbolize=none -raw run/profiles/ring/profile* >raw 2>raw-err
	awk '/^Locations/ { exit } / [0-9]+: / { n += $2 } END { print n }' raw >sum
	cat to/rows/stored/*.rows | sed -n "s/.*\"type\":\"cpu\".*\"value\":\([0-9]*\).*/\1/p" |
		awk '{ n += $1 } END { print n }' | same sum -
	test "$(cat sum)" -gt 0
END

done_testing
