#!/bin/sh
# Files: those that debug information names, and those that it is found in.
# kinds: release asan
. tests/lib.sh

# A source tree: app/main.c includes files from its own directory and from two others.
mkdir "$scratch/tree" "$scratch/tree/app" "$scratch/tree/inc" "$scratch/tree/lib"
for name in inc/one:3 lib/two:5 app/own:7; do
	echo "static inline int $(basename ${name%:*})(volatile int *x) { return *x * ${name#*:}; }" |
		sed 's/inline/& __attribute__((always_inline))/' >"$scratch/tree/${name%:*}.h"
done
cat >"$scratch/tree/app/main.c" <<'EOF2'
#include "one.h"
#include "two.h"
#include "own.h"
int main(void) { volatile int x = 3; return one(&x) + two(&x) + own(&x); }
EOF2

# addresses FILE FUNCTION: each of its bytes
addresses() {
	nm -S "$1" | awk -v f="$2" '$4 == f { print "0x" $1, "0x" $2 }' |
		while read -r start size; do
			seq 0 $((size - 1)) | while read -r i; do
				printf '0x%x\n' $((start + i))
			done
		done
}

# files: the files in frames, each once, with . and .. as they are
files() { sed -n '/:[0-9]*:[0-9]*$/s/:.*//p' | grep -v '?' | sort -u; }

# llvm: the newest llvm-symbolizer; those before 19 repeat a relative directory themselves
llvm=$(ls /usr/bin/llvm-symbolizer-* 2>/dev/null | sort -t- -k3 -n | tail -n 1)
test "${llvm##*-}" -ge 19 2>/dev/null || llvm=
export llvm

# build COMPILER VERSION WHERE: tree/t, compiled with a relative directory, WHERE it is
build() {
	needs_command $1
	cp -r "$scratch/tree" .
	case $3 in
	below)	cd tree/app
		$1 -O1 -gdwarf-$2 -ffile-prefix-map=$PWD=./app -I../inc -I../lib main.c -o ../t
		cd .. ;;
	top)	cd tree
		$1 -O1 -gdwarf-$2 -ffile-prefix-map=$PWD=. -Iinc -I$PWD/lib app/main.c -o t ;;
	esac
	addresses t main >asked
	addr2frames t <asked >frames
	files <frames >files
}

for compiler in gcc clang; do
for version in 4 5; do
	export compiler version
	check "a directory of compilation that is relative is not repeated: $compiler, DWARF $version" \
	<<-'END'
		test $compiler = gcc || unsanitized
		for where in below top; do
			build $compiler $version $where
			xargs realpath -e <files
			xargs realpath -e <files | sort -u >real
			ls -1d $PWD/app/main.c $PWD/app/own.h $PWD/inc/one.h $PWD/lib/two.h |
				same - real
			test -z "$llvm" || {
				$llvm --obj=t <asked >llvm
				same llvm frames
			}
			cd ..
			rm -r tree
		done
	END
done
done

check "frames are llvm-symbolizer's where a directory of compilation is relative, version 19 on" \
<<'END'
	unsanitized
	test -n "$llvm" || skip "no llvm-symbolizer of version 19 or newer"
	build gcc 5 below
	grep -q '^\./app/main.c:' frames
	grep -q '^\./app/\.\./inc/one.h:' frames
END

check "files are eu-addr2line's where a directory of compilation is absolute" <<'END'
	unsanitized
	needs_command gcc eu-addr2line
	for version in 4 5; do
		rm -rf tree
		cp -r "$scratch/tree" .
		cd tree
		gcc -O1 -gdwarf-$version -Iinc -I$PWD/lib app/main.c -o t
		addresses t main >asked
		addr2frames t <asked | files >files
		eu-addr2line -i -e t $(cat asked) | sed -n 's/:.*//p' | grep -v '?' | sort -u |
			same - files
		test "$(wc -l <files)" = 4
		cd ..
	done
END

check "the C library's files are llvm-symbolizer's, from 19 on: Debian compiles it in ./malloc" \
<<'END'
	test -n "$llvm" || skip "no llvm-symbolizer of version 19 or newer"
	libc=$(ldd /bin/true | awk '/libc.so/ { print $3 }')
	id=$(file_build_id "$libc")
	debug=/usr/lib/debug/.build-id/$(echo "$id" | sed 's|^..|&/|').debug
	needs "$debug"
	nm -S "$debug" | awk '$3 == "T" && NR % 5 == 0 { print "0x" $1 }' | sort -u >asked
	at_least $(wc -l <asked) 200
	$llvm --obj="$debug" <asked | grep ':[0-9]*:[0-9]*$' >llvm
	addr2frames "$libc" "$debug" <asked | grep ':[0-9]*:[0-9]*$' >ours
	same llvm ours
END

# A program with inlined calls, which takes a tenth of a second of CPU time.
cat >"$scratch/calls.c" <<'END'
#include <time.h>
static inline __attribute__((always_inline)) void inlined_one(volatile long *n)
{
	for (int i = 0; i < 50000; i++)
		*n += i;
}
static inline __attribute__((always_inline)) void inlined_two(volatile long *n)
{
	for (int i = 0; i < 50000; i++)
		*n *= i;
}
__attribute__((noinline)) static void outer(void)
{
	volatile long n = 0;
	inlined_one(&n);
	inlined_two(&n);
}
int main(void)
{
	while (clock() < CLOCKS_PER_SEC / 10)
		outer();
}
END

# share FILE NAME: percent of the samples in folded stacks that have the function
share() {
	awk -v name="$2" '{ n = $NF; $NF = ""; all += n; if (index(";" $0, ";" name " ") ||
		index(";" $0, ";" name ";")) its += n } END { print all ? 100 * its / all : 0 }' "$1"
}

# folded OPTION...: "stacks" of s.data, and "err"
folded() {
	pmu-symbolize "$@" s.data 2>err >resolved
	pmu-topprof --to folded resolved >stacks
}

check 'a stripped program does not miss what its debug information would share' <<'END'
	needs_command gcc dwz
	gcc -O1 -g -gdwarf-4 "$scratch/calls.c" -o program
	cp program other
	dwz -m shared program other
	strip program
	readelf -SW program | grep -F .gnu_debugaltlink || skip "strip removes the link"
	rm shared
	pmu-sample -e cpu-clock:u -F 2000 -o s.data -- ./program
	folded
	cat err
	none grep "inlined calls" err
END

check "debug information that files share by .debug_sup (DWARF 5) is found, by its checksum" <<'END'
	needs_command gcc dwz
	gcc -O1 -g -gdwarf-5 "$scratch/calls.c" -o program
	cp program other
	mkdir bin
	dwz --dwarf-5 -m bin/shared -M shared program other || skip "dwz without --dwarf-5"
	readelf -SW program | grep -F .debug_sup
	mv program bin
	pmu-sample -e cpu-clock:u -F 2000 -o s.data -- bin/program
	folded
	at_least $(share stacks inlined_one) 10
	at_least $(share stacks inlined_two) 10
	none cat err
	none grep -F "?" stacks
	mv bin/shared right
	folded
	cat err
	grep -q "names of inlined calls in .*/bin/program. are missing: .shared., with the" err
	none grep -F "?" stacks
	at_least $(share stacks outer) 90
	at_most $(share stacks inlined_one) 0
	printf "\005\0\001\0\024aaaaaaaaaaaaaaaaaaaa" >sup
	objcopy --update-section .debug_sup=sup right bin/shared
	folded
	grep -q "are missing" err
	mv right bin/shared
	folded
	none cat err
END

check "a file without build ID that was changed since is used with a note, or refused" <<'END'
	needs_command gcc
	gcc -O1 -Wl,--build-id=none "$scratch/calls.c" -o small
	echo "asm(\".fill 1 << 20, 1, 0x90\");" | cat "$scratch/calls.c" - >large.c
	gcc -O1 -Wl,--build-id=none large.c -o large
	cp large program
	pmu-sample -e cpu-clock:u -F 2000 -o s.data -- ./program
	folded
	none cat err
	at_least $(share stacks outer) 90
	printf x >>program
	folded
	test "$(cat err)" = \
		"pmu-symbolize: '$PWD/program' was changed after the recording; its names may be wrong"
	at_least $(share stacks outer) 90
	pmu-symbolize --sysroot / s.data 2>err | pmu-topprof --to folded >stacks
	none cat err
	at_least $(share stacks outer) 90
	cat small >program
	folded
	test "$(cat err)" = \
		"pmu-symbolize: no names from '$PWD/program': it was changed after the recording"
	at_most $(share stacks outer) 0
	head -c 9000 large >program
	folded
	grep -q "it was changed after the recording" err
	cat large >program
	touch -d "1 hour ago" program
	folded
	none cat err
	at_least $(share stacks outer) 90
END

check "the same of a recording without a clock, by the time of its file" <<'END'
	unsanitized
	needs_command gcc perf
	gcc -O1 -Wl,--build-id=none "$scratch/calls.c" -o program
	perf_record -e cpu-clock:u -F 2000 -o s.data -- ./program
	folded
	none cat err
	printf x >>program
	touch -d "1 hour" program
	folded
	grep -q "was changed after the recording; its names may be wrong" err
	at_least $(share stacks outer) 90
END

check "files in perf's build ID cache are found there, and by --buildid-dir" <<'END'
	unsanitized
	needs_command gcc perf
	gcc -O1 -g -Wl,--build-id=sha1 "$scratch/calls.c" -o program
	gcc -O2 -g -Wl,--build-id=sha1 "$scratch/calls.c" -o changed
	pmu-sample -e cpu-clock:u -F 2000 -o s.data -- ./program
	export HOME=$PWD
	perf buildid-cache -a $PWD/program
	perf --buildid-dir $PWD/other buildid-cache -a $PWD/program
	rm program
	folded
	at_least $(share stacks inlined_one) 10
	mv .debug elsewhere
	folded
	at_most $(share stacks outer) 0
	folded --buildid-dir elsewhere
	at_least $(share stacks inlined_one) 10
	folded --buildid-dir other
	at_least $(share stacks inlined_one) 10
	for file in elsewhere/.build-id/*/*/elf; do
		cat changed >$file	# another build
	done
	folded --buildid-dir elsewhere
	at_most $(share stacks outer) 0
END

check "another kernel's symbols in perf's build ID cache are used" <<'END'
	id=0123456789abcdef0123456789abcdef01234567
	printf "%s T _text\\n%s T cached_kernel_function\\n%s T _etext\\n" \
		ffffffff81000000 ffffffff81000100 ffffffff81100000 >kallsyms
	mkdir -p kept/.build-id/01/${id#01}
	cp kallsyms kept/.build-id/01/${id#01}/kallsyms
	compose s.data <<-END2
		text, size = 0xffffffff81000000, 0x100000
		name = b"[kernel.kallsyms]"
		build_id = bytes.fromhex("$id")
		out = pipe(record(64, attr(1, 0, 1000, IP | TID | PERIOD), 0),
		           record(67, struct.pack("<i20sBBBB", -1, build_id, 20, 0, 0, 0) + pad(name),
		                  1 << 15 | 1),
		           record(1, struct.pack("<iIQQQ", -1, 0, text, size, text) +
		                  pad(name + b"_text"), 1),
		           record(9, struct.pack("<QIIQ", text + 0x200, 1, 1, 1000), 1))
	END2
	folded --buildid-dir kept
	grep -q "cached_kernel_function " stacks
END

done_testing
