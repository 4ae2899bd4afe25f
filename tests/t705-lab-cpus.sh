#!/bin/sh
# On an emulated PMU with two CPUs: whose samples they are.
# kinds: release
. tests/lib.sh
. tests/lab.sh

test -n "$why" || start two -s 2 -i none <<'EOF'
pmu-sample -e cycles:u -c 491521 -o s.data -- spin threads 300
pmu-sample -a -e cycles:u -c 491521 -o all.data & sampler=$!
tries=0
until test $(wc -c <all.data) -gt 20000 || test $tries = 50; do
	tries=$((tries + 1))
	spin threads 100
done
kill -TERM $sampler
wait $sampler
EOF

check 'the guest ends' <<'END'
	in_lab
	ended_well two
END

check 'two CPUs and ten threads: samples are of the thread that caused them' <<'END'
	ended two
	# in thread tN only the Nth function runs
	functions >functions
	samples $lab/two/s.data comm,ip | awk '
	NR == FNR { low["t" NR - 1] = $1; of_function[$1] = 1; next }
	# an interrupt may come late, in the next thread; by mistake it would be half of them;
	# how long a thread takes to start is up to the emulator, which has no clock of its own here
	!($1 in low) || !(substr($2, length($2) - 2, 2) in of_function) { next }
	{ all++; wrong += substr($2, length($2) - 2, 2) != low[$1] }
	END { print all, wrong + 0; exit !(all > 100 && wrong * 100 <= all) }' functions -
	test "$(samples $lab/two/s.data comm | sort -u | grep -c "t[0-9]")" = 10
END

check 'two CPUs: each is sampled when all are' <<'END'
	ended two
	samples $lab/two/all.data cpu | grep . | sort | uniq -c
	test "$(samples $lab/two/all.data cpu | grep . | sort -u | wc -l)" = 2
END

done_testing
