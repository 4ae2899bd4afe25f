#!/bin/sh
# Debug information that is not in the program: by link, build ID, list, cache, server.
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
	for (clock_t end = clock() + CLOCKS_PER_SEC / 3; clock() < end; )
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
	pmu-sample -e cpu-clock -F 1000 -o s.data -- ./program
}

# frames OPTION...: how the sampled code is called, and where it is
frames() {
	pmu-symbolize "$@" s.data 2>err | pmu-topprof >p.pb.gz
	go tool pprof -top -lines p.pb.gz 2>/dev/null
}

is_found() { frames "$@" >top; cat top err; grep -q "inlined_one .*program.c:2 (inline)" top && grep -q "static_one .*program.c:" top; }
is_missing() { frames "$@" >top; none grep "inlined_one\|static_one" top; }

check '.gnu_debuglink: beside the program, in .debug, below a directory for debug files' '
	record -Wl,--build-id=none link
	is_found
	mkdir .debug other
	mv program.debug .debug
	is_found
	mkdir -p "other$PWD"
	mv .debug/program.debug "other$PWD"
	is_missing
	is_found --debug-dir other
'

check '--inlines no and --lines no leave out just that' '
	gcc -O1 -g "$scratch/program.c" -o program
	pmu-sample -e cpu-clock -F 1000 -o s.data -- ./program
	pmu-symbolize --lines no s.data | pmu-topprof --folded >folded
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
'

check 'a file of that name with another checksum is refused' '
	record -Wl,--build-id=none link
	is_found
	printf x >>program.debug
	is_missing
'

check 'by build ID: in directories, in order; a file with another build ID is refused' '
	record -Wl,--build-id=sha1
	is_missing
	id=$(file_build_id program)
	rest=${id#??}
	mkdir -p "one/.build-id/${id%$rest}" two
	mv program.debug "one/.build-id/${id%$rest}/$rest.debug"
	is_found --debug-dir two --debug-dir one
	gcc -g "$scratch/program.c" -o "one/.build-id/${id%$rest}/$rest.debug"
	is_missing --debug-dir two --debug-dir one
'

check 'by a list of build IDs, the program too' '
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
'

check 'in the cache of the debuginfod client; fetched into it only when asked to' '
	record -Wl,--build-id=sha1
	id=$(file_build_id program)
	mkdir bin server
	mv program.debug server
	cat >bin/debuginfod-find <<END
#!/bin/sh
echo "\$DEBUGINFOD_URLS \$*" >>$PWD/asked
echo noise
mkdir -p "\$DEBUGINFOD_CACHE_PATH/\$2"
test "\$1" = debuginfo && cp $PWD/server/program.debug "\$DEBUGINFOD_CACHE_PATH/\$2/debuginfo"
END
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
'

check '--sysroot: files of a copied root, for a recording of another machine' '
	record -Wl,--build-id=sha1 link
	mkdir -p "root$PWD"
	mv program program.debug "root$PWD"
	is_missing
	is_found --sysroot root
'

for version in 4 5; do
check "split DWARF $version: .dwo files where they were made, beside the program, and as .dwp" '
	cp "$scratch/program.c" .
	gcc -O1 -g -gdwarf-'$version' -gsplit-dwarf -c program.c -o part.o
	gcc part.o -o program
	pmu-sample -e cpu-clock -F 1000 -o s.data -- ./program
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
'
done

done_testing
