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

# Assemblers and compilers write indexes of one to four bytes, of as many as are needed: so those of
# three bytes are rare.  INDEX N VALUE: VALUE in N bytes
cat >"$scratch/indexes.py" <<'END'
index = {1: 1, 2: 0x0102, 3: 0x010203, 4: 0x010204}
def place(n):
    return ".byte " + ", ".join(str(index[n] >> 8 * i & 255) for i in range(n))
def table(name, size, entry):
    lines, at = [name], 0
    for n in index:
        lines += [".fill %d, %d, 0" % (index[n] - at, size), entry % n]
        at = index[n] + 1
    return lines
lines = [".text"]
for n in index:
    lines += ["f%d: .fill 16, 1, 0x90" % n]
lines += [".section .debug_str, \"MS\", @progbits, 1", ".asciz \"\""]
lines += ["s%d: .asciz \"by_%d_bytes\"" % (n, n) for n in index]
lines += [".section .debug_str_offsets, \"\", @progbits", ".long 9f - 0f", "0: .short 5, 0"]
lines += table("strings:", 4, ".long s%d") + ["9:"]
lines += [".section .debug_addr, \"\", @progbits", ".long 9f - 0f", "0: .short 5", ".byte 8, 0"]
lines += table("addresses:", 8, ".quad f%d") + ["9:"]
# Tag, children; attribute, form: name, producer, low_pc, high_pc, description, entry_pc,
# str_offsets_base, addr_base; sec_offset, data4.  Those that nobody asks for come first.
lines += [".section .debug_abbrev, \"\", @progbits",
          ".byte 1, 0x11, 1,  0x25, 0x27,  0x72, 0x17,  0x73, 0x17,  0x3, 0x27,  0, 0"]
for n in index:
    strx, addrx = 0x24 + n, 0x28 + n
    lines += [".byte %d, 0x2e, 0" % (n + 1), ".uleb128 0x5a, %d, 0x52, %d" % (strx, addrx),
              ".uleb128 0x11, %d, 0x12, 6, 0x3, %d, 0, 0" % (addrx, strx)]
lines += [".byte 0", ".section .debug_info, \"\", @progbits", ".long 9f - 0f",
          "0: .short 5", ".byte 1, 8", ".long 0", ".byte 1", place(3),
          ".long strings", ".long addresses", place(3)]
for n in index:
    lines += [".byte %d" % (n + 1), place(n), place(n), place(n), ".long 16", place(n)]
lines += [".byte 0", "9:"]
print("\n".join(lines))
END

check 'strings and addresses by indexes of one, two, three and four bytes, read and skipped' <<'END'
	python3 "$scratch/indexes.py" >t.s
	gcc -nostdlib -shared t.s -o t.so
	for n in 1 2 3 4; do
		printf 'by_%d_bytes\n??:0:0\n\n' $n >>want
	done
	nm t.so | sed -n 's/ t f[1-4]$//p' >addresses
	objcopy -N f1 -N f2 -N f3 -N f4 t.so
	addr2frames t.so <addresses >got
	same want got
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
