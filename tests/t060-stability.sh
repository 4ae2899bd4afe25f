#!/bin/sh
# What stays from release to release: what is known of a newer stream is read, and what earlier
# releases wrote gives the same text; no option and no field of JSON disappears without a word.
# kinds: release
. tests/lib.sh

newer() { python3 "$TOP/tests/newer.py"; }
unknown='unknown: records 3, features 1, events with new fields 1$'

# says_once: the messages in err count what is unknown in one line
says_once() {
	cat err
	test "$(grep -c "$unknown" err)" = 1
}

check 'of a newer stream, all readers use what they know, and count the rest in one note' <<'END'
	make-stream 300 20 6 >known
	newer <known >new
	while read -r reader; do
		$reader <known >want
		$reader <new >got 2>err
		says_once
		same want got
	done <<-EOF
	pmu-topprof --to folded
	pmu-top
	pmu-top --json
	pmu-flame --to svg -o -
	EOF
	for stream in known new; do pmu-stream $stream 2>err | grep -e SAMPLE -e MMAP2 -e event; done >both
	says_once
	sort both | uniq -c | none grep -v "^ *2 "
	pmu-stream --check new 2>err
	says_once
	pmu-top --json known | sed -n "s/^{\"name\": \"\([^\"]*\)\".*/\1/p" >names
	read -r name <names
	exits 1 pmu-annotate "$name" known 2>want	# nobody has this program's file
	exits 1 pmu-annotate "$name" new 2>got
	grep "$unknown" got >err
	says_once
	grep -v "$unknown" got | same want -
END

check 'filters pass on what is unknown' <<'END'
	make-stream 300 20 6 | newer >new
	for filter in "pmu-unwind" "pmu-symbolize" "pmu-stream -n 300" "pmu-stream -z"; do
		$filter new >passed 2>err
		says_once
		pmu-stream --dump passed 2>err |
			awk '$2 ~ /^[0-9]+$/ || $4 == "number=60" { print $2 }' >kept
		says_once
		printf "%s\n" FEATURE 40 120 1347223792 | same - kept
	done
	pmu-symbolize -q new | pmu-topprof --to folded 2>err >got
	says_once
	make-stream 300 20 6 | pmu-topprof --to folded | same - got
	pmu-stream --cat new new 2>err >joined
	cat err
	pmu-stream joined 2>&1 | grep "^40  *2$"
END

check 'what is known raises no note: features of perf and of simpleperf, the end of features' <<'END'
	needs "$SHARED"
	for file in "$SHARED"/*.data "$SHARED"/*/*.data; do
		test -s "$file" && test "$(wc -c <"$file")" -lt 3000000 || continue
		pmu-stream "$file" 2>&1 || :
	done | none grep "does not know"
END

done_testing
