#!/bin/sh
# Callers that need care: return addresses that no call pushed, stacks with very many frames, code
# of 32-bit programs, and callchains that another unwinder wrote.
# kinds: release
. tests/lib.sh
. tests/budgets.sh

# share FILE PATTERN: percent of the weight of the stacks in FILE that match
share() { awk -v p="$2" '{ n += $NF } $0 ~ p { m += $NF } END { print int(100 * m / n) }' "$1"; }

# folded FILE: its stacks, in "stacks"
folded() {
	pmu-symbolize "$1" | pmu-topprof --to folded >stacks
	cat stacks
}

# names FILE: perf's names of its callchains, one chain a line, the leaf first
names() {
	perf script -i "$1" -F ip,sym --no-inline 2>/dev/null |
		awk 'BEGIN { RS = "" } { line = ""; for (i = 2; i <= NF; i += 2) line = line " " $i
			sub(/\.abi0/, "", line); gsub(/\.abi0/, "", line); print line }'
}

# start() pushes the address of after() and jumps: work() returns to the first byte of after().  The
# call in last() is the last instruction of that function, and next() follows without a gap.
cat >"$scratch/pushed.c" <<"C"
#include <stdlib.h>
void start(unsigned n);
void last(unsigned n);
static volatile unsigned sum;
__attribute__((noinline, used)) void work(unsigned n)
{
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));	/* it needs a frame */
	for (unsigned i = 0; i < n; i++)
		sum += i;
}
__attribute__((noinline, noreturn, used)) void final(unsigned n)
{
	work(n);
	exit(sum == 1);
}
#define FUNCTION(name) "\n.type " #name ", @function\n" #name ": .cfi_startproc\n"
#define ENTER "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\nmov %rsp, %rbp\n"
#define END(name) ".cfi_endproc\n.size " #name ", . - " #name "\n"
__asm__(".text" FUNCTION(start) ENTER
	"lea after(%rip), %rax\npush %rax\njmp work\nint3\n" END(start)
	FUNCTION(after) ".cfi_def_cfa_offset 16\n.cfi_offset 6, -16\npop %rbp\nret\n" END(after)
	FUNCTION(last) ENTER "call final\n" END(last)
	FUNCTION(next) ENTER "pop %rbp\nret\n" END(next));
int main(void)
{
	start(150000000);
	last(150000000);
}
C

check 'a pushed address at the first byte of a function is that function; after a call it is not' \
<<'END'
	test "$(uname -m)" = x86_64 || skip "the program is for x86-64"
	needs_command gcc
	gcc -O1 -fno-omit-frame-pointer "$scratch/pushed.c" -o pushed
	for way in "--call-graph dwarf" -g; do
		pmu-sample -q -e cpu-clock:u -F 500 $way -o s.data -- ./pushed
		pmu-unwind -v -o u.data s.data
		folded u.data
		at_least "$(share stacks ";main;after;work ")" 25
		at_least "$(share stacks ";main;last;final;work ")" 25
		none grep ";start;\|;next;" stacks
	done
END

# inner() moves its frame down to where the stack pointer of its caller is kept, below its return
# address.
check "a caller's stack pointer that is kept in the frame, and is not the frame's end" <<'END'
	test "$(uname -m)" = x86_64 || skip "the program is for x86-64"
	needs_command gcc
	cat >moved.c <<-"C"
		void outer(void);
		#define FUNCTION(name) "\n.type " #name ", @function\n" #name ": .cfi_startproc\n"
		#define END(name) "ret\n.cfi_endproc\n.size " #name ", . - " #name "\n"
		__asm__(".text" FUNCTION(inner)
			"mov (%rsp), %rcx\nlea 8(%rsp), %rdx\nsub $4096, %rsp\npush %rcx\npush %rdx\n"
			".cfi_def_cfa %rsp, 16\n.cfi_offset %rsp, -16\n"
			"mov $400000000, %eax\n1: dec %eax\njne 1b\n"
			"pop %rdx\nlea -8(%rdx), %rsp\n"
			".cfi_def_cfa %rsp, 8\n.cfi_same_value %rsp\n" END(inner)
			FUNCTION(outer) "sub $40, %rsp\n.cfi_adjust_cfa_offset 40\ncall inner\n"
			"add $40, %rsp\n.cfi_adjust_cfa_offset -40\n" END(outer));
		int main(void)
		{
			outer();
			return 0;
		}
	C
	gcc -O1 moved.c -o moved
	pmu-sample -q -e cpu-clock:u -F 500 --call-graph dwarf -o s.data -- ./moved
	pmu-unwind -o u.data s.data
	folded u.data
	at_least "$(share stacks ";main;outer;inner ")" 80
END

# perf names the address itself, not the byte before it.
check "a Go program that C has called back: its callers go on beyond Go's own stack" <<'END'
	test "$(uname -m)" = x86_64 || skip "other than on x86-64, the runtime pushes another address"
	needs_command go gcc perf
	cat >main.go <<"GO"
package main

/*
extern void goSpin(int);
static void inC(int n) { goSpin(n); __asm__ volatile("" ::: "memory"); }
*/
import "C"

var sum int

//export goSpin
func goSpin(n C.int) { work(int(n)) }

//go:noinline
func work(n int) {
	for i := 0; i < n; i++ {
		sum += i * i
	}
}

//go:noinline
func callC() { C.inC(3000000) }

func main() {
	for i := 0; i < 60; i++ {
		callC()
	}
}
GO
	GO111MODULE=off go build -o cgo main.go
	strip -o stripped cgo
	for program in cgo stripped; do
		pmu-sample -q -e cpu-clock:u -F 500 --call-graph dwarf,16384 -o s.data -- ./$program
		pmu-unwind -o u.data s.data
		folded u.data
		at_least "$(share stacks "main.main;main.callC;main._Cfunc_inC;runtime.cgocall;.*work ")" 80
		none grep "runtime.mcall;runtime.cgocallback" stacks
		test $program = stripped || names u.data >theirs
	done
	callers="runtime.systemstack_switch runtime.cgocall .*main.callC main.main"
	at_least "$(grep -c "work.* $callers" theirs)" 20
END

# chains FLAGS: s.data, of samples of a process with code at 0x1000..0x9000.  The third address of
# their callchains is in no code.
chains() {
	compose s.data <<-END
		chain = [-512, 0x2000, 0x3001, 0x9c00e763, 0x4001, 0x5001]
		out = pipe(record(64, attr(1, 0, 1000, IP | TID | TIME | CHAIN, $1) + bytes(8)),
		    record(3, struct.pack("<II", 7, 7) + pad(b"prog"), 0),
		    record(1, mmap(7, 0x1000, 0x8000, b"/prog", 0)),
		    *[record(9, struct.pack("<QIIQQ", 0x2000, 7, 7, i, 6) +
		        struct.pack("<6Q", *[word % 2 ** 64 for word in chain])) for i in (1, 2)])
	END
}

check 'a callchain of an unwinder goes on after an address without code, one of the kernel ends' \
<<'END'
	exclude_callchain_user="1 << 22"
	chains "$exclude_callchain_user"
	for stage in "cat" "pmu-unwind"; do
		$stage <s.data | pmu-topprof --to folded >stacks
		cat stacks
		test "$(cat stacks)" = "prog;[prog];[prog];[unknown];[prog];[prog] 2000"
	done
	chains 0
	pmu-topprof --to folded s.data >stacks
	test "$(cat stacks)" = "prog;[prog];[prog] 2000"
END

check 'a stack of return addresses, each to be judged by much code, has a limit' <<'END'
	test "$(uname -m)" = x86_64 || skip "the code is for x86-64"
	needs_command gcc
	cat >slow.s <<"S"
	.globl main
main:	push %rbx
	push %rbp
	sub $60000, %rsp
	lea sites+5(%rip), %rax
	mov %rsp, %rdi
	mov $7400, %ecx
1:	mov %rax, (%rdi)
	add $8, %rdi
	add $5, %rax
	dec %ecx
	jnz 1b
	lea 59904(%rsp), %rbp
	and $-16, %rbp
	movq $0, (%rbp)
	lea 2f(%rip), %rax
	mov %rax, 8(%rbp)
	lea leaf(%rip), %rax
	call *%rax
2:	add $60000, %rsp
	pop %rbp
	pop %rbx
	xor %eax, %eax
	ret
sites:	.rept 7500
	call long
	.endr
	.balign 16
long:	.rept 4000
	nop
	.endr
	ret
	# It never returns by a ret, and its frame pointer may be its own.
leaf:	pop %rdx
	mov $400000000, %rcx
1:	dec %rcx
	jnz 1b
	jmp *%rdx
	.section .note.GNU-stack, "", @progbits
S
	gcc -no-pie -s -o slow slow.s
	pmu-sample -q -e cpu-clock:u -F 99 --call-graph dwarf,65528 -o s.data -- ./slow
	within 4 400 pmu-unwind -v -o u.data s.data
	cat said
	grep "limit of work" said
END

# limited MAX: the stacks of "full", as they must be with --max-stack MAX
limited() {
	awk -v most="$1" '{
		value = $NF
		sub(/ [0-9]+$/, "")
		n = split($0, f, ";")
		line = f[1]
		i = 2
		if (f[2] ~ /^\[cut/)
			line = line ";" f[i++]
		if (n - i + 1 <= most + 64) {
			for (; i <= n; i++)
				line = line ";" f[i]
		} else {
			for (k = 0; k < 64; k++)
				line = line ";" f[i++]
			line = line ";[frames left out]"
			for (i = n - most + 1; i <= n; i++)
				line = line ";" f[i]
		}
		sum[line] += value
	} END { for (line in sum) print line, sum[line] }' full | sort
}

# unwound OPTION...: the stacks of s.data
unwound() {
	pmu-unwind -v "$@" -o u.data s.data 2>said
	pmu-symbolize --inlines no u.data | pmu-topprof --frames cut --to folded | sort
}

# ./deep FRAMES MS: a recursion, and below it a function that does not fit into 16 KiB with it
cat >"$scratch/deep.c" <<"C"
#include <stdlib.h>
#include <string.h>
#include <time.h>
static volatile unsigned sum;
static char *volatile where;
__attribute__((noinline)) void burn(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i;
}
__attribute__((noinline)) void big(unsigned n)
{
	char room[12000];
	where = room;
	memset(where, 1, sizeof(room));
	burn(n);
	sum += (unsigned char)where[n % 12000];
}
__attribute__((noinline)) void work(clock_t end)
{
	while (clock() < end) {
		burn(100000);
		big(100000);
	}
	sum++;
}
__attribute__((noinline)) void recurse(unsigned depth, clock_t end)
{
	char *own[8];
	for (int i = 0; i < 8; i++)
		own[i] = (char *)own + depth;
	where = (char *)own;
	if (depth)
		recurse(depth - 1, end);
	else
		work(end);
	sum++;
}
int main(int argc, char **argv)
{
	recurse((unsigned)atoi(argv[1]), CLOCKS_PER_SEC / 1000 * atoi(argv[2]));
	return argc == 9;
}
C

check 'a stack of more than --max-stack frames keeps that many, and 64 at its other end' <<'END'
	needs_command gcc
	gcc -O2 -g0 -fomit-frame-pointer "$scratch/deep.c" -o deep
	for how in "32768 yes" "16384 yes" "16384 no"; do
		pmu-sample -q -e cpu-clock:u -F 997 --call-graph dwarf,${how% *} -o s.data -- \
			./deep 119 150 >/dev/null
		unwound --join=${how#* } --max-stack 8000 >full
		cp said said.full
		# the most frequent number of frames
		frames=$(awk '{ n[gsub(/;/, ";") - /\[cut/] += $NF } END { for (i in n) print n[i], i }' \
			full | sort -n | tail -n 1 | cut -d " " -f 2)
		test "$how" = "16384 no" || at_least "$frames" 120
		for most in 1 $((frames - 66)) $((frames - 65)) $((frames - 64)) $((frames - 63)) \
			$frames; do
			test "$most" -ge 1 || continue
			unwound --join=${how#* } --max-stack $most >names
			limited $most >expected
			cmp expected names
		done
		test "$how" != "16384 yes" || grep joined said.full
		test "$frames" -ge 120 || continue
		unwound --join=${how#* } --max-stack $((frames - 65)) >names
		grep "left out" names
		grep "% with frames left out" said
		pmu-stream --check u.data
	done
	pmu-unwind --max-stack 4 s.data | pmu-unwind | pmu-topprof --to folded | grep "left out"
END

check 'frames that are left out are one unknown frame for perf' <<'END'
	needs_command gcc perf
	gcc -O2 -g0 "$TOP/tests/chains.c" -lpthread -o chains
	pmu-sample -q -e cpu-clock:u -F 997 --call-graph dwarf,32768 -o s.data -- \
		./chains rec 100 150 >/dev/null
	pmu-unwind --max-stack 20 -o u.data s.data
	perf script -i u.data --max-stack 1000 -F ip,sym 2>/dev/null |
		awk 'BEGIN { RS = "" } $41 == "0" && $42 == "[unknown]" && NF == 2 * 85 && / _start/ { n++ }
			END { print n + 0, NR }' >counts
	read -r right all <counts
	at_least "$all" 20
	at_least "$right" $((all * 9 / 10))
END

# An x86-64 kernel runs this program of i386, which needs no libraries: recursion, a tail call, and
# a function without a frame pointer, which the one with the frame pointer calls.
cat >"$scratch/b32.c" <<"C"
static volatile unsigned sum;
static long call(long number, long a, void *b)
{
	__asm__ volatile("int $0x80" : "+a"(number) : "b"(a), "c"(b) : "memory");
	return number;
}
__attribute__((noinline)) void hot(int n)
{
	for (int i = 0; i < n; i++)
		sum += i * i;
}
__attribute__((noinline)) void recurse(int depth)
{
	if (depth)
		recurse(depth - 1);
	else
		hot(100000);
	sum++;
}
__attribute__((noinline)) void tail(int n)
{
	sum++;
	hot(n);
}
__attribute__((noinline)) void by_tail(int n)
{
	sum++;
	tail(n);
	sum++;
}
void frameless(int n);
__asm__(".type frameless, @function\nframeless: movl 4(%esp), %ecx\n1: imull %ecx, %eax\n"
	"incl sum\ndecl %ecx\njnz 1b\nret\n.size frameless, . - frameless\n");
__attribute__((noinline)) void middle(int n)
{
	frameless(n);
	sum++;
}
__attribute__((noinline, used)) void run(void)
{
	enum { EXIT = 1, CLOCK_GETTIME = 265, PROCESS_CPU_TIME = 2 };
	long used[2];
	do {
		recurse(10);
		by_tail(100000);
		middle(100000);
		call(CLOCK_GETTIME, PROCESS_CPU_TIME, used);
	} while (used[0] == 0 && used[1] < 400000000);
	call(EXIT, 0, 0);
}
__asm__(".globl _start\n_start: xorl %ebp, %ebp\nandl $-16, %esp\ncall run\nhlt");
C

check 'callers in 32-bit programs by frame pointers, with a note; none that did not call' <<'END'
	test "$(uname -m)" = x86_64 || skip "the program is for x86"
	needs_command gcc
	for option in -fno-omit-frame-pointer -fomit-frame-pointer; do
		gcc -m32 -O2 $option -fno-pic -no-pie -nostdlib -static -ffreestanding \
			-fno-stack-protector "$scratch/b32.c" -o b32 && ./b32 ||
			skip "no 32-bit programs here"
		pmu-sample --unwind -e cpu-clock:u -F 997 -o s.data -- sh -c ./b32 2>err
		cat err
		test "$(grep -c "stacks are of 32-bit programs: their callers are found by frame" err)" = 1
		pmu-symbolize s.data | pmu-topprof --to folded | grep "^b32" >stacks
		cat stacks
		none grep ";run;frameless\|;by_tail;recurse\|;run;hot" stacks
		pmu-sample -q --call-graph dwarf -e cpu-clock:u -F 997 -o d.data -- ./b32
		pmu-unwind -o u.data d.data 2>err
		grep "stacks are of 32-bit programs" err
		pmu-symbolize u.data | pmu-topprof --to folded >later
		cat later
		pmu-unwind --frame-pointers no -o u.data d.data 2>err
		grep "stacks of 32-bit programs are not unwound: -g" err
		test $option = -fno-omit-frame-pointer || continue
		recs=$(printf "%11s" "" | sed "s/ /recurse;/g")
		for file in stacks later; do
			cp $file names
			at_least "$(share names "_start;run;${recs}hot ")" 20
			at_least "$(share names "_start;run;middle;frameless ")" 20
			at_least "$(share names "_start;run")" 95
		done
	done
END

done_testing
