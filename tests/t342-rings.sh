#!/bin/sh
# Records that the kernel makes wrong where several sessions record: a KSYMBOL, BPF_EVENT or
# TEXT_POKE record is longer with each event and session that gets it, and ends in bytes of older
# records; a sample of a software event has the ID of another session's event.
# kinds: release asan
. tests/lib.sh

# judge FILE [COUNT]: each of these records, at least COUNT of each type, has the size of its
# fields and its sample_id, and a time between those of samples; and samples come up to the end
judge() {
	python3 - "$@" <<-'EOF'
		import struct, sys
		data, at = open(sys.argv[1], "rb").read(), 16
		least = int(sys.argv[2]) if len(sys.argv) > 2 else 1
		samples, lost, found, wrong = [], [], {17: []}, 0
		while at < len(data):
		    kind, _, size = struct.unpack_from("<IHH", data, at)
		    if kind == 64:
		        form, = struct.unpack_from("<Q", data, at + 32)
		        before = 8 * sum(form >> bit & 1 for bit in (16, 0, 1))	# the time of a sample
		        trailer = 8 * sum(form >> bit & 1 for bit in (1, 2, 6, 9, 7, 16))
		    elif kind == 80 and data[at + 8] == 21:
		        begin, end = struct.unpack_from("<QQ", data, at + 16)
		    elif kind == 9:
		        samples += struct.unpack_from("<Q", data, at + 8 + before)
		    elif kind == 13:	# LOST_SAMPLES: the count, the sample_id
		        lost.append((struct.unpack_from("<Q", data, at + 8)[0],
		                     struct.unpack_from("<Q", data, at + 24)[0]))
		    elif kind in (17, 18, 20):
		        fields = 24
		        if kind == 17:
		            fields += (data.index(0, at + 24) - at - 24 + 8) & ~7
		        if kind == 20:
		            fields = (20 + sum(struct.unpack_from("<HH", data, at + 16)) + 7) & ~7
		        found.setdefault(kind, []).extend(struct.unpack_from("<Q", data, at + fields + 8))
		        if size != fields + trailer:
		            print("type %d at 0x%x: %d bytes, not %d" % (kind, at, size, fields + trailer))
		            wrong += 1
		    at += size
		last = end - (end - begin) // 4
		late = sum(t > last for t in samples) + sum(n for n, t in lost if t > last)
		all = len(samples) + sum(n for n, t in lost)
		if late < all // 8:	# a ring was not read any more
		    print("%d of %d samples in the last quarter" % (late, all))
		    wrong += 1
		for kind, times in sorted(found.items()):
		    print("type %d: %d" % (kind, len(times)))
		    out = [t for t in times if not min(samples) - 10**9 <= t <= max(samples) + 10**9]
		    if out or len(times) < least:
		        print("wrong times:", out)
		        wrong += 1
		sys.exit(wrong > 0)
	EOF
}

check 'BPF programs that are loaded while several sessions record all CPUs' <<'END'
	unsanitized
	needs_root
	status=0
	timeout 0.1 bpf-load 100 >log || status=$?
	test $status != 77 || skip 'no BPF program can be loaded'
	for i in 1 2 3; do	# the second and the third that the kernel serves get longer records
		mkfifo control$i
		pmu-sample -a -e cpu-clock -F 1997 -m 128Ki -g -v --control control$i -o $i.data \
			2>said$i & eval "pid$i=$!"
	done
	# where records were read, there are stale bytes
	wrapped() { for i in 1 2 3; do test $(wc -c <$i.data) -gt 400000 || return 1; done; }
	eventually wrapped
	bpf-load 200 >loaded & loader=$!
	later() { for i in 1 2 3; do test $(wc -c <$i.data) -gt $(($1 + 200000)) || return 1; done; }
	eventually later "$(cat 1.data 2.data 3.data | wc -c | awk '{ print int($1 / 3) }')"
	# on a busy machine that takes no time, and the loader has just started
	programs() { pmu-stream -q $1 2>/dev/null | awk '$1 == "KSYMBOL" { print $2 }'; }
	loaded() { for i in 1 2 3; do at_least "$(programs $i.data)" 80 || return 1; done; }
	eventually loaded
	kill $loader
	wait $loader
	at_least "$(cat loaded)" 20
	for i in 1 2 3; do
		echo stop >control$i
	done
	wait $pid1 $pid2 $pid3
	for i in 1 2 3; do
		cat said$i
		none grep 'full for a second' said$i
		judge $i.data 40
	done
END

# sums FILE: "EVENT SAMPLES SUM" for each event; nothing else may be said
sums() {
	pmu-stream "$1" 2>wrong |
		sed -n 's/^event \(.*\): \([0-9]*\) samples, \([0-9]*\) in all$/\1 \2 \3/p'
	none cat wrong
}

check 'several sessions sample the same faults and switches: each has all, with its own IDs' <<'END'
	unsanitized
	pmu-sample -e page-faults -o /dev/null true 2>why || skip "$(grep -m 1 ^pmu-sample: why)"
	mkfifo go
	sh -c 'read line <go; i=0; while test $((i += 1)) -le 100; do (:); done' & target=$!
	events='-e page-faults/period=1/ -e context-switches/period=1/ -e cpu-migrations/period=1/'
	pmu-sample -v $events -g -p $target -o 1.data 2>said1 & first=$!
	eventually test -s 1.data
	pmu-sample -v $events -p $target -o 2.data 2>said2 & second=$!
	eventually test -s 2.data
	all=
	if pmu-sample -q -a -e page-faults/period=1/ -o /dev/null true 2>why; then
		pmu-sample -v -a $events -o 3.data 2>said3 & all=$!
		eventually test -s 3.data
	fi
	echo >go
	wait $target
	wait $first
	wait $second
	if test -n "$all"; then
		kill $all
		wait $all
	fi
	for i in 1 2; do
		cat said$i
		grep ' 0 lost,' said$i
		sed -n 's/^pmu-sample: \(.*\): \([0-9]*\) counted in .*/\1 \2 \2/p' said$i >counted$i
		sums $i.data | same counted$i -
		# in order: a sample has no other session's time
		pmu-stream -v --decompress $i.data 2>late >copy.data
		none grep 'came later' late
	done
	at_least "$(awk '/^page-faults/ { print $2 }' counted2)" 40
	# other users may not see the kernel, where threads are switched
	test "$(id -u)" != 0 || at_least "$(awk '/^context-switches/ { print $2 }' counted2)" 40
	# both were prepared at the same moment, so one has the other's IDs, where Linux leaves them
	grep -h "had the ID of another session's event" said1 said2 || uname -r
	if test -n "$all"; then
		sums 3.data >all
		cat said3 all
		samples 3.data pid,event | awk '$1 == '$target' && /page-faults/' | grep -c . >of_target
		# beside a program that takes very many faults, some of all are lost
		! grep -q ' 0 lost,' said3 || at_least "$(cat of_target)" 10
	fi
END

# made FILE EXTRA [one]: two events of different sample_ids, or one; records of these types with
# EXTRA stale bytes that look like a time in 121 years; and what perf writes for programs loaded
# before, without ids
made() {
	compose "$1" <<-EOF
		KIND = IDENT | IP | TID | TIME
		STALE = struct.pack("<Q", 3833468611337663204) * ($2 // 8)
		def sample(id, time):
		    return record(9, struct.pack("<QQIIQ", id, 0x1000, 7, 7, time) +
		                  (struct.pack("<II", 1, 0) if id == 6 else b""))
		def other(kind, fields, id, time):
		    end = struct.pack("<IIQ", 7, 7, time) + (struct.pack("<II", 1, 0) if id == 6 else b"")
		    return record(kind, fields + end + struct.pack("<Q", id) + STALE)
		def ksymbol(id, time, name=b"bpf_prog_1"):
		    return other(17, struct.pack("<QIHH", 1 << 47, 20, 1, 0) + pad(name), id, time)
		def bpf(id, time):
		    return other(18, struct.pack("<HHI8s", 1, 0, 5, b"12345678"), id, time)
		def poke(id, time, old=5, new=5):
		    bytes = struct.pack("<QHH", 1 << 47, old, new) + b"\x90" * (old + new)
		    return other(20, bytes + b"\0" * (-len(bytes) % 8), id, time)
		S, last = 10 ** 9, 5 if "$3" else 6
		parts = [record(64, attr(1, 0, 1, KIND) + struct.pack("<Q", 5))]
		if last == 6:
		    parts += [record(64, attr(1, 1, 1, KIND | CPU) + struct.pack("<Q", 6))]
		out = pipe(*parts, bpf(0, 0), sample(5, 1 * S), ksymbol(5, 2 * S), ksymbol(last, 3 * S),
		           sample(last, 4 * S), bpf(5, 5 * S), bpf(last, 6 * S), poke(5, 7 * S),
		           poke(last, 8 * S, 3, 9), record(68, b""), ksymbol(last, 9 * S, b"1234567"),
		           sample(5, 10 * S), record(68, b""))
	EOF
}

check 'files that have these records: times are right, and copies have the right size' <<'END'
	for extra in 0 24 48; do
		made $extra.data $extra
		pmu-stream -D $extra.data | sed 's/^0x[0-9a-f]* *//' >$extra.dump
		grep -o 'time=[0-9]*' $extra.dump | sed 's/.*=//' >times
		grep -c . times | grep -qx 10
		sort -n -c times
		pmu-stream $extra.data | tail -n 1 | grep -q ' 9.000000 s from 1.000000 to 10.000000'
		pmu-stream --decompress $extra.data >copy.data
		pmu-stream --decompress 0.data | cmp - copy.data
	done
	same 0.dump 24.dump
	same 0.dump 48.dump
END

check 'such files in the other byte order, and with these records in COMPRESSED ones' <<'END'
	for extra in 0 24; do
		made $extra.data $extra one
		python3 "$TOP/tests/other-order.py" $extra.data other.data
		pmu-stream -D other.data | sed 's/^0x[0-9a-f]* *//' >$extra.other
		pmu-stream -D $extra.data | sed 's/^0x[0-9a-f]* *//' >$extra.dump
		sed 's/ size=[0-9]*//' $extra.dump >a	# the other machine's ATTR has the same size
		sed 's/ size=[0-9]*//' $extra.other | same a -
	done
	same 0.dump 24.dump
	same 0.other 24.other
	made 24.data 24
	python3 - <<-'EOF'
		import struct, subprocess
		data = open("24.data", "rb").read()
		begin = 16
		for _ in range(2):	# the ATTR records stay outside
		    begin += struct.unpack_from("<H", data, begin + 6)[0]
		inner = subprocess.run(["zstd", "-qc"], input=data[begin:], stdout=subprocess.PIPE).stdout
		open("z.data", "wb").write(data[:begin] + struct.pack("<IHH", 81, 0, 8 + len(inner)) + inner)
	EOF
	pmu-stream --decompress z.data >got
	made 0.data 0
	pmu-stream --decompress 0.data | cmp - got
END

done_testing
