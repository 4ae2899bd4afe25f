#!/bin/sh
# rpm.sh - rpmbuild builds packaging/pmukit.spec, rpmlint finds no error in it and in the packages,
# and their lists of files are those of the Debian packages, where these were built (debian.sh).
#
# OPTFLAGS=-O0 builds faster.  Exits 77 where rpmbuild or rpmlint is missing.
unset CDPATH
cd "$(dirname "$0")/../.." || exit 1
. tests/release/judge

needs rpm rpmbuild rpmlint
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# The source package, as a release has it.
version=$(sed -n 's/^Version: *//p' packaging/pmukit.spec)
mkdir -p "$scratch/SOURCES" "$scratch/pmukit-$version"
source_files | tar cf - --null -T - | tar xf - -C "$scratch/pmukit-$version"
tar czf "$scratch/SOURCES/pmukit-$version.tar.gz" -C "$scratch" "pmukit-$version"

# The database of this machine has no package that the spec wants: --nodeps.
rpmbuild --nodeps --define "_topdir $scratch" --define 'packager whoever publishes it' \
	${OPTFLAGS:+--define "optflags $OPTFLAGS"} -ba packaging/pmukit.spec >"$scratch/log" 2>&1 || {
	tail -n 30 "$scratch/log"
	exit 1
}
packages=$(find "$scratch/RPMS" "$scratch/SRPMS" -name '*.rpm')
is "two packages and their source" "$(echo "$packages" | wc -l)" 3
rpmlint --rpmlintrc packaging/rpmlint.filters packaging/pmukit.spec $packages >"$scratch/lint" 2>&1
is "rpmlint prints no error" "$(grep ': E: ' "$scratch/lint")" ""
is "rpmlint judged all" "$(tail -n 1 "$scratch/lint" | grep -o '[0-9]* errors')" "0 errors"

# Each file, where Debian has it.  Both compress manuals, Debian long texts, too.  Each kind of
# package has its own files of licences and changes.
files_of_rpm() {
	rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$1" | sed -n '/^d/!s/^[^ ]* //p'
}
files_of_deb() { dpkg-deb --fsys-tarfile "$1" | tar tf - | sed -n '/\/$/!s/^\.//p'; }
plain() {
	sed 's/\.gz$//; s|/doc/\(pmukit[a-z-]*\)-[0-9.]*/|/doc/\1/|
		s|/zsh/site-functions/|/zsh/vendor-completions/|
		\|/share/licenses/|d; \|/doc/[^/]*/LICENSES/|d; \|/doc/[^/]*/copyright$|d
		\|/doc/[^/]*/changelog$|d; \|/doc/[^/]*/CHANGELOG.md$|d
		\|/share/lintian/|d; \|/\.build-id|d' | sort
}

debs=
for suite in bookworm trixie; do
	test "$(cat build/packages/$suite/tree 2>/dev/null)" != "$(tree)" ||
		debs=build/packages/$suite/
done
for name in pmukit pmukit-static; do
	if test -z "$debs"; then
		echo "skipped: $name: no Debian package of this tree: run tests/release/debian.sh"
		continue
	fi
	files_of_deb "$debs$name"_*.deb | plain >"$scratch/debian"
	files_of_rpm "$scratch"/RPMS/*/"$name-$version"-*.rpm | plain >"$scratch/rpm"
	is "$name has the files of Debian's package" "$(diff "$scratch/debian" "$scratch/rpm")" ""
done
verdict
