#!/bin/sh
# The demo, as make runs it.
# kinds: release user
. tests/lib.sh

check 'it writes the profile that it names, and nothing into the common folder' <<'END'
	sh "$TOP/tests/demo" demo.pb.gz 0.6 >out 2>&1
	grep -q 'go tool pprof -http : demo.pb.gz' out
	test "$(tail -n 1 out)" = '    xdg-open demo.html'
	grep -q '</html>' demo.html
	grep -q 'longest_match' out
	go tool pprof -top demo.pb.gz | grep -q longest_match
	none ls -A "$TMPDIR"
END

done_testing
