#!/bin/sh
# Intervals of a stream whose definitions are forgotten from time to time: each profile is the one
# of the stream that keeps them.  RESTARTS=all: recordings of real hardware, too.
# kinds: asan
. tests/lib.sh
. tests/program-labels.sh

plain() { python3 "$TOP/tests/stretch.py" plain; }

# profiles FILE OPTION...: a profile for each second of FILE, in the directory of this name; what
# comes from other options of pmu-symbolize is left out
profiles() {
	mkdir "$1.profiles"
	resolved=$1
	shift
	(cd "$resolved.profiles" && pmu-topprof -q --split 1s --compress none "$@" \
		-o 'p-%s.pb' "../$resolved")
}

# compare FILE OPTION...: each profile of FILE is the same, however often definitions are forgotten
compare() {
	file=$1
	shift
	rm -rf whole* anew*
	pmu-symbolize -q --definitions 16Gi "$file" | plain >whole
	profiles whole "$@"
	pmu-stream whole | none grep '^RESTART'
	ls whole.profiles >want
	for size in ${RESTARTS:+64Ki} 1; do
		rm -rf anew*
		pmu-symbolize -q --definitions $size "$file" | plain >anew
		profiles anew "$@"
		ls anew.profiles | same want -
		for name in $(cat want); do
			cmp "whole.profiles/$name" "anew.profiles/$name"
		done
	done
}

restarts() { pmu-stream anew | sed -n 's/^RESTART *//p'; }

# A program whose samples open the intervals, for it starts nothing: many functions, a thread that
# waits, and names of threads that change
cat >"$scratch/work.py" <<'END'
import ctypes, json, sys, threading, time

def wait():
    while not ended.is_set():
        time.sleep(0.001)

def nest(n):
    return json.dumps({str(n): list(range(n))}) if n < 40 else nest(n - 1)

rename = ctypes.CDLL(None).prctl
ended = threading.Event()
thread = threading.Thread(target=wait)
thread.start()
end = time.process_time() + float(sys.argv[1])
number = 0
while time.process_time() < end:
    number += 1
    if number % 50 == 0:
        rename(15, b"name %d" % (number // 50))
    nest(60)
    sorted(map(str, range(300)))
ended.set()
thread.join()
END

# recorded SECONDS OPTION...: s.data, of a recording of this program, stretched to about a minute
recorded() {
	seconds=$1
	shift
	pmu-sample -q -F 2000 "$@" -o r.data -- python3 "$scratch/work.py" "$seconds"
	pmu-stream --decompress r.data | python3 "$TOP/tests/stretch.py" 100 >s.data
}

while read -r record; do
	read -r profile
	check "profiles of intervals do not depend on RESTART: $record, $profile" <<-'END'
		recorded 0.2 $record
		compare s.data $profile
		at_least "$(wc -l <want)" 10
		at_least "$(restarts)" 5
	END
done <<'END'
-e cpu-clock -e page-faults -e task-clock -g --sample-cpu
--label pid,tid,thread_comm,cpu --frames cut
-e cpu-clock -g --off-cpu
--add wall,latency,parallelism --frames cut
END

check 'profiles of intervals do not depend on RESTART: labels of a program' <<'END'
	needs_bpf
	go_program plain
	record r.data "$scratch/plain" 100 3
	pmu-stream --decompress r.data | python3 "$TOP/tests/stretch.py" 100 >s.data
	compare s.data
	at_least "$(wc -l <want)" 10
	at_least "$(restarts)" 1
END

# Streams of many processes, and recordings of others
check 'profiles of intervals do not depend on RESTART: many processes' <<'END'
	make-churn 500 100 | python3 "$TOP/tests/stretch.py" 40 >s.data
	compare s.data
	at_least "$(wc -l <want)" 2
	at_least "$(restarts)" 100
END

if test "$RESTARTS" = all; then
	for file in "$SHARED"/*.data "$SHARED"/simpleperf/*.data; do
		check "profiles of intervals do not depend on RESTART: ${file##*/}" <<-'END'
			needs "$file"
			pmu-stream -q --decompress "$file" -o r.data || :	# some are damaged
			python3 "$TOP/tests/stretch.py" 20 <r.data >s.data
			compare s.data
		END
	done
else
	check 'profiles of intervals do not depend on RESTART: recordings of real hardware' <<-'END'
		skip 'RESTARTS=all takes all recordings'
	END
fi

done_testing
