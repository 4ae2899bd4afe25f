#!/bin/sh
# Which files libpmukit opens to find names: as the caller allows, whatever the paths in a stream.
# kinds: release
. tests/lib.sh
. tests/budgets.sh

lib=${BIN%/bin}/lib
by_fd="/proc/self/fd/[0-9]*"	# how a file that was found is opened, and its path is asked for

# files ARGUMENT...: the program that calls the library; "asked" has the files that it asked for
files() {
	HOME=$PWD/home LD_LIBRARY_PATH=$lib strace -f -qq -e signal=none \
		-e trace=%file,process_vm_readv -o trace "$scratch/files" "$@"
	# without those about an open descriptor
	sed '1,/here it begins/d; /^[^"]*""/d; s/^[^"]*"\([^"]*\)".*/\1/' trace | sort -u >asked
}

# built: the program that calls the library; what was sampled; and a recording of it, s.data
built() {
	test -e "$lib/libpmukit.so.0" || skip "there is no $lib/libpmukit.so.0: make lib"
	needs_command strace gcc
	test -e "$scratch/files" || make_all
	cp "$scratch/s.data" "$scratch/dumps.data" .
	mkdir home
}
make_all() {
	gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -I"$TOP/include" -o "$scratch/files" \
		"$TOP/tests/library/files.c" -L"$lib" -lpmukit
	mkdir "$scratch/there"
	cat >"$scratch/there/sampled.c" <<-"EOF"
	#include <fcntl.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <time.h>
	#include <unistd.h>

	volatile unsigned n;
	static double now(void)
	{
		struct timespec t;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
		return t.tv_sec + t.tv_nsec / 1e9;
	}
	__attribute__((noinline)) void busy(void)
	{
		for (int i = 0; i < 100000; i++)
			n += i;
	}
	int main(void)
	{
		/* code as a compiler at run time makes it: a loop, and a dump file that is mapped */
		char name[64];
		void (*made)(int) = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		snprintf(name, sizeof(name), "%s/jit-%d.dump", DIRECTORY, getpid());
		int fd = open(name, O_RDWR | O_CREAT, 0600);
		if (ftruncate(fd, 4096))
			return 1;
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	#ifdef __x86_64__
		memcpy((void *)made, "\xff\xcf\x75\xfc\xc3", 5);
	#else
		made = NULL;
	#endif
		while (now() < 0.3) {
			busy();
			if (made)
				made(100000);
			if (access(name, F_OK))
				return 1;
		}
	}
	EOF
	(
		cd "$scratch/there"
		gcc -g -O1 -Wl,--build-id -DDIRECTORY="\"$PWD\"" -o sampled sampled.c
	)
	pmu-sample -e cpu-clock -F 1000 -o "$scratch/s.data" -- "$scratch/there/sampled"
	pmu-sample -e cpu-clock -F 1000 --call-graph=dwarf -o "$scratch/dumps.data" -- \
		"$scratch/there/sampled"
}

# lacks NAME FILE; has_name NAME FILE: whether a frame is NAME
has_name() { grep -qx "$1" "$2"; }
lacks() { none grep -x "$1" "$2"; }

check 'as a rule, files are opened by the paths in the stream' <<'END'
	built
	files stream s.data >got
	has_name busy got
	grep -q "/there/sampled$" asked
	test "$(uname -m)" != x86_64 || grep -q "/tmp/perf-[0-9]*.map" asked
	grep -q "/there/jit-[0-9]*.dump$" asked
	none grep "$PWD/home" asked
END

check 'no file: nothing is asked for but the input' <<'END'
	built
	for data in s.data dumps.data; do
		for more in "" "-d $scratch/there -b $scratch/there/sampled"; do
			files -f 2 $more stream $data >got
			at_least "$(wc -l <got)" 50
			lacks busy got
			lacks main got
			none grep -vx "$data" asked
		done
	done
	pmu-symbolize -o resolved.data s.data
	files -f 2 stream resolved.data >got
	has_name busy got
	none grep -vx "resolved.data" asked
END

check 'debug files: only in the named directories, and files that are named' <<'END'
	built
	mkdir -p debug
	cp "$scratch/there/sampled" own
	for data in s.data dumps.data; do
		files -f 1 -d "$PWD/debug" stream $data >got
		lacks busy got
		none grep -vx "$data\|$PWD/debug/.build-id/.*" asked
		grep -q "$PWD/debug/.build-id" asked
		files -f 1 -d "$PWD/debug" -b "$PWD/own" stream $data >got
		has_name busy got
		test $data = s.data || has_name main got	# by its call frame information
		none grep -vx "$data\|$PWD/own\|$PWD/debug/.build-id/.*\|$by_fd" asked
	done
	id=$(readelf -n own | sed -n "s/.*Build ID: //p")
	mkdir -p "debug/.build-id/${id%"${id#??}"}"
	cp own "debug/.build-id/${id%"${id#??}"}/${id#??}"
	strip own
	for more in "" "-b $PWD/own"; do
		files -f 1 -d "$PWD/debug" $more stream s.data >got
		has_name busy got
		none grep -vx "s.data\|$PWD/own\|$PWD/debug/.build-id/.*\|$by_fd" asked
	done
	files -f 1 stream s.data >got
	none grep -vx "s.data\|/usr/lib/debug/.build-id/.*\|$by_fd" asked
END

check 'a list of the kernel that the caller names is opened in any case; this one is not' <<'END'
	built
	files stream s.data >got
	grep -qx /proc/kallsyms asked || skip "nothing in the kernel was sampled"
	printf "%s\n" "ffff000000000000 T the_kernel" "ffffffffffffff00 T last" >kallsyms
	for how in 1 2; do
		files -f $how -k "$PWD/kallsyms" stream s.data >got
		none grep -vx "s.data\|$PWD/kallsyms\|/usr/lib/debug/.build-id/.*\|$by_fd" asked
		grep -qx "$PWD/kallsyms" asked
		has_name the_kernel got
	done
END

check 'more files than the program may have open: they are used in turn, and some stay free' <<'END'
	built
	program
	with_local many.data <<-EOF
	os.mkdir("copies")
	here, bytes_ = os.getcwd(), open("t", "rb").read()
	for i in range(600):
	    open("copies/%d" % i, "wb").write(bytes_)
	    R.append(executable(1, 0x10000000 + 0x2000 * i, 0x2000, "%s/copies/%d" % (here, i)))
	for i in range(600):
	    R.append(sample(1, 0x10000000 + 0x2000 * i + $offset + 8))
	EOF
	for most in 256 64; do
		(
			ulimit -n $most
			LD_LIBRARY_PATH=$lib "$scratch/files" stream many.data >got
		)
		test "$(grep -cx code got)" -eq 600
	done
END

check 'a binary: its debug file is opened only if that is allowed' <<'END'
	built
	cp "$scratch/there/sampled" whole
	objcopy --only-keep-debug whole whole.debug
	strip -o linked whole
	objcopy --add-gnu-debuglink=whole.debug linked
	nm whole | sed -n "s/ T busy//p" >address
	files binary "$PWD/linked" <address >got
	has_name busy got
	for how in 1 2; do
		files -f $how binary "$PWD/linked" <address >got
		printf -- "-\n" | same - got
		none grep -vx "$PWD/linked\|/proc/self/fd/[0-9]*\|/usr/lib/debug/.build-id/.*" asked
	done
	files -f 1 -b "$PWD/whole.debug" binary "$PWD/linked" <address >got
	has_name busy got
	files -f 2 -b "$PWD/whole.debug" binary "$PWD/linked" <address >got
	printf -- "-\n" | same - got
	none grep -vx "$PWD/linked\|$by_fd" asked
END

done_testing
