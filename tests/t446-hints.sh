#!/bin/sh
# What would help is said once: where a compiler names its code only if asked to, and where
# Go's tools have deleted what they ran.
# kinds: release user
. tests/lib.sh

# A program that runs code in anonymous memory for argv[1] ms of CPU time: a run of SIZE - 1 nops,
# or with SIZE 0 a loop, which has few addresses.  argv[2]: it writes a map, at its start or "late".
cat >"$scratch/compiler.c" <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#ifndef SIZE
# define SIZE 4096
#endif
extern int is_there;
static void write_map(const unsigned char *code)
{
	char path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	FILE *map = fopen(path, "w");
	if (map) {
		puts(path);
		fprintf(map, "%lx %x compiled\n", (long)code, SIZE ? SIZE : 10);
		fclose(map);
	}
}
int main(int argc, char **argv)
{
	struct timespec used = { 0, 0 };
	unsigned char *code = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#if SIZE
	memset(code, 0x90, SIZE);
	code[SIZE - 1] = 0xc3;
#else	/* mov $4096, %ecx; dec %ecx; jnz to dec; ret */
	memcpy(code, "\xb9\x00\x10\x00\x00\xff\xc9\x75\xfc\xc3", 10);
#endif
	if (argc > 2 && strcmp(argv[2], "late"))
		write_map(code);
	while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < atol(argv[1])) {
		for (int i = 0; i < 1000; i++)
			((void (*)(void))code)();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	}
	if (argc > 2 && !strcmp(argv[2], "late"))
		write_map(code);
	return is_there;
}
END
echo 'int is_there = 0;' >"$scratch/library.c"

# compiler NAME LIBRARY [SIZE]: the program NAME, which maps LIBRARY and runs that code
compiler() {
	test "$(uname -m)" = x86_64 || skip "its code is that of x86-64"
	once "hints-$2" gcc -shared -fPIC "$scratch/library.c" -o "$2"
	once "hints-$1" gcc -O1 -DSIZE="${3:-4096}" "$scratch/compiler.c" "./$2" -o "$1"
}

check 'Java without a map of its code: said once what would write one' <<'END'
	compiler java libjvm.so
	printf "%s\n" "./java 120 & ./java 120" wait >two
	pmu-sample -e cpu-clock:u -F 1000 -o s.data -- sh two
	pmu-symbolize s.data 2>err >/dev/null
	cat err
	grep -q "no names of code that Java compiled in process [0-9]*: start it with .*AtExit" err
	test "$(wc -l <err)" -eq 1
	pmu-sample -e cpu-clock:u -F 1000 -- ./java 120 2>/dev/null |
		pmu-symbolize 2>err >/dev/null
	cat err
	grep -q DumpPerfMapAtExit err
	pmu-symbolize -q s.data | pmu-topprof -o p.pb.gz
	pmu-top p.pb.gz 2>err >/dev/null
	cat err
	grep -q "^pmu-top: .anon: [0-9]* address[es]*. have no names: .* made this code while it ran" err
END

check 'the same of .NET, which is known by its library, and of Node.js, by its program' <<'END'
	any_user
	hint() {
		pmu-sample -e cpu-clock:u -F 1000 -o s.data -- "$1" 120
		pmu-symbolize s.data 2>err >/dev/null
		cat err
		grep -q "no names of code that $2 compiled in process [0-9]*: start it with $3$" err
		test "$(wc -l <err)" -eq 1
	}
	compiler any-name libcoreclr.so
	hint ./any-name .NET DOTNET_PerfMapEnabled=1
	compiler node libother.so 0	# samples count: a loop may have few addresses
	hint ./node Node.js --perf-basic-prof
END

check 'Java that was there before: said at once, with the line to type' <<'END'
	compiler java libjvm.so
	./java 600000 & jvm=$!
	eventually has_run $jvm 20
	pmu-sample -q -e cpu-clock:u -F 1000 -p $jvm | pmu-symbolize 2>err >resolved & pipe=$!
	eventually grep compiled err
	kill -0 $jvm
	no="pmu-symbolize: no names of code that Java compiled in process $jvm"
	echo "$no: type 'jcmd $jvm Compiler.perfmap' (Java 17), or record with --jit-map" |
		same - err
	kill $jvm
	wait $pipe
	test "$(wc -l <err)" -eq 1
END

check 'Java that was told to write a map at its end, and was killed: not told so again' <<'END'
	compiler java libjvm.so
	export JAVA_TOOL_OPTIONS="-Xmx64m -XX:+DumpPerfMapAtExit"
	pmu-sample -q -e cpu-clock:u -F 1000 -- ./java 300 | pmu-symbolize 2>err >/dev/null
	cat err
	grep -q "compiled in process \([0-9]*\): it ended before it wrote /tmp/perf-\1.map" err
	test "$(wc -l <err)" -eq 1
END

check 'no hint if there is a map, or if the program is not a known compiler' <<'END'
	compiler java libjvm.so
	pmu-sample -e cpu-clock:u -F 1000 -o s.data -- ./java 120 map >map
	pmu-symbolize s.data 2>err | pmu-topprof --to folded >folded
	none cat err
	grep -q compiled folded
	rm "$(cat map)"
	compiler other libother.so
	pmu-sample -e cpu-clock:u -F 1000 -o s.data -- ./other 120
	pmu-symbolize s.data 2>err >/dev/null
	none cat err
END

check 'the same of Java itself, which has names when it was started as was said' <<'END'
	any_user
	needs_command java javac
	cat >Work.java <<-END
		public class Work {
			static long sum;
			static long work(long n) {
				for (long i = 0; i < n; i++) sum += i ^ sum;
				return sum;
			}
			public static void main(String[] a) {
				var us = java.lang.management.ManagementFactory.getThreadMXBean();
				while (us.getCurrentThreadCpuTime() < 400000000L) work(100000);
			}
		}
	END
	javac Work.java || skip "javac cannot compile it"
	work() {
		pmu-sample -e cpu-clock:u -F 500 -o s.data -- java -Xmx64m -XX:+UseSerialGC "$@" Work
		pid=$(pmu-stream --dump s.data | sed -n 's/.* COMM .* pid=\([0-9]*\) .*exec=1 comm="java"$/\1/p')
		pmu-symbolize s.data 2>err | pmu-topprof --to folded >folded
		rm -f "/tmp/perf-$pid.map"
		cat err
	}
	work
	none grep Work.work folded
	options=$(grep -o -e "-XX:+Unlock[^ ]* -XX:+[A-Za-z]*" err)
	work $options
	none grep . err
	grep "Work.work" folded
	# in a live pipe, too, whose samples come before the map
	pmu-sample -q -e cpu-clock:u -F 500 -- java -Xmx64m -XX:+UseSerialGC $options Work |
		tee s.data | pmu-symbolize 2>err | pmu-topprof -q --to folded >live
	none grep "no names" err
	pid=$(pmu-stream --dump s.data | sed -n 's/.* COMM .* pid=\([0-9]*\) .*exec=1 comm="java"$/\1/p')
	rm -f "/tmp/perf-$pid.map"
	cat live
	at_least "$(awk '{ n += $NF } /Work.work/ { m += $NF }
		END { print int(100 * m / n) }' live)" 40
END

# share NAME FILE: the per cent of the weights of a folded profile that is in functions with NAME
share() {
	awk -v name="$1" '{ n += $NF } index($0, name) { m += $NF }
		END { print 100 * m / n }' "$2"
}

check 'Java in one command: the shares that it has in two steps, and no advice' <<'END'
	any_user
	needs_command java javac
	cat >Maps.java <<-END
		import java.util.*;
		public class Maps {
			static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
			static int maps() {
				Map<String, Integer> m = new TreeMap<>();
				for (int i = 0; i < 3000; i++) m.merge("k" + i % 701, 1, Integer::sum);
				return m.size();
			}
			public static void main(String[] a) {
				System.out.println(ProcessHandle.current().pid());
				var us = java.lang.management.ManagementFactory.getThreadMXBean();
				while (us.getCurrentThreadCpuTime() < 2000000000L) { fib(22); maps(); }
			}
		}
	END
	javac Maps.java || skip "javac cannot compile it"
	set -- java -Xmx64m -XX:+UseSerialGC -XX:+PreserveFramePointer \
		-XX:CompileCommand=quiet -XX:CompileCommand=dontinline,java.util.TreeMap::merge \
		-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit Maps
	pmu-prof --view none -e cpu-clock -F 999 -o one -- "$@" >out 2>err
	rm -f "/tmp/perf-$(grep -hxE "[0-9]+" out err).map"
	none grep -i "java" err
	pmu-topprof --to folded one.pb.gz >one
	pmu-sample -q -e cpu-clock -F 999 --unwind -o s.data -- "$@" >out
	pmu-symbolize s.data | pmu-topprof --to folded >two
	rm -f "/tmp/perf-$(grep -hxE "[0-9]+" out).map"
	for name in TreeMap.merge Maps.fib; do
		echo "$name: $(share $name one) and $(share $name two) %"
		# of some 2,000 samples each; what the compilers do differs between runs
		near "$(share $name one)" "$(share $name two)" 12
		at_least "$(share $name one)" 10
	done
	at_least "$(share TreeMap.merge one)" 25
END

check 'Node.js in one command, whose map comes in large pieces' <<'END'
	any_user
	needs_command node
	cat >t.js <<-END
		function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
		while (process.cpuUsage().user < 1000000) fib(22);
		console.log(process.pid);
	END
	pmu-prof --view none -e cpu-clock -F 999 -o one -- node --perf-basic-prof t.js >out 2>err
	cat out err
	none grep "no names" err
	pmu-topprof --to folded one.pb.gz >one
	rm -f "/tmp/perf-$(grep -hxE "[0-9]+" out err).map"
	at_least "$(share fib one)" 40
END

check 'compilers that write their map when the program ends: Java, .NET, Node.js, Python' <<'END'
	any_user
	for kind in java:libjvm.so net:libcoreclr.so node:libother.so python3.12:libpython3.12.so; do
		compiler ${kind%:*} ${kind#*:} 0
		pmu-prof --view none -e cpu-clock -F 999 -o one -- ./${kind%:*} 120 late >out 2>err
		rm -f $(sed -n "/^.tmp.perf-/p" out err)
		none grep "no names" err
		pmu-topprof --to folded one.pb.gz >one
		at_least "$(share compiled one)" 70
	done
END

check 'Java without frame pointers: the option is named once, unless the process has it' <<'END'
	any_user
	needs_command java javac
	cat >Chain.java <<-END
		public class Chain {
			static long sum;
			static long hot(long n) {
				for (long i = 0; i < n; i++) sum += i ^ sum;
				return sum;
			}
			static long call(int depth) { return depth == 0 ? hot(100000) : call(depth - 1) + 1; }
			public static void main(String[] a) {
				var us = java.lang.management.ManagementFactory.getThreadMXBean();
				while (us.getCurrentThreadCpuTime() < 500000000L) call(5);
			}
		}
	END
	javac Chain.java || skip "javac cannot compile it"
	option=-XX:+PreserveFramePointer
	pmu-sample -q -g -e cpu-clock:u -F 500 -o s.data -- java -Xmx64m -XX:+UseSerialGC Chain
	pmu-symbolize s.data 2>err >/dev/null
	cat err
	# an ended process does not say which options it had: it might have kept them
	grep "% of the stacks lack callers (Java.*): start Java with $option$" err
	none grep "unwind" err
	for how in later live; do
		for given in "" $option; do
			set -- java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
				-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit \
				-XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Chain.* $given Chain
			if test $how = later; then
				pmu-sample -q -e cpu-clock:u -F 500 --call-graph dwarf,8192 -o s.data -- "$@"
				pmu-unwind -o u.data s.data 2>err
			else
				pmu-sample --unwind -e cpu-clock:u -F 500 -o s.data -- "$@" 2>err
			fi
			cat err
			file=$(test $how = later && echo u.data || echo s.data)
			pmu-symbolize -q $file | pmu-topprof -q --frames cut --to folded | grep Chain.hot |
				sed "s/Interpreter/I/g; s/[a-z]* Chain\.//g" >stacks
			pid=$(pmu-stream -D s.data |
				sed -n 's/.* COMM .* pid=\([0-9]*\) .*exec=1 comm="java"$/\1/p')
			rm -f "/tmp/perf-$pid.map"
			cat stacks
			# each of the seven calls is there, compiled or interpreted, or the stack is cut there
			none grep -v "\[cut:\|I;\([^;]*call([a-z]*);\|I;\)\{6\}hot" stacks
			if test "$given"; then
				none grep "PreserveFramePointer\|stacks with Java" err
				at_least "$(awk '{ n += $NF } !/cut:/ { m += $NF } END { print int(100 * m / n) }' stacks)" 80
			else
				grep "stacks with Java end in code that it compiled: .* $option" err
				test "$(grep -c PreserveFramePointer err)" -eq 1
			fi
		done
	done
	# pmu-prof marks them
	set -- java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 Chain
	pmu-prof --view none -e cpu-clock:u -F 500 -o one -- "$@" >said 2>&1
	grep -e "start Java with $option" said
	pmu-topprof --to folded one.pb.gz | sed "s/;.*//" >roots
	at_least "$(grep -c "^.cut: no unwind information" roots)" 1
END

check 'assembly without call frame information: marked where its callers are not found' <<'END'
	any_user
	test "$(uname -m)" = x86_64 || skip "its code is that of x86-64"
	cat >t.S <<-END
		.globl spin
		.type spin, @function
	spin:	push %rbp
		push %rbx
		mov %rdi, %rbp		# the frame pointer is a counter here
	1:	mov \$200, %ecx
	2:	add %rcx, %rbx
		dec %ecx
		jnz 2b
		dec %rbp
		jnz 1b
		pop %rbx
		pop %rbp
		ret
		.size spin, . - spin
		.section .note.GNU-stack, "", @progbits
	END
	cat >t.c <<-END
		void spin(long);
		int main(void) { for (int i = 0; i < 100; i++) spin(30000); return 0; }
	END
	gcc -O2 -fno-omit-frame-pointer t.S t.c -o t
	pmu-prof --view none -e cpu-clock:u -F 500 --call-graph fp -o fp -- ./t >said 2>&1
	grep "% of the stacks lack callers (code without frame pointers): record with --unwind" said
	pmu-topprof --to folded fp.pb.gz | grep "spin" >stacks
	cat stacks
	none grep -v "^.cut: no [a-z ]*.;spin [0-9]*$" stacks
	pmu-prof --view none -e cpu-clock:u -F 500 -o unwound -- ./t >said 2>&1
	pmu-topprof --to folded unwound.pb.gz | grep "spin" >stacks
	cat stacks
	grep "^_start;.*;main;spin [0-9]*$" stacks
	none grep "cut: no code" stacks
END

check 'Python: said once what names its functions, unless there is a map' <<'END'
	needs_command python3
	cat >t.py <<-END
		import os, sys, time
		if len(sys.argv) > 1:
		    map = "/tmp/perf-%d.map" % os.getpid()
		    open(map, "w").write("1000 10 py::work\\n")
		    print(map)
		while time.process_time() < 0.5:
		    sum(i * i for i in range(1000))
	END
	python=$(python3 -c "import sys; print(sys.executable)")
	pmu-sample -q -e cpu-clock:u -F 500 -- "$python" t.py | pmu-symbolize 2>err >/dev/null
	cat err
	grep "process [0-9]* runs Python, .*: start it with -X perf (Python 3.12 or later)$" err
	test "$(wc -l <err)" -eq 1
	pmu-sample -q -e cpu-clock:u -F 500 -o s.data -- "$python" t.py map >map
	pmu-symbolize s.data 2>err >/dev/null
	rm "$(cat map)"
	none cat err
END

check 'a test that go test has deleted, a program that go run has deleted' <<'END'
	any_user
	needs_command go
	printf 'module a\n\ngo 1.19\n' >go.mod
	cat >a_test.go <<-END
		package main
		import ("testing"; "syscall")
		func TestWork(t *testing.T) { work() }
		func work() {
			var u syscall.Rusage
			for u.Utime.Sec * 1000000 + u.Utime.Usec < 120000 {
				for i := 0; i < 1000000; i++ { sum += i ^ sum }
				syscall.Getrusage(0, &u)
			}
		}
	END
	cat >a.go <<-END
		package main
		var sum int
		func main() { for i := 0; i < 200000000; i++ { sum += i ^ sum } }
	END
	pmu-sample -e cpu-clock:u -F 1000 -o s.data -- go test -vet=off .
	pmu-symbolize s.data 2>err >/dev/null
	cat err
	grep "no names from '.*a.test': .*'go test -c'" err
	go test -vet=off -c -o kept.test
	pmu-sample -e cpu-clock:u -F 1000 -o s.data -- ./kept.test
	pmu-symbolize s.data 2>err | pmu-topprof --to folded >folded
	none cat err
	grep -q a.work folded
	pmu-sample -e cpu-clock:u -F 1000 -o s.data -- go run a.go
	pmu-symbolize s.data 2>err >/dev/null
	cat err
	grep "no names from '.*/exe/a': .*'go build'" err
END

done_testing
