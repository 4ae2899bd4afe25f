#!/bin/sh
# pmu-unwind against gdb: a program is stepped by single instructions, and at each stop the
# callchain by pmu-unwind is that of gdb, word by word (tests/gdb-steps.py).
#
# STEPS=all: thousands of stops, in programs of many kinds; else a few hundred.
# kinds: release
. tests/lib.sh

test "$(uname -m)" = x86_64 || why="not yet on $(uname -m)"
gdb -q -nx -batch -ex 'python print(1)' >"$scratch/gdb" 2>&1 || why='no gdb with Python'

# steps STARTS PROGRAM ARGUMENT...: stop as STARTS says; all stacks are those of gdb.  $options
# are for steps.py, $where is for pmu-unwind.
steps() {
	STREAM=s.data TRUTH=truth STARTS="$1"
	shift
	export STREAM TRUTH STARTS
	needs "$1"
	gdb -q -nx -batch -x "$TOP/tests/gdb-steps.py" --args "$@" >log 2>&1 || {
		tail -n 5 log
		return 1
	}
	pmu-unwind -v --join=no $where -o u.data s.data
	pmu-stream --dump u.data >dump
	python3 "$TOP/tests/steps.py" $options dump truth
}

# build FLAG...: ./chains, by $CC
build() {
	test -z "$why" || skip "$why"
	needs_command "${CC:=gcc}"
	$CC -g -O2 -fomit-frame-pointer "$TOP/tests/chains.c" -o chains -lpthread "$@"
}

# throws COMPILER FLAG...: ./throws
throws() {
	test -z "$why" || skip "$why"
	needs_command "$1"
	"$@" "$TOP/tests/throws.cc" -o throws
}

# hidden PROGRAM: unwind by copies of the program and its libraries, below ./hidden, that have
# neither call frame information nor symbols
hidden() {
	for file in "$PWD/$1" $(ldd "$1" | grep -o "/[^ ]*"); do
		mkdir -p "hidden$(dirname "$file")"
		objcopy --strip-all -R .eh_frame -R .eh_frame_hdr "$(realpath "$file")" \
			"hidden$file"
		real=$(realpath "$file")
		test "$real" = "$file" || {
			mkdir -p "hidden$(dirname "$real")"
			cp "hidden$file" "hidden$real"
		}
	done
	where=--sysroot=hidden
}

check 'a sort: calls of the C library and back, and a name that is looked up' <<'END'
	build -Wl,-z,lazy
	steps "rec:10:15:1 rand:1:3:1 compare:3:40:3 compare:9:100:1" ./chains sort 100000 10
END

check 'a signal: the handler, its end and the interrupted function' <<'END'
	build
	steps "handler:1:20:1 ^inside:2:60:1" ./chains signal 100000 5
END

check 'a procedure linkage table, at its first call' <<'END'
	test -z "$why" || skip "$why"
	needs_command gcc
	gcc -shared -fPIC -O2 -DLIBRARY "$TOP/tests/chains.c" -o libtiny.so
	build -fcf-protection=full -DSTUB -Wl,-z,lazy,-z,ibtplt -L. -ltiny -Wl,-rpath,"$PWD"
	steps "loop:1:80:1 tiny:2:12:1" ./chains stub 100000
END

check 'an exception: thrown, passed on and caught' <<'END'
	throws g++ -O2
	steps "__cxa_throw:3:120:11" ./throws
END

check 'no call frame information, nor symbols: a sort' <<'END'
	build -Wl,-z,lazy
	hidden chains
	steps "rec:10:15:1 compare:3:40:3 compare:9:60:1" ./chains sort 100000 10
END

check 'no call frame information, nor symbols: aligned frames, frames of any size, pushes' <<'END'
	build
	hidden chains
	steps "of_any_size:2:30:1 aligned:1:40:1" ./chains frames 100000
	steps "pops:2:30:1" ./chains pops 100000
END

# The same by hand, as nasm's x86inc and perlasm write it.
cat >"$scratch/hand.s" <<'ASM'
	.text
	.globl main
	.type main, @function
main:	sub $8, %rsp
	call pushes
	lea frame(%rip), %rax
	call *%rax
	lea saved(%rip), %rax
	call *%rax
	xor %eax, %eax
	add $8, %rsp
	ret
	.p2align 4
pushes:	push %rbx
	push %r12
	sub $0x48, %rsp
	mov $3, %ebx
1:	call local
	dec %ebx
	jnz 1b
	add $0x48, %rsp
	pop %r12
	pop %rbx
	jmp tail
	.p2align 4
local:	mov 8(%rsp), %rax
	test %rax, %rax
	jz 2f
	lea -0x20(%rsp), %rsp
	mov %rax, (%rsp)
	lea 0x20(%rsp), %rsp
2:	ret
	.p2align 4
tail:	push %rbp
	push $1
	pop %rax
	pop %rbp
	ret
	.p2align 4
frame:	push %rbp
	mov %rsp, %rbp
	push %r13
	push %rbx
	and $-64, %rsp
	sub $0x80, %rsp
	call tail
	lea -16(%rbp), %rsp
	pop %rbx
	pop %r13
	leave
	ret
	.p2align 4
saved:	push %rbx
	mov %rsp, %rax
	sub $0x50, %rsp
	and $-32, %rsp
	mov %rax, 0x40(%rsp)
	xor %eax, %eax
	call tail
	mov 0x40(%rsp), %rsp
	pop %rbx
	ret
	.section .note.GNU-stack,"",@progbits
ASM

# The truth is by hand, too: gdb guesses here.  These are the functions and their callers.
chains='main|(pushes|tail|frame|saved) < main|local < pushes < main|tail < (frame|saved) < main'

check 'no call frame information: assembly, all callers at each instruction' <<'END'
	test -z "$why" || skip "$why"
	gcc -O2 "$scratch/hand.s" -o hand
	steps "main:1:70:1" ./hand >steps.said 2>&1 || true
	needs_command perf
	perf script -i u.data -F ip,sym 2>/dev/null |
		awk "BEGIN { RS = \"\" }
			{ s = \$2; for (i = 4; i <= NF; i += 2) s = s \" < \" \$i }
			{ sub(/ < (__libc_start|.?unknown).*/, \"\", s); print s }" |
		sort | uniq -c >chains.found
	none grep -Ev " ($chains)$" chains.found
	at_least "$(grep -c " < main$" chains.found)" 6
END

test "$STEPS" = all || { done_testing; exit; }

# Of each build of tests/chains.c: how it is built.
while IFS=: read -r compiler flags; do
	test -n "$compiler" || continue
	check "$compiler $flags" <<-END
		CC=$compiler build $flags
		steps "rec:2:100:1 compare:3:200:1 sort:2:200:7" ./chains sort 100000 10
		steps "handler:1:50:1 ^inside:2:150:1" ./chains signal 100000 5
		steps "of_any_size:2:50:1 aligned:1:60:1" ./chains frames 100000
		steps "*clock_gettime:3:100:1" ./chains clock 100000
		steps "pops:2:50:1" ./chains pops 100000
		steps "last:1:50:1 longjmp:1:40:1" ./chains jumps 100000
		steps "run_thread:1:30:1 rec:9:60:1" ./chains thread 100000 5
		options="--without swapcontext"
		steps "run_coroutine:1:100:1 swapcontext:6:60:1" ./chains context 100000
		options="--first 4"
		steps "inside:1:60:1" ./chains other 100000
	END
done <<'END'
gcc:-O0
gcc:-mavx2 -DPOPS
gcc:-O3 -flto
gcc:-fno-omit-frame-pointer
gcc:-static
gcc:-static-pie
gcc:-no-pie -Wl,--no-eh-frame-hdr
gcc:-fno-asynchronous-unwind-tables -fno-exceptions -fno-unwind-tables
gcc:-fno-asynchronous-unwind-tables -fno-exceptions -fno-unwind-tables -gz
gcc:-g0 -O0 -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-omit-frame-pointer
clang:-Wno-unknown-attributes
clang:-Wno-unknown-attributes -O0
clang:-Wno-unknown-attributes -fno-omit-frame-pointer -fno-asynchronous-unwind-tables
END

for way in '' ',-z,ibtplt' ',-z,now'; do
	check "a procedure linkage table${way:+ by -Wl$way}: 700 steps of the first call" <<-END
		test -z "\$why" || skip "\$why"
		gcc -shared -fPIC -O2 -DLIBRARY "$TOP/tests/chains.c" -o libtiny.so
		build -fcf-protection=full -DSTUB -Wl,-z,lazy$way -L. -ltiny -Wl,-rpath,"\$PWD"
		steps "loop:1:700:1 tiny:2:20:1" ./chains stub 100000
	END
done

for way in 'g++ -O0' 'g++ -O2' 'g++ -O2 -static' 'g++ -O3 -flto' 'clang++ -O2' 'clang++ -O0'; do
	check "exceptions, by $way" <<-END
		throws $way
		steps "__cxa_throw:3:700:5 sorts:2:300:7" ./throws
	END
done

# The distribution's programs, which were built by others.
check 'Python' <<'END'
	test -z "$why" || skip "$why"
	steps "PyObject_Call:9:300:7" /usr/bin/python3 -c "print(sorted(map(str, range(999))))"
END

check 'Perl' <<'END'
	test -z "$why" || skip "$why"
	steps "malloc:99:300:7" /usr/bin/perl -e "print sort { \$a <=> \$b } map { /(.*)/ } 1 .. 999"
END

check 'git' <<'END'
	test -z "$why" || skip "$why"
	steps "malloc:99:300:7" /usr/bin/git -C "$TOP" log --oneline -n 20
END

done_testing
