#!/bin/sh
# The examples of the man pages, as a reader sees them: they run.
# kinds: release
. tests/lib.sh
. tests/examples.sh
port=6060

# rendered PAGE: its lines as mandoc shows them, without columns
rendered() { mandoc -T ascii -O width=300 "$1" | col -bx; }

# commands_in PAGE: its examples, a line each; those of several lines are joined
commands_in() {
	rendered "$1" | awk '
		more { sub(/^ */, ""); line = line " " $0; more = 0 }
		/^ *\$ / { sub(/^ *\$ /, ""); line = $0 }
		line == "" { next }
		line ~ /\\$/ { sub(/\\$/, "", line); more = 1; next }
		line ~ /\|$/ { more = 1; next }
		{ gsub(/  +/, " ", line); print line; line = "" }'
}

# needs_more COMMAND: whether it needs what is not here: a host, a database, a browser, an endless
# stream, Java, a new Go
needs_more() {
	case $1 in
	*ssh* | *docker* | *curl* | *openssl* | *pmu-serve* | *localhost* | *'$day'* | day=*) ;;
	*pmu-query*) ;;
	*amdzen5* | *chgrp* | *go\ test* | *go\ build* | *--pgo* | *java* | *jcmd* | *node* | *jit-map*) ;;
	*kill\ -USR1* | *--split* | *--switch-output* | *--flight-recorder*) ;;
	*'-http :'* | *http:* | *tagfocus* | *--labels* | *label:user*) ;;
	*./...* | *sample_index* | *--host\ * | benchstat* | *-e\ topdown*) ;;
	*) return 1 ;;
	esac
}

check 'a page shows each example as its source has it; no space before a dot is lost' <<'END'
	needs_command mandoc col
	for page in "$TOP"/man/*.[1357]; do
		sed -n "s/\\\\(aq/'/g; s/\\\\(dq/\"/g; s/\\\\&//g; s/\\\\e/\\\\/g
			s/^\.Dl \(\\$ \)/\1/p" "$page" >want
		rendered "$page" | sed -n 's/^ *\(\$ .*\)/\1/p' >got
		while IFS= read -r line; do
			grep -qFx -- "$line" got || { echo "$page: $line"; exit 1; }
		done <want
		cat want
	done >all
	at_least "$(wc -l <all)" 30
	# a table has such signs, too
	rendered "$TOP/man/pmu-flame.1" | grep -q '^ *\[ and \]  '
END

check 'the examples of the man pages run' <<'END'
	needs_command mandoc col perf go
	prepare
	export HOME=$PWD/home
	ten lazy 600 >/dev/null &
	pid=$!
	for page in "$TOP"/man/*.[1357]; do commands_in "$page"; done >commands
	at_least "$(wc -l <commands)" 50
	PATH=$PWD:$PATH
	sort -u commands | as_here >here
	run=0
	while IFS= read -r command <&9; do
		! needs_more "$command" || continue
		cp kept/* .
		run=$((run + 1)) got=0
		timeout 300 bash -o pipefail -c "$command" >out 2>err </dev/null || got=$?
		case "$command $got" in
		*" 0" | *fail-if*" "[13] | *--doctor*" 1" | *--check*" 1") ;;
		*) echo "exit $got: $command"; cat err; exit 1 ;;
		esac
	done 9<here
	at_least $run 30
END

check 'the examples for Go run: go test with pmu-prof, and pprof in a browser' <<'END'
	needs_command mandoc col go
	printf 'module m\ngo 1.19\n' >go.mod
	cat >m_test.go <<-GO
		package m
		import "testing"
		func BenchmarkM(b *testing.B) { for i := 0; i < b.N; i++ { testing.Short() } }
	GO
	commands_in "$TOP/man/pmu-prof.1" | grep '^go test .* -bench' | as_here >go-test
	mkdir tmp
	sh -e ./go-test >out 2>err || { cat out err; exit 1; }
	grep -q '^BenchmarkM' out
	test -s tmp/cpu.pb.gz
	cp tmp/cpu.pb.gz p.pb.gz
	commands_in "$TOP/man/pmu-topprof.1" | grep '^go tool pprof -http' >web
	BROWSER=true sh -c "exec $(cat web)" >log 2>&1 &
	eventually grep -q "Serving web UI on http" log
	kill $!
END

done_testing
