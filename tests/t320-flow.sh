#!/bin/sh
# pmu-sample: the flight recorder, commands to a running sampler, several files, too few
# descriptors, older kernels.
# kinds: release user
. tests/lib.sh

# older VERSION COMMAND...: on a kernel that seems so old; leaks cannot be looked for then
older() { ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 old-kernel "$@"; }

moments() { perf script -i "$1" -F time 2>/dev/null | tr -d ' :'; }
count() { perf script -i "$1" -F ip 2>/dev/null | grep -c .; }

# whole FILE...: perf reads it to the end, and so do we
whole() {
	for stream; do
		perf script -i "$stream" >script 2>errors
		none cat errors
		exits 0 pmu-topprof -o p.pb.gz "$stream"
	done
}

check 'the flight recorder keeps the last samples, and mappings from the start' <<'END'
	pmu-sample -v --flight-recorder -m 16Ki -e cpu-clock -F 1000 -o s.data -- \
		sh -c "ten serial 1; exec ten serial 0.1" 2>err
	cat err
	whole s.data
	# 16 KiB a CPU, 48 bytes a sample: at most so many, of those 1,100 there were
	test "$(count s.data)" -ge 100
	test "$(count s.data)" -le $(($(nproc) * 16384 / 40))
	moments s.data >times
	sort -n times | same times -
	# all records are in order: mappings waited for the samples before them
	perf script -D -i s.data 2>/dev/null | awk '$2 ~ /^0x/ && $3 ~ /^\[0x/ && $1 > 0 && /SAMPLE|MMAP|COMM/ {
		print $2, $1 }' | sort -u >offsets
	test "$(grep -c . offsets)" -gt 100
	python3 -c "
import sys
records = sorted((int(a, 16), int(b)) for a, b in (line.split() for line in open(sys.argv[1])))
assert all(x[1] <= y[1] for x, y in zip(records, records[1:])), records" offsets
	# all of them have a name, those of the last program, too
	grep "/ten)" script >of_ten
	none grep unknown of_ten
	pmu-symbolize s.data | pmu-topprof | pmu-top - >top
	grep -q "J" top
END

check 'SIGUSR1 makes it write; no sample comes twice, none of the last is missing' <<'END'
	ten serial 5 &
	target=$!
	sleep 0.1
	pmu-sample -v --flight-recorder -m 64Ki -e cpu-clock -c 1000000 -p $target -o s.data 2>err &
	sampler=$!
	before=0
	for i in 1 2 3; do
		sleep 0.3
		kill -USR1 $sampler
		sleep 0.2
		now=$(count s.data 2>/dev/null)
		test "$now" -gt $((before + 20))
		before=$now
	done
	kill -INT $sampler
	wait $sampler
	kill $target
	whole s.data
	moments s.data >times
	none uniq -d times
	sort -n times | same times -
	# 64 KiB keep a second at least: there is one for each millisecond that was counted
	cat err
	counted=$(sed -n "s/.*: cpu-clock: \([0-9]*\) counted.*/\1/p" err)
	awk -v counted=$counted "END { print NR, counted; exit !(NR <= counted / 1e6 && NR > counted / 1e6 * 0.98 - 3) }" times
END

check 'it reports when commands and files do not go together' <<'END'
	exits 2 pmu-sample -D -1 -- true 2>err
	grep -q "waits for --control" err
	exits 2 pmu-sample --switch-output 10s -- true 2>err
	grep -q "needs files: give -o" err
	exits 2 pmu-sample --switch-output 7 -o s.data -- true 2>err
	grep -q "not .7." err
	exits 1 pmu-sample --control nosuch -e cpu-clock -o s.data -- true 2>err
	grep -q "cannot take commands from .nosuch." err
	echo x >file
	exits 1 pmu-sample --control file -e cpu-clock -o s.data -- true 2>err
	exits 1 pmu-sample --control fd:77 -e cpu-clock -o s.data -- true 2>err
END

check 'commands start and stop counting, and are acknowledged' <<'END'
	mkfifo commands acks
	ten serial 20 &
	target=$!
	pmu-sample -v -D -1 --control fifo:commands,acks -e cpu-clock -c 1000000 -p $target -o s.data 2>err &
	sampler=$!
	exec 3<>acks 4>commands
	answer() { echo "$1" >&4; timeout 5 head -n 1 <&3 | grep -qx ack; }
	answer ping
	sleep 0.4
	answer enable
	sleep 0.3
	answer disable
	sleep 0.4
	answer enable
	sleep 0.3
	echo nonsense >&4
	answer stop
	wait $sampler
	kill $target
	grep -q "nonsense. is no command" err
	whole s.data
	moments s.data >times
	# two runs of 0.3 s with a hole of 0.4 s
	awk 'NR > 1 && $1 - last > 0.35 { holes++ } { last = $1 } END { print NR, holes; exit !(holes == 1) }' times
	counted=$(sed -n "s/.*: cpu-clock: \([0-9]*\) counted.*/\1/p" err)
	awk -v counted=$counted "END { print NR, counted; exit !(NR > 50 && NR <= counted / 1e6 && NR > counted / 1e6 - 5 &&
		counted < 1e9) }" times
END

check 'a descriptor can be what commands come from' <<'END'
	exec 5<<-EOF
		stop
	EOF
	exits 0 timeout 10 pmu-sample --control fd:5 -e cpu-clock -o s.data -- sleep 30
	whole s.data
END

check 'another file at each time, each one whole' <<'END'
	pmu-sample -v -e cpu-clock -F 1000 --switch-output 300ms -o s.data -- sh -c "ten serial 1; ten serial 0.3" 2>err
	cat err
	test ! -e s.data
	set -- s.data.*
	test $# -ge 4
	whole "$@"
	sum=0
	for stream; do
		sum=$((sum + $(count $stream)))
		perf script -i $stream >script
		none grep unknown script	# what began before this file is known in it
	done
	test "pmu-sample: $sum" = "$(grep -o "^pmu-sample: [0-9]* samples" err | cut -d " " -f 1-2)"
END

check 'another file at each size, compressed; and at a signal' <<'END'
	pmu-sample -z1 -e cpu-clock -F 20000 --switch-output 8Ki -o s.zst -- ten serial 0.6
	set -- s.zst.*
	test $# -ge 2
	for stream; do
		zstd -q -d <$stream >s.data
		whole s.data
	done
	ten serial 5 &
	target=$!
	pmu-sample -e cpu-clock -F 1000 --switch-output signal -p $target -o s.data &
	sampler=$!
	for i in 1 2; do
		sleep 0.3
		kill -USR2 $sampler
	done
	sleep 0.3
	kill -TERM $sampler
	wait $sampler
	kill $target
	set -- s.data.*
	test $# = 3
	whole "$@"
	for stream; do
		test "$(count $stream)" -gt 150
	done
END

check 'it stops at the size that was given' <<'END'
	exits 0 timeout 20 pmu-sample -e cpu-clock -F 10000 --max-size 100k -o s.data -- ten serial 60
	whole s.data
	size=$(wc -c <s.data)
	test $size -ge 100000
	test $size -le 200000
END

many="
import threading, time, sys
def work():
    while True: pass
for i in range(40): threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
open('ready', 'w').close()
time.sleep(0.8)
for i in range(40): threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
threading.Thread(target=work, daemon=True).start()
time.sleep(9)"

check 'too few descriptors: the CPUs are sampled, what is not the target is dropped' <<'END'
	test "$(id -u)" = 0 || { echo "not root"; exit 77; }
	ten serial 9 &
	other=$!
	python3 -c "$many" &
	target=$!
	until test -e ready; do sleep 0.05; done
	(ulimit -n 60; exec pmu-sample -v -e cpu-clock,page-faults -F 1000 -p $target -d 1.5 -o s.data 2>err)
	kill $target $other
	cat err
	grep -q "41 threads would take [0-9]* descriptors" err
	grep -q "records of others were dropped" err
	whole s.data
	test "$(perf script -i s.data -F pid | sort -u | tr -d " ")" = $target
	test "$(count s.data)" -gt 150	# it began to work after half the time
	# threads created meanwhile, and no others, are told
	test "$(perf script -i s.data --show-task-events 2>/dev/null | grep -c PERF_RECORD_FORK)" = 41
END

check 'too few descriptors, and no right to sample the CPUs: an error that says what to do' <<'END'
	test "$(id -u)" = 0 || { echo "not root"; exit 77; }
	test "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 || { echo "anyone may"; exit 77; }
	chmod 755 . ..
	cp "$HELP/ten" "$BIN/pmu-sample" .
	setpriv --reuid 65534 --regid 65534 --clear-groups ./ten threads 9 &
	target=$!
	sleep 0.3
	(ulimit -n 40; exits 1 setpriv --reuid 65534 --regid 65534 --clear-groups \
		./pmu-sample -e cpu-clock -p $target -d 1 >s.data 2>err)
	kill $target
	cat err
	grep -q "1[01] threads take [0-9]* descriptors, but only .* raise ulimit -n" err
END

check 'a kernel that cannot follow threads alone: what its processes do is left out' <<'END'
	older 5.10 true || { echo "cannot seem older here"; exit 77; }
	cat >target.py <<-EOF
		import subprocess, threading, time
		time.sleep(0.4)
		def work():
		    while True: pass
		threading.Thread(target=work, daemon=True).start()
		subprocess.run(["ten", "serial", "0.6"])
	EOF
	python3 target.py &
	target=$!
	sleep 0.2
	older 5.10 pmu-sample -vv -e cpu-clock -F 1000 -p $target -o s.data 2>err
	wait $target
	cat err
	grep -q "refuses inherit_thread (Linux 5.13)" err
	grep -q "refuses counts of lost samples (PERF_FORMAT_LOST, Linux 6.0)" err
	whole s.data
	test "$(perf script -i s.data -F pid | sort -u | tr -d " ")" = $target
	test "$(perf script -i s.data -F tid | sort | uniq -c | awk "\$1 > 100" | wc -l)" = 1
	older 5.10 pmu-sample --children -e cpu-clock -F 1000 -o s.data -- sh -c "ten serial 0.2; :"
	perf script -i s.data -F comm | grep -q ten
END

check 'older kernels yet' <<'END'
	older 5.10 true || { echo "cannot seem older here"; exit 77; }
	for version in 6.0 5.12 5.4 4.4; do
		older $version pmu-sample -g -e cpu-clock,page-faults -F 1000 -o s.data -- ten serial 0.2
		whole s.data
		perf script -i s.data -F ip,sym | grep -q J
	done
END

done_testing
