#!/bin/sh
# What code is called: in memory that changed hands, and from mangled names.
# kinds: release asan
. tests/lib.sh

# share STREAM NAME: percent of its samples whose leaf is called so
share() {
	pmu-symbolize "$1" | pmu-topprof --to folded >folded
	awk -v name="$2" '{ n = $NF; sub(/ [0-9]*$/, ""); sub(/.*;/, ""); all += n
		if ($0 == name) its += n }
		END { print all ? 100 * its / all : 0 }' folded
}

# Code in memory of no file, where a library's text was: HOW says what of it is covered, and
# whether the library is still there, its text moved; MAP whether a perf map names the code.
cat >"$scratch/reuse.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const unsigned char loop[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };

int main(int argc, char **argv)
{
	const uintptr_t huge = 2 << 20;
	void *library = dlopen(argv[1], RTLD_NOW);
	uintptr_t first = (uintptr_t)dlsym(library, "first");
	uintptr_t last = (uintptr_t)dlsym(library, "last");
	uintptr_t start = (first + huge - 1) & -huge, end = last & -huge;
	size_t offset = 0;
	if (!strcmp(argv[2], "middle"))
		end -= huge;
	if (strcmp(argv[2], "moved"))
		dlclose(library);
	else
		offset = (uintptr_t)dlsym(library, "hot") - start;
	char *code = mmap((void *)start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memcpy(code + offset, loop, sizeof(loop));
	if (argc > 3) {
		char path[64];
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
		FILE *map = fopen(path, "w");
		fprintf(map, "%lx %lx jit_loop\n", (long)start, (long)sizeof(loop));
		fclose(map);
	}
	printf("%d\n", getpid());
	while (clock() < CLOCKS_PER_SEC / 10)
		((void (*)(long))(code + offset))(1000000);
}
END
cat >"$scratch/library.s" <<'END'
	.text
	.globl first, hot, last
	.type first, @function
	.type hot, @function
	.type last, @function
first:	ret
	.fill 3 << 20, 1, 0x90
	.size first, . - first
hot:	ret
	.fill 5 << 20, 1, 0x90
	.size hot, . - hot
last:	ret
	.size last, 1
	.section .note.GNU-stack, "", @progbits
END

# reused HOW [MAP]: "s.data", of a program that runs such code
reused() {
	test "$(uname -m)" = x86_64 || skip "the code is x86-64's"
	needs_command gcc
	gcc -shared "$scratch/library.s" -o library.so
	gcc -O1 "$scratch/reuse.c" -o reuse
	pmu-sample -e cpu-clock:u -F 2000 -o s.data -- ./reuse ./library.so "$@" >pid
	at_least $(perf_samples s.data) 20
}

for how in middle whole; do
	export how
	check "JIT code where a library was unloaded has the JIT's name: $how" <<-'END'
		reused $how map
		share s.data jit_loop >share
		rm -f /tmp/perf-$(cat pid).map
		cat folded
		at_least $(cat share) 90
	END
done

check "code where a part of a library was unloaded is not named after the library" <<'END'
	unsanitized
	reused middle
	at_most $(share s.data first) 0
	at_most $(share s.data hot) 0
END

check "text of a library that was moved to huge pages is the library's" <<'END'
	reused moved
	share s.data hot >share
	cat folded
	at_least $(cat share) 90
END

check "the stub of a C++ function, a part split off one, and the functions are four" <<'END'
	needs_command g++
	cat >t.cc <<-'END2'
		#include <exception>
		#include <ctime>
		__attribute__((cold, noinline)) void seldom() { asm(""); }
		__attribute__((noinline)) void split(int n)
		{
			if (n > 0) {
				seldom();
				for (volatile int i = 0; i < n; i++)
					;
			}
		}
		int main()
		{
			void *volatile p;
			while (clock() < CLOCKS_PER_SEC / 10)
				for (int i = 0; i < 100000; i++)
					p = (void *)std::get_terminate();
			while (clock() < CLOCKS_PER_SEC / 8)
				split(100000);
		}
	END2
	g++ -O2 -fcf-protection=none t.cc -o t
	# each is a few instructions: a short recording may miss one
	four() {
		pmu-sample -e cpu-clock:u -F 2000 -o s.data -- ./t
		pmu-symbolize --demangle none s.data | pmu-topprof --to folded | sort >mangled
		grep ";_ZSt13get_terminatev@plt " mangled && grep ";_ZSt13get_terminatev " mangled &&
			grep ";_Z5spliti.cold " mangled
	}
	eventually four
	sed "s/_ZSt13get_terminatev/std::get_terminate/; s/_Z5spliti/split/; s/_Z6seldomv/seldom/" \
		mangled | sort >expected
	pmu-symbolize s.data | pmu-topprof --to folded | sort | same expected -
END

# OCaml's compiler puts a label before the first function of a module.
cat >"$scratch/ocaml.s" <<'END'
	.text
	.globl camlM__code_begin, camlM__first_81, camlM__$2b$21_83, camlM__code_end
camlM__code_begin:
	.type camlM__first_81, @function
camlM__first_81:
1:	dec %rdi
	jnz 1b
	ret
	.size camlM__first_81, . - camlM__first_81
	.type camlM__$2b$21_83, @function
camlM__$2b$21_83:
1:	dec %rdi
	jnz 1b
	ret
	.size camlM__$2b$21_83, . - camlM__$2b$21_83
camlM__code_end:
	.section .note.GNU-stack, "", @progbits
END
check "OCaml's functions have readable names, as in perf, not that of a label before them" <<'END'
	test "$(uname -m)" = x86_64 || skip "the code is x86-64's"
	needs_command gcc perf
	cat >t.c <<-'END2'
		#include <time.h>
		void first(long) asm("camlM__first_81"), plus(long) asm("camlM__$2b$21_83");
		int main(void)
		{
			while (clock() < CLOCKS_PER_SEC / 20)
				first(100000);
			while (clock() < CLOCKS_PER_SEC / 10)
				plus(100000);
		}
	END2
	gcc -O1 t.c "$scratch/ocaml.s" -o t
	pmu-sample -e cpu-clock:u -F 2000 -o s.data -- ./t
	samples s.data ip,sym | grep -F " M.+!_83"
	printf "M.+!_83\nM.first_81\n" >expected
	pmu-symbolize s.data | pmu-topprof --to folded | sed -n "s/^t;\(M.*\) [0-9]*$/\1/p" |
		sort -u | same expected -
	pmu-symbolize --demangle simple s.data | pmu-topprof --to folded |
		grep "^t;M.first "
END

check "and so in a program by OCaml's own compiler" <<'END'
	unsanitized
	needs_command ocamlopt
	cat >m.ml <<-'END2'
		let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
		let () = while Sys.time () < 0.1 do ignore (fib 20) done
	END2
	ocamlopt m.ml -o m
	pmu-sample -e cpu-clock:u -F 2000 -o s.data -- ./m
	nm m | sed -n "s/.* camlM.*\(fib_[0-9]*\)$/M.\1/p" | sort -u >expected
	pmu-symbolize s.data | pmu-topprof --to folded | sed "s/ [0-9]*$//; s/.*;//" |
		grep "^M\.[cf]" | sort -u | same expected -
END

check "Go names are those of its own profiles, from stripped and whole programs alike" <<'END'
	unsanitized
	needs_command go
	cat >t.go <<-'END2'
		package main

		import "syscall"

		type T struct{ n int }

		func (t T) Value(k int) int {
			for i := 0; i < k; i++ {
				t.n += i
			}
			return t.n
		}

		func (t T) Short(k int) int { return t.n ^ k }

		func spent() int64 {
			var u syscall.Rusage
			syscall.Getrusage(0, &u)
			return u.Utime.Nano()
		}

		var sink int

		func main() {
			t := T{3}
			f := []func(int) int{t.Value, t.Short}
			a, b := make([]byte, 1<<12), make([]byte, 1<<12)
			for spent() < 2e8 {
				for i := 0; i < 1000; i++ {
					sink += f[0](30) + f[1](i) + copy(a, b)
					sink += f[1](i) + f[1](i) + f[1](i) + f[1](i)
				}
			}
		}
	END2
	export GO111MODULE=off
	mkdir whole stripped
	go build -o whole/t t.go
	strip whole/t -o stripped/t	# the same build, by its build ID
	pmu-sample -g -e cpu-clock:u -F 2000 -o s.data -- whole/t
	mkdir -p "root$PWD/whole"
	cp stripped/t "root$PWD/whole"
	pmu-symbolize s.data | pmu-topprof --to folded | sort >of-whole
	pmu-symbolize --sysroot root s.data | pmu-topprof --to folded | sort | same of-whole -
	none grep -e "\.abi0" -e "-fm[; ]" of-whole
	none grep "main.T.Short;main.T.Short" of-whole
	for name in main.T.Value main.T.Short runtime.memmove; do
		grep "[;]$name " of-whole
	done
	pmu-symbolize --demangle none s.data | pmu-topprof --to folded | grep "memmove.abi0\|-fm "
END

done_testing
