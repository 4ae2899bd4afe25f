#!/bin/sh
# Who keeps whom waiting, on arm64 and by kernels with other names: in a futex call, register x0
# still has the address of the lock.  Also where the kernel does not show its names, to a user
# without rights: then the functions of the C library say which calls those are.
#
# A guest (tests/lab) runs programs that know their waits.  LAB=all: by more kernels.
# kinds: release
. tests/lib.sh
. tests/waiting.sh
. tests/lab.sh
root=$scratch/root	# the guest's programs
kinds='mutex inheriting shared writers readers condition semaphore barrier pipe'
bare_kinds='mutex inheriting writers condition semaphore barrier'

# make_programs: static ones, with the names of all functions of the C library; and bare-convoy and
# bare-waits, whose C library is Debian's, without names but those that programs may call
make_programs() {
	libraries=$(dirname "$(aarch64-linux-gnu-gcc -print-file-name=libc.so.6)")
	mkdir -p "$root/bin"
	cp "$libraries/libc.so.6" "$libraries/ld-linux-aarch64.so.1" "$root/bin"
	for name in convoy waits; do
		cp "$programs/$name" "$root/bin"
		aarch64-linux-gnu-gcc -O2 -g -fno-omit-frame-pointer -D_GNU_SOURCE -I. \
			-Wl,--dynamic-linker=/bin/ld-linux-aarch64.so.1 -Wl,-rpath,/bin \
			"tests/bin/$name.c" -o "$root/bin/bare-$name"
	done
	find "$root/bin" -type f | sed 's/^/-p /' >"$scratch/programs"
}

# job: what a guest does; the directory "user" has what a user recorded who may not see addresses of
# the kernel, and what that user's tools made of it
job() {
	cat <<-END
		uname -r
		cat /proc/kallsyms >kallsyms
		s() { name=\$1; shift; pmu-sample -q --waits -e dummy -m 8Mi -o \$name.data -- "\$@" \\
			2>\$name.truth; }
		s convoy convoy 2
		for kind in $kinds; do s \$kind waits \$kind 30; done
		chmod 755 / /bin /out; mkdir -p /etc user; chmod 777 user
		chmod -R a+rX /sys/kernel/tracing
		echo 'user:x:1000:1000::/tmp:/bin/sh' >/etc/passwd
		echo 1 >/proc/sys/kernel/kptr_restrict
		su user -c 'cd user; grep -cv "^0*[^0-9a-f]" /proc/kallsyms >shown
			s() { name=\$1; shift; pmu-sample -q --waits -e dummy -m 8Mi -o \$name.data -- "\$@" \\
				2>\$name.truth; }
			s convoy bare-convoy 1
			pmu-symbolize -o convoy.there convoy.data 2>convoy.said
			pmu-topprof -q --block -o convoy.block convoy.there
			pmu-topprof --mutex -o convoy.mutex convoy.data 2>convoy.mutex-said
			for kind in $bare_kinds; do s \$kind bare-waits \$kind 30; done'
		:
	END
}

# From 9 CPUs on it takes long; with one, the recorder and the programs would wait for each other.
run_guest() { job | start "$@" -s 4 $(cat "$scratch/programs"); }

test -n "$why" || {
	make_programs
	run_guest bookworm
}

# resolved GUEST[/user] NAME OPTION...: make NAME.data and NAME.truth here, with names
resolved() {
	from=$lab/$1/$2
	cp "$from.truth" "$2.truth"
	shift
	name=$1
	shift
	pmu-symbolize --sysroot "$root" -o "$name.data" "$@" "$from.data"
}

# right_names NAME: as the program's own figures say.  Each sample takes the emulated CPU long, so
# what is a lot of short waits is not as exact there as what takes long.
right_names() {
	profiles "$1"
	truth --busy "$1.truth" "$1.block" "$1.mutex" $causes >"$1.judged" || {
		cat "$1.judged"
		return 1
	}
	cat "$1.judged"
}

# holders_right FILE: who holds "big" is charged what it caused, within 2 % or 10 ms
holders_right() {
	sed -n 's/.* caused, of big, \([0-9.]*\) s, truth \([0-9.]*\) s,.*/\1 \2/p' "$1" >charged
	test "$(wc -l <charged)" = 2
	while read -r got truth; do
		near "$got" "$truth" "$(awk "BEGIN { m = 0.02 * $truth; print (m > 0.01 ? m : 0.01) }")"
	done <charged
}

# convoy_right GUEST, kinds_right GUEST: the profiles, with the kernel's names
convoy_right() {
	resolved "$1" convoy -q --kallsyms "$lab/$1/kallsyms"
	right_names convoy
	holders_right convoy.judged
}
kinds_right() {
	for kind in $kinds; do
		resolved "$1" $kind -q --kallsyms "$lab/$1/kallsyms"
		right_names $kind
	done
}

# nameless_right GUEST: the same recordings, where the kernel's names are not known
nameless_right() {
	hidden="--sysroot $root" named="--sysroot $root --kallsyms $lab/$1/kallsyms"
	for kind in convoy mutex inheriting writers condition semaphore; do
		cp "$lab/$1/$kind.data" "$lab/$1/$kind.truth" .
		nameless $kind
		cat $kind.judged
	done
}

# user_right GUEST: what was recorded by a user who cannot see the kernel's names
user_right() {
	user=$lab/$1/user
	test "$(cat $user/shown)" = 0
	for said in $user/convoy.said $user/convoy.mutex-said; do
		cat $said
		test "$(grep -cF "$note" $said)" = 1
	done
	truth --busy $user/convoy.truth $user/convoy.block $user/convoy.mutex >judged || {
		cat judged
		return 1
	}
	for kind in $bare_kinds; do
		resolved $1/user $kind -q
		right_names $kind
	done
}

check 'the guest ends' <<'END'
	in_lab
	ended_well bookworm
END

check 'on arm64, holders of a lock are charged what they caused: x0 has its address' <<'END'
	ended bookworm
	grep '^6\.1\.' $lab/bookworm/stdout
	convoy_right bookworm
END

check 'so are those who make others wait in other ways' <<'END'
	ended bookworm
	kinds_right bookworm
END

check 'without names of the kernel, figures are the same, and a note says why' <<'END'
	ended bookworm
	nameless_right bookworm
END

check 'a user who may not see them, with a C library without names: figures are right' <<'END'
	ended bookworm
	user_right bookworm
END

# kernel SUITE: all of this by its kernel
kernel() {
	in_lab
	test "$LAB" = all || skip "only with LAB=all (make lab)"
	(cd "$TOP" && tests/lab/kernel $1) >fetched 2>&1 || skip "$(tail -n 1 fetched)"
	run_guest $1 -k $1
	ended_well $1
	cat $lab/$1/stdout
	convoy_right $1
	kinds_right $1
	nameless_right $1
	user_right $1
}

check 'all that by an old kernel: 5.10' <<'END'
	kernel bullseye
	grep '^5\.10\.' $lab/bullseye/stdout
END

check 'by a newer kernel: 6.12' <<'END'
	kernel trixie
	grep '^6\.12\.' $lab/trixie/stdout
END

check 'by the newest kernel there is' <<'END'
	kernel sid
END

done_testing
