#!/bin/sh
# pmu-branch: the addresses of each form, from programs at all places that linkers give them.  The
# programs are made; what must come out is from nm and readelf (tests/branch-bases.py).
# kinds: release
. tests/lib.sh

bolt=/usr/lib/llvm-19/bin	# by its other name, perf2bolt does something else
cat >"$scratch/program.s" <<'END'
	.globl _start
	.type f, @function
	.type g, @function
	.text
_start:
f:	.fill 0x10, 1, 0x90
c:	call g
n:	.fill 0x20, 1, 0x90
b:	jmp f
	.size f, . - f
	.org 0x60
g:	.fill 0x8, 1, 0x90
e:	ret
	.size g, . - g
	.section .rodata
	.fill 0x300, 1, 7
END

# linked LINKER OPTION...: ./program, and a stream of two processes that run it
linked() {
	test "$(uname -m)" = x86_64 || skip "the program is for x86-64"
	linker=$1
	shift
	needs_command gcc "ld.$linker" nm
	gcc -nostdlib -Wl,--build-id=none -fuse-ld="$linker" "$@" -o program "$scratch/program.s"
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/branch-bases.py" . program
	readelf -lW program | awk '$1 == "LOAD" && $8 == "E" { print $2, $3 }' | head -n 1 >code
}

# agree: each form is what is expected
agree() {
	for form in autofdo llvm bolt; do
		pmu-branch --to $form --binary program -o out stream 2>err
		same $form out
		grep -q "36 of 36 branch entries in program (100.0 %), 30 ranges, 0 broken, 2 proc" err
	done
}

# tools_agree [bolt]: and with BRANCH=all, so do the tools that make or read these forms, but for
# perf2bolt's opinion of such small functions
tools_agree() {
	agree
	test "$BRANCH" = all || return 0
	needs_command sample_merger llvm-profgen-19 $bolt/perf2bolt
	# some of them know one process at a time
	pmu-stream --to perf.data -o recording one
	for form in autofdo llvm bolt perfscript; do
		pmu-branch -q --to $form --binary program -o $form recording
	done
	sample_merger -profiler=perf -binary=program -profile=recording -output_file=theirs recording
	same autofdo theirs
	for from in perfdata=recording perfscript=perfscript; do
		llvm-profgen-19 --binary=program --$from --skip-symbolization -o theirs 2>log
		same llvm theirs
	done
	test "$1" = bolt || return 0
	$bolt/perf2bolt -pa -p bolt -o ours program >log 2>&1
	grep -q 'involving unknown regions: 0 ' log
	grep '^1' ours >found
	printf '%s\n' '1 f/1 10 1 g/1 0 0 6' '1 f/1 35 1 f/1 0 1 3' | same - found
}

check 'a PIE by BFD' <<'END'
	linked bfd -pie
	grep -q "^0x001000 0x0*1000$" code
	tools_agree bolt
END

check 'a program at a fixed address by BFD' <<'END'
	linked bfd -static -no-pie
	grep -q "^0x001000 0x0*401000$" code
	tools_agree bolt
END

check 'a PIE by lld: code is at another address than in the file, and not on a page' <<'END'
	linked lld -pie
	grep -q "^0x000[1-9a-f]*[0-9a-f]* 0x0*1[0-9a-f]*[1-9a-f][0-9a-f]*$" code
	tools_agree bolt
END

check 'a program at a fixed address by lld' <<'END'
	linked lld -static -no-pie
	grep -q "^0x000[1-9a-f]*[0-9a-f]* 0x0*201[0-9a-f]*$" code
	tools_agree bolt
END

check 'a PIE whose first segment is not at 0: BOLT counts from there' <<'END'
	linked lld -pie -Wl,--image-base=0x200000
	grep -q " 0x0*201[0-9a-f]*$" code
	tools_agree	# perf2bolt 19 finds no function in such a program
END

cat >"$scratch/program.c" <<'EOF'
#include <signal.h>
#include <unistd.h>
__attribute__((noinline)) int odd(int n) { return n & 1 ? n * 3 : n; }
int main(void)
{
	volatile int sum = 0;
	kill(getpid(), SIGURG);
	for (int i = 0; i < 300; i++)
		sum += odd(i) % 7;
	kill(getpid(), SIGURG);
	return 0;
}
EOF

check 'such programs, recorded: all lines are what a script counts that walks perf script' <<'END'
	test "$(uname -m)" = x86_64 || skip "branch-step steps x86-64 only"
	needs_command gcc ld.lld perf readelf
	for kind in "pie -pie -fPIE" "fixed -no-pie" "lld -pie -fPIE -fuse-ld=lld"; do
		name=${kind%% *}
		gcc -O1 ${kind#* } -o $name "$scratch/program.c"
		branch-step -f -m -o $name.data -n counts ./$name
		perf script -i $name.data --show-mmap-events -F pid,ip,brstack >script 2>err
		for form in autofdo llvm bolt; do
			pmu-branch -q --to $form --binary $name -o ours $name.data
			python3 "$TOP/tests/brstack.py" $form $name <script >theirs
			same theirs ours || { echo "$kind: $form"; exit 1; }
			at_least "$(awk -F "[: ]" "/->/ { n += \$2 } /^B/ { n += \$4 }
				END { print n }" theirs)" 800
		done
	done
END

done_testing
