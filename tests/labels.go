// SPDX-License-Identifier: Apache-2.0

// labels - goroutines that label their work: pmu-sample --labels.
//
//	labels MS [GOROUTINES [LABELS [BYTES [PROFILE]]]]
//
// Each goroutine runs workA under user=A, then workB under user=B, in turns of about 50 us, until
// the program got MS of CPU time.  Further labels, key1 to key9 and on, have values of BYTES.  With
// PROFILE, workB runs for a quarter of the time, and Go writes its own profile to that file.
package main

import (
	"context"
	"os"
	"runtime"
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

func main() {
	number := func(i, other int) int {
		if i < len(os.Args) {
			other, _ = strconv.Atoi(os.Args[i])
		}
		return other
	}
	ms, goroutines, labels, bytes := number(1, 500), number(2, 1), number(3, 1), number(4, 4)
	turnB := 40000
	if len(os.Args) > 5 {
		file, _ := os.Create(os.Args[5])
		runtime.SetCPUProfileRate(1000) // Go warns that it keeps this rate, and does
		pprof.StartCPUProfile(file)
		defer pprof.StopCPUProfile()
		turnB /= 4
	}
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
					func(context.Context) { workB(g, turnB) })
			}
		}(g)
	}
	wait.Wait()
}
