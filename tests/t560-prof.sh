#!/bin/sh
# pmu-prof: one command from a program to a profile, a page and a table.
# kinds: release user
. tests/lib.sh

# total FILE: the samples in a profile, as pprof counts them
total() {
	go tool pprof -sample_index=samples -top "$1" 2>/dev/null |
	sed -n 's/^Showing nodes accounting for .*% of \([0-9]*\) total$/\1/p'
}

# fake TOOL <SCRIPT: a TOOL that pmu-prof finds first; "$real" in it is the true one
fake() {
	mkdir -p fakes
	{ echo '#!/bin/sh'; echo "real=$(command -v "$1")"; cat; } >"fakes/$1"
	chmod +x "fakes/$1"
	PMU_PATH=$PWD/fakes
	export PMU_PATH
}

check 'a profile with the right shares, a page, a table; the last line opens pprof' <<'END'
	record() { pmu-prof -e cpu-clock -F 2000 -o p -- ten serial 0.4 2>err; }
	undisturbed record
	pmu-top -j p.pb.gz >/dev/null
	go tool pprof -top p.pb.gz >top 2>/dev/null
	# ten functions take 1/55 to 10/55
	near "$(awk '$NF == "J" { print $5 + 0 }' top)" 18.18 6
	near "$(awk '$NF == "A" { print $5 + 0 }' top)" 1.82 2
	grep -q "<html" p.html
	grep -q " J$" err
	grep -qx "file://$(pwd -P)/p.html" err
	test "$(tail -n 1 err)" = "go tool pprof -http : p.pb.gz"
	none ls .pmukit-*
END

check 'names come from the command or process and the time; -o may end in .pb.gz or .html' <<'END'
	any_user
	pmu-prof -q -e cpu-clock -F 1000 -- ten serial 0.1
	ls ten-[0-9]*-[0-9]*.pb.gz ten-[0-9]*-[0-9]*.html
	ten serial 60 &
	eventually has_run $! 10
	mkdir d
	cd d
	pmu-prof -q -e cpu-clock -F 1000 -d 0.5 -p $!
	kill $!
	ls ten-[0-9]*-[0-9]*.pb.gz
	pmu-prof -q -e cpu-clock -F 1000 -o a.pb.gz -- ten serial 0.1
	ls a.pb.gz a.html
	none ls a.pb.gz.pb.gz
	pmu-prof -q -e cpu-clock -F 1000 -o b.html -- ten serial 0.1
	ls b.pb.gz b.html
	none ls b.html.*
END

check 'the pipe of --dry-run and pmu-prof make the same bytes of the same stream' <<'END'
	any_user
	pmu-sample -q -g -e cpu-clock -F 2000 -o s.data -- ten serial 0.2
	fake pmu-sample <<-EOF
		exec cat "$PWD/s.data"
	EOF
	mkdir 'a b' c
	cd 'a b'
	pmu-prof -e cpu-clock -o "it's" -- echo 'x  y' '$z' 2>table
	cd ../c
	pmu-prof -e cpu-clock -o "it's" --dry-run -- echo 'x  y' '$z' >line
	test "$(wc -l <line)" = 1
	grep -q "'x  y' '[$]z'" line
	sh line 2>table
	cmp "it's.pb.gz" "../a b/it's.pb.gz"
	cmp "it's.html" "../a b/it's.html"
	grep -q " J$" table
	grep -q " J$" "../a b/table"
END

check "the command's input and output are those of pmu-prof, which itself writes to stderr" <<'END'
	test "$(seq 9 | pmu-prof -e cpu-clock -o p -- sort -rn 2>err | head -n 2)" = "9
8"
	pmu-prof -e cpu-clock -F 5000 -o p -- sh -c 'ten serial 0.1; echo out; echo err >&2' \
		>out 2>err
	test "$(cat out)" = out
	grep -qx err err
	grep -q " J$" err
	# a command that is a clock, too
	pmu-prof -e cpu-clock -o p -p $$ -- echo clock >out 2>err || test $? = 1
	test "$(cat out)" = clock
	# a descriptor of the caller is still the command's, and there is no other
	fds() { "$@" python3 -c 'import os; print(*[fd for fd in range(30)
		if os.path.exists(f"/proc/self/fd/{fd}")])'; }
	fds env 3</dev/null 7>seven >want
	fds pmu-prof -q -e cpu-clock -o p 3</dev/null 7>seven >got
	same want got
	# the reader closes the pipe: the command gets SIGPIPE, and so pmu-prof's status is 141
	{ pmu-prof -q -e cpu-clock -F 5000 -o p -- yes || echo $? >status; } | head -n 1 >one
	test "$(cat one)$(cat status)" = y141
END

check 'the reader of the output gets its end when the command ends, before the profile' <<'END'
	any_user
	fake pmu-topprof <<-'EOF'
		until test -e read; do sleep 0.05; done
		exec "$real" "$@"
	EOF
	pmu-prof -q -e cpu-clock -F 5000 -o p -- ten serial 0.1 | { cat; touch read; }
	test -s p.pb.gz
	pmu-prof --dry-run -e cpu-clock -F 5000 -o q -- sh -c 'ten serial 0.1; echo out' >line
	test "$(sh line 2>err)" = out
	exits 2 pmu-sample -e cpu-clock --command-output 9 -o s.data -- true 2>err
	grep -q "there is no open descriptor 9" err
END

check 'options of pmu-sample are passed on; an unknown option is an error' <<'END'
	says() { pmu-prof --dry-run "$@" >line; cat line; }
	says -e cpu-clock --filt=x -F500 -z3 --jitter -- true | grep -q -- \
		" --event=cpu-clock --filter=x --frequency=500 --zstd=3 --jitter -- true | pmu-symb"
	says --off-cpu -a -d 1 | grep -q -- " --off-cpu --all --duration=1 | "
	for wrong in --bogus --switch-output=1Mi --exit-status --command-output=1 --min=1 '-F x' \
			'-c 1 -F 1' '-p 1 -a' '--call-graph maybe' '--view it'; do
		exits 2 pmu-prof $wrong -- true 2>err
		grep -q "^usage: pmu-prof " err
	done
	exits 2 pmu-prof 2>err
	grep -q "nothing to profile" err
	none ls *.pb.gz
END

check 'only the tools that open events contain the tables of events' <<'END'
	any_user
	needs_single_tools
	grep -q MEM_LOAD_RETIRED "$(command -v pmu-sample)"
	none grep -q MEM_LOAD_RETIRED "$(command -v pmu-prof)"
END

check '--view pprof becomes go tool pprof, with the status of its own if there is none' <<'END'
	any_user
	mkdir bin
	printf '#!/bin/sh\necho "$$ $@" >called\nexit 5\n' >bin/go
	chmod +x bin/go
	sh -c 'echo $$ >pid; PATH=$PWD/bin:$PATH exec pmu-prof -q --view pprof -e cpu-clock \
		-F 5000 -o p -- ten serial 0.1' || echo $? >status
	test "$(cat status)" = 5
	test "$(cat called)" = "$(cat pid) tool pprof -http=localhost:0 p.pb.gz"
	test -s p.html
	rm bin/go
	exits 1 env PATH="$BIN:$HELP" pmu-prof --view pprof -e cpu-clock -F 5000 -o q -- \
		ten serial 0.1 2>err
	grep -q "^pmu-prof: cannot run 'go tool pprof': No such file" err
	test -s q.pb.gz
END

check 'the flags of go test, before the command only' <<'END'
	any_user
	says() {
		pmu-prof --dry-run "$@" |
		sed 's/^{ //; s/ --[a-z=-]*\( --event=cpu-clock\)* --exit-status --command-output=3//
			s/ | .*--output=\([^ ]*\) &&.*/ > \1/'
	}
	{
		says -cpuprofile cpu.out --cpuprofileevent=cycles -cpuprofileperiod 5000 -- true
		says -F 9 --cpuprofile=cpu.pb.gz -- true
		says -o x -perfprofileconfig '{event=cacheMisses rate=7}' -- true
		says -o x --perfprofileconfig='{event=timer rate=99}' -- true
		says -o -cpuprofile -e cycles true -cpuprofile y
		says -perfprofile perf.out -perfprofileconfig '{event=page-faults rate=1}' -- true
		says --perfprofile=p.pb.gz -cpuprofileevent timer -cpuprofileperiod 0 -- true
		says -o x -perfprofileconfig '{event=cycles rate=0}' -- true
	} >got
	same - got <<-EOF
		pmu-sample --event=cycles --period=5000 -- true > cpu.out
		pmu-sample --frequency=9 -- true > cpu.pb.gz
		pmu-sample --event=cacheMisses --period=7 -- true > x.pb.gz
		pmu-sample --event=timer --frequency=99 -- true > x.pb.gz
		pmu-sample --event=cycles -- true -cpuprofile y > ./-cpuprofile.pb.gz
		pmu-sample --event=page-faults --period=1 -- true > perf.out
		pmu-sample --event=timer -- true > p.pb.gz
		pmu-sample --event=cycles -- true > x.pb.gz
	EOF
	exits 2 pmu-prof -perfprofileconfig 'event=cycles' -- true 2>err
	grep -q "takes a value such as" err
	exits 2 pmu-prof -cpuprofileevent 2>err
	exits 2 pmu-prof -cpuprofile x -perfprofile y -- touch ran 2>err
	grep -q "one profile: give -cpuprofile or -perfprofile" err
	test ! -e ran
	pmu-prof -q -cpuprofile cpu.out -cpuprofileevent cpu-clock -- ten serial 0.1
	go tool pprof -top cpu.out | grep -q " J$"
	grep -q "<html" cpu.out.html
	for period in "" "-cpuprofileperiod 0" "-cpuprofileperiod 100"; do
		pmu-prof -q -cpuprofile timer.out -cpuprofileevent timer $period -- ten serial 0.1
		go tool pprof -raw timer.out | grep -x "Period: 10000000"
	done
END

check "for go test a line says how to profile the tests alone, and that line does it" <<'END'
	any_user
	line() { pmu-prof --dry-run "$@" 2>&1 >dry | sed -n 's/^.* to profile only the tests: //p'; }
	test "$(line -e cycles -cpuprofile "a b" -- go test -v)" = \
		"go test -exec 'pmu-prof -e cycles -cpuprofile '\''$PWD/a b'\'' --' -v"
	test "$(line -cpuprofile=f go test ./...)" = "go test -exec 'pmu-prof --' ./..."
	for command in 'go build' 'go test -c' 'go test -exec x' 'go test --exec=x' 'ten test' go; do
		test -z "$(line -o x -- $command)" || { echo "$command: $(line -- $command)"; exit 1; }
	done
	mkdir pkg
	cd pkg
	go mod init pkg
	cat >some_test.go <<-'EOF'
	package pkg
	import ("testing"; "time"; "syscall")
	func used() time.Duration {
		var u syscall.Rusage
		syscall.Getrusage(0, &u)
		return time.Duration(u.Utime.Nano())
	}
	func TestWork(t *testing.T) {
		for start := used(); used() - start < 300 * time.Millisecond; {
			for i := 0; i < 1000; i++ { sum += i }
		}
	}
	var sum int
	EOF
	run=$(line --view=none -e cpu-clock -cpuprofile "out put" -- go test -count=1 .)
	eval "GOFLAGS=-mod=mod $run" >out
	cat out
	grep "^ok" out
	go tool pprof -top -nodecount=1000 "out put" >top
	grep "TestWork\|pkg.used" top
	none grep "cmd/compile\|cmd/link" top
	go tool pprof -raw "out put" | grep "/pkg.test"
END

check 'the exit status is that of the command; a tool that fails makes it 1' <<'END'
	any_user
	exits 0 pmu-prof -q -o p -e cpu-clock -F 5000 -- ten serial 0.1
	exits 7 pmu-prof -q -o p -e cpu-clock -F 5000 -- sh -c "ten serial 0.1; exit 7"
	exits 143 pmu-prof -q -o p -e cpu-clock -F 5000 -- sh -c 'ten serial 0.1; kill $$'
	fake pmu-flame <<-'EOF'
		exit 3
	EOF
	exits 1 pmu-prof -o q -e cpu-clock -F 5000 -- ten serial 0.1 2>err
	grep -q "^pmu-prof: 'pmu-flame' failed: exit status 3" err
	test -s q.pb.gz
	grep -q " J$" err
	fake pmu-symbolize <<-'EOF'
		exec "$real" --bogus
	EOF
	exits 1 pmu-prof -o r -e cpu-clock -F 5000 -- ten serial 0.1 2>err
	none ls r.pb.gz r.html
END

check 'zero samples, no such command or process: a sentence, status 1, no files' <<'END'
	exits 1 pmu-prof -e page-faults -c 1000000 -o p -- true 2>err
	grep -q "^pmu-sample: no samples: 'page-faults.*' was counted only .*; -c 1 samples" err
	none grep "^pmu-prof" err
	exits 3 pmu-prof -q -e page-faults -c 1000000 -o p -- sh -c "exit 3" 2>err
	none cat err
	exits 1 pmu-prof -o p -- ./nonexistent 2>err
	same - err <<-EOF
		pmu-prof: cannot run './nonexistent': No such file or directory
	EOF
	mkdir directory
	exits 1 pmu-prof -o p -- ./directory 2>err
	echo "pmu-prof: cannot run './directory': it is a directory" | same - err
	sh -c : & ended=$!
	wait $ended
	exits 1 pmu-prof -o p -p $ended 2>err
	grep -q "^pmu-sample: .*$ended" err
	none grep "^pmu-prof" err
	exits 1 pmu-prof -e no-such-event -o p -- true 2>err
	grep -q "^pmu-sample: .*no-such-event" err
	none grep "^pmu-prof" err
	exits 1 pmu-prof -o no/such/p -- true 2>err
	grep -q "^pmu-prof: cannot write 'no/such/p.pb.gz'; choose .*: No such file" err
	none ls p.*
END

# interrupt SIGNAL NAME GROUP SECONDS COMMAND...: start it in a group of its own, send the signal
# to the group (or to it alone) after a while, or once its file "begun" is there; print its status
cat >"$scratch/interrupt.py" <<'EOF'
import os, signal, subprocess, sys, time
number, whom, seconds, *command = sys.argv[1:]
p = subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL)
time.sleep(float(seconds))
try:
    (os.killpg if whom == "group" else os.kill)(p.pid, getattr(signal, number))
except ProcessLookupError:
    pass
status = p.wait()
try:
    os.killpg(p.pid, 0)
    sys.exit("left something running")
except ProcessLookupError:
    pass
print(status if status >= 0 else 128 - status)
EOF

check 'SIGINT at any time: a whole profile with its page, or none and not status 0' <<'END'
	any_user
	times="0 0.002 0.006 0.01 0.03 0.1 0.2"
	test -z "$ALL" || times="$times 0.001 0.004 0.02 0.05 0.4"
	for when in $times; do
		for whom in group alone; do
			rm -rf t
			mkdir t
			python3 "$scratch/interrupt.py" SIGINT $whom $when \
				pmu-prof -q -e cpu-clock -F 5000 -o t/p -- ten serial 0.1 >status
			echo "$whom $when: $(cat status) $(ls -A t)"
			if test -e t/p.pb.gz; then
				gzip -t t/p.pb.gz
				at_least "$(pmu-top -j -t samples t/p.pb.gz |
					sed -n 's/.*"total": \([0-9]*\),.*/\1/p')" 1
				grep -q "</html>" t/p.html
			else
				none ls -A t
				test "$(cat status)" != 0
			fi
		done
	done
END

check 'SIGINT and SIGTERM end the sampling, and the samples so far are shown' <<'END'
	printf 'echo $$ >pid\nexec ten serial 600\n' >job
	for signal in INT TERM; do
		env --default-signal=INT pmu-prof -e cpu-clock -F 1000 -o p -- sh job 2>err &
		prof=$!
		eventually test -s pid
		eventually has_run "$(cat pid)" 100
		kill -$signal $prof
		exits $((128 + $(env kill -l $signal))) wait $prof
		grep -q "^go tool pprof " err
		at_least "$(total p.pb.gz)" 80
		test -s p.html
		rm p.* pid
	done
END

check 'SIGINT after the sampling does not take the page away' <<'END'
	any_user
	mkdir fakes
	# not a shell: dash unblocks all signals
	cat >fakes/pmu-flame <<-EOF
		#!$(command -v python3)
		import os, sys, time
		open("begun", "w").close()
		while not os.path.exists("go"):
		    time.sleep(0.02)
		os.execv("$(command -v pmu-flame)", sys.argv)
	EOF
	chmod +x fakes/pmu-flame
	export PMU_PATH="$PWD/fakes"
	env --default-signal=INT setsid pmu-prof -q -e cpu-clock -F 1000 -o p -- ten serial 0.1 &
	eventually test -e begun
	kill -INT -$!
	touch go
	wait $!
	grep -q "</html>" p.html
END

check 'missing tools: needed ones are reported before anything runs, others are left out' <<'END'
	any_user
	needs_single_tools
	mkdir alone
	cp "$BIN/pmu-prof" alone/
	PATH=/usr/bin:/bin exits 1 alone/pmu-prof -o p -- touch ran 2>err
	for tool in pmu-sample pmu-symbolize pmu-topprof; do
		grep -qx "pmu-prof: cannot find '$tool': put it beside pmu-prof, or into PATH" err
		cp "$BIN/$tool" alone/
	done
	test ! -e ran
	exec 3>&2
	ten=$(command -v ten)
	PATH=/usr/bin:/bin alone/pmu-prof -e cpu-clock -F 5000 -o p -- "$ten" serial 0.1 2>err
	grep -q "^pmu-prof: there is no page: 'pmu-flame' is neither" err
	grep -q "^pmu-prof: there is no table: 'pmu-top' is neither" err
	test "$(tail -n 1 err)" = "go tool pprof -http : p.pb.gz"
	none ls p.html
END

check 'a full disk: no half profile, status 1; no room for the page: the profile stays' <<'END'
	needs_sampling
	needs_root
	mkdir full
	mount -t tmpfs -o size=64k none full 2>mount || skip "cannot mount: $(cat mount)"
	trap 'umount full' EXIT
	exits 1 pmu-prof -o full/p -e cpu-clock -F 5000 -- ten serial 0.1 2>err
	grep -q "^pmu-flame: .*No space left" err
	go tool pprof -top full/p.pb.gz | grep -q " J$"
	test "$(ls -A full)" = p.pb.gz
	rm full/p.pb.gz
	dd if=/dev/zero of=full/fill bs=4k 2>dd || :
	exits 1 pmu-prof -o full/p -e cpu-clock -F 5000 -- ten serial 0.1 2>err
	grep -q "^pmu-topprof: .*No space left" err
	grep -q "^pmu-prof: 'pmu-topprof' failed, so there is no profile" err
	test "$(ls -A full)" = fill
	exits 1 pmu-prof --dry-run -- true >/dev/full 2>err
END

check 'in a bare chroot with nothing but the static tools' <<'END'
	needs_root
	sanitized && skip 'these tools are not static'
	mkdir -p jail/w
	cp "$BIN"/pmu-prof "$BIN"/pmu-sample "$BIN"/pmu-symbolize "$BIN"/pmu-topprof \
		"$BIN"/pmu-flame "$BIN"/pmu-top "$(command -v ten)" jail/
	chroot jail /pmu-prof -e cpu-clock -F 2000 -o /w/p -- /ten serial 0.2 2>err
	go tool pprof -top jail/w/p.pb.gz | grep -q " J$"
	grep -q "^file:///w/p.html$" err
	test -s jail/w/p.html
END

check 'an ordinary user opens the page in $BROWSER; root and --view none open nothing' <<'END'
	printf '#!/bin/sh\necho "$@" >"%s/shown"\n' "$PWD" >browse
	chmod +x browse
	chmod 777 .
	export BROWSER="$PWD/browse:lynx"
	run='pmu-prof -e cpu-clock -F 5000 -o "p q" --view html -- ten serial 0.1'
	if test "$(id -u)" = 0; then
		sh -c "$run" 2>err
		grep -q "^pmu-prof: root's browser is not opened" err
		none ls shown
		rm -f p*
		setpriv --reuid=65534 --regid=65534 --clear-groups true 2>why || skip "$(cat why)"
		setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "$run" 2>err
	else
		sh -c "$run" 2>err
	fi
	eventually test -s shown
	test "$(cat shown)" = "file://$(pwd -P)/p%20q.html"
	rm shown
	test "$(id -u)" != 0 || exit 0
	BROWSER=./nonexistent PATH=$BIN:$HELP pmu-prof -q --view html -e cpu-clock -F 5000 -o r -- \
		ten serial 0.1
	test -s r.html
END

check 'with stderr closed it ends, too, and writes the profile' <<'END'
	any_user
	timeout -s KILL 300 pmu-prof -e cpu-clock -F 1000 -o p -- ten serial 0.2 2>&-
	go tool pprof -top p.pb.gz | grep -q ' J$'
END

check 'a machine without a PMU is told once, after the table' <<'END'
	any_user
	test ! -e /sys/bus/event_source/devices/cpu || skip "this machine has a PMU"
	pmu-prof -o p -- ten serial 0.1 2>err
	test "$(grep -c "no hardware counters" err)" = 1
	sed -n '/^cpu (nanoseconds)/,$p' err | grep -qx "pmu-prof: no hardware counters here .*"
	pmu-prof -e cpu-clock -o p -- ten serial 0.1 2>err
	none grep "no hardware counters" err
END

check 'of a plain profile, go tool pprof prints two lines of comments' <<'END'
	needs_command go
	any_user
	pmu-sample -q -e cpu-clock -- ten serial 0.1 | pmu-symbolize -q | pmu-topprof -q -o p.pb.gz
	go tool pprof -comments p.pb.gz 2>err | cut -d : -f 1 >got
	printf '%s\n' command host | same - got
END

check 'the page has source lines, but not of root unless asked for' <<'END'
	lines() { grep -c '"source":\[{' p.html || :; }
	pmu-prof -q -e cpu-clock -F 1000 --source=no -o p -- ten serial 0.1
	test "$(lines)" = 0
	pmu-prof -q -e cpu-clock -F 1000 -o p -- ten serial 0.1
	test "$(lines)" = $(test "$(id -u)" = 0 && echo 0 || echo 1)
	pmu-prof -q -e cpu-clock -F 1000 --source -o p -- ten serial 0.1
	test "$(lines)" = 1
END

check 'callchains are unwound: those of Go where needed, of many programs within a budget' <<'END'
	says() { pmu-prof --dry-run "$@" | sed 's/^[{ ]*pmu-sample \(--[a-z=-]*\) .*/\1/'; }
	case $(uname -m) in x86_64 | aarch64) ;; *) skip 'not unwound here' ;; esac
	test "$(says -- ten)" = --unwind
	for many in -a -C0 "-u root" --cgroup=/; do
		pmu-prof --dry-run $many | grep -e '^pmu-sample --unwind=2%,64Mi '
		test "$(says $many --off-cpu)" = --call-graph=fp
	done
	test "$(pmu-prof --dry-run -a --unwind=5% | grep -o -e '--unwind[^ ]*')" = --unwind=5%
	pmu-prof --dry-run -a --call-graph dwarf | grep -q -- ' --unwind .* --call-graph=dwarf '
	# what limits callchains leaves the choice of the method
	pmu-prof --dry-run --call-graph user,max=9 -- ten |
		grep -q -- ' --unwind .* --call-graph=user,max=9 '
	pmu-prof -v -q -e cpu-clock -F 1000 -o p -- ten serial 0.1
	go tool pprof -comments p.pb.gz 2>/dev/null | grep -qx "callchains: unwound, as it .*"
	# an ELF file of 32 bits, as far as anybody looks
	{ printf '\177ELF\001\001\001'; head -c 64 /dev/zero; } >small
	chmod +x small
	test "$(says -- ./small)" = --call-graph=fp
	needs_command go
	mkdir m
	cd m
	printf 'package main\nfunc main() { println(1) }\n' >main.go
	printf 'module m\n' >go.mod
	CGO_ENABLED=0 go build -o m . || skip 'go cannot build here'
	test "$(says -- ./m)" = --unwind=needed
END


check 'a name that would be hidden, or an option of pprof, is not written' <<'END'
	any_user
	for name in "" . .. ./ a/ a/..; do
		exits 2 pmu-prof -o "$name" -- true 2>err
		grep -qF "needs the name of files, not '$name'" err
	done
	pmu-prof -o -y -- ten serial 0.1 >out 2>err
	grep -qx 'go tool pprof -http : ./-y.pb.gz' err
	test -s ./-y.pb.gz && test -s ./-y.html
	none ls -A | none grep '^\.'
END

done_testing
