#!/bin/sh
# Labels of threads, read at the sample by a BPF program: pmu-sample --labels.  The truth is the
# function that ran (tests/labels-judge.py).
# kinds: release
. tests/lib.sh
. tests/program-labels.sh

check 'each sample has its labels record right before it, and the labels of its function' <<'END'
	needs_bpf
	go_program plain
	record s.data "$scratch/plain" 250 3
	judge "$scratch/plain" s.data
	all=$(tr ' ' '\n' <judged | sed -n 's/^samples=//p')
	judged joined "$all" "$all"
	judged alone 0 0
	grep -q 'labels: [0-9]* samples labelled, [0-9]* without, 0 unreadable, 0 not known' log
	samples s.data event,ip >perf-reads
	test "$(grep -c labels: perf-reads)" -eq "$all"
END

check 'a stripped program, a position-independent one, and one with C in a static file' <<'END'
	needs_bpf
	go_program plain
	cp "$scratch/plain" stripped
	strip stripped
	record s.data ./stripped 120
	cp "$scratch/plain" symbols && mv symbols stripped
	judge stripped s.data
	go_program pie -buildmode=pie
	record p.data "$scratch/pie" 120
	judge "$scratch/pie" p.data
	needs_command gcc
	sed 's/^import (/import "C"\n&/' "$TOP/tests/labels.go" >work.go
	GO111MODULE=off go build -ldflags=-extldflags=-static -o cgo work.go 2>log ||
		skip "no static C library"
	record c.data ./cgo 120
	judge cgo c.data
END

check 'where records are lost, a sample has its own labels, or they are unknown' <<'END'
	needs_bpf
	go_program plain
	"$scratch/plain" 100000 & pid=$!
	pmu-sample -v --labels -e cpu-clock -F 10000 -m 4Ki -p $pid -o s.data 2>log & sampler=$!
	eventually test -s s.data
	for pause in 1 2 3; do
		at=$(cpu_ms $pid)
		kill -STOP $sampler
		eventually has_run $pid $((at + 50))
		kill -CONT $sampler
		eventually has_run $pid $((at + 80))
	done
	kill $pid
	wait $sampler
	grep 'samples were lost' log
	python3 "$TOP/tests/labels-judge.py" "$scratch/plain" s.data >judged
	cat judged
	judged wrong 0 0
	judged alone 0 0
	judged right 50 1000000
END

check 'twelve labels, and a value that is too long, which is marked' <<'END'
	needs_bpf
	go_program plain
	record s.data "$scratch/plain" 120 4 12
	judge "$scratch/plain" s.data
	judged cut 0 0
	record s.data "$scratch/plain" 120 1 3 1000
	judge "$scratch/plain" s.data
	judged cut 30 100000
	with=--labels=key:key1,key:user
	record s.data "$scratch/plain" 120 1 9
	judge "$scratch/plain" s.data
	judged cut 0 0
	none grep -a key2 s.data
	grep -qa key1 s.data
END

check 'several events at once, and everything that runs' <<'END'
	needs_bpf
	go_program plain
	with='-e task-clock -e page-faults -e context-switches'
	record s.data "$scratch/plain" 120 2
	judge "$scratch/plain" s.data
	judged alone 0 0
	pmu-sample --labels -a -e cpu-clock -F 997 -o all.data & sampler=$!
	eventually test -s all.data
	"$scratch/plain" 100000 2 3 & pid=$!
	judged_all() { python3 "$TOP/tests/labels-judge.py" "$scratch/plain" all.data >judged; }
	# it is looked up after all else that a busy machine starts
	some_are_right() { sleep 0.5; judged_all && judged right 50 1000000; }
	eventually some_are_right
	kill $sampler
	wait $sampler
	kill $pid
	judged_all
	judged wrong 0 0
	judged right 50 1000000
END

check 'a command, and a program that it starts' <<'END'
	needs_bpf
	go_program plain
	pmu-sample -v --labels -e cpu-clock -F 997 -o s.data -- \
		sh -c "$scratch/plain 300; true" 2>log
	python3 "$TOP/tests/labels-judge.py" "$scratch/plain" s.data >judged
	judged wrong 0 0
	judged right 50 1000000
END

# unlabelled JUDGED COMMAND...: print the CPU time, in units of 100 us, that COMMAND spent in
# labelled functions while we did not know its labels: the median of 7 runs.  JUDGED has the
# functions.
unlabelled() {
	judged=$1
	shift
	for run in 1 2 3 4 5 6 7; do
		pmu-sample --labels -e cpu-clock -c 100000 -o s.data -- "$@" 2>log
		python3 "$TOP/tests/labels-judge.py" "$judged" s.data >judged
		judged wrong 0 0
		judged right 1 100000
		tr ' ' '\n' <judged | sed -n 's/^none=//p'
	done | sort -n | sed -n 4p
}

check 'the labels of a command are known after 10 ms of its CPU time' <<'END'
	needs_bpf
	needs_command cc
	once labels-context cc -O2 -pthread -rdynamic "$TOP/tests/context.c" -o program
	once labels-library cc -O2 -pthread -fPIC -shared -DVARIABLES "$TOP/tests/context.c" \
		-o libcontext.so
	once labels-general cc -O2 -pthread -DLIBRARY "$TOP/tests/context.c" -L. -lcontext \
		-o general
	export LD_LIBRARY_PATH=.
	for kind in custom otel; do
		unlabelled program ./program 60 $kind
		unlabelled general ./general 60 $kind
		unlabelled program sh -c "./program 60 $kind; true"
	done | tee spent
	if cc -static -O2 -pthread "$TOP/tests/context.c" -o static; then
		unlabelled static ./static 60 custom
	fi | tee -a spent
	test "$(wc -l <spent)" -ge 6
	at_most "$(sort -n spent | tail -n 1)" 100
END

check 'the labels of a Go command are known after 10 ms of its CPU time' <<'END'
	needs_bpf
	go_program plain
	unlabelled "$scratch/plain" "$scratch/plain" 60 | tee spent
	needs_command gcc
	sed 's/^import (/import "C"\n&/' "$TOP/tests/labels.go" >work.go
	GO111MODULE=off go build -o cgo work.go
	unlabelled cgo ./cgo 60 | tee -a spent
	if GO111MODULE=off go build -ldflags=-extldflags=-static -o static work.go 2>log; then
		unlabelled static ./static 60
	fi | tee -a spent
	test "$(wc -l <spent)" -ge 2
	at_most "$(sort -n spent | tail -n 1)" 100
END

check 'a program that another becomes has its own labels, or unknown ones' <<'END'
	needs_bpf
	needs_command cc
	cc -O2 "$TOP/tests/exec-labels.c" -o first
	cc -O2 -DSECOND "$TOP/tests/exec-labels.c" -o second
	./first ./second & pid=$!
	pmu-sample --labels=custom -e cpu-clock -F 997 -p $pid -o s.data 2>log & sampler=$!
	eventually test -s s.data
	eventually has_run $pid $(($(cpu_ms $pid) + 50))
	kill -STOP $sampler
	kill -USR1 $pid
	eventually grep -qx second /proc/$pid/comm
	eventually has_run $pid $(($(cpu_ms $pid) + 50))
	kill -CONT $sampler
	eventually grep -qaP "user\x06second" s.data
	kill $pid
	wait $sampler
	pmu-stream -D s.data >lines
	grep -q "labels={\"user\": \"first\"}" lines
	grep -q "labels={\"user\": \"second\"}" lines
	none grep "\"wrong\"" lines
END

check 'labels as Go 1.24 keeps them; and hostile ones: nothing beyond the bounds' <<'END'
	needs_bpf
	test "$(uname -m)" = x86_64 || skip "the program is for x86-64"
	once labels-fake cc -O2 -no-pie -pthread "$TOP/tests/fake-go.c" -o fake
	record s.data ./fake 150
	judge fake s.data
	judged joined 50 100000
	cc -O2 -no-pie -pthread -DLAST_WORD "$TOP/tests/fake-go.c" -o last
	record s.data ./last 100
	judge last s.data
	record s.data ./fake 120 large
	judge fake s.data
	judged cut 20 100000
	cc -O2 -no-pie -pthread -DVERSION="\"go1.23.4\"" "$TOP/tests/fake-go.c" -o map
	for program in fake map; do
		for what in wild long racing astray; do
			record $what.data ./$program 120 $what
			bounded $program $what.data
		done
	done
	judged wrong 0 0
END

check 'hostile thread contexts and custom labels: nothing beyond the bounds' <<'END'
	needs_bpf
	needs_command cc
	once labels-context cc -O2 -pthread -rdynamic "$TOP/tests/context.c" -o program
	for kind in otel custom; do
		with=--labels=$kind,ids
		record $kind.data ./program 120 $kind wild
		bounded program $kind.data
	done
END

check 'a program that is not Go, but has its build information, whole or damaged' <<'END'
	needs_bpf
	needs_command cc
	# a version; one of 2^60 bytes; one that is cut; none
	for said in '\\10go1.24.4' '\\200\\200\\200\\200\\200\\200\\200\\200\\20go' '\\40go' ''; do
		cc -DSAID="\"$said\"" "$TOP/tests/says-go.c" -o says
		./says 100000 & pid=$!
		eventually became $pid says
		exits 1 pmu-sample --labels -e cpu-clock -d 1 -p $pid -o s.data 2>log
		grep "cannot record labels: labels of .* (process $pid) are not known" log
		kill $pid
		# a command is recorded all the same, and its labels are unknown
		pmu-sample --labels -e cpu-clock -F 997 -o s.data -- ./says 100 2>log
		pmu-stream s.data >stats
		grep "^labels: 0 samples with .*, 0 without .*, [1-9][0-9]* not known" stats
	done
END

check 'thread contexts and custom labels: variables of a program, and of libraries' <<'END'
	needs_bpf
	needs_command cc
	build() { cc -O2 -pthread "$@"; }
	source=$TOP/tests/context.c
	once labels-context build -rdynamic "$source" -o program
	once labels-library build -fPIC -shared -DVARIABLES "$source" -o libcontext.so
	once labels-general build -DLIBRARY "$source" -L. -lcontext -o general
	mkdir descriptors
	if cc -mtls-dialect=gnu2 -fPIC -shared -DVARIABLES -o descriptors/libcontext.so "$source"
	then
		cp general descriptors/descriptor
	fi
	for form in program general descriptors/descriptor; do
		test -e $form || continue
		for kind in otel custom; do
			with=--labels=$kind,ids
			export LD_LIBRARY_PATH="$(dirname $form)"
			record s.data ./$form 100 $kind
			judge $form s.data
			test $kind = custom || grep -qaP 'trace_id\x20(aa|bb)000000' s.data
			test $kind = custom || grep -qaP '\x04path\x01/' s.data
		done
	done
END

check 'with musl, whose threads keep the addresses of variables in another form' <<'END'
	needs_bpf
	needs_command musl-gcc
	build() { musl-gcc -O2 -pthread "$@"; }
	once labels-musl-library build -fPIC -shared -DVARIABLES "$TOP/tests/context.c" \
		-o libcontext.so
	once labels-musl build -DLIBRARY "$TOP/tests/context.c" -L. -lcontext -o general
	export LD_LIBRARY_PATH=.
	for kind in otel custom; do
		with=--labels=$kind
		record s.data ./general 100 $kind
		judge general s.data
	done
END

check 'a process whose first thread has ended, and others run' <<'END'
	needs_bpf
	needs_command cc
	once labels-context cc -O2 -pthread -rdynamic "$TOP/tests/context.c" -o program
	record s.data ./program 100 otel leave
	judge program s.data
	pmu-symbolize -q s.data | pmu-top | grep -q workA
END

check 'a Go library in a program that is not Go' <<'END'
	needs_bpf
	test "$(uname -m)" = x86_64 || skip "the program is for x86-64"
	cc -O2 -fPIC -shared -pthread -DLIBRARY "$TOP/tests/fake-go.c" -o libfake.so
	cc -O2 -pthread -DHOST "$TOP/tests/fake-go.c" -L. -lfake -o host
	export LD_LIBRARY_PATH=.
	with=--labels=go
	record s.data ./host 120
	judge libfake.so s.data
	sed s/go1.24.4/go1.99.4/ libfake.so >patched && mv patched libfake.so
	./host 100000 & pid=$!
	eventually became $pid host
	eventually grep -q libfake /proc/$pid/maps
	exits 1 pmu-sample --labels -d 1 -p $pid -o s.data 2>log
	grep "cannot record labels: labels of go1.99.* are not known to this" log
END

check 'a library with the inode number of the program, on another device' <<'END'
	needs_root
	needs_bpf
	test "$(uname -m)" = x86_64 || skip "the program is for x86-64"
	cc -O2 -fPIC -shared -pthread -DLIBRARY "$TOP/tests/fake-go.c" -o libfake.so
	cc -O2 -pthread -DHOST "$TOP/tests/fake-go.c" -L. -lfake -o host
	mkdir program library
	cat >start <<-"SCRIPT"
		for file in program/host library/libfake.so; do
			mount -t tmpfs none ${file%/*} && cp ${file#*/} $file
		done
		stat -c %i program/host library/libfake.so >inodes
		exec program/host "$@"
	SCRIPT
	cp libfake.so library		# the judge does not see the mounts
	export LD_LIBRARY_PATH=$PWD/library
	with=--labels=go
	unshare -m sh start 100000 & pid=$!
	eventually grep -qx host /proc/$pid/comm
	test "$(uniq inodes | wc -l)" = 1 || skip "the inode numbers differ"
	record_process s.data $pid 120
	judge library/libfake.so s.data
END

check 'a program on overlayfs, as in a container: its mappings may have another device' <<'END'
	needs_root
	needs_bpf
	test "$(uname -m)" = x86_64 || skip "the program is for x86-64"
	once labels-fake cc -O2 -no-pie -pthread "$TOP/tests/fake-go.c" -o fake
	mkdir low high merged
	cat >start <<-"SCRIPT"
		mount -t tmpfs none low && cp fake low &&
		mount -t tmpfs none high && mkdir high/up high/work &&
		mount -t overlay -o lowerdir=low,upperdir=high/up,workdir=high/work none merged &&
		exec merged/fake "$@"
	SCRIPT
	unshare -m sh start 100000 & pid=$!
	started() { grep -qx fake /proc/$pid/comm || ! test -e /proc/$pid; }
	eventually started
	test -e /proc/$pid/exe || skip "no overlayfs"
	mv fake merged			# the judge does not see the mounts
	record_process s.data $pid 120
	judge merged/fake s.data
END

check 'refused: a version of Go that is not known, and code that differs from its version' <<'END'
	needs_bpf
	go_program plain
	version=$(go version "$scratch/plain" | sed 's/.* go1\.\([0-9]*\).*/\1/')
	for other in 99 24; do
		sed "s/go1\.$version\./go1.$other./g" "$scratch/plain" >patched.$other
		chmod +x patched.$other
		./patched.$other 100000 & pid=$!
		eventually became $pid patched.$other
		for target in "-p $pid" "-t $pid"; do
			exits 1 pmu-sample --labels -d 1 $target -o s.data 2>log
			grep "cannot record labels: labels of go1.$other.* are not known" log
		done
		kill $pid
	done
END

check 'a Go program that never sets labels, and a program without any: a note' <<'END'
	needs_bpf
	needs_command go
	printf 'package main\nfunc main() { for {} }\n' >never.go
	GO111MODULE=off go build -o never never.go
	./never & pid=$!
	eventually has_run $pid 20	# it is not the shell any more
	pmu-sample --labels -d 10ms -p $pid -o s.data 2>log
	cat log
	kill $pid
	grep "process $pid is a Go program that never sets labels" log
	pmu-sample -v --labels -e cpu-clock -F 997 -d 1 -p $$ -o s.data 2>log
	grep "process $$: no Go labels, no thread context" log
END

check 'the whole pipe; pmu-prof records labels of a Go program by itself, where it may' <<'END'
	needs_root
	needs_bpf
	go_program plain
	pmu-prof -v -o p -- "$scratch/plain" 500 3 2>log
	grep 'pmu-prof: labels: recorded, as the Go program sets some' log
	for of in A.workA A.workB B.workA B.workB; do
		go tool pprof -sample_index=samples -tagfocus "user=^${of%.*}\$" \
			-focus "main\.${of#*.}\$" -top p.pb.gz 2>err |
			sed -n "s/^Showing nodes accounting for \([0-9]*\),.*/$of \1/p"
	done >found
	cat found
	at_least "$(sed -n 's/A.workA //p' found)" 10
	at_least "$(sed -n 's/B.workB //p' found)" 10
	test "$(grep -c '[AB].work[BA] 0$' found)" = 2
	go tool pprof -comments p.pb.gz 2>err | grep '^labels: [1-9][0-9]* samples with'
	pmu-prof --dry-run -- "$scratch/plain" 500 | grep -q 'pmu-sample .*--labels=go'
	pmu-prof --dry-run -e cpu-clock -- "$scratch/plain" 500 >line
	pmu-prof --dry-run --off-cpu -- "$scratch/plain" 500 >>line
	pmu-prof --dry-run -- true >>line
	none grep -- --labels line
END

check 'samples that the kernel does not take while other BPF programs run are reported' <<'END'
	needs_root
	needs_bpf
	needs_tracepoints
	for percent in 80 5; do
		pmu-sample -v --labels=custom -e cpu-clock -F 997 -o s.data -- \
			bpf-busy 1000 $percent 2>log
		cat log
		counted=$(sed -n 's/.*: cpu-clock: \([0-9]*\) counted in.*/\1/p' log)
		taken=$(sed -n 's/.*: \([0-9]*\) samples in.*/\1/p' log)
		share=$(awk "BEGIN { printf \"%d\", 100 * $taken * 1e9 / 997 / $counted }")
		test "$share" -lt 98 || skip "this kernel takes $share % of the samples"
		grep "'cpu-clock': .* of an event with labels it takes none while another" log
		pmu-topprof -q -o p.pb.gz s.data
		go tool pprof -comments p.pb.gz 2>err >comments
		sed -n "s/^labels: the samples of cpu-clock stand for \(.*\) % of .*/\1/p" comments >said
		near "$(cat said)" "$share" 2
	done
	pmu-topprof -q --tid 1 -o p.pb.gz s.data
	go tool pprof -comments p.pb.gz 2>err >comments
	none grep stand comments
	pmu-sample -v -e cpu-clock -F 997 -o s.data -- bpf-busy 100 80 2>log
	none grep BPF log
END

check 'the shares of labels are those of the profile that Go itself takes meanwhile' <<'END'
	needs_bpf
	go_program plain
	pmu-sample --labels -e cpu-clock -F 997 -o s.data -- \
		"$scratch/plain" 900 3 1 4 own.pb.gz 2>log
	pmu-topprof -l label:user -o ours.pb.gz s.data
	for who in own ours; do
		for user in A B; do
			go tool pprof -sample_index=samples -tags $who.pb.gz 2>err |
				sed -n "s/^ *\([0-9]*\).0 *([ 0-9.]*%): $user\$/\1/p"
		done
	done | paste -sd " " >shares
	cat shares
	read a b our_a our_b <shares
	at_least $((a + b)) 60	# at 1000 Hz, but no kernel has as many ticks
	at_least $((our_a + our_b)) 200
	at_least "$a" $((2 * b))
	# 4 standard deviations of the difference
	awk "{ n = \$1 + \$2; m = \$3 + \$4; p = (\$1 + \$3) / (n + m)
		d = \$1 / n - \$3 / m; s = sqrt(p * (1 - p) * (1 / n + 1 / m))
		print d, s; exit !(d <= 4 * s && -d <= 4 * s) }" shares
END

check 'a process that does not exist: the error, and nothing about its labels' <<'END'
	needs_bpf
	sh -c "echo \$\$" >gone
	exits 1 pmu-sample --labels -e cpu-clock -d 1 -p "$(cat gone)" -o s.data 2>log
	cat log
	test "$(wc -l <log)" = 1
	none grep -i labels log
END

check 'what labels take: both capabilities, no tracepoint, no flight recorder' <<'END'
	needs_root
	needs_bpf
	needs_command setpriv
	setpriv --list-caps | grep -qx bpf || skip "setpriv does not know CAP_BPF"
	go_program plain
	cp "$BIN/pmu-sample" "$scratch/plain" .
	chmod 755 . pmu-sample plain
	ordinary() {
		setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps="-all$1" \
			--ambient-caps="-all$1" sh -c "./plain 100000 & ./pmu-sample -v --labels \
			-e cpu-clock -d 1 -p \$! -o /dev/null; kill \$!" 2>log || :
		cat log
	}
	ordinary ,+bpf | grep 'CAP_PERFMON is missing'
	ordinary ,+perfmon | grep 'CAP_BPF is missing'
	ordinary '' | grep 'both are missing'
	ordinary ,+bpf,+perfmon | grep 'labels: [1-9][0-9]* samples labelled'
	pmu-events --doctor | grep '^ok *labels *yes'
	needs_tracepoints
	exits 1 pmu-sample --labels -e sched:sched_switch -d 1 -p $$ -o s.data 2>log
	grep "labels cannot be recorded with 'sched:sched_switch'" log
	exits 2 pmu-sample --labels --flight-recorder -p $$ -o s.data 2>log
	exits 2 pmu-sample --labels=nothing -p $$ -o s.data 2>log
	exits 2 pmu-sample --labels=key: -p $$ -o s.data 2>log
END

check 'refused: an old kernel, a locked one, a container that forbids bpf(2)' <<'END'
	needs_root
	needs_command setarch unshare
	cat >without.py <<-EOF
	# without.py ERRNO COMMAND...: bpf(2) fails so
	import ctypes, os, struct, sys
	call = {"x86_64": 321, "aarch64": 280}.get(os.uname().machine)
	if not call: sys.exit(77)
	# load the number of the call; if it is bpf, return the error, else allow it
	code = [(0x20, 0, 0, 0), (0x15, 0, 1, call), (0x06, 0, 0, 0x50000 + int(sys.argv[1])),
	        (0x06, 0, 0, 0x7fff0000)]
	code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *i) for i in code))
	class Filter(ctypes.Structure):
	    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
	libc = ctypes.CDLL(None)
	if libc.prctl(22, 2, ctypes.byref(Filter(4, ctypes.cast(code, ctypes.c_void_p))), 0, 0):
	    sys.exit(77)		# PR_SET_SECCOMP
	os.execvp(sys.argv[2], sys.argv[2:])
	EOF
	refused() {
		exits 1 "$@" pmu-sample --labels -e cpu-clock -d 1 -p $$ -o s.data 2>err
		cat err
		test ! -s s.data
	}
	refused python3 without.py 22 setarch --uname-2.6
	grep -q "labels: they take Linux 5.8, and this is 2.6" err
	refused python3 without.py 38
	grep -q "labels: this kernel has no bpf(2)" err
	refused python3 without.py 1
	grep -q "labels: bpf(2) is not permitted, .*: a container's rules forbid it" err
	test -d /sys/kernel/security || exit 0
	mkdir security
	echo "none integrity [confidentiality]" >security/lockdown
	cat >locked <<-EOF
	#!/bin/sh
	mount --bind $PWD/security /sys/kernel/security || exit 77
	exec "\$@"
	EOF
	chmod +x locked
	refused unshare -m ./locked python3 without.py 1
	grep -q "labels: the kernel is locked down (confidentiality)" err
END

done_testing
