#!/bin/sh
# Events by libpmukit: listed and encoded as pmu-events does, here and on other machines.
# kinds: release
. tests/lib.sh

lib=${BIN%/bin}/lib
export TOP lib scratch

built() {
	any_user
	test -e "$lib/libpmukit.so.0" || skip "there is no $lib/libpmukit.so.0: make lib"
	test -e "$scratch/events" ||
		gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -I"$TOP/include" -o "$scratch/events" \
			"$TOP/tests/library/events.c" -L"$lib" -lpmukit -lpthread
}

# For shells that see another machine's /sys, too.
cat >"$scratch/functions" <<'EOF'
. "$TOP/tests/events.sh"

# events ARGUMENT...: the program that calls the library
events() { LD_LIBRARY_PATH=$lib "$scratch/events" "$@"; }

# by_tool <NAMES: what pmu-events says of each, as `events encode` says it, but without the name
by_tool() {
	xargs -d '\n' pmu-events --encode --to json |
	fields type config config1 config2 exclude_user exclude_kernel exclude_hv exclude_idle \
		exclude_host exclude_guest precise_ip pinned exclusive |
	sed 's/true/1/g; s/false/0/g; s/ - / 0 /g; s/ - / 0 /g; s/ 0x0\>/ 0/g' |
	awk '{ print $1, $2, $3, $4, $5 $6 $7 $8 $9 $10, $11, $12 $13 }'
}

# compared LEAST: both list the same events and encode them alike, of which LEAST are single ones
compared() {
	pmu-events --list --to json >list.json
	fields kind name group <list.json |
		awk '$1 != "terms" { print $2, $1 == "tracepoint" ? $1 : $3 }' >want
	events list | cut -f 1,2 | tr '\t' ' ' >got
	diff want got || return
	cut -d ' ' -f 1 got | events encode >encoded
	# those that are several events here, or none, are so to the tool, too
	sed -n 's/^\(.*\): -[25] -[25]: .*/\1/p' encoded >others
	while read -r name; do
		one=$(echo "$name" | by_tool 2>/dev/null | wc -l)
		test "$one" -ne 1 || { echo "$name is one event"; return 1; }
	done <others
	grep -vE ': -[25] -[25]: ' encoded >ones
	sed 's/ .*//' ones | by_tool >want
	sed 's/^[^ ]* //' ones >got
	diff want got && test "$(wc -l <ones)" -ge "$1"
}
EOF
. "$scratch/functions"

check 'every event that pmu-events lists is listed, and encodes to what it says' <<'END'
	built
	compared 60
END

# The models are those of this CPU, the PMUs those of the other machine.
check 'so it is on machines with other PMUs' <<'END'
	built
	needs_root
	unshare -m true || skip "no namespaces of mounts"
	for machine in skylake sapphirerapids hybrid amd arm biglittle; do
		tree $machine
		mkdir -p "$machine/kernel/tracing"
		unshare -m sh -ec ". \$scratch/functions; mount --bind $machine /sys; compared 20"
		wc -l <others >>several
	done
	grep -qv "^0$" several
END

check 'a name that is not an event is an error that says the nearest one' <<'END'
	built
	events encode >got <<-EOF
	cycle
	page-faults,cycles
	{page-faults}
	page-faults/period=7/u
	no-such-pmu/event=1/
	page-faults:z
	icx::INST_RETIRED:ANY

	EOF
	sed "s/: -\([25]\) -.: /: -\1 /" got >short
	grep -qxF "cycle: -5 unknown event 'cycle': did you mean 'cycles'?" short
	grep -q "^page-faults,cycles: -2 .* stands for 2 events here" short
	grep -q "^{page-faults} 1 0x2 0 0 " short
	grep -q "^page-faults/period=7/u 1 0x2 0 0 01" short
	grep -q "^no-such-pmu/event=1/: -5 there is no PMU" short
	grep -q "^page-faults:z: -[25] .*column" short
	grep -q "^: -[25] " short
END

check 'modifiers and terms are those of the tool; an event of another CPU is not found' <<'END'
	built
	cat >names <<-EOF
	page-faults:u
	page-faults:k
	cycles:pp
	cycles:ukD
	instructions:e
	cycles:G
	cycles:H
	cycles:I
	EOF
	by_tool <names >want
	events encode <names | sed "s/^[^ ]* //" | same want -
	echo core::INST_RETIRED:ANY_P | events encode >got
	grep -q "^core::INST_RETIRED:ANY_P: -5 " got
END

check 'the list has what matches; the structure may be older or newer than the library' <<'END'
	built
	events list CACHE-miss | cut -f 1 | grep -v : >got
	echo cache-misses | same - got
	test "$(events list nothing-has-this)" = ""
	events sizes >got
	test "$(grep -c ": 0 1$" got)" -eq 4
	none grep wrong got
	grep -q "^0: -2: no struct perf_event_attr has 0 bytes" got
END

check 'threads encode at the same time, and so does a child of fork' <<'END'
	built
	for i in 1 2 3 4 5 6 7 8 9 10; do events threads >$i; done
	same 1 10
	grep -q "^child: 0$" 1
	none grep "^thread" 1 2 3 4 5 6 7 8 9 10
END

done_testing
