#!/bin/sh
# Times of records: late ones, and wrong ones.
# kinds: release asan
. tests/lib.sh

# stream FILE: from TIMES in seconds on stdin, a round on each line: samples of a period of 1, in a
# stream whose clock started at 1700000000
stream() {
	compose "$1" <<-EOF
		KIND = IP | TID | TIME
		parts = [record(64, attr(1, 2, 1, KIND) + struct.pack("<Q", 5)),
		         record(80, struct.pack("<QIIQQ", 29, 1, 1, 1700000000 * 10 ** 9, 0))]
		for line in """$(cat)""".strip().split("\n"):
		    for word in line.split():
		        time = int(round(float(word) * 10 ** 9))
		        parts.append(record(9, struct.pack("<QIIQ", 0x1000, 7, 7, time)))
		    parts.append(record(68, b""))
		out = pipe(*parts)
	EOF
}

# count_samples PROFILE, by pprof
count_samples() {
	go tool pprof -symbolize=none -raw "$1" 2>/dev/null | awk '
		/^Locations/ { exit } /^ +[0-9]+ +[0-9]+: / { n += $1 } END { print n + 0 }'
}

# intervals FILE: "NAME SAMPLES" of each profile of 100 ms or, of made streams, a second
intervals() {
	rm -rf p
	mkdir p
	pmu-topprof --split ${2:-1s} -o "p/%s.pb.gz" "$1"
	for file in p/*; do
		echo "$(basename "$file" .pb.gz) $(count_samples "$file")"
	done
}

check 'a sample that comes after its interval was written counts for the next one' <<'END'
	stream s.data <<-TIMES
		10.0
		10.5
		11.2
		11.3
		10.9
		12.1
	TIMES
	pmu-top --to csv s.data
	intervals s.data >got
	cat got
	printf '17000000%d %d\n' 10 2 11 3 12 1 | same - got
END

# spoilt FILE TIME: this recording of pmu-sample with TIME in the middle one of its samples
spoilt() {
	python3 - "$@" <<-'EOF'
		import struct, sys
		data, at, places = bytearray(open(sys.argv[1], "rb").read()), 16, []
		while at < len(data):
		    kind, _, size = struct.unpack_from("<IHH", data, at)
		    if kind == 64:
		        form, = struct.unpack_from("<Q", data, at + 32)
		        before = 8 * sum(form >> bit & 1 for bit in (16, 0, 1))
		    if kind == 9:
		        places.append(at + 8 + before)
		    at += size
		struct.pack_into("<Q", data, places[len(places) // 2], int(sys.argv[2]))
		sys.stdout.buffer.write(data)
	EOF
}

duration() { go tool pprof -symbolize=none -raw "$1" 2>/dev/null | sed -n 's/^Duration: //p'; }

# spans PROFILE: what its facts say of slices, and how many it has
spans() {
	facts "$1" | grep '^slices: '
	go tool pprof -symbolize=none -raw "$1" 2>/dev/null | grep -o 'slice:\[[0-9]*\]' | sort -u | wc -l
}

check 'a single wrong time moves neither the ends of a recording nor its intervals' <<'END'
	pmu-sample -q -F 997 -o r.data -- ten serial 0.3 2>why ||
		skip "$(grep -m 1 ^pmu-sample: why)"
	pmu-stream --decompress r.data | python3 "$TOP/tests/stretch.py" 10 >s.data
	pmu-topprof s.data -o want.pb.gz
	pmu-topprof --slices 10 s.data -o slices.pb.gz
	at_least "$(count_samples want.pb.gz)" 100
	intervals s.data | cut -d' ' -f1 >want
	for time in 3833468611337663204 1 9223372036854775808 400000000000000000; do
		spoilt s.data $time >wrong.data
		pmu-symbolize -q wrong.data >resolved.data
		for file in wrong resolved; do
			pmu-topprof $file.data -o got.pb.gz
			test "$(duration got.pb.gz)" = "$(duration want.pb.gz)"
			test "$(count_samples got.pb.gz)" = "$(count_samples want.pb.gz)"
			# the sample without a time counts for the interval that is open: perhaps
			# for the one before its own
			intervals $file.data | cut -d' ' -f1 | same want -
			test $time != 1 || continue
			pmu-topprof --slices 10 $file.data -o got.pb.gz
			test "$(duration got.pb.gz)" = "$(duration slices.pb.gz)"
			spans got.pb.gz >got
			spans slices.pb.gz | same - got
		done
		test $time != 1 || continue
		pmu-stream wrong.data | tail -n 1 >got
		pmu-stream s.data | tail -n 1 | same - got
	done
END

# spoil KIND PLACE TIME: s.data with TIME, in seconds from its start, in one record of this kind
spoil() {
	python3 - "$@" <<-'EOF' >wrong.data
		import struct, sys
		kinds, place, wrong = {"SAMPLE": 9, "COMM": 3}, sys.argv[2], float(sys.argv[3])
		data, at, found = bytearray(open("s.data", "rb").read()), 16, []
		while at < len(data):
		    kind, _, size = struct.unpack_from("<IHH", data, at)
		    if kind == 9 or kind == 3:
		        found.append((kind, at + 24 if kind == 9 else at + size - 8))
		    at += size
		start, = struct.unpack_from("<Q", data, found[0][1])
		found = [at for kind, at in found if kind == kinds[sys.argv[1]]]
		at = found[{"first": 0, "middle": len(found) // 2, "last": -1}[place]]
		struct.pack_into("<Q", data, at, start + int(wrong * 10 ** 9))
		sys.stdout.buffer.write(data)
	EOF
}

check 'a time that is wrong by seconds, hours or months does not move the intervals, either' <<'END'
	# 40 seconds of ten samples each, with a name in each second; in order, as pmu-sample's are
	compose s.data <<-'EOF'
		KIND = IP | TID | TIME
		S = 10 ** 9
		parts = [record(64, attr(1, 2, 1, KIND, 1 << 18) + struct.pack("<Q", 5)),
		         record(80, struct.pack("<QI12s", 5, 12, b"pmukit 0.1")),
		         record(80, struct.pack("<QIIQQ", 29, 1, 1, 1700000000 * S, 0))]
		for i in range(10000, 10400):
		    parts.append(record(9, struct.pack("<QIIQ", 0x1000, 7, 7, i * S // 10)))
		    if i % 10 == 5:
		        parts.append(record(3, struct.pack("<II8sIIQ", 7, 7, b"name", 7, 7, i * S // 10)))
		span = struct.pack("<QQQ", 21, 1000 * S, 1039900000000)
		out = pipe(*parts, record(80, span))
	EOF
	intervals s.data >all
	test "$(wc -l <all)" = 40
	cut -d' ' -f1 all >want
	for wrong in "SAMPLE first 50" "SAMPLE middle 3600" "SAMPLE middle 40.5" "COMM first 9" \
		     "COMM middle 15762598" "SAMPLE middle -900"; do
		spoil $wrong
		pmu-symbolize -q wrong.data >resolved.data
		for file in wrong resolved; do
			intervals $file.data | cut -d' ' -f1 | same want -
		done
	done
END

check 'a single sample after a long pause has an interval of its own' <<'END'
	stream s.data <<-TIMES
		10 10.5 40 70 70.1
		100
	TIMES
	intervals s.data >got
	printf '17000000%02d %d\n' 10 2 40 1 70 2 >want
	echo 1700000100 1 >>want
	same want got
END

check 'intervals of a recording without a wall clock are named as far apart as they are' <<'END'
	compose s.data <<-'EOF'
		parts = [record(64, attr(1, 2, 1, IP | TID | TIME) + struct.pack("<Q", 5))]
		for i in range(50, 90):
		    parts.append(record(9, struct.pack("<QIIQ", 0x1000, 7, 7, i * 10 ** 8)))
		out = pipe(*parts)
	EOF
	before=$(date +%s)
	intervals s.data >got
	first=$(sed '1s/ .*//;q' got)
	at_least "$first" "$before"
	for second in 0 1 2 3; do echo "$((first + second)) 10"; done | same - got
END

done_testing
