#!/bin/sh
# Functions, inlined calls, files and lines by addr2frames, held against llvm-symbolizer.
#
# ORACLE=all: every compiler, version and form, a larger program, more addresses.
# Sanitizers see what the forms have in them; what is in it is compared once, without them.
# kinds: release asan
. tests/lib.sh
. tests/dwarf-forms.sh

for version in 4 5; do
	for compiler in g++ clang++; do
		wanted $compiler-$version && check "C++ by $compiler, DWARF $version" <<-'END'
			needs_command $compiler
			once shapes-$compiler-$version $compiler $cxx -gdwarf-$version "$scratch/t.cc" -o t
			agree t
			test $compiler-$version != g++-5 || cp t "$scratch/plain"
		END
	done
done

for compiler in gcc clang; do
	wanted $compiler && check "C by $compiler: our own library" <<-'END'
		needs_command $compiler
		set -- "$TOP"/lib/dwarf/[fil]*.c
		test $kind != all || set -- "$TOP"/lib/base/*.c "$TOP"/lib/[dels]*/*.c
		$compiler -std=gnu11 -O2 -g -shared -fPIC -I"$TOP" -I"$TOP/lib" \
			-include base/banned.h -DPMU_VERSION='"0"' "$@" -o t.so
		agree t.so
	END
done

wanted lto && check 'units merged by LTO' <<'END'
	needs_command g++
	g++ $cxx -g -flto -c "$scratch/t.cc" -o a.o
	echo "int twice(int x); int twice(int x) { return 2 * x; }" >b.cc
	g++ -O2 -g -flto -c b.cc
	g++ -O2 -g -flto a.o b.o -o t
	agree t
END

# same_frames OBJECT [OPERAND...]: as the program itself has them, which was compared above
same_frames() {
	addr2frames "$@" <addresses >got
	same want got
}

# plain: the program as g++ builds it, its frames at its functions in "want"
plain() {
	needs "$scratch/plain"
	cp "$scratch/plain" t
	"$TOP/tests/same-frames" -a -n 1000 t >addresses
	addr2frames t <addresses >want
	test "$(grep -c "t\.cc:" want)" -gt 100
}

check 'sections compressed: zlib, zstd, and the old way' <<'END'
	plain
	for way in zlib zlib-gnu zstd; do
		objcopy --compress-debug-sections=$way t t.$way 2>why || continue
		! cmp -s t t.$way || continue
		same_frames t.$way
	done
	readelf -SW t.zlib | grep "\.debug_info.* C "
	readelf -SW t.zlib-gnu | grep "\.zdebug_info"
END

check 'a separate debug file, and what dwz shares between two of them' <<'END'
	needs_command dwz
	plain
	objcopy --only-keep-debug t t.debug
	strip -g t -o stripped
	same_frames stripped t.debug
	cp t.debug other.debug
	dwz -m shared.debug t.debug other.debug
	same_frames stripped t.debug shared.debug
	dwz t -o t.dwz
	same_frames t.dwz
END

# Debian's own, whichever else is in front of it: its names are mangled like those of C++
rustc=$(PATH=/usr/bin:$PATH command -v rustc)
rust_whole=${whole:+--cfg whole}
needs_rust() {
	test -n "$rustc" || skip "no rustc"
	cp "$TOP/tests/shapes.rs" .
}

wanted rust && check 'Rust' <<'END'
	needs_rust
	$rustc --edition 2021 -O -g $rust_whole -o t shapes.rs
	agree t
END

wanted rust-v0 && check 'Rust, its names mangled in its own way' <<'END'
	needs_rust
	$rustc --edition 2021 -g -C opt-level=1 -C lto=off -C symbol-mangling-version=v0 \
		$rust_whole -o t shapes.rs
	nm t | grep -q " _RNv.*6shapes"
	agree t
END

wanted rust-units && check 'Rust in eight units, hardly optimized, with other panics' <<'END'
	needs_rust
	$rustc --edition 2021 -g -C opt-level=1 -C codegen-units=8 -C panic=abort \
		$rust_whole -o t shapes.rs
	agree t
END

done_testing
