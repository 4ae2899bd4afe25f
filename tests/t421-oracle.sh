#!/bin/sh
# Debug information of many templates, in every form it is kept in, held against llvm-symbolizer.
#
# The same random addresses are asked for each form.  tests/same-frames explains which
# differences count; one in a thousand may differ.
#
# ORACLE=all: 20 MB of it, by each compiler, in each version, asked for 10,000
# addresses, and split as well.  Otherwise a tenth of that, by g++, each form once that t422 does
# not have.
#
# A variant is skipped where a tool cannot make it: dwz 0.15 knows no
# .debug_addr, which clang writes for DWARF 5.  GNU's dwp reads DWARF 4 only.
# llvm-dwp 14 may never end where an abbreviation before the root's has a
# DW_FORM_implicit_const: main, whose unit is small enough for that, has no
# debug information.
# kinds: release
. tests/lib.sh

if test -n "$ORACLE"; then
	least=20000000 count=10000 units=5 each=2
	whole='g++-4 clang++-4 g++-5 clang++-5' split=$whole
else
	least=1000000 count=2000 units=1 each=1
	whole=g++-5 split=
fi

# build OPTION...: "t", by $compiler, of DWARF $version
build() {
	needs_command $compiler
	cp "$scratch/templates.cc" .
	set -- $compiler -gdwarf-$version "$@" -std=c++17 -O2
	# clang leaves out types that other units should describe: they are many
	case $compiler in clang*) units=6; set -- "$@" -fstandalone-debug ;; esac
	seq $units | xargs -P 2 -I % "$@" -DUNIT=% -DPER_UNIT=$each -c templates.cc -o %.o
	$compiler -std=c++17 -O2 -DUNITS=$units -c templates.cc -o main.o
	"$@" main.o [0-9]*.o -o t
}

# debug_size FILE...: bytes of debug information
debug_size() { size -A "$@" | awk '/^\.z?debug_/ { sum += $2 } END { print sum }'; }

# made: "t" is what an earlier check built
made() {
	needs "$scratch/$form/t"
	t=$scratch/$form/t
}

# agree OPTION... OBJECT...: with llvm-symbolizer
agree() { "$TOP/tests/same-frames" -n $count "$@"; }

cp tests/templates.cc "$scratch"
for form in $whole; do
	compiler=${form%-*} version=${form#*-}
	mkdir "$scratch/$form"

	check "$form" <<-'END'
		build
		at_least "$(debug_size t)" $least
		cp t "$scratch/$form"
		agree -o "$scratch/$form/t" t
	END
	check "$form, compressed: zlib, the old way, zstd" <<-'END'
		made
		for way in zlib zlib-gnu zstd; do
			objcopy --compress-debug-sections=$way "$t" t.$way
			readelf -SW t.$way | grep -q "\.zdebug_info\|\.debug_info.* C " || {
				echo "objcopy does not know $way"
				continue
			}
			agree -o "$t" t.$way
		done
		test -e t.zlib
	END
	check "$form, by dwz: within one file, and shared by two" <<-'END'
		made
		needs_command dwz
		dwz "$t" -o t.dwz 2>why || {
			sed "s/.*: /dwz: /" why
			grep -q "Unknown debugging section .debug_addr" why && exit 77
			exit 1
		}
		agree -o "$t" t.dwz
		cp "$t" one
		cp "$t" other
		dwz -m shared one other
		test $(debug_size one) -lt $(($(debug_size "$t") / 2))
		agree -o "$t" one "" shared
	END
	check "$form, a separate debug file" <<-'END'
		made
		objcopy --only-keep-debug "$t" t.debug
		strip "$t" -o stripped
		agree -o "$t" stripped t.debug
	END
	rm -rf "${scratch:?}/$form"
done

for form in $split; do
	compiler=${form%-*} version=${form#*-}

	check "$form, split: .dwo files, and packed by llvm-dwp and by dwp" <<-'END'
		build -gsplit-dwarf
		at_least "$(debug_size *.dwo)" $least
		agree -o t t
		(ulimit -t 60 && llvm-dwp -e t -o llvm.dwp)
		dwp -e t -o gnu.dwp 2>why || rm -f gnu.dwp
		rm *.dwo
		test $version = 5 || test -e gnu.dwp || { cat why; exit 1; }
		for package in *.dwp; do
			agree -o t t "" "" $package
		done
	END
done

done_testing
