// SPDX-License-Identifier: Apache-2.0

// Package pmupprof profiles this program by events of the CPU.  It has the functions of
// runtime/pprof, and the flags -cpuprofileevent and -cpuprofileperiod.
//
// Labels of pprof.Do are in the profile, if this process may load BPF programs.
package pmupprof

/*
#cgo LDFLAGS: -lpmukit
#include <pmukit.h>
#include <stdlib.h>

// Go may not keep its own pointers in C's memory, so the list of names is made here.
static struct pmukit_profile *start(char *event, uint64_t period, unsigned int flags, int fd)
{
	const char *events[] = { event, NULL };
	struct pmukit_profile_config config = {
		.size = sizeof(config), .events = event ? events : NULL, .period = period,
		.flags = flags, .fd = fd,
	};

	return pmukit_profile_start(&config);
}
*/
import "C"

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"unsafe"
)

// Config is what to sample.  The zero Config samples cycles, or the CPU's clock.
type Config struct {
	Event  string // a name as in pmu-event(7), such as "branch-misses", or "timer"
	Period uint64 // events between two samples; 0: by frequency, as always for "timer"
}

// Error is an error of libpmukit.
type Error struct {
	Code int // enum pmukit_status
	Text string
}

func (e *Error) Error() string { return e.Text }

// NoLabels reports why samples have no labels, if they have none.
var NoLabels error

var running struct {
	sync.Mutex
	profile *C.struct_pmukit_profile
	copied  chan error // the end of the copy to the caller's writer
	pipe    *os.File
}

// lastError is for the thread that made the call: it must be locked.
func lastError() *Error {
	return &Error{int(C.pmukit_error_code()), C.GoString(C.pmukit_error())}
}

func (c Config) start(flags C.uint, fd C.int) (*C.struct_pmukit_profile, *Error) {
	// pmukit_error() is about the last call of this OS thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if c.Event == "timer" {
		c.Period = 0
	}
	var event *C.char
	if c.Event != "" {
		event = C.CString(c.Event)
		defer C.free(unsafe.Pointer(event))
	}
	if p := C.start(event, C.uint64_t(c.Period), flags, fd); p != nil {
		return p, nil
	}
	return nil, lastError()
}

// StartCPUProfile starts to profile this program.  StopCPUProfile writes the profile to w.
func StartCPUProfile(w io.Writer) error { return Config{}.StartCPUProfile(w) }

// StartCPUProfile starts to profile this program by the event and period of c.
func (c Config) StartCPUProfile(w io.Writer) error {
	running.Lock()
	defer running.Unlock()
	if running.profile != nil {
		return errors.New("pmupprof: a profile is running already")
	}
	from, to, err := os.Pipe()
	if err != nil {
		return err
	}
	fd := C.int(to.Fd()) // Fd makes the descriptor blocking, as the library expects
	p, failed := c.start(C.PMUKIT_NO_KERNEL|C.PMUKIT_LABELS, fd)
	NoLabels = nil
	if failed != nil && failed.Code == C.PMUKIT_NO_RIGHTS {
		NoLabels = failed
		p, failed = c.start(C.PMUKIT_NO_KERNEL, fd)
	}
	if failed != nil {
		from.Close()
		to.Close()
		return failed
	}
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(w, from)
		from.Close()
		copied <- err
	}()
	running.profile, running.copied, running.pipe = p, copied, to
	return nil
}

// StopCPUProfile stops the profile, if one runs, and writes it.  The error says what is missing.
func StopCPUProfile() error {
	running.Lock()
	defer running.Unlock()
	if running.profile == nil {
		return nil
	}
	err := stop(running.profile)
	running.profile = nil
	running.pipe.Close()
	if failed := <-running.copied; failed != nil {	// the writer says more than its pipe
		err = failed
	}
	return err
}

func stop(p *C.struct_pmukit_profile) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if C.pmukit_profile_stop(p) < 0 {
		return lastError()
	}
	return nil
}

// Flags are the values of the flags that AddFlags defines.
type Flags struct {
	File string
	Config
}

// AddFlags defines -cpuprofile, -cpuprofileevent and -cpuprofileperiod.
func AddFlags(set *flag.FlagSet) *Flags {
	f := new(Flags)
	set.StringVar(&f.File, "cpuprofile", "", "write a CPU profile to `file`")
	set.StringVar(&f.Event, "cpuprofileevent", "",
		"sample `event` (default cycles, or the CPU's clock)")
	set.Uint64Var(&f.Period, "cpuprofileperiod", 0, "take a sample each `count` events")
	return f
}

// Start starts the profile that the flags ask for.  The function that it returns writes it.
func (f *Flags) Start() (stop func() error, err error) {
	if f.File == "" {
		if f.Event != "" || f.Period != 0 {
			return nil, errors.New("-cpuprofileevent and -cpuprofileperiod need -cpuprofile")
		}
		return func() error { return nil }, nil
	}
	file, err := os.Create(f.File)
	if err != nil {
		return nil, err
	}
	if err := f.StartCPUProfile(file); err != nil {
		file.Close()
		os.Remove(f.File)
		return nil, fmt.Errorf("-cpuprofile: %w", err)
	}
	return func() error {
		err := StopCPUProfile()
		if closed := file.Close(); err == nil {
			err = closed
		}
		return err
	}, nil
}
