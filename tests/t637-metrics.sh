#!/bin/sh
# pmu-stat --metrics: numbers that a user's file calculates from events.
# kinds: release asan
. tests/lib.sh

# value NAME FIELD: of a row in the JSON on stdin
value() {
	python3 -c '
import json, sys
row = [r for r in json.load(sys.stdin)["rows"] if r["name"] == sys.argv[1]][0]
v = row[sys.argv[2]]
print("-" if v is None else v)' "$@"
}

check 'each run has a value, as the expression says; its interval is that of the runs' <<'END'
	cat >file <<-'EOF'
		# faults of a page
		both = minor-faults + major-faults

		share of minor = 100 * minor-faults / ( page-faults )	# in percent
		precedence = 2 + 3 * 4 - 6 / 2 - 1
		signs = -(2 - 5) * - -2
		exact = 1e3 / 8 + .5
		'quoted', too = 'page-faults' - 'page-faults'
		nothing = 1 / ('page-faults' - page-faults)
		of modifiers = page-faults:u / page-faults:u
	EOF
	pmu-stat -q --metrics file -n 4 -j -- sh -c : >got
	test "$(value precedence mean <got)" = 10
	test "$(value signs mean <got)" = 6
	test "$(value exact mean <got)" = 125.5
	test "$(value "'quoted', too" mean <got)" = 0
	test "$(value nothing mean <got)" = -
	test "$(value 'of modifiers' mean <got)" = 1
	python3 - <<-'PY'
	import json, math
	rows = {r["name"]: r for r in json.load(open("got"))["rows"]}
	minor, major, page = (rows[n]["values"] for n in ("minor-faults", "major-faults", "page-faults"))
	both, share = rows["both"], rows["share of minor"]
	assert both["values"] == [a + b for a, b in zip(minor, major)]
	assert all(abs(v - 100 * a / b) < 1e-9 for v, a, b in zip(share["values"], minor, page))
	assert both["kind"] == "derived" and both["unit"] == "" and len(both["values"]) == 4
	n, mean = 4, sum(both["values"]) / 4
	spread = math.sqrt(sum((v - mean) ** 2 for v in both["values"]) / (n - 1) / n)
	assert abs(both["mean"] - mean) < 1e-6
	assert abs(both["high"] - mean - 3.182446305 * spread) < 1e-6	# t, 3 degrees of freedom
	PY
	pmu-stat -q --metrics file -n 2 -- sh -c : >table
	grep -Eq "^ +10 +equal +10 +10 +precedence$" table
	grep -Eq "^ +- +- +- +- +nothing$" table
	grep -Eq " signs$" table
END

check 'the events are opened once, those of a metric in a group, beside those of -e' <<'END'
	printf 'a = page-faults / cs\nb = page-faults * cs + cs\n' >file
	pmu-stat -q --metrics file -j -- true >got
	python3 -c '
import json
names = [r["name"] for r in json.load(open("got"))["rows"] if r["kind"] == "event"]
assert names == ["page-faults", "context-switches"], names'
	pmu-stat -q -e minor-faults -e cs --metrics file -j -- true >got
	python3 -c '
import json
names = [r["name"] for r in json.load(open("got"))["rows"] if r["kind"] == "event"]
assert names == ["minor-faults", "context-switches", "page-faults"], names'
END

check 'top-down: a run has four shares, and metrics may use the events' <<'END'
	needs_root
	needs_command unshare
	unsanitized
	unshare -m true || skip 'may not mount here'
	test "$(uname -m)" = x86_64 || skip 'an emulation for x86-64'
	dir=ice/bus/event_source/devices
	mkdir -p $dir/cpu/events $dir/cpu/format $dir/software
	echo 1 >$dir/software/type
	echo 4 >$dir/cpu/type
	echo config:0-7 >$dir/cpu/format/event
	echo config:8-15 >$dir/cpu/format/umask
	while read -r name terms; do echo $terms >$dir/cpu/events/$name; done <<-EOF
		slots event=0x00,umask=0x4
		topdown-retiring event=0x00,umask=0x80
		topdown-bad-spec event=0x00,umask=0x81
		topdown-fe-bound event=0x00,umask=0x82
		topdown-be-bound event=0x00,umask=0x83
	EOF
	on_intel() {	# time on a CPU stands for the slots and for those that retire
		unshare -m sh -c 'at=bus/event_source/devices
			mount --bind ice/$at /sys/$at && exec "$@"' - topdown-kernel opened "$@"
	}
	on_intel "$BIN/pmu-stat" -q -e topdown -n 2 -j -- ten serial 0.1 >got
	near "$(value retiring mean <got)" 100 1
	test "$(value retiring unit <got)" = %
	for name in 'bad speculation' 'frontend bound' 'backend bound'; do
		test "$(value "$name" mean <got)" = 0
	done
	# none is sampled, and slots leads
	tail -n 6 opened | awk '{ print $2, $3, $4, $6, $7 }' >last
	printf '0x%s\n' "400 0 0 1 0" "0 0 0 0 1" "8000 0 0 0 1" "8100 0 0 0 1" "8200 0 0 0 1" \
		"8300 0 0 0 1" | sed 's/^0x0 /0 /' | same - last
	echo 'retired = topdown-retiring / slots' >file
	on_intel "$BIN/pmu-stat" -q --metrics file -j -- ten serial 0.1 >got
	near "$(value retired mean <got)" 1 0.01
	on_intel "$BIN/pmu-stat" -q -e topdown -n 2 -- ten serial 0.1 >table
	grep -Eq "^ +100.0 .* retiring, %$" table
END

check 'without the events of a CPU, one line says so' <<'END'
	test ! -e /sys/bus/event_source/devices/cpu/events/slots || skip 'this machine has slots'
	exits 1 pmu-stat -e topdown -- true >out 2>err
	none grep . out
	grep -x "pmu-stat: no topdown: the kernel shows neither slots and topdown-\* nor .*" err
	test "$(wc -l <err)" = 1
END

check 'an error has a file, a line and a column' <<'END'
	refused() {	# PLACE WHY LINE...: one message, nothing is counted
		place=$1 why=$2
		shift 2
		printf '%b\n' "$@" >file
		exits 1 pmu-stat --metrics file -- touch ran >out 2>err
		none grep . out
		test ! -e ran
		test "$(wc -l <err)" = 1
		grep -F "pmu-stat: file:$place: $why" err
	}
	refused 1:1 'NAME = EXPRESSION is expected here' 'cycles'
	refused 2:1 "the metric's name is missing here" 'a = cs' '= cs'
	refused 1:5 'the expression ends too soon' 'a = '
	refused 1:9 'the expression ends too soon' 'a = cs +'
	refused 1:5 "this '(' lacks its ')'" 'a = (cs'
	refused 1:9 "an operator or ')' is expected here" 'a = (cs cs)'
	refused 1:7 "this ')' has no '('" 'a = cs)'
	refused 1:8 'an operator is expected here' 'a = cs cs'
	refused 1:6 'an operator is missing between the number and the name' 'a = 2cs'
	refused 1:5 'this is not a number' 'a = .'
	refused 1:5 'this is not a number' 'a = 1e999'
	refused 1:5 "a number, a name of an event or '(' is expected here" 'a = * cs'
	refused 1:5 'this quote is not closed' "a = 'cs"
	refused 2:1 'a metric of this name comes earlier in the file' 'a = cs' 'a = 2'
	refused 1:2 'a name has printable ASCII characters only' 'a\001b = cs'
	refused 3:7 "unknown event 'no_such_event'" '# 1' '' 'a = 1/no_such_event'
	refused 1:5 "'cs/2', column 3:" 'a = cs/2'
	grep "; - and / are operators only after a space$" err
	refused 1:6 "unknown event '{cs}'" "a = '{cs}'" || grep "file:1:6: a group is not an event" err
	printf '# nothing\n' >file
	exits 1 pmu-stat --metrics file -- true 2>err
	grep -x "pmu-stat: 'file' has no metrics: NAME = EXPRESSION is expected" err
	exits 1 pmu-stat --metrics missing -- true 2>err
	grep "cannot read 'missing'" err
	exits 1 pmu-stat --metrics /dev/zero -- true 2>err
	test "$(wc -l <err)" = 1
END

check 'a hostile file is refused at a limit, without much memory or stack' <<'END'
	try() {	# WHY: of the file
		( ulimit -s 256; ulimit -v $((2 << 20)); timeout 20 pmu-stat --metrics file -- true ) \
			>out 2>err && exit 1
		test "$(wc -l <err)" = 1
		grep -F "$1" err
	}
	test "$KIND" != asan || ulimit() { :; }
	python3 -c 'print("a = " + "(" * 2000 + "1" + ")" * 2000)' >file
	try 'file:1:69: nested too deeply: 64 levels are read'
	python3 -c 'print("a = " + "(" * 64 + "cs" + ")" * 64)' >file
	pmu-stat -q --metrics file -- true >out
	python3 -c 'print("a = " + "-" * 4000 + "1")' >file
	pmu-stat -q --metrics file -- true >out
	python3 -c 'print("a = " + "1 + (" * 64 + "1" + ")" * 64)' >file
	pmu-stat -q --metrics file -j -- true >out
	test "$(value a mean <out)" = 65
	python3 -c 'print("a = 1" + " + 1" * 2000)' >file
	try 'file:1:4097: a line may have 4096 bytes'
	head -c 2000000 /dev/zero | tr '\0' '#' >file
	try "'file' is larger than 1 MiB"
	python3 -c 'print("\n".join("m%d = 1" % i for i in range(1001)))' >file
	try 'file:1001:1: a file may have 1000 metrics'
	python3 -c 'print("\n".join("m%d = e%d" % (i, i) for i in range(300)))' >file
	try 'a file may name 256 events'
	head -c 3000 /dev/zero >file
	try 'file:1:1: a NUL byte'
	printf 'a = cs\0\n' >file
	try 'file:1:7: an operator is expected here'
	python3 -c 'print("x" * 101 + " = cs")' >file
	try 'file:1:1: a name may have 100 bytes'
END

done_testing
