#!/bin/sh
# A machine of many CPUs: 64 emulated ones, with LAB=all; MANY_CPUS=N: so many.
# kinds: release
. tests/lib.sh
. tests/lab.sh
cpus=${MANY_CPUS:-64}
threads=300 pages=200 events_period=7
many=$lab/many

test -n "$LAB$MANY_CPUS" || why="only with LAB=all (make lab)"
test -n "$why" || start many -s "$cpus" -m 3072 -i none -t 3000 -p "$programs/movers" <<END
ulimit -n 1048576 2>/dev/null || ulimit -n \$(ulimit -H -n)
takes() {
	{
		echo "descriptors \$(ls /proc/\$sampler/fd | wc -l)"
		grep -E 'VmHWM|RssAnon|VmPin|VmLck' /proc/\$sampler/status
		sed -n '/perf_event/s/ .*//p' /proc/\$sampler/maps >\$1.rings
		echo "ticks \$(awk '{ print \$14 + \$15 }' /proc/\$sampler/stat)"
	} >\$1.takes
}
attached() { for i in \$(seq 600); do test \$(wc -c <\$1) -gt 0 && return; sleep 0.1; done; }
busy() { for i in 1 2 3 4 5 6 7 8; do spin children \$1 >/dev/null & done; }

nproc >cpus
# two events of all CPUs, with callchains, beside processes that fault and work
pmu-sample -v -a -g -e page-faults/period=$events_period/ -e context-switches/period=1/ \
	-o all.data 2>all.err & sampler=\$!
attached all.data
busy 10
movers 20 100 >two & moving=\$!
until test \$(wc -l <two) = 20; do sleep 0.1; done
kill -USR1 \$moving
wait \$moving
takes all
kill -TERM \$sampler
wait \$sampler
echo \$? >all.status

# many threads that move between CPUs
movers $threads $pages >threads & moving=\$!
until test \$(wc -l <threads) = $threads; do sleep 0.1; done
start=\$(cut -d ' ' -f 1 /proc/uptime)
pmu-sample -v -e page-faults/period=1/ --data -p \$moving -o moved.data 2>moved.err & sampler=\$!
attached moved.data
echo "attach \$start \$(cut -d ' ' -f 1 /proc/uptime)" >attach
takes moved
kill -USR1 \$moving
wait \$moving
wait \$sampler
echo \$? >moved.status

# a quiet machine: what sampling all CPUs costs
pmu-sample -v -a -e cpu-clock/freq=49/ -o quiet.data 2>quiet.err & sampler=\$!
attached quiet.data
sleep 2; takes quiet; mv quiet.takes quiet.before; sleep 10; takes quiet
kill -TERM \$sampler
wait \$sampler

# stacks unwound on the way
pmu-sample -v -a --unwind -e cpu-clock/freq=19/ -o unwound.data 2>unwound.err & sampler=\$!
attached unwound.data
busy 10
wait_for=\$(jobs -p | tail -n 1)
sleep 10
takes unwound
kill -TERM \$sampler
wait \$sampler
echo \$? >unwound.status

# the continuous pipe, for a minute
mkdir profiles
mkfifo raw resolved
pmu-topprof -v --split 10s -o profiles/%s.pb.gz <resolved 2>pipe.topprof.err &
pmu-symbolize <raw >resolved 2>pipe.symbolize.err &
pmu-sample -v -a -g -e page-faults/period=$events_period/ -d 60 >raw 2>pipe.err & sampler=\$!
busy 40
sleep 40
takes pipe
wait \$sampler
echo \$? >pipe.status
wait
END

check 'the guest ends' <<'END'
	in_lab
	ended_well many
	test "$(cat $many/cpus)" = "$cpus"
	for name in all moved unwound pipe; do
		cat $many/$name.err
		test "$(cat $many/$name.status)" = 0
	done
END

# counted NAME EVENT, lost NAME EVENT: by pmu-sample's last words
counted() { sed -n "s/^pmu-sample: $2.*: \([0-9]*\) counted.*/\1/p" "$many/$1.err"; }
lost() { sed -n "s/^pmu-sample: $2.*: .* lost \([0-9]*\) samples.*/\1/p" "$many/$1.err"; }

check "two events of all CPUs: samples, lost ones, and the kernel's counts agree" <<'END'
	ended many
	for pair in page-faults=$events_period context-switches=1; do
		event=${pair%=*} period=${pair#*=}
		taken=$(samples $many/all.data event | grep -c "^ *$event")
		echo "$event: $(counted all $event) counted, $taken taken, $(lost all $event) lost"
		at_least "$taken" 500
		near $((period * (taken + $(lost all $event)))) "$(counted all $event)" \
			$((period * cpus))
	done
	# a CPU that had nothing to do has no samples
	at_least "$(samples $many/all.data cpu | grep -o '\[[0-9]*\]' | sort -u | wc -l)" \
		$((cpus * 3 / 4))
END

check 'samples are in order of their time' <<'END'
	ended many
	for name in all moved unwound; do
		pmu-stream --check $many/$name.data
		samples $many/$name.data time | grep -o '^ *[0-9]*\.[0-9]*:' | tr -d ' :' >times
		test -s times
		sort -n -c times
	done
END

check 'threads that move between CPUs: each fault is in its thread, once, in order' <<'END'
	ended many
	echo "$(lost moved page-faults) lost"
	test "$(wc -l <$many/threads)" = $threads
	samples $many/moved.data tid,addr | sed 's/:/ /' >faults
	cat $many/threads faults | python3 -c '
import sys
low, high, last, count, wrong = {}, {}, {}, {}, 0
for line in sys.stdin:
	words = line.split()
	if len(words) == 3:
		tid = int(words[0]); low[tid] = int(words[1], 16); high[tid] = int(words[2], 16)
		continue
	tid, address = int(words[0]), int(words[1], 16)
	owner = [t for t in (tid,) if t in low and low[t] <= address <= high[t]]
	if not owner:
		wrong += any(low[t] <= address <= high[t] for t in low)
		continue
	wrong += address <= last.get(tid, 0)
	last[tid] = address
	count[tid] = count.get(tid, 0) + 1
print(sum(count.values()), "faults,", wrong, "wrong or out of order")
print(sorted(count.values())[:3])
lost, pages = int(sys.argv[1]), int(sys.argv[2])
fewer = sum(count.values()) + lost < len(low) * pages
sys.exit(wrong > 0 or fewer or max(count.values()) > pages)
' "$(lost moved page-faults)" $pages
END

check 'stacks are unwound on the way' <<'END'
	ended many
	at_least "$(perf_samples $many/unwound.data)" 100
	samples $many/unwound.data comm,ip | head -n 3
	none grep "recorded as they are" $many/unwound.err
END

check 'the continuous pipe has all intervals and what was counted' <<'END'
	ended many
	cat $many/pipe.*err
	at_least "$(ls $many/profiles | wc -l)" 5
	pmu-topprof -o all.pb.gz $many/profiles/*.pb.gz
	shown=$(go tool pprof -symbolize=none -raw all.pb.gz 2>/dev/null | awk '
		/^Locations/ { exit }
		/^ +[0-9]+ .*: / { sub(/:.*/, ""); n += $2 } END { print n }')
	echo "$(counted pipe page-faults) counted, $shown in the profiles"
	near "$shown" "$(counted pipe page-faults)" $((events_period * cpus))
END

# As doc/fleet.md states them: a descriptor for each event and one for the dummy event on each CPU,
# a ring on each CPU, which is locked with a page for its head; and 1 MiB, with up to 128 KiB for
# each CPU, of the process's own.
check 'memory and descriptors are what the documents state' <<'END'
	ended many
	for pair in all=3 quiet=2 unwound=2 pipe=2; do
		name=${pair%=*} events=${pair#*=}
		echo "$name:" $(cat $many/$name.takes)
		python3 - $cpus $events $many/$name.takes $many/$name.rings <<-'EOF'
			import sys
			cpus, events = int(sys.argv[1]), int(sys.argv[2])
			taken = dict((line.replace(":", "").split() + [0])[:2] for line in open(sys.argv[3]))
			taken = {name: int(value) for name, value in taken.items()}
			ranges = [line.split("-") for line in open(sys.argv[4])]
			sizes = {int(end, 16) - int(start, 16) - 4096 for start, end in ranges}
			size, = sizes
			print(len(ranges), "rings of", size >> 10, "KiB")
			assert len(ranges) == cpus and size & (size - 1) == 0 and size >= 512 << 10
			assert cpus * events <= taken["descriptors"] <= cpus * events + 32
			assert taken["VmPin"] + taken["VmLck"] <= cpus * ((size >> 10) + 4)
			assert taken["RssAnon"] <= 1024 + 128 * cpus
			assert taken["VmHWM"] - taken["RssAnon"] <= cpus * ((size >> 10) + 4) + 8192
		EOF
	done
	# ten quiet seconds, emulated: a small part of one CPU
	before=$(sed -n 's/^ticks //p' $many/quiet.before)
	after=$(sed -n 's/^ticks //p' $many/quiet.takes)
	echo "$((after - before)) ticks"; cat $many/attach $many/moved.takes
	# CPUs of the guest take turns: a tick is counted while another one runs, too
	at_most $((after - before)) $((cpus * 10))
END

done_testing
