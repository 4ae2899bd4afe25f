#!/bin/sh
# pmu-unwind in code without call frame information: a caller is shown only if it called.
# kinds: release asan
. tests/lib.sh

chains() { python3 "$TOP/tests/chains.py" "$@"; }

# recorded PROGRAM ARGUMENT...: s.data and, unwound, u.data; names has the stacks
recorded() {
	needs_command perf python3
	pmu-sample -q -e cpu-clock:u -F 997 --call-graph dwarf,16384 -o s.data -- "$@" >/dev/null
	unwound
}
unwound() {
	pmu-unwind -v -o u.data s.data 2>said
	cat said
	chains frames u.data >names
	cat names
}

# least COUNT PATTERN: so many stacks have these names
least() { at_least "$(awk "/$2/ { n += \$1 } END { print n + 0 }" names)" "$1"; }

# mixed OPTION...: ./mixed, where apart() is assembly without call frame information and without a
# frame pointer; middle() has none either; outer() and inner() have one
mixed() {
	test "$(uname -m)" = x86_64 || skip "the code is for x86-64"
	needs_command gcc
	cat >apart.s <<"S"
	.globl apart
	.type apart, @function
apart:	push %rbx
	push %r12
	mov %rdi, %rbx
1:	imul $31, %rax, %rax
	add %rbx, %rax
	dec %rbx
	jnz 1b
	pop %r12
	pop %rbx
	ret
	.size apart, . - apart
	.globl first
	.type first, @function
first:	imul $31, %rax, %rax
	add %rdi, %rax
	dec %rdi
	jnz first
	ret
	.size first, . - first
	.section .note.GNU-stack, "", @progbits
S
	cat >middle.c <<"C"
	long apart(long), first(long);
	__attribute__((noinline)) long lower(long n) { return apart(n) + first(n) + 1; }
	__attribute__((noinline)) long middle(long n) { return lower(n + 1) * 3; }
C
	cat >outer.c <<"C"
	long middle(long);
	__attribute__((noinline)) long inner(long n)
	{
		long sum = 0;
		for (int i = 0; i < 150; i++)
			sum += middle(100000 + n);
		return sum;
	}
	__attribute__((noinline)) long outer(long n) { return inner(n) + 1; }
	int main(void)
	{
		long sum = 0;
		for (int i = 0; i < 10; i++)
			sum += outer(i);
		return sum & 1;
	}
C
	gcc -O2 -fomit-frame-pointer -c middle.c
	gcc -O2 -fno-omit-frame-pointer -c outer.c
	gcc -o mixed "$@" apart.s middle.o outer.o
}

check 'below frame pointers, no caller of a function without one is skipped' <<'END'
	mixed
	recorded ./mixed
	least 50 "^[0-9]+ apart"
	none grep -E " (apart|first) (inner|outer|main)" names
END

check 'nor in a stripped program' <<'END'
	unsanitized
	mixed -s
	recorded ./mixed
	none awk '{ text = ""; for (i = 2; i <= NF; i++) text = text " " $i }
		/unknown/ && text !~ /^ .unknown.$/ && NF < 8 { print }' names
END

check 'a function that has not moved the stack pointer has the caller that called it' <<'END'
	mixed
	recorded ./mixed
	least 50 "^[0-9]+ first lower middle inner outer main "
	none grep -E "^[0-9]+ first( [^l]|$)" names
END

done_testing
