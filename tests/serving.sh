# What the tests of pmu-serve share.  They source this after tests/lib.sh.

# serve OPTION...: start it; $server is its pid, $port and $url where it listens
serve() {
	rm -f addresses		# of the server before
	pmu-serve -l 127.0.0.1:0 --max-cost 100% "$@" >addresses 2>err &
	server=$!
	eventually grep -q '^http' addresses
	url=$(grep -m 1 '^http' addresses)
	port=${url##*:}
}

# needs_samples: skip where the kernel lets this user sample nothing
needs_samples() {
	pmu-sample -e cpu-clock -o /dev/null true 2>why || skip "$(grep -m 1 ^pmu-sample: why)"
}

# workload [MODE]: something to sample, which takes a tenth of a CPU; $target
workload() {
	needs_samples
	ten ${1:-lazy} 6000 >/dev/null &
	target=$!
	eventually has_run $target 20
}

# idler: a process that does nothing, $!, and has done nothing since anybody could sample it
idler() {
	sleep 600 &
	eventually is_idle $!
}
is_idle() { grep -qx sleep "/proc/$1/comm" && grep -q "^State:.S" "/proc/$1/status"; }

clients() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/serve.py" "$port" "$@"; }
get() { curl -sS -m 600 "$@"; }

# has_period URL NS: a profile from there has samples, and this period.  On a busy machine the
# target may get no time in a short profile.
has_period() { get "$1" >p && go tool pprof -raw p 2>/dev/null | grep "^Period: $2\$"; }

# refused STATUS PATTERN CURL-ARGUMENT...: the server refuses so, in a sentence that matches
refused() {
	status=$1 pattern=$2
	shift 2
	get -D head -o body "$@"
	cat head body
	grep -q "^HTTP/1.1 $status " head
	grep -qi "^X-Go-Pprof: 1" head
	grep -qi "^Content-Type: text/plain" head
	test "$(wc -l <body)" = 1
	grep -q -- "$pattern" body
}

# metric NAME: its value
metric() { get "$url/metrics" | awk -v name="pmu_serve_$1" '$1 == name { print $2 }'; }

# sampling: the sampler has its rings, and waits; $sampler is its pid
sampling() {
	sampler=$(pgrep -P "$server" -x pmu-sample) &&
	grep -q perf_event "/proc/$sampler/maps" && grep -q "^State:.S" "/proc/$sampler/status"
}

no_children() { ! pgrep -P "$server"; }

# fake TOOL: a tool that the server finds first does what stdin says
fake() {
	mkdir -p fakes
	{ echo '#!/bin/sh'; cat; } >fakes/$1
	chmod +x fakes/$1
	PMU_PATH=$PWD/fakes
	export PMU_PATH
}

# taker: a server on a free port, $taker; it answers with the status in ./status, "200" at first, to
# profile N with that in ./status-N, and writes a request to sent/NUMBER.head and sent/NUMBER.body
taker() {
	mkdir -p sent
	echo 200 >status
	cat >taker.py <<-"EOF"
	import http.server, json, os, threading
	number = 0
	class Taker(http.server.BaseHTTPRequestHandler):
	    protocol_version = "HTTP/1.1"
	    def do_POST(self):
	        global number
	        body = self.rfile.read(int(self.headers["Content-Length"]))
	        number += 1
	        name = "sent/%03d" % number
	        open(name + ".body", "wb").write(body)
	        with open(name + ".head", "w") as head:
	            head.write("%s %s\n%s" % (self.command, self.path, self.headers))
	        status = "status"
	        if body.startswith(b'{"profile"'):
	            own = "status-%d" % json.loads(body.split(b"\n")[0])["profile"]
	            status = own if os.path.exists(own) else status
	        self.send_response(int(open(status).read()))
	        self.send_header("Content-Length", "5")
	        self.end_headers()
	        self.wfile.write(b"text\n")
	    def log_message(self, *unused):
	        pass
	server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Taker)
	print(server.server_address[1], flush=True)
	server.serve_forever()
	EOF
	python3 taker.py >port-of-taker &
	eventually test -s port-of-taker
	taker=127.0.0.1:$(cat port-of-taker)
}
