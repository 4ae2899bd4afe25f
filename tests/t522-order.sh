#!/bin/sh
# Streams of the other byte order: what they hold is the same.
# kinds: release asan
. tests/lib.sh

turn() { python3 "$TOP/tests/other-order.py" "$1" "$2"; }

# What records say: but where they stand
said() { pmu-stream --dump "$1" | sed "s/^0x[0-9a-f]* //"; }

# Where perf itself is the judge of what a turned file is.
perf_stats() { sanitized || perf report --stats -i "$1" 2>/dev/null | grep events: || :; }

for path in "$SHARED"/*.data; do
	file=${path##*/}
	case $file in
	*corrupted*) continue ;;	# nothing can turn it
	esac
	check "$file: turned, its records and its profile are the same" <<-'END'
		needs "$path"
		# sanitizers see each layout in a small file
		test "$(wc -c <"$path")" -lt 900000 || unsanitized
		test "$(wc -c <"$path")" -lt 3000000 || test -n "$ALL" ||
			skip "the same with fewer samples is in callgraph-3.8"
		case $file in
		*compressed*)
			pmu-stream --decompress "$path" >plain.data 2>err
			turn plain.data turned.data ;;
		*)	cp "$path" plain.data
			turn plain.data turned.data
			perf_stats "$path" >want
			perf_stats turned.data >got
			test ! -s got || same want got ;;	# perf crashes on turned pipes
		esac
		test "$(head -c 8 turned.data)" = 2ELIFREP
		said plain.data >want
		grep -q "^SAMPLE" want
		said turned.data | cmp - want
		pmu-topprof -Z none -o want.pb plain.data
		exits 0 pmu-topprof -Z none -o got.pb turned.data
		cmp want.pb got.pb
		cat turned.data | pmu-symbolize | exits 0 pmu-topprof -o piped.pb.gz
	END
done

# group FILE, switches FILE: what perf records
group() {
	perf_record -e "{cpu-clock,page-faults}:S" --call-graph dwarf,512 -d -W --phys-data \
		--intr-regs=ip,sp -F 500 -o "$1" -- ten serial 0.1 ||
	perf_record -e "{cpu-clock,page-faults}:S" --call-graph dwarf,512 -F 500 \
		-o "$1" -- ten serial 0.1
}
switches() {
	perf_record -e sched:sched_switch -R -c 1 -o "$1" -- ten threads 0.05 || : >"$1"
}

check 'what perf records with registers, stacks, raw fields, groups: turned, the same' <<'END'
	once order-group.data group a.data
	once order-switches.data switches b.data
	for file in a b; do
		test -s $file.data || continue
		turn $file.data turned.data
		said $file.data >want
		test "$(grep -c "^SAMPLE" want)" -gt 3
		said turned.data | same want -
	done
END

check 'bit fields: precise_ip, branch flags; and a truncated turned stream' <<'END'
	python3 - <<-END
	import struct
	attr = struct.pack("<IIQQQQQ", 0, 112, 0, 1000, 1 | 1 << 11, 0, 1 << 15 | 1 << 18)
	attr += bytes(24)
	attr += struct.pack("<Q", 1 << 19) + bytes(32)
	body = struct.pack("<QQQQQQ", 0x401000, 1, 0x10, 0x20, 2 | 1000 << 4 | 3 << 20, 0x1234)
	def record(kind, body):
	    return struct.pack("<IHH", kind, 2 if kind < 64 else 0, 8 + len(body)) + body
	with open("s.data", "wb") as f:
	    f.write(b"PERFILE2" + struct.pack("<Q", 16) + record(64, attr) + record(9, body))
	END
	turn s.data turned.data
	pmu-stream --decompress turned.data >back.data
	cmp s.data back.data
	head -c 170 turned.data >cut.data
	exits 1 pmu-stream --check cut.data 2>err
	grep -q "cut.data: offset 0x88: stream ends inside a record of type 9" err
END

check 'a stream resolved on such a machine is refused, not misread' <<'END'
	pmu-sample -e cpu-clock -F 500 -- ten serial 0.1 | pmu-symbolize >r.data
	python3 - <<-END
	import struct
	data = bytearray(open("r.data", "rb").read())
	data[:16] = data[7::-1] + data[15:7:-1]
	at = 16
	while at < len(data):
	    size, = struct.unpack_from("<H", data, at + 6)
	    data[at:at+8] = data[at+3:at-1:-1] + data[at+5:at+3:-1] + data[at+7:at+5:-1]
	    at += size
	open("turned.data", "wb").write(data)
	END
	exits 1 pmu-topprof -o p.pb.gz turned.data 2>err
	grep -q "run pmu-symbolize on this one" err
END

done_testing
