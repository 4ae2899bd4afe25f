#!/bin/sh
# Error bars and pmu-diff on simulated recordings whose truth is known: how often intervals hold
# it, how often something is called where nothing changed, and where something did.  The seeds
# are fixed, so the numbers are the same in each run.  SIMULATED=all: as many as it takes to tell
# a right method from a wrong one, for minutes; and as much on live programs.
# kinds: release
. tests/lib.sh

# The distribution's Python has a module "statistics": simulated.py uses it.
simulated() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/simulated.py" "$@"; }

# some FEW ALL: how many repetitions
some() { test "$SIMULATED" = all && echo "$2" || echo "$1"; }

check 'the bars of each function hold its share in 88 to 99.5 of 100 recordings' <<'END'
	for program in steady phases threads bursts; do
		simulated coverage $program "$(some 20 1000)" >got
		read -r least most width <got
		echo "$program: $least to $most %, width $width"
		at_least $least $(some 75 88)
		test "$SIMULATED" != all || at_most $most 99.5
		test $program != steady || at_most $width $(some 1.6 1.35)
	done
END

check 'of the bars that a default table prints 93 of 100 hold, whatever it leaves out' <<'END'
	for program in equal1 equal10 equal100 equal200 large; do
		simulated printed $program "$(some 8 200)" 2000 >got
		read -r held bars tables <got
		echo "$program: $held of $bars bars"
		at_least $bars 8
		at_least "$held" "$(echo $bars | awk '{ print 0.93 * $1 }')"
	done
END

check 'bars of unequal weights hold in at least 93 of 100, or are not printed' <<'END'
	held=0 bars=0
	for samples in 40 300 1000 3000; do
		for sigma in 1 2 3; do
			test "$SIMULATED" = all || test $samples = 300 || continue
			simulated printed heavy$sigma "$(some 12 300)" $samples >got
			read -r h b tables <got
			echo "$samples samples, sigma $sigma: $h of $b bars, in $tables tables"
			test $samples.$sigma != 300.1 || test $tables = "$(some 12 300)"
			test "$SIMULATED" != all || test $b -lt 100 ||
				at_least $h "$(echo $b | awk '{ print 0.93 * $1 }')"
			held=$((held + h)) bars=$((bars + b))
		done
	done
	at_least $held "$(echo $bars | awk '{ print 0.93 * $1 }')"
END

check 'of 200 comparisons of equal programs at most 16 report a change' <<'END'
	for program in steady phases; do
		calls=$(simulated equal $program "$(some 10 200)" 1)
		echo "$program, one run a side: $calls"
		at_most $calls $(some 1 16)
	done
	for program in steady layout phases threads; do
		test "$SIMULATED" = all || test $program = layout || continue
		calls=$(simulated equal $program "$(some 4 200)" 5)
		echo "$program, five runs a side: $calls"
		at_most $calls $(some 1 16)
	done
END

check 'with as many samples as the tool asks for, 78 of 100 comparisons find a change' <<'END'
	test "$SIMULATED" = all || skip 'only in make check-all PARTS=statistics'
	# pmu-diff's own prediction for 10 functions, f9 of 10/55
	for change in 0.1 0.2 0.3; do
		samples=$(echo $change | awk '{ print $1 == .1 ? 28682 : $1 == .2 ? 7631 : 3598 }')
		found=$(simulated slower 600 1 $samples $change)
		echo "$change slower, $samples samples a side: $found of 600"
		at_least $found 468
	done
END

check 'of renamed functions 19 of 20 are found, with two, three and five runs a side' <<'END'
	while read -r runs spread option; do
		found=$(simulated renamed $runs $spread "$(some 3 20)" $option)
		echo "$runs runs that differ by $spread: $found"
		at_least "$found" "$(some 3 19)"
	done <<-CASES
		2 0.02
		2 0.02 --per=share
		2 0.3
		3 0.1
		3 0.3
		5 0.3
	CASES
END

check 'a change that would have been seen is found in 75 to 90 of 100 comparisons' <<'END'
	test "$SIMULATED" = all || skip 'only in make check-all PARTS=statistics'
	for runs in 1 5; do
		simulated seen $runs 400 2000 >got
		read -r found claims <got
		echo "$runs runs a side: $found of $claims"
		at_least $claims 380
		at_least $found "$(echo $claims | awk '{ print 0.75 * $1 }')"
		at_most $found "$(echo $claims | awk '{ print 0.9 * $1 }')"
	done
END

# work NAME [OPTION...]: a program of ten functions of 1/55 to 10/55 of its time each; the last
# gets PERCENT more than that.  A round takes 6 ms, many times the period of the samples: where a
# round is about as long as the period, both go in step, and no bar of one recording shows that.
work() {
	name=$1
	shift
	cat >work.c <<-'EOF'
	#include <stdlib.h>
	static volatile unsigned long sink;
	#define F(n) __attribute__((noinline, noclone)) static void f##n(long units) { \
		unsigned long x = sink; \
		for (long i = 0; i < 100000 * units; i++) x = x * 6364136223846793005u + n; \
		sink = x; }
	F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10)
	int main(int argc, char **argv)
	{
		for (long i = argc > 1 ? atol(argv[1]) : 0; i > 0; i--) {
			f1(1); f2(2); f3(3); f4(4); f5(5); f6(6); f7(7); f8(8); f9(9);
			f10(10 + 10 * PERCENT / 100);
		}
	}
	EOF
	cc -O1 -o "$name" "$@" work.c
}

# recorded FILE PROGRAM ROUNDS: a profile with slices
recorded() {
	pmu-sample -q -e cpu-clock -F 4000 -- "./$2" "$3" | pmu-symbolize -q |
		pmu-topprof --slices 20 -o "$1"
}

check 'live: 180 of 200 bars of ten functions hold their shares' <<'END'
	test "$SIMULATED" = all || skip 'only in make check-all PARTS=statistics'
	needs_command cc
	work ten-live -DPERCENT=0
	for run in $(seq 20); do
		recorded p.pb.gz ten-live 160
		pmu-top -j p.pb.gz
	done >tables
	python3 - tables >held <<-'EOF'
	import json, sys
	text, at, held, bars, widths = open(sys.argv[1]).read(), 0, 0, 0, []
	while text[at:].strip():
	    table, end = json.JSONDecoder().raw_decode(text[at:].lstrip())
	    at = len(text) - len(text[at:].lstrip()) + end
	    for row in table["rows"]:
	        if row["name"][:1] == "f" and row["name"][1:].isdigit():
	            truth, bar = int(row["name"][1:]) / 55, row["flat_bar"]
	            bars += 1
	            held += bar["low"] <= truth <= bar["high"]
	            widths.append((bar["high"] - bar["low"]) / 2 / truth)
	print(held, bars, "%.3f" % (sum(widths) / len(widths)))
	EOF
	read -r held bars width <held
	echo "$held of $bars; half a width is $width of the share"
	test "$bars" = 200
	at_least "$held" 180
	at_most "$width" 0.3		# a bar that says nothing holds everything
END

check 'live: a function that is 20 % slower is found in 12 of 20 pairs' <<'END'
	test "$SIMULATED" = all || skip 'only in make check-all PARTS=statistics'
	needs_command cc
	work old -DPERCENT=0
	work new -DPERCENT=20
	found=0
	for pair in $(seq 20); do
		recorded base.pb.gz old 300		# 7,600 samples
		recorded after.pb.gz new 300
		pmu-diff -j base.pb.gz after.pb.gz >table
		! grep '"name": "f10"' table | grep -q '"called": true' || found=$((found + 1))
	done
	echo "found in $found of 20"
	at_least $found 12
END

check 'live: --run finds that a program takes 5 % longer, and nothing in equal ones' <<'END'
	test "$SIMULATED" = all || skip 'only in make check-all PARTS=statistics'
	needs_command cc
	work old -DPERCENT=0
	work new -DPERCENT=30		# 30 % of 10/55: 5.5 % of all
	for runs in 5 10 20; do		# a busy machine takes more of them
		code=0
		pmu-diff -q --run $runs --fail-if total:+2% './old 200' './new 200' >table || code=$?
		test $code = 0 || break
	done
	test $code = 3
	grep f10 table
	pmu-diff -q --run 5 --fail-if total:+2% './old 200' './old 200' >table
END

done_testing
