#!/bin/sh
# A command's terminal is its own while it runs: what pmu-prof and pmu-sample write there, and what
# Ctrl-C does.
# kinds: release user
. tests/lib.sh

# on FILE COMMAND... <STEPS: run it on a terminal; FILE gets what the terminal received
on() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/on-terminal.py" "$@"; }

# fake TOOL TEXT: a TOOL that pmu-prof finds first, and that says TEXT when it starts
fake() {
	mkdir -p fakes
	printf '#!/bin/sh\necho "%s" >&2\nexec %s "$@"\n' "$2" "$(command -v "$1")" >"fakes/$1"
	chmod +x "fakes/$1"
	PMU_PATH=$PWD/fakes
	export PMU_PATH
}

# same_screen STEPS COMMAND...: until the command ends, a terminal gets the same bytes with
# pmu-prof as without, although its tools have something to say
same_screen() {
	steps=$1
	shift
	on alone "$@" <"$steps"
	fake pmu-symbolize 'a message of pmu-symbolize'
	fake pmu-topprof 'a message of pmu-topprof'
	on beside pmu-prof -e cpu-clock -F 1000 -o p -- "$@" <"$steps" || test $? = 1
	python3 - <<-'EOF'
	alone, beside = (open(name, "rb").read() for name in ("alone", "beside"))
	before, found, after = beside.partition(alone)
	assert found and len(alone) > 20, (alone, beside)
	assert b"a message" not in before and b"\033" not in before, before
	for tool in b"symbolize", b"topprof":
	    assert after.count(b"a message of pmu-" + tool) == 1, after
	EOF
}

check 'the screen of a program that asks for a password is the same as without pmu-prof' <<'END'
	cat >part.py <<-'EOF'
	import sys, time
	def say(text):
	    sys.stdout.write(text)
	    sys.stdout.flush()
	    end = time.process_time() + 0.4
	    while time.process_time() < end:
	        pass
	say("line one\nPassword: ")
	input()
	say("accepted\nloading")
	say(".")
	say(". done\n")
	EOF
	printf 'wait Password: \npause 0.6\ntype secret\\n\n' >steps
	same_screen steps python3 part.py
	none grep Ctrl-C beside
	# so it is with pmu-sample alone, and with two lines of progress, if these are asked for
	on with pmu-sample --progress -e cpu-clock -o s.data -- python3 part.py <steps
	grep -q "Ctrl-C ends the program)" with
	on with pmu-prof --progress=yes -e cpu-clock -F 1000 -o p -- python3 part.py <steps
	tr '\r' '\n' <with >lines
	grep -q "Ctrl-C ends the program and shows the profile)" lines
	# the last is erased before anything else is printed
	grep -A 1 'Ctrl-C ends' lines | tail -n 1 | grep -q "^$(printf '\033')\[K"
END

check 'the screen of vi is the same as without pmu-prof' <<'END'
	any_user
	needs_command vi
	seq 100 123 >file
	printf 'wait 122\npause 0.6\ntype dG\npause 0.3\ntype :q!\\n\n' >steps
	TERM=vt100 same_screen steps vi file
END

check 'the screen of bash is the same as without pmu-prof, and Ctrl-C is its' <<'END'
	any_user
	needs_command bash
	printf '%s\n' 'wait here: ' 'pause 0.6' 'type echo hel\x03' 'wait here: ' 'pause 2.1' \
		'type echo hello\n' 'wait hello\r' 'wait here: ' 'type exit\n' >steps
	PS1='here: ' TERM=vt100 same_screen steps bash --norc --noprofile
END

check 'messages while the command runs wait for its end, in order; kill -9 loses none' <<'END'
	mkfifo commands
	exec 4<>commands
	say() { echo "$1" >&4; eventually is_read; }
	is_read() { test "$(timeout 0.1 cat <&4 | wc -c)" = 0; }
	for killed in no sampler; do
		pmu-sample --control fifo:commands -e cpu-clock -o s.data -- \
			sh -c 'echo $$ >pid; until test -e go; do sleep 0.05; done; echo last >&2' 2>err &
		sampler=$!
		eventually test -s pid
		echo first >&4
		echo second >&4
		sleep 1		# a round takes 0.4 s
		test $killed = sampler || none grep "is not a command" err
		test $killed = no || kill -KILL $sampler
		touch go
		wait $sampler || test $killed = sampler
		eventually grep -q second err
		sed -n "s/^pmu-sample: '\([a-z]*\)' is not.*/\1/p; /^last/p" err >got
		test $killed = sampler || printf 'last\nfirst\nsecond\n' | same - got
		eventually grep -q last err
		rm go pid
	done
	# a filter that is killed, and pmu-prof
	fake pmu-symbolize 'said before the end'
	for victim in symbolize prof; do
		pmu-prof -q -e cpu-clock -F 1000 -o p -- sh -c 'echo $$ >pid; exec ten serial 600' 2>err &
		prof=$!
		eventually test -s pid
		eventually has_run "$(cat pid)" 100
		is_there() { symbolize=$(pgrep -P $prof -x pmu-symbolize); }
		eventually is_there
		none cat err
		if test $victim = prof; then
			kill -KILL $prof
			kill -KILL "$(cat pid)"
		else
			kill -KILL $symbolize
		fi
		wait $prof || :
		eventually grep -qx 'said before the end' err
		rm pid
	done
END

check 'without a command there is a line of progress, not with TERM=dumb; it never wraps' <<'END'
	ten serial 600 &
	target=$!
	eventually has_run $target 10
	try() { on seen "$@" <steps; tr '\r' '\n' <seen >lines; }
	printf '%s\n' 'wait lost' 'pause 0.6' 'size 30' 'wait \r0:[^\r\033]{27}\033' 'size 12' \
		'wait \r0:.{0,9}\033' 'kill SIGINT' >steps
	try pmu-prof -e cpu-clock -F 1000 -o p -p $target
	grep -q '^[0-9]*:[0-9]*  [0-9]* samples, [0-9]* lost  (Ctrl-C to stop)' lines
	grep -q "^go tool pprof" lines
	sed -n "s/^\([0-9]*:[0-9][^$(printf '\033')]*\).*/\1/p" lines >progress
	awk '{ print length($0) }' progress | sort -rn | uniq >lengths
	grep -qx 29 lengths
	grep -qx 11 lengths
	: >steps
	for how in "TERM=dumb pmu-prof" "TERM=dumb pmu-prof --progress" "pmu-prof --progress=no" \
			"pmu-prof -q"; do
		try env $how -e cpu-clock -F 1000 -o p -d 1.5 -p $target
		none grep "Ctrl-C" lines
		none grep "$(printf '\033')" lines
	done
	pmu-prof --progress=yes -e cpu-clock -F 1000 -o p -d 0.5 -p $target 2>err
	none grep Ctrl-C err
	# in the background: the terminal is the shell's
	on seen bash -ic 'pmu-prof -e cpu-clock -F 1000 -o p -d 1.5 -p '$target' 2>/dev/tty & wait' \
		</dev/null
	none grep Ctrl-C seen
END

# samples_in FUNCTION: how many samples of p.pb.gz are in it, or in what it calls
samples_in() {
	go tool pprof -sample_index=samples -top -cum p.pb.gz 2>/dev/null |
	awk -v name="$1" '$NF == name { print $4 }'
}

# closes_once COMMAND...: on a terminal, "graceful" gets one SIGINT, whether from the terminal, by
# kill, or by a kill of the whole group; its shutdown is sampled, and the status is its own
closes_once() {
	for how in 'type \x03' 'kill SIGINT' 'killpg SIGINT'; do
		printf '%s\n' 'wait ready' 'pause 0.3' "$how" >steps
		exits 7 on seen "$@" <steps
		cat seen
		grep -q "closed after 1 SIGINT, 0 SIGTERM" seen
		test ! -e s.data || pmu-symbolize s.data | pmu-topprof -o p.pb.gz
		# of 300 ms
		at_least "$(samples_in closing)" 100
	done
}

check 'Ctrl-C is for the command, once: its shutdown is sampled until it ends' <<'END'
	closes_once pmu-prof -e cpu-clock -F 1000 -o p -- graceful
	closes_once pmu-sample --exit-status --unwind -e cpu-clock -F 1000 -o s.data -- graceful
END

check 'a program that goes on at Ctrl-C is sampled on; twice within two seconds ends it' <<'END'
	printf '%s\n' 'wait ready' 'type \x03' 'wait got signal 2' 'pause 2.1' 'type \x03' \
		'wait got signal 2' 'pause 2.1' 'kill SIGINT' 'wait got signal 2' 'pause 2.1' \
		'press got signal 15' 'wait closed' >steps
	exits 7 on seen pmu-prof -e cpu-clock -F 1000 -o p -- graceful goes-on <steps
	grep -q "closed after [4-9] SIGINT, 1 SIGTERM" seen
	grep -q "^go tool pprof" seen
	# a prompt of Python
	cat >asleep <<-'EOF'
	# between its prompt and its wait for a key, Python takes no notice of SIGINT
	for try in $(seq 100); do
		pid=$(pgrep -s "$(cat session)" -x python3) &&
			grep -q poll "/proc/$pid/wchan" 2>why && break
		sleep 0.05
	done
	EOF
	printf '%s\n' 'wait >>> ' 'run sh asleep' 'type \x03' 'wait KeyboardInterrupt' \
		'wait >>> ' 'pause 2.1' 'type sum(range(10**7))\n' 'wait 49999995000000' 'wait >>> ' \
		'type \x03' 'press ended' >steps
	cat >ended.py <<-'EOF'
	import os, signal
	def end(*_):
	    print("ended", flush=True)
	    os._exit(3)
	signal.signal(signal.SIGTERM, end)
	EOF
	exits 3 on seen sh -c 'echo $$ >session; exec pmu-prof -e cpu-clock -F 1000 -o p -- \
		python3 -i ended.py' <steps
	at_least "$(pmu-top -j -t samples -n 1000 p.pb.gz |
		sed -n 's/.*"total": \([0-9]*\),.*/\1/p')" 50
END

check 'in a pipe of tools, too, a program that goes on is sampled until it ends' <<'END'
	# before its handlers stand, SIGINT would end a filter
	cat >handlers <<-'EOF'
	for tool in pmu-symbolize pmu-topprof; do
		until grep -q "^SigCgt:.*[2367abef]$" \
			"/proc/$(pgrep -s "$(cat session)" -x $tool)/status" 2>why; do sleep 0.05; done
	done
	EOF
	printf '%s\n' 'wait ready' 'run sh handlers' 'type \x03' 'wait got signal 2' 'pause 2.1' \
		'type \x03' 'wait got signal 2' 'pause 0.3' 'run kill -TERM $(cat pid)' \
		'wait closed' >steps
	on seen sh -c 'trap : INT; echo $$ >session; pmu-sample --unwind -e cpu-clock -F 1000 -- \
		sh -c "echo \$\$ >pid; exec graceful goes-on" |
		pmu-symbolize | pmu-topprof -o p.pb.gz' <steps
	grep -q "closed after 2 SIGINT, 1 SIGTERM" seen
	at_least "$(samples_in closing)" 100
END

check 'after a program that was ended the terminal shows again what is typed' <<'END'
	printf '%s\n' 'wait >>> ' 'press modes: ' >steps
	on seen sh -c 'trap : INT; before=$(stty -g)
		pmu-sample -q -e cpu-clock -o s.data -- python3 -i
		after=$(stty -g); test "$before" = "$after" && echo modes: same ||
		echo modes: "$before" "$after"' <steps
	grep -q "modes: same" seen
END

check 'SIGTERM ends the command: its shutdown is sampled; after five seconds by SIGKILL' <<'END'
	for how in kill killpg; do
		printf 'wait ready\npause 0.3\n%s SIGTERM\n' $how >steps
		exits 7 on seen pmu-sample --exit-status -e cpu-clock -F 1000 -o s.data -- graceful <steps
		grep -q "closed after 0 SIGINT, 1 SIGTERM" seen
	done
	printf 'wait ready\npause 0.3\nkill SIGTERM\n' >steps
	exits 7 on seen pmu-prof -e cpu-clock -F 1000 -o p -- graceful <steps
	grep -q "closed after 0 SIGINT, 1 SIGTERM" seen
	grep -q "^go tool pprof" seen
	exits 137 on seen pmu-prof -e cpu-clock -F 1000 -o p -- graceful stubborn <steps
	grep -q "got signal 15" seen
	grep -q "^go tool pprof" seen
END

check 'where the caller ignores SIGINT, Ctrl-C is not for us; by kill it ends the command' <<'END'
	printf '%s\n' 'wait ready' 'type \x03' 'pause 0.3' 'type \x03' 'pause 0.3' 'type \x03' \
		'pause 0.5' 'kill SIGINT' >steps
	cat >deaf.py <<-'EOF'
	import signal
	print("ready", flush=True)
	while True:
	    pass
	EOF
	exits 143 on seen env --ignore-signal=INT \
		pmu-prof -e cpu-clock -F 1000 -o p -- python3 deaf.py <steps
	grep -q "^go tool pprof" seen
	# a program that handles SIGINT nevertheless gets the one that was sent
	printf 'wait ready\npause 0.3\nkill SIGINT\n' >steps
	exits 7 on seen env --ignore-signal=INT pmu-prof -e cpu-clock -F 1000 -o p -- graceful <steps
	grep -q "closed after 1 SIGINT, 0 SIGTERM" seen
END

check 'after the command has ended, a signal stops tools that hang' <<'END'
	any_user
	mkdir fakes
	cat >fakes/pmu-symbolize <<-'EOF'
	#!/bin/sh
	trap 'kill $!; exit 1' TERM
	cat >/dev/null
	sleep 600 &
	touch hangs
	wait
	EOF
	chmod +x fakes/pmu-symbolize
	PMU_PATH=$PWD/fakes pmu-prof -e cpu-clock -F 1000 -o p -- ten serial 0.1 2>err &
	prof=$!
	eventually test -e hangs
	sleep 0.5	# pmu-sample ends
	kill -TERM $prof
	exits 1 wait $prof
	grep -q "'pmu-symbolize' failed" err
END

done_testing
