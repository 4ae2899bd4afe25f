#!/bin/sh
# What pmu-sample --unwind leaves to frame pointers: stacks beyond the budget, and all but a few if
# frame pointers are good enough.
# kinds: release user
. tests/lib.sh

dumps() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/stack-dumps.py" "$@"; }

# A program whose chain is main(), top(), middle(), leaf().  leaf() has a page fault about each ms.
cat >"$scratch/four.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) static int leaf(volatile char *page)
{
	volatile unsigned long kept = 1;	/* gcc gives no frame to a leaf without such */
	unsigned long x = kept;

	for (int i = 0; i < 800000; i++)
		x = x * 6364136223846793005u + 1;
	*page = 1;
	for (int i = 0; i < 100000; i++)
		x = x * 6364136223846793005u + 1;
	sink = x;
	return 1;
}

__attribute__((noinline)) static int middle(volatile char *page) { return leaf(page) + 1; }
__attribute__((noinline)) static int top(volatile char *page) { return middle(page) + 1; }

int main(int argc, char **argv)
{
	int pages = argc > 1 ? atoi(argv[1]) : 100;
	char *at = mmap(0, 4096ul * pages, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(at, 4096ul * pages, MADV_NOHUGEPAGE);
	for (int i = 0; i < pages; i++)
		sink += (unsigned long)top(at + 4096ul * i);
	return 0;
}
END
build() { gcc -O1 -g -fno-optimize-sibling-calls "$@"; }
build -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer "$scratch/four.c" \
	-o "$scratch/with" || exit 1
build -fomit-frame-pointer "$scratch/four.c" -o "$scratch/without" || exit 1

# folds FILE OPTION...: its folded lines, without labels
folds() { pmu-topprof --label none --to folded "$@"; }

# beyond: from err, the number of stacks beyond the budget, and of all
beyond() {
	sed -n 's/.*: \([0-9]*\) of \([0-9]*\) stacks were followed by .*/\1 \2/p' err
}

# within_budget BUDGET PROGRAM: record it into u.data
within_budget() {
	pmu-sample -v --unwind="$1" -e cpu-clock:u -F 1000 -o u.data -- \
		"$scratch/$2" 300 2>err
	cat err
	dumps sizes u.data >sizes
	none awk '$1' sizes
}

check 'stacks beyond the budget are followed by frame pointers, and counted' <<'END'
	for budget in 0% 100%,4Ki; do
		within_budget $budget with
		set -- $(beyond)
		at_least "$1" 100
		test "$1" = "$2"
		test "$2" = "$(perf_samples u.data)"
		pmu-symbolize u.data 2>notes | folds - >folded
		none cat notes
		grep 'main;top;middle;leaf [0-9]*$' folded
		none grep '_start;.*;leaf ' folded
	done
	within_budget 0.01% with
	set -- $(beyond)
	at_least "$1" 1
	at_most "$1" "$2"
	grep 'may take 0.01 % of the CPU time and 64Mi of memory; --unwind=SHARE,SIZE changes' err
END

check 'with a large budget all stacks are unwound' <<'END'
	within_budget 100%,1Gi without
	late=$(sed -n 's/.*: \([0-9]*\) of .* the process that unwinds was too slow$/\1/p' err)
	test -z "$(beyond)" || test -n "$late"
	pmu-symbolize u.data 2>/dev/null | folds - >folded
	grep '_start;.*main;top;middle;leaf [0-9]*$' folded
END

check 'a budget is a share and a size' <<'END'
	any_user
	for wrong in sometimes 101% 2%,x ,64Mi; do
		exits 2 pmu-sample --unwind="$wrong" -- true 2>err
		grep "takes always, needed, or a share of the CPU time" err
	done
END

# if_needed PROGRAM: record its page faults into u.data.  None is lost or there twice.  The target
# stands still until its events have their rings: what it does between is counted, but not sampled.
if_needed() {
	"$scratch/$1" 1600 &
	target=$!
	eventually has_run "$target" 50
	kill -STOP "$target"
	eventually grep -q "^State:.T" "/proc/$target/status"
	pmu-sample -v --unwind=needed -e page-faults:u -c 1 -o u.data -p "$target" 2>err &
	eventually test -s u.data
	kill -CONT "$target"
	wait $!
	cat err
	dumps sizes u.data >sizes
	none awk '$1' sizes
	set -- $(sed -n "s/.*page-faults:u: \([0-9]*\) counted.*lost \([0-9]*\) .*/\1 \2/p" err)
	test "$(($(perf_samples u.data) + $2))" = "$1"
	at_least "$1" 1000
	pmu-symbolize u.data 2>/dev/null | folds - --event page-faults:u >folded
}

# have_callers: the number of samples in folded that have all callers
have_callers() { awk '/main;top;middle;leaf / { n += $NF } END { print n }' folded; }

check 'good frame pointers: stacks are not unwound, and no sample is lost or there twice' <<'END'
	if_needed with
	grep 'stacks, so only some are unwound' err
	grep 'stacks left to frame pointers' err
	at_least "$(have_callers)" $(($(perf_samples u.data) - 10))
END

check 'code without frame pointers is unwound, and no sample is lost or there twice' <<'END'
	if_needed without
	grep 'stacks, so all are unwound' err
	none grep 'stacks left to frame pointers' err
	set -- $(beyond) 0
	at_least "$(have_callers)" $(($(perf_samples u.data) - 10 - $1))
END

# make_go NAME: build the Go program of stdin
make_go() {
	needs_command go
	mkdir -p "$1"
	cat >"$1/main.go"
	printf 'module m\n' >"$1/go.mod"
	(cd "$1" && CGO_ENABLED=0 go build -o m .) || skip 'go cannot build here'
}

check 'Go: pmu-prof finds the callers of assembly' <<'END'
	make_go hash <<'GO'
package main

import (
	"crypto/sha256"
	"fmt"
	"syscall"
	"time"
)

//go:noinline
func digest(b []byte) byte { s := sha256.Sum256(b); return s[0] }

func main() {
	b := make([]byte, 8192)
	var u syscall.Rusage
	for u.Utime.Nano() < int64(time.Second) {
		for i := 0; i < 100; i++ {
			b[0] = digest(b)
		}
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	}
	fmt.Println(b[0])
}
GO
	pmu-prof -v -q --view none -e cpu-clock:u -o p -- hash/m
	pmu-topprof --to folded p.pb.gz >folded
	blocks=$(awk '/sha256\.block/ { n += $NF } END { print n }' folded)
	callers=$(awk '/main\.digest;.*sha256\.block/ { n += $NF } END { print n }' folded)
	at_least "$blocks" 500000000
	at_least "$callers" "$(awk -v n="$blocks" 'BEGIN { print n * 0.95 }')"
END

# make_deep: a program whose stacks cost much: 600 frames, of 1500 functions in random order
make_deep() {
	awk 'BEGIN {
		n = 1500
		print "#include <stdlib.h>\n#include <time.h>"
		print "typedef unsigned function(int); extern function *all[];"
		print "static unsigned x = 1;"
		print "static function *any(void) { x = x * 1664525 + 1013904223;"
		print "	return all[(x >> 8) % " n "]; }"
		for (i = 0; i < n; i++) {
			print "static unsigned f" i "(int d) { unsigned a = d; if (d) return"
			print "	any()(d - 1) + a; for (int i = 0; i < 20000; i++)"
			print "	a = a * 31 + i; return a; }"
			names = names "f" i ","
		}
		print "function *all[] = {" names "};"
		print "int main(void) { for (;;) any()(600); }"
	}' >deep.c
	gcc -O0 -fomit-frame-pointer deep.c -o deep
}

# all_busy MS: each of $programs got MS more CPU time since its time in the file before
all_busy() {
	for pid in $programs; do
		has_run "$pid" $(($(awk -v p="$pid" '$1 == p { print $2 }' before) + $1)) || return 1
	done
}

# few_cut OPTION...: sample $programs so; at most 10 % of the stacks of each are cut, but for the
# first program
few_cut() {
	for pid in $programs; do echo "$pid $(cpu_ms "$pid")"; done >before
	pmu-sample -v -e cpu-clock -o s.data "$@" 2>err &
	recorder=$!
	eventually test -s s.data
	eventually all_busy 1000
	kill -INT $recorder
	wait $recorder
	grep stacks err
	pmu-symbolize -q -o named.data s.data
	for pid in ${programs#* }; do
		pmu-topprof -q --pid "$pid" --frames no-lost --label none --to folded --frames cut \
			named.data |
			awk '{ all += $NF } /^\[cut: / { cut += $NF }
				END { print all / 1e6 " ms, cut: " cut / all * 100 " %" }'
	done >cut
	cat cut
	test "$(wc -l <cut)" = 3
	none awk '$1 < 500 || $4 > 10' cut
}

check 'many programs: few stacks are cut, also beside a costly program' <<'END'
	needs_root
	needs_command g++ python3
	make_deep
	printf '%s\n' '#include <map>' '#include <string>' 'int main() { for (;;) {' \
		'std::map<std::string, int> m; for (int i = 0; i < 5000; i++)' \
		'm[std::to_string(i * 7919 % 5000)] += i; } }' >tree.cc
	g++ -O2 tree.cc -o tree
	printf '%s\n' 'import json' 'while True:' \
		'	json.loads(json.dumps({"a": list(range(99))}))' >j.py
	make_go loop <<'GO'
package main

import (
	"crypto/sha256"
	"encoding/json"
)

func main() {
	b := make([]byte, 8192)
	for {
		s := sha256.Sum256(b)
		text, _ := json.Marshal(s)
		b[0] = text[1]
	}
}
GO
	mv loop/m goloop
	./deep & programs=$!
	./tree & programs="$programs $!"
	./goloop & programs="$programs $!"
	python3 j.py & programs="$programs $!"
	few_cut -p "$(echo $programs | tr ' ' ,)" --unwind=2%
	few_cut -a --unwind=50%		# the other programs on this machine are not known
	kill $programs
END

done_testing
