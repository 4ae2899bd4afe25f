#!/bin/sh
# Split DWARF (.dwo and .dwp files) by addr2frames, held against llvm-symbolizer.
#
# ORACLE=all: as in t420.
# kinds: release asan
. tests/lib.sh
. tests/dwarf-forms.sh

# packs: llvm-dwp makes t.dwp, of units of one version only
packs() { (ulimit -t 60 && llvm-dwp -e t -o t.dwp); }

for version in 4 5; do
	for compiler in g++ clang++; do
		wanted split-$compiler-$version &&
		check "split DWARF $version by $compiler, and packed into one" <<-'END'
			needs_command $compiler
			$compiler $cxx -gdwarf-$version -gsplit-dwarf -c "$scratch/t.cc"
			$compiler t.o -o t
			test -e t.dwo
			agree t
			packs || exit 0
			rm t.dwo
			agree t "" "" t.dwp
		END
	done
done

wanted types &&
check 'split DWARF 5, each type in a section of its own; those compressed; packed into one' <<'END'
	needs_command g++
	g++ $cxx -gdwarf-5 -gsplit-dwarf -fdebug-types-section -c "$scratch/t.cc"
	g++ t.o -o t
	test "$(readelf -SW t.dwo | grep -c " \.debug_info\.dwo ")" -gt 100
	agree t
	cp t.dwo whole.dwo
	objcopy --compress-debug-sections=zlib t.dwo
	test "$(readelf -SW t.dwo | grep -c " \.debug_info\.dwo .* CE* ")" -gt 10
	agree t
	mv whole.dwo t.dwo
	packs
	rm t.dwo
	agree t "" "" t.dwp
END

done_testing
