#!/bin/sh
# Registers that were asked for stay in samples whose stacks are unwound, and no others.
# kinds: release user
. tests/lib.sh

# The program's functions have x as first argument, which is in a register at each system call.
case $(uname -m) in
aarch64) first=x0 shown=x0 ;;
*) first=di shown=DI ;;
esac

# program: it makes the call nosuch(0x123456) a million times a second, in inner(), in outer()
program() {
	cat >program.c <<-EOF
		#include <unistd.h>
		#include <time.h>
		long before(void);
		__attribute__((noinline)) long inner(long n)
		{
			long sum = 0;
			for (long i = 0; i < n; i++)
				sum += syscall(1 << 20, 2, 3);
			return sum + 1;
		}
		__attribute__((noinline)) long outer(long n) { return inner(n) + 1; }
		int main(void)
		{
			while (clock() < CLOCKS_PER_SEC / 4)
				outer(1000);
			return 0;
		}
	EOF
	sed -i 's/(1 << 20, 2, 3)/(1 << 20, 0x123456)/' program.c
	once user-registers gcc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls program.c \
		-o program
}

# attrs STREAM: of each sampled event, whether it has copies of stacks
attrs() {
	pmu-stream --to perf.data -o perf.data "$1"
	perf evlist -v -i perf.data 2>/dev/null | awk '!/^dummy/ {
		print /STACK_USER/ ? "with stacks" : "without stacks" }'
	rm perf.data
}

# only_first STREAM: how many samples have registers; all of them that register, and no other
only_first() {
	samples "$1" uregs >"$1.regs"
	awk -v r="$shown" '/ABI:/ { n++; if (NF != 2 || index($2, r ":") != 1) wrong++ }
		END { print n + 0; exit wrong > 0 }' "$1.regs"
}

check 'samples that were unwound have the registers asked for, and whole stacks' <<'END'
	program
	pmu-sample --unwind --user-regs $first -e cpu-clock:u -F 999 -o s.data -- ./program
	at_least "$(only_first s.data)" 20
	attrs s.data >attrs
	grep -q 'without stacks' attrs
	none grep '^with stacks' attrs
	samples s.data ip,sym >script
	at_least "$(grep -c ' outer$' script)" 20
	test "$(grep -c ' inner$' script)" = "$(grep -c ' outer$' script)"
	# by all our tools, and with --record's spelling
	pmu-sample --unwind --record user-regs=$first+sp -e cpu-clock:u -F 999 -o two.data -- ./program
	samples two.data uregs | awk '/ABI:/ { n++; bad += NF != 3 || !/ sp:0x| SP:0x/ }
		END { exit !(n > 20 && !bad) }'
	pmu-symbolize -q two.data | pmu-topprof --to folded >folded
	grep -q ';outer;inner' folded
	# without the option, nothing of this: neither registers nor, in new samples, stacks
	pmu-sample --unwind -e cpu-clock:u -F 999 -o none.data -- ./program
	samples none.data uregs >regs
	none grep "0x" regs
	attrs none.data | grep -q '^with stacks'
END

check 'the value is that of the program: the first argument of its system call' <<'END'
	needs_tracepoints
	program
	pmu-sample --unwind --user-regs $first --record raw -e raw_syscalls:sys_enter \
		--filter 'id == 1048576' -c 1000 -o s.data -- ./program 2>err || skip "$(cat err)"
	only_first s.data >count
	at_least "$(cat count)" 10
	samples s.data uregs >regs
	grep ABI: regs | none awk -v r="$shown:0x123456" '$2 != r'
END

check 'stacks that nobody unwinds leave without copies and other registers, too' <<'END'
	program
	pmu-sample --unwind=0.01%,1Ki --user-regs $first -e cpu-clock:u -F 999 -o s.data -- ./program \
		2>err
	grep -q 'followed by frame pointers' err
	at_least "$(only_first s.data)" 20
	none grep 'pmu-unwind after' err
	# the process that unwinds is killed
	ten serial forever &
	pmu-sample --unwind --user-regs $first -e cpu-clock:u -F 999 -o k.data -p $! 2>err &
	recorder=$!
	eventually test -s k.data
	eventually pgrep -P $recorder >child
	kill -KILL "$(pgrep -P $recorder)"
	eventually grep -q 'signal 9.*until then stacks are followed by frame pointers' err
	size=$(stat -c %s k.data)
	eventually eval 'test "$(stat -c %s k.data)" -gt $((size + 20000))'
	kill -INT $recorder
	wait $recorder || :
	none grep 'recorded as they' err
	at_least "$(only_first k.data)" 20
	attrs k.data | none grep '^with stacks'
END

check 'pmu-unwind keeps the registers that it is asked to keep' <<'END'
	program
	pmu-sample --call-graph dwarf --user-regs $first -e cpu-clock:u -F 999 -o d.data -- ./program
	pmu-unwind --user-regs $first -o s.data d.data
	at_least "$(only_first s.data)" 20
	attrs s.data | none grep '^with stacks'
	samples s.data ip,sym | grep -q ' outer$'
	samples d.data uregs | grep -o "$shown:0x[0-9a-f]*" >before
	samples s.data uregs | grep -o "$shown:0x[0-9a-f]*" | same before -
	# nothing is left otherwise, and everything where dumps stay
	pmu-unwind -o none.data d.data
	samples none.data uregs 2>/dev/null | none grep '0x'
	exits 2 pmu-unwind --user-regs $first --keep-dumps -o x.data d.data 2>err
	exits 2 pmu-unwind --user-regs nosuch -o x.data d.data 2>err
	grep -q 'not .nosuch.' err
END

done_testing
