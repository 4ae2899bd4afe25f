#!/bin/sh
# On an emulated PMU that counts and interrupts: what only hardware events show.
#
# A guest (tests/lab) runs the pipes; what it brings back is looked at here, where
# perf is.  LAB=all: on more kernels, CPUs and models, too.
# kinds: release
. tests/lib.sh

cd "$TOP" || exit 1
lab=$scratch/lab
why=
for tool in qemu-system-aarch64 aarch64-linux-gnu-gcc cpio; do
	command -v $tool >/dev/null || why="no $tool"
done
case $BIN in *asan*) why="the guest has no sanitizers: once is enough" ;; esac
if test -z "$why"; then
	make -s ARCH=arm64 sysroot >"$scratch/fetch.log" 2>&1 && tests/lab/kernel bookworm >>"$scratch/fetch.log" 2>&1 ||
		why="packages cannot be fetched: $(tail -n 1 "$scratch/fetch.log")"
fi
test -n "$why" || make -s -j2 ARCH=arm64 WERROR=1 tests >&2 || exit 1
in_lab() { test -z "$why" || { echo "$why"; exit 77; }; }

# guest NAME OPTION...: run the job on stdin, what comes back is in $lab/NAME
guest() {
	name=$1
	shift
	cat >"$scratch/job"
	(cd "$TOP" && tests/lab/guest "$@" -o "$lab/$name" "$scratch/job")
}

samples() { perf script -i "$1" -F "$2" 2>/dev/null; }
count() { samples "$1" ip | grep -c .; }
near() { # ACTUAL EXPECTED TOLERANCE
	awk -v a="$1" -v e="$2" -v t="$3" 'BEGIN { d = a - e; if (d < 0) d = -d; print a, "for", e; exit !(d <= t) }'
}

# shares FILE: "FUNCTION PERCENT" of A..J by the low bits of their addresses, as nm says
# them and perf reads them: nothing of ours has a part in it
shares() {
	samples "$1" ip | awk -v functions="$(aarch64-linux-gnu-nm "$TOP/build/arm64/tests/bin/spin" |
		awk '$3 ~ /^[A-J]$/ { print substr($1, 14, 2), $3 }' | tr '\n' ' ')" '
	BEGIN { n = split(functions, f, " "); for (i = 1; i < n; i += 2) name[substr(f[i], 1, 2)] = f[i + 1] }
	{ page = substr($1, length($1) - 2, 1); key = page substr($1, length($1) - 1, 1) }
	length($1) < 16 && key in name { hit[name[key]]++; all++ }
	END { for (i in hit) print i, 100 * hit[i] / all }'
}

test -n "$why" || guest one <<'EOF'
s() { pmu-sample "$@"; }
s -v -e cycles:u -c 98269 -o cycles.data -- spin serial 100 2>cycles.err
pmu-symbolize cycles.data | pmu-topprof >cycles.pb.gz
s -e r11:u -c 98269 -o r11.data -- spin serial 100
s -e branch-misses -o none.data -- true 2>none.err; echo $? >none.status
s -g -e cycles:u -c 98269 -o chains.data -- spin serial 20
pmu-symbolize chains.data | pmu-topprof >chains.pb.gz
pmu-events --check branch-misses cycles instructions >check
s -e cycles,timer -o two.data -- spin serial 100
pmu-symbolize two.data | pmu-topprof >two.pb.gz
s -e cycles:u -c 19661 -o user.data -- dd if=/dev/zero of=/dev/null bs=64k count=500 2>/dev/null
s -e cycles:k -c 19661 -o kernel.data -- dd if=/dev/zero of=/dev/null bs=64k count=500 2>/dev/null
spin growing 600 & sleep 0.02
s -e cycles -c 98269 -p $! -o growing.data
spin children 40 & sleep 0.02
s -e cycles -c 98269 -p $! -o alone.data
spin children 40 & sleep 0.02
s --children -e cycles -c 98269 -p $! -o family.data
s -e cycles:u,r08:u,r11:u,r1b:u,r13:u,r10:u,r12:u,r03:u,r01:u -c 98269 -o many.data -- spin serial 200 2>many.err
pmu-topprof many.data >many.pb.gz
pmu-topprof --no-scale many.data >raw.pb.gz
s -e r10 -o zero.data -- spin serial 20 2>zero.err
s -e cycles:P -c 98269 -o precise.data -- spin serial 20
s -e cycles:u -c 98269 --jitter -o jitter.data -- spin serial 100
s -e cycles:u -c 10007 -o hot.data -- spin hot 20
s -e cycles:u -c 98269 -o threads.data -- spin threads 1000
s -e cycles:u -c 1000000 -o lock.data -- spin serial 200
s -e cycles:u -o preset.data -- spin serial 200
s -e cycles:u -c 1000000 --jitter -o free.data -- spin serial 200
s -e cycles:u -c 98269 --user-regs sp,pc -o regs.data -- spin serial 20
echo 25 >/proc/sys/kernel/perf_cpu_time_max_percent
echo 1000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
s -v -e cycles -c 98269 -o throttled.data -- spin serial 50 2>throttled.err
EOF
one=$lab/one

check 'unit tests pass as arm64 programs' <<'END'
	in_lab
	command -v qemu-aarch64 >/dev/null || { echo "no qemu-aarch64"; exit 77; }
	for test in "$TOP"/build/arm64/tests/unit/test-*; do
		case $test in *.[do]) continue ;; esac
		(cd "$TOP" && qemu-aarch64 "$test") >out || { echo "$test"; cat out; exit 1; }
		grep -q "^1\.\." out
	done
END

check 'a sample each period of cycles, none lost; every function within 0.05 points' <<'END'
	in_lab
	# 110 * 100003 cycles a round and few more, by hand
	near "$(count $one/cycles.data)" "$(awk "BEGIN { print 100 * 110 * 100003 / 98269 }")" 60
	grep -q ", 0 lost, throttled 0 times" $one/cycles.err
	shares $one/cycles.data >got
	for i in 1 2 3 4 5 6 7 8 9 10; do
		name=$(echo ABCDEFGHIJ | cut -c $i)
		near "$(sed -n "s/^$name //p" got)" "$(awk "BEGIN { print 100 * $i / 55 }")" 0.05
	done
END

check 'the profile made in the guest says the same, and go tool pprof reads it' <<'END'
	in_lab
	go tool pprof -top $one/cycles.pb.gz >top 2>err
	none cat err
	awk '$NF ~ /^[A-J]$/ && $2 ~ /%/ { print $NF, $2 + 0 }' top | sort >ours
	test "$(wc -l <ours)" = 10
	shares $one/cycles.data | sort | join - ours >both
	# the whole has some samples elsewhere: 0.1 % of it
	awk '{ d = $2 - $3; if (d < 0) d = -d; if (d > 0.15) { print; bad = 1 } } END { exit bad }' both
	test "$(grep -o " [A-J]\$" top | tr -d " \n")" = JIHGFEDCBA
END

check 'callchains lead from the leaf to the start' <<'END'
	in_lab
	go tool pprof -traces $one/chains.pb.gz >traces
	grep -A 3 ' J$' traces | awk '{ print $NF }' | paste -sd " " | grep -q "^J serial main "
	# J is never first called by anything else
	go tool pprof -peek '^J$' $one/chains.pb.gz | grep -B 2 '| *J$' | grep -q "100% .*serial"
END

check 'the raw event is the named one' <<'END'
	in_lab
	near "$(count $one/r11.data)" "$(count $one/cycles.data)" 5
END

check 'an event that the CPU does not count is refused, and pmu-events --check agrees' <<'END'
	in_lab
	test "$(cat $one/none.status)" = 1
	grep -q "cannot sample .branch-misses.: this CPU does not count it" $one/none.err
	grep -q "^branch-misses  *this CPU does not count it" $one/check
	grep -q "^cycles  *ok" $one/check
	grep -q "^instructions  *ok" $one/check
END

check 'a raw event that opens and counts nothing is told' <<'END'
	in_lab
	grep -q "r10. has counted nothing in 0\.[0-9]* s" $one/zero.err
	test "$(count $one/zero.data)" = 0
END

check 'cycles and time in one profile' <<'END'
	in_lab
	go tool pprof -raw $one/two.pb.gz >raw
	grep -q "cycles_samples/count cycles/count.* cpu_samples/count cpu/nanoseconds" raw
	go tool pprof -sample_index=cycles -top -unit=minimum $one/two.pb.gz | grep -q " J$"
END

check 'the program without the kernel, and the kernel without the program' <<'END'
	in_lab
	none grep '^ *[0-9a-f]\{16\}$' <<-EOF
		$(samples $one/user.data ip)
	EOF
	test "$(count $one/user.data)" -gt 0
	# but for a few whose interrupt came when the kernel had returned
	samples $one/kernel.data ip | grep . >ips
	test "$(grep -vc "^ *[0-9a-f]\{16\}\$" ips)" -le $(($(wc -l <ips) / 100))
	# copying zeros is the kernel's work
	test "$(count $one/kernel.data)" -gt $((10 * $(count $one/user.data)))
END

check 'threads created after the attach are sampled, each by its own work' <<'END'
	in_lab
	samples $one/growing.data comm | sort | uniq -c | awk '$2 ~ /^t[1-9]$/ { print $1 }' >work
	cat work
	test "$(wc -l <work)" = 9
	sort -n work | sed -n '1p;$p' | paste -sd " " | awk '{ exit !($1 > 1200 && $2 < 1245) }'	# 600 * 200006 / 98269 = 1221
END

check 'a child process is not sampled, unless asked for' <<'END'
	in_lab
	test "$(samples $one/alone.data pid | sort -u | wc -l)" = 1
	test "$(samples $one/family.data pid | sort -u | wc -l)" = 3
END

check 'more events than counters: values are scaled to within 5 % of the truth' <<'END'
	in_lab
	grep -q "counted only [0-9]* % of the time" $one/many.err
	value() { go tool pprof -sample_index=cycles:u -raw "$1" | awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 }
		on && $1 ~ /^[0-9]/ { sum += $2 } END { printf "%d", sum }'; }
	truth=$((200 * 110 * 100003))
	near "$(value $one/many.pb.gz)" $truth $((truth / 20))
	test "$(value $one/raw.pb.gz)" -lt $((truth * 9 / 10))
	go tool pprof -comments $one/many.pb.gz | grep -q "multiplexed: cycles:u counted"
END

check 'the most precise level that the kernel takes' <<'END'
	in_lab
	test "$(count $one/precise.data)" -gt 2000
	# attr.precise_ip: bits 15 and 16 of the flags, which are the attr's sixth word
	attr=$(pmu-stream --dump $one/precise.data | awk '$2 == "ATTR" { print $1; exit }')
	python3 -c '
import struct, sys
flags, = struct.unpack_from("<Q", open(sys.argv[1], "rb").read(), int(sys.argv[2], 16) + 8 + 40)
assert flags >> 15 & 3 == 3, hex(flags)' $one/precise.data $attr
END

check 'periods that vary by chance are in the samples, and add up to the truth' <<'END'
	in_lab
	perf script -i $one/jitter.data -F period | tr -d " " | grep . >periods
	test "$(sort -u periods | wc -l)" -gt 50
	sort -n periods | sed -n '1p;$p' | paste -sd " " | awk '{ exit !($1 >= 98269 * 0.95 - 1 && $2 <= 98269 * 1.05 + 1) }'
	truth=$((100 * 110 * 100003))
	near "$(awk "{ sum += \$1 } END { printf \"%d\", sum }" periods)" $truth $((truth / 100))
END

check 'too short a period is throttled, and the summary says so' <<'END'
	in_lab
	grep -q "throttled [1-9][0-9]* times: the kernel stopped an event" $one/throttled.err
	test "$(perf report -i $one/throttled.data --stats 2>/dev/null | awk "/ THROTTLE events/ { print \$3 }")" -gt 50
END

check 'ten threads of equal work: each within 0.1 points' <<'END'
	in_lab
	shares $one/threads.data >got
	test "$(wc -l <got)" = 10
	while read -r name share; do
		near "$share" 10 0.1
	done <got
END

# worst FILE: by how many points the worst of the ten functions is off
worst() {
	shares "$1" | awk '{ i = index("ABCDEFGHIJ", $1); seen++; e = $2 - 100 * i / 55; if (e < 0) e = -e
		if (e > worst) worst = e } END { print seen < 10 && worst < 1.8 ? 1.8 : worst }'
}

check 'a period in step with a loop is wrong for ever; the preset, and jitter, are not' <<'END'
	in_lab
	worst $one/lock.data >locked
	worst $one/preset.data >preset
	worst $one/free.data >free
	cat locked preset free
	awk '{ exit !($1 > 2) }' locked
	awk '{ exit !($1 < 1.5) }' preset
	awk '{ exit !($1 < 1.5) }' free
END

check 'registers: the program counter is where the sample is' <<'END'
	in_lab
	# sp is the 32nd, pc the 33rd (arch/arm64/include/uapi/asm/perf_regs.h)
	pmu-stream --dump $one/regs.data | sed -n "s/.* ip=\(0x[0-9a-f]*\) .*user_regs=\[\(0x[0-9a-f]*\), \(0x[0-9a-f]*\)\].*/\1 \2 \3/p" >regs
	awk '{ n++; if ($1 != $3 || $2 == $3) wrong++ } END { print n, wrong + 0; exit !(n > 1000 && wrong == 0) }' regs
END

check 'skid: samples of a loop lie within it' <<'END'
	in_lab
	# where they lie, from the slow instruction on, for the log; the emulator has no pipeline
	samples $one/hot.data ip | awk '{ print substr($1, length($1) - 2) }' | sort | uniq -c | sort -rn | head -n 3
	# 15 additions, the division, 15 additions, and two more: four bytes each
	slow=$(aarch64-linux-gnu-nm "$TOP/build/arm64/tests/bin/spin" | awk '$3 == "slow" { print substr($1, 14) }')
	samples $one/hot.data ip | python3 -c "
import sys
slow = int(sys.argv[1], 16)
at = [int(line, 16) & 0xfff for line in sys.stdin if line.strip()]
within = sum(-60 <= a - slow <= 68 for a in at)
print(within, len(at))
sys.exit(not (len(at) > 1000 and within > 0.99 * len(at)))" $slow
END

check 'the same stream, bit for bit, when it runs again' <<'END'
	in_lab
	for run in a b; do
		guest $run -R <<-EOF
			pmu-sample -e cycles -c 98269 -o s.data -- spin serial 20
			pmu-symbolize s.data | pmu-topprof >p.pb.gz
		EOF
	done
	cmp $lab/a/s.data $lab/b/s.data
	cmp $lab/a/p.pb.gz $lab/b/p.pb.gz
	test "$(count $lab/a/s.data)" -gt 2000
END

check 'two CPUs and ten threads: samples are of the thread that caused them' <<'END'
	in_lab
	guest two -s 2 -i none <<-EOF
		pmu-sample -e cycles:u -c 982789 -o s.data -- spin threads 2000
		pmu-sample -a -e cycles -c 982789 -d 100ms -o all.data 2>all.err
	EOF
	# in thread tN only the Nth function runs; nm has them in the order of addresses
	functions=$(aarch64-linux-gnu-nm "$TOP/build/arm64/tests/bin/spin" | sort | awk '$3 ~ /^[A-J]$/ { print substr($1, 14, 2) }' | tr "\n" " ")
	samples $lab/two/s.data comm,ip | awk -v functions="$functions" '
		BEGIN { split(functions, f, " ") }
		$1 ~ /^t[0-9]$/ { all++; low = substr($2, length($2) - 2, 2); if (low != f[substr($1, 2) + 1]) wrong++ }
		END { print all, wrong + 0; exit !(all > 500 && wrong * 100 < all) }'
	test "$(samples $lab/two/s.data comm | sort -u | grep -c "t[0-9]")" = 10
END

# kernel SUITE [MODEL]: the pipe works there
kernel() {
	(cd "$TOP" && tests/lab/kernel $1) >fetched 2>&1 || { tail -n 1 fetched; exit 77; }
	guest $1 -k $1 -c ${2:-cortex-a57} <<-EOF
		uname -r
		pmu-sample -vv -g -e cycles -c 98269 -o s.data -- spin serial 20
		spin growing 150 & sleep 0.02
		pmu-sample -e cycles -c 98269 -p \$! -o growing.data
		pmu-symbolize s.data | pmu-topprof >p.pb.gz
	EOF
	cat $lab/$1/stdout $lab/$1/stderr
	# the cycles of the kernel are in it, too
	near "$(perf report -i $lab/$1/s.data --stats 2>/dev/null | awk "/SAMPLE events/ { print \$3; exit }")" "$(awk "BEGIN { print 20 * 110 * 100003 / 98269 }")" 50
	go tool pprof -top $lab/$1/p.pb.gz | grep -q " J$"
	test "$(samples $lab/$1/growing.data comm | sort -u | grep -c "t[0-9]")" = 10
}

check 'an old kernel: 5.10' <<'END'
	in_lab
	test "$LAB" = all || { echo "only with LAB=all (make lab)"; exit 77; }
	kernel bullseye
	grep -q "^5\.10\." $lab/bullseye/stdout
	grep -q "refuses build IDs in MMAP2 records" $lab/bullseye/stderr
END

check 'a newer kernel: 6.12' <<'END'
	in_lab
	test "$LAB" = all || { echo "only with LAB=all (make lab)"; exit 77; }
	kernel trixie
	grep -q "^6\.12\." $lab/trixie/stdout
END

check 'the newest kernel there is' <<'END'
	in_lab
	test "$LAB" = all || { echo "only with LAB=all (make lab)"; exit 77; }
	kernel sid
END

check 'another model: cortex-a76' <<'END'
	in_lab
	test "$LAB" = all || { echo "only with LAB=all (make lab)"; exit 77; }
	kernel bookworm cortex-a76
END

done_testing
