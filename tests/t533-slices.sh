#!/bin/sh
# Slices of time: pmu-topprof --slices.
# kinds: release asan
. tests/lib.sh

# made TIMES...: a stream with a sample at each of these times, in ms, into s.data; at the
# same time, in another place of the program
made() {
	compose s.data <<-END
		t = IP | TID | TIME
		times = "$*".split()
		out = pipe(record(64, attr(0, 0, 1000, t) + struct.pack("<Q", 1), 0),
		    record(80, struct.pack("<QIIQQ", 29, 1, 1, 10**18, 10**12), 0),
		    *[record(9, struct.pack("<QIIQ", 0x1000 + int(x) % 3, 7, 7, int(x) * 10**6 + 10**12))
		      for x in times])
	END
}
# slices PROFILE: the slice and the number of samples of each stack, by slice
slices() {
	go tool pprof -raw "$1" 2>/dev/null |
		awk '/^ +[0-9]+ +[0-9]+: / { n = $1 }
		     match($0, /slice:\[[0-9]+/) { sum[substr($0, RSTART + 7, RLENGTH - 7)] += n }
		     END { for (s in sum) print s, sum[s] }' | sort -n
}

check 'there are N to 2N slices, and each sample is in the slice of its time' <<'END'
	for length in 30 399 401 6000 100000; do
		made $(seq 0 $((length / 300 + 1)) $length)
		pmu-topprof --slices 20 -o p.pb.gz s.data
		slices p.pb.gz >got
		span=$(facts p.pb.gz | sed -n "s/^slices: \([0-9]*\)ms each/\1/p")
		test -n "$span"
		python3 - $span $(seq 0 $((length / 300 + 1)) $length) >want <<-PY
			import sys, collections
			span, *times = map(int, sys.argv[1:])
			count = collections.Counter((10**6 + t) // span - 10**6 // span + 1 for t in times)
			for s in sorted(count): print(s, count[s])
		PY
		same want got
		last=$(tail -n 1 got | cut -d " " -f 1)
		at_most "$last" 40
		test $length -lt 400 || at_least "$last" 20
	done
END

check 'slices are joined while they make too many stacks, in any order of the samples' <<'END'
	unsanitized
	made $(seq 0 3 6000)
	stacks() { go tool pprof -raw "$1" 2>err | grep -cE "^ +[0-9]+ +[0-9]+: "; }
	pmu-topprof --slices 200 -o p.pb.gz s.data
	at_least "$(slices p.pb.gz | wc -l)" 200
	all=$(stacks p.pb.gz)
	for limit in 1000 600 300 1; do
		made $(seq 0 3 6000)
		pmu-topprof --slices 200,$limit -o p.pb.gz s.data
		made $(seq 0 3 6000 | sort -R)
		pmu-topprof --slices 200,$limit -o q.pb.gz s.data
		cmp p.pb.gz q.pb.gz
		slices p.pb.gz >got
		echo "$limit: $(wc -l <got) slices, $(stacks p.pb.gz) of $all stacks"
		test $limit = 1 || at_most "$(stacks p.pb.gz)" $limit
		at_least "$(wc -l <got)" 20
		test "$(awk '{ n += $2 } END { print n }' got)" = 2001
		# as if there had been fewer from the start
		span=$(facts p.pb.gz | sed -n "s/^slices: \([0-9]*\)ms each/\1/p")
		python3 - $span $(seq 0 3 6000) >want <<-PY
			import sys, collections
			span, *times = map(int, sys.argv[1:])
			count = collections.Counter((10**6 + t) // span - 10**6 // span + 1 for t in times)
			for s in sorted(count): print(s, count[s])
		PY
		same want got
	done
	at_most "$(wc -l <got)" 40
END

check 'they depend on the times only, in any order, in each pass, in a resolved stream' <<'END'
	made $(seq 0 7 3000)
	pmu-topprof --slices 20 -o p.pb.gz s.data
	pmu-topprof --slices 20 -o q.pb.gz s.data
	cmp p.pb.gz q.pb.gz
	for order in "sort -R" "sort -rn"; do
		made $(seq 0 7 3000 | $order)
		pmu-topprof --slices 20 -o q.pb.gz s.data
		cmp p.pb.gz q.pb.gz
	done
	pmu-symbolize s.data | pmu-topprof --slices 20 -o r.pb.gz
	slices p.pb.gz >want
	slices r.pb.gz | same want -
END

check 'empty slices exist; a sample without a time has none' <<'END'
	made 0 1000 2000 60000
	pmu-topprof --slices 20 -o p.pb.gz s.data
	test "$(slices p.pb.gz | xargs)" = "1 1 2 2 25 1"	# of 2,560 ms
	compose s.data <<-END
		out = pipe(record(64, attr(0, 0, 1000, IP | TID) + struct.pack("<Q", 1), 0),
		    record(9, struct.pack("<QII", 0x1000, 7, 7)))
	END
	pmu-topprof --slices 20 -o p.pb.gz s.data
	test -z "$(slices p.pb.gz)"
	go tool pprof -raw p.pb.gz 2>err | none grep run:
END

check 'merged profiles keep their runs apart; who drops the run drops the slices' <<'END'
	made $(seq 0 10 1000)
	pmu-topprof --slices 20 -o p.pb.gz s.data
	made $(seq 5 10 1005)
	pmu-topprof --slices 20 -l cpu -o q.pb.gz s.data
	pmu-topprof p.pb.gz q.pb.gz -o sum.pb.gz
	go tool pprof -raw sum.pb.gz 2>err | grep -o "run:.[0-9a-f]*." | sort | uniq -c >runs
	test "$(wc -l <runs)" = 2
	grep -c "run:\[[0-9a-f]\{8\}\]$" runs | grep -qx 2
	pmu-topprof -l slice sum.pb.gz -o r.pb.gz
	test -z "$(slices r.pb.gz)"
	pmu-topprof -l slice,run sum.pb.gz -o r.pb.gz
	test -n "$(slices r.pb.gz)"
END

check 'other labels, parts and intervals; the sums stay' <<'END'
	made $(seq 0 3 2000)
	pmu-topprof --slices 5 -l pid,timestamp_ns -o p.pb.gz s.data
	go tool pprof -raw p.pb.gz 2>err | grep -q "pid:\[7\] slice:\[1\] timestamp_ns:"
	pmu-topprof --slices 5 --split process -o d s.data
	test "$(slices d/*.pb.gz | awk "{ n += \$2 } END { print n }")" = 667
	pmu-topprof --slices 5 --split 1 -o "i%H%M%S.pb.gz" s.data
	for part in i*.pb.gz; do
		test "$(slices "$part" | head -n 1 | cut -d " " -f 1)" = 1
		at_most "$(slices "$part" | tail -n 1 | cut -d " " -f 1)" 10
	done
	test "$(for part in i*.pb.gz; do slices "$part"; done | awk "{ n += \$2 } END { print n }")" = 667
	for none in '--slices 0' '-l none' '-l pid'; do
		pmu-topprof $none -o q.pb.gz s.data
		go tool pprof -raw q.pb.gz 2>err | none grep slice:
	done
	ln -s "$BIN/pmu-topprof" perf_to_profile
	./perf_to_profile -f -i s.data -o q.pb.gz 2>err
	go tool pprof -raw q.pb.gz 2>err | none grep slice:
	# the default is 20
	pmu-topprof -Z none -o default.pb s.data
	pmu-topprof -Z none --slices 20 -o twenty.pb s.data
	cmp default.pb twenty.pb
	exits 2 pmu-topprof --slices 20 p.pb.gz 2>err
	grep -q "slices works on a stream" err
END

done_testing
