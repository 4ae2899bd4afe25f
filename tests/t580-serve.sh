#!/bin/sh
# pmu-serve: profiles by HTTP.  Ports are free ones; tests/serve.py has the clients.
# SERVE=all (make check-all): 100 clients, 10,000 cheap requests, 300 profiles.
# kinds: release asan user
. tests/lib.sh
. tests/serving.sh

check 'go tool pprof gets a profile with the right shares, by a timer and by events' <<'END'
	unsanitized
	needs_command go curl
	workload
	serve -p $target
	export PPROF_TMPDIR=$PWD
	seconds=6
	enough() {	# half a second of CPU time is some rounds of ten
		go tool pprof -top -unit ms \
			"$url/debug/pprof/profile?seconds=$seconds&frequency=2000" >top 2>err-pprof
		seconds=50
		at_least "$(sed -n 's/.* of \([0-9.]*\)ms total$/\1/p' top)" 400
	}
	eventually enough
	cat top
	grep -q "^Type: cpu" top
	near "$(awk '$NF == "J" { print $5 + 0 }' top)" 18.18 8	# 10/55, as ten shares its time
	eventually has_period "$url/debug/pprof/profile?seconds=0.2" 10000000
	get "$url/debug/pprof/pmu?event=cpu-clock&event=page-faults&seconds=0.2&period=1000000" >p
	# a user whom the kernel forbids its own code gets those of the program
	go tool pprof -raw p >raw
	grep -Eq "cpu/nanoseconds.* page-faults(:u)?/count" raw
	grep -q "^Comment: command: .* --event=cpu-clock --event=page-faults" raw
	go tool pprof -proto -output=q "$url/debug/pprof/pmu?event=timer&rate=1000&seconds=0.2"
	eventually has_period "$url/debug/pprof/pmu?event=timer&rate=1000&seconds=0.2" 1000000
	get "$url/debug/pprof/pmu?event=cpu-clock&event=page-faults&seconds=0.2&types=one" >p
	test "$(go tool pprof -raw p | sed -n "/^Samples:/{n;p}")" = "cpu/nanoseconds[dflt]"
END

check 'events are counted exactly: each page fault is a sample' <<'END'
	unsanitized
	needs_command go curl python3
	needs_samples
	mkfifo go
	python3 -c "
import mmap
print('ready', flush=True)
open('go').read()
pages = mmap.mmap(-1, 4096 * 3000)
for i in range(3000):
    pages[4096 * i] = 1
print('done', flush=True)
open('go').read()
" >said &
	target=$!
	eventually grep -q ready said	# the faults of its start are not counted
	serve -p $target
	get "$url/debug/pprof/pmu?event=page-faults&period=1&seconds=40" >p &
	eventually sampling
	: >go
	eventually grep -q done said
	: >go
	wait $!
	go tool pprof -raw p >raw
	grep -E " page-faults(:u)?/count" raw
	set -- $(awk '/^Locations/ { exit } / [0-9]+: / { samples += $1; faults += $2 }
		END { print samples, faults }' raw)
	test "$1" = "$2"
	at_least "$1" 3000
	at_most "$1" 3300
END

check "the addresses of Go's proposals: event and rate; the timer has no period" <<'END'
	any_user
	unsanitized
	needs_command go curl
	workload
	# cycles cannot be sampled everywhere: take page faults instead
	fake pmu-sample <<-EOF
		echo "\$*" >>args
		exec "$(command -v pmu-sample)" \$(echo "\$*" | sed "s/=cycles/=page-faults/")
	EOF
	serve -p $target --call-graph fp
	export PPROF_TMPDIR=$PWD
	go tool pprof -seconds 1 -proto -output=p "$url/debug/pprof/profile?event=cycles&&rate=10000"
	for path in profile pmu; do
		get -f "$url/debug/pprof/$path?event=cycles&&rate=10000&seconds=1" >p
		go tool pprof -raw p | grep -Eq "page-faults(:u)?/count"
	done
	test "$(sort -u args | wc -l)" = 1
	grep -q -e " --event=cycles --period=10000 " args
	for query in "profile?" "profile?period=10000&" "pmu?" "pmu?event=timer&period=10000&" \
			"profile?event=timer&period=10000&"; do
		echo "$query"
		eventually has_period "$url/debug/pprof/$query&seconds=0.2" 10000000
		get -f -D head "$url/debug/pprof/$query&seconds=0.1" >p
		case $query in
		*period*) grep "^X-Pmu-Note: the period does not apply to the timer" head ;;
		*) none grep -i pmu-note head ;;
		esac
	done
	: >args
	get -f -D head "$url/debug/pprof/pmu?event=timer&event=page-faults&period=1&seconds=0.1" >p
	grep -q -e " --event=timer --event=page-faults --period=1 " args
	go tool pprof -raw p | grep -Eq "cpu/nanoseconds.* page-faults(:u)?/count"
	grep "^X-Pmu-Note: the period does not apply to the timer" head
	get -f -D head "$url/flame?period=5&seconds=0.1" | grep -q "</html>"
	# a period that the server itself chooses is not refused
	get -f "$url/debug/pprof/pmu?event=software/config=0x0/&seconds=0.1" | gzip -t
END

check 'fallback=1: the timer replaces what cannot be sampled, and the profile says so' <<'END'
	any_user
	unsanitized
	needs_command go curl
	workload
	! pmu-events --check cycles >out || skip "this machine counts cycles"
	serve -p $target --call-graph fp --keep 1h --interval 1s \
		--keep-query "event=cycles&frequency=97&fallback=1" ring
	pmu=$url/debug/pprof/pmu
	refused 500 "^pmu-sample: cannot sample 'cycles': " "$pmu?event=cycles&seconds=0.1"
	refused 500 "cannot sample 'cycles'" "$pmu?event=cycles&seconds=0.1&fallback=0"
	for query in "event=cycles" "event=cycles&rate=1000000" "event=cycles&types=one" \
			"event=cacheMisses&period=10000"; do
		eventually has_period "$pmu?$query&fallback=1&seconds=0.2" 10000000
		get -f -D head "$pmu?$query&fallback=1&seconds=0.1" >p
		event=${query#*=} event=${event%%&*}
		go tool pprof -comments p | grep "asked for $event, got timer"
		grep "^X-Pmu-Note: '$event' cannot be sampled: 'timer' is sampled instead.$" head
	done
	get -f "$url/flame?event=cycles&fallback=1&seconds=0.1" | grep -q "</html>"
	refused 400 "unknown event" "$pmu?event=nonsense&fallback=1&seconds=0.1"
	refused 400 "fallback takes 0 or 1, not 'yes'" "$pmu?event=cycles&fallback=yes"
	has_kept() { ls ring | grep -q "^profile"; }
	eventually has_kept
	first=$(ls ring | head -n 1)
	go tool pprof -comments ring/$first | grep "asked for cycles, got timer"
END

check 'of several tools the one that hangs is named, not those that wait for it' <<'END'
	any_user
	unsanitized
	needs_command curl
	sleep 600 &
	target=$!
	fake pmu-sample <<-"EOF"
		case "$*" in
		*frequency=11*) echo hang ;;
		*frequency=12*) echo hang; exec cat /dev/zero ;;
		*frequency=13*) echo pass ;;
		*frequency=14*) exec sleep 600 ;;
		*frequency=15*) echo pass; exec cat /dev/zero ;;
		esac
	EOF
	fake pmu-symbolize <<-"EOF"
		read -r what
		test "$what" = pass || exec sleep 600
		exec cat
	EOF
	fake pmu-topprof <<-EOF
		exec sleep 600
	EOF
	serve -p $target
	for hz in 11 12 13 14 15; do
		get "$url/debug/pprof/profile?frequency=$hz&seconds=0.1" >said.$hz &
		clients="$clients $!"
	done
	wait $clients
	cat said.* | sed 's/ did not end .*//' >named
	printf 'pmu-%s\n' symbolize symbolize topprof sample topprof | same - named
END

check 'an error is one line, which pprof prints' <<'END'
	any_user
	needs_command curl go
	serve --any
	pmu=$url/debug/pprof/pmu
	for event in nonsense "-o$PWD/made" ../../etc/passwd '%2e%2e/x/' 'cycles;id' '--help'; do
		refused 400 "^event: " "$pmu?event=$event&pid=$$&seconds=0.1"
	done
	test ! -e made
	refused 403 "tracepoints" "$pmu?event=sched:sched_switch&pid=$$" || grep -q ^event body
	refused 403 "breakpoints, which this server does not allow" "$pmu?event=mem:0x1000&pid=$$"
	refused 403 "raw" "$pmu?event=r1c0&pid=$$"
	refused 403 "'r1c0' is one of raw" "$pmu?event=r1c0/name=software/&pid=$$"
	refused 400 "which process" "$url/debug/pprof/profile"
	refused 400 "period of 10 is below the floor" "$pmu?event=cycles&period=10&pid=$$"
	refused 400 "at most 60" "$url/debug/pprof/profile?pid=$$&seconds=61"
	refused 400 "seconds takes" "$url/debug/pprof/profile?pid=$$&seconds=-1"
	refused 400 "unknown parameter 'even'; there are: event, period" "$pmu?even=1"
	refused 400 "period is given twice, with different" "$pmu?period=1&period=2"
	refused 400 "is not text" "$pmu?event=a%00b"
	refused 400 "one of period, rate" "$pmu?event=cycles&period=1000&rate=9&pid=$$"
	refused 400 "callgraph takes one of" "$pmu?event=cycles&callgraph=best"
	refused 400 "types takes all or one, not 'two'" "$pmu?event=cycles&types=two"
	refused 400 "label takes a list such as pid,tid,cpu, not 'pid,cqu'" "$pmu?label=pid,cqu"
	refused 400 "label takes a list such as pid,tid,cpu, not 'field:x'" "$pmu?label=field:x"
	refused 400 "no labels of programs (pmu-serve --labels)" \
		"$url/debug/pprof/profile?label=pid,label:user&pid=$$"
	refused 400 "frequency takes a number from 1 to 10000" "$pmu?event=cycles&frequency=1M"
	for rate in "profile?rate=20000" "pmu?event=timer&rate=20k" "pmu?event=cpu-clock&rate=1M"; do
		refused 400 "^rate: at most 10000 samples" "$url/debug/pprof/$rate&pid=$$"
	done
	refused 400 "^rate: at most 10000 samples" "$url/flame?rate=20000&pid=$$"
	refused 403 "at most 10000 samples per second, not 20000" \
		"$pmu?event=cpu-clock&period=50000&pid=$$"
	refused 403 "at most 10000 samples per second, not 20000" \
		"$pmu?event=task-clock/freq=20000/&pid=$$"
	refused 404 "no such process" "$url/debug/pprof/profile?pid=4194304"
	refused 404 "no such process" "$url/debug/pprof/profile?comm=no-such-name"
	refused 404 "nothing here" "$url/etc/passwd"
	curl -s -i "$url/etc/passwd" | tr -d "\r" >head
	test -s head
	none grep -i "^Retry-After" head
	refused 404 "this server keeps no profiles; pmu-serve --keep does" "$url/history"
	refused 405 "use GET" -d x=1 "$pmu"
	for method in PUT DELETE OPTIONS PATCH; do
		refused 405 "use GET" -X $method "$url/metrics"
		grep -q "^Allow: GET, HEAD.$" head
	done
	get -I "$pmu?event=cycles" | grep -q "^HTTP/1.1 405 "
	get -I "$url/healthz" >head
	grep -q "^HTTP/1.1 200 " head
	grep -q "^Content-Length: 3.$" head
	printf "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" >request
	clients send <request >answer
	tail -n 1 answer | grep -qx "."		# the end of the head
	go tool pprof -top "$pmu?event=nonsense&pid=$$" 2>err-pprof && exit 1
	grep -q "400 Bad Request - event: unknown event 'nonsense'" err-pprof
	test "$(metric running)" = 0
	kill $server
	exits 0 wait $server
END

check 'a fixed target excludes others; an id that is used again is another process' <<'END'
	unsanitized
	needs_command curl
	sleep 600 &
	target=$!
	serve -p $target
	refused 403 "fixed target" "$url/debug/pprof/profile?pid=$$"
	refused 403 "fixed target" "$url/debug/pprof/profile?comm=sh"
	refused 403 "fixed target" "$url/debug/pprof/cmdline?pid=$$"
	kill $target
	wait $target || :
	refused 404 "has ended" "$url/debug/pprof/profile"
	kill $server
	wait $server
	serve --comm no-such-name
	refused 404 "no such process" "$url/debug/pprof/profile?seconds=0.1"
	workload
	kill $server
	wait $server
	serve --comm ten --allow page-faults
	get "$url/debug/pprof/profile?seconds=0.2" | gzip -t
	get "$url/debug/pprof/pmu?event=faults/name=x/u&seconds=0.2" | gzip -t
	refused 403 "'cpu-clock' is one of software" \
		"$url/debug/pprof/pmu?event=cpu-clock/name=page-faults/&seconds=0.2"
	# in a PID namespace, where the next PID can be chosen
	cat >reuse <<-"EOF"
		sleep 600 &
		target=$!
		pmu-serve -l 127.0.0.1:0 -p $target >again &
		until grep -q ^http again; do sleep 0.05; done
		kill $target
		wait $target
		echo $((target - 1)) >/proc/sys/kernel/ns_last_pid
		sleep 600 &
		test $! = $target && curl -sS "$(cat again)/debug/pprof/profile?seconds=0.2"
	EOF
	test "$(id -u)" = 0 && unshare -fp --mount-proc true 2>/dev/null || exit 0
	unshare -fp --mount-proc sh reuse >body
	grep -qx "the process has ended" body
END

check 'no script of a web page, no other Host; a token opens both, and only the right one' <<'END'
	any_user
	needs_command curl go
	sleep 600 &
	eventually grep -qx sleep /proc/$!/comm
	serve -p $!
	refused 403 "Host" -H "Host: evil.example" "$url/metrics"
	refused 403 "Host" -H "Host: localhost.evil.example" "$url/metrics"
	refused 403 "Host" -H "Host: [::1].evil.example" "$url/metrics"
	refused 403 "Host" -H "Host:" "$url/metrics"
	refused 403 "scripts" -H "Origin: http://evil.example" "$url/metrics"
	while read -r site mode dest status; do
		got=$(get -o body -w '%{http_code}' -H "Sec-Fetch-Site: $site" \
			-H "Sec-Fetch-Mode: $mode" -H "Sec-Fetch-Dest: $dest" "$url/metrics")
		echo "$site $mode $dest $got" >>by-page
		echo "$site $mode $dest $status" >>right
	done <<-EOF
		none navigate document 200
		same-origin no-cors image 200
		same-origin navigate iframe 200
		cross-site navigate document 200
		same-site navigate document 200
		cross-site navigate iframe 403
		cross-site navigate frame 403
		cross-site navigate embed 403
		cross-site navigate object 403
		cross-site no-cors image 403
		cross-site no-cors document 403
		same-site no-cors script 403
		same-site no-cors image 403
		same-site navigate iframe 403
		same-site cors empty 403
		other navigate empty 403
	EOF
	same right by-page
	refused 403 "scripts, frames and images" -H "Sec-Fetch-Site: cross-site" "$url/metrics"
	# a link that a page lets the browser follow in advance
	for purpose in prefetch "prefetch;prerender"; do
		refused 403 "scripts" -H "Sec-Purpose: $purpose" -H "Sec-Fetch-Site: cross-site" \
			-H "Sec-Fetch-Mode: navigate" -H "Sec-Fetch-Dest: document" "$url/metrics"
		get -fH "Sec-Purpose: $purpose" -H "Sec-Fetch-Site: none" "$url/metrics" >m
	done
	refused 403 "scripts" -H "Sec-Fetch-Site: same-site" -H "Sec-Fetch-Mode: navigate" \
		"$url/metrics"
	get -fH "Host: localhost:$port" "$url/metrics" >m
	get -fH "Host: [::1]" "$url/metrics" >m
	test "$(get "$url/debug/pprof/cmdline")" = sleep
	kill $server
	wait $server

	umask 077
	echo 0123456789abcdef0123 >token
	workload
	serve -p $target --token-file token
	for wrong in "X: y" "Authorization: Bearer 0123456789abcdef0124" \
			"Authorization: Bearer 0123456789abcdef012" "Authorization: Bearer " \
			"Authorization: Bearer 0123456789abcdef01230123456789abcdef0123" \
			"Authorization: Basic !!!!" "Authorization: Basic MDEyMw=="; do
		refused 401 token -H "$wrong" "$url/metrics"
	done
	refused 403 "scripts" -H "Authorization: Bearer 0123456789abcdef0123" \
		-H "Origin: http://x" "$url/metrics"
	get -fH "Authorization: Bearer 0123456789abcdef0123" -H "Host: any.example" \
		"$url/metrics" >m
	get -fu any:0123456789abcdef0123 "$url/metrics" >m
	get -f "$url/healthz" >m
	test "$(get -u any:0123456789abcdef0123 "$url/debug/pprof/symbol?0x1")" = "num_symbols: 0"
	TOKEN=0123456789abcdef0123 clients scraper
	for mode in 602 604 620 644 666; do
		chmod $mode token
		exits 1 pmu-serve -a -l 127.0.0.1:0 --token-file token 2>err
		grep -q "'token' is not used: other users can .* it; 'chmod 600' changes" err
	done
	chmod 640 token
	echo short >token
	exits 1 pmu-serve -a -l 127.0.0.1:0 --token-file token 2>err
	grep -q "is not a token: it has 5 bytes" err
	echo "0123456789abcdef0123 " >token
	exits 1 pmu-serve -a -l 127.0.0.1:0 --token-file token 2>err
	grep -q "is not a token: it has a space" err
	if test "$(id -u)" = 0; then
		echo 0123456789abcdef0123 >token
		chmod 400 token
		chown 65534 token
		exits 1 pmu-serve -a -l 127.0.0.1:0 --token-file token 2>err
		grep -q "belongs to user 65534, not to .* or root; 'chown 0' changes that" err
	fi
	exits 2 pmu-serve -a -l 0.0.0.0:0 2>err
	grep -q "open to other machines: give a --token-file, or --insecure" err
	exits 2 pmu-serve -a -l nonsense 2>err
	exits 2 pmu-serve 2>err
	exits 2 pmu-serve -a -p 1 2>err
END

check 'on an IPv6 socket, too, the IPv4 address that a request was sent to is a right Host' <<'END'
	unsanitized
	needs_command curl
	test -e /proc/net/if_inet6 || skip "no IPv6"
	serve --any -l '[::]:0' --insecure
	port=$(sed -n 's/^http:..\[::\]://p' addresses)
	get -f "http://127.0.0.2:$port/metrics" >m
	refused 403 Host -H "Host: 127.0.0.3" "http://127.0.0.2:$port/metrics"
END

check '--labels is for the sampler, but not at tracepoints' <<'END'
	unsanitized
	needs_command curl
	fake pmu-sample <<-EOF
		echo "\$*" >args
		echo "pmu-sample: fake" >&2
		exit 1
	EOF
	fake pmu-events <<-EOF
		case "\$*" in *:*) type=2 ;; *) type=1 ;; esac
		echo "[{\"base\": \"x\", \"type\": \$type}]"
	EOF
	serve -p $$ --allow all --labels=go,ids,key:user,key:path
	refused 500 fake "$url/debug/pprof/profile?label=label:user,pid"
	grep -q -- " --labels=go,ids,key:user,key:path$" args
	refused 500 fake "$url/debug/pprof/pmu?event=cycles"
	grep -q -- " --labels=go,ids" args
	refused 500 fake "$url/debug/pprof/pmu?event=sched:sched_switch"
	none grep -e --label args
	refused 400 "tracepoints" "$url/debug/pprof/pmu?event=sched:sched_switch&label=label:user"
	exits 2 pmu-serve -a --labels=goo 2>err
	exits 2 pmu-serve -a --labels=key: 2>err
	exits 2 pmu-serve -a --keep 1h --keep-query label=label:user ring 2>err
END

check 'a Unix socket for its owner; there the arguments of a process are shown' <<'END'
	unsanitized
	needs_command curl
	sleep 600 &
	eventually grep -qx sleep /proc/$!/comm
	serve -p $! -l "unix:$PWD/socket"
	test "$(stat -c %a socket)" = 600
	test "$(get --unix-socket socket http://any/debug/pprof/cmdline | tr '\0' ' ')" = "sleep 600"
	kill $server
	wait $server
	test ! -e socket
END

check 'index, events, metrics and a page' <<'END'
	any_user
	needs_command curl
	workload
	serve -p $target --call-graph fp
	test "$(get -o /dev/null -w '%{http_code} %{redirect_url}' "$url/")" = "302 $url/debug/pprof/"
	get "$url/debug/pprof/" | grep -q '<form method="get" action="/flame">'
	get "$url/debug/pprof/events" >events
	python3 -c "
import json
d = json.load(open('events'))
assert any(e['name'] == 'page-faults' for e in d['events'])
assert any(t['topic'] == 'paranoid level' for t in d['doctor'])"
	test -z "$KEPT_JSON" || cp events "$KEPT_JSON/pmu-serve.$$"
	get "$url/flame?seconds=0.3" >page
	grep -q "</html>" page
	counted() {	# on a busy machine the target may get no time meanwhile
		get "$url/flame?event=cpu-clock&rate=500&seconds=0.3" >page
		at_least "$(metric samples_total)" 1
	}
	eventually counted
	grep -q "</html>" page
	test "$(metric 'requests_total{code="302"}')" = 1
	at_least "$(metric cpu_seconds_total)" 0.001
	kill $server
	exits 0 wait $server
END

check 'clients that go away end their tools; malformed and slow requests harm nobody' <<'END'
	any_user
	needs_command curl
	workload
	serve -p $target --call-graph fp --max-seconds 3h
	clients gone
	eventually no_children
	test "$(metric 'requests_total{code="499"}')" = 2
	at_least "$(metric cpu_seconds_total)" 0.0001	# what was dropped did cost something
	clients abuse pipelined
	SLOW=300 clients slow
	kill $server
	exits 0 wait $server		# sanitizers find what it leaks
	test ! -s err
END

check 'more connections than there is room for wait, and all are answered' <<'END'
	any_user
	ulimit -S -n 64		# room for 32
	serve --any
	SERVER=$server clients burst
	test ! -s err
END

check 'as process 1 of a container it leaves no zombies: unwinders lose their parent' <<'END'
	unsanitized
	needs_command curl unshare
	unshare -fp --mount-proc true 2>/dev/null || skip "cannot make a pid namespace"
	workload
	unshare -fp pmu-serve -l 127.0.0.1:0 -a --max-seconds 3h --call-graph dwarf >addresses &
	eventually grep -q ^http addresses
	port=$(sed 's/.*://' addresses)
	server=$(pgrep -P $! -x pmu-serve)
	clients gone
	eventually no_children
	kill $server
END

check 'more than --jobs, or --max-cost, is refused with the time to try again' <<'END'
	unsanitized
	any_user
	needs_command curl
	workload
	serve -p $target --jobs 1
	get "$url/debug/pprof/profile?seconds=55" >p &
	busy() { test "$(metric running)" = 1; }
	eventually busy
	refused 429 "1 requests sample already" "$url/debug/pprof/profile?seconds=1"
	grep -qi "^Retry-After: [1-9]" head
	get -f "$url/metrics" >m
	kill $server
	wait $server
	rm addresses
	pmu-serve -l 127.0.0.1:0 -p $target --max-cost 0.0001% >addresses &
	server=$!
	eventually grep -q ^http addresses
	url=$(cat addresses)
	get -f "$url/debug/pprof/profile?seconds=0.2" >p
	refused 429 "max-cost" "$url/debug/pprof/profile?seconds=0.2"
	grep -qi "^Retry-After: [1-9]" head
END

check 'SIGTERM cuts running profiles short, and they are whole; it exits 0' <<'END'
	any_user
	needs_command curl
	workload
	# The server ends 2 s after the signal.  So that a busy machine has time for the tools,
	# the sampler stops the server as soon as the signal comes.
	fake pmu-sample <<-EOF
		trap 'kill -STOP \$PPID; kill \$sampler; echo >stopped' TERM
		"$(command -v pmu-sample)" "\$@" &
		sampler=\$!
		wait \$sampler || wait \$sampler
	EOF
	serve -p $target --call-graph fp
	get -D head "$url/debug/pprof/profile?seconds=55" >p &
	client=$!
	fake_samples() ( server=$(pgrep -P $server -x pmu-sample) && sampling )
	eventually fake_samples
	kill $server
	eventually test -e stopped
	# each is a zombie
	ended() { none grep "^State:.[^Z]" $(pgrep -P $server | sed "s|.*|/proc/&/status|"); }
	eventually ended
	kill -CONT $server
	exits 0 wait $server
	wait $client
	grep -q "^HTTP/1.1 200 " head
	gzip -t p
END

check 'SIGTERM ends tools that hang and idle clients, and the server exits 0' <<'END'
	any_user
	unsanitized
	needs_command curl
	workload
	fake pmu-topprof <<-EOF
		exec sleep 600
	EOF
	serve -p $target --call-graph fp
	get -D head "$url/debug/pprof/profile?seconds=55" >p &
	client=$!
	eventually sampling
	SLOW=5 clients slow
	kill $server
	kill $server
	exits 0 wait $server
	wait $client || :	# cut off, if the server did not get the CPU time to say why
	none grep "^HTTP/1.1 200 " head
	eventually gone $sampler
END

check 'a tool that fails is reported by its messages; its siblings are ended' <<'END'
	any_user
	needs_command curl
	needs_samples
	sleep 600 &
	fake pmu-symbolize <<-EOF
		echo "pmu-symbolize: a note, which is not what ended it" >&2
		echo "pmu-symbolize: the disk is on fire" >&2
		exit 1
	EOF
	serve -p $! --max-seconds 1h
	refused 500 "^pmu-symbolize: a note.*; the disk is on fire$" \
		"$url/debug/pprof/profile?seconds=0.1"
	eventually no_children
	rm fakes/pmu-symbolize
	echo "#!/bin/sh" >fakes/pmu-symbolize
	echo 'kill -SEGV $$' >>fakes/pmu-symbolize
	chmod +x fakes/pmu-symbolize
	refused 500 "signal 11" "$url/debug/pprof/profile?seconds=0.1"
	fake pmu-sample <<-EOF
		exec sleep 3600
	EOF
	refused 500 "^pmu-symbolize: signal 11" "$url/debug/pprof/profile?seconds=1h"
	eventually no_children
	test "$(get -o /dev/null -w '%{http_code}' "$url/healthz")" = 200
END

check 'a tool that hangs is ended 15 s after the sampling' <<'END'
	unsanitized
	needs_command curl
	test "$SERVE" = all || skip "SERVE=all (make check-all) does it"
	sleep 600 &
	fake pmu-topprof <<-EOF
		exec sleep 600
	EOF
	serve -p $!
	refused 500 "did not end" "$url/debug/pprof/profile?seconds=0.1"
	eventually no_children
END

check 'the example for nginx works, by a port and by a Unix socket' <<'END'
	unsanitized
	any_user
	needs_command nginx openssl curl
	workload
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=host \
		-keyout host.key -out host.pem -days 2 2>err-openssl
	(umask 077; echo 0123456789abcdef0123 >token)
	serve -p $target --token-file token -l "unix:$PWD/socket"
	for to in "${url#http://}" "unix:$PWD/socket:"; do
		{
			echo "pid $PWD/pid; daemon off; master_process off; events {} http {"
			echo "access_log off;"
			for kind in client_body proxy fastcgi uwsgi scgi; do
				echo "${kind}_temp_path $PWD/temp;"
			done
			sed -n "/^server {/,/^}/p" "$TOP/man/pmu-serve.1" |
				sed "s|/etc/ssl/|$PWD/|; s|127.0.0.1:6060|$to|
					s|listen 443 |listen unix:$PWD/proxy |"
			echo "}"
		} >nginx.conf
		grep -q "proxy_pass http://$to;" nginx.conf
		grep -q "listen unix:" nginx.conf
		nginx -e "$PWD/err-nginx" -c "$PWD/nginx.conf" 2>err &
		proxy=$!
		here="-k --unix-socket proxy" https=https://host
		eventually get -f $here "$https/healthz"
		get -f $here -u "any:$(cat token)" "$https/debug/pprof/profile?seconds=0.1" >p
		gzip -t p
		refused 401 token $here "$https/metrics"
		refused 400 "seconds takes" $here -u "any:$(cat token)" "$https/flame?seconds=x"
		kill $proxy
		wait $proxy || :
	done
END

# in_use: anonymous memory in KiB, and descriptors, of the server
in_use() {
	awk '/^RssAnon:/ { print $2 }' /proc/$server/status
	ls /proc/$server/fd | wc -l
}

check 'an idle server is small and sleeps; requests leave neither memory nor descriptors' <<'END'
	unsanitized
	any_user
	needs_command curl
	workload
	serve -p $target --call-graph fp --jobs 8
	clients cheap profiles
	in_use >before
	cat before
	if test "$SERVE" = all; then
		CHEAP=10000 PROFILES=300 clients cheap profiles crowd
	else
		CHEAP=400 PROFILES=5 clients cheap profiles
	fi
	quiet() { no_children && test "$(in_use | sed -n 2p)" -le "$(sed -n 2p before)"; }
	eventually quiet
	in_use; 	sanitized || at_most "$(in_use | head -n 1)" $(($(head -n 1 before) + 600))
	most=3072
	test ! -L "$BIN/pmu-serve" || most=4352	# pmukit's start writes to tables of 1.1 MB
	sanitized || at_most "$(awk '/^VmRSS:/ { print $2 }' /proc/$server/status)" $most
	test ! -s err
END

check 'a request adds less than 10 ms of CPU time to what its pipe takes' <<'END'
	any_user
	needs_command curl
	! sanitized || skip "sanitizers take time of their own"
	workload
	serve -p $target --call-graph fp
	get -f "$url/debug/pprof/pmu?event=cpu-clock&seconds=0.1" >p
	before=$(cpu_ms $server)
	for i in 1 2 3 4 5; do get -f "$url/debug/pprof/pmu?event=cpu-clock&seconds=0.1" >p; done
	of_server=$((($(cpu_ms $server) - before) / 5))
	of_events=$(cost pmu-events --encode --json -- cpu-clock | awk '{ print 1000 * $1 }')
	echo "the server: $of_server ms, pmu-events: $of_events ms"
	at_most "$(awk "BEGIN { print $of_server + $of_events }")" 10
END

check 'no wake-ups without a client' <<'END'
	unsanitized
	any_user
	needs_command curl
	serve -a
	switches() { awk '/_ctxt_switches/ { n += $2 } END { print n }' /proc/$server/status; }
	eventually grep -q "^State:.S" /proc/$server/status
	before=$(switches)
	ten lazy 0.1 >/dev/null		# more than a second
	test "$(switches)" = "$before"
END

done_testing
