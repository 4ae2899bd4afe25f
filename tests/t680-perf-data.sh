#!/bin/sh
# perf.data files: perf reads from ours what it reads from the original.
# kinds: release asan user
. tests/lib.sh

data=$TOP/../shared/data

# reads KIND FILE: what perf script or perf report says of FILE, and its exit status.  Without
# address randomization, perf report sorts equal rows in the same way each time.
reads() {
	case $1 in
	script) setarch -R perf script --kallsyms /dev/null --show-mmap-events --show-task-events \
		-i "$2" 2>"$1.err" ;;
	report) setarch -R perf report --kallsyms /dev/null --stdio -i "$2" 2>"$1.err" |
		grep -v "^# (Tip: " ;;
	esac
	echo "exit $?"
}

# converted FILE STATUS: out.data is made of it, with this exit status
converted() {
	exits "$2" pmu-stream -q --to perf.data -o out.data "$1"
	exits "$2" pmu-stream -q --check "$1"	# which is that of the file itself
}

check 'perf script and perf report of each recording are those of the original' <<'END'
	any_user
	unsanitized
	needs_command setarch perf
	needs "$data"
	compared=0
	for file in "$data"/*.data "$data"/simpleperf/*.data "$data"/lbr/*.lbr; do
		name=${file##*/}
		case $name in
		# newer than perf 6.1, which ends with an error in the middle: see the next check
		sleep.data | sleep.compressed.data | fibo.compressed2.pipe.data) continue ;;
		# a record of 0 bytes, where perf ends and pmu-stream goes on
		piped.corrupted.*) continue ;;
		# simpleperf, whose header perf refuses
		perf_sched_stat_runtime.data | perf_with_tracepoint_event.data | \
			script_perf_test_vmlinux.data) continue ;;
		esac
		converted "$file" 0
		for kind in script report; do
			# perf of 2012 wrote no feature BRANCH_STACK: its report has other columns
			test "$kind $name" != "report test.lbr" || continue
			reads $kind "$file" >want
			reads $kind out.data >found
			cmp -s want found || { echo "$name $kind"; diff want found | head; exit 1; }
			compared=$((compared + 1))
		done
	done
	at_least $compared 37
END

check 'perf 6.1 opens recordings of newer perfs, which it refuses as they are' <<'END'
	any_user
	unsanitized
	needs_command perf setarch
	needs "$data"
	for pair in "sleep.data 14" "sleep.compressed.data 60" "fibo.compressed2.pipe.data 2672"; do
		file=$data/${pair% *}
		converted "$file" 0
		reads script out.data >found
		tail -n 1 found | grep -qx "exit 0"
		test "$(($(wc -l <found) - 1))" = "${pair#* }"
	done
	# an attr of 136 bytes, of which the last 8 are 0
	exits 0 pmu-stream -q -z0 -o pipe "$data/sleep.data"
	python3 -c "
import struct
d = open(\"pipe\", \"rb\").read()
size, = struct.unpack_from(\"<H\", d, 22)
attr, = struct.unpack_from(\"<I\", d, 28)
ids = d[24 + attr:16 + size]
new = d[24:28] + struct.pack(\"<I\", 136) + d[32:24 + attr].ljust(128, b\"\\0\") + ids
head = struct.pack(\"<IHH\", 64, 0, 8 + len(new))
open(\"new\", \"wb\").write(d[:16] + head + new + d[16 + size:])"
	exits 0 pmu-stream -q --to perf.data -o out.data new
	reads script out.data >found
	tail -n 1 found | grep -qx "exit 0"
	test "$(($(wc -l <found) - 1))" = 14
END

check 'a recording of our own: samples, names of events, tracepoints, the header' <<'END'
	needs_command perf
	events=cpu-clock:u,page-faults:u
	if test -r $tracing/available_events; then events=$events,sched:sched_process_exec; fi
	pmu-sample -q -g -e $events -F 999 -o pipe -- ten serial 0.1 ||
		test -n "$unsampled"
	test -s pipe || skip "cannot sample"
	pmu-stream --to perf.data -o file pipe
	for tool in "perf script -F comm,tid,time,event,ip,sym,period --kallsyms /dev/null"; do
		$tool -i pipe >want 2>err
		$tool -i file >found 2>err
		same want found
	done
	at_least "$(wc -l <found)" 100
	perf report --header-only -i file 2>err >header
	for word in "hostname :" "arch :" "cmdline :" "name = cpu-clock:u" "time of first"; do
		grep -q "$word" header
	done
	pmu-stream -D file | grep -v "^0x" >none || :
	# counts of both are equal
	pmu-stream pipe | grep ^event >want
	pmu-stream file | grep ^event | same want -
	# the recorder writes the same kind of file
	pmu-sample -q -g -e cpu-clock:u --to perf.data -o recorded -- ten serial 0.1
	perf script -i recorded 2>err | grep -c "cpu-clock:u" >samples
	test "$(cat samples)" = "$(pmu-stream --json recorded | grep -o "\"samples\": [0-9]*" |
		head -n 1 | grep -o "[0-9]*$")"
	perf evlist -i recorded | grep -qx cpu-clock:u
END

check 'a file that kill -9 cut: perf and pmu-stream say so, pmu-stream reads and mends it' <<'END'
	needs_command perf
	unsanitized
	pmu-sample -q -e cpu-clock:u -F 2000 --to perf.data -o cut -- ten serial 600 &
	recorder=$!
	eventually sh -c "test \$(wc -c <cut) -gt 20000 || ! kill -0 $recorder"
	kill -0 $recorder || { test -n "$unsampled" && skip "cannot sample"; }
	kill -9 $recorder
	wait $recorder || :
	pkill -9 -P $recorder || :
	exits 1 pmu-stream cut >counts 2>err
	grep -q "cut: .*the recorder was killed; the file is read to its end" err
	# perf itself shows no sample of such a file, not of its own either
	perf script -i cut >lines 2>err || :
	grep -q "perf record. command properly terminated" err
	exits 1 pmu-stream -q --to perf.data -o mended cut
	perf script -i mended 2>err | grep -c "cpu-clock:u" >lines
	none grep "terminated" err
	at_least "$(cat lines)" 100
	grep -q "^SAMPLE  *$(cat lines)$" counts
END

check 'where nothing can be a perf.data file, nothing is written' <<'END'
	make-stream 50 tree 5 >s.pipe
	for wrong in "pmu-stream --to perf.data s.pipe | cat >out" \
			"pmu-sample --to perf.data -- true | cat >out" \
			"pmu-stream --to perf.data -o fifo s.pipe" \
			"pmu-stream -z --to perf.data -o new s.pipe" \
			"pmu-stream --check --to perf.data -o new s.pipe" \
			"pmu-sample -z --to perf.data -o new -- true" \
			"pmu-sample --flight-recorder --to perf.data -o new -- true"; do
		rm -f fifo out
		mkfifo fifo
		exec 5<>fifo		# so that nobody waits for the other end
		exits 2 bash -o pipefail -c "$wrong" 2>err 5<&-
		exec 5<&-
		test ! -s out && test ! -e new
		grep -q "perf.data\|--to" err
	done
	# a resolved stream has frames, not addresses
	pmu-symbolize -q s.pipe >resolved
	exits 1 pmu-stream --to perf.data -o out.data resolved 2>err
	grep -q "resolved already.*before pmu-symbolize" err
	test ! -s out.data
	exits 1 pmu-stream --to perf.data -o /dev/full s.pipe 2>err
	grep -q "cannot write to /dev/full: No space left on device" err
END

check 'a damaged stream gives what was whole, and exit 1; private records are counted' <<'END'
	any_user
	needs_command perf
	needs "$data"
	converted "$data/piped.corrupted.zero_size_sample-3.2.perf.data" 1
	reads script out.data >found
	tail -n 1 found | grep -qx "exit 0"
	test "$(($(wc -l <found) - 1))" = 802
	make-stream 50 tree 5 >s.pipe
	head -c "$(($(wc -c <s.pipe) - 20))" s.pipe >cut
	exits 1 pmu-stream --to perf.data -o out.data cut 2>err
	grep -q "cut: offset 0x" err
	exits 0 pmu-stream -q --check out.data
	pmu-stream -q cut | grep "^SAMPLE\|^event" >want || :
	pmu-stream out.data | grep "^SAMPLE\|^event" | same want -
	at_least "$(awk "{ print \$2 }" want)" 49
	# a record of ours, of 16 bytes
	{ cat s.pipe; printf "\005\0MP\0\0\020\0\0\0\0\0\0\0\0\0"; } >private
	pmu-stream -v --to perf.data -o out.data private 2>err
	grep -q "left out of the perf.data file: 1 records that only pmukit knows" err
	pmu-stream -D out.data >dump
	none grep TOOL dump
END

check 'a recording of the other byte order becomes a file of this machine'"'"'s' <<'END'
	any_user
	unsanitized
	needs_command perf setarch
	for name in lost_samples-4.4.perf.data group_desc-4.14.perf.data; do
		needs "$data/$name"
		python3 "$TOP/tests/other-order.py" "$data/$name" other
		exits 0 pmu-stream -q --to perf.data -o out.data other
		exits 0 pmu-stream -q --to perf.data -o same.data "$data/$name"
		for kind in script report; do
			reads $kind same.data >want
			reads $kind out.data >found
			cmp want found
		done
		at_least "$(wc -l <want)" 20
		for file in same out; do
			perf report --header-only -i $file.data |
				grep -E "^# (host|arch|nr|cpud|cmd|event|pmu|group|time)" >$file.head
		done
		same same.head out.head
		# a file of ours becomes the same again
		exits 0 pmu-stream -q --to perf.data -o again.data out.data
		cmp out.data again.data
	done
END

check 'streams of no data, of no events, and with events that come late or do not fit' <<'END'
	any_user
	needs_command perf
	compose s <<-EOF
	def event(period, sample_type, id):
	    return record(64, attr(0, 0, period, sample_type) + struct.pack("<Q", id), 0)
	def sample(time, id):
	    return record(9, struct.pack("<QIIQQ", 0x1000, 7, 7, time, id))
	end = record(68, b"", 0)	# of a round; the reader returns a sample after two
	one, two = event(100, 0x47, 1), event(200, 0x47, 2)
	aux = record(71, struct.pack("<QQQIIII", 64, 0, 0, 0, 0, 0, 0), 0) + bytes(range(64))
	for name, records in (("no-data", [one]), ("no-events", [record(3, bytes(16))]),
	        ("late", [one, sample(5000, 1), end, end, two, sample(6000, 2)]),
	        ("other", [one, event(300, 0x80000, 3), sample(5000, 1), sample(6000, 1)]),
	        ("aux", [one, sample(5000, 1), aux, sample(6000, 1)])):
	    open(name, "wb").write(pipe(*records))
	out = b""
	EOF
	exits 1 pmu-stream -q --to perf.data -o out /dev/null
	test ! -s out
	exits 1 pmu-stream --to perf.data -o out no-events 2>err
	grep -q "defines no events" err
	exits 0 pmu-stream --to perf.data -o out no-data
	exits 0 pmu-stream --check out
	perf evlist -i out
	for name in late other aux; do
		exits $((${#name} == 5)) pmu-stream -q --to perf.data -o out $name
		exits 0 pmu-stream -q --check out
		perf script -F time,period -i out | tr -d " " >found
		test "$(cat found)" = "0.000005:$(printf "100\n0.000006:")$(
			test $name = late && echo 200 || echo 100)"
	done
END

check 'a full disk: exit 1, and the file is named' <<'END'
	needs_root
	make-stream 5000 tree 5 >s.pipe
	mkdir full
	cat >script <<-EOF
	mount -t tmpfs -o size=64k none full
	exits 1 pmu-stream --to perf.data -o full/one s.pipe 2>err
	grep -q "cannot write to full/one: No space left on device" err
	exits 1 pmu-stream full/one >counts 2>err
	grep -q "full/one: .*the recorder was killed" err
	dd if=/dev/zero of=full/fill bs=1k 2>/dev/null || :
	exits 1 pmu-sample -e cpu-clock:u --to perf.data -o full/two -- ten serial 0.05 2>err
	test -n "$unsampled" || grep -q "cannot write to full/two: No space left on device" err
	EOF
	{ sed -n "/^exits()/,/^}/p" "$TOP/tests/lib.sh"; cat script; } >whole
	unshare -m sh -e whole
END

check 'each file of --switch-output is complete' <<'END'
	needs_command perf
	unsanitized
	pmu-sample -q -e cpu-clock:u -F 999 --switch-output 20k --to perf.data -o part.data -- \
		ten serial 1 || test -n "$unsampled"	# 40 KB, less what a busy host takes
	ls part.data* >/dev/null 2>&1 || skip "cannot sample"
	at_least "$(ls part.data* | wc -l)" 2
	for file in part.data*; do
		exits 0 pmu-stream -q --check $file
		perf script -i $file >lines 2>err
		none grep -i "terminated\|failed" err
	done
END

done_testing
