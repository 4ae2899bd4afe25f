#!/bin/sh
# The programs in examples/: each is built as its first lines say, and profiles work whose CPU time
# it measures itself.  The shares in the profile, by pprof, are compared with these times.
# kinds: release user
. tests/lib.sh
. tests/program-labels.sh

lib=${BIN%/bin}/lib
export LD_LIBRARY_PATH="$lib" PYTHONDONTWRITEBYTECODE=1

needs_library() { needs "$lib/libpmukit.so.0" "$TOP/examples"; }

# profile_yourself: build the example in C
profile_yourself() {
	needs_library
	gcc -O2 -g -fno-omit-frame-pointer -Wall -Wextra -Werror \
		-I"$TOP/include" -o profile-yourself "$TOP/examples/profile-yourself.c" \
		-L"$lib" -lpmukit
}

# same_shares WORK ROWS: WORK has lines of a function and its CPU time, ROWS of a function and its
# value: the shares of the functions of WORK in their sums are the same within 8 points.  With 500
# samples, a share has a standard deviation of 2 points.
same_shares() {
	cat "$1" "$2"
	awk -v OFS='\t' 'NR == FNR { time[$1] = $2; times += $2; n++; next }
		$1 in time { value[$1] += $2; values += $2 }
		END {
			if (n != 2 || !values)
				exit 1
			for (f in time)
				print f, value[f] / values, time[f] / times
		}' "$1" "$2" >shares
	while read -r function got want; do
		near "$(awk "BEGIN { print 100 * $got }")" "$(awk "BEGIN { print 100 * $want }")" 8
	done <shares
}

# rows PROFILE OPTION...: lines of a function and its value with what it calls, by pprof
rows() {
	profile=$1
	shift
	go tool pprof -symbolize=none -unit=ms -nodefraction=0 "$@" -top "$profile" 2>pprof-log |
		sed -n 's/^ *[0-9.]*ms *[0-9.]*% *[0-9.]*% *\([0-9.]*\)ms *[0-9.]*% *\([^ ]*\).*/\2 \1/p'
}

# judge PROFILE: it agrees with the file "work"; its labels, if samples can have any, are those of
# the functions
judge() {
	needs_command go
	rows "$1" >all
	sed 's/^profile:://' all >named
	same_shares work named
	grep -q '^without labels: ' err && test -n "$why" || judge_labels "$1"
}
judge_labels() {
	go tool pprof -tags "$1" 2>pprof-log | sed -n '/^ *phase: Total/,/^$/p' >tags
	cat tags err
	sed -n 's/.*%): \(.*\)/\1/p' tags >values
	test "$(wc -l <values)" -eq 2
	while read -r value; do
		rows "$1" "-tagfocus=phase=^$value\$" | sed 's/^profile:://' >of-label
		cat of-label
		awk 'NR == FNR { time[$1] = 1; next }
			$1 in time { all += $2; most = $2 > most ? $2 : most }
			END { exit !(all > 0 && most > .97 * all) }' work of-label
	done <values
}

check 'C: a program profiles itself by two calls' <<'END'
	profile_yourself
	./profile-yourself p.pb.gz >work 2>err || { cat err; exit 1; }
	judge p.pb.gz
END

check 'C, linked to the archive: the program needs no library of pmukit' <<'END'
	any_user
	needs_library
	needs "$lib/libpmukit.a"
	gcc -O2 -g -I"$TOP/include" -o profile-yourself "$TOP/examples/profile-yourself.c" \
		"$lib/libpmukit.a"
	readelf -d profile-yourself | none grep -E "NEEDED.*(pmukit|pfm|zstd|protobuf|libz|lzma)"
	./profile-yourself p.pb.gz >work 2>err || { cat err; exit 1; }
	judge p.pb.gz
END

check 'a program that may not sample says so, and does its work' <<'END'
	profile_yourself
	exits 1 env PMUKIT_SAMPLER=/nowhere/pmu-sample ./profile-yourself p.pb.gz >work 2>err
	grep -q "^without a profile: .*/nowhere/pmu-sample" err
	test "$(wc -l <work)" -eq 2
END

check 'C: a live top of another process' <<'END'
	profile_yourself
	gcc -O2 -Wall -Wextra -Werror -I"$TOP/include" -o live-top "$TOP/examples/live-top.c" \
		-L"$lib" -lpmukit
	at_most "$(sed -n '/^static int larger/,$p' "$TOP/examples/live-top.c" | wc -l)" 60
	# The program waits for a reader of its result, then starts to work.
	mkfifo result
	PMUKIT_SAMPLER=/nowhere/pmu-sample ./profile-yourself result >work 2>err &
	program=$!
	./live-top $program >top 2>top-err &
	top=$!
	eventually eval "gone $top || grep -q sampling top"
	cat result
	wait $program || grep -q "^without a profile" err
	wait $top || { cat top-err; test ! -s top-err; }
	awk '/%/ { print $3, $2 }' top >rows
	same_shares work rows
	exits 1 ./live-top 999999999 >top 2>err
	grep -q 999999999 err
END

check 'C++: a profile and a label are objects' <<'END'
	any_user
	needs_library
	needs_command g++
	g++ -O2 -g -fno-omit-frame-pointer -Wall -Wextra -Werror \
		-I"$TOP/include" -o profile-yourself "$TOP/examples/profile-yourself.cc" \
		-L"$lib" -lpmukit
	./profile-yourself p.pb.gz >work 2>err || { cat err; exit 1; }
	judge p.pb.gz
	exits 1 ./profile-yourself nowhere/p.pb.gz >out 2>err
	grep -q "nowhere/p.pb.gz: No such file" err
END

check 'Rust: without a crate; the program reads its profile, too' <<'END'
	any_user
	needs_library
	rustc=$(PATH=/usr/bin:$PATH command -v rustc) || skip "no rustc"
	$rustc --edition 2021 -O -g -C force-frame-pointers=yes -L "$lib" -l pmukit -o profile \
		"$TOP/examples/rust/profile.rs"
	./profile p.pb.gz >out 2>err || { cat err; exit 1; }
	grep -v % out >work
	judge p.pb.gz
	grep % out | awk '{ s += $1 } END { exit !(s > 60) }'
END

check 'Go: the interface of runtime/pprof, with the flags for an event and its period' <<'END'
	any_user
	needs_library
	needs_command go gcc
	cp -r "$TOP/examples/go" go
	export CGO_CFLAGS="-I$TOP/include" CGO_LDFLAGS="-L$lib" GOFLAGS=-mod=mod GOPROXY=off
	(cd go && go vet ./... && go build -o ../example .)
	./example -cpuprofile p.pb.gz -cpuprofileevent cpu-clock:u -cpuprofileperiod 1000000 \
		>work 2>err || { cat err; exit 1; }
	judge p.pb.gz
	go tool pprof -raw p.pb.gz 2>pprof-log | grep -qx "Period: 1000000"
	./example -cpuprofile timer.pb.gz -cpuprofileevent timer -cpuprofileperiod 5 >work 2>err
	go tool pprof -raw timer.pb.gz 2>pprof-log | grep -qx "Period: 10000000"
	exits 1 ./example -cpuprofile q.pb.gz -cpuprofileevent no-such-event >out 2>err
	grep -q "^-cpuprofile: .*no-such-event" err
	test ! -e q.pb.gz
	exits 1 ./example -cpuprofileperiod 5 2>err
	grep -q "need -cpuprofile" err
END

check 'Python: by ctypes; the top of a stream' <<'END'
	profile_yourself
	needs_command python3
	program=$TOP/examples/python/profile_yourself.py
	python3 "$program" p.pb.gz >work 2>err || { cat err; exit 1; }
	judge p.pb.gz
	PMUKIT_SAMPLER=/nowhere/pmu-sample pmu-sample -q -e cpu-clock:u -F 999 -o s.data -- \
		./profile-yourself q.pb.gz >work 2>err || grep "^without a profile" err
	python3 "$program" --top s.data | awk '{ print $2, $1 + 0 }' >rows
	same_shares work rows
	exits 1 python3 "$program" --top "$TOP/README.md" >out 2>err
	grep "README.md" err
END

done_testing
