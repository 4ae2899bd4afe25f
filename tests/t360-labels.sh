#!/bin/sh
# Labels of threads, read at the sample by a BPF program: pmu-sample --labels.  The truth is the
# function that ran (tests/labels-judge.py).
# kinds: release
. tests/lib.sh

# Why labels cannot be had here, or nothing: bpf(2) may be refused in a container.
why_not() {
	pmu-sample --labels -d 1ms -p $$ -o /dev/null 2>&1 |
		sed -n 's/.*cannot record labels: //p'
}
why=$(why_not)
needs_bpf() { test -z "$why" || skip "$why"; }

# Each goroutine runs workA under user=A, then workB under user=B, for as many turns of 20,000
# (about 50 us) as the second argument says, until the program got so much CPU time.
cat >"$scratch/work.go" <<'EOG'
package main

import (
	"context"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

var sinks [64]uint64

//go:noinline
func workA(g, n int) {
	x := sinks[g]
	for i := 0; i < n; i++ {
		x = x*6364136223846793005 + 1
	}
	sinks[g] = x
}

//go:noinline
func workB(g, n int) {
	x := sinks[g]
	for i := 0; i < n; i++ {
		x = x*2862933555777941757 + 3
	}
	sinks[g] = x
}

func spent() int {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	return int(u.Utime.Sec+u.Stime.Sec)*1000 + int(u.Utime.Usec+u.Stime.Usec)/1000
}

// work MS GOROUTINES LABELS [BYTES]: more labels come before "user" by name, with values of BYTES
func main() {
	number := func(i, other int) int {
		if i < len(os.Args) {
			other, _ = strconv.Atoi(os.Args[i])
		}
		return other
	}
	ms, goroutines, labels, bytes := number(1, 500), number(2, 1), number(3, 1), number(4, 4)
	var wait sync.WaitGroup
	for g := 0; g < goroutines; g++ {
		wait.Add(1)
		go func(g int) {
			defer wait.Done()
			set := func(user string) pprof.LabelSet {
				list := []string{"user", user}
				for k := 1; k < labels; k++ {
					list = append(list, "key"+strconv.Itoa(k),
						strings.Repeat("v", bytes))
				}
				return pprof.Labels(list...)
			}
			for spent() < ms {
				pprof.Do(context.Background(), set("A"),
					func(context.Context) { workA(g, 40000) })
				pprof.Do(context.Background(), set("B"),
					func(context.Context) { workB(g, 40000) })
			}
		}(g)
	}
	wait.Wait()
}
EOG
go_program() {
	needs_command go
	(cd "$scratch" && GO111MODULE=off once "labels-$1" go build ${2:+"$2"} -o "$1" work.go)
}

# judged WHAT LEAST MOST: the number in the file "judged" lies so
judged() {
	value=$(tr ' ' '\n' <judged | sed -n "s/^$1=//p")
	at_least "$value" "$2" && at_most "$value" "${3:-$value}" || { cat judged; return 1; }
}

# judge PROGRAM STREAM: no label is wrong, and nine samples of ten have theirs
judge() {
	python3 "$TOP/tests/labels-judge.py" "$1" "$2" >judged
	cat judged
	judged wrong 0 0
	right=$(tr ' ' '\n' <judged | sed -n 's/^right=//p')
	none=$(tr ' ' '\n' <judged | sed -n 's/^none=//p')
	at_least "$right" 100
	at_most $((none * 10)) $((right + none))
}

check 'each sample has its labels record right before it, and the labels of its function' <<'END'
	needs_bpf
	go_program plain
	"$scratch/plain" 700 & pid=$!
	pmu-sample -v --labels -e cpu-clock -F 997 -p $pid -o s.data 2>log
	judge "$scratch/plain" s.data
	test "$(tr ' ' '\n' <judged | sed -n 's/^joined=//p')" = \
		"$(tr ' ' '\n' <judged | sed -n 's/^samples=//p')"
	judged alone 0 0
	grep -q 'labels: [0-9]* samples labelled, [0-9]* without, 0 unreadable, 0 not known, 0 cut' log
END

done_testing
