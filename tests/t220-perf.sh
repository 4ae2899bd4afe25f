#!/bin/sh
# The same name is the same event for perf: type, config, excludes, precision.
# kinds: release
. tests/lib.sh

# perf_says EVENT...: "type config config1 config2 bp_type precise pinned exclusive, excludes"
# of each attr that perf tries to open for it, in order; zeros are not printed by perf
perf_says() {
	perf ${perf_verb:-stat -vv} -e "$1" true 2>&1 | awk '
	function flush() {
		if (!seen) return
		line = ""
		for (i = 1; i <= n; i++) line = line " " (v[key[i]] == "" ? 0 : v[key[i]])
		print substr(line, 2); split("", v); seen = 0
	}
	BEGIN { n = split("type config config1 config2 bp_type precise_ip pinned exclusive exclude_user exclude_kernel exclude_hv exclude_idle exclude_host exclude_guest", key) }
	/^perf_event_attr:/ { flush(); seen = 1; next }
	/^-----/ { next }
	/^  [{a-z]/ && seen {
		value = $NF
		if ($0 ~ /bp_addr/) v["config1"] = value
		else if ($0 ~ /bp_len/) v["config2"] = value
		else v[$1] = value
		next
	}
	{ flush() }
	END { flush() }' | head -n "${2:-1}"
}

# we_say EVENT: the same of ours
we_say() {
	pmu-events --encode --json "$1" | python3 -c '
import json, sys
def word(x): return "0" if x == "0x0" else x
for e in json.load(sys.stdin):
    print(e["type"], word(e["config"]), word(e.get("config1", e.get("bp_addr"))),
          word(e.get("config2", e.get("bp_len"))), int(e.get("bp_type", "0"), 16), e["precise_ip"],
          *[int(e[k]) for k in ("pinned", "exclusive", "exclude_user", "exclude_kernel",
            "exclude_hv", "exclude_idle", "exclude_host", "exclude_guest")])'
}

# agree EVENT...: on each; perf must say something
agree() {
	for event; do
		perf_says "$event" >perf
		we_say "$event" >ours
		test -s perf || { echo "perf says nothing of $event"; return 1; }
		diff perf ours || { echo "they differ on $event"; return 1; }
	done
}

can_perf() {
	command -v perf >/dev/null && perf stat -vv -e cpu-clock true 2>&1 | grep -q "^perf_event_attr" ||
		{ echo "perf does not run here"; exit 77; }
}

check 'every generic event' <<'END'
	can_perf
	pmu-events --list --json >list
	python3 -c '
import json
print(*[e["name"] for e in json.load(open("list")) if e["kind"] == "generic"])' >names
	test "$(wc -w <names)" -ge 50
	# perf refuses to count cpu-clock of a guest only, not to name it; all names agree
	agree $(cat names)
END

check 'further names, raw events, every modifier' <<'END'
	can_perf
	agree cpu-cycles branch-instructions idle-cycles-frontend faults cs migrations r1c0 r0 \
		l1d-misses LLC-load iTLB-loads-misses
	for letters in u k h uk kh uh ukh G H GH I p pp ppp S D e W P uP up kp Gp pG kH uG IH \
		uD ukpp uppIDe; do
		agree instructions:$letters page-faults:$letters
	done
END

check 'breakpoints and tracepoints' <<'END'
	can_perf
	agree mem:0x1000 mem:0x1000:r mem:0x1000:w mem:0x1000:rw mem:0x1000:x mem:4096/8:w \
		mem:0x1000/1:rw:u mem:0x1000:u
	pmu-events --list --json "sched:*" "irq:*" >list 2>err || { echo "no tracepoints"; exit 77; }
	agree $(python3 -c 'import json; print(*[e["name"] for e in json.load(open("list"))])') \
		sched:sched_switch:u
END

check 'groups, and modifiers of groups' <<'END'
	can_perf
	for event in "{cpu-clock,page-faults}" "{cpu-clock,page-faults}:u" "{page-faults:u,cs}:k" \
		"{page-faults,cs}:S" "{page-faults:k,cs:u}"; do
		perf_says "$event" 2 >perf
		we_say "$event" >ours
		same perf ours
	done
END

check 'PMUs and terms' <<'END'
	can_perf
	needs /sys/bus/event_source/devices/msr
	agree msr/tsc/ msr/event=0x3/ msr/event=0/u msr/config=5/ msr/event=1,name=foo/k
END

check 'what --perf prints is the same event for perf' <<'END'
	can_perf
	for event in cycles cycles:u timer cacheMisses LLC-load-misses:k mem:0x1000/2:w:u \
		page-faults:uD r1c0; do
		we_say "$event" >ours
		perf=$(pmu-events --encode --perf "$event")
		case $perf in
		cpu/*) echo "$perf" | grep -q '^cpu/config=0x1c0,name=r1c0,period=98269/$'; continue ;;
		esac
		perf_verb="record -vv -o data" perf_says "$perf" >theirs
		same theirs ours
	done
	perf record -vv -o data -e "$(pmu-events -e --perf timer)" true 2>&1 |
		grep -q 'sample_freq } *100$'
	perf record -vv -o data -e "$(pmu-events -e --perf page-faults)" true 2>&1 |
		grep -q 'sample_freq } *211$'
END

done_testing
