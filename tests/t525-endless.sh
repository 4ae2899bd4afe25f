#!/bin/sh
# Streams without end: memory does not grow with them.  ENDLESS=1: 10 GB through each filter.
# kinds: release
. tests/lib.sh

# Samples of few processes
samples=400000 growth=1536	# 32 MB; 8 bytes kept for each would be seen
test -z "$ENDLESS" || samples=120000000 growth=2048

# The peak memory in KiB of COMMAND, given so many samples by a pipe; if COMMAND fails, there is
# the file "failed".  With slices of time, each has stacks of its own: fewer, so that the first
# stream has all of them.
peak() {
	n=$1 places=20000
	shift
	test "$*" != pmu-topprof || places=500
	cost sh -c "make-stream $n $places 4 | $* >/dev/null || : >failed" | cut -d ' ' -f 2
}

for command in 'pmu-stream' 'pmu-stream --decompress' 'pmu-stream --cat' 'pmu-stream -z' \
	'pmu-symbolize -q' 'pmu-topprof --slices 0' 'pmu-topprof'; do
	check "$command: as much memory for ten times the stream" <<-'END'
		little=$(peak $((samples / 10)) $command)
		much=$(peak $samples $command)
		test ! -e failed
		echo "$little KiB, $much KiB"
		test $much -le $((little + growth))
		# a sanitizer has its own
		case $BIN in */release/*|*/clang/*) ;; *) exit 0 ;; esac
		most=32768
		test "$command" != pmu-stream || most=16384
		at_most $much $((most - 1))
	END
done

# The same of processes: make-churn's, each of which forks, runs a program, maps and ends.
processes=20000 growth=1536	# 22 MB; 90 bytes kept for each would be seen
test -z "$ENDLESS" || processes=10000000 growth=2048

churn_peak() {
	n=$1
	shift
	cost sh -c "make-churn $n | $* >/dev/null || : >failed" | cut -d ' ' -f 2
}

for command in 'pmu-symbolize -q' 'pmu-topprof --label none --max-stacks 1000' \
	'pmu-topprof --split 1s -o p%M%S.pb.gz' 'pmu-stream --comm program-1' \
	'pmu-stream --cat'; do
	check "$command: as much memory for ten times the processes" <<-'END'
		little=$(churn_peak $((processes / 10)) $command)
		much=$(churn_peak $processes $command)
		test ! -e failed
		echo "$little KiB, $much KiB"
		# a limit of stacks leaves room for a quarter million of recorded chains
		case $command in *max-stacks*) little=$((little + 20480)) ;; esac
		test $much -le $((little + growth))
	END
done

# The same, where no process has the name or the library of another
named_peak() {
	n=$1
	shift
	cost sh -c "make-churn $n 1000000000 | $* >/dev/null || : >failed" | cut -d ' ' -f 2
}

# cost has the larger of a pipe's two.  pmu-topprof alone has what it keeps at most only later.
while read -r little much growth command; do
	check "$command: as much memory for two or three times the names" <<-'END'
		little=$(named_peak $little "$command")
		much=$(named_peak $much "$command")	# 170 bytes each would be seen
		test ! -e failed
		echo "$little KiB, $much KiB"
		test $much -le $((little + growth))
	END
done <<END
$((processes / 2)) $((processes * 3 / 2)) 2048 pmu-symbolize -q --definitions 1Mi | \
pmu-topprof --split 1s -o p%M%S.pb.gz
$((processes * 5 / 4)) $((processes * 5 / 2)) 4096 \
pmu-topprof --split 1s -o p%M%S.pb.gz
$((processes / 2)) $((processes * 3 / 2)) 2048 pmu-stream --comm program-1
END

# The same, where the end of no process is recorded: 2 ** 15 processes and 2 ** 17 threads are kept.
unended_peak() {
	n=$1
	shift
	cost sh -c "make-churn $n 20 unended | $* >/dev/null 2>said || : >failed" | cut -d ' ' -f 2
}

for command in pmu-symbolize 'pmu-topprof --label none --max-stacks 1000' pmu-unwind \
	'pmu-stream --comm program-1'; do
	check "$command: as much memory for twice the processes that never end" <<-'END'
		little=$(unended_peak 70000 "$command")
		much=$(unended_peak 140000 "$command")
		test ! -e failed
		echo "$little KiB, $much KiB"
		cat said
		# a limit of stacks leaves room for a quarter million of recorded chains
		case $command in *max-stacks*) little=$((little + 20480)) ;; esac
		test $much -le $((little + 2048))
		at_most "$much" 65536
		test "$(grep -c "more than 131072 threads have no recorded end" said)" = 1
		case $command in pmu-stream*) exit 0 ;; esac
		test "$(grep -c "more than 32768 processes have no recorded end" said)" = 1
	END
done

check 'threads of a resolved stream that never end are reported, too' <<'END'
	make-churn 70000 20 unended | pmu-symbolize -q |
		pmu-topprof --label none -o p.pb.gz 2>said
	cat said
	test "$(grep -c "more than 131072 threads have no recorded end" said)" = 1
END

check 'of many processes that never end, those with samples keep their mappings' <<'END'
	compose s.data <<-EOF
		def sample(pid):
		    return record(9, struct.pack("<QIIQQ", 0x10010, pid, pid, 1, 1))
		parts = [record(64, attr(1, 0, 1, IP | TID | TIME | PERIOD, flags=0))]
		for pid in range(1, 50000):
		    parts.append(record(1, mmap(pid, 0x10000, 0x1000, b"/bin/x")))
		    if pid % 10000 == 0:
		        parts += [sample(1), record(68, b""), record(68, b"")]
		out = pipe(*parts, sample(1), sample(2), sample(49999))
	EOF
	pmu-topprof -q --to folded s.data >got
	printf '%s\n' '[unknown] 1' '[x] 6' | same - got
END

# without COUNT KIND FILE: the stream in FILE without the first COUNT records of this type
without() {
	python3 - "$@" <<-'EOF'
		import struct, sys
		left, kind, data = int(sys.argv[1]), int(sys.argv[2], 0), open(sys.argv[3], "rb").read()
		at, out = 16, sys.stdout.buffer
		out.write(data[:at])
		while at < len(data):
		    found, misc, size = struct.unpack_from("<IHH", data, at)
		    if found == kind and left:
		        left -= 1
		    else:
		        out.write(data[at:at + size])
		    at += size
	EOF
}

check 'a limit of definitions changes no profile' <<'END'
	make-churn 1000 500 >churn.data	# the second half has the names of the first
	pmu-symbolize churn.data >whole.data
	pmu-symbolize --definitions 1 churn.data >anew.data
	pmu-stream --stats whole.data | none grep '^RESTART'
	at_least "$(pmu-stream --stats anew.data | sed -n 's/^RESTART *//p')" 1000
	for data in whole.data anew.data; do
		# the comments of a profile have the options of the filters: TOOL
		without 9 0x504d0005 $data >$data.plain
		pmu-topprof --compress none -o $data.pb $data.plain
	done
	at_least "$(wc -c <whole.data.pb)" 50000
	cmp whole.data.pb anew.data.pb
END

check 'a definition that is missing before a restart is reported; later ones are read' <<'END'
	make-churn 100 1000000000 >churn.data
	pmu-symbolize --definitions 1 churn.data >anew.data
	without 1 0x504d0003 anew.data >cut.data	# a FRAME
	exits 1 pmu-topprof -o p.pb.gz cut.data 2>said
	cat said
	test "$(grep -c 'RESTART record whose counts are not' said)" = 1
	grep -c . said
	at_most "$(wc -l <said)" 5
END

check 'programs that stay mapped keep their names and Go build IDs while others come and go' <<'END'
	compose go.data <<-EOF
		PROGRAMS = 1000
		def mmap2(pid, start, path, go=b""):
		    mark = b"\xff Go build ID: \"" + pad(go) if go else b""
		    return record(10, struct.pack("<IIQQQIIQQII", pid, pid, start, 0x1000, 0, 8, 1,
		                                  start, 0, 5, 2) + pad(path) + mark)
		def samples():
		    return [record(9, struct.pack("<QIIQQ", 0x10000 + i * 0x1000, 5, 5, 1, 1))
		            for i in range(PROGRAMS)]
		parts = [record(64, attr(1, 0, 1, IP | TID | TIME | PERIOD, flags=0))]
		for i in range(PROGRAMS):
		    parts.append(mmap2(5, 0x10000 + i * 0x1000, b"/go/%d" % i, b"id-%d" % i))
		parts += samples()
		for i in range(20000):
		    parts.append(mmap2(6, 0x10000 + i % 2 * 0x1000, b"/tmp/%d" % i))
		out = pipe(*parts, *samples())
	EOF
	pmu-symbolize -q go.data | pmu-topprof --to folded >got
	for i in $(seq 0 999); do echo "[$i] 2"; done | sort | same - got
END

check 'what forks copy, and mappings in descending order, cost what they say' <<'END'
	compose forks.data <<-EOF
		import sys
		MAPPINGS = FORKS = 10000
		def fork(kind, pid):
		    return record(kind, struct.pack("<IIIIQ", pid, 5, pid, 5, 0))
		parts = [record(64, attr(1, 0, 1, IP | TID | TIME | PERIOD, flags=0))]
		for i in range(MAPPINGS):
		    parts.append(record(1, mmap(5, 0x7f0000000000 - i * 0x2000, 0x1000, b"/x")))
		for i in range(FORKS):
		    parts += [fork(7, 100 + i), record(1, mmap(100 + i, 0x10000, 0x1000, b"/y"))]
		parts.append(record(9, struct.pack("<QIIQQ", 0x7f0000000000, 99 + FORKS, 1, 1, 1)))
		out = pipe(*parts)
	EOF
	for command in 'pmu-symbolize -q' pmu-topprof; do
		# unchanged, it took 4 GB and 3 s
		cost $command forks.data >used
		cat used
		case $BIN in */release/*|*/clang/*) ;; *) exit 0 ;; esac
		at_most "$(cut -d ' ' -f 1 used)" 1
		at_most "$(cut -d ' ' -f 2 used)" 65536
	done
	pmu-topprof --to folded forks.data >got
	echo '[x] 1' | same - got
END

# repeated KIND: many.data, 90,000 records that each differ, with rounds; little.data, the first
# 30,000 of them
repeated() {
	compose many.data <<-EOF
		NEW = 0xffffffffc0000000
		def generated(i, removed):
		    return record(17, struct.pack("<QIHH", NEW + i * 64, 64, 1, removed) +
		                  pad(b"bpf_prog_%d" % i), 1)
		def text(t):
		    return struct.pack("<I", len(t) + 1) + pad(t)
		def symbols(i):
		    two = b"".join(struct.pack("<QI", 0x100 + k * 16, 16) + b"function_%d\\0" % k
		                   for k in (0, i % 50 + 1))
		    f = b"/usr/bin/x\\0" + struct.pack("<IQI", 2, 0, 2) + two + struct.pack("<Q", 0)
		    return record(80, struct.pack("<QI", 128, len(f)) + f)
		def tracing(i):
		    fields = "".join("\\tfield:int f%d;\\toffset:8;\\tsize:4;\\tsigned:1;\\n" % k
		                     for k in range(8))
		    e = ("name: e\\nID: %d\\nformat:\\n%s" % (i, fields)).encode()
		    d = (bytes([23, 8, 68]) + b"tracing0.6\\0\\0\\x08" + struct.pack("<I", 4096) +
		         2 * (b"x\\0" + struct.pack("<Q", 0)) + struct.pack("<II", 0, 1) + b"s\\0" +
		         struct.pack("<IQ", 1, len(e)) + e)
		    d += bytes(-len(d) % 8)
		    return record(66, struct.pack("<I", len(d)), 0) + d
		four = [tracing(i) for i in range(4)]
		make = {
		    "code": lambda i: generated(i, 0) + generated(i, 1),
		    "same-code": lambda i: generated(i % 4, 0),
		    "symbols": symbols,
		    "build-ids": lambda i: record(67, struct.pack("<i24s", -1, b"" if i % 2 else b"ID") +
		                                  pad(b"/usr/lib/%d" % i)),
		    "control-groups": lambda i: record(19, struct.pack("<Q", i) + pad(b"/a/%08d" % i)),
		    "hosts": lambda i: record(80, struct.pack("<Q", 3) + text(b"%064d" % i)),
		    "tools": lambda i: record(0x504d0005, pad(b"tool%d" % i) + pad(b"1") + pad(b"x")),
		    "tracing-data": lambda i: four[i % 4],
		    "files": lambda i: record(1, mmap(5, 0x10000, 0x1000, b"/usr/lib/%d" % i)),
		}["$1"]
		parts = [record(64, attr(1, 0, 1, IP | TID | TIME | PERIOD, flags=0))]
		for i in range(90000):
		    if i == 30000:
		        open("little.data", "wb").write(pipe(*parts))
		    parts.append(make(i))
		    if i % 200 == 0:
		        parts.append(record(68, b""))
		out = pipe(*parts)
	EOF
}

while read -r kind command; do
	check "$command: as much memory for three times the records: $kind" <<-'END'
		repeated $kind
		little=$(cost $command little.data | cut -d ' ' -f 2)
		much=$(cost $command many.data | cut -d ' ' -f 2)
		echo "$little KiB, $much KiB"
		at_least "$little" 1024
		test $much -le $((little + 4096))
	END
done <<-END
	code pmu-symbolize -q
	same-code pmu-symbolize -q
	symbols pmu-symbolize -q
	build-ids pmu-unwind -q
	control-groups pmu-topprof -q --label cgroup
	hosts pmu-stream --stats
	tools pmu-topprof -q
	tracing-data pmu-topprof -q
	files pmu-unwind -q
END

check 'a FORK record was lost: a thread with samples keeps the mappings of its process' <<'END'
	compose lost.data <<-EOF
		def task(kind, pid, tid):
		    return record(kind, struct.pack("<IIIIQ", pid, pid, tid, pid, 1))
		def sample(pid, tid):
		    return record(9, struct.pack("<QIIQQ", 0x10010, pid, tid, 1, 1))
		rounds = [record(68, b"")]
		parts = [record(64, attr(1, 0, 1, IP | TID | TIME | PERIOD, flags=0))]
		for pid in (5, 15):
		    parts += [record(3, struct.pack("<II", pid, pid) + pad(b"name")),
		              record(1, mmap(pid, 0x10000, 0x1000, b"/bin/of-%d" % pid))]
		parts += [sample(5, 6), task(4, 5, 5), task(4, 15, 15), *100 * rounds,
		          sample(5, 6), sample(15, 16), *700 * rounds, sample(5, 6)]
		out = pipe(*parts)
	EOF
	for filter in cat 'pmu-symbolize -q'; do
		$filter <lost.data | pmu-topprof -q --to folded >got
		# the last sample comes after so long that the thread is taken to have ended
		printf '%s\n' '[of-5] 2' '[unknown] 2' | same - got
	done
END

check 'of a million addresses on, random ones take no more memory, and are one function' <<'END'
	# samples of 1000 random addresses each
	compose many.data <<-EOF
		import random
		words = random.Random(1)
		parts = [record(64, attr(1, 0, 1, IP | TID | CHAIN, flags=0))]
		for i in range(1400):
		    if i == 1100:
		        open("some.data", "wb").write(pipe(*parts))
		    parts.append(record(9, struct.pack("<QIIQQ", i, 5, 5, 1001, 2**64 - 512)
		                        + words.getrandbits(63000).to_bytes(8000, "little")))
		out = pipe(*parts)
	EOF
	little=$(cost pmu-symbolize -q --definitions 1Gi some.data | cut -d ' ' -f 2)
	much=$(cost sh -c "pmu-symbolize --definitions 1Gi -o resolved.data many.data 2>said" |
		cut -d ' ' -f 2)
	echo "$little KiB, $much KiB"
	test $much -le $((little + 2048))
	grep -q 'more than 1048576 addresses were sampled' said
	pmu-stream --stats resolved.data | grep '^FRAME  *1048577$'
	grep -aq '\[more addresses\]' resolved.data
END

check 'fields of thousands of tracepoints are found at once, for each sample' <<'END'
	compose s.data <<-EOF
		def event(i):
		    e = b"name: e\\nID: %d\\nformat:\\n" % i + b"".join(
		        b"\\tfield:int f%d;\\toffset:%d;\\tsize:4;\\tsigned:1;\\n" % (k, 4 * k)
		        for k in range(8))
		    return struct.pack("<Q", len(e)) + e
		EVENTS = 8000
		d = (bytes([23, 8, 68]) + b"tracing0.6\\0\\0\\x08" + struct.pack("<I", 4096) +
		     2 * (b"x\\0" + struct.pack("<Q", 0)) + struct.pack("<II", 0, 1) + b"s\\0" +
		     struct.pack("<I", EVENTS) + b"".join(event(i + 1) for i in range(EVENTS)))
		d += bytes(-len(d) % 8)
		raw = struct.pack("<I", 36) + struct.pack("<8I", *range(100, 108)) + bytes(4)
		one = record(9, struct.pack("<QII", 0x1000, 5, 5) + raw)
		out = pipe(record(64, attr(2, EVENTS, 1, IP | TID | RAW, flags=0)),
		           record(66, struct.pack("<I", len(d)), 0) + d, one * 100000)
	EOF
	cost pmu-topprof --label field:f7 -o p.pb.gz s.data >used
	cat used
	go tool pprof -tags p.pb.gz >tags 2>&1
	grep -q '100000.*: 107' tags
	case $BIN in */release/*|*/clang/*) ;; *) exit 0 ;; esac
	at_most "$(cut -d ' ' -f 1 used)" 3
END

check 'thousands of events take time and memory in proportion' <<'END'
	events() {
		compose "$1.data" <<-EOF
			parts = [record(64, attr(4, i, 1, IDENT | IP | TID | TIME | PERIOD, flags=0)
			                    + struct.pack("<Q", i + 1)) for i in range($1)]
			parts += [record(9, struct.pack("<QQIIQQ", i % $1 + 1, 0x1000 + i, 5, 5, 1, 1))
			          for i in range(4000)]
			out = pipe(*parts)
		EOF
	}
	events 4000
	cost sh -c "pmu-topprof --compress none 4000.data 2>said" >used
	cat used
	grep -q 'of 4000 events no more than 1048 stacks are kept' said
	events 5000
	exits 1 pmu-stream --stats 5000.data 2>said
	grep -q 'it defines more than 4096 events' said
	case $BIN in */release/*|*/clang/*) ;; *) exit 0 ;; esac
	# unchanged, it took minutes and 500 MB
	at_most "$(cut -d ' ' -f 1 used)" 5
	at_most "$(cut -d ' ' -f 2 used)" 200000
END

check 'programs that come and go: what is read of their files is forgotten' <<'END'
	# each program is another file with 40,000 functions, of which the tables take 1.3 MB
	{
		echo '.altmacro
		.macro function n
		.globl function_\\n
		.type function_\\n, @function
		function_\\n: nop
		.size function_\\n, 1
		.endm
		.set i, 0
		.globl _start
		_start:
		.rept 40000
		function %i
		.set i, i + 1
		.endr'
	} >p.s
	as -o p.o p.s
	ld -o program p.o
	start=$((0x$(nm program | awk '$3 == "_start" { print $1 }')))
	for i in $(seq 150); do cp program p$i; done
	# COMM, MMAP of a new program, samples all over it, EXIT
	compose s.data <<-EOF
		import os
		a = attr(1, 0, 1000, IP | TID | TIME)
		records = [record(64, a + struct.pack("<Q", 1))]
		time = 0
		for i in range(1, 151):
		    pid = 1000 + i
		    name = os.path.abspath("p%d" % i).encode()
		    stamp = lambda: struct.pack("<IIQ", pid, pid, time)
		    records.append(record(3, struct.pack("<II", pid, pid) + pad(b"p%d" % i) + stamp()))
		    records.append(record(1, mmap(pid, $start & ~4095, 65536, name, 4096) + stamp()))
		    for n in range(40):
		        time += 1000
		        records.append(record(9, struct.pack("<QIIQ", $start + n * 1000, pid, pid, time)))
		    records.append(record(4, struct.pack("<IIIIQ", pid, 1, pid, 1, time) + stamp()))
		    records.append(record(68, b""))
		out = pipe(*records)
	EOF
	pmu-symbolize --sysroot / s.data 2>said | pmu-topprof --to folded >folded
	cat said
	test "$(grep -c 'function_[0-9]* 1000$' folded)" -ge 5000
	size=$(wc -c <s.data)
	head -c $((size / 2)) s.data >half.data
	for file in half.data s.data; do
		cost pmu-symbolize -q --sysroot / $file | cut -d ' ' -f 2
	done >used
	cat used	# KiB; the files of 75 programs would take 250 MiB more
	test "$(tail -n 1 used)" -le $(($(head -n 1 used) + 32768))
END

done_testing
