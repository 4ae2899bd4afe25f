#!/bin/sh
# release/host.sh - pmu-prof --host, what takes minutes: a connection on which nothing comes any more,
# a slow reader, and an input and output that are larger than all windows.
cd "$(dirname "$0")/../.." || exit 1
make --no-print-directory -s -j2 WERROR=1 tests || exit 1
export PATH="$PWD/build/release/bin:$PWD/build/release/tests/bin:$PATH"
why=$(build/release/tests/bin/may-sample) || { echo "$why"; exit 77; }

here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT && cd "$here" || exit 1
mkdir bin home
# in place of ssh: a shell of this machine
printf '#!/bin/sh\nwhile test "$1" != --; do shift; done\nshift 2\nHOME=%s exec sh -c "$*"\n' \
	"$here/home" >bin/ssh
chmod +x bin/ssh
PATH=$here/bin:$PATH
status=0
failed() { echo "not ok: $*"; status=1; }
prof() { pmu-prof -q --host x -e cpu-clock -o p "$@"; }

echo 'trap "echo TERM >log; exit" TERM; echo ready; while :; do sleep 0.2; done' >mark
python3 - <<'END' || failed 'after a minute of silence the command must end by SIGTERM'
import os
import struct
import subprocess
import time

agent = subprocess.Popen(["pmukit", "prof", "--host=stdio:" + os.getcwd()], bufsize=0,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
words = b"".join(word + b"\0" for word in
                 [b"pmu-prof", b"-q", b"-e", b"cpu-clock", b"--", b"sh", b"mark"])
for kind, content in (b"w", words), (b"g", b""):
    agent.stdin.write(kind + struct.pack("<I", len(content)) + content)
while b"ready" not in agent.stdout.read(1000):
    pass
began = time.monotonic()
for beat in range(3):   # while something comes, nothing ends
    time.sleep(30)
    assert agent.poll() is None and not os.path.exists("log")
    agent.stdin.write(b"h" + bytes(4))
agent.wait(180)
waited = time.monotonic() - began
print(f"the agent ended {waited - 90:.0f} s after it heard something last")
assert 150 <= waited and open("log").read() == "TERM\n"
END

# longer than the silence that the other side allows
prof -- sh -c 'head -c 3000000 /dev/zero; exit 3' >out.pipe &
exits=0
echo "$( { prof -- sh -c 'head -c 3000000 /dev/zero; exit 3'; echo $? >exited; } |
	{ sleep 100; wc -c; })" >size
wait $! || exits=$?
test "$exits" = 3 && test "$(wc -c <out.pipe)" = 3000000 || failed 'a command and its output'
test "$(cat exited)" = 3 && test "$(cat size)" -eq 3000000 || failed 'a reader that takes its time'

head -c 200000000 /dev/urandom >big
prof -- cat <big | cmp - big || failed '200 MB to and fro'
none=$(pgrep -f "host=stdio:$here")
test -z "$none" || failed "left running: $none"
exit $status
