#!/bin/sh
# What the tools open and write, where other users choose files or may replace them.
# kinds: release asan user
. tests/lib.sh

cat >"$scratch/p.c" <<'EOF'
__attribute__((noinline)) long work(long x) { return x * 3 ^ x >> 1; }
int main(int argc, char **argv) { (void)argv; return (int)work(argc); }
EOF
gcc -O1 -g -Wl,--build-id "$scratch/p.c" -o "$scratch/p"

# recording PATH: s.data has a sample in "work" of $scratch/p, which was mapped as PATH
recording() {
	compose s.data <<-EOF
	import re, subprocess
	def tool(*words): return subprocess.run(words, capture_output=True, text=True).stdout
	program = "$scratch/p"
	build_id = bytes.fromhex(re.search(r"Build ID: *(\w+)", tool("readelf", "-n", program))[1])
	offset, address, size = [int(n, 16) for n in re.search(
	    r"LOAD +(\w+) (\w+) \w+ (\w+) \w+ R E", tool("readelf", "-lW", program)).groups()]
	work = int(re.search(r"(\w+) T work", tool("nm", program))[1], 16)
	base = 0x555555554000
	fields = struct.pack("<IIQQQ", 5, 5, base + address, (size + 4095) & ~4095, offset)
	fields += struct.pack("<I20s", len(build_id), build_id) + struct.pack("<II", 5, 2)
	out = pipe(record(64, attr(1, 0, 1, IP | TID | TIME | PERIOD, flags=0)),
	           record(10, fields + pad(b"$1"), 2 | 1 << 14),
	           record(9, struct.pack("<QIIQQ", base + work, 5, 5, 1000, 1)))
	EOF
}

# shows STREAM: the sample in it is named
shows() { pmu-topprof "$1" | pmu-top | grep " work"; }

check 'a FIFO or a device that a stream names as a program is not opened' <<'END'
	mkfifo fifo
	ln -s fifo link
	mkdir -p root/bin
	mkfifo root/fifo
	ln -s ../fifo root/bin/link
	for path in fifo link; do
		recording "$PWD/$path"
		unopened fifo pmu-symbolize s.data >r.data
	done
	recording /bin/link
	unopened root/fifo pmu-symbolize --sysroot root s.data >r.data
	test "$(id -u)" = 0 || exit 0
	mknod null c 1 3
	recording "$PWD/null"
	unopened null pmu-symbolize s.data >r.data
END

check 'nor one that debug information names' <<'END'
	mkdir -p root/bin
	mkfifo root/bin/shared
	{ printf "shared\0"; head -c 20 /dev/zero; } >link
	objcopy --add-section .gnu_debugaltlink=link "$scratch/p" root/bin/p
	recording /bin/p
	unopened root/bin/shared pmu-symbolize -q --sysroot root s.data >r.data
	shows r.data
END

check 'nor a perf map that is a FIFO' <<'END'
	mkdir -p root/tmp
	mkfifo root/tmp/perf-5.map
	recording //anon
	unopened root/tmp/perf-5.map pmu-symbolize --sysroot root s.data >r.data
END

check 'nor one in the place of a program that was deleted, by its name in /proc/PID/maps' <<'END'
	mkfifo fifo
	cp "$(command -v ten)" program
	./program serial forever &
	pid=$!
	runs() { test "$(readlink /proc/$pid/exe)" = "$PWD/program"; }
	eventually runs
	rm program
	ln -s fifo "program (deleted)"
	unopened fifo pmu-sample -q -e cpu-clock --user -p $pid -d 0.05 -o s.data
	pmu-stream --dump s.data | grep "MMAP2.*program (deleted)"
	kill $pid
END

# tree: root/bin/p and near/p are links to links to the program
tree() {
	mkdir -p root/bin root/lib near
	cp "$scratch/p" root/lib/p
	ln -s ../lib/q root/bin/p
	ln -s /lib/p root/lib/q
	ln -s q near/p
	ln -s ../root/lib/p near/q
	echo "$(file_build_id "$scratch/p") near/p" >list
	recording /bin/p
}

check 'files are found by links' <<'END'
	tree
	pmu-symbolize --sysroot root s.data >r.data
	shows r.data
	pmu-symbolize --build-id-map list s.data >r.data
	shows r.data
END

check 'files are found by links without /proc, and a FIFO is not opened' <<'END'
	needs_root
	tree
	mkfifo fifo root/fifo
	ln -s ../fifo root/bin/link
	recording "$PWD/fifo"
	mv s.data fifo.data
	recording /bin/link
	mv s.data link.data
	recording /bin/p
	cat >without <<-EOF
	mount -t tmpfs none /proc
	pmu-symbolize --sysroot root s.data >r1.data
	pmu-symbolize --build-id-map list s.data >r2.data
	unopened fifo pmu-symbolize fifo.data >r.data
	unopened root/fifo pmu-symbolize --sysroot root link.data >r.data
	EOF
	ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 unshare -m sh -e without
	shows r1.data
	shows r2.data
END

check 'where openat2(2) is forbidden, files are found and a FIFO is not opened' <<'END'
	tree
	ln -sf p root/lib/q
	no-openat2 pmu-symbolize --sysroot root s.data >r.data
	shows r.data
	mkfifo root/fifo
	ln -sf ../fifo root/bin/p
	unopened root/fifo no-openat2 pmu-symbolize --sysroot root s.data >r.data
END

done_testing
