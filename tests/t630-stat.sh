#!/bin/sh
# pmu-stat: what it counts is what the kernel says otherwise; each form of its output has the same
# numbers; runs that fail or are stopped are counted and reported.
# kinds: release user
. tests/lib.sh

# value NAME [FILE]: the mean of the only row NAME, whatever its modifiers, in JSON
value() {
	python3 -c '
import json, sys
rows = [r for r in json.load(open(sys.argv[2]))["rows"] if r["name"].split(":")[0] == sys.argv[1]]
assert len(rows) == 1, rows
print(rows[0]["mean"])' "$1" "${2:-out}"
}

# counts: the kind of checks that count context switches, which need the right to count the kernel
counts_kernel() {
	pmu-stat -e context-switches -- true 2>&1 | none grep "counts nothing"
}

check 'page faults are the pages that a program touches' <<'END'
	pmu-stat --json -e page-faults -- touches 0 >few 2>/dev/null
	pmu-stat --json -e page-faults -- touches 10000 >many 2>/dev/null
	near $(($(value page-faults many) - $(value page-faults few))) 10000 20
END

check 'children and threads are counted, and the start of the command is not' <<'END'
	pmu-stat --json -e page-faults -- touches 3000 >one 2>/dev/null
	pmu-stat --json -e page-faults -- sh -c "touches 3000; touches 3000; exit" >two 2>/dev/null
	at_least "$(value page-faults two)" $((2 * $(value page-faults one)))
	# no more than what the program is said to do by another program that only executes it
	pmu-stat --json -e page-faults -- /bin/true >true 2>/dev/null
	at_most "$(value page-faults true)" 200
END

check 'task-clock and context switches are those of getrusage()' <<'END'
	counts() { pmu-stat --json -e task-clock,context-switches -o out -- touches 0 30000000 50 >said; }
	undisturbed counts
	read -r ns switches <said
	cat said
	near "$(value task-clock)" "$ns" $((ns / 20 + 10000000 + taken * 1000000))
	counts_kernel || skip "who may not count the kernel cannot count context switches"
	near "$(value context-switches)" "$switches" 5
END

check 'each form of the output has the same numbers, and the interval is of Student' <<'END'
	any_user
	pmu-stat --json -n 5 -e page-faults,task-clock -- touches 100 >json 2>/dev/null
	python3 - <<-EOF
	import json, math
	got = json.load(open("json"))
	assert (got["runs"], got["failed"], got["command"]) == (5, 0, ["touches", "100"])
	assert [r["name"].split(":")[0] for r in got["rows"]] == [
	    "page-faults", "task-clock", "wall-time", "user-time", "system-time"]
	for row in got["rows"]:
	    values = row["values"]
	    mean = sum(values) / 5
	    variance = max(sum((v - mean) ** 2 for v in values) / 4, 1 / 12)	# equal: rounded
	    half = 2.7764451 * math.sqrt(variance / 5)
	    for name, want in ("mean", mean), ("low", mean - half), ("high", mean + half), \
	            ("min", min(values)), ("max", max(values)):
	        assert math.isclose(row[name], want, rel_tol=1e-6, abs_tol=1e-3), (row, name, want)
	EOF
	pmu-stat -n 2 -e page-faults -- touches 100 >table 2>/dev/null
	test "$(head -n 1 table)" = "2 runs of: touches 100"
	grep -qE "^ *mean +\+- +min +max +counted +event$" table
	grep -qE "^ *[0-9.,]+ +[0-9.>]+ % +[0-9,]+ +[0-9,]+ +100 % +page-faults(:u)?$" table
	pmu-stat -e page-faults -- touches 100 2>/dev/null | grep -qE "^ *[0-9]+ +- .* page-faults"
	pmu-stat --to csv -e page-faults -- touches 100 2>/dev/null | tr -d "\r" >csv
	test "$(head -n 1 csv)" = of,event,unit,mean,low,high,min,max,runs,running,scaled,stopped
	grep -qE "^,page-faults(:u)?,count,([0-9]+),,,\2,\2,1,1.000000,no,0$" csv
END

check 'a group is read at one moment: its members count for the same time' <<'END'
	any_user
	pmu-stat --json -n 3 -e "{task-clock,page-faults,cpu-clock},minor-faults" -- touches 1000 >out \
		2>/dev/null
	python3 - <<-EOF
	import json
	rows = json.load(open("out"))["rows"][:4]
	assert [r["running"] for r in rows] == [1] * 4, rows
	assert all(1000 <= v < 1300 for v in rows[1]["values"] + rows[3]["values"]), rows
	EOF
	exits 1 pmu-stat -e "{task-clock,mem:0x1001/8:rw}" -- true 2>err
	grep -q "^pmu-stat: cannot count 'mem:0x1001/8:rw'" err
END

check 'equal counts have the interval of numbers that were rounded; nothing has none' <<'END'
	any_user
	pmu-stat --json -n 2 -e minor-faults:k,dummy -- true >out 2>err
	python3 - <<-EOF
	import json, math
	row = json.load(open("out"))["rows"][1]
	assert row["values"] == [0, 0], row
	assert math.isclose(row["high"], 12.7062 / math.sqrt(12 * 2), rel_tol=1e-4), row
	EOF
	pmu-stat -n 2 -e dummy -- true 2>err | grep -qE "^ +0 +equal +0 +0 .* dummy"
END

check 'runs to warm up are not counted, but made' <<'END'
	any_user
	pmu-stat --json -n 2 --warmup 3 -e page-faults -- sh -c "echo x >>ran" >out 2>/dev/null
	test "$(wc -l <ran)" = 5
	grep -q '"runs": 2,' out
END

check 'each run reads standard input from where the first did, or a message is printed' <<'END'
	printf "one\ntwo\nthree\n" >in
	{ read -r first; pmu-stat -e task-clock --warmup 1 -n 3 -o table -- cat; } <in >out 2>err
	test "$first $(sort out | uniq -c | xargs)" = "one 4 three 4 two"
	pmu-stat -e task-clock -n 2 -o table --vs "cat -" cat <in >out 2>>err
	test "$(sort out | uniq -c | xargs)" = "4 one 4 three 4 two"
	echo one | pmu-stat -e task-clock -o table -- cat >out 2>>err
	python3 - 2>>err <<'PY'
import os, subprocess
ended, writer = os.pipe()
os.close(writer)
unused, writer = os.pipe()
for pipe in ended, unused:
    subprocess.run(["pmu-stat", "-e", "task-clock", "-n", "3", "true"], stdin=pipe, check=True,
                   stdout=subprocess.DEVNULL)
PY
	none grep "standard input" err
	echo one | pmu-stat -e task-clock -n 3 -o table -- cat >out 2>err
	cat err
	grep -q "^pmu-stat: standard input is not a file: what one run reads, the next" err
	test "$(grep -c input err)" = 1
END

check 'a machine without counters gets software events, and one line that says so' <<'END'
	pmu-stat -- true >out 2>err
	grep -q " task-clock" out
	grep -q " page-faults" out
	pmu-events --check cycles || test "$(grep -c "no hardware counters here" err)" = 1
	exits 0 pmu-stat --detail -- true >out 2>err
	grep -q " minor-faults" out
	at_most "$(wc -l <err)" 2
	pmu-events --check cycles || ! pmu-stat -e cycles -- true 2>err
	none grep cpu-clock err	# advice for those that sample
END

check 'a command of several lines is shown in one' <<'END'
	pmu-stat -q -e page-faults -o out -- sh -c "true
true"
	test "$(head -n 1 out)" = "1 run of: sh -c '"'true\ntrue'"'"
	pmu-stat -q -n 1 -e page-faults -o out --vs "true
true" true
	grep -q '^base: .*true\\ntrue' out
END

check 'clocks have the time in the kernel, for every user, and a message does not deny it' <<'END'
	pmu-stat --to csv -e task-clock,cpu-clock -- dd if=/dev/zero of=/dev/null bs=1M count=30000 \
		>out 2>err
	none grep pmu-stat: err
	time() { sed -n "s/^,$1,nanoseconds,\([0-9]*\),.*/\1/p" out; }
	cat out
	# nearly all of it is in the kernel
	at_least "$(time task-clock)" $(($(time system-time) * 8 / 10))
	at_least "$(time system-time)" 1000000
	pmu-stat -e task-clock:u -- true 2>err
	grep -q "'task-clock:u' has the time in user mode and in the kernel" err
END

check 'a command that is not found, and an event that is refused: one line, exit 1' <<'END'
	exits 1 pmu-stat -e task-clock -- ./nosuch >out 2>err
	echo "pmu-stat: cannot run './nosuch': No such file or directory" | same - err
	test ! -s out
	mkdir directory
	exits 1 pmu-stat -e task-clock -- ./directory 2>err
	echo "pmu-stat: cannot run './directory': it is a directory" | same - err
	# not even the line about what this machine cannot count
	exits 1 pmu-stat -- ./nosuch 2>err
	test "$(wc -l <err)" = 1
	for event in nosuch mem:0x1001/8:rw; do
		exits 1 pmu-stat -e "$event" -- true >out 2>err
		test "$(wc -l <err)" = 1
		grep -q "^pmu-stat: .*$event" err
		test ! -s out
	done
	exits 1 pmu-stat -e task-clock -p 999999999 2>err
	grep -qx "pmu-stat: no process has the pid 999999999" err
	exits 2 pmu-stat --cgroup "" 2>err
	for wrong in "" "-n 0 true" "-p 1 -a" "-p 1 -n 2" "--by cpu true" "--interval 1 -n 2 true"; do
		exits 2 pmu-stat $wrong 2>err
	done
END

check 'a program that may not be read is not counted, nor sampled: both say why' <<'END'
	test "$(id -u)" != 0 || powerless="setpriv --inh-caps=-all --bounding-set=-all"
	stopped="stopped early, after 0.0.* s of CPU time: the kernel stops it when a program"
	cp "$(command -v ten)" readable
	cp readable hidden
	chmod 111 hidden
	for set in "./hidden serial 0.3" "sh -c './hidden serial 0.3; true'"; do
		eval "set -- $set"
		${powerless-} pmu-stat -e task-clock -- "$@" >out 2>err
		grep "^pmu-stat: counting of '$1' $stopped" err
		${powerless-} pmu-sample -e cpu-clock -o s.data -- "$@" 2>err
		grep "^pmu-sample: sampling of '$1' $stopped" err
		none grep "no samples" err
	done
	${powerless-} pmu-stat -e task-clock -- ./readable serial 0.3 >out 2>err
	none grep "stopped early" err
	${powerless-} pmu-sample -e cpu-clock -o s.data -- ./readable serial 0.3 2>err
	none grep "stopped early" err
	# children are left out because that was asked for
	set -- sh -c './readable serial 0.3; true'
	${powerless-} pmu-stat -e task-clock/no-inherit/ -- "$@" >out 2>err
	none grep "stopped early" err
	${powerless-} pmu-sample -e cpu-clock/no-inherit/ -o s.data -- "$@" 2>err || :
	none grep "stopped early" err
END

check 'a name has no modifier that means nothing for counts' <<'END'
	pmu-stat -q -j -e page-faults:S,context-switches:p,cpu-migrations:P,page-faults:uP \
		-- true >out
	python3 - out <<'PY'
import json, sys
names = [row["name"] for row in json.load(open(sys.argv[1]))["rows"] if row["kind"] == "event"]
assert names.pop() == "page-faults:u"
names = [name.replace(":u", "") for name in names]	# without rights
assert names == ["page-faults", "context-switches", "cpu-migrations"], names
PY
	exits 1 pmu-stat -e page-faults:pppp -- true
END

check 'a time below a nanosecond, and parts of nanoseconds, are shown' <<'END'
	pmu-stat -q -n 2 --per op=1e20 -e page-faults -o out -- true
	cat out
	none grep "^ *0ns" out
	grep -q "^ *[0-9.]*e-[0-9]*ns .* wall-time$" out
	pmu-stat -q --per op=1e6 -e page-faults -o out -- sleep 0.01
	grep -q "^ *[1-9][0-9]*\.[0-9]*ns .* wall-time$" out
END

check 'an output that cannot be written is refused before the run' <<'END'
	any_user
	exits 1 pmu-stat -o no/such -- sh -c ": >ran" 2>err
	test ! -e ran
	exits 1 pmu-stat -e task-clock -o /dev/full -- true 2>err
	echo "pmu-stat: cannot write to '/dev/full': No space left on device" | same - err
	pmu-stat -e task-clock -o file -- echo said >out
	echo said | same - out
	grep -q "task-clock" file
	pmu-stat -e task-clock -- echo said 2>err >out
	grep -qx said err
END

check 'runs that fail or die by a signal are counted and reported' <<'END'
	any_user
	exits 0 pmu-stat --json -e task-clock -n 3 -- sh -c "exit 3" >out 2>err
	same - err <<-EOF
	pmu-stat: 3 of 3 runs failed; the last of these:
	pmu-stat: 'sh' failed: exit status 3
	EOF
	grep -q '"runs": 3, "failed": 3,' out
	exits 0 pmu-stat -e task-clock -- sh -c 'kill -9 $$' >out 2>err
	grep -q "'sh' was ended by signal 9" err
	exits 3 pmu-stat --exit-status -e task-clock -- sh -c "exit 3" >out 2>err
	none cat err
	exits 143 pmu-stat --exit-status -d 100ms -e task-clock -- sleep 600 >out
	exits 137 pmu-stat --exit-status -e task-clock -- sh -c 'kill -9 $$' >out 2>err
END

check 'a run that takes too long is stopped, and what it counted is printed' <<'END'
	any_user
	exits 0 pmu-stat --json -d 0.2 -e task-clock -- sh -c 'echo $$ >pid; exec sleep 600' >out
	gone "$(cat pid)"
	grep -q '"runs": 1, "failed": 0, "stopped": 1,' out
	at_least "$(value wall-time)" 200000000
	at_most "$(value wall-time)" 100000000000
	pmu-stat -d 0.1 -e task-clock -- sleep 600 >out
	grep -qE "^part of 1 run \(stopped after [0-9.]+m?s\) of: sleep 600$" out
	pmu-stat -d 0.1 -n 2 -e task-clock -- sleep 600 >out
	grep -qx "2 runs (2 stopped before the end) of: sleep 600" out
	pmu-stat -d 0.1 --to csv -e task-clock -- sleep 600 | grep -q "^,task-clock.*,no,1.\?$"
	# a time span is not a part of a run
	pmu-stat -d 0.1 --json -e task-clock -p $$ | grep -q '"stopped": 0'
END

check 'SIGINT ends the runs, and those that were complete are printed' <<'END'
	cat >command <<-EOF
	#!/bin/sh
	echo x >>ran
	test "\$(wc -l <ran)" -lt 3 || { : >third; exec sleep 600; }
	EOF
	chmod +x command
	pmu-stat --to csv -n 5 -e task-clock -- ./command >out 2>err &
	eventually test -e third
	kill -INT $!
	exits 0 wait $!
	grep -q "^,task-clock,.*,2,1.000000,no,0" out
	grep -q "run 3 was stopped: it is left out" err
END

check 'a run that a signal cuts short is not a run: it is named, and not saved' <<'END'
	any_user
	printf "#!/bin/sh\n: >started\nexec sleep 600\n" >nap
	chmod +x nap
	for signal in INT TERM; do
		rm -f started saved
		pmu-stat --to csv --save saved -n 3 -e task-clock -- ./nap >part.csv 2>err &
		eventually test -e started
		kill -$signal $!
		exits 1 wait $!
		tr -d "\r" <part.csv | grep -q "^,task-clock,.*,1,1.000000,no,1$"
		grep -qx "pmu-stat: the command was stopped before its end: .saved. stays as it was" err
		test ! -e saved
	done
	pmu-stat --json -d 0.1 -e task-clock -- sleep 600 >part.json
	exits 1 pmu-stat --base part.json -- true 2>err
	echo "pmu-stat: 'part.json' has runs that were stopped before their end" | same - err
	rm started
	pmu-stat --exit-status -e task-clock -- ./nap >out 2>err &
	eventually test -e started
	kill -TERM $!
	exits 143 wait $!
	grep -q "^part of 1 run (stopped after .*) of: ./nap$" out
END

check 'Ctrl-C at any moment of the start ends all runs, silently' <<'END'
	any_user
	unsanitized
	python3 - <<-EOF
	import os, signal, subprocess, time
	def take_interrupts():	# which the shell may have ignored for us
	    signal.signal(signal.SIGINT, signal.SIG_DFL)
	for i in range(40):
	    p = subprocess.Popen(["pmu-stat", "-n", "3", "-e", "page-faults:u", "sleep", "600"],
	                         start_new_session=True, stdout=subprocess.PIPE,
	                         stderr=subprocess.STDOUT, preexec_fn=take_interrupts)
	    time.sleep(i * 0.0004)
	    os.killpg(p.pid, signal.SIGINT)
	    said = p.communicate()[0].decode()
	    assert "pmu-stat:" not in said, said
	    assert p.returncode in (0, -signal.SIGINT), (p.returncode, said)
	EOF
END

check 'without a standard output, a message says so before the run' <<'END'
	any_user
	exits 1 pmu-stat -e task-clock -- sh -c ": >ran" >&- 2>err
	echo "pmu-stat: standard output is closed: use -o FILE" | same - err
	test ! -e ran
	exits 0 pmu-stat -o file -e task-clock -- true >&-
	grep -q task-clock file
END

check 'processes are counted with the threads that they start, none twice, until they end' <<'END'
	mkfifo go
	sh -c 'read line <go; exec ten growing 0.1' &	# ten threads, each started by the one before
	pid=$!
	pmu-stat --to csv -e task-clock -p $pid >out 2>err &
	stat=$!
	eventually sh -c "ls -l /proc/$stat/fd | grep -q pidfd"
	echo >go
	exits 0 wait $stat
	about "$(sed -n "s/^,task-clock,nanoseconds,\([0-9]*\),.*/\1/p" out)" 100000000
END

check 'a process whose first thread has ended is counted until the last one ends' <<'END'
	unsanitized
	printf '%s\n' '#include <pthread.h>' '#include <unistd.h>' 'static volatile unsigned long n;' \
		'static void *work(void *p) { read(0, &p, 1); while (n < 40000000) n++; return 0; }' \
		'int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_exit(0); }' |
		gcc -O1 -w -x c - -o first -lpthread
	mkfifo go
	./first <go &
	pid=$!
	exec 3>go
	eventually grep -q "^State:.*zombie" /proc/$pid/status
	pmu-stat --to csv -e task-clock -p $pid >out 2>err &
	stat=$!
	eventually sh -c "ls -l /proc/$stat/fd | grep -q pidfd"
	echo >&3
	exits 0 wait $stat
	cat out err
	at_least "$(sed -n "s/^,task-clock,nanoseconds,\([0-9]*\),.*/\1/p" out)" 10000000
END

check 'the processes that a process starts are not counted with it' <<'END'
	any_user
	mkfifo go
	sh -c 'read line <go; touches 5000; exit' &
	pmu-stat --to csv -e page-faults:u -p $! >out 2>err &
	stat=$!
	eventually sh -c "ls -l /proc/$stat/fd | grep -q pidfd"
	echo >go
	exits 0 wait $stat
	grep -q "Linux 5.13" err ||
		at_most "$(sed -n "s/^,page-faults:u,count,\([0-9]*\),.*/\1/p" out)" 4000
END

check 'intervals: their counts add up to those of the run' <<'END'
	any_user
	pmu-stat --json --interval 10ms -e task-clock,page-faults:u -- touches 5000 20000000 >lines \
		2>/dev/null
	python3 - <<-EOF
	import json
	lines = [json.loads(line) for line in open("lines")]
	assert len(lines) > 2
	faults = sum(l["rows"][1]["mean"] for l in lines)
	assert 5000 <= faults < 5200, faults
	end = 0
	for line in lines:
	    assert abs(line["start"] - end) < 1e-6, line
	    end = line["start"] + line["seconds"]
	EOF
	pmu-stat --interval 10ms -e page-faults:u -- touches 5000 20000000 >text 2>/dev/null
	head -n 1 text | grep -qE "^ +time +page-faults:u$"
	at_least "$(sed 1d text | awk '{ gsub(",", ""); sum += $2 } END { print sum }')" 5000
	pmu-stat --to csv --interval 10ms -e page-faults:u -- touches 5000 20000000 2>/dev/null >csv
	test "$(grep -c ^start,seconds,of,event csv)" = 1
END

check 'each thread, CPU, core and node has rows of its own' <<'END'
	ten threads forever &
	pid=$!
	threads() { test "$(ls /proc/$pid/task | wc -l)" -ge 11; }
	eventually threads
	pmu-stat --to csv -e task-clock -p $pid --per-thread -d 0.1 >out 2>err
	kill $pid
	cat out
	test "$(grep -cE "^[0-9]+ (ten|t[0-9]),task-clock," out)" = 11
	counts_kernel || skip "who may not count the kernel cannot count CPUs"
	cpus=/sys/devices/system/cpu
	for unit in cpu core node; do
		pmu-stat --to csv -e task-clock -a --per-$unit -d 50ms >$unit 2>/dev/null
		grep ,task-clock, $unit | cut -d , -f 1 | sort >got
		lscpu -p=CPU,SOCKET,CORE,NODE | grep -v "^#" | while IFS=, read -r cpu package core node; do
			case $unit in
			cpu) echo "cpu $cpu" ;;
			core) echo "core ${package:-0}.$(cat $cpus/cpu$cpu/topology/core_id)" ;;
			node) echo "node ${node:-0}" ;;
			esac
		done | sort -u | same - got
	done
END

check 'without /sys, cores are not said to be one' <<'END'
	needs_root
	unshare -m true || skip "unshare -m: not permitted"
	printf "mount -t tmpfs none /sys && exec \"\$@\"\n" >bare
	exits 1 unshare -m sh bare "$BIN/pmu-stat" -a --by core -d 0.1 >out 2>err
	cat err
	grep -q "^pmu-stat: cannot count by core or node: /sys does not say in which core CPU 0" err
	test "$(wc -l <err)" = 1
	exits 0 unshare -m sh bare "$BIN/pmu-stat" -a --by cpu -d 0.1 >out 2>err
	grep -q "^cpu 0 " out
END

check 'spellings of perf stat work, or the message names the option of ours' <<'END'
	any_user
	pmu-stat -r 2 -B -e page-faults:u -- true | grep -q "^2 runs"
	pmu-stat --repeat 2 --json-output -e page-faults:u -- true | grep -q "\"runs\": 2"
	while read -r option words; do
		exits 2 pmu-stat $option -e task-clock -- true 2>err
		grep -q "there is no option '.*$option.*': .*$words" err
	done <<-EOF
	-x use --to csv
	-I use --interval
	--all-user cycles:u
	-g {cycles,instructions}
	--per-socket --by core
	EOF
	exits 2 pmu-stat -d true 2>err
	grep -q "perf's -d is --detail" err
END

check 'on a terminal the lines are drawn again, and the table follows' <<'END'
	any_user
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/on-terminal.py" out \
		pmu-stat -q -e task-clock -p $$ --interval 100ms <<-EOF
	wait time +task-clock
	wait J +time +task-clock
	wait J +time +task-clock
	type \x03
	EOF
	tail -n 5 out | grep -q "s of process $$"
	tail -n 5 out | grep -q "100 %  task-clock"
	# a command may write to the terminal, too: its lines stay
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/on-terminal.py" out \
		pmu-stat -q -e task-clock --interval 100ms -- touches 0 100000000 </dev/null
	none grep "$(printf "\033")" out
END

check 'a cgroup is counted' <<'END'
	needs_root
	root=$(awk '$3 == "cgroup" && $4 ~ /perf_event/ { print $2; exit }' /proc/mounts)
	test -n "$root" || root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	group=pmukit-stat-$$
	test -n "$root" && mkdir "$root/$group" || skip "no cgroup can be made"
	pmu-stat --to csv -e page-faults --cgroup $group -- \
		sh -c "echo \$\$ >$root/$group/cgroup.procs; touches 4000; touches 4000; exit" >out 2>err
	rmdir "$root/$group"
	at_least "$(sed -n "s/^,page-faults,count,\([0-9]*\),.*/\1/p" out)" 8000
	exits 1 pmu-stat --cgroup nosuch -d 1ms 2>err
	grep -q "cannot open the cgroup" err
END

check 'a reader that has enough ends the run, quietly' <<'END'
	any_user
	{ exits 0 pmu-stat --interval 50ms -e task-clock -- sleep 600 2>err; : >ended; } | head -n 1
	eventually test -e ended
	none cat err
END

done_testing
