#!/bin/sh
# What make release relies on: versions, archives of the source, equal bytes in any directory, and
# the licences of all that is linked in.  tests/release/reproducible.sh makes releases.
# kinds: release
. tests/lib.sh

# says VERSION DIR: packaging/version there says so
says() {
	"$2/packaging/version" | cut -d ' ' -f 1 >version
	echo "$1" | same - version
}

# sources DIR: a copy of the source, as far as a tool needs it, that knows no commit
sources() {
	mkdir -p "$1/tests"
	(cd "$TOP" && tar -cf - Makefile LICENSES cmd completions include lib man packaging proto \
		tests/needs tests/setup) | tar -xf - -C "$1"
}

# repository DIR: a checkout with one commit
repository() {
	mkdir -p "$1/lib/library"
	cp -r "$TOP/packaging" "$TOP/Makefile" "$TOP/.gitattributes" "$1"
	cp "$TOP/lib/library/build.mk" "$1/lib/library"
	cp "$TOP/packaging/commit" "$1/packaging"
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b
	export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
	sed -i 's/^VERSION *=.*/VERSION = 7.1/' "$1/Makefile"
	git -C "$1" init -q -b main
	git -C "$1" add -A
	git -C "$1" commit -q -m one
}
hash() { git -C "$1" rev-parse --short=10 HEAD; }

check 'a version names a release, or the commits since, or that nothing is known' <<'END'
	any_user
	needs_command git
	repository c
	says 7.1-0-g$(hash c) c
	git -C c commit -q --allow-empty -m two
	says 7.1-1-g$(hash c) c
	git clone -q --depth 1 "file://$PWD/c" shallow
	says 7.1-g$(hash c) shallow
	git -C c tag v7.1
	says 7.1 c
	echo >c/lib/new.txt
	says 7.1 c
	git -C c add lib/new.txt
	says 7.1-dirty c
	git -C c commit -q -m three
	says 7.1-1-g$(hash c) c
	test "$(c/packaging/version 8.0-2 | cut -d " " -f 1)" = 8.0-2
	# the tree within another repository, or without one
	mkdir c/inner
	cp -r c/packaging c/Makefile c/lib c/inner
	says 7.1-unknown c/inner
	mv c/inner alone
	says 7.1-unknown alone
	exits 1 alone/packaging/source . 2>err
	grep "^source: neither a checkout with git nor a source archive: " err
END

check 'archives of the source know their version, and make the same archive again' <<'END'
	any_user
	needs_command git
	repository c
	mkdir 1 2 3 4
	(umask 077; cd c && TZ=Asia/Tokyo make -s dist && mv pmukit-*.tar.gz ../1)
	(umask 002; TZ=America/New_York c/packaging/source 2 >said)
	cmp 1/* 2/*
	version=$(cat said)
	test "$version" = 7.1-0-g$(hash c)
	tar -xzf 1/* -C 1
	says "$version" "1/pmukit-$version"
	test "$("1/pmukit-$version/packaging/version")" = "$(c/packaging/version)"
	"1/pmukit-$version/packaging/source" 3
	cmp 2/pmukit*.tar.gz 3/pmukit*.tar.gz
	# git archive knows the commit, and a tag
	git -C c archive --prefix=4/ HEAD | tar -xf -
	says 7.1-g$(hash c) 4
	git -C c tag v7.1
	git -C c archive --prefix=5/ HEAD | tar -xf -
	says 7.1 5
	# what is not committed is not in it, and a line says so
	echo "# change" >>c/Makefile
	c/packaging/source 2 >said 2>err
	grep "changes that are not committed are not in pmukit-7.1.tar.gz" err
	echo 7.1 | same - said
	# a tag for another version is a mistake
	git -C c checkout -q Makefile
	git -C c tag -d v7.1
	git -C c tag v7.2
	exits 1 c/packaging/release out 2>err
	grep "the tag is v7.2, but VERSION in the Makefile is 7.1" err
END

# The rest of the library is taken as it is: to compile all twice takes minutes.
check 'a tool built in two directories is the same, and names neither' <<'END'
	any_user
	needs_command readelf
	library=${BIN%/bin}/libsampler.a
	needs "$library"
	export CCACHE_DISABLE=1
	objects='cmd/pmu-diff lib/base/hash lib/dwarf/abbrev show/flame_style proto/profile.pb-c'
	for dir in one "second/one"; do
		sources "$dir"
		mkdir -p "$dir/build/release"
		cp "$library" "$dir/build/release"
	done
	for dir in one "second/one"; do (
		cd "$dir"
		test "$dir" = one && umask 022 || umask 077
		export LDFLAGS='-Wl,-Map=$@.map' TZ=UTC-$(printf $dir | wc -c)
		make -s -o build/release/libsampler.a build/release/bin/pmu-diff \
			$(printf "build/release/%s.o " $objects)
	) done
	for file in bin/pmu-diff $(printf "%s.o " $objects); do
		cmp "one/build/release/$file" "second/one/build/release/$file"
		strings -a "one/build/release/$file" >strings
		none grep -F -e "$PWD" -e "$TOP" strings
	done
	test "$(one/build/release/bin/pmu-diff --version)" = "pmu-diff $("$TOP/packaging/version" |
		sed "s/-.*//")-unknown"
	readelf -p .debug_line_str one/build/release/cmd/pmu-diff.o | grep -w "cmd/pmu-diff.c"
	mkdir -p "$scratch/linked/build/release"
	mv one/build/release/bin "$scratch/linked/build/release"
END

check 'an archive of a tree depends on names, contents and executable bits only' <<'END'
	any_user
	(umask 077; mkdir -p one/t/d; echo x >one/t/d/b; echo y >one/t/a)
	(umask 002; mkdir -p two/t/d; echo y >two/t/a; echo x >two/t/d/b)
	touch -d 2001-02-03 two/t/a
	for dir in one two; do
		chmod u+x $dir/t/a
		ln -s a $dir/t/link
		TZ=UTC-$(printf %s $dir | wc -c) "$TOP/packaging/pack" $dir t 86400 >$dir.tar
	done
	cmp one.tar two.tar
	TZ=UTC tar --numeric-owner -tvf one.tar | awk "{ print \$1, \$2, \$4, \$6 }" >listing
	same - listing <<-EOF
		drwxr-xr-x 0/0 1970-01-02 t/
		-rwxr-xr-x 0/0 1970-01-02 t/a
		drwxr-xr-x 0/0 1970-01-02 t/d/
		-rw-r--r-- 0/0 1970-01-02 t/d/b
		lrwxr-xr-x 0/0 1970-01-02 t/link
	EOF
END

check 'each member of a library that is linked in has a licence, and its text is there' <<'END'
	any_user
	needs "$scratch/linked/build"
	needs_command dpkg-query
	(cd "$scratch/linked" && "$TOP/packaging/linked" build/release) >linked
	cp linked "$scratch/linked/list"
	cut -f 1 linked | sort -u >libraries
	for library in libc.a libgcc.a libz.a crti.o; do grep -qx $library libraries; done
	none grep libsampler linked
	none awk -F "\t" "NF != 8 || length(\$3) != 64 || \$5 !~ /[0-9]/" linked
	for text in $(cut -f 7 linked | tr " " "\n" | sort -u); do
		test -s "$TOP/LICENSES/$text"
	done
	sed -n "/^[^#]/s/.*\t\(.*txt\)\t.*/\1/p" "$TOP/LICENSES/table" | tr " " "\n" | sort -u >named
	(cd "$TOP/LICENSES" && ls *.txt) | same named -
	# a member that the table does not have
	sources t
	awk -F "\t" -v OFS="\t" "\$1 == \"libz.a\" { \$2 = \"adler32.o crc32.o\" } { print }" \
		"$TOP/LICENSES/table" >t/LICENSES/table
	here=$PWD
	cd "$scratch/linked"
	exits 1 "$here/t/packaging/linked" build/release >"$here/out" 2>"$here/err"
	grep -x "linked: LICENSES/table has no entry for libz.a: .*inflate.o.*" "$here/err"
END

check 'the bill of materials is SPDX, has each library once, and is the same each time' <<'END'
	any_user
	needs "$scratch/linked/list"
	needs_command python3
	cp "$scratch/linked/list" linked
	TZ=Asia/Tokyo "$TOP/packaging/sbom" name 0.1 abcdef 86400 <linked >one.json
	sort -r linked | TZ=UTC "$TOP/packaging/sbom" name 0.1 abcdef 86400 >two.json
	cmp one.json two.json
	python3 "$TOP/tests/spdx.py" one.json
	grep "\"created\": \"1970-01-02T00:00:00Z\"" one.json
	python3 -c "import json
for p in json.load(open(\"one.json\"))[\"packages\"][1:]:
    print(p[\"name\"], p[\"versionInfo\"], p[\"checksums\"][0][\"checksumValue\"], sep=\"\t\")
" | sort >found
	cut -f 1,5,3 linked | awk -F "\t" -v OFS="\t" "{ print \$1, \$3, \$2 }" | sort -u | same - found
	for break in "s/SHA256/SHA0/" "s/\"filesAnalyzed\": false/\"files\": 1/" \
			"0,/SPDXRef-libz.a/s//SPDXRef-x/" "0,/versionInfo/s//version/"; do
		sed "$break" one.json >bad.json
		exits 1 python3 "$TOP/tests/spdx.py" bad.json >said
	done
END

check 'an artefact whose compiler is missing is named' <<'END'
	any_user
	needs_command git
	needs_command zstd
	repository c
	exits 1 env RELEASE_ARCH=riscv c/packaging/release out 2>err
	grep -x "release: not made: pmukit-7.1-0-g$(hash c)-linux-riscv" err
	CC=no-such-cc RELEASE_ARCH=$(uname -m) exits 1 c/packaging/release out 2>err
	grep -x "artefacts: there is no no-such-cc" err
	grep -x "release: not made: pmukit-7.1-0-g$(hash c)-linux-$(uname -m)" err
	(cd out && sha256sum -c SHA256SUMS && ls | grep -c . | grep -qx 2)
END

done_testing
