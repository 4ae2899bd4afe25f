#!/bin/sh
# pmu-sample: what was counted is what was sampled, lost, or reported as not sampled.
# kinds: release user
. tests/lib.sh

# older VERSION COMMAND...: on a kernel that seems so old; leaks cannot be looked for then
older() { ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 old-kernel "$@"; }

# as_nobody COMMAND...: without rights; ten and pmu-sample are in this folder
as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all "$@"
}

check 'a machine without a PMU says so to a user without rights, too, and names no sysctl' <<'END'
	test ! -e /sys/bus/event_source/devices/cpu || skip "this machine has a PMU"
	needs_root
	needs_sampling
	needs_command setpriv
	test "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 || skip "anyone may sample the kernel"
	cp "$BIN/pmu-sample" "$BIN/pmu-events" "$HELP/ten" .
	chmod 755 . ./*
	as_nobody ./pmu-sample -e cycles -- ./ten serial 0.1 2>named >s.data || test $? = 1
	as_nobody ./pmu-sample -- ./ten serial 0.1 2>usual >s.data
	as_nobody ./pmu-events --check cycles >check || test $? = 1
	for file in named usual check; do
		grep -qE "no hardware (PMU|counters)" $file || { cat $file; exit 1; }
	done
	none grep -h "sysctl" named usual check
END

# faults PAGES: touch as many pages of 4 KiB, and make the file "touched"
cat >"$scratch/bin/faults" <<'END'
#!/usr/bin/python3
import mmap, sys
size = int(sys.argv[1]) * 4096
memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for at in range(0, size, 4096): memory[at] = 1
open('touched', 'w').close()
END
chmod +x "$scratch/bin/faults"

# counted EVENT ERR: what pmu-sample -v says was counted of it
counted() { sed -n "s/^pmu-sample: $1[:u]*: \([0-9]*\) counted.*/\1/p" "$2"; }

# of_event NAME SAMPLE|LOST_SAMPLES STREAM: how many perf finds of one event
of_event() {
	perf report -i "$3" --stats 2>/dev/null | awk -v name="$1" -v kind="$2" '
		/ stats:$/ { on = index($0, name) == 1 } on && $1 == kind { n += $3 } END { print n + 0 }'
}

check 'a reader that stalls: what was counted is sampled or lost, of each event' <<'END'
	pmu-sample -v -m 16Ki --buffer 16Ki -e context-switches/period=1/,page-faults/period=1/ \
		-e minor-faults/period=1/ -- faults 30000 2>err | { eventually test -e touched; cat >s.data; }
	cat err
	for event in page-faults minor-faults; do
		counted=$(counted $event err)
		samples=$(of_event $event SAMPLE s.data)
		lost=$(of_event $event LOST_SAMPLES s.data)
		echo $event $counted $samples $lost
		test "$lost" -gt 5000
		near $((samples + lost)) $counted $((2 * $(nproc)))
	done
	# one line says so, and all agree: the summary, our reader, the profile
	sum=$(perf report -i s.data --stats 2>/dev/null | awk '/ stats:$/ { on = !/^Agg/ }
		on && $1 == "LOST_SAMPLES" { n += $3 } END { print n + 0 }')
	grep -q "^pmu-sample: $sum of [0-9]* samples were lost" err
	grep -q "^pmu-sample: .* samples .*, $sum lost" err
	pmu-stream s.data | grep -q " $sum lost"
	pmu-topprof s.data >p.pb.gz
	type=$(go tool pprof -raw p.pb.gz 2>/dev/null | grep -o 'page-faults[:uH]*/count' | head -n 1)
	go tool pprof -sample_index="${type%/count}" -top p.pb.gz >top 2>/dev/null
	test "$(awk '$2 ~ /%/ && $NF == "[lost]" { print $1 }' top)" = \
		"$(of_event page-faults LOST_SAMPLES s.data)"
END

check 'nothing is counted before there is a buffer for its samples' <<'END'
	any_user
	needs_command strace
	strace -o calls true 2>err || skip "strace cannot trace here"
	# its thread takes page faults until it is killed
	cat >endless.c <<-END2
		#include <sys/mman.h>
		int main(void)
		{
			for (;;) {
				char *page = mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
				*page = 1;
				munmap(page, 4096);
			}
		}
	END2
	gcc -O1 endless.c -o endless
	./endless &
	target=$!
	eventually grep -qx endless /proc/$target/comm
	# between the opening and the buffer there are 50 ms, and 50 more to the start
	strace -qq -o calls -e trace=ioctl -e inject=ioctl:delay_enter=50000 pmu-sample -v -m 16Mi \
		-e page-faults/period=1/,minor-faults/period=1/ -p $target -d 0.5 -o s.data 2>err
	kill $target
	cat err
	grep -q SET_OUTPUT calls
	for event in page-faults minor-faults; do
		sampled=$(of_event $event SAMPLE s.data) lost=$(of_event $event LOST_SAMPLES s.data)
		at_least "$sampled" 1
		near $((sampled + lost)) "$(counted $event err)" $((2 * $(nproc)))
	done
END

# storm COUNT: map code as often, touch it, and unmap it
cat >"$scratch/storm.c" <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	int file = open("/bin/ls", O_RDONLY);

	for (int left = argc > 1 ? atoi(argv[1]) : 1; left > 0; left--) {
		volatile char *at = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
		*at;
		munmap((void *)at, 4096);
	}
	return 0;
}
END

# total TYPE PROFILE: the sum of its values
total() {
	go tool pprof -raw -sample_index="$1" "$2" 2>/dev/null | awk '
		/^Samples:/ { getline; for (i = 1; i <= NF; i++) if ($i ~ "^'"$1"'/") at = i; next }
		/^Locations/ { at = 0 }
		at && /^ *-?[0-9]+ /{ sub(":.*", ""); n += $at } END { printf "%.0f\n", n }'
}

# judge_storm: of both events of s.data, no more is in the profile than was counted, as err says
judge_storm() {
	cat err
	pmu-topprof -q -o p.pb.gz s.data
	at_most "$(total cpu p.pb.gz)" $(($(counted cpu-clock err) + 5000000))
	near "$(total page-faults p.pb.gz)" "$(counted page-faults err)" $((4 * $(nproc)))
	# those that were lost are told apart, by us and by perf
	near $(($(of_event page-faults SAMPLE s.data) + $(of_event page-faults LOST_SAMPLES s.data))) \
		"$(counted page-faults err)" $((4 * $(nproc)))
	test "$(of_event dummy SAMPLE s.data) $(of_event dummy LOST_SAMPLES s.data)" = "0 0"
	others=$(sed -n "s/^pmu-sample: \([0-9]*\) records of mappings, names and .* lost: .*/\1/p" err)
	at_least "$others" 1000
	pmu-stream s.data | grep -q ", $others other records lost,"
	go tool pprof -comments p.pb.gz 2>/dev/null | grep -q "^lost: $others other records never"
	pmu-top p.pb.gz 2>&1 >/dev/null | grep -q "names of functions may be missing"
}

check 'lost mappings are not lost samples: not more is shown than was counted' <<'END'
	any_user
	gcc -O1 "$scratch/storm.c" -o storm
	events=cpu-clock/freq=199/,page-faults/period=1/
	pmu-sample -v -m 4Ki -e $events -o s.data -- ./storm 30000 2>err
	judge_storm
	perf report -i s.data --stdio 2>/dev/null | none grep "event 'dummy"
	pmu-sample -v -m 4Ki --unwind -e $events -o s.data -- ./storm 30000 2>err
	judge_storm
END

check 'lost mappings of a running process are not lost samples, either' <<'END'
	needs_root
	gcc -O1 "$scratch/storm.c" -o storm
	events=cpu-clock/freq=199/,page-faults/period=1/
	./storm 1000000000 & target=$!
	pmu-sample -v -m 4Ki -e $events -p $target -o s.data 2>err & sampler=$!
	eventually test -s s.data
	eventually has_run $target $(($(cpu_ms $target) + 200))
	kill -TERM $sampler
	wait $sampler
	judge_storm
	kill $target
END

check 'before Linux 6.0 such records are lost records: not more is shown than was counted' <<'END'
	older 5.19 true || skip "cannot seem older here"
	gcc -O1 "$scratch/storm.c" -o storm
	# such a kernel reports a loss only before the next record that has room
	older 5.19 pmu-sample -v -m 4Ki -e cpu-clock -F 199 -o s.data -- sh -c "
		until test \$(wc -c <s.data) -gt 16000; do ./storm 30000; done" 2>err
	cat err
	grep -q "^pmu-sample: [0-9]* records were lost, samples or others: " err
	pmu-topprof -q -o p.pb.gz s.data
	at_most "$(total cpu p.pb.gz)" $(($(counted cpu-clock err) + 5025125))
	go tool pprof -comments p.pb.gz 2>/dev/null | grep "^lost: " | none grep -v "is an estimate"
END

check 'a file of perf whose event lost mappings, too: no more time than the CPUs had' <<'END'
	unsanitized
	gcc -O1 "$scratch/storm.c" -o storm
	# without build IDs: perf 6.1 stops at some of them while other sessions run
	perf record -q -B -N -e cpu-clock:u -F 199 -m 1 -o s.data ./storm 30000 2>err ||
		skip "perf: $(tail -n 1 err)"
	lost=$(pmu-stream -j s.data | sed "s/.*\"lost_records\": \([0-9]*\).*/\1/")
	test "$lost" -gt 1000 || skip "perf lost no more than $lost"
	pmu-stream -j s.data | grep -q '"lost": 0,'
	pmu-topprof -q -o p.pb.gz s.data
	span=$(pmu-stream s.data | sed -n "s/.*times; \([0-9]*\)\.\([0-9]*\) s from.*/\1\2/p" |
		sed "s/^0*//")
	at_most "$(total cpu p.pb.gz)" $((span * 1000 * $(nproc)))
	go tool pprof -comments p.pb.gz 2>/dev/null | grep -q "^lost: $lost records never reached"
END

check 'a kernel that does not count lost samples: its LOST records, and a word about it' <<'END'
	older 5.19 true || skip "cannot seem older here"
	older 5.19 pmu-sample -v -m 16Ki --buffer 16Ki -e page-faults -c 1 -- faults 30000 2>err |
		{ eventually test -e touched; cat >s.data; }
	cat err
	lost=$(sed -n "s/^pmu-sample: .* samples .*, \([0-9]*\) lost.*/\1/p" err)
	test "$lost" = 0 || pmu-stream s.data | grep -q ", $lost records lost"
	test "$lost" = 0 || grep -q "before Linux 6.0 the kernel does not count the last losses" err
END
# The clock is sampled whole only where the kernel may be sampled.
needs_kernel() {
	test "$(id -u)" = 0 || test "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 1 ||
		skip "the kernel may not be sampled"
}

check 'what ran in processes too short for a sample is reported, and [not sampled]' <<'END'
	needs_kernel
	pmu-sample -v -e cpu-clock -c 2000000 -o s.data -- \
		sh -c 'i=0; while test $i -lt 300; do /bin/true; i=$((i + 1)); done' 2>err
	cat err
	grep -q "cpu-clock.: [0-9.]* s counted, but samples stand for .*; -a samples CPUs" err
	pmu-topprof --frames not-sampled s.data >p.pb.gz
	total=$(go tool pprof -sample_index=cpu -raw p.pb.gz 2>/dev/null | awk '
		/^Samples:/ { on = 1; next } /^Locations/ { on = 0 }
		on && $1 ~ /^[0-9]/ { sum += $2 } END { printf "%d", sum }')
	near "$total" "$(counted cpu-clock err)" 2000001
	go tool pprof -sample_index=cpu -top p.pb.gz 2>/dev/null | grep -q "\[not sampled\]"
	pmu-topprof s.data | go tool pprof -top - >top 2>/dev/null || :
	none grep "not sampled" top
	# with -a, the message does not advise -a
	test "$(id -u)" != 0 || pmu-sample -v -a -e cpu-clock -c 2000000 -o all.data -- \
		sh -c 'i=0; while test $i -lt 300; do /bin/true; i=$((i + 1)); done' 2>err
	none grep -e "-a samples CPUs" err
	exits 2 pmu-topprof --frames not-sampled --pid 1 s.data 2>misuse
	exits 2 pmu-topprof --frames not-sampled p.pb.gz 2>misuse
	grep -q -- "--frames works on a stream" misuse
END

check 'a few samples less than were counted are chance, and not reported' <<'END'
	pmu-sample -v -e cpu-clock -c 4000000 -o s.data -- ten threads 0.3 2>err
	cat err
	none grep "stand for" err
	pmu-sample -v -e page-faults -c 1 -o s.data -- sh -c "true; true" 2>err
	none grep "stand for" err
END
# growing THREADS MS OPTION...: sample threads of so many ms that start while we attach, by 12
# events
growing() {
	rm -f ready
	threads=$1
	grow $1 $2 >truth 2>err &
	shift 2
	target=$!
	eventually test -e ready
	kill -USR1 $target
	events=$(seq 12 | sed "s|.*|task-clock/name=e&/|" | paste -sd ,)
	pmu-sample -v -e $events "$@" -p $target -o s.data 2>err
	wait $target
	test "$(wc -l <truth)" = $((threads + 1))
}

check 'threads created while we attach are sampled by all events, or by none' <<'END'
	rounds="1 2"
	test "$KIND" != user || rounds=1
	for round in $rounds; do
		growing 40 25 -c 1000000
		none grep "upper bound" err
		samples s.data tid,event >all
		awk '{ sub(":", "", $2); n[$1 " " $2]++; tid[$1] }
			END { for (t in tid) {
				least = 1e9; most = 0
				for (e = 1; e <= 12; e++) {
					k = n[t " e" e] + 0
					least = k < least ? k : least; most = k > most ? k : most
				}
				# 25 samples by each event that has the thread; less if it ran while
				# they were opened one by one
				if (least == 0 && most > 12) { print t, least, most; bad = 1 }
			} exit bad }' all
	done
END

# shown_lost eN: how many samples of it p.pb.gz has at [lost]; each event has two types
shown_lost() {
	go tool pprof -symbolize=none -sample_index=$((2 * ${1#e} - 2)) -top p.pb.gz 2>/dev/null |
		awk '$NF == "[lost]" { n = $1 } END { print n + 0 }'
}

check 'records of threads that began are lost: still none is counted twice' <<'END'
	growing 40 25 -c 100000 -m 4Ki
	cat err
	# with the time of the main thread, and of the threads' ends
	truth=$(sed -n 's/^total //p' truth)
	pmu-topprof -q -o p.pb.gz s.data
	for event in e1 e12; do
		at_most "$(counted $event err)" $((truth * 105 / 100))
		# nor does the profile show more, in samples or lost ones
		at_most $(($(of_event $event SAMPLE s.data) + $(shown_lost $event))) \
			$((truth / 100000 * 105 / 100))
	done
END

# late COMMAND OPTION...: threads start while we attach, which takes longer than to create them.
# They work only when all have their events.  At that moment COMMAND is run with the recorder's PID.
late() {
	needs_command strace
	strace -o calls true 2>why || skip "strace cannot trace here"
	rm -f ready go sampler s.data
	when=$1
	shift
	grow 250 8 go >truth 2>why &
	target=$!
	eventually test -e ready
	kill -USR1 $target
	strace -qq -o calls -e trace=perf_event_open -e inject=perf_event_open:delay_enter=500 \
		sh -c 'echo $$ >sampler; exec "$@"' - pmu-sample -v \
		-e task-clock/name=e1/,task-clock/name=e2/ "$@" -p $target -o s.data 2>err &
	tracer=$!
	eventually test -s s.data
	$when "$(cat sampler)"
	touch go
	wait $target
	kill -CONT "$(cat sampler)" 2>why || :	# it may have ended with its target
	wait $tracer
	cat err
	truth=$(sed -n 's/^total //p' truth)
	doubt=$(sed -n 's/.*upper bounds; the count may be \([0-9]*\) % too high.*/\1/p' err)
	pmu-topprof -q -o p.pb.gz s.data
}
stop() { kill -STOP $1; }

check 'threads that have their events twice, whose start was lost, count once' <<'END'
	late : -c 2000000 -m 32Ki
	# their samples show it; where some were lost, a doubt may remain
	for event in e1 e2; do
		at_most "$(counted $event err)" $((truth * 105 / 100 * (100 + ${doubt:-0}) / 100))
	done
	at_most "${doubt:-0}" 30
END

check 'samples that would show it were lost: the count is called an upper bound, and is one' <<'END'
	# on a busy machine, all or most threads may exist before the first has its events
	for try in 1 2 3 4 5 6; do
		late stop -c 100000 -m 4Ki
		test "${doubt:-0}" -lt 10 || break
		for event in e1 e2; do
			at_most "$(counted $event err)" $((truth * (105 + ${doubt:-0}) / 100))
		done
		test $try != 6 || skip "few threads had their events twice"
	done
	for event in e1 e2; do
		count=$(counted $event err)
		at_least $((count * 105 / 100)) $truth
		at_most $((count * 100 / (101 + doubt))) $((truth * 105 / 100))
		at_most $(($(of_event $event SAMPLE s.data) + $(shown_lost $event))) \
			$((count / 100000 + 1))
	done
	# with room for all records there is no doubt; on a busy machine, there may be none
	late : -c 2000000
	! grep 'records of mappings, names and processes were lost' err || exit 0
	# a clock counts in the kernel, too: where that is not sampled, a copy may have no sample
	if grep -q "the kernel.s own code is not sampled" err; then
		at_most "${doubt:-0}" 10
	else
		test -z "$doubt"
	fi
	for event in e1 e2; do
		near "$(counted $event err)" $truth $((truth / 20))
	done
END

check 'an event that is open on some CPUs only is not scaled up for the others' <<'END'
	needs_root
	test "$(nproc)" -ge 2 || skip "one CPU"
	cat >alternate.py <<-EOF
		import ctypes, os, time
		getppid = ctypes.CDLL(None).getppid
		open('ready', 'w')
		while not os.path.exists('go'): time.sleep(0.01)
		for i in range(10):
		    for cpu, ns in (0, 5e6), (1, 2e7):
		        os.sched_setaffinity(0, {cpu})
		        end = time.process_time_ns() + ns
		        for k in range(100): getppid()
		        while time.process_time_ns() < end: pass
	EOF
	python3 alternate.py &
	target=$!
	eventually test -e ready
	pmu-sample -v -e syscalls:sys_enter_getppid -c 1 -C 0 -p $target -o s.data 2>err &
	sampler=$!
	eventually grep -q "descriptors" err
	eventually test -s s.data
	touch go
	wait $sampler
	cat err
	none grep "more events than counters" err
	pmu-topprof s.data >p.pb.gz
	total=$(go tool pprof -raw p.pb.gz 2>/dev/null | awk '/^Samples:/ { on = 1; next }
		/^Locations/ { on = 0 } on && $1 ~ /^[0-9]/ { sum += $2 } END { printf "%.0f\n", sum }')
	test "$total" = 1000
END

check 'a clock takes no period that its timer cannot keep, by force neither' <<'END'
	for how in "cpu-clock -c 9999" "task-clock -c 1 --force" "timer/period=5000/"; do
		exits 1 pmu-sample -o s.data -e $how -- true 2>err
		grep -q "too short for the kernel's timer: the least for .*clock.* is 10000" err
	done
	exits 1 pmu-sample -e page-faults -c 1 -e cpu-clock -o s.data -- true 2>err
	grep -q "is 10000; to give only another event a period: -e page-faults/period=1/ -e timer" err
	for how in "page-faults -c 1 -e timer" "page-faults/period=1/ -e timer" "timer -c 5"; do
		pmu-sample -e $how -o s.data -- true 2>err
		pmu-stream --dump s.data | grep -q "ATTR .* config=0x0 period=100 "
	done
	pmu-events --encode software/config=0x0/ | grep -q "sample *1000 times per second"
	pmu-sample -e cpu-clock -c 10000 -o s.data -- true
	for name in timer timer:u; do
		pmu-events --encode $name | grep -q "sample *100 times per second"
	done
END

check 'each write to a watched variable is one sample' <<'END'
	echo "long watched; int main(void) { for (int i = 0; i < 1000; i++) \
		*(volatile long *)&watched = i; }" >watched.c
	gcc -O1 -no-pie watched.c -o watched
	address=$(nm watched | sed -n "s/^0*\([0-9a-f]*\) B watched$/0x\1/p")
	pmu-events --check "mem:$address/8:w:u" >out || skip "$(cat out)"
	pmu-sample -v -e "mem:$address/8:w:u" -c 1 -o s.data -- ./watched 2>err
	cat err
	test "$(perf_samples s.data)" = 1000
	grep -q ": 1000 counted" err
END

check 'a CPU that is named twice is sampled once, in whatever order' <<'END'
	needs_root
	last=$(($(nproc) - 1))
	pmu-sample -v -C $last,0,0-$last -e cpu-clock -F 100 -d 0.3 -o s.data 2>err
	grep -q " $((2 * $(nproc))) event fds" err	# and as many of the dummy event
END
done_testing
