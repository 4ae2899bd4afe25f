#!/bin/sh
# A program that profiles itself by libpmukit, on an emulated PMU: ten functions have 1/55 .. 10/55
# of its work, or ten threads the same.
# kinds: release
. tests/lib.sh
. tests/lab.sh
here=$lab/self

make_program() {
	aarch64-linux-gnu-gcc -std=gnu11 -D_GNU_SOURCE -O2 -fno-omit-frame-pointer \
		-fno-optimize-sibling-calls -static -I"$TOP/include" -o "$scratch/spin-self" \
		"$TOP/tests/lab/spin-self.c" "$1/lib/libpmukit.a" -lpthread -lm
}

built=$TOP/$("$TOP/tests/lab/built")
test -n "$why" || test "$LAB" = all || test -e "$built/lib/libpmukit.a" ||
	why='only with LAB=all (make lab): the library is not built for arm64'
test -n "$why" || {
	make_program "$built"
	start self -p "$scratch/spin-self" <<'END'
# pmu-sample is run by the program
spin-self cycles:u 19661 serial.data serial 20 2>serial.err
spin-self cycles:u 19661 serial.pb.gz serial 20 2>>serial.err
spin-self cycles:u 19661 threads.data threads 100 2>threads.err
END
}

# shares FILE: "FUNCTION PERCENT" of A..J by the low bits of their addresses, as nm says them and
# perf reads them: nothing of ours has a part in it
shares() {
	aarch64-linux-gnu-nm "$scratch/spin-self" | sort |
		awk '$3 ~ /^[A-J]$/ { print substr($1, 14, 2), $3 }' >functions
	samples "$1" ip | awk '
	NR == FNR { name[$1] = $2; next }
	{ key = substr($1, length($1) - 2, 2) }
	length($1) < 16 && key in name { hit[name[key]]++; all++ }
	END { for (i in hit) print i, 100 * hit[i] / all }' functions -
}

# exact WHAT FILE: each line of FILE is the share that the function has: serial or equal
exact() {
	test "$(wc -l <"$2")" = 10
	for i in 1 2 3 4 5 6 7 8 9 10; do
		name=$(echo ABCDEFGHIJ | cut -c $i)
		want=10
		test "$1" = equal || want=$(awk "BEGIN { print 100 * $i / 55 }")
		near "$(sed -n "s/^$name //p" "$2")" "$want" 0.1
	done
}

check 'the guest ends, and nothing is lost' <<'END'
	in_lab
	ended_well self
	none cat "$here/serial.err" "$here/threads.err"
END

check 'records: every function within 0.1 points of its share' <<'END'
	ended self
	shares "$here/serial.data" >got
	cat got
	exact serial got
	# 110 * 100003 instructions a round, and one for each cycle
	near "$(count "$here/serial.data")" $((20 * 110 * 100003 / 19661)) 60
END

check 'a profile: every function within 0.1 points of its share, as pprof says' <<'END'
	ended self
	needs_command go
	go tool pprof -symbolize=none -top -nodefraction=0 -sample_index=samples \
		"$here/serial.pb.gz" >top 2>err
	cat top
	awk '$NF ~ /^[A-J]$/ { hit[$NF] = $1; all += $1 }
		END { for (i in hit) print i, 100 * hit[i] / all }' top >got
	exact serial got
END

check 'ten threads of equal work have equal shares' <<'END'
	ended self
	shares "$here/threads.data" >got
	cat got
	exact equal got
END

done_testing
