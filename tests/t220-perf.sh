#!/bin/sh
# The same name is the same event for perf: type, config, excludes, precision.
# kinds: release user
. tests/lib.sh
. tests/events.sh

why=
perf stat -vv -e cpu-clock true 2>&1 | grep -q "^perf_event_attr" || why="perf does not run here"
can_perf() { test -z "$why" || skip "$why"; }

# agree EVENT...: on each; perf must say something
agree() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/perf-attrs.py" "$@"; }

# names KIND [GLOB...]: those of the listed events that are of it
names() {
	kind=$1
	shift
	pmu-events --list --json "$@" | fields kind name | sed -n "s/^$kind //p"
}

check 'every generic event' <<'END'
	can_perf
	names generic >names
	test "$(wc -l <names)" -ge 50
	# perf refuses to count cpu-clock of a guest only, not to name it; all names agree
	agree $(cat names)
END

check 'further names, raw events, every modifier' <<'END'
	can_perf
	set -- cpu-cycles branch-instructions idle-cycles-frontend faults cs migrations r1c0 r0 \
		l1d-misses LLC-load iTLB-loads-misses
	for letters in u k h uk kh uh ukh G H GH I p pp ppp S D e W P uP up kp Gp pG kH uG IH \
		uD ukpp uppIDe; do
		set -- "$@" instructions:$letters page-faults:$letters
	done
	agree "$@"
END

check 'breakpoints' <<'END'
	can_perf
	agree mem:0x1000 mem:0x1000:r mem:0x1000:w mem:0x1000:rw mem:0x1000:x mem:4096/8:w \
		mem:0x1000/1:rw:u mem:0x1000:u
END

check 'tracepoints' <<'END'
	can_perf
	needs_tracepoints
	names tracepoint "sched:*" "irq:*" >names
	test "$(wc -l <names)" -ge 20
	agree $(cat names) sched:sched_switch:u
END

check 'groups, and modifiers of groups' <<'END'
	can_perf
	set -- "{cpu-clock,page-faults}" "{cpu-clock,page-faults}:u" "{page-faults,cs}:S"
	# perf gives up a group whose first event it may not open
	test "$(id -u)" != 0 || set -- "$@" "{page-faults:u,cs}:k" "{page-faults:k,cs:u}"
	agree "$@"
END

check 'PMUs and terms' <<'END'
	can_perf
	needs /sys/bus/event_source/devices/msr
	agree msr/tsc/ msr/event=0x3/ msr/event=0/u msr/config=5/ msr/event=1,name=foo/k
END

check 'what --perf prints is the same event for perf' <<'END'
	can_perf
	set -- cycles cycles:u timer cacheMisses LLC-load-misses:k mem:0x1000/2:w:u page-faults:uD
	case $(pmu-events --encode --to perf r1c0) in
	cpu/config=0x1c0,name=r1c0,period=98269/) ;;
	cpu/*) exit 1 ;;
	*) set -- "$@" r1c0 ;;
	esac
	agree --translated "$@"
	perf record -vv -B -o data -e "$(pmu-events --encode --to perf timer)" \
		-e "$(pmu-events --encode --to perf page-faults)" true >said 2>&1
	grep -q 'sample_freq } *100$' said
	grep -q 'sample_freq } *211$' said
END

done_testing
