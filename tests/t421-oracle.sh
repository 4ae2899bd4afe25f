#!/bin/sh
# 20 MB of C++ debug information, in every form it is kept in, held against llvm-symbolizer.
#
# The same 10,000 random addresses are asked for each form.  tests/same-frames
# explains differences and what is none; one in a thousand may differ.
#
# A variant is skipped where a tool cannot make it: dwz 0.15 knows no
# .debug_addr, which clang writes for DWARF 5.  GNU's dwp reads DWARF 4 only.
# llvm-dwp 14 may never end where an abbreviation before the root's has a
# DW_FORM_implicit_const: main, whose unit is small enough for that, has no
# debug information.
# kinds: release
. tests/lib.sh

least=$((20 * 1000 * 1000))
asan=
case $BIN in *asan*) asan="the tools are the same: sanitizers see one form of them" ;; esac

# build COMPILER OPTION...: "t"
build() {
	command -v "$1" || { echo "no $1"; exit 77; }
	units=5
	# clang leaves out types that other units should describe: they are many
	case $1 in clang*) units=6; set -- "$@" -fstandalone-debug ;; esac
	set -- "$@" -std=c++17 -O2
	seq $units | xargs -P 2 -I % "$@" -DUNIT=% -DPER_UNIT=2 -c templates.cc -o %.o
	"$1" -std=c++17 -O2 -DUNITS=$units -c templates.cc -o main.o
	"$@" main.o [0-9]*.o -o t
}

# debug_size FILE...: bytes of debug information
debug_size() { size -A "$@" | awk '/^\.z?debug_/ { sum += $2 } END { print sum }'; }

# has_20_mb FILE...
has_20_mb() {
	bytes=$(debug_size "$@")
	echo "$bytes bytes of debug information"
	test "$bytes" -ge $least
}

# made NAME: skip the check if an earlier one did not leave it
made() { test -e "$scratch/$1/t" || { echo "no $1"; exit 77; }; }

# whole: not under sanitizers
whole() { test -z "$asan" || { echo "$asan"; exit 77; }; }

cp tests/templates.cc "$scratch"
for version in 4 5; do
	for compiler in g++ clang++; do
		name=$compiler-$version
		export version compiler name
		test -z "$asan" || test $name = g++-5 || continue
		mkdir "$scratch/$name"

		check "$name" <<-'END'
			cp "$scratch/templates.cc" .
			build $compiler -gdwarf-$version
			has_20_mb t
			cp t "$scratch/$name"
			"$TOP/tests/same-frames" t
		END
		check "$name, compressed: zlib, the old way, zstd" <<-'END'
			whole
			made $name
			t="$scratch/$name/t"
			for way in zlib zlib-gnu zstd; do
				objcopy --compress-debug-sections=$way "$t" t.$way
				readelf -SW t.$way | grep -q "\.zdebug_info\|\.debug_info.* C " || {
					echo "objcopy does not know $way"
					continue
				}
				"$TOP/tests/same-frames" -o "$t" t.$way
			done
			test -e t.zlib
		END
		check "$name, by dwz: within one file, and shared by two" <<-'END'
			whole
			made $name
			t="$scratch/$name/t"
			command -v dwz || { echo "no dwz"; exit 77; }
			dwz "$t" -o t.dwz 2>why || {
				sed "s/.*: /dwz: /" why
				grep -q "Unknown debugging section .debug_addr" why && exit 77
				exit 1
			}
			"$TOP/tests/same-frames" -o "$t" t.dwz
			cp "$t" one
			cp "$t" other
			dwz -m shared one other
			test $(debug_size one) -lt $(($(debug_size "$t") / 2))
			"$TOP/tests/same-frames" -o "$t" one "" shared
		END
		check "$name, a separate debug file" <<-'END'
			made $name
			t="$scratch/$name/t"
			objcopy --only-keep-debug "$t" t.debug
			strip "$t" -o stripped
			"$TOP/tests/same-frames" -o "$t" stripped t.debug
		END
		check "$name, split: .dwo files, and packed by llvm-dwp and by dwp" <<-'END'
			whole
			cp "$scratch/templates.cc" .
			build $compiler -gdwarf-$version -gsplit-dwarf
			has_20_mb *.dwo
			"$TOP/tests/same-frames" t
			timeout 60 llvm-dwp -e t -o llvm.dwp
			dwp -e t -o gnu.dwp 2>why || rm -f gnu.dwp
			rm *.dwo
			test $version = 5 || test -e gnu.dwp || { cat why; exit 1; }
			for package in *.dwp; do
				cp $package t.dwp	# where llvm-symbolizer finds it
				"$TOP/tests/same-frames" t "" "" $package
				rm t.dwp
			done
		END
		rm -rf "${scratch:?}/$name"
	done
done

done_testing
