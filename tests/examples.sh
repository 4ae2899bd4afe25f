# What the tests of examples share.  They source this after tests/lib.sh.
#
# An example runs as it is printed, with these stand-ins for what a reader has and a test has not:
#
#	42		process $pid, which sleeps and wakes
#	host1		this machine: ssh runs the command here, scp copies files
#	port 6060	a free port
#	build/release/bin	the tools that are tested
#	/etc, /srv, /tmp, /usr/local, /var	directories below the current one
#	events of the CPU	events that every machine has
#	10 s, 1 h, 30 s in a request	0.1 s; a profile of --keep every second
#	ranges of /history	the last hour
#	./server, ./program, ...	a program that takes 15 ms of CPU time
#	deflate		J, a function of that program
#	perf.data, s.data, p.pb.gz, before.pb.gz, ...	recordings and profiles of that program
#	sudo COMMAND	COMMAND, if root runs the tests
#	make TARGET	a look whether there is such a target
#	sysctl, systemctl, crontab, docker, kubectl, xdg-open, setcap, chgrp	a look at the arguments
#	pmu-serve	a server that listens when the next command runs, until the next one starts
#	go tool pprof -http	go tool pprof -top
#	go test		the program that -exec names, with ./program

# as_here: stdin, with the stand-ins of words
as_here() {
	sed -E "s/\b42\b/$pid/g; / -- /!s/-d ([0-9]+[mh]?)\b/-d 0.1/; s,(cache-misses|cycles)/,cpu/,
		s/cache-misses/page-faults/g; s/branch-misses/context-switches/g
		s/([^&?=]|^)\binstructions\b/\1task-clock/g; s/--run 5/--run 2/
		s/([^=]|^)\bcycles\b/\1cpu-clock/g; s/\b(deflate|lookup)\b([ \$'])/J\2/
		s/pmu-sample -a \|/pmu-sample -a -d 0.1 |/; s/-F 999/-e cpu-clock -F 999/
		s/(-bench \.)/\1 -benchtime 20ms/; s/\bhost1\b/localhost/g; s/\b6060\b/$port/g
		s,(^|[ \"'=@:])/(etc|srv|tmp|usr/local|var)/,\1$PWD/\2/,g
		s,\bbuild/release/bin\b,$BIN,g
		s/^(pmu-serve .*) &$/\1/; s/ --interval 60s//; s/from=[-0-9T:Zh]+&to=[-0-9T:Zh]+/from=-1h/
		s/seconds=[0-9]+/seconds=0.1/g; /seconds=/!{
		s,((/debug/pprof/(pmu|profile|offcpu)|$port/flame)\?),\1seconds=0.1\&,
		s,((/debug/pprof/(pmu|profile|offcpu)|$port/flame))(['\" ]|\$),\1?seconds=0.1\4,
		}"
}

# prepare: the files and programs that the examples name, in this directory
prepare() {
	printf '#!/bin/sh\nexec ten serial 0.015\n' >server
	chmod +x server
	for name in program build compress old new; do cp server $name; done
	seq 10000 | sort -R >big.txt
	pmu-sample -q --call-graph dwarf -F 400 -e cpu-clock:u -o perf.data -- ten serial 0.1
	pmu-sample -q --unwind --record switches -e cpu-clock:u -o s.data -- ten serial 0.1
	pmu-sample -q -g -e cpu-clock:u,task-clock:u,page-faults:u -o several.data -- ten serial 0.1
	pmu-symbolize -q several.data | pmu-topprof -q --slices 20 -o p.pb.gz
	for name in before after old1 old2 old3 new1 new2 new3; do cp p.pb.gz $name.pb.gz; done
	cp s.data minute.data.1
	cp s.data minute.data.2
	mkdir -p src/zlib kept home etc/cron.d etc/systemd/system srv/profiles tmp usr/local/bin \
		var/cache var/lib
	cp *.data* *.pb.gz kept
}

# stand_in NAME: a program with the commands on stdin
stand_in() {
	mkdir -p stand-ins
	{ echo '#!/bin/sh'; cat; } >"stand-ins/$1"
	chmod +x "stand-ins/$1"
}
