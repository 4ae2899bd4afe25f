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

check 'the pictures of the documents are made anew, with what their captions say' <<'END'
	any_user
	mkdir pictures
	"$TOP/tests/pictures" 0.2 pictures
	for name in flame callers change; do
		for picture in pictures/$name.svg "$TOP/doc/$name.svg"; do
			grep -q '>longest_match<' "$picture"
			none grep -F "$TOP" "$picture"
		done
	done
	grep -q 'orange: more than in before.pb.gz, blue: less' "$TOP/doc/change.svg"
	# the caption in README has the shares of the picture
	sed -n 's/^!\[A flame graph: //p' "$TOP/README.md" | grep -o '[A-Za-z_]* takes [0-9]*' |
		while read -r name takes share; do
			grep -A 3 "title>$name\$" "$TOP/doc/flame.svg" | grep -q ", $share\."
		done
END

done_testing
