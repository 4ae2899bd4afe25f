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

done_testing
