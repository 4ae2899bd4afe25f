#!/bin/sh
# The collectors of doc/fleet-*.md, as stand-ins that follow their published sources
# (tests/collectors.py), get profiles by the configurations of these pages.
# COLLECTORS=all (make check-all): profiles are as long as the configurations say, a minute.
# kinds: release
. tests/lib.sh
. tests/serving.sh
. tests/examples.sh

blocks=$scratch/blocks
documents blocks "$blocks" "$TOP"/doc/fleet-pyroscope.md "$TOP"/doc/fleet-parca.md \
	"$TOP"/doc/fleet-opentelemetry.md || exit 1
test -n "$COLLECTORS" && seconds= || seconds=1

collect() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/collectors.py" "$port" "$@"; }

# serve_collectors: a server with a $TOKEN, as the pages have it
serve_collectors() {
	umask 077
	TOKEN=0123456789abcdef0123
	export TOKEN
	echo $TOKEN >token
	workload
	serve -p $target --call-graph fp --token-file token
}

for page in pyroscope.alloy parca.yaml opentelemetry.yaml; do
	check "a collector gets profiles by the configuration of fleet-${page%.*}.md" <<'END'
		serve_collectors
		collect "$blocks/fleet-${page%.*}/00.${page#*.}" $seconds
		TOKEN=wrong exits 1 collect "$blocks/fleet-${page%.*}/00.${page#*.}" >reported
		test $(($(wc -l <reported) - 1)) = "$(sed -n "s/ requests$//p" reported)"
END
done

check 'a collector would report a wrong event, and an answer that is too late' <<'END'
	serve_collectors
	sed "s/cacheMisses/cacheMissess/; /process_cpu:$/,/path:/d" \
		"$blocks/fleet-parca/00.yaml" >bad.yaml
	exits 1 collect bad.yaml 1 >reported
	test "$(grep -c "unknown event.*cacheMissess" reported)" = 2
	sed "s/scrape_timeout: 80s/scrape_timeout: 1s/; /process_cpu:$/,/path:/d" \
		"$blocks/fleet-parca/00.yaml" >bad.yaml
	exits 1 collect bad.yaml 3 >reported
	test "$(grep -c "event=cacheMisses.*timed out" reported)" = 2
END

done_testing
