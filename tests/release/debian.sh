#!/bin/sh
# debian.sh [SUITE...] - build the Debian packages in a clean root of each suite (bookworm, trixie),
# judge them, and in another root: install, profile as an ordinary user, upgrade, remove, purge.
#
# The roots come from the archive that this machine uses.  Their tarballs stay in build/roots, the
# packages in build/packages/SUITE: REUSE=1 builds none that is there.  Exits 77 where this machine
# cannot make roots.
unset CDPATH
cd "$(dirname "$0")/../.." || exit 1
. tests/release/judge

needs_root
needs mmdebstrap unshare
keys=/usr/share/keyrings/debian-archive-keyring.gpg
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
	grep -v security | head -n 1)
test -n "$mirror" || cannot "this machine has no package archive"
test "$(dpkg --print-architecture)" = amd64 || test "$(dpkg --print-architecture)" = arm64 ||
	cannot "the packages are for amd64 and arm64"
mkdir -p build/roots build/packages
scratch=$(mktemp -d) && chmod 755 "$scratch" || exit 1
trap 'rm -rf --one-file-system "$scratch"' EXIT

# make_tar NAME SUITE [PACKAGE...]: build/roots/NAME.tar has the suite with these packages
make_tar() {
	test ! -e "build/roots/$1.tar" || return 0
	include=$(shift 2 && echo "$*" | tr ' ' ,)
	mmdebstrap --quiet --mode=root --variant=apt ${include:+"--include=$include"} \
		--skip=cleanup/apt/lists "$2" "build/roots/$1.tar.new" \
		"deb [signed-by=$keys] $mirror $2 main" --format=tar >"$scratch/log" 2>&1 || {
		tail -n 5 "$scratch/log"
		return 1
	}
	mv "build/roots/$1.tar.new" "build/roots/$1.tar"
}

# unpack_root NAME: into $root
unpack_root() {
	root=$scratch/root-$1
	mkdir "$root" && tar xf "build/roots/$1.tar" --numeric-owner -C "$root" &&
		chmod 755 "$root" && cp /etc/resolv.conf "$root/etc/resolv.conf"
}

# inside COMMAND...: run it in $root, which sees its own processes only
inside() {
	ROOT=$root unshare --mount --pid --fork --kill-child sh -c '
		mount -t proc proc "$ROOT/proc" && mount -t sysfs -o ro sysfs "$ROOT/sys" &&
		mount -t tmpfs tmpfs "$ROOT/tmp" && chmod 1777 "$ROOT/tmp" &&
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive DEB_BUILD_OPTIONS="$DEB_BUILD_OPTIONS" \
			chroot "$ROOT" "$@"' - "$@"
}

# as_user COMMAND...: as inside does it, for a user without rights
as_user() { inside setpriv --reuid 1234 --regid 1234 --clear-groups --no-new-privs "$@"; }

get() {
	inside apt-get -qq -y -o Dpkg::Use-Pty=0 "$@" >"$scratch/apt" 2>&1 || {
		bad "apt-get $1"
		tail -n 10 "$scratch/apt"
	}
}

# build SUITE: its packages are in build/packages/SUITE, with the log, and lintian's
build() {
	make_tar "$1-build" "$1" build-essential fakeroot lintian $(build_depends) ||
		cannot "no root of $1 can be made"
	unpack_root "$1-build" || return
	mkdir -p "$root/build/pmukit" &&
		source_files | tar cf - --null -T - |
			tar xf - --no-same-owner -C "$root/build/pmukit" || return
	tree >"$root/build/tree"
	# words that prove that the builder's flags were used
	cat >"$root/build/run" <<-'END'
		set -e
		cd /build/pmukit
		export DEB_CPPFLAGS_APPEND=-DBUILDERS_CPPFLAGS DEB_CFLAGS_APPEND=-DBUILDERS_CFLAGS
		export DEB_LDFLAGS_APPEND=-Wl,--defsym=BUILDERS_LDFLAGS=0
		dpkg-buildpackage -us -uc >../build.log 2>&1 || { tail -n 30 ../build.log; exit 1; }
		cd ..
		# lintian would not run as root
		lintian --allow-root --tag-display-limit 0 *.changes >lintian.log 2>lintian.err || :
		rm -rf pmukit
	END
	inside sh /build/run || return
	rm -rf "build/packages/$1" && mv "$root/build" "build/packages/$1"
	rm -rf --one-file-system "$root"
}

build_depends() {
	sed -n '/^Build-Depends:/,/^[^ ]*:/{ s/^Build-Depends://; /^[^ ]/d; p; }' debian/control |
		sed 's/debhelper-compat.*/debhelper/; s/,//g' | xargs
}

# flags_hold LOG: each compilation and link has the builder's flags and those of hardening
flags_hold() {
	awk '
	/^(cc|gcc|[a-z0-9_]*-linux-gnu-gcc) / {
		linked = / -o build\/debian\/bin\//
		compiled = / -c /
		if (!linked && !compiled)
			next
		if (!/-DBUILDERS_CFLAGS/ || compiled && !/-DBUILDERS_CPPFLAGS/ ||
				linked && !(/BUILDERS_LDFLAGS/ && /-z,now/ && /-z,relro/) ||
				!/-fstack-protector-strong/ || compiled && !/-D_FORTIFY_SOURCE=/ ||
				!/-fPIE/ && !/-static-pie/)
			print "without the builder'"'"'s flags: " $0
		links += linked
		compilations += compiled
	}
	END {
		printf "%d compilations, %d links\n", compilations, links >"/dev/stderr"
		if (links != 13 || compilations < 300)
			print links " links, " compilations " compilations"
	}' "$1"
}

judge_packages() {
	dir=build/packages/$1
	set -- "$dir"/pmukit_*.deb "$dir"/pmukit-static_*.deb
	is "the builder's flags hold in all links" \
		"$(flags_hold "$dir/build.log" 2>"$scratch/counts")" ""
	cat "$scratch/counts"
	is "lintian prints no error and no warning" "$(grep '^[EW]:' "$dir/lintian.log")" ""
	test ! -s "$dir/lintian.err" || cat "$dir/lintian.err"
	is "the file is static" "$(dynamic_parts "$2" usr/bin/pmukit)" ""
	is "the tools link to shared libraries" \
		"$(dynamic_parts "$1" usr/bin/pmu-sample | grep -c 'lib\(pfm\|c\)\.so')" 2
	is "the sources of all that is linked in are named" \
		"$(sources "$2" Static-Built-Using | sed 's/^gcc-[0-9]*/gcc/' | xargs)" \
		"gcc glibc libdeflate libevent libiberty libpfm4 libzstd protobuf-c xz-utils zlib"
	is "libiberty is static only" "$(sources "$1" Built-Using)" libiberty
	for package; do
		is "${package##*/} has the notices of libiberty" "$(dpkg-deb --fsys-tarfile "$package" |
			tar t | grep -c '^\./usr/share/doc/[^/]*/LICENSES/libiberty\.txt')" 1
	done
}

# sources PACKAGE FIELD: their names, a line each
sources() { dpkg-deb -f "$1" "$2" | tr , '\n' | sed 's/^ *//; s/ (= .*//'; }

# dynamic_parts PACKAGE FILE: the libraries and the loader that it asks for
dynamic_parts() {
	dpkg-deb --fsys-tarfile "$1" | tar xOf - "./$2" >"$scratch/file"
	readelf -lW -d "$scratch/file" | grep -E 'NEEDED|INTERP'
}

# older PACKAGE: the same as of an older version, which had a program more
older() {
	rm -rf "$scratch/older"
	dpkg-deb -R "$1" "$scratch/older"
	sed -i 's/^Version: .*/Version: 0.0.1/' "$scratch/older/DEBIAN/control"
	echo '#!/bin/sh' >"$scratch/older/usr/bin/pmu-gone"
	dpkg-deb --root-owner-group -b "$scratch/older" "$root/packages/older.deb" >"$scratch/log"
}

# all_files: of $root, but for logs, caches and what package managers note of their own
all_files() {
	inside find / -xdev \( -path /proc -o -path /sys -o -path /tmp -o -path /var/cache -o \
		-path /var/log -o -path /var/lib/apt -o -path /packages \) -prune -o -print |
	grep -v '^/var/lib/dpkg/\(status-old\|available-old\|diversions-old\|lock\|triggers/.*\)$' |
	sort
}

# use_packages SUITE: in a root that has no compiler and no library of ours
use_packages() {
	make_tar "$1" "$1" || cannot "no root of $1 can be made"
	unpack_root "$1" && mkdir "$root/packages" &&
		cp build/packages/"$1"/pmukit_*.deb build/packages/"$1"/pmukit-static_*.deb \
			debian/tests/profile "$root/packages" || return
	older "$root"/packages/pmukit_*.deb
	get update
	all_files >"$scratch/before"
	get install --no-install-recommends /packages/older.deb
	is "the older version is there" "$(inside dpkg-query -W -f '${Version}' pmukit)" 0.0.1
	get install --no-install-recommends $(cd "$root/packages" &&
		printf '/packages/%s\n' pmukit*.deb)
	is "an upgrade leaves no stale file" "$(inside ls /usr/bin | grep gone)" ""
	is "every file has its checksum" "$(inside dpkg -V pmukit pmukit-static)" ""
	succeeds "an ordinary user profiles a command" as_user sh /packages/profile
	get remove pmukit pmukit-static
	is "removed" "$(inside sh -c 'ls /usr/bin | grep -e ^pmu -e perf_to')" ""
	# apt-get does not know a removed package that left no file
	inside dpkg --purge pmukit pmukit-static >"$scratch/log" 2>&1 || bad "dpkg --purge"
	get autoremove --purge
	all_files >"$scratch/after"
	is "after purge no file is left" "$(diff "$scratch/before" "$scratch/after")" ""
	rm -rf --one-file-system "$root"
}

for suite in ${*:-bookworm trixie}; do
	echo "== $suite"
	test -n "$REUSE" && test -d "build/packages/$suite" || build "$suite" || {
		bad "the packages do not build"
		continue
	}
	judge_packages "$suite"
	use_packages "$suite" || bad "no clean root"
done
verdict
