#!/bin/sh
# The living target: files deleted, replaced, in another mount namespace, unloaded; JIT code.
# kinds: release user
. tests/lib.sh

# A program that spends its time in NAME: so many seconds of CPU time, or until it is killed
cat >"$scratch/spinner.c" <<'END'
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) long NAME(long x)
{
	for (int i = 0; i < 100000; i++)
		x = x * FACTOR + i;
	return x;
}
int main(int argc, char **argv)
{
	struct timespec used = { 0, 0 };
	double seconds = argc > 1 ? strtod(argv[1], 0) : 1e9;
	long x = argc;
	while ((double)used.tv_sec + (double)used.tv_nsec * 1e-9 < seconds) {
		x = NAME(x);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	}
	return argv[0][0] + (int)x == 12345;
}
END

# Two such programs, whose code and build IDs differ, with build IDs and without
for id in sha1 none; do
	mkdir "$scratch/$id"
	for spinner in first:31 other:37; do
		gcc -O1 "-Wl,--build-id=$id" "-DNAME=${spinner%:*}_one" "-DFACTOR=${spinner#*:}" \
			"$scratch/spinner.c" -o "$scratch/$id/${spinner%:*}_one"
	done
done

# share FOLDED FUNCTION: the percentage of samples at whose leaf it is
share() {
	awk -v name="$2" '
		{ value = $NF; sub(/ [0-9]+$/, ""); sub(/.*;/, ""); sum += value }
		$0 == name { mine += value }
		END { printf "%.1f\n", sum ? 100 * mine / sum : 0 }' "$1"
}

# watch -p PID, watch -- COMMAND...: profile it as it lives, until there are some 150 samples,
# or $size of them
watch() {
	pmu-sample --all-user -e cpu-clock -F 1000 --max-size="${size:-8K}" "$@" |
		pmu-symbolize -v 2>err | pmu-topprof --to folded >folded
	cat err folded
}

is_running() { readlink "/proc/$1/exe" | grep -q "/$2\$"; }

for id in sha1 none; do
check "a program deleted while it runs (build ID: $id)" <<'END'
	cp "$scratch/$id/first_one" .
	./first_one &
	target=$!
	eventually is_running $target first_one
	rm first_one
	watch -p $target
	at_least "$(share folded first_one)" 90
END

check "a program replaced while it runs: the one that runs is named (build ID: $id)" <<'END'
	cp "$scratch/$id"/*_one .
	./first_one &
	target=$!
	eventually is_running $target first_one
	mv other_one first_one
	watch -p $target
	at_least "$(share folded first_one)" 90
END

check "replaced after the recording: it is refused, with the reason (build ID: $id)" <<'END'
	cp "$scratch/$id"/*_one .
	pmu-sample --all-user -e cpu-clock -F 500 -o s.data -- ./first_one 0.1
	cp first_one kept
	mv other_one first_one
	pmu-symbolize -v s.data 2>err >r.data
	pmu-topprof --to folded r.data >folded
	cat err folded
	reason="\(the file here is of another build\|another file is in its place\)"
	grep -q "no names from .*/first_one.: $reason" err
	grep -q "first_one.: .* unnamed: \(the file here\|another file\)" err
	none grep _one\  folded
	at_least "$(share folded '[first_one]')" 90
END
done

# needs_namespaces FLAGS: $unshare makes them, in a user namespace where we are not root
needs_namespaces() {
	unshare="unshare -$1"
	test "$(id -u)" = 0 || unshare="unshare -r$1"
	$unshare true || skip "$unshare: not permitted"
}

check 'a process with a mount namespace of its own, where the path means another file' <<'END'
	cp "$scratch/none"/*_one .
	cp other_one program
	needs_namespaces m
	$unshare sh -c 'mount --bind first_one program && exec ./program' &
	target=$!
	eventually is_running $target program
	watch -p $target
	at_least "$(share folded first_one)" 90
END

# A program that spends time in two libraries, one after the other: in each until the file
# go1, go2 is there.  Then it unloads the library and deletes it.  Prints the CPU time in ms.
cat >"$scratch/loader.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}
int main(void)
{
	long x = 1;

	for (int n = 1; n <= 2; n++) {
		char file[32], name[32], go[32];
		double start = cpu_ms();

		snprintf(file, sizeof(file), "./lib%d.so", n);
		snprintf(name, sizeof(name), "body_%d", n);
		snprintf(go, sizeof(go), "go%d", n);
		void *library = dlopen(file, RTLD_NOW);
		long (*body)(long) = (long (*)(long))dlsym(library, name);
		do
			x = body(x);
		while (cpu_ms() - start < 200 || access(go, F_OK));
		printf("%s %.0f\n", name, cpu_ms() - start);
		dlclose(library);
		remove(file);
	}
	return x == 12345;
}
END

for n in 1 2; do
	echo "long body_$n(long x) { for (int i = 0; i < 100000; i++) x = x * 3$n + i; return x; }" |
		gcc -O1 -shared -fPIC -Wl,--build-id=none -x c - -o "$scratch/lib$n.so"
done
gcc -O1 -Wl,--build-id=none "$scratch/loader.c" -o "$scratch/loader" -ldl

check 'a library that is loaded, unloaded, and another loaded in its place' <<'END'
	cp "$scratch"/lib*.so .
	mkfifo pipe
	pmu-sample --all-user -e cpu-clock -F 1000 -o pipe -- "$scratch/loader" >ran &
	pmu-symbolize pipe >r.data &
	resolver=$!
	eventually grep lib1.so /proc/$resolver/maps
	touch go1
	eventually grep lib2.so /proc/$resolver/maps
	touch go2
	wait
	pmu-topprof --to folded r.data >folded
	cat ran folded
	while read -r name ms; do
		near "$(share folded "$name")" "$(awk -v name="$name" '
			{ sum += $2 } $1 == name { its = $2 } END { print 100 * its / sum }' ran)" 10
	done <ran
END

check 'a library deleted before: named where map_files may be read, never by the program' <<'END'
	cp "$scratch/lib1.so" .
	"$scratch/loader" &
	target=$!
	eventually grep -q /lib1.so /proc/$target/maps
	rm lib1.so
	watch -p $target
	name=[lib1.so]
	test "$(id -u)" != 0 || name=body_1
	at_least "$(share folded "$name")" 90
END

check 'a program that runs from a memfd' <<'END'
	gcc -x c -o in_memory - <<-EOF
	#define _GNU_SOURCE
	#include <fcntl.h>
	#include <sys/mman.h>
	#include <sys/sendfile.h>
	#include <unistd.h>
	int main(void)
	{
		char *arguments[] = { "program", NULL };
		int from = open("$scratch/none/first_one", O_RDONLY), to = memfd_create("program", 0);

		while (sendfile(to, from, NULL, 1 << 20) > 0)
			;
		return fexecve(to, arguments, arguments + 1);
	}
	EOF
	watch -- ./in_memory
	at_least "$(share folded first_one)" 90
END

# A script that spends its time in theHotFunction: until the process got so many seconds of
# CPU time, or until it is killed
cat >"$scratch/jit.js" <<'END'
const seconds = Number(process.argv[2] || 1e9);
function cpuSeconds() {
	const used = process.cpuUsage();
	return (used.user + used.system) / 1e6;
}
function theHotFunction(x) {
	let s = 0;
	for (let i = 0; i < 1e5; i++)
		s += (i * x) % 7;
	return s;
}
function theCaller() {
	let t = 0;
	while (cpuSeconds() < seconds)
		t += theHotFunction(t & 15);
	return t;
}
theCaller();
END

# hot_share FOLDED: the percentage of samples with theHotFunction at the leaf, however compiled
hot_share() {
	awk '{ sum += $NF; if (/;[^;]*theHotFunction[^;]*$/) hot += $NF }
		END { printf "%.1f\n", 100 * hot / sum }' "$1"
}

check 'JIT code of node, by its /tmp/perf-PID.map, as perf names it' <<'END'
	any_user
	needs_command node perf
	pmu-sample --all-user -g -e cpu-clock -F 500 -o s.data -- sh -c '
		echo $$ >pid
		exec node --perf-basic-prof --no-turbo-inlining "$0" 0.6' "$scratch/jit.js"
	pmu-symbolize -v s.data 2>err | pmu-topprof --to folded >folded
	samples s.data ip,sym >script
	rm -f "/tmp/perf-$(cat pid).map"
	cat err
	grep -q "//anon.: .* named by the JIT" err
	awk 'BEGIN { RS = ""; FS = "\n" } { n++ } $1 ~ /theHotFunction/ { hot++ }
		END { printf "%.1f %d\n", 100 * hot / n, n }' script >theirs
	read -r theirs n <theirs
	echo "theirs: $theirs % of $n"
	at_least "$theirs" 50
	near "$(hot_share folded)" "$theirs" 1
END

check 'the same live, while the map grows, in a pid namespace and root of its own' <<'END'
	needs_command node
	needs_namespaces mpf
	$unshare sh -c '
		mount -t tmpfs none /tmp &&
		cat >/tmp/jit.js &&
		exec node --perf-basic-prof --no-turbo-inlining /tmp/jit.js' <"$scratch/jit.js" &
	children=/proc/$!/task/$!/children
	eventually grep -q . $children
	target=$(tr -d ' ' <$children)
	eventually is_running "$target" node
	size=24K watch -p "$target"	# of which some 150 are of its start
	at_least "$(hot_share folded)" 50
END

check 'JIT code of node, by its jitdump file' <<'END'
	any_user
	needs_command node
	pmu-sample --all-user -e cpu-clock -F 500 -o s.data -- \
		node --perf-prof --no-turbo-inlining "$scratch/jit.js" 0.5
	ls jit-*.dump || skip "this node writes no jitdump"
	pmu-symbolize -v s.data 2>err | pmu-topprof --to folded >folded
	cat err folded
	at_least "$(hot_share folded)" 50
END

# A 32-bit program without libraries: clock_gettime() of its vdso for 0.3 s of CPU time, or with an
# argument until it is killed
cat >"$scratch/vdso32.c" <<'END'
#include <elf.h>
static long call(long number, long a, void *b)
{
	__asm__ volatile("int $0x80" : "+a"(number) : "b"(a), "c"(b) : "memory");
	return number;
}
static int is_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}
static void *find(const char *base, const char *name)
{
	const Elf32_Phdr *p = (const void *)(base + ((const Elf32_Ehdr *)base)->e_phoff);
	const Elf32_Sym *symbol = 0;
	const char *text = 0;
	while (p->p_type != PT_DYNAMIC)
		p++;
	for (const Elf32_Dyn *d = (const void *)(base + p->p_vaddr); d->d_tag; d++) {
		if (d->d_tag == DT_SYMTAB)
			symbol = (const void *)(base + d->d_un.d_ptr);
		if (d->d_tag == DT_STRTAB)
			text = base + d->d_un.d_ptr;
	}
	while (!is_equal(text + symbol->st_name, name))
		symbol++;
	return (void *)(base + symbol->st_value);
}
__attribute__((used)) static void run(const unsigned long *stack)
{
	enum { EXIT = 1, CLOCK_GETTIME = 265, PROCESS_CPU_TIME = 2, MONOTONIC = 1 };
	const unsigned long *at = stack + 1 + *stack + 1;
	long long now[2];
	long used[2];
	while (*at++)
		;
	while (*at != AT_SYSINFO_EHDR)
		at += 2;
	int (*get)(int, void *) = find((const char *)at[1], "__vdso_clock_gettime64");
	do {
		for (int i = 0; i < 100000; i++)
			get(MONOTONIC, now);
		call(CLOCK_GETTIME, PROCESS_CPU_TIME, used);
	} while (*stack > 1 || (used[0] == 0 && used[1] < 300000000));
	call(EXIT, 0, 0);
}
__asm__(".globl _start\n"
	"_start: movl %esp, %eax\n"
	"andl $-16, %esp\n"
	"subl $12, %esp\n"
	"pushl %eax\n"
	"call run");
END

check 'the vdso of a 32-bit process, which is another one' <<'END'
	any_user
	mkdir gnu
	: >gnu/stubs-32.h	# elf.h wants it, and needs nothing of it
	gcc -m32 -O1 -w -I. -idirafter "/usr/include/$(gcc -print-multiarch)" -fno-pic -no-pie \
		-nostdlib -static -ffreestanding -fno-stack-protector "$scratch/vdso32.c" -o vdso32 &&
		./vdso32 || skip "no 32-bit programs here"
	watch -- ./vdso32 forever
	grep -q "\[vdso32\].: .* named by symbols" err
	at_least "$(share folded __vdso_clock_gettime64)" 50
	pmu-sample --all-user -e cpu-clock -F 1000 -o s.data -- ./vdso32
	pmu-symbolize -v s.data 2>err | pmu-topprof --to folded >folded
	cat err folded
	grep -q "\[vdso32\].: .* unnamed: no 32-bit process was left" err
END

done_testing
