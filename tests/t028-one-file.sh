#!/bin/sh
# pmukit, all tools in one file: by each of its names it is that tool, and needs no other file.
# kinds: release
. tests/lib.sh

kit=$BIN/pmukit
tools=$(cd "$BIN" && echo pmu-*)

# kit_alone: a directory "alone" that has nothing but pmukit, and $PATH, where no tool is
kit_alone() {
	mkdir alone
	cp "$kit" alone/pmukit
	PATH=/usr/bin:/bin
}

check 'the help and the version of each tool are as of the tool that is a file of its own' <<'END'
	any_user
	needs_single_tools
	for tool in $tools; do
		"$BIN/$tool" --help >want
		"$BIN/$tool" --version >>want
		"$BIN/$tool" --nonsense 2>>want || :
		ln -s "$kit" "$tool"
		for run in "$kit $tool" "$kit ${tool#pmu-}" "./$tool"; do
			$run --help >got
			$run --version >>got
			exits 2 $run --nonsense 2>>got
			same want got
		done
	done
	exits 2 pmu-topprof --nonsense 2>want	# perf_to_profile is this tool, by another name
	ln -s "$BIN/pmu-topprof" perf_to_profile
	./perf_to_profile --help >want
	"$kit" perf_to_profile --help | same want -
	ln -sf "$kit" perf_to_profile
	./perf_to_profile --help | same want -
END

check 'a pipe through pmukit writes the same bytes' <<'END'
	any_user
	needs_single_tools
	make-stream 500 20 4 "$(command -v ten)" >s.data
	for by in "" "$kit "; do
		${by}pmu-symbolize s.data >r.data
		${by}pmu-topprof <r.data >p.pb.gz
		${by}pmu-top p.pb.gz >top
		${by}pmu-stream --dump s.data >dump
		cat r.data p.pb.gz top dump | cksum >>sums
	done
	at_least "$(wc -l <dump)" 500
	test "$(sort -u sums | wc -l)" = 1
END

check 'pmukit lists its tools; without one, or with one that it does not have, it exits 2' <<'END'
	any_user
	"$kit" --help >help
	for tool in $tools perf_to_profile; do
		"$kit" $tool --help | sed -n "s/^$tool: //p" >purpose
		test -s purpose
		sed -n "s/^  $tool  *//p" help | same purpose -
		grep "^  $tool " help >>list
	done
	exits 2 "$kit" nonsense 2>err
	grep -x "pmukit: there is no tool 'nonsense'" err
	grep "^  " err | same list -
	for words in "" "--quiet" "-q top" "topprofs" "pmu-" "pmu"; do
		exits 2 "$kit" $words 2>err
		grep "^  " err | same list -
	done
	ln -s "$kit" another-name
	./another-name top --version | grep "^pmu-top "
	"$kit" --version | grep -x "pmukit [0-9.]*"
END

done_testing
