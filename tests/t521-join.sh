#!/bin/sh
# pmu-stream --cat: several streams become one.
# kinds: release asan
. tests/lib.sh

has() { pmu-stream "$1" | awk -v type="$2" '$1 == type { n = $2 } END { print n + 0 }'; }
events() { pmu-stream "$1" | grep '^event '; }

# What perf says of a stream's samples, whatever the columns' widths
samples() { perf script -G -F tid,event,time,ip,sym "$@" 2>/dev/null | tr -s ' ' | sed 's/^ //'; }

check 'other events, other recorders: perf script sees the same samples' <<'END'
	unsanitized
	pmu-sample -e cpu-clock,page-faults -g -F 2000 -o a.data -- ten threads 0.2
	pmu-sample -e cpu-clock -F 1000 -o b.data -- ten serial 0.1
	perf_record -e cpu-clock,minor-faults -d -F 1000 -o c.data -- ten serial 0.1
	exits 0 pmu-stream -v --cat a.data b.data c.data >j.data 2>said
	n=$(has j.data SAMPLE)
	grep -q "3 streams joined: .* $n of them samples" said
	for file in a b c; do samples -i $file.data; done | sort >want
	samples -i j.data | sort | same want -
	test "$(wc -l <want)" -gt 150
	exits 0 pmu-stream --check j.data
	# in order of time, for perf and for us
	samples -i j.data | sed -n "s/.* \([0-9.]*\): .*/\1/p" | sort -c -n
	pmu-stream --dump j.data | sed -n "s/.* SAMPLE .* time=\([0-9]*\) .*/\1/p" >times
	test "$(wc -l <times)" = "$n"
	sort -c -n times
	pmu-symbolize j.data | exits 0 pmu-topprof -o p.pb.gz
	events j.data | sed "s/:.*//" | sort | uniq -c >joined
	grep -q " 3 event cpu-clock" joined
	test "$(perf_samples j.data)" = "$n"
END

check 'the parts of a rotated recording: one event, one profile' <<'END'
	unsanitized
	pmu-sample -e cpu-clock,page-faults -g -F 2000 --switch-output 20k -o part.data \
		-- ten threads 0.5 2>err
	set -- part.data*
	test $# -gt 2
	pmu-stream --cat "$@" >j.data
	test "$(events j.data | wc -l)" = 2
	sum=0
	for part; do sum=$((sum + $(has $part SAMPLE))); done
	test "$(has j.data SAMPLE)" = $sum
	pmu-symbolize j.data | exits 0 pmu-topprof -o p.pb.gz
	go tool pprof -top -sample_index=cpu p.pb.gz >top
	for f in A B C D E F G H I J; do grep -q " $f\$" top; done
	none grep "unknown\|0x" top
	samples -i j.data >out
	test "$(wc -l <out)" = $sum
END

check 'a stream that is joined alone, and compressed, stays what it is' <<'END'
	pmu-sample -e cpu-clock -g -F 2000 -o a.data -- ten serial 0.2
	pmu-stream --cat a.data >j.data
	cat a.data | pmu-stream --cat >k.data
	cmp j.data k.data
	pmu-stream --cat -z -o z.data a.data
	pmu-stream --decompress z.data | cmp - j.data
	events a.data >want
	events j.data | same want -
	# twice is twice
	pmu-stream --cat a.data j.data >t.data
	test "$(has t.data SAMPLE)" = $((2 * $(has a.data SAMPLE)))
END

check 'groups, counts read with samples, losses, throttling: ids keep their events' <<'END'
	pmu-sample -e "{cpu-clock,page-faults}:S" -F 1000 -o a.data -- ten serial 0.2
	pmu-sample -e "{cpu-clock,minor-faults}:S" -F 1000 -o b.data -- ten serial 0.2
	pmu-stream --cat a.data b.data >j.data
	for file in a b; do perf script -i $file.data -F event,period 2>/dev/null; done |
		tr -s " " | sort >want
	perf script -i j.data -F event,period 2>/dev/null | tr -s " " | sort | same want -
	grep -q minor-faults want
	needs "$SHARED/lost_samples-4.4.perf.data" "$SHARED/throttle-3.8.perf.data"
	pmu-stream --cat "$SHARED/lost_samples-4.4.perf.data" "$SHARED/throttle-3.8.perf.data" \
		>k.data 2>err
	test "$(has k.data THROTTLE)" = 68
	test "$(has k.data LOST_SAMPLES)" = 2
	# of ids that are new: small numbers
	test "$(pmu-stream --dump k.data | grep -c " THROTTLE .* id=[1-9][0-9]\? ")" = 68
	for file in lost_samples-4.4 throttle-3.8; do events "$SHARED/$file.perf.data"; done |
		sort >want
	events k.data | sort | same want -
END

check 'recordings without ids, or of other layouts, keep their samples apart' <<'END'
	needs "$SHARED/callgraph-3.8.perf.data"
	all="callgraph-3.8 raw-3.4 ctx_switch_namespaces-4.14 hybrid_topology i686-3.4"
	all="$all weight_struct"
	test -z "$ALL" || all="$all with-callchain"
	set --
	for file in $all; do set -- "$@" "$SHARED/$file.perf.data"; done
	pmu-stream --cat "$@" >j.data 2>err
	for file; do events "$file"; done | grep -v " 0 samples" | sort >want
	events j.data | grep -v " 0 samples" | sort | same want -
	fields() { awk '$2 == "SAMPLE" { print substr($0, index($0, " ip=")) }' | sort; }
	for file; do pmu-stream --dump "$file"; done | fields >want
	at_least "$(wc -l <want)" 1000
	pmu-stream --dump j.data | fields | cmp - want
END

check 'clocks of other origins are put in order by the wall clock, which is reported' <<'END'
	pmu-sample -e cpu-clock -F 500 -o a.data -- ten serial 0.1
	pmu-sample -e cpu-clock -F 500 -o b.data -- ten serial 0.1
	cat >clocks.py <<-PY
	import struct, sys
	def feature(data):	# offset of the record with times of the wall clock and of samples
	    at = 16
	    while struct.unpack_from("<IHHQ", data, at)[::3] != (80, 29):
	        at += struct.unpack_from("<H", data, at + 6)[0]
	    return at
	if len(sys.argv) > 1:	# FILE: make its samples' times those of the wall clock
	    data = open(sys.argv[1], "rb").read()
	    wall, clock = struct.unpack_from("<QQ", data, feature(data) + 24)
	    for line in sys.stdin:
	        time, pid = map(int, line.split())
	        print((time - clock + wall) % 2**64, pid)
	PY
	# as if b were of a machine that started three years earlier, or later
	python3 - <<-END
	from clocks import *
	for name, ns in ("early", 10**17), ("late", -10**17):
	    data = bytearray(open("b.data", "rb").read())
	    clock, = struct.unpack_from("<Q", data, feature(data) + 32)
	    struct.pack_into("<Q", data, feature(data) + 32, (clock + ns) % 2**64)
	    open(name, "wb").write(data)
	END
	# wall_times FILE: time by the wall clock and pid of each sample
	wall_times() {
		pmu-stream --dump $1 |
			sed -n 's/.* SAMPLE .* time=\([0-9]*\) .* pid=\([0-9]*\) .*/\1 \2/p' |
			python3 clocks.py $1
	}
	for b in early late; do
		{ wall_times a.data; wall_times $b; } | sort -s -n -k 1,1 >want
		cut -d " " -f 2 want | uniq >want.pids
		for files in "a.data $b" "$b a.data"; do
			pmu-stream --cat $files >j.data 2>said
			test $(grep -c "is put in order by the wall clock" said) = 1
			wall_times j.data >got
			cut -d " " -f 2 got | uniq | diff want.pids -
			sort -s -n -k 1,1 got | diff want -
			# no time is before the start of the clock, which would be near 2^64
			pmu-stream --dump j.data >dump
			none grep "time=18[0-9]\{18\}" dump
		done
	done
END

check 'equal events that get other names later have that of the first' <<'END'
	compose s.data <<-EOF
	kind = IP | TID | TIME | ID | PERIOD
	def rename(id, name):
	    return record(78, struct.pack("<QQ", 2, id) + pad(name))
	records = [record(64, attr(1, 0, 1, kind, size=64) + struct.pack("<Q", i))
	           for i in range(1, 2001)]
	records.append(record(9, struct.pack("<QIIQQQ", 4096, 5, 5, 1, 1, 1)))
	records += 4 * [record(68, b"")]	# it is passed on
	records += [rename(1, b"first"), rename(1, b"first")]
	records += [rename(i, b"other") for i in range(2, 2001)]
	out = pipe(*records)
	EOF
	pmu-stream --cat s.data >j.data
	pmu-stream --dump j.data | grep EVENT_UPDATE >names
	cat names
	test "$(wc -l <names)" = 2	# when it is defined, and when it gets its name
	test "$(wc -c <j.data)" -le "$(wc -c <s.data)"
	pmu-stream j.data | grep "^event first: 1 samples"
END

check 'what cannot be joined is reported, the rest is joined' <<'END'
	pmu-sample -e cpu-clock -F 500 -o a.data -- ten serial 0.1
	pmu-symbolize a.data >r.data
	exits 1 pmu-stream --cat a.data r.data >j.data 2>err
	grep -q "r.data. is resolved already" err
	test "$(has j.data SAMPLE 2>err)" = "$(has a.data SAMPLE)"
	exits 1 pmu-stream --cat a.data nowhere.data >j.data 2>err
	grep -q "nowhere.data" err
	: >empty.data
	exits 1 pmu-stream --cat a.data empty.data >j.data 2>err
	grep -q "empty.data: offset 0x0: empty: the file has no bytes" err
	head -c 3000 a.data >cut.data
	exits 1 pmu-stream --cat a.data cut.data >j.data 2>err
	grep -q "cut.data: offset 0x" err
	exits 1 pmu-stream --check j.data 2>err	# who reads on knows, too
	exits 2 pmu-stream --cat --stats a.data 2>err
END

check 'if all streams are resolved, nothing is written; cat(1) does not join streams' <<'END'
	make-stream 100 10 4 >a.data
	pmu-symbolize -q a.data >r.data
	exits 1 pmu-stream --cat r.data r.data -o none.data 2>err
	test "$(grep -c "'r.data' is resolved already: join streams before pmu-symbolize" err)" = 2
	test ! -e none.data
	cp a.data old.data
	exits 1 pmu-stream --cat r.data nowhere.data -o old.data 2>err
	same a.data old.data
	exits 1 pmu-stream --cat r.data >none.data 2>err
	test ! -s none.data
	for stream in a r; do
		pmu-stream -z $stream.data >z.data
		second=$(printf "0x%x" "$(wc -c <$stream.data)")
		for part in $stream z; do
			cat $part.data $part.data >two.data
			exits 1 pmu-topprof --to folded two.data >got 2>err
			cat err
			pmu-topprof --to folded $stream.data | same got -
			grep "two.data: offset $second: another stream begins.* pmu-stream --cat" \
				err
			test "$(wc -l <err)" = 1
		done
	done
END

done_testing
