#!/bin/sh
# What make says where something is missing, and where it builds.
# kinds: release
. tests/lib.sh

# machine PROGRAM...: ./bin has make, what the build calls, and these programs, which do nothing
machine() {
	rm -rf bin out
	mkdir bin
	for name in make sh sed grep head cut tr sort paste mktemp rm mkdir cat find uname; do
		ln -s "$(command -v $name)" bin/
	done
	for name; do
		printf '#!/bin/sh\n' >bin/$name
		chmod +x bin/$name
	done
}

# makes STATUS VARIABLE=VALUE...: make there exits so; ./said has what it said, without its own line
makes() {
	status=$1
	shift
	exits "$status" env "PATH=$PWD/bin" make -s -C "$TOP" "O=$PWD/out" "$@" >log 2>&1
	sed '/^make: /d' log >said
	cat said
	none find out ! -type d
}

check 'on a bare machine, make names all that is missing, and the packages, in one line' <<'END'
	any_user
	untried=" (names that nobody has tried yet)"
	needs="pmukit needs cc, protoc-c, linux/perf_event.h, protobuf-c/protobuf-c.h, zlib.h, zstd.h"
	needs="$needs, libdeflate.h, lzma.h, libiberty/demangle.h, perfmon/pfmlib.h, event2/event.h"
	for manager in apt-get dnf pacman apk zypper; do
		machine $manager
		makes 2
		packages=$("$TOP/tests/needs" packages ${manager%-get} | sed "s/\<make //")
		case $manager in
		apt-get) run="apt-get install $packages" ;;
		dnf | zypper) run="$manager install $packages$untried; then run: make LINKAGE=-pie" ;;
		pacman) run="pacman -S $packages$untried; then run: make LINKAGE=-pie" ;;
		apk) run="apk add $packages$untried" ;;
		esac
		echo "$needs; as root, run: $run" | same - said
	done
	machine
	makes 2
	grep -x "$needs; install what Debian calls gcc .* zlib1g-dev" said
END

# compiler TEXT...: ./bin/cc is one to which a program with TEXT, or that option, is an error
compiler() {
	cat >bin/cc <<-'EOF'
		#!/bin/sh
		for word; do case $word in *.c) program=$word ;; esac; done
		{ cat "$program" && echo "$*"; } >"$BAD.text"
		while read -r bad; do
			! grep -q -e "$bad" "$BAD.text" || { echo "cc: not here: $bad" >&2; exit 1; }
		done <"$BAD"
	EOF
	chmod +x bin/cc
	printf '%s\n' "$@" >bad
	export BAD="$PWD/bad"
}

check 'it names only what is missing: a header, a library, a program, a static library' <<'END'
	any_user
	machine apt-get protoc-c
	compiler zstd.h -levent
	makes 2
	echo "pmukit needs zstd.h, libevent; as root, run: apt-get install libevent-dev libzstd-dev" |
		same - said
	machine apt-get
	compiler none
	makes 2
	echo "pmukit needs protoc-c; as root, run: apt-get install protobuf-c-compiler" | same - said
	machine apt-get protoc-c
	makes 2 CC=riscv64-linux-gnu-gcc
	echo "pmukit needs riscv64-linux-gnu-gcc; as root, run: apt-get install gcc-riscv64-linux-gnu" |
		same - said
	machine pacman protoc-c
	compiler -static
	makes 2
	echo "there are no static libraries here; run: make LINKAGE=-pie" | same - said
	compiler -fbad
	makes 2 CFLAGS=-fbad
	grep -x "cc makes no program: cc: not here: -fbad" said
	machine apt-get protoc-c
	compiler -lm
	makes 2
	grep -x "cc: cc: not here: -lm" said
END

check 'a machine of 32 bits is one line' <<'END'
	any_user
	machine apt-get protoc-c
	smaller="-D__SIZEOF_POINTER__=4 -Wno-builtin-macro-redefined"
	printf "#!/bin/sh\nPATH=$PATH exec gcc $smaller \"\$@\"\n" >bin/cc
	chmod +x bin/cc
	makes 2
	echo "pmukit does not run on 32-bit machines: addresses in recordings have 64 bits" | same - said
	for arch in i686 armhf aarch64; do
		exits 2 make -s -C "$TOP" "O=$PWD/out" ARCH=$arch all 2>err
		grep "ARCH=$arch: pmukit can be built for amd64, arm64 and riscv64" err
		test "$(wc -l <err)" = 1
	done
END

check 'an archive without the packages that are wanted is one line' <<'END'
	any_user
	mkdir bin
	cat >bin/apt-get <<-"EOF"
		#!/bin/sh
		case $* in
		indextargets*) echo here ;;
		*update) cat "$SAYS"; exit 100 ;;
		*) echo "something else is asked for: $*" >&2; exit 1 ;;
		esac
	EOF
	chmod +x bin/apt-get
	: >says
	export SAYS="$PWD/says" BUILDS="$PWD"
	for why in "" "E: a key is missing"; do
		echo "$why" >says
		PATH=$PWD/bin:$PATH exits 1 "$TOP/tests/lab/archive" old riscv64 dir zlib1g-dev 2>err
		echo "archive: no packages of 'old' for 'riscv64' in here${why:+: $why}" | same - err
	done
END

check 'each library of the Makefile is in the table of what is needed' <<'END'
	any_user
	sed -n "s/^LDLIBS = //p" "$TOP/Makefile" | tr " " "\n" | grep -vx -e -lpthread -e -lm |
		sort >linked
	sed -n "s/^[a-z].*:\(-l[a-z-]*\).*/\1/p" "$TOP/tests/needs" | sort >needed
	test -s linked
	same linked needed
END

check 'make O=DIR writes to DIR only, and says which names and targets do not work' <<'END'
	any_user
	cd "$TOP"
	make -n "O=$OLDPWD/out" all tests SANITIZE= >"$OLDPWD/commands"
	make -n O=out/put ARCH=arm64 tests >>"$OLDPWD/commands"
	cd "$OLDPWD"
	at_least "$(grep -c " -o [^ ]*out/[^ ]*" commands)" 600
	sed -i "s/'-ffile-prefix-map=[^']*'//g" commands
	none grep -E "(^|[ =\"'])\.?/?build/" commands
	for name in "a b" "a:b" ""; do
		exits 2 make -s -C "$TOP" "O=$name" all 2>err
		grep "O='$name': make cannot build in a directory that has a space or a colon" err
		test "$(wc -l <err)" = 1
	done
	exits 2 make -s -C "$TOP" O=/tmp check 2>err
	grep "make check writes into build/ in the source: leave out O=/tmp" err
	mkdir out
	exits 2 make -s -C "$TOP" "O=$PWD/out" clean 2>err
	grep "make clean removes build/ only: remove $PWD/out yourself" err
	test -d out
END

done_testing
