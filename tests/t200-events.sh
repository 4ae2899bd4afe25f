#!/bin/sh
# pmu-events: what it lists, encodes, checks and finds; how fast, and what it says of mistakes.
# kinds: release user
. tests/lib.sh
. tests/events.sh

# What whoever calls may open.
u= usable=' '
test "$(id -u)" = 0 || u=:u usable='[ -]'
test -z "$unsampled" || usable=-
clock=cpu-clock$u faults=page-faults$u

# json FILE: run the Python on stdin with what that JSON says as j
json() {
	{ echo "import json; j = json.load(open('$1'))"; cat; } | python3 -
}

check 'a list in groups, of at most 80 columns, but for a longer name alone' <<'END'
	pmu-events --list >list
	grep -q "^hardware events" list
	grep -q "^$usable cpu-clock  *time on a CPU" list
	grep -q "^cache events" list
	none awk 'length($0) > 80 && NF > 1' list
	none grep -n ' $' list
END

check 'what the kernel has of its own is all listed' <<'END'
	pmu-events --list --json >list
	json list <<-EOF
	names = {e["name"]: e for e in j if e["kind"] == "generic"}
	assert len(names) == 22 + 32, len(names)
	for name in "cycles", "ref-cycles", "cgroup-switches", "node-prefetch-misses":
	    assert name in names
	assert names["branches"]["others"] == "branch-instructions, branchInstructions"
	EOF
END

check 'what perf lists of tracepoints is listed' <<'END'
	needs_tracepoints
	# ftrace itself has entries that cannot be opened as events; perf list drops them, too
	grep -v "^ftrace:" $tracing/available_events | sort >want
	pmu-events --list --json | fields kind group name |
		sed -n "/ ftrace /d; s/^tracepoint [^ ]* //p" | sort >got
	same want got
END

check 'globs, of names, other names and groups, whatever the case' <<'END'
	pmu-events --list "CPU-c*" >got
	grep -q "^$usable cpu-clock " got
	grep -q "^. cycles " got
	none grep page-faults got
	pmu-events --list cacheMisses | grep -q "cache-misses"
	pmu-events --list software | grep -q "page-faults"
	exits 1 pmu-events --list nosuchevent 2>err
	grep -qx "pmu-events: no event matches" err
END

check 'each event listed as usable is so for perf, and none else' <<'END'
	needs_command perf
	pmu-events --list --json | fields kind name usable | sed -n "s/^generic //p" >ours
	test "$(wc -l <ours)" -ge 50
	# perf counts all of them in one run; without rights it takes what is not the event of this
	# name, and says so in the name
	perf stat -x , $(sed "s/ .*//; s/^/-e /" ours) true 2>said
	awk -F , 'NF > 2 {
		usable = $1 == "<not supported>" || sub(/:.*/, "", $3) ? "false" : "true"
		print $3, usable
	}' said >theirs
	at_least "$(wc -l <theirs)" 50
	# what can be counted only, if there is such an event, cannot be recorded
	while read -r name usable; do
		! grep -qx "$name $usable" theirs || continue
		recorded=true
		# -B: perf 6.1 aborts now and then where it looks for build IDs
		perf record -v -B -o data -c 100000 -e "$name" true >out 2>&1 || recorded=false
		! grep -q "fall back to excluding kernel" out || recorded=false
		test "$usable" = $recorded || { echo "$name: $usable, perf: $recorded"; exit 1; }
	done <ours
END

check 'encoding: every word, and the period in plain words' <<'END'
	pmu-events --encode cycles:upp | tr -d "\t" >got
	cat >want <<-EOF
	cycles:upp
		type     0 (hardware)
		config   0x0
		exclude  user 0, kernel 1, hv 1, idle 0, host 0, guest 1
		precise  2
		sample   every 3931177
		unit     count
	EOF
	same want got
	pmu-events --encode -F 99 cpu-clock | grep -qx "	sample   99 times per second"
	pmu-events --encode -c 20k cycles | grep -qx "	sample   every 20000"
	pmu-events --encode mem:0x1000/8:w | grep -qx "	bp_addr  0x1000"
	pmu-events --encode cycles:P | grep -qx "	precise  the highest level that opens"
	pmu-events --encode "{cs,faults}:S" | grep -c "group    1, read together" | grep -qx 2
END

# says ARGUMENT...: fails with the message on stdin, and no other word
says() {
	exits 1 pmu-events "$@" >out 2>err
	sed "s/^/pmu-events: /" | same - err
	test ! -s out
}

check 'mistakes are shown where they are, with what may be meant' <<'END'
	says --encode cycels <<-EOF
	unknown event 'cycels': did you mean 'cycles'?
	EOF
	says --encode cycles,brnch-misses <<-EOF
	'cycles,brnch-misses', column 8: unknown event 'brnch-misses': did you mean 'branch-misses'?
	EOF
	says --encode cycles:x <<-EOF
	'cycles:x', column 8: 'x' is not a modifier; u k h G H I p pp ppp P S D e W are
	EOF
	says --encode cycles:uu <<-EOF
	'cycles:uu', column 9: 'u' is given twice
	EOF
	says --encode cycles:pppp <<-EOF
	'cycles:pppp', column 11: 'p' asks for more than precise level 3
	EOF
	says --encode "{cycles" <<-EOF
	this '{' lacks its '}'
	EOF
	says --encode "{cycles,{cs}}" <<-EOF
	'{cycles,{cs}}', column 9: an event's name is missing here
	EOF
	says --encode cs,,cs <<-EOF
	'cs,,cs', column 4: an event's name is missing here
	EOF
	says --encode "cs}" <<-EOF
	'cs}', column 3: '}' is not expected here
	EOF
	says --encode -c 9999 cycles <<-EOF
	a period of 9999 is below the floor of 10000 for 'cycles'; --force allows it
	EOF
	pmu-events --encode -c 9999 --force cycles | grep -q 'every 9999$'
	says --encode mem:zz <<-EOF
	'mem:zz', column 5: 'zz' is not an address; example: mem:0x4010f0/8:rw
	EOF
	exits 1 pmu-events --encode cycles/foo=1/ >out 2>err
	terms="period, freq, name, max-stack, branch_type, inherit, no-inherit"
	# with a PMU, and without
	grep -qxE "pmu-events: 'cycles/foo=1/', column 8: 'foo(=1)?' is not a term of this event; \
its terms are $terms" err
	test ! -s out
END

check 'misuse is exit 2' <<'END'
	for arguments in "" "--list --encode cycles" "--encode" "--check" "--doctor cycles" \
		"--encode -c 0 cycles" "--encode -c x cycles" \
		"--encode -c 9 -F 9 cycles" "--doctor x"; do
		exits 2 pmu-events $arguments >out 2>err
		grep -q "^usage: pmu-events" err
	done
END

check 'what can be opened is ok, and exit 0 is for all of them only' <<'END'
	pmu-events --check $clock >out
	grep -qx "$clock  ok" out
	pmu-events --check --json $clock $faults >checked
	json checked <<-EOF
	assert [(e["name"], e["ok"]) for e in j] == [("$clock", True), ("$faults", True)]
	EOF
	test -e /sys/bus/event_source/devices/cpu && exit 0
	exits 1 pmu-events --check $clock cycles$u >out
	grep "^cycles$u  *this machine shows no hardware PMU (a virtual machine?): " out |
		grep -q cpu-clock
END

# as_nobody COMMAND...: as those run it who are not root
as_nobody() {
	test "$(id -u)" != 0 || set -- setpriv --reuid 65534 --regid 65534 --clear-groups \
		--bounding-set=-all --inh-caps=-all "$@"
	"$@"
}

check 'without rights: the level, the sysctl and the modifier that would help' <<'END'
	test "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 || skip "paranoid is not 2"
	cp "$BIN/pmu-events" "$scratch/pmu-events"
	chmod 755 "$scratch/pmu-events"
	exits 1 as_nobody "$scratch/pmu-events" --check cpu-clock >out
	help="as root, sysctl kernel.perf_event_paranoid=1, or give the program cap_perfmon"
	grep -q "kernel.perf_event_paranoid is 2: $help; or leave the kernel out with :u" out
	as_nobody "$scratch/pmu-events" --check cpu-clock:u >out
	grep -qx "cpu-clock:u  ok" out
	as_nobody "$scratch/pmu-events" --doctor >out || :
	grep -q "^note  paranoid level     2: no kernel, no whole CPUs" out
	grep -q "> sysctl kernel.perf_event_paranoid=1" out
	grep -q "neither cap_perfmon nor cap_sys_admin" out
END

check 'tracepoints of another tracefs: their ids, and all that match a pattern' <<'END'
	for name in one two three; do
		mkdir -p "tracefs/events/made/$name"
		echo $((4700 + ${#name})) >"tracefs/events/made/$name/id"
	done
	pmu-events --tracefs tracefs --encode --json made:three "made:t*" >got
	json got <<-EOF
	assert [(e["name"], int(e["config"], 16)) for e in j] == [
	    ("made:three", 4705), ("made:three", 4705), ("made:two", 4703)], j
	EOF
END

check 'without rights: a tracepoint cannot be looked up' <<'END'
	has_tracefs || skip "no tracefs at $tracing"
	test "$(id -u)" = 0 || ! test -r $tracing/events || skip "everyone may read $tracing"
	cp "$BIN/pmu-events" "$scratch/pmu-events"
	chmod 755 "$scratch/pmu-events"
	exits 1 as_nobody "$scratch/pmu-events" --encode sched:sched_switch 2>err
	cat err
	grep -q "may be a tracepoint, but only root can read" err
END

check 'under a filter as containers have it: the filter is blamed, not the level' <<'END'
	cat >filtered.py <<-EOF
	import ctypes, os, struct, sys
	call = {"x86_64": 298, "aarch64": 241}.get(os.uname().machine)
	if not call: sys.exit(77)
	# load the number of the call; is it perf_event_open: EPERM; else: allow
	code = [(0x20, 0, 0, 0), (0x15, 0, 1, call), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7fff0000)]
	code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *i) for i in code))
	class Filter(ctypes.Structure):
	    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
	libc = ctypes.CDLL(None)
	libc.prctl(38, 1, 0, 0, 0)	# PR_SET_NO_NEW_PRIVS
	if libc.prctl(22, 2, ctypes.byref(Filter(4, ctypes.cast(code, ctypes.c_void_p))), 0, 0):
	    sys.exit(77)		# PR_SET_SECCOMP
	os.execvp(sys.argv[1], sys.argv[1:])
	EOF
	exits 1 python3 filtered.py pmu-events --check cpu-clock >out
	grep -q "^cpu-clock  a seccomp filter forbids perf_event_open (a container?): allow it" out
	exits 1 python3 filtered.py pmu-events --doctor >out
	grep -q "^BAD   system call .*a seccomp filter forbids" out
	grep -q "^note  seccomp            a filter is active" out
END

check 'out of descriptors: says so, and how many there may be' <<'END'
	case $BIN in *asan*) skip "its libraries take descriptors" ;; esac
	# 0 to 2 are taken, and no more are allowed
	exits 1 sh -c "ulimit -n 3; exec pmu-events --check $clock" >out
	grep -q "all 3 file descriptors are in use: ulimit -n" out
END

check 'the doctor reads what the kernel says' <<'END'
	pmu-events --doctor --json >out || test $? = 1
	json out >want <<-EOF
	topics = {f["topic"]: f for f in j}
	def sysctl(name): return open("/proc/sys/kernel/" + name).read().strip()
	assert topics["paranoid level"]["text"].startswith(sysctl("perf_event_paranoid"))
	assert sysctl("perf_event_mlock_kb") in topics["ring memory"]["text"]
	assert sysctl("perf_event_max_sample_rate") in topics["sample rate"]["text"]
	assert "is " + sysctl("kptr_restrict") in topics["kernel symbols"]["text"]
	for f in j: assert f["state"] in ("ok", "note", "bad")
	print(1 if any(f["state"] == "bad" for f in j) else 0)
	EOF
	got=0
	pmu-events --doctor >text || got=$?
	echo $got | same want -
	sh -c "ulimit -n 70; pmu-events --doctor" | grep -A1 "open files" | grep -q "> ulimit -n"
END

check 'the doctor on a process: frame pointers in its program, or none' <<'END'
	needs_command gcc
	{
		echo "#include <unistd.h>"
		echo "int f0(int x) { return x + pause(); }"
		for i in $(seq 40); do
			echo "int f$i(int x) { return x ? f$((i - 1))(x - 1) + $i : pause(); }"
		done
		echo "int main(void) { return f40(0); }"
	} >p.c
	for flag in -fno-omit-frame-pointer -fomit-frame-pointer; do
		gcc -O1 $flag -o p$flag p.c
		./p$flag &
		pid=$!
		eventually grep -q "r-xp.*/p$flag" /proc/$pid/maps	# not the shell any more
		eventually grep -q "r-xp.*libc" /proc/$pid/maps	# it has its libraries
		pmu-events --doctor $pid >out || :
		kill $pid
		case $flag in
		-fno*) grep -q "^ok    frame pointers     the program keeps them" out ;;
		*)	grep "^note  frame pointers " out | grep "lacks them, and has unwind tables"
			grep -A1 "^note  frame pointers " out | grep "> pmu-sample --unwind; or" ;;
		esac
		grep "^ok    callchains .*--unwind and --call-graph dwarf work: all code has" out
		grep "^ok    callchains .*-g stops .*libc" out	# Debian's has no frame pointers
		case $flag in
		-fno*) none grep "callchains .*(p-f" out ;;
		*) grep "^ok    callchains .*-g stops .*(p-f" out ;;
		esac
	done
	gcc -O1 -static -fomit-frame-pointer -fno-asynchronous-unwind-tables -nostdlib \
		-Wl,--build-id=none -x c - -o bare <<-EOF || skip "no bare programs here"
		void _start(void) { for (;;) ; }
	EOF
	./bare &
	pid=$!
	eventually grep -qx bare /proc/$pid/comm	# not the shell any more
	pmu-events --doctor $pid >out || :
	kill $pid
	grep "^note  callchains .*--unwind stops in code without unwind tables (bare)" out
	exits 1 pmu-events --doctor 999999999 >out
	grep -q "999999999 cannot be profiled: the process has ended" out
END

check 'completion: names, lists, groups, umasks; only what begins so' <<'END'
	pmu-events --complete cpu-cl >got
	echo cpu-clock | same - got
	pmu-events --complete "{cs,minor-f" >got
	echo "{cs,minor-faults" | same - got
	test -z "$(pmu-events --complete nosuch)"
	pmu-events --complete "" >got
	grep -qx cycles got
	none grep -n " " got
END

check 'fast: lists and completions take less than 50 ms of CPU time' <<'END'
	case $BIN in *asan*) skip "sanitizers are slow" ;; esac
	test -z "$WRAP" || skip "so is $WRAP"
	# the best of five: who shares the core makes it slower
	for arguments in "--list" "--complete cyc" "--complete sched:sched_w"; do
		for i in 1 2 3 4 5; do
			confine -o times pmu-events $arguments >out
			cut -d ' ' -f 2 times
		done | sort -n | head -n 1 >best
		echo "$arguments: $(cat best) s"
		at_most "$(cat best)" 0.05
	done
END

done_testing
