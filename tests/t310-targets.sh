#!/bin/sh
# pmu-sample: kinds of targets, what samples have, robustness.
# kinds: release user
. tests/lib.sh

samples() { perf script -i "$1" -F "$2" 2>/dev/null; }

# begin COMMAND...: run it in the background, its pid in $target
begin() {
	"$@" &
	target=$!
	sleep 0.2
}

near() { # ACTUAL EXPECTED TOLERANCE
	awk -v a="$1" -v e="$2" -v t="$3" 'BEGIN { d = a - e; if (d < 0) d = -d; exit !(d <= t) }' ||
	{ echo "$1 is not within $3 of $2"; return 1; }
}

check 'no thread that stays is missed, while a thousand a second come and go' <<'END'
	for round in 1 2 3; do
		churn 2.5 >tids &
		target=$!
		sleep 0.6	# some stay by now, others begin while we attach and later
		pmu-sample -e cpu-clock -F 4000 -p $target -o s.data
		wait $target
		samples s.data tid | sort | uniq -c | awk '$1 > 5 { print $2 }' | sort >sampled
		sort tids >stayed
		test "$(wc -l <stayed)" = 20
		comm -23 stayed sampled >missed
		same /dev/null missed
	done
END

check 'no thread is sampled twice' <<'END'
	churn 2 >tids &
	target=$!
	sleep 0.5
	pmu-sample -e cpu-clock -F 1000 -d 1 -p $target -o s.data
	kill $target
	# two CPUs at most take so many samples in a second
	cpus=$(nproc)
	test "$(samples s.data tid | wc -l)" -le $((cpus * 1100))
END

check 'a thousand threads are attached to' <<'END'
	begin python3 -c "
import threading, time
for i in range(1000): threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
time.sleep(30)"
	until test "$(ls /proc/$target/task | wc -l)" -gt 1000; do sleep 0.1; done
	exits 0 pmu-sample -v -e cpu-clock,page-faults -p $target -d 200ms -o s.data 2>err
	kill $target
	cat err
	grep -q "^pmu-sample: 100[0-9] threads on" err
	test "$(perf report -i s.data --stats 2>/dev/null | awk "/COMM events/ { print \$3 }")" -ge 1000
END

check 'several processes, and all of a user' <<'END'
	ten serial 5 & one=$!
	ten serial 5 & two=$!
	sleep 0.2
	pmu-sample -e cpu-clock -F 1000 -p $one,$two -d 500ms -o s.data
	samples s.data pid | sort | uniq -c | awk '$1 > 100' >pids
	test "$(wc -l <pids)" = 2
	pmu-sample -e cpu-clock -F 1000 -u "$(id -un)" -d 500ms -o s.data
	samples s.data pid | grep -qx " *$one *"
	samples s.data pid | grep -qx " *$two *"
	kill $one $two
END

check 'a thread alone' <<'END'
	begin ten threads 20
	tid=$(ls /proc/$target/task | sed -n 3p)
	pmu-sample -e cpu-clock -F 1000 -t $tid -d 500ms -o s.data
	kill $target
	samples s.data tid | sort -u >tids
	test "$(cat tids | tr -d " ")" = $tid
END

check 'everything, and single CPUs' <<'END'
	test "$(id -u)" = 0 || { echo "not root"; exit 77; }
	begin ten threads 20
	pmu-sample -a -e cpu-clock -F 500 -d 600ms -o s.data
	samples s.data comm,ip,sym | grep -q "^ *t[0-9] .* [A-J]"
	test "$(samples s.data cpu | sort -u | wc -l)" = "$(nproc)"
	pmu-sample -C 0 -e cpu-clock -F 500 -d 300ms -o s.data
	kill $target
	test "$(samples s.data cpu | sort -u | tr -d " \n")" = "[000]"
END

check 'a cgroup' <<'END'
	test "$(id -u)" = 0 || { echo "not root"; exit 77; }
	root=$(awk '$3 == "cgroup" && $4 ~ /perf_event/ { print $2; exit }' /proc/mounts)
	test -n "$root" || root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	test -n "$root" && mkdir "$root/pmukit-test" || { echo "no cgroup can be made"; exit 77; }
	begin ten serial 5
	echo $target >"$root/pmukit-test/cgroup.procs"
	status=0
	pmu-sample --cgroup pmukit-test -e cpu-clock -F 500 -d 400ms -o s.data 2>err || status=$?
	kill $target
	wait $target || :
	rmdir "$root/pmukit-test"
	cat err
	test $status = 0
	samples s.data pid | sort -u | tr -d " " >pids
	test "$(cat pids)" = $target
	exits 1 pmu-sample --cgroup nosuch -e cpu-clock 2>err -o s.data
	grep -q "cannot open the cgroup" err
END

check 'children of a process are followed when asked for' <<'END'
	sh -c "sleep 0.4; ten serial 0.3; :" &
	target=$!
	sleep 0.2
	pmu-sample --children -e cpu-clock -F 1000 -p $target -o s.data
	wait $target
	test "$(samples s.data comm | grep -c ten)" -gt 200
END

check 'the exit status of the command is passed on' <<'END'
	exits 7 pmu-sample --exit-status -e cpu-clock -o s.data -- sh -c "exit 7"
	exits 137 pmu-sample --exit-status -e cpu-clock -o s.data -- sh -c 'kill -9 $$'
	exits 0 pmu-sample -e cpu-clock -o s.data -- sh -c "exit 7"
END

check 'a fallback is taken where an event cannot be had, and is told everywhere' <<'END'
	perf stat -e cycles true 2>&1 | grep -q "not supported" || { echo "this machine counts cycles"; exit 77; }
	exits 1 pmu-sample -e cycles -o s.data -- true 2>err
	pmu-sample -e cycles --fallback instructions --fallback cpu-clock -o s.data -- ten serial 0.1 2>err
	grep -q "cycles. cannot be had: .cpu-clock. is sampled instead" err
	pmu-topprof s.data >p.pb.gz
	go tool pprof -comments p.pb.gz | grep -q "asked for cycles, got cpu-clock"
END

check 'a delay leaves the start out, and its mappings in' <<'END'
	pmu-sample -e cpu-clock -F 1000 -D 300ms -o s.data -- ten serial 1
	first=$(samples s.data time | sed -n "1s/[: ]//gp")
	exec=$(perf script -i s.data --show-task-events -F comm,time,event 2>/dev/null |
		sed -n "s/.* \([0-9.]*\): PERF_RECORD_COMM exec.*/\1/p" | head -n 1)
	test -n "$exec" || exec=$(perf script -i s.data --show-mmap-events 2>/dev/null | sed -n "s/.* \([0-9]*\.[0-9]*\): PERF_RECORD_MMAP2.*/\1/p" | head -n 1)
	awk -v first="$first" -v exec="$exec" "BEGIN { exit !(first - exec > 0.28 && first - exec < 0.4) }" || { echo "$exec $first"; exit 1; }
	samples s.data ip,sym,dso | grep -q "J .*/ten"
END

check 'callchains by stack dumps are unwound by perf' <<'END'
	program="
for i in range(3000000): pass"
	pmu-sample --call-graph dwarf,8192 -e cpu-clock -F 500 -o s.data -- python3 -c "$program"
	perf script -i s.data -F ip,sym >chains 2>/dev/null
	awk 'BEGIN { RS = ""; FS = "\n" } NF > 5 { n++ } END { exit !(n > 10) }' chains
	sleep 0.1
	begin python3 -c "
while True: pass"
	pmu-sample --call-graph dwarf,8192 -e cpu-clock -F 500 -p $target -d 300ms -o s.data
	kill $target
	perf script -i s.data -F ip,sym >chains 2>/dev/null
	awk 'BEGIN { RS = ""; FS = "\n" } NF > 5 { n++ } END { exit !(n > 10) }' chains
END

check 'samples have what was asked for' <<'END'
	pmu-sample --cpu --data --page-size --cgroup-id -g -e cpu-clock -F 1000 -o s.data -- ten serial 0.2
	perf script -i s.data -F cpu,addr,ip,sym >fields
	grep -q "\[00" fields
	perf script -D -i s.data >dump 2>/dev/null
	for field in data_src weight "data page size"; do
		grep -q "$field" dump
	done
END

check 'registers, those asked for and no others' <<'END'
	pmu-sample --user-regs ip,sp --intr-regs ip -e cpu-clock:u -F 1000 -o s.data -- ten serial 0.1
	perf script -i s.data -F ip,uregs,iregs >script 2>errors || { cat errors; exit 77; }
	# the instruction pointer is the sample itself
	awk '{ n++; if (!index($0, "IP:0x" $1) || !/SP:0x7/ || / BP:/) wrong++ }
		END { print n, wrong + 0; exit !(n > 50 && wrong == 0) }' script
	pmu-sample --user-regs all -e cpu-clock -F 1000 -o s.data -- ten serial 0.1
	perf script -i s.data -F uregs | grep -q "AX:.*R15:"
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
		0)	perf script -i s.data -F brstack | grep -q 0x ;;
		1)	grep -q "branches\|no hardware PMU" err ;;	# a machine without
		esac
	done
END

check 'a group is read by its leader' <<'END'
	# one thread: each has counts of its own
	pmu-sample -v -e "{cpu-clock,page-faults}:S" -F 1000 -o s.data -- \
		dd if=/dev/zero of=/dev/null bs=1M count=5000 2>err
	cat err
	perf script -i s.data -F event,period | awk '{ sum[$2] += $1 }
		END { for (e in sum) printf "%s %d\n", e, sum[e] }' | sort >sums
	cat sums
	# what the kernel counted in all is in the samples, but for what came after the last one
	clock=$(sed -n "s/.*: cpu-clock.*: \([0-9]*\) counted.*/\1/p" err)
	faults=$(sed -n "s/.*: page-faults.*: \([0-9]*\) counted.*/\1/p" err)
	awk -v clock=$clock -v faults=$faults '
		/^cpu-clock/ && $2 <= clock && $2 > clock - 3e6 { good++ }
		/^page-faults/ && $2 <= faults && $2 > faults / 2 { good++ }
		END { exit good != 2 }' sums
END

check 'the kernel or the program alone in callchains' <<'END'
	copy="dd if=/dev/zero of=/dev/null bs=1M count=3000"
	for option in --kernel-stacks --user-stacks; do
		pmu-sample -g $option -e cpu-clock -F 2000 -o s.data -- $copy 2>err
		perf script -i s.data -F ip | grep . >$option.ips
	done
	none grep -v "^[[:space:]]*ffff" ./--kernel-stacks.ips
	none grep "^[[:space:]]*ffff" ./--user-stacks.ips
	test "$(wc -l <./--user-stacks.ips)" -gt 20
END

check 'tracepoints are sampled, with their fields, which perf reads, too' <<'END'
	pmu-sample -e sched:sched_switch,sched:sched_wakeup -R -c 1 -o t.data -- sleep 0.1 2>err || { cat err; exit 77; }
	stream-stats t.data | grep -q "^SAMPLE=[1-9]"
	perf script -i t.data 2>errors >script
	none cat errors
	grep -q "sched_switch: prev_comm=sleep .* ==> next_comm=" script
	perf script -i - <t.data >piped
	same script piped
	pmu-symbolize t.data | pmu-topprof >p.pb.gz
	go tool pprof -raw p.pb.gz 2>&1 | grep -q "sched:sched_switch"
END

check 'switches tell where threads wait' <<'END'
	pmu-sample --off-cpu -e cpu-clock -o s.data -- sh -c "sleep 0.1; sleep 0.1"
	perf report -i s.data --stats >stats
	test "$(awk "/SWITCH events/ { print \$3 }" stats)" -ge 4
	perf script -i s.data | grep -q "context-switches"
END

check 'the user alone, and the kernel by all means' <<'END'
	pmu-sample --user -e cpu-clock -F 1000 -o s.data -- dd if=/dev/zero of=/dev/null bs=1M count=2000 2>err
	none grep "^ *ffffffff" <<-EOF
		$(samples s.data ip)
	EOF
	exits 2 pmu-sample --user --kernel -- true 2>err
END

check 'the stream can be compressed, as zstd does it' <<'END'
	pmu-sample -z3 -e cpu-clock -F 5000 -o s.zst -- ten serial 0.3
	zstd -q -d s.zst -o s.data
	test "$(wc -c <s.zst)" -lt "$(($(wc -c <s.data) / 2))"
	perf script -i s.data -F ip,sym | grep -q J
	pmu-sample -z -e cpu-clock -F 1000 -o s.zst -- ten serial 0.1
	zstd -q -t s.zst
	for level in 0 20 4294967297 x; do
		exits 2 pmu-sample -z$level -- true 2>err
	done
END

check 'a pipe that its reader made non-blocking is waited for' <<'END'
	cat >slow.py <<-END
	import fcntl, os, subprocess, sys, time
	reader, writer = os.pipe()
	fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
	tool = subprocess.Popen(sys.argv[1:], stdout=writer)
	os.close(writer)
	time.sleep(1)
	while part := os.read(reader, 1 << 20):
	    sys.stdout.buffer.write(part)
	sys.exit(tool.wait())
	END
	python3 slow.py pmu-sample -g -e cpu-clock -F 10000 -- ten serial 0.5 >s.data
	test "$(wc -c <s.data)" -gt 131072
	pmu-stream --check s.data
END

check 'a reader that stalls for a second loses nothing' <<'END'
	ten serial 3 &
	target=$!
	sleep 0.1
	pmu-sample -v -m 16Ki -g -e cpu-clock -F 10000 -p $target -d 2 2>err | { sleep 1.5; cat >s.data; }
	kill $target
	cat err
	grep -q ", 0 lost" err
	perf script -i s.data >script 2>errors
	test ! -s errors
END

check 'a fork storm is survived' <<'END'
	pmu-sample -v -m 4Mi -e cpu-clock -F 1000 -o s.data -- sh -c 'i=0; while [ $i -lt 500 ]; do true & /bin/true; i=$((i + 1)); done; wait' 2>err
	cat err
	grep -q ", 0 lost" err
	perf report -i s.data --stats >stats
	test "$(awk "/FORK events/ { print \$3 }" stats)" -ge 500
END

done_testing
