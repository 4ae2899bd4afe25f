#!/bin/sh
# On an emulated PMU that counts and interrupts: what only hardware events show.
#
# A guest (tests/lab) runs the pipes; what it brings back is looked at here, where perf is.
# LAB=all: more kernels, CPUs and models, the long jobs, the unit tests, too.
# kinds: release
. tests/lib.sh
. tests/lab.sh
one=$lab/one

in_whole_lab() {
	in_lab
	test "$LAB" = all || skip "only with LAB=all (make lab)"
}

# expected ROUNDS PERIOD: how many samples of the serial work; by hand, 110 * 100003
# cycles a round, and few more
expected() { awk -v rounds="$1" -v period="$2" 'BEGIN { print rounds * 110 * 100003 / period }'; }

# shares FILE: "FUNCTION PERCENT" of A..J by the low bits of their addresses, as nm says
# them and perf reads them: nothing of ours has a part in it
shares() {
	functions >"$scratch/functions"
	samples "$1" ip | awk '
	NR == FNR { name[$1] = $2; next }
	{ key = substr($1, length($1) - 2, 2) }
	length($1) < 16 && key in name { hit[name[key]]++; all++ }
	END { for (i in hit) print i, 100 * hit[i] / all }' "$scratch/functions" -
}

# in_one_guest: the job of the guest "one"
in_one_guest() {
	cat <<'EOF'
s() { pmu-sample "$@"; }
s -v -e cycles:u -c 19661 -o cycles.data -- spin serial 20 2>cycles.err
pmu-symbolize cycles.data | pmu-topprof >cycles.pb.gz
s -e r11:u -c 19661 -o r11.data -- spin serial 20
s -e branch-misses -o none.data -- true 2>none.err; echo $? >none.status
s -g -e cycles:u -c 98269 -o chains.data -- spin serial 3
pmu-symbolize chains.data | pmu-topprof >chains.pb.gz
pmu-events --check branch-misses cycles instructions >check
s -e cycles,timer -o two.data -- spin serial 5
pmu-symbolize two.data | pmu-topprof >two.pb.gz
zeros='dd if=/dev/zero of=/dev/null bs=64k count=500'
s -e cycles:u -c 19661 -o user.data -- $zeros 2>/dev/null
s -e cycles:k -c 19661 -o kernel.data -- $zeros 2>/dev/null
spin growing 75 & sleep 0.01
s -e cycles -c 49157 -p $! -o growing.data
spin children 3 & sleep 0.01
s -e cycles -c 98269 -p $! -o alone.data
spin children 3 & sleep 0.01
s --children -e cycles -c 98269 -p $! -o family.data
nine=cycles:u,r08:u,r11:u,r1b:u,r13:u,r10:u,r12:u,r03:u,r01:u
s -e $nine -c 98269 -o many.data -- spin serial 40 2>many.err
pmu-topprof many.data >many.pb.gz
pmu-topprof --no-scale many.data >raw.pb.gz
s -e r10 -o zero.data -- spin serial 5 2>zero.err
s -e cycles:P -c 98269 -o precise.data -- spin serial 5
s -e cycles:u -c 49157 --jitter -o jitter.data -- spin serial 30
s -e cycles:u -c 10007 -o hot.data -- spin hot 20
s -e cycles:u -c 19661 -o threads.data -- spin threads 100
s -e cycles:u -c 98269 --user-regs sp,pc -o regs.data -- spin serial 5
pmu-stat --bench -n 2 -e instructions:u,cycles:u -- counted-19999997 >counted
EOF
	test "$LAB" != all || cat <<'EOF'
pmu-events --doctor --report report.txt >report.shown
s -e cycles:u -c 1000000 -o lock.data -- spin serial 200
s -e cycles:u -o preset.data -- spin serial 200
s -e cycles:u -c 1000000 --jitter -o free.data -- spin serial 200
ifconfig lo 127.0.0.1 up
mkfifo /tmp/go
sh -c 'read x </tmp/go; exec spin serial 20' &
pmu-serve -p $! --max-cost 100% --call-graph none >/tmp/url &
until grep -q http /tmp/url; do sleep 0.1; done
pmu='http://127.0.0.1:6060/debug/pprof/pmu'
wget -q -O served.pb.gz "$pmu?event=cycles:u&period=19661&seconds=50" &
until pidof pmu-sample; do sleep 0.1; done
sleep 1
echo >/tmp/go
wait $!
EOF
	cat <<'EOF'
echo 25 >/proc/sys/kernel/perf_cpu_time_max_percent
echo 1000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
s -v -e cycles -c 98269 -o throttled.data -- spin serial 30 2>throttled.err
EOF
}

test -n "$why" || {
	counted 19999997
	in_one_guest | start one -p "$scratch/counted-19999997"
}

check 'the guest ends' <<'END'
	in_lab
	ended_well one
END

check 'instructions and cycles are counted exactly: 40,000,000' <<'END'
	ended one
	cat $one/counted
	test "$(tr "\t" "\n" <$one/counted | grep -c "^ *40000000 \(instructions\|cycles\):u/op\$")" = 4
END

check 'unit tests pass as arm64 programs' <<'END'
	in_whole_lab
	needs_command qemu-aarch64
	make -s -C "$TOP" ARCH=arm64 WERROR=1 tests
	for test in "$TOP"/build/arm64/tests/unit/test-*; do
		case $test in *.[do]) continue ;; esac
		(cd "$TOP" && qemu-aarch64 "$test") >out || { echo "$test"; cat out; exit 1; }
		grep -q "^1\.\." out
	done
END

check 'a sample each period of cycles, none lost; every function within 0.05 points' <<'END'
	ended one
	near "$(count $one/cycles.data)" "$(expected 20 19661)" 60
	grep -q ", 0 lost, throttled 0 times" $one/cycles.err
	shares $one/cycles.data >got
	for i in 1 2 3 4 5 6 7 8 9 10; do
		name=$(echo ABCDEFGHIJ | cut -c $i)
		near "$(sed -n "s/^$name //p" got)" "$(awk "BEGIN { print 100 * $i / 55 }")" 0.05
	done
END

check 'a report of the machine: shares within 0.1 points, exact counts, no branch records' <<'END'
	in_whole_lab
	ended one
	cat $one/report.txt
	same $one/report.txt $one/report.shown
	at_most "$(sed -n 's/^  cycles:u .* wrong by \([0-9.]*\) points.*/\1/p' $one/report.txt)" 0.10
	grep -q '^  depth  *none: this machine has none$' $one/report.txt
	grep -q '^  kind  *virtual (QEMU)$' $one/report.txt
	for name in 'instructions alone' 'in a group of three'; do
		near "$(sed -n "s/^  $name  *\([0-9]*\) to .*/\1/p" $one/report.txt)" 20000000 100
		near "$(sed -n "s/^  $name .* to \([0-9]*\) for .*/\1/p" $one/report.txt)" 20000000 100
	done
	none grep '^  cycles .*no:' $one/report.txt
END

check 'through pmu-serve there are as many, and every function has its share' <<'END'
	in_whole_lab
	needs_command go
	ended one
	go tool pprof -top -sample_index=samples -nodefraction=0 $one/served.pb.gz >top 2>err
	cat top
	near "$(sed -n "s/.* of \([0-9]*\) total$/\1/p" top)" "$(expected 20 19661)" 60
	for i in 1 2 3 4 5 6 7 8 9 10; do
		name=$(echo ABCDEFGHIJ | cut -c $i)
		near "$(awk -v name=$name '$NF == name { print $2 + 0 }' top)" \
			"$(awk "BEGIN { print 100 * $i / 55 }")" 0.05
	done
END

check 'the profile made in the guest says the same, and go tool pprof reads it' <<'END'
	ended one
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
	ended one
	go tool pprof -traces $one/chains.pb.gz >traces
	grep -A 3 ' J$' traces | awk '{ print $NF }' | paste -sd " " | grep -q "^J serial main "
	# J is never first called by anything else
	go tool pprof -peek '^J$' $one/chains.pb.gz | grep -B 2 '| *J$' | grep -q "100% .*serial"
END

check 'the raw event is the named one' <<'END'
	ended one
	near "$(count $one/r11.data)" "$(count $one/cycles.data)" 5
	test "$(count $one/r11.data)" -gt 1000
END

check 'an event that the CPU does not count is refused, and pmu-events --check agrees' <<'END'
	ended one
	test "$(cat $one/none.status)" = 1
	grep -q "cannot sample .branch-misses.: this CPU does not count it" $one/none.err
	grep -q "^branch-misses  *this CPU does not count it" $one/check
	grep -q "^cycles  *ok" $one/check
	grep -q "^instructions  *ok" $one/check
END

check 'a raw event that opens and counts nothing is reported' <<'END'
	ended one
	grep -q "r10. has counted nothing in 0\.[0-9]* s" $one/zero.err
	test "$(count $one/zero.data)" = 0
END

check 'cycles and time in one profile' <<'END'
	ended one
	go tool pprof -raw $one/two.pb.gz >raw
	grep -q "cycles_samples/count cycles/count.* cpu_samples/count cpu/nanoseconds" raw
	go tool pprof -sample_index=cycles -top -unit=minimum $one/two.pb.gz | grep -q " J$"
END

check 'the time of cycles, estimated: the emulated CPU has a thousand of them in 1 us' <<'END'
	ended one
	for file in growing family; do
		pmu-topprof --add time $one/$file.data >time.pb.gz
		# a line "SAMPLES CYCLES NANOSECONDS: locations" for each stack
		go tool pprof -raw -symbolize=none time.pb.gz 2>err | sed -n "/^Samples/,/^Loc/p" |
			awk '/^ *[0-9]+ +[0-9]+ +[0-9]+:/ { c += $2; n += $3 }
			     END { printf "%.0f %.0f\n", c, n }' >sums
		read -r cycles ns <sums
		at_least "$cycles" 1000000
		# time goes on where the kernel's interrupt stops the counter: some 2.5 %
		near "$ns" "$cycles" $((cycles / 25))
	done
END

check 'the program without the kernel, and the kernel without the program' <<'END'
	ended one
	none grep '^ *[0-9a-f]\{16\}$' <<-EOF
		$(samples $one/user.data ip)
	EOF
	test "$(count $one/user.data)" -gt 0
	# but for some whose interrupt came when the kernel had returned: of a busy machine, more
	samples $one/kernel.data ip | grep . >ips
	test "$(grep -vc "^ *[0-9a-f]\{16\}\$" ips)" -le $(($(wc -l <ips) / 20))
	# the bits exclude_user and exclude_kernel of the event
	excluded() {
		echo $((($(pmu-stream --dump "$1" | sed -n "s/.* ATTR .* flags=//p" |
			head -n 1) >> 4) & 3))
	}
	test "$(excluded $one/kernel.data) $(excluded $one/user.data)" = "1 2"
	# copying zeros is the kernel's work
	test "$(count $one/kernel.data)" -gt $((10 * $(count $one/user.data)))
END

check 'threads created after the attach are sampled, each by its own work' <<'END'
	ended one
	# some may have begun to work before the attach: those have no FORK record
	pmu-stream --dump $one/growing.data | sed -n "s/.* FORK .* tid=\([0-9]*\) .*/\1/p" >created
	at_least "$(wc -l <created)" 5
	samples $one/growing.data comm,tid | awk '$1 ~ /^t[1-9]$/ { print $2 }' | sort | uniq -c |
		awk 'NR == FNR { created[$1] = 1; next }
			$2 in created { print $1 }' created - >work
	cat work
	test "$(wc -l <work)" = "$(wc -l <created)"
	# 75 * 200006 / 49157 = 305, and the kernel's part: 1.5 million cycles at most
	awk '$1 < 299 || $1 > 336 { bad = 1 } END { exit bad }' work
END

check 'a child process is not sampled, unless asked for' <<'END'
	ended one
	test "$(samples $one/alone.data pid | sort -u | wc -l)" = 1
	test "$(samples $one/family.data pid | sort -u | wc -l)" = 3
END

check 'more events than counters: values are scaled to within 5 % of the truth' <<'END'
	ended one
	grep -q "counted only [0-9]* % of the time" $one/many.err
	value() {
		go tool pprof -sample_index=cycles:u -raw "$1" | awk '
		/^Samples:/ { on = 1; next }
		/^Locations/ { on = 0 }
		on && $1 ~ /^[0-9]/ { sum += $2 }
		END { printf "%d", sum }'
	}
	truth=$((40 * 110 * 100003))
	near "$(value $one/many.pb.gz)" $truth $((truth / 20))
	test "$(value $one/raw.pb.gz)" -lt $((truth * 9 / 10))
	go tool pprof -comments $one/many.pb.gz | grep -q "multiplexed: cycles:u counted"
END

check 'the most precise level that the kernel takes' <<'END'
	ended one
	test "$(count $one/precise.data)" -gt 500
	# attr.precise_ip: bits 15 and 16 of the flags, which are the attr's sixth word
	attr=$(pmu-stream --dump $one/precise.data | awk '$2 == "ATTR" { print $1; exit }')
	flags=$(od -A n -t u8 -j $((0x${attr#0x} + 8 + 40)) -N 8 $one/precise.data)
	test $((flags >> 15 & 3)) = 3
END

check 'periods that vary by chance are in the samples, and add up to the truth' <<'END'
	ended one
	samples $one/jitter.data period | tr -d " " | grep . >periods
	test "$(sort -u periods | wc -l)" -gt 25
	awk '$1 < 49157 * 0.95 - 1 || $1 > 49157 * 1.05 + 1 { bad = 1 } END { exit bad }' periods
	truth=$((30 * 110 * 100003))
	near "$(awk '{ sum += $1 } END { printf "%d", sum }' periods)" $truth $((truth / 100))
END

check 'too short a period is throttled, and the summary says so' <<'END'
	ended one
	grep -q "throttled [1-9][0-9]* times: the kernel stopped an event" $one/throttled.err
	perf report -i $one/throttled.data --stats 2>/dev/null >stats
	test "$(awk '/ THROTTLE events/ { print $3 }' stats)" -gt 50
END

check 'ten threads of equal work: each within 0.1 points' <<'END'
	ended one
	shares $one/threads.data >got
	test "$(wc -l <got)" = 10
	while read -r name share; do
		near "$share" 10 0.1
	done <got
END

# worst FILE: by how many points the worst of the ten functions is off
worst() {
	shares "$1" | awk '
	{ i = index("ABCDEFGHIJ", $1); seen++; e = $2 - 100 * i / 55; if (e < 0) e = -e }
	e > worst { worst = e }
	END { print seen < 10 && worst < 1.8 ? 1.8 : worst }'
}

check 'a period in step with a loop is wrong for ever; the preset, and jitter, are not' <<'END'
	in_whole_lab
	ended one
	worst $one/lock.data >locked
	worst $one/preset.data >preset
	worst $one/free.data >free
	cat locked preset free
	awk '{ exit !($1 > 2) }' locked
	awk '{ exit !($1 < 1.5) }' preset
	awk '{ exit !($1 < 1.5) }' free
END

check 'registers: the program counter is where the sample is' <<'END'
	ended one
	# sp is the 32nd, pc the 33rd (arch/arm64/include/uapi/asm/perf_regs.h)
	pmu-stream --dump $one/regs.data | sed -nE \
		's/.* ip=(0x[0-9a-f]*) .*user_regs=\[(0x[0-9a-f]*), (0x[0-9a-f]*)\].*/\1 \2 \3/p' >regs
	awk '$1 != $3 || $2 == $3 { wrong++ }
	END { print NR, wrong + 0; exit !(NR > 500 && wrong == 0) }' regs
END

check 'skid: samples of a loop lie within it' <<'END'
	ended one
	# where they lie, from the slow instruction on, for the log; the emulator has no pipeline
	samples $one/hot.data ip | grep . >ips
	sed 's/.*\(...\)$/\1/' ips | sort | uniq -c | sort -rn >places
	head -n 3 places
	# 15 additions, the division, 15 additions, and two more: four bytes each
	slow=$(aarch64-linux-gnu-nm "$programs/spin" | awk '$3 == "slow" { print substr($1, 14) }')
	while read -r hits place; do
		distance=$((0x$place - 0x$slow))
		test $distance -lt -60 || test $distance -gt 68 || echo $hits
	done <places | awk -v all="$(wc -l <ips)" '
		{ within += $1 }
		END { print within, all; exit !(all > 1000 && within > 0.99 * all) }'
END

check 'the same stream, bit for bit, when it runs again' <<'END'
	in_whole_lab
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

# kernel SUITE [MODEL]: the pipe works there
kernel() {
	(cd "$TOP" && tests/lab/kernel $1) >fetched 2>&1 || skip "$(tail -n 1 fetched)"
	guest $1 -k $1 -c ${2:-cortex-a57} <<-EOF
		uname -r
		pmu-sample -vv -g -e cycles -c 98269 -o s.data -- spin serial 20
		spin growing 150 & sleep 0.02
		pmu-sample -e cycles -c 98269 -p \$! -o growing.data
		pmu-symbolize s.data | pmu-topprof >p.pb.gz
	EOF
	cat $lab/$1/stdout $lab/$1/stderr
	# the cycles of the kernel are in it, too
	near "$(perf_samples $lab/$1/s.data)" "$(expected 20 98269)" 50
	go tool pprof -top $lab/$1/p.pb.gz | grep -q " J$"
	test "$(samples $lab/$1/growing.data comm | sort -u | grep -c "t[0-9]")" = 10
}

check 'an old kernel: 5.10' <<'END'
	in_whole_lab
	kernel bullseye
	grep -q "^5\.10\." $lab/bullseye/stdout
	grep -q "refuses build IDs in MMAP2 records" $lab/bullseye/stderr
END

check 'a newer kernel: 6.12' <<'END'
	in_whole_lab
	kernel trixie
	grep -q "^6\.12\." $lab/trixie/stdout
END

check 'the newest kernel there is' <<'END'
	in_whole_lab
	kernel sid
END

check 'another model: cortex-a76' <<'END'
	in_whole_lab
	kernel bookworm cortex-a76
END

done_testing
