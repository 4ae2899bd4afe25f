#!/bin/sh
# What is written to a name in /tmp that another user may have created before.  The kernel's own
# protection (fs.protected_regular and its like) may be on or off: the result is the same.
# kinds: release
. tests/lib.sh

other=65534

# shared [MODE]: "in" is a sticky directory of ours, where others may create files
shared() {
	mkdir -p in
	chmod "${1:-1777}" in
	test -e s.data || compose s.data <<-EOF
	out = pipe(record(64, attr(1, 0, 1, IP | TID | TIME | PERIOD, flags=0)),
	           record(3, struct.pack("<II", 5, 5) + pad(b"five")),
	           record(9, struct.pack("<QIIQQ", 4096, 5, 5, 1000, 1)))
	EOF
	test -e p.pb.gz || pmu-topprof s.data -o p.pb.gz
}

# planted NAME [MODE]: another user created the file "in/NAME"
planted() {
	echo planted >"in/$1"
	chmod "${2:-666}" "in/$1"
	chown $other:$other "in/$1"
}

# untouched NAME: it is what that user wrote, and nothing else is in the directory
untouched() {
	test "$(cat "in/$1")" = planted
	test "$(stat -c %u:%a "in/$1")" = $other:666
	test "$(ls -A in)" = "$1"
}

# refuses NAME COMMAND...: it fails because of the owner of "in/NAME", which stays as it is
refuses() {
	name=$1
	shift
	planted "$name"
	exits 1 "$@" 2>err >out
	grep "in/$name' for writing: it, or a link to it, belongs to another user" err ||
		{ cat err; return 1; }
	untouched "$name"
	rm "in/$name"
}

check 'no tool writes to a file that another user created in a sticky directory' <<'END'
	needs_root
	for mode in 1775 1757 3777 1777; do
		shared $mode
		refuses f pmu-topprof s.data -o in/f
		refuses f pmu-stream s.data -o in/f
	done
	refuses f pmu-topprof --to folded s.data -o in/f
	refuses f pmu-topprof p.pb.gz p.pb.gz -o in/f
	refuses f pmu-symbolize s.data -o in/f
	refuses f pmu-unwind s.data -o in/f
	refuses f pmu-flame p.pb.gz -o "$PWD/in/f"
	refuses f pmu-diff p.pb.gz p.pb.gz -o in/../in/f
	ln -s "$BIN/pmu-topprof" perf_to_profile
	refuses f ./perf_to_profile -f -i s.data -o in/f
	ln -s in/f link
END

check 'pmu-sample and pmu-prof do not write there' <<'END'
	unsanitized
	needs_root
	shared
	pmu-sample -q -e cpu-clock -o any.data -- true || skip 'this machine cannot sample'
	refuses f pmu-sample -e cpu-clock -o in/f -- true
	refuses f pmu-sample -e cpu-clock --switch-output=1s -o in/f -- true
	refuses f.pb.gz pmu-prof --view=none -e cpu-clock -o in/f -- ten serial 0.1
END

check 'profiles that the input names, and the cache, are not written there' <<'END'
	needs_root
	shared
	planted five-5.pb.gz
	exits 1 pmu-topprof --split process -o in s.data 2>err
	grep 'five-5.pb.gz. for writing: it, or a link to it, belongs to another user' err
	untouched five-5.pb.gz
	rm in/*
	name=$(pmu-topprof -v --split 1s -o p-%s s.data; ls p-*)
	planted $name
	exits 1 pmu-topprof --split 1s -o in/p-%s s.data 2>err
	untouched $name
	rm in/*
	gcc -g -O1 -o p -x c - -Wl,--build-id <<-EOF
	int main(void) { return 0; }
	EOF
	main=0x$(nm p | sed -n "s/ T main$//p")
	compose r.data <<-EOF
	fields = struct.pack("<IIQQQ", 5, 5, 0x555555555000, 4096, 4096)
	fields += struct.pack("<I20s", 20, bytes.fromhex("$(file_build_id p)")) + struct.pack("<II", 5, 2)
	out = pipe(record(64, attr(1, 0, 1, IP | TID | TIME | PERIOD, flags=0)),
	           record(10, fields + pad(b"$PWD/p"), 2 | 1 << 14),
	           record(9, struct.pack("<QIIQQ", 0x555555554000 + $main, 5, 5, 1000, 1)))
	EOF
	pmu-symbolize --cache in r.data >r
	pmu-topprof r -o named
	index=$(cd in && echo *.index)
	planted "$index"
	pmu-symbolize --cache in r.data 2>err >r
	grep 'cannot save names in the cache .in.: it, or a link to it, belongs to another' err
	untouched "$index"
	rm in/*
	refuses f pmu-annotate -o in/f main named
END

check 'no tool writes through a link of another user, wherever in the path it is' <<'END'
	needs_root
	shared
	mkdir -p mine/deep
	echo victim >mine/deep/victim
	for target in ../mine/deep/victim ../mine/deep/new "$PWD/mine/deep/victim"; do
		ln -sf "$target" in/link
		chown -h $other in/link
		for tool in pmu-topprof pmu-stream; do
			exits 1 $tool s.data -o in/link 2>err
			grep "in/link. for writing: it, or a link to it, belongs to another" err
		done
	done
	ln -s ../mine in/directory
	ln -s in/directory way
	chown -h $other in/directory
	for tool in pmu-topprof pmu-stream; do
		for path in in/directory/deep/victim way/deep/new; do
			exits 1 $tool s.data -o $path 2>err
			grep "$path. for writing: it, or a link to it, belongs to another" err
		done
	done
	test "$(cat mine/deep/victim)" = victim
	test "$(ls -A mine/deep)" = victim
END

check 'no tool writes to a FIFO of another user, or waits for its reader' <<'END'
	needs_root
	shared
	mkfifo -m 666 in/fifo
	chown $other in/fifo
	for tool in pmu-topprof pmu-stream; do
		exits 1 timeout 60 $tool s.data -o in/fifo 2>err
		grep "in/fifo. for writing: it, or a link to it, belongs to another user" err
	done
END

check 'no tool writes to a file of ours that another user linked there' <<'END'
	shared
	for tool in pmu-topprof pmu-stream; do
		echo kept >mine
		ln mine in/f
		exits 1 $tool s.data -o in/f 2>err
		grep "in/f. for writing: it has other names (hard links), in a sticky directory" err
		test "$(cat mine)" = kept
		rm in/f mine
		$tool s.data -o in/f
		$tool s.data -o in/f
		ln in/f mine
		chmod 755 in
		$tool s.data -o in/f	# others may not create files here
		chmod 1777 in
		rm in/f mine
	done
END

check 'files and links of our own, and of the directory'"'"'s owner, are written there' <<'END'
	shared
	for tool in pmu-topprof pmu-stream; do
		rm -f in/*
		$tool s.data -o want
		$tool s.data -o in/new
		echo old >in/old
		chmod 640 in/old
		$tool s.data -o in/old
		test "$(stat -c %a in/old)" = 640
		ln -s old in/link
		echo old >in/old
		$tool s.data -o in/link
		test -L in/link
		ln -s later in/dangling
		$tool s.data -o in/dangling
		for file in in/new in/old in/later; do same want $file; done
	done
	test "$(id -u)" = 0 || exit 0
	chown $other in
	for tool in pmu-topprof pmu-stream; do
		rm -f in/*
		planted theirs 666
		ln -s theirs in/link
		chown -h $other in/link
		$tool s.data -o want
		$tool s.data -o in/link
		same want in/theirs
		test "$(stat -c %u in/theirs)" = $other
	done
END

check 'an old file keeps its owner where a directory is not sticky, or closed to others' <<'END'
	needs_root
	for mode in 777 1755; do
		shared $mode
		for tool in pmu-topprof pmu-stream; do
			planted f
			$tool s.data -o want
			$tool s.data -o in/f
			same want in/f
			test "$(stat -c %u:%a in/f)" = $other:666
		done
	done
END

check 'pipes, devices, descriptors and process substitution are written to' <<'END'
	shared
	mkfifo in/fifo
	for tool in pmu-topprof pmu-stream; do
		$tool s.data -o want
		cat in/fifo >got &
		$tool s.data -o in/fifo
		wait
		same want got
		$tool s.data -o /dev/stdout | cat >got
		same want got
		$tool s.data -o /dev/stdout >in/redirected
		same want in/redirected
		$tool s.data -o /dev/fd/7 7>in/seventh
		same want in/seventh
		$tool s.data -o /proc/self/fd/1 | cat >got
		same want got
		$tool s.data -o /dev/null
		test -c /dev/null
		bash -c "set -e; $tool s.data -o >(cat >got); wait \$!"
		same want got
		exits 1 $tool s.data -o in/. 2>err
		exits 1 $tool s.data -o in/new/ 2>err
		exits 1 $tool s.data -o "in/$(printf %0300d 0)" 2>err
		exits 1 $tool s.data -o "in/redirected/below" 2>err
	done
	ln -s loop in/loop
	exits 1 pmu-stream s.data -o in/loop 2>err
	grep "Too many levels" err
END

check 'a path is found from a working directory that may not be searched' <<'END'
	needs_root
	shared
	chmod 755 .
	mkdir closed
	chmod 700 closed
	chmod 644 s.data
	cp "$BIN/pmu-topprof" "$BIN/pmu-stream" .
	for tool in pmu-topprof pmu-stream; do
		(cd closed && setpriv --reuid $other --regid $other --clear-groups "$OLDPWD/$tool" \
			"$OLDPWD/s.data" -o "$OLDPWD/in/$tool.out")
		test -s "in/$tool.out"
	done
END

# The other user creates a file or link under the name, and removes it, again and again.  Files stay
# open, so that whatever is written to any of them is found at the end.
cat >"$scratch/plants.py" <<'EOF'
import os, sys
directory, stop = sys.argv[1:]
os.setgid(65534), os.setuid(65534), os.umask(0), os.chdir(directory)
kept = [os.open("own", os.O_CREAT | os.O_RDWR, 0o666)]
print("ready", flush=True)
while not os.path.exists(stop):
    for plant in lambda: os.open("f", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666), \
            lambda: os.symlink("own", "f"), lambda: os.link("own", "f"):
        try:
            fd = plant()
            if fd is not None and len(kept) < 900:
                kept.append(fd)
            elif fd is not None:
                os.close(fd)
        except OSError:
            pass
        try:
            os.unlink("f")
        except OSError:
            pass
print("written to:", [os.fstat(fd).st_size for fd in kept if os.fstat(fd).st_size])
EOF

check 'nothing reaches another user who creates the name at any moment' <<'END'
	needs_root
	shared
	chmod 755 . "$scratch"
	python3 "$scratch/plants.py" "$PWD/in" "$PWD/stop" >plants &
	eventually grep ready plants
	written=0
	for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
		for tool in pmu-topprof "pmu-stream -q"; do
			$tool s.data -o in/f 2>>err && written=$((written + 1)) || :
			rm -f in/f
		done
	done
	touch stop
	wait
	cat plants
	grep "^written to: \[\]$" plants
	none find in -name ".*" -type f
	echo "$written of 24 were written"
END

done_testing
