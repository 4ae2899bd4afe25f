#!/bin/sh
# What is built for which machine, and what make install and make uninstall do: any path, and
# nothing of others.
# kinds: release
. tests/lib.sh

# makes TARGET [VARIABLE=VALUE]...: with the tools that are there, without building any
makes() { make -s -C "$TOP" -o all -o lib -o build/release/bin/pmukit "$@"; }

# files DIRECTORY: all that is in it but directories, with types and contents
files() {
	find "$1" ! -type d -printf '%p %y %l\n' | sort
	find "$1" -type f | sort | xargs -d '\n' -r cksum
}

sources() { find "$TOP" -path "$TOP/build" -prune -o -path "$TOP/.git" -prune -o -print | sort; }

check 'spaces and quotes in DESTDIR and PREFIX are part of the path' <<'END'
	any_user
	needs_single_tools
	sources >before
	for dest in 'a b' "it's \"one\" (dir); & more" plain; do
		for prefix in '/usr' '/opt/p q'; do
			mkdir here
			makes install DESTDIR="$PWD/here/$dest" PREFIX="$prefix" >log
			test "$(ls here)" = "$dest"
			for tool in "$BIN"/pmu-*; do
				cmp "$tool" "here/$dest$prefix/bin/${tool##*/}"
				test -s "here/$dest$prefix/share/man/man1/${tool##*/}.1"
			done
			cmp "$BIN/pmukit" "here/$dest$prefix/libexec/pmukit/pmukit"
			test "$(readlink "here/$dest$prefix/bin/perf_to_profile")" = pmu-topprof
			test -s "here/$dest$prefix/share/man/man1/perf_to_profile.1"
			test -s "here/$dest$prefix/share/zsh/site-functions/_pmu-top"
			test -s "here/$dest$prefix/share/fish/vendor_completions.d/pmu-top.fish"
			cmp "$TOP/include/pmukit.h" "here/$dest$prefix/include/pmukit.h"
			for name in libpmukit.so.0 libpmukit.a; do
				cmp "${BIN%/bin}/lib/$name" "here/$dest$prefix/lib/$name"
			done
			test "$(readlink "here/$dest$prefix/lib/libpmukit.so")" = libpmukit.so.0
			diff -r -x pmu-query "$TOP/fleet" "here/$dest$prefix/share/pmukit/fleet"
			makes install DESTDIR="$PWD/here/$dest" PREFIX="$prefix" >again 2>&1
			test ! -s again
			makes uninstall DESTDIR="$PWD/here/$dest" PREFIX="$prefix" >log
			none find here ! -type d
			rm -rf here
		done
	done
	sources | same before -
END

check 'uninstall removes what install put there, and nothing else' <<'END'
	any_user
	for name in bin share/man/man1 share/bash-completion/completions share/zsh/site-functions \
			share/fish/vendor_completions.d share/man/man7 empty/directory; do
		mkdir -p root/usr/$name
		echo other >root/usr/$name/other
		echo other >root/usr/$name/pmu-other
	done
	rm root/usr/empty/directory/*
	mkdir root/usr/share/man/man5
	files root >before
	makes install DESTDIR="$PWD/root" PREFIX=/usr
	test -s root/usr/share/man/man5/pmu-stream.5
	makes uninstall DESTDIR="$PWD/root" PREFIX=/usr
	files root | same before -
	makes uninstall DESTDIR="$PWD/root" PREFIX=/usr
	files root | same before -
	test -d root/usr/empty/directory
END

check 'a perf_to_profile of another program stays, with its page, and a line says so' <<'END'
	any_user
	for kind in program link dangling directory; do
		mkdir -p root/bin root/share/man/man1
		echo page >root/share/man/man1/perf_to_profile.1
		case $kind in
		program) echo theirs >root/bin/perf_to_profile ;;
		link) ln -s other root/bin/perf_to_profile && echo theirs >root/bin/other ;;
		dangling) ln -s ../lib/perf_to_profile root/bin/perf_to_profile ;;
		directory) mkdir root/bin/perf_to_profile ;;
		esac
		files root >before
		makes install DESTDIR= PREFIX="$PWD/root" >said 2>&1
		cat said
		test "$(cat said)" = \
			"not installed, as another program has this name: $PWD/root/bin/perf_to_profile"
		test -x root/bin/pmu-topprof
		makes uninstall DESTDIR= PREFIX="$PWD/root"
		files root | same before -
		test $kind != directory || test -d root/bin/perf_to_profile
		rm -rf root
	done
END

# makes_powerless TARGET [VARIABLE=VALUE]...: as somebody to whom modes of files apply, even root.
# What it said is in ./said.
makes_powerless() {
	local powerless=
	test "$(id -u)" != 0 || powerless="setpriv --inh-caps=-all --bounding-set=-all"
	exits 2 $powerless make -s -C "$TOP" -o all -o lib -o build/release/bin/pmukit "$@" DESTDIR= \
		>log 2>&1
	sed '/^make: /d' log >said
	cat said
}

check 'without the right to write, one line names the directory, and nothing is installed' <<'END'
	any_user
	mkdir -p "a b/share/man/man5" "a b/bin"
	echo older >"a b/bin/pmu-top"
	chmod 555 "a b/share/man/man5"
	files "a b" >before
	makes_powerless install PREFIX="$PWD/a b"
	echo "install: cannot write to '$PWD/a b/share/man/man5': Permission denied" | same - said
	files "a b" | same before -
	find "a b" | sort >names
	printf "%s\n" "a b" "a b/bin" "a b/bin/pmu-top" "a b/share" "a b/share/man" \
		"a b/share/man/man5" | same - names
	makes install DESTDIR= PREFIX="$PWD/a b"
	files "a b" >before
	makes_powerless uninstall PREFIX="$PWD/a b"
	echo "uninstall: cannot write to '$PWD/a b/share/man/man5': Permission denied" | same - said
	files "a b" | same before -
	mkdir c
	chmod 555 c
	makes_powerless install PREFIX="$PWD/c/d"
	echo "install: cannot write to '$PWD/c/d/bin': Permission denied" | same - said
	chmod 755 c "a b/share/man/man5"
END

check 'a PREFIX that is not absolute is refused in one line' <<'END'
	any_user
	for verb in install uninstall; do
		for dest in "$PWD/root" ""; do
			exits 2 makes $verb DESTDIR="$dest" PREFIX=relative >log 2>&1
			sed "/^make: /d" log >said
			echo "$verb: PREFIX must be an absolute path, not 'relative'" | same - said
		done
		exits 2 makes $verb DESTDIR= PREFIX= >log 2>&1
	done
	none find . ! -name log ! -name said ! -name .
	test ! -e "$TOP/relative"
	makes install DESTDIR="$PWD/root" PREFIX=
	test -x root/bin/pmu-top
END

check 'a copy that fails, or a directory that has the name of a tool: nothing is installed' <<'END'
	any_user
	mkdir -p root/bin bin
	echo older >root/bin/pmu-top
	find root >before
	printf "%s\n" "#!/bin/sh" "case \$* in *man1*) echo full >&2; exit 1 ;; esac" \
		"exec $(command -v install) \"\$@\"" >bin/install
	chmod +x bin/install
	PATH=$PWD/bin:$PATH exits 2 makes install DESTDIR= PREFIX="$PWD/root" 2>said
	grep -x "install: nothing is installed" said
	find root | same before -
	echo older | same - root/bin/pmu-top
	mkdir root/bin/pmu-prof
	exits 2 makes install DESTDIR= PREFIX="$PWD/root" 2>said
	grep -x "install: '$PWD/root/bin/pmu-prof' is a directory" said
	test "$(echo $(ls root/bin))" = "pmu-prof pmu-top"
END

check 'an upgrade removes what the older version had, and only that; licences are installed' <<'END'
	any_user
	makes install DESTDIR= PREFIX="$PWD/root"
	cmp "$TOP/LICENSE" root/share/doc/pmukit/LICENSE
	files root >new
	mkdir -p root/libexec/pmukit root/share/doc/pmukit/LICENSES
	for name in bin/pmu-old share/man/man1/pmu-old.1 libexec/pmukit/pmu-old bin/own etc \
			share/doc/pmukit/LICENSES/old; do
		echo "$name" >root/$name
	done
	for name in bin/pmu-old share/man/man1/pmu-old.1 libexec/pmukit/pmu-old bin/gone \
			share/doc/pmukit/LICENSES/old share/../etc etc /etc/fstab ../root/bin/own; do
		echo $name
	done >>root/share/pmukit/installed
	makes install DESTDIR= PREFIX="$PWD/root"
	test "$(echo $(cat root/etc root/bin/own))" = "etc bin/own"
	rm root/etc root/bin/own
	files root | same new -
	(cd "$TOP/LICENSES" && ls) >texts
	ls root/share/doc/pmukit/LICENSES | same texts -
	# a package has its own list
	makes install DESTDIR="$PWD/staged" PREFIX=/usr
	test "$(ls staged/usr/share/pmukit)" = fleet
	echo bin/pmu-old >>root/share/pmukit/installed
	echo old >root/bin/pmu-old
	makes uninstall DESTDIR= PREFIX="$PWD/root"
	none find root ! -type d
	test ! -e root/share/pmukit
END

check 'of big-endian machines, s390x is built for; any other ends with a sentence' <<'END'
	any_user
	cd "$TOP"
	make -n ARCH=s390x all >"$OLDPWD/commands"
	grep -q "^s390x-linux-gnu-gcc -static .*/bin/pmu-stream " "$OLDPWD/commands"
	exits 2 make -s ARCH=ppc64 all 2>"$OLDPWD/err"
	cat "$OLDPWD/err"
	grep "ARCH=ppc64: pmukit can be built for " "$OLDPWD/err"
	test "$(wc -l <"$OLDPWD/err")" = 1
	none find build -maxdepth 1 -name "*ppc64"
	gcc -include lib/base/banned.h -fsyntax-only -x c /dev/null
END

done_testing
