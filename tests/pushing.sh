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
