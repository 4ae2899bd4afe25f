#!/bin/sh
# pmu-sample: the flight recorder, commands to a running sampler, several files, too few
# descriptors, older kernels.
# kinds: release user
. tests/lib.sh

# older VERSION COMMAND...: on a kernel that seems so old; leaks cannot be looked for then
older() { ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 old-kernel "$@"; }

# older_sample VERSION OPTION...: leave a stream in s.data.
older_sample() {
	old=$1
	shift
	older "$old" pmu-sample "$@" -o s.data -- sh -c "ten serial 0.1; :"
}

moments() { samples "$1" time | tr -d ' :'; }
count() { samples "$1" ip | grep -c . || :; }	# 0 is not a failure

# whole FILE...: perf reads it to the end, and so do we; lost samples are not damage
whole() {
	for stream; do
		perf_reads "$stream" >script 2>errors
		none grep -v '^$\|^Warning:$\|^Processed .* lost\|^Check IO' errors
		exits 0 pmu-topprof -q -o p.pb.gz "$stream"
	done
}

# attached SAMPLER-OUTPUT: it counts, and handles signals, once its stream has begun
attached() { eventually test -s "$1"; }

# runs_for PID MS: wait until it got so much more CPU time
runs_for() { eventually has_run "$1" $(($(cpu_ms "$1") + $2)); }

# files COUNT FILE...: at least so many exist
files() { test $# -gt "$1" && test -e "$2"; }
some_files() { files "$2" "$1".*; }

# counted EVENT: what pmu-sample -v in "err" says that it counted
counted() { sed -n "s/.*: $1\(:u\)\?: \([0-9]*\) counted.*/\2/p" err; }

# A process that, for each line "N" that it gets, touches N new pages and then answers.
cat >"$scratch/faulter.py" <<'END'
import mmap, sys
print(0, flush=True)
for line in iter(sys.stdin.readline, ''):
    pages = int(line)
    memory = mmap.mmap(-1, pages * 4096)
    if hasattr(mmap, 'MADV_NOHUGEPAGE'):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    for page in range(pages):
        memory[page * 4096] = 1
    memory.close()
    print(pages, flush=True)
END
# start_faulter: as $target; fault N: let it fault, and wait for the answer
start_faulter() {
	mkfifo asked answered
	exec 8<>asked 9<>answered
	python3 "$scratch/faulter.py" <&8 >&9 8<&- 9<&- &
	target=$!
	read -r _ <&9
}
fault() {
	echo "$1" >&8
	read -r _ <&9
}

check 'the flight recorder keeps the last samples, and mappings from the start' <<'END'
	pmu-sample -v --flight-recorder -m 8Ki -e cpu-clock -F 1000 -o s.data -- \
		sh -c "ten serial 0.5; exec ten serial 0.1" 2>err
	cat err
	whole s.data
	# 8 KiB a CPU, 48 bytes a sample: at most so many, of those 600 there were
	at_least "$(count s.data)" 60
	at_most "$(count s.data)" $(($(nproc) * 8192 / 40))
	moments s.data >times
	sort -n times | same times -
	# all records are in order: mappings waited for the samples before them
	perf script -D -i s.data 2>/dev/null | awk '
		$2 ~ /^0x/ && $3 ~ /^\[0x/ && $1 > 0 && /SAMPLE|MMAP|COMM/ { print $2, $1 }' |
		sort -u >offsets
	at_least "$(grep -c . offsets)" 60
	python3 - offsets <<-'PYTHON'
		import sys
		lines = (line.split() for line in open(sys.argv[1]))
		records = sorted((int(offset, 16), int(time)) for offset, time in lines)
		assert all(x[1] <= y[1] for x, y in zip(records, records[1:])), records
	PYTHON
	# all of them have a name, those of the last program, too
	grep "/ten)" script >of_ten
	none grep unknown of_ten
	pmu-symbolize s.data | pmu-topprof | pmu-top - >top
	grep -q "J" top
END

check 'SIGUSR1 makes it write; no sample comes twice, none of the last is missing' <<'END'
	start_faulter
	pmu-sample -v --flight-recorder -m 64Ki -e page-faults -c 1 -p $target -o s.data 2>err &
	sampler=$!
	attached s.data
	holds() { test "$(count s.data)" -ge "$1"; }
	for faults in 200 400 600; do
		fault 200
		sleep 0.01	# the last millisecond is left for the next time
		kill -USR1 $sampler
		eventually holds $faults
	done
	fault 100
	kill -TERM $sampler
	wait $sampler
	whole s.data
	moments s.data >times
	sort -n times | same times -
	# each fault is a sample, and the rings had room for all
	cat err
	at_least "$(counted page-faults)" 700
	test "$(count s.data)" = "$(counted page-faults)"
	# by address: none twice
	samples s.data time,ip,addr | sort >all
	none uniq -d all
END

check 'a SIGUSR1 that comes while it writes makes it write again' <<'END'
	needs_command strace
	start_faulter
	pmu-sample --flight-recorder -m 64Ki -e page-faults -c 1 -p $target -o s.data &
	sampler=$!
	attached s.data
	# when it wakes its thread that writes it stands still for five seconds
	strace -qq -p $sampler -o calls -e inject=futex:delay_exit=5000000:when=1 2>err &
	eventually grep -q "TracerPid:.*[1-9]" /proc/$sampler/status
	fault 200
	sleep 0.01	# the last millisecond is left for the next time
	kill -USR1 $sampler
	eventually grep -q 'State:.*tracing stop' /proc/$sampler/status
	fault 200
	sleep 0.01
	kill -USR1 $sampler
	holds() { test "$(count s.data)" -ge 400; }
	eventually holds
	kill -TERM $sampler
	wait $sampler
END

check 'commands and files that do not go together are reported' <<'END'
	exits 2 pmu-sample -D -1 -- true 2>err
	grep -q "waits for --control" err
	exits 2 pmu-sample --switch-output 10s -- true 2>err
	grep -q -- "--switch-output needs --output" err
	exits 2 pmu-sample --switch-output 10s -o - -- true 2>err
	grep -q "needs files: give -o" err
	exits 2 pmu-sample --switch-output 7 -o s.data -- true 2>err
	grep -q "not .7." err
	exits 1 pmu-sample --control nosuch -e cpu-clock -o s.data -- true 2>err
	grep -q "cannot take commands from .nosuch." err
	echo x >file
	exits 1 pmu-sample --control file -e cpu-clock -o s.data -- true 2>err
	for pid in 99999999 0 x ""; do
		exits 1 pmu-sample --control "fd:0,1,$pid" -e cpu-clock -o s.data -- true 2>err
		grep -qx "pmu-sample: no process has the pid '$pid'" err
	done
	exits 1 pmu-sample --control fd:77 -e cpu-clock -o s.data -- true 2>err
END

check 'commands start and stop counting, and are acknowledged' <<'END'
	start_faulter
	mkfifo commands acks
	pmu-sample -v -D -1 --control fifo:commands,acks -e page-faults -c 1 -p $target \
		-o s.data 2>err &
	sampler=$!
	exec 3<>acks 4>commands
	answer() {
		echo "$1" >&4
		read -r word <&3
		test "$word" = ack
	}
	answer ping
	fault 1000
	answer enable
	fault 200
	answer disable
	fault 1000
	answer enable
	fault 200
	echo nonsense >&4
	answer stop
	wait $sampler
	cat err
	grep -q "nonsense. is not a command" err
	whole s.data
	# what was counted is in the two runs, each fault a sample
	at_least "$(counted page-faults)" 400
	at_most "$(counted page-faults)" 900
	test "$(count s.data)" = "$(counted page-faults)"
END

check 'a descriptor can be what commands come from' <<'END'
	exec 5<<-EOF
		stop
	EOF
	exits 0 timeout 600 pmu-sample --control fd:5 -e cpu-clock -o s.data -- sleep 9999
	whole s.data
END

# acks: the last line of the acknowledgements
acks() { tail -n 1 acks; }

check 'the last acknowledgement is the exit status, with the cause of an error' <<'END'
	exits 0 pmu-sample --control fd:0,1 -e cpu-clock -o s.data -- true </dev/null >acks
	test "$(acks)" = "exit 0"
	exits 3 pmu-sample --control fd:0,1 --exit-status -e cpu-clock -o s.data -- sh -c "exit 3" \
		</dev/null >acks
	test "$(acks)" = "exit 3"
	exits 1 pmu-sample --control fd:0,1 -e nosuch -o s.data -- true </dev/null >acks
	test "$(acks)" = "exit 1 not-found"
	exits 1 pmu-sample --control fd:0,1 -e cpu-clock -c 1 -o s.data -- true </dev/null >acks
	test "$(acks)" = "exit 1 wrong-argument"
	exits 1 no-perf EPERM pmu-sample --control fd:0,1 -e cpu-clock -o s.data -- true \
		</dev/null >acks
	test "$(acks)" = "exit 1 no-rights"
	exits 1 pmu-sample --control fd:0,1 -e cpu-clock -o s.data -- ./nosuch </dev/null >acks
	test "$(acks)" = "exit 1"
END

check 'sampling ends when nobody can read the acknowledgements any more' <<'END'
	ten serial 600 &
	target=$!
	mkfifo acks
	timeout 600 pmu-sample --control fd:0,1 -e cpu-clock -p $target -o s.data \
		</dev/null >acks &
	sampler=$!
	exec 3<acks
	attached s.data
	exec 3<&-
	wait $sampler
	whole s.data
	kill -0 $target
END

check 'a new file is begun after each interval, and each is whole' <<'END'
	pmu-sample -v -e cpu-clock -F 1000 --switch-output 100ms -o s.data -- \
		sh -c "ten serial 600; :" 2>err &	# nothing ends: its name would be lost then
	sampler=$!
	eventually some_files s.data 3
	kill -TERM $sampler
	wait $sampler
	cat err
	test ! -e s.data
	set -- s.data.*
	test $# -ge 4
	sum=0
	for stream; do
		whole $stream
		sum=$((sum + $(count $stream)))
		# What began before this file is known in it: the process's name (else ":PID"), and the
		# mapping.  The shell itself has no symbols.
		none grep '(\[unknown\])\|^ *:[0-9]' script
	done
	test $sum -gt 0
	test "pmu-sample: $sum" = "$(grep -o "^pmu-sample: [0-9]* samples" err | cut -d " " -f 1-2)"
	at_least $sum "$(awk -v ns="$(counted cpu-clock)" 'BEGIN { print ns / 2e6 }')"
END

check 'a new file is begun at a size or a signal, compressed, too' <<'END'
	pmu-sample -z1 -e cpu-clock -c 50000 --switch-output 8Ki -o s.zst -- ten serial 600 &
	sampler=$!
	eventually some_files s.zst 2
	kill -TERM $sampler
	wait $sampler
	set -- s.zst.*
	for stream; do
		zstd -q -d <$stream >s.data
		whole s.data
	done
	rm s.data
	ten serial 600 &
	target=$!
	pmu-sample -e cpu-clock -F 1000 --switch-output signal -p $target -o s.data &
	sampler=$!
	attached s.data
	for file in 1 2; do
		runs_for $target 100
		kill -USR2 $sampler
		eventually some_files s.data $file
	done
	runs_for $target 100
	kill -TERM $sampler
	wait $sampler
	set -- s.data.*
	test $# = 3
	whole "$@"
	for stream; do
		at_least "$(count $stream)" 50
	done
END

check 'it stops at the size that was given' <<'END'
	exits 0 timeout 600 pmu-sample -m 64Ki -e cpu-clock -F 10000 --max-size 100k -o s.data -- \
		ten serial 600
	whole s.data
	size=$(wc -c <s.data)
	at_least $size 100000
	# and what the rings held when that was seen, and at the end
	at_most $size $((100000 + 2 * $(nproc) * 65536))
END

# 41 threads; with a line on stdin, 41 more, one of which works.
cat >"$scratch/many.py" <<'END'
import sys, threading
def work():
    while True: pass
def start(function):
    threading.Thread(target=function, daemon=True).start()
forever = threading.Event()
for i in range(40): start(forever.wait)
print('ready', flush=True)
sys.stdin.readline()
for i in range(40): start(forever.wait)
start(work)
print('busy', flush=True)
forever.wait()
END

check 'too few descriptors: the CPUs are sampled, what is not the target is dropped' <<'END'
	needs_root
	ten serial 600 &
	mkfifo asked answered
	exec 8<>asked 9<>answered
	python3 "$scratch/many.py" <&8 >&9 8<&- 9<&- &
	target=$!
	read -r _ <&9
	(ulimit -n 60; exec pmu-sample -v -e cpu-clock,page-faults -F 1000 -p $target -o s.data) \
		2>err &
	sampler=$!
	attached s.data
	echo >&8
	read -r _ <&9
	runs_for $target 300
	kill -TERM $sampler
	wait $sampler
	cat err
	grep -q "41 threads would take [0-9]* descriptors" err
	grep -q "records of other processes were dropped" err
	whole s.data
	test "$(samples s.data pid | sort -u | tr -d " ")" = $target
	at_least "$(count s.data)" 150
	# threads created meanwhile, and no others, are reported
	perf script -i s.data --show-task-events 2>/dev/null >events
	test "$(grep -c PERF_RECORD_FORK events)" = 41
END

check 'too few descriptors, and no right to sample the CPUs: an error that says what to do' <<'END'
	test "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 || skip "anyone may"
	user=
	if test "$(id -u)" = 0; then
		user="setpriv --reuid=65534 --regid=65534 --clear-groups"
	fi
	chmod 755 .
	cp "$HELP/ten" "$BIN/pmu-sample" .
	$user ./ten threads 600 &
	target=$!
	has_threads() { test "$(ls /proc/$target/task | wc -l)" -eq "$1"; }
	eventually has_threads 11
	ulimit -n 40
	exits 1 $user ./pmu-sample -e cpu-clock -p $target >s.data 2>err
	cat err
	grep -q "11 threads take [0-9]* descriptors, but only .* raise ulimit -n" err
END

# It starts, at a line on stdin, a thread and a process that take CPU time.
cat >"$scratch/family.py" <<'END'
import subprocess, sys, threading, time
def work():
    while time.thread_time() < 0.2:
        for i in range(20000): pass
print('ready', flush=True)
sys.stdin.readline()
worker = threading.Thread(target=work)
worker.start()
subprocess.run(['ten', 'serial', '0.2'])
worker.join()
END

check 'a kernel that cannot follow threads alone: what its processes do is left out' <<'END'
	older 5.10 true || skip "cannot seem older here"
	mkfifo asked answered
	exec 8<>asked 9<>answered
	python3 "$scratch/family.py" <&8 >&9 8<&- 9<&- &
	target=$!
	read -r _ <&9
	older 5.10 pmu-sample -vv -e cpu-clock -F 1000 -p $target -o s.data 2>err &
	sampler=$!
	attached s.data
	echo >&8
	wait $target
	wait $sampler
	cat err
	grep -q "refuses inherit_thread (Linux 5.13)" err
	grep -q "refuses counts of lost samples (PERF_FORMAT_LOST, Linux 6.0)" err
	whole s.data
	test "$(samples s.data pid | sort -u | tr -d " ")" = $target
	samples s.data tid | sort | uniq -c | awk '$1 >= 80' >threads
	test "$(grep -c . threads)" = 1
	older_sample 5.10 --children -e cpu-clock -F 1000
	samples s.data comm | grep -q ten
END

check 'kernels that are older yet write whole streams, too' <<'END'
	older 5.10 true || skip "cannot seem older here"
	for version in 6.0 5.12 5.4 4.4; do
		older_sample $version -g -e cpu-clock,page-faults -F 1000
		whole s.data
		samples s.data ip,sym | grep -q J
	done
END

done_testing
