#!/bin/sh
# Pipes between tools: larger where the kernel allows it, live, and bounded.
# kinds: release
. tests/lib.sh

make-stream 60000 5000 4 >"$scratch/s.data"
export STREAM="$scratch/s.data"
pmu-stream --cat "$STREAM" >"$scratch/joined.data"
joined=$(stat -c %s "$scratch/joined.data")

# pipes WHAT COMMAND...: see tests/pipes.py
pipes() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/pipes.py" "$@"; }

check 'each tool that reads or writes a pipe makes it hold 1 MiB' <<'END'
	echo "1048576 1048576 $joined" >want
	pipes sizes pmu-stream --cat | same want -
	for tool in "pmu-symbolize -q" pmu-unwind pmu-topprof pmu-top pmu-flame "pmu-stream -D"; do
		echo "$tool"
		pipes sizes $tool 2>err >got
		grep "^1048576 1048576 [1-9]" got
	done
	pmu-topprof -q -o p.pb.gz "$STREAM"
	STREAM=p.pb.gz
	for tool in pmu-top "pmu-topprof --to folded" "pmu-diff p.pb.gz -"; do
		echo "$tool"
		pipes sizes $tool 2>err >got
		grep "^1048576 1048576 [1-9]" got
	done
END

check 'a FIFO that is named, as input and as output' <<'END'
	echo large >want
	pipes named pmu-stream --cat -o out in | same want -
	rm in out
	pipes named pmu-symbolize -o out in | same want -
END

check 'a larger pipe stays as it is' <<'END'
	pipes kept 4194304 pmu-stream --cat >got || { cat got; exit 77; }
	echo "4194304 4194304 $joined" | same - got
END

check 'a user who may have no more pipes of this size gets smaller ones, without a message' <<'END'
	needs_root
	test "$(cat /proc/sys/fs/pipe-user-pages-soft)" -gt 0 || skip "no limit"
	cp "$TOP/tests/pipes.py" "$STREAM" .
	chmod 755 .
	STREAM=s.data setpriv --reuid $((100000 + $$)) --clear-groups \
		/usr/bin/python3 pipes.py crowded "$(command -v pmu-stream)" --cat >got 2>err
	cat got
	none cat err
	read -r in out bytes <got
	test "$bytes" = "$joined"
	test $((in + out)) -lt 2097152
	at_least $((in + out)) 1048576
END

check 'less than 1 MiB, down to twice what there is, where the kernel refuses more' <<'END'
	needs_command strace
	strace -qq -o calls -e trace=fcntl -e inject=fcntl:error=EPERM:when=3..4 \
		pmu-stream --cat "$STREAM" | cat >got || skip "strace cannot trace here"
	cat calls
	same "$scratch/joined.data" got
	grep "F_SETPIPE_SZ, 1048576) *= -1 EPERM" calls
	grep "F_SETPIPE_SZ, 524288) *= -1 EPERM" calls
	grep "F_SETPIPE_SZ, 262144) *= 262144" calls
	none grep "F_SETPIPE_SZ, 131072" calls
END

check 'pipes that tools make between tools are as large' <<'END'
	needs_command strace
	strace -f -qq -o calls -e trace=pipe2,fcntl pmu-top "$STREAM" >top 2>err ||
		skip "strace cannot trace here"
	cat calls
	grep "F_SETPIPE_SZ, 1048576) *= 1048576" calls
	needs_sampling
	strace -f -qq -o calls -e trace=pipe2,fcntl pmu-prof -q -o p.pb.gz -- ten serial 0.05
	cat calls
	# pmu-sample to pmu-symbolize, to pmu-topprof
	at_least "$(grep -c "F_SETPIPE_SZ, 1048576) *= 1048576" calls)" 2
END

check 'a full pipe is read by 256 KiB at a time, and written by as much' <<'END'
	needs_command strace
	# what is there already when the tool starts
	head -c 1000000 "$STREAM" >part
	python3 - <<-"PYTHON"
		import fcntl, os, subprocess
		into, out = os.pipe()
		fcntl.fcntl(out, 1031, 1 << 20)
		os.write(out, open("part", "rb").read())
		os.close(out)
		subprocess.run(["strace", "-qq", "-o", "calls", "-e", "trace=read,write", "pmu-stream",
		                "--cat"], stdin=into, stdout=open("got", "wb"))
	PYTHON
	test -s calls || skip "strace cannot trace here"
	cut -c 1-30 calls
	at_most "$(grep -c "^read(0" calls)" 7
	at_most "$(grep -c "^write(1" calls)" 7
END

check 'a live stream stays live: what a round has comes out before more is written' <<'END'
	for tool in "pmu-symbolize -q" "pmu-unwind -q"; do
		echo live >want
		pipes live $tool 2>err | same want -
	done
END

check 'a reader that is stopped holds a pipe of data, not more' <<'END'
	pipes stopped pmu-symbolize -q >got
	read -r waiting peak <got
	cat got
	at_most "$waiting" 1048576
	at_least "$waiting" $((1048576 - 262144))
	at_most "$peak" 20000
END

done_testing
