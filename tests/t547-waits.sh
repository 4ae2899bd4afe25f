#!/bin/sh
# Where threads wait: blocked or preempted, until they run again, exit, or the recording ends.
# kinds: release asan
. tests/lib.sh

# made FILE RECORDS: context switches of threads 7 and 8 of process 7, and of all that runs
made() {
	compose "$1" <<-PYTHON
		KIND, OUT, PREEMPT = IP | TID | TIME, 1 << 13, 1 << 14
		USER_MODE, KERNEL_MODE = 2, 1
		def trailer(tid, time, pid=7):
		    return struct.pack("<IIQ", pid & 2**32 - 1, tid & 2**32 - 1, time)
		def away(tid, time, pid=7):
		    return record(9, struct.pack("<Q", 0x401000) + trailer(tid, time, pid))
		def out(tid, time, how=0):
		    return record(14, trailer(tid, time), OUT | how)
		def back(tid, time, pid=7):
		    return record(14, trailer(tid, time, pid), 0)
		def task(kind, tid, time):
		    ids = struct.pack("<IIIIQ", 7, 7, tid, 7, time)
		    return record(kind, ids + trailer(tid, time))
		def begin(tid, time):
		    return task(7, tid, time)
		def end(tid, time):
		    return task(4, tid, time)
		a = attr(1, 3, 1, KIND, 1 << 18 | 1 << 26)
		m = record(1, mmap(7, 0x400000, 0x100000, b"/bin/prog") + trailer(7, 1))
		out = pipe(record(64, a + struct.pack("<Q", 1), 0), m, $2)
	PYTHON
}

# waits STREAM: tid, leaf's mapping, ns of each stack
waits() {
	pmu-topprof --label tid -o p.pb.gz "$1"
	go tool pprof -symbolize=none -traces -sample_index=off-cpu p.pb.gz 2>err |
		awk '/^ *tid:/ { tid = $2 } /^ +[0-9.]+[mu]?n?s / { print tid, $2 ~ /preempted/ ? \
			"preempted" : "blocked", $1 }' | sort
}

check 'the profile of a process has the waits of its own threads, and no others' <<'END'
	made s.data "away(7, 10), out(7, 11), away(11, 15, 9),
		record(14, trailer(11, 16, 9), OUT), back(7, 31), back(11, 56, 9)"
	pmu-topprof --split process -o procs s.data
	for file in procs/*; do
		go tool pprof -symbolize=none -raw "$file" 2>err |
			sed -n "s/^ *[0-9]* *\([0-9]*\): [0-9 ]*$/${file##*-} \1/p"
	done | sort >waited
	same - waited <<-EOF
		7.pb.gz 20
		9.pb.gz 40
	EOF
END

check 'threads that lost their CPU are apart from those that were blocked' <<'END'
	made s.data 'away(7, 100), out(7, 101, PREEMPT), back(7, 130), away(7, 200), out(7, 201), \
		back(7, 270), away(8, 300), out(8, 301, PREEMPT), back(8, 303)'
	waits s.data >got
	printf '7 blocked 69ns\n7 preempted 29ns\n8 preempted 2ns\n' >want
	same want got
	# the function is the caller, in folded stacks, too, and after a filter
	pmu-symbolize -q s.data | pmu-topprof --to folded >folded
	grep -q ';\[preempted\] 31$' folded
	grep -q '^\[prog\] 69$' folded || grep -q ';\[prog\] 69$' folded
END

check 'a wait of which the switch is not known is blocked; the end of all ends it, too' <<'END'
	made s.data 'away(7, 100), back(7, 130), out(8, 140, PREEMPT), away(7, 200), \
		out(7, 201, PREEMPT), back(9, 260)'
	waits s.data >got
	printf '7 blocked 30ns\n7 preempted 59ns\n' >want
	same want got
END

check 'a thread that has exited waits no more, one of its number does; idle ones never' <<'END'
	made s.data 'away(8, 100), out(8, 101), back(8, 110), end(8, 120), away(8, 125), \
		out(8, 126), away(0, 130, 0), back(0, 140, 0), away(-1, 150), back(7, 900)'
	waits s.data >got
	echo '8 blocked 9ns' >want
	same want got
	made s.data 'end(8, 120), away(8, 125), out(8, 126), begin(8, 200), away(8, 210), \
		out(8, 211), back(7, 900)'
	waits s.data >got
	echo '8 blocked 689ns' >want
	same want got
END

check 'of each interval, also of one without a record, a wait has the time in it' <<'END'
	made s.data 'away(7, 1100000000), out(7, 1100000000, PREEMPT), away(8, 1500000000), \
		out(8, 1500000000), back(8, 3800000000), back(7, 3900000000), away(9, 4050000000)'
	pmu-topprof --split 1s --label tid -o i%s.pb.gz s.data
	for file in i*; do
		go tool pprof -symbolize=none -traces -sample_index=off-cpu $file 2>err | awk '
			/^ *tid:/ { tid = $2 }
			/^ +[0-9.]+m?s / { print tid, $1, $2 ~ /preempted/ ? $2 : "blocked" }' |
			sort >>got
		echo >>got
	done
	cat >want <<-EOF
		7 900ms [preempted]
		8 500ms blocked

		7 1s [preempted]
		8 1s blocked

		7 900ms [preempted]
		8 800ms blocked

	EOF
	same want got
END

# ns_of FILE PATTERN: what the folded stacks that match have in all
ns_of() { awk -v p="$2" '$0 ~ p { s += $NF } END { printf "%.0f\n", s }' "$1"; }

check 'two that share a CPU are preempted while the other runs, one that sleeps is not' <<'END'
	pmu-sample --off-cpu -e dummy -o s.data -- taskset -c 0 \
		sh -c "ten serial 0.3 & ten serial 0.3 & sleep 0.2; wait" || exit 77
	pmu-symbolize -q s.data | pmu-topprof --to folded -e context-switches >folded
	at_least "$(ns_of folded '^ten;.*;.preempted. ')" 200000000
	# each wait of sleep in nanosleep is one that blocks
	at_least "$(ns_of folded '^sleep;.*nanosleep.*[^d]. ?[0-9]*$')" 150000000
	# on its way back from the kernel it may be preempted
	none grep "do_nanosleep.*preempted" folded
	perf script -i s.data --show-switch-events 2>/dev/null | grep -q "OUT preempt"
END

check 'a table of waits is sorted by who waits; a system call is one line for the kernel' <<'END'
	pmu-sample --off-cpu -e dummy -g -o s.data -- ten lazy 0.05
	pmu-symbolize -q s.data | pmu-topprof -o p.pb.gz
	pmu-top -t off-cpu -n 1000 p.pb.gz >table
	grep -qE '^ *[0-9.]+m?s +[0-9.]+% .*\[waits: (clock_)?nanosleep\]$' table
	grep -qE '^ +0\.0ms +0\.00% .* main$' table
	none grep -E ' (__schedule|schedule|do_nanosleep|do_syscall_64)$' table
	sed -n 's/^ *[0-9.]*[mu]*s .* \([0-9.]*\)%  *exact .*/\1/p' table >cum
	at_least "$(wc -l <cum)" 3
	sort -rn cum | same cum -
	# what waits altogether is what the functions of the kernel have one by one
	pmu-top -t off-cpu --by function -n 1000 p.pb.gz >by
	grep -qE ' (__)?schedule$' by
	test "$(sed -n '1s/ in .*//p' by)" = "$(sed -n '1s/ in .*//p' table)"
	pmu-top -t off-cpu -j p.pb.gz | grep -q '"name": "\(__\)\{0,1\}schedule"'
END

done_testing
