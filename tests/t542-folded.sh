#!/bin/sh
# Other forms of the same profile: folded stacks, and how it is compressed.
. tests/lib.sh

# folded EVENT FILE: what perf script shows of an event, as lines of functions and a sum
folded() {
	perf script --no-inline -F event,period,ip,sym -i "$2" 2>/dev/null | awk -v wanted="$1:" '
		/^ *[0-9]+ +[^ ]+: *$/ { value = $1; event = $2; stack = ""; next }
		NF > 1 { stack = $2 (stack == "" ? "" : ";") stack; next }
		NF == 0 && event == wanted { sum[stack] += value; event = "" }
		END { for (s in sum) printf "%s %.0f\n", s, sum[s] }'
}

# from_main: stacks without what is above main(), which has no frame pointers and no names;
# of the several names that functions of libc and the kernel have each program takes one
from_main() {
	awk '{ n = split($1, f, ";"); line = ""
		for (i = 1; i <= n; i++)
			if (f[i] == "main") line = "main"
			else if (line != "") line = line ";" (f[i] ~ /^[A-J]$/ ? f[i] : "-")
		if (line != "") sum[line] += $2
	}
	END { for (line in sum) printf "%s %.0f\n", line, sum[line] }' | sort
}

record() { pmu-sample -g -e page-faults,cpu-clock -F 1000 -o s.data -- ten serial 0.5; }

check 'stacks are folded as those of perf script fold' '
	record
	pmu-symbolize -q --no-inlines s.data >r.data
	pmu-topprof --folded --event cpu-clock r.data >got
	folded cpu-clock s.data | from_main >want
	test "$(grep -c "^main;[A-J] [0-9]*000000$" want)" = 10
	from_main <got | same want -
	# all values are there, those above main(), too
	sum() { awk "{ s += \$NF } END { printf \"%.0f\n\", s }"; }
	folded cpu-clock s.data | sum >want
	sum <got | same want -
	none grep -v "^ten;" got
'

check 'it is the first event that is folded, unless told' '
	record
	pmu-topprof --folded s.data >got
	folded page-faults s.data | awk "{ s += \$NF } END { print s }" >want
	awk "{ s += \$NF } END { print s }" got | same want -
'

check 'a line for each stack, sorted, the same each time; inlined calls are frames' '
	record
	pmu-symbolize -q s.data >r.data
	pmu-topprof --folded -e cpu-clock r.data >one
	pmu-topprof --folded -e cpu-clock -o two r.data
	same one two
	LC_ALL=C sort one | same one -
	sed "s/ [0-9]*$//" one | uniq -d >twice
	test ! -s twice
	grep -q ";main;serial;J [0-9]" one
'

check 'a separator in a name does not separate' '
	compose s.data <<-END
		t = IP | TID | TIME
		comm = struct.pack("<II", 7, 7) + b"a;b\n c\0\0\0\0\0\0\0\0\0"[:16]
		out = pipe(record(64, attr(0, 0, 1000, t), 0), record(3, comm),
		    record(9, struct.pack("<QIIQ", 0x1000, 7, 7, 5)))
	END
	pmu-topprof --folded s.data >got
	printf "a:b  c;[unknown] 1000\n" | same - got
'

check 'the profile is the same, however it is compressed' '
	record
	pmu-topprof -o p.pb.gz s.data
	pmu-topprof -Z gzip s.data >gzip
	cmp gzip p.pb.gz
	pmu-topprof -Z none -o plain s.data
	gzip -dc p.pb.gz | cmp - plain
	pmu-topprof --pack zstd -o zstd s.data
	zstd -qdc <zstd | cmp - plain
	gzip -t p.pb.gz
	go tool pprof -raw plain 2>err | grep -q "^PeriodType: "
	exits 2 pmu-topprof -Z lzma s.data >out 2>err
	grep -q "takes gzip, zstd or none, not .lzma." err
'

done_testing
