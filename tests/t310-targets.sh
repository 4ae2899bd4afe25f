#!/bin/sh
# pmu-sample: kinds of targets, what samples have, robustness.
# kinds: release user
. tests/lib.sh
. tests/sampling.sh

# of_pid PID: how many samples of s.data are of it
of_pid() { samples s.data pid | awk -v pid="$1" '$1 == pid { n++ } END { print n + 0 }'; }

# has_lines FILE COUNT: there are as many
has_lines() { test "$(wc -l <"$1")" -ge "$2"; }

check 'no thread is missed, none is sampled twice, while a thousand a second come and go' <<'END'
	events=$(seq 12 | sed "s|.*|cpu-clock/name=e&/|" | paste -sd ,)
	rounds="1 2"
	test "$KIND" != user || rounds=1
	test -z "$ALL" || rounds="1 2 3 4 5 6"
	# each second time it opens the events of the first thread so slowly that most of the others
	# begin meanwhile
	mkdir slow
	cat >slow/pmu-sample <<-EOF
		#!/bin/sh
		exec strace -qq -f --seccomp-bpf -o calls -e trace=perf_event_open \
			-e inject=perf_event_open:delay_exit=10000:when=1..40 \
			"$(command -v pmu-sample)" "\$@"
	EOF
	chmod +x slow/pmu-sample
	for round in $rounds; do
		path=$PATH some=15
		if test $((round % 2)) = 0 && command -v strace; then
			path=$PWD/slow:$PATH some=1
		fi
		rm -f work
		churn >work &
		target=$!
		# some are there by now, others begin while we attach, which many events make longer
		eventually has_lines work $some
		PATH=$path attach -e $events -F 2000 -p $target
		eventually has_lines work 50
		kill -USR1 $target
		exits 0 wait $sampler
		samples s.data tid,time,event | awk '$3 == "e7:" { print $1, $2 }' | tr -d : >sampled
		# Each has worked for 10 ms or more since then: that many samples, but for those at
		# the ends of its time on each CPU, and what the host took, which one thread may get
		# all of.  From a sample to the second after it, one timer takes two periods, two
		# timers take one.
		awk -v cpus=$(nproc) 'NR == FNR {
				n[$1]++
				close_by[$1] += n[$1] > 2 && $2 - before[$1] < 0.00075
				before[$1] = last[$1]
				last[$1] = $2
				next
			}
			NF == 2 {
				threads++
				expected = $2 / 500
				if (n[$1] < expected * 0.4 - cpus || n[$1] > expected * 1.5 + 4) {
					print $1, "has", n[$1] + 0, "samples, not", expected
					n[$1] > 0 && n[$1] < expected ? few++ : wrong++
				}
				if (close_by[$1] * 2 >= n[$1]) {
					print $1, "is sampled twice:", close_by[$1], "of", n[$1]
					wrong++
				}
			}
			END { exit threads != 50 || wrong > 0 || few > 1 }' sampled work
	done
END

check 'a thousand threads are attached to' <<'END'
	cat >thousand.py <<-EOF
		import threading
		threading.stack_size(65536)
		never = threading.Event()
		for i in range(1000):
		    threading.Thread(target=never.wait).start()
		print("all", flush=True)
		never.wait()
	EOF
	python3 thousand.py >started &
	target=$!
	eventually test -s started
	attach -v -e cpu-clock,page-faults -p $target 2>err
	detach
	cat err
	grep -q "^pmu-sample: 100[0-9] threads on" err
	perf report -i s.data --stats 2>/dev/null >stats
	at_least "$(awk '/COMM events/ { print $3 }' stats)" 1000
END

check 'several processes, and all of a user' <<'END'
	user=$(id -un) as_user=
	if test "$user" = root; then	# has too many
		needs_command setpriv
		user=nobody as_user="setpriv --reuid=nobody --clear-groups --"
	fi
	cp "$HELP/ten" .
	chmod 755 . ten
	$as_user ./ten serial forever & one=$!
	$as_user ./ten serial forever & two=$!
	eventually became $one ten	# it is no longer root's
	eventually became $two ten
	for how in "-p $one,$two" "-u $user"; do
		kill -CONT $one $two
		before_one=$(cpu_ms $one) before_two=$(cpu_ms $two)
		attach -e cpu-clock -F 1000 $how 2>err
		attached_one=$(cpu_ms $one) attached_two=$(cpu_ms $two)
		give $one 60
		give $two 60
		least_one=$(($(cpu_ms $one) - attached_one)) least_two=$(($(cpu_ms $two) - attached_two))
		detach
		kill -STOP $one $two	# while perf reads
		most_one=$(($(cpu_ms $one) - before_one)) most_two=$(($(cpu_ms $two) - before_two))
		of_one=$(of_pid $one) of_two=$(of_pid $two)
		# cpu_ms is late by a tick, 10 ms at most
		at_least $of_one $((least_one / 2 - 10))
		at_least $of_two $((least_two / 2 - 10))
		at_most $of_one $((most_one * 3 / 2 + 10))
		at_most $of_two $((most_two * 3 / 2 + 10))
	done
END

check 'of all processes of a user, those are left out that may not be sampled' <<'END'
	! may_sample_kernel || skip "this user may sample them"
	cat >hidden.py <<-EOF
		import ctypes, time
		ctypes.CDLL(None).prctl(4, 0)	# PR_SET_DUMPABLE
		print("hidden", flush=True)
		time.sleep(9999)
	EOF
	python3 hidden.py >hidden &
	ten serial forever &
	target=$!
	eventually test -s hidden
	attach -e cpu-clock -F 1000 -u "$(id -un)" 2>err
	give $target 50
	detach
	cat err
	grep -q "of the processes are not sampled: that is not permitted" err
	at_least "$(of_pid $target)" 30
	exits 1 pmu-sample -e cpu-clock -u root -o s.data 2>err
	grep -q "none of the processes may be sampled: run as root" err
END

check 'a thread alone' <<'END'
	ten late 0.4 &	# five threads wait to be started
	target=$!
	thread_is_there() { test "$(ls /proc/$target/task | wc -l)" -ge 3; }
	eventually thread_is_there
	tid=$(ls /proc/$target/task | sed -n 3p)
	attach -e cpu-clock -F 1000 -t $tid
	kill -USR1 $target
	exits 0 wait $sampler
	about "$(samples s.data tid | grep -c .)" 40
	samples s.data tid | sort -u | tr -d " " >tids
	echo $tid | same - tids
END

check 'everything, and single CPUs' <<'END'
	needs_root
	ten threads forever &
	target=$!
	attach -a -e cpu-clock -F 500
	give $target 60
	detach
	kill $target
	perf_reads s.data 2>err >all
	grep -q "^ *t[0-9] .* [A-J]+0x.*/ten)" all
	test "$(samples s.data cpu | sort -u | grep -c .)" = "$(nproc)"
	attach -C 0 -e cpu-clock -F 500
	eventually has_bytes s.data $(($(wc -c <s.data) + 5000))
	detach
	test "$(samples s.data cpu | sort -u | tr -d " \n")" = "[000]"
END

check 'a cgroup' <<'END'
	needs_root
	root=$(awk '$3 == "cgroup" && $4 ~ /perf_event/ { print $2; exit }' /proc/mounts)
	test -n "$root" || root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	group=pmukit-test-$$
	test -n "$root" && mkdir "$root/$group" || skip "no cgroup can be made"
	ten serial forever &
	target=$!
	echo $target >"$root/$group/cgroup.procs"
	attach --cgroup $group -e cpu-clock -F 500 2>err
	give $target 100
	status=0
	detach || status=$?
	kill $target
	wait $target || :
	rmdir "$root/$group"
	cat err
	test $status = 0
	samples s.data pid | sort -u | tr -d " " >pids
	test "$(cat pids)" = $target
	exits 1 pmu-sample --cgroup nosuch -e cpu-clock 2>err -o s.data
	grep -q "cannot open the cgroup" err
END

check 'children of a process are followed when asked for' <<'END'
	mkfifo go
	sh -c "read line <go; ten serial 0.1; :" &
	attach --children -e cpu-clock -F 1000 -p $!
	echo >go
	exits 0 wait $sampler
	about "$(samples s.data comm | grep -c ten)" 110
END

check 'the exit status of the command is passed on' <<'END'
	exits 7 pmu-sample --exit-status -e cpu-clock -o s.data -- sh -c "exit 7"
	exits 137 pmu-sample --exit-status -e cpu-clock -o s.data -- sh -c 'kill -9 $$'
	exits 0 pmu-sample -e cpu-clock -o s.data -- sh -c "exit 7"
END

check 'a fallback is taken if an event cannot be opened, and is reported everywhere' <<'END'
	! counts_cycles || skip "this machine counts cycles"
	pmu-sample -e cycles --fallback instructions --fallback cpu-clock -o s.data -- \
		ten serial 0.1 2>err
	cat err
	grep -q "cycles. cannot be sampled: .cpu-clock. is sampled instead" err
	pmu-topprof s.data >p.pb.gz
	go tool pprof -comments p.pb.gz | grep -q "asked for cycles, got cpu-clock"
END

check 'a delay leaves the start out, and its mappings in' <<'END'
	earliest=$(python3 -c "import time; print(time.clock_gettime(time.CLOCK_MONOTONIC) + 0.3)")
	attach -D 300ms -e cpu-clock -F 1000 -- ten serial forever
	eventually has_bytes s.data $(($(wc -c <s.data) + 2000))
	detach
	first=$(samples s.data time | sed -n "1s/[: ]//gp")
	at_least "$first" "$earliest"
	samples s.data ip,sym,dso | grep -q " [A-J] .*/ten"
END

check 'callchains by stack dumps are unwound by perf' <<'END'
	cat >loop.py <<-EOF
		import sys
		for i in range(int(sys.argv[1])):
		    pass
	EOF
	deep_chains() {
		samples s.data ip,sym >chains
		awk 'BEGIN { RS = ""; FS = "\n" } NF > 5 { n++ } END { print n; exit !(n > 10) }' chains
	}
	dwarf="--call-graph dwarf,8192 -e cpu-clock -F 1000"
	pmu-sample $dwarf -o s.data -- python3 loop.py 1200000
	deep_chains
	python3 loop.py 1000000000000 &
	target=$!
	eventually has_run $target 50
	attach $dwarf -p $target
	give $target 80
	detach
	kill $target
	deep_chains
END

check 'samples have what was asked for' <<'END'
	pmu-sample --record cpu,data,page-size,cgroup -g -e cpu-clock -F 500 -o s.data -- \
		ten serial 0.1
	samples s.data cpu,addr,ip,sym >fields
	grep -q "\[00" fields
	perf script -D -i s.data >dump 2>/dev/null
	for field in data_src weight "data page size"; do
		grep -q "$field" dump
	done
END

check 'registers, those asked for and no others' <<'END'
	pmu-sample --user-regs ip,sp --intr-regs ip -e cpu-clock:u -F 1000 -o s.data -- ten serial 0.1
	perf script -i s.data -F ip,uregs,iregs >script 2>errors || skip "$(cat errors)"
	# the instruction pointer is the sample itself
	awk '{ n++; if (!index($0, "IP:0x" $1) || !/SP:0x7/ || / BP:/) wrong++ }
		END { print n, wrong + 0; exit !(n > 50 && wrong == 0) }' script
	pmu-sample --user-regs all -e cpu-clock -F 500 -o s.data -- ten serial 0.1
	samples s.data uregs | grep -q "AX:.*R15:"
	# stacks are unwound by registers of their own, which are left out again
	pmu-sample --unwind --user-regs di -e cpu-clock:u -F 500 -o s.data -- ten serial 0.1
	perf script -D -i s.data >dump 2>/dev/null
	at_least "$(grep -c "^\.\.\.\. DI  *0x" dump)" 20
	pmu-sample --unwind -e cpu-clock:u -F 500 -o s.data -- ten serial 0.1
	perf script -D -i s.data 2>/dev/null | none grep "^\.\.\.\. DI "
	exits 2 pmu-sample --intr-regs ip,nosuch -- true 2>err
	grep -q "not .nosuch." err
END

check 'kinds of branches' <<'END'
	exits 2 pmu-sample -j any,nosuch -- true 2>err
	grep -q "not .nosuch." err
	for option in -b "-j any_call,u"; do
		status=0
		pmu-sample $option -e cycles -o s.data -- ten serial 0.1 2>err || status=$?
		case $status in
		0)	samples s.data brstack | grep -q 0x ;;
		1)	grep -q "branches\|no hardware PMU" err ;;	# a machine without
		esac
	done
END

check 'a group is read by its leader' <<'END'
	# one thread: each has counts of its own
	pmu-sample -v -e "{cpu-clock,page-faults}:S" -F 1000 -o s.data -- ten faulting 0.2 2>err
	cat err
	samples s.data event,period | sed 's/:u//' | awk '{ sum[$2] += $1 }
		END { for (e in sum) printf "%s %d\n", e, sum[e] }' | sort >sums
	cat sums
	# What the kernel counted in all is in the samples, but for what came on each CPU after
	# the last one there.
	awk -v clock="$(counted err cpu-clock)" -v faults="$(counted err page-faults)" '
		/^cpu-clock/ && $2 <= clock && $2 > clock * 0.85 { good++ }
		/^page-faults/ && $2 <= faults && $2 > faults * 0.85 { good++ }
		END { exit !(good == 2 && faults > 1000) }' sums
END

check 'the program alone, in callchains and in samples' <<'END'
	pmu-sample --call-graph user -e cpu-clock -F 2000 -o s.data -- ten faulting 0.1
	samples s.data ip | grep . >ips
	none grep "^[[:space:]]*ffff" ips
	at_least "$(wc -l <ips)" 100
	pmu-sample --all-user -e cpu-clock -F 2000 -o s.data -- ten faulting 0.1 2>err
	none cat err
	samples s.data ip >ips
	none grep "^ *ffffffff" ips
	at_least "$(wc -l <ips)" 40
END

check 'the kernel alone in callchains' <<'END'
	may_sample_kernel || skip "this user may not sample the kernel"
	pmu-sample --call-graph kernel -e cpu-clock -F 2000 -o s.data -- ten faulting 0.1
	samples s.data ip | grep . >ips
	none grep -v "^[[:space:]]*ffff" ips
	at_least "$(wc -l <ips)" 100
END

check 'tracepoints are sampled, with their fields, which perf reads, too' <<'END'
	needs_root
	needs_tracepoints
	pmu-sample -e sched:sched_switch,sched:sched_wakeup -R -c 1 -o t.data -- sleep 0.01
	stream-stats t.data | grep -q "^SAMPLE=[1-9]"
	perf script -i t.data 2>errors >script
	none cat errors
	grep -q "sched_switch: prev_comm=sleep .* ==> next_comm=" script
	perf script -i - <t.data >piped
	same script piped
	pmu-symbolize t.data | pmu-topprof >p.pb.gz
	go tool pprof -raw p.pb.gz 2>&1 | grep -q "sched:sched_switch"
END

check 'of two tracepoints with a period, one of so many occurrences is a sample' <<'END'
	needs_root
	needs_tracepoints
	cat >copy <<'PY'
import os
for i in range(1000):
    os.read(0, 1)
    os.write(1, b"x")
PY
	pmu-sample -v -e syscalls:sys_enter_read,syscalls:sys_enter_write -c 100 -o t.data -- \
		python3 -I copy </dev/zero >/dev/null 2>err
	samples t.data event,period >taken
	for name in sys_enter_read sys_enter_write; do
		count=$(counted err "syscalls:$name")
		at_least "$count" 1000
		near "$(grep -c "^ *100 *syscalls:$name:" taken)" $((count / 100)) $(nproc)
	done
	test "$(wc -l <taken)" = "$(grep -c "^ *100 " taken)"
END

check 'an occurrence of a tracepoint that counts more than one is one sample' <<'END'
	needs_root
	needs_tracepoints
	test -d $tracing/events/sched/sched_stat_runtime || skip 'no such tracepoint'
	pmu-sample -v -e sched:sched_stat_runtime -c 1 -o t.data -- ten serial 0.1 2>err
	cat err
	test "$(samples t.data period | awk '{ sum += $1 } END { print sum }')" = \
		"$(counted err sched:sched_stat_runtime)"
END

check 'switches show where threads wait' <<'END'
	pmu-sample --off-cpu -e cpu-clock -o s.data -- sh -c "sleep 0.01; sleep 0.01"
	perf report -i s.data --stats >stats
	at_least "$(awk '/SWITCH events/ { print $3 }' stats)" 4
	may_sample_kernel || exit 0	# they happen in the kernel
	samples s.data event | grep -q context-switches
END

check 'the stream can be compressed, as zstd does it' <<'END'
	pmu-sample -z3 -e cpu-clock -F 5000 -o s.zst -- ten serial 0.2
	zstd -q -d s.zst -o s.data
	at_most "$(wc -c <s.zst)" $(($(wc -c <s.data) / 2))
	samples s.data ip,sym | grep -q J
	pmu-sample -z -e cpu-clock -F 1000 -o s.zst -- true
	zstd -q -t s.zst
	for level in 0 20 4294967297 x; do
		exits 2 pmu-sample -z$level -- true 2>err
	done
END

check 'a pipe that its reader made non-blocking is waited for' <<'END'
	# It is full from the start, until the workload has ended.
	cat >slow.py <<-EOF
		import fcntl, os, subprocess, sys, time
		reader, writer = os.pipe()
		fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
		filled = os.write(writer, bytes(1 << 20))
		tool = subprocess.Popen(sys.argv[1:], stdout=writer)
		os.close(writer)
		while not os.path.exists("done"):
		    time.sleep(0.01)
		while filled:
		    filled -= len(os.read(reader, filled))
		while part := os.read(reader, 1 << 20):
		    sys.stdout.buffer.write(part)
		sys.exit(tool.wait())
	EOF
	python3 slow.py pmu-sample -g -e cpu-clock -F 10000 -- sh -c "ten serial 0.2; >done" >s.data
	at_least "$(wc -c <s.data)" 131072
	pmu-stream --check s.data
END

check 'a reader that stalls for a while loses nothing' <<'END'
	needs_command taskset
	cpu=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
	mkfifo pipe
	# again where the sampler itself got no CPU for longer than its ring has room
	for attempt in 1 2 3 4 5; do
		taskset -c $cpu ten serial forever &
		target=$!
		eventually became $target ten
		pmu-sample -v -m 256Ki -g -e cpu-clock -F 20000 -p $target >pipe 2>err &
		sampler=$!
		exec 3<pipe
		give $target 850
		kill $target
		cat <&3 >s.data
		exits 0 wait $sampler
		cat err
		! grep -q ", 0 lost" err || break
	done
	grep -q ", 0 lost" err
	# more than the ring of this CPU and a pipe hold, 256 KiB and 1 MiB
	at_least "$(wc -c <s.data)" 1400000
	perf_reads s.data >script 2>errors
	none cat errors
END

check 'a fork storm is survived' <<'END'
	cat >storm.sh <<-"EOF"
		i=0
		while [ $i -lt 250 ]; do
			true & /bin/true
			i=$((i + 1))
		done
		wait
	EOF
	pmu-sample -v -m 4Mi -e cpu-clock -F 1000 -o s.data -- sh storm.sh 2>err
	cat err
	grep -q ", 0 lost" err
	perf report -i s.data --stats >stats
	at_least "$(awk '/FORK events/ { print $3 }' stats)" 500
END

check 'mappings that were there before are those of a program, with a build ID or without' <<'END'
	objcopy --remove-section .note.gnu.build-id "$HELP/ten" plain
	for program in ./plain ten; do
		$program serial 600 &
		target=$!
		eventually became $target ${program##*/}
		give $target 5	# its mappings are there
		pmu-sample -q -e cpu-clock:u -d 0.1 -p $target -o s.data
		kill $target
		python3 - ${program##*/} <<-'PYTHON'
			import struct, sys
			data, at, found = open("s.data", "rb").read(), 16, []
			while at < len(data):
			    kind, misc, size = struct.unpack_from("<IHH", data, at)
			    if kind == 10 and ("/" + sys.argv[1]).encode() in data[at:at + size]:
			        found.append(misc)
			    at += size
			has_id = 1 << 14 if sys.argv[1] == "ten" else 0
			# of code, of data (1 << 13)
			assert found and all(misc & ~(1 << 13) == 2 | has_id for misc in found), found
		PYTHON
	done
END

check 'without /sys, the CPUs are those on which process 1 or this one may run' <<'END'
	needs_root
	needs_sampling
	unshare -m sh -c 'mount -t tmpfs none /sys && exec "$@"' - \
		pmu-sample -v -e cpu-clock -o s.data -- ten serial 0.05 2>err
	cat err
	grep -q ", $((2 * $(nproc --all))) event fds;" err	# the clock's and the dummy event's
	at_least "$(perf_samples s.data)" 10
END

done_testing
