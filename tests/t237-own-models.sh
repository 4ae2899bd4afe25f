#!/bin/sh
# pmu-events --add-model: the makers' and perf's JSON, and who may decide what a name means.
# kinds: release asan user
. tests/lib.sh
. tests/events.sh

models=$HOME/.config/pmukit/models
words() { pmu-events --encode --json "$@" | fields name type config config1; }

# perf_tree: ./x86 as in perf's source: its map, and the events of two CPUs
perf_tree() {
	mkdir -p x86/amdzen5 x86/newlake
	cat >x86/mapfile.csv <<-'EOF'
	Family-model,Version,Filename,EventType
	AuthenticAMD-25-([245][[:xdigit:]]|[[:xdigit:]]),v1,amdzen4,core
	AuthenticAMD-26-[[:xdigit:]]+,v1,amdzen5,core
	GenuineIntel-6-(F1|F2),v1.00,newlake,core
	EOF
	cat >x86/amdzen5/execution.json <<-'EOF'
	[
	  { "EventName": "ex_ret_instr", "EventCode": "0xc0",
	    "BriefDescription": "Retired \"instructions\", \u20ac \ud83d\ude00 [x]{y}." },
	  { "EventName": "de_src_op_disp.all", "EventCode": "0x1aa", "UMask": "0x07" },
	  { "EventName": "l3_lookup.all", "EventCode": "0x04", "UMask": "0xff", "Unit": "L3PMC" }
	]
	EOF
	echo '[ { "MetricName": "ipc", "MetricExpr": "a / b", "X": [1, [{}, -1.5e3, null]] } ]' \
		>x86/amdzen5/metrics.json
	echo '{ "group": "what it is" }' >x86/amdzen5/metricgroups.json
	cat >x86/newlake/all.json <<-'EOF'
	[
	  { "EventName": "MEM.X", "EventCode": "0x2A,0x2B", "UMask": "0x1", "MSRIndex":
	    "0x1a6,0x1a7", "MSRValue": "0x3FBFC00001", "Unit": "cpu_core", "Deprecated": "1" },
	  { "EventName": "INST_RETIRED.ANY", "UMask": "0x1", "Unit": "cpu_core", "PEBS": "1" },
	  { "EventName": "INST_RETIRED.ANY", "UMask": "0x1", "Unit": "cpu_atom" },
	  { "EventName": "TOPDOWN_X.ALL", "UMask": "0x5", "Unit": "cpu_atom" },
	  { "EventName": "TOPDOWN_X.ALL_P", "EventCode": "0x73", "Unit": "cpu_atom" },
	  { "EventName": "MEM.LATENCY_GT_16", "EventCode": "0xd0", "UMask": "0x5", "PEBS": "2",
	    "MSRIndex": "0x3F6", "MSRValue": "0x10", "Unit": "cpu_atom" }
	]
	EOF
}

# machine ALIAS: ./fs, the sysfs of a machine with this CPU
machine() {
	mkdir -p fs/bus/event_source/devices/cpu/format fs/devices/system/cpu
	echo 4 >fs/bus/event_source/devices/cpu/type
	echo "cpu:type:x86,$1:feature:,0000" >fs/devices/system/cpu/modalias
}

check "perf's JSON: the CPU is the one that mapfile.csv names; events have its codes" <<'END'
	rm -rf "$models"
	perf_tree
	pmu-events --add-model x86/amdzen5 2>notes
	cat >want <<-EOF
	pmu-events: model 'amdzen5': 2 events, for the CPU AuthenticAMD-26-[[:xdigit:]]+
	pmu-events: left out: 1 events that no core counts, 0 without a clear code
	EOF
	same want notes
	cat >want <<-EOF
	amdzen5::ex_ret_instr:u 4 0xc0 0x0
	amdzen5::de_src_op_disp:all:c=1 4 0x1010007aa 0x0
	EOF
	words --pmu amdzen5 ex_ret_instr:u DE_SRC_OP_DISP.ALL:c=1 >got
	same want got
	machine ven0002fam001Amod0044
	words --sysfs fs ex_ret_instr:u de_src_op_disp.all:c=1 >got
	same want got
	words --sysfs fs cpu/de_src_op_disp.all/ >got
	echo "cpu/de_src_op_disp.all/ 4 0x1000007aa 0x0" | same - got
	pmu-events --list --sysfs fs "de_*" | grep -q "amdzen5::de_src_op_disp.all  *config=0x1000007aa"
	machine ven0002fam0019mod0044
	exits 1 pmu-events --encode --sysfs fs de_src_op_disp.all 2>err
END

check "perf's JSON of a hybrid CPU: one model for each kind of core" <<'END'
	rm -rf "$models"
	perf_tree
	pmu-events --add-model x86/newlake/all.json
	words newlake_core::MEM.X newlake_core::INST_RETIRED.ANY newlake_atom::INST_RETIRED.ANY \
		newlake_atom::TOPDOWN_X.ALL newlake_atom::MEM.LATENCY_GT_16 >got
	cat >want <<-EOF
	newlake_core::MEM:X 4 0x12a 0x3fbfc00001
	newlake_core::INST_RETIRED:ANY 4 0xc0 0x0
	newlake_atom::INST_RETIRED:ANY 4 0xc0 0x0
	newlake_atom::TOPDOWN_X:ALL 4 0x73 0x0
	newlake_atom::MEM:LATENCY_GT_16 4 0x5d0 0x10
	EOF
	same want got
	pmu-events --list --json --pmu newlake_core >list
	grep -q "offcore_rsp=0x3fbfc00001; deprecated" list
	grep -q "INST_RETIRED.ANY.*; can be precise" list
	pmu-events --list --json --pmu newlake_atom >list
	grep -q "ldlat=0x10; only precise" list
	exits 1 pmu-events --encode newlake_atom::MEM.X 2>err
END

check "Intel's and Arm's own JSON; events of Arm's architecture by name only" <<'END'
	rm -rf "$models"
	cat >future_core.json <<-'EOF'
	{ "Header": { "Version": "1.0", "Legend": "" }, "Events": [
	  { "EventCode": "0xd1", "UMask": "0x20", "EventName": "MEM_LOAD_RETIRED.L3_MISS",
	    "PEBS": "1", "MSRIndex": "0x00", "MSRValue": "0x00", "CounterMask": "2", "Invert": "1",
	    "EdgeDetect": "1", "AnyThread": "0", "UMaskExt": "0x01" } ] }
	EOF
	pmu-events --add-model future_core.json --pmu future
	words future::mem_load_retired.l3_miss >got
	echo "future::MEM_LOAD_RETIRED:L3_MISS 4 0x100028420d1 0x0" | same - got
	echo "{\"cpu\": \"New\", \"events\": [ {\"name\": \"CPU_CYCLES\", \"code\": 17},
		{\"name\": \"VENDOR_X\", \"code\": 49160} ]}" >new.json
	pmu-events --add-model new.json
	mkdir -p arm64/arm/cortex-new
	echo "0x00000000410fdff0,v1,arm/cortex-new,core" >arm64/mapfile.csv
	echo "[{\"EventName\": \"VENDOR_Y\", \"EventCode\": \"0x108\"}, {\"ArchStdEvent\": \"L1D_CACHE\"},
		{\"ArchStdEvent\": \"NO_SUCH\"}]" >arm64/arm/cortex-new/core.json
	pmu-events --add-model arm64/arm/cortex-new 2>notes
	grep -q "model 'cortex-new': 2 events, for the CPU 0x41dff" notes
	grep -q "1 without a clear code" notes
	words new::CPU_CYCLES new::VENDOR_X cortex-new::VENDOR_Y cortex-new::L1D_CACHE >got
	cat >want <<-EOF
	new::CPU_CYCLES 4 0x11 0x0
	new::VENDOR_X 4 0xc008 0x0
	cortex-new::VENDOR_Y 4 0x108 0x0
	cortex-new::L1D_CACHE 4 0x4 0x0
	EOF
	same want got
END

check 'a model adds what is missing; it never changes what a name means' <<'END'
	rm -rf "$models"
	mkdir x86
	echo "GenuineIntel-6-6A,v1,mine,core" >x86/mapfile.csv
	echo "[{\"EventName\": \"INST_RETIRED.ANY\", \"EventCode\": \"0x99\"},
		{\"EventName\": \"NEW.ONE\", \"EventCode\": \"0x98\"}]" >x86/mine
	mv x86/mine x86/mine.json
	sed -i "s/mine/mine.json/" x86/mapfile.csv
	pmu-events --add-model x86/mine.json
	machine ven0000fam0006mod006A
	words --sysfs fs inst_retired.any new.one >got
	cat >want <<-EOF
	icx::INST_RETIRED:ANY 4 0xc0 0x0
	mine::NEW:ONE 4 0x98 0x0
	EOF
	same want got
	for name in icx spr sapphirerapids adl; do
		exits 1 pmu-events --add-model x86/mine.json --pmu $name 2>err
		grep -q "there is a model '$name' already" err
	done
	test ! -e "$models/icx.tsv"
END

check 'without mapfile.csv, a file is for this CPU only if that has no table' <<'END'
	rm -rf "$models"
	echo "[{\"EventName\": \"NEW.ONE\", \"EventCode\": \"0x98\"}]" >lone.json
	machine ven0000fam0006mod006A
	pmu-events --add-model lone.json --sysfs fs 2>notes
	grep -q "only for --pmu and MODEL::EVENT" notes
	exits 1 pmu-events --encode --sysfs fs cpu/new.one/ 2>err
	words --sysfs fs lone::new.one
	machine ven0002fam001Bmod0001
	pmu-events --add-model lone.json --sysfs fs 2>notes
	grep -q "1 events, for the CPU AuthenticAMD-27-1\$" notes
	words --sysfs fs cpu/new.one/ | grep -q 0x98
END

check "a file that another user may have written is not used" <<'END'
	rm -rf "$models"
	echo "[{\"EventName\": \"NEW.ONE\", \"EventCode\": \"0x98\"}]" >lone.json
	refused() {
		exits 1 pmu-events --encode lone::new.one 2>err
		grep -q "is not used: $1" err
	}
	pmu-events --add-model lone.json
	words lone::new.one
	chmod g+w "$models/lone.tsv"
	refused "other users may change it"
	chmod 644 "$models/lone.tsv"
	chmod o+w "$models"
	refused "other users may replace"
	chmod 755 "$models"
	mv "$models/lone.tsv" elsewhere
	ln -s "$PWD/elsewhere" "$models/lone.tsv"
	refused ""
	rm "$models/lone.tsv"
	mkfifo "$models/lone.tsv"
	refused ""
	rm "$models/lone.tsv"
	cp elsewhere "$models/lone.tsv"
	if test "$(id -u)" = 0; then
		chown 65534 "$models/lone.tsv"
		refused "it belongs to another user"
		chown 0 "$models/lone.tsv"
		chown 65534 "$models"
		refused "it belongs to user 65534"
		chown 0 "$models"
	fi
	words lone::new.one
END

check 'damaged and hostile files: an error with the place, never a crash, in little time' <<'END'
	rm -rf "$models"
	perf_tree
	file=x86/newlake/all.json
	size=$(wc -c <$file)
	at=0
	while test $at -lt $size; do
		head -c $at $file >cut.json
		exits 1 pmu-events -q --add-model cut.json
		at=$((at + 13))
	done
	wrong() { exits 1 pmu-events --add-model bad.json 2>err; grep -q "$1" err; }
	printf "[{\"EventName\": \"A\", \"EventCode\": \"1\"}] x" >bad.json
	wrong "offset 0x27: not JSON: something follows"
	printf "[{\"EventName\": \"A\\\\q\"}]" >bad.json
	wrong "unknown escape"
	printf "[{\"EventName\": \"A\000\"}]" >bad.json
	wrong "not JSON"
	{ head -c 100000 /dev/zero | tr "\000" "["; } >bad.json
	wrong "too many values within values"
	echo "{\"Events\": 5}" >bad.json
	wrong "has no events of a maker"
	printf "[{\"EventName\": \"A\\\\tB\", \"EventCode\": \"1\"}, {\"EventName\": \"C\", \"EventCode\":
		\"0x1000\"}, {\"EventName\": \"D\", \"EventCode\": \"99999999999999999999\"},
		{\"EventName\": \"E\"},
		{\"EventName\": \"F\", \"EventCode\": \"1\", \"MSRIndex\": \"0x10\"}]" >bad.json
	wrong "has no events of a CPU's cores"
	awk "BEGIN { printf \"[\"; for (i = 0; i < 60000; i++)
		printf \"{\\\"EventName\\\": \\\"X%d\\\", \\\"UMask\\\": \\\"5\\\"},\\n\", i
		print \"{}]\" }" >many.json
	pmu-events --add-model many.json 2>notes
	grep -q "60000 events" notes
	test "$(ls "$models" | wc -l)" = 1
	exits 1 pmu-events --add-model /dev/zero 2>err
	exits 1 pmu-events --add-model nosuch.json 2>err
	exits 2 pmu-events --add-model x.json --list 2>err
END

check 'damaged models: a note, and they are not used' <<'END'
	rm -rf "$models"
	mkdir -p "$models"
	good="# pmukit model 1\ncpus\tX\nkind\tx86\ntext\tx\n"
	n=0
	for text in "" "X\t0x1\t-\t-\n" "${good}A\t1\t-\t-\n" "${good}A\t0x1\tx=0x1\t-\n" "${good}A\n" \
		"${good}A\t0x1\t-\tq\n" "${good}A B\t0x1\t-\t-\n" "# pmukit model 1\ncpus\t(((\n" \
		"# pmukit model 1\ncpus\ta{9999}{9999}\n" "${good}\000"; do
		printf "$text" >"$models/bad$((n += 1)).tsv"
	done
	printf "${good}A.B\t0x5\tldlat=0x7\tPd\n" >"$models/good.tsv"
	words good::a.b 2>err >got
	echo "good::A:B 4 0x5 0x7" | same - got
	grep -q "bad.*is not used" err
	grep -q "more like" err
END

done_testing
