# What the tests of examples share.  They source this after tests/lib.sh.
#
# An example runs as it is printed, with these stand-ins for what a reader has and a test has not:
#
#	42		process $pid, which sleeps and wakes; on a page about locks, convoy
#	host1		this machine: ssh runs the command here, scp copies files
#	port 6060	a free port
#	--push URL	a port where nobody listens: profiles wait
#	build/release/bin	the tools that are tested
#	/etc, /srv, /tmp, /usr/local, /var	directories below the current one
#	events of the CPU	events that every machine has
#	--ratio ipc, mpki, miss-rate	the ratio of the types 3 and 1
#	10 s, 1 h, 30 s in a request	0.1 s; a profile of --keep every second
#	ranges of /history	the last hour
#	./server, ./program, ...	a program that takes 15 ms of CPU time
#	./service, branches.data	such a program, and its branches, recorded by single steps
#	llvm-profgen, clang++, perf2bolt, llvm-bolt	a look whether their profiles are there
#	./app		a program that looks like one in Go (tests/bin/go-like.c)
#	go build	a look whether the profile that -pgo or default.pgo names is one for Go
#	server.c	examples/profile-yourself.c
#	pkg-config	the flags for the library in build/release/lib
#	deflate		J, a function of that program
#	mem.data	a made recording of loads and stores (tests/accesses.py)
#	mem-loads, mem:0x404080	page faults
#	perf.data, s.data, p.pb.gz, before.pb.gz, ...	recordings and profiles of that program
#	sudo COMMAND	COMMAND, if root runs the tests
#	make TARGET	a look whether there is such a target
#	systemctl	systemd-analyze verify
#	sysctl, docker, kubectl, xdg-open, setcap, chgrp, ldconfig	a look at the arguments
#	pmu-serve	a server that listens when the next command runs, until the next one starts
#	go tool pprof -http	go tool pprof -top
#	go test		the program that -exec names, with ./program
#	benchstat	a look whether its files are there
#	duckdb		an answer of one row, to any question

# as_here: stdin, with the stand-ins of words
as_here() {
	sed -E "s,--ratio (ipc|mpki|miss-rate),--ratio 3/1,; s/\b42\b/$pid/g
		/ -- /!s/-d ([0-9]+[mh]?)\b/-d 0.1/; s,(cache-misses|cycles)/,cpu/,
		s,mem-loads\,mem-stores|mem:0x404080/8:w:u\,mem:0x404088/8:w:u,page-faults,
		s/cache-misses/page-faults/g; s/branch-misses/context-switches/g
		s/-a --interval 1s$/-a --interval 10ms -d 0.1/
		s/([^&?=]|^)\binstructions\b/\1task-clock/g; s/--run 5/--run 2/
		s/([^=]|^)\bcycles\b/\1cpu-clock/g; s/\b(deflate|lookup)\b([ \$'])/J\2/
		s/pmu-sample -a \|/pmu-sample -a -d 0.1 |/; s/-F 999/-e cpu-clock -F 999/
		s/(-bench \.)/\1 -benchtime 20ms/; s,--push http:[^ ]*,--push http://127.0.0.1:9,
		s/\bhost1\b/localhost/g; s/\b6060\b/$port/g
		s,(^|[ \"'=@:])/(etc|srv|tmp|usr/local|var)/,\1$PWD/\2/,g
		s,\bbuild/release/bin\b,$BIN,g
		s/^(pmu-serve .*) &$/\1/; s/ --interval 60s//; s/from=[-0-9T:Zh]+&to=[-0-9T:Zh]+/from=-1h/
		s/seconds=[0-9]+/seconds=0.1/g; /seconds=/!{
		s,((/debug/pprof/(pmu|profile|offcpu|block|mutex)|$port/flame)\?),\1seconds=0.1\&,
		s,((/debug/pprof/(pmu|profile|offcpu|block|mutex)|$port/flame))(['\" ]|\$),\1?seconds=0.1\4,
		}"
}

# prepare: the files and programs that the examples name, in this directory
prepare() {
	printf '#!/bin/sh\nexec ten serial 0.015\n' >server
	chmod +x server
	printf '#!/bin/sh\nexec go-like 100\n' >app
	chmod +x app
	for name in program build compress old new; do cp server $name; done
	cp "$TOP/examples/profile-yourself.c" server.c
	seq 10000 | sort -R >big.txt
	pmu-sample -q --call-graph dwarf -F 400 -e cpu-clock:u -o perf.data -- ten serial 0.1
	pmu-sample -q --unwind --record switches -e cpu-clock:u -o s.data -- ten serial 0.1
	pmu-sample -q -g -e cpu-clock:u,task-clock:u,page-faults:u -o several.data -- ten serial 0.1
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/accesses.py" make mem.data old
	pmu-symbolize -q several.data | pmu-topprof -q --slices 20 -o p.pb.gz
	for name in before after old1 old2 old3 new1 new2 new3; do cp p.pb.gz $name.pb.gz; done
	cp s.data minute.data.1
	cp s.data minute.data.2
	pmu-sample -q --unwind -F 400 -e cpu-clock:u -o more.data -- ./app
	cp "$(command -v ten)" service
	branch-step -F 300 -o branches.data -n /dev/null ./service serial 0.1
	mkdir -p src/zlib kept home etc/cron.d etc/systemd/system srv/profiles tmp usr/local/bin \
		usr/local/share/pmukit var/cache var/lib
	ln -s "$TOP/fleet" usr/local/share/pmukit/fleet
	mkdir -m 700 var/lib/pmu-serve
	cp p.pb.gz var/lib/pmu-serve
	cp *.data* *.pb.gz kept
}

documents() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/documents.py" "$@"; }

# stand_in NAME: a program with the commands on stdin
stand_in() {
	mkdir -p stand-ins
	{ echo '#!/bin/sh'; cat; } >"stand-ins/$1"
	chmod +x "stand-ins/$1"
}

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
	stand_in ldconfig <<-"EOF"
	test $# = 0
	EOF
	stand_in setcap <<-"EOF"
	expr "$1" : 'cap_[a-z_,]*+ep$' >/dev/null && test -x "$2"
	EOF
	stand_in systemctl <<-"EOF"
	case $1 in daemon-reload) exit ;; esac
	for unit; do :; done
	! command -v systemd-analyze >/dev/null ||
		systemd-analyze verify "./etc/systemd/system/$unit.service" >&2
	EOF
	stand_in docker <<-"EOF"
	if test "$1" = build; then
		test -d "$6" || exit 1
		test ! -d "$TOP/packaging" || exec test -s "$TOP/$3"
		exit 0
	fi
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
	stand_in pkg-config <<-"EOF"
	for word; do package=$word; done
	test "$package" = pmukit && echo "-I$TOP/include -L${BIN%/bin}/lib"
	case $* in *--libs*) echo -lpmukit ;; esac
	EOF
	stand_in xdg-open <<-"EOF"
	test -s "$1"
	EOF
	stand_in perf <<-"EOF"
	command=$1
	shift
	test "$command" != script || set -- --kallsyms /dev/null "$@"
	PATH=${PATH#*:}
	# another session makes perf 6.1 stop at a mapping now and then: see perf_record in lib.sh
	for attempt in 1 2 3 4 5 6 7 8 9; do
		status=0
		perf "$command" "$@" || status=$?
		test $status = 134 || exit $status
	done
	exit 134
	EOF
	stand_in go <<-"EOF"
	PATH=${PATH#*:}
	case "$1 $2" in
	"test -exec") exec $3 ./program -test.bench . ;;
	"test -exec="*)
		eval "set -- ${2#-exec=}"
		exec "$@" ./program -test.bench=. ;;
	"build "*)
		profile=default.pgo
		for word; do
			case $word in -pgo=*) profile=${word#-pgo=} ;; esac
		done
		PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/go-pgo.py" "$profile" || exit
		case " $* " in *" -gcflags=-m "*) echo "PGO devirtualizing" ;; esac
		exit ;;
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
	for name in llvm-profgen clang++ perf2bolt llvm-bolt; do
		stand_in $name <<-"EOF"
		for word; do
			case $word in
			--unsymbolized-profile=* | -fprofile-sample-use=* | -data=*)
				test -s "${word#*=}" ;;
			*.preagg) grep -q '^B [0-9a-f]* [0-9a-f]* [0-9]* [0-9]*$' "$word" ;;
			*) continue ;;
			esac || exit
			found=$word
		done
		test "$found" || exit
		for made; do :; done
		while test $# != 0; do
			test "$1" != -o || echo made >"$2"
			shift
		done
		EOF
	done
	stand_in benchstat <<-"EOF"
	test -e "$1" && test -e "$2"
	EOF
	stand_in pmu-query <<-EOF
	exec sh "$TOP/fleet/pmu-query" "\$@"
	EOF
	stand_in duckdb <<-"EOF"
	cat >question
	grep -q 'FROM samples' question || exit 1
	case " $* " in
	*" -noheader "*) echo '{"type":"cpu","unit":"nanoseconds","value":1,"samples":1,"stack":["f"]}' ;;
	*) printf 'name\tsamples\nhost1\t1\n' ;;
	esac
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

# make_fresh: $scratch/fresh, the directory in which the examples of a page start, and $port
make_fresh() {
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
	mkdir "$scratch/fresh"
	(
		cd "$scratch/fresh" || exit 1
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
	) >"$scratch/log" 2>&1 || test -n "$unsampled" || { cat "$scratch/log"; exit 1; }
}

# enter_fresh: a copy of it becomes the current directory, with a process $pid to sample
enter_fresh() {
	${target:-ten lazy} 600 >/dev/null 2>&1 &
	pid=$!
	cp -r "$scratch/fresh" fresh
	cd fresh
	export LD_LIBRARY_PATH="${BIN%/bin}/lib"
	export pid port PMU_PATH="$PWD/stand-ins" PATH="$PWD/stand-ins:$PWD:$PATH" HOME="$PWD/home"
}

# lacks_rights FILE: whether a block failed only because this user may not do what it does, or
# because nobody has mounted tracefs
lacks_rights() {
	command test -r $tracing/available_events ||
		! grep -q "'sched:\|--waits\|/debug/pprof/\(block\|mutex\)" err "$1" || return 0
	command test "$(id -u)" != 0 || return 1
	! grep -q 'perf_event_paranoid\|CAP_\|has no permission' err || return 0
	grep -qw -e -a .arguments 2>/dev/null && ! pmu-sample -q -a -d 0.01 -o /dev/null
}

# run_block FILE: again if the process that is sampled did not run meanwhile, on a busy machine
run_block() {
	for attempt in 1 2 3 4 5 6 7 8 9 10; do
		cp -r kept/* .
		! timeout 300 bash ./run-block "$1" >out 2>err </dev/null || return 0
		! lacks_rights "$1" || return 0
		grep -q 'no samples\|no function with samples\|no thread waited for another' err || break
	done
	cat "$1" out err
	return 1
}
