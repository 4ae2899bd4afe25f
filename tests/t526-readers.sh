#!/bin/sh
# What readers make of recordings by others: nothing lost, nothing that was not there.
# kinds: release asan
. tests/lib.sh

simpleperf=$SHARED/simpleperf

# Counts of record types in a perf.data file, by a walk over its data section.
cat >"$scratch/walk.py" <<'END'
import struct, sys
names = {1: "MMAP", 2: "LOST", 3: "COMM", 4: "EXIT", 5: "THROTTLE", 6: "UNTHROTTLE", 7: "FORK",
         9: "SAMPLE", 10: "MMAP2", 66: "TRACING_DATA"}
data = open(sys.argv[1], "rb").read()
at, size = struct.unpack_from("<QQ", data, 40)
end, count = at + size, {}
while at < end:
    kind, misc, size = struct.unpack_from("<IHH", data, at)
    count[names[kind]] = count.get(names[kind], 0) + 1
    at += size
for name in sorted(count):
    print(name, count[name])
END

# counts FILE: the same, by our reader
counts() { pmu-stream "$1" | awk '/^[A-Z0-9_]+ +[0-9]+$/ { print $1, $2 }' | sort; }

check "simpleperf's recordings are read without loss, tracing data and all" <<'END'
	for file in "$simpleperf"/*.data; do
		needs "$file"
		python3 "$scratch/walk.py" "$file" >want
		counts "$file" 2>said | same want -
		none cat said
		cat "$file" | counts - 2>said | same want -
		none cat said
	done
END

check "fields of simpleperf's tracepoints are read, from the file and through pipes" <<'END'
	unsanitized
	needs "$simpleperf/perf_sched_stat_runtime.data"
	cp "$simpleperf/perf_sched_stat_runtime.data" s.data
	pmu-stream --decompress s.data >pipe.data
	pmu-stream --cat s.data >joined.data
	for file in s.data pipe.data joined.data; do
		pmu-topprof --label field:comm,field:runtime $file -o p.pb.gz
		go tool pprof -tags p.pb.gz >tags 2>err
		grep -q '3846048370.*BusyThread' tags
		grep -q ' runtime: ' tags
	done
END

# TRACING_DATA with ten bytes of data.
cat >"$scratch/tracing.py" <<'END'
def stream(tracing):
    one = record(9, struct.pack("<QIIQ", 0x10100, 1, 1, 7))
    return pipe(record(64, attr(1, 0, 7, IP | TID | PERIOD)), one, tracing, one, one)
def inside(kind, data, extra):
    body = struct.pack("<I", len(data)) + data + bytes(extra)
    size = 8 + len(body)
    return struct.pack("<IHH", kind, size >> 16, size & 0xffff) + body
END

check 'tracing data is inside its record or after it, and may be cut anywhere' <<'END'
	{ cat "$scratch/tracing.py"; echo 'out = stream(inside(66, bytes(10), 6))'; } | compose 1.data
	{ cat "$scratch/tracing.py"; echo 'out = stream(inside(66, bytes(16), 64))'; } | compose 2.data
	{ cat "$scratch/tracing.py"; echo 'out = stream(inside(32777, bytes(10), 6))'; } | compose 3.data
	{ cat "$scratch/tracing.py"
		echo 'out = stream(inside(32777, bytes(100000), 0))'; } | compose 4.data
	{ cat "$scratch/tracing.py"
		echo 'out = stream(inside(66, bytes(0), 0)[:8] + struct.pack("<I", 10) + bytes(16))'
	} | compose 5.data
	for i in 1 2 3 4 5; do
		pmu-stream $i.data >got
		grep -q '^SAMPLE  *3$' got
		grep -q '^TRACING_DATA  *1$' got
		pmu-stream --decompress $i.data | pmu-stream >again
		grep -q '^SAMPLE  *3$' again
		grep -q '^TRACING_DATA  *1$' again
	done
	for size in 0 4 7; do
		{ cat "$scratch/tracing.py"
			echo "out = stream(struct.pack('<IHHI', 32777, 0, $size, 0))"; } | compose bad.data
		exits 1 timeout 60 pmu-stream bad.data 2>said
		grep -q 'less than its header' said
	done
	for cut in 160 172 180 190 195; do
		head -c $cut 3.data >cut.data
		exits 1 pmu-stream cut.data
	done
END

check 'the name that a stream gives an event is made safe to print' <<'END'
	compose s.data <<-EOF
		name = b"a\\x1b[2J\\xc2\\x9bb\\xff\\0\\0\\0\\0\\0\\0\\0"
		out = pipe(record(64, attr(1, 0, 7, IDENT | IP | TID) + struct.pack("<Q", 1)),
		           record(78, struct.pack("<QQ", 2, 1) + name),
		           record(9, struct.pack("<QQII", 1, 0x1000, 5, 5)))
	EOF
	pmu-stream s.data >got
	cat -v got
	grep -qx 'event a?.2J??b?: 1 samples, .*' got
END

check "simpleperf's tracing data of other byte order is dropped, not passed on empty" <<'END'
	compose s.data <<-EOF
		def turned(kind, body):
		    return struct.pack(">IHH", kind, 0, 8 + len(body)) + body
		a = struct.pack(">IIQQQQQ", 1, 112, 0, 7, IP | TID, 0, 0)
		one = turned(9, struct.pack(">QII", 0x10100, 1, 1))
		out = b"2ELIFREP" + struct.pack(">Q", 16)
		out += turned(64, a + bytes(112 - len(a))) + one
		out += turned(32777, struct.pack(">I", 4) + bytes(4)) + one
	EOF
	exits 1 pmu-stream --decompress s.data 2>said >again.data
	grep -q 'TRACING_DATA record of simpleperf in a stream of other byte order' said
	pmu-stream --stats again.data >got 2>said
	grep -q '^SAMPLE  *2$' got
	none grep TRACING_DATA got
END

check 'tracing data in a COMPRESSED record is inside its own record, or it is dropped' <<'END'
	{ cat "$scratch/tracing.py"; cat <<-EOF; } | compose s.data
		import subprocess
		def packed(*records):
		    return record(81, subprocess.run(["zstd", "-qc"], input=b"".join(records), check=True,
		                                     stdout=subprocess.PIPE).stdout, 0)
		one = record(9, struct.pack("<QIIQ", 0x10100, 1, 1, 7))
		out = pipe(record(64, attr(1, 0, 7, IP | TID | PERIOD)),
		           packed(record(66, struct.pack("<I", 1 << 16), 0), *[one] * 9,
		                  record(32777, struct.pack("<I", 1 << 16), 2),
		                  inside(66, bytes(10), 6), one))
	EOF
	pmu-stream --stats s.data >want 2>said || test $? = 1
	grep -q 'TRACING_DATA record without its data' said
	grep -q 'record of simpleperf in a COMPRESSED record' said
	for how in --decompress --cat; do
		exits 1 pmu-stream $how s.data 2>said >again.data
		pmu-stream again.data >got 2>said || grep -q 'it was cut short' said
		none grep 'resumed at' said
		grep -q '^SAMPLE  *10$' got
		grep -q '^TRACING_DATA  *1$' got
	done
END

# Samples of process 1, which has mapped data at 0x20000, code at 0x10000 and 0x30000.
cat >"$scratch/spaces.py" <<'END'
USER = 0xfffffffffffffe00	# PERF_CONTEXT_USER
def mmap2(start, path, prot, size=0x1000, offset=0, pid=1):
    return record(10, struct.pack("<IIQQQIIQQII", pid & 0xffffffff, 1, start, size, offset,
                                  8, 1, sum(path), 0, prot, 2) + pad(path))
def sample(ip, *callers):
    return record(9, struct.pack("<QIIQ%dQ" % (len(callers) + 3), ip, 1, 1, 7, len(callers) + 2,
                                 USER, ip, *callers))
def stream(*records):
    return pipe(record(64, attr(1, 0, 7, IP | TID | PERIOD | CHAIN)),
                mmap2(0x10000, b"/a", 5), mmap2(0x20000, b"/data", 1), mmap2(0x30000, b"/b", 5),
                *records)
END

# folded STREAM: its stacks, found in two ways
folded() {
	pmu-topprof --to folded --label none "$1" | sort >direct
	pmu-symbolize -q "$1" | pmu-topprof --to folded --label none | sort | same direct - >&2
	cat direct
}

check 'a sampled address is found in any mapping; a caller outside code ends the stack' <<'END'
	{ cat "$scratch/spaces.py"; cat <<-EOF; } | compose s.data
		both = [sample(0x20010), sample(0x10010, 0x20010), sample(0x20010, 0x20010)]
		late = [sample(0x40010), mmap2(0x40000, b"/late", 3), sample(0x40010), sample(0x30010, 0x40010),
		        mmap2(0x40000, b"/later", 3), sample(0x40010), mmap2(0x40000, b"/code", 5),
		        sample(0x40010), sample(0x30010, 0x40010)]
		out = stream(*both, *both, *late)
	EOF
	cat >want <<-EOF
		[a] 14
		[b] 7
		[code] 7
		[code];[b] 7
		[data] 28
		[late] 7
		[later] 7
		[unknown] 7
	EOF
	folded s.data | same want -
END

# The calls of the CPU's record of branches, and data of a guest, are not in the addresses.
check 'samples with equal addresses have the stacks that each of them has' <<'END'
	{ cat "$scratch/spaces.py"; cat <<-EOF; } | compose calls.data
		CALLS = attr(1, 0, 7, IP | TID | PERIOD | CHAIN | 1 << 11)	# BRANCH_STACK
		CALLS = CALLS[:72] + struct.pack("<Q", 1 << 11) + CALLS[80:]	# BRANCH_CALL_STACK
		def call(*callers):
		    return record(9, struct.pack("<QIIQ4Q", 0x10010, 1, 1, 7, 2, USER, 0x10010,
		                                 len(callers)) +
		                  b"".join(struct.pack("<3Q", at, 0, 0) for at in callers))
		out = pipe(record(64, CALLS), mmap2(0x10000, b"/a", 5), mmap2(0x30000, b"/b", 5),
		           call(), call(0x30010), call(), call(0x30010, 0x10020), call(0x30010))
	EOF
	printf '%s\n' '[a] 14' '[a];[b];[a] 7' '[b];[a] 14' >want
	folded calls.data | same want -
	{ cat "$scratch/spaces.py"; cat <<-EOF; } | compose guest.data
		GUEST = 0xfffffffffffff800	# PERF_CONTEXT_GUEST
		def guest(start, path, prot):
		    r = mmap2(start, path, prot)
		    return r[:4] + struct.pack("<H", 4) + r[6:]
		def hit(at):
		    return record(9, struct.pack("<QIIQ3Q", at, 1, 1, 7, 2, GUEST, at), 4)
		out = stream(hit(0x50010), guest(0x50000, b"/one", 1), hit(0x50010),
		             guest(0x50000, b"/two", 1), hit(0x50010), guest(0x50000, b"/code", 5),
		             hit(0x50010))
		out = out.replace(mmap2(0x20000, b"/data", 1), b"")
	EOF
	printf '%s\n' '[code] 7' '[one] 7' '[two] 7' '[unknown] 7' >want
	folded guest.data | same want -
END

check 'what Linux marks for another session has no build ID; perf reads what passes' <<'END'
	{ cat "$scratch/spaces.py"; cat <<-EOF; } | compose s.data
		MARK = 0x4000			# PERF_RECORD_MISC_MMAP_BUILD_ID
		def marked(device):		# linux/perf_event.h: maj, min, ino, ino_generation
		    return record(10, struct.pack("<IIQQQIIQQII", 1, 1, 0x50000, 0x1000, 0, *device,
		                                  7, 5, 2) + pad(b"/marked"), 2 | MARK)
		out = stream(*(marked(device) + sample(0x50010)
		               for device in [(0, 33, 5), (7, 0, 1 << 33), (8, 1, 9), (254, 0, 10963607)]))
	EOF
	pmu-stream --dump s.data | grep /marked >dump
	test "$(wc -l <dump)" -eq 4
	none grep build_id dump
	if command -v perf >/dev/null; then
		none perf script -i - -F ip <s.data >out 2>&1
	fi
	pmu-stream --decompress s.data >d.data
	command -v perf >/dev/null || exit 0
	perf script -i - -F ip <d.data >out
	test "$(grep -c unknown out)" -eq 4
END

check 'code that is made writable is still called from; what takes its place is not code' <<'END'
	{ cat "$scratch/spaces.py"; cat <<-EOF; } | compose s.data
		out = stream(mmap2(0x10000, b"/a", 3), sample(0x30010, 0x10010), sample(0x10010),
		             mmap2(0x10400, b"/heap", 3, 0x400), sample(0x30010, 0x10410), sample(0x10410),
		             sample(0x30010, 0x10010), sample(0x30010, 0x10810))
	EOF
	printf '%s\n' '[a] 7' '[a];[b] 21' '[b] 7' '[heap] 7' >want
	folded s.data | same want -
END

check "in simpleperf's recordings all that is mapped may be code, as is what pid -1 maps" <<'END'
	file=$simpleperf/perf_with_jit_symbol.data
	needs "$file"
	pmu-stream --dump --json "$file" >dump
	pmu-topprof --to folded --label none "$file" >folded
	python3 - <<-EOF
		import json
		maps, leaves, nowhere = [], 0, 0
		for line in open("dump"):
		    r = json.loads(line)
		    if r["type"] in ("MMAP", "MMAP2"):
		        maps.append((int(r["start"], 16), int(r["bytes"], 16)))
		    if r["type"] == "SAMPLE":
		        ip = int(r["ip"], 16)
		        if not any(start <= ip < start + size for start, size in maps):
		            nowhere += r["period"]
		got = sum(int(l.rsplit(" ", 1)[1]) for l in open("folded")
		          if l.rsplit(" ", 1)[0].endswith("[unknown]"))
		assert got == nowhere, (got, nowhere)
	EOF
	none grep 'unknown.*jit_app_cache' folded
	needs "$simpleperf/script_perf_test_vmlinux.data"
	pmu-topprof --to folded --label none "$simpleperf/script_perf_test_vmlinux.data" >folded
	none grep unknown folded
END

check 'anonymous memory between two parts of a file is the file, wherever it lies' <<'END'
	{ cat "$scratch/spaces.py"; cat <<-EOF; } | compose s.data
		def parts(at, offset, name=b"//anon"):
		    return [mmap2(at, b"/file", 5), mmap2(at + 0x1000, name, 5, 0x3000),
		            mmap2(at + 0x4000, b"/file", 5, 0x1000, offset), sample(at + 0x1010)]
		out = stream(*parts(0x100000, 0x4000), *parts(0x200000, 0x5000),
		             *parts(0x300000, 0x4000, b"/other"))
	EOF
	printf '%s\n' '[anon] 7' '[file] 7' '[other] 7' >want
	folded s.data | same want -
END

check "simpleperf's names of tracepoints are the events'" <<'END'
	needs "$simpleperf/perf_with_tracepoint_event.data"
	cp "$simpleperf/perf_with_tracepoint_event.data" s.data
	pmu-stream --decompress s.data >pipe.data
	pmu-stream --cat s.data >joined.data
	for file in s.data pipe.data joined.data; do
		pmu-stream $file | sed -n 's/^event \(.*\): .* samples.*/\1/p' | sort >got
		printf '%s\n' cycles sched:sched_switch | same - got
	done
END

check "Android's stacks have the names that simpleperf itself gives them" <<'END'
	recording=$simpleperf/perf_with_jit_symbol
	needs "$recording.data" "$recording.foldedstack"
	pmu-stream --decompress "$recording.data" >pipe.data
	pmu-stream --cat "$recording.data" >joined.data
	for i in "$recording.data" pipe.data joined.data; do
		pmu-symbolize "$i" 2>said | pmu-topprof --to folded --label thread_comm >got
		none grep 'no names from' said
		python3 - "$recording.foldedstack" got <<-EOF
			import re, sys
			def read(path):	# {stack: value}
			    stacks = {}
			    for line in open(path):
			        stack, value = line.rstrip().rsplit(" ", 1)
			        frames = tuple(re.sub(r"_\\[j\\]$|\\(.*", "", f) for f in stack.split(";"))
			        stacks[frames] = stacks.get(frames, 0) + int(value)
			    return stacks
			want, got = read(sys.argv[1]), read(sys.argv[2])
			assert sum(want.values()) == sum(got.values())
			known = {f for stack in want for f in stack}
			# It leaves out the leaf, all that the interpreter calls for itself, and a
			# method that was interpreted where the same goes on compiled.
			def shown(stack):
			    stack = ["unknown" if f == "[kernel.kallsyms]" else f for f in stack]
			    return tuple(f for i, f in enumerate(stack)
			                 if f in known and not f.startswith("art") and
			                 not ("MainActivity" in f and f in stack[i + 1:]))
			sums = [{}, {}]
			for stack, value in want.items():
			    sums[0][shown(stack)] = sums[0].get(shown(stack), 0) + value
			for stack, value in got.items():
			    key = shown(stack)
			    last = stack[-1]
			    seen = last in known and not last.startswith("art") or "kernel" in last
			    key = key[:-1] if seen else key
			    sums[1][key] = sums[1].get(key, 0) + value
			assert len(known) >= 10 and sums[0] == sums[1], sums
		EOF
	done
	needs "$simpleperf/script_perf_test_vmlinux.data"
	pmu-symbolize "$simpleperf/script_perf_test_vmlinux.data" 2>said |
		pmu-topprof --to folded --label none >got
	none cat said
	names='ret_from_fork;kthread;rcu_gp_kthread;rcu_gp_cleanup;swake_up_all'
	grep -qx "$names;_raw_spin_unlock_irq 239956" got
END

check '--comm selects the same samples in pmu-stream and pmu-topprof' <<'END'
	long=org.example.application:background
	{ cat "$scratch/spaces.py"; cat <<-EOF; } | compose s.data
		def comm(tid, name, misc=2):
		    return record(3, struct.pack("<II", 1, tid) + pad(name), misc)
		def fork(tid, parent):
		    return record(7, struct.pack("<IIIIQ", 1, 1, tid, parent, 0))
		def hit(tid):
		    return record(9, struct.pack("<QIIQQ", 0x10010, 1, tid, 1, 0))
		out = stream(hit(1), comm(1, b"$long"), hit(1), fork(2, 1), hit(2), comm(2, b"b" * 15),
		             hit(2), fork(2, 9), hit(2), comm(2, b"guest", 5), hit(2), fork(3, 9), hit(3))
	EOF
	for comm in $long=2 bbbbbbbbbbbbbbb=3 guest=0 org.example.app=0 =2; do
		pmu-stream -o one.data --comm "${comm%=*}" s.data
		pmu-topprof --label none --to folded one.data >stream
		pmu-topprof --label none --to folded --comm "${comm%=*}" s.data 2>said | same stream -
		test "$(awk '{ n += $NF } END { print n + 0 }' stream)" = "${comm#*=}"
	done
END

# A perf.data file with a tracepoint's name and a build ID in its features, which come last.
cat >"$scratch/file.py" <<'END'
ID = bytes(range(1, 21))
NAME = b"sched:sched_switch".ljust(64, b"\0")
def event_desc(a, name):
    return (struct.pack("<II", 1, len(a)) + a + struct.pack("<II", 1, len(name)) + name +
            struct.pack("<Q", 5))
def perf_data(samples=3):
    a = attr(2, 47, 1, IP | TID | PERIOD | CHAIN)
    build_id = record(67, struct.pack("<I", 1) + ID + bytes([20, 0, 0, 0]) + pad(b"/lib/a.so"),
                      1 << 15 | 2)
    hit = record(9, struct.pack("<QIIQQ", 0x10010, 1, 1, 1, 0))
    lib = record(1, mmap(1, 0x10000, 0x1000, b"/lib/a.so"))
    return file([(a, [5])], [lib] + [hit] * samples,
                {2: build_id, 3: struct.pack("<I", 64) + b"phone".ljust(64, b"\0"),
                 12: event_desc(a, NAME)})
END

check 'a perf.data file is the same through a pipe, by zstd or gzip: names, build IDs, host' <<'END'
	unsanitized
	{ cat "$scratch/file.py"; echo 'out = perf_data()'; } | compose s.data
	pmu-stream --dump s.data >want
	grep -q 'event="sched:sched_switch"' want
	grep -q BUILD_ID want
	grep -q 'text="phone"' want
	pmu-topprof -Z none s.data >want.pb
	go tool pprof -raw want.pb >want.raw
	grep -q '0102030405060708' want.raw
	needs_command zstd gzip
	zstd -q s.data -o s.zst
	gzip -k s.data
	{ head -c 100 s.data | gzip; tail -c +101 s.data | gzip; } >members.gz
	for i in s.data s.zst s.data.gz members.gz; do
		pmu-stream --dump $i | same want -
		pmu-stream --dump <$i | same want -
		cat $i | pmu-stream --dump | same want -
		{ dd bs=7 count=3 status=none; sleep 0.2; cat; } <$i | pmu-stream --dump | same want -
		cat $i | pmu-topprof -Z none | cmp - want.pb
		pmu-topprof -Z none $i | cmp - want.pb
	done
	for i in s.zst s.data.gz; do
		head -c $(($(wc -c <$i) - 6)) $i >cut
		exits 1 pmu-stream cut 2>said
		grep -q 'inside its compressed data' said
		exits 1 pmu-topprof cut -o cut.pb.gz
	done
	gzip -c want.pb >profile.pb.gz
	test "$(pmu-topprof --to folded profile.pb.gz)" = "$(pmu-topprof --to folded want.pb)"
	exits 1 pmu-stream profile.pb.gz 2>said
	grep -q 'not a stream' said
END

check 'a file by a pipe that does not fit into TMPDIR is refused, with what to do' <<'END'
	needs_root
	{ cat "$scratch/file.py"; echo 'out = perf_data(50000)'; } | compose s.data
	mkdir small
	mount -t tmpfs -o size=1m tmpfs small 2>/dev/null || skip 'no tmpfs'
	TMPDIR=$PWD/small pmu-stream s.data >want	# its own file needs no other
	cat s.data | TMPDIR=$PWD/small exits 1 pmu-stream >got 2>said
	cat s.data | TMPDIR=$PWD/none pmu-stream | same want -
	umount small
	grep -q 'TMPDIR' said
	grep -q 'No space' said
END

check 'perf.data of the first format is read, as perf reads it' <<'END'
	needs_command perf
	{ cat "$scratch/file.py"; cat <<-EOF; } | compose s.data
		a = attr(0, 0, 500, IP | TID, 0, 64)
		hit = record(9, struct.pack("<QII", 0x1000, 7, 7))
		out = file([(a, [])], [record(3, struct.pack("<II", 7, 7) + pad(b"prog"))] + [hit] * 5)
		out = b"PERFFILE" + out[8:]
	EOF
	test "$(perf_samples s.data)" = 5
	pmu-stream s.data | grep -q '^event cycles: 5 samples, 2500 in all'
	pmu-topprof --label none --to folded s.data | grep -q ' 2500$'
	cat s.data | pmu-stream --decompress | pmu-stream | grep -q '^COMM  *1$'
	needs "$SHARED/callgraph-3.8.perf.data"
	{ printf PERFFILE; tail -c +9 "$SHARED/callgraph-3.8.perf.data"; } >old.data
	pmu-stream "$SHARED/callgraph-3.8.perf.data" >want
	pmu-stream old.data | same want -
	test "$(perf_samples old.data)" = "$(awk '/^SAMPLE / { print $2 }' want)"
	python3 "$TOP/tests/other-order.py" s.data big.data 2>said || skip "no other order: $(cat said)"
	{ printf PERFFILE; tail -c +9 big.data; } >old.data
	pmu-stream old.data | grep -q '^event cycles: 5 samples, 2500 in all'
END

check 'a build ID whose size is not recorded ends before the zeros that fill it up' <<'END'
	{ cat "$scratch/spaces.py"; cat <<-EOF; } | compose s.data
		def build_id(path, value, size=None):
		    body = struct.pack("<I", 1) + value.ljust(20, b"\\0") + bytes([size or 0, 0, 0, 0])
		    return record(67, body + pad(path), (1 << 15 if size else 0) | 2)
		out = stream(build_id(b"/8", bytes(range(1, 9))), build_id(b"/16", bytes(range(1, 17))),
		             build_id(b"/20", bytes(range(1, 21))), build_id(b"/odd", b"abcdefg"),
		             build_id(b"/zero", b""), build_id(b"/told", b"1234", 20))
	EOF
	pmu-stream --dump s.data | sed -n 's/.*build_id="\(.*\)" path="\(.*\)"$/\2 \1/p' >got
	cat >want <<-EOF
		/8 0102030405060708
		/16 0102030405060708090a0b0c0d0e0f10
		/20 0102030405060708090a0b0c0d0e0f1011121314
		/odd 6162636465666700
		/told 3132333400000000000000000000000000000000
	EOF
	same want got
	pmu-stream --check s.data
	needs "$SHARED/ro_sample.perf.data"
	pmu-topprof -o p.pb.gz "$SHARED/ro_sample.perf.data"
	go tool pprof -raw p.pb.gz 2>err | grep -q 'libro_sample.so 9c9f8fbd0f965618 *$'
END

check '--cat keeps samples of any size that a record can have' <<'END'
	{ cat "$scratch/spaces.py"; cat <<-EOF; } | compose s.data
		STACK, size = 1 << 13, 65528
		def hit(tid, used):
		    words = struct.pack("<QIIQQ", 0x10010, 1, tid, 1, 1) + struct.pack("<Q", 0x10010)
		    room = size - 8 - len(words) - 16
		    return record(9, words + struct.pack("<Q", room) +
		                  bytes(i % 251 for i in range(room)) + struct.pack("<Q", min(used, room)))
		out = pipe(record(64, attr(1, 0, 7, IP | TID | PERIOD | CHAIN | STACK)),
		           hit(1, 1 << 20), hit(1, 100), hit(1, 1 << 20))
	EOF
	{ cat "$scratch/spaces.py"; cat <<-EOF; } | compose chain.data
		def hit(tid, *chain):
		    return record(9, struct.pack("<QIIQQ", 0x10010, 1, tid, 1, len(chain)) +
		                  struct.pack("<%dQ" % len(chain), *chain))
		out = pipe(record(64, attr(1, 0, 7, IP | TID | PERIOD | CHAIN)),
		           hit(1, *range(0x10010, 0x10010 + 8186)), hit(1, 0x10010))
	EOF
	{ cat "$scratch/spaces.py"; cat <<-EOF; } | compose raw.data
		def hit(size):
		    return record(9, struct.pack("<QIIQI", 0x10010, 1, 1, 1, size) + b"r" * size)
		out = pipe(record(64, attr(1, 0, 7, IP | TID | PERIOD | RAW)), hit(65492), hit(12))
	EOF
	for i in s=3 chain=2 raw=2; do
		pmu-stream --cat ${i%=*}.data >joined.data
		pmu-stream joined.data | grep -qx "SAMPLE  *${i#*=}"
		test "$(perf_samples joined.data)" = ${i#*=}
		pmu-stream --check joined.data
		pmu-stream --cat joined.data ${i%=*}.data | pmu-stream |
			grep -qx "SAMPLE  *$((2 * ${i#*=}))"
	done
	perf script -i joined.data -F ip 2>err | grep -c 10010 | grep -qx 2
END

check "groups: --stats has the sums of what the counters went on, not of what they show" <<'END'
	{ cat "$scratch/spaces.py"; cat <<-EOF; } | compose s.data
		GROUP = 4 | 8	# PERF_FORMAT_ID | GROUP
		def hit(a, b):
		    return record(9, struct.pack("<QQIIQQQQQQ", 1, 0x10010, 1, 1, 10, 2, a, 1, b, 2))
		out = pipe(*[record(64, attr(0, i, 10, IDENT | IP | TID | PERIOD | READ, read=GROUP) +
		                    struct.pack("<Q", i + 1)) for i in (0, 1)],
		           hit(10, 100), hit(20, 300), hit(30, 300), hit(40, 700))
	EOF
	pmu-stream s.data >got
	grep -q '^event cycles: 4 samples, 40 in all$' got
	grep -q '^event instructions: 3 samples, 700 in all$' got
	pmu-topprof -Z none --label none s.data -o p.pb
	go tool pprof -raw p.pb | grep -q '4 *40 *3 *700'
	perf report -i s.data --stats 2>err | awk '/SAMPLE events:/ { print $3 }' >perf
	printf '%s\n' 4 4 3 | same - perf || { cat perf; skip 'perf counts otherwise'; }
END

# What an event did not ask for was left in its record by the event before it, in Linux 6.1.
check 'a mark of a build ID in a record that has device and inode does not count' <<'END'
	{ cat "$scratch/spaces.py"; cat <<-EOF; } | compose s.data
		ASKS = 1 << 34	# attr.build_id
		def event(number, flags):
		    return record(64, attr(1, number, 1, IDENT | IP | TID | TIME, flags=1 << 18 | flags)
		                  + struct.pack("<Q", number))
		def mmap2(id, start, bytes24, path):
		    return record(10, struct.pack("<IIQQQ", 5, 5, start, 0x1000, 0) + bytes24
		                  + struct.pack("<II", 5, 2) + pad(path)
		                  + struct.pack("<IIQQ", 5, 5, 1, id), 2 | 1 << 14)
		def file(major, minor, inode, generation=0):
		    return struct.pack("<IIQQ", major, minor, inode, generation)
		def build_id(size):
		    return bytes([size, 0, 0, 0]) + bytes(range(200, 200 + size)).ljust(20, b"\0")
		out = pipe(event(1, ASKS), event(2, 0),
		           mmap2(2, 0x1000, file(8, 1, 1234), b"/disk"),
		           mmap2(2, 0x2000, file(0, 45, 77, 5), b"/overlay"),
		           mmap2(2, 0x3000, file(259, 2, 99), b"/nvme"),
		           mmap2(1, 0x4000, build_id(20), b"/asked"),
		           mmap2(1, 0x5000, bytes([8, 0, 0, 0, 1]).ljust(24, b"\0"), b"/asked-8"),
		           mmap2(0, 0x6000, build_id(8), b"/listed-8"),
		           mmap2(2, 0x7000, build_id(20), b"/injected-20"),
		           mmap2(2, 0x8000, build_id(8), b"/injected-8"),
		           record(9, struct.pack("<QQIIQ", 1, 0x1000, 5, 5, 1)))
	EOF
	pmu-stream --dump s.data | sed -n 's/.*executable=1\(.*\) path="\([^"]*\)".*/\2\1/p' >got
	id=c8c9cacbcccdcecf
	cat >want <<-EOF
		/disk
		/overlay
		/nvme
		/asked build_id="${id}d0d1d2d3d4d5d6d7d8d9dadb"
		/asked-8 build_id="0100000000000000"
		/listed-8 build_id="$id"
		/injected-20 build_id="${id}d0d1d2d3d4d5d6d7d8d9dadb"
		/injected-8 build_id="$id"
	EOF
	same want got
	needs_command perf
	pmu-stream --decompress s.data >mended.data
	perf script -i mended.data --show-mmap-events 2>/dev/null |
		sed -n 's/.* @ 0 \([0-9a-f:]* [0-9]* [0-9]*\)\]: r-xp \(.*\)/\2 \1/p' >got
	cat >want <<-EOF
		/disk 08:01 1234 0
		/overlay 00:2d 77 5
	EOF
	grep -e disk -e overlay got | same want -
END

check 'a record whose fields do not fit it is reported in each way to read, and not written' <<'END'
	compose s.data <<-EOF
		wide = struct.pack("<IIQQQ", 5, 5, 0x1000, 2**64 - 1, 0) + pad(b"/wide")
		out = pipe(record(64, attr(1, 0, 1, IP | TID | TIME | PERIOD, flags=0)),
		           record(1, mmap(5, 0x10000, 0x1000, b"/whole")), record(1, wide),
		           record(9, struct.pack("<QIIQQ", 0x10010, 5, 5, 1, 1)),
		           record(3, struct.pack("<II", 5, 5)))
	EOF
	for way in --check --stats --dump --zstd --decompress --cat; do
		exits 1 pmu-stream $way s.data >out$way 2>said
		cat said
		test "$(grep -c "offset 0x[0-9a-f]*: record with fields that do not fit" said)" = 2
	done
	for way in --zstd --decompress --cat; do
		# --cat says that its input was not whole
		pmu-stream --dump out$way >dump 2>said || test $way = --cat
		grep -q /whole dump
		grep -q SAMPLE dump
		none grep /wide dump
	done
END

done_testing
