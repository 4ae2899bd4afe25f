#!/bin/sh
# Symbols by addr2frames, held against nm and objdump.
# kinds: release asan
. tests/lib.sh

cat >"$scratch/t.c" <<'EOF'
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int used(int x) { return x * 3; }
int alias(int x) __attribute__((alias("used")));
static int hidden(int x) { return x + 1; }
static int (*choose(void))(int) { return hidden; }
int chosen(int x) __attribute__((ifunc("choose")));
__asm__(".text\n.globl unsized\n.type unsized, @function\nunsized: nop\nnop\nnop\nret\n"
	".globl after\n.type after, @function\nafter: nop\ninside: nop\nret\n"
	".size after, . - after\n");

int main(int argc, char **argv)
{
	puts(argv[0]);
	return used(argc) + chosen(argc) + (int)strlen(argv[0]) + getpid() + alias(1);
}
EOF

# name_at FILE SYMBOL OFFSET: what is OFFSET bytes after SYMBOL
name_at() {
	start=$(nm "${4:-$1}" | sed -n "s/^\([0-9a-f]*\) [A-Za-z] $2\$/\1/p")
	printf '%x\n' $((0x$start + $3)) | addr2frames "$1" | head -n 1
}

check 'functions: sized, unsized, with a label inside, of two names' <<'END'
	gcc -O1 -fno-inline "$scratch/t.c" -o t
	test "$(name_at t main 4)" = main
	test "$(name_at t hidden 0)" = hidden
	test "$(name_at t unsized 2)" = unsized
	test "$(name_at t after 2)" = after
	test "$(name_at t used 0)" = alias
END

check 'every function that nm knows, at its first byte' <<'END'
	gcc -O1 "$scratch/t.c" -o t
	nm t | sed -n "/ inside/d; s/ [Tti] / /p" | sort >symbols
	test "$(wc -l <symbols)" -gt 8
	cut -d" " -f1 symbols | addr2frames t | sed -n "1~3p" >got
	# where there are several, one of them
	paste -d" " symbols got | awk '{ names[$1] = names[$1] " " $2 " "; got[$1] = $3 }
		END {
			for (a in got)
				if (!index(names[a], " " got[a] " ")) { print a, got[a]; bad = 1 }
			exit bad
		}'
END

check 'entries of the procedure linkage table' <<'END'
	for flags in "" "-fcf-protection=full -Wl,-z,ibtplt" "-Wl,-z,now"; do
		gcc -O1 $flags "$scratch/t.c" -o t
		objdump -d -j .plt -j .plt.sec -j .plt.got t 2>/dev/null |
			sed -n "s/^\([0-9a-f]*\) <\(.*@plt\)>:/\1 \2/p" | grep -v ABS >want
		test -s want
		cut -d" " -f1 want | addr2frames t | sed -n "1~3p" >got
		cut -d" " -f2 want >names
		same names got
	done
END

check 'two segments of code that share a page of the file, as perf has them' <<'END'
	cat >t.c <<-END
	#define IN(name) __attribute__((noinline, section(name)))
	#define TURNS for (long i = 0; i < 100000000; i++) __asm__ volatile("" : "+r"(x))
	IN(".text.one") long one(long x) { TURNS; return x; }
	IN(".text.two") long two(long x) { TURNS; return x; }
	IN(".text.one") void _start(void)
	{
		long x = 60;
		one(two(1));
	#ifdef __x86_64__
		__asm__ volatile("syscall" : : "a"(x), "D"(0L));
	#else
		register long number __asm__("x8") = 93, status __asm__("x0") = 0;
		__asm__ volatile("svc 0" : : "r"(number), "r"(status));
	#endif
		(void)x;
	}
	END
	cat >t.ld <<-END
	ENTRY(_start)
	PHDRS { one PT_LOAD FLAGS(5); two PT_LOAD FLAGS(5); }
	SECTIONS {
		. = 0x400000 + SIZEOF_HEADERS;
		.t1 : { *(.text.one) } :one
		. = . + 0x200000;
		.t2 : { *(.text.two) } :two
		.eh_frame : { *(.eh_frame) } :two
	}
	END
	gcc -O1 -static -nostdlib -no-pie -Wl,-T,t.ld -Wl,--build-id=none t.c -o t
	pmu-sample -e cpu-clock -F 1000 -o s.data -- ./t
	pmu-symbolize s.data | pmu-topprof --to folded >folded
	cat folded
	grep -q "t;one " folded
	grep -q "t;two " folded
	none grep "\[t\]" folded
END

check 'MiniDebugInfo: a stripped program with a packed symbol table' <<'END'
	gcc -O1 -fno-inline "$scratch/t.c" -o t
	strip t -o stripped
	objcopy -S --keep-symbol=hidden t mini
	objcopy --only-keep-debug mini mini.debug
	xz mini.debug
	objcopy --add-section .gnu_debugdata=mini.debug.xz stripped with
	test "$(name_at stripped hidden 1 t)" = "??"
	test "$(name_at with hidden 1 t)" = hidden
END

done_testing
