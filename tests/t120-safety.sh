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
	made=$scratch/made$(echo "$1" | tr / _)
	test -e "$made" || { composed "$1" && mv s.data "$made"; }
	cp "$made" s.data
}
composed() {
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

check 'a FIFO that debug information names is not opened' <<'END'
	mkdir -p root/bin
	mkfifo root/bin/shared
	{ printf "shared\0"; head -c 20 /dev/zero; } >link
	objcopy --add-section .gnu_debugaltlink=link "$scratch/p" root/bin/p
	recording /bin/p
	unopened root/bin/shared pmu-symbolize -q --sysroot root s.data >r.data
	shows r.data
END

check 'a perf map that is a FIFO is not opened' <<'END'
	mkdir -p root/tmp
	mkfifo root/tmp/perf-5.map
	recording //anon
	unopened root/tmp/perf-5.map pmu-symbolize --sysroot root s.data >r.data
END

check 'a FIFO in the place of a deleted program, as /proc/PID/maps names it, is not opened' <<'END'
	mkfifo fifo
	cp "$(command -v ten)" program
	./program serial forever &
	pid=$!
	runs() { test "$(readlink /proc/$pid/exe)" = "$PWD/program"; }
	eventually runs
	rm program
	ln -s fifo "program (deleted)"
	unopened fifo pmu-sample -q -e cpu-clock --all-user -p $pid -d 0.05 -o s.data
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
	! sanitized || skip "sanitizers need /proc"
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
	unshare -m sh -e without
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

# sampled: s.data has a sample; "good" is its profile, of mode 640; "junk" is neither
sampled() {
	recording /bin/p
	pmu-topprof s.data >good
	chmod 640 good
	cp good before
	cp s.data before.data
	seq 300 | gzip -n | tail -c 500 >junk	# noise, but the same each time
}

# nothing_hidden: no file was left over
nothing_hidden() { none find . -name ".*" -type f; }

# refused COMMAND...: it says that its output is an input
refused() {
	exits 2 "$@" 2>err
	grep -q "is an input, too: write to another file" err
}

check 'an output that is an input is refused, by whatever name, and stays what it was' <<'END'
	unsanitized
	any_user
	sampled
	ln s.data hard
	ln -s s.data soft
	for out in s.data ./s.data hard soft; do
		refused pmu-stream -p 1 s.data -o $out
		refused pmu-stream -z -o $out <s.data
		refused pmu-stream --cat before.data s.data -o $out
		refused pmu-symbolize s.data -o $out
		refused pmu-topprof s.data -o $out
		refused pmu-topprof -o $out <s.data
	done
	for out in pmu-stream "pmu-stream -D" "pmu-stream -z" pmu-symbolize pmu-topprof; do
		refused $out s.data >>s.data
		refused $out <s.data >>s.data
	done
	ln -s "$BIN/pmu-topprof" perf_to_profile
	refused ./perf_to_profile -f -i s.data -o hard
	same before.data s.data
	refused pmu-topprof good -o good
	refused pmu-topprof before good -o good
	refused pmu-topprof --diff good before -o good
	refused pmu-topprof --to folded good -o good
	refused pmu-top good >>good
	same before good
	pmu-stream -D s.data >/dev/null </dev/null
END

check 'a profile that is there stays where the input has no sample' <<'END'
	unsanitized
	sampled
	head -c 100 s.data >cut
	for input in junk absent /dev/null cut; do
		exits 1 pmu-topprof $input -o good
		exits 1 pmu-topprof --to folded $input -o good
		exits 1 pmu-topprof good $input -o good.2
	done
	exits 1 pmu-topprof -e other s.data -o good
	exits 1 pmu-topprof junk -o new
	same before good
	test ! -e new
	test ! -e good.2
	nothing_hidden
END

check 'a profile of what is whole takes its place where the input is damaged' <<'END'
	any_user
	sampled
	echo old >old
	head -c $(($(stat -c %s s.data) - 4)) s.data >short
	{ cat s.data; head -c 7 /dev/zero; } >long
	exits 1 pmu-topprof long -o old
	go tool pprof -raw old | grep "samples/count"
	go tool pprof -raw old | grep " 1 *1: 1"
	nothing_hidden
END

check 'a profile that is there stays where not all can be written' <<'END'
	unsanitized
	sampled
	exits 1 sh -c "trap \"\" XFSZ; ulimit -f 0; pmu-topprof s.data -o good 2>/dev/null"
	exits 1 sh -c "trap \"\" XFSZ; ulimit -f 0; pmu-topprof good before -o good.2 2>/dev/null"
	same before good
	test ! -e good.2
	mkdir d
	exits 1 sh -c "trap \"\" XFSZ; ulimit -f 0; pmu-topprof --split process -o d s.data 2>/dev/null"
	none ls -A d
	nothing_hidden
END

check 'a profile that is there stays on a full disk' <<'END'
	needs_root
	sampled
	mkdir full
	cat >with <<-EOF
	mount -t tmpfs -o size=64k none full
	cp good full/good
	dd if=/dev/zero of=full/fill bs=1k 2>/dev/null || :
	exits 1 pmu-topprof s.data -o full/good
	cmp before full/good
	test "\$(ls -A full)" = "\$(printf "fill\ngood")"
	EOF
	{ sed -n "/^exits()/,/^}/p" "$TOP/tests/lib.sh"; cat with; } >script
	unshare -m sh -e script
END

check 'a profile that is replaced keeps mode, owner, links and names' <<'END'
	unsanitized
	sampled
	echo old >good
	ln -s good link
	pmu-topprof s.data -o link
	test -L link
	same before good
	test "$(stat -c %a good)" = 640
	ln good second
	echo old >good
	pmu-topprof s.data -o good
	same before second
	(umask 027; pmu-topprof s.data -o new)
	same before new
	test "$(stat -c %a new)" = 640
	ln -s later dangling
	pmu-topprof s.data -o dangling
	same before later
	pmu-topprof s.data -o /dev/stdout | cat >piped
	same before piped
	pmu-topprof s.data -o /dev/stdout >direct
	same before direct
	pmu-topprof s.data -o /dev/null
	test -c /dev/null
	nothing_hidden
	test "$(id -u)" = 0 || exit 0
	chown 65534:65533 good
	pmu-topprof s.data -o good
	test "$(stat -c %u:%g good)" = 65534:65533
END

check 'where no file can be made beside it, a profile is written in place' <<'END'
	needs_root
	sampled
	mkdir closed
	cp good closed/good
	echo old >closed/good
	chown 65534 closed/good
	chmod 755 .
	chmod 644 s.data
	setpriv --reuid 65534 --clear-groups --inh-caps=-all "$BIN/pmu-topprof" s.data \
		-o "$PWD/closed/good"
	same before closed/good
	exits 1 setpriv --reuid 65534 --clear-groups --inh-caps=-all "$BIN/pmu-topprof" -q \
		"$PWD/absent" -o "$PWD/closed/good"
	same before closed/good
END

check 'profiles of processes replace no file through a link, and none elsewhere' <<'END'
	compose s.data <<-EOF
	out = pipe(record(64, attr(1, 0, 1, IP | TID | TIME | PERIOD, flags=0)), *[r for pid, name in
	    ((5, b"../../x"), (6, b"-rf;\$(id)\`"), (7, b"..\n\x1b[1m"), (8, b"a b"),
	     (9, "gr\u00fc\u00df".encode()))
	    for r in (record(3, struct.pack("<II", pid, pid) + pad(name)),
	              record(9, struct.pack("<QIIQQ", 4096, pid, pid, 1000, 1)))])
	EOF
	mkdir d
	echo mine >victim
	ln -s ../victim d/a_b-8.pb.gz
	ln -s ../victim "d/a b-8.pb.gz"
	ln -s ../victim "d/a b-8.pb.gz.tmp"
	pmu-topprof --split process -o d s.data
	test "$(cat victim)" = mine
	test -f "d/a b-8.pb.gz"
	test ! -L "d/a b-8.pb.gz"
	rm d/a_b-8.pb.gz d/*.tmp
	ls -A d
	test "$(ls -A d | LC_ALL=C sort)" = "$(printf "%s\n" "_._.._x-5.pb.gz" "_.___1m-7.pb.gz" \
		"_rf___id__-6.pb.gz" "a b-8.pb.gz" "grüß-9.pb.gz" | LC_ALL=C sort)"
END

check 'profiles are not written into a directory that other users may change' <<'END'
	unsanitized
	sampled
	for mode in 777 757 2777; do
		rm -rf d
		mkdir d
		chmod $mode d
		for how in "--split process -o d" "--split thread -o d" \
			"--split 1s -o d/%Y%s"
		do
			exits 1 pmu-topprof $how s.data 2>err
			grep "other users may replace what is in it" err
		done
		none ls -A d
	done
	for mode in 1777 755 775; do
		chmod $mode d
		for how in "--split process -o d" "--split 1s -o d/%Y%s"; do
			pmu-topprof $how s.data
		done
	done
	test "$(id -u)" = 0 || exit 0
	chmod 755 d
	chown 65534 d
	exits 1 pmu-topprof --split process -o d s.data 2>err
	grep "it belongs to user 65534, who is neither root nor you" err
	mkdir shared
	chown 0:65534 shared
	chmod 775 shared
	exits 1 pmu-topprof --split process -o shared s.data 2>err
	grep "other users may replace what is in it (mode 0775)" err
END

check 'a recording is not replaced by a profile of one of its intervals' <<'END'
	unsanitized
	any_user
	sampled
	name=$(pmu-topprof -v --split 1s -o %Y.p s.data; ls *.p)
	mv s.data $name
	exits 1 pmu-topprof --split 1s -o %Y.p $name
	same before.data $name
END

check 'what other users may have put into the cache is not believed' <<'END'
	mkdir -p root/bin
	cp "$scratch/p" root/bin/p
	recording /bin/p
	pmu-symbolize -v --sysroot root --cache kept s.data 2>err >r.data
	pmu-symbolize -v --sysroot root --cache kept s.data 2>err >r.data
	grep "1 of 1 .*were in the cache" err
	test "$(stat -c %a kept)" = 755
	chmod 777 kept
	pmu-symbolize -v --sysroot root --cache kept s.data 2>err >r.data
	grep "the cache .kept. is not used: other users may replace" err
	none grep "were in the cache" err
	shows r.data
	test "$(id -u)" = 0 || exit 0
	chmod 1777 kept
	chown 65534 kept/*.index
	pmu-symbolize -v --sysroot root --cache kept s.data 2>err >r.data
	grep "it belongs to user 65534, who is neither root nor you" err
	shows r.data
	chmod 755 kept
	chown 65534 kept
	pmu-symbolize -v --sysroot root --cache kept s.data 2>err >r.data
	grep "the cache .kept. is not used: it belongs to user 65534" err
	mkfifo fifo
	chown 0 kept
	ls kept/*.index | while read -r file; do ln -sf ../fifo "$file"; done
	unopened fifo pmu-symbolize --sysroot root --cache kept s.data >r.data
END

check 'a line of /etc/passwd that lacks fields is of no user; nothing after its end is read' <<'END'
	needs_root
	needs_command unshare
	{ printf '%01023d\n' 0; printf 'one\ntwo:x\nthree:x:\nfour:x::0::\nfive:x:0:0:::\n'; } >passwd
	unshare -m sh -c 'mount --bind passwd /etc/passwd' || skip 'may not mount here'
	for user in none one two three four five:x; do
		exits 1 unshare -m sh -c "mount --bind passwd /etc/passwd
			exec pmu-sample -e cpu-clock -u $user -d 0.01 -o s.data" 2>err
		grep -q "no user is called '$user'" err
	done
END

done_testing
