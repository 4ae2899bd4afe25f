#!/bin/sh
# What messages say: the right reason, what was written, why there are no samples.
# kinds: release user
. tests/lib.sh

# refused STATUS WORDS OPTION...: pmu-sample of true exits so and says so
refused() {
	status=$1 words=$2
	shift 2
	exits "$status" pmu-sample "$@" -o refused.data -- true 2>err
	grep -q -- "$words" err || { cat err; return 1; }
}

check 'sizes, CPUs and callchains that cannot be: the limit is named' <<'END'
	refused 2 "bytes from 4Ki to 1Gi, such as 64Mi, not '2Gi'" -m 2Gi
	refused 2 "bytes from 4Ki to 1Gi, such as 64Mi, not '1Ti'" -m 1Ti
	refused 2 "a power of two of at least [0-9]* bytes, not 3145728" -m 3M
	refused 1 "there is no CPU 60000 here" -e cpu-clock:u -C 0,60000 -p $$
	limit=$(cat /proc/sys/kernel/perf_event_max_stack)
	refused 1 "at most $limit frames.*kernel.perf_event_max_stack" \
		-e cpu-clock:u --call-graph max=$((limit + 1))
	refused 1 "at most $limit frames" -e cpu-clock/max-stack=$((limit + 1))/u -g
END

check 'branches of an event that is not a hardware event: what they need' <<'END'
	for option in -b "-j any_call,u" "--call-graph lbr"; do
		refused 1 "branches are recorded .*: leave out --record branches, --call-graph lbr" \
			-e cpu-clock:u $option
	done
END

check 'a breakpoint that the CPU does not have' <<'END'
	case $(uname -m) in
	x86_64) refused 1 "cannot watch reads alone: use rw" -e mem:0x400000:r:u ;;
	esac
	refused 1 "at an address that is a multiple of it" -e mem:0x400001/4:rw:u
END

check 'a zombie, and the process of another user' <<'END'
	python3 -c "import os, time; os.fork() or os._exit(0); time.sleep(1000)" &
	parent=$!
	has_zombie() {
		child=$(tr -d " " </proc/$parent/task/$parent/children)
		grep -q "^State:.*zombie" "/proc/$child/status"
	}
	eventually has_zombie
	exits 1 pmu-sample -e cpu-clock:u -p "$child" -d 0.1 -o s.data 2>err
	grep -q "cannot sample $child: the process has exited, and is a zombie" err
	pmu-events --doctor "$child" >out || :
	grep -q "$child cannot be profiled: .*zombie" out
	kill $parent
	if test "$(id -u)" = 0; then
		sleep 1000 &
		as() { setpriv --reuid=65534 --clear-groups --inh-caps=-all "$@"; }
		exits 1 as "$BIN/pmu-sample" -e cpu-clock:u -p $! -d 0.1 -o /dev/null 2>err
		grep -q "belongs to another user, of uid 0: run as root, or with cap_perfmon" err
	fi
END

check 'uncore events of other models: all but the type, which only such a machine knows' <<'END'
	test "$(uname -m)" = x86_64 || skip "models of x86"
	pmu-events --encode snb_unc_cbo0::UNC_CBO_CACHE_LOOKUP:ANY_FILTER >out
	grep -q "type  *unknown (this machine has no snb_unc_cbo0)" out
	grep -q "config  *0x8f34$" out		# libpfm4's own, where the PMU is in /sys
	pmu-events --encode skx_unc_cha0::UNC_C_TOR_OCCUPANCY:PRQ >out
	grep -q "config  *0x436$" out
	grep -q "config1  *0x3b00000000$" out
	pmu-events --encode --json amd64_fam19h_zen3_l3::UNC_L3_MISSES:ALL | python3 -c "if True:
		import json, sys
		e, = json.load(sys.stdin)
		assert e['type'] is None and e['config'] == '0xff9a', e"
	pmu-events --check hswep_unc_cbo0::UNC_C_CLOCKTICKS >out && false
	grep -q "this machine has no PMU hswep_unc_cbo0" out
END

check 'a wrong letter that libpfm4 took has no column' <<'END'
	test "$(uname -m)" = x86_64 || skip "models of x86"
	exits 1 pmu-events --encode page-faults,ivb::INST_RETIRED:ANY_P:pppp 2>err
	grep -q "'page-faults,ivb::INST_RETIRED:ANY_P:pppp': 'p' asks for more" err
	exits 1 pmu-events --encode page-faults,cycles:y 2>err
	grep -q "column 20:" err
END

check 'the doctor on a static program: its tables, and only programs that there are' <<'END'
	needs_command gcc
	echo "int main(void) { for (;;); }" >p.c
	gcc -O2 -static p.c -o p || skip "no static C library"
	./p &
	eventually became $! p
	pmu-events --doctor $! >out || :
	grep -q "linked statically.*has unwind tables" out
	none grep -o "pmu-unwind" out
	# each tool of ours that the manuals and help name is there
	cat "$TOP"/man/*.[1357] "$TOP"/*.md "$TOP"/doc/*.md out |
		grep -o "pmu-[a-z][a-z]*" | sort -u |
		while read -r name; do
			test -e "$TOP/cmd/$name.c" || ls "$TOP"/man/"$name".? || echo "$name"
		done >names
	none grep -v "/man/" names
END

check 'equal events have equal names in a profile' <<'END'
	needs_root	# others get cpu-clock:u from perf
	perf_record -e cpu-clock,cpu-clock,task-clock,page-faults,page-faults -o e.data \
		-- ten serial 0.05 || exit 77
	pmu-topprof -o e.pb.gz e.data
	go tool pprof -symbolize=none -raw e.pb.gz 2>err | grep -A1 "^Samples" >types
	for type in cpu "cpu#2" task-clock; do
		grep -q "[ ^]*${type}_samples/count ${type}/nanoseconds" types
	done
	grep -q " page-faults/count page-faults#2_samples/count page-faults#2/count" types
END

check 'the same event twice is sampled once; another period or group is another event' <<'END'
	pmu-sample -e page-faults:u,page-faults:u -c 1 -o s.data -- true 2>err
	grep -q "'page-faults:u' is given twice, and used once" err
	pmu-sample -v -e page-faults:u -c 1 -o t.data -- true 2>err
	pmu-topprof --to folded s.data >folded
	test -s folded
	pmu-sample -e cpu-clock:u -e cpu-clock/freq=99/u -e "{page-faults:u,cs:u}" \
		-e page-faults:u -o s.data -- true 2>err
	none grep twice err
END

check 'no samples: the likely reason' <<'END'
	none_because() {
		words=$1
		shift
		pmu-sample "$@" 2>err
		grep -q "^pmu-sample: no samples: $words" err || { cat err; return 1; }
	}
	none_because "'page-faults:u' was counted only [0-9]* times" \
		-e page-faults:u -c 1M -o s.data -- true
	none_because "'alignment-faults:u' did not happen" -e alignment-faults:u -o s.data -- true
	none_because "the target ran for only [0-9.]* ms" -e cpu-clock/freq=1/ -o s.data -- true
	none_because "counting had not started" -e cpu-clock:u -D 100s -o s.data -- true
	none grep "more events" err
	sleep 1000 &
	asleep() { grep -q "^State:.*sleeping" /proc/$!/status; }
	eventually asleep
	none_because "the process did not run; --off-cpu" -e cpu-clock:u -p $! -d 0.05 -o s.data
	pmu-sample -e dummy:u -o s.data -- true 2>err
	none grep "no samples" err
END

check 'at a terminal: what is sampled where, and how much was written; nothing with -q' <<'END'
	needs_command script
	script -qec "pmu-sample -e cpu-clock:u -o s.data -- ten serial 0.05" /dev/null >out
	grep -q "sampling 'ten' by cpu-clock:u into 's.data'; Ctrl-C ends it" out
	size=$(stat -c %s s.data)
	written=$(sed -n "s/.*wrote \([0-9.]*\) MB (\([0-9]*\) samples) to 's.data'.*/\1 \2/p" out)
	near "${written% *}" "$(awk "BEGIN { print $size / 1e6 }")" 0.001
	test "${written#* }" = "$(perf_samples s.data)"
	script -qec "pmu-sample -q -e cpu-clock:u -o s.data -- ten serial 0.05" /dev/null >out
	none grep "pmu-sample" out
	pmu-sample -e cpu-clock:u -o s.data -- ten serial 0.05 2>err
	none grep "wrote" err
END

check 'filters of tracepoints: of the -e before them, in the kernel; others take none' <<'END'
	needs_root
	needs_tracepoints
	sampled() { perf script -i s.data -F event,trace 2>/dev/null | grep -c "$1" || :; }
	pmu-sample -R -e sched:sched_process_exec --filter 'filename ~ "*true"' \
		-e "sched:sched_process_e[x]ec,sched:sched_process_exit" --filter "nosuch == 1" \
		-o s.data -- true 2>err && false
	grep -q "rejects the filter 'nosuch == 1' of 'sched:sched_process_exec'" err
	pmu-sample -R -e sched:sched_process_exec --filter 'filename ~ "*true"' \
		-e sched:sched_process_exit --filter 'comm == "echo"' -o s.data -- \
		sh -c "/bin/true; /bin/echo; /bin/true; /bin/echo; /bin/echo; exit 0" >out
	test "$(sampled sched_process_exec.*true)" = 2
	test "$(sampled sched_process_exec)" = 2
	test "$(sampled sched_process_exit.*echo)" = 3
	test "$(sampled sched_process_exit)" = 3
	# two of one event: both must match
	pmu-sample -R -e sched:sched_process_exec --filter 'filename ~ "*true"' \
		--filter "pid == 1" -e page-faults/period=1/ -o s.data -- sh -c "/bin/true; exit 0"
	samples s.data event >events
	grep -q page-faults events
	none grep sched_process_exec events
	exits 2 pmu-sample -e cpu-clock,page-faults --filter "a == 1" -o s.data -- true 2>err
	grep -q -- "--filter is for tracepoints: 'cpu-clock' is not one" err
	exits 2 pmu-sample --filter "a == 1" -e sched:sched_switch -o s.data -- true 2>err
	grep -q -- "--filter needs an -e before it" err
END

check 'all processes of a name, and no others' <<'END'
	cp "$HELP/ten" a-long-name-of-a-program
	./a-long-name-of-a-program serial forever &
	one=$!
	./a-long-name-of-a-program serial forever &
	two=$!
	ten serial forever &
	other=$!
	for pid in $one $two; do eventually became $pid a-long-name-of-a-program; done
	eventually became $other ten
	pmu-sample -e cpu-clock:u --comm a-long-name-of-a-program -o s.data &
	sampled() { for pid in $one $two; do has_run $pid "$1"; done; }
	early() { test "$(stat -c %s s.data 2>err)" -gt 4096; }
	eventually early
	eventually sampled $(($(cpu_ms $one) + $(cpu_ms $two) + 100))
	kill $one $two $other
	wait
	samples s.data pid | sort -u | tr -d " " >got
	printf "%s\n" $one $two | sort | same - got
	exits 1 pmu-sample -e cpu-clock:u --comm nosuch-name -o s.data 2>err
	grep -q "no process is called 'nosuch-name'" err
END

done_testing
