#!/bin/sh
# README.md and the pages in doc/: their examples run, their links lead somewhere, and the
# configurations of other programs are valid and ask pmu-serve for what it gives.
# kinds: release user
. tests/lib.sh
. tests/examples.sh
. tests/serving.sh

pages=$(echo "$TOP"/README.md "$TOP"/doc/*.md)
documents() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/documents.py" "$@"; }
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
blocks=$scratch/blocks
documents blocks "$blocks" $pages || exit 1

# What examples find in PATH before the programs themselves.
write_stand_ins() {
	stand_in sudo <<-"EOF"
	exec "$@"
	EOF
	stand_in make <<-"EOF"
	for word; do
		case $word in
		*=*) ;;
		*) grep -q "^$word:" "$TOP/Makefile" || { echo "no target '$word'" >&2; exit 2; } ;;
		esac
	done
	EOF
	stand_in ssh <<-"EOF"
	while test "$1" = -L; do shift 2; done
	case $1 in -* | '') exit 2 ;; esac
	shift
	exec sh -c "$*"
	EOF
	stand_in scp <<-"EOF"
	for target; do :; done
	for file; do test "$file" = "$target" || ln -sf "$(realpath "$file")" "${target#*:}"; done
	EOF
	stand_in sysctl <<-"EOF"
	name=${1%=*}
	test -e "/proc/sys/$(echo "$name" | tr . /)" && expr "$1" : '.*=-\{0,1\}[0-9]*$' >/dev/null
	EOF
	stand_in chgrp <<-"EOF"
	test $# = 2 && test -e "$2"
	EOF
	stand_in setcap <<-"EOF"
	expr "$1" : 'cap_[a-z_,]*+ep$' >/dev/null && test -x "$2"
	EOF
	stand_in systemctl <<-"EOF"
	case $1 in daemon-reload) exit ;; esac
	for unit; do :; done
	test -s "etc/systemd/system/$unit.service"
	EOF
	stand_in docker <<-"EOF"
	test "$1" = run && shift
	while test $# != 0; do
		case $1 in
		-d | --rm | --pid=host | --pid=container:*) shift ;;
		--name | --user | --cap-add | -p | --security-opt) shift 2 ;;
		-v) tokens=$2 && shift 2 ;;
		pmukit) break ;;
		*) echo "docker: unknown option $1" >&2; exit 125 ;;
		esac
	done
	tool=pmu-$2
	shift 2
	for word; do	# the container's names of what was mounted, and of its processes
		shift
		case $word in
		/token) word=${tokens%%:*} ;;
		1) word=$pid ;;
		esac
		set -- "$@" "$word"
	done
	exec "$tool" "$@"
	EOF
	stand_in kubectl <<-"EOF"
	case $* in
	"create secret generic "*" --from-file="*) test -s "${*##*=}" ;;
	"apply -f "*.yaml) ;;
	*) exit 1 ;;
	esac
	EOF
	stand_in pmu-symbolize <<-EOF	# the kernel needs 40 ms to print its symbols
	exec "$BIN/pmu-symbolize" --kallsyms "$PWD/kallsyms" "\$@"
	EOF
	stand_in xdg-open <<-"EOF"
	test -s "$1"
	EOF
	stand_in perf <<-"EOF"
	command=$1
	shift
	test "$command" != script || set -- --kallsyms /dev/null "$@"
	PATH=${PATH#*:}
	exec perf "$command" "$@"
	EOF
	stand_in go <<-"EOF"
	PATH=${PATH#*:}
	case "$1 $2" in
	"test -exec") exec $3 ./program -test.bench . ;;
	"tool pprof")
		shift 2
		if test "$1" = -http; then
			shift 2
			set -- -top "$@"
		fi
		exec go tool pprof "$@" ;;
	esac
	exit 2
	EOF
	stand_in pmu-serve <<-"EOF"
	case " $* " in *" --version "*) exec "$BIN/pmu-serve" "$@" ;; esac
	test ! -e .server || kill "$(cat .server)"
	while test -e .server && kill -0 "$(cat .server)" 2>/dev/null; do sleep 0.02; done
	echo "$*" >.arguments
	case " $* " in *" -l "*) ;; *) set -- -l "127.0.0.1:$port" "$@" ;; esac
	rm -f addresses
	for kept; do :; done
	case " $* " in *" --keep "*) set -- --interval 1s "$@" ;; *) kept= ;; esac
	"$BIN/pmu-serve" --max-cost 100% "$@" >addresses 2>.messages &
	echo $! >.server
	until grep -q ^http addresses; do
		kill -0 $! || { cat .messages >&2; exit 1; }
		sleep 0.02
	done
	until test -z "$kept" || grep -q paranoid .messages || ls "$kept"/profile* >/dev/null 2>&1; do
		sleep 0.02
	done
	EOF
}

# The directory in which the examples of a page start: a copy of this one.
cd "$scratch" && mkdir fresh && cd fresh || exit 1
{
	prepare
	write_stand_ins
	cp "$BIN/pmu-sample" usr/local/bin
	echo "ffffffff81000000 T _text" >kallsyms
	cat >run-block <<-"EOF"
	judge() {
		case "$1 $2" in
		"1 "*--doctor* | "1 "*--check* | [13]" "*--fail-if*) ;;
		*) echo "exit $1: $2" >&2; exit "$1" ;;
		esac
	}
	set -E -o pipefail
	trap 'judge $? "$BASH_COMMAND"' ERR
	. "$1"
	EOF
} >"$scratch/log" 2>&1 || { test -n "$unsampled" || { cat "$scratch/log"; exit 1; }; }
cd "$TOP" || exit 1

# lacks_rights: whether a block failed only because this user may not do what it does, or because
# nobody has mounted tracefs
lacks_rights() {
	test -r $tracing/available_events || ! grep -q "unknown event 'sched:" err || return 0
	command test "$(id -u)" != 0 || return 1
	! grep -q 'perf_event_paranoid\|CAP_\|has no permission' err || return 0
	grep -qw -e -a .arguments 2>/dev/null && ! pmu-sample -q -a -d 0.01 -o /dev/null
}

# run_block FILE: again if the process that is sampled did not run meanwhile, on a busy machine
run_block() {
	for attempt in 1 2 3 4 5 6 7 8 9 10; do
		cp -r kept/* .
		! timeout 300 bash ./run-block "$1" >out 2>err </dev/null || return 0
		! lacks_rights || return 0
		grep -q 'no samples\|no function with samples' err || break
	done
	cat "$1" out err
	return 1
}

# run_blocks PAGE: its commands, in order, in one fresh directory
run_blocks() {
	ten lazy 600 >/dev/null &
	pid=$!
	cp -r "$scratch/fresh" fresh
	cd fresh
	export pid port PMU_PATH="$PWD/stand-ins" PATH="$PWD/stand-ins:$PWD:$PATH" HOME="$PWD/home"
	for block in "$blocks/$1"/*.sh; do
		{ as_here <"$block"; echo :; } >block
		run_block ./block
	done
}

for page in $pages; do
	page=$(basename "$page" .md)
	test -d "$blocks/$page" || continue
	ls "$blocks/$page" | grep -q '[.]sh$' || continue
	check "the examples of $page.md run" <<'END'
		needs_command go perf curl
		run_blocks $page
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
		! -name "*.alloy" ! -name "*.json" ! -name "*.ini" >unknown
	none cat unknown
END

check 'configurations of collectors ask for what the server gives, in times that it allows' <<'END'
	any_user
	unsanitized
	needs_command curl
	workload
	serve -p $target --keep 1h --interval 1s ring
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
		metric) grep -q "^$word " metrics ;;
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
