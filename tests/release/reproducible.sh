#!/bin/sh
# Two releases, made in circumstances as different as can be, are the same bytes; no file names a
# directory of its builder; the bill of materials is one; and the tools run.
#
# The second is made from the first one's source archive, without git.  RELEASE_ARCH: see
# doc/releases.md.
set -e
cd "$(dirname "$0")/../.."
top=$PWD
for program in git zstd tar python3; do
	command -v $program >/dev/null || { echo "there is no $program"; exit 77; }
done
work=$(mktemp -d /tmp/pmukit-release.XXXXXX)
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1
archs=
for arch in ${RELEASE_ARCH:-x86_64 aarch64}; do
	if test "$(uname -m)" = "$arch" || command -v "$arch-linux-gnu-gcc" >/dev/null; then
		archs="$archs $arch"
	else
		echo "without $arch: there is no $arch-linux-gnu-gcc"
	fi
done
test -n "$archs" || exit 77
export RELEASE_ARCH="${archs# }"

chmod 755 "$work"
mkdir -p "$work/one" "$work/b/second one's" "$work/home"
umask 022
TZ=America/New_York LANG=C JOBS=4 packaging/release "$work/one"

tar -xzf "$work"/one/pmukit-*.tar.gz -C "$work/b/second one's"
cd "$work/b/second one's"/pmukit-*
for sysroot in "$top"/build/sysroot-*; do
	test ! -e "$sysroot/ready" || { mkdir -p build && cp -a "$sysroot" build; }
done
if test "$(id -u)" = 0; then
	chown -R 65534:65534 "$work/b" "$work/home"
	other="setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=$work/home"
else
	other=env
	echo "by the same user: only root can be another one"
fi
if command -v faketime >/dev/null; then
	other="$other faketime -f +40d"
else
	echo "on the same day: there is no faketime"
fi
(
	umask 077
	TZ=Asia/Tokyo LANG=C.UTF-8 USER=nobody JOBS=3 \
		$other packaging/release "$work/b/second one's/artefacts"
)
cd "$work"
if ! diff -r "$work/one" "$work/b/second one's/artefacts"; then
	echo "two releases differ"
	exit 1
fi
for arch in $archs; do
	for kind in .tar.zst -debug.tar.zst -relink.tar.zst .spdx.json; do
		test -s "$(echo one/pmukit-*-linux-"$arch$kind")" || {
			echo "no $arch$kind"
			exit 1
		}
	done
done
(cd one && sha256sum -c --quiet SHA256SUMS && ls -l)

# all bytes, unpacked
mkdir all
for archive in one/*.tar.*; do
	tar -xf "$archive" -C all
done
find all one/*.json -type f -exec strings -a -n 4 {} + >strings
test "$(wc -l <strings)" -gt 100000
if grep -F -e "$work" -e "$top" strings; then
	echo "an artefact names a directory of its builder"
	exit 1
fi
python3 "$top/tests/spdx.py" one/*.json

own=all/$(cd all && echo pmukit-*-linux-"$(uname -m)")
test ! -d "$own" || {
	version=$(echo one/pmukit-*.tar.gz | sed 's/.*pmukit-\(.*\)\.tar\.gz/\1/')
	for tool in "$own"/bin/pmu-* "$own"/one-file/pmu-*; do
		test "$("$tool" --version)" = "${tool##*/} $version" || {
			"$tool" --version
			exit 1
		}
	done
	"$own/one-file/pmukit" --version -v
	for tool in "$own"/bin/pmu-* "$own/one-file/pmukit"; do
		test "${tool##*/}" != pmu-query || continue	# a script
		id=$(readelf -n "$tool" | sed -n 's/ *Build ID: //p')
		test -s "$own-debug/.build-id/${id%"${id#??}"}/${id#??}.debug"
	done
}
