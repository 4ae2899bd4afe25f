#!/bin/sh
# Rows of call frame information by cfi-rows, held against readelf --debug-dump=frames-interp:
# each row of each FDE, its range and its rules, must be equal.
#
# CFI=all: every library and program of this system, the large ones too, and C++ by each compiler
# with each option.
# kinds: release asan
. tests/lib.sh

# agree LEAST FILE [DEBUG]: the rows of FILE, at least LEAST of them, are equal
agree() {
	least=$1
	shift
	readelf --debug-dump=frames-interp "${2:-$1}" 2>/dev/null | "$TOP/tests/frame-rows" |
		sort -u >want
	at_least "$(wc -l <want)" "$least"
	cut -d " " -f 1 want | cfi-rows "$@" | sort -u >got
	same want got
}

# Sanitizers see what one library has in it; the larger ones are compared without them.
large() { ! sanitized || skip "the other kind compares it"; }

# Functions with saved registers, a variable frame, an aligned frame, and landing pads.
cat >"$scratch/t.cc" <<'END'
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
struct Guard { int *at; explicit Guard(int *a) : at(a) {} ~Guard() { ++*at; } };
__attribute__((noinline)) int fail(int x) { if (x > 2) throw std::runtime_error("x"); return x; }
__attribute__((noinline)) int aligned(int x)
{
	alignas(64) volatile char a[128];
	volatile char *b = static_cast<char *>(__builtin_alloca(x + 1));
	a[x] = 1; b[x] = 2;
	return fail(a[x] + b[x]);
}
std::map<std::string, std::vector<int>> all;
__attribute__((noinline)) int fill(int n)
{
	int seen = 0;
	Guard guard(&seen);
	for (int i = 0; i < n; i++)
		try { all[std::to_string(i)].push_back(aligned(i)); }
		catch (const std::exception &e) { all[e.what()].push_back(seen); }
	return seen + static_cast<int>(all.size());
}
int main(int argc, char **argv) { std::printf("%s %d\n", argv[0], fill(argc)); }
END

check 'the C library and the loader' <<'END'
	libc=$(ldd /bin/sh | awk '/libc\.so/ { print $3 }')
	loader=$(ldd /bin/sh | awk '/ld-linux/ { print $1 }')
	needs "$libc" "$loader"
	agree 1000 "$loader"
	sanitized || agree 10000 "$libc"
END

# What this needs of the C++ library is in the static program below, too.
test "$CFI" != all || check 'the C++ library' <<'END'
	large
	needs_command g++
	agree 10000 "$(g++ -print-file-name=libstdc++.so.6)"
END

# wanted COMPILER OPTION: sanitizers see all instructions in one program; to compare, each compiler
# and each option once
wanted() {
	test "$CFI" != all || return 0
	case $1 in
	'g++ -O2') ;;
	'g++ -O2 -mavx2 -flto' | 'clang++ -O0' | 'clang++ -O2 -fno'*) ! sanitized ;;
	*) return 1 ;;
	esac
}

# linked OPTION... -o FILE: the program, of an object that is compiled once
linked() {
	test -e "$scratch/t.o" || once cfi-cc.o g++ -O2 -c "$scratch/t.cc" -o "$scratch/t.o"
	g++ "$scratch/t.o" "$@"
}

for compiler in g++ clang++; do
	for option in -O2 -O0 '-O2 -fno-pie -no-pie -fno-omit-frame-pointer' '-O2 -mavx2 -flto'; do
		wanted "$compiler $option" || continue
		check "C++ by $compiler $option" <<-END
			needs_command $compiler
			if test "$compiler $option" = "g++ -O2"; then
				linked -o t
			else
				$compiler $option "$scratch/t.cc" -o t
			fi
			agree 60 t
		END
	done
done

check 'a static program, which has no .eh_frame_hdr' <<'END'
	linked -static -o t
	test "$(readelf -lW t | grep -c GNU_EH_FRAME)" = 0
	agree 5000 t
END

check 'a program linked with --no-eh-frame-hdr, and by other linkers' <<'END'
	linked -Wl,--no-eh-frame-hdr -o t
	agree 60 t
	for linker in lld gold; do
		command -v ld.$linker || continue
		linked -fuse-ld=$linker -o t.$linker
		agree 60 t.$linker
	done
END

check 'a program without section headers' <<'END'
	needs_command llvm-objcopy
	linked -o whole
	llvm-objcopy --strip-sections whole t
	readelf --debug-dump=frames-interp whole | "$TOP/tests/frame-rows" | sort -u >want
	cut -d " " -f 1 want | cfi-rows t | sort -u >got
	same want got
END

debug_frame='-O2 -g -fno-asynchronous-unwind-tables -fno-exceptions'
cat >"$scratch/t.c" <<'END'
int leaf(int x);
int twice(int x) { volatile char a[100]; a[x & 31] = 1; return 2 * leaf(x) + a[0]; }
int main(int argc, char **argv) { return twice(argc) + twice(argv != 0); }
int leaf(int x) { return x; }
END

# only_debug_frame FILE: the section has our own three functions
only_debug_frame() {
	readelf --debug-dump=frames "$1" 2>/dev/null | awk '/^Contents/ { name = $4 }
		$4 == "FDE" { n[name]++ } END { exit !(n[".debug_frame"] >= 3) }'
}

check '.debug_frame of each version, of 32 and 64 bits' <<'END'
	for version in 1 3 4; do
		gcc $debug_frame -Wa,--gdwarf-cie-version=$version "$scratch/t.c" -o t
		only_debug_frame t
		agree 6 t
	done
	needs_command clang
	clang $debug_frame -gdwarf64 "$scratch/t.c" -o t
	readelf --debug-dump=frames t | grep -q ffffffffffffffff
	only_debug_frame t
	agree 6 t
END

check '.debug_frame compressed, and in a separate debug file' <<'END'
	gcc $debug_frame "$scratch/t.c" -o t
	agree 6 t
	cp want rows
	for way in zlib zlib-gnu zstd; do
		objcopy --compress-debug-sections=$way t t.$way 2>/dev/null || continue
		cut -d " " -f 1 rows | cfi-rows t.$way | sort -u >got
		same rows got
	done
	objcopy --only-keep-debug t t.debug
	strip -g t -o stripped
	cut -d " " -f 1 rows | cfi-rows stripped | sort -u >got
	grep -q "no information" got
	cut -d " " -f 1 rows | cfi-rows stripped t.debug | sort -u >got
	same rows got
END

check 'instructions that compilers do not write' <<'END'
	cat >t.s <<-'ASM'
		.globl _start
	_start:	.cfi_startproc
		nop
		.cfi_escape 0x0a, 0x0f, 3, 0x77, 8, 0x06, 0x10, 3, 2, 0x77, 16, 0x16, 6, 2, 0x77, 0
		nop
		.cfi_escape 0x05, 12, 2, 0x06, 3, 0x07, 16, 0x08, 6, 0x09, 12, 13, 0x0a
		nop
		.cfi_escape 0x11, 3, 2, 0x12, 7, 0x7e, 0x14, 14, 2, 0x15, 15, 0x7f
		nop
		.cfi_escape 0x0b, 0x02, 1, 0x13, 0x7d, 0x03, 2, 0, 0x2e, 16, 0x04, 3, 0, 0, 0
		.cfi_escape 0x2f, 3, 1, 0x0d, 6, 0x40, 0x0e, 16, 0x00, 0x41, 0xd0, 0x83, 3, 0x0b
		.skip 300
		.cfi_endproc
		.cfi_startproc simple
		.cfi_undefined rip
		.cfi_def_cfa rbp, 200
		.skip 300
		.cfi_endproc
	ASM
	gcc -nostdlib -static t.s -o t
	agree 8 t
END

check 'a function of 20,000 rows, in any order' <<'END'
	cat >t.s <<-'ASM'
		.globl _start
	_start:	.cfi_startproc
		.set i, 0
		.rept 20000
		.set i, i + 1
		nop
		.cfi_remember_state
		.cfi_def_cfa_offset 8 + i % 1000 * 8
		.cfi_offset rbx, -16 - i % 7 * 8
		nop
		.cfi_restore_state
		.cfi_offset r12, -16 - i % 9 * 8
		.endr
		.cfi_endproc
	ASM
	gcc -nostdlib -static t.s -o t
	agree 40000 t
	shuf want | cut -d " " -f 1 | cfi-rows t | sort -u >got
	same want got
END

check 'Go' <<'END'
	needs_command go
	printf "package main\nimport \"fmt\"\nfunc main() { fmt.Println(1) }\n" >t.go
	go build -o t t.go
	readelf -SW t | grep "debug_frame"
	agree 5000 t
END

check 'arm64: the C library, signed return addresses, the other byte order' <<'END'
	cc=aarch64-linux-gnu-gcc
	needs_command $cc
	$cc $debug_frame -mbranch-protection=standard "$scratch/t.c" -shared -fPIC -nostdlib -o t
	agree 6 t
	$cc -O2 -mbig-endian "$scratch/t.c" -shared -fPIC -nostdlib -o t
	readelf -h t | grep "big endian"
	agree 6 t
	sanitized || agree 10000 "$($cc -print-file-name=libc.so.6)"
END

check 'the vdso' <<'END'
	python3 - <<-'PYTHON'
		for line in open('/proc/self/maps'):
		    if '[vdso]' in line:
		        start, end = (int(x, 16) for x in line.split()[0].split('-'))
		        memory = open('/proc/self/mem', 'rb')
		        memory.seek(start)
		        open('vdso', 'wb').write(memory.read(end - start))
	PYTHON
	needs vdso
	agree 10 vdso
END

test "$CFI" != all || check 'every library and program of this system' <<'END'
	large
	find /usr/lib /usr/bin /usr/aarch64-linux-gnu -type f \( -name "*.so*" -o -perm -111 \) |
		while read -r file; do
			readelf -h "$file" 2>/dev/null | grep -Eq "X86-64|AArch64" || continue
			agree 0 "$file" || echo "$file"
		done >differ
	none cat differ
END

done_testing
