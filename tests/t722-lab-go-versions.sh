#!/bin/sh
# Labels of goroutines on arm64, of programs by each version of Go that Debian has: t720, with more
# programs, all in one guest.
# kinds: release
. tests/lib.sh
. tests/go-versions.sh
. tests/lab.sh

# made VERSION: the program for arm64, by that version
made() {
	(with_go "$1" && GOARCH=arm64 CGO_ENABLED=0 go build -o "$scratch/labels-$1" \
		"$TOP/tests/labels.go")
}

all=$(echo "$versions" | cut -d ' ' -f 1)
for version in $all; do
	test -n "$why" || made "$version" >"$scratch/made" 2>&1 ||
		why="no program by Go $version: $(tail -n 1 "$scratch/made")"
done
test -n "$why" ||
	start versions -t 1200 $(printf -- "-p $scratch/labels-%s " $all) <<'END'
for program in /bin/labels-*; do
	$program 100000 2 3 & pid=$!
	pmu-sample -v --labels -e cpu-clock -F 200 -d 2 -p $pid -o ${program#/bin/}.data \
		2>${program#/bin/}.said
	kill $pid
done
:
END

check 'the guest ends' <<'END'
	in_lab
	ended_well versions
END

for version in $all; do
	check "labels on arm64, by Go $version" <<-END
		ended versions
		cat "$lab/versions/labels-$version.said"
		cp "$scratch/labels-$version" .
		python3 "$TOP/tests/labels-judge.py" ./labels-$version \
			"$lab/versions/labels-$version.data" >judged
		cat judged
		grep -q " wrong=0 " judged
		grep -q " alone=0 " judged
		right=\$(tr " " "\n" <judged | sed -n "s/^right=//p")
		none=\$(tr " " "\n" <judged | sed -n "s/^none=//p")
		at_least "\$right" 30
		at_most \$((none * 10)) \$((right + none))
	END
done

done_testing
