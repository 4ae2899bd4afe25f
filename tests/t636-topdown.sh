#!/bin/sh
# What the slots of the pipeline were used for: pmu-sample -e topdown, pmu-top --ratio topdown.
# kinds: release asan
. tests/lib.sh
. tests/events.sh

# tree NAME PMU: a sysfs of a machine whose CPUs have the PMU; its events are the lines of stdin
tree() {
	dir=$1/bus/event_source/devices/$2
	mkdir -p $dir/events $dir/format $dir/caps $1/bus/event_source/devices/software
	echo 1 >$1/bus/event_source/devices/software/type
	echo 4 >$dir/type
	echo config:0-15 >$dir/format/event
	echo config:8-15 >$dir/format/umask
	while read -r name terms; do echo $terms >$dir/events/$name; done
}

# the events of Intel's cores, as arch/x86/events/intel/core.c has them, and of Arm's, as
# drivers/perf/arm_pmuv3.c has them
intel() {
	tree $1 ${2:-cpu} <<-'EOF'
		cpu-cycles event=0x3c
		slots event=0x00,umask=0x4
		topdown-retiring event=0x00,umask=0x80
		topdown-bad-spec event=0x00,umask=0x81
		topdown-fe-bound event=0x00,umask=0x82
		topdown-be-bound event=0x00,umask=0x83
	EOF
}
arm() {
	tree $1 armv8_pmuv3_0 <<-'EOF'
		cpu_cycles event=0x0011
		stall_slot event=0x003f
		stall_slot_backend event=0x003d
		stall_slot_frontend event=0x003e
		op_retired event=0x003a
		op_spec event=0x003b
	EOF
	echo 8 >$1/bus/event_source/devices/armv8_pmuv3_0/type
	echo 0-3 >$1/bus/event_source/devices/armv8_pmuv3_0/cpus
	echo 0x00000008 >$1/bus/event_source/devices/armv8_pmuv3_0/caps/slots
}

# words TREE EVENT...: name, type, config, period and group of each event
words() {
	tree=$1
	shift
	pmu-events --encode --json --sysfs $tree "$@" |
		fields name type config sample_period read_group group
}

check 'slots leads the group, cycles is sampled, and all are read with it' <<'END'
	any_user
	intel ice
	words ice topdown >got
	same - got <<-EOF
	cpu/slots/ 4 0x400 0 true 1
	cpu/cycles/ 0 0x0 3931177 true 1
	cpu/topdown-retiring/ 4 0x8000 0 true 1
	cpu/topdown-bad-spec/ 4 0x8100 0 true 1
	cpu/topdown-fe-bound/ 4 0x8200 0 true 1
	cpu/topdown-be-bound/ 4 0x8300 0 true 1
	EOF
	words ice topdown/period=1000003/u >got
	sed -n 2p got | grep -qx "cpu/cycles/u 0 0x0 1000003 true 1"
	grep -c "/u [04] .* true 1$" got | grep -qx 6
	# any group with slots and a metric is sampled so
	words ice '{slots,branches,topdown-retiring}:S' | cut -d" " -f 1,4 >got
	printf "cpu/slots/ 0\nbranches 982789\ncpu/topdown-retiring/ 0\n" | same - got
	# without a metric, slots is sampled, as perf does
	words ice '{slots,branches}:S' | cut -d" " -f 1,4 >got
	grep -qx "cpu/slots/ [1-9][0-9]*" got
	grep -qx "branches 0" got
	exits 1 pmu-events --encode --sysfs ice '{slots,topdown-retiring}:S' 2>err
	grep "slots and topdown-\* cannot be sampled: the group needs another event, such as cycles" err
	exits 1 pmu-events --encode --sysfs ice '{cycles,topdown}' 2>err
	grep "topdown is a group of its own" err
END

check 'on Arm the cycles lead and are sampled; one kind of core may lack the events' <<'END'
	any_user
	arm n2
	words n2 topdown >got
	same - got <<-EOF
	armv8_pmuv3_0/cpu_cycles/ 8 0x11 3931177 true 1
	armv8_pmuv3_0/stall_slot/ 8 0x3f 0 true 1
	armv8_pmuv3_0/stall_slot_frontend/ 8 0x3e 0 true 1
	armv8_pmuv3_0/stall_slot_backend/ 8 0x3d 0 true 1
	armv8_pmuv3_0/op_retired/ 8 0x3a 0 true 1
	armv8_pmuv3_0/op_spec/ 8 0x3b 0 true 1
	EOF
	echo 0x00000000 >n2/bus/event_source/devices/armv8_pmuv3_0/caps/slots
	exits 1 pmu-events --encode --sysfs n2 topdown 2>err
	intel mixed cpu_core
	tree mixed cpu_atom </dev/null
	echo 0-3 >mixed/bus/event_source/devices/cpu_core/cpus
	echo 4-7 >mixed/bus/event_source/devices/cpu_atom/cpus
	words mixed topdown | cut -d/ -f 1 | sort | uniq -c | grep -q " 6 cpu_core$"
	# the machine of the tests may have the events
	intel none
	rm none/bus/event_source/devices/cpu/events/topdown-be-bound
	for at in n2 none; do
		exits 1 pmu-events --encode --sysfs $at topdown >out 2>err
		none grep . out
		grep -x "pmu-events: no topdown: the kernel shows neither slots and topdown-\* nor .*" err
	done
END

# on_intel COMMAND...: on a machine with the events, where software events stand for them
on_intel() {
	intel ice
	unshare -m sh -c 'mount --bind ice/bus/event_source/devices /sys/bus/event_source/devices &&
		exec "$@"' - topdown-kernel opened "$@"
}

check 'pmu-sample opens the group as the kernel demands, and as perf does' <<'END'
	needs_root
	needs_command unshare
	unsanitized
	unshare -m true || skip 'may not mount here'
	test "$(uname -m)" = x86_64 || skip 'an emulation for x86-64'
	on_intel pmu-sample -e topdown/period=1000000/ -o s.data -- ten serial 0.3 2>err
	# The last lines are of one CPU.  perf record -vv -e '{slots,branches,topdown-retiring}:S'
	# prints: type 4, config 0x400, sample_type with READ, read_format ID|GROUP|LOST, disabled 1;
	# then type 0, sample_period, the same sample_type and read_format, group_fd of the first.
	tail -n 6 opened | awk '{ print $1, $2, $3, $7 }' >got
	same - got <<-EOF
	4 0x400 0 0
	0 0 1000000 1
	4 0x8000 0 1
	4 0x8100 0 1
	4 0x8200 0 1
	4 0x8300 0 1
	EOF
	test "$(tail -n 6 opened | awk '{ print $4, $5 }' | sort -u | wc -l)" = 1
	# READ is 16; GROUP and ID are 8 and 4
	set -- $(tail -n 1 opened)
	test $(($4 & 16)) = 16 -a $(($5 & 12)) = 12
	pmu-top --ratio topdown s.data >got 2>err
	near "$(sed -n 's/^retiring of all: \([0-9.]*\)%.*/\1/p' got)" 100 2
	grep -q "^backend bound of all: 0.0%" got
	grep -Eq " [0-9.]+%( \+/-[0-9.]+)? .* J$" got
	# the events alone are refused, with the way out
	exits 1 on_intel pmu-sample -e topdown-retiring -o t.data -- true 2>err
	grep "the kernel counts it only in a group after slots, and samples neither: -e topdown" err
END

# recording KIND: s.data, 2000 samples of two objects, f0 and f1, which take turns of 25 samples;
# and p.pb.gz of it
recording() {
	{
		echo "kind = '$1'"
		cat <<-'PY'
			arm = kind == "arm"
			pmu = "armv8_pmuv3_0" if arm else "cpu"
			names = (["cpu_cycles", "stall_slot", "stall_slot_frontend",
			          "stall_slot_backend", "op_retired", "op_spec"] if arm else
			         ["slots", "cycles", "topdown-retiring", "topdown-bad-spec",
			          "topdown-fe-bound", "topdown-be-bound"])
			sampled = 0 if arm else 1
			t, read, at = IP | TID | TIME | READ | IDENT, 4 | 8, 10**12
			out = []
			for e, name in enumerate(names):
			    out.append(record(64, attr(4, 256 + e, 1000 * (e == sampled), t, read=read) +
			                      struct.pack("<Q", 1 + e), 0))
			    out.append(record(78, struct.pack("<QQ", 2, 1 + e) +
			                      pad((pmu + "/" + name + "/").encode()), 0))
			if arm:     # the feature CPU_PMU_CAPS: u32 pairs; strings, u32 size and bytes
			    out.append(record(80, struct.pack("<QI", 28, 1) + struct.pack("<I", 8) +
			                      b"slots\0\0\0" + struct.pack("<I", 12) + b"0x00000008\0\0", 0))
			start = struct.pack("<IIQQ", 7, 7, at, 1 + sampled)
			for f in range(2):
			    path = b"/bin/f%d" % f
			    body = mmap(7, (f + 1) << 16, 0x1000, path)
			    out.append(record(1, body + struct.pack("<IIQQ", 7, 7, at, 1 + sampled)))
			total = [0] * 6
			for i in range(2000):
			    f = i // 25 % 2
			    wave = (i * 7919 % 1000) - 500      # some noise, without a pattern
			    if arm:     # of 8000 slots
			        frontend, backend = (800 + wave // 2, 1600 - wave) if f else (2000 + wave, 900)
			        spec = 8000 - frontend - backend
			        more = [1000, frontend + backend, frontend, backend,
			                spec * 9 // 10 if f else spec * 7 // 10 + wave // 5, spec]
			    else:
			        retiring = 2400 + wave if f else 600 + wave // 2
			        bad, frontend = 200 + (wave // 10 if f else 0), 500
			        more = [5000, 1000, retiring, bad, frontend, 5000 - retiring - bad - frontend]
			    total = [a + b for a, b in zip(total, more)]
			    reads = b"".join(struct.pack("<QQ", v, 1 + e) for e, v in enumerate(total))
			    out.append(record(9, struct.pack("<QQIIQ", 1 + sampled, (f + 1) << 16, 7, 7,
			                                     at + i * 10**6) +
			                      struct.pack("<Q", 6) + reads))
			out = pipe(*out)
		PY
	} | compose s.data
	pmu-topprof --slices 20 -o p.pb.gz s.data
}
judge() { PYTHONPATH="$TOP/tests" PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/topdown.py" "$1"; }

check 'four columns by function: shares and intervals as the formulas give them' <<'END'
	any_user
	for kind in intel arm; do
		recording $kind
		pmu-top --by object -j --ratio topdown p.pb.gz >got.json
		# two rows, four shares, three numbers each
		test "$(judge p.pb.gz <got.json)" = 24
		pmu-top --by object --ratio topdown p.pb.gz >table 2>err
		grep -q " retiring  *bad speculation  *frontend bound  *backend bound *$" table
		grep -Eq "( [0-9.]+% \+/-[0-9.]+ +){4}f1$" table
		grep -Eq "^backend bound of all: [0-9.]+% \+/-[0-9.]+" table
		grep -c "^counted between samples" table | grep -qx 1
		# columns of CSV are the numbers of JSON
		pmu-top --by object --to csv --ratio topdown p.pb.gz >got.csv
		python3 - <<-'PY'
		import csv, json
		rows = {r["name"]: r for r in csv.DictReader(open("got.csv", newline=""))}
		for want in json.load(open("got.json"))["rows"]:
		    for name, r in want["ratios"].items():
		        got = [float(rows[want["name"]][name + end]) for end in ("", "_low", "_high")]
		        assert got == [r["value"], r["low"], r["high"]], (name, got, r)
		PY
	done
	facts p.pb.gz | grep -qx "slots: 8"
	# the stream itself, and merged profiles, have the slots, too
	pmu-top --by object -j --ratio topdown s.data | grep -q '"backend bound": {"value"'
	pmu-topprof -o m.pb.gz p.pb.gz p.pb.gz
	pmu-top --by object -j --ratio topdown m.pb.gz | grep -q '"backend bound": {"value"'
	# other ratios may stand beside the shares
	pmu-top --by object -j --ratio stall_slot/cpu_cycles=S --ratio topdown p.pb.gz >got.json
	grep -q '"ratios": {"S": {.*}, "retiring": {' got.json
END

check 'a profile without the events: the first that is missing is named' <<'END'
	any_user
	compose s.data <<-'PY'
		t = IP | TID | TIME | ID | PERIOD
		out = [record(64, attr(0, 0, 1000, t) + struct.pack("<Q", 1), 0)]
		for i in range(100):
		    out.append(record(9, struct.pack("<QIIQQQ", 1 << 16, 7, 7, 10**12 + i * 10**6, 1, 1000)))
		out = pipe(*out)
	PY
	pmu-topprof -o p.pb.gz s.data
	exits 1 pmu-top --ratio topdown p.pb.gz >out 2>err
	none grep . out
	grep -x "pmu-top: the profile has no sample type 'slots'; it has samples cycles" err
	for tool in "pmu-annotate --ratio topdown ." "pmu-flame -o x.html --ratio topdown"; do
		exits 2 $tool p.pb.gz 2>err
	done
	# Arm: a recording that does not say how many slots there are, events that were read apart
	recording arm
	cp s.data whole.data
	sed 's/slots\x00/stols\x00/' whole.data >s.data
	pmu-topprof --slices 20 -o p.pb.gz s.data
	exits 1 pmu-top --ratio topdown p.pb.gz 2>err
	grep "the profile does not say how many slots a cycle has" err
END

done_testing
