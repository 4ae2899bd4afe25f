#!/bin/sh
# pmu-events: what it lists, encodes, checks and finds; how fast, and what it says of mistakes.
# kinds: release
. tests/lib.sh

# json CODE: run it with the JSON on stdin as j
json() { python3 -c "import json, sys
j = json.load(sys.stdin)
$1"; }

check 'a list in groups, of at most 80 columns' <<'END'
	pmu-events --list >list
	grep -q "^hardware events" list
	grep -q "^  cpu-clock  *time on a CPU" list
	grep -q "^cache events" list
	none grep -n "..................................................................................." list
	none grep -n ' $' list
END

check 'what the kernel has of its own is all listed' <<'END'
	pmu-events --list --json >list
	json '
names = {e["name"] for e in j if e["kind"] == "generic"}
assert len(names) == 22 + 32, len(names)
for name in "cycles", "ref-cycles", "cgroup-switches", "node-prefetch-misses": assert name in names
assert [e for e in j if e["name"] == "branches"][0]["others"] == "branch-instructions, branchInstructions"
' <list
END

check 'what perf lists of tracepoints is listed' <<'END'
	tracing=/sys/kernel/tracing/available_events
	test -r $tracing || { echo "no tracepoints to be read"; exit 77; }
	# ftrace itself has entries that are no events to open; perf list drops them, too
	grep -v "^ftrace:" $tracing | sort >want
	pmu-events --list --json | json '
for e in j:
    if e["kind"] == "tracepoint" and e["group"] != "ftrace": print(e["name"])' | sort >got
	same want got
END

check 'globs, of names, other names and groups, whatever the case' <<'END'
	pmu-events -l "CPU-c*" >got
	grep -q "^  cpu-clock " got
	grep -q "^. cycles " got
	none grep page-faults got
	pmu-events -l cacheMisses | grep -q "cache-misses"
	pmu-events -l software | grep -q "page-faults"
	exits 1 pmu-events -l nosuchevent 2>err
	grep -qx "pmu-events: no event matches" err
END

check 'each event listed as usable is so for perf, and none else' <<'END'
	command -v perf >/dev/null || { echo "no perf"; exit 77; }
	pmu-events --list --json >list
	json '
for e in j:
    if e["kind"] == "generic": print(e["name"], e["usable"])' <list >ours
	while read -r name usable; do
		# perf has no plain way to sample the one, and takes cpu-clock for the other
		case $name in bpf-output | cycles) continue ;; esac
		perf record -q -o data -c 100000 -e "$name" true >out 2>&1 && theirs=True || theirs=False
		test "$usable" = $theirs || { echo "$name: $usable, perf: $theirs"; exit 1; }
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
	pmu-events -e -F 99 cpu-clock | grep -qx "	sample   99 times per second"
	pmu-events -e -c 20k cycles | grep -qx "	sample   every 20000"
	pmu-events -e mem:0x1000/8:w | grep -qx "	bp_addr  0x1000"
	pmu-events -e --precise max cycles | grep -qx "	precise  the highest level that opens"
	pmu-events -e "{cs,faults}:S" | grep -c "group    1, read together" | grep -qx 2
END

# says MESSAGE ARGUMENT...: fails with it
says() {
	message=$1
	shift
	exits 1 pmu-events "$@" >out 2>err
	printf "pmu-events: %s\n" "$message" | same - err
	test ! -s out
}

check 'mistakes are shown where they are, with what may be meant' <<'END'
	q="'"
	says "unknown event ${q}cycels$q: did you mean ${q}cycles$q?" -e cycels
	says "${q}cycles,brnch-misses$q, column 8: unknown event ${q}brnch-misses$q: did you mean ${q}branch-misses$q?" \
		-e cycles,brnch-misses
	says "${q}cycles:x$q, column 8: ${q}x$q is no modifier; those are u k h G H I p pp ppp P S D e W" -e cycles:x
	says "${q}cycles:uu$q, column 9: ${q}u$q is given twice" -e cycles:uu
	says "${q}cycles:pppp$q, column 11: ${q}p$q asks for more than precise level 3" -e cycles:pppp
	says "this ${q}{$q lacks its ${q}}$q" -e "{cycles"
	says "${q}{cycles,{cs}}$q, column 9: an event${q}s name is missing here" -e "{cycles,{cs}}"
	says "${q}cs,,cs$q, column 4: an event${q}s name is missing here" -e cs,,cs
	says "${q}cs}$q, column 3: ${q}}$q is not expected here" -e "cs}"
	says "a period of 9999 is below the floor of 10000 for ${q}cycles$q; --force allows it" -e -c 9999 cycles
	pmu-events -e -c 9999 --force cycles | grep -q 'every 9999$'
	says "${q}mem:zz$q, column 5: ${q}zz$q is no address, as in mem:0x4010f0/8:rw" -e mem:zz
	says "${q}cycles/foo=1/$q, column 8: ${q}foo=1$q is no term of this event; those are period, freq, name, max-stack, branch_type, inherit, no-inherit" \
		-e cycles/foo=1/ || says "${q}cycles/foo=1/$q, column 8: ${q}foo$q is no term of this event; those are period, freq, name, max-stack, branch_type, inherit, no-inherit" \
		-e cycles/foo=1/
END

check 'misuse is exit 2' <<'END'
	for arguments in "" "-l -e cycles" "-e" "-t" "-d cycles" "-e -c 0 cycles" "-e -c x cycles" \
		"-e --precise 4 cycles" "-e -c 9 -F 9 cycles" "-d -p x"; do
		exits 2 pmu-events $arguments >out 2>err
		grep -q "^usage: pmu-events" err
	done
END

check 'what can be opened is ok, and exit 0 is for all of them only' <<'END'
	pmu-events --check cpu-clock >out
	grep -qx "cpu-clock  ok" out
	pmu-events --check --json cpu-clock page-faults | json '
assert [(e["name"], e["ok"]) for e in j] == [("cpu-clock", True), ("page-faults", True)]'
	test -e /sys/bus/event_source/devices/cpu && exit 0
	exits 1 pmu-events --check cpu-clock cycles >out
	grep -q "^cycles     this machine shows no hardware PMU (a virtual machine?): .*cpu-clock" out
END

# A program that everyone may run, as its user has it: for those who are not root
as_nobody() {
	test "$(id -u)" = 0 || { echo "not root"; exit 77; }
	setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all "$@"
}

check 'without rights: the level, the sysctl and the modifier that would help' <<'END'
	test "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 || { echo "paranoid is not 2"; exit 77; }
	cp "$BIN/pmu-events" "$scratch/pmu-events"
	chmod 755 "$scratch" "$scratch/pmu-events"
	exits 1 as_nobody "$scratch/pmu-events" -t cpu-clock >out
	grep -q "kernel.perf_event_paranoid is 2: as root, sysctl kernel.perf_event_paranoid=1, or give the program cap_perfmon; or leave the kernel out with :u" out
	as_nobody "$scratch/pmu-events" -t cpu-clock:u >out
	grep -qx "cpu-clock:u  ok" out
	exits 1 as_nobody "$scratch/pmu-events" -e sched:sched_switch 2>err
	grep -q "may be a tracepoint, but only root can read" err
	as_nobody "$scratch/pmu-events" -d >out || :
	grep -q "^note  paranoid level     2: no kernel, no whole CPUs" out
	grep -q "> sysctl kernel.perf_event_paranoid=1" out
	grep -q "neither cap_perfmon nor cap_sys_admin" out
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
	exits 1 python3 filtered.py pmu-events -t cpu-clock >out
	grep -q "^cpu-clock  a seccomp filter forbids perf_event_open (a container?): allow it" out
	exits 1 python3 filtered.py pmu-events -d >out
	grep -q "^BAD   system call .*a seccomp filter forbids" out
	grep -q "^note  seccomp            a filter is at work" out
END

check 'out of descriptors: says so, and how many there may be' <<'END'
	case $BIN in *asan*) echo "its libraries take descriptors"; exit 77 ;; esac
	# 0 to 2 are taken, and no more are allowed
	exits 1 sh -c "ulimit -n 3; exec pmu-events -t cpu-clock" >out
	grep -q "out of file descriptors, of which there may be 3: ulimit -n" out
END

check 'the doctor reads what the kernel says' <<'END'
	pmu-events --doctor --json >out || test $? = 1
	json '
topics = {f["topic"]: f for f in j}
def sysctl(name): return open("/proc/sys/kernel/" + name).read().strip()
assert topics["paranoid level"]["text"].startswith(sysctl("perf_event_paranoid"))
assert sysctl("perf_event_mlock_kb") in topics["ring memory"]["text"]
assert sysctl("perf_event_max_sample_rate") in topics["sample rate"]["text"]
assert "is " + sysctl("kptr_restrict") in topics["kernel symbols"]["text"]
for f in j: assert f["state"] in ("ok", "note", "bad")
bad = any(f["state"] == "bad" for f in j)
print(1 if bad else 0)' <out >want
	got=0
	pmu-events -d >text || got=$?
	echo $got | same want -
	sh -c "ulimit -n 70; pmu-events -d" | grep -A1 "open files" | grep -q "> ulimit -n"
END

check 'the doctor on a process: frame pointers in its program, or none' <<'END'
	command -v gcc >/dev/null || { echo "no gcc"; exit 77; }
	cat >p.c <<-EOF
	#include <unistd.h>
	$(for i in $(seq 40); do echo "int f$i(int x) { return x ? f$((i > 1 ? i - 1 : 1))(x - 1) + $i : pause(); }"; done | sed "1s/f1(x - 1)/x/")
	int main(void) { return f40(0); }
	EOF
	for flag in -fno-omit-frame-pointer -fomit-frame-pointer; do
		gcc -O1 $flag -o p$flag p.c
		./p$flag &
		pid=$!
		sleep 0.2
		pmu-events -d -p $pid >out || :
		kill $pid
		case $flag in
		-fno*) grep -q "^ok    frame pointers     the program keeps them" out ;;
		*) grep -q "^note  frame pointers     the program lacks them, and has unwind tables" out ;;
		esac
	done
	exits 1 pmu-events -d -p 999999999 >out
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

check 'fast: lists and completions take less than 50 ms' <<'END'
	case $BIN in *asan*) echo "sanitizers are slow"; exit 77 ;; esac
	test -z "$WRAP" || { echo "so is $WRAP"; exit 77; }
	# the best of five: others may be at work here
	for arguments in "--list" "--complete cyc" "--complete sched:sched_w"; do
		best=999999
		for i in 1 2 3 4 5; do
			begin=$(date +%s%N)
			pmu-events $arguments >out
			took=$((($(date +%s%N) - begin) / 1000))
			test $took -ge $best || best=$took
		done
		echo "$arguments: $best us"
		test $best -lt 50000
	done
END

done_testing
