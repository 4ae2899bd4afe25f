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
	python3 "$TOP/tests/newer.py" sample <known | pmu-topprof --to folded 2>err >got
	pmu-topprof --to folded known | same - got
	grep "records 0, features 0, events with new fields 1$" err
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

check 'what is known raises no note: features of perf and simpleperf, too' <<'END'
	needs "$SHARED"
	for file in "$SHARED"/*.data "$SHARED"/*/*.data; do
		test -s "$file" && test "$(wc -c <"$file")" -lt 3000000 || continue
		pmu-stream "$file" 2>&1 || :
	done | none grep "does not know"
END

# has_all OLD NEW: all that the JSON texts in OLD have is in NEW, too, with the same values
has_all() {
	python3 - "$1" "$2" <<-'PYTHON'
		import json, sys

		def lost(old, new, where):
		    if isinstance(old, dict) and isinstance(new, dict):
		        for key in old:
		            lost(old[key], new.get(key, "nothing"), f"{where}.{key}")
		    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
		        for i, (one, other) in enumerate(zip(old, new)):
		            lost(one, other, f"{where}[{i}]")
		    elif old != new:
		        sys.exit(f"{where} was {old}, and is {new}")

		def texts(path):
		    text, at, decoder = open(path).read().strip(), 0, json.JSONDecoder()
		    while at < len(text):
		        one, at = decoder.raw_decode(text, at)
		        at += len(text[at:]) - len(text[at:].lstrip())
		        yield one

		lost(list(texts(sys.argv[1])), list(texts(sys.argv[2])), sys.argv[1])
	PYTHON
}

# of_release DIRECTORY: what a release wrote, in files of at most 100 KB, gives the same text
of_release() {
	find "$1" -size +100k >large
	test ! -s large || { cat large; return 1; }
	mkdir now
	(cd now && sh "$TOP/tests/release/texts" "$1") || return
	ls now >names
	ls "$1/text" | same - names || return
	for name in $(cat names); do
		case $name in
		*.json) has_all "$1/text/$name" "now/$name" ;;
		*) same "$1/text/$name" "now/$name" ;;
		esac || return
	done
	rm -r now
}

check 'streams, resolved streams and profiles of each release give the same text' <<'END'
	for release in "$TOP"/tests/data/releases/*/; do
		of_release "${release%/}"
	done
	cp -r "${release%/}" changed
	for edit in 's/"value": /"worth": /; s/"cum": /"sum": /' 's/"flat_share": 0/&1/'; do
		sed -i "$edit" changed/text/program.pb.gz.top.json
		exits 1 of_release changed
		rm -rf now
	done
	cp -r "${release%/}/text/." changed/text
	sed -i "1s/;/:/" changed/text/program.resolved.folded
	exits 1 of_release changed
END

# the options of a release that are gone
gone() { python3 "$TOP/tests/kept-options.py" "$1" "$2" "$3" "$BIN"; }

check 'no option of a release disappears without a deprecation' <<'END'
	version=$(sed -n "s/^VERSION *= *//p" "$TOP/Makefile")
	releases=$TOP/tests/data/releases
	test -d "$releases/$version"
	for release in "$releases"/*/; do
		gone "$release/help" "$releases/deprecated" "$version"
	done
	# an option that became another one, one that is no more, another letter, a lost value, a lost tool
	cp -r "$releases/$version/help" kept
	grep -v "^#" "$releases/deprecated" >known || :
	while read -r edit; do
		cp "$releases/$version/help/"* kept
		sed -i "$edit" kept/pmu-top
		exits 3 gone kept known "$version"
	done <<-'EOF'
	s/^      --objects /      --modules /
	s/^  -n, --rows/  -N, --rows/
	s/text, json, csv/text, json, csv, xml/
	s/^      --live=TIME/      --live[=TIME]/
	EOF
	cp "$releases/$version/help/"* kept
	cp kept/pmu-top kept/pmu-bottom
	exits 3 gone kept known "$version"
	# deprecated: it works with a note, or, later, is refused with the new spelling
	rm kept/pmu-bottom
	echo "pmu-sample --max-stack 0.0.1 use --call-graph max=COUNT" >words
	printf "  -x, --max-stack=COUNT  frames\n" >>kept/pmu-sample
	exits 3 gone kept known "$version"
	gone kept words "$version"
	sed "s/0\.0\.1/$version/" words >early	# this version had to take it
	exits 3 gone kept early "$version"
	sed "s/max=COUNT/max-stack=COUNT/" words >other
	exits 3 gone kept other "$version"
END

done_testing
