// SPDX-License-Identifier: Apache-2.0

// Benchmarks whose costs are known, under names of all kinds: for pmu-stat --bench.
package costs

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

const pages = 8

// touch maps some pages, writes to each, and unmaps them: a page fault for each page.  They are too
// few for a huge page.
func touch(b *testing.B) {
	size := os.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, pages*size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; i < pages; i++ {
		memory[i*size] = 1
	}
	if err := syscall.Munmap(memory); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkFaults(b *testing.B) {
	for i := 0; i < b.N; i++ {
		touch(b)
	}
}

// What clock_gettime(2) measures: the CPU time of a process, or of a thread.
const (
	ofProcess = 2
	ofThread  = 3
)

// cpuTime returns the CPU time of this process or thread in ns.
func cpuTime(of uintptr) int64 {
	var t syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, of, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

// An iteration takes a millisecond of CPU time, of which the clock of the benchmark sees the half,
// and Go's own threads take some, more on a busy machine: so the sum is reported, too.
func BenchmarkTime(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := cpuTime(ofProcess)
	for i := 0; i < b.N; i++ {
		for half := 0; half < 2; half++ {
			if half == 0 {
				b.StopTimer()
			}
			for end := cpuTime(ofThread) + 500000; cpuTime(ofThread) < end; {
			}
			if half == 0 {
				b.StartTimer()
			}
		}
	}
	b.ReportMetric(float64(cpuTime(ofProcess)-start)/float64(b.N), "process-ns/op")
}

func BenchmarkNames(b *testing.B) {
	for _, name := range []string{"n=10", "a b/c(d)|e", "", "", "x-2", "x", "x", "[z]/\a", "é", `^\$`} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(64)
		})
	}
	b.Run("talks", func(b *testing.B) {
		fmt.Println("a line")
		fmt.Print("no line")
		b.Log("for the log")
	})
	b.Run("metric", func(b *testing.B) {
		b.ReportMetric(3.5, "things/op")
		b.ReportMetric(0, "ns/op")
	})
	b.Run("fixed", func(b *testing.B) { b.ReportMetric(100+1000/float64(b.N), "ns/op") })
	b.Run("skips", func(b *testing.B) { b.Skip("not here") })
}

func BenchmarkEnvironment(b *testing.B) {
	if os.Getenv("BENCH_RUNS_THIS") == "" {
		b.Skip()
	}
}

func TestPasses(t *testing.T) { fmt.Println("a test") }
