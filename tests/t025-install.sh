#!/bin/sh
# What is built for which machine, and what make install and make uninstall do: any path, and
# nothing of others.
# kinds: release
. tests/lib.sh

# makes TARGET [VARIABLE=VALUE]...: with the tools that are there, without building any
makes() { make -s -C "$TOP" -o all "$@"; }

# files DIRECTORY: all that is in it but directories, with types and contents
files() {
	find "$1" ! -type d -printf '%p %y %l\n' | sort
	find "$1" -type f | sort | xargs -d '\n' -r cksum
}

sources() { find "$TOP" -path "$TOP/build" -prune -o -path "$TOP/.git" -prune -o -print | sort; }

check 'spaces and quotes in DESTDIR and PREFIX are part of the path' <<'END'
	any_user
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
			test "$(readlink "here/$dest$prefix/bin/perf_to_profile")" = pmu-topprof
			test -s "here/$dest$prefix/share/man/man1/perf_to_profile.1"
			test -s "here/$dest$prefix/share/zsh/site-functions/_pmu-top"
			test -s "here/$dest$prefix/share/fish/vendor_completions.d/pmu-top.fish"
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

check 'a build for a big-endian machine ends with a sentence, before anything is made' <<'END'
	any_user
	cd "$TOP"
	exits 2 make -s ARCH=s390x all 2>"$OLDPWD/err"
	cat "$OLDPWD/err"
	grep "pmukit does not run on big-endian machines such as s390x" "$OLDPWD/err"
	test "$(wc -l <"$OLDPWD/err")" = 1
	none find build -maxdepth 1 -name "*s390x"
	big="-U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__"	# as such a compiler says
	exits 1 gcc $big -include lib/base/banned.h -fsyntax-only -x c /dev/null 2>"$OLDPWD/err"
	grep "error: .*pmukit does not run on big-endian machines: " "$OLDPWD/err"
	gcc -include lib/base/banned.h -fsyntax-only -x c /dev/null
END

done_testing
