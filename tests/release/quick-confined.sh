#!/bin/sh
# `make quick` in a copy of the tree, from the sources, by an ordinary user of a container: without a
# network, and where the kernel refuses perf_event_open(2) and bpf(2).  Nothing fails or waits, and
# all that is skipped says why.
set -e
cd "$(dirname "$0")/../.."
test "$(id -u)" = 0 || { echo "only root can take the network away"; exit 77; }
unshare -n true 2>/dev/null || { echo "no new network namespace is allowed here"; exit 77; }
copy=$(mktemp -d /tmp/pmukit-quick.XXXXXX)
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/tree" "$copy/home"
tar -cf - --exclude=./build --exclude=./.git . | tar -xf - -C "$copy/tree"
cp build/release/tests/bin/no-perf "$copy"
chown -R 65534:65534 "$copy"
cd "$copy/tree"
status=0
HELP=$copy HOME=$copy/home TMPDIR=$copy/home timeout 3000 \
	tests/confined make --no-print-directory quick >"$copy/log" 2>&1 || status=$?
tail -n 15 "$copy/log"
test $status = 0 || { echo "make quick exited $status"; grep -A 15 "not ok" "$copy/log"; exit 1; }
if grep -e " 0 passed, 0 failed, 0 skipped" -e "# SKIP *$" "$copy/log"; then
	echo "these do not say why they are skipped"
	exit 1
fi
