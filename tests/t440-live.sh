#!/bin/sh
# The living target: files deleted, replaced, in another mount namespace, unloaded; JIT code.
# kinds: release user
. tests/lib.sh

# spinner NAME SECONDS FLAGS: a program that spends its time in NAME
spinner() {
	factor=$(printf %s "$1" | cksum | cut -d" " -f1)	# so that code and build ID differ
	cat >"$1.c" <<END
#include <time.h>
__attribute__((noinline)) long $1(long x)
{
	for (int i = 0; i < 100000; i++)
		x = x * $factor + i;
	return x;
}
int main(int argc, char **argv)
{
	time_t end = time(0) + $2;
	long x = argc;
	while (time(0) < end)
		x = $1(x);
	return argv[0][0] + (int)x == 12345;
}
END
	gcc -O1 $3 "$1.c" -o "$1"
}

# share PROFILE FUNCTION: its flat percentage, as a whole number
share() {
	go tool pprof -top -nodecount=1000 -nodefraction=0 "$1" 2>/dev/null |
	awk -v name="$2" '$6 == name { print int($2); found = 1 } END { if (!found) print 0 }'
}

for id in --build-id=sha1 --build-id=none; do
check "a program deleted while it runs ($id)" <<'END'
	spinner deleted_one 3 "-Wl,$id"
	./deleted_one &
	target=$!
	sleep 0.1
	rm deleted_one
	pmu-sample -e cpu-clock -F 500 -p $target -d 1 | pmu-symbolize 2>err | pmu-topprof >p.pb.gz
	kill $target
	cat err
	test "$(share p.pb.gz deleted_one)" -ge 90
END

check "a program replaced by another while it runs: the one that runs is named ($id)" <<'END'
	spinner first_one 3 "-Wl,$id"
	spinner other_one 3 "-Wl,$id"
	./first_one &
	target=$!
	sleep 0.1
	mv other_one first_one
	pmu-sample -e cpu-clock -F 500 -p $target -d 1 | pmu-symbolize 2>err | pmu-topprof >p.pb.gz
	kill $target
	cat err
	test "$(share p.pb.gz first_one)" -ge 90
END

check "replaced after the recording: it is refused, with the reason ($id)" <<'END'
	spinner early_one 1 "-Wl,$id"
	spinner later_one 1 "-Wl,$id"
	pmu-sample -e cpu-clock -F 500 -o s.data -- ./early_one
	cp early_one kept
	mv later_one early_one
	pmu-symbolize -v s.data 2>err >r.data
	pmu-topprof r.data >p.pb.gz
	grep -q "no names from .*/early_one.: \(the file here is of another build\|another file is in its place\)" err
	grep -q "early_one.: .* unnamed: \(the file here\|another file\)" err
	test "$(share p.pb.gz later_one)" -eq 0
	test "$(share p.pb.gz early_one)" -eq 0
END
done

check 'a process with a mount namespace of its own, where the path means another file' <<'END'
	unshare -m true 2>/dev/null || { echo "unshare: not permitted"; exit 77; }
	spinner inside 4
	spinner outside 4
	cp outside program
	unshare -m sh -c "mount --bind inside program && exec ./program" &
	target=$!
	sleep 0.3
	pmu-sample -e cpu-clock -F 500 -p $target -d 1 | pmu-symbolize | pmu-topprof >p.pb.gz
	kill $target
	test "$(share p.pb.gz inside)" -ge 90
END

check 'a library that is loaded, unloaded, and another loaded in its place' <<'END'
	for n in 1 2; do
		printf "long body_%d(long x) { for (int i = 0; i < 100000; i++) x = x * 31 + i; return x; }\n" $n >l.c
		gcc -O1 -shared -fPIC l.c -o "lib$n.so"
	done
	cat >main.c <<EOF
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
int main(void)
{
	long x = 1;
	for (int n = 1; n <= 2; n++) {
		char file[32], name[32];
		sprintf(file, "./lib%d.so", n);
		sprintf(name, "body_%d", n);
		void *library = dlopen(file, RTLD_NOW);
		long (*body)(long) = (long (*)(long))dlsym(library, name);
		for (clock_t end = clock() + CLOCKS_PER_SEC / 2; clock() < end; )
			x = body(x);
		dlclose(library);
		remove(file);
	}
	return x == 12345;
}
EOF
	gcc -O1 main.c -o main -ldl
	pmu-sample -e cpu-clock -F 1000 -- ./main | pmu-symbolize | pmu-topprof >p.pb.gz
	test "$(share p.pb.gz body_1)" -ge 40
	test "$(share p.pb.gz body_2)" -ge 40
END

check 'a program that runs from a memfd' <<'END'
	spinner in_memory 2
	cat >run.py <<EOF
import os
fd = os.memfd_create("program")
os.write(fd, open("in_memory", "rb").read())
os.execve(fd, ["program"], dict(os.environ))
EOF
	pmu-sample -e cpu-clock -F 500 -- python3 run.py | pmu-symbolize | pmu-topprof >p.pb.gz
	test "$(share p.pb.gz in_memory)" -ge 80
END

cat >"$scratch/jit.js" <<'EOF'
function theHotFunction(x) { let s = 0; for (let i = 0; i < 1e5; i++) s += (i * x) % 7; return s; }
function theCaller() { let t = 0; const end = Date.now() + 2000; while (Date.now() < end) t += theHotFunction(t & 15); return t; }
theCaller();
function theHotFunction(x) { let s = 0; for (let i = 0; i < 1e5; i++) s += (i * x) % 7; return s; }
function theCaller() { let t = 0; const end = Date.now() + 2000; while (Date.now() < end) t += theHotFunction(t & 15); return t; }
theCaller();
EOF

check 'JIT code of node, by its /tmp/perf-PID.map, as perf names it' <<'END'
	command -v node >/dev/null || { echo "no node"; exit 77; }
	node --perf-basic-prof --no-turbo-inlining "$scratch/jit.js" & target=$!
	pmu-sample -g -e cpu-clock -F 500 -p $target -d 1 >s.data
	wait $target
	pmu-symbolize -v s.data 2>err | pmu-topprof >p.pb.gz
	perf script -i s.data -F ip,sym >script 2>/dev/null
	rm -f /tmp/perf-$target.map
	cat err
	grep -q "//anon.: .* named by the JIT" err
	go tool pprof -top p.pb.gz 2>/dev/null >top
	cat top
	# how often as a leaf, by both: but for code that was replaced meanwhile, of which the
	# map knows the last only when perf reads it
	theirs=$(awk 'BEGIN { RS = ""; FS = "\n" } $1 ~ /theHotFunction/ { hot++ } END { print hot + 0 }' script)
	n=$(awk 'BEGIN { RS = "" } END { print NR }' script)
	go tool pprof -top -sample_index=samples p.pb.gz 2>/dev/null >counts
	ours=$(awk '/theHotFunction/ { s += $1 } END { print s + 0 }' counts)
	echo "$ours of $n samples, perf $theirs"
	test "$theirs" -ge $((n / 2))
	test $((ours - theirs)) -le $((1 + n / 100)) && test $((theirs - ours)) -le $((1 + n / 100))
END

check 'the same live, while the map grows, in a pid namespace and root of its own' <<'END'
	command -v node >/dev/null || { echo "no node"; exit 77; }
	unshare -mpf true 2>/dev/null || { echo "unshare: not permitted"; exit 77; }
	unshare -mpf sh -c "mount -t tmpfs none /tmp; cat >/tmp/jit.js; node --perf-basic-prof --no-turbo-inlining /tmp/jit.js; :" <"$scratch/jit.js" &
	sleep 0.5
	target=$(pgrep -n -f -x "node --perf-basic-prof --no-turbo-inlining /tmp/jit.js")
	pmu-sample -g -e cpu-clock -F 500 -p "$target" -d 1 | pmu-symbolize | pmu-topprof >p.pb.gz
	wait
	go tool pprof -top p.pb.gz 2>/dev/null >top
	cat top
	grep -q theHotFunction top
END

check 'JIT code of node, by its jitdump file' <<'END'
	command -v node >/dev/null || { echo "no node"; exit 77; }
	cp "$scratch/jit.js" .
	pmu-sample -e cpu-clock -F 500 -o s.data -- node --perf-prof --no-turbo-inlining jit.js
	ls jit-*.dump || { echo "this node writes no jitdump"; exit 77; }
	pmu-symbolize -v s.data 2>err | pmu-topprof >p.pb.gz
	cat err
	go tool pprof -top p.pb.gz 2>/dev/null >top
	cat top
	grep -q "theHotFunction" top
END

# A 32-bit program without libraries: a second of clock_gettime() of its vdso
cat >"$scratch/vdso32.c" <<'END'
#include <elf.h>
static long call(long number, long a)
{
	__asm__ volatile("int $0x80" : "+a"(number) : "b"(a));
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
	const unsigned long *at = stack + 1 + *stack + 1;
	long long now[2];
	while (*at++)
		;
	while (*at != AT_SYSINFO_EHDR)
		at += 2;
	int (*get)(int, void *) = find((const char *)at[1], "__vdso_clock_gettime64");
	get(1, now);
	for (long long end = now[0] + 2; now[0] < end; )
		get(1, now);
	call(1, 0);
}
__asm__(".globl _start\n_start: movl %esp, %eax\nandl $-16, %esp\nsubl $12, %esp\npushl %eax\ncall run");
END

check 'the vdso of a 32-bit process, which is another one' <<'END'
	gcc -m32 -O1 -w -fno-pic -no-pie -nostdlib -static -ffreestanding -fno-stack-protector \
		"$scratch/vdso32.c" -o vdso32 && timeout 5 ./vdso32 || { echo "no 32-bit programs here"; exit 77; }
	pmu-sample -e cpu-clock -F 1000 -- ./vdso32 | pmu-symbolize -v 2>err | pmu-topprof --folded >folded
	cat err folded
	grep -q "^vdso32;__vdso_clock_gettime64 [0-9]\{9,\}$" folded
	grep -q "\[vdso32\].: .* named by symbols" err
	pmu-sample -e cpu-clock -F 1000 -o s.data -- ./vdso32
	pmu-symbolize -v s.data 2>err | pmu-topprof --folded >folded
	grep -q "\[vdso32\].: .* unnamed: no 32-bit process was there" err
END

done_testing
