#!/bin/sh
# A thousand simulated hosts, of which ten push by pmu-serve, into three shards of ClickHouse: each
# value is compared with what was recorded, after copies, and after kills of servers and shards.
#
# FLEET=all is the whole: two hours of profiles of 1,000 hosts, and STORM_SECONDS (600) of kills;
# FLEET=short is less of each.  "make check" does not run it; t593 has one server.
# kinds: release
. tests/lib.sh
. tests/serving.sh
. tests/clickhouse.sh

figures=$scratch/figures
: >"$figures"
hosts=40 minutes=10 stacks=20 storm=${STORM_SECONDS:-15}
test "$FLEET" != all || hosts=1000 minutes=120 stacks=30 storm=${STORM_SECONDS:-600}
pushing=10

# start_shard N, kill_shard N: unless it runs, or does not run
start_shard() {
	command test ! -e "stopped-$1" || clickhouse_again $1
	rm -f "stopped-$1"
}
kill_shard() {
	command test -e "stopped-$1" || clickhouse_kill $1
	: >"stopped-$1"
}

# start_pusher N: pmu-serve for host N, with a ring; a process that sleeps is sampled meanwhile
start_pusher() {
	command test ! -e "pusher-$1" || return 0
	pmu-serve -l 127.0.0.1:0 -p $asleep --keep 1000h,10Gi --interval 3600s \
		--push "$(clickhouse_url $(($1 % 3 + 1)))" --host "host-$1" --service "pushed-$1" \
		"ring-$1" >"at-$1" 2>>"said-$1" &
	echo $! >"pusher-$1"
}
kill_pusher() {
	command test -e "pusher-$1" || return 0
	kill -KILL "$(cat "pusher-$1")"
	rm "pusher-$1"
}

each_pusher() {
	for pusher in $(seq 0 $((pushing - 1))); do "$@" $pusher; done
}
mkring() { mkdir -p -m 700 "ring-$1"; }

# all_sent: the mark of each host names all its profiles
all_sent() {
	for pusher in $(seq 0 $((pushing - 1))); do
		ls "ring-$pusher" | grep -c ^profile- >want
		grep -c '^[0-9]* [0-9]* [0-9]*$' ring-$pusher/sent-* | same want - || return
	done
}

made() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/fleet-made.py" "$@"; }

# is_right SHAPE HOSTS SECONDS: the database has what was recorded from that time on, once
is_right() {
	clickhouse_ask 1 "SELECT host, toUnixTimestamp(time), hash, value, assumeNotNull(samples)
		FROM rows_once WHERE time >= toDateTime($3, 'UTC') FORMAT TSV" >stored
	made check "$1" "$2" <stored | tee -a "$figures"
	tail -n 1 "$figures" | grep -q ' 0 complaints$'
}

# next_minute: each pushing host gets its profile of that $minute
next_minute() {
	command test $minute -lt $after || return 0
	ring() { made ring base.json,$stacks,$start,$minute,$((minute + 1)) $1 ring-$1; }
	each_pusher ring
	minute=$((minute + 1))
}

# base: rows of real programs, as many of them as there are
base() {
	for command in "gcc -O2 -c work.c -o work.o" "python3 -m compileall -q -f lib" \
			"sort -R numbers" "xz -9 -k -f numbers" "gzip -9 -k -f numbers"; do
		pmu-prof -q -F 997 -o made -- $command >/dev/null 2>&1 || continue
		pmu-topprof --to rows --label comm made.pb.gz || return
	done >base.json
	at_least "$(wc -l <base.json)" 60
}

# things_to_do: what the programs of base() work on
things_to_do() {
	seq 100000 | sort -R >numbers
	mkdir lib
	cp "$TOP"/tests/*.py lib
	for i in $(seq 200); do echo "int f$i(int x) { return x * $i % 7 + x; }"; done >work.c
}

# The checks share what runs, so they are one.
check "each value of $hosts hosts arrives once, through copies and kills of all parts" <<'END'
	test -n "$FLEET" || skip "make check-all PARTS=fleet does it"
	clickhouse_needed
	needs_loopback
	needs_samples
	things_to_do
	base
	clickhouse_start 3
	urls="$(clickhouse_url 1) $(clickhouse_url 2) $(clickhouse_url 3)"
	sleep 100000 &
	asleep=$!
	start=$(($(date +%s) / 60 * 60 - 86400))
	shape=base.json,$stacks,$start,0,$minutes
	each_pusher mkring
	ring() { made ring $shape $1 ring-$1; }
	each_pusher ring
	each_pusher start_pusher
	began=$(date +%s)
	made send $shape $pushing $((hosts - pushing)) 0 $urls >>"$figures"
	eventually all_sent
	echo "all sent after $(($(date +%s) - began)) s" >>"$figures"
	for shard in 1 2 3; do
		clickhouse_ask $shard "SELECT sum(bytes_on_disk) FROM system.parts
			WHERE active AND table = 'profiles'"
	done | awk -v rows=$((hosts * minutes * stacks)) '{ n += $1 }
		END { printf "%.1f MB, %.2f bytes a row\n", n / 1e6, n / rows }' >>"$figures"
	is_right $shape $hosts $start
	# the same again, as if all marks of what was sent were lost
	each_pusher kill_pusher
	rm ring-*/sent-*
	each_pusher start_pusher
	eventually all_sent
	is_right $shape $hosts $start

	# kills at random; more profiles come meanwhile
	after=$((minutes + 10))
	later=base.json,$stacks,$start,$minutes,$after
	made send $later $pushing $((hosts - pushing)) $storm $urls >sent &
	sender=$!
	python3 - $storm $pushing <<-"EOF" >plan
	import random, sys
	dice, at, end, pushers = random.Random(36), 0.0, float(sys.argv[1]), int(sys.argv[2])
	while at < end:
	    wait = dice.uniform(0.1, 3)
	    at += wait
	    what = dice.choice(["shard", "shards", "pusher", "pusher", "pushers"] + ["start"] * 5)
	    print(f"{wait:.2f}", what, dice.randrange(1, 4), dice.randrange(pushers))
	EOF
	minute=$minutes
	began=$(date +%s)
	while read -r wait what shard pusher; do
		sleep $wait
		case $what in
		shard) kill_shard $shard ;;
		shards) for n in 1 2 3; do kill_shard $n; done ;;
		pusher) kill_pusher $pusher ;;
		pushers) each_pusher kill_pusher ;;
		start)
			for n in 1 2 3; do start_shard $n; done
			each_pusher start_pusher ;;
		esac
		echo "$what" >>happened
		elapsed=$(($(date +%s) - began))
		if command test $((elapsed * 10)) -ge $((storm * (minute - minutes))); then
			next_minute
		fi
		command test $elapsed -lt $storm || break
	done <plan
	while command test $minute -lt $after; do next_minute; done
	for n in 1 2 3; do start_shard $n; done
	each_pusher start_pusher
	wait $sender
	eventually all_sent
	{ echo kills and starts: $(sort happened | uniq -c); cat sent; } >>"$figures"
	is_right base.json,$stacks,$start,0,$minute $hosts $start
	each_pusher kill_pusher
	clickhouse_stop
END

sed 's/^/# /' "$figures"
done_testing
