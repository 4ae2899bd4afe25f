#!/bin/sh
# Labels of Go programs, built by each version of Go that Debian has beside its own: in plain and
# stripped programs, position-independent ones, with C, and as a library of a C program.
#
# GO_VERSIONS=all (make check-all): it fetches gigabytes, and compiles each standard library.
# kinds: release
. tests/lib.sh
. tests/program-labels.sh
. tests/go-versions.sh

# labelled PROGRAM [FILE]: sample it; each sample has the label of its function, which is in FILE
labelled() {
	record s.data "$1" 150 3
	judge "${2:-$1}" s.data
	judged alone 0 0
	grep -q ', 0 unreadable, 0 not known' log
}

# programs: what each version is judged by
programs() {
	with=--labels=go
	labels=$TOP/tests/labels.go
	go build -o plain "$labels"
	labelled ./plain
	record s.data ./plain 150 1 9
	judge ./plain s.data
	judged cut 0 0
	cp plain symbols
	strip plain
	record s.data ./plain 150 3
	mv symbols plain	# by the same name, for the judge
	judge ./plain s.data
	go build -buildmode=pie -o pie "$labels"
	labelled ./pie
	printf 'package main\nfunc main() { for {} }\n' >never.go
	go build -o never never.go
	./never & pid=$!
	eventually became $pid never
	pmu-sample --labels -d 10ms -p $pid -o s.data 2>log
	kill $pid
	grep "process $pid is a Go program that never sets labels" log
}

# programs_with_c: the same with C in the program, dynamic and static, and in a C program
programs_with_c() {
	with=--labels=go
	needs_command gcc
	sed 's/^import (/import "C"\n&/' "$TOP/tests/labels.go" >work.go
	go build -o dynamic work.go
	labelled ./dynamic
	go build -buildmode=pie -o pie work.go
	labelled ./pie
	go build -ldflags=-extldflags=-static -o static work.go
	labelled ./static
	test "$(uname -m)" = x86_64 || return 0
	sed 's/^func main/\/\/export Run\nfunc Run() { main() }\n\n&/' work.go >library.go
	go build -buildmode=c-shared -o libwork.so library.go
	printf 'void Run(void);\nint main(void) { Run(); }\n' >host.c
	gcc host.c -L. -lwork -o host
	export LD_LIBRARY_PATH=.
	labelled ./host libwork.so
}

for version in $(echo "$versions" | cut -d ' ' -f 1); do
	check "Go $version: plain, stripped, position-independent; one that never sets labels" <<-END
		needs_bpf
		with_go $version
		programs
	END
	check "Go $version with C: dynamic, static, and a Go library in a C program" <<-END
		needs_bpf
		with_go $version
		programs_with_c
	END
done

done_testing
