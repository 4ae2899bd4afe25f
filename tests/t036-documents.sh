#!/bin/sh
# README.md and the pages in doc/: their examples run, their links lead somewhere, and the
# configurations of other programs are valid and ask pmu-serve for what it gives.
# kinds: release user
. tests/lib.sh
. tests/examples.sh
. tests/serving.sh

pages=$(echo "$TOP"/README.md "$TOP"/doc/*.md)
blocks=$scratch/blocks
documents blocks "$blocks" $pages || exit 1

make_fresh

# run_blocks PAGE: its commands, in order, in one fresh directory
run_blocks() {
	enter_fresh
	for block in "$blocks/$1"/*.sh; do
		{ as_here <"$block"; echo :; } >block
		run_block ./block
	done
}

# cron_worked: what cron runs on the page fleet has kept a profile: of time, where the CPU counts no
# cycles
cron_worked() {
	test "$(id -u)" = 0 || return 0
	go tool pprof -comments srv/profiles/*-[0-9]*.pb.gz >comments
	pmu-events --check cycles >checked || grep "asked for cycles, got timer" comments
}

for page in $pages; do
	page=$(basename "$page" .md)
	test -d "$blocks/$page" || continue
	ls "$blocks/$page" | grep -q '[.]sh$' || continue
	check "the examples of $page.md run" <<'END'
		needs_command go perf curl
		test $page != waits || ! command -v convoy || target=convoy
		run_blocks $page
		test $page != fleet || cron_worked
END
done

check 'README has 60 lines at most, pages 150; each page is reached, and no link is dead' <<'END'
	any_user
	at_most "$(wc -l <"$TOP/README.md")" 60
	for page in "$TOP"/doc/*.md; do
		at_most "$(wc -l <"$page")" 150
		grep -rl "(\(doc/\)\{0,1\}${page##*/}[)#]" "$TOP/README.md" "$TOP"/doc/*.md |
			grep -qv "$page" || { echo "no link to $page"; exit 1; }
	done
	documents links $pages >dead
	none cat dead
	echo "[a](nowhere.md) [b](README.md#none) pmu-none(1) \`tests/none\`" >page.md
	test "$(documents links page.md | wc -l)" = 4
END

check 'at most ten blocks have a reason not to run, and every block has a known language' <<'END'
	any_user
	find "$blocks" -name "*.not-run" >reasons
	at_most "$(wc -l <reasons)" 10
	find "$blocks" -type f ! -name "*.sh" ! -name "*.not-run" ! -name "*.yaml" \
		! -name "*.alloy" ! -name "*.json" ! -name "*.ini" ! -name "*.c" >unknown
	none cat unknown
	for block in $(find "$blocks" -name "*.json"); do python3 -m json.tool "$block"; done
	# the events that a page names are events
	grep -o -- "\`-e [^\`]*\`" "$TOP/doc/events.md" | sed "s/.-e //; s/ .*//; s/\`//; s/'//g" >events
	at_least "$(wc -l <events)" 8
	grep -v -e ^mem-loads -e ^mem-ldst -e ^sched: events | xargs pmu-events --encode >encoded
END

check 'configurations of collectors ask for what the server gives, in times that it allows' <<'END'
	any_user
	unsanitized
	needs_command curl
	workload
	serve -p $target --keep 1h --interval 1s --push http://127.0.0.1:9 ring
	find "$blocks" -name "*.yaml" -o -name "*.alloy" | sort >files
	at_least "$(wc -l <files)" 5
	documents requests $(cat files) >asked
	get "$url/metrics" >metrics
	while read -r what word rest; do
		case $what in
		request)
			case $word in
			*[?]*) word="$word&seconds=0.1" ;;
			/debug*) word="$word?seconds=0.1" ;;
			esac
			get -f "$url$word" >answer || { echo "$word"; get "$url$word"; exit 1; } ;;
		metric) grep -q "^$word[ {]" metrics ;;
		serve) served="$word $rest" ;;
		esac
	done <asked
	at_least "$(grep -c "^request" asked)" 8
	# a server in Kubernetes starts with its arguments
	printf "0123456789abcdef\n" >token
	chmod 600 token
	serve $(echo "$served" | sed "s,/token/token,token,; s/-l [^ ]*//")
	get "$url/healthz" | grep -q ok
	# a wrong name, and a time that is too short, are found
	sed 's/scrape_timeout: 80s/scrape_timeout: 20s/' "$blocks/fleet-parca/00.yaml" >bad.yaml
	exits 1 documents requests bad.yaml 2>err
	grep 'the timeout of 20 s ends each profile of 60 s' err
	exits 22 get -f "$url/debug/pprof/pmu?event=cacheMissess&seconds=0.1" 2>err
END

done_testing
