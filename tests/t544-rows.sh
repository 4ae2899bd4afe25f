#!/bin/sh
# Rows of JSON: what pmu-topprof --to rows writes, compared with a reader of profiles and a SipHash
# in Python.
# kinds: release asan
. tests/lib.sh

# judge PROFILE OPTION...: its rows are those of tests/rows.py; rows has them
judge() {
	p=$1
	shift
	gzip -dcf "$p" >plain.pb
	pmu-topprof --to rows "$@" "$p" >rows
	for option; do
		case $option in
		--rows-detail) set -- "$@" detail=1 ;;
		--*=*) set -- "$@" "${option#--}" ;;
		esac
		shift
	done
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/rows.py" plain.pb rows "$@"
}

check 'rows have the stacks, labels, values and hashes of the profile, also with details' <<'END'
	for profile in "$TOP"/tests/data/releases/*/*.pb.gz; do
		judge "$profile"
		judge "$profile" --rows-detail --host=h1 --service=nginx
		grep -q "\"file\":\[.*\"line\":\[" rows || grep -q "\[unknown\]" rows
	done
END

check 'a stream has the rows of its profile, also if they go to files' <<'END'
	make-stream 3000 tree 12 | tee s.data | pmu-symbolize -q >r.data
	for stream in s.data r.data; do
		pmu-topprof -o p.pb.gz $stream
		judge p.pb.gz
		pmu-topprof --to rows $stream | same rows -
		pmu-topprof --split process -o dir $stream --to rows
		pmu-topprof --split process -o dir $stream
		pmu-topprof --to rows dir/*.pb.gz | same - dir/*.rows
		rm -r dir
	done
END

check 'values and stacks are what go tool pprof -raw shows' <<'END'
	unsanitized
	needs_command go
	make-stream 3000 tree 12 "$BIN/pmu-top" | pmu-symbolize -q | pmu-topprof -o p.pb.gz
	go tool pprof -symbolize=none -raw p.pb.gz >raw 2>err
	pmu-topprof --to rows p.pb.gz >rows
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/rows.py" raw raw rows
	sed "2s/\"value\":[0-9]*/&1/" rows >wrong
	exits 1 env PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/rows.py" raw raw wrong
END

check 'a profile that was made of rows has the same rows, with their host and service' <<'END'
	unsanitized
	for profile in "$TOP"/tests/data/releases/*/*.pb.gz; do
		judge "$profile" --host=h1 "--service=my service"
		pmu-topprof -o back.pb.gz rows
		pmu-topprof --to rows back.pb.gz | sort >got
		sort rows | same - got
		judge back.pb.gz
	done
END

check 'a type of counts whose name a reader cannot make again has rows of its own' <<'END'
	unsanitized
	records=$TOP/tests/data/releases/0.1/records.pb.gz
	judge "$records"
	none grep "\"type\":\"[^\"]*_samples\"" rows
	pmu-topprof --event page-faults -o one.pb.gz "$records"
	judge one.pb.gz
	grep "\"type\":\"page-faults_samples\"" rows
	none grep "\"samples\":" rows
END

made() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/profiles.py" "$@"; }

check 'no name breaks a row: quotes, controls, bytes that are not UTF-8, a megabyte' <<'END'
	made hostile 10 >h.pb
	judge h.pb 2>err
	grep -x "pmu-topprof: 9 names have bytes that are not UTF-8, or characters that move.*" err
	judge h.pb --rows-detail --host="a\"b\\" --service=é 2>err
	unsanitized
	pmu-topprof --to rows h.pb h.pb 2>err >rows
	test "$(grep -c "18 names have bytes" err)" = 1
	pmu-topprof --to rows --host "$(printf "\\377\\033\n")" h.pb 2>err | head -n 1 |
		grep "\"host\":\"\\\\ufffd\\\\u001b\","
	made hostile 1000000 >h.pb
	pmu-topprof -q --to rows h.pb | python3 -c "
import json, sys
names = [name for row in sys.stdin for name in json.loads(row)[\"stack\"]]
print(names.count(\"n\" * 10 ** 6 + 9 * chr(34)), len(names))" | grep -x "3 64"
END

check 'stacks that repeat inlined calls without end are left out and counted, no others' <<'END'
	unsanitized
	made unfold 20000 >u.pb
	exits 1 pmu-topprof --to rows u.pb >rows 2>err
	grep "2 samples or rows are left out" err
	test "$(wc -l <rows)" = 1
	grep "\"value\":7,.*\"stack\":\[\"main\"\]}$" rows
END

check 'ids of functions and locations may have 64 bits, and a location more lines than one' <<'END'
	for step in 1 281474976710655; do
		PYTHONPATH=$TOP/tests PYTHONDONTWRITEBYTECODE=1 python3 - $step >$step.pb <<-EOF
			import sys
			from profiles import *
			step = int(sys.argv[1])
			lines = [[1], [2], [3, 1], [3], []]
			sys.stdout.buffer.write(profile(
			    [function(i * step, 4 + i) for i in (1, 2, 3)] +
			    [location(i * step, [f * step for f in of]) for i, of in enumerate(lines, 1)] +
			    [sample([i * step, 2 * step]) for i in range(1, 6)], [b"one", b"two", b"three"]))
		EOF
		judge $step.pb
		mv rows $step.rows
	done
	same 1.rows 281474976710655.rows
	test "$(wc -l <1.rows)" = 5
	grep "\[\"two\",\"one\",\"three\"\]" 1.rows
END

check 'the hash of the example in pmu-rows(5) is right' <<'END'
	unsanitized
	hash=$(PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/rows.py" hash _start main f)
	grep "\"hash\":\"$hash\",\"stack\":\[\"_start\",\"main\",\"f\"\]" "$TOP/man/pmu-rows.5" ||
		tr -d "\n" <"$TOP/man/pmu-rows.5" |
		grep -q "\"hash\":\"$hash\",\"stack\":\[\"_start\",\"main\",\"f\"\]"
END

check 'several profiles: the rows of each, with its own time; what is damaged is left out' <<'END'
	for profile in "$TOP"/tests/data/releases/*/*.pb.gz; do
		pmu-topprof --to rows "$profile"
	done >want
	pmu-topprof --to rows "$TOP"/tests/data/releases/*/*.pb.gz | same want -
	echo "no profile" | gzip >bad.pb.gz
	exits 1 pmu-topprof --to rows bad.pb.gz "$TOP"/tests/data/releases/*/*.pb.gz >rows 2>err
	same want rows
	grep "bad.pb.gz" err
	pmu-topprof --to rows --skip-damaged bad.pb.gz "$TOP"/tests/data/releases/*/*.pb.gz >rows
	same want rows
	echo old >kept
	exits 1 pmu-topprof --to rows --skip-damaged bad.pb.gz bad.pb.gz -o kept
	grep -qx old kept
END

check 'options for rows need --to rows; rows have no --compress and no --diff' <<'END'
	unsanitized
	for option in "--host h" "--service s" --rows-detail; do
		exits 2 pmu-topprof $option "$TOP"/tests/data/releases/0.1/other.pb.gz 2>err
		grep -e "${option%% *}" err
		exits 2 pmu-topprof --to folded $option "$TOP"/tests/data/releases/0.1/other.pb.gz
	done
	exits 2 pmu-topprof --to rows -Z zstd "$TOP"/tests/data/releases/0.1/other.pb.gz
	exits 2 pmu-topprof --to rows --diff "$TOP"/tests/data/releases/0.1/other.pb.gz \
		"$TOP"/tests/data/releases/0.1/other.pb.gz
END

done_testing
