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

# possible: no caller in u.data is impossible, and nearly all were looked at; see tests/callers.py
possible() {
	test "$(uname -m)" = x86_64 || skip "the code is for x86-64"
	needs_command objdump readelf
	python3 "$TOP/tests/callers.py" u.data >counts
	cat counts
	read -r callers unread pushed wrong <counts
	test "$wrong" = 0
	at_least "$callers" 100
	at_most $((unread + pushed)) $((callers / 20))
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
	test -z "$LABEL" || sed -i "s/^1:/$LABEL:/; s/1b$/$LABEL/; s/push %r12/sub \$72, %rsp/
		s/pop %r12/add \$72, %rsp/; /type apart/d; /size apart/d" apart.s
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

check 'in a stripped program, neither, is any caller skipped' <<'END'
	unsanitized
	mixed -s
	recorded ./mixed
	least 50 "."
	possible
END

check 'a function that has not moved the stack pointer has the caller that called it' <<'END'
	mixed
	recorded ./mixed
	least 50 "^[0-9]+ first lower middle inner outer main "
	none grep -E "^[0-9]+ first( [^l]|$)" names
END

# odd: ./odd and odd.full, its symbols.  dirty() leaves one address in all words of the stack that
# nobody writes: where an indirect call in never(), which is never called, would return.
odd() {
	test "$(uname -m)" = x86_64 || skip "the code is for x86-64"
	needs_command gcc
	cat >odd.s <<"S"
	.macro burn
	mov $20000, %ecx
	1: dec %ecx
	jnz 1b
	.endm
	.text
dirty:	lea after(%rip), %rax
	lea -8(%rsp), %rcx
	mov $500, %edx
1:	mov %rax, (%rcx)
	sub $8, %rcx
	dec %edx
	jnz 1b
	ret
never:	sub $8, %rsp
	call *%rax
after:	add $8, %rsp
	ret

	# A label whose address is taken, and that looks like a start, is inside a function.
	.balign 16
labels:	push %rbx
	sub $48, %rsp
	lea 2f(%rip), %rax
	mov %rax, 8(%rsp)
	lea 3f(%rip), %rax
	mov %rax, 16(%rsp)
	xor %ebx, %ebx
	jmp *8(%rsp,%rbx,8)
	.balign 16
2:	burn
	mov $1, %ebx
	jmp *8(%rsp,%rbx,8)
	.balign 16
3:	add $48, %rsp
	pop %rbx
	ret

	# The last call of a function never returns.  Another function follows, whose address nothing
	# shows, and which never returns, either.
	.balign 16
last:	push %rbx
	sub $80, %rsp
	test %edi, %edi
	jz 2f
	add $80, %rsp
	pop %rbx
	ret
	.balign 16
	.skip 11, 0x90
2:	call leave
next:	push %rbp
	sub $16, %rsp
	burn
	mov there(%rip), %rsp
	jmp *back(%rip)
leave:	mov there(%rip), %rsp
	jmp *back(%rip)

	.globl main
main:	push %rbx
	push %rbp
	call dirty
	sub $200, %rsp
	mov $40000, %ebx
	mov %rsp, there(%rip)
	movq $2f, back(%rip)
1:	call dirty
	lea labels(%rip), %rax
	call *%rax
	mov $1, %edi
	call last
	movabs $next, %rax
	call *%rax
2:	dec %ebx
	jnz 1b
	add $200, %rsp
	pop %rbp
	pop %rbx
	xor %eax, %eax
	ret
	.local there, back
	.comm there, 8
	.comm back, 8
	.section .note.GNU-stack, "", @progbits
S
	gcc -no-pie -o odd.full odd.s
	strip -o odd odd.full
}

check 'words of the stack that nobody has written are not return addresses' <<'END'
	odd
	recorded ./odd
	after=$(nm odd.full | awk '$3 == "after" { print $1 }' | sed 's/^0*/0x/')
	pmu-stream -D u.data >records
	at_least "$(grep -c "^[^ ]* SAMPLE.*callchain" records)" 40
	none grep -w "$after" records
END

check 'assembly whose labels are symbols, as those of nasm: whole, no caller is impossible' <<'END'
	test "$(uname -m)" = x86_64 || skip "the code is for x86-64"
	needs_command gcc
	cat >hot.s <<"S"
		.globl hot, turns
		.type hot, @function
		.type turns, @function
	hot:	push %rbx
		push %r12
		sub $40, %rsp
		mov %rdi, %rbx
	hot.next:
		imul $31, %rax, %rax
		add %rbx, %rax
		dec %rbx
		jnz hot.next
		add $40, %rsp
		pop %r12
		pop %rbx
		ret
	turns:	push %rbp
		push %rbx
		mov %rsp, %rbx
		sub $200, %rsp
		and $-64, %rsp
		mov %rdi, %rbp
	turns.next:
		mov $3000, %edi
		call hot
	turns.after:
		dec %rbp
		jnz turns.next
		mov %rbx, %rsp
		pop %rbx
		pop %rbp
		ret
		.section .note.GNU-stack, "", @progbits
	S
	cat >outer.c <<"C"
	long turns(long);
	static volatile long sum;
	__attribute__((noinline)) static long lower(long n) { return turns(n) + 1; }
	__attribute__((noinline)) static long upper(long n) { return lower(n + 1) * 3; }
	int main(void)
	{
		for (int i = 0; i < 1500; i++)
			sum += upper(100);
	}
	C
	gcc -O2 outer.c hot.s -o labels
	recorded ./labels
	least 50 "^[0-9]+ hot.next turns.(next|after) lower upper main "
	none grep -v " main " names
	possible
END

check 'the stack of a fiber is whole: it starts where make_fcontext() lets it end' <<'END'
	test "$(uname -m)" = x86_64 || skip "the code is for x86-64"
	needs_command gcc
	cat >enter.s <<"S"
		.globl enter
	enter:	lea finish(%rip), %rax
		lea -16(%rdi), %rsp
		push %rax
		jmp *%rsi
	finish:	xor %rdi, %rdi
		call _exit@plt
		hlt
		.section .note.GNU-stack, "", @progbits
	S
	cat >fiber.c <<"C"
	static long stack[5000];
	static volatile long sum;
	void enter(void *, void (*)(void));
	__attribute__((noinline)) static void work(long n)
	{
		for (long i = 0; i < n; i++)
			sum += i;
	}
	static void fiber(void) { work(200000000); sum++; }
	int main(void) { enter(stack + 5000, fiber); }
	C
	gcc -O2 fiber.c enter.s -o fibers
	recorded ./fibers
	least 50 "^[0-9]+ work fiber finish$"
	none grep "no CFI" said
	possible
END

check 'no caller is impossible in an interpreter, exceptions, static and with musl' <<'END'
	unsanitized
	needs_command g++
	recorded /usr/bin/python3 -c "for i in range(40): sorted(map(str, range(30000)), key=hash)"
	possible
	g++ -O2 "$TOP/tests/throws.cc" -o throws
	recorded sh -c "for i in 1 2 3 4 5; do ./throws; done"
	possible
	g++ -O2 -static "$TOP/tests/throws.cc" -o throws
	recorded sh -c "for i in 1 2 3 4 5; do ./throws; done"
	possible
	needs_command musl-gcc
	cat >sorts.c <<"C"
	#include <stdlib.h>
	#include <stdio.h>
	static int by(const void *a, const void *b) { return *(int *)a - *(int *)b; }
	int main(void)
	{
		static int p[3000];
		char text[100];
		for (int k = 0; k < 300; k++) {
			for (int i = 0; i < 3000; i++)
				p[i] = rand() % 1000 + snprintf(text, sizeof(text), "%d %g", i, i * 0.37);
			qsort(p, 3000, sizeof(*p), by);
		}
	}
	C
	musl-gcc -O2 sorts.c -o sorts
	recorded ./sorts
	possible
END

check 'what looks for impossible callers finds each return address that is moved by a byte' <<'END'
	needs_command g++
	g++ -O2 "$TOP/tests/throws.cc" -o throws
	recorded ./throws
	possible
	python3 - <<-PY
	data, at = bytearray(open("u.data", "rb").read()), 16
	user = (2 ** 64 - 512).to_bytes(8, "little")
	while at < len(data):
	    size = int.from_bytes(data[at + 6:at + 8], "little")
	    found = data.find(user, at + 8, at + size)
	    if data[at] == 9 and found > 0 and found + 24 <= at + size:
	        data[found + 16] ^= 1		# of the leaf's caller
	    at += size
	open("u.data", "wb").write(data)
	PY
	python3 "$TOP/tests/callers.py" u.data | {
		read -r callers unread pushed wrong
		at_least "$wrong" 20
	}
END

# nasm writes labels such as ".loop" to the symbol table, where a name hides that of the function.
check 'a label inside a function is not taken for its start' <<'END'
	LABEL=apart.loop mixed
	recorded ./mixed
	least 50 "^[0-9]+ apart.loop lower middle inner outer main "
	LABEL=apart.loop mixed -s
	recorded ./mixed
	at_least "$(sed -n "s/.*: \([0-9.]*\) % whole.*/\1/p" said)" 97
END

check 'code that GCC puts on the stack to call a nested function' <<'END'
	test "$(uname -m)" = x86_64 || skip "the code is for x86-64"
	needs_command gcc
	cat >nested.c <<"C"
	#include <time.h>
	static volatile unsigned sum;
	__attribute__((noinline)) static void call(void (*volatile *f)(void), int n)
	{
		for (int i = 0; i < n; i++)
			(*f)();
		sum++;
	}
	__attribute__((noinline)) static void outer(int n)
	{
		volatile int k = n;
		void nested(void) { sum += k; }
		void (*volatile f)(void) = nested;
		call(&f, n);
		sum++;
	}
	int main(void)
	{
		while (clock() < CLOCKS_PER_SEC * 3 / 10)
			outer(100000);
	}
C
	for option in -fcf-protection=full "-fcf-protection=none -fno-omit-frame-pointer"; do
		gcc -O1 -w $option nested.c -o nested -z execstack
		recorded ./nested
		pmu-symbolize u.data | pmu-topprof --frames cut --to folded >stacks
		cat stacks
		at_least "$(awk '/;main;outer;call;.stack. / { n++ } END { print n + 0 }' stacks)" 1
		none grep "cut:.*stack\]" stacks
	done
END

# The code is copied to memory without a file, where only frame pointers help.
check 'the caller of a function that aligns its stack by a copy of its return address' <<'END'
	test "$(uname -m)" = x86_64 || skip "the code is for x86-64"
	needs_command gcc
	cat >aligns.c <<"C"
	#include <string.h>
	#include <sys/mman.h>
	#include <time.h>
	static volatile unsigned sum;
	__attribute__((noinline)) static void spin(char *b)
	{
		for (int i = 0; i < 3000; i++)
			sum += b[i % 64];
	}
	__attribute__((noinline, noclone, optimize("no-omit-frame-pointer", "no-tree-vectorize")))
	static void aligned(void (*work)(char *), int n)
	{
		_Alignas(64) char b[64];
		for (int i = 0; i < n; i++) {
			b[i % 64] = 1;
			work(b);
		}
	}
	__attribute__((noinline, noclone))
	static void outer(void (*code)(void (*)(char *), int), int n)
	{
		volatile char room[200];
		room[5] = 1;
		code(spin, n);
		sum += room[5];
	}
	int main(void)
	{
		enum { BYTES = 1000 };
		void *code = mmap(0, BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(code, (void *)aligned, BYTES);
		while (clock() < CLOCKS_PER_SEC * 3 / 10)
			outer((void (*)(void (*)(char *), int))code, 50);
	}
C
	gcc -O2 -w -fomit-frame-pointer -mforce-drap aligns.c -o aligns
	objdump -d aligns | grep -q "push *-0x8(%r10)"
	pmu-sample -q --all-user --unwind -e cpu-clock -F 997 -o u.data ./aligns
	pmu-symbolize u.data | pmu-topprof --to folded >stacks
	cat stacks
	at_least "$(grep -c ";main;outer;[^;]*anon[^;]*;spin " stacks)" 1
	none grep "clock.*;outer;" stacks
	none grep "^aligns;outer" stacks
END

done_testing
