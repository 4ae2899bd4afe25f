#!/bin/sh
# Work of more than two seconds shows on a terminal how far it is, in a line that disappears.
# kinds: release
. tests/lib.sh

# on_terminal COLUMNS COMMAND: run it by a shell on a terminal; leave what came in ./raw, and in
# ./screen what can be seen of it in the end
on_terminal() {
	python3 - "$@" <<-'PY'
		import fcntl, os, pty, re, struct, sys, termios
		columns, command = int(sys.argv[1]), sys.argv[2]
		ready, go = os.pipe()
		pid, fd = pty.fork()
		if pid == 0:
		    os.read(ready, 1)
		    os.execvp("sh", ["sh", "-c", command])
		fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
		os.write(go, b"x")
		raw = b""
		while True:
		    try:
		        new = os.read(fd, 1 << 16)
		    except OSError:
		        break
		    if not new:
		        break
		    raw += new
		status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
		text = raw.decode()
		open("raw", "w").write(text)
		with open("screen", "w") as screen:
		    for line in text.replace("\r\n", "\n").split("\n"):
		        shown, at = [], 0
		        for part in re.findall("\r|\033\\[K|[^\r\033]", line):
		            if part == "\r":
		                at = 0
		            elif part == "\033[K":
		                del shown[at:]
		            else:
		                shown[at:at + 1] = part
		                at += 1
		        print("".join(shown).rstrip(), file=screen)
		sys.exit(status)
	PY
}

# parts: each line of progress that was drawn
parts() { tr '\r' '\n' <raw | sed -n "s/$(printf '\033')\[K.*//p" | grep .; }

# some MB of records
pmu-sample -q -e cpu-clock -F 1000 -o "$scratch/one" -- ten serial 0.3
pmu-stream -q --cat $(yes "$scratch/one" | head -500) >"$scratch/large"
# Once its writer has begun, its reader takes nothing for longer than two seconds.
slow='{ head -c 1 >first; sleep 2.5; cat >/dev/null; }'

check 'a file that takes long: its share that was read, and the line is gone in the end' <<'END'
	at_least "$(stat -c %s "$scratch/large")" 2000000
	on_terminal 80 "pmu-stream -e cpu-clock '$scratch/large' | $slow"
	parts >drawn
	grep -qE '^pmu-stream: [0-9]+ % of [0-9.]+ MB read, [0-9]+:[0-9]{2} left$' drawn
	none grep . screen
	# no line is wider than the terminal
	on_terminal 20 "pmu-stream -e cpu-clock '$scratch/large' | $slow"
	parts >drawn
	grep -q '^pmu-stream: [0-9]* % of' drawn
	none grep '.\{20\}' drawn
	none grep . screen
END

check 'in a pipe only the tool that reads the file; none with -q, TERM=dumb, or no terminal' <<'END'
	on_terminal 80 "pmu-stream -e cpu-clock '$scratch/large' | pmu-stream -e cpu-clock | $slow"
	parts | sed 's/:.*//' | sort -u >tools
	echo pmu-stream | same - tools
	on_terminal 80 "cat '$scratch/large' | pmu-stream -e cpu-clock | $slow"
	none cat raw
	on_terminal 80 "pmu-stream -q -e cpu-clock '$scratch/large' | $slow"
	none cat raw
	TERM=dumb on_terminal 80 "pmu-stream -e cpu-clock '$scratch/large' | $slow"
	none cat raw
	on_terminal 80 "pmu-stream -e cpu-clock '$scratch/large' 2>log | $slow"
	none cat raw log
	on_terminal 80 "pmu-symbolize '$scratch/large' | $slow"
	parts | grep -q '^pmu-symbolize: [0-9]* % of'
END

check 'pmu-diff --run: the number of the run and the time left, and what the commands print' <<'END'
	# a step comes each 100 ms, where pmu-diff gets a CPU
	on_terminal 80 "pmu-diff --run 2 --keep runs 'echo one; sleep 3; ten serial 0.1' \
		'printf two; sleep 3; ten serial 0.1; echo .'"
	parts >drawn
	grep -q '^pmu-diff: run 1 of 4$' drawn
	grep -qE '^pmu-diff: run [234] of 4, [0-9]+:[0-9]{2} left$' drawn
	test "$(grep -cx one screen)" = 2
	test "$(grep -cx two. screen)" = 2
	none grep ' of 4' screen
	grep -q 'runs\|change' screen
	# without a terminal: nothing of it
	pmu-diff --run 1 --one-run 'sleep 2.5; ten serial 0.05' 'ten serial 0.05' >out 2>err || true
	none grep ' of 2' out err
END

done_testing
