#!/bin/sh
# Debug information that is not in the program: by link, build ID, list, cache, server.
# kinds: release asan
. tests/lib.sh

export DEBUGINFOD_CACHE_PATH="$scratch/no-cache"

cat >"$scratch/program.c" <<'END'
#include <time.h>
static inline __attribute__((always_inline)) long inlined_one(long x) { return x * 31 + 7; }
static __attribute__((noinline)) long static_one(long x)
{
	for (int i = 0; i < 100000; i++)
		x = inlined_one(x) ^ i;
	return x;
}
int main(int argc, char **argv)
{
	long x = argc;
	/* CPU time; without a variable for it, llvm-dwp 14 does not end for DWARF 5 */
	for (clock_t end = clock() + CLOCKS_PER_SEC / 20; clock() < end; )
		x = static_one(x);
	return argv[0][0] + (int)x == 12345;
}
END

# record FLAGS: build ./program, split ./program.debug from it, and record ./s.data
record() {
	gcc -O1 -g $1 "$scratch/program.c" -o program
	objcopy --only-keep-debug program program.debug
	objcopy --strip-all program
	test -z "$2" || objcopy --add-gnu-debuglink=program.debug program
	pmu-sample --all-user -e cpu-clock -F 2000 -o s.data -- ./program
}

# frames OPTION...: how the sampled code is called, and where it is
frames() {
	pmu-symbolize "$@" s.data 2>err | pmu-topprof >p.pb.gz
	go tool pprof -top -lines p.pb.gz 2>/dev/null
}

is_found() {
	frames "$@" >top
	cat top err
	grep -q "inlined_one .*program.c:2 (inline)" top && grep -q "static_one .*program.c:" top
}
is_missing() {
	frames "$@" >top
	none grep "inlined_one\|static_one" top
}

# ended PID: the child has exited
ended() { ! test -e "/proc/$1" || grep -q '^State:.*Z' "/proc/$1/status"; }

check '.gnu_debuglink: beside the program, in .debug, below a directory for debug files' <<'END'
	record -Wl,--build-id=none link
	is_found
	mkdir .debug other
	mv program.debug .debug
	is_found
	mkdir -p "other$PWD"
	mv .debug/program.debug "other$PWD"
	is_missing
	is_found --debug-dir other
END

check '--inlines no and --lines no leave out just that' <<'END'
	unsanitized
	gcc -O1 -g "$scratch/program.c" -o program
	pmu-sample --all-user -e cpu-clock -F 2000 -o s.data -- ./program
	pmu-symbolize --lines no s.data | pmu-topprof --to folded >folded
	grep -q "static_one;inlined_one " folded
	pmu-symbolize --lines no s.data | pmu-topprof >p.pb.gz
	go tool pprof -raw p.pb.gz >raw 2>/dev/null
	none grep "program\.c" raw
	pmu-symbolize --inlines no s.data | pmu-topprof >p.pb.gz
	go tool pprof -raw p.pb.gz >raw 2>/dev/null
	none grep inlined_one raw
	grep -q "static_one .*program\.c:6" raw	# where it is called, not what it consists of
	none grep "static_one .*program\.c:2" raw
	pmu-symbolize --inlines no --lines no s.data | pmu-topprof >p.pb.gz
	go tool pprof -raw p.pb.gz >raw 2>/dev/null
	grep -q "static_one" raw
	none grep "inlined_one\|program\.c" raw
	exits 2 pmu-symbolize --lines maybe s.data
END

check 'a file of that name with another checksum is refused' <<'END'
	unsanitized
	record -Wl,--build-id=none link
	is_found
	printf x >>program.debug
	is_missing
END

check 'by build ID: in directories, in order; a file with another build ID is refused' <<'END'
	record -Wl,--build-id=sha1
	is_missing
	id=$(file_build_id program)
	rest=${id#??}
	mkdir -p "one/.build-id/${id%$rest}" two
	mv program.debug "one/.build-id/${id%$rest}/$rest.debug"
	is_found --debug-dir two --debug-dir one
	gcc -g "$scratch/program.c" -o "one/.build-id/${id%$rest}/$rest.debug"
	is_missing --debug-dir two --debug-dir one
END

check 'by a list of build IDs, the program too' <<'END'
	unsanitized
	record -Wl,--build-id=sha1
	id=$(file_build_id program)
	mkdir away
	mv program.debug away
	printf "%s nonsense\n%s  %s\n" 1234 "$id" "$PWD/away/program.debug" >list
	is_found --build-id-map list
	gcc -O1 -g -Wl,--build-id=sha1 "$scratch/program.c" -o away/program
	rm program
	is_missing
	printf "%s\t%s\n" "$id" "$PWD/away/program" >list
	is_found --build-id-map list
END

check 'a list has program and debug file of one build ID, in any order and spelling' <<'END'
	record -Wl,--build-id=sha1
	id=$(file_build_id program)
	mkdir away
	mv program program.debug away
	printf "%s %s\n" "$id" "$PWD/away/program" "$id" "$PWD/away/program.debug" >list
	is_found --build-id-map list
	tac list >other
	is_found --build-id-map other
	tr a-f A-F <list | sed "s/ .*//" | paste -d " " - list | sed "s/ $id / /; s/\$/\r/" >loud
	grep -q "$(echo "$id" | tr a-f A-F)" loud
	is_found --build-id-map loud
	cp away/program program
	is_found --build-id-map other
	for bad in nosuch away; do
		exits 1 pmu-symbolize --build-id-map $bad s.data 2>err >named
		grep -q "^pmu-symbolize: cannot read .$bad.: " err
		pmu-topprof --to folded named | grep -q .
	done
	mkfifo pipe
	exits 1 timeout 600 pmu-symbolize --build-id-map pipe s.data 2>err >named
END

check 'build IDs in sections alone: of dwz, and where segments are those of the program' <<'END'
	needs_command dwz
	record -Wl,--build-id=sha1
	id=$(file_build_id program)
	mkdir -p "one/.build-id/$(echo "$id" | cut -c1-2)"
	python3 - <<-END
	import struct
	b = bytearray(open("program.debug", "rb").read())
	headers, size, count = *struct.unpack_from("<Q", b, 32), *struct.unpack_from("<HH", b, 54)
	for i in range(count):
	    if b[headers + i * size] == 4:	# PT_NOTE
	        struct.pack_into("<Q", b, headers + i * size + 8, 64)
	open("program.debug", "wb").write(b)
	END
	mv program.debug "one/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug"
	is_found --debug-dir one
	gcc -O1 -g -Wl,--build-id=sha1 "$scratch/program.c" -o program
	cp program other
	mkdir -p shared
	dwz -m shared/common -M ../shared/common program other
	mkdir bin
	mv program bin/program
	pmu-sample --all-user -e cpu-clock -F 2000 -o s.data -- bin/program
	is_found
	rm shared/common
	frames >top
	none grep inlined_one top
END

check 'in the cache of the debuginfod client; fetched into it only when asked to' <<'END'
	unsanitized
	record -Wl,--build-id=sha1
	id=$(file_build_id program)
	mkdir bin server
	mv program.debug server
	cat >bin/debuginfod-find <<EOF
#!/bin/sh
echo "\$DEBUGINFOD_URLS \$*" >>$PWD/asked
echo noise
mkdir -p "\$DEBUGINFOD_CACHE_PATH/\$2"
test "\$1" = debuginfo && cp $PWD/server/program.debug "\$DEBUGINFOD_CACHE_PATH/\$2/debuginfo"
EOF
	chmod +x bin/debuginfod-find
	PATH=$PWD/bin:$PATH DEBUGINFOD_CACHE_PATH=$PWD/cache
	DEBUGINFOD_URLS=http://127.0.0.1:1/
	export PATH DEBUGINFOD_CACHE_PATH DEBUGINFOD_URLS
	is_missing
	test ! -e asked
	is_found --debuginfod http://127.0.0.1:2/
	grep -qx "http://127.0.0.1:2/ debuginfo $id" asked
	test "$(grep -c "$id" asked)" -eq 1
	rm asked
	is_found
	test ! -e asked
	gcc -O2 -g -Wl,--build-id=sha1 "$scratch/program.c" -o whole
	pmu-sample --all-user -e cpu-clock -F 2000 -o s.data -- ./whole
	is_found --debuginfod http://127.0.0.1:2/
	touch asked
	none grep "$(file_build_id whole)" asked
END

check 'a program that is nowhere is asked for once, and not while the stream is to end' <<'END'
	mkdir bin
	cat >bin/debuginfod-find <<EOF
#!/bin/sh
echo "\$*" >>$PWD/asked
grep SigIgn /proc/\$\$/status >$PWD/ignored
exec sleep \$(cat $PWD/seconds)
EOF
	chmod +x bin/debuginfod-find
	PATH=$PWD/bin:$PATH
	echo 0 >seconds
	compose absent.data <<-EOF
	import os
	here = os.uname()
	path = b"/nonexistent/library.so"
	fields = lambda pid: struct.pack("<IIQQQ", pid, pid, 0x10000, 0x10000, 0) + struct.pack(
	    "<BBH20sII", 20, 0, 0, bytes(range(1, 21)), 5, 2)
	def feature(kind, text):
	    return record(80, struct.pack("<QI", kind, len(text) + 1) + pad(text.encode()))
	out = pipe(feature(3, here.nodename), feature(4, here.release),
	           record(64, attr(1, 0, 1, IP | TID | TIME | PERIOD, flags=0)),
	           *[record(10, fields(100000 + i) + pad(path), 1 << 14 | 2) for i in range(30)],
	           *[record(9, struct.pack("<QIIQQ", 0x10010, 100000 + i, 100000 + i, 1000 + i, 1), 2)
	             for i in range(30)])
	EOF
	pmu-stream --dump absent.data | grep -c "build_id=.*0102030405"
	pmu-symbolize --debuginfod http://127.0.0.1:2/ absent.data >r.data
	test "$(grep -c "^executable 0102" asked)" = 1
	grep -q "0$" ignored	# SIGPIPE is bit 12
	none grep "1...$" ignored
	echo 1000000 >seconds
	: >asked
	pmu-symbolize --debuginfod http://127.0.0.1:2/ absent.data >r.data &
	eventually test -s asked
	kill -TERM $!
	eventually ended $!
END

# absent FILE: samples in ten libraries that are nowhere, each with all in its callchain
absent() {
	compose "$1" <<-EOF
	import os
	here = os.uname()
	def feature(kind, text):
	    return record(80, struct.pack("<QI", kind, len(text) + 1) + pad(text.encode()))
	def library(i):
	    fields = struct.pack("<IIQQQ", 5, 5, 0x10000 * (i + 1), 0x10000, 0)
	    rest = struct.pack("<BBH20sII", 20, 0, 0, bytes([i + 1]) * 20, 5, 2)
	    return record(10, fields + rest + pad(b"/nonexistent/%d.so" % i), 1 << 14 | 2)
	at = [0x10000 * (i + 1) + 16 for i in range(10)]
	def sample(i):
	    return record(9, struct.pack("<QIIQQQ10Q", at[i], 5, 5, 1000 + i, 1, 10,
	                                 *(at[i:] + at[:i])), 2)
	out = pipe(feature(3, here.nodename), feature(4, here.release),
	           record(64, attr(1, 0, 1, IP | TID | TIME | PERIOD | CHAIN, flags=0)),
	           *map(library, range(10)), *map(sample, range(10)))
	EOF
}

# client: bin/debuginfod-find does what stdin says; who was asked for is in ./asked
client() {
	mkdir bin
	{
		echo "#!/bin/sh"
		echo "echo \"\$2\" >>$PWD/asked"
		cat
	} >bin/debuginfod-find
	chmod +x bin/debuginfod-find
	PATH=$PWD/bin:$PATH
}

check 'a server that hangs costs the time allowed for all files, and that is said once' <<'END'
	client <<-EOF
	exec sleep 1000003
	EOF
	absent s.data
	pmu-symbolize --debuginfod http://127.0.0.1:2/ --debuginfod-time 1 s.data 2>said >r.data
	cat said
	test "$(grep -c "debuginfod: .http://127.0.0.1:2/. did not answer within 1 s" said)" = 1
	at_most "$(wc -l <asked)" 8	# at a time
	pmu-topprof --to folded r.data | grep -q "0\.so"
	none pgrep -fx "sleep 1000003"
END

check 'a client that gives a server up after its own time: no other file is asked for' <<'END'
	unsanitized
	client <<-EOF
	sleep \$DEBUGINFOD_TIMEOUT
	exit 1
	EOF
	absent s.data
	DEBUGINFOD_TIMEOUT=1 pmu-symbolize --debuginfod http://127.0.0.1:2/ s.data 2>said >r.data
	cat said
	test "$(grep -c "debuginfod: .* did not answer within 1 s" said)" = 1
	at_most "$(wc -l <asked)" 8
END

check 'several files are fetched at once: clients that wait for each other end' <<'END'
	client <<-EOF
	until test "\$(wc -l <$PWD/asked)" -ge 8; do sleep 0.01; done
	exit 1
	EOF
	absent s.data
	DEBUGINFOD_TIMEOUT=3600 pmu-symbolize --debuginfod http://127.0.0.1:2/ \
		--debuginfod-time 10m s.data 2>said >r.data
	cat said
	none grep "did not answer" said
	test "$(sort -u asked | wc -l)" = 10
	test "$(wc -l <asked)" = 10
END

check 'links mean what they mean below --sysroot' <<'END'
	record -Wl,--build-id=sha1 link
	mkdir -p "root$PWD" root/kept
	mv program root/kept
	ln -s /kept/program "root$PWD/program"
	mv program.debug root/kept
	ln -s /kept/program.debug "root$PWD/program.debug"
	is_found --sysroot root
	mkdir -p "bare$PWD"
	cp root/kept/program program
	ln -s "$PWD/program" "bare$PWD/program"
	pmu-symbolize -v --sysroot bare s.data 2>err >named
	cat err
	grep -q "program.: .* unnamed: the file is gone" err
END

check 'a debug file of 30 GB, all holes, is not read' <<'END'
	record -Wl,--build-id=none link
	truncate -s 30G program.debug || skip "no file of 30 GB"
	test "$(du -k program.debug | cut -f1)" -lt 1000 || skip "no holes here"
	(ulimit -t 3 && pmu-symbolize s.data >named)	# s of CPU time
	is_missing
END

check '--sysroot: files of a copied root, for a recording of another machine' <<'END'
	unsanitized
	record -Wl,--build-id=sha1 link
	mkdir -p "root$PWD"
	mv program program.debug "root$PWD"
	is_missing
	is_found --sysroot root
END

for version in 4 5; do
check "split DWARF $version: .dwo files where they were made, beside the program, as .dwp" <<'END'
	test $version = 5 || unsanitized
	cp "$scratch/program.c" .
	gcc -O1 -g -gdwarf-$version -gsplit-dwarf -c program.c -o part.o
	gcc part.o -o program
	pmu-sample --all-user -e cpu-clock -F 2000 -o s.data -- ./program
	ls *.dwo
	is_found
	mkdir away
	mv *.dwo away
	frames >top
	none grep inlined_one top
	if command -v llvm-dwp >/dev/null; then
		llvm-dwp away/*.dwo -o program.dwp
		is_found
	fi
	mkdir -p sub moved
	gcc -O1 -g -gdwarf-$version -gsplit-dwarf -ffile-prefix-map=$PWD=. -c program.c -o sub/part.o
	gcc sub/part.o -o moved/program
	mv sub moved
	pmu-sample --all-user -e cpu-clock -F 2000 -o s.data -- moved/program
	is_found
END
done

done_testing
