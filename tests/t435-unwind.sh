#!/bin/sh
# pmu-unwind: callchains from copies of stacks, held against perf's own unwinder and against
# programs whose chains are known by construction (tests/chains.c).
# kinds: release asan
. tests/lib.sh

plain="-g -O2 -fomit-frame-pointer"
no_eh="-fno-asynchronous-unwind-tables -fno-exceptions -fno-unwind-tables"
source="$TOP/tests/chains.c"

# build OPTION...: ./chains, which the checks share
build() {
	needs_command gcc
	once "chains-$(echo ${CC:-gcc} "$@" | tr -c "A-Za-z0-9\n" _)" \
		${CC:-gcc} $plain "$source" -lpthread "$@" -o chains
}

chains() { python3 "$TOP/tests/chains.py" "$@"; }

# recorded WHAT MS [DEPTH]: s.data and, unwound, u.data; stacks of 8 KiB, or $BYTES
recorded() {
	needs_command perf python3
	pmu-sample -q -e cpu-clock -F 997 --call-graph "dwarf${BYTES:+,$BYTES}" -o s.data -- \
		./chains "$@" >/dev/null
	pmu-unwind -v -o u.data s.data 2>said
	cat said
}

# as_perf: every stack that perf unwinds whole is the same, and none is shorter; sanitizers only
# see it unwound
as_perf() {
	! sanitized || return 0
	chains same u.data s.data >counts
	cat counts
	read -r same theirs total whole <counts
	at_least "$total" 20
	at_least "$theirs" $((total / 2))	# perf loses registers that were popped
}

# nearly_all: $whole stacks of $total are all but 1 of 100, and one: a program's end, of which
# there may be a sample, has no stack any more
nearly_all() {
	at_least "$total" 20
	at_least "$(((whole + 1) * 100))" $((total * 99))
}

# all_whole: of u.data
all_whole() {
	chains whole u.data >counts
	cat counts
	read -r whole total <counts
	nearly_all
}

for what in sort signal clock frames pops jumps thread; do
	case $what in
	sort | signal | clock) some= ;;
	*) some=unsanitized ;;
	esac
	check "stacks of '$what' are those of perf script" <<-END
		$some
		build -mavx2 -DPOPS
		recorded $what 150 10
		whole=
		as_perf
		if test -n "\$whole"; then nearly_all; else all_whole; fi
	END
done

check 'stacks in stubs of the procedure linkage table are those of perf script' <<'END'
	unsanitized
	gcc -shared -fPIC -O2 -DLIBRARY "$source" -o libtiny.so
	for way in "-z,lazy" "-z,lazy,-z,ibtplt"; do
		gcc $plain -fcf-protection=full -DSTUB "$source" -o chains -Wl,$way -L. -ltiny \
			-Wl,-rpath,"$PWD" -lpthread
		recorded stub 100
		as_perf
	done
END

# A known depth, built in ways that perf's unwinder does not read.
known() {
	recorded rec 100 "$1"
	chains known u.data $(($1 + 1)) >counts
	cat counts
	read -r known whole total <counts
	at_least "$known" 20
	nearly_all
}

check 'a recursion of 20 calls has 21 frames' <<'END'
	build
	known 20
END

check 'the same from .debug_frame alone' <<'END'
	unsanitized
	build $no_eh
	none sh -c "readelf -wF chains | grep 'rec$'"
	known 20
END

check 'from a compressed .debug_frame' <<'END'
	build $no_eh -gz
	known 20
END

check 'from .debug_frame of a separate debug file' <<'END'
	build $no_eh
	mkdir -p debug
	objcopy --only-keep-debug chains chains.debug
	strip chains
	objcopy --add-gnu-debuglink=chains.debug chains
	known 20
END

check 'from .eh_frame without its header' <<'END'
	build -Wl,--no-eh-frame-hdr
	known 20
END

check 'in a static program, of fixed addresses or not' <<'END'
	unsanitized
	build -static
	known 20
	build -static-pie
	known 20
END

check 'after link time optimization, and by clang' <<'END'
	unsanitized
	build -flto
	known 20
	needs_command clang
	CC=clang build
	known 20
END

check 'in a file that was deleted' <<'END'
	unsanitized
	build
	mkfifo input
	cp chains gone
	echo "exec ./gone rec 400 20 <input" >script
	{ pmu-sample -q -e cpu-clock -F 997 --call-graph dwarf -- sh script |
		pmu-unwind -v -o u.data 2>said; } &
	exec 3>input
	eventually sh -c "ls -l /proc/[0-9]*/exe 2>&1 | grep -q '$PWD/gone\$'"
	rm gone
	eventually sh -c "test \$(stat -c %s u.data) -gt 20000"
	exec 3>&-
	wait
	cat said
	at_least "$(sed "s/.*frames: \([0-9]*\).*/\1/" said)" 97
	none grep "no CFI ('gone'" said
END

check '500 frames are all written, and --max-stack limits them to that and 64' <<'END'
	build
	BYTES=65528 recorded rec 100 500
	chains known u.data 501
	pmu-unwind --max-stack 100 -o u.data s.data
	chains frames u.data | awk '{ if (NF - 1 > most) most = NF - 1 } END { exit most != 165 }'
END

check 'code with frame pointers and no other information is followed by them' <<'END'
	build $no_eh -g0 -fno-omit-frame-pointer -fno-optimize-sibling-calls
	recorded rec 100 20
	all_whole
	chains frames u.data >names
	head -n 3 names
	recs=$(printf "%21s" "" | sed "s/ / rec/g")
	at_least "$(awk "/[^c]$recs main / { n += \$1 } END { print n + 0 }" names)" 20
END

# true_chains LEAST: all stacks in "names" are whole and true, at least LEAST of them in rec()
true_chains() {
	cat names
	recs=$(printf "%21s" "" | sed "s/ / rec/g")
	# main(), cpu_ms() and rec() themselves are sampled now and then
	grep -E "(burn( burn_some)?|[^c])$recs main | main " names >in_main
	at_least "$(awk "/ burn(_some)?$recs main / { n += \$1 } END { print n + 0 }" names)" "$1"
	none grep -E " burn (main|[^bri])| rec burn_some" names
}

check 'without any information callers are found in the code itself' <<'END'
	build $no_eh -g0
	recorded rec 100 20
	all_whole
	chains frames u.data >names
	true_chains 20
END

check 'with musl, whose code has no information, stacks are whole' <<'END'
	unsanitized
	needs_command musl-gcc
	musl-gcc $plain -static -D_GNU_SOURCE "$source" -o chains \
		-Wl,--unresolved-symbols=ignore-all	# it has no coroutines
	recorded rec 100 20
	all_whole
	chains frames u.data >names
	true_chains 20
	musl-gcc $plain -D_GNU_SOURCE "$source" -o chains -Wl,--unresolved-symbols=ignore-all
	recorded rec 100 20
	all_whole
	chains frames u.data >names
	true_chains 20
	# the kernel starts a thread in musl's __clone()
	recorded thread 100 5
	grep -E " (100|9[0-9])[.][0-9] % whole" said
END

check 'a coroutine ends where makecontext() started it' <<'END'
	unsanitized
	build
	recorded context 150
	all_whole
	grep "100.0 % whole" said || grep "9[0-9].[0-9] % whole" said
END

# The shape of glibc's clone() and clone3(), where a new thread goes on, too: rax is 0 in it.
check 'who starts a thread is found, where the system call has no call frame information' <<'END'
	unsanitized
	test "$(uname -m)" = x86_64 || skip "the code is for x86-64"
	needs_command gcc perf python3
	cat >clones.s <<"S"
	.globl clones
	.type clones, @function
clones:	.cfi_startproc
	mov %edi, %eax
	.cfi_endproc
	syscall
	test %rax, %rax
	jl 2f
	je 1f
	ret
1:	ret
2:	ret
	.size clones, . - clones
	.section .note.GNU-stack
S
	cat >starts.c <<"C"
	int clones(int);
	__attribute__((noinline)) static void starts(int number, int times)
	{
		for (int i = 0; i < times; i++)
			clones(number);
		__asm__ volatile("");
	}
	int main(void) { starts(39, 1000000); starts(152, 300000); }
C
	gcc -O2 -o starts starts.c clones.s
	pmu-sample -q --all-user -e cpu-clock -F 1997 --call-graph dwarf,8192 -o s.data -- ./starts
	pmu-unwind -v -o u.data s.data 2>said
	cat said
	none grep "no CFI ('starts'" said
	chains frames u.data >frames
	cat frames
	at_least "$(awk "/ clones starts main / { n += \$1 } END { print n + 0 }" frames)" 10
	none awk "/ clones / && !/ clones starts main / && !/ clones\$/" frames
END

# The shape of OpenSSL's SHA-256 and SHA-512 with AVX2, without their work.
check 'the word that has the CFA may be below the stack pointer, and so not in the copy' <<'END'
	unsanitized
	test "$(uname -m)" = x86_64 || skip "the code is for x86-64"
	needs_command gcc perf python3
	cat >zone.s <<"S"
	.macro hash name, align, size, place, step, at:vararg
	.globl \name
	.type \name, @function
\name:	.cfi_startproc
	mov 8(%rsp), %r10
	mov %rsp, %rax
	.cfi_def_cfa_register %rax
	.irp reg, rbx, rbp, r12, r13, r14, r15
	push %\reg
	.endr
	.cfi_offset %rbx, -16
	.cfi_offset %rbp, -24
	sub $\align, %rsp
	shl $4, %rdx
	and $-\align, %rsp
	add $\size, %rsp
	mov %rdi, \place-8(%rsp)
	mov %rax, \place(%rsp)
	.cfi_escape 0x0f, \at, 6, 0x23, 8
	mov $\size / \step, %ecx
	mov %rax, -8(%rsp)
	.cfi_escape 0x0f, 5, 0x77, 0x78, 6, 0x23, 8
1:	mov %rax, -\step-8(%rsp)
	lea -\step(%rsp), %rsp
	mov $3000000, %edx
2:	dec %edx
	jnz 2b
	dec %ecx
	jnz 1b
	mov \size+\place(%rsp), %rsi
	.cfi_def_cfa %rsi, 8
	mov -16(%rsi), %rbp
	mov -8(%rsi), %rbx
	mov %rsi, %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.endm
	hash sha256, 0x400, 0x1c0, 0x58, 0x40, 6, 0x77, 0xd8, 0
	hash sha512, 0x800, 0x480, 0x98, 0x80, 6, 0x77, 0x98, 1
	.section .note.GNU-stack
S
	cat >zone.c <<"C"
	void sha256(void), sha512(void);
	__attribute__((noinline)) static void one(void) { sha256(); __asm__ volatile(""); }
	__attribute__((noinline)) static void other(void) { sha512(); __asm__ volatile(""); }
	int main(void) { for (int i = 0; i < 6; i++) { one(); other(); } }
C
	gcc -O2 -o zone zone.c zone.s
	pmu-sample -q --all-user -e cpu-clock -F 997 --call-graph dwarf,8192 -o s.data -- ./zone
	pmu-unwind -v -o u.data s.data
	all_whole
	chains frames u.data >frames
	cat frames
	awk "/sha256/ { \$0 ~ / sha256 one main /  ? good++ : bad++ }
		/sha512/ { \$0 ~ / sha512 other main / ? good++ : bad++ }
		END { exit !(good == 2 && !bad) }" frames
END

check 'before the address that a signal interrupted there is a marker, for it is exact' <<'END'
	build
	recorded signal 400 10 3
	chains frames u.data | awk "/__restore_rt/ { n += \$1 } END { print n + 0 }" >handlers
	pmu-stream --dump u.data | grep -c "0xfffffffffffffe00.*0xfffffffffffffe00" >marked
	cat handlers marked
	at_least "$(cat handlers)" 5
	same handlers marked
END

check 'a Go stack ends where the runtime changed to another one: what is there is old' <<'END'
	unsanitized
	needs_command go
	cat >go.go <<"GO"
package main

import "time"

var kept []*[]*int

func main() {
	start := time.Now()
	for i := 0; i < 4000000; i++ {
		time.Since(start)
	}
	for i := 0; i < 400000; i++ {
		s := make([]*int, 50)
		for k := range s {
			s[k] = new(int)
		}
		kept = append(kept[:i%1000], &s)
	}
}
GO
	go build -o go go.go
	pmu-sample -q --all-user -e cpu-clock -F 1997 --call-graph dwarf,16384 -o g.data -- ./go
	pmu-unwind -v -o u.data g.data 2>said
	cat said
	pmu-symbolize u.data | pmu-topprof --to folded >folded
	at_least "$(grep -c "runtime.systemstack" folded)" 5
	# systemstack calls this one before it changes the stack
	grep -v ";gosave_systemstack_switch " folded >after
	none grep -E ";.*;runtime.(systemstack|mcall|morestack);" after
	# the vdso runs there, too, and the goroutine's stack pointer is in a register meanwhile
	at_least "$(grep -c "nanotime1.*vdso" folded)" 1
	share=$(sed -n "s/.* \([0-9]*\)[.0-9]* % at an address without code.*/\1/p" said)
	at_most "${share:-0}" 4
END

# Both are unwound from one recording: the program's own call frame information is the truth.
check 'a stripped Go program has the stacks that it has with its call frame information' <<'END'
	unsanitized
	needs_command go perf python3 objcopy
	cat >whole.go <<"GO"
package main

import (
	"bytes"
	"crypto/sha256"
	"os"
	"sort"
	"strings"
)

func main() {
	sum := 0
	for i := 0; i < 15000; i++ {
		text := strings.Repeat("some text ", i%100+1)
		words := strings.Fields(text)
		sort.Strings(words)
		sum += bytes.Count([]byte(text), []byte("xt")) + int(sha256.Sum256([]byte(text))[0])
	}
	os.Exit(sum & 1)
}
GO
	go build -o whole whole.go
	readelf -SW whole | grep -q debug_frame
	mkdir -p "root$PWD"
	objcopy --strip-all whole "root$PWD/whole"
	none sh -c "readelf -SW 'root$PWD/whole' | grep -E ' [.](debug_frame|symtab|eh_frame) '"
	pmu-sample -q --all-user -e cpu-clock -F 1997 --call-graph dwarf,16384 -o g.data -- ./whole || :
	pmu-unwind -o u.data g.data
	pmu-unwind -v -o stripped.data --sysroot root g.data
	chains same stripped.data u.data >counts
	cat counts
	read -r same theirs total whole <counts
	at_least "$total" 50
	test "$same" = "$total"
END

# Go reads the time on another stack than the goroutine's, and here below 106 calls of down(), which
# need more than the 16384 bytes that are copied of a Go program: the kernel's frame pointers have
# the callers.
check 'who asked for the time in a Go program is found, and who is far away' <<'END'
	unsanitized
	test "$(uname -m)" = x86_64 || skip 'on arm64 the kernel does not follow these frame pointers'
	needs_command go
	cat >ask.go <<"GO"
package main

import (
	"os"
	"time"
)

//go:noinline
func ask(n int) (sum int64) {
	for i := 0; i < n; i++ {
		sum += time.Now().UnixNano() & 1
	}
	return
}

//go:noinline
func down(depth int) int64 {
	var room [128]byte
	room[depth] = 1
	if depth == 0 {
		return ask(4000000)
	}
	return down(depth-1) + int64(room[depth/2])
}

func main() {
	os.Stdin.Read(make([]byte, 1))
	down(105)
}
GO
	go build -o ask ask.go
	mkfifo start
	./ask <start &
	exec 3>start
	eventually grep -qx ask "/proc/$!/comm"	# not the shell any more
	pmu-sample -v --all-user --unwind -e cpu-clock -F 997 -o s.data -p $! 2>said &
	eventually test -s s.data
	echo go >&3
	wait
	cat said
	grep -q "cut by the dump.s 16384 bytes" said
	lost=$(sed -n "s/.* \([0-9]*\)[.0-9]* % lost.*/\1/p" said)
	at_most "${lost:-0}" 2
	pmu-symbolize s.data | pmu-topprof --to folded >folded
	cat folded
	awk "BEGIN { want = \"runtime.main;main.main;\"
			for (i = 0; i < 106; i++) want = want \"main.down;\" }
		/main.ask|time.now|^ask;__vdso/ { n += \$NF }
		index(\$0, want \"main.ask\") { right += \$NF }
		END { print right, n; exit !(right >= n * .98) }" folded
	at_least "$(perf_samples s.data)" 50
END

check 'which of 200 threads are of Go programs is read from a file once' <<'END'
	unsanitized
	needs_command strace python3
	python3 -c "import threading, time
for i in range(200): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
time.sleep(600)" &
	eventually sh -c "test \$(ls /proc/$!/task | wc -l) = 201"
	strace -f -o calls -e trace=mmap \
		pmu-sample -q --all-user --unwind -e cpu-clock -d 0.1 -o s.data \
			-t "$(ls /proc/$!/task | paste -sd ,)"
	kill $!
	at_most "$(grep -c "mmap(.*, PROT_READ, .*MAP_FIXED" calls)" 100
END

# big() keeps a frame pointer, because the size of its frame is unknown; holder() has a pointer to
# other data in that register, and the word after the one it points to is not a return address.
check 'of C code in a Go program, only callers are shown, however the program is linked' <<'END'
	unsanitized
	test "$(uname -m)" = x86_64 || skip "the program is for x86-64"
	needs_command cc
	cat >held.c <<"C"
#include <alloca.h>
#include <string.h>
#include <unistd.h>

struct data { struct data *next; void (*function)(void); };

static volatile unsigned long sum;

__attribute__((noinline)) static void innocent(void) { sum += 3; }

__attribute__((noinline)) static void spin(void) { for (int i = 0; i < 50000000; i++) sum += i; }

__attribute__((noinline, used)) void big(size_t bytes)
{
	char *room = alloca(bytes);

	memset(room, 1, bytes);
	__asm__ volatile("" : : "r"(room) : "memory");
	spin();
	sum++;
}

void holder(struct data *data, size_t bytes);

__asm__(".text\n.type holder, @function\nholder: .cfi_startproc\n"
	"push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\n"
	"mov %rdi, %rbp\nmov %rsi, %rdi\ncall big\n"
	"pop %rbp\n.cfi_def_cfa_offset 8\nret\n.cfi_endproc\n.size holder, .-holder\n"
	".section .note.go.buildid, \"a\", @note\n"	/* so it is a Go program */
	".long 4, 4, 4\n.asciz \"Go\\0\"\n.ascii \"test\"\n.text\n");

int main(void)
{
	struct data data = { 0, innocent };

	char go;

	read(0, &go, 1);
	holder(&data, 40000);
	return 0;
}
C
	for option in -pie -static; do
		cc -O2 -fomit-frame-pointer $option held.c -o held
		rm -f start s.data
		mkfifo start
		./held <start &
		exec 3>start
		eventually grep -qx held "/proc/$!/comm"	# not the shell any more
		pmu-sample -v --all-user --unwind -e cpu-clock -F 997 -o s.data -p $! 2>said &
		eventually test -s s.data
		echo go >&3
		exec 3>&-
		wait
		cat said
		grep -q "cut by the dump.s 32768 bytes" said
		pmu-symbolize s.data | pmu-topprof --to folded >folded
		cat folded
		at_least "$(grep -c "^held;holder;big;spin " folded)" 1
		grep ";spin " folded >work
		none grep "innocent\|\[held\]\|_start" work
	done
END

check 'a copy that ends at a page that was never written is not lost, and is explained' <<'END'
	needs_command gcc
	cat >hole.c <<-C
		#include <string.h>
		#include <time.h>
		volatile unsigned sum;
		__attribute__((noinline)) static void work(unsigned char *b)
		{
			for (int i = 0; i < 100000; i++)
				sum += b[i % 1000];
		}
		__attribute__((noinline)) static void buffer(int n)
		{
			unsigned char b[200000];
			memset(b, n, n);
			work(b);
			sum += b[5];
		}
		int main(int argc, char **argv)
		{
			if (argc > 1)
				buffer(200000);		/* writes to all pages of the stack, once */
			while (clock() < 0.4 * CLOCKS_PER_SEC)
				buffer(1000);
			return 0;
		}
	C
	gcc -O2 -fomit-frame-pointer hole.c -o hole
	pmu-sample -q -e cpu-clock:u -F 500 --call-graph dwarf,65528 -o s.data -- ./hole
	pmu-unwind -v -o u.data s.data 2>said
	cat said
	grep -Eq " (9[0-9]|100)[.][0-9] % where the kernel's copy ended early" said
	grep -q "never written: try -g, or write to the stack once" said
	none grep lost said
	none grep "longer\|followed to the end" said
	pmu-sample -q -e cpu-clock:u -F 500 --call-graph dwarf,65528 -o s.data -- ./hole written
	pmu-unwind -v -o u.data s.data 2>said
	cat said
	none grep "ended early" said
END

done_testing
