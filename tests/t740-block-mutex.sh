#!/bin/sh
# Profiles of waits: who waits for whom, in streams of this kernel.
# kinds: release asan
. tests/lib.sh

# A program in which take() waits for a lock that hold() has, which naps; main() waits for both.
cat >"$scratch/queue.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int stop;
static _Atomic long waited;	/* ns */

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

__attribute__((noinline)) void nap(int us) { usleep((unsigned)us); __asm__ volatile(""); }

__attribute__((noinline)) void hold(void)
{
	pthread_mutex_lock(&big);
	nap(8000);
	pthread_mutex_unlock(&big);
	__asm__ volatile("");
}

__attribute__((noinline)) void take(void)
{
	long start = now();

	pthread_mutex_lock(&big);
	waited += now() - start;
	pthread_mutex_unlock(&big);
	__asm__ volatile("");
}

static void *holder(void *p)
{
	for (int i = 0; i < 60; i++) {
		hold();
		nap(2000);
	}
	stop = 1;
	return p;
}

static void *taker(void *p)
{
	while (!stop) {
		take();
		nap(300);
	}
	return p;
}

int main(void)
{
	pthread_t t[4];

	pthread_create(&t[0], 0, holder, 0);
	for (int i = 1; i < 4; i++)
		pthread_create(&t[i], 0, taker, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	printf("%ld\n", waited);
	return 0;
}
END
gcc -O1 -g -pthread "$scratch/queue.c" -o "$scratch/queue" || exit 1

# delays STREAM OPTION...: folded lines of a profile of waits, without labels
delays() {
	input=$1
	shift
	pmu-topprof --label none --to folded "$@" "$input"
}

# total PATTERN: the sum of the lines of standard input with PATTERN
total() { awk -v pattern="$1" '$0 ~ pattern { n += $NF } END { print n + 0 }'; }

in_nap=';take;.*;hold;.*;.which waited in.;.*;hold;nap;.*nanosleep'

# by_hold STREAM: take() waits for hold(), and that for time to pass.  On a busy machine, threads
# that were woken wait for a CPU, with the lock or before they take it.
by_hold() {
	delays "$1" --mutex=causes >causes &&
	awk -v hold=';take;.*;.waits for.;.*;hold;' -v nap="$in_nap" '
		/;take;/ { all += $NF }
		$0 ~ hold { by_hold += $NF }
		$0 ~ nap { in_nap += $NF }
		END { exit !(by_hold > 0.92 * all && in_nap > 0.95 * by_hold) }' causes
}

# recorded: the program's recording q.data, resolved q.sym, and what it printed in truth
recorded() {
	needs_tracepoints
	needs_root
	record() {
		pmu-sample --off-cpu -e sched:sched_waking/period=1/ --record raw,user-regs=di \
			--unwind -o "$scratch/q.data" -- "$scratch/queue" >"$scratch/truth"
	}
	for attempt in 1 2 3 4 5 6 7 8; do
		test -s "$scratch/q.data" || lossless "$scratch/q.data" record
		pmu-symbolize -o q.sym "$scratch/q.data"
		! by_hold q.sym || break
		test $attempt = 8 || rm "$scratch/q.data"
	done
	ln -sf "$scratch/q.data" "$scratch/truth" .
}

check 'a wait is due to the unlock at its end, not to the last of those that wait' <<'END'
	recorded
	delays q.sym --block >block
	delays q.sym --mutex >mutex
	waits=$(total ';take;.*schedule [0-9]*$' <block)
	ready=$(total ';take;.*;.scheduler. ' <block)
	near $((waits + ready)) "$(cat truth)" $((waits / 20))
	at_least "$(total ';hold;' <mutex)" $((waits * 90 / 100))
	at_most "$(total ';take;.*try_to_wake_up' <mutex)" $((waits * 10 / 100))
	grep ';take;.*;.scheduler. ' mutex
END

# ended FILE: the sum of the samples in a profile whose waits have ended in a known way
ended() {
	go tool pprof -symbolize=none -raw "$1" 2>err | awk '
		/^Locations/ { exit }
		/^ +[0-9]+ +[0-9]+: / { ns = $2 + 0; next }
		/^ +[a-z]+:\[/ && ns { if (!/ended:\[unknown\]/) n += ns; ns = 0 }
		END { print n }'
}

check 'all parts of the waits are as long as the waits, to the nanosecond' <<'END'
	recorded
	pmu-topprof --block -o block.pb.gz q.sym
	waits=$(ended block.pb.gz)
	at_least "$waits" "$(($(cat truth) / 2))"
	for how in '' =causes; do
		test "$(delays q.sym --mutex$how | total .)" = "$waits"
	done
END

check 'the causes of a wait end where the thread that held the lock waited' <<'END'
	recorded
	delays q.sym --mutex=causes >causes
	by_hold=$(total ';take;.*;.waits for.;.*;hold;' <causes)
	at_least "$(total "$in_nap" <causes)" $((by_hold * 95 / 100))
	delays q.sym --mutex=causes --chain 1 >one
	test "$(total . <one)" = "$(total . <causes)"
END

check 'a raw stream gives the same profiles as a resolved one' <<'END'
	recorded
	for how in --block --block=all --mutex --mutex=causes; do
		pmu-topprof $how -o raw.pb.gz q.data
		pmu-topprof $how -o resolved.pb.gz q.sym
		for of in raw resolved; do
			go tool pprof -symbolize=none -raw $of.pb.gz 2>err |
				sed -n '/^contentions/,/^Mappings/p' >$of
		done
		grep '^contentions/count delay/nanoseconds' raw
		same raw resolved
	done
END

check 'labels say which lock it was, who ended the wait, and by which rule' <<'END'
	recorded
	pmu-topprof --block -o block.pb.gz q.sym
	go tool pprof -symbolize=none -tags block.pb.gz >tags 2>err
	grep '): big$' tags
	grep '): unlocks$' tags
	grep '): thread$' tags
	grep '): queue$' tags
	pmu-topprof --block=all -o all.pb.gz q.sym
	go tool pprof -symbolize=none -tags all.pb.gz 2>err | grep '): timer$'
END

check 'without waits there is no profile, but a message' <<'END'
	any_user
	printf '' | compose s.data <<-PYTHON
		out = pipe(record(64, attr(1, 0, 1, IP | TID | TIME, 0) + struct.pack("<Q", 1), 0))
	PYTHON
	for how in --block --mutex --mutex=causes; do
		exits 1 pmu-topprof $how -o none.pb.gz s.data 2>err
		grep 'record with pmu-sample --waits' err
		test ! -e none.pb.gz
	done
	exits 2 pmu-topprof --block=some s.data 2>err
	exits 2 pmu-topprof --block --mutex s.data 2>err
	grep -qx 'pmu-topprof: --block does not go with --mutex' err
	exits 2 pmu-topprof --block s.data s.data 2>err
	grep '^pmu-topprof: --block works on one stream, not on 2 files' err
	exits 2 pmu-topprof --block all s.data 2>err
	grep "^pmu-topprof: cannot open 'all': No such file.*: --block=all$" err
	exits 2 pmu-topprof --chain 3 s.data 2>err
END

done_testing
