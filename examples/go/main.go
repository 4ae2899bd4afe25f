// SPDX-License-Identifier: Apache-2.0

// Program example profiles itself by the package pmupprof.
//
//	export CGO_CFLAGS="$(pkg-config --cflags pmukit)" CGO_LDFLAGS="$(pkg-config --libs pmukit)"
//	go build -o example .
//	./example -cpuprofile profile.pb.gz -cpuprofileevent cycles -cpuprofileperiod 1000000
//	go tool pprof -top profile.pb.gz
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"syscall"
	"time"

	"example/pmupprof"
)

// The work: two functions, which take different times.

var sum uint64

//go:noinline
func addSquares() {
	for i := uint64(0); i < 1000000; i++ {
		sum += i*i ^ sum>>3
	}
}

//go:noinline
func divide() {
	for i := uint64(1); i < 300000; i++ {
		sum += (sum | 1<<63) / i % 7
	}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// measured calls work with the label phase, and returns the CPU time that it took.
func measured(phase string, work func()) time.Duration {
	start := cpuTime()
	pprof.Do(context.Background(), pprof.Labels("phase", phase), func(context.Context) { work() })
	return cpuTime() - start
}

func run() error {
	profile := pmupprof.AddFlags(flag.CommandLine)
	flag.Parse()
	stop, err := profile.Start()
	if err != nil {
		return err
	}
	if pmupprof.NoLabels != nil {
		fmt.Fprintln(os.Stderr, "without labels:", pmupprof.NoLabels)
	}
	var squares, divisions time.Duration
	for squares+divisions < time.Second/2 {
		squares += measured("squares", addSquares)
		divisions += measured("divisions", divide)
	}
	fmt.Printf("main.addSquares %.3f\nmain.divide %.3f\n", squares.Seconds(), divisions.Seconds())
	return stop()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
