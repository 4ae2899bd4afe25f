#!/bin/sh
# branch-step, the test tool that records branches by single steps: its counts against programs
# whose counts are known, its samples against objdump, and its file as perf reads it.
# kinds: release
. tests/lib.sh

test "$(uname -m)" = x86_64 || why="branch-step steps x86-64 only"
for command in gcc objdump perf python3; do
	command -v $command >/dev/null || why="no $command"
done
can_step() { test -z "$why" || skip "$why"; }

# Of this program, all is known.  Taken: 9 x 99 of the inner loop and 9 of the outer one, 100 jumps
# to odd or even by a table, 50 jumps from odd to next, 10 calls, 10 calls by a register,
# 20 returns, the jump at the start.  Conditional jumps that are not taken: 10 + 1, and the one at
# skip 10 times.
cat >"$scratch/known.s" <<'END'
	.globl _start
	.data
table:	.quad even, odd
	.bss
to:	.skip 100
	.text
_start:	jmp begin		# 1 instruction, a jump
	ud2
begin:	mov $10, %ebp		# 1
outer:	mov $100, %ecx		# 10
inner:	dec %ecx		# 1000
	jnz inner		# 1000: 990 taken
	call work		# 10
	lea work(%rip), %rax	# 10
	call *%rax		# 10
	dec %ebp		# 10
	jnz outer		# 10: 9 taken
	mov $100, %ecx		# 1
next:	dec %ecx		# 100
	mov %ecx, %eax		# 100
	and $1, %eax		# 100
	jmp *table(,%rax,8)	# 100
odd:	jmp more		# 50, jumps
	ud2
even:	nop			# 50
more:	test %ecx, %ecx		# 100
	jnz next		# 100: 99 taken
	mov $60, %eax		# 1
	xor %edi, %edi		# 1
	syscall			# 1
work:	lea to(%rip), %rdi	# 20
	mov $100, %ecx		# 20
	rep stosb		# 20, whatever they store
	test %ecx, %ecx		# 20
	jnz _start		# 20: none taken
	rep ret			# 20
END
cat >"$scratch/known.counts" <<'END'
instructions 2886
taken 1289
not-taken 32
conditional 1098
jumps 51
indirect-jumps 100
calls 10
indirect-calls 10
returns 20
END
known() {
	can_step
	once known-branches gcc -nostdlib -static -no-pie -Wl,--build-id "$scratch/known.s" \
		-o known
}

# entries FILE: each branch of each sample, and how often it is there
entries() {
	perf script -i "$1" -F brstack | tr -s ' ' '\n' | grep / | cut -d / -f 1,2 | sort | uniq -c
}

check 'a program of known loops: instructions, and branches by kind, are exact' <<'END'
	known
	branch-step -f -n counts ./known
	grep -vE 'mispredicted|samples|entries' counts | same "$scratch/known.counts" -
	test "$(awk '/^mispredicted/ { print $2 }' counts)" -lt 300
END

check '-f: each branch is in one sample, in order; perf script prints as many' <<'END'
	known
	branch-step -f -o all.data -n counts ./known
	grep -qx 'samples 41' counts	# of 32 entries, and one of the last 9
	grep -qx 'entries 1289' counts
	entries all.data >found
	awk '{ print $1 }' found | sort -n | uniq -c >often
	cat found
	test "$(awk '{ n += $1 } END { print n }' found)" = 1289
	grep -q '^ *990 ' found
END

check '-f -r: each range is in one sample, across the ends of samples, too' <<'END'
	known
	branch-step -f -r -o ranges.data -n counts ./known
	# one sample has all
	branch-step -f -d 2000 -o one.data -n counts ./known
	grep -qx 'samples 1' counts
	for file in ranges one; do
		perf script -i $file.data -F brstack | awk '{
			for (i = NF; i > 1; i--) {
				split($i, from, "/"); split($(i - 1), to, "/")
				print from[2], to[1]
			}
		}' | sort | uniq -c >$file
	done
	same one ranges
	test "$(awk '{ n += $1 } END { print n }' ranges)" = 1288
END

check '-c: the seed alone decides which branches are sampled' <<'END'
	known
	for name in one two again; do
		seed=1
		test $name != two || seed=2
		branch-step -c 50 -d 8 -s $seed -o s.data -n counts ./known
		awk '/^samples/ { exit !($2 > 40 && $2 < 80) }' counts
		perf script -i s.data -F ip,brstack >$name
	done
	same one again
	exits 1 cmp -s one two
END

# A program with calls of a library, a switch, a handler of signals, and a child.
cat >"$scratch/work.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

static volatile unsigned handled, sink;

static void handle(int number)
{
	for (int i = 0; i < number; i++)
		handled++;
}

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	return memcmp(a, b, 4);
}

__attribute__((noinline)) static unsigned choose(unsigned n)
{
	switch (n % 7) {
	case 0: return n + 3;
	case 1: return n * n;
	case 2: return n / 3;
	case 3: return n ^ 0x55;
	case 4: sink++; return n;
	case 5: return n - sink;
	default: return 1;
	}
}

int main(int argc, char **argv)
{
	struct itimerval often = { { 0, 3000 }, { 0, 3000 } };
	unsigned words[20];
	static const unsigned char returns = 0xc3;

	signal(SIGALRM, handle);
	signal(SIGUSR1, handle);
	kill(getpid(), SIGURG);
	if (argc > 1)
		setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned i = 0; i < 20; i++) {
		words[i] = choose(i * 77);
		if (i % 8 == 0)
			raise(SIGUSR1);
	}
	void *code = mmap(NULL, 4096, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(code, &returns, 1);
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	((void (*)(void))code)();
	qsort(words, 20, sizeof(*words), compare);
	for (unsigned i = 0; i < 200; i++)
		sink += choose(words[i % 20]);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	kill(getpid(), SIGURG);
	for (long i = 0; argc > 2 && i < atol(argv[2]); i++)
		sink += choose(words[i % 20]);
	return argc > 1 ? handled < SIGALRM : handled != 3 * SIGUSR1;
}
END
work() {
	can_step
	once work-branches gcc -O2 -Wl,-z,now "$scratch/work.c" -o work
}

check 'a PIE: entries are its branches, and ranges between them are straight (objdump)' <<'END'
	work
	branch-step -m -f -o s.data -n counts ./work
	python3 "$TOP/tests/branch-walk.py" s.data work | tee walk
	grep -q ' 0 wrong' walk
	awk '{ exit !($1 > 900 && $3 > 700) }' walk
	# 200 + 20 calls of choose, 19 and 199 rounds of the loops
	entries s.data | awk '{ print $1 }' >often
	for n in 19 199; do grep -qx $n often; done
	test "$(perf script -i s.data -F brstacksym | tr " " "\n" | grep -c "/choose+0x0/")" = 220
	# what is mapped meanwhile
	perf script -i s.data --show-mmap-events |
		sed -n 's|.*MMAP2.*\[\(0x[0-9a-f]*\)(.*//anon|\1|p' >anon
	entries s.data | grep -q "/$(cat anon)$"
END

check 'a signal at any moment: no range leads into its handler or out of it' <<'END'
	work
	branch-step -m -f -d 8 -o s.data -n counts ./work often
	python3 "$TOP/tests/branch-walk.py" s.data work | tee walk
	grep -q ' 0 wrong' walk
	awk '{ exit !($1 > 900) }' walk
	entries s.data | awk '{ print $1 }' | grep -qx 199
END

check 'a signal at a return: exact, too' <<'END'
	can_step
	cat >signal.s <<-'ASM'
	.globl _start
	.data
	action:	.quad handler, 0x04000000, restorer, 0
	.text
	_start:	mov $13, %eax		# rt_sigaction: 6 instructions
		mov $10, %edi
		lea action(%rip), %rsi
		xor %edx, %edx
		mov $8, %r10d
		syscall
		mov $39, %eax		# getpid: 4, with the next
		syscall
		mov %eax, %ebp
		mov $5, %ebx
	again:	call raise		# 15
		dec %ebx
		jnz again
		mov $60, %eax		# 3
		xor %edi, %edi
		syscall
	raise:	mov %ebp, %edi		# 25
		mov $10, %esi
		mov $62, %eax
		syscall
		ret
	handler: nop			# 10
		ret
	restorer: mov $15, %eax		# 10
		syscall
	ASM
	gcc -nostdlib -static -no-pie -o signal signal.s
	branch-step -f -o s.data -n counts ./signal
	cat counts
	grep -qx 'instructions 73' counts
	grep -qx 'conditional 4' counts
	grep -qx 'not-taken 1' counts
	grep -qx 'calls 5' counts
	grep -qx 'returns 10' counts
	python3 "$TOP/tests/branch-walk.py" s.data signal | tee walk
	grep -q '^19 entries .* 0 wrong' walk
END

check '-m: what is outside the marks is not stepped' <<'END'
	work
	branch-step -m -f -n marked ./work
	branch-step -m -f -n again ./work
	same marked again
	awk '/^instructions/ { exit !($2 > 4000 && $2 < 30000) }' marked
END

check '-F: samples at times, of a program that runs in between' <<'END'
	work
	# some of these rounds take long enough on any machine
	for rounds in 10000000 40000000 160000000 640000000; do
		branch-step -F 500 -o s.data -n counts ./work often $rounds
		test "$(perf_samples s.data)" -lt 12 || break
	done
	python3 "$TOP/tests/branch-walk.py" s.data work | tee walk
	grep -q ' 0 wrong' walk
	awk '{ exit !($1 > 300) }' walk
	at_least "$(perf_samples s.data)" 10
	grep -qx "samples $(perf_samples s.data)" counts
END

check 'the file says what made it, and of which files; pmu-stream reads it' <<'END'
	known
	branch-step -f -o s.data -n counts ./known
	perf script -i s.data --header-only >header
	grep -q 'cpudesc : single steps by branch-step, a test tool' header
	grep -q 'contains samples with branch stack' header
	perf buildid-list -i s.data | grep -q "$(file_build_id known) .*/known"
	perf report -i s.data --stdio >report 2>/dev/null
	grep -q 'Source Symbol.*Target Symbol' report
	pmu-stream --dump s.data >dump
	test "$(grep -c '^[0-9a-fx]* *SAMPLE' dump)" = 41
END

check 'its status is that of the program; what it cannot do, it says' <<'END'
	can_step
	exits 3 branch-step -F 100 -n counts sh -c 'exit 3'
	exits 143 branch-step -F 100 -n counts sh -c 'kill -TERM $$'
	exits 127 branch-step -f ./missing 2>log
	grep -qx "branch-step: cannot run './missing'" log
	exits 2 branch-step 2>log
	exits 2 branch-step -f -c 10 true 2>log
	exits 2 branch-step -m true 2>log
	exits 2 branch-step -d 1 true 2>log
	exits 1 branch-step -o /dev/full true 2>log
	grep -q 'cannot write the recording: No space left' log
END

check 'a program that executes another one: both are recorded' <<'END'
	known
	cat >exec.s <<-'ASM'
	.globl _start
	_start:	mov 16(%rsp), %rdi
		lea 16(%rsp), %rsi
		xor %edx, %edx
		mov $59, %eax
		syscall
	ASM
	gcc -nostdlib -static -no-pie -o exec exec.s
	branch-step -f -o s.data -n counts ./exec ./known
	sed 's/2886/2891/' "$scratch/known.counts" >want
	grep -vE 'mispredicted|samples|entries' counts | same want -
	perf script -i s.data --show-mmap-events --show-task-events >found
	for program in exec known; do
		grep -q "PERF_RECORD_COMM exec: $program:" found
		grep -q "PERF_RECORD_MMAP2 .*/$program\$" found
	done
END
done_testing
