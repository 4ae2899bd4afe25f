#!/bin/sh
# A program that profiles itself with libpmukit.  hit(), with a breakpoint on it, is called a known
# number of times; perf counts the samples.
# kinds: release user
. tests/lib.sh
. tests/sampling.sh

lib=${BIN%/bin}/lib
go=/dev/null

built() {
	test -e "$lib/libpmukit.so.0" || skip "there is no $lib/libpmukit.so.0: make lib"
	test -e "$scratch/profile" ||
		gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -g -I"$TOP/include" \
			-o "$scratch/profile" "$TOP/tests/library/profile.c" -L"$lib" -lpmukit \
			-lpthread
	needs_sampling
}

# profile ARGUMENT...: the program
profile() { LD_LIBRARY_PATH=$lib "$scratch/profile" "$@"; }

# records ARGUMENT...: the same; records of each call of hit() in s.data
records() { profile -e hits -c 1 -r -o s.data "$@" >said; }

# profiled ARGUMENT...: the program, again while samples were lost, the eighth time is the last
profiled() {
	for attempt in 1 2 3 4 5 6 7 8; do
		profile "$@" >said
		grep 'samples were lost' said || return 0
	done
}

# begun ARGUMENT...: the program in the background, its pid in $pid and its sampler's in $sampler;
# its stdin is $go
begun() {
	rm -f said
	profile "$@" <"$go" >said &
	eventually grep -q "^pid" said
	pid=$(sed -n "s/^pid //p" said)
	sampler=$(sampler_of "${other:-$pid}")
}

# sampled COUNT FILE: it has so many samples, and perf can read it
sampled() { test "$(perf_samples "$2")" -eq "$1"; }

# says LINE...: these are among the lines of the program
says() {
	for line; do grep -qx -e "$line" said || { cat said; echo "not there: $line"; return 1; }; done
}
all_well() { none grep -E "^[a-z ]*: -|^message 1" said; }

# sampler_of PID: the pid of its sampler, or nothing
sampler_of() { grep -lz -e "^--pid=$1\$" /proc/[0-9]*/cmdline 2>/dev/null | cut -d / -f 3; }
no_middle() { test -z "$(grep -lx pmukit-middle /proc/[0-9]*/comm 2>/dev/null)"; }
no_sampler_of() { test -z "$(sampler_of "$1")"; }

check 'each event is sampled from resume to pause, and no other' <<'END'
	built
	lossless s.data records pauses
	all_well
	says "running: 1"
	sampled 1500 s.data
END

check 'threads that exist and threads that come are sampled from their first event on' <<'END'
	built
	lossless s.data records -f 16 threads	# without callchains
	all_well
	sampled 900 s.data
	samples s.data tid | sort | uniq -c | awk '{ print $1 }' >got
	test "$(grep -cx 100 got)" -eq 9
	test "$(wc -l <got)" -eq 9
END

check 'profiles start while threads start and end, and each has all its events' <<'END'
	built
	lossless s.data records -f 16 starts
	all_well
	test "$(grep -c "^stop: 0" said)" -eq 20
	tid=$(sed -n "s/^thread //p" said)
	test "$(samples s.data tid | grep -cx " *$tid *")" -eq 10
END

check 'two profiles at once have their own events' <<'END'
	built
	lossless first.data lossless s.data records two
	all_well
	sampled 1000 s.data
	sampled 1200 first.data
END

check 'page faults: each page that is touched first has a sample with its address' <<'END'
	built
	pages() { profile -e page-faults:u -c 1 -O --record=data -r -o s.data pages >said; }
	lossless s.data pages
	all_well
	read -r _ pages first last <<-EOF
	$(grep "^pages" said)
	EOF
	samples s.data addr | awk -v a="$first" -v z="$last" '
		{ sub(/^ */, ""); while (length < length(a)) $0 = "0" $0
		  if ($1 "" >= a "" && $1 "" <= z "") print $1 }' | sort -u >got
	test "$(wc -l <got)" -eq "$pages"
END

check 'the periods of a clock add up to the CPU time of all threads' <<'END'
	built
	undisturbed profile -e task-clock -F 1000 -f 16 -r -o s.data cpu >said
	all_well
	# three threads of 150 ms; the kernel's part is not in the samples of an ordinary user
	near "$(samples s.data period | awk '{ n += $1 } END { print n / 1e6 }')" \
		"$(awk '/^cpu/ { print $2 / 1e6 }' said)" $((60 + taken))
END

# values FILE: the value of each function in the profile, as pprof says it
values() {
	go tool pprof -symbolize=none -top -unit=count "$1" 2>/dev/null |
		awk '/flat%/ { table = 1; next } table { print $1, $6 }'
}

check 'the profile has the same counts, and the names of functions' <<'END'
	built
	needs_command go
	for out in s.pb.gz callback:s.pb.gz; do
		profiled -e hits -c 1 -o $out threads
		all_well
		values s.pb.gz | grep -x "900 hit"
	done
	profiled -e hits -c 1 -o s.pb.gz pauses
	values s.pb.gz | grep -x "1500 hit"
	go tool pprof -symbolize=none -lines -top s.pb.gz 2>/dev/null | grep "hit .*/profile.c:"
	# nothing happened
	profile -e context-switches:u -o s.pb.gz nothing >said
	says "stop: 0"
	go tool pprof -symbolize=none -top s.pb.gz >top 2>&1
	none grep -i "hit" top
END

check 'a library that is loaded meanwhile has names' <<'END'
	built
	needs_command go
	cat >loaded.c <<-EOF
	#include <time.h>
	void loaded(int ms)
	{
		while (clock() < ms * (CLOCKS_PER_SEC / 1000))
			for (volatile int i = 0; i < 100000; i++)
				;
	}
	EOF
	gcc -O1 -g -shared -fPIC -o loaded.so loaded.c
	profile -e task-clock -F 1000 -o s.pb.gz dlopen >said
	all_well
	go tool pprof -symbolize=none -top s.pb.gz 2>/dev/null | awk '$6 == "loaded"' | grep .
END

check 'wait() finds no process, and no SIGCHLD is sent' <<'END'
	built
	records unnoticed
	all_well
	says "found 0, signals 0, left -1: No child processes"
	records ignored
	all_well
	says "ignored 1"
	sampled 10 s.data
END

check 'the same if the program adopts orphans, or is process 1' <<'END'
	built
	records unnoticed-by-reaper
	all_well
	says "found 0, signals 0, left -1: No child processes"
	needs_root
	for work in unnoticed ignored; do
		LD_LIBRARY_PATH=$lib unshare --fork --pid --mount-proc "$scratch/profile" -e hits \
			-c 1 -r -o s.data $work >said
		all_well
		! grep "^found" said || says "found 0, signals 0, left -1: No child processes"
		sampled 10 s.data
	done
END

check 'the pages of the program are not copied' <<'END'
	built
	records faults
	all_well
	at_most "$(sed -n "s/^faults //p" said)" 100
END

check 'a call that signals interrupt goes on' <<'END'
	built
	records signals
	all_well
	says "many signals 1"
	test "$(grep -c "^stop: 0" said)" -eq 20
END

check 'after fork() the child cannot use the profile, and the parent can' <<'END'
	built
	records fork
	test "$(grep -c "^child's .*: -10 the handle was made by the parent" said)" -eq 4
	says "child 0" "running: 1" "stop: 0"
	sampled 200 s.data
	records -f 2 fork	# with children
	says "child 0" "running: 1" "stop: 0"
	sampled 300 s.data
END

# has_no_descriptor WORK...: the work "descriptors" proves it
has_no_descriptor() {
	go=go
	rm -f go
	mkfifo go
	exec 3<>go
	begun -e hits -c 1 -r -o s.data "$@"
	ls -l "/proc/$sampler/fd" | awk '$NF !~ /perf_event|eventpoll|pidfd|event/ && NF > 2 {
		print $NF }' | sed "s/:.*//" | sort -u >got
	grep -qx "$PWD/s.data" got
	none grep -vx -e "/dev/null" -e "$PWD/s.data" -e socket -e /memfd -e "(deleted)" \
		-e "/proc/$pid/maps" got
	# SIGPIPE and SIGXFSZ are ignored by itself
	grep "^Sig[BI]" "/proc/$sampler/status" | xargs |
		grep -x "SigBlk: 0* SigIgn: 0*1001000"
	test "$(awk '{ print $6 }' "/proc/$sampler/stat")" = "$sampler"
	middle=$(awk '{ print $4 }' "/proc/$sampler/stat")
	case $* in *reaper)
		grep -qx pmukit-middle "/proc/$middle/comm"
		test -z "$(ls "/proc/$middle/fd")" ;;
	esac
	echo >go
	wait
	all_well
	none grep "^signal" said
	sed -n "s/^before: //p" said >want
	sed -n "s/^after: //p" said | same want -
	sampled 100 s.data
}

check 'the sampler has no descriptor and no signal mask of the program, which keeps its own' <<'END'
	built
	has_no_descriptor descriptors
	has_no_descriptor descriptors-of-reaper
END

check 'the same on older kernels; a sampler that hangs is ended there, too' <<'END'
	built
	has_no_descriptor -k descriptors
	has_no_descriptor -k descriptors-of-reaper
	records -k unnoticed
	says "found 0, signals 0, left -1: No child processes"
	printf '#!/bin/sh\necho $$ >pid; exec sleep 1000\n' >sleeps
	chmod +x sleeps
	profile -k -r -o s.data -s ./sleeps nothing >said
	grep "^start: -8 './sleeps' did not answer" said
	eventually gone "$(cat pid)"
END

check 'without descriptors the start fails, and takes none' <<'END'
	built
	records scarce
	grep -q "^scarce: -1 cannot open a socket: Too many open files" said
	says "scarce: 0"
	sed -n "s/^before: //p" said >want
	sed -n "s/^after: //p" said | same want -
END

check 'stdin, stdout and stderr may be closed, and stay closed' <<'END'
	built
	records closed
	says "used 0, stop 0 "
	sampled 100 s.data
	for n in 1 2; do
		profile -e hits -c 1 -r -o s.data -n $n nothing >said 2>err
		sampled 100 s.data
	done
END

check 'wrong configurations are refused with a sentence' <<'END'
	built
	profile -e hits -r -o s.data wrong >said
	test "$(grep -c -e "-2 [^ ]" said)" -eq 20
	none grep -vE -e "-2 [^ ]" said
	profile -r nothing >said
	says "start: -2 the result has no place: set pmukit_profile_config.fd or .write"
	profile -o none nothing >said
	all_well
END

# refused STATUS PATTERN ARGUMENT...: pmukit_profile_start() says so
refused() {
	status=$1 pattern=$2
	shift 2
	profile -r -o s.data "$@" nothing >said
	grep -q "^start: $status $pattern" said || { cat said; return 1; }
}

check 'why pmu-sample refuses is an error with its cause' <<'END'
	built
	refused -5 "unknown event 'nosuch'" -e nosuch
	refused -5 "no process has the pid 99999999" -e cpu-clock -p 99999999
	refused -2 "a period of 1 ns is too short" -e cpu-clock -c 1
	refused -2 "unrecognized option '--foo'" -e cpu-clock -O --foo
	refused -2 "--buffer takes " -e cpu-clock -O --buffer=x
	refused -2 "" -e cpu-clock -O --buffer
	may_sample_kernel || {
		refused -6 "cannot sample 'cpu-clock:k': .*:u" -e cpu-clock:k
		refused -6 "cannot sample 'cpu-clock:u': the process belongs to another user" \
			-e cpu-clock -p 1
		refused -6 "cannot record labels: they take CAP_BPF and CAP_PERFMON" -f 4
		profile -f 1 -e cpu-clock -r -o s.data nothing >said
		all_well
		none grep "own code is not sampled" said
	}
END

check 'a sampler that is none is an error, also if it never answers' <<'END'
	built
	printf '#!/bin/sh\nhead -c 100000 /dev/urandom\necho no >&2\nexit 1\n' >garbage
	printf '#!/bin/sh\nexec sleep 1000\n' >sleeps
	printf '#!/bin/sh\nkill -9 $$\n' >dies
	printf 'no program' >text
	chmod +x garbage sleeps dies text
	refused -8 ".*ended at once, without a message: is it pmu-sample?" -s /bin/true
	refused -8 ".*ended at once, without a message: is it pmu-sample?" -s ./dies
	refused -8 "Try .* --help" -s /bin/cat
	refused -8 "no$" -s ./garbage
	refused -8 "'./sleeps' did not answer, and was ended" -s ./sleeps
	refused -7 "cannot run './text': Exec format error" -s ./text
	refused -7 "cannot run './none', which pmukit_profile_config.sampler names" -s ./none
	PMUKIT_SAMPLER=./none refused -7 "cannot run './none', which .PMUKIT_SAMPLER names"
	PMUKIT_SAMPLER=/bin/true refused -8 "'/bin/true' ended at once"
	mkdir empty
	cp "$BIN/pmu-sample" .
	path=$PATH
	PATH=/bin:.:
	LD_LIBRARY_PATH=$lib "$scratch/profile" -r -o s.data nothing >said
	PATH=$path
	test -x /usr/local/bin/pmu-sample ||
		grep -q "^start: -7 no program pmu-sample was found in .PATH and in /" said
END

check 'the sampler may be pmukit with all tools, by any name' <<'END'
	built
	cp "$BIN/pmukit" other
	records -s ./other nothing
	all_well
	sampled 100 s.data
END

check 'a sampler that is killed is noticed, and what was recorded is there' <<'END'
	built
	begun -e hits -c 1 -r -o s.data killed
	eventually sampled 100 s.data
	kill -9 "$sampler"
	wait
	says "running: 0" "pause: -8 pmu-sample ended on its own.*" \
		"stop: -8 pmu-sample ended on its own.*"
	needs_command go
	begun -e hits -c 1 -o s.pb.gz killed
	eventually sampled 100 "/proc/$sampler/fd/1"
	kill -9 "$sampler"
	wait
	says "stop: -8 pmu-sample ended on its own.*"
	values s.pb.gz | grep -x "100 hit"
END

check 'a full disk, a limit and a reader that has gone are errors' <<'END'
	built
	profile -e hits -r -o /dev/full nothing >said
	says "stop: -3 cannot write records to the descriptor 3: No space left on device"
	(
		ulimit -f 1
		profile -e hits -c 1 -r -o s.data nothing >said || :
	)
	says "stop: -3 cannot write records to the descriptor 3: File too large"
	mkfifo pipe
	true <pipe &
	profile -e hits -c 1 -r -o pipe no-reader >said
	grep -qxE "st(art|op): -3 cannot write records to the descriptor 3: Broken pipe" said
	head -c 1 pipe >/dev/null &
	profile -e hits -c 1 -r -o pipe lost-reader >said
	says "stop: -3 cannot write records to the descriptor 3: Broken pipe"
	for records in -r ""; do
		profile -e hits -c 1 $records -o callback:/no/file nothing >said
		says "stop: -11 a callback asked to end"
	done
	profile -e hits -c 1 -o /dev/full nothing >said
	says "stop: -3 cannot write to the descriptor: No space left on device"
END

check 'the sampler ends with the program: exit, kill, a crash, also if a child goes on' <<'END'
	built
	ulimit -c 0
	for how in exit kill crash; do
		rm -f s.data
		records end-$how || :
		all_well
		eventually no_sampler_of "$(sed -n "s/^pid //p" said)"
		sampled 100 s.data
	done
	eventually no_middle	# which shares the memory of the program that crashed
END

check 'it ends after exec(), also if it is paused, or samples another process' <<'END'
	built
	begun -e hits -c 1 -r -o s.data end-exec
	eventually grep -qx sleep "/proc/$pid/comm"
	eventually no_sampler_of "$pid"
	kill $pid
	sleep 1000 &
	other=$!
	for how in exit kill exec; do
		begun -e task-clock -r -o s.data -p $other end-$how
		eventually no_sampler_of $other
	done
END

check 'another process is sampled, and ends' <<'END'
	built
	mkfifo work
	sh -c 'read -r line <work; exec spin serial 200' &
	other=$!
	begun -e task-clock -r -o s.data -p $other killed
	echo >work
	wait
	says "running: 0" "stop: 0"
	grep -q "^pause: -8 pmu-sample has ended: there is nothing left to sample" said
	at_least "$(perf_samples s.data)" 50
END

done_testing
