#!/bin/sh
# Files and streams of other writers, old and new.
# kinds: release asan
. tests/lib.sh

has() { pmu-stream "$1" | awk -v type="$2" '$1 == type { n = $2 } END { print n + 0 }'; }

check 'a file of simpleperf: its own records are skipped, large ones too, its ids used' <<'END'
	compose s.data <<-END
		t = IP | TID | TIME | CPU | PERIOD | IDENT | CHAIN
		a = [attr(0, i, 1000, t, 0) for i in (0, 1)]
		def sample(i, ip):
		    return record(9, struct.pack("<QQIIQIIQQQ", i, ip, 7, 7, 1000 + ip, 0, 0, 10,
		                                 1, ip))
		large = b"0000 T symbol\n" * 6000
		size = 8 + len(large)
		records = [
		    struct.pack("<IHH", 32769, size >> 16, size & 0xffff) + large,
		    struct.pack("<IHH", 32769, 1, 4) + bytes(65536 + 4 - 8),
		    record(1, mmap(7, 0x400000, 0x10000, b"/data/app/lib.so"), 2),
		    record(32770, struct.pack("<QQQ", 1, 0, 0) + pad(b"/data/app/lib.so"), 0),
		    record(32771, struct.pack("<QQQ", 0x1000, 16, 0) + pad(b"name"), 0),
		    record(32772, bytes(60000), 0), record(32773, b"", 0),
		    sample(1, 0x401000), sample(2, 0x402000), sample(2, 0x403000),
		    record(32774, struct.pack("<QQQQQ", 2, 0, 2, 1, 77), 0),
		    sample(2, 0x401000), sample(77, 0x402000), record(32776, bytes(16), 0),
		]
		out = file([(a[0], [1]), (a[1], [2])], records,
		    {3: struct.pack("<I", 8) + b"phone".ljust(8, b"\0"), 128: b"\0" * 50,
		     129: b"simpleperf_version\0001.0\0"})
	END
	exits 0 pmu-stream s.data >out
	cat out
	# event 2 is the second until EVENT_ID says otherwise
	grep -q "^event cycles: 2 samples, 20 in all" out
	grep -q "^event instructions: 3 samples, 30 in all" out
	test "$(awk "\$1 == \"unknown\" { print \$2 }" out)" = 8
	cat s.data | pmu-topprof >p.pb.gz
	go tool pprof -raw p.pb.gz | grep -q "M=1\|/data/app/lib.so"
	pmu-stream --dump s.data | grep -c "KERNEL_SYMBOL" | grep -qx 2
	pmu-stream --dump s.data | grep "text=" | grep -q phone
END

check 'attrs of the first version; samples without any id; two events without ids' <<'END'
	compose a.data <<-END
		sample = lambda ip: record(9, struct.pack("<QII", ip, 7, 7))
		a = attr(0, 0, 500, IP | TID, 0, 64)
		a = a[:4] + bytes(4) + a[8:]	# before it told its size
		comm = record(3, struct.pack("<II", 7, 7) + b"prog\0\0\0\0")
		out = file([(a, [])], [comm] + [sample(0x1000)] * 5)
	END
	pmu-stream a.data >out
	grep -q "^event cycles: 5 samples, 2500 in all" out
	grep -q "^COMM  *1$" out
	compose b.data <<-END
		a = attr(0, 0, 500, IP | TID, 0, 72)
		b = attr(0, 1, 500, IP | TID, 0, 72)
		out = file([(a, []), (b, [])], [record(9, struct.pack("<QII", 1, 7, 7))] * 3)
	END
	# they cannot be distinguished: all are taken for the first, as perf does
	pmu-stream b.data | grep -q "^event cycles: 3 samples"
END

check 'equal names are kept apart by id; dummies do not become a profile' <<'END'
	compose d.data <<-END
		t = IP | TID | TIME | ID | PERIOD
		a = [attr(1, 9, 1, t), attr(0, 0, 100, t), attr(0, 0, 200, t)]
		def sample(i, n): return record(9, struct.pack("<QIIQQQ", 0x1000, 7, 7, 5, i, n))
		out = pipe(*[record(64, x + struct.pack("<Q", i + 1), 0) for i, x in enumerate(a)],
		    sample(2, 100), sample(3, 200), sample(3, 200))
	END
	pmu-stream d.data >out
	grep -q "^event cycles: 1 samples, 100 in all" out
	grep -q "^event cycles: 2 samples, 400 in all" out
	pmu-topprof -o p.pb.gz d.data
	go tool pprof -raw p.pb.gz >raw
	none grep -i dummy raw
	grep -q "^ *2 *400\|1 *100 *2 *400" raw
END

check 'a sample of an unknown id, an event that never came: reported, the rest is used' <<'END'
	compose u.data <<-END
		t = IP | TID | TIME | ID
		a = [attr(0, 0, 100, t), attr(0, 1, 200, t)]
		def sample(i): return record(9, struct.pack("<QIIQQ", 0x1000, 7, 7, 5, i))
		attrs = [record(64, x + struct.pack("<Q", i + 1), 0) for i, x in enumerate(a)]
		out = pipe(sample(1), *attrs, sample(1), sample(9), sample(2))
	END
	exits 1 pmu-stream u.data >out 2>err
	grep -q "offset 0x10: SAMPLE record before any event is defined" err
	grep -q "offset 0x[0-9a-f]*: SAMPLE record of an event that the stream does not define" err
	grep -q "^event cycles: 1 samples" out
	grep -q "^event instructions: 1 samples" out
END

check 'types nobody knows are counted; what AUX events traced is skipped, and reported' <<'END'
	compose x.data <<-END
		t = IP | TID | TIME
		s = record(9, struct.pack("<QIIQ", 0x1000, 7, 7, 5))
		aux = record(71, struct.pack("<QQQIIII", 4096, 0, 0, 0, 7, 0, 0), 0)
		aux += bytes(range(256)) * 16
		begin = record(64, attr(0, 0, 100, t) + struct.pack("<Q", 1), 0)
		out = pipe(begin, s, record(70, bytes(16), 0), aux, s,
		    record(40, bytes(8)), record(99, bytes(24), 0), record(0x1234567, b"", 0),
		    record(11, struct.pack("<QQQ", 0, 64, 0)), record(84, bytes(16), 0), aux, s)
	END
	exits 0 pmu-stream x.data >out 2>err
	test "$(has x.data SAMPLE 2>err)" = 3
	grep -q "^AUXTRACE  *2$" out
	grep -q "^40  *1$" out
	grep -q "^unknown  *1$" out
	grep -q "is skipped: it is not decoded" err
	# and passed on without it
	pmu-stream --decompress x.data >y.data 2>err
	test "$(has y.data SAMPLE)" = 3
	test "$(wc -c <y.data)" -lt 1000
	exits 0 pmu-symbolize x.data 2>err | pmu-topprof -o p.pb.gz
	head -c 1000 x.data >cut.data
	exits 1 pmu-stream cut.data >out 2>err
	grep -q "stream ends inside the 4096 bytes after a record of type 71" err
END

check 'damage anywhere: reported with its offset, and all that is whole is used' <<'END'
	compose z.data <<-END
		t = IP | TID | TIME | CHAIN
		def sample(i):
		    user = -512 & 2**64 - 1
		    return record(9, struct.pack("<QIIQQQQ", 0x1000, 7, 7, 5 + i, 2, user, 0x1000))
		s = [sample(i) for i in range(100)]
		begin = [record(64, attr(0, 0, 100, t) + struct.pack("<Q", 1), 0)]
		bad = {
		    "zero": s[0][:6] + bytes(2) + s[0][8:],
		    "seven": s[0][:6] + b"\x07\0" + s[0][8:],
		    "beyond": s[0][:6] + b"\xf8\xff" + s[0][8:],
		    "chain": s[0][:32] + b"\xff" * 7 + b"\x7f" + s[0][40:],
		    "garbage": b"\xa5" * 4800,
		    "zeros": bytes(4800),
		}
		for name in bad:
		    records = [*s[:50], bad[name], *s[50:]]
		    open(name + ".data", "wb").write(pipe(*begin, *records))
		    open(name + ".file", "wb").write(file([(attr(0, 0, 100, t), [1])], records))
		out = pipe(*begin, *s)
	END
	for kind in zero seven beyond chain garbage zeros; do
		for file in $kind.data $kind.file; do
			offset=$(test $file = $kind.data && echo b80 || echo be0)
			exits 1 pmu-stream $file >out 2>err
			# what is damaged is counted where it is a record, and not by event
			grep -q "^event cycles: 100 samples" out || { cat $file out err; exit 1; }
			grep -q "$file: offset 0x$offset: " err
			cat $file | exits 1 pmu-topprof -q >p.pb.gz
			go tool pprof -raw p.pb.gz | grep -q "^ *100 *10000"
		done
	done
END

done_testing
