#!/bin/sh
# Go programs without a GNU build ID: Go's own is recorded, and compared first.
# kinds: release user
. tests/lib.sh

cat >"$scratch/busy.go" <<'END'
package main

import ("os"; "strconv"; "syscall")

//go:noinline
func NAME(n int) (sum int) {
	for i := 0; i < n; i++ { sum += i ^ sum }
	return
}

// Work until so many ms of CPU time have been used; with a second argument, wait for a line
// first.
func main() {
	ms, _ := strconv.Atoi(os.Args[1])
	if len(os.Args) > 2 { os.Stdin.Read(make([]byte, 1)) }
	for {
		var u syscall.Rusage
		syscall.Getrusage(0, &u)
		if int(u.Utime.Sec * 1000 + u.Utime.Usec / 1000) >= ms { return }
		NAME(1000000)
	}
}
END

build() {
	sed "s/NAME/$1/" "$scratch/busy.go" >"$1.go"
	go build -ldflags=-linkmode=internal -o "$2" "$1.go"
}

# program NAME FILE: FILE, whose work is in main.NAME
program() {
	once "go-busy-$1" build "$1" "$2"
	test -z "$(file_build_id "$2")" || skip "this Go writes GNU build IDs"
}

# recorded STREAM FILE: the stream has FILE's mapping with its Go build ID
recorded() {
	pmu-stream --dump "$1" >dump
	grep "MMAP2 .* go_build_id=\"$(go tool buildid "$2")\" path=\"$PWD/busy\"" dump
}

names() { pmu-symbolize "$@" 2>err | pmu-topprof --to folded >folded; cat err; }

check "what a new program maps, and a running one has mapped, has Go's build ID" <<'END'
	needs_command go
	program work busy
	pmu-sample -e cpu-clock -F 1000 -o new.data -- $PWD/busy 120
	recorded new.data busy
	mkfifo in
	$PWD/busy 120 wait <in &
	exec 3>in
	eventually grep -q busy /proc/$!/maps
	pmu-sample -e cpu-clock -F 1000 -o old.data -p $! &
	sampler=$!
	eventually test -s old.data
	echo >&3
	wait $sampler
	recorded old.data busy
	names old.data
	grep -q "main.work" folded
END

check "perf reads it as before, from a file and from a pipe" <<'END'
	needs_command go perf
	program work busy
	pmu-sample -e cpu-clock -F 1000 -o s.data -- $PWD/busy 120
	recorded s.data busy
	perf script -i s.data -F ip,sym,dso --show-mmap-events >file 2>err
	cat err
	perf script -i - -F ip,sym,dso --show-mmap-events <s.data >pipe 2>err
	cat err
	same file pipe
	grep -q "PERF_RECORD_MMAP2 .*: r-xp $PWD/busy$" file
	at_least "$(grep -c " main.work ($PWD/busy)" file)" 40
	perf report -i - --stdio <s.data 2>/dev/null >report
	grep " main.work" report
	test "$(perf_samples s.data)" = "$(pmu-stream --dump s.data | grep -c " SAMPLE ")"
END

check "the same build is used, whatever its time and inode are; another is refused" <<'END'
	needs_command go
	program work first
	program labour second
	cp first busy
	pmu-sample -e cpu-clock -F 1000 -o s.data -- $PWD/busy 120
	names s.data
	cp -p folded before
	grep -q main.work before
	cp first copy		# another inode, written to later
	touch -d "1 hour" copy
	mv copy busy
	names s.data
	same before folded
	none grep . err
	cp second copy
	mv copy busy
	names s.data
	none grep main folded
	grep -q "busy': the file here is of another build than the one recorded" err
	cp second same-inode
	cat second >busy	# as an editor or a linker may do
	names s.data
	none grep main folded
	grep -q "busy': the file here is of another build than the one recorded" err
END

check "joined, selected and compressed streams have it, too; two builds differ" <<'END'
	needs_command go
	program labour busy
	cp busy second
	pmu-sample -e cpu-clock -F 1000 -z -o two.data -- $PWD/busy 120
	recorded two.data second
	program work busy
	pmu-sample -e cpu-clock -F 1000 -o one.data -- $PWD/busy 120
	pmu-stream --cat one.data two.data >joint.data
	recorded joint.data busy
	recorded joint.data second
	pmu-stream --comm busy -z one.data >selected.data
	recorded selected.data busy
	names joint.data
	grep -q main.work folded
	none grep main.labour folded
	grep -q "busy': the file here is of another build than the one recorded" err
	pmu-symbolize one.data >resolved.data
	recorded resolved.data busy
END

done_testing
