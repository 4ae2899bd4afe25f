#!/bin/sh
# pmu-stream: counts, lines, checks, selections.
# kinds: release asan
. tests/lib.sh

# One recording for many checks
pmu-sample -e cpu-clock,page-faults -g -F 2000 -o "$scratch/s.data" -- ten threads 0.3
record() { cp "$scratch/s.data" .; }
records() { perf report -i "$1" --stats 2>/dev/null | awk "/$2 events:/ { print \$3; exit }"; }
has() { pmu-stream "$1" | awk -v type="$2" '$1 == type { print $2 }'; }

check 'the counts are those of perf report --stats' <<'END'
	unsanitized
	record
	for type in SAMPLE MMAP2 COMM FORK EXIT READ ATTR FEATURE FINISHED_ROUND; do
		test "$(records s.data $type)" = "$(has s.data $type)" || { echo $type; exit 1; }
	done
	perf_record -e cpu-clock -F 2000 -o p.data -- ten threads 0.1
	for type in SAMPLE MMAP2 COMM FORK EXIT FINISHED_ROUND; do
		test "$(records p.data $type)" = "$(has p.data $type)" || { echo $type; exit 1; }
	done
	test "$(has p.data SAMPLE)" -gt 50
END

check 'samples and sums of each event, as perf script adds them up' <<'END'
	unsanitized
	record
	pmu-stream s.data |
		sed -n "s/^event \(.*\): \([0-9]*\) samples, \([0-9]*\) in all/\1 \2 \3/p" |
		sort >ours
	perf script -i s.data -G -F event,period | awk '{ sub(":", "", $2); n[$2]++; sum[$2] += $1 }
		END { for (e in n) printf "%s %d %d\n", e, n[e], sum[e] }' | sort >perfs
	same perfs ours
	test "$(wc -l <ours)" = 2
END

check 'counts do not depend on the order; groups of counters are put in order' <<'END'
	PYTHONPATH=$TOP/tests python3 - <<-END
	from streams import *

	def sample(time, period, frames=2, claimed=None):
	    return record(9, struct.pack("<QIIQQQ", 0x1000, 1, 1, time, period,
	                                 frames if claimed is None else claimed) +
	                  bytes(8 * frames))
	def group(time, value):
	    return record(9, struct.pack("<IIQQQQ", 1, 1, time, 1, value, 77))
	mark = record(68, b"", 0)
	plain = record(64, attr(1, 0, 100, IP | TID | TIME | CHAIN | PERIOD), 0)
	groups = record(64, attr(1, 0, 100, TID | TIME | READ, read=8 | 4) +
	                struct.pack("<Q", 77), 0)
	# two CPUs in turn, a round of its own, what comes too late, what is longer than its record
	good = [sample(t, t) for t in (30, 60, 20, 50)] + [mark, sample(90, 90, 0), mark]
	bad = [sample(10, 10), sample(80, 1, 2, 3), sample(85, 1, 0, 1 << 61)]
	open("good.data", "wb").write(pipe(plain, *good))
	open("bad.data", "wb").write(pipe(plain, *good, *bad))
	open("group.data", "wb").write(pipe(groups, group(1, 10), group(3, 30), group(2, 20),
	                                    group(4, 40), mark))
	END
	exits 0 pmu-stream good.data >out 2>err
	grep -q "^event .*: 5 samples, 250 in all" out
	test ! -s err
	exits 1 pmu-stream --json bad.data >out 2>err
	grep -q "\"samples\": 6, \"sum\": 260" out
	grep -q "\"first_time\": 10, \"last_time\": 90" out
	test "$(grep -c "shorter than its fields" err)" = 2
	grep -q "record of [0-9]* bytes is shorter than its fields: a count in it is too large" err
	grep -q "1 records came later than their round" err
	exits 0 pmu-stream group.data >out
	grep -q "^event .*: 4 samples, 40 in all" out
END

check 'a sample before any event is reported, in whatever order records are read' <<'END'
	compose s.data <<-EOF
	out = pipe(record(9, bytes(8)), record(68, b"", 0))
	EOF
	for how in --stats --dump; do
		exits 1 pmu-stream $how s.data 2>err
		grep -q "offset 0x10: SAMPLE record before any event is defined" err
	done
END

check 'samples before the event of labels is defined count as samples of unknown labels' <<'END'
	PYTHONPATH=$TOP/tests python3 - >late.data <<-END
	import sys
	from streams import *

	plain = record(64, attr(1, 0, 100, IDENT | TIME) + struct.pack("<Q", 5), 0)
	labels = record(64, attr(1, 10, 1, IDENT | TIME | RAW) + struct.pack("<Q", 6), 0)
	name = record(78, struct.pack("<QQ", 2, 6) + b"labels\0\0", 0)
	samples = [record(9, struct.pack("<QQ", 5, t)) for t in (10, 20)]
	sys.stdout.buffer.write(pipe(plain, samples[0], labels, name, samples[1]))
	END
	exits 0 pmu-stream late.data >out
	cat out
	grep -q "^labels: .* 2 not known (100.00 %)" out
END

check 'JSON says the same' <<'END'
	record
	pmu-stream --json s.data | python3 -c '
import json, sys
s = json.load(sys.stdin)
print(s["types"]["SAMPLE"], sum(e["samples"] for e in s["events"]), s["lost"])' >got
	n=$(has s.data SAMPLE)
	test "$(cat got)" = "$n $n 0"
	pmu-stream --dump --json s.data | python3 -c '
import json, sys
records = [json.loads(line) for line in sys.stdin]
print(sum(r["type"] == "SAMPLE" for r in records), records[0]["offset"])
assert all(len(r["callchain"]) > 0 for r in records if r["type"] == "SAMPLE")' >got
	test "$(cat got)" = "$n 16"
END

check 'a line for each record: its place, its fields' <<'END'
	record
	pmu-stream --dump s.data >lines
	test "$(grep -c "^0x[0-9a-f]* SAMPLE " lines)" = "$(has s.data SAMPLE)"
	# what perf says of the same samples
	perf script -i s.data -G -F tid,ip | awk '{ print $1, $2 }' | sort >perfs
	sed -n "s/.* SAMPLE .* ip=0x\([0-9a-f]*\) .*tid=\([0-9]*\) .*/\2 \1/p" lines | sort >ours
	same perfs ours
	grep -q ' MMAP2 .* executable=1 .*path=".*/ten"' lines
	grep -q ' COMM .* comm="t3"' lines
END

check 'samples of a thread, by number or name; of a CPU, an event, a time' <<'END'
	unsanitized
	pmu-sample --sample-cpu -e cpu-clock,page-faults -F 2000 -o s.data -- ten threads 0.3
	perf script -i s.data -F comm,tid,cpu,event,time 2>/dev/null | sed "s/^ *//" >all
	tid=$(awk '$1 == "t4" { print $2; exit }' all)
	pmu-stream --tid $tid s.data >a.data
	pmu-stream --comm t4 s.data >b.data
	test "$(has a.data SAMPLE)" = "$(awk "\$2 == $tid" all | wc -l)"
	# it had another name before
	test "$(has b.data SAMPLE)" = "$(awk "\$1 == \"t4\"" all | wc -l)"
	cpu=$(sed -n '1s/.*\[0*\([0-9][0-9]*\)\].*/\1/p' all)
	pmu-stream --cpu $cpu s.data >c.data
	test "$(has c.data SAMPLE)" = "$(grep -c "\[0*$cpu\]" all)"
	pmu-stream --event page-faults s.data >e.data
	test "$(has e.data SAMPLE)" = "$(grep -c "page-faults:" all)"
	half=$(($(wc -l <all) / 2))
	middle=$(sed -n "${half}s/.*\] *\([0-9.]*\):.*/\1/p" all)
	pmu-stream --time ,$middle s.data >f.data
	pmu-stream --time $middle, s.data >g.data
	test $(($(has f.data SAMPLE) + $(has g.data SAMPLE))) = "$(wc -l <all)"
	near "$(has f.data SAMPLE)" $half 5
	# all of these are whole streams, with names
	for stream in a.data c.data e.data f.data; do
		exits 0 pmu-topprof -o p.pb.gz $stream
		perf_reads $stream >script 2>errors
		none cat errors
	done
	perf script -i a.data -F ip,sym 2>/dev/null | grep -q " E$"
END

check 'the first samples, as a whole stream' <<'END'
	record
	pmu-stream --head 7 s.data >h.data
	test "$(has h.data SAMPLE)" = 7
	exits 0 pmu-topprof -o p.pb.gz h.data
	perf script -i h.data -G -F ip,tid >got
	perf script -i s.data -G -F ip,tid | head -n 7 | same - got
	pmu-stream --head 3 --dump s.data | grep -c " SAMPLE " | grep -qx 3
END

check 'compressed and back: the same bytes' <<'END'
	record
	pmu-stream -z s.data >s.zst
	test "$(wc -c <s.zst)" -lt "$(($(wc -c <s.data) / 2))"
	zstd -q -t s.zst
	pmu-stream --decompress s.zst >back.data
	cmp s.data back.data
	# what is compressed inside of a file of perf, too
	perf_record -z -e cpu-clock -F 2000 -o p.data -- ten serial 0.1 || exit 0
	pmu-stream --decompress p.data >d.data
	test "$(has d.data SAMPLE)" = "$(records p.data SAMPLE)"
	perf script -i d.data -F ip >got 2>errors
	perf script -i p.data -F ip | same - got
END

check 'a file becomes a stream for pipes, which perf reads' <<'END'
	unsanitized
	perf_record -e cpu-clock,page-faults -F 2000 -o p.data -- ten serial 0.1
	pmu-stream --decompress p.data | perf script -i - -F ip,event >got 2>errors
	perf script -i p.data -F ip,event | same - got
END

check 'a stream is whole, or its damage is reported with the place' <<'END'
	record
	exits 0 pmu-stream --check s.data >out
	test ! -s out
	size=$(wc -c <s.data)
	head -c $((size - 100)) s.data >cut.data
	exits 1 pmu-stream --check cut.data 2>err
	grep -q "cut.data: offset 0x" err
	# damaged within: a record of length 0
	offset=$(pmu-stream --dump s.data | awk '/ SAMPLE / && ++n == 50 { print $1 }')
	cp s.data zero.data
	printf "\0\0" | dd of=zero.data bs=1 seek=$((offset + 6)) conv=notrunc 2>/dev/null
	exits 1 pmu-stream --check zero.data 2>err
	grep -q "zero.data: offset $offset" err
	# what follows is used: it goes on at the next record
	exits 1 pmu-stream --stats zero.data >out 2>err
	grep -q "zero.data: resumed at 0x" err
	test "$(has zero.data SAMPLE 2>err)" = $(($(has s.data SAMPLE) - 1))
END

check 'options that exclude each other, and bad selections, are reported' <<'END'
	record
	exits 2 pmu-stream --stats --dump s.data 2>err
	exits 2 pmu-stream --pid x s.data 2>err
	exits 2 pmu-stream --time 5 s.data 2>err
	grep -q "FROM,TO" err
	pmu-symbolize s.data >r.data
	exits 0 pmu-stream r.data >out
	test "$(awk "\$1 == \"CHAIN_SAMPLE\" { print \$2 }" out)" = "$(has s.data SAMPLE)"
	exits 1 pmu-stream --pid 1 r.data 2>err >out
	grep -q "select them before pmu-symbolize" err
END

done_testing
