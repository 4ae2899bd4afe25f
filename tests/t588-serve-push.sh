#!/bin/sh
# pmu-serve --push: what it sends, in which order, how often, and what it refuses to start with.
# kinds: release asan
. tests/lib.sh
. tests/serving.sh

# ring COUNT: a directory of so many kept profiles, of the last hour; $now
ring() {
	local i
	mkdir -p ring
	chmod 700 ring
	now=$(date +%s)
	for i in $(seq "$1"); do
		echo "profile $i" | gzip >ring/profile-$((now - 1000 + 60 * i))-60.pb.gz
	done
}

# rows_of N: what pmu-topprof makes of profile N: 10 MB of the first one, else a line
rows_of() {
	case $1 in
	1) yes "{\"profile\": 1, \"text\": \"$(printf %0999d 0)\"}" | head -n 10000 ;;
	*) echo "{\"profile\": $1}" ;;
	esac
}

# rows: pmu-topprof makes such a profile into rows, and notes how it was started
rows() {
	rows_of 1 >rows-1
	fake pmu-topprof <<-EOF
		case "\$*" in
		*--split*) exec "$(command -v pmu-topprof)" "\$@" ;;
		esac
		printf "%s\n" "\$@" >>"$PWD/arguments"
		for last; do :; done
		name=\$(gzip -dc "\$last") || exit 1
		case \$name in
		*x*) echo "pmu-topprof: '\$last' is damaged" >&2; exit 1 ;;
		esac
		case \$name in
		"profile 1") cat "$PWD/rows-1" ;;
		*) echo "{\"profile\": \${name#profile }}" ;;
		esac
	EOF
}

# pushing OPTION...: serve, and push a ring to the taker, or $to
pushing() {
	needs_command curl python3
	needs_samples
	needs_loopback
	idler
	serve -p $! --keep 2h --interval 1s --push "${to:-http://$taker}" "$@" ring
}

pushed() { test "$(metric push_profiles_total)" = "$1"; }
failed() { at_least "$(metric "push_failures_total{reason=\"$1\"}")" ${2:-1}; }
stopped() { kill $server && exits 0 wait $server; }

check 'URLs, options and files of credentials that cannot be used are refused at the start' <<'END'
	any_user
	refuses() {
		exits 2 pmu-serve -a --keep 1h "$@" ring 2>err
		cat err
	}
	refuses --push https://host/ | grep "proxy"
	refuses --push http://user:secret@host/ | grep -- "--push-credentials FILE"
	refuses --push host:8123 | grep "http://"
	refuses --push http://host/ --push-as json | grep "rows"
	refuses --push-as pprof | grep -- "--push"
	refuses --push http://a/ --push http://b/ | grep "only one --push"
	exits 2 pmu-serve -a --push http://host/ 2>err
	grep -- "--keep" err
	echo user:secret >credentials
	chmod 644 credentials
	exits 1 pmu-serve -l 127.0.0.1:0 -a --keep 1h --push http://host/ \
		--push-credentials credentials ring 2>err
	grep "the secret in 'credentials' is not used: other users can read" err
	exits 1 pmu-serve -l 127.0.0.1:0 -a --keep 1h --push http://host/ \
		--push-credentials missing ring 2>err
	grep "cannot read the secret in 'missing': No such file" err
END

check 'rows are sent oldest first, in requests of whole lines, and once' <<'END'
	taker
	ring 3
	rows
	echo user:secret >credentials
	chmod 600 credentials
	pushing --push-credentials credentials --host h1 --service s
	eventually pushed 3
	test "$(metric push_pending)" = 0
	test "$(metric push_bytes_total)" = "$(cat sent/*.body | wc -c)"
	at_least "$(metric push_last_success_timestamp_seconds)" $now
	stopped
	none cat err
	for i in 1 2 3; do rows_of $i; done >want
	cat sent/*.body | cmp want -
	for body in sent/*.body; do
		at_most "$(wc -c <$body)" 4194304
		test "$(tail -c 1 $body | od -An -c)" = '  \n'
	done
	test "$(ls sent/*.body | wc -l)" = 5
	for head in sent/*.head; do
		grep -q "^POST /?query=INSERT%20INTO%20pmu.rows%20FORMAT%20JSONEachRow$" $head
		grep -q "^Authorization: Basic dXNlcjpzZWNyZXQ=$" $head
		grep -q "^Host: $taker$" $head
	done
	head -n 5 arguments >first
	printf "%s\n" --to=rows --host=h1 --service=s -- "ring/profile-$((now - 940))-60.pb.gz" |
		same first -
	# a start again sends what is new, also with an earlier name; so does a damaged mark
	rm sent/*
	echo "profile 4" | gzip >ring/profile-$((now - 3000))-60.pb.gz
	pushing
	eventually pushed 1
	stopped
	test "$(cat sent/*.body)" = '{"profile": 4}'
	mark=$(ls ring/sent-*)
	printf "sent 1\nend 0123456789abcdef\n" >$mark
	pushing
	eventually pushed 4
	stopped
	grep "'$mark' is not used: it is damaged; all kept profiles are sent again" err
	# another URL has another mark
	to=http://$taker/other pushing
	eventually pushed 4
	stopped
	test "$(ls ring/sent-* | wc -l)" = 2
	# so has another form
	rm arguments
	pushing --push-as rows-detail
	eventually pushed 4
	stopped
	test "$(ls ring/sent-* | wc -l)" = 3
	test "$(grep -c "^--rows-detail$" arguments)" = 4
END

dropped() { test "$(metric "push_dropped_total{reason=\"$1\"}")" = $2; }

check 'profiles wait while the server fails; what is damaged is dropped' <<'END'
	taker
	ring 4
	rows
	echo x | gzip >ring/profile-$((now - 2000))-60.pb.gz
	echo 503 >status
	pushing
	eventually failed server 2
	failed profile
	test "$(metric push_profiles_total) $(metric push_pending)" = "0 5"
	echo 401 >status
	eventually failed unauthorized
	echo 200 >status
	eventually dropped damaged 1
	eventually pushed 4
	test "$(metric push_pending)" = 0
	stopped
	grep "$taker: profile-$((now - 2000))-60.pb.gz: pmu-topprof: 'ring/.*' is damaged; prof" err
	grep "'profile-$((now - 2000))-60.pb.gz' cannot be sent: pmu-topprof: 'ring/.*' is dam" err
	grep -- "--push: $taker: status 503: text; profiles that wait: 5$" err
	grep "status 401: text; see --push-credentials; profiles that wait: 5$" err
	test "$(grep -c "profiles are sent again$" err)" = 1
	rm ring/*
	echo "profile 1" | gzip >ring/profile-$((now - 9000))-60.pb.gz
	pushing
	eventually dropped deleted 1
	stopped
	grep "profiles that were deleted before they were sent: 1; --keep" err
END

check 'what is refused is sent again once another was taken, and dropped if refused again' <<'END'
	taker
	ring 2
	rows
	# a server that refuses all may have a wrong URL: nothing is dropped, also after a restart
	echo 400 >status
	pushing
	eventually failed refused 2
	dropped refused 0
	test "$(metric push_profiles_total) $(metric push_pending)" = "0 2"
	stopped
	grep "status 400: text; are the URL, the table and the server's version right?; prof" err
	echo 200 >status
	echo 413 >status-5
	refused=profile-$((now - 500))-60.pb.gz
	echo "profile 5" | gzip >ring/$refused
	pushing
	eventually pushed 2
	eventually failed refused 2
	dropped refused 0
	test "$(metric push_pending)" = 1
	echo "profile 6" | gzip >ring/profile-$((now - 400))-60.pb.gz
	eventually dropped refused 1
	test "$(metric push_profiles_total) $(metric push_pending)" = "3 0"
	stopped
	grep "takes others, but refuses '$refused', which is not sent again: status 413: text" err
	rm sent/*
	pushing
	sleep 1
	stopped
	none ls sent
END

# services OPTION...: serve so; the services of the rows of $target that are sent are in ./names
services() {
	rm -rf ring
	serve "$@" --keep 1h --interval 1s --keep-query "event=cpu-clock&frequency=97" \
		--push "http://$taker" ring
	arrived() { cat sent/*.body | grep "\"thread_comm\":\"worker\"\|\"pid\":$target[,}]" >rows; }
	eventually arrived
	stopped
	sed "s/.*\"service\":\"\([^\"]*\)\".*/\1/; t; s/.*/none/" rows | sort -u >names
	rm sent/*
}

check 'each row has the name of its process, whatever is sampled' <<'END'
	any_user
	needs_command curl python3
	needs_samples
	taker
	cat >web.py <<-"EOF"
	import threading, time
	open("/proc/self/comm", "w").write("web")
	def work():
	    open("/proc/thread-self/comm", "w").write("worker")
	    while True:
	        time.sleep(0.005)
	        sum(range(20000))
	threading.Thread(target=work).start()
	EOF
	python3 web.py &
	target=$!
	eventually pgrep -x web
	echo web >want
	for what in "-p $target" "--comm web" "-u $(id -u)"; do
		services $what
		same want names
	done
	services -p $target --keep-query "event=cpu-clock&frequency=97&label=none"
	same want names
	! pmu-sample -a -e cpu-clock -o /dev/null true 2>/dev/null || services -a
	same want names
END

check 'Pyroscope gets the files, with their times, and at the end the last one' <<'END'
	taker
	ring 2
	needs_command curl python3
	workload
	to_pyroscope() {
		serve -p $target --keep 2h --interval 100s --push "http://$taker" --push-as pprof \
			--host "a,b" --service s ring
	}
	to_pyroscope
	eventually pushed 2
	for i in 1 2; do same ring/profile-$((now - 1000 + 60 * i))-60.pb.gz sent/00$i.body; done
	head -n 1 sent/001.head | grep "^POST /ingest?name=s%7Bhost%3Da_b%7D&from=$((now - 940))\
&until=$((now - 880))&format=pprof$"
	# on a busy machine the tools may need more than the 2 seconds that the server has left
	ends() {
		rm -f ring/*-100.pb.gz
		to_pyroscope
		eventually sampling
		sleep 1
		stopped
		cmp ring/*-100.pb.gz "$(ls sent/*.body | tail -n 1)"
	}
	stopped
	eventually ends
END

# name_server: a name server, $name_server; every name has the address in ./address, or none
name_server() {
	echo none >address
	cat >names.py <<-"EOF"
	import socket, struct
	server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	server.bind(("127.0.0.1", 0))
	print(server.getsockname()[1], flush=True)
	while True:
	    query, client = server.recvfrom(512)
	    end = query.index(b"\0", 12) + 5	# of the question: a name, its type, its class
	    address = open("address").read().strip()
	    answers = b""
	    if address != "none" and query[end - 4:end - 2] == b"\0\1":
	        answers = struct.pack(">HHHIH", 0xc00c, 1, 1, 1, 4) + socket.inet_aton(address)
	    server.sendto(query[:2] + struct.pack(">HHHHH", 0x8183 if address == "none" else 0x8180,
	        1, len(answers) > 0, 0, 0) + query[12:end] + answers, client)
	EOF
	python3 names.py >port-of-names &
	eventually test -s port-of-names
	name_server=127.0.0.1:$(cat port-of-names)
}

check 'a name that does not exist yet, or moves to another address, is looked up again' <<'END'
	needs_root
	unshare -m true 2>/dev/null || skip "no namespaces"
	taker
	ring 1
	name_server
	echo "nameserver $name_server" >resolv.conf
	mkdir path
	cat >path/pmu-serve <<-EOF
		#!/bin/sh
		exec unshare -m sh -c 'mount --bind "$PWD/resolv.conf" /etc/resolv.conf &&
			exec "$BIN/pmu-serve" "\$@"' - "\$@"
	EOF
	chmod +x path/pmu-serve
	PATH=$PWD/path:$PATH
	taker=push.example:${taker#*:}
	pushing --push-as pprof
	eventually failed name
	echo 127.0.0.2 >address		# the taker does not listen there
	eventually failed connect
	echo 127.0.0.1 >address
	eventually pushed 1
	stopped
	grep -- "--push: $taker: there is no such name; profiles that wait: 1$" err
	grep "^Host: $taker" sent/001.head
END

done_testing
