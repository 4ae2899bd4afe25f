#!/bin/sh
# elsewhere.sh - make O=DIR, of a source that cannot be written, builds and installs all tools and
# leaves nothing in the source.
unset CDPATH
cd "$(dirname "$0")/../.." || exit 1
unshare -m true 2>/dev/null || { echo "only root can make the source read-only here"; exit 77; }

dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT || exit 1
mkdir "$dir/source" || exit 1
tar -cf - --exclude=./build --exclude=./.git . | tar -xf - -C "$dir/source" || exit 1
# in the environment, as the check of the directory runs in a shell of its own
export dir
unshare -m sh -ec '
	mount --bind "$dir/source" "$dir/source"
	mount -o remount,bind,ro "$dir/source"
	cd "$dir/source"
	! make -s >"$dir/said" 2>&1
	grep -q "Read-only file system; make O=DIR builds in another directory" "$dir/said"
	make -s -j2 O="$dir/out" CFLAGS=-O0 all pmukit
	make -s O="$dir/out" CFLAGS=-O0 install DESTDIR= PREFIX="$dir/a b"
	"$dir/a b/bin/pmu-events" --help
	"$dir/a b/libexec/pmukit/pmukit" --help
' >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
test ! -e "$dir/source/build" || { echo "something was built in the source"; exit 1; }
echo "built and installed from a source that cannot be written: $(du -sh "$dir/out" | cut -f 1)"
