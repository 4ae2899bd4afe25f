#!/bin/sh
# peers - each row of the tables in doc/from-*.md runs: pmukit's command, and the peer's where the
# peer is installed.
tests/setup peers || exit 1
. tests/lib.sh
. tests/examples.sh

# The program of the tables, which gperftools' library can be loaded into, and its profiles.
prepare_peers() {
	cat >dynamic.c <<-"EOF"
	#include <time.h>
	volatile long sum;
	static __attribute__((noinline)) void J(void) { for (int i = 0; i < 1000; i++) sum += i; }
	int main(void)
	{
		for (clock_t end = clock() + CLOCKS_PER_SEC / 5; clock() < end; )
			J();
		return 0;
	}
	EOF
	gcc -O1 -g dynamic.c -o dynamic
	pmu-sample -q -e cpu-clock,page-faults --unwind -o d.data -- ./dynamic
	pmu-symbolize -q d.data | pmu-topprof -q --label thread_comm -o p.pb.gz
	LD_PRELOAD=libprofiler.so.0 CPUPROFILE=p.prof ./dynamic || :
	cp p.pb.gz kept
}

# run_rows PAGE SIDE PROGRAM...: the commands of one side of PAGE's table; each PROGRAM is there
run_rows() {
	page=$1 side=$2
	shift 2
	needs_command "$@" gcc
	documents rows rows "$TOP/doc/$page.md"
	enter_fresh
	prepare_peers
	pmu-serve -p $pid
	for row in ../rows/*."$side"; do
		{ as_here <"$row"; echo :; } >block
		cat block
		run_block ./block
	done
	at_least "$(ls ../rows/*."$side" | wc -l)" 8
}

make_fresh
for row in ${ROWS:-perf:perf pprof:go gperftools:google-pprof samply:samply}; do
	page=from-${row%:*} program=${row#*:}
	check "the commands of pmukit in $page.md run" <<'END'
		run_rows $page ours go
END
	check "the commands of $program in $page.md run" <<'END'
		run_rows $page peer $program
END
done

done_testing
