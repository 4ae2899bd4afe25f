#!/bin/sh
# pmu-serve --push to servers that fail in every way: when all is well again, nothing is missing.
# kinds: release
. tests/lib.sh
. tests/serving.sh
. tests/pushing.sh

# row MORE: a row, with MORE after its hash
row() {
	printf '{"time":1763892720,"host":"h","type":"cpu","unit":"ns","value":7,'
	printf '"hash":"0123456789abcdef",%s}\n' "$1"
}

check 'the receiver of these tests takes what it should, and notes what no client may send' <<'END'
	needs_command curl
	receive good early=503,401 cut=cut-body,half closed=after-3-seconds
	row '"stack":["f","g"]' >rows
	row '"stack":["f","g"],"labels":{"pid":1},"units":{"pid":"x"}' >>rows
	test "$(get -w "%{http_code}" --data-binary @rows "$(at good)")" = 200
	same rows to/good/stored/000001.rows
	get --data-binary @rows "$(at early)" | grep "Code: 209, e.displayText"
	get --data-binary @rows "$(at early)" | grep "Code: 194, e.displayText"
	get --data-binary @rows "$(at early)"
	same rows to/early/stored/000001.rows
	exits 56 get --data-binary @rows "$(at cut)" 2>curl-err
	exits 18 get --data-binary @rows "$(at cut)" 2>curl-err
	echo refuse >to/closed/fault
	closed() { exits 7 get --data-binary @rows "$(at closed)"; }
	eventually closed
	rm to/closed/fault
	again() { get -i --data-binary @rows "$(at closed)" | grep "^Retry-After: 3"; }
	eventually again
	nothing_wrong
	wrong() { get -o answer "$@" 2>curl-err || :; }
	wrong --data-binary @rows "$(at good | sed s/JSONEachRow/TSV/)"
	wrong -X PUT --data-binary @rows "$(at good)"
	wrong -H "Expect: 100-continue" --data-binary @rows "$(at good)"
	wrong -H "Transfer-Encoding: chunked" --data-binary @rows "$(at good)"
	for bad in "$(row '"stack":[]' | head -c 60)" "$(row '"stack":["g","f"]')" \
			"$(row '"labels":{},"stack":["f","g"]')" "$(row '"stack":"f"')" \
			"$(row '"stack":["f","g"],"stack":["f","g"]')" "$(row '"x":1')" 7; do
		printf "%s\n" "$bad" >bad
		wrong --data-binary @bad "$(at good)"
	done
	printf "%s" "$(cat rows)" >bad
	wrong --data-binary @bad "$(at good)"
	head -c 4194305 /dev/zero >bad
	wrong --data-binary @bad "$(at good)"
	noted() { test "$(wc -l <to/good/wrong)" = 13; }
	eventually noted
	test "$(ls to/good/stored | wc -l)" = 1
END

done_testing
