#!/bin/sh
# Split DWARF (.dwo and .dwp files) by addr2frames, held against llvm-symbolizer.
#
# ORACLE=all: as in t420.
# kinds: release asan
. tests/lib.sh
. tests/dwarf-forms.sh

# packs: llvm-dwp makes t.dwp, of units of one version only
packs() { (ulimit -t 60 && llvm-dwp -e t -o t.dwp); }

# built OPTION...: "t" and "t.dwo" by $compiler, here, where t says that t.dwo is
built() {
	$compiler $cxx "$@" -gsplit-dwarf -c "$scratch/t.cc"
	$compiler t.o -o t
}

for version in 4 5; do
	for compiler in g++ clang++; do
		wanted split-$compiler-$version &&
		check "split DWARF $version by $compiler, and packed into one, by llvm-dwp and by dwp" <<-'END'
			needs_command $compiler
			built -gdwarf-$version
			agree t
			# GNU's dwp reads DWARF 4 only
			test $version = 5 || dwp -e t -o gnu.dwp
			packs || exit 0
			rm t.dwo
			for package in *.dwp; do
				agree t "" "" $package
			done
		END
	done
done

wanted types &&
check 'split DWARF 5, each type in a section of its own; those compressed; packed into one' <<'END'
	compiler=g++
	needs_command $compiler
	built -gdwarf-5 -fdebug-types-section
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
