#!/bin/sh
# Who keeps whom waiting, where somebody is killed meanwhile, and where waits are very many.
# kinds: release
. tests/lib.sh
. tests/waiting.sh

# profiled NAME PROGRAM...: NAME.data, NAME.all, .block and .mutex of its waits; it says NAME.truth.
# All parts are as long as the waits, or pmu-topprof fails.
profiled() {
	lossless $1.data recorded "$@"
	profiled_data $1
}
recorded() {
	name=$1
	shift
	pmu-sample -q --waits -e dummy -m 8Mi -o $name.data "$@" 2>$name.truth
}
profiled_data() {
	for how in block=all block mutex mutex=causes; do
		pmu-topprof --$how -o $1.${how#*=} $1.data 2>said || { cat said; return 1; }
		none grep 'fault of pmu-topprof' said
	done
}

# ns_of VERB NAME: what the program knows
ns_of() { awk -v verb=$1 '$1 == "truth" && $2 == verb { print $6 }' $2.truth; }

# waiter_ns PROFILE OPTION...: the time of waiter(), until it ran again; 0: it is not there
waiter_ns() {
	profile=$1
	shift
	ns=$(ns_with $profile -focus='^waiter$' "$@")
	echo ${ns:-0}
}

check 'the holder of a lock is killed, then who waits: all of the time is there' <<'END'
	needs_waits
	profiled holder -- killed holder
	waited=$(ns_of waited holder)
	for profile in all block; do
		near "$(waiter_ns holder.$profile -tagfocus=ended=signal)" $waited $((waited / 5))
	done
	# nobody is to blame
	test "$(waiter_ns holder.block -tagfocus=rule=.)" = 0
	test "$(waiter_ns holder.mutex)" = 0
	test -z "$(ns_with holder.mutex -focus='^culprit$')"
	truth --compare holder.data "$(command -v killed)" holder.block holder.mutex waiter culprit
END

check 'who waits is killed: it has its time, and the next gets the lock as usual' <<'END'
	needs_waits
	profiled waiter -- killed waiter
	waited=$(ns_of waited waiter) caused=$(ns_of caused waiter)
	killed=$((waited - caused))
	near "$(waiter_ns waiter.block -tagfocus=ended=signal)" $killed $((waited / 5))
	near "$(waiter_ns waiter.block -tagfocus=ended=process:killed)" $caused $((waited / 5))
	near "$(ns_with waiter.mutex -focus='^culprit$')" $caused $((waited / 5))
	truth --compare waiter.data "$(command -v killed)" waiter.block waiter.mutex waiter culprit
END

check 'the writer of a pipe is killed: its end has ended the wait' <<'END'
	needs_waits
	profiled writer -- killed writer
	waited=$(ns_of waited writer)
	near "$(waiter_ns writer.all -tagfocus=ended=exit,unknown)" $waited $((waited / 5))
	# new kernels see the end of a thread by events of its CPU only
	cp "$(command -v killed)" dying		# other tests may run a program of this name
	profiled dying -m 64Mi -a -- ./dying writer
	waited=$(ns_of waited dying)
	for profile in all block; do
		near "$(ns_with dying.$profile -focus='^waiter$' \
			-tagfocus=ended=exit -tagfocus=thread_comm=dying)" $waited $((waited / 5))
	done
END

# the first thread waits for the ends of the others
three_wait() { test "$(grep -ls futex /proc/"$1"/task/*/wchan | wc -l)" -ge 4; }

check 'a program that is killed from outside: threads have their time until then' <<'END'
	needs_waits
	waits mutex 1 600000 2>truth & waiter=$!
	eventually three_wait $waiter
	pmu-sample -q --waits -e dummy -o s.data -p $waiter & recorder=$!
	eventually test -s s.data
	sleep 0.3
	kill -KILL $waiter
	wait $recorder
	profiled_data s
	span=$(truth --span s.data)
	at_least $span 200000000
	near "$(waiter_ns s.block -tagfocus=ended=unknown)" $((3 * span)) $((3 * span / 5))
END

# lost STREAM: the number of lost samples, and of other records, as in linux/perf_event.h
lost() {
	python3 - $1 <<-'PYTHON'
		import struct, sys
		data, at, lost = open(sys.argv[1], "rb").read(), 16, {2: 0, 13: 0}
		while at < len(data):
		    kind, _, size = struct.unpack_from("<IHH", data, at)
		    if kind in lost:    # LOST has an ID first
		        lost[kind] += struct.unpack_from("<Q", data, at + (16 if kind == 2 else 8))[0]
		    at += size
		    if kind == 66:      # TRACING_DATA
		        at += (struct.unpack_from("<I", data, at - size + 8)[0] + 7) & ~7
		print(lost[13], lost[2])
	PYTHON
}

# passes RINGS: record s.data of as many waits as this machine can.  $samples and $records are lost
# in it, and $waits is how often the threads have waited, as the kernel counts.
passes() {
	cat >counted.py <<-'PYTHON'
		import resource, subprocess, sys
		subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
		print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw)
	PYTHON
	pmu-sample --waits -e dummy -m $1 -o s.data -- \
		python3 counted.py turns pass 1000000 1 2>said >waits
	read -r waits <waits
	lost s.data >numbers
	read -r samples records <numbers
	cat said
	echo "$waits waits; $samples samples and $records other records are lost"
}

check 'as many waits as this machine can: none is lost, or the messages say how many' <<'END'
	needs_waits
	for rings in 16Mi 64Ki; do
		passes $rings
		test $samples = 0 || grep "^pmu-sample: $samples of [0-9]* samples were lost" said
		test $records = 0 || grep "^pmu-sample: $records records of .* were lost" said
		test $samples != 0 || none grep 'samples were lost' said
		test $records != 0 || none grep 'records of .* were lost' said
		pmu-topprof -v --block=all -o all s.data 2>told
		grep -E "[^0-9]$samples lost" told
		test $records = 0 || grep "[^0-9]$records other records lost" told
		pmu-topprof -q --mutex -o mutex s.data
	done
	at_least $((samples + records)) 1	# such rings are too small
END

check 'where none is lost, the profile has as many waits as the kernel counts' <<'END'
	needs_waits
	for try in 1 2 3 4 5; do
		passes 16Mi
		test "$samples $records" != '0 0' || break
	done
	test "$samples $records" = '0 0' || skip "this machine loses some"
	pmu-topprof -q --block=all -o all s.data
	go tool pprof -sample_index=contentions -top -tagfocus=thread_comm=turns all 2>err >top
	near "$(sed -n 's/^Showing nodes accounting for \([0-9]*\),.*/\1/p' top)" $waits $((waits / 50))
END

done_testing
