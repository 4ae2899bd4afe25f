#!/bin/sh
# The examples of the man pages, as a reader sees them, and of README.md: they run.
# kinds: release
. tests/lib.sh

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

# commands_of_readme: the lines of README.md that are commands of ours, without their comments
commands_of_readme() {
	awk '/^    [^ ]/ || more {
		sub(/^ */, ""); sub(/^\$ /, ""); sub(/  +# .*/, "")
		line = more ? line " " $0 : $0
		more = line ~ /\|$/
		if (!more && line ~ /(^| )pmu-[a-z]+ |^perf |^go tool/)
			print line
	}' "$TOP/README.md"
}

# Events that every machine has, short times, our own programs, process $pid: what an example
# is about stays, its options and their order.
as_here() {
	sed -E "s/\b42\b/$pid/g; s/-d (5|10|60)\b/-d 0.2/; s,(cache-misses|cycles)/,cpu/,
		s/cache-misses/page-faults/g; s/branch-misses/context-switches/g
		s/\binstructions\b/task-clock/g; s/\bcycles\b/cpu-clock/g; s/--run 5/--run 2/
		s/pmu-sample -a \|/pmu-sample -a -d 0.2 |/
		s,/tmp/cpu.pb.gz,$PWD/cpu.pb.gz,; s/\b(deflate|lookup)\b([ \$'])/J\2/
		s/(-bench \.)/\1 -benchtime 20ms/; s/-F 999/-e cpu-clock -F 999/"
}

# The files and programs that the examples name.
prepare() {
	printf '#!/bin/sh\nexec ten serial 0.1\n' >server
	chmod +x server
	for name in program build compress old new; do cp server $name; done
	seq 100000 | sort -R >big.txt
	mkdir home
	pmu-sample -q --call-graph dwarf -e cpu-clock -o perf.data -- ten serial 0.2
	pmu-sample -q --unwind --record switches -e cpu-clock -o s.data -- ten serial 0.2
	pmu-sample -q -g -e cpu-clock,task-clock,page-faults -o several.data -- ten serial 0.2
	pmu-symbolize -q several.data | pmu-topprof -q --slices 20 -o p.pb.gz
	for name in before after old1 old2 old3 new1 new2 new3; do cp p.pb.gz $name.pb.gz; done
	pmu-sample -q -e cpu-clock -o minute.data.1 -- ten serial 0.1
	pmu-sample -q -e cpu-clock -o minute.data.2 -- ten serial 0.1
	mkdir -p src/zlib kept
	cp *.data* *.pb.gz kept
	printf 'module m\ngo 1.19\n' >go.mod
	cat >m_test.go <<-GO
		package m
		import "testing"
		func BenchmarkM(b *testing.B) { for i := 0; i < b.N; i++ { testing.Short() } }
	GO
}

# needs_more COMMAND: whether it needs what is not here: a host, a browser, an endless stream, Java
needs_more() {
	case $1 in
	*ssh* | *docker* | *curl* | *openssl* | *pmu-serve* | *localhost* | *'$day'* | day=*) ;;
	*amdzen5* | *chgrp* | *go.test* | *java* | *jcmd* | *node* | *jit-map*) ;;
	*kill\ -USR1* | *--split* | *--switch-output* | *--flight-recorder*) ;;
	*'-http :'* | *http:* | *tagfocus* | *--labels* | *label:user*) ;;
	*./...* | *sample_index*) ;;
	*) return 1 ;;
	esac
}

check 'a page shows each example as its source has it; no space before a dot is lost' <<'END'
	needs_command mandoc col
	for page in "$TOP"/man/*.[157]; do
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

check 'the examples of the man pages and of README.md run' <<'END'
	needs_command mandoc col perf go
	prepare
	HOME=$PWD/home
	ten lazy 600 >/dev/null &
	pid=$!
	for page in "$TOP"/man/*.[157]; do commands_in "$page"; done >commands
	commands_of_readme >>commands
	at_least "$(wc -l <commands)" 70
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
	at_least $run 35
END

check 'the examples for Go run: go test with pmu-prof, and pprof in a browser' <<'END'
	needs_command mandoc col go
	prepare
	commands_in "$TOP/man/pmu-prof.1" | grep '^go test .* -bench' | as_here >go-test
	sh -e ./go-test >out 2>err || { cat out err; exit 1; }
	grep -q '^BenchmarkM' out
	test -s cpu.pb.gz
	commands_in "$TOP/man/pmu-topprof.1" | grep '^go tool pprof -http' >web
	BROWSER=true sh -c "exec $(cat web)" >log 2>&1 &
	eventually grep -q "Serving web UI on http" log
	kill $!
END

done_testing
