# What the tests of pmu-serve --push share.  They source this after tests/serving.sh.

pushes() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/pushes.py" "$@"; }

# receive NAME[=STEP,...]...: start these receivers, in ./to; $receiver is their pid
receive() {
	mkdir -p to
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/receiver.py" to "$@" 2>receiver-err &
	receiver=$!
	local name
	for name; do
		eventually test -e "to/${name%%=*}/port"
	done
}

rows_query='query=INSERT%20INTO%20pmu.rows%20FORMAT%20JSONEachRow'

# at NAME: the URL to which rows for the receiver NAME go
at() { echo "http://127.0.0.1:$(cat "to/$1/port")/?$rows_query"; }

# nothing_wrong: no receiver has got what no client may send
nothing_wrong() {
	cat to/*/wrong >wrong 2>/dev/null || :
	none cat wrong
}

# idle: $idle is a process that does nothing, and its sampler does nothing either: all profiles are
# made by the tests
idle() {
	fake pmu-sample <<-"END_FAKE"
		exec sleep 6000
	END_FAKE
	sleep 6000 &
	idle=$!
}

# push NAME URL OPTION...: start a server that pushes run/NAME/ring, which is a copy of ./ring
push() {
	local name=$1 to=$2
	shift 2
	if ! command test -e "run/$name"; then
		mkdir -p "run/$name"
		cp -r ring "run/$name"
	fi
	pmu-serve -l 127.0.0.1:0 -p "$idle" --keep 24h --interval 1s --host h1 --push "$to" "$@" \
		"run/$name/ring" >"run/$name/addresses" 2>>"run/$name/err" &
	echo $! >"run/$name/pid"
}

# has COUNT NAME: the receiver NAME has stored so many bodies, or more
has() {
	local count=$1 name=$2
	set -- "to/$name/stored"/*
	command test -e "$1" && command test $# -ge "$count"
}

# metric_of NAME METRIC: of the server that was started by push NAME
metric_of() {
	get "$(grep -m 1 ^http "run/$1/addresses")/metrics" |
		awk -v name="pmu_serve_$2" '$1 == name { print $2 }'
}

# nothing_pending NAME
nothing_pending() { test "$(metric_of "$1" push_pending)" = 0; }

# pause NAME N: s between the requests N and N + 1 that the receiver NAME got
pause() { awk -v n="$2" 'NR == n { t = $1 } NR == n + 1 { print $1 - t }' "to/$1/log"; }

# die NAME: kill the server of push NAME
die() {
	kill -KILL "$(cat "run/$1/pid")"
	wait "$(cat "run/$1/pid")" 2>/dev/null || :
}

# slowly COMMAND...: wait until it succeeds, for what takes a minute anyhow
slowly() {
	for attempt in $(seq 600); do
		! "$@" || return 0
		sleep 1
	done
	echo "never: $*"
	return 1
}
