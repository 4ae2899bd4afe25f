#!/bin/sh
# debian/, the RPM spec and the Containerfile agree with each other and with make install.
# tests/release builds these packages.
# kinds: release
. tests/lib.sh

# installed: what make install of tools that are linked dynamically puts below /usr, a line each
installed() {
	make -s -C "$TOP" -o all -o lib install DESTDIR="$PWD/root" PREFIX=/usr \
		LIBDIR=lib/x86_64-linux-gnu LINKAGE=-pie >log
	(cd root && find . ! -type d) | sed 's/^\.//' | sort
}

# packed LIST: each file that LIST, as dh_install reads it, puts somewhere: from, to.  The one
# static file does not come from make install.
packed() {
	(cd root && while read -r pattern to; do
		case $pattern in build/*) echo "- /$to/${pattern##*/}"; continue ;; esac
		for from in $pattern; do
			find "$from" ! -type d | while read -r file; do
				echo "/$file /${to:-${file%/*}}/${file##*/}"
			done
		done
	done <"$TOP/debian/$1")
}

# left_out: what debian/not-installed names: texts, which the packages take from the source
left_out() {
	(cd root && while read -r pattern; do
		for left in $pattern; do
			test ! -e "$left" || find "$left" ! -type d | sed "s,^,/,"
		done
	done <"$TOP/debian/not-installed")
}

# spec_files PACKAGE: the paths of its section %files, as patterns of grep, each for a file or for
# all in a directory; "" is the first package
spec_files() {
	sed -n "/^%files${1:+ $1}\$/,/^\$/p" "$TOP/packaging/pmukit.spec" |
		sed -n 's|%{_bindir}|/usr/bin|; s|%{_datadir}|/usr/share|
			s|%{_mandir}|/usr/share/man|; s|%{_includedir}|/usr/include|
			s|%{_libdir}|/usr/lib/x86_64-linux-gnu|
			/^\// { s/\./\\./g; s/\*/[^\/]*/g; s/.*/^&\\(\/.*\\)*$/p }'
}

check 'the packages have the version of the Makefile' <<'END'
	any_user
	version=$(sed -n 's/^VERSION *= *//p' "$TOP/Makefile")
	test -n "$version"
	sed -n "1s/^pmukit (\(.*\)) .*/\1/p" "$TOP/debian/changelog" | grep -Fx "$version"
	sed -n "s/^Version: *//p" "$TOP/packaging/pmukit.spec" | grep -Fx "$version"
	grep -F " - $version-1" "$TOP/packaging/pmukit.spec"
END

check 'each file of make install is in one package, and no list names another file' <<'END'
	any_user
	installed >all
	for package in pmukit pmukit-static libpmukit0 libpmukit-dev; do
		packed $package.install
	done >packed
	{ cut -d " " -f 1 packed | grep -v "^-$"; left_out; } | sort | same all -
	test "$(cut -d " " -f 2 packed | sort -u | wc -l)" = "$(wc -l <packed)"
	grep " /usr/bin/pmukit$" packed
	{ ls "$TOP"/cmd/pmu-*.c; find "$TOP/fleet" -maxdepth 1 -type f; } >tools
	test "$(grep -c " /usr/bin/pmu-" packed)" = "$(wc -l <tools)"
	(cd "$TOP/fleet" && find */* -type f) >shipped
	while read -r name; do grep " /usr/share/pmukit/fleet/$name$" packed; done <shipped
END

check 'the RPM packages have the same files' <<'END'
	any_user
	installed >all
	for package in "" static libs devel; do
		case $package in
		libs) debian=libpmukit0 ;;
		devel) debian=libpmukit-dev ;;
		*) debian=pmukit${package:+-$package} ;;
		esac
		packed $debian.install | cut -d " " -f 2 |
			sed 's|/zsh/vendor-completions/|/zsh/site-functions/|' | sort >debian
		spec_files "$package" >paths
		test -s paths
		grep -f paths debian | same debian -
		while read -r path; do grep -q "$path" debian; done <paths
	done
END

# licences PACKAGE: what the spec says of it, a line each; "" is the first package
licences() {
	demangler=$(sed -n 's/^%global demangler //p' "$TOP/packaging/pmukit.spec")
	from=1
	test -z "$1" || from="/^%package $1/"
	sed -n "$from,/^%description/s/^License: *//p" "$TOP/packaging/pmukit.spec" |
		sed "s/%{demangler}/$demangler/; s/ AND /\n/g"
}

# of_table LIBRARIES COLUMN: that column of LICENSES/table for libraries that match, a word a line
of_table() {
	awk -F '\t' -v name="$1" -v column="$2" '!/^#/ && $1 ~ name { print $column }' \
		"$TOP/LICENSES/table"
}

check 'the packages name the licences of what is linked in, and have the notices' <<'END'
	any_user
	for package in "" libs static; do
		linked=libiberty
		test "$package" != static || linked=.
		{ echo Apache-2.0; of_table $linked 3; } | sort -u >want
		licences "$package" | sort -u | same want -
	done
	{ echo LICENSE; of_table libiberty 4 | tr " " "\n" | sed s,^,LICENSES/,; } | sort -u >want
	sed -n "/^%files\$/,/^\$/s/^%license //p" "$TOP/packaging/pmukit.spec" | tr " " "\n" |
		sort | same want -
	grep "^%license LICENSE LICENSES\$" "$TOP/packaging/pmukit.spec"
	grep "install .*/doc/pmukit/LICENSES LICENSES/libiberty.txt" "$TOP/debian/rules"
END

check 'packages are built with what tests/needs names' <<'END'
	any_user
	"$TOP/tests/needs" packages apt | xargs -n 1 |
		grep -e "-dev\$" -e protobuf-c-compiler | grep -v "^libc6-\|^linux-libc" |
		sort >want
	sed -n "/^Build-Depends:/,/^[^ B]/s/^ *\(Build-Depends: \)*\([^ ,]*\).*/\2/p" \
			"$TOP/debian/control" |
		grep -e "-dev\$" -e protobuf-c-compiler | sort | same want -
END

check 'the image has one file and its links, and profiles a program as nobody' <<'END'
	any_user
	needs_sampling
	if test "$(id -u)" != 0; then skip "not root"; fi
	"$TOP/tests/image" "$BIN" "$PWD/image"
	(cd image && find . -type f) | grep -x ./usr/bin/pmukit
	test "$(find image -type f | wc -l)" = 1
	for name in perf_to_profile $(cd "$BIN" && echo pmu-*); do
		test "$(readlink "image/usr/bin/$name")" = pmukit
	done
	sort image.config >config
	printf "%s\n" "ENTRYPOINT [\"/usr/bin/pmukit\"]" "ENV PATH=/usr/bin" "USER 65534:65534" |
		same config -
	mkdir -m 1777 image/out
	cp "$HELP/ten" image/out
	run() { chroot --userspec=65534:65534 image "$@"; }
	run /usr/bin/pmukit --help | grep "^  pmu-top "
	run /usr/bin/pmukit prof -q -e cpu-clock -o /out/p -- /out/ten serial 0.2
	run /usr/bin/pmu-top /out/p.pb.gz | grep " J$"
	grep "</html>" image/out/p.html
END

done_testing
