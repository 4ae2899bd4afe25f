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

# intervals OPTION...: "NAME SAMPLES" of each profile of a second
intervals() {
	mkdir p
	pmu-topprof --interval 1s --output-template 'p/%s.pb.gz' "$@"
	for file in p/*; do
		echo "$(basename $file .pb.gz) $(pmu-top --to csv $file | awk -F , 'NR > 1 { n += $1 } END { print n + 0 }')"
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

done_testing
